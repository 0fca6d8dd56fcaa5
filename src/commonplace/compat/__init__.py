"""The programs of other memory services, run on a book: only their import changes.

The book is the one that `configure` names, or the environment variable COMMONPLACE_BOOK (a path or URL), or
`commonplace.db` in the working directory.
"""
