"""Text: terms, the lexicon, speakers, tokens, dates and patches. No I/O."""
