"""Decisions: what was chosen, settled, dropped, agreed on."""

from __future__ import annotations

from commonplace.learn.rules.base import base_form, ing_form, listed, past_form, rule

_SETTLED = listed("""
    decide, choose, settle on, settle for, opt, go with, go for, agree, vote, standardise on, standardize on, rule out,
    reject, approve, sign off, commit to, ditch, drop, scrap, cancel, abandon, switch, replace, adopt, conclude,
    land on, end up, veto, turn down, postpone, put off, green-light, deprecate, retire, sunset, migrate, renew,
    call off, say no to, say yes to, hire, award, compromise on, go ahead with, go back to, overrule, finalise, finalize
""")
_UNDER_WAY = listed("""
    go with, go for, switch, migrate, drop, stick with, stick to, stay with, stay on, stay at, keep, adopt, replace,
    roll, cancel, postpone, ditch, scrap, standardise, standardize, retire, deprecate, cut, push, merge, close,
    phase out, sunset, discontinue, outsource, hire, raise, rename, target, skip, bring, put off, delay, call off,
    settle for, opt for, give up, go back to, sell, take over
""")
_WILL = listed("""
    use, go with, go for, stick with, stick to, stay with, keep, switch, adopt, drop, replace, skip, not use, move to,
    stop, standardise, standardize, only, no longer, postpone, cancel, continue, not be, call it, merge, support, not
""")
_HAVE = r"(?:_(?:have|has|had|'ve|'s))?"
_NOT_DONE = r"""\b(?:never|not|hardly|yet_to|n't)_(?:been_|yet_|quite_|really_)?(?:decide|chos|agree|settle|commit)
    |\b(?:to_be|help_(?:me|us)|can't|cannot|couldn't|to)_(?:decided?|choose|pick|settle)\b
    |\b(?:dropped_(?:by|in|off|out|my|the_(?:ball|phone|mug|plate))|agreed_with|switched_(?:off|on)|ended_up_(?:in|at)_(?:a|the)_(?:er|hospital))\b"""

DECISIONS = (
    rule(
        "decision.named",
        "decision",
        0.8,
        r"""^(?:the_|our_|my_|a_|and_the_)?(?:\w+_)?(?:final_|big_)?(?:decision|verdict|final_call|final_answer|outcome|resolution|resolved|decided)
        (?:_(?:on|about|for|from|of)_[^:]{2,40}|_(?:today|here|is_in|was|is)|[:,])""",
        unless=r"pending|not_made|no_decision|tbd",
        triggers="decision verdict call answer outcome resolution resolved decided",
    ),
    rule("decision.decided", "decision", 0.8, rf"\b{past_form(_SETTLED)}\b", unless=_NOT_DONE),
    rule(
        "decision.picked",
        "decision",
        0.8,
        rf"""\b(?:i|we|they|he|she|team|board|committee|jury|panel|client|management|everyone|council|group){_HAVE}_(?:\w+ly_|both_|all_)?
        (?:picked|selected|moved|landed|rejected|shortlisted|voted)\b""",
        unless=r"\b(?:picked|moved)_(?:up|out|in|away|house|on|here|there|back|from_[\w_]+_to_[A-Z])|\bmoved_to_(?!the_)\w+_(?:in|last|two|three|a|when|for|with|from)\b|^i_moved",
        triggers="picked selected moved landed rejected shortlisted voted",
    ),
    rule(
        "decision.voted",
        "decision",
        0.75,
        r"\b(?:per|after|following|as_per|by|in)_(?:[\w']+_){0,3}(?:vote|decision|agreement|consensus|ruling|resolution)\b|\bas_agreed\b|\b(?:consensus|general_agreement|unanimous(?:ly)?)\b|\b(?:is|are|gets?|it's|that's)_(?:now_)?(?:settled|decided|final|official|agreed)\b",
        unless=r"\bnot_(?:settled|decided|final|official|agreed)|no_(?:consensus|agreement)",
        triggers="vote decision agreement consensus ruling resolution agreed unanimous unanimously settled decided final official",
    ),
    rule(
        "decision.under_way",
        "decision",
        0.75,
        rf"""(?:\b(?:am|are|is|being)|'m|'re|\b(?:team|board|company|client|management|school)'s)_(?:not_|now_|also_|all_|definitely_|officially_|going_to_be_)*
        {ing_form(_UNDER_WAY)}\b(?!_(?:track|going|an_eye|up_with))""",
    ),
    rule(
        "decision.moving",
        "decision",
        0.7,
        r"""(?:\bare|'re|\bis)_(?:not_|now_|all_)*(?:moving|using|taking|going)_(?:[\w-]+_){0,6}?(?:to|off|away_from|instead|from|anymore|over)\b""",
        triggers="moving using taking going",
        unless=r"going_to_(?!be_using)|\busing_(?:it|this|that)_to|taking_(?:a_)?(?:look|long|ages)",
    ),
    rule(
        "decision.will",
        "decision",
        0.7,
        rf"""(?:\bwe'll|\bwe_will|\bwe_won't|\bwe're_(?:going_to|gonna|not_going_to)|\bteam_will|^i'll|^i_will|^i_won't)_(?:just_|now_|be_|all_|not_|always_)*
        (?:{base_form(_WILL)}|be_(?:using|keeping|moving|switching))\b""",
        unless=r"\bi(?:'ll|_will)_(?:keep_(?:you|it|that|an)|stop_(?:by|here|there)|use_(?:\"|that|it|this|the_)|not_be_(?:long|late)|only_be|drop_(?:by|you|it|in|off))|keep_you_posted|_if_",
    ),
    rule(
        "decision.let_us",
        "decision",
        0.7,
        r"\blet'?s_(?:just_|not_|all_|now_)*(?:go_(?:with|for)|use|stick|stay|keep|switch|adopt|drop|replace|move|stop|standardi[sz]e|settle|skip|do_(?:it|the|a|away)|make|avoid|not|call|postpone|push|meet|take|always|never)\b",
        triggers="let's lets",
        unless=r"let'?s_(?:see|go_for_(?:a|lunch|dinner|coffee|drinks)|keep_(?:in_touch|going|it_(?:up|real))|do_(?:it|this|that)[!.]*$|make_(?:a|it)_|move_on|take_(?:a|it)_|stop_here|call_it_a_day)",
    ),
    rule(
        "decision.it_is",
        "decision",
        0.75,
        r"^[\w\"'./+-]+(?:_[\w\"'./+-]+){0,4}_it_is\b(?:[.!,]|_then|_for|$)",
        triggers="it",
    ),
    rule(
        "decision.no_more",
        "decision",
        0.7,
        r"^(?:so_|ok_|okay_|from_now_on,?_)?no_(?:more|longer)_\w+",
        unless=r"\b(?:pls|please|plz|me|my|for_me)\b|no_more_(?:questions|ideas|comments|time|news)",
        triggers="more longer",
    ),
    rule(
        "decision.instead",
        "decision",
        0.65,
        r"\b(?:we|i)(?:'re|'m|_are|_am)?_(?:now_|all_)?(?:use|using|run|running|do|doing)_[^,;]{2,60}_(?:instead_of|rather_than|not|now)\b",
        triggers="instead rather not now",
        unless=r"right_now|not_(?:yet|sure)|\bdo_not\b",
    ),
)
