"""Doors from agent frameworks to a book; each is imported by its own name and needs its framework's package."""
