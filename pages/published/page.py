"""Published."""

from pages.published.sections import show

show()
