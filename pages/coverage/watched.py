"""The first hundred intervals, drawn before any run: the first of the very repetitions that Start goes on with."""

import math

import numpy as np

from dpviz.charts.coverage import Dot
from dpviz.charts.intervals import caterpillar_chart
from dpviz.charts.style import Figure
from dpviz.core.parameters import readable
from dpviz.core.wording import percent
from dpviz.coverage import CoveragePlan, FirstIntervals, Performance, RulePerformance, Tally, first_intervals
from dpviz.coverage.performance import first_shares
from dpviz.designs import Design
from pages.components.cached import cached
from pages.components.figure import show_figure
from pages.coverage.controls import PREFIX, short
from pages.coverage.run import plan_of

LISTED = 5  # released counts of a repetition that are written down
LINES = 3  # of words above the intervals, said or not: nothing moves where more is said
HEIGHT = 500


def show_first(design: Design, watched: int, found: Performance | None) -> None:
    """Draw the first intervals of the first rule: of a run that is watched so many, with the last of them in words.

    Of other runs the words say what is `found` so far, or at last.
    """
    plan, rule = plan_of(design, design.rules[0]), design.rules[0]
    if watched:
        chart = first_chart(plan, watched, repetition_words(plan, watched))
    elif found is None:
        chart = cached(first_chart)(plan)
    else:
        so_far = " so far" * (found.repetitions < design.repetitions)
        chart = first_chart(plan, None, (f"of {found.repetitions:,}{so_far}: <b>{simulated(found.rules[rule])}</b>",))
    alt = f"The first intervals by {short(rule)}, one line each; those that miss the true share are crossed."
    show_figure(chart, key=f"{PREFIX}caterpillar", alt=alt, height=HEIGHT, hero=True)


def first_chart(plan: CoveragePlan, shown: int | None = None, more: tuple[str, ...] = ()) -> Figure:
    """The first intervals of a plan of one rule, all or as many as are `shown`, counted in words, with `more` words."""
    every = _first(plan)
    said = counted(every) if shown is None else counted(every.first(shown))[:1]
    lines = [*more, *said] if shown is None else [*said, *more]
    words = "<br>".join([*["\u00a0"] * (LINES - len(lines)), *lines])
    return caterpillar_chart(
        every.runs.estimates, every.low, every.high, covered=every.covered, vacuous=every.vacuous, p=plan.p,
        words=words, shown=shown,
    )  # fmt: skip


def _first(plan: CoveragePlan) -> FirstIntervals:
    return cached(first_intervals)(plan, plan.rules[0])


def counted(first: FirstIntervals) -> tuple[str, ...]:
    """How many intervals hold the truth, miss it, or are none, and, where some do, how many say nothing."""
    number, none = len(first.runs), np.count_nonzero(np.isnan(first.low))
    held, vacuous = np.count_nonzero(first.covered), np.count_nonzero(first.vacuous)
    missed = number - held - none
    said = f"✓ <b>{held} of {number}</b> {'holds' if held == 1 else 'hold'} the truth"
    said += f" \u2003 ✕ <b>{missed}</b> {'misses' if missed == 1 else 'miss'} it"
    if none:
        said += f" \u2003 {none} {'has' if none == 1 else 'have'} no interval"
    empty = f"1 of the {held} runs from 0 to 100 % and says nothing"
    if vacuous > 1:
        empty = f"{vacuous} of the {held} run from 0 to 100 % and say nothing"
    return (said, empty) if vacuous else (said,)


def repetition_words(plan: CoveragePlan, number: int) -> tuple[str, str]:
    """Return one repetition: secret count, released counts, and whether the interval of the rule holds the truth."""
    every, at, name = _first(plan), number - 1, short(plan.rules[0])
    counts = [readable(int(one)) for one in every.runs.counts[at]]
    listed = ", ".join(counts[:LISTED]) + (" …" if len(counts) > LISTED else "")
    people, x = readable(plan.synthesizer.n), readable(int(every.runs.confidential[at]))
    low, high = float(every.low[at]), float(every.high[at])
    drawn = f"no. {number}: {x} of {people} say yes; released {listed}"
    if math.isnan(low):
        return drawn, f"{name} gives no interval"
    return drawn, f"{name} {_says(low, high)}: {'✓ a hit' if every.covered[at] else '✕ a miss'}"


def _says(low: float, high: float) -> str:
    """What an interval says of a share.

    >>> _says(-1.8e7, 1.8e7), _says(0.2, 0.35)
    ('says nothing, 0 to 100 %', 'says 20 % to 35 %')
    """
    if low <= 0 and high >= 1:
        return "says nothing, 0 to 100 %"
    return f"says {percent(max(low, 0.0), 3)} to {percent(min(high, 1.0), 3)}"


def dots_of(design: Design, tally: Tally, watched: int, found: Performance | None) -> list[Dot]:
    """The shares of the rules shown: of the first `watched` repetitions, or of all that is `found`."""
    if found is None:
        return [
            Dot(rule=key, y=share, low=low, high=high, words=f"{percent(share, 3)} of the first {watched}")
            for key, (share, low, high) in first_shares(tally, watched).items()
            if key in design.rules
        ]
    rules = {key: found.rules[key] for key in design.rules}
    return [
        Dot(rule=key, y=one.coverage.value, low=one.coverage_low, high=one.coverage_high, words=simulated(one))
        for key, one in rules.items()
    ]


def simulated(one: RulePerformance) -> str:
    """A simulated share with its standard error, or where it is none or all with the ends of its error bar."""
    if 0 < one.coverage.value < 1:
        return f"{readable(100 * one.coverage.value, 5)} % ± {readable(100 * one.coverage.error, 2)}"
    low, high = (readable(100 * end, 4) for end in (one.coverage_low, one.coverage_high))
    return f"{readable(100 * one.coverage.value)} % ({low} to {high} %)"
