"""Text: terms, the lexicon, tokens, dates and patches. No I/O."""
