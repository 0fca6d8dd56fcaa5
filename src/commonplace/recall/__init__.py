"""From a question to a ranked, packed answer: pure functions around one call to the store."""
