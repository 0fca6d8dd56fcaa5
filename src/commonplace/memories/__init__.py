"""Memories: writing, reading, revising, removing and quarantining them."""
