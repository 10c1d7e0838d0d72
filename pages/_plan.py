"""Where a fresh server begins that is asked for this page first: it starts over through app.py."""

from pages.components.navigation import enter

enter()
