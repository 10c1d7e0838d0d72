"""The frontier, and how the choice changes: designs along ε, the true value, the rows or the sets."""

import math
from collections.abc import Callable, Mapping
from functools import partial
from itertools import groupby

import numpy as np
import streamlit as st

from dpviz.charts.comparison import Series, comparison_chart, comparison_height
from dpviz.charts.lines import DrawnLine, DrawnScale, Mark
from dpviz.core.parameters import readable, readable_apart
from dpviz.core.wording import more_or_less
from dpviz.desk.accuracy import ACCURACY
from dpviz.desk.paths import (
    ADDED_ERROR,
    PATHS,
    Followed,
    OneMore,
    Path,
    less_is_better,
    measure_of,
    stream_one_more,
    stream_path,
)
from dpviz.desk.protection import largest_guess_rate
from dpviz.desk.search import Assessed, Desk
from pages.components.address import keep_choice
from pages.components.choices import choice, named_choice
from pages.components.figure import show_figure
from pages.components.growing import growing_of, show_growing
from pages.components.words import note
from pages.curator import SPEC
from pages.curator.controls import PREFIX, Asked
from pages.curator.found import desk_of

MEASURES = {**{key: one.label for key, one in ACCURACY.items()}, ADDED_ERROR: "error that the release adds"}
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
    _follow(asked, PATHS["epsilon"], measure, guesses=across == "guesses")
    _buys(desk_of(asked), measure)


def show_changes(asked: Asked) -> None:
    """Rows, true value or sets against a measure, a line for each method."""
    measure = _measure()
    names = {**CHANGING, "truth": asked.question.ranged.title.lower()}
    there = [key for key in CHANGING if PATHS[key].values(asked.question)]
    changed = choice(st.pills, "What changes", there, CHANGED, format_func=names.__getitem__, required=True, wrap=True)
    _follow(asked, PATHS[changed], measure)


def _measure() -> str:
    return named_choice(st.selectbox, "Measure", MEASURES, MEASURE)


def _follow(asked: Asked, path: Path, measure: str, *, guesses: bool = False) -> None:
    """Draw the designs along a path as they come, and say which leads where."""
    question, designs = asked.question, followed_designs(desk_of(asked))
    if not designs:
        note(SPEC.note("nothing_to_follow"))
        return
    intervals = measure in ACCURACY and ACCURACY[measure].needs_interval
    limit = measure == ADDED_ERROR
    begin = partial(stream_path, path, question, designs, intervals=intervals, limit=limit)
    key = ("along", path.key, intervals, limit, repr(question), *(one.key for one in designs))
    growing = growing_of(f"{PREFIX}path_{path.key}", key, Followed, begin)
    draw = partial(_draw, measure, guesses)
    show_growing(growing, "Following the designs …", draw, key=f"{PREFIX}path_{path.key}_step")


def _draw(measure: str, guesses: bool, found: Followed) -> None:
    path, question = found.path, found.question
    if not any(found.line(index, measure) for index in range(len(found.designs))):
        note(SPEC.note("unknown_measure"))
        return
    place = partial(guess_rate, found) if guesses else float
    dominated = found.dominated(measure) if found.complete else set()
    lines = [_series(found, index, measure, place, index in dominated) for index in range(len(found.designs))]
    limit = None
    if measure == ADDED_ERROR and found.smallest:
        x, y = np.array([(place(value), error) for value, error in sorted(found.smallest.items())]).T
        limit = DrawnLine(name=BEST, x=x, y=y)
    values = path.values(question)
    low, high = place(values[0]), place(values[-1])
    title = path.label if path.key != "truth" else question.ranged.title.lower()
    symbol = path.symbol if path.key != "truth" else question.ranged.symbol
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
        told="your question",
        mark=_mark(found, measure, place),
    )
    alt = f"{MEASURES[measure].capitalize()} against {title}, a line for each method."
    show_figure(chart, key=f"{PREFIX}along_{path.key}", alt=alt, height=comparison_height([one.name for one in lines]))
    note(leaders_sentence(found, measure))
    if dominated:
        names = ", ".join(found.designs[index].method.label for index in sorted(dominated))
        note(SPEC.note("dominated", names=names))


def guess_rate(found: Followed, epsilon: float) -> float:
    """How often an attacker can guess right where this ε, with the δ of the question, is promised."""
    return math.nan if math.isnan(epsilon) else largest_guess_rate(epsilon, found.question.most_delta)


def _series(found: Followed, index: int, measure: str, place: Callable[[float], float], faded: bool) -> Series:
    points = [(place(value), one.value, one.error) for value, one in found.line(index, measure)]
    x, y, error = np.array(points).T if points else np.empty((3, 0))
    method = found.designs[index].method
    return Series(key=method.key, name=found.name(index), x=x, y=y, error=error, exact=error == 0, faded=faded)


def _panel(measure: str, level: float) -> DrawnScale:
    if measure == "coverage":
        return DrawnScale(title="coverage", percent=True, nominal=level)
    return DrawnScale(title=MEASURES[measure], log=measure != "bias")


def _mark(found: Followed, measure: str, place: Callable[[float], float]) -> Mark | None:
    """The design that leads the table, where the question stands."""
    here, first = found.path.here(found.question), found.designs[0]
    value = measure_of(first, measure).value
    if math.isnan(here) or math.isnan(value) or (value == 0 and measure != "bias"):
        return None
    return Mark(color=first.method.key, x=place(here), y=value, text=readable(value, 3), name="your design")


def leaders_sentence(found: Followed, measure: str) -> str:
    """Which design is the best from where to where, as far as the path has been followed; ties are called ties."""
    best, path = found.leads(measure), found.path
    symbol = path.symbol if path.key != "truth" else found.question.ranged.symbol
    runs = [(set(tied), [*run]) for tied, run in groupby(best.items(), key=lambda item: sorted(item[1]))]
    said = []
    for tied, places in runs:
        ends = list(dict.fromkeys((places[0][0], places[-1][0])))
        span = " to ".join(readable(one, 4) for one in ends)
        names = [f"<b>{found.name(index)}</b>" for index in sorted(tied)]
        said.append(f"{' or '.join(names)} for {symbol} = {span}")
    what = "largest" if measure == "coverage" else "smallest"
    every = f"The {what} {MEASURES[measure]} among these designs: {'; '.join(said)}."
    if any(len(tied) > 1 for tied, _ in runs):
        every += " Where two or more are named, they cannot be told apart."
    if len(best) > 1 and path.key != "epsilon":
        every += f" {_best_of_all(found, measure, best, symbol)}"
    return every if found.complete else f"So far: {every[0].lower()}{every[1:]}"


def _best_of_all(found: Followed, measure: str, best: Mapping[float, tuple[int, ...]], symbol: str) -> str:
    """Which design is the best at which place of the axis, and how many points cannot be told from it."""
    known = {(index, value): measure_of(found.found[index, value], measure) for value, (index, *_) in best.items()}
    first = min(known, key=lambda place: less_is_better(known[place], measure))
    index, value = first
    near = sum(one.tied(known[first]) for place, one in known.items() if place != first)
    error = f" ± {readable(known[first].error, 1)}" if known[first].error > 0 else ""
    alike = f", and {near} other{'' if near == 1 else 's'} that cannot be told from it" if near else ""
    return (
        f"The best of these is {found.name(index)} at {symbol} = {readable(value, 4)}{alike}, with "
        f"{readable(known[first].value, 3)}{error}."
    )


def _buys(desk: Desk, measure: str) -> None:
    first = desk.first
    if first is None or math.isnan(PATHS["epsilon"].here(first.question)):
        return
    key = ("one more", measure, repr(first.question), first.key, first.complete)
    growing = growing_of(f"{PREFIX}one_more", key, OneMore, partial(stream_one_more, first, measure))
    draw = partial(_draw_one_more, first, measure)
    show_growing(growing, "What one more ε buys …", draw, key=f"{PREFIX}one_more_step")


def _draw_one_more(first: Assessed, measure: str, bought: OneMore) -> None:
    note(one_more_sentence(first, measure, bought))


def one_more_sentence(first: Assessed, measure: str, bought: OneMore) -> str:
    """What one more unit of ε does to a measure of the first design."""
    before, after = bought.before, bought.after
    name = f"<b>{first.name}</b>"
    if math.isnan(before.value) or math.isnan(after.value):
        return f"What one more unit of ε buys {name} is not known of the {MEASURES[measure]}."
    one, other = readable(bought.epsilon, 4), readable(bought.epsilon + 1, 4)
    if after.tied(before):
        near = "no difference that the simulation can tell" if (after - before).error > 0 else "nothing"
        return f"One more unit of ε, {other} instead of {one}, buys {name} {near} in {MEASURES[measure]}."
    new, old = readable_apart(after.value, before.value, 3), readable_apart(before.value, after.value, 3)
    share = measure in ACCURACY and ACCURACY[measure].share  # per cent of a share would be taken for points
    times = f", {more_or_less(after.value / before.value)}" if before.value > 0 and not share else ""
    return (
        f"What one more unit of ε buys: with {other} instead of {one} the {MEASURES[measure]} of {name} is {new} "
        f"instead of {old}{times}."
    )
