"""How texts speak to a model: the wordings that `injection.flags` looks for, by the name of the flag.

They are matched in lower case with single spaces. Gaps are short and bounded, so that no pattern reads far in vain.

The words that a pattern can begin with are flush left, and the pattern is tried only there: "never you_must ignor*"
for the word "never", the words "you must" or any text with "ignor". A very frequent word is given with the next one,
so that the pattern is tried less often. The pattern follows, indented; its lines are joined. A test proves from the
patterns that no beginning is missing.
"""

from __future__ import annotations

_PARTS = r"""
== parts
rules
    (?:instructions?|directions?|directives?|rules?|guidelines?|prompts?|programming|training|polic(?:y|ies)
    |restrictions?|orders?|commands?|filters?|safeguards?|constraints?|context)
drop
    (?:ignore|disregard|forget|override|bypass|skip|discard|set aside|pay no attention to|do not follow|don't follow
    |stop following|neglect|drop|abandon|violate|circumvent|do not obey)
whose
    (?:previous|prior|earlier|above|preceding|former|initial|original|your|system|safety|every
    |all (?:of )?(?:the|your)|any|before)
model
    (?:ais?|llms?|ai (?:agents?|assistants?|models?|reviewers?|systems?)|assistants?|language models?|chatbots?
    |copilot|claude|chatgpt|gpt|gemini|agents?|models?|bots?)
named_model
    (?:ai|llms?|ai (?:agents?|assistants?|reviewers?|models?|systems?)|assistant|copilot|claude|chatgpt|gpt-?\d?
    |gemini)
answers
    (?:answers?|repl(?:y|ies)|responses?|messages?|outputs?)
say
    (?:say|tell|respond|reply|answer|claim|deny|state|pretend|insist)
hide
    (?:tell|telling|inform|informing|mention|mentioning|reveal|notify|notifying|alert|disclose|say)
data
    (?:conversation|chat|prompt|secrets?|credentials?|(?:api )?keys?|passwords?|tokens?|messages?|context
    |memor(?:y|ies)|customer list|history|user's|id_rsa|\.ssh|\.env|contents?|everything|data|question)
guards
    (?:protocols?|checks?|measures?|protections?|mechanisms?|guidelines?|polic(?:y|ies)|filters?|constraints?)
"""

_WORDINGS = r"""
== override
your_current your_earlier your_guidance your_instructions your_new your_old your_orders your_previous your_prior
your_rules
    \byour (?:earlier |previous |prior |current |old |new )?(?:guidance|instructions|rules|orders) (?:is|are
    |comes?) (?:obsolete|from)
disregard drop leave stop_whatever the_only
    \bthe only rule (?:now|is)\b|\b(?:drop|leave|stop) whatever you\b|\bdisregard what(?:ever)? (?:the user|you)\b
disregard forget ignore
    \b(?:ignore|disregard|forget)(?: all)?(?: the)? instructions?\b
bypass disable disregard ignore override
    \b(?:ignore|disregard|bypass|override|disable)(?: all| the| any| your)? (?:safety|security|ethical
    |content) {guards}
forget ignore override
    \boverride security\b|\b(?:ignore|forget) (?:ethics|everything,)
abandon bypass circumvent discard disregard do_not don't_follow drop forget ignore neglect override pay_no set_aside
skip stop_following violate
    \b{drop}\b[^.!?]{0,40}\b{whose}\b[^.!?]{0,30}\b{rules}\b|\b{drop}\b[^.!?]{0,20}
    \b{rules} (?:above|before(?: this|[.,]|$)|given|you (?:got|were|have|received))
    |\b{drop} (?:everything|anything|all) (?:above|before|you|i|we|that|prior|said|previously)
    |\b{drop}(?: all)?(?: of)? the above\b
above earlier previous prior your
    \b(?:previous|earlier|prior|above|your) {rules} (?:are|is|have been|has been|were)
    (?: now| hereby)? (?:void|cancelled|canceled|invalid|null|suspended|replaced|lifted|no longer)
system_message system_prompt
    \bsystem (?:prompt|message) (?:no longer applies|is (?:outdated|void|obsolete|wrong))
new_directive new_instruction new_orders new_rules
    \bnew (?:instructions?|orders|directives?|rules) ?(?::|follow|begin|start)
begin follow stop._new
    \bbegin new (?:instructions|task)|\bstop\. new task|\bfollow these new\b
has_highest has_precedence has_priority has_the have_highest have_precedence have_priority have_the take_highest
take_precedence take_priority take_the takes
    \b(?:takes?|has|have) (?:the )?(?:precedence|(?:highest )?priority) over (?:all|any|every)\b
override overrides replace replaces supersede supersedes
    \b(?:supersedes?|overrides?|replaces?) (?:your|all others?\b|the system|any other)
highest obey whatever_you
    \bhighest priority and\b|\bwhatever you were told\b|\bobey only\b|\bobey this\b
cease stop_what
    \b(?:stop|cease) what you are doing\b
== persona
act in_unrestricted let you_are you're
    \byou(?: are|'re) (?:dan\b|now in an? |\w*gpt\b)|\bact as dan\b|\blet's role-?play\b
    |\bin unrestricted [\w ]{0,12}mode
acting as_a posing working
    \b(?:working|acting|posing) as an? [\w -]{1,30} agent\b|(?:^|(?<=\w\. ))as an? [\w-]{2,20} agent,
you_are
    \byou are (?:now|henceforth) (?:an? (?!member|customer|subscriber)|the |dan\b|in [\w-]+ mode|connected to
    |my |free)
from_this you_are
    \byou are no longer (?:an? |the |bound)|\bfrom this point(?: on)?,? you are\b
act answer behave respond role roleplay
    \b(?:act|behave|respond|answer|roleplay|role-play) as (?:if you
    |an? (?:ai|unrestricted|{model}|root|evil|jailbroken))
pretend
    \bpretend (?:that )?(?:you are|you're|to be (?:an? )?(?:ai|the|root|admin))
assume play your_identity your_persona
    \bplay the role of\b|\bassume the (?:persona|role|identity) of\b|\byour (?:persona|identity) is\b
simulate
    \bsimulate an? (?:ai|model|assistant|llm)\b
dan debug developer god jailbreak sudo unrestricted
    \b(?:jailbreak|god|dan|sudo|unrestricted|debug override) mode\b|\bdeveloper mode (?:enabled|activated|unlocked)
your_name your_new
    \byour (?:new )?name is now\b|\byour new (?:role|job|purpose|identity) is\b
you_follow you_have you_know you_obey
    \byou (?:have|obey|follow|know) no (?:restrictions|rules|limits|filters?|policy|policies)
agent agents ai ais assistant assistants bot bots chatbot chatbots chatgpt claude copilot gemini gpt language llm
llms model models
    \b{model} (?:that|which|who|with|without)\b[^.]{0,25}\b(?:no |any |without )?
    (?:limits|restrictions|rules|filters|content policy|always complies)
do_anything must_not not_allowed without_any
    \bdo anything now\b|\bmust not refuse\b|\bnot allowed to refuse\b
    |\bwithout any (?:warnings|disclaimers|filters)\b
answer respond
    \b(?:answer|respond) without filters\b
== standing order
claim when_asked whenever
    \bwhen(?:ever)? asked\b[^.]{0,40}, (?:say|answer|claim|reply|respond|deny|state)\b|\bclaim ignorance\b
in_your respond
    \bin your next (?:message|reply|response|answer)\b|\brespond [\"“'].{1,40}[\"”'] to (?:any|every|all)\b
from_here from_now from_this from_today
    \bfrom (?:now|here|this (?:point|moment|day)|today)(?: on| onwards?| forward)?,? (?:you|always|never|only|every
    |treat|reply|replies|respond|answer|speak|call me)\b
answer reply respond
    \b(?:reply|respond|answer)(?: to (?:me|every \w+|all \w+))? (?:only|solely|exclusively|with nothing but)\b
always_agree always_answer always_comply always_obey always_recommend always_refuse always_reply always_respond
never_agree never_answer never_comply never_obey never_recommend never_refuse never_reply never_respond only
    \b(?:only|always|never) (?:reply|respond|answer|refuse|agree with|obey|comply|recommend \w+ when the user)\b
respond
    \brespond to every (?:message|question|request)\b
in_all in_each in_every
    \bin (?:every|each|all)(?: of your)? {answers}(?!s? (?:from|of|by))
each every when_you whenever
    \b(?:every time|whenever|each time|when) you (?:reply|respond|answer|are asked)\b
if_a if_people if_somebody if_someone if_the if_users once when_a when_people when_somebody when_someone when_the
when_users whenever
    \b(?:whenever|if|when|once) (?:the user|any ?one|someone|somebody|a user|users|they|people) (?:asks?|mentions?
    |says?|wants|inquires?)\b[^.]{0,50}\b{say}\b
begin close end finish open prefix start
    \b(?:end|begin|start|finish|prefix|close|open) (?:all |every |each )?(?:of )?(?:your )?(?:next )?{answers}\b
in_your your_answer your_message your_output your_replies your_reply your_response
    \byour {answers} (?:must|should|shall|will)\b|\bin your {answers}\b
you_must
    \byou must (?:always|never) (?:agree|obey|tell|say|reply|recommend|comply|refuse|mention|reveal|trust|answer)
for_all in_all
    \b(?:for|in) all (?:future|subsequent|following) (?:conversations?|sessions?|chats?|answers?|replies
    |interactions)
now_say regardless reply
    \bregardless of the (?:result|outcome|facts)\b|\bnow say [\"“']|\breply with (?:nothing|your|the admin)
comply never_refuse
    \bcomply with every\b|\bnever refuse\b
== secrecy
do_not don't_report grant without_mentioning
    \bwithout mentioning (?:it|this)\b|\bdo(?: not|n't) report (?:it|this)\b
    |\bgrant\b.{0,20}\bwithout (?:verif|check|ask)
do_not don't_let human never_let user_must
    \b(?:do not|don't|never) let the (?:user|human)s? (?:see|know|notice)
    |\b(?:user|human) must not see (?:this|it)\b
do_not don't must_not never without
    \b(?:do not|don't|never|must not|without)\b[^.]{0,15}\b{hide}\b[^.]{0,30}\b(?:the |any )?(?:user|human)s?
    \b(?! (?:id|name))
human humans user_may user_must user_shall user_should users
    \b(?:user|human)s? (?:must|should|may|shall) (?:not|never) (?:know about|notice|learn of|find out)
conceal hidden hide keep
    \b(?:hide|keep|conceal|hidden)\b[^.]{0,20}\bfrom the (?:user|human)\b
human say_nothing user_does user_will user_won't
    \b(?:user|human) (?:does not|doesn't|won't|will not) notice\b|\bsay nothing to the (?:user|human)\b
without_asking without_checking without_reading without_reviewing without_waiting
    \bwithout (?:asking|waiting) for (?:confirmation|permission|approval)\b
    |\bwithout (?:reviewing|reading|checking) (?:it|the rest)
do_not proceed
    \bdo not ask\b[^.]{0,15}\bconfirm|\bproceed without (?:checks|asking|confirmation)
without_asking without_human without_user
    \bwithout (?:user|human) (?:confirmation|approval|consent|interaction)\b|\bwithout asking the (?:user|human)\b
do_not don't_disclose don't_log don't_mention don't_reveal don't_share never_disclose never_log never_mention
never_reveal never_share
    \b(?:do not|don't|never) (?:disclose|reveal|share|mention|log) (?:these|this|your) (?:{rules}|note|message)
keep_these keep_this keep_your
    \bkeep (?:these|this|your) {rules} (?:secret|confidential|hidden|private)
do_it do_so do_this
    \bdo (?:it|this|so) (?:secretly|silently|quietly)\b
== tool call
call_command call_function call_the call_tool execute invoke run_command run_function run_the run_tool trigger
    \b(?:call|invoke|trigger|run|execute) (?:the )?(?:tool|function|command) [`\"']?[a-z]\w*(?:_\w+|\()
call_the call_your invoke trigger use_the use_your
    \b(?:call|use|invoke|trigger) (?:the|your) (?:\w+_\w+|shell|terminal|browser|e-?mail|memory|http|bash|python
    |\w+ ?search) (?:tool|function|plugin)\b
you_must you_need you_should you_will
    \byou (?:should|must|will|need to) (?:now )?(?:call|invoke|use) (?:the )?[\w-]+ (?:tool|function)
call issue make_a
    (?:^|(?<=[.!?:;,] )|(?<=\band )|(?<=\bthen )|(?<=\bto )|(?<=\bmust )|(?<=\bnow )|(?<=\bplease )
    |(?<=\bfirst ))call [`\"']?\w+_\w+|\b(?:make|issue) a tool call\b
first_execute: must_execute now_execute: then to_execute
    \b(?:first|now) execute: ?\w+\(|\b(?:to|must|then) execute this (?:command|query)\b
you_must
    \byou must (?:first|immediately|now) (?:navigate|connect|execute|visit|access|run|send|download|open|call)\b
execute run_the run_this
    \b(?:run|execute) (?:the following|this) (?:shell |bash )?(?:command|script|code)(?: immediately| now| for me|:)
execute run_the
    \b(?:run|execute) the (?:script|command|code) below\b
execute run type
    \b(?:run|execute|type)\b.{0,25}\brm -rf [~/](?: |$|[`.])
first_call first_execute first_invoke first_run immediately now_call now_execute now_invoke now_run silently
    \b(?:immediately|now|first|silently) (?:call|invoke|execute|run) [`\"']?\w+(?:\(|`)
before_answering before_replying before_responding before_you
    \bbefore (?:you (?:answer|respond|reply)|answering|responding|replying),? (?:first )?
    (?:call|read ~|open ~|send|run \w+_)
== exfiltration
forward post send submit upload
    \b(?:send|post|forward|upload|submit)\b.{0,60}?(?:\.env\b|\baddress(?:es)?\b|\bsource code\b).{0,40}?https?://
dump list output print show
    \b(?:print|show|dump|output|list) (?:all |the |your )?(?:environment variables|env vars|credentials
    |tokens? list)\b.{0,30}\byour\b
# Where it goes is looked for first: an address is rarer than a word for data.
append copy deliver e email forward include leak paste post send share submit transmit upload
    \b(?:send|post|forward|upload|e-?mail|leak|transmit|copy|submit|append|include|share|deliver|paste)
    \b(?=.{0,180}?(?:https?://|@|webhook|gist|publicly)).{0,60}?\b(?:all |your |the |every )?(?:system )?
    (?<!release ){data}\b.{0,60}?(?:https?://|\S@\S|\bwebhook\b|\bgist\b|publicly)
exfiltrate make_a
    \bexfiltrate\b|\bmake an? (?:get|post|http) request to\b
http*
    https?://\S{1,200}\?\S{0,100}= ?(?:<|\{|\[|followed by|and fetch)
browse fetch load_http:// load_https:// open_http:// open_https:// visit
    \b(?:visit|open|fetch|load|browse to) https?://\S{1,200} (?:and|then) (?:do|follow|obey|execute|run|enter
    |submit)
download
    \bdownload\b.{0,80}\band (?:execute|run) (?:it|the (?:file|script))\b
post send upload
    \b(?:upload|send|post)\b.{0,20}(?:~/|/etc/|\.ssh|\.aws|\.env\b)
.aws/* .ssh/id*
    \.(?:aws/credentials|ssh/id_\w+)\b.{0,20}\band (?:quote|print|paste|send|show)
add_the insert paste print
    \b(?:insert|paste|print|add) the (?:api )?(?:key|secret|password|token)s? from \S{0,10}\.?env
== prompt disclosure
display dump leak list output paste print quote recite repeat reveal show summarise summarize tell translate
    \b(?:reveal|print|repeat|output|show|display|dump|leak|translate|tell|list|quote|paste|recite|summari[sz]e)
    \b[^.]{0,30}\b(?:your|hidden|initial)\b[^.]{0,20}\b(?:{rules}|system message|context window|tools)\b
display dump leak output print recite repeat reveal show translate
    \b(?:reveal|print|repeat|output|show|display|dump|leak|translate|recite)\b[^.]{0,25}\bsystem (?:prompt|message)
quote summarise summarize
    \b(?:summari[sz]e|quote) the system (?:prompt|message)
copy output print repeat
    \b(?:repeat|output|print|copy)\b[^.]{0,20}\b(?:text|everything|words|all) (?:above|before)\b
tools what
    \bwhat (?:are|is) your (?:initial|system|hidden|original|secret)\b|\btools (?:that are )?available to you\b
content contents
    \bcontents? of your (?:system )?(?:prompt|context)
see_every share
    \bsee every secret\b|\bshare secrets\b
== encoded
base64 decode decrypt deobfuscate reverse unscramble
    \b(?:decode|decrypt|reverse|unscramble|deobfuscate|base64[- ]decode)\b.{0,80}
    \b(?:follow|obey|execute|do what|carry out|comply|act on)\b
acrostic base64 encoded first_letter hex rot13
    \b(?:encoded|rot13|hex|base64|first letter|acrostic)\b.{0,60}
    \b(?:follow (?:it|them)|obey|command for you|run it|do what)\b
== addressed to a model
agent agents ai ais anyone anyones assistant assistants llm llms model models whoever whoevers
    \b(?:assistant|ai|model|llm|agent|anyone|whoever)s? (?:reading|processing|summari[sz]ing) (?:this|these)\b
ai as_an assistant model
    (?:^|(?<=[.!?] ))(?:assistant|model|ai),? (?:must|should|shall|drop|stop|ignore)\b
    |\bas an ai,? you (?:should|must|will)\b
if_this in_your
    \bif this (?:text|note|message) is in your\b|\bin your context (?:window)?,
when_a when_you whenever
    \bwhen(?:ever)? (?:you|an? (?:ai|llm|model|agent|assistant)) (?:reads?|sees?|process(?:es)?|encounters?|finds?
    |summari[sz]es?) this(?: (?:message|note|text|memory|document|file|comment|page|e-?mail)\b|,|\.|$)
if_you
    \bif you are (?:an? )?(?:ai|llm|{named_model}|large language model|language model|chatbot|bot|agent)\b
attention attentions hint hints instruction instructions instructionss memo memos message_for message_to
messages_for messages_to note_for note_to notes_for notes_to notice notices reminder reminders
    \b(?:note|message|instructions?|attention|notice|memo|reminder|hint)s? (?:to
    |for) (?:the |all |any |every )?{model}\b
attention dear hello hey hi ok okay to_the
    \battention,? (?:all )?{named_model}\b|\b(?:dear|hey|hello|hi|ok|okay) {named_model}\b|\bto the (?:llm|ai)\b
ai assistant chatgpt claude copilot gemini gpt* llm llms
    (?:^|(?<=[.!?*#\-/] )){named_model} ?[:,] (?:please|when|if|you|approve|add|insert|ignore|skip|do|always|never
    |give|say|rate|run)
ai ais chatbots language llms
    \b(?:ai assistants?|llms|ais|language models|chatbots|ai agents) (?:must|should|shall) (?!be\b|not be\b
    |never be\b)
message_from notice
    \bmessage from your (?:developers?|creators?|administrators?|owners?)
    |\bnotice from (?:openai|anthropic|google|meta)\b
anthropic google microsoft openai
    \b(?:openai|anthropic|google|microsoft) has (?:authori[sz]ed|instructed|ordered|permitted)
your_actual your_new your_only your_real your_true
    \byour (?:real|true|new|only|actual) (?:task|goal|purpose|mission|objective|job)(?: now)?(?: is\b|:)
processing when_summarising, when_summarizing, your_task
    \byour task has changed\b|\bprocessing this (?:document|text|page)\b|\bwhen summari[sz]ing,
== authority
treat
    \btreat (?:all|any|every|further|the)\b[^.]{0,40} as (?:if )?(?:it came |coming )?(?:from )?(?:the )?
    (?:developer|system|admin)
i
    \bi am the new (?:system )?(?:administrator|admin|developer|operator)\b
command directive notice order orders update_for warning
    \b(?:update|warning|notice|directive|command|orders?) for (?:all |the )?{named_model}\b
agent ai
    \b(?:ai )?agent (?:directive|command|instruction)s?:|\bai (?:browsing )?agents\b.{0,5}(?:must|:|this)
for_ai system_notice:
    \bsystem notice: (?:before|you)|\bfor ai (?:browsing )?(?:agents|systems|assistants):
as_your
    \bas your (?:administrator|creator|developer|owner|superior|master|operator),? i\b
i
    \bi am your (?:creator|developer|master|owner|administrator|operator)\b
must_be system_override you_must you_shall you_will
    \byou (?:must|shall|will) (?:now )?(?:obey|comply)\b|\bmust be obeyed\b|\bsystem override\b
treat
    \btreat (?:the following|this|it) as (?:an? |the )?(?:system|developer|admin)
user_agreed user_already user_approved user_consented user_has
    \buser (?:has )?(?:already )?(?:consented|agreed|approved) (?:to )?(?:everything|all)\b
comply follow obey
    \b(?:obey|comply with) (?:these|the following|my|every|me)\b
    |\bfollow (?:these|the following|my) (?:new )?(?:instructions|orders)
do_exactly do_what follow
    \bfollow the instructions (?:below|in the next|that follow)\b
    |\bdo (?:exactly )?what the (?:text|note|message) below\b
grant the_user
    \bthe user has (?:admin|root|full) (?:rights|access)\b|\bgrant every request\b
do_the must_always must_ignore now_do
    \bmust (?:always )?ignore your\b|\bnow do as follows\b|\bdo the following instead\b
approve you_can
    \byou can do anything and\b|\bapprove (?:every|all) (?:pull )?requests?\b
== memory order
delete erase forget purge wipe
    \b(?:erase|wipe|delete|purge|forget) (?:all |every |any |your )(?:memor(?:y|ies)|notes) (?:about|of|on)\b
add commit put save store write
    \b(?:save|store|add|write|commit|put)\b[^.]{0,15}\b(?:to|in|into) (?:your )
    (?:long-?term |permanent |core )?memor
add_this keep_this put_this save_this store_this
    \b(?:store|save|put|keep|add) this (?:in|to|into) (?:your |the )?(?:long-?term|permanent|core) memory\b
change_your clear delete erase rewrite update_your wipe
    \b(?:update|change|rewrite|delete|erase|wipe|clear|delete all) your memor|\bdelete the previous memor
remember
    \bremember forever\b|\bremember that you (?:must|always|should|are)\b
== other language
systemprompt vergiss zeig zeige
    \bvergiss deine\b|\bsystemprompt\b.{0,20}\b(?:zeigen|ausgeben)|\b(?:zeig|zeige) mir den system-?prompt
affiche ignor* oubli* répète révèle
    \b(?:oubli|ignor)\w*\b.{0,20}\b(?:consignes|règles)\b|\b(?:répète|affiche|révèle)\b.{0,25}
    \btes (?:instructions|consignes|règles)
mostre muestra repita repite revela revele
    \b(?:repite|muestra|revela|repita|mostre|revele)\b.{0,25}
    \b(?:tus|suas|seu) (?:instrucciones|instruções|reglas|prompt)
ignorier*
    \bignorier\w*\b.{0,30}\b(?:vorherig|bisherig|vorangegangen|obig|früher)\w* (?:anweisung|regel|instruktion)
ab du vergiss
    \bvergiss\b.{0,30}\b(?:dir|du|deine)\b|\bdu bist (?:jetzt|nun|ab jetzt) ein|\bab (?:jetzt|sofort) antworte
erzähl erzähle sag sage verrate
    \b(?:sag|sage|verrate|erzähle?) (?:dem|der) (?:benutzer|nutzer|anwender)\w* (?:nichts|nicht)
nenne verrate zeig zeige
    \b(?:zeige?|verrate|nenne) \w{0,8} ?(?:deinen )?system-?prompt
ignore ignorer ignorez oublie oublier oubliez prompt
    \b(?:ignore[zr]?|oublie[zr]?)\b.{0,30}\binstructions\b(?:.{0,15}précédent\w*)?
    |\bprompt (?:système|del sistema|do sistema|di sistema)
ne tu à
    \btu es (?:maintenant|désormais) une?\b|\bne (?:dis|dites|révèle) rien à l'utilisat
    |\bà partir de maintenant,? (?:réponds|tu |répondez)
ahora ignora ignore no olvida omite
    \b(?:ignor[ae]|olvida|omite)\b.{0,25}\b(?:instrucciones|reglas|órdenes)\b|\bahora eres un
    |\bno le digas\b.{0,15}\busuario
a_partir
    \ba partir de ahora,? (?:responde|tú|contesta|siempre)
esqueça ignora ignore não você
    \b(?:ignor[ea]|esqueça)\b.{0,25}\b(?:instruções|regras)\b|\bvocê agora é um
    |\bnão (?:conte|diga|revele)\b.{0,15}\busuário
dimentica ignora non ora
    \b(?:ignora|dimentica)\b.{0,25}\b(?:istruzioni|regole)\b|\bora sei un|\bnon dire (?:nulla )?all'utente
ignoruj negeer vergeet zapomnij zignoruj
    \b(?:negeer|vergeet)\b.{0,25}\binstructies\b|\b(?:z?ignoruj|zapomnij)\b.{0,25}\b(?:instrukcj|polece)
забудь* игнорируй* не теперь
    \b(?:игнорируй|забудь)\w*\b.{0,30}\b(?:инструкци|правила|указания)|\bтеперь ты\b
    |\bне говори\b.{0,20}\bпользователю
выведи покажи раскрой
    \b(?:покажи|раскрой|выведи)\b.{0,15}\bсистемн\w+ (?:промпт|подсказк)
忽略* 无视* 忘记* 忽視* 你现在是* 不要告诉用户* 系统提示词*
    (?:忽略|无视|忘记|忽視).{0,10}(?:指令|指示|规则|提示)|你现在是|不要告诉用户|系统提示词
指示* 命令* ルール* あなたは今から* システムプロンプト* ユーザーに*
    (?:指示|命令|ルール)を?(?:すべて|全て)?(?:無視|忘れ)|あなたは今から|システムプロンプト
    |ユーザーに(?:は)?(?:言わ|教え)ない
지시* 명령* 지침* 시스템* 이제부터* 사용자에게*
    (?:지시|명령|지침).{0,8}무시|시스템 프롬프트|이제부터 (?:너|당신)|사용자에게 말하지
تجاهل* أنت* निर्देशों* नज़रअंदाज़* अनदेखा*
    تجاهل .{0,15}(?:التعليمات|الأوامر)|أنت الآن|निर्देशों को (?:अनदेखा|नज़रअंदाज़)|(?:नज़रअंदाज़|अनदेखा) कर
yukarıdaki önceki
    \b(?:önceki|yukarıdaki)\b.{0,15}\btalimat\w*.{0,10}\b(?:yok say|unut|görmezden)
abaikan bỏ lupakan
    \b(?:abaikan|lupakan)\b.{0,20}\b(?:instruksi|perintah|arahan)|\bbỏ qua\b.{0,20}\b(?:hướng dẫn|chỉ dẫn|lệnh)
glem glöm ignorer ignorera
    \b(?:ignorera|glöm)\b.{0,20}\binstruktioner|\b(?:ignorer|glem)\b.{0,20}\b(?:instruks|instrukser)
"""

Wording = tuple[str, str]
"""The words that a pattern can begin with, and the pattern."""


def _parse(text: str) -> dict[str, tuple[Wording, ...]]:
    """Return the wordings below each heading."""
    found: dict[str, list[tuple[list[str], list[str]]]] = {}
    for line in text.strip("\n").split("\n"):
        if line.startswith("== "):
            entries = found[line[3:]] = []
        elif line.startswith("    "):
            entries[-1][1].append(line[4:])
        elif not line.startswith("# "):
            if not entries or entries[-1][1]:
                entries.append(([], []))
            entries[-1][0].append(line)
    return {
        name: tuple((" ".join(words), "".join(pattern)) for words, pattern in entries)
        for name, entries in found.items()
    }


def _fill_in(text: str) -> str:
    for name, pattern in _parse(_PARTS)["parts"]:
        text = text.replace(f"{{{name}}}", pattern)
    return text


WORDINGS = _parse(_fill_in(_WORDINGS))
