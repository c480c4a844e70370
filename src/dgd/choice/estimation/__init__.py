"""From counts to parameters: the likelihood, the search for its top, and what is sure about it."""
