"""Small books, as in a first trial: memories, questions that they answer, and other questions."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timezone

from quality.data import Case, Question, Unit

_SAID = datetime(2026, 1, 1, tzinfo=timezone.utc)


def cases() -> Iterator[Case]:
    """Each book as a case; the other questions are its foreign ones."""
    for number, (texts, own, other) in enumerate(_BOOKS):
        yield Case(
            set="tiny",
            name=str(number),
            units=[Unit(id=f"{number} {place}", text=text, said_at=_SAID) for place, text in enumerate(texts)],
            questions=[_question(text, f"{number} {place}") for text, place in own],
            foreign=[_question(text) for text in other],
        )


def _question(text: str, *evidence: str) -> Question:
    return Question(id=text, text=text, category="tiny", evidence=frozenset(evidence))


# Texts; questions, each with the place of its answer; other questions.
_BOOKS: tuple[tuple[tuple[str, ...], tuple[tuple[str, int], ...], tuple[str, ...]], ...] = (
    (
        ("We chose FastAPI over Flask because of async support",),
        (
            ("which web framework did we pick?", 0),
            ("why did we choose FastAPI?", 0),
            ("what did we decide about Flask?", 0),
            ("FastAPI", 0),
            ("do we use an async framework?", 0),
        ),
        (
            "what is the capital of Peru?",
            "when is my dentist appointment?",
            "how do I bake sourdough bread?",
            "who won the football match?",
            "what's the wifi password?",
        ),
    ),
    (
        ("The user prefers dark mode in every editor",),
        (
            ("what theme does the user like?", 0),
            ("dark or light mode?", 0),
            ("editor preferences", 0),
        ),
        ("what is the user's home address?", "which database do we use?", "best restaurants nearby"),
    ),
    (
        (
            "Alice is allergic to peanuts",
            "Bob moved to Berlin in March",
            "The staging server runs on port 8080",
            "Deploys are frozen on Fridays",
        ),
        (
            ("what is Alice allergic to?", 0),
            ("can Alice eat peanut butter?", 0),
            ("where does Bob live now?", 1),
            ("which port does staging use?", 2),
            ("can I deploy on Friday?", 3),
            ("food allergies", 0),
        ),
        (
            "what is the capital of Peru?",
            "how tall is Mount Everest?",
            "who painted the Mona Lisa?",
            "what is the price of a train ticket to Madrid?",
            "recommend me a science fiction novel",
        ),
    ),
    (
        (
            "My daughter Emma turns six on 12 June",
            "We keep the spare key under the blue flower pot",
            "Dad takes his heart medication at eight in the morning",
            "The plumber's number is 555-0134",
            "I hate cilantro",
            "Our cat Whiskers needs a vet check in autumn",
        ),
        (
            ("when is Emma's birthday?", 0),
            ("where is the spare key?", 1),
            ("what time does dad take his pills?", 2),
            ("how do I reach the plumber?", 3),
            ("which herbs do I dislike?", 4),
            ("when does the cat have to see the vet?", 5),
        ),
        (
            "how do I configure nginx?",
            "what is our quarterly revenue?",
            "which programming language is fastest?",
            "what is the tallest building in the world?",
        ),
    ),
    (
        (
            "PostgreSQL is the system of record; Redis is only a cache",
            "API rate limit is 100 requests per minute per key",
            "The auth service signs tokens with RS256",
            "Never run migrations during business hours: it locked the orders table in 2024",
            "Frontend uses TypeScript with strict null checks",
            "We use GitHub Actions for CI",
            "Errors go to Sentry, metrics to Prometheus",
            "user_id is a UUID, not an integer",
        ),
        (
            ("what database do we use?", 0),
            ("how many API calls can a client make?", 1),
            ("which algorithm signs the JWT?", 2),
            ("when should I run a database migration?", 3),
            ("what language is the frontend written in?", 4),
            ("where does our CI run?", 5),
            ("where do I look at metrics?", 6),
            ("what type is user_id?", 7),
            ("is Redis the source of truth?", 0),
        ),
        (
            "what should I cook for dinner tonight?",
            "who is the president of France?",
            "how old is the universe?",
            "when does the museum open?",
            "what did Caroline say about the support group?",
        ),
    ),
    (
        (
            "Sarah prefers TypeScript to Python",
            "Tom is on holiday until 3 September",
            "The client wants weekly reports as PDF",
            "Budget for the project is 40,000 euros",
            "Kick-off meeting moved to Tuesday 10:00",
        ),
        (
            ("which language does Sarah like?", 0),
            ("when is Tom back?", 1),
            ("in what format does the client want reports?", 2),
            ("how much money do we have for the project?", 3),
            ("when is the kick-off?", 4),
        ),
        ("what is the weather in Tokyo?", "how do vaccines work?", "what's a good name for a dog?"),
    ),
    (
        (
            "Mitochondria are the powerhouse of the cell",
            "The Treaty of Westphalia was signed in 1648",
            "Water boils at 100 degrees Celsius at sea level",
            "Jupiter is the largest planet of the solar system",
            "Shakespeare wrote Hamlet around 1600",
            "The speed of light is about 300,000 kilometres per second",
            "Photosynthesis takes place in chloroplasts",
            "Mount Kilimanjaro is in Tanzania",
            "Ada Lovelace is often called the first programmer",
            "Gold has the chemical symbol Au",
        ),
        (
            ("who wrote Hamlet?", 4),
            ("which planet is the biggest?", 3),
            ("when was the peace of Westphalia signed?", 1),
            ("how fast does light travel?", 5),
            ("where is Kilimanjaro?", 7),
            ("what is the symbol for gold?", 9),
            ("where does photosynthesis happen?", 6),
        ),
        (
            "how do I reset my password?",
            "what did we agree on in yesterday's meeting?",
            "which framework did we pick?",
            "when is the rent due?",
        ),
    ),
    (
        (
            "Ich trinke meinen Kaffee ohne Zucker",
            "Der Server steht in Frankfurt",
            "Das Passwort für das WLAN liegt in der Schublade",
        ),
        (("Wo steht der Server?", 1), ("Wie trinke ich meinen Kaffee?", 0), ("WLAN Passwort", 2)),
        ("Wann fährt der nächste Zug nach Hamburg?", "what is the capital of Peru?"),
    ),
    (
        ("会议改到星期三下午三点", "我喜欢喝绿茶", "服务器在上海"),
        (("会议是什么时候?", 0), ("我喜欢喝什么茶?", 1), ("服务器在哪里?", 2)),
        ("what is the capital of Peru?", "how do I bake bread?"),
    ),
    (
        (
            "Tried caching responses in memory: it leaked and crashed the worker",
            "Use retries with jitter for the payment gateway",
            "The invoice job runs at 02:00 UTC",
            "Marketing wants the launch on 1 October",
            "The landing page converts at 3.2 percent",
            "Our logo colour is #1a73e8",
            "Customer Acme pays by bank transfer within 30 days",
            "The mobile app supports Android 10 and newer",
            "Legal asked us to keep audit logs for seven years",
            "Onboarding takes new engineers about two weeks",
            "The office Wi-Fi is called Otter",
            "Printer on the second floor is out of toner",
        ),
        (
            ("why shouldn't we cache in memory?", 0),
            ("how should I call the payment gateway?", 1),
            ("when does the invoice job run?", 2),
            ("what is the launch date?", 3),
            ("what is our conversion rate?", 4),
            ("what colour is the logo?", 5),
            ("how does Acme pay?", 6),
            ("which Android versions are supported?", 7),
            ("how long do we keep audit logs?", 8),
            ("how long is onboarding?", 9),
            ("what's the wifi name?", 10),
            ("is the printer working?", 11),
        ),
        (
            "what is the capital of Peru?",
            "how many moons does Saturn have?",
            "what's a good recipe for lentil soup?",
            "who was the first man on the moon?",
            "what should I name my cat?",
        ),
    ),
)
