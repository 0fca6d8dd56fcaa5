"""commonplace: a shared, persistent memory for AI agents.

    import commonplace

    book = commonplace.open("team.db")
    book.remember("We chose FastAPI over Flask because of async support", kind="decision")
    print(book.recall("which web framework did we pick?").text)
"""

from .__about__ import __version__
from .book import Book
from .opening import open
from .settings import Settings
