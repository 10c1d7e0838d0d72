"""Controls other than numbers, each of a setting that `address` keeps, and buttons that set several at once."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from typing import Any, TypeVar

import streamlit as st

from pages.components.address import SETTINGS, drawn
from pages.components.class_mode import class_mode

_folded = ContextVar("folded", default=False)


def folded() -> bool:
    """Whether what is drawn here would stand under "More" while that is closed."""
    return _folded.get()


class Places:
    """The place of each control by its name: `few` are always in sight, `main` are but in class mode.

    Controls under "More" are drawn where that is open alone: they would be half of the work of a move.
    """

    def __init__(self, few: Collection[str], main: Collection[str]) -> None:
        self.in_sight = {*few} if class_mode() else {*few, *main}
        self.first, self.more = st.container(key="first"), st.expander("More", key="more", on_change="rerun")

    @contextmanager
    def __call__(self, name: str) -> Iterator[None]:
        """Where the control of that name is drawn, with what belongs to it."""
        here = name in self.in_sight
        before = _folded.set(not (here or self.more.open))
        try:
            with self.first if here else self.more:
                yield
        finally:
            _folded.reset(before)


Value = TypeVar("Value")


def shown(key: str, control: Callable[..., Value], label: str, *args: Any, **rest: Any) -> Value:
    """What a control says, which is drawn unless it is folded away."""
    draw = partial(control, label, *args, key=key, persist_state="session", **rest)
    said: Value = st.session_state.get(key, SETTINGS[key].default) if folded() else draw()
    return drawn(key, said, label, rest.get("format_func"))


def choice(control: Callable[..., str | None], label: str, words: Iterable[str], key: str, **rest: Any) -> str:
    """One of `words`, by `st.selectbox`, `st.radio`, `st.segmented_control` or `st.pills`; the last may be ``""``.

    A word that is not among them any more, for another control has moved, gives way to the default.
    """
    options, default = list(words), SETTINGS[key].default
    if st.session_state.get(key) not in options:
        st.session_state[key] = default
    side_by_side = control in (st.segmented_control, st.pills)
    start = {"default": default} if side_by_side else {"index": options.index(default)}
    return shown(key, control, label, options, **start, **rest) or ""


def named_choice(
    control: Callable[..., str | None], label: str, names: Mapping[str, str], key: str, **rest: Any
) -> str:
    """One of the keys of `names`, which says how each is shown."""
    return choice(control, label, names, key, format_func=names.__getitem__, **rest)


def labels_of(things: Iterable[Any]) -> dict[str, str]:
    """The label of each thing that has a key and a label, by its key."""
    return {one.key: one.label for one in things}


def segments(label: str, words: Iterable[str], key: str, **rest: Any) -> str:
    """One of `words`, side by side."""
    return choice(st.segmented_control, label, words, key, required=True, **rest)


def choices(label: str, words: Iterable[str], key: str, **rest: Any) -> list[str]:
    """Several of `words`, from a list."""
    return shown(key, st.multiselect, label, list(words), default=SETTINGS[key].default, **rest)


def switch(label: str, key: str, **rest: Any) -> bool:
    """On or off."""
    return shown(key, st.toggle, label, value=SETTINGS[key].default, **rest)


def written(control: Callable[..., str | None], label: str, key: str, **rest: Any) -> str:
    """A text, by `st.text_input` or `st.text_area`."""
    return shown(key, control, label, value=SETTINGS[key].default, **rest) or ""


def presets(
    prefix: str,
    cases: Mapping[str, Mapping[str, object]],
    links: Mapping[str, object],
    control: Callable[..., object] = st.pills,
    **rest: Any,
) -> None:
    """Buttons that set the controls to a known case, or a list of cases; the chosen one stays marked while it holds.

    In class mode it is a list on every page.

    `cases` has the values of the page's controls for each case, `links` those that every case sets.
    """
    key, yours = f"{prefix}preset", st.session_state.get(f"{prefix}yours")
    if yours and any(st.session_state.get(prefix + name) != value for name, value in yours.items()):
        cases = {"your release": yours, **cases}
    chosen = st.session_state.get(key)
    if (chosen is not None and chosen not in cases) or (
        chosen is not None
        and not all(
            st.session_state.get(prefix + name, value if name in links else None) == value
            for name, value in {**links, **cases[chosen]}.items()
        )
    ):
        st.session_state[key] = None

    def apply() -> None:
        wanted = st.session_state.get(key)
        for name, value in {**links, **cases[wanted]}.items() if wanted is not None and wanted in cases else ():
            st.session_state[prefix + name] = value

    if class_mode():
        control, rest = st.selectbox, {"index": None, "placeholder": "settings of your own", **rest}
    control("Start from", list(cases), key=key, on_change=apply, persist_state="session", **rest)
