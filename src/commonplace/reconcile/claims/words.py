"""English words in a claim: verbs, words that negate it, words that exclude each other."""

from __future__ import annotations

from functools import lru_cache

from commonplace.reconcile.claims.tokens import stem
from commonplace.reconcile.claims.verbs import forms

BE = frozenset("be is are was were am been being".split())
HAVE = frozenset("have has had having".split())
DO = frozenset("do does did".split())
MODAL = frozenset("will would can could shall should must may might ought".split())
AUXILIARY = BE | HAVE | DO | MODAL
FINITE = (AUXILIARY | {"cannot"}) - {"be", "been", "being", "having"}

ARTICLE = frozenset("a an the".split())
DETERMINER = ARTICLE | frozenset("this that these those some any my our your his her its their each every".split())
PREPOSITION = frozenset(
    """
    in on at to for from with by of as into onto over under than about after before since until till during per via
    within without against near behind between through instead despite around above below across along toward towards
    inside outside like upon off unlike versus vs
    """.split()
)
OPENING = PREPOSITION | frozenset("when whenever if while once unless".split())
"""Words that open a clause or phrase which narrows what the rest says."""
ADVERB = frozenset(
    """
    really very just also actually basically simply now currently still already usually always often generally
    normally typically mostly mainly only even again anymore anyway recently lately finally probably definitely
    certainly pretty quite so too then here there please today nowadays indeed absolutely totally completely
    officially apparently meanwhile however back personally honestly strongly much greatly yet nearly almost about
    approximately roughly around well away
    """.split()
)
LEAD = frozenset(
    """
    actually no yes yeah ok okay well so also and but or hey hi oh right correction update fyi note btw anyway
    however otherwise sorry wait hmm ah plus then basically honestly currently now today lately recently please
    """.split()
)
LEADS = (
    "by the way|as of now|as of today|for the record|in fact|it turns out that|it turns out|turns out that|turns out"
    "|i think that|i think|i believe that|i believe|i guess|please note that|please note|note that|remember that"
    "|please remember that|keep in mind that|for your information|just so you know|let me correct that|to be clear"
    "|one more thing|as i said|from now on|going forward|these days|at the moment"
)

NEGATION = frozenset("not never no neither nor nobody none nothing cannot without hardly".split())
NEW = frozenset("now currently nowadays anymore today again back lately instead".split())
"""Words that mark a claim as a change."""

FIRST = frozenset("i me my mine myself".split())
TOGETHER = frozenset("we us our ours ourselves".split())
GENERIC = frozenset(
    """
    team project app application system service server site website company product codebase repo repository one
    thing person user instance
    """.split()
)
"""Nouns that name no particular thing: "staging" and "the staging server" are one."""

_VERBS = """
    accept achieve add adopt affect agree aim allow answer apply approve arrive ask assign associate attend avoid bake
    bear become beat begin believe belong blame block book borrow break bring build bundle buy call cancel carry catch
    cause celebrate change charge check choose climb close collect come commit compile complete connect consider contain
    continue contract cook cost cover crash create cut damage dance deal decide delay deliver depend deploy design
    develop die disable dislike ditch divorce do drink drive drop earn eat edit educate employ enable end enjoy enter
    establish exceed expect expire explore extend fail fall favour favor feed feel fetch fill find finish fit fix
    fly focus follow forget found freeze get give go graduate grow handle happen hate have head hear help hike hire
    hold hope host implement improve include increase inherit install invest invite join keep kick know land last launch
    lead learn leave lie like limit list listen live locate lose love lower maintain make manage marry mean measure meet
    mention merge migrate miss move name need note offer open operate opt order own paint pass pay perform pick plan
    play point postpone practice practise prefer prepare present prevent produce program promise promote provide
    publish pull push put quit raise reach read receive recommend reduce refuse reject relate release rely remain remove
    rename rent replace reply report require reschedule reside resign respond retain retire retry return reveal review
    rewrite ride rise run say schedule see seem select sell send serve set settle share ship shop show sign sit sleep
    slip smoke solve speak specify spell spend split stand standardise standardize start stay stick stop store stream
    study suffer suggest support swap swim switch take talk target teach tell test think track trade train travel
    treat trigger try turn understand update upgrade upload use utilise utilize visit volunteer wait wake walk want wash
    watch wear weigh win work worry write abandon relocate downgrade cap deprecate dissolve archive cause affiliate
    base bike camp chair citizen compete conduct direct drum edit elect fold hang jump jog lift mix peel pour sing slice
    stir throw tie cycle bump hand shift bounce detest forbid ban prohibit exclude uninstall scrap revert
    withdraw reverse
"""
_NEVER_VERBS = frozenset("citizen chair head land list name note drum tie bike fit lead base hand".split())
"""Far more often nouns where one must guess: they count only after "to", "is" or "has"."""

CANON = {
    "adopt": "use", "utilise": "use", "utilize": "use", "standardise": "use", "standardize": "use",
    "reside": "live", "relocate": "live", "employ": "work",
    "favour": "prefer", "favor": "prefer",
    "love": "like", "enjoy": "like", "retain": "keep", "store": "keep", "listen": "run", "operate": "run",
    "begin": "start", "practise": "practice", "assign": "own", "maintain": "own",
    "require": "need", "hire": "work",
}  # fmt: skip
"""Verbs that say the same of their subject."""

AVERSE = {
    "hate": "like", "dislike": "like", "detest": "like", "refuse": "accept", "reject": "accept", "disable": "enable",
    "forbid": "allow", "ban": "allow", "prohibit": "allow", "exclude": "include", "uninstall": "install",
}  # fmt: skip
"""Verbs that deny another one."""

CHOOSE = frozenset("choose pick select adopt opt settle".split())
INTEND = frozenset("decide agree opt choose plan".split())
CEASE = frozenset("stop quit cease".split())
DROP = frozenset("drop ditch remove abandon deprecate".split())
SWITCH = frozenset("switch migrate move upgrade downgrade go change convert return".split())
MOVED = frozenset(
    "move postpone reschedule slip push delay shift change raise lower increase reduce improve rise drop fall reach "
    "extend grow go schedule set cut bump cap limit come upgrade downgrade".split()
)
"""Verbs that give their subject a new date or number."""
HAPPEN = frozenset("happen start take be schedule plan hold".split())

SINGLE = frozenset(
    """
    live:in live:at live: work:at work:for work:by work:as work:role work:employer born:in born:on bear:in bear:on
    die:in die:on report:to marry: marry:to run:on spell: spell:as sit:in own:by weigh: cost: graduate:from
    start:at start:on end:at end:on expire:on expire:in expire:after leave:at leave:on arrive:at arrive:on land:at
    depart:at happen:on happen:every happen:at play:as name: call: belong:to head:by lead:by host:on drive: base:in
    locate:in locate:at respond:in own:to
    """.split()
)
"""Verbs with a place that one value fills at a time."""
PLACES = frozenset("live:in live:at live: be:at be:in locate:in locate:at base:in sit:in sit:at host:on run:on".split())
"""Ways to say where something is; what has moved is no longer at the other."""
HELD_BY = frozenset(("lead:by",))
"""Things that several may hold: another name replaces one only where a change is told."""
RELATIONAL = frozenset("citizen resident native capital member:of husband wife president leader head owner".split())
"""Nouns after "is a" that hold for one value at a time."""
EVERY = frozenset("allergic interested fond afraid good bad involved available".split())
"""Adjectives that are true of many things at once: allergic to, interested in."""
EVALUATIVE = frozenset(
    """
    good great bad nice hard tough easy difficult fun awesome amazing important interesting cool fine terrible horrible
    beautiful lovely big huge small new old best worst okay excellent perfect scary sad happy wonderful crazy true
    """.split()
)
"""Opinions of things: they give no value that another word would replace."""
CALLED_OFF = frozenset("cancel scrap abandon drop revert withdraw reverse reject".split())
USING = frozenset("use host run deploy build bundle write test develop ship rely".split())
"""Verbs of having something in use: dropping the thing ends them."""

_EXCLUSIVE = """
    open closed shut reopened/ enabled disabled/ on off/ up down/ green red broken passing failing/
    finished done complete completed running pending ongoing unfinished incomplete started cancelled postponed/
    single married divorced engaged widowed separated/ vegan vegetarian omnivore pescatarian carnivore/
    paid unpaid overdue/ available unavailable/ active inactive retired/ public private/ online offline/ alive dead/
    full empty/ hot cold/ weekly monthly daily yearly quarterly hourly biweekly/ true false/ valid invalid/ safe unsafe/
    stable unstable/ required optional mandatory/ approved rejected declined/ working broken/ healthy sick ill/
    employed unemployed/ fast slow/ cheap expensive/ present absent/ indoors outdoors/ inside outside/ early late/
    merged unmerged reverted/ deployed undeployed/ blocked unblocked/ synchronous asynchronous/ live down/
    short long detailed brief concise/ possible impossible/ allowed forbidden prohibited banned/ right wrong/ win lose/
    dark light/ fixed broken/ resolved unresolved open/ supported unsupported deprecated/ locked unlocked/
    remote onsite hybrid/ junior senior/ standing sitting lying/ awake asleep/ pregnant
"""


@lru_cache(maxsize=1)
def exclusive() -> dict[str, frozenset[str]]:
    """Give for each stem those that cannot be true of the same thing at the same time."""
    found: dict[str, frozenset[str]] = {}
    for group in _EXCLUSIVE.split("/"):
        words = frozenset(stem(word) for word in group.split())
        for word in words:
            found[word] = found.get(word, frozenset()) | (words - {word})
    return found


@lru_cache(maxsize=1)
def verb_forms() -> dict[str, str]:
    """Give each form of a known verb with its base."""
    known: dict[str, str] = {}
    for base in dict.fromkeys(_VERBS.split()):
        for form in forms(base):
            known.setdefault(form, base)
    known |= {"left": "leave", "found": "find", "founded": "found", "born": "bear", "lay": "lie", "felt": "feel"}
    for sure in ("fell", "fallen"):
        known[sure] = "fall"
    return known


def is_noun_mostly(base: str) -> bool:
    """Tell whether a word of this form is to be read as a noun unless a helping verb stands before it."""
    return base in _NEVER_VERBS
