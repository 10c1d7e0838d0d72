"""What is told of designs along an axis: which of them is the best where, and what one more unit of ε buys."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import groupby

from dpviz.core.formatting import format_distinct, format_number, format_ratio
from dpviz.curator.measures import ACCURACY_MEASURES
from dpviz.desk.candidate import Evaluation
from dpviz.desk.following import MEASURE_LABELS, Followed, OneMore, less_is_better, measure_of


def leaders_sentence(found: Followed, measure: str) -> str:
    """Return which design is the best from where to where, as far as the path has been followed; ties are called so."""
    best, symbol = found.leads(measure), found.path.sign(found.question)
    runs = [(set(tied), [*run]) for tied, run in groupby(best.items(), key=lambda item: sorted(item[1]))]
    said = []
    for tied, places in runs:
        ends = list(dict.fromkeys((places[0][0], places[-1][0])))
        span = " to ".join(format_number(one, 4) for one in ends)
        names = [f"<b>{found.name(index)}</b>" for index in sorted(tied)]
        said.append(f"{' or '.join(names)} for {symbol} = {span}")
    what = "largest" if measure == "coverage" else "smallest"
    every = f"The {what} {MEASURE_LABELS[measure]} among these designs: {'; '.join(said)}."
    if any(len(tied) > 1 for tied, _ in runs):
        every += " Where two or more are named, they cannot be told apart."
    if len(best) > 1 and found.path.key != "epsilon":
        every += f" {_best_of_all(found, measure, best)}"
    return every if found.complete else f"So far: {every[0].lower()}{every[1:]}"


def _best_of_all(found: Followed, measure: str, best: Mapping[float, tuple[int, ...]]) -> str:
    """Which design is the best at which place of the axis, and how many points cannot be told from it."""
    known = {(index, value): measure_of(found.found[index, value], measure) for value, (index, *_) in best.items()}
    first = min(known, key=lambda place: less_is_better(known[place], measure))
    index, value = first
    near = sum(one.tied(known[first]) for place, one in known.items() if place != first)
    error = f" ± {format_number(known[first].error, 1)}" if known[first].error > 0 else ""
    alike = f", and {near} other{'' if near == 1 else 's'} that cannot be told from it" if near else ""
    return (
        f"The best of these is {found.name(index)} at {found.path.sign(found.question)} = "
        f"{format_number(value, 4)}{alike}, "
        f"with {format_number(known[first].value, 3)}{error}."
    )


def one_more_sentence(first: Evaluation, measure: str, bought: OneMore) -> str:
    """Return what one more unit of ε does to a measure of the first design."""
    before, after, name, label = bought.before, bought.after, f"<b>{first.name}</b>", MEASURE_LABELS[measure]
    if math.isnan(before.value) or math.isnan(after.value):
        return f"What one more unit of ε buys {name} is not known of the {label}."
    one, other = format_number(bought.epsilon, 4), format_number(bought.epsilon + 1, 4)
    if after.tied(before):
        near = "no difference that the simulation can tell" if (after - before).error > 0 else "nothing"
        return f"One more unit of ε, {other} instead of {one}, buys {name} {near} in {label}."
    new, old = format_distinct(after.value, before.value, 3), format_distinct(before.value, after.value, 3)
    share = (
        measure in ACCURACY_MEASURES and ACCURACY_MEASURES[measure].is_share
    )  # per cent of a share would be taken for points
    times = f", {format_ratio(after.value / before.value)}" if before.value > 0 and not share else ""
    return (
        f"What one more unit of ε buys: with {other} instead of {one} the {label} of {name} is {new} instead of "
        f"{old}{times}."
    )
