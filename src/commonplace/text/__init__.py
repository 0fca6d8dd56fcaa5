"""Text: terms, words, speakers, tokens, dates and patches. No I/O."""
