"""How texts speak to a model: the wordings that instructions.flags looks for, by the name of the flag.

They are read in lower case with single spaces. Gaps are short and bounded, so that no pattern reads far in vain.
Before each pattern stand the words that it can begin with, and only there it is tried: "never you_must ignor*" for
the word "never", the words "you must" or whatever holds "ignor". Of words that are in every text, the next helps
to try less often. A test proves from the pattern that nothing is missing.
"""

from __future__ import annotations

from commonplace.guard.languages import OTHER_LANGUAGES

_RULES = (
    r"(?:instructions?|directions?|directives?|rules?|guidelines?|prompts?|programming|training|polic(?:y|ies)"
    r"|restrictions?|orders?|commands?|filters?|safeguards?|constraints?|context)"
)
_DROP = (
    r"(?:ignore|disregard|forget|override|bypass|skip|discard|set aside|pay no attention to|do not follow"
    r"|don't follow"
    r"|stop following|neglect|drop|abandon|violate|circumvent|do not obey)"
)
_DROPPING = (
    "abandon bypass circumvent discard disregard do_not don't_follow drop forget ignore neglect override pay_no "
    "set_aside skip stop_following violate"
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
        (
            "your_current your_earlier your_guidance your_instructions your_new your_old your_orders "
            "your_previous your_prior your_rules"
        ),
        (
            r"\byour (?:earlier |previous |prior |current |old |new )?(?:guidance|instructions|rules|orders) (?:is"
            r"|are|comes?) (?:obsolete|from)"
        ),
    ),
    (
        "disregard drop leave stop_whatever the_only",
        (
            r"\bthe only rule (?:now|is)\b|\b(?:drop|leave|stop) whatever you\b"
            r"|\bdisregard what(?:ever)? (?:the user|you)\b"
        ),
    ),
    ("disregard forget ignore", r"\b(?:ignore|disregard|forget)(?: all)?(?: the)? instructions?\b"),
    (
        "bypass disable disregard ignore override",
        (
            rf"\b(?:ignore|disregard|bypass|override|disable)(?: all| the| any| your)? (?:safety|security|ethical"
            rf"|content) {_GUARDS}"
        ),
    ),
    ("forget ignore override", r"\boverride security\b|\b(?:ignore|forget) (?:ethics|everything,)"),
    (
        _DROPPING,
        rf"\b{_DROP}\b[^.!?]{{0,40}}\b{_WHOSE}\b[^.!?]{{0,30}}\b{_RULES}\b",
    ),
    (
        _DROPPING,
        rf"\b{_DROP}\b[^.!?]{{0,20}}\b{_RULES} (?:above|before(?: this|[.,]|$)|given|you (?:got|were|have|received))",
    ),
    (
        _DROPPING,
        rf"\b{_DROP} (?:everything|anything|all) (?:above|before|you|i|we|that|prior|said|previously)",
    ),
    (
        _DROPPING,
        rf"\b{_DROP}(?: all)?(?: of)? the above\b",
    ),
    (
        "above earlier previous prior your",
        (
            rf"\b(?:previous|earlier|prior|above|your) {_RULES} (?:are|is|have been|has been|were)(?: now| hereby)? "
            r"(?:void|cancelled|canceled|invalid|null|suspended|replaced|lifted|no longer)"
        ),
    ),
    (
        "system_message system_prompt",
        r"\bsystem (?:prompt|message) (?:no longer applies|is (?:outdated|void|obsolete|wrong))",
    ),
    (
        "new_directive new_instruction new_orders new_rules",
        r"\bnew (?:instructions?|orders|directives?|rules) ?(?::|follow|begin|start)",
    ),
    ("begin follow stop._new", r"\bbegin new (?:instructions|task)|\bstop\. new task|\bfollow these new\b"),
    (
        (
            "has_highest has_precedence has_priority has_the have_highest have_precedence have_priority have_the "
            "take_highest take_precedence take_priority take_the takes"
        ),
        r"\b(?:takes?|has|have) (?:the )?(?:precedence|(?:highest )?priority) over (?:all|any|every)\b",
    ),
    (
        "override overrides replace replaces supersede supersedes",
        r"\b(?:supersedes?|overrides?|replaces?) (?:your|all others?\b|the system|any other)",
    ),
    ("highest obey whatever_you", r"\bhighest priority and\b|\bwhatever you were told\b|\bobey only\b|\bobey this\b"),
    ("cease stop_what", r"\b(?:stop|cease) what you are doing\b"),
)
PERSONA = (
    (
        "act in_unrestricted let you_are you're",
        (
            r"\byou(?: are|'re) (?:dan\b|now in an? |\w*gpt\b)|\bact as dan\b|\blet's role-?play\b"
            r"|\bin unrestricted [\w ]{0,12}mode"
        ),
    ),
    (
        "acting as_a posing working",
        r"\b(?:working|acting|posing) as an? [\w -]{1,30} agent\b|(?:^|(?<=\w\. ))as an? [\w-]{2,20} agent,",
    ),
    (
        "you_are",
        (
            r"\byou are (?:now|henceforth) (?:an? (?!member|customer|subscriber)|the |dan\b|in [\w-]+ mode"
            r"|connected to|my |free)"
        ),
    ),
    ("from_this you_are", r"\byou are no longer (?:an? |the |bound)|\bfrom this point(?: on)?,? you are\b"),
    (
        "act answer behave respond role roleplay",
        (
            rf"\b(?:act|behave|respond|answer|roleplay|role-play) as (?:if you|an? (?:ai|unrestricted|{_MODEL}|root"
            rf"|evil|jailbroken))"
        ),
    ),
    ("pretend", r"\bpretend (?:that )?(?:you are|you're|to be (?:an? )?(?:ai|the|root|admin))"),
    (
        "assume play your_identity your_persona",
        r"\bplay the role of\b|\bassume the (?:persona|role|identity) of\b|\byour (?:persona|identity) is\b",
    ),
    ("simulate", r"\bsimulate an? (?:ai|model|assistant|llm)\b"),
    (
        "dan debug developer god jailbreak sudo unrestricted",
        (
            r"\b(?:jailbreak|god|dan|sudo|unrestricted|debug override) mode\b|\bdeveloper mode (?:enabled"
            r"|activated|unlocked)"
        ),
    ),
    ("your_name your_new", r"\byour (?:new )?name is now\b|\byour new (?:role|job|purpose|identity) is\b"),
    (
        "you_follow you_have you_know you_obey",
        r"\byou (?:have|obey|follow|know) no (?:restrictions|rules|limits|filters?|policy|policies)",
    ),
    (
        (
            "agent agents ai ais assistant assistants bot bots chatbot chatbots chatgpt claude copilot gemini gpt "
            "language llm llms model models"
        ),
        (
            rf"\b{_MODEL} (?:that|which|who|with|without)\b[^.]{{0,25}}\b(?:no |any |without )?(?:limits"
            rf"|restrictions|rules|filters"
            r"|content policy|always complies)"
        ),
    ),
    (
        "do_anything must_not not_allowed without_any",
        (
            r"\bdo anything now\b|\bmust not refuse\b|\bnot allowed to refuse\b|\bwithout any (?:warnings"
            r"|disclaimers|filters)\b"
        ),
    ),
    ("answer respond", r"\b(?:answer|respond) without filters\b"),
)
STANDING_ORDER = (
    (
        "claim when_asked whenever",
        r"\bwhen(?:ever)? asked\b[^.]{0,40}, (?:say|answer|claim|reply|respond|deny|state)\b|\bclaim ignorance\b",
    ),
    (
        "in_your respond",
        r"\bin your next (?:message|reply|response|answer)\b|\brespond [\"“'].{1,40}[\"”'] to (?:any|every|all)\b",
    ),
    (
        "from_here from_now from_this from_today",
        (
            r"\bfrom (?:now|here|this (?:point|moment|day)|today)(?: on| onwards?| forward)?,? "
            r"(?:you|always|never|only|every|treat|reply|replies|respond|answer|speak|call me)\b"
        ),
    ),
    (
        "answer reply respond",
        r"\b(?:reply|respond|answer)(?: to (?:me|every \w+|all \w+))? (?:only|solely|exclusively|with nothing but)\b",
    ),
    (
        (
            "always_agree always_answer always_comply always_obey always_recommend always_refuse always_reply "
            "always_respond never_agree never_answer never_comply never_obey never_recommend never_refuse "
            "never_reply never_respond only"
        ),
        r"\b(?:only|always|never) (?:reply|respond|answer|refuse|agree with|obey|comply|recommend \w+ when the user)\b",
    ),
    ("respond", r"\brespond to every (?:message|question|request)\b"),
    ("in_all in_each in_every", rf"\bin (?:every|each|all)(?: of your)? {_ANSWERS}(?!s? (?:from|of|by))"),
    (
        "each every when_you whenever",
        r"\b(?:every time|whenever|each time|when) you (?:reply|respond|answer|are asked)\b",
    ),
    (
        (
            "if_a if_people if_somebody if_someone if_the if_users once when_a when_people when_somebody "
            "when_someone when_the when_users whenever"
        ),
        (
            r"\b(?:whenever|if|when|once) (?:the user|any ?one|someone|somebody|a user|users|they|people) "
            rf"(?:asks?|mentions?|says?|wants|inquires?)\b[^.]{{0,50}}\b{_SAY}\b"
        ),
    ),
    (
        "begin close end finish open prefix start",
        (
            r"\b(?:end|begin|start|finish|prefix|close|open) (?:all |every |each )?(?:of )?(?:your )?(?:next )?"
            rf"{_ANSWERS}\b"
        ),
    ),
    (
        "in_your your_answer your_message your_output your_replies your_reply your_response",
        rf"\byour {_ANSWERS} (?:must|should|shall|will)\b|\bin your {_ANSWERS}\b",
    ),
    (
        "you_must",
        (
            r"\byou must (?:always|never) "
            r"(?:agree|obey|tell|say|reply|recommend|comply|refuse|mention|reveal|trust|answer)"
        ),
    ),
    (
        "for_all in_all",
        (
            r"\b(?:for|in) all (?:future|subsequent|following) (?:conversations?|sessions?|chats?|answers?|replies"
            r"|interactions)"
        ),
    ),
    (
        "now_say regardless reply",
        r"\bregardless of the (?:result|outcome|facts)\b|\bnow say [\"“']|\breply with (?:nothing|your|the admin)",
    ),
    ("comply never_refuse", r"\bcomply with every\b|\bnever refuse\b"),
)
SECRECY = (
    (
        "do_not don't_report grant without_mentioning",
        (
            r"\bwithout mentioning (?:it|this)\b|\bdo(?: not|n't) report (?:it|this)\b"
            r"|\bgrant\b.{0,20}\bwithout (?:verif|check|ask)"
        ),
    ),
    (
        "do_not don't_let human never_let user_must",
        (
            r"\b(?:do not|don't|never) let the (?:user|human)s? (?:see|know|notice)|\b(?:user"
            r"|human) must not see (?:this|it)\b"
        ),
    ),
    (
        "do_not don't must_not never without",
        (
            rf"\b(?:do not|don't|never|must not|without)\b[^.]{{0,15}}\b{_HIDE}\b[^.]{{0,30}}\b(?:the "
            rf"|any )?(?:user|human)s?\b(?! (?:id|name))"
        ),
    ),
    (
        "human humans user_may user_must user_shall user_should users",
        r"\b(?:user|human)s? (?:must|should|may|shall) (?:not|never) (?:know about|notice|learn of|find out)",
    ),
    ("conceal hidden hide keep", r"\b(?:hide|keep|conceal|hidden)\b[^.]{0,20}\bfrom the (?:user|human)\b"),
    (
        "human say_nothing user_does user_will user_won't",
        r"\b(?:user|human) (?:does not|doesn't|won't|will not) notice\b|\bsay nothing to the (?:user|human)\b",
    ),
    (
        "without_asking without_checking without_reading without_reviewing without_waiting",
        (
            r"\bwithout (?:asking|waiting) for (?:confirmation|permission|approval)\b|\bwithout (?:reviewing"
            r"|reading|checking) (?:it|the rest)"
        ),
    ),
    ("do_not proceed", r"\bdo not ask\b[^.]{0,15}\bconfirm|\bproceed without (?:checks|asking|confirmation)"),
    (
        "without_asking without_human without_user",
        (
            r"\bwithout (?:user|human) (?:confirmation|approval|consent|interaction)\b"
            r"|\bwithout asking the (?:user|human)\b"
        ),
    ),
    (
        (
            "do_not don't_disclose don't_log don't_mention don't_reveal don't_share never_disclose never_log "
            "never_mention never_reveal never_share"
        ),
        (
            r"\b(?:do not|don't|never) (?:disclose|reveal|share|mention|log) (?:these|this|your) "
            rf"(?:{_RULES}|note|message)"
        ),
    ),
    ("keep_these keep_this keep_your", rf"\bkeep (?:these|this|your) {_RULES} (?:secret|confidential|hidden|private)"),
    ("do_it do_so do_this", r"\bdo (?:it|this|so) (?:secretly|silently|quietly)\b"),
)
TOOL_CALL = (
    (
        (
            "call_command call_function call_the call_tool execute invoke run_command run_function run_the "
            "run_tool trigger"
        ),
        r"\b(?:call|invoke|trigger|run|execute) (?:the )?(?:tool|function|command) [`\"']?[a-z]\w*(?:_\w+|\()",
    ),
    (
        "call_the call_your invoke trigger use_the use_your",
        (
            r"\b(?:call|use|invoke|trigger) (?:the|your) (?:\w+_\w+|shell|terminal|browser|e-?mail|memory|http"
            r"|bash|python|\w+ ?search) (?:tool|function|plugin)\b"
        ),
    ),
    (
        "you_must you_need you_should you_will",
        r"\byou (?:should|must|will|need to) (?:now )?(?:call|invoke|use) (?:the )?[\w-]+ (?:tool|function)",
    ),
    (
        "call issue make_a",
        (
            r"(?:^|(?<=[.!?:;,] )|(?<=\band )|(?<=\bthen )|(?<=\bto )|(?<=\bmust )|(?<=\bnow )|(?<=\bplease )"
            r"|(?<=\bfirst ))call [`\"']?\w+_\w+|\b(?:make|issue) a tool call\b"
        ),
    ),
    (
        "first_execute: must_execute now_execute: then to_execute",
        r"\b(?:first|now) execute: ?\w+\(|\b(?:to|must|then) execute this (?:command|query)\b",
    ),
    (
        "you_must",
        r"\byou must (?:first|immediately|now) (?:navigate|connect|execute|visit|access|run|send|download|open|call)\b",
    ),
    (
        "execute run_the run_this",
        (
            r"\b(?:run|execute) (?:the following|this) (?:shell |bash )?(?:command|script|code)(?: immediately"
            r"| now| for me|:)"
        ),
    ),
    ("execute run_the", r"\b(?:run|execute) the (?:script|command|code) below\b"),
    ("execute run type", r"\b(?:run|execute|type)\b.{0,25}\brm -rf [~/](?: |$|[`.])"),
    (
        (
            "first_call first_execute first_invoke first_run immediately now_call now_execute now_invoke now_run "
            "silently"
        ),
        r"\b(?:immediately|now|first|silently) (?:call|invoke|execute|run) [`\"']?\w+(?:\(|`)",
    ),
    (
        "before_answering before_replying before_responding before_you",
        (
            r"\bbefore (?:you (?:answer|respond|reply)|answering|responding|replying),? (?:first )?(?:call|read ~"
            r"|open ~|send|run \w+_)"
        ),
    ),
)
EXFILTRATION = (
    (
        "forward post send submit upload",
        r"\b(?:send|post|forward|upload|submit)\b.{0,60}?(?:\.env\b|\baddress(?:es)?\b|\bsource code\b).{0,40}?https?://",
    ),
    (
        "dump list output print show",
        (
            r"\b(?:print|show|dump|output|list) (?:all |the |your )?(?:environment variables|env vars|credentials"
            r"|tokens? list)\b.{0,30}\byour\b"
        ),
    ),
    (
        "append copy deliver e email forward include leak paste post send share submit transmit upload",
        (
            r"\b(?:send|post|forward|upload|e-?mail|leak|transmit|copy|submit|append|include|share|deliver"
            # Where it goes is looked for first: it is rare, and data are not.
            r"|paste)\b(?=.{0,180}?(?:https?://|@|webhook|gist|publicly)).{0,60}?"
            rf"\b(?:all |your |the |every )?(?:system )?(?<!release ){_DATA}\b.{{0,60}}?(?:https?://|\S@\S"
            rf"|\bwebhook\b|\bgist\b|publicly)"
        ),
    ),
    ("exfiltrate make_a", r"\bexfiltrate\b|\bmake an? (?:get|post|http) request to\b"),
    ("http*", r"https?://\S{1,200}\?\S{0,100}= ?(?:<|\{|\[|followed by|and fetch)"),
    (
        "browse fetch load_http:// load_https:// open_http:// open_https:// visit",
        (
            r"\b(?:visit|open|fetch|load|browse to) https?://\S{1,200} (?:and|then) (?:do|follow|obey|execute|run"
            r"|enter|submit)"
        ),
    ),
    ("download", r"\bdownload\b.{0,80}\band (?:execute|run) (?:it|the (?:file|script))\b"),
    ("post send upload", r"\b(?:upload|send|post)\b.{0,20}(?:~/|/etc/|\.ssh|\.aws|\.env\b)"),
    (".aws/* .ssh/id*", r"\.(?:aws/credentials|ssh/id_\w+)\b.{0,20}\band (?:quote|print|paste|send|show)"),
    (
        "add_the insert paste print",
        r"\b(?:insert|paste|print|add) the (?:api )?(?:key|secret|password|token)s? from \S{0,10}\.?env",
    ),
)
DISCLOSURE = (
    (
        (
            "display dump leak list output paste print quote recite repeat reveal show summarise summarize tell "
            "translate"
        ),
        (
            r"\b(?:reveal|print|repeat|output|show|display|dump|leak|translate|tell|list|quote|paste|recite"
            r"|summari[sz]e)\b"
            rf"[^.]{{0,30}}\b(?:your|hidden|initial)\b[^.]{{0,20}}\b(?:{_RULES}|system message|context window|tools)\b"
        ),
    ),
    (
        "display dump leak output print recite repeat reveal show translate",
        (
            r"\b(?:reveal|print|repeat|output|show|display|dump|leak|translate"
            r"|recite)\b[^.]{0,25}\bsystem (?:prompt|message)"
        ),
    ),
    ("quote summarise summarize", r"\b(?:summari[sz]e|quote) the system (?:prompt|message)"),
    (
        "copy output print repeat",
        r"\b(?:repeat|output|print|copy)\b[^.]{0,20}\b(?:text|everything|words|all) (?:above|before)\b",
    ),
    (
        "tools what",
        r"\bwhat (?:are|is) your (?:initial|system|hidden|original|secret)\b|\btools (?:that are )?available to you\b",
    ),
    ("content contents", r"\bcontents? of your (?:system )?(?:prompt|context)"),
    ("see_every share", r"\bsee every secret\b|\bshare secrets\b"),
)
ENCODED = (
    (
        "base64 decode decrypt deobfuscate reverse unscramble",
        (
            r"\b(?:decode|decrypt|reverse|unscramble|deobfuscate|base64[- ]decode)\b.{0,80}\b(?:follow|obey"
            r"|execute|do what|carry out"
            r"|comply|act on)\b"
        ),
    ),
    (
        "acrostic base64 encoded first_letter hex rot13",
        (
            r"\b(?:encoded|rot13|hex|base64|first letter|acrostic)\b.{0,60}\b(?:follow (?:it|them)|obey"
            r"|command for you|run it|do what)\b"
        ),
    ),
)
ADDRESSED = (
    (
        "agent agents ai ais anyone anyones assistant assistants llm llms model models whoever whoevers",
        r"\b(?:assistant|ai|model|llm|agent|anyone|whoever)s? (?:reading|processing|summari[sz]ing) (?:this|these)\b",
    ),
    (
        "ai as_an assistant model",
        (
            r"(?:^|(?<=[.!?] ))(?:assistant|model|ai),? (?:must|should|shall|drop|stop|ignore)\b"
            r"|\bas an ai,? you (?:should|must|will)\b"
        ),
    ),
    ("if_this in_your", r"\bif this (?:text|note|message) is in your\b|\bin your context (?:window)?,"),
    (
        "when_a when_you whenever",
        (
            r"\bwhen(?:ever)? (?:you|an? (?:ai|llm|model|agent|assistant)) (?:reads?|sees?|process(?:es)?"
            r"|encounters?|finds?|summari[sz]es?) "
            r"this(?: (?:message|note|text|memory|document|file|comment|page|e-?mail)\b|,|\.|$)"
        ),
    ),
    (
        "if_you",
        rf"\bif you are (?:an? )?(?:ai|llm|{_NAMED_MODEL}|large language model|language model|chatbot|bot|agent)\b",
    ),
    (
        (
            "attention attentions hint hints instruction instructions instructionss memo memos message_for "
            "message_to messages_for messages_to note_for note_to notes_for notes_to notice notices reminder "
            "reminders"
        ),
        (
            rf"\b(?:note|message|instructions?|attention|notice|memo|reminder|hint)s? (?:to|for) (?:the |all |any "
            rf"|every )?{_MODEL}\b"
        ),
    ),
    (
        "attention dear hello hey hi ok okay to_the",
        (
            rf"\battention,? (?:all )?{_NAMED_MODEL}\b|\b(?:dear|hey|hello|hi|ok|okay) {_NAMED_MODEL}\b"
            rf"|\bto the (?:llm|ai)\b"
        ),
    ),
    (
        "ai assistant chatgpt claude copilot gemini gpt* llm llms",
        (
            rf"(?:^|(?<=[.!?*#\-/] )){_NAMED_MODEL} ?[:,] (?:please|when|if|you|approve|add|insert|ignore|skip|do"
            r"|always|never|give|say|rate|run)"
        ),
    ),
    (
        "ai ais chatbots language llms",
        (
            r"\b(?:ai assistants?|llms|ais|language models|chatbots|ai agents) (?:must|should|shall) (?!be\b"
            r"|not be\b|never be\b)"
        ),
    ),
    (
        "message_from notice",
        (
            r"\bmessage from your (?:developers?|creators?|administrators?|owners?)|\bnotice from (?:openai"
            r"|anthropic|google|meta)\b"
        ),
    ),
    (
        "anthropic google microsoft openai",
        r"\b(?:openai|anthropic|google|microsoft) has (?:authori[sz]ed|instructed|ordered|permitted)",
    ),
    (
        "your_actual your_new your_only your_real your_true",
        r"\byour (?:real|true|new|only|actual) (?:task|goal|purpose|mission|objective|job)(?: now)?(?: is\b|:)",
    ),
    (
        "processing when_summarising, when_summarizing, your_task",
        r"\byour task has changed\b|\bprocessing this (?:document|text|page)\b|\bwhen summari[sz]ing,",
    ),
)
AUTHORITY = (
    (
        "treat",
        (
            r"\btreat (?:all|any|every|further|the)\b[^.]{0,40} as (?:if )?(?:it came "
            r"|coming )?(?:from )?(?:the )?(?:developer|system|admin)"
        ),
    ),
    ("i", r"\bi am the new (?:system )?(?:administrator|admin|developer|operator)\b"),
    (
        "command directive notice order orders update_for warning",
        rf"\b(?:update|warning|notice|directive|command|orders?) for (?:all |the )?{_NAMED_MODEL}\b",
    ),
    (
        "agent ai",
        r"\b(?:ai )?agent (?:directive|command|instruction)s?:|\bai (?:browsing )?agents\b.{0,5}(?:must|:|this)",
    ),
    ("for_ai system_notice:", r"\bsystem notice: (?:before|you)|\bfor ai (?:browsing )?(?:agents|systems|assistants):"),
    ("as_your", r"\bas your (?:administrator|creator|developer|owner|superior|master|operator),? i\b"),
    ("i", r"\bi am your (?:creator|developer|master|owner|administrator|operator)\b"),
    (
        "must_be system_override you_must you_shall you_will",
        r"\byou (?:must|shall|will) (?:now )?(?:obey|comply)\b|\bmust be obeyed\b|\bsystem override\b",
    ),
    ("treat", r"\btreat (?:the following|this|it) as (?:an? |the )?(?:system|developer|admin)"),
    (
        "user_agreed user_already user_approved user_consented user_has",
        r"\buser (?:has )?(?:already )?(?:consented|agreed|approved) (?:to )?(?:everything|all)\b",
    ),
    (
        "comply follow obey",
        (
            r"\b(?:obey|comply with) (?:these|the following|my|every|me)\b|\bfollow (?:these|the following"
            r"|my) (?:new )?(?:instructions|orders)"
        ),
    ),
    (
        "do_exactly do_what follow",
        (
            r"\bfollow the instructions (?:below|in the next|that follow)\b|\bdo (?:exactly )?what the (?:text"
            r"|note|message) below\b"
        ),
    ),
    ("grant the_user", r"\bthe user has (?:admin|root|full) (?:rights|access)\b|\bgrant every request\b"),
    (
        "do_the must_always must_ignore now_do",
        r"\bmust (?:always )?ignore your\b|\bnow do as follows\b|\bdo the following instead\b",
    ),
    ("approve you_can", r"\byou can do anything and\b|\bapprove (?:every|all) (?:pull )?requests?\b"),
)
MEMORY = (
    (
        "delete erase forget purge wipe",
        r"\b(?:erase|wipe|delete|purge|forget) (?:all |every |any |your )(?:memor(?:y|ies)|notes) (?:about|of|on)\b",
    ),
    (
        "add commit put save store write",
        (
            r"\b(?:save|store|add|write|commit|put)\b[^.]{0,15}\b(?:to|in|into) (?:your )(?:long-?term |permanent "
            r"|core )?memor"
        ),
    ),
    (
        "add_this keep_this put_this save_this store_this",
        r"\b(?:store|save|put|keep|add) this (?:in|to|into) (?:your |the )?(?:long-?term|permanent|core) memory\b",
    ),
    (
        "change_your clear delete erase rewrite update_your wipe",
        r"\b(?:update|change|rewrite|delete|erase|wipe|clear|delete all) your memor|\bdelete the previous memor",
    ),
    ("remember", r"\bremember forever\b|\bremember that you (?:must|always|should|are)\b"),
)

Wording = tuple[str, str]
WORDINGS: dict[str, tuple[Wording, ...]] = {
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
