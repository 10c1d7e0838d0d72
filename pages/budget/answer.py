"""Where the error is smallest, what the papers' divisions cost against it, and the pictures."""

import dataclasses
import math

import numpy as np
import streamlit as st

from dpviz.charts.comparison import Panel, Series, comparison_chart
from dpviz.comparisons import Outcome
from dpviz.comparisons.binary_base import BinaryMethod
from dpviz.comparisons.budget import Spending, Spent
from dpviz.designs import Design
from dpviz.parameters import readable
from dpviz.studies import Measure
from pages.budget import SPEC
from pages.budget.controls import PREFIX, Asked
from pages.components.cached import first_of
from pages.components.figure import show_figure
from pages.components.growing import Growing, growing_of, show_growing
from pages.components.words import listing, measured, number, page_answer, percent


def spread(one: Outcome) -> Measure:
    """The standard deviation of the estimate, with the error of the root mean squared error."""
    error, bias = one.root_mean_squared_error, one.bias.value
    return Measure(math.sqrt(max(error.value**2 - bias**2, 0.0)), error.error)


def show_pictures(asked: Asked, found: Spent) -> None:
    """Error, bias, standard deviation and coverage, two beside each other."""
    level, spending = asked.spending.analysis.level, asked.spending
    symbol = spending.data.estimands[0].symbol
    promised = Panel(title="coverage", share=True, nominal=level, words=f"promised: {percent(level, 8)}")
    panels = {
        "root_mean_squared_error": Panel(title=f"error of the estimate of {symbol}", log=True),
        "coverage": promised,
        "bias": Panel(title=f"bias of the estimate of {symbol}"),
        "spread": Panel(title="standard deviation of the estimate", log=True),
    }
    for pair in (("root_mean_squared_error", "coverage"), ("bias", "spread")):
        for column, name in zip(st.columns(2, gap="medium"), pair, strict=True):
            series = _series(asked, found, name)
            if not len(series.x):
                continue
            chart = comparison_chart(
                [series], panels[name], axis=spending.axis, symbol=spending.symbol, log=spending.log,
                chosen=found.best, span=spending.span, key=name,
            )  # fmt: skip
            with column:
                alt = f"{panels[name].title[0].upper()}{panels[name].title[1:]} against the {spending.axis}."
                show_figure(chart, key=f"{PREFIX}{name}", alt=alt, height=330)
    done = sum(not math.isnan(one.coverage.value) for one in found.outcomes.values())
    st.caption(SPEC.note("pictures", done=done, all=len({*spending.places, *spending.usual.values()}),
                         repetitions=readable(spending.analysis.repetitions)))  # fmt: skip


def _series(asked: Asked, found: Spent, name: str) -> Series:
    values = {
        place: spread(one) if name == "spread" else getattr(one, name) for place, one in sorted(found.outcomes.items())
    }
    known = [(place, *dataclasses.astuple(one)) for place, one in values.items() if math.isfinite(one.value)]
    x, y, error = np.array(known).T if known else np.empty((3, 0))
    method = asked.spending.method
    return Series(key=method.key, name=method.label, x=x, y=y, error=error, exact=error == 0)


def spent_first(asked: Asked) -> Spent:
    """The first number: a refusal comes with it."""
    return first_of(asked.spending.stream)()


def growing_answer(asked: Asked) -> Growing[Spent]:
    """The reader's numbers, which come one after the other."""
    return growing_of(f"{PREFIX}spent", ("spent", repr(asked.spending)), Spent, asked.spending.stream)


def show_answer(asked: Asked) -> None:
    """Sentence, pictures and table, as far as they are known."""
    show_growing(growing_answer(asked), "Dividing …", lambda found: _draw(asked, found), key=f"{PREFIX}step")


def _draw(asked: Asked, found: Spent) -> None:
    st.html(page_answer(*answer_sentence(asked, found)))
    show_pictures(asked, found)
    _show_table(asked.spending, found)


def answer_sentence(asked: Asked, found: Spent) -> tuple[str, str, str]:
    """Return the mark, the sentence, and the few words for a phone."""
    spending, best = asked.spending, found.best
    name, epsilon = spending.named(best), readable(spending.epsilon, 4)
    error = found.outcomes[best].root_mean_squared_error
    typical = readable(error.value, 3) if error.error == 0 else f"about {readable(error.value, 2)}"
    words = (
        f"With ε = {epsilon} for everything that is released, the error is smallest with <b>{name}</b>: the analyst's "
        f"estimate is typically off by <b>{typical}</b> (root mean squared error, {spending.method.label}, "
        f"{asked.named})."
    )
    tied = found.tied
    if len(tied) > 1 and error.error > 0:
        words += (
            f" The simulation cannot tell the divisions from {spending.named(tied[0])} to {spending.named(tied[-1])} "
            "apart."
        )
    for usual, place in spending.usual.items():
        if place != best and place in found.outcomes:
            times = f"<b>{readable(found.price(place), 3)} times</b> that error"
            words += (
                f" {spending.named(place)} ({usual}): {'no difference that can be told' if place in tied else times}."
            )
    return name, words, f"at ε = {epsilon}: error {typical}"


def _show_table(spending: Spending, found: Spent) -> None:
    """The best division and the papers' side by side."""
    places = {found.best: "smallest error"} | {
        place: name for name, place in spending.usual.items() if place in found.outcomes and place != found.best
    }
    rows = []
    for place, name in places.items():
        one = found.outcomes[place]
        rows.append(
            [
                f"<b>{spending.named(place)}</b> <small>{name}</small>",
                " ".join(measured(one.root_mean_squared_error)).strip(), " ".join(measured(one.bias)).strip(),
                measured(one.coverage, share=True)[0],
                " ".join(measured(one.mean_width)).strip(), number(found.price(place), 4),
            ]
        )  # fmt: skip
    head = ["division of ε", "error", "bias", "coverage", "mean width", "times the smallest error"]
    listing(head, rows, "The smallest error and the papers' divisions")


def lead_design(asked: Asked, found: Spent | None) -> Design | None:
    """The release with the smallest error so far as other pages know it; None where they do not."""
    spending = asked.spending
    if not isinstance(spending.method, BinaryMethod) or found is None:
        return None
    method, analysis = spending.at(found.best)
    sets = method.sets(analysis.sets)
    return dataclasses.replace(asked.design, mechanism=spending.method.law.key, sets=sets)
