"""The contract of a Book as tests: whatever store is behind it, all of these pass.

from commonplace.testing import BookConformance


class TestMyStore(BookConformance):
    def open(self, place):
        return commonplace.open(place / "book.db", embedder=HashEmbedder())
"""

from __future__ import annotations

try:
    import pytest
except ImportError as error:
    raise ImportError("the conformance suite needs pytest: pip install pytest") from error

_SUBJECTS = (
    "canvas",
    "errors",
    "feedback",
    "filters",
    "forget",
    "harness",
    "kv",
    "learning",
    "listing",
    "memories",
    "portable",
    "recall",
    "revisions",
    "sharing",
    "spaces",
    "transcripts",
)

# Before they are imported: a failing assert then shows its values in a user's test run too.
pytest.register_assert_rewrite(*(f"{__name__}.{subject}" for subject in _SUBJECTS))

from commonplace.testing.conformance.canvas import CanvasConformance  # noqa: E402
from commonplace.testing.conformance.errors import ErrorConformance  # noqa: E402
from commonplace.testing.conformance.feedback import FeedbackConformance  # noqa: E402
from commonplace.testing.conformance.filters import FilterConformance  # noqa: E402
from commonplace.testing.conformance.forget import ForgetConformance  # noqa: E402
from commonplace.testing.conformance.kv import KeyValueConformance  # noqa: E402
from commonplace.testing.conformance.learning import LearningConformance  # noqa: E402
from commonplace.testing.conformance.listing import ListConformance  # noqa: E402
from commonplace.testing.conformance.memories import MemoryConformance  # noqa: E402
from commonplace.testing.conformance.portable import PortableConformance  # noqa: E402
from commonplace.testing.conformance.recall import RecallConformance  # noqa: E402
from commonplace.testing.conformance.revisions import RevisionConformance  # noqa: E402
from commonplace.testing.conformance.sharing import SharingConformance  # noqa: E402
from commonplace.testing.conformance.spaces import SpaceConformance  # noqa: E402
from commonplace.testing.conformance.transcripts import TranscriptConformance  # noqa: E402

__all__ = ["BookConformance"]


class BookConformance(
    MemoryConformance,
    LearningConformance,
    ListConformance,
    FilterConformance,
    RecallConformance,
    RevisionConformance,
    ForgetConformance,
    FeedbackConformance,
    KeyValueConformance,
    CanvasConformance,
    TranscriptConformance,
    SpaceConformance,
    SharingConformance,
    ErrorConformance,
    PortableConformance,
):
    """Every promise of a Book. Inherit, say how to `open` one, and pytest does the rest."""
