"""The parts of the page "Posterior"."""
