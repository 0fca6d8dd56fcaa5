"""One recall for AutoGen: by relevance, or in the order of time as a list is kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from commonplace.integrations.autogen.options import Options
from commonplace.integrations.door import Door
from commonplace.recall import pack
from commonplace.values import Hit, Memory, Score

_UNJUDGED = Score(meaning=0.0, words=0.0, relevance=1.0, certainty=1.0, recency=1.0, strength=1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What was found, and the text that quotes it inside the budget."""

    text: str = ""
    hits: tuple[Hit, ...] = ()
    avoid: tuple[Hit, ...] = ()


async def recall(door: Door, query: str, options: Options) -> Found:
    """Recall what bears on the query, or with `order="time"` the newest `k`, oldest first; no query finds nothing."""
    book = await door.book()
    selected: dict[str, Any] = {
        "within": options.within, "filter": options.filter, "kinds": options.kinds, "tags": options.tags
    }  # fmt: skip
    if options.order == "time":
        page = await book.list(**selected, order="newest", limit=options.most)
        return await door.run(_in_time, page.memories, options.max_tokens)
    if not query.strip():
        return Found()
    answer = await book.recall(
        query, k=options.most, threshold=options.threshold, max_tokens=options.max_tokens, **selected
    )
    return Found(text=answer.text, hits=answer.hits, avoid=answer.avoid)


def _in_time(newest_first: tuple[Memory, ...], max_tokens: int | None) -> Found:
    """Oldest first; if not all fit into the budget, the newest do. What has no text is found and not quoted."""
    hits = [Hit(memory=each, score=1 / (age + 1), parts=_UNJUDGED) for age, each in enumerate(newest_first)]
    hits.reverse()
    failed = [hit for hit in hits if hit.memory.text and hit.memory.kind == "failure"]
    packed = pack.pack([hit for hit in hits if hit.memory.text and hit not in failed], failed, max_tokens=max_tokens)
    shown = (*packed.hits, *packed.avoid)
    return Found(text=packed.text, hits=tuple(hit for hit in hits if hit in shown or not hit.memory.text))
