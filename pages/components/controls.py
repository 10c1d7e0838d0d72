"""The controls of a page, each declared in one record: what it says, how it is drawn, where, and when it is there."""

import dataclasses
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Generic, Self, TypeVar

import streamlit as st

from dpviz.core.parameters import Parameter
from dpviz.core.settings import ControlSetting, Words, words_of
from dpviz.core.sliders import LINKS
from dpviz.designs import Design
from dpviz.desk.addresses import SETTINGS, TAKEN_BY, keep
from dpviz.desk.asked import AskedOnPage, Refusal, Refused
from dpviz.mechanisms import SYNTHESIZERS
from pages.components.address import drawn, read_address
from pages.components.numbers import Numbers as Numbers
from pages.components.numbers import PageNumbers, Places, When, always, shown
from pages.components.numbers import Said as Said
from pages.components.release import keep_truth
from pages.components.spec import PageSpec, class_mode, state_of

OfPage = TypeVar("OfPage", bound=AskedOnPage)


class Control:
    """A control by its `name` on a page, where `when` holds for what has been said before it.

    `setting` is what the session and the address keep of it, None where it has nothing of its own to keep. `says` is
    the name of what it says, where several have the same, one of which is there at a time; `at` that of the control
    with which it stands. `rest` are further arguments of its `widget`.
    """

    def __init__(
        self, name: str, label: str, setting: ControlSetting | None, widget: Callable[..., Any], when: When = always,
        says: str = "", at: str = "", **rest: Any,
    ) -> None:  # fmt: skip
        self.name, self.label, self.setting, self.widget, self.rest = name, label, setting, widget, rest
        self.when, self.says, self.at, self.prefix = when, says or name, at or name, ""

    def on(self, prefix: str) -> Self:
        """Itself on the page with that prefix."""
        self.prefix = prefix
        return self

    def kept(self, page: PageSpec) -> Self:
        """Itself on a page, whose session and address keep its setting from now on."""
        self.on(page.prefix).keep()
        return self

    def keep(self) -> None:
        """Have the session and the address of its page keep its setting, if any."""
        if self.setting is not None:
            keep(self.key, self.setting)

    @property
    def key(self) -> str:
        """Its key in the session and in the address."""
        return self.prefix + self.name

    def draw(self) -> Any:
        """What it says, which is drawn unless it is folded away."""
        return self._drawn()

    def _drawn(self, *args: Any, label: str = "", **rest: Any) -> Any:
        return shown(self.key, self.widget, label or self.label, *args, **{**rest, **self.rest})

    def fresh(self) -> Any:
        """What it says on a fresh page."""
        return SETTINGS[self.key].default

    def add_to(self, said: Said) -> None:
        """Add what it says."""
        said[self.says] = said.instead.get(self.says, self.fresh()) if said.fresh else self.draw()


def labels_of(things: Iterable[Any]) -> dict[str, str]:
    """The label of each thing that has a key and a label, by its key."""
    return {one.key: one.label for one in things}


def called_by(words: Collection[Any]) -> dict[str, Any]:
    """How words are shown, as a widget takes it, where they are the keys of a mapping that says so."""
    return {"format_func": words.__getitem__} if isinstance(words, Mapping) else {}


class Choice(Control):
    """One of `words`, or of the keys of a mapping that says how each is shown; ``""`` where none is chosen.

    It is drawn by `st.selectbox`, `st.radio`, `st.segmented_control` or `st.pills`, with fewer words where those are
    given. One that is not among them any more, for another control has moved, gives way to the default.
    """

    def __init__(
        self, name: str, label: str, words: Words, default: str | None, widget: Callable[..., Any] = st.selectbox,
        **rest: Any,
    ) -> None:  # fmt: skip
        super().__init__(name, label, ControlSetting.choice(words, default), widget, **rest)
        self.words, self.default = words, default

    def fresh(self) -> str:
        return self.default or ""

    def draw(self, words: Words | None = None) -> str:
        words = words_of(self.words if words is None else words)
        options: list[Any] = list(words)
        if st.session_state.get(self.key) not in options:
            st.session_state[self.key] = self.default
        side_by_side = self.widget in (st.segmented_control, st.pills)
        start = {"default": self.default} if side_by_side else {"index": options.index(self.default)}
        return self._drawn(options, **start, **called_by(words)) or ""


class Several(Control):
    """Several of `words`, or of the keys of a mapping that says how each is shown, in their order; from a list."""

    def __init__(self, name: str, label: str, words: Words, default: Words, **rest: Any) -> None:
        super().__init__(name, label, ControlSetting.several(words, default), st.multiselect, **rest)
        self.words = words

    def fresh(self) -> list[str]:
        return [one for one in words_of(self.words) if one in super(Several, self).fresh()]

    def draw(self) -> list[str]:
        words = words_of(self.words)
        chosen = self._drawn(list(words), default=super().fresh(), **called_by(words))
        return [one for one in words if one in chosen]


class Switch(Control):
    """On or off."""

    def __init__(self, name: str, label: str, default: bool = False, **rest: Any) -> None:
        super().__init__(name, label, ControlSetting.switch(default), st.toggle, **rest)

    def draw(self, label: str = "") -> bool:
        return bool(self._drawn(label=label, value=self.fresh()))


class Text(Control):
    """A text, by `st.text_input` or `st.text_area`."""

    def __init__(self, name: str, label: str, default: str, widget: Callable[..., Any], **rest: Any) -> None:
        super().__init__(name, label, ControlSetting.text(default), widget, **rest)

    def draw(self) -> str:
        return self._drawn(value=self.fresh()) or ""


class Held(Control):
    """A whole number without a box, which buttons set."""

    def __init__(self, name: str, label: str, declared: Parameter, **rest: Any) -> None:
        super().__init__(name, label, ControlSetting.number(declared), st.number_input, **rest)
        self.most = int(declared.maximum)

    def draw(self) -> int:
        return drawn(self.key, int(st.session_state[self.key]), self.label)

    def move(self, value: int) -> None:
        """Set it, up to the largest that is allowed."""
        st.session_state[self.key] = min(value, self.most)


class Also(Control):
    """What stands among controls and says nothing of its own, such as a button; it may look at what has been said."""

    def __init__(self, draw: Callable[[Said], object], at: str = "", when: When = always) -> None:
        super().__init__("", "", None, draw, when, at=at)

    def add_to(self, said: Said) -> None:
        if not said.fresh:
            self.widget(said)


class Presets(Control):
    """Buttons that set the controls to a known case, or a list of cases; the chosen one stays marked while it holds.

    In class mode it is a list on every page. `cases` has the values of the page's controls for each case, `every` those
    that all of them set.
    """

    def __init__(
        self, cases: Mapping[str, Mapping[str, object]], every: Mapping[str, object] | None = None,
        widget: Callable[..., Any] = st.pills, **rest: Any,
    ) -> None:  # fmt: skip
        super().__init__("preset", "Start from", None, widget, **rest)
        self.cases = {name: {**(every or {}), **case} for name, case in cases.items()}
        self.every = every or {}

    def add_to(self, said: Said) -> None:
        if said.fresh:
            return
        cases: dict[Any, Any] = self.cases
        yours, state, prefix = state_of(self.prefix).yours, st.session_state, self.prefix
        following = {
            name for name, one in LINKS.items() if yours.get(one.switch) and state.get(prefix + one.switch, True)
        }
        if any(state.get(prefix + name) != value for name, value in yours.items() if name not in following):
            cases = {"your release": {**self.every, **yours}, **cases}
        case = cases.get(chosen := state.get(self.key))
        if chosen is not None and (
            case is None or any(state.get(prefix + name, self.every.get(name)) != value for name, value in case.items())
        ):
            state[self.key] = None

        def apply() -> None:
            state.update({prefix + name: value for name, value in cases.get(state.get(self.key), {}).items()})

        widget, rest = self.widget, self.rest
        if class_mode():
            widget, rest = st.selectbox, {"index": None, "placeholder": "settings of your own", **rest}
        widget(self.label, list(cases), key=self.key, on_change=apply, persist_state="session", **rest)


class Controls(Generic[OfPage]):
    """All controls of a page in the order in which they are drawn, and what `asked_for` makes of what they say.

    `numbers` are those of the page, or a function where more may be registered later. `few` and `main` are the names
    of the controls of `Places`; where None, all stand where they are drawn. `within` declares numbers more narrowly by
    what is said, for what would put a refused one right. `taken` says what further settings of the page ask for a
    release, by name; it raises a ValueError in a sentence where the page does not take it. `carried`: whether the page
    takes part in what a reader carries from page to page.
    """

    def __init__(
        self,
        numbers: PageNumbers | Callable[[], PageNumbers],
        controls: Sequence[Control | Numbers],
        asked_for: Callable[[Said], OfPage],
        few: Collection[str] | None = None,
        main: Collection[str] = (),
        within: Callable[[Said], Mapping[str, Parameter]] = lambda _said: {},
        taken: Callable[[Design], Mapping[str, Any]] | None = None,
        carried: bool = True,
    ) -> None:
        self._numbers, self.controls, self._few, self._main = numbers, controls, few, main
        self.asked_for, self._within, self.prefix = asked_for, within, self.numbers.prefix
        self.numbers.kept()
        for one in controls:
            if isinstance(one, Control):
                one.on(self.prefix).keep()
        if carried:
            keep_truth(self.prefix)
        if taken is not None:
            TAKEN_BY[self.prefix] = taken

    @property
    def numbers(self) -> PageNumbers:
        """The numbers of the page."""
        return self._numbers() if callable(self._numbers) else self._numbers

    def choose(self) -> OfPage | Refused:
        """Draw the controls and return what they ask for."""
        page = self.numbers
        read_address(self.prefix)
        if self._few is not None:
            page = dataclasses.replace(page, at=Places(self._few, self._main))
        said = Said(page)
        for one in self.controls:
            if not one.when(said):
                continue
            if isinstance(one, Numbers):
                one.add_to(said)
            else:
                with page.at(one.at):
                    one.add_to(said)
        try:
            said.page.check(said.numbers)
            if "unread" in said:
                raise said["unread"]
            return self.asked_for(said)
        except ValueError as broken:
            return self._refused(said, broken)

    def first(self, **instead: Any) -> OfPage:
        """What a fresh page asks for, where some controls may say other things instead, by name."""
        said = Said(self.numbers, instead)
        for one in self.controls:
            if one.when(said):
                one.add_to(said)
        return self.asked_for(said)

    def _refused(self, said: Said, broken: ValueError) -> Refused:
        page = dataclasses.replace(said.page, declared={**said.page.declared, **self._within(said)})
        made, values = SYNTHESIZERS.get(said.get("synthesizer", "")), said.numbers
        rows = {"n", "m"} if made is None else {one.name for one in made.parameters()} & {"n", "m"}
        mends = page.mends({name: one for name, one in values.items() if rows or name not in ("n", "m")}, said.highest)
        if rows == {"n"} and values.get("m", values["n"]) != values["n"]:
            mends[self.prefix + LINKS["m"].switch] = True, "Set m = n"
        if isinstance(broken, Refusal):
            return Refused((*broken.before, str(broken)), {**mends, **broken.mends})
        return Refused((str(broken),), mends)
