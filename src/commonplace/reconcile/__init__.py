"""Reconciliation: a new memory repeats, contradicts or adds to the known ones."""
