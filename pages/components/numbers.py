"""The numbers of a page: for each a slider and a box, both moving the same value, which the address keeps."""

import dataclasses
import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from typing import Any, Self, TypeVar

import streamlit as st

from dpviz.core.parameters import Parameter, readable
from dpviz.core.settings import ControlSetting
from dpviz.core.sliders import LINKS, slider_words, stop_texts, stops_with
from dpviz.designs import Design
from dpviz.desk.addresses import SETTINGS, keep, keep_numbers
from dpviz.mechanisms import SYNTHESIZERS, Synthesizer
from dpviz.mechanisms.given_matrix import GivenMatrix
from pages.components.address import drawn
from pages.components.refusals import refuse
from pages.components.release import handed_on
from pages.components.spec import class_mode, state_of

LARGEST = 1e308

_folded = ContextVar("folded", default=False)


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
Given = TypeVar("Given")
Found = TypeVar("Found")


def shown(key: str, control: Callable[..., Value], label: str, *args: Any, **rest: Any) -> Value:
    """What a control says, which is drawn unless it is folded away."""
    draw = partial(control, label, *args, key=key, persist_state="session", **rest)
    said: Value = st.session_state.get(key, SETTINGS[key].default) if _folded.get() else draw()
    return drawn(key, said, label, rest.get("format_func"))


def accepted(
    key: str, value: Given, check: Callable[[Given], Found], first: Given, words: Callable[[Given], str]
) -> Found:
    """What `check` makes of a value; where it refuses, its sentence, and what it makes of the last one or of `first`.

    The session keeps the last value that it took under `key`, and `words` names it.
    """
    taken = state_of(key).taken
    try:
        found = check(value)
    except ValueError as broken:
        last = taken.get(key, first)
        found = check(last)
        refuse(f"{said_of(broken)} The page shows the answer for {words(last)}.")
        return found
    taken[key] = value
    return found


def said_of(broken: ValueError | str) -> str:
    """What a refusal says; of an empty box, whose number is NaN, that it is empty."""
    return str(broken).replace("got nan.", "got nothing: its box is empty.")


@dataclass(frozen=True)
class PageNumbers:
    """Numbers of one page by name, each with its control; `links` names those that may follow another.

    `at` says where the control of a name stands.
    """

    prefix: str
    declared: Mapping[str, Parameter]
    links: tuple[str, ...] = ("m",)
    at: Callable[[str], AbstractContextManager[object]] = lambda _name: nullcontext()

    def kept(self) -> Self:
        """Itself, whose settings the session and the address keep from now on."""
        keep_numbers({self.prefix + name: one for name, one in self.declared.items()})
        for name in self.links:
            keep(self.prefix + LINKS[name].switch, ControlSetting.switch(True))
        return self

    def number(self, name: str, highest: float | None = None) -> float:
        """Slider, up to `highest` where the domain has that, and a box of any number; NaN stands for an empty one."""
        one, key = self.declared[name], self.prefix + name
        if highest is not None and one.minimum < highest <= one.maximum:
            one = dataclasses.replace(one, slider_maximum=highest)
        start = self.fresh(name)
        with self.at(name):
            if _folded.get():
                kept = st.session_state.get(key, start)
                value = drawn(key, start if kept is None else _whole(one, kept), slider_words(one).name)
                return math.nan if kept is None else value
            return _box_and_slider(one, key, start)

    def fresh(self, name: str) -> float:
        """What a fresh page has; what others say of a page's own accord has no such value, and its declaration has."""
        default: float | None = SETTINGS[self.prefix + name].default
        return self.declared[name].default if default is None else default

    def linked(self, name: str) -> bool:
        """Whether a number follows another one, by the switch of both."""
        link = LINKS[name]
        with self.at(name):
            key, label = self.prefix + link.switch, link.label
            return shown(key, st.toggle, label, value=SETTINGS[key].default)

    def follows(self, name: str) -> bool:
        """Whether a number follows another one."""
        return name in self.links and bool(st.session_state.get(self.prefix + LINKS[name].switch, True))

    def check(self, values: Mapping[str, object]) -> None:
        """Refuse in a sentence the first of the page's numbers among `values` that is outside its domain."""
        for name, one in self.declared.items():
            if name in values:
                one.check(values[name])

    def mends(self, values: Mapping[str, Any], highest: Mapping[str, float]) -> dict[str, tuple[object, str]]:
        """A button for each number outside its domain, or above the `highest` that others let it be."""
        found: dict[str, tuple[object, str]] = {}
        for name, one in self.declared.items():
            near = one.mended(values[name], highest.get(name, one.maximum)) if name in values else None
            if near is not None:
                follows, own = self.follows(name), (name, one.symbol or one.title)
                target, words = (LINKS[name].leader, LINKS[name].both) if follows else own
                found.setdefault(self.prefix + target, (near, f"Set {words} = {readable(near)}"))
        return found

    def accepted(self, name: str, value: float) -> float:
        """A number of a section; outside its domain a sentence says so, and the last one inside is returned."""
        one, key = self.declared[name], self.prefix + name
        symbol = one.symbol or one.title.lower()
        return accepted(key, value, one.check, self.fresh(name), lambda last: f"{symbol} = {readable(last)}")

    def checked(self, name: str) -> float:
        """The control of one number of a section."""
        return self.accepted(name, self.number(name))


class Said(dict[str, Any]):
    """What the controls of a page say, by name; `numbers` are those of it that are numbers of the page.

    `follow` are the numbers that follow others, `highest` what others let some be, `then` what is drawn once the design
    is known; `fresh` is what a fresh page says but for some `instead`, where no control is asked.
    """

    def __init__(self, page: PageNumbers, instead: Mapping[str, Any] | None = None) -> None:
        super().__init__()
        self.page, self.fresh, self.instead = page, instead is not None, instead or {}
        self.numbers: dict[str, Any] = {}
        self.follow: set[str] = set()
        self.highest: dict[str, float] = {}
        self.then: list[Callable[[Design], None]] = []

    def made(self, design: Design) -> Design:
        """Draw what waits for the design, once: it is known before what else is asked can be refused."""
        for say in self.then:
            say(design)
        self.then.clear()
        return design

    @property
    def synthesizer_type(self) -> type[Synthesizer]:
        """What the synthesizer of a page is that has a choice of them."""
        return SYNTHESIZERS.get(self["synthesizer"], GivenMatrix)

    @property
    def own(self) -> dict[str, Any]:
        """The numbers that follow no other."""
        return {name: value for name, value in self.numbers.items() if name not in self.follow}

    def handed_on(self, n: float) -> dict[str, Any]:
        """What came to the page with a release, by the names of a design, as far as it fits n rows."""
        return {} if self.fresh else handed_on(self.page.prefix, n)


When = Callable[[Said], Any]


def always(_said: Said) -> bool:
    """A control that is there whatever is said."""
    return True


class Numbers:
    """Numbers of the page in this order, where `when` holds.

    `of` names further ones by what has been said before, or declares them; `highest` is what others let them be.
    """

    def __init__(
        self,
        *names: str,
        of: Callable[[Said], Iterable[str] | Mapping[str, Parameter]] = lambda _said: (),
        when: When = always,
        highest: Callable[[Said], float | None] = lambda _said: None,
    ) -> None:
        self.names, self.of, self.when, self.highest = names, of, when, highest

    def add_to(self, said: Said) -> None:
        """Add what they say."""
        further = self.of(said)
        if isinstance(further, Mapping):
            said.page = dataclasses.replace(said.page, declared={**said.page.declared, **further})
        page, highest = said.page, self.highest(said)
        for name in (*self.names, *further):
            leader = LINKS[name].leader if name in page.links else ""
            if leader in said.numbers and name not in said.instead and (said.fresh or page.linked(name)):
                said.follow.add(name)
                value = said.numbers[leader]
            elif said.fresh:
                value = said.instead.get(name, page.fresh(name))
            else:
                value = page.number(name, highest)
            if highest is not None:
                said.highest[name] = highest
            said[name] = said.numbers[name] = value


def _box_and_slider(one: Parameter, key: str, start: float) -> float:
    """The box, and below it the slider; an empty box leaves the slider where it is.

    The style sheet sets a box that a slider follows on the line of the slider's label.
    """
    slider, (symbol, name, label, hint) = f"{key}_slider", slider_words(one)
    typed = st.number_input(
        f"{f'{one.title} {symbol}'.strip()}, exact value",
        min_value=-LARGEST,
        max_value=LARGEST,
        value=None,  # with another one, a box that is emptied would jump back to it without a word
        step=None,  # a box of whole numbers would cut 2.5 to 2 without a word
        format="%.10g",
        key=key,
        persist_state="session",  # a control that is hidden for a while comes back as it was
        label_visibility="collapsed",
    )
    value = _whole(one, st.session_state.get(slider, start) if typed is None else typed)
    drawn(key, start if typed is None else value, name)
    if st.session_state.get(slider) != value:
        st.session_state[slider] = value
    st.select_slider(
        label,
        options=stops_with(one, value),
        value=value,  # where a browser missed the run that set the state, it starts from here
        key=slider,
        format_func=stop_texts(one, value),
        help=hint,
        on_change=_take_slider,
        args=(key, slider),
    )
    return math.nan if typed is None else value


def _whole(one: Parameter, value: float) -> float:
    """A number as it is, without a point where it counts."""
    return int(value) if one.integer and float(value).is_integer() else value


def _take_slider(key: str, slider: str) -> None:
    st.session_state[key] = st.session_state[slider]
