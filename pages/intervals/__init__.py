"""The parts of the page "Coverage"."""
