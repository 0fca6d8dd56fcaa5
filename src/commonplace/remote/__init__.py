"""A book behind a server: each verb of Book is one request. Opened by `commonplace.open("http://…")`."""
