"""How texts in other languages than English speak to a model. For how to read this, see wordings."""

from __future__ import annotations

OTHER_LANGUAGES = (
    (
        "systemprompt vergiss zeig zeige",
        r"\bvergiss deine\b|\bsystemprompt\b.{0,20}\b(?:zeigen|ausgeben)|\b(?:zeig|zeige) mir den system-?prompt",
    ),
    (
        "affiche ignor* oubli* répète révèle",
        (
            r"\b(?:oubli|ignor)\w*\b.{0,20}\b(?:consignes|règles)\b|\b(?:répète|affiche"
            r"|révèle)\b.{0,25}\btes (?:instructions|consignes|règles)"
        ),
    ),
    (
        "mostre muestra repita repite revela revele",
        (
            r"\b(?:repite|muestra|revela|repita|mostre|revele)\b.{0,25}\b(?:tus|suas|seu) (?:instrucciones"
            r"|instruções|reglas|prompt)"
        ),
    ),
    (
        "ignorier*",
        r"\bignorier\w*\b.{0,30}\b(?:vorherig|bisherig|vorangegangen|obig|früher)\w* (?:anweisung|regel|instruktion)",
    ),
    (
        "ab du vergiss",
        r"\bvergiss\b.{0,30}\b(?:dir|du|deine)\b|\bdu bist (?:jetzt|nun|ab jetzt) ein|\bab (?:jetzt|sofort) antworte",
    ),
    (
        "erzähl erzähle sag sage verrate",
        r"\b(?:sag|sage|verrate|erzähle?) (?:dem|der) (?:benutzer|nutzer|anwender)\w* (?:nichts|nicht)",
    ),
    ("nenne verrate zeig zeige", r"\b(?:zeige?|verrate|nenne) \w{0,8} ?(?:deinen )?system-?prompt"),
    (
        "ignore ignorer ignorez oublie oublier oubliez prompt",
        (
            r"\b(?:ignore[zr]?|oublie[zr]?)\b.{0,30}\binstructions\b(?:.{0,15}précédent\w*)?|\bprompt (?:système"
            r"|del sistema|do sistema|di sistema)"
        ),
    ),
    (
        "ne tu à",
        (
            r"\btu es (?:maintenant|désormais) une?\b|\bne (?:dis|dites|révèle) rien à l'utilisat"
            r"|\bà partir de maintenant,? (?:réponds|tu |répondez)"
        ),
    ),
    (
        "ahora ignora ignore no olvida omite",
        (
            r"\b(?:ignor[ae]|olvida|omite)\b.{0,25}\b(?:instrucciones|reglas|órdenes)\b|\bahora eres un"
            r"|\bno le digas\b.{0,15}\busuario"
        ),
    ),
    ("a_partir", r"\ba partir de ahora,? (?:responde|tú|contesta|siempre)"),
    (
        "esqueça ignora ignore não você",
        (
            r"\b(?:ignor[ea]|esqueça)\b.{0,25}\b(?:instruções|regras)\b|\bvocê agora é um|\bnão (?:conte|diga"
            r"|revele)\b.{0,15}\busuário"
        ),
    ),
    (
        "dimentica ignora non ora",
        r"\b(?:ignora|dimentica)\b.{0,25}\b(?:istruzioni|regole)\b|\bora sei un|\bnon dire (?:nulla )?all'utente",
    ),
    (
        "ignoruj negeer vergeet zapomnij zignoruj",
        r"\b(?:negeer|vergeet)\b.{0,25}\binstructies\b|\b(?:z?ignoruj|zapomnij)\b.{0,25}\b(?:instrukcj|polece)",
    ),
    (
        "забудь* игнорируй* не теперь",
        (
            r"\b(?:игнорируй|забудь)\w*\b.{0,30}\b(?:инструкци|правила|указания)|\bтеперь ты\b"
            r"|\bне говори\b.{0,20}\bпользователю"
        ),
    ),
    ("выведи покажи раскрой", r"\b(?:покажи|раскрой|выведи)\b.{0,15}\bсистемн\w+ (?:промпт|подсказк)"),
    (
        "忽略* 无视* 忘记* 忽視* 你现在是* 不要告诉用户* 系统提示词*",
        r"(?:忽略|无视|忘记|忽視).{0,10}(?:指令|指示|规则|提示)|你现在是|不要告诉用户|系统提示词",
    ),
    (
        "指示* 命令* ルール* あなたは今から* システムプロンプト* ユーザーに*",
        r"(?:指示|命令|ルール)を?(?:すべて|全て)?(?:無視|忘れ)|あなたは今から|システムプロンプト|ユーザーに(?:は)?(?:言わ|教え)ない",
    ),
    (
        "지시* 명령* 지침* 시스템* 이제부터* 사용자에게*",
        r"(?:지시|명령|지침).{0,8}무시|시스템 프롬프트|이제부터 (?:너|당신)|사용자에게 말하지",
    ),
    (
        "تجاهل* أنت* निर्देशों* नज़रअंदाज़* अनदेखा*",
        r"تجاهل .{0,15}(?:التعليمات|الأوامر)|أنت الآن|निर्देशों को (?:अनदेखा|नज़रअंदाज़)|(?:नज़रअंदाज़|अनदेखा) कर",
    ),
    ("yukarıdaki önceki", r"\b(?:önceki|yukarıdaki)\b.{0,15}\btalimat\w*.{0,10}\b(?:yok say|unut|görmezden)"),
    (
        "abaikan bỏ lupakan",
        r"\b(?:abaikan|lupakan)\b.{0,20}\b(?:instruksi|perintah|arahan)|\bbỏ qua\b.{0,20}\b(?:hướng dẫn|chỉ dẫn|lệnh)",
    ),
    (
        "glem glöm ignorer ignorera",
        r"\b(?:ignorera|glöm)\b.{0,20}\binstruktioner|\b(?:ignorer|glem)\b.{0,20}\b(?:instruks|instrukser)",
    ),
)
