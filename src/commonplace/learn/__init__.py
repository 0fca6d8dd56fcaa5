"""From conversations to memories: what was said is read, guarded, and reconciled with what is known."""
