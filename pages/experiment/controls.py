"""The controls of the page."""
