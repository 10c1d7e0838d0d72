"""What a control can be set to, and how the text of an address says it."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any, Self

from dpviz.core.parameters import Parameter
from dpviz.core.plain import one_line

LONGEST_IGNORED = 120  # Characters of several words that a sentence repeats
LONGEST_TEXT = 4000  # Characters of a text that the address carries

Words = Collection[str] | Callable[[], Collection[str]]
"""Words that a choice has: a registry, or a function, is read when asked, so that what is added later counts."""


class Unknown(ValueError):
    """Some words of several in the address are none; `known` are the others."""

    def __init__(self, words: str, sentence: str, known: list[str]) -> None:
        super().__init__(sentence)
        self.words, self.known = words, known


@dataclass(frozen=True)
class ControlSetting:
    """What a control can be set to: the value of a fresh page, which the address leaves out, and texts of the address.

    `fresh`: that value, or a function that returns it; `read` raises a ValueError in a sentence; `typed`: a number or a
    text; `handed_on`: what it is called where the page has no control for it.
    """

    fresh: Any
    read: Callable[[str], Any]
    write: Callable[[Any], str] = str
    typed: bool = False
    handed_on: str = ""

    @property
    def default(self) -> Any:
        """The value of a fresh page."""
        return self.fresh() if callable(self.fresh) else self.fresh

    def word(self, value: Any) -> str:
        """A value as the address has it."""
        return "" if value is None else self.write(value)

    @classmethod
    def number(cls, one: Parameter, handed_on: bool = False) -> Self:
        """A number; of one that is handed on to other pages, None where nothing says it."""
        title = f"{one.title} of your release" if handed_on else ""
        fresh = None if handed_on else int(one.default) if one.integer else float(one.default)
        return cls(fresh, one.parse, _digits, True, title)

    @classmethod
    def choice(cls, words: Words, default: str | None) -> Self:
        """A choice among `words`, or of none of them where that is the default."""
        return cls(default, lambda text: _one_of(words_of(words), text))

    @classmethod
    def several(cls, words: Words, default: Words) -> Self:
        """A choice of several among `words`, separated by dots in the address."""

        def read(text: str) -> list[str]:
            accepted = words_of(words)
            asked = [word for word in dict.fromkeys(text.split(".")) if word]
            known = [word for word in asked if word in accepted]
            if len(known) < len(asked):
                unknown = ", ".join(one_line(word) for word in asked if word not in accepted)
                raise Unknown(one_line(unknown, LONGEST_IGNORED), f"each must be one of {', '.join(accepted)}.", known)
            return asked

        def write(chosen: Collection[str]) -> str:
            return ".".join(one for one in words_of(words) if one in chosen)

        return cls(lambda: list(words_of(default)), read, write)

    @classmethod
    def switch(cls, default: bool) -> Self:
        """On or off."""
        return cls(default, lambda text: _one_of(["true", "false"], text.lower()) == "true", lambda on: str(on).lower())

    @classmethod
    def text(cls, default: str) -> Self:
        """A text of any kind, of which an address carries a short one alone."""
        return cls(default, _short, typed=True)


def words_of(words: Words) -> Collection[str]:
    """The words as they are now."""
    return words() if callable(words) else words


def _digits(value: float) -> str:
    """A number with every digit and none too many."""
    return str(int(value)) if float(value).is_integer() and abs(value) < 1e15 else repr(float(value))


def _short(text: str) -> str:
    if len(text) > LONGEST_TEXT:
        raise ValueError(f"a link carries texts of up to {LONGEST_TEXT:,} characters; this one has {len(text):,}.")
    return text


def _one_of(words: Collection[str], text: str) -> str:
    if text not in words:
        raise ValueError(f"it must be one of {', '.join(words)}.")
    return text
