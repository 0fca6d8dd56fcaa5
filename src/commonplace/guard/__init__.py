"""Defence against secrets, injected instructions and memories that confirm themselves. Pure functions."""
