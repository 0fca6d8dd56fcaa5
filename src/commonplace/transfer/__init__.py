"""Whole books and spaces: copied, exported, imported, re-embedded."""
