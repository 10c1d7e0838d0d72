"""Where the error is smallest, what the papers' divisions cost against it, and the pictures."""

import dataclasses
import math

import numpy as np
import streamlit as st

from dpviz.charts.comparison import Series, comparison_chart
from dpviz.charts.lines import DrawnScale
from dpviz.comparisons import Estimand, Outcome
from dpviz.comparisons.binary_base import BinaryMethod
from dpviz.comparisons.budget import Spending, Spent
from dpviz.core.measures import Measure
from dpviz.core.parameters import readable
from dpviz.core.plain import enumerated
from dpviz.designs import Design
from pages.budget import SPEC
from pages.budget.controls import PREFIX, Asked
from pages.components.cached import first_of
from pages.components.figure import show_figure
from pages.components.growing import Growing, growing_of, show_growing
from pages.components.words import listing, measured, more_or_less, number, page_answer, percent

SHOWN = 4  # Divisions that are named where more cannot be told from the best


def spread(one: Outcome) -> Measure:
    """The standard deviation of the estimate, with the error of the root mean squared error."""
    error, bias = one.root_mean_squared_error, one.bias.value
    return Measure(math.sqrt(max(error.value**2 - bias**2, 0.0)), error.error)


def judged(spending: Spending) -> Estimand:
    """What the analyst wants to know, by which divisions are judged."""
    return next(one for one in spending.data.estimands if one.key == spending.data.estimand)


def beside(spending: Spending, found: Spent) -> list[Estimand]:
    """What else could be asked, whose errors are shown as well."""
    known = [one.beside for one in found.outcomes.values()]
    return [one for one in spending.data.estimands if known and all(one.key in each for each in known)]


def show_pictures(asked: Asked, found: Spent) -> None:
    """Errors, coverage, bias and standard deviation, two beside each other."""
    level, spending = asked.question.analysis.level, asked.question
    symbol = judged(spending).symbol
    panels = {
        "root_mean_squared_error": DrawnScale(title=f"error of the estimate of {symbol}", log=True),
        **{
            one.key: DrawnScale(title=f"error of the estimate of {one.symbol}", log=True)
            for one in beside(spending, found)
        },
        "coverage": DrawnScale(title="coverage", percent=True, nominal=level),
        "bias": DrawnScale(title=f"bias of the estimate of {symbol}"),
        "spread": DrawnScale(title="standard deviation of the estimate", log=True),
    }
    names = list(panels)
    for pair in (names[place : place + 2] for place in range(0, len(names), 2)):
        for column, name in zip(st.columns(2, gap="medium"), pair, strict=False):
            series = _series(asked, found, name)
            if not len(series.x):
                continue
            best = found.best_for(name) if name in spending.beside else found.best
            single = [] if found.single is None or name in spending.beside else [_single(spending, found.single, name)]
            chart = comparison_chart(
                [series, *single], panels[name], axis=spending.axis, symbol=spending.symbol, log=spending.log,
                chosen=best, span=spending.span, key=name,
            )  # fmt: skip
            with column:
                alt = f"{panels[name].title[0].upper()}{panels[name].title[1:]} against the {spending.axis}."
                show_figure(chart, key=f"{PREFIX}{name}", alt=alt, height=330)
    done = sum(not math.isnan(one.coverage.value) for one in found.outcomes.values())
    every = {*spending.places, *spending.usual.values(), *found.outcomes}
    st.caption(SPEC.note("pictures", done=done, all=len(every),
                         repetitions=readable(spending.analysis.repetitions)))  # fmt: skip


def _measure(one: Outcome, name: str) -> Measure:
    found: Measure = spread(one) if name == "spread" else one.beside[name] if name in one.beside else getattr(one, name)
    return found


def _single(spending: Spending, one: Outcome, name: str) -> Series:
    """The best release of one set, the same wherever the picture's axis stands."""
    measure = _measure(one, name)
    words = f"one set, {one.method.label}"
    if math.isfinite(measure.value):
        words += f": {percent(measure.value, 3) if name == 'coverage' else readable(measure.value, 3)}"
    ends = np.array(spending.span)
    y, error = np.full(2, measure.value), np.full(2, measure.error)
    return Series(key=one.method.key, name=words, x=ends, y=y, error=error, exact=error == 0, reference=True)


def _series(asked: Asked, found: Spent, name: str) -> Series:
    values = {place: _measure(one, name) for place, one in sorted(found.outcomes.items())}
    known = [(place, one.value, one.error) for place, one in values.items() if math.isfinite(one.value)]
    x, y, error = np.array(known).T if known else np.empty((3, 0))
    method = asked.question.method
    return Series(key=method.key, name=method.label, x=x, y=y, error=error, exact=error == 0)


def spent_first(asked: Asked) -> Spent:
    """The first number: a refusal comes with it."""
    return first_of(asked.question.stream)()


def growing_answer(asked: Asked) -> Growing[Spent]:
    """The reader's numbers, which come one after the other."""
    return growing_of(f"{PREFIX}spent", ("spent", repr(asked.question)), Spent, asked.question.stream)


def show_answer(asked: Asked) -> None:
    """Sentence, pictures and table, as far as they are known."""
    show_growing(growing_answer(asked), "Dividing …", lambda found: _draw(asked, found), key=f"{PREFIX}step")


def _draw(asked: Asked, found: Spent) -> None:
    st.html(page_answer(*answer_sentence(asked, found)))
    show_pictures(asked, found)
    _show_table(asked.question, found)


def answer_sentence(asked: Asked, found: Spent) -> tuple[str, str, str]:
    """Return the mark, the sentence, and the few words for a phone."""
    spending, best = asked.question, found.best
    name, epsilon = spending.named(best), readable(spending.epsilon, 4)
    error = found.outcomes[best].ranked_error
    if math.isnan(error.value):
        return "no estimate", SPEC.note("no_estimate", epsilon=epsilon), f"ε = {epsilon}: no estimate"
    typical = readable(error.value, 3) if error.error == 0 else f"about {readable(error.value, 2)}"
    words = (
        f"With ε = {epsilon} for everything that is released, the error is smallest with <b>{name}</b>: the analyst's "
        f"estimate of {_in_words(spending)} is typically off by <b>{typical}</b> (root mean squared error, "
        f"{spending.method.label}, {asked.named})."
    )
    words += _alike(spending, found)
    words += f" {reach_of(spending, found)}"
    for usual, place in spending.usual.items():
        if place != best and place in found.outcomes:
            words += f" With {spending.named(place)} ({usual}) {_compared(found, place)}."
    words += _others_best(spending, found) + _of_one_set(found)
    return name, words, f"at ε = {epsilon}: error {typical}"


def _in_words(spending: Spending) -> str:
    return judged(spending).label.split(",")[0]


def _alike(spending: Spending, found: Spent, estimand: str = "") -> str:
    """Which divisions cannot be told from the best one, in a sentence; nothing where there are none."""
    best = found.best_for(estimand)
    tied = [place for place in found.tied_for(estimand) if place != best]
    if not tied:
        return ""
    alike = enumerated([spending.named(place) for place in tied[:SHOWN]])
    alike += f", and {len(tied) - SHOWN} more" if len(tied) > SHOWN else ""
    simulated = found.errors(estimand)[best].error > 0
    return f" The simulation cannot tell it from {alike}." if simulated else f" So it is with {alike}."


def _others_best(spending: Spending, found: Spent) -> str:
    """Which division is best for what else the analyst may want to know, as far as that is known."""
    words = ""
    for one in beside(spending, found):
        best = found.best_for(one.key)
        if not math.isnan(found.errors(one.key)[best].value):
            name = f"{one.label.split(',')[0]} with {spending.named(best)}"
            words += f" The error is smallest for the estimate of {name}.{_alike(spending, found, one.key)}"
    return words


def _of_one_set(found: Spent) -> str:
    """The best release of a single set, with its error, against the division that is best."""
    if found.single is None:
        return ""
    one, error = found.single, found.outcomes[found.best].ranked_error
    mine = one.ranked_error
    typical = readable(mine.value, 3) if mine.error == 0 else f"about {readable(mine.value, 2)}"
    words = f" A single set of the {one.method.label} has an error of <b>{typical}</b>"
    if math.isnan(error.value) or mine.tied(error):
        return f"{words}."
    hardly = "hardly " if readable(mine.value, 3) == readable(error.value, 3) else ""  # by less than is written
    return f"{words}, which is {hardly}{'less' if mine.value < error.value else 'more'}."


def _compared(found: Spent, place: float) -> str:
    """How the error of a usual division compares with the smallest, as the end of a sentence."""
    if math.isnan(found.outcomes[place].ranked_error.value):
        return "too few repetitions give an estimate to tell"
    if place in found.tied:
        return "no difference can be told"
    return f"the estimate is off by <b>{more_or_less(found.price(place))}</b>"


def reach_of(spending: Spending, found: Spent) -> str:
    """Among which divisions the best was sought, in a sentence."""
    if not found.every:
        end = ", and lies at their end" if found.best in spending.open_ends else ""
        return f"It is the best of the {len(found.outcomes)} {spending.counted} that were tried{end}."
    most = spending.allowed[-1]
    if found.best == most:
        return f"The search ends at {spending.named(most)}: more may be better still."
    return f"Everything from {spending.named(spending.allowed[0])} to {spending.named(most)} was tried."


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
                " ".join(measured(one.coverage, share=True)).strip(),
                " ".join(measured(one.mean_width)).strip(), number(found.price(place), 4),
            ]
        )  # fmt: skip
    head = ["division of ε", "error", "bias", "coverage", "mean width", "times the smallest error"]
    listing(head, rows, "The smallest error and the papers' divisions")


def lead_design(asked: Asked, found: Spent | None) -> Design | None:
    """The release with the smallest error so far as other pages know it; None where they do not."""
    spending = asked.question
    if not isinstance(spending.method, BinaryMethod) or found is None:
        return None
    method, analysis = spending.at(found.best)
    sets = method.sets(analysis.sets)
    rules = (analysis.rule_for(sets).key,)
    return dataclasses.replace(asked.design, mechanism=spending.method.synthesizer_type.key, sets=sets, rules=rules)
