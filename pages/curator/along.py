"""The frontier, and how the choice changes: designs along ε, the true value, the rows or the sets."""

import math
from collections.abc import Callable
from functools import partial
from itertools import groupby

import numpy as np
import streamlit as st

from dpviz.charts.comparison import PLOT, Chosen, Limit, Panel, Series, comparison_chart, legend_height
from dpviz.curator.accuracy import ACCURACY
from dpviz.curator.paths import ADDED, PATHS, Followed, OneMore, Path, measure_of, one_more, stream_path
from dpviz.curator.protection import PrivacyLoss, largest_guess_rate
from dpviz.curator.search import Assessed, Desk
from dpviz.parameters import readable, readable_apart
from pages.components.address import keep_choice
from pages.components.cached import cached
from pages.components.choices import choice, named_choice
from pages.components.figure import show_figure
from pages.components.growing import growing_of, show_growing
from pages.components.words import note, percent
from pages.curator import SPEC
from pages.curator.controls import PREFIX, Asked
from pages.curator.found import desk_of

MEASURES = {**{key: one.label for key, one in ACCURACY.items()}, ADDED: "error that the release adds"}
MEASURE = keep_choice(f"{PREFIX}along", MEASURES, "root_mean_squared_error")
GUESSES = {"epsilon": "privacy loss ε", "guesses": "right guesses of an attacker"}
ACROSS = keep_choice(f"{PREFIX}across", GUESSES, "epsilon")
CHANGING = {key: one.label for key, one in PATHS.items() if key != "epsilon"}
CHANGED = keep_choice(f"{PREFIX}changed", CHANGING, "rows")
"""Every kind of data has rows."""
BEST = "no mechanism adds less"
MOST = 6  # Designs that are followed: more lines could not be told apart


def followed_designs(desk: Desk) -> list[Assessed]:
    """The first design of each method, in the order of the table."""
    first: dict[str, Assessed] = {}
    for one in desk.designs:
        first.setdefault(one.method.key, one)
    return list(first.values())[:MOST]


def show_frontier(asked: Asked) -> None:
    """ε, or the attacker's right guesses, against a measure, a line for each method."""
    measure = _measure()
    across = named_choice(st.segmented_control, "Against", GUESSES, ACROSS, required=True)
    if across == "guesses":
        note(SPEC.note("guesses"))
    _follow(asked, PATHS["epsilon"], measure, guesses=across == "guesses", below=partial(_buys, desk_of(asked)))


def show_changes(asked: Asked) -> None:
    """Rows, true value or sets against a measure, a line for each method."""
    measure = _measure()
    names = {**CHANGING, "truth": asked.question.ranged.title.lower()}
    there = [key for key in CHANGING if PATHS[key].values(asked.question)]
    changed = choice(st.pills, "What changes", there, CHANGED, format_func=names.__getitem__, required=True, wrap=True)
    _follow(asked, PATHS[changed], measure)


def _measure() -> str:
    return named_choice(st.selectbox, "Measure", MEASURES, MEASURE)


def _follow(
    asked: Asked,
    path: Path,
    measure: str,
    *,
    guesses: bool = False,
    below: Callable[[str], None] = lambda _measure: None,
) -> None:
    """Draw the designs along a path as they come, and say which leads where."""
    question, designs = asked.question, followed_designs(desk_of(asked))
    if not designs:
        note(SPEC.note("nothing_to_follow"))
        return
    intervals = measure in ACCURACY and ACCURACY[measure].needs_interval
    limit = measure == ADDED
    begin = partial(stream_path, path, question, designs, intervals=intervals, limit=limit)
    key = ("along", path.key, intervals, limit, repr(question), *(one.key for one in designs))
    growing = growing_of(f"{PREFIX}path_{path.key}", key, Followed, begin)
    draw = partial(_draw, measure, guesses, below)
    show_growing(growing, "Following the designs …", draw, key=f"{PREFIX}path_{path.key}_step")


def _draw(measure: str, guesses: bool, below: Callable[[str], None], found: Followed) -> None:
    path, question = found.path, found.question
    if not any(found.line(index, measure) for index in range(len(found.designs))):
        note(SPEC.note("unknown_measure"))
        return
    place = partial(guess_rate, found) if guesses else float
    dominated = found.dominated(measure) if found.complete else set()
    lines = [_series(found, index, measure, place, index in dominated) for index in range(len(found.designs))]
    limit = None
    if measure == ADDED and found.least:
        x, y = np.array([(place(value), least) for value, least in sorted(found.least.items())]).T
        limit = Limit(name=BEST, x=x, y=y)
    values = path.values(question)
    low, high = place(values[0]), place(values[-1])
    title = path.label if path.key != "truth" else question.ranged.title.lower()
    symbol = path.symbol if path.key != "truth" else question.ranged.symbol
    room = legend_height([BEST, *(one.name for one in lines)])
    chart = comparison_chart(
        lines,
        _panel(measure, question.level),
        axis=SPEC.note("guess_axis") if guesses else title,
        symbol="right guesses" if guesses else symbol,
        log=path.log and not guesses,
        chosen=place(path.here(question)),
        span=(low, high) if low < high else (low - 0.5, high + 0.5),
        key=f"{path.key} {measure} {guesses}",
        limit=limit,
        room=room,
        mark=_mark(found, measure, place),
    )
    alt = f"{MEASURES[measure].capitalize()} against {title}, a line for each method."
    show_figure(chart, key=f"{PREFIX}along_{path.key}", alt=alt, height=PLOT + 60 + room)
    note(leaders_sentence(found, measure))
    if dominated:
        names = ", ".join(found.designs[index].method.label for index in sorted(dominated))
        note(SPEC.note("dominated", names=names))
    below(measure)


def guess_rate(found: Followed, epsilon: float) -> float:
    """How often an attacker can guess right where this ε, with the δ of the question, is promised."""
    held = [one.most_delta for one in found.question.protections if isinstance(one, PrivacyLoss)]
    return math.nan if math.isnan(epsilon) else largest_guess_rate(epsilon, max(held, default=0.0))


def _series(found: Followed, index: int, measure: str, place: Callable[[float], float], faded: bool) -> Series:
    points = [(place(value), one.value, one.error) for value, one in found.line(index, measure)]
    x, y, error = np.array(points).T if points else np.empty((3, 0))
    method = found.designs[index].method
    return Series(key=method.key, name=found.designs[index].name, x=x, y=y, error=error, exact=error == 0, faded=faded)


def _panel(measure: str, level: float) -> Panel:
    if measure == "coverage":
        return Panel(title="coverage", share=True, nominal=level, words=f"promised: {percent(level, 8)}")
    return Panel(title=MEASURES[measure], log=measure != "bias")


def _mark(found: Followed, measure: str, place: Callable[[float], float]) -> Chosen | None:
    """The design that leads the table, where the question stands."""
    here, first = found.path.here(found.question), found.designs[0]
    value = measure_of(first, measure).value
    if math.isnan(here) or math.isnan(value) or (value == 0 and measure != "bias"):
        return None
    return Chosen(key=first.method.key, x=place(here), y=value, text=readable(value, 3))


def leaders_sentence(found: Followed, measure: str) -> str:
    """Which design is the best from where to where, as far as the path has been followed."""
    best, path = found.leads(measure), found.path
    symbol = path.symbol if path.key != "truth" else found.question.ranged.symbol
    runs = [(index, [value for value, _ in run]) for index, run in groupby(best.items(), key=lambda item: item[1])]
    said = []
    for index, values in runs:
        ends = list(dict.fromkeys((values[0], values[-1])))
        span = " to ".join(readable(one, 4) for one in ends)
        said.append(f"<b>{found.designs[index].name}</b> for {symbol} = {span}")
    what = "largest" if measure == "coverage" else "smallest"
    every = f"The {what} {MEASURES[measure]} among these designs: {'; '.join(said)}."
    known = [(measure_of(found.found[index, value], measure).value, index, value) for value, index in best.items()]
    if len(known) > 1 and found.path.key != "epsilon":
        value, index, place = (max if measure == "coverage" else min)(known)
        name = found.designs[index].name
        every += f" The best of these is {name} at {symbol} = {readable(place, 4)}, with {readable(value, 3)}."
    return every if found.complete else f"So far: {every[0].lower()}{every[1:]}"


def _buys(desk: Desk, measure: str) -> None:
    first = desk.first
    if first and (bought := cached(one_more)(first, measure)):
        note(one_more_sentence(first, measure, bought))


def one_more_sentence(first: Assessed, measure: str, bought: OneMore) -> str:
    """What one more unit of ε does to a measure of the first design."""
    before, after = bought.before, bought.after
    name = f"<b>{first.name}</b>"
    if math.isnan(before.value) or math.isnan(after.value):
        return f"What one more unit of ε buys {name} is not known of the {MEASURES[measure]}."
    one, other = readable(bought.epsilon, 4), readable(bought.epsilon + 1, 4)
    error = 2 * math.hypot(before.error, after.error)
    if abs(after.value - before.value) <= max(error, 1e-12 * abs(before.value)):
        near = "no difference that the simulation can tell" if error > 0 else "nothing"
        return f"One more unit of ε, {other} instead of {one}, buys {name} {near} in {MEASURES[measure]}."
    new, old = readable_apart(after.value, before.value, 3), readable_apart(before.value, after.value, 3)
    times = f", {readable_apart(after.value / before.value, 1.0, 3)} times as much" if before.value > 0 else ""
    return (
        f"What one more unit of ε buys: with {other} instead of {one} the {MEASURES[measure]} of {name} is {new} "
        f"instead of {old}{times}."
    )
