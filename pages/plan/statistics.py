"""The list of statistics below the picture: one line each, and the fields of the one that is chosen."""

import dataclasses
import math
from typing import Any

import streamlit as st

from dpviz.comparisons import CountData
from dpviz.core.parameters import Parameter
from dpviz.core.plain import one_line, plain
from dpviz.desk.texts import capitalized
from dpviz.plans import NEARNESS, PLAN_RELEASES, PLAN_STATISTICS, BoundedMean, ReleasePlan, YesNoShare
from dpviz.plans.plan import MOST_STATISTICS
from dpviz.plans.statistic import ANY_MECHANISM, LONGEST_PLAN_NAME, SMALLEST_COUNT, Statistic
from dpviz.plans.told import statistic_in_short
from pages import curator
from pages.components.controls import Choice, labels_of
from pages.components.navigation import as_declared
from pages.components.refusals import refuse
from pages.components.spec import CLASS, class_mode
from pages.components.words import heading
from pages.plan import SPEC
from pages.plan.controls import LIST, PREFIX, listed, promised

EVERY = [str(place) for place in range(1, MOST_STATISTICS + 1)]
WHICH = Choice("which", "Statistics of the plan", EVERY, EVERY[0], st.radio).kept(SPEC)
SHOWN, REFUSED = f"{PREFIX}one_shown", f"{PREFIX}one_refused"
"""What the fields show, the place in the list with its statistic; and why the last change was not taken."""

FOLDED = "lowest", "highest", SMALLEST_COUNT.name
"""Numbers that stand under "More about it"."""
POINTS = 100.0  # Of a share
ON_DESK = {
    "typical": ("root_mean_squared_error.coverage", "most_error", 1.0),
    "within": ("mean_width.coverage", "points", POINTS),
}
"""By measure the limits on the desk, the number that states it there, and how many times as large it is."""
NEW_LIMIT = 0.01  # Of a share, or of the distance of the bounds


def field(name: str) -> str:
    """The key of a field of the chosen statistic."""
    return f"{PREFIX}one_{name}"


def edit_statistics(plan: ReleasePlan) -> None:
    """Draw the list, the buttons that make it longer or shorter, and the fields of the chosen statistic."""
    heading("The statistics")
    left, right = st.container(key=f"{PREFIX}list").columns([1, 1.3], gap="medium")
    with left:
        lines = {EVERY[place]: plain(statistic_in_short(one)) for place, one in enumerate(listed())}
        place = EVERY.index(WHICH.draw(lines))
        with st.container(horizontal=True):
            st.button("Add one", key=field("add"), on_click=_add, disabled=len(lines) == MOST_STATISTICS)
            st.button("Remove this one", key=field("remove"), on_click=_remove, disabled=len(lines) == 1)
        query = alone_on_desk(plan, listed()[place]) | ({CLASS: "1"} if class_mode() else {})
        st.page_link(as_declared(curator.SPEC), label=SPEC.note("alone"), query_params=query)
    with right:
        _edit(plan, place, listed()[place])


def alone_on_desk(plan: ReleasePlan, one: Statistic) -> dict[str, str]:
    """What the address of the curator's desk says of a single statistic; nothing where the desk does not know it."""
    sizes = CountData.numbers()["n"]
    if not isinstance(one, YesNoShare) or plan.rows_of(one) > sizes.maximum or one.measure not in ON_DESK:
        return {}
    accuracy, name, scale = ON_DESK[one.measure]
    said: dict[str, object] = {
        "kind": CountData.key, "n": plan.rows_of(one), "lowest_p": one.lowest, "highest_p": one.highest,
        "protect": plan.protection.key, "accuracy": accuracy, name: float(f"{scale * one.limit:.12g}"),
        **promised(plan),
    }  # fmt: skip
    return {f"{curator.SPEC.prefix}{key}": str(value) for key, value in said.items()}


def _edit(plan: ReleasePlan, place: int, one: Statistic) -> None:
    """The fields of a statistic, and what was wrong with the last change."""
    _fill(place, one)
    if said := st.session_state.get(REFUSED):
        refuse(said)
    numbers = _boxes(one)
    main = [name for name in numbers if name not in FOLDED]
    left, right = st.columns([1.3, 1])  # "Typical error (root mean squared error)" in full
    with left:
        st.text_input(
            "Name", key=field("name"), max_chars=LONGEST_PLAN_NAME, on_change=_change, persist_state="session"
        )
        _pick("measure", "What is limited", labels_of(NEARNESS.values()))
    with right:
        _pick("kind", "Kind", labels_of(PLAN_STATISTICS.values()))
        _box(numbers["limit"])
    main.remove("limit")
    for name, column in zip(main, st.columns(max(len(main), 2)), strict=False):
        with column:
            _box(numbers[name])
    more = st.expander("More about it", key=field("more"), on_change="rerun")
    if not more.open:
        return
    left, right = more.columns(2)
    with left:
        for name in numbers:
            if name in FOLDED:
                _box(numbers[name])
    with right:
        known = {key: kind.label for key, kind in PLAN_RELEASES.items()}
        fit = [key for key, kind in PLAN_RELEASES.items() if key == one.mechanism or not plan.unfit(kind, one)]
        _pick("mechanism", "Mechanism", {ANY_MECHANISM: "whichever is best", **{key: known[key] for key in fit}})
        if plan.groups or one.group:
            names = dict.fromkeys(["", *(name for name, _ in plan.groups), one.group])
            _pick("group", "Rows of the group", {name: one_line(name) or "all rows" for name in names})


def _pick(name: str, label: str, words: dict[str, str]) -> None:
    st.selectbox(
        label, list(words), key=field(name), format_func=lambda key: capitalized(words[key]), on_change=_change,
        persist_state="session",
    )  # fmt: skip


def _box(one: Parameter) -> None:
    st.number_input(
        capitalized(one.title), value=None, step=None, format="%.10g", key=field(one.name), on_change=_change,
        help=f"{one.help} Accepted: {one.domain}.".strip(), persist_state="session",
    )  # fmt: skip


def _boxes(one: Statistic) -> dict[str, Parameter]:
    """The numbers of a statistic by name, its limit in the unit in which it is stated."""
    found = {each.name: each for each in one.parameters() if one.counts or each.name != SMALLEST_COUNT.name}
    return found | {"limit": _limit(type(one))}


def _limit(kind: type[Statistic]) -> Parameter:
    """The declaration of a limit in the unit in which it is stated."""
    limit, unit = kind.numbers()["limit"], f", in {kind.unit}" if kind.unit else ""
    return dataclasses.replace(limit, title=f"at most{unit}", maximum=_scale(kind) * limit.maximum)


def _scale(kind: type[Statistic]) -> float:
    """How many times what a statistic holds its limit is stated."""
    return POINTS if kind.unit else 1.0


def _fill(place: int, one: Statistic) -> None:
    """Have the fields say what the statistic is, where they were about another one."""
    state = st.session_state
    if state.get(SHOWN) == (place, one):
        return
    limit = float(f"{_scale(type(one)) * one.limit:.12g}")
    values = {each.name: getattr(one, each.name) for each in dataclasses.fields(one)}
    values |= {"kind": one.key, "limit": limit}
    state.update({field(name): value for name, value in values.items()})
    state[SHOWN], state[REFUSED] = (place, one), ""


def _change() -> None:
    """Put what the fields say into the list; a refusal is kept in a sentence, and the list stays."""
    state = st.session_state
    place, before = state[SHOWN]
    kind = PLAN_STATISTICS[state[field("kind")]]
    taken = [each.name for each in dataclasses.fields(kind)]
    same = isinstance(before, kind)
    if not same:  # what both have in common, but for the limit, which has another unit
        common = {each.name for each in dataclasses.fields(before)} - {"limit", "mechanism", SMALLEST_COUNT.name}
        taken = [name for name in taken if name in common]
    try:
        values = {name: _said(kind, name, state.get(field(name), getattr(before, name))) for name in taken}
        made = kind(**values) if same else _with_limit(kind(**values))
    except ValueError as broken:
        state[REFUSED] = str(broken).replace("got nan.", "got nothing: its box is empty.")
        return
    _put([*listed()[:place], made, *listed()[place + 1 :]], place)


def _said(kind: type[Statistic], name: str, value: Any) -> Any:
    """What a field says, as a statistic holds it; a ValueError where its number is outside its domain."""
    if name == "limit":
        stated = _limit(kind).check(math.nan if value is None else value)
        return float(f"{stated / _scale(kind):.12g}")
    if name in kind.numbers():
        return math.nan if value is None else kind.numbers()[name].check(value)
    return " ".join(value.split()) if isinstance(value, str) else value


def _with_limit(one: Statistic) -> Statistic:
    """A statistic of another kind than before, with a limit in its own units."""
    return dataclasses.replace(one, limit=NEW_LIMIT * (one.width if isinstance(one, BoundedMean) else 1.0))


def _put(statistics: list[Statistic], place: int) -> None:
    """Make this the list, with the statistic at that place chosen."""
    st.session_state[LIST], st.session_state[WHICH.key] = tuple(statistics), EVERY[place]


def _add() -> None:
    names = {one.name for one in listed()}
    name = next(one for one in (f"Statistic {place}" for place in range(len(names) + 1, 10_000)) if one not in names)
    _put([*listed(), YesNoShare(name=name, limit=NEW_LIMIT)], len(listed()))


def _remove() -> None:
    place = EVERY.index(st.session_state[WHICH.key])
    _put([*listed()[:place], *listed()[place + 1 :]], max(place - 1, 0))
