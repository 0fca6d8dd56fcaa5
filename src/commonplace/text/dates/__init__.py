"""Dates that a text names, as days of the calendar."""
