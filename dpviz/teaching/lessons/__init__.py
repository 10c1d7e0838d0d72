"""Lessons that ask for a guess before they show: one folder each, found by itself, with its words and its steps."""

import importlib
from pathlib import Path
from types import MappingProxyType

from dpviz.teaching.lessons.lesson import Lesson

__all__ = ["LESSONS"]


def _found() -> dict[str, Lesson]:
    """Every folder beside this file that has words, in their order; its lesson has the folder's name in capitals."""
    folders = sorted(path.parent.name for path in Path(__file__).parent.glob("*/words.md"))
    lessons = [getattr(importlib.import_module(f"{__name__}.{name}"), name.upper()) for name in folders]
    return {one.key: one for one in sorted(lessons, key=lambda one: one.words.number)}


LESSONS = MappingProxyType(_found())
"""All lessons by key, in their order."""
