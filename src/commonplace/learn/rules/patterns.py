"""Patterns: how things are done here, what reviewers liked, what is never to be done."""

from __future__ import annotations

from commonplace.learn.rules.base import rule
from commonplace.learn.words import VERBS

_INTRO = r"""^(?:(?:and|but|so|also|please|pls|just|ok|okay|then|rule|rules|reminder|convention|policy|note|tip|nit|team
    |everyone|folks|guys|again|next_time|in_future|from_now_on|going_forward)[,:]?_|(?:in|on|for|with|when|whenever|if
    |before|after|inside|under)_[^,:]{2,60}[,:]_)*"""
_COMMANDS = r"""
    (?:use|run|put|keep|write|add|check|wrap|name|prefix|commit|merge|test|ask|call|store|log|apply|cache|pin|rebase
    |squash|set|start|open|include|validate|review|send|leave|make|do|return|declare|document|mark|tag|link|go|let
    |catch|throw|raise|mock|avoid|deploy|restart|clear|back_up|salt|rinse|soak|wash|book|pay|count|measure|label
    |freeze|separate|import|prefer|give|read|turn|take|bring|wait|rotate|encrypt|escape|quote|sort|round|update|bump
    |copy|warm|proof|preheat|cite|sign|lock|invite|water|feed|double-check)"""

DESCRIPTIVE = (
    "pattern.required",
    "pattern.every",
    "pattern.no_without",
    "pattern.when",
    "pattern.tendency",
    "pattern.norm",
)
"""Patterns that say how things are, and not what somebody should do."""

_DO = "|".join(sorted(VERBS - {"let", "wait", "call", "tell", "see"}))

STANDING = (
    rule(
        "pattern.when_do",
        "pattern",
        0.65,
        rf"""^(?:before|when|whenever|after|if|once)_(?!(?:i|it|possible)\b)[^,]{{3,60}},_(?:please_|always_|just_
        |first_
        |then_)?(?:{_DO})_
            (?:the|a|an|it|them|every|all|each|your|in|on|with|to|for|[\w-]+s?)\b""",
        triggers="before when whenever after if once",
        unless=r"\b(?:let_me|i|i'm|i'll|we|me|today|tomorrow|tonight|now)\b",
    ),
    rule(
        "decision.from_now_on",
        "decision",
        0.7,
        r"""\b(?:instead_of|rather_than|in_place_of|no_longer)\b.*\b(?:from_(?:now|here)_on|going_forward|as_of_\w+
            |from_today)\b|\b(?:from_(?:now|here)_on|going_forward|as_of_\w+|from_today)\b.*\b(?:instead_of
            |rather_than|in_place_of|no_longer)\b""",
        triggers="instead rather place longer",
    ),
    rule(
        "decision.henceforth",
        "decision",
        0.7,
        r"\b(?:from_(?:now|here)_on|going_forward|from_today|as_of_(?:now|today)|from_this_point|henceforth)\b",
        triggers="from going as henceforth",
        unless=r"\b(?:always|never|don't|do_not|please|pls|every|no)\b|maybe",
    ),
    rule(
        "pattern.from_now_on",
        "pattern",
        0.7,
        r"""\b(?:from_(?:now|here)_on|going_forward|from_today|as_of_(?:now|today)|in_(?:the_)?future|from_this_point
            |henceforth|next_time|every_time|each_time|whenever|the_(?:second|third|\w+th)_time_(?:the|my|our
            |this))\b""",
        triggers="from going as in henceforth next every each whenever time",
        unless=r"""^(?:i|we)_(?:hope|will_be)|see_you|next_time_(?:i|we|you)_(?:see|meet|come)|in_(?:the_)?future_(?:i
            |we)_(?:hope|may)|maybe""",
    ),
)
"""Said to hold from now on: whatever else the clause tells is its reason."""

PATTERNS = (
    rule(
        "pattern.imperative",
        "pattern",
        0.7,
        _INTRO
        + r"""(?:always|never|only|avoid|don'?t_ever|do_not_ever|make_sure(?:_to(?:_always)?|_(?:that_)?(?:every|all
        |each|no)\w*)
            |remember_to_always)_(?:\w+_)?[\w`]+""",
        triggers="always never only avoid don't dont ever sure",
        unless=r"""
    ^(?:never|only|always)_(?:been|had|heard|seen|mind|a_|the_|in_|one|two|when|if|because|thing|problem|fair
            |happy|said|again)|^always_(?:nice|good|great|fun)|\bavoid_(?:it|that)$|make_sure_(?:you|it|i)_(?:get|have
            |works)_?$|only_(?:\d|the_\w+_(?:is|was))""",
    ),
    rule(
        "pattern.prohibited",
        "pattern",
        0.7,
        _INTRO + r"(?:don'?t|do_not|stop)_(?:\w+ly_)?\w+_\w+",
        triggers="don't dont do stop",
        unless=r"""
    ^(?:please_)?(?:don'?t|do_not)_(?:worry|forget|tempt|know|think|want|need|have|hesitate|mind|get_me|ask
            |tell|bother|be|feel|make_plans|wait|panic|let_me|miss|remember|like|see|understand|go|say|look|laugh
            |judge|start|stop|come|cry|get|give_up|believe|even|make_me|leave_me|fall)\b|^do_not_know|stop_(?:it|by)\b
            |\b(?:yet|now|tonight|today|me|us|tomorrow)\b[.!]*$""",
    ),
    rule(
        "pattern.required",
        "pattern",
        0.7,
        r"""\b(?:must(?:n't)?|has_to|have_to|needs?_to|required_to|is_required|are_required|(?:is|are)_(?:not_|never_
            |only_|strictly_)?(?:allowed|permitted|mandatory|forbidden|banned|off-limits|prohibited|compulsory
            |obligatory)|may_not|may_only|should_(?:always|never|not_ever|only)|shall_not|can_only
            |get_(?:\w+ed)_within)\b""",
        triggers="""
            must mustn't has have needs need required allowed permitted mandatory forbidden banned off-limits
            prohibited compulsory obligatory may should shall can get
        """,
        unless=r"""
    ^(?:i|he|she|they|it|you|we|that|this|there)(?:'ve|'ll)?_(?:really_|still_|just_|also_|now_|only_|will_
            |all_|both_|probably_)*(?:must|have_to|has_to|needs?_to|had_to|may|can_only|am|is)|\bmust_(?:be_(?:nice
            |hard|fun|tough|wrong|great|a)|have)\b|have_to_(?:say|admit|run|go|ask)|is_allowed_to_be|^(?:my|our)_""",
    ),
    rule(
        "pattern.again",
        "pattern",
        0.65,
        r"""\b(?:do|use|try|repeat)_(?:that|this|it|those)_(?:again|next_time|more_often|everywhere)\b
            |\bmore_of_(?:those|that|this|these)\b|^keep_(?:it|them|those)(?:_that_way)?[.!]*$""",
        triggers="do use try repeat more keep",
        unless=r"^(?:don't|do_not|never|i_|we_)",
    ),
    rule(
        "pattern.plain",
        "pattern",
        0.6,
        _INTRO
        + r"""(?:use|keep|avoid|prefer|put|name|write|store|wrap|stick_to|default_to|favou?r|limit|treat|start|end
            |format|spell|capitali[sz]e|indent|sort|group|validate|escape|quote|mock|document|cite|label|log|show
            |display|round)_(?!(?:a|an|the|this|that|these|those|it|me|my|us|your|some|up|in_mind|going|calm|in_touch
            |track|him|her|them|you|on|out|to|at|with|if|and|or|is|was|off|down|in)\b)[\w`'-]+(?:_[\w`'/-]+)+
            |^[\w-]+_first,_[\w-]+_(?:second|later|after|last)\b|^no_[\w-]+_\w+s[.!]*$""",
        unless=r"""
    ^(?:no_(?:\w+_)?(?:worries|problems|ideas|questions|comments|plans|feelings|thanks|hugs|promises|surprises
            |complaints))|\?|^(?:keep|stay)_(?:calm|quiet|safe|well)|^write_(?:code|about)|^use_(?:flexbox|case)""",
    ),
    rule(
        "pattern.every",
        "pattern",
        0.65,
        r"""^(?:and_|also_|so_)?(?:every|each|all)_[\w'-]+(?:_[\w'/-]+){0,4}_(?:needs?|must|has|have|gets?|goes?|go
            |requires?|starts?|ends?|is|are|should|comes?)_\w+|^(?!(?:my|our|the|his|her|their|these|those|some|two
            |three|half|most|many|few|a)_)(?:[\w-]+_){0,4}[\w-]+s_(?:go|live|start|end|get|stay|belong|come|need
            |have_to|must|are_(?:always|never|only))_(?:\w+_)*\w+""",
        unless=r"""^all_(?:good|clear|done|of_(?:us|them|you))|^(?:every|each)_time_i|^(?:thanks|sounds|looks|seems|kids
            |parents|things|yes|gets|lots|guys)\b|\b(?:today|tomorrow|yesterday)\b""",
        triggers="every each all go live start end get stay belong come need have must are",
    ),
    rule(
        "pattern.norm",
        "pattern",
        0.6,
        r"""^(?!(?:my|our|the|his|her|their|these|those|some|two|three|half|most|many|few|all|both|things|tickets
        |flights)_)
            (?:[a-z][\w-]*_){0,3}[a-z][\w-]*[^s\W]s_are_(?:\w+ly_|only_)?(?:written|kept|done|sent|made|put|given|held
            |taken|paid|run
            |\w+ed)_(?:in|by|with|on|at|to|as|from|before|after|for|like|only|under)_\w+""",
        triggers="are",
        unless=r"\d|\b(?:today|tomorrow|yesterday|now|already|interested|tired|finished|excited|supposed)\b",
    ),
    rule(
        "pattern.asked",
        "pattern",
        0.65,
        r"""\b(?:reviewers?|clients?|customers?|legal|boss|editor|manager|security|qa|ops|compliance|auditors?|teacher
            |design|marketing|management|landlord|coach|doctor)_(?:\w+ly_|always_|has_|have_|really_)*(?:asked|wants?
            |told|requires?|requested|insists?|expects?|demands?)_(?:us|me|everyone|that|for|on|all|every)\b""",
        triggers="asked want wants told require requires requested insist insists expect expects demand demands",
    ),
    rule(
        "pattern.generic",
        "pattern",
        0.65,
        _INTRO
        + rf"""{_COMMANDS}_(?:all|every|each|any)_\w+|^(?:before|after)_(?:each|every|any)_[\w'-]+,?_{_COMMANDS}_\w+
        |^(?:before|when|whenever|after|if|once)_[^,]{{3,60}},_(?:please_
            |always_|just_|first_)?{_COMMANDS}_\w+|^(?:before|when|whenever|after|once)_[^,]{{3,60}},_(?:please_
            |always_|just_|first_)?(?:cover|stop|remove|drain|press|hold|switch|tell|rinse|dry|cool|save|sync|pull
            |push|flush|disable|enable|regenerate|migrate|notify|email|write)_\w+""",
        unless=r"\b(?:let_me|do_you|i_)\b|all_(?:the_best|of_(?:it|them|this))",
    ),
    rule(
        "pattern.custom",
        "pattern",
        0.65,
        r"""\b(?:we|our_(?:team|company|group|family|lab|school|class|club|crew)|everyone|everybody|the_team|people_here
            |all_of_us)_(?:should_)?(?:always|never|only|usually|normally|don't|do_not|generally|typically)_\w+(?=_\w)
            |\b(?:as_a_rule|by_convention|house_(?:style|rule)|rule_of_thumb|our_(?:convention|policy|rule|standard
            |practice|style_guide)|the_(?:convention|rule|policy|standard)_(?:is|here|says|for)|that's_policy|(?:is
            |are)_policy|is_the_rule|full_stop|best_practice_(?:here|for_us)|(?:anti-?pattern)|we_tend_to
            |how_we_(?:want|do|handle|write|like))\b|^(?:we|everyone)_(?!(?:are|have|were|had|will
            |can)_)\w+_[^,]*,?_(?:never|always)_\w+""",
        unless=r"""
    \b(?:we|everyone)_(?:don't|do_not|never|only)_(?:know|have|think|want|need|see|get|use_it|understand|met
            |got|had|just|really)\b|exception_to_the_rule""",
    ),
    rule(
        "pattern.liked",
        "pattern",
        0.65,
        r"""\b(?:reviewers?|clients?|customers?|users?|parents?|students?|everyone|people|design|the_(?:board|team
            |boss|editor|judge|customers?|clients?|reviewers?)|feedback)_(?:\w+_){0,6}?(?:liked|loved|praised|approved
            |hated|rejected|disliked|said_(?:no|yes)|complained|was_(?:glowing|great|positive|bad|terrible|good
            |negative)|flagged|pushed_back|asked_for|appreciated|preferred|found)\b|\bthe_\w+s_(?:liked|loved|hated)\b
            |^\w+_wants_.*\bnever\b|\bkeep_(?:doing|using|sending|writing|making|it_that_way)\b|\b(?:got|was
            |were)_(?:\w+_)?(?:praised|approved|rejected|shot_down|well_received|a_(?:big_)?hit|turned_down)\b
            |\bmore_(?:of_that|like_(?:this|that))\b""",
        unless=r"\byou_(?:keep|always|still)\b|got_rejected_(?:from|by_(?:a|the)_(?:university|college|bank))",
    ),
    rule(
        "pattern.when",
        "pattern",
        0.6,
        r"""^(?:when|whenever|if|once|as_soon_as|after)_(?!(?:you_(?:want|like|need|have|get)|i|it's|that
        |possible)\b)[^,]{3,80},_
            (?:the|our|my|a|an|it|they|we|he|she|his|her|their|all|every|[\w-]+s)_\w+""",
        triggers="when whenever if once as after",
        unless=r"""\b(?:will|'ll|would|could|might|should|let|please|was|were|had|did|\w+ed)\b|'(?:ll|d)\b|\blet's\b
            |\b(?:came|went|got|took|said|told|found|broke|saw|made)\b""",
    ),
    rule(
        "pattern.tendency",
        "pattern",
        0.6,
        r"""^(?!(?:i|you|it|that|this|there|what|who|and|but|they_say|mostly|rarely|often|usually|always
        |never)\b)[\w'-]+_(?:[\w'-]+,?_){0,14}?(?:almost_
        |nearly_)?(?:always|never|usually
            |often|mostly|rarely|seldom|tends?_to)_(?!(?:been|be|in|the|a|an|on|at|with|from|to|for|of|by|said|had
            |good|great)\b)\w+""",
        triggers="always never usually often mostly rarely seldom tend tends",
        unless=r"\b(?:would|could|might|may|should|if|never_mind|never_again|people|you)\b|\bnever_\w+ed\b",
    ),
    rule(
        "pattern.works",
        "pattern",
        0.65,
        r"""^what_works_|\b(?:works?|worked)_(?:really_|much_|very_|so_|far_|quite_|a_lot_)?(?:well|great|best|better
        |wonders
            |like_a_charm|perfectly|fine_(?:if|when|with)|every_time|reliably|beautifully)\b|\b(?:did
            |does)_the_trick\b|\bthe_trick_(?:is|was)\b|\b(?:the_)?(?:best|right|safest|easiest|only|fastest|simplest
            |proper|correct|recommended)_way_(?:to|of|is)\b|\bis_the_way_to_go\b|\b(?:saved|saves)_(?:us
            |me)_(?:\w+_){0,3}(?:hours?|days?|time|minutes)\b""",
        triggers="work works worked did does trick way saved saves",
        unless=r"""
    \bworks?_(?:fine|great|well|better)_for_me\b|what's_the|that_works_(?:great|well|best)[.!]?$|^it_works""",
    ),
    rule(
        "pattern.otherwise",
        "pattern",
        0.65,
        _INTRO
        + rf"""(?:{_DO})_(?:the|a|an|your|all|every|each|to|it|them|any|new|[\w-]+s)_[^?]*(?:\botherwise\b|\bor_else\b
        |,_or_\w+|\bwithin_)
            |{_COMMANDS}_[^?]*(?:\botherwise\b|\bor_else\b|\binstead_of\b|\brather_than\b|,_not_|,_never_
            |\bbefore_(?:you|merging|committing|deploying|pushing|every|each|any)\b|\bevery_time\b|\bby_default\b
            |\bfrom_now_on\b|\bgoing_forward\b|\bin_future\b|\bwhenever\b|\bas_always\b|\bnext_time\b|\bmax\b|\bonly\b
            |\bat_the_edge\b)""",
        triggers="""
            otherwise or else instead rather not never before every default on forward future whenever always next max
            only edge within
        """,
        unless=r"^(?:let_me|do_you|do_i|go_ahead|make_a|write_(?:a|me))",
    ),
    rule(
        "pattern.no_without",
        "pattern",
        0.65,
        r"""^(?:and_|also_|so_|but_)?no_[\w`/-]+(?:_[\w`/'-]+){0,6}_(?:without|before|after|on|in|unless|until|to|for
            |from|outside|during|at|over|under|except)\b|\bnobody_(?:\w+s|may_\w+|can_\w+|should_\w+|must_\w+)(?:_\w+
            |$|[.!])|\bno_one_\w+s_
            |\b\d+[\w_-]*_max\b
            |^(?!(?:\w+_){1,2}(?:is|are|was|\w+'s)_)(?:[\w-]+_){1,3}only\b(?:[,.]|$)|:_[\w-]+_only\b
            |^[\w'_-]{2,30}:_(?:no|only|always|never|one|max|at_most|at_least|two|all|every|keep|use)_\w+
            |\b(?:naming_)?convention_for\b""",
        unless=r"""
    ^no_(?:one_(?:knows|is|was)|idea|worries|problem|luck|news|need|rush|way|clue|thanks|time|wonder|doubt
            |offen[cs]e|pressure)|nobody_(?:knows|cares|is|was)""",
    ),
)
