"""Lessons."""

from pages.lessons.sections import show

show()
