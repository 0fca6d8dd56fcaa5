"""Learning from tasks."""
