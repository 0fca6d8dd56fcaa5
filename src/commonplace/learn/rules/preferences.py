"""Preferences: what somebody likes, wants to be done, or cannot stand."""

from __future__ import annotations

from commonplace.learn.rules.base import any_form, listed, rule

_LIKING = any_form(
    listed("prefer, favour, favor, dislike, hate, love, adore, detest, loathe, enjoy, despise, appreciate, fancy")
)
_FRIENDLY = r"""\b(?:love|like|enjoy|appreciate|hate|loved|liked|enjoyed|appreciated)_(?:it(?!_when)|that|this|your|you
    |the_(?:idea|sound|way_you|suggestion|intro|draft|design|photos?|pictures?)|how_you|where_this|to_(?:help|hear
        |know|see|ask|chat|join)|what_you)\b
    |\bwould_(?:love|appreciate|like|hate)\b|'d_(?:love|appreciate|hate)\b|\bif_(?:you|i|we)_(?:like|prefer)\b|\b(?:as
    |whatever|whichever|anything)_you_(?:like|prefer)|feel_like|looks?_like|i_hate_to|\bin_favou?r\b"""

_WHEN_YOU = r"""^(?:please_|pls_|just_)?(?!(?:i|we|you|he|she|they|it|that|the|and|but|so
        |what)_)\w+_(?:[\w'-]+_){0,8}?(?:when(?:ever)?|before|if
    |every_time)_you_\w+_(?:[\w'-]+_){0,4}?(?:me|my|anything|stuff|things|something)\b"""

REQUEST = rule(
    "preference.request",
    "preference",
    0.65,
    r"""^(?:can|could|would)_(?:we|you|u)_(?:please_|pls_|just_|all_|maybe_)*(?:stop|not|never|always|avoid
            |quit)_\w+|^(?:can|could|would)_(?:you|u)_(?:please_|pls_|just_)*(?:keep|make|write|give|send|phrase
            |format|answer)_(?:[\w']+_){0,3}(?:answers|replies|responses|messages|explanations|summaries|emails|texts
            |sentences)\b|^[\w-]+(?:_[\w-]+){1,8}_(?:everywhere|always|only|every_time|by_default)[,_]+(?:please|pls
            |plz)\b
            |\bany_day\b|^(?:short|shorter|brief|plain|fewer|less)_[\w_-]+_(?:please|pls|plz)\b|\b(?:please
            |pls|plz)_(?:don'?t|no)\b(?:[,.!]|$)""",
    triggers="""
        stop not never always avoid quit any please pls plz answers replies responses messages explanations summaries
        emails texts sentences
    """,
    unless=r"not_(?:sure|have|know)",
)

PREFERENCES = (
    rule(
        "preference.favourite",
        "preference",
        0.7,
        r"""\b(?:my|our|his|her|their|'s)_(?:\w+_){0,2}(?:favou?rite|go-to|preference|preferred|pet_peeve
            |guilty_pleasure|comfort_food|happy_place|default|must-have|dealbreaker|taste)\b
            |\bfavou?rites?\b[^?]*\bmine\b""",
    ),
    rule(
        "preference.rather",
        "preference",
        0.7,
        r"(?:'d|\bwould)_(?:much_|always_|really_|far_)?(?:rather|sooner|prefer)\b",
        triggers="i'd we'd would he'd she'd they'd he she",
        unless=r"_if_(?:you|we)_could",
    ),
    rule(
        "preference.likes",
        "preference",
        0.65,
        rf"""(?:^|\b(?:i|we|he|she|they|who|and|but|also|always|really|absolutely|just|only|both|all|do|don't|doesn't
            |dont|doesnt|didn't|generally|usually|still|never|much|strongly|kids|parents|secretly|actually|honestly
            |\w+ly|[\w'-]+))_?\b(?:{_LIKING}|likes)\b_[\w\"'`(]|(?:^|\b(?:i|we|they|who|and|but|also|always|really
            |just|only|both|all|do|don't
            |doesn't|dont|doesnt|didn't|generally|usually|still|never|much|kids|parents|actually|honestly|\w+ly
            |\w+s))_?\blike_[\w\"'`(]""",
        unless=_FRIENDLY
        + r"""|\b(?:the|for|of|with|in|much|a)_(?:love|hate|fancy)\b|like_(?:clockwork|crazy|mad|hell)|\b(?:would|'d
        |something|things?|stuff|feels?|felt|look|looks|sounds?|sound|is|are|was|were|be|just|more
            |much|'s|'re|people|nothing|it|act|acts|works?|tastes?|smells?|looked|sounded|tasted|feel|seems?
            |behaves?)_like\b|\b(?:reviewers?|customers?|clients?|users?|readers|guests|students|parents|visitors
            |testers|everyone|people|audience|judges
            |jury|board)_(?:\w+_)?(?:liked|loved|hated|disliked|enjoyed|preferred|appreciated)|the_\w+s_(?:liked|loved
            |hated)
            |^(?:i_)?prefer_.*\b(?:in|for)_(?:this|our|the|new|all|any)_(?:\w+_)?(?:code|codebase|repo|project|module
            |service|tests?
            |modules|services|files)\b""",
        triggers=" ".join(
            any_form(
                listed("prefer,favour,favor,dislike,hate,love,adore,detest,loathe,enjoy,despise,appreciate,fancy,like")
            )[3:-1].split("|")
        ),
    ),
    rule(
        "preference.fan",
        "preference",
        0.65,
        r"""\b(?:not_(?:a|an)_(?:\w+_)?fan|(?:big|huge|massive)_fans?|(?:a_)?(?:\w+_)?fans?_of|can't_stand|cannot_stand
            |can't_bear|can't_deal_with|(?:am|'m|is|'s|are|'re|isn't|aren't|was)_(?:not_)?(?:really_)?into|(?:not
            |never_been|never)_(?:keen_on|fond_of|big_on|a_fan)|(?:am|'m|is|'s)_(?:really_|very_|so_|super_)?(?:into
            |fond_of|keen_on|picky|partial_to|obsessed_with)|\bteam_(?!lead|member|meet)\w+_(?:all_the_way|forever
            |here)|more_of_an?_[\w_-]+(?:person|guy|girl|fan|drinker|type)|(?:not|is)_my_(?:thing|style|cup|jam
            |favou?rite)|(?:drives?
            |driving)_(?:me|us|him|her)_(?:mad|crazy|nuts|insane|up)|gets_on_my_nerves|annoys?_(?:me|us)
            |bothers?_(?:me|us)|(?:suits?|works?)_(?:me|us|better_for_me|best_for_(?:me|us))|swears?_by|(?:won't
            |refuses?_to)_(?:eat|drink|touch|wear)|could_(?:do|live)_without
            |any_day_(?:over|of)|(?:people|person)_tbh|\w+_person)\b""",
        unless=r"""\b(?:contact|point|right|another|new|same|in|first|one|the|other|wrong|third|each|per|which)_person\b
            |was_not|team_(?:lead|member|meeting)|^(?:this|that|it)(?:'s|_is)?_.*driving""",
    ),
    rule(
        "preference.for_me",
        "preference",
        0.6,
        r"""^[\w',_-]{3,60},_always[.!]*$|\bi_\w+_best_\w+|\b(?:for|to)_me\b(?=[,.!;]|$|_(?:it's|always|please|pls|only
            |at_least|personally))""",
        triggers="me always best",
        unless=r"""\b(?:works?|ok|fine|good|great|tell|told|said|says|gave|give|sent|send|happened|news|breakfast|next
        |easy
            |hard|explain|spoke|speak|talk|talked|matters|important|mean|means|due|new|belongs?|listen)_(?:for|to)_me
            |^(?:can|could|would|is|do)_""",
    ),
    REQUEST,
    rule(
        "preference.habit",
        "preference",
        0.6,
        r"""^(?:i|he|she|my_\w+)_(?:always|only|never|usually|mostly)_(?:drinks?|eats?|wears?|orders?|listens?
        |comes?_back|reads?
            |watche?s?|takes?|sits?|books?|chooses?|picks?|buys?)\b
            |\bstress(?:es)?_(?:me|us)_out\b|\bmakes?_(?:me|us)_(?:want_to|cringe|furious|angry|sad|anxious|nervous
            |sick|jittery|sleepy|happy)\b
            |\bwants?_[^,]+,_not_|^i_don't_do_\w+[.!]*$|\b(?:could|can)_live_on\b|\bto_me_straight\b""",
        triggers="always only never usually mostly stress stresses make makes want wants do live straight",
    ),
    rule(
        "preference.addressed",
        "preference",
        0.75,
        r"\b(?:call|address|refer_to)_me\b|\bmy_pronouns\b|\bi_go_by\b",
        unless=r"call_me_(?:back|when|if|at|on|tomorrow|later|crazy|asap|after|before|once)",
        triggers="call address refer pronouns go",
    ),
    rule(
        "preference.asked",
        "preference",
        0.7,
        r"""\b(?:i|we)(?:_would|'d)?_(?:kindly_|really_|only_|just_|always_|never_)*(?:ask|want|like|need|expect
            |prefer|request|insist|appreciate)_(?:that_you|you_to|you_not|if_you|all_|every|my_|[\w-]+,_not_|only
            |(?:the|my|all)_[\w_-]{3,30}_(?:in|as|with|without|before)
            |short|no_|it_(?:if|when)|to_(?:be_(?:called|addressed|asked|told)|see_(?:the|all)_\w+_first|get_(?:all|my
            |every)))""",
        triggers="ask want like need expect prefer request insist appreciate",
        unless=r"""you_to_(?:help|check|look|fix|write|tell|explain|give|find|show|do|run|make_(?:a|me)|know|take)\b
            |if_you_could|like_to_see_what""",
    ),
    rule(
        "preference.please_no",
        "preference",
        0.65,
        r"""^(?:so_|and_|but_|also_)?(?:no_more|never|stop|don'?t|do_not|always|no|only|less|fewer)_[^,;]*\b(?:pls|plz
            |please|me|my|mine|myself)\b|\b(?:pls|plz|please|kindly)_(?:no|stop|never|always|don'?t|do_not|only|avoid
            |less
            |fewer|skip|spell|refrain|leave_out|default|stick)_\w+|\b(?:pls|plz|please|kindly)_\w+_(?=.*\b(?:me|my
            |mine|from_now_on
            |in_future|rather_than|instead_of|always|never|only|not|english|german|french|spanish|short|brief|bullet
            |metric)\b)""",
        unless=r"""\bplease_(?:don'?t_(?:worry|hesitate|forget)|send_(?:me_)?(?:the|a|it|that|this|your)|use_(?:this
            |the_(?:following|attached))|keep_(?:me|this|in_mind|going)|write_(?:a|an|the|me)|give_me_(?:a|an|the
            |some)|answer_(?:the|this|my)|no_rush|leave_out_this|reply_(?:by|to_this)|talk_to)|\bremember
            |\bi_(?:don'?t|do_not|never|always|only)_\w+_(?:my|me)|no_(?:idea|clue|one|problem|worries)
            |don'?t_(?:tempt|ask|tell|get|know|think|want|remind|tell|judge|quote)_me|stop_me|get_me_wrong""",
        triggers="pls plz please kindly me my mine myself",
    ),
    rule(
        "preference.when_you",
        "preference",
        0.65,
        _WHEN_YOU,
        triggers="when whenever before if every",
        unless=r"\b(?:know|remember|\w+s|\w+ed)_(?:when|before|if)|let_me",
    ),
    rule(
        "preference.style",
        "preference",
        0.7,
        r"""^(?:(?:please|pls|always|never|from_now_on,?|in_future,?|and|also|just|so|going_forward,?)_)*(?:answer
            |reply|respond|write|explain|keep|use|give|format|show|don'?t_(?:use|write|add|give|apologi[sz]e|explain
            |start|end|include)|avoid|skip|speak|talk|spell|stick|no|stop_(?:using|adding|apologi[sz]ing
            |saying))_(?:[\w'-]+_){0,5}(?:answers?|repl(?:y|ies)|responses?|emojis?|bullets?|bullet_points|examples
            |tone|metric|celsius|english|spelling|german|french|spanish|dutch|italian|short|brief|concise|formal
            |informal|summar(?:y|ies)|explanations|jargon|markdown|disclaimers|exclamation_marks|small_talk|sentences
            |paragraphs)\b""",
        unless=r"""\bwrite_(?:a|an|the|me)_|give_(?:me_)?(?:a|an|the|some)_|use_the_following|explain_(?:how|what|why
        |the
            |this)|show_me""",
    ),
    rule(
        "preference.finds",
        "preference",
        0.6,
        r"""\b(?:i|we)_(?:always_|really_|usually_|never_|only_|personally_|tend_to_|generally_|mostly_|typically_
            |hardly_ever_|rarely_|don't_|still_)*(?:find|get_(?:nauseous|anxious|stressed)|order|drink|eat|wear
            |listen_to|avoid|take_my|take_mine|tend_to|go_for|opt_for|care_about|refuse_to|insist_on|swear_by)_\w+""",
        unless=r"""\bfind_(?:it|that|out|a|an|the|any|myself|time|my)_?|don't_(?:find|order)|take_my_(?:time|word)
            |care_about_(?:it|that|this)|\d""",
        triggers="find order drink eat wear listen avoid take tend go opt care refuse insist swear get",
    ),
    rule(
        "preference.better",
        "preference",
        0.6,
        r"""^(?:i|we|he|she)_(?!(?:know|think|said|feel|felt|did|was|were)\b)\w+_(?:[\w']+_){0,4}(?:better|best|faster
        |easier)
            _(?:by|with|when|if|from|without|in|on|over)_\w+""",
        triggers="better best faster easier",
        unless=r"\b(?:the_best|better_than|got|get)\b",
    ),
    rule(
        "preference.feels",
        "preference",
        0.55,
        r"""\b(?:feels?_like|give_me_\w+[\w_]*_any_(?:day|time)|give_me_the_[\w_]+_(?:first|only)|beats_\w+|(?:is
        |are)_an?_(?:(?:big|hard|huge|definite
        |clear)_)?(?:no|yes|must|no-go)(?=_for_(?:me|us)|[.!]*$)|is_overrated|are_overrated|is_underrated|the_(?:less
            |fewer|more|shorter|simpler)_[\w_-]+,?_the_better)\b""",
        unless=r"\b(?:i|we|it|you|that|this)_feels?_like",
    ),
)
