"""Claims: a sentence as subject, attribute and value."""
