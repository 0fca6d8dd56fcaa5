"""Access to a book: keys, their plans, and patterns of the spaces that they open."""
