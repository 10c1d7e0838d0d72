"""Lessons that ask for a guess before they show: a module each with its computations, and its words beside it."""

from types import MappingProxyType

from dpviz.teaching.lessons import epsilon, invented_rows, noise_aware, one_person, optimum, overconfidence, sets

MODULES = (one_person, epsilon, invented_rows, overconfidence, noise_aware, sets, optimum)

LESSONS = MappingProxyType({module.LESSON.key: module.LESSON for module in MODULES})
"""All lessons by key, in their order."""
