"""The forms of English verbs. Enough for sentences that people write to each other."""

from __future__ import annotations

from functools import lru_cache

# Base, past, participle; the participle is left out where it is the past.
_IRREGULAR = """
    be was been/ beat beat beaten/ become became become/ begin began begun/ bend bent/ bet bet/ bind bound/ bite bit
    bitten/ blow blew blown/ break broke broken/ bring brought/ build built/ burn burnt/ buy bought/ catch caught/
    choose chose chosen/ come came come/ cost cost/ cut cut/ deal dealt/ dig dug/ do did done/ draw drew drawn/ drink
    drank drunk/ drive drove driven/ eat ate eaten/ fall fell fallen/ feed fed/ feel felt/ fight fought/ find found/
    fly flew flown/ forget forgot forgotten/ freeze froze frozen/ get got gotten/ give gave given/ go went gone/ grow
    grew grown/ hang hung/ have had/ hear heard/ hide hid hidden/ hit hit/ hold held/ hurt hurt/ keep kept/ know knew
    known/ lay laid/ lead led/ learn learnt/ leave left/ lend lent/ let let/ lie lay lain/ light lit/ lose lost/ make
    made/ mean meant/ meet met/ pay paid/ put put/ quit quit/ read read/ ride rode ridden/ ring rang rung/ rise rose
    risen/ run ran run/ say said/ see saw seen/ seek sought/ sell sold/ send sent/ set set/ shake shook shaken/ shoot
    shot/ show showed shown/ shut shut/ sing sang sung/ sink sank sunk/ sit sat/ sleep slept/ speak spoke spoken/
    spend spent/ split split/ spread spread/ stand stood/ steal stole stolen/ stick stuck/ strike struck/ swear swore
    sworn/ swim swam swum/ swing swung/ take took taken/ teach taught/ tear tore torn/ tell told/ think thought/ throw
    threw thrown/ understand understood/ wake woke woken/ wear wore worn/ win won/ wind wound/ write wrote written/
    withdraw withdrew withdrawn/ rewrite rewrote rewritten/ rebuild rebuilt/ rerun reran rerun/ overwrite overwrote
    overwritten/ undo undid undone/ redo redid redone/ reset reset/ upset upset/ stand stood/ bid bid/ broadcast
    broadcast/ forbid forbade forbidden/ forgive forgave forgiven/ foresee foresaw foreseen/ mistake mistook mistaken
"""
_TABLE = {parts[0]: parts[1:] for each in _IRREGULAR.split("/") if (parts := each.split())}
# Doubled in British and American English alike, though the stress would forbid it or is hard to tell.
_DOUBLED = frozenset(
    """
    flop jam skid rig lag hum dim shut
    stop drop plan ship prefer skip commit submit admit permit refer occur control run set get put cut swap tag
    map wrap strip trim log plug step scrap ban pin grep debug regret forget begin sit win hit split quit chat shop jog
    swim dig bet rob rub travel cancel label model format unplug rebut reset upset spin ditto hug mob nod jot beg slip
    zip rip snap flip clip tap dip sip grab bug unpin pop hop top stem slam
    """.split()
)
_NOT_DOUBLED = frozenset(("format",))
_VOWELS = "aeiou"
_SPECIAL = {"be": "is", "have": "has", "do": "does", "go": "goes"}


@lru_cache(maxsize=2048)
def third(verb: str) -> str:
    """Give the form that goes with "she": prefers, tries, watches, is."""
    low = verb.lower()
    if low in _SPECIAL:
        return _SPECIAL[low]
    if low.endswith(("s", "x", "z", "ch", "sh")) or (low.endswith("o") and low[-2:-1] not in _VOWELS):
        return verb + "es"
    if low.endswith("y") and low[-2:-1] not in _VOWELS:
        return verb[:-1] + "ies"
    return verb + "s"


@lru_cache(maxsize=2048)
def past(verb: str) -> str:
    """Give the simple past: chose, preferred, moved."""
    if verb in _TABLE:
        return _TABLE[verb][0]
    return _regular(verb, "ed")


@lru_cache(maxsize=2048)
def participle(verb: str) -> str:
    """Give the form after "have": chosen, preferred, moved."""
    return _TABLE[verb][-1] if verb in _TABLE else _regular(verb, "ed")


@lru_cache(maxsize=2048)
def ing(verb: str) -> str:
    """Give the form after "am": choosing, preferring, moving."""
    if verb.endswith("ie"):
        return verb[:-2] + "ying"
    return _regular(verb, "ing")


def forms(verb: str) -> tuple[str, ...]:
    """Give every form of a verb, its particle kept: goes with, went with, gone with, going with."""
    head, *rest = verb.split(" ", 1)
    made = dict.fromkeys((head, third(head), past(head), participle(head), ing(head)))
    return tuple(" ".join((form, *rest)) for form in made)


def _regular(verb: str, ending: str) -> str:
    if verb in _DOUBLED and verb not in _NOT_DOUBLED:
        return verb + verb[-1] + ending
    if verb.endswith("e") and (ending == "ed" or not verb.endswith(("ee", "oe", "ye"))) and verb != "be":
        return verb[:-1] + ending
    if ending == "ed" and verb.endswith("y") and verb[-2:-1] not in _VOWELS:
        return verb[:-1] + "ied"
    return verb + ending
