"""Earlier statements that a correction may refer to."""

from __future__ import annotations

from dataclasses import dataclass

from commonplace.learn.drafts import FindingDraft
from commonplace.learn.persons import Who
from commonplace.values import Kind

_MOST = 0.7
"""How much of a draft a statement must be for the draft to fall with it."""


@dataclass(frozen=True, slots=True)
class Said:
    """A statement that was made before, as it was said, and by whom."""

    text: str
    who: Who
    owner: str | None
    kind: Kind | None
    draft: FindingDraft | None = None
    """The draft made from it."""

    def withdraw(self) -> None:
        """Take back what came of a statement that proved wrong, unless that holds more than this."""
        if self.draft and len(self.text) >= _MOST * len(self.draft.clause.text):
            self.draft.withdrawn = True
