"""The background of an embedder: its cosines for unrelated texts, which are the zero and the unit of meaning."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from commonplace.models.embedders.base import Embedder


@dataclass(frozen=True, slots=True, kw_only=True)
class Background:
    """Cosine of a question and an unrelated passage, for one embedder."""

    mean: float
    deviation: float
    growth: float = 0.0
    """Added to the mean for each e-fold of the passage's length: some embedders find long texts alike."""


# An embedder that gives every unrelated pair the same cosine must not make the smallest difference decisive.
_SMALLEST_DEVIATION = 0.02

_JOINED = 6
"""Number of long texts that the passages are joined into, to measure the effect of length."""


def measure(embedder: Embedder) -> Background:
    """Measure an embedder on unrelated questions and passages."""
    questions = np.stack([embedder.embed_query(question) for question in QUESTIONS])
    short = questions @ embedder.embed(PASSAGES).T
    long = questions @ embedder.embed([" ".join(PASSAGES[i::_JOINED]) for i in range(_JOINED)]).T
    mean, longer = float(short.mean()), float(long.mean())
    deviation = max(float(short.std()), _SMALLEST_DEVIATION)
    return Background(mean=mean, deviation=deviation, growth=(longer - mean) / math.log(len(PASSAGES) / _JOINED))


# No question below is answered by, or shares a subject with, any passage. The passages are of the kinds and
# lengths that people and agents write down, since an embedder's cosine depends on both.
QUESTIONS = (
    "How many siblings does the violin teacher have?",
    "Which airport did the delegation fly into?",
    "What breed is the neighbour's puppy?",
    "When is the dentist appointment?",
    "Who won the chess tournament last winter?",
    "What was the name of the hotel in Lisbon?",
    "Why did the bakery on the corner close?",
    "Which colour did they paint the nursery?",
    "What does my cousin study at university?",
    "How long did the marathon take him?",
    "Which vaccine does the horse still need?",
    "Where did grandmother grow up?",
    "What is the locker combination at the swimming pool?",
    "Did anybody feed the goldfish over the holidays?",
    "Which mountain hut did we book for August?",
    "What do I give a toddler who has a fever?",
)

PASSAGES = (
    "The nightly export now writes Parquet instead of CSV, which cut the bucket's size by two thirds.",
    "Oil prices fell for a third day as traders weighed weak demand against a cut in supply.",
    "We agreed to freeze the schema on Friday; later changes need two approvals.",
    "Add the flour slowly, stir until the dough is smooth, and let it rest for an hour.",
    "Retry with exponential backoff when the gateway answers 503, and give up after five attempts.",
    "The treaty of 1648 ended three decades of war and redrew the borders of central Europe.",
    "Prefers answers as short bullet points without an introduction.",
    "Our landlord raised the rent by four percent and refuses to repair the boiler.",
    "Photosynthesis turns light, water and carbon dioxide into sugar and oxygen.",
    "The login page crashes on Safari because the date picker assumes a local time zone.",
    "Marta handles invoices; anything above ten thousand euros goes to the finance board.",
    "I have been learning to knit, and my first scarf came out far too wide.",
    "Tests run on every push, but the integration suite only runs at night because it takes forty minutes.",
    "The council voted to close the old bridge to lorries until the inspection is finished.",
    "Do not use global variables in the parser; pass the state explicitly.",
    "A sonnet has fourteen lines, usually in iambic pentameter.",
    "Latency went up after the upgrade: the connection pool was limited to ten.",
    "She plays bass in a funk band and rehearses in a garage on Thursdays.",
    "The customer asked for an extension of the licence until the end of the quarter.",
    "Tomatoes need at least six hours of sun and regular watering.",
    "Deploying from a laptop failed twice; releases go through the pipeline only.",
    "Saturn's rings are made of countless pieces of ice and rock.",
    "The insurance covers theft abroad, provided that it is reported to the police within a day.",
    "Switched the cache from write-through to write-back, which halved the load on the database.",
    "The committee postponed the vote because too few members were present.",
    "He collects stamps from countries that no longer exist.",
    "Use spaces, not tabs, and keep lines under one hundred characters.",
    "The film was shot in black and white on a tiny budget and became a cult classic.",
    "Quarterly revenue grew by nine percent, mostly from renewals in Asia.",
    "If the printer jams, open the rear tray first and pull the paper out gently.",
    "The model overfits after three epochs, so training stops early on the validation loss.",
    "Wolves returned to the valley after an absence of more than a century.",
    "Decided against a message queue: one worker and a table are enough for this load.",
    "The museum keeps its most fragile manuscripts in a vault without windows.",
    "The user id moved from the header into the token, so old clients get a 401.",
    "My flatmate works night shifts and cooks dinner at seven in the morning.",
    "Inflation erodes the real value of savings that earn no interest.",
    "The second microphone hums whenever the lights are dimmed.",
    "Rotate the signing keys every ninety days and keep the previous pair for one week.",
    "The glacier has lost a quarter of its length since it was first surveyed.",
    "Backups are encrypted with the team's key and kept for thirty days in another region.",
    "They argued about the referee's decision all the way home.",
    (
        "The report is due on the first Monday of each month and goes to the regional office, which forwards "
        "a summary to the board together with the figures of the previous year."
    ),
    "Concrete gains most of its strength in the first month, but it goes on hardening for years.",
    "Thanks, that helps! I'll try it this evening and let you know how it goes.",
    (
        "The script reads the settings file, checks each field, prints every problem with its line number, "
        "and leaves with status 2 when anything is wrong, so that the build stops before the images are pushed."
    ),
    "Coral reefs shelter a quarter of all marine species on less than one percent of the sea floor.",
    "The voice assistant should speak more slowly and repeat the order before it charges the card.",
)
