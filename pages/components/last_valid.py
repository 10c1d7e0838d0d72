"""What was refused is said, and the last answer stays: for a whole page, and for a setting of one of its sections."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

import streamlit as st

from dpviz.designs import Design
from pages.components.address import address_problems, note_answered
from pages.components.words import note, problem

Question = TypeVar("Question")


class Asked(Protocol):
    """What the controls of a page ask for: a design, what was left out in sentences, and its settings in words."""

    @property
    def design(self) -> Design: ...
    @property
    def problems(self) -> tuple[str, ...]: ...
    @property
    def named(self) -> str: ...


@dataclass(frozen=True)
class AskedOf(Generic[Question]):
    """A question to the package, which may be the design that pages share, and its settings in words."""

    design: Design
    question: Question
    words: Callable[[Question], str] = field(repr=False, compare=False)
    problems: tuple[str, ...] = ()
    given_text: str | None = None  # of a matrix

    @property
    def named(self) -> str:
        """Its settings in words."""
        return self.words(self.question)


@dataclass(frozen=True)
class Refused:
    """What is wrong with settings, and by key a value that would put it right, with the words of its button."""

    problems: tuple[str, ...]
    mends: Mapping[str, tuple[object, str]] = field(default_factory=dict)


OfPage = TypeVar("OfPage", bound=Asked)
Given = TypeVar("Given")
Found = TypeVar("Found")


def answerable(
    prefix: str, asked: OfPage | Refused, compute: Callable[[OfPage], object], first: Callable[[], OfPage]
) -> OfPage:
    """Say what is wrong with what was asked; returns it, or what was asked last that `compute` does not refuse.

    `first` is what a fresh page asks for, where there was nothing before.
    """
    place, refusals, valid = f"{prefix}valid", list(asked.problems), None
    if isinstance(asked, Refused):
        for key, (value, words) in asked.mends.items():
            st.button(words, key=f"mend_{key}", on_click=st.session_state.__setitem__, args=(key, value))
    else:
        try:
            compute(asked)
            valid = asked
        except ValueError as broken:
            refusals.append(str(broken))
    for sentence in [*address_problems(prefix), *map(_said, refusals)]:
        problem(sentence)
    note_answered(prefix, refused=valid is None)
    if valid is not None:
        st.session_state[place] = valid
        return valid
    before: OfPage | None = st.session_state.get(place)
    shown = first() if before is None else before
    what = "the settings of a fresh page" if before is None else "the last settings that are allowed"
    note(f"What follows is the answer for {what}: {shown.named}.")
    return shown


def accepted(
    key: str, value: Given, check: Callable[[Given], Found], first: Given, words: Callable[[Given], str]
) -> Found:
    """What `check` makes of a value; where it refuses, its sentence, and what it makes of the last one or of `first`.

    The session keeps the last value that it took under `key`, and `words` names it.
    """
    place = f"{key}_accepted"
    try:
        found = check(value)
    except ValueError as broken:
        last = st.session_state.get(place, first)
        found = check(last)
        problem(f"{_said(str(broken))} What follows is the answer for {words(last)}.")
        return found
    st.session_state[place] = value
    return found


def _said(sentence: str) -> str:
    return sentence.replace("got nan.", "got nothing: its box is empty.")
