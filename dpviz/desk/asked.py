"""What the controls of a page ask for, and what is said where that is refused."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

from dpviz.designs import Design

ItsQuestion = TypeVar("ItsQuestion")
Mends = Mapping[str, tuple[object, str]]
"""What would put settings right: a value by the key of each, with the words of its button."""


class AskedOnPage(Protocol):
    """What the controls of a page ask for: what was left out in sentences, its settings and its neighbours in words."""

    @property
    def problems(self) -> tuple[str, ...]: ...
    @property
    def named(self) -> str: ...
    @property
    def neighbours(self) -> str: ...


class AskedOfDesign(AskedOnPage, Protocol):
    """The same of a page that is about a single release."""

    @property
    def design(self) -> Design: ...


@dataclass(frozen=True)
class AskedOf(Generic[ItsQuestion]):
    """A question to the package, which may be the design that pages share, and its settings in words."""

    design: Design
    question: ItsQuestion
    words: Callable[[ItsQuestion], str] = field(repr=False, compare=False)
    problems: tuple[str, ...] = ()
    given_text: str | None = None  # of a matrix
    neighbours: str = "one row substituted"

    @property
    def named(self) -> str:
        """Its settings in words."""
        return self.words(self.question)


@dataclass(frozen=True)
class Refused:
    """What is wrong with settings, in sentences, and what would put it right."""

    problems: tuple[str, ...]
    mends: Mends = field(default_factory=dict)


class Refusal(ValueError):
    """A refusal in a sentence, which knows what would put it right, and what else is left out."""

    def __init__(self, sentence: str, mends: Mends | None = None, before: Sequence[str] = ()) -> None:
        super().__init__(sentence)
        self.mends, self.before = mends or {}, tuple(before)
