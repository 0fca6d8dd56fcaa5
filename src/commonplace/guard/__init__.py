"""The defence against poisoned memories: what must not be kept, obeyed or learned twice. Pure functions."""
