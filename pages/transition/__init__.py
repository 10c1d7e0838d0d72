"""The sections of the page "Transition matrices"."""
