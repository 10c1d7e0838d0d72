"""From a promise of privacy to the prior, or the range of the data, that keeps it: root finding alone."""
