"""What a page says of itself once, the texts that lie beside it, and what a reader's session holds of it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import streamlit as st

PAGES = Path(__file__).parent.parent


@dataclass(frozen=True, kw_only=True)
class PageSpec:
    """A page of the app, which lives in `folder` below ``pages/``; `pages.components.navigation` lists them.

    Its heading is the `question` that it answers, with its `title`, the term, beside it, and a `lead` below where the
    question alone does not say what there is to do. The keys of its controls begin with `prefix`, in the session and
    in the address; the `home` page has no path. `tells` are the names that an address has of what it says of a release
    without a control. A page that does not take part in what a reader `carries` has people and releases of its own. The
    address of a `plain` page calls its settings by their names without the prefix.
    """

    title: str
    folder: str
    prefix: str
    question: str
    lead: str = ""
    home: bool = False
    carries: bool = True
    plain: bool = False
    tells: tuple[str, ...] = ()

    @property
    def path(self) -> str:
        """Its path in the address."""
        return "" if self.home else self.folder

    @property
    def module(self) -> str:
        """What imports all that its script needs."""
        return f"pages.{self.folder}.{'questions' if self.home else 'sections'}"

    @property
    def file(self) -> Path:
        """The script that draws it."""
        return PAGES / self.folder / "page.py"

    def text(self, name: str) -> str:
        """A text beside the page, in Markdown, with what papers print in the places of its names."""
        return _text(self, name)

    def note(self, name: str, **numbers: object) -> str:
        """A paragraph of ``notes.md`` beside the page, with its numbers where their names stand in braces."""
        return _notes(self)[name].format(**numbers)


@cache
def _text(page: PageSpec, name: str) -> str:
    from dpviz.claims.sentences import with_printed  # few texts of a page that is opened first speak of papers

    return with_printed((PAGES / page.folder / f"{name}.md").read_text(encoding="utf-8"))


@cache
def _notes(page: PageSpec) -> dict[str, str]:
    parts = (part.partition("\n") for part in f"\n{page.text('notes')}".split("\n## ")[1:])
    return {name: " ".join(words.split()) for name, _, words in parts}


class Drawn(NamedTuple):
    """A control that is shown: what it says, its name, and how its value, or each of several, is called."""

    value: Any
    label: str
    called: Callable[[Any], str] | None


@dataclass
class PageState:
    """What a session holds of a page beside its settings, which stand in the session by their keys.

    `entry` tells when they were read from the address, `noted` what of it was left out, in a sentence by key, and
    `then` what they were after that. `drawn` are the controls of this run; `answered` those of the last answer, None
    before there is one, and `refused` the keys of those that were not answered. `valid` is what was asked in the
    last answer. `yours` is what the reader's release says here, by name, and `brought` the release that the page has
    been set to. `taken` are the last values that sections took, by key.
    """

    entry: str = ""
    noted: dict[str, str] = field(default_factory=dict)
    then: dict[str, Any] = field(default_factory=dict)
    drawn: dict[str, Drawn] = field(default_factory=dict)
    answered: dict[str, Drawn] | None = None
    refused: frozenset[str] = frozenset()
    valid: Any = None
    yours: dict[str, Any] = field(default_factory=dict)
    brought: Any = None
    taken: dict[str, Any] = field(default_factory=dict)


def state_of(prefix: str) -> PageState:
    """What the session holds of the page with that prefix, or of that of a setting's key."""
    place = f"{prefix.partition('_')[0]}_"
    found: PageState | None = st.session_state.get(place)
    if found is None:
        found = st.session_state[place] = PageState()
    return found


CLASS = "class"
"""The switch of class mode in the session and in the address, whatever the page."""


def class_mode() -> bool:
    """Whether large type, thick lines, few controls and three digits are asked for, for a projector and for a class.

    The address decides when the app is opened, the switch from then on.
    """
    on = st.session_state.get(CLASS)
    if on is None:
        on = st.session_state[CLASS] = st.query_params.get(CLASS, "") in ("1", "true")
    return bool(on)
