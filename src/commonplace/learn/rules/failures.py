"""Failures: what was tried and went wrong, what it cost, and why."""

from __future__ import annotations

from commonplace.learn.rules.base import either, listed, rule
from commonplace.reconcile.claims import verbs

# Not the participles: what is broken or burnt need not have failed.
_BROKE = either(
    form
    for verb in listed("""
    fail, break, crash, backfire, blow up, time out, run out of, deadlock, corrupt, leak, flop, stall, hang, overflow,
    collapse, go wrong, fall apart, fall over, fall through, melt, burn, explode, regress, misfire, overheat, choke
""")
    for form in (verbs.forms(verb)[1], verbs.forms(verb)[2])
)
_NOW = r"(?:is|are|'s|'re|keeps?)_(?:still_|now_|currently_)?(?:failing|breaking|crashing|hanging|timing_out)"

FAILURES = (
    rule(
        "failure.cause",
        "failure",
        0.7,
        r"""\b(?:root_cause|(?:the|main)_(?:cause|culprit|reason_(?:it|this|that)_(?:failed|broke|crashed))|(?:was
            |were|is)_(?:caused|triggered|brought_down)_by|post-?mortem|culprit)\b""",
        triggers="cause culprit reason caused triggered brought postmortem post-mortem",
    ),
    rule(
        "failure.did_not_work",
        "failure",
        0.75,
        r"""\b(?:did(?:n't|nt|_not)|do(?:es)?n'?t|do(?:es)?_not|never|won't|hasn't|wasn't|weren't|couldn't|isn't
            |could_not|not)_(?:really_|even_|actually_|quite_)?(?:work(?:ed|ing)?(?:_out)?|help(?:ed)?|scale|survive
            |stick|succeed|pan_out|end_well|go_(?:well|as_planned)|hold_up|cut_it|make_it|fix_(?:it|anything|the)
            |last_(?:a|the|long)|fit|compile|reproduce|rise|pay_off|agree_with_me)\b""",
        triggers="""
            work worked working help helped scale survive stick succeed pan end go hold cut make fix last fit
            compile reproduce rise pay agree
        """,
        unless=r"""work_for_(?:me|us)[.!]*$|\b(?:i|we|he|she|they)_(?:don'?t|do_not|doesn't|won't|never
            |didn't)_(?:really_)?(?:work|help|go|make_it|fit)_?(?:on|in|at|from|with|for|to|there|here|weekends
            |fridays|mondays)?\b(?!_out)(?!_well)""",
    ),
    rule(
        "failure.broke",
        "failure",
        0.7,
        rf"\b{_BROKE}\b",
        unless=r"""\b(?:if|when|whenever|unless|until|before|so_that|might|could|would|will|should|to)_[\w_']*?\b(?:fail
            |break|crash|hang|burn|leak)s?\b|"""
        + _NOW
        + r"""|\b(?:never|don't|doesn't|didn't|not)_(?:fail|break|crash)\w*\b|hang_(?:out|in|on)|hanging_out|hung_out
            |broke_(?:my|his|her|their|an?)_(?:\w+_)?(?:wrist|arm|leg|ankle|foot|hand|finger|toe|rib|nose|collarbone
            |hip|tooth|glasses)|break(?:_(?:the_)?(?:ice|news|down|up|room)|fast)|coffee_break|broke_up|burn(?:ed
            |t)?_(?:calories|through)|spring_break|lunch_break|good_break|take_a_break|_(?:on|for|with|in)_(?:none
            |nothing)\b|burn(?:s|ing)?_(?:wood|gas|oil)""",
    ),
    rule(
        "failure.lost",
        "failure",
        0.7,
        r"""(?:\b(?:i|we)|^(?:i|we)_.*_and)_(?:lost|wasted|wrecked|ruined|killed|burned|burnt|broke_(?:the|prod
        |production|staging|main)
            |deleted_the|bricked|fried|overcooked|overwatered|flooded)_(?!(?:track|weight|touch|my_(?:job|dad|mum|mom
            |voice|appetite)|interest|count)\b)\w+""",
        triggers="""
            lost wasted wrecked ruined killed burned burnt broke deleted bricked fried overcooked overwatered
            flooded
        """,
    ),
    rule(
        "failure.cost",
        "failure",
        0.7,
        r"""\b(?:lost|wasted|cost_us|cost_me|burned|burnt|blew|spent)_(?:\w+_){0,4}(?:hours?|days?|weeks?|months?|data
            |money|customers?|sprint|afternoon|morning|weekend|€|\$|£)\b(?=.*\b(?:because|bc|cause|cos|due|on|after
            |when|trying|debugging|chasing|over|since|somebody|someone)\b)""",
        triggers="lost wasted cost burned burnt blew spent",
    ),
    rule(
        "failure.took_down",
        "failure",
        0.75,
        r"""\b(?:took_(?:down|out)|brought_down|wiped(?:_out)?|nuked|knocked_out|locked_(?:us|me|everyone)_out
            |gave_no_\w+|gave_up_(?:on|after|because|when)|leaves?_(?:\w+_){1,3}behind|confuses|took_(?:\w+_){1,4}down
            |(?:brought|got|made|sold|won|earned)_(?:us_|in_)?(?:only|exactly|just|barely)_(?:one|two|three|\d+)
            |(?:drops|loses|leaks|swallows|duplicates|corrupts)_(?:\w+_)?(?:jobs|data|messages|requests|packets|events
            |rows|connections
            |updates|errors|memory|mails?|files?)
            |by_(?:accident|mistake)|bit_(?:us|me|them)\b|accidentally|overloaded|brought_(?:zero|no|nothing)
            |zero_(?:sign-ups|sales
            |replies|results|effect|interest)|left_(?:us|me|him|her|them)_with|killed_(?:them|it|the|my|our|all)
            |locked_(?:the_\w+|up|everything)|silently|gave_(?:me|us|him|her)_(?:a_(?:rash|headache|migraine|stomach)
            |hives|food_poisoning|nightmares)|was_a_(?:\w+_)?(?:mistake|disaster|failure|mess|bust|flop
            |dead_end|waste|flop|fiasco)|(?:is|are)_an?_(?:write-off|total_loss|lost_cause|disaster|failure)
            |were_a_(?:disaster|mistake|nightmare)|a_dead_end|rolled_(?:\w+_)?back|had_to_(?:revert
            |roll_back|redo|undo|restore|rollback|throw)|reverted|never_again|never_\w+ing_(?:[\w']+_){1,5}again
            |lesson_learned|made_(?:it|things
            |everything)_worse|went_(?:dark|down|badly|sideways|wrong|south|up_in_flames)|no_signal|ended_in
            |double[- ]charged|charged_double|can'?t_rely_on|cannot_rely_on|useless|unusable|died_(?:on|after|when
            |within|because)|it_died|shrank|got_(?:flagged|marked|blocked|rate-limited|throttled|sick|rejected|stuck
            |locked_out|burned)|outage)\b""",
        unless=r"took_out_(?:the_(?:trash|bins)|a_(?:loan|mortgage))|\b(?:if|might|could|would)\b.*\b(?:outage|revert)",
    ),
    rule(
        "failure.mistake",
        "failure",
        0.7,
        r"""\b(?:i|we)_(?:used|ordered|bought|picked|sent|took)_the_wrong_\w+|\b(?:with|to|at|on|in)_the_wrong_\w+
        |\b(?:whole|all|entire)_[\w_]{2,30}_to_redo\b|\bwas_(?:so_)?(?:painful|miserable
            |hopeless)\b|\b(?:(?:the|my|our|a|big|one|biggest)_mistake_(?:i|we|was|is|here|made|of)|(?:i
            |we)_(?:made_(?:the|a)_(?:\w+_)?mistake|screwed_up|messed_up|botched|underestimated|overlooked
            |should_never_have|regret)|what_went_wrong|lessons?_learned|went_to_waste|was_(?:for_nothing|in_vain
            |pointless|wasted)|to_no_avail|no_luck_with|without_(?:any_)?(?:success|luck|effect)|no_(?:improvement
            |effect|difference))\b""",
        triggers="""
            mistake screwed messed botched underestimated overlooked should regret wrong lesson lessons waste
            nothing redo painful miserable hopeless vain pointless wasted avail luck success effect improvement
            difference
        """,
    ),
    rule(
        "failure.kept",
        "failure",
        0.65,
        r"""\b(?:(?:is|are|was|were)_(?:too_|so_|very_)?(?:flaky|unreliable|unstable|brittle)|kills?_(?:it|them|the|my
            |our)|(?:kept|keeps)_(?:\w+_)?(?:failing|collapsing|dying|crashing|dropping|evicting|timing|losing
            |breaking|disconnecting|overwriting|falling|rejecting|hanging|restarting|leaking|jamming|slipping|getting
            |throwing)|(?:got|proved|came_out|turned_out|ended_up)_(?:far_|way_|much_|just_|still_|simply_)?too_\w+
            |(?:was|were|is|are)_(?:far_|way_|much_|just_|simply_)?too_\w+_(?:for|to)_\w+|wouldn't_(?:start|compile
            |boot|load|open|build|stick|dry|connect|run|hold|work|install
            |close)|ruined|overwrote|deleted_(?:prod|the_prod)|missed_the_deadline|oom(?:ed|-killed)?|segfault\w*
            |exceeded_the|got_(?:corrupted|lost|stolen|damaged|soaked|cancelled)|caused_(?:a|an|the|two|three|\d|data
            |dupl\w+|dead\w+)|led_to_(?:a|an|data|dupl\w+)|resulted_in)\b""",
        unless=r"""\bkept_(?:getting_better|going)|too_(?:good|funny|cute|kind|sweet|early_to)|\b(?:it|this|that|he
            |she)_(?:is|was)_too_(?:late|bad)|don't_be_too""",
    ),
    rule(
        "failure.plural",
        "failure",
        0.65,
        r"""\b\w{3,}s_(?:(?:above|over|under|with|from|in|of|on|to|below|without)_[\w.]+_(?:\w+_)?)?(?:always_|often_
            |still_|silently_|sometimes_|randomly_)?(?:fail|break|crash|hang|leak|time_out|vanish|disappear)\b|\b(?:is
            |are)_out(?:$|[:.])|\b(?:killed|hurt|sank|cost|burned)_(?:us|me)_|\bback_to_(?:square|the_drawing|rooms
            |paper|the_old|manual|email|e-mail)\b""",
        triggers="fail break crash hang leak time vanish disappear out killed hurt sank cost burned back",
        unless=r"\b(?:if|when|whenever|unless|before|might|could|would|may)_[^,]*\b(?:fail|break|crash|hang)\b",
    ),
    rule(
        "failure.could_not",
        "failure",
        0.65,
        r"""\b(?:couldn't|could_not|can't|cannot|didn't_manage_to|failed_to|unable_to|not_able_to
        |gave_up_trying_to)_(?:get|make)_
            (?:[\w'-]+_){1,8}(?:to_work|working|running|to_(?:run|compile|start|connect|load|open|build|stick|behave
            |pass)|work)\b""",
        triggers="get make",
    ),
    rule(
        "failure.did_not",
        "failure",
        0.6,
        r"""^(?!(?:i|we|you|he|she|they|it|that|this)\b)[\w'-]+(?:_[\w'/.-]+){0,8}?_(?:did(?:n't|nt|_not)|couldn't
            |could_not|failed_to|refused_to|never)_(?!(?:know|say|see|tell|want|ask|reply|answer|happen|mention|mean
            |care|think|like|eats?|drinks?|changes?|forget|miss|the)\b)\w+""",
        triggers="didn't didnt did couldn't could failed refused never",
        unless=r"""^(?:never|always|why|if|when|please|don't|in_our|in_my)\b|\bmust_never|\bshould_never
        |\bnever_(?:use|put
            |do|push|merge|commit|deploy|call|go|has|have|been|on|in|before|after|more|ever|\w+s_)\b|didn't_need""",
    ),
    rule(
        "failure.tried",
        "failure",
        0.65,
        r"""\b(?:i|we|he|she|they|team)(?:'ve|_have|_has|'d|_had)?_(?:already_|also_|once_|even_)?(?:tried|attempted
            |experimented_with)\b.*(?:\bbut\b|\bno_luck|,_(?:burned|too|way_too|got|gave|made|came_out|ended|felt
            |tasted|looked|was|were)_|\bwithout_success|\bin_vain|\bstill\b|:|;|\bunsuccessfully|\bno_(?:effect
            |difference|change)|\bonly_to\b|\bnothing\b)""",
        triggers="tried attempted experimented",
    ),
    rule(
        "failure.too",
        "failure",
        0.6,
        r"""\b(?:turned_out|ended_up|proved)_(?:to_be_)?(?:\w+_)?(?:too|wrong|useless|impossible|unreliable|broken
            |slow|slower|worse|bad|incompatible|flaky|expensive|a_\w*_?(?:mistake|disaster))\b""",
        triggers="turned ended proved",
    ),
)
