"""Reconciliation: what a new memory means for those that are known."""
