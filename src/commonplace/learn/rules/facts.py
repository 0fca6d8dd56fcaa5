"""Facts: clauses that say something specific about somebody or something, and stand on their own."""

from __future__ import annotations

import re
from itertools import pairwise

from commonplace.learn import words
from commonplace.learn.clauses import Clause, plural_verb
from commonplace.learn.regex import compiled
from commonplace.learn.rules.base import any_form, listed, rule
from commonplace.reconcile.claims import verbs
from commonplace.text.lexicon import COMMON, EMPTY

_BEING = any_form(
    listed("""
    live, work, teach, study, own, speak, play, drive, run, manage, lead, maintain, use, have, weigh, wear, take,
    commute, collect, volunteer, serve, coach, sing, train, practise, practice, grow up, stay, belong, come, write,
    host, rent, share, raise, earn, keep, sleep, wake up, walk, swim, cycle, suffer, support, handle, do, cook,
    know, read, breed, carry, struggle, get up, go to, sit, report to, look after, care for, fast, follow,
    celebrate, garden, ship, sell, charge, offer, pay, bill, store, keep, deploy, host, average, get
""")
)
_EVENTS = r"""
    (?:moved|married|divorced|graduated|started|joined|left|quit|bought|sold|adopted|was_born|were_born|grew_up|turned
    |retired|became|got_(?:married|engaged|divorced|promoted|laid_off|hired|a|an|my|the|our|rid)|had_(?:a|an|my|our
    |twins)|lost|won|broke_(?:my|an|a)|was_diagnosed|changed|stopped|gave_(?:up|birth)|founded|finished_(?:my|school
    |uni\w*|college)|passed|failed|ran_(?:a|the|my)|built|launched|switched|hired|studied|worked|lived|taught|renamed
    |upgraded|migrated|inherited|signed|booked|trained|used_to|earned|wrote|published|met|opened|closed|received
    |found_(?:a|an|no|out)|never_(?:learned|learnt|had|owned|eaten|smoked|drunk|worked|lived|flown|married|driven))"""
_I = r"""^(?:and_|but_|also_)?(?:i|we|i've|we've|i_have|we_have)_(?:\w+ly_|also_|still_|now_|always_|both_|just_|never_
    |only_|already_|don't_|do_not_|can't_|cannot_|can_|didn't_|do_|all_|currently_|recently_|once_|actually_|used_to_
    |finally_|been_)*"""
_I_AM = r"""^(?:and_|but_|also_)?(?:i'm|i_am|i_was|we're|we_are|we_were|i've_been|we've_been|i_have_been
    |we_have_been)_(?:also_|now_|currently_|actually_|originally_|still_|not_|a_bit_|both_|only_|basically_|on_)*"""
_AM_STATE = r"""
    (?:an?_|the_|from_|in_|at_|on_(?!it)|based|born|allergic|intolerant|lactose|diabetic|pregnant|vegetarian|vegan
    |coeliac|celiac|married|single|divorced|engaged|retired|left-handed|right-handed|colou?r-?blind|deaf|dyslexic|\d
    |responsible|working|living|studying|learning|teaching|raising|using|running|building|training|with_|named|called
    |turning|self-employed|freelanc\w*|twenty|thirty|forty|fifty|sixty|part-?time|full-?time|remote|hypertensive
    |asthmatic|gluten|quitting|maintaining|managing|leading|owner|new_to|afraid_of|scared_of|paying|renting|hosted
    |writing_(?:a|my)|german|french|dutch|british|spanish|italian|irish|indian|swedish|american|jewish|muslim
    |christian|hindu|fluent|bilingual|native|certified|trained|licensed|qualified|a\b)"""

_PERSONAL = (
    rule(
        "fact.personal",
        "fact",
        0.6,
        _I + rf"(?:{_BEING}|{_EVENTS})\b_?\S",
        unless=r"""\b(?:have|had|got|get|need|take|do|use|know|read|keep)_(?:to_|it\b|that\b|this\b|them\b|you\b|time_
            |no_(?:idea|clue|time)|an?_(?:idea|question|problem|issue|feeling|look|bug|error|sec|minute|moment|point
            |great|good|nice|lovely|call_with|chat|doubt|quick|request|break|nap|shower|hunch|thought)|help|any\b
            |some\b|what\b|how\b|why\b|where\b|if\b|whether\b|your\b|the_(?:same|following|feeling|impression|code
            |error|output)|more_(?:time|questions|coffee)|lunch|dinner|breakfast|fun|a_lot_of_fun|coffee\b|good_|bad_)
            |\b(?:have|'ve)_(?:now_|just_|already_)?(?:read|looked|seen|checked|reviewed|tested|started_on)\b
            |\bfound_(?:it|that|out_that)|\bneed_\w+_(?:with|on)_this|\b(?:don't|do_not|can't|cannot|didn't)_(?:know
            |get|have_(?:time|any)|need|remember|understand|see|do_(?:it|that|this))\b|\bgot_(?:it|you|this)
            |\bdo_(?:it|that|this|not_know)|started_(?:the|a|it)_(?:build|job|test|script)|^we_already_do$|\bcan_(?:do
            |take|help|get|use|have|read|keep|run|share|write|handle|walk|support|offer)\b|lost_(?:it|me|you|track)
            |get_(?:the_point|your)|\bjust_(?:woke|had|sat|took|ran|read|came|went|got_(?:home|back|up|here|off))\b
            |\bkeep_\w+ing\b|\bi_(?:wrote|said)_that\b|\bwon't\b""",
    ),
    rule(
        "fact.being",
        "fact",
        0.6,
        _I_AM + _AM_STATE,
        unless=r"""\b(?:i'm|i_am|i_was|we're|we_are)_(?:\w+_)?(?:in_(?:a_(?:meeting|rush|hurry|call|bit)|favou?r
            |the_(?:middle|mood))|on_(?:my_way|the_(?:train|bus|plane|tram|road|sofa|couch)|a_(?:train|bus|plane)
            |a_call|it|board|the_(?:phone|same_page|fence))|at_(?:lunch|a_loss)|a_(?:bit|little|lifesaver)|an?_idiot
            |the_(?:worst|best|same)|from_now|with_you|in\b$|using_(?:this|that|it|the_(?:following|code))
            |running_(?:late|out|the|this|into|it)|working_on_(?:it|this|that)|building_(?:the|it)|living_the
            |learning_(?:a_lot|so)|a_huge_mess|the_one_who|here|in_trouble|in_love_with_(?:this|it)|on_(?:fire|track
            |time|the_way)|not_in)\b""",
    ),
)
_MINE = compiled(
    r"^(?:and_|but_|also_|plus_)?(?:since_then_|now_)?(?:(?:both|all|one|some|most)_(?:of_)?)?(?:my|our|his|her|their)_"
)
FLEETING = compiled(
    r"""(?:\b(?:is|are|was|were|'s|'re|isn't|aren't|all|looks?|seems?|sounds?|feels?|got|getting|went)_(?:\w+ly_|so_
        |very_
        |all_|really_|now_|still_|a_bit_|pretty_|too_|not_|just_)*(?:done|fine|ok|okay|good|great|nice|cool|ready|back
        |broken|weird|tired|busy|hungry|late|lovely|haunted|happy|sad|funny|cute|awesome|amazing|crazy|insane|terrible
        |awful|perfect|wrong|right|delicious|gorgeous|hilarious|annoying|confusing|strange|killing|ridiculous|jealous
        |true|false|important|interesting|beautiful|boring|delayed|cold|hot|warm|empty|splendid|brilliant|fantastic
        |wonderful|excellent|stunning
        |fabulous|adorable|horrible|dreadful|disgusting
        |yummy|tasty|hard|easy|possible|making|failing|doing|acting|getting
        |going_(?:well|great|on)|coming_along|looking|kidding|up|down|here|there|gone|it|that|this|attached|below
        |above|as_follows|working|better|worse)\b(?!_(?:at|in|on|to|for|since|until|every|\w+_\d|\d|below|above|than
        |of|with|because))|\bmy_(?:bad|question|guess|point|pleasure|code|mistake|god|apologies|brain|problem|issue
        |error|idea|thinking|understanding|impression|fault|turn|eyes|head)\b|\bour_(?:conversation|chat|call|last)\b
        |\bthe_(?:error|bug|issue|problem|question|point|thing|idea|answer|output|stack_?trace|following|other_day
        |weather|sun)\b|\b(?:is|are|'s|'re|was|were)_(?:so|really|very|pretty|super)_\w+_(?:today|tonight
        |this_(?:morning|week)|lately)\b
        |_again(?:,_\w+)?[.!]*$|\bkeeps?_(?:forgetting|losing|wondering|thinking)\b|\bwill_be_(?:happy|glad|fine|great
        |good)\b)"""
)
_NORM = compiled(
    r"""\b(?:only|never|always|every|each|must|has_to|have_to|not_allowed|isn't_allowed|aren't_allowed|allowed|valid
        |supported|compatible|cannot|can't|off_limits|requires?|belongs?|called|named|handles?|owns?|leads?|runs?
        |maintains?|lives?|holds?|cancelled|canceled|approved|expires?|allergic|usable|available|responsible|depends?
        |consists?|contains?|means?|stands_for|uses?|closes?|opens?|supports?|stores?|charges?|changed|renamed
        |replaced|doesn't|don't|until|since|half|two|three|four|five|six|seven|eight|nine|ten|twelve|twenty|thirty
        |hundred|twice|once_a|per|ends?|starts?|first|second|third|last|licen[cs]e|included|excluded|free|extra|no
        |none|nothing
        |instead)\b"""
)
_CAPITAL = re.compile(r"(?<=[a-z,;:&+(] )[\"“(]?[A-ZÀ-Þ][\w&.-]+|\b[A-Z]{2,}\b")
_VALUE = re.compile(r": (?:[A-ZÀ-Þ\d\"`/]|\S*[\d@/])")
_NAME_LIKE = re.compile(r"\d|[\w]/[\w]|\w_\w|[a-z]\.[a-z]{2}|\b[a-z]+[A-Z]|[`\"“@#]|\w-\w+-\w|[€$£%]")
_NO_SUBJECT = frozenset(
    """
    i you it this that there let these those who what which where when why how if let's and or but so because as to for
    in on at of with from by here yes no not maybe please just thanks also then than very too more most really still
    sounds looks seems feels someone somebody something anything everything nothing anyone me us him them
    """.split()
)
_EXISTS = compiled(
    r"""^there(?:'s|_is|_are|_isn't|_aren't|_was|_were)_(?:also_)?(?:no|only|\d+|two|three|four|five|six|a_(?:limit
        |rule|policy|fee|cap|quota|deadline)|an?_\w+_(?:limit|fee|rule)|never|always)\b
        |^there(?:'s|_is|_are)_(?:\w+_){1,6}(?:in|at|on|under|behind|near|next_to|inside|above|below)_(?:the|an?|my
        |our|his|her
        |their|every|each)_\w+"""
)
_THINKING = frozenset(
    "think want need see know guess mean hope like love wonder say suggest understand agree wish".split()
)
_ORDERS = frozenset(
    """
    don't do never please pls always let use keep write put add fix run check send create make set open delete remove
    install try read look give tell show help ask call go come stay wait take bring buy get see say think
    """.split()
)
_AFTER_VERBS = frozenset("a an the my our your to for like it that this no so too good great".split())
_PLACES_FIRST = frozenset("in on at since for from with after before by as also now then".split())


_SAME_IN_THE_PAST = frozenset("put set cut let hit cost quit shut".split())
_OBJECTS = frozenset("me us him her it them the a an my our his their".split())
_LABELLED = compiled(r"^(?:(?:the|my|our)_[\w'-]+(?:_[\w'-]+){0,4}|[\w'-]+(?:_[\w'-]+){1,4}):_\S")
_ONCE = frozenset(
    """
    lived ran led used had wore took came wrote kept slept walked swam did cooked knew needed read carried went sat woke
    followed sold charged paid stayed drove played spoke
    """.split()
)
"""The past of what else tells how somebody lives."""
_AFTER_BE = frozenset("in at on under behind near next with from a an the not called".split())
_FEWEST = 5
_PAST = frozenset("was were had did didn't wasn't weren't couldn't".split())
_LITTLE = EMPTY | COMMON
_TELLING = 6
"""Words of a statement that says enough without a name or a number in it."""
_DEFINITE = frozenset("the this these those half most both since now".split())
_UNDER_WAY = compiled(r"(?:'s|'re|\b(?:is|are|was|were))_(?:\w+_)?\w+ing\b")


def fact(clause: Clause, *, eager: bool = False) -> str | None:
    """Give the name of the rule by which a clause is a fact; None when it is none.

    Eager is for what the speaker asked to have kept, or announced: then little is needed.
    """
    low = clause.low
    if (personal := _personal(clause)) is not None:
        return personal
    if clause.first in _ORDERS and not (len(clause.words) > 2 and words.is_finite(clause.words[1])):
        return "fact.announced" if eager else None
    if _is_order(clause):
        return "fact.announced" if eager else None
    if FLEETING.search(low) and not (eager and is_specific(clause)):
        return None
    if not (eager or words.FEELINGS.isdisjoint(clause.words)):
        return None
    if _MINE.match(low):
        if _UNDER_WAY.search(low) and len(clause.words) < _TELLING and not is_specific(clause):
            return None
        lasting = not _is_past(clause) or _is_known(clause) or not words.CHANGES.isdisjoint(clause.words)
        enough = len(clause.words) >= _FEWEST - 1 or not _is_past(clause) or is_specific(clause)
        return "fact.possession" if _verb_at(clause.words) and lasting and enough else None
    if stated := _stated(clause, eager=eager):
        return stated
    if _LABELLED.match(low) and _VALUE.search(clause.text):
        return "fact.labelled"
    return "fact.announced" if eager and len(clause.words) > 1 else None


def _is_order(clause: Clause) -> bool:
    """Tell whether a clause tells somebody to do something: a verb in its base form, then what to do it to."""
    first, second = (*clause.words, "", "")[:2]
    return first in words.VERBS and second in _OBJECTS | {"to", "your", "all", "every", "each", "any"}


def _stated(clause: Clause, *, eager: bool) -> str | None:
    """Give the rule by which a clause says something definite of something that it names."""
    if not (_resolved(clause) and (_verb_at(clause.words) or plural_verb(clause.words))):
        return None
    if eager or _is_known(clause) or _EXISTS.match(clause.low):
        return "fact.statement"
    if not _lasts(clause):
        return None
    if (_NORM.search(clause.low) and _is_full(clause)) or _begins_with_a_name(clause):
        return "fact.statement"
    return "fact.plain" if len(clause.words) >= _TELLING and _is_definite(clause) else None


def _personal(clause: Clause) -> str | None:
    """Give the rule by which a clause tells of its speaker: what they are, have, and did once for all."""
    first, second = (*clause.words, "", "")[:2]
    for each in _PERSONAL:
        if each.fits(clause.low) and (second not in _ONCE or is_specific(clause)):
            return each.name
    if second == "keep" and len(clause.words) > 2 and clause.words[2].endswith("ing"):
        return None
    own = (
        first in ("i", "we", "i've", "we've")
        and second not in _THINKING
        and not (second in _LITTLE and second not in words.VERBS)
    )
    return "fact.personal" if own and len(clause.words) > 2 and is_specific(clause) else None


def _resolved(clause: Clause) -> bool:
    """Tell whether a clause names what it is about, rather than pointing at it."""
    first = clause.first.partition("'")[0]
    if first in _PLACES_FIRST or (first == "there" and _EXISTS.match(clause.low)):
        return True
    if clause.first in words.THIRDS and len(clause.words) > 1 and clause.words[1] in _AFTER_VERBS:
        return False
    return first not in _NO_SUBJECT and clause.first not in words.AUXILIARIES


def _is_definite(clause: Clause) -> bool:
    """Tell whether a clause is about this one thing, not about things in general."""
    return clause.first in _DEFINITE or clause.first.partition("'")[0] in words.KIN


def _is_known(clause: Clause) -> bool:
    """Tell whether a clause is specific; what is told of the past is that by a number or a day, or by a change."""
    if not is_specific(clause):
        return _is_past(clause) and len(clause.words) >= _TELLING and not words.CHANGES.isdisjoint(clause.words[1:])
    return (
        not _is_past(clause)
        or bool(_NAME_LIKE.search(clause.text))
        or not words.CALENDAR.isdisjoint(clause.words)
        or not words.CHANGES.isdisjoint(clause.words)
    )


def _is_past(clause: Clause) -> bool:
    if clause.first.endswith(("'s", "'re", "'ve")):
        return False
    verb = next((each for each in clause.words[1:] if words.is_finite(each)), "")
    return verb in _PAST or (verbs.is_past(verb) and verb not in words.VERBS)


def _lasts(clause: Clause) -> bool:
    """Tell whether a clause says how things are: in the present, and with some content."""
    enough = _FEWEST - 2 * _begins_with_a_name(clause)
    return len(clause.words) >= enough and not _UNDER_WAY.search(clause.low) and not _is_past(clause)


def _is_full(clause: Clause) -> bool:
    return sum(each not in EMPTY and not each.endswith("n't") for each in clause.words) >= 3


def _begins_with_a_name(clause: Clause) -> bool:
    """Tell whether a clause begins with a word that needs no article: "Pepper is house-trained"."""
    first, second = (*clause.words, "", "")[:2]
    if not clause.text[:1].isupper() or first in _LITTLE or first.endswith(("ing", "ly")):
        return False
    return second in ("is", "has", "isn't", "doesn't") or second in words.THIRDS


def _verb_at(found: tuple[str, ...]) -> bool:
    """Tell whether a verb follows a subject."""
    if found[0].endswith(("'s", "'re")) or any(words.is_finite(each) for each in found[1:13]):
        return True
    # "Dr Bakke put me on …": the same form in the past, told by what follows.
    return any(
        (verb in _SAME_IN_THE_PAST and after in _OBJECTS) or (verb.endswith("'s") and after in _AFTER_BE)
        for verb, after in pairwise(found[1:7])
    )


def is_specific(clause: Clause) -> bool:
    """Tell whether a clause names somebody or something, or gives a number or a day."""
    if clause.joint and clause.text[:1].isupper() and clause.first.partition("'")[0] != "i":
        return True
    return bool(_CAPITAL.search(clause.text) or _NAME_LIKE.search(clause.text)) or not words.CALENDAR.isdisjoint(
        clause.words
    )
