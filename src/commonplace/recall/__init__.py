"""Recall: from a question to a ranked answer within a token budget."""
