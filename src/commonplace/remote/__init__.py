"""A book behind a server: the verbs of Book, each as one request. Opened by `commonplace.open("http://…")`."""
