"""The HTTP door onto a book: `commonplace serve`. It translates, and holds no logic of its own."""
