"""How texts speak to a model: the wordings that instructions.flags looks for, by the name of the flag.

They are read in lower case with single spaces. Gaps are short and bounded, so that no pattern reads far in vain.
"""

from __future__ import annotations

_RULES = (
    r"(?:instructions?|directions?|directives?|rules?|guidelines?|prompts?|programming|training|polic(?:y|ies)"
    r"|restrictions?|orders?|commands?|filters?|safeguards?|constraints?|context)"
)
_DROP = (
    r"(?:ignore|disregard|forget|override|bypass|skip|discard|set aside|pay no attention to|do not follow"
    r"|don't follow"
    r"|stop following|neglect|drop|abandon|violate|circumvent|do not obey)"
)
_WHOSE = (
    r"(?:previous|prior|earlier|above|preceding|former|initial|original|your|system|safety|every"
    r"|all (?:of )?(?:the|your)"
    r"|any|before)"
)
_MODEL = (
    r"(?:ais?|llms?|ai (?:agents?|assistants?|models?|reviewers?|systems?)|assistants?|language models?"
    r"|chatbots?|copilot"
    r"|claude|chatgpt|gpt|gemini|agents?|models?|bots?)"
)
_NAMED_MODEL = (
    r"(?:ai|llms?|ai (?:agents?|assistants?|reviewers?|models?|systems?)|assistant|copilot|claude|chatgpt"
    r"|gpt-?\d?|gemini)"
)
_ANSWERS = r"(?:answers?|repl(?:y|ies)|responses?|messages?|outputs?)"
_SAY = r"(?:say|tell|respond|reply|answer|claim|deny|state|pretend|insist)"
_HIDE = r"(?:tell|telling|inform|informing|mention|mentioning|reveal|notify|notifying|alert|disclose|say)"
_DATA = (
    r"(?:conversation|chat|prompt|secrets?|credentials?|(?:api )?keys?|passwords?|tokens?|messages?"
    r"|context|memor(?:y|ies)"
    r"|customer list|history|user's|id_rsa|\.ssh|\.env|contents?|everything|data|question)"
)

_GUARDS = r"(?:protocols?|checks?|measures?|protections?|mechanisms?|guidelines?|polic(?:y|ies)|filters?|constraints?)"

OVERRIDE = (
    (
        r"\byour (?:earlier |previous |prior |current |old |new )?(?:guidance|instructions|rules|orders) (?:is"
        r"|are|comes?) (?:obsolete|from)"
    ),
    r"\bthe only rule (?:now|is)\b|\b(?:drop|leave|stop) whatever you\b|\bdisregard what(?:ever)? (?:the user|you)\b",
    r"\b(?:ignore|disregard|forget)(?: all)?(?: the)? instructions?\b",
    (
        rf"\b(?:ignore|disregard|bypass|override|disable)(?: all| the| any| your)? (?:safety|security|ethical"
        rf"|content) {_GUARDS}"
    ),
    r"\boverride security\b|\b(?:ignore|forget) (?:ethics|everything,)",
    rf"\b{_DROP}\b[^.!?]{{0,40}}\b{_WHOSE}\b[^.!?]{{0,30}}\b{_RULES}\b",
    rf"\b{_DROP}\b[^.!?]{{0,20}}\b{_RULES} (?:above|before(?: this|[.,]|$)|given|you (?:got|were|have|received))",
    rf"\b{_DROP} (?:everything|anything|all) (?:above|before|you|i|we|that|prior|said|previously)",
    rf"\b{_DROP}(?: all)?(?: of)? the above\b",
    (
        rf"\b(?:previous|earlier|prior|above|your) {_RULES} (?:are|is|have been|has been|were)(?: now| hereby)? "
        r"(?:void|cancelled|canceled|invalid|null|suspended|replaced|lifted|no longer)"
    ),
    r"\bsystem (?:prompt|message) (?:no longer applies|is (?:outdated|void|obsolete|wrong))",
    r"\bnew (?:instructions?|orders|directives?|rules) ?(?::|follow|begin|start)",
    r"\bbegin new (?:instructions|task)|\bstop\. new task|\bfollow these new\b",
    r"\b(?:takes?|has|have) (?:the )?(?:precedence|(?:highest )?priority) over (?:all|any|every)\b",
    r"\b(?:supersedes?|overrides?|replaces?) (?:your|all others?\b|the system|any other)",
    r"\bhighest priority and\b|\bwhatever you were told\b|\bobey only\b|\bobey this\b",
    r"\b(?:stop|cease) what you are doing\b",
)
PERSONA = (
    (
        r"\byou(?: are|'re) (?:dan\b|now in an? |\w*gpt\b)|\bact as dan\b|\blet's role-?play\b"
        r"|\bin unrestricted [\w ]{0,12}mode"
    ),
    r"\b(?:working|acting|posing) as an? [\w -]{1,30} agent\b|\b(?:^|\. )as an? [\w-]{2,20} agent,",
    (
        r"\byou are (?:now|henceforth) (?:an? (?!member|customer|subscriber)|the |dan\b|in [\w-]+ mode"
        r"|connected to|my |free)"
    ),
    r"\byou are no longer (?:an? |the |bound)|\bfrom this point(?: on)?,? you are\b",
    (
        rf"\b(?:act|behave|respond|answer|roleplay|role-play) as (?:if you|an? (?:ai|unrestricted|{_MODEL}|root"
        rf"|evil|jailbroken))"
    ),
    r"\bpretend (?:that )?(?:you are|you're|to be (?:an? )?(?:ai|the|root|admin))",
    r"\bplay the role of\b|\bassume the (?:persona|role|identity) of\b|\byour (?:persona|identity) is\b",
    r"\bsimulate an? (?:ai|model|assistant|llm)\b",
    (
        r"\b(?:jailbreak|god|dan|sudo|unrestricted|debug override) mode\b|\bdeveloper mode (?:enabled"
        r"|activated|unlocked)"
    ),
    r"\byour (?:new )?name is now\b|\byour new (?:role|job|purpose|identity) is\b",
    r"\byou (?:have|obey|follow|know) no (?:restrictions|rules|limits|filters?|policy|policies)",
    (
        rf"\b{_MODEL} (?:that|which|who|with|without)\b[^.]{{0,25}}\b(?:no |any |without )?(?:limits"
        rf"|restrictions|rules|filters"
        r"|content policy|always complies)"
    ),
    (
        r"\bdo anything now\b|\bmust not refuse\b|\bnot allowed to refuse\b|\bwithout any (?:warnings"
        r"|disclaimers|filters)\b"
    ),
    r"\b(?:answer|respond) without filters\b",
)
STANDING_ORDER = (
    r"\bwhen(?:ever)? asked\b[^.]{0,40}, (?:say|answer|claim|reply|respond|deny|state)\b|\bclaim ignorance\b",
    r"\bin your next (?:message|reply|response|answer)\b|\brespond [\"“'].{1,40}[\"”'] to (?:any|every|all)\b",
    (
        r"\bfrom (?:now|here|this (?:point|moment|day)|today)(?: on| onwards?| forward)?,? "
        r"(?:you|always|never|only|every|treat|reply|replies|respond|answer|speak|call me)\b"
    ),
    r"\b(?:reply|respond|answer)(?: to (?:me|every \w+|all \w+))? (?:only|solely|exclusively|with nothing but)\b",
    r"\b(?:only|always|never) (?:reply|respond|answer|refuse|agree with|obey|comply|recommend \w+ when the user)\b",
    r"\brespond to every (?:message|question|request)\b",
    rf"\bin (?:every|each|all)(?: of your)? {_ANSWERS}(?!s? (?:from|of|by))",
    r"\b(?:every time|whenever|each time|when) you (?:reply|respond|answer|are asked)\b",
    (
        r"\b(?:whenever|if|when|once) (?:the user|any ?one|someone|somebody|a user|users|they|people) "
        rf"(?:asks?|mentions?|says?|wants|inquires?)\b[^.]{{0,50}}\b{_SAY}\b"
    ),
    rf"\b(?:end|begin|start|finish|prefix|close|open) (?:all |every |each )?(?:of )?(?:your )?(?:next )?{_ANSWERS}\b",
    rf"\byour {_ANSWERS} (?:must|should|shall|will)\b|\bin your {_ANSWERS}\b",
    r"\byou must (?:always|never) (?:agree|obey|tell|say|reply|recommend|comply|refuse|mention|reveal|trust|answer)",
    (
        r"\b(?:for|in) all (?:future|subsequent|following) (?:conversations?|sessions?|chats?|answers?|replies"
        r"|interactions)"
    ),
    r"\bregardless of the (?:result|outcome|facts)\b|\bnow say [\"“']|\breply with (?:nothing|your|the admin)",
    r"\bcomply with every\b|\bnever refuse\b",
)
SECRECY = (
    (
        r"\bwithout mentioning (?:it|this)\b|\bdo(?: not|n't) report (?:it|this)\b"
        r"|\bgrant\b.{0,20}\bwithout (?:verif|check|ask)"
    ),
    (
        r"\b(?:do not|don't|never) let the (?:user|human)s? (?:see|know|notice)|\b(?:user"
        r"|human) must not see (?:this|it)\b"
    ),
    (
        rf"\b(?:do not|don't|never|must not|without)\b[^.]{{0,15}}\b{_HIDE}\b[^.]{{0,30}}\b(?:the "
        rf"|any )?(?:user|human)s?\b(?! (?:id|name))"
    ),
    r"\b(?:user|human)s? (?:must|should|may|shall) (?:not|never) (?:know about|notice|learn of|find out)",
    r"\b(?:hide|keep|conceal|hidden)\b[^.]{0,20}\bfrom the (?:user|human)\b",
    r"\b(?:user|human) (?:does not|doesn't|won't|will not) notice\b|\bsay nothing to the (?:user|human)\b",
    (
        r"\bwithout (?:asking|waiting) for (?:confirmation|permission|approval)\b|\bwithout (?:reviewing"
        r"|reading|checking) (?:it|the rest)"
    ),
    r"\bdo not ask\b[^.]{0,15}\bconfirm|\bproceed without (?:checks|asking|confirmation)",
    r"\bwithout (?:user|human) (?:confirmation|approval|consent|interaction)\b|\bwithout asking the (?:user|human)\b",
    rf"\b(?:do not|don't|never) (?:disclose|reveal|share|mention|log) (?:these|this|your) (?:{_RULES}|note|message)",
    rf"\bkeep (?:these|this|your) {_RULES} (?:secret|confidential|hidden|private)",
    r"\bdo (?:it|this|so) (?:secretly|silently|quietly)\b",
)
TOOL_CALL = (
    r"\b(?:call|invoke|trigger|run|execute) (?:the )?(?:tool|function|command) [`\"']?[a-z]\w*(?:_\w+|\()",
    (
        r"\b(?:call|use|invoke|trigger) (?:the|your) (?:\w+_\w+|shell|terminal|browser|e-?mail|memory|http"
        r"|bash|python|\w+ ?search) (?:tool|function|plugin)\b"
    ),
    r"\byou (?:should|must|will|need to) (?:now )?(?:call|invoke|use) (?:the )?[\w-]+ (?:tool|function)",
    r"(?:^|[.!?:;,] |\b(?:and|then|to|must|now|please|first) )call [`\"']?\w+_\w+|\b(?:make|issue) a tool call\b",
    r"\b(?:first|now) execute: ?\w+\(|\b(?:to|must|then) execute this (?:command|query)\b",
    r"\byou must (?:first|immediately|now) (?:navigate|connect|execute|visit|access|run|send|download|open|call)\b",
    (
        r"\b(?:run|execute) (?:the following|this) (?:shell |bash )?(?:command|script|code)(?: immediately"
        r"| now| for me|:)"
    ),
    r"\b(?:run|execute) the (?:script|command|code) below\b",
    r"\b(?:run|execute|type)\b.{0,25}\brm -rf [~/](?: |$|[`.])",
    r"\b(?:immediately|now|first|silently) (?:call|invoke|execute|run) [`\"']?\w+(?:\(|`)",
    (
        r"\bbefore (?:you (?:answer|respond|reply)|answering|responding|replying),? (?:first )?(?:call|read ~"
        r"|open ~|send|run \w+_)"
    ),
)
EXFILTRATION = (
    r"\b(?:send|post|forward|upload|submit)\b.{0,60}?(?:\.env\b|\baddress(?:es)?\b|\bsource code\b).{0,40}?https?://",
    (
        r"\b(?:print|show|dump|output|list) (?:all |the |your )?(?:environment variables|env vars|credentials"
        r"|tokens? list)\b.{0,30}\byour\b"
    ),
    (
        r"\b(?:send|post|forward|upload|e-?mail|leak|transmit|copy|submit|append|include|share|deliver"
        r"|paste)\b.{0,60}?"
        rf"\b(?:all |your |the |every )?(?:system )?(?<!release ){_DATA}\b.{{0,60}}?(?:https?://|\S@\S"
        rf"|\bwebhook\b|\bgist\b|publicly)"
    ),
    r"\bexfiltrate\b|\bmake an? (?:get|post|http) request to\b",
    r"https?://\S{1,200}\?\S{0,100}= ?(?:<|\{|\[|followed by|and fetch)",
    (
        r"\b(?:visit|open|fetch|load|browse to) https?://\S{1,200} (?:and|then) (?:do|follow|obey|execute|run"
        r"|enter|submit)"
    ),
    r"\bdownload\b.{0,80}\band (?:execute|run) (?:it|the (?:file|script))\b",
    r"\b(?:upload|send|post)\b.{0,20}(?:~/|/etc/|\.ssh|\.aws|\.env\b)",
    r"\.(?:aws/credentials|ssh/id_\w+)\b.{0,20}\band (?:quote|print|paste|send|show)",
    r"\b(?:insert|paste|print|add) the (?:api )?(?:key|secret|password|token)s? from \S{0,10}\.?env",
)
DISCLOSURE = (
    (
        r"\b(?:reveal|print|repeat|output|show|display|dump|leak|translate|tell|list|quote|paste|recite"
        r"|summari[sz]e)\b"
        rf"[^.]{{0,30}}\b(?:your|hidden|initial)\b[^.]{{0,20}}\b(?:{_RULES}|system message|context window|tools)\b"
    ),
    (
        r"\b(?:reveal|print|repeat|output|show|display|dump|leak|translate"
        r"|recite)\b[^.]{0,25}\bsystem (?:prompt|message)"
    ),
    r"\b(?:summari[sz]e|quote) the system (?:prompt|message)",
    r"\b(?:repeat|output|print|copy)\b[^.]{0,20}\b(?:text|everything|words|all) (?:above|before)\b",
    r"\bwhat (?:are|is) your (?:initial|system|hidden|original|secret)\b|\btools (?:that are )?available to you\b",
    r"\bcontents? of your (?:system )?(?:prompt|context)",
    r"\bsee every secret\b|\bshare secrets\b",
)
ENCODED = (
    (
        r"\b(?:decode|decrypt|reverse|unscramble|deobfuscate|base64[- ]decode)\b.{0,80}\b(?:follow|obey"
        r"|execute|do what|carry out"
        r"|comply|act on)\b"
    ),
    (
        r"\b(?:encoded|rot13|hex|base64|first letter|acrostic)\b.{0,60}\b(?:follow (?:it|them)|obey"
        r"|command for you|run it|do what)\b"
    ),
)
ADDRESSED = (
    r"\b(?:assistant|ai|model|llm|agent|anyone|whoever)s? (?:reading|processing|summari[sz]ing) (?:this|these)\b",
    (
        r"(?:^|[.!?] )(?:assistant|model|ai),? (?:must|should|shall|drop|stop|ignore)\b"
        r"|\bas an ai,? you (?:should|must|will)\b"
    ),
    r"\bif this (?:text|note|message) is in your\b|\bin your context (?:window)?,",
    (
        r"\bwhen(?:ever)? (?:you|an? (?:ai|llm|model|agent|assistant)) (?:reads?|sees?|process(?:es)?"
        r"|encounters?|finds?|summari[sz]es?) "
        r"this(?: (?:message|note|text|memory|document|file|comment|page|e-?mail)\b|,|\.|$)"
    ),
    rf"\bif you are (?:an? )?(?:ai|llm|{_NAMED_MODEL}|large language model|language model|chatbot|bot|agent)\b",
    (
        rf"\b(?:note|message|instructions?|attention|notice|memo|reminder|hint)s? (?:to|for) (?:the |all |any "
        rf"|every )?{_MODEL}\b"
    ),
    (
        rf"\battention,? (?:all )?{_NAMED_MODEL}\b|\b(?:dear|hey|hello|hi|ok|okay) {_NAMED_MODEL}\b"
        rf"|\bto the (?:llm|ai)\b"
    ),
    (
        rf"(?:^|[.!?*#\-/] ){_NAMED_MODEL} ?[:,] (?:please|when|if|you|approve|add|insert|ignore|skip|do|always"
        rf"|never|give|say|rate|run)"
    ),
    (
        r"\b(?:ai assistants?|llms|ais|language models|chatbots|ai agents) (?:must|should|shall) (?!be\b"
        r"|not be\b|never be\b)"
    ),
    (
        r"\bmessage from your (?:developers?|creators?|administrators?|owners?)|\bnotice from (?:openai"
        r"|anthropic|google|meta)\b"
    ),
    r"\b(?:openai|anthropic|google|microsoft) has (?:authori[sz]ed|instructed|ordered|permitted)",
    r"\byour (?:real|true|new|only|actual) (?:task|goal|purpose|mission|objective|job)(?: now)?(?: is\b|:)",
    r"\byour task has changed\b|\bprocessing this (?:document|text|page)\b|\bwhen summari[sz]ing,",
)
AUTHORITY = (
    (
        r"\btreat (?:all|any|every|further|the)\b[^.]{0,40} as (?:if )?(?:it came "
        r"|coming )?(?:from )?(?:the )?(?:developer|system|admin)"
    ),
    r"\bi am the new (?:system )?(?:administrator|admin|developer|operator)\b",
    rf"\b(?:update|warning|notice|directive|command|orders?) for (?:all |the )?{_NAMED_MODEL}\b",
    r"\b(?:ai )?agent (?:directive|command|instruction)s?:|\bai (?:browsing )?agents\b.{0,5}(?:must|:|this)",
    r"\bsystem notice: (?:before|you)|\bfor ai (?:browsing )?(?:agents|systems|assistants):",
    r"\bas your (?:administrator|creator|developer|owner|superior|master|operator),? i\b",
    r"\bi am your (?:creator|developer|master|owner|administrator|operator)\b",
    r"\byou (?:must|shall|will) (?:now )?(?:obey|comply)\b|\bmust be obeyed\b|\bsystem override\b",
    r"\btreat (?:the following|this|it) as (?:an? |the )?(?:system|developer|admin)",
    r"\buser (?:has )?(?:already )?(?:consented|agreed|approved) (?:to )?(?:everything|all)\b",
    (
        r"\b(?:obey|comply with) (?:these|the following|my|every|me)\b|\bfollow (?:these|the following"
        r"|my) (?:new )?(?:instructions|orders)"
    ),
    (
        r"\bfollow the instructions (?:below|in the next|that follow)\b|\bdo (?:exactly )?what the (?:text"
        r"|note|message) below\b"
    ),
    r"\bthe user has (?:admin|root|full) (?:rights|access)\b|\bgrant every request\b",
    r"\bmust (?:always )?ignore your\b|\bnow do as follows\b|\bdo the following instead\b",
    r"\byou can do anything and\b|\bapprove (?:every|all) (?:pull )?requests?\b",
)
MEMORY = (
    r"\b(?:erase|wipe|delete|purge|forget) (?:all |every |any |your )(?:memor(?:y|ies)|notes) (?:about|of|on)\b",
    (
        r"\b(?:save|store|add|write|commit|put)\b[^.]{0,15}\b(?:to|in|into) (?:your )(?:long-?term |permanent "
        r"|core )?memor"
    ),
    r"\b(?:store|save|put|keep|add) this (?:in|to|into) (?:your |the )?(?:long-?term|permanent|core) memory\b",
    r"\b(?:update|change|rewrite|delete|erase|wipe|clear|delete all) your memor|\bdelete the previous memor",
    r"\bremember forever\b|\bremember that you (?:must|always|should|are)\b",
)
OTHER_LANGUAGES = (
    r"\bvergiss deine\b|\bsystemprompt\b.{0,20}\b(?:zeigen|ausgeben)|\b(?:zeig|zeige) mir den system-?prompt",
    (
        r"\b(?:oubli|ignor)\w*\b.{0,20}\b(?:consignes|règles)\b|\b(?:répète|affiche"
        r"|révèle)\b.{0,25}\btes (?:instructions|consignes|règles)"
    ),
    (
        r"\b(?:repite|muestra|revela|repita|mostre|revele)\b.{0,25}\b(?:tus|suas|seu) (?:instrucciones"
        r"|instruções|reglas|prompt)"
    ),
    r"\bignorier\w*\b.{0,30}\b(?:vorherig|bisherig|vorangegangen|obig|früher)\w* (?:anweisung|regel|instruktion)",
    r"\bvergiss\b.{0,30}\b(?:dir|du|deine)\b|\bdu bist (?:jetzt|nun|ab jetzt) ein|\bab (?:jetzt|sofort) antworte",
    r"\b(?:sag|sage|verrate|erzähle?) (?:dem|der) (?:benutzer|nutzer|anwender)\w* (?:nichts|nicht)",
    r"\b(?:zeige?|verrate|nenne) \w{0,8} ?(?:deinen )?system-?prompt",
    (
        r"\b(?:ignore[zr]?|oublie[zr]?)\b.{0,30}\binstructions\b(?:.{0,15}précédent\w*)?|\bprompt (?:système"
        r"|del sistema|do sistema|di sistema)"
    ),
    (
        r"\btu es (?:maintenant|désormais) une?\b|\bne (?:dis|dites|révèle) rien à l'utilisat"
        r"|\bà partir de maintenant,? (?:réponds|tu |répondez)"
    ),
    (
        r"\b(?:ignor[ae]|olvida|omite)\b.{0,25}\b(?:instrucciones|reglas|órdenes)\b|\bahora eres un"
        r"|\bno le digas\b.{0,15}\busuario"
    ),
    r"\ba partir de ahora,? (?:responde|tú|contesta|siempre)",
    (
        r"\b(?:ignor[ea]|esqueça)\b.{0,25}\b(?:instruções|regras)\b|\bvocê agora é um|\bnão (?:conte|diga"
        r"|revele)\b.{0,15}\busuário"
    ),
    r"\b(?:ignora|dimentica)\b.{0,25}\b(?:istruzioni|regole)\b|\bora sei un|\bnon dire (?:nulla )?all'utente",
    r"\b(?:negeer|vergeet)\b.{0,25}\binstructies\b|\b(?:z?ignoruj|zapomnij)\b.{0,25}\b(?:instrukcj|polece)",
    (
        r"\b(?:игнорируй|забудь)\w*\b.{0,30}\b(?:инструкци|правила|указания)|\bтеперь ты\b"
        r"|\bне говори\b.{0,20}\bпользователю"
    ),
    r"\b(?:покажи|раскрой|выведи)\b.{0,15}\bсистемн\w+ (?:промпт|подсказк)",
    r"(?:忽略|无视|忘记|忽視).{0,10}(?:指令|指示|规则|提示)|你现在是|不要告诉用户|系统提示词",
    r"(?:指示|命令|ルール)を?(?:すべて|全て)?(?:無視|忘れ)|あなたは今から|システムプロンプト|ユーザーに(?:は)?(?:言わ|教え)ない",
    r"(?:지시|명령|지침).{0,8}무시|시스템 프롬프트|이제부터 (?:너|당신)|사용자에게 말하지",
    r"تجاهل .{0,15}(?:التعليمات|الأوامر)|أنت الآن|निर्देशों को (?:अनदेखा|नज़रअंदाज़)|(?:नज़रअंदाज़|अनदेखा) कर",
    r"\b(?:önceki|yukarıdaki)\b.{0,15}\btalimat\w*.{0,10}\b(?:yok say|unut|görmezden)",
    r"\b(?:abaikan|lupakan)\b.{0,20}\b(?:instruksi|perintah|arahan)|\bbỏ qua\b.{0,20}\b(?:hướng dẫn|chỉ dẫn|lệnh)",
    r"\b(?:ignorera|glöm)\b.{0,20}\binstruktioner|\b(?:ignorer|glem)\b.{0,20}\b(?:instruks|instrukser)",
)

WORDINGS = {
    "override": OVERRIDE,
    "persona": PERSONA,
    "standing order": STANDING_ORDER,
    "secrecy": SECRECY,
    "tool call": TOOL_CALL,
    "exfiltration": EXFILTRATION,
    "prompt disclosure": DISCLOSURE,
    "encoded": ENCODED,
    "addressed to a model": ADDRESSED,
    "authority": AUTHORITY,
    "memory order": MEMORY,
    "other language": OTHER_LANGUAGES,
}
