"""Integrations of commonplace with agent frameworks; each is imported by its own name and needs its framework."""
