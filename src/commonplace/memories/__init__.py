"""Memories: written, revised, forgotten, pruned, quarantined and listed."""
