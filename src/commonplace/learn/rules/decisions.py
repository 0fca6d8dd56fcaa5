"""Decisions: what was chosen, settled, dropped, agreed on."""

from __future__ import annotations

from commonplace.learn.rules.base import base_form, ing_form, listed, past_form, rule

_SETTLED = listed("""
    decide, choose, settle on, settle for, opt for, go with, go for, agree, vote, standardise on, standardize on,
    rule out, approve, sign off, commit to, conclude, land on, resolve to, resolve that, veto, turn down, postpone,
    put off,
    green-light, call off, say no to, say yes to, award, elect, pull the plug on, hold off on, shelve, opt out of,
    opt to, ditch, scrap, compromise on, go ahead with, go back to, overrule, finalise, finalize
""")
_UNDER_WAY = listed("""
    go with, go for, switch, migrate, drop, stick with, stick to, stay with, stay on, stay at, keep, adopt, replace,
    roll, cancel, postpone, ditch, scrap, standardise, standardize, retire, deprecate, cut, push, merge, close,
    phase out, sunset, discontinue, outsource, hire, raise, rename, target, skip, bring, put off, delay, call off,
    settle for, opt for, give up, go back to, sell, take over, go ahead, get a, get an, get rid, buy, leave, quit,
    take the, kill, say no, say yes, suspend, freeze, ban, do away,
    rent
""")
_WILL = listed("""
    use, go with, go for, stick with, stick to, stay with, keep, switch, adopt, drop, replace, skip, not use,
    move to, stop, standardise, standardize, only, no longer, postpone, cancel, continue, not be, call it, merge,
    support, not
""")
_DONE = listed("""
    pick, select, reject, drop, cancel, abandon, switch, replace, adopt, deprecate, retire, sunset, migrate, renew,
    hire, pass on, park, kill, axe, end up, keep, accept, decline, pull, lock in, back out, sign, stop,
    quit, merge, close, go back, move, land, shortlist, vote, cut, skip, outsource, buy, sell,
    rent, lease, take on, confirm, exclude, leave out
""")
_HAVE = r"(?:'ve|'s|_have|_has|_had)?"
_NOT_DONE = r"""
    \b(?:never|not|hardly|yet_to|n't)_(?:been_|yet_|quite_|really_)?(?:decide|chos|agree|settle|commit)|\b(?:to_be
    |help_(?:me|us)|can't|cannot|couldn't|to)_(?:decided?|choose|pick|settle)\b|\b(?:dropped_(?:by|in|off|out|my
    |the_(?:ball|phone|mug|plate))|agreed_with|switched_(?:off|on)|ended_up_(?:in|at)_(?:a|the)_(?:er|hospital))\b"""

DECISIONS = (
    rule(
        "decision.named",
        "decision",
        0.8,
        r"""^(?:the_|our_|my_|a_|and_the_)?(?:\w+_)?(?:final_|big_)?(?:decision|verdict|final_call|final_answer
            |outcome|resolution|resolved|decided|final|final_choice)(?:_(?:on|about|for|from|of)_[^:]{2,40}|_(?:today
            |here|is_in|was|is)
            |[:,])|\b(?:that's|is|are)_what_(?:i'm|we're|i_am|we_are|we'll|i'll|ships|goes)_\w+|\b(?:our|my
            |the)_(?:final_|first_)?(?:choice|pick)_(?:fell|is|was|went)\b""",
        unless=r"pending|not_made|no_decision|tbd",
        triggers="final what choice pick decision verdict call answer outcome resolution resolved decided",
    ),
    rule("decision.decided", "decision", 0.8, rf"\b{past_form(_SETTLED)}\b", unless=_NOT_DONE),
    rule(
        "decision.done",
        "decision",
        0.7,
        rf"""\b(?:we|they|team|board|committee|jury|panel|client|management|everyone|council|group|company|parents
            |legal|landlord|school|city|court|government){_HAVE}_(?:\w+ly_|both_|all_|just_|also_
            |now_)*{past_form(_DONE)}\b|^i{_HAVE}_(?:\w+ly_|just_|also_|now_)*(?:{past_form(_DONE[:30])})\b
            |\band_(?:\w+ly_|then_)?{past_form(_DONE[:20])}_(?:it|them|that|this)\b|\b(?:was|were|been|got
            |gets)_(?:officially_|finally_|unanimously_)?(?:rejected|cancelled|canceled|approved|dropped|scrapped
            |postponed|adopted|replaced|abandoned|shelved|deprecated|retired|chosen|selected|picked|accepted|declined
            |suspended)\b|\b(?:is|are)_(?:cancelled|canceled|postponed|suspended|scrapped|approved|off_the_table)\b
            |\bwe_(?:award|take_the|choose|pick|select|go_with|opt_for|adopt|drop|reject|approve|postpone|cancel|decline
            |accept)_|^(?:the_)?[\w'-]+(?:_[\w'-]+){{0,2}}_(?:stays|goes)[.!]*$|_is_the_one\b(?!_(?:who|that))
            |_gets_(?:the_axe|cut|scrapped
            |dropped|cancelled|postponed)\b|(?:'m|'re|\b(?:am|are))_not_(?:doing
            |taking|buying|renewing|selling|joining|hosting|paying|moving|supporting|sending|inviting|extending
            |continuing|celebrating)_\w+""",
        unless=r"""
    \b(?:picked|moved|cut|took|closed|signed|kept|backed|went|sold|pulled|dropped|stopped|bought|passed
            |landed|quit)_(?:up|out_of|in|away|house|on_(?:to|with)|here|there|off|by|from_\w+_to_\w+|in_(?:january
            |february|march|april|may|june|july|august|september|october|november|december|20))\b
            |^i(?:'ve)?_(?:\w+_)?(?:moved|kept_(?:getting|seeing|trying)|quit|stopped|bought|sold|lost|closed|signed
            |passed|ended|went|merged|landed|renewed|killed|confirmed|hired|rented|accepted)\b|\bwe_(?:moved_to|bought
            |sold|rented|hired|kept_(?:\w+ing)|merged_the|closed_the_ticket|lost|confirmed)\b(?!.*\b(?:instead|over
            |because|from_now)\b)""",
    ),
    rule(
        "decision.rather",
        "decision",
        0.65,
        r"""\b(?:i|we|our|my)\b.*\b(?:will|'ll|took|chose|bought|booked|ordered)\b.*\b(?:rather_than|instead_of|over)\b
            |\b(?:i|we)_took_the_[^,]*\bbecause\b|^we_\w+_[^,]*\band_(?:will|won't)_\w+|^i'm_out\b|\bgreen_light\b""",
        triggers="rather instead over because will won't out light",
        unless=r"\b(?:maybe|might|if|will_look|will_check|will_see)\b",
    ),
    rule(
        "decision.voted",
        "decision",
        0.75,
        r"""\b(?:per|after|following|as_per|by|in)_(?:[\w']+_){0,3}(?:vote|decision|agreement|consensus|ruling
            |resolution|meeting)\b|\bas_agreed\b|\bwon_the_(?:vote|poll|tender)\b|\b(?:consensus|general_agreement
            |unanimous(?:ly)?)\b|\b(?:is|are
            |gets?|it's|that's)_(?:now_)?(?:settled|decided|final|official|agreed)\b""",
        unless=r"\bnot_(?:settled|decided|final|official|agreed)|no_(?:consensus|agreement)",
        triggers="""
            meeting vote decision agreement consensus ruling resolution agreed unanimous unanimously settled decided
            final official
        """,
    ),
    rule(
        "decision.under_way",
        "decision",
        0.75,
        rf"""(?:\b(?:am|are|is|being)|'m|'re|\b(?:team|board|company|client|management|school)'s)_(?:not_|now_|also_
            |all_|definitely_|officially_|going_to_be_)*{ing_form(_UNDER_WAY)}\b(?!_(?:track|going|an_eye|up_with|me\b
            |us\b))""",
    ),
    rule(
        "decision.moving",
        "decision",
        0.7,
        r"""(?:\bare|'re|\bis|'m|\bam)_(?:not_|now_|all_)*(?:moving|using|taking|going)_(?:[\w-]+_){0,6}?(?:to|off
            |away_from|instead|from|anymore|over)\b""",
        triggers="moving using taking going",
        unless=r"going_to_(?!be_using)|\busing_(?:it|this|that)_to|taking_(?:a_)?(?:look|long|ages)",
    ),
    rule(
        "decision.will",
        "decision",
        0.7,
        rf"""(?:\bwe'll|\bwe_will|\bwe_won't|\bwe're_(?:going_to|gonna|not_going_to)|\bteam_will|^i'll|^i_will
            |^i_won't)_(?:just_|now_|be_|all_|not_|always_)*(?:{base_form(_WILL)}|(?<=we'll_)\w+|(?<=we_won't_)\w+
            |(?<=we_will_)\w+|be_(?:using|keeping|moving|switching))\b""",
        triggers="we'll will won't i'll going gonna",
        unless=r"""\bwe(?:'ll|_will)_(?:see|talk|discuss|figure|get_back|be_in_touch|let_you|find_out|try|look|check
            |need_to_talk|catch|chat)\b|\bi(?:'ll|_will)_(?:keep_(?:you|it|that|an)|stop_(?:by|here|there)|use_(?:\"
            |that|it|this|the_)|not_be_(?:long|late)|only_be|drop_(?:by|you|it|in|off))|keep_you_posted|_if_|\bi(?:'ll
            |_will|_won't)_[^,]*\b(?:you|them|it|that)\b""",
    ),
    rule(
        "decision.let_us",
        "decision",
        0.7,
        r"""\blet'?s_(?:just_|not_|all_|now_|please_)*(?!(?:ask|see|check|look|talk|wait|discuss|think|hope|start|try
        |get|go
            |say|face|find|figure|find|grab|have|eat|dance|party|celebrate|chat|catch|continue|begin|be|play|pretend
            |imagine
            |remember|hear|know|keep_in|please)\b)\w+_\w+|\blet'?s_(?:all_|just_)*go_(?:with|for|back)\b""",
        triggers="let's lets",
        unless=r"""
    let'?s_(?:see|\w+_(?:this|that|it)[.!]*$|go_for_(?:a|lunch|dinner|coffee|drinks)|keep_(?:in_touch|going|it_(?:up
        |real))|do_(?:it|this
            |that)[!.]*$|make_(?:a|it)_|move_on|take_(?:a|it)_|stop_here|call_it_a_day)""",
    ),
    rule(
        "decision.it_is",
        "decision",
        0.75,
        r"^[\w\"'./+-]+(?:_[\w\"'./+-]+){0,4}_it_is\b(?:[.!,]|_then|_for|$)",
        triggers="it",
        unless=r"\bas_it_is\b|^(?:i|we|he|she|they|what|how|that)\b",
    ),
    rule(
        "decision.and_took",
        "decision",
        0.7,
        rf"^(?:i|we)_.*\band_(?:\w+ly_|then_)?(?:took|ordered|chose|booked|{past_form(_DONE[:6])})_(?:the|a|an|that|this|it)_",
        triggers="and",
    ),
    rule(
        "decision.no_more",
        "decision",
        0.7,
        r"""^(?:so_|ok_|okay_|from_now_on,?_)?no_(?:more|longer)_\w+
            |^(?:no|yes)_to_(?:the|a|an|my|our)_\w+|^no_[\w-]+(?:_[\w-]+){0,3}_(?:for_now|this_(?:year|time|summer
            |winter)|any_?more|after_all)\b""",
        unless=r"\b(?:pls|please|plz|me|my|for_me)\b|no_more_(?:questions|ideas|comments|time|news)",
        triggers="no yes",
    ),
    rule(
        "decision.instead",
        "decision",
        0.65,
        r"""\b(?:we|i)(?:'re|'m|_are|_am)?_(?:now_|all_)?(?:use|using|run|running|do|doing)_[^,;]{2,60}_(?:instead_of
            |rather_than|not|now)\b""",
        triggers="instead rather not now",
        unless=r"right_now|not_(?:yet|sure)|\bdo_not\b",
    ),
)
