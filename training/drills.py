"""Pairs made from patterns, in which one small difference decides: who it is about, what is said of it, or its value.

Free pairs teach in how many words a thing can change; drills teach that all of subject, matter and change must fit.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass

from statements import NOT_REPLACED, Related

from commonplace.models.statements import RELATIONS, Pair

NAMES = (
    "Ana Ben Carla Dario Edith Farid Greta Hugo Ines Jonas Kaya Leo Mira Nils Olga Pavel Quinn Rosa Sven Tara Umut Vera"
    " Wanda Yusuf Zoe Bridget Malik Noor Tomasz Lena Oskar Priya Selma Ravi Frieda Emil Hanna Igor Jun Katja"
).split()
KIN = (
    "my sister|my brother|my boss|our neighbour|my flatmate|my cousin|my dad|my mum|my best friend|the landlord"
).split("|")


@dataclass(frozen=True)
class Matter:
    """Something that holds of a subject with one value at a time."""

    who: str
    """The kind of subjects: person, thing, event or team."""
    values: tuple[str, ...]
    says: tuple[str, ...]
    """Ways to state it; {s} is the subject, {v} the value."""
    turns: tuple[str, ...]
    """Ways to say that it has become {v}; {o} is what it was."""
    ends: tuple[str, ...] = ()
    """Ways to say that it holds no more."""


def _matter(who: str, values: str, says: str, turns: str, ends: str = "") -> Matter:
    return Matter(who, *(tuple(each for each in text.split("|") if each) for text in (values, says, turns, ends)))


MATTERS = (
    _matter("person", "Leeds|Porto|Graz|Oslo|Utrecht|Bristol|Lyon|Gdansk|Turin",
            "{s} lives in {v}|{s} has a flat in {v}|{v} is where {s} lives|home for {s} is {v}",
            "{s} moved to {v} last month|{s} is settling in nicely over in {v}|{s} packed up and is in {v} now"
            "|after all those years in {o}, {s} has a new address in {v}"
            "|boxes everywhere, {s} just got the keys in {v}",
            "{s} has left {o} for good|{s} gave up the flat in {o}"),
    _matter("person", "nurse|baker|teacher|plumber|data analyst|bus driver|lawyer|cook|tax adviser",
            "{s} works as a {v}|{s} is a {v}|by trade {s} is a {v}",
            "{s} retrained and is a {v} these days|{s} quit and started over as a {v}"
            "|{s} no longer works as a {o}, now a {v}"
            "|guess who is a {v} now: {s}", "{s} retired last week|{s} handed in the notice and is done being a {o}"),
    _matter("person", "Siemens|the city library|Hollis & Sons|a start-up in fintech|the airport|St Mary's|the brewery",
            "{s} works at {v}|{s} has a job with {v}|{v} employs {s}",
            "{s} signed with {v}|{s} left {o} and joined {v}|first week at {v} for {s}, so far so good"
            "|{s} has moved on to {v}", "{s} was let go by {o}|{s} has quit {o}"),
    _matter("person", "vegetarian|vegan|gluten-free|on a keto diet|pescatarian|lactose-free",
            "{s} is {v}|{s} eats {v} only|remember that {s} is {v}",
            "{s} went {v} in January|{s} is {v} these days, not {o} any more|turns out {s} has switched to {v}",
            "{s} eats everything again|{s} gave up being {o}, there was bacon at breakfast"),
    _matter("person", "Rex the dog|a tabby called Miso|two budgies|a tortoise|a grey parrot",
            "{s} has {v}|{s} keeps {v} at home|there is {v} living with {s}",
            "{s} had to rehome {o} and has {v} instead", "{s} had to give away {o}|sadly {o} died, {s} is heartbroken"),
    _matter("person", "Paul|Aisha|Marek|Chloe|Dana|Luca",
            "{s} is going out with {v}|{s} and {v} are a couple|{v} is the partner of {s}",
            "{s} is seeing {v} now|{s} left {o} for {v}|{s} got engaged to {v}, who would have thought",
            "{s} and {o} broke up|it is over between {s} and {o}|{s} is single again"),
    _matter("person", "piano|tennis|Spanish|pottery|judo|the cello|Mandarin|climbing|chess",
            "{s} takes {v} lessons|{s} is learning {v}|every week {s} goes to {v}",
            "{s} dropped {o} and took up {v}|it is {v} now for {s}, {o} got boring",
            "{s} stopped with {o}|{s} lost interest in {o} and cancelled the lessons"),
    _matter("person", "a red Fiat|an old Volvo|a cargo bike|an electric Kia|a Vespa|a camper van",
            "{s} drives {v}|{s} has {v}|{s} gets around with {v}",
            "{s} traded {o} in for {v}|{s} sold {o} and bought {v}|{s} turned up in {v} yesterday, brand new",
            "{s} sold {o}|{s} scrapped {o} last week"),
    _matter("person", "tea|black coffee|oat milk lattes|cola|mate|herbal tea",
            "{s} only drinks {v}|{s} always wants {v}|for {s}, {v} please",
            "{s} has gone off {o}, make it {v}|{s} prefers {v} lately|no more {o} for {s}, {v} instead"),
    _matter("person", "49 kilos|54 kilos|61 kilos|72 kilos|80 kilos|88 kilos",
            "{s} weighs {v}|the scales say {v} for {s}", "{s} is at {v} by now|{s} is down to {v}|{s} is up to {v}"),
    _matter("person", "Monday|Tuesday|Wednesday|Thursday|Friday",
            "{s} is off on {v}s|{v} is the day off of {s}|{s} never works {v}s",
            "{s} swapped the free day to {v}|from now on {s} is off on {v}s instead"),
    _matter("person", "29|31|34|37|40|52|63",
            "{s} is {v} years old|{s} is {v}", "{s} turned {v} yesterday|we celebrated: {s} is {v} now"),
    _matter("person", "room 12|room 204|desk 7|the corner office|the second floor|building C",
            "{s} sits in {v}|you find {s} in {v}", "{s} has moved over to {v}|look for {s} in {v} from today on"),
    _matter("person", "the flu|a broken wrist|a bad back|migraines|a sprained ankle",
            "{s} is laid up with {v}|{s} has {v}", "",
            "{s} is over {o}|{s} is fit again, no more {o}|{o} of {s} has healed, says the doctor"),
    _matter("event", "Monday at 9|Tuesday at 10|Thursday at 4 pm|Friday noon|12 May|19 June|3 March|the 21st",
            "{s} is on {v}|{s} takes place {v}|{s} has been set for {v}|put {s} down for {v}",
            "{s} got pushed to {v}|they moved {s} to {v}|{v} instead of {o} for {s}|new date for {s}: {v}"
            "|{s} won't work {o}, we said {v}|{s} clashes with the audit, so {v} it is",
            "{s} is off|{s} got cancelled|nobody can make it, so no {s}|they scrapped {s}"),
    _matter("event", "the town hall|Room K12|the garden|Lena's place|the Old Mill|Zoom|the gym",
            "{s} is in {v}|{s} happens at {v}|for {s} come to {v}",
            "{s} moves to {v}|{o} is double-booked, {s} is at {v} now|we switched {s} to {v} because of the rain"),
    _matter("event", "20 people|35 guests|12 of us|60 seats|8 participants",
            "{s} is planned for {v}|we count on {v} for {s}",
            "{s} has grown to {v}|after the cancellations {s} is down to {v}"),
    _matter("thing", "500 euros|900 euros|1,200 euros|80 pounds|65 dollars|40 francs",
            "{s} costs {v}|{s}: {v}|we pay {v} for {s}|the price of {s} is {v}",
            "{s} went up to {v}|{s} is now {v}|they want {v} for {s} from May on|{s} has been cut to {v}"),
    _matter("thing", "blue|dark green|white|ochre|light grey|red",
            "{s} is {v}|{s} will be {v}|we chose {v} for {s}",
            "{s} was repainted {v}|we went with {v} for {s} in the end|{o} looked awful, {s} is {v} now"),
    _matter("thing", "the top drawer|the shed|locker 4|the cellar|the hook by the door|Mira's garage",
            "{s} is in {v}|{s} is kept in {v}|you find {s} in {v}",
            "{s} has moved to {v}|I put {s} in {v} instead|{s} is no longer in {o}, look in {v}"),
    _matter("thing", "broken|out of order|leaking|stuck|offline|jammed",
            "{s} is {v}|careful, {s} is {v}|{s} is still {v}", "",
            "{s} works again|the technician fixed {s}|{s} is running fine since this morning"
            "|{s} has been replaced, all good"),
    _matter("thing", "Ines|Pavel|Noor|Tara|Dario|Wanda",
            "{v} looks after {s}|{v} is responsible for {s}|{s} belongs to {v}|ask {v} about {s}",
            "{v} takes over {s} from {o}|{s} is with {v} now|{o} handed {s} to {v}|for {s} talk to {v} from next week"),
    _matter("thing", "green tag|version 2.1|version 3.0|Python 3.11|the beta|release 14",
            "{s} runs {v}|{s} is on {v}",
            "{s} was upgraded to {v}|we rolled {s} back to {v}|{s} is at {v} since last night"),
    _matter("team", "Postgres|MongoDB|SQLite|MySQL|DynamoDB|Cassandra",
            "{s} uses {v}|{s} stores its data in {v}|we chose {v} for {s}",
            "{s} switched to {v}|we ended up going back to {v} for {s}|{s} migrated from {o} to {v}"
            "|{o} didn't scale, {s} is on {v} now|scrap {o}, {s} gets {v} after all",
            "{s} got rid of {o}|{o} has been ripped out of {s}"),
    _matter("team", "Slack|Teams|Signal|Matrix|e-mail|Discord",
            "{s} talks on {v}|{v} is the channel of {s}", "{s} is moving over to {v}|{s} left {o} for {v}"),
    _matter("team", "two-week sprints|Kanban|one-week sprints|monthly releases|weekly releases",
            "{s} works in {v}|{s} has {v}",
            "{s} changed to {v}|{s} gave up {o}, now it is {v}|starting Monday, {v} for {s}"),
    _matter("team", "AWS|Hetzner|Azure|GCP|our own rack|Fly",
            "{s} is hosted on {v}|{s} runs on {v}", "{s} was moved to {v}|we pulled {s} off {o}, it lives on {v} now"),
    _matter("team", "5 MB|20 MB|30 seconds|90 seconds|3 retries|10 retries",
            "the limit of {s} is {v}|{s} allows {v}", "we raised the limit of {s} to {v}|{s} now allows {v}, not {o}"),
    _matter("team", "15 March|end of April|1 June|the 30th|week 22|Q3",
            "{s} is due {v}|the deadline of {s} is {v}|{s} must be done by {v}",
            "{s} slipped to {v}|we got an extension for {s}: {v}|{s} is due {v} now|they want {s} already by {v}",
            "{s} was dropped|{s} went out yesterday, done"),
)  # fmt: skip
THINGS = {
    "event": "the retro|the dentist appointment|the school play|Ana's party|the offsite|the parents' evening|the board"
    " meeting|the choir rehearsal|the wedding|the workshop|the book club|the demo|the fire drill|the interview",
    "thing": "the printer on floor 2|the spare key|the lift|the office fridge|the projector|the ladder|the van|the"
    " coffee machine|the blue tent|the garden hose|gate 3|the beamer|the sewing machine|the staging server|the boiler",
    "team": "the billing service|the search API|the mobile app|team Falcon|the reporting job|the web shop|the data"
    " team|the importer|the checkout|the newsletter|the grant proposal|the platform team|the admin panel",
}
_OPENERS = ("", "", "", "", "", "btw ", "ok so ", "fyi, ", "by the way, ", "quick update: ", "hey, ", "note: ", "so, ")
_I = {"is": "am", "has": "have", "goes": "go"}
_VERB = re.compile(r"\bI (never |always |only |no longer )?(\w+s)\b(?<!was)")
_OBJECT = re.compile(r"\b(for|of|with|between|employs|find|now:|these days:) I\b")
_DOUBTS = (
    "I'd have sworn it was {v} for {s}", "{w} says it is {v} with {s}, though", "are you sure? I heard {v} about {s}",
    "no way, {s} is {v} as far as I know", "{w} claims {v} for {s}, one of you is wrong",
)  # fmt: skip


def drill(chance: random.Random) -> Iterator[Related]:
    """Yield pairs without end."""
    while True:
        matter = chance.choice(MATTERS)
        yield from _about(matter, chance)


def _about(matter: Matter, chance: random.Random) -> Iterator[Related]:
    subject, other = _subjects(matter.who, chance)
    old, new = chance.sample(matter.values, 2)
    before = _write(chance, chance.choice(matter.says), subject, old, old)
    changes = matter.turns + matter.ends
    kind = chance.choice(("changed", "changed", "changed", "other", "other", "same", "doubt", "matter", "mixed"))
    if kind == "changed":
        plain = matter.who != "person" and matter.turns and chance.random() < 0.15
        later = chance.choice(matter.says) if plain else chance.choice(changes)
        yield _related(before, _write(chance, later, subject, new, old), "replaces", chance)
    elif kind == "other":
        later = chance.choice(changes + matter.says)
        yield _related(before, _write(chance, later, other, new, chance.choice([old, new])), None, chance)
    elif kind == "same" and len(matter.says) > 1:
        first, second = chance.sample(matter.says, 2)
        texts = [_write(chance, each, subject, old, old) for each in (first, second)]
        yield _related(*texts, "repeats", chance)
    elif kind == "doubt" and matter.turns:
        text = chance.choice(_DOUBTS).replace("{w}", chance.choice(NAMES))
        yield _related(before, _write(chance, text, subject, new, old), "disputes", chance)
    else:
        another = chance.choice([each for each in MATTERS if each.who == matter.who and each is not matter])
        was, is_now = chance.sample(another.values, 2)
        text = chance.choice(another.says + another.turns + another.ends)
        yield _related(before, _write(chance, text, subject, is_now, was), None, chance)


def _subjects(who: str, chance: random.Random) -> tuple[str, str]:
    if who != "person":
        one, two = chance.sample(THINGS[who].split("|"), 2)
        return one, two
    names = chance.sample(NAMES, 3)
    kin = chance.sample(KIN, 2)
    return chance.choice(
        [
            (names[0], names[1]),
            (kin[0], kin[1]),
            (names[0], f"{names[0]}'s {kin[0].split(' ', 1)[1]}"),
            (f"{kin[0]} {names[0]}", f"{kin[1]} {names[1]}"),
            (kin[0], names[0]),
            ("I", names[0]),
            ("I", kin[0]),
            (names[0], "I"),
            (kin[0], f"{names[0]}'s {kin[0].split(' ', 1)[1]}"),
        ]
    )


def _write(chance: random.Random, pattern: str, subject: str, new: str, old: str) -> str:
    text = pattern.format(s=subject, v=new, o=old)
    if subject == "I":
        text = _VERB.sub(lambda found: f"I {found[1] or ''}{_I.get(found[2], found[2].removesuffix('s'))}", text)
        text = _OBJECT.sub(r"\1 me", text)
    text = chance.choice(_OPENERS) + text
    if chance.random() < 0.6:
        text = text[0].upper() + text[1:]
    return text + (chance.choice([".", "!", "."]) if chance.random() < 0.7 else "")


def _related(earlier: str, later: str, relation: str | None, chance: random.Random) -> Related:
    pair = Pair(earlier, later, chance.random() < 0.6)
    return Related(pair, NOT_REPLACED if relation is None else RELATIONS.index(relation))
