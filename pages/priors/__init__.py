"""The parts of the page "Minimum priors"."""
