"""Plans and commitments: what somebody will do, and what is set for a day."""

from __future__ import annotations

from commonplace.learn import words
from commonplace.learn.clauses import Clause
from commonplace.learn.regex import compiled
from commonplace.learn.rules.base import rule

DATE = r"""
    (?:\btoday\b|(?<!\bthe_)(?<!\ba_)(?<!\bour_)(?<!\bmy_)\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b
        |\b(?:tomorrow|tmrw|tonight|next_(?:week|month|year
    |sprint|quarter|spring|summer|autumn|fall|winter|term|semester)|this_(?:week|weekend|month|year|summer|winter
    |spring|autumn|fall|afternoon|evening|quarter)|weekend|end_of_(?:the_)?(?:day|week|month|year|quarter|sprint|term)
    |in_(?:\d+|a|an|one|two|three|four|five|six|ten|a_few|a_couple_of)_(?:days?|weeks?|months?|years?)|eod|eow
    |by_noon|(?:in|by|for|of|until|before|next|this)_q[1-4])\b|\b(?:jan|feb|mar|apr|jun|jul|aug|sep|sept|oct|nov
        |dec)[a-z]*\.?_\d|\bmay_\d|\d(?:st|nd|rd
    |th)?_(?:of_)?(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)|\b(?:in|by|until|since|from|next|of|before|after
    |for|on)_(?:january|february|march|april|may|june|july|august|september|october|november|december)\b
    |\b20\d\d-\d\d-\d\d|\b(?:on|by|until|before|from)_the_\d|\b\d\d?/\d\d?\b|christmas|easter|new_year
    |at_(?:[01]?\d|2[0-4])(?![\d%°]|[.,]\d{3}|_?(?:percent|knots|degrees|celsius|fahrenheit|kg|km|mph|euros?|dollars?
        |years
    |months|cents|tonnes|volts?|watts?|mg|ml|each|per|sites|items|people|bar|hz|mb|gb|dpi)\b)
    |\b(?:before_(?:that|then)|by_then)\b)"""
_DOING = r"""
    (?:(?:'ll|\bwill|\bwon't|\bshall|going_to|\bgonna|\bplan(?:s|ning)?_(?:to|on)|\bintends?_to|\baim(?:s|ing)?_to
    |\bneeds?_to|\bhave_to|\bhas_to|\bgotta|\bmust|\bam_to|\bsupposed_to|\bscheduled|\bbooked|\bdue\b|\bplanned
    |\bset_for|\bslated|\bhappening|\bstarts?|\bstarting|\bends?|\bbegins?|\bexpires?|\barrives?|\barriving|\bleaves?
    |\bleaving|\bdeparts?|\blands?|\blaunch(?:es|ing)?|\bships?|\bshipping|\bgoes_live|\bgo_live|\breturns?|\bcomes?
    |\bcloses?|\bopens?|\bdeadline|\bmoves?|\bpromised|\bcommitted|\bagreed|\breleas(?:e|es|ing)|\bmeet(?:s|ing)?
    |\bpresents?|\bruns?|\bdelivers?|\bimplements?|\bfinish(?:es)?|\brotates?|\bsends?|\bappointment|\beta|\bhanding
    |\bvisiting|\bflying|\btravell?ing|\bmoving|\bseeing|\bhosting|\bpresenting|\bgetting|\bhaving|\bdoing|\btaking
    |\bgiving|\bdriving|\bback)\b|(?:'s|\bis|\bare|\bam|'m|'re|\bhave|\bhas|\bgot)_)"""

PLANS = (
    rule(
        "plan.promised",
        "decision",
        0.7,
        r"""\b(?:i|we)(?:_have|'ve)?_(?:promised?|committed_to|pledged?|vowed?|swore|signed_up|volunteered|offered_to
            |booked|registered|enrolled)\b""",
        triggers="""
            promise promised committed pledge pledged vow vowed swore signed volunteered offered booked registered
            enrolled
        """,
        unless=r"promise_you_(?:it|that)|i_promise[.!]?$",
    ),
    rule(
        "plan.due",
        "fact",
        0.7,
        r"""\b(?:deadline|due_date|due_(?:on|by|in|at|next|tomorrow)|is_due|are_due|expires?|renewal|kick-?off
            |goes_live|go_live)\b.*_\w""",
        triggers="deadline due expire expires renewal kickoff kick-off goes go",
    ),
    rule(
        "plan.to_do",
        "note",
        0.6,
        r"""^(?:todo|to-do|action_items?|action|next_steps?|next|reminder|remind_me|milestone|plan|the_plan)\b(?:[:]
            |_for_[^:]{2,30}:|_is_to_|_me_)""",
        triggers="todo to-do action next reminder remind milestone",
        unless=r"^next_(?:time|question|up_is)|^next_(?:week|month|year)_(?:is|was)",
    ),
    rule(
        "plan.intended",
        "decision",
        0.6,
        r"""\b(?:i'm|we're|i_am|we_are|i|we)_(?:planning_(?:to|on)|plan_(?:to|on)|intend(?:ing)?_to|aim(?:ing)?_to
            |saving_(?:up_)?for|training_for|hoping_to_finish|scheduled_to|about_to_(?:become|start|move|launch)
            |working_towards)\b""",
        triggers="planning plan intend intending aim aiming saving training hoping scheduled about working",
    ),
)

DATED = rule("plan.dated", "fact", 0.65, DATE)
_DOES = compiled(_DOING)
_PAST = compiled(
    r"""
    \b(?:yesterday|last_(?:week|month|year|night|spring|summer|autumn|fall|winter|may|june|july|march|april|monday
        |tuesday|wednesday|thursday|friday|saturday|sunday)|ago|see_you|see_ya|talk_to_you|have_a|enjoy)\b"""
)
EVERY = rule(
    "plan.recurring",
    "fact",
    0.65,
    r"""\b(?:every|each)_(?:other_|second_|first_|last_)?(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|day|week|month
        |year|morning|evening|night|quarter|spring|summer|winter|autumn|january|june|december|\d+_\w+|two_\w+
        |six_\w+)s?\b|\b(?:on|at)_(?:mon|tues|wednes|thurs|fri|satur|sun)days\b|\b(?:daily|weekly|monthly|yearly
        |annually|quarterly|nightly)\b|^(?:mon|tues|wednes|thurs|fri|satur|sun)days\b""",
    unless=r"^(?:have|enjoy)_",
)

_EMPTY_FIRST = frozenset(
    "not no too maybe same next this last since until from by yes ok and or only just such".split()
)
_GREETING = compiled(
    r"""(?:'s|\b(?:is|are|am|was))_(?:so|too|very|really)_\w+|\bwants?_to_be\b|\b(?:see_(?:you|ya|u)|talk|happy|good
        |have_a|enjoy|hope
        |bye|until_(?:then|tomorrow|monday))\b"""
)


def sets_a_day(low: str) -> bool:
    """Tell whether a clause has a day and something to happen on it."""
    # Two searches: one for both would go back and forth between many days.
    return bool(DATED.pattern.search(low) and _DOES.search(low)) and not _PAST.search(low)


def dated(clause: Clause) -> bool:
    """Tell whether a clause sets something for a day to come."""
    if (
        clause.first.partition("'")[0] == "you"
        or len(clause.words) < 3
        or not DATED.pattern.search(clause.low)
        or _GREETING.search(clause.low)
    ):
        return False
    if clause.words[-1] == "today" and len(clause.words) < 5 and not words.is_finite(clause.words[1]):
        return False
    if "we" in clause.words or "i" in clause.words:
        spoken = [each for each in ("we", "i") if each in clause.words[:-1]]
        if any(clause.words[clause.words.index(each) + 1] in words.VERBS for each in spoken):
            return True
    if sets_a_day(clause.low) or not words.THIRDS.isdisjoint(clause.words[1:]):
        return True
    # "Dentist tomorrow at 9": no verb, a day, and something that is on it.
    return not any(map(words.is_finite, clause.words)) and clause.first not in _EMPTY_FIRST and len(clause.words) <= 9
