"""The contract of a Book as tests, which pass on every store.

from commonplace.testing import BookConformance


class TestMyStore(BookConformance):
    def open(self, place):
        return commonplace.open(place / "book.db", embedder=HashEmbedder(), reader=None, extractor=StatementExtractor())
"""

from __future__ import annotations

try:
    import pytest
except ImportError as error:
    raise ImportError("the conformance suite needs pytest: pip install pytest") from error

_SUBJECTS = (
    "brief",
    "canvas",
    "erasure",
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

from commonplace.testing.contract.brief import BriefConformance  # noqa: E402
from commonplace.testing.contract.canvas import CanvasConformance  # noqa: E402
from commonplace.testing.contract.erasure import ErasureConformance  # noqa: E402
from commonplace.testing.contract.errors import ErrorConformance  # noqa: E402
from commonplace.testing.contract.feedback import FeedbackConformance  # noqa: E402
from commonplace.testing.contract.filters import FilterConformance  # noqa: E402
from commonplace.testing.contract.forget import ForgetConformance  # noqa: E402
from commonplace.testing.contract.kv import KeyValueConformance  # noqa: E402
from commonplace.testing.contract.learning import LearningConformance  # noqa: E402
from commonplace.testing.contract.listing import ListConformance  # noqa: E402
from commonplace.testing.contract.memories import MemoryConformance  # noqa: E402
from commonplace.testing.contract.portable import PortableConformance  # noqa: E402
from commonplace.testing.contract.recall import RecallConformance  # noqa: E402
from commonplace.testing.contract.revisions import RevisionConformance  # noqa: E402
from commonplace.testing.contract.sharing import SharingConformance  # noqa: E402
from commonplace.testing.contract.spaces import SpaceConformance  # noqa: E402
from commonplace.testing.contract.transcripts import TranscriptConformance  # noqa: E402

__all__ = ["BookConformance"]


class BookConformance(
    MemoryConformance,
    BriefConformance,
    LearningConformance,
    ListConformance,
    FilterConformance,
    RecallConformance,
    RevisionConformance,
    ForgetConformance,
    ErasureConformance,
    FeedbackConformance,
    KeyValueConformance,
    CanvasConformance,
    TranscriptConformance,
    SpaceConformance,
    SharingConformance,
    ErrorConformance,
    PortableConformance,
):
    """Every guarantee of a Book. Inherit and implement `open`; pytest collects the tests."""
