"""Where the error is smallest, what the papers' divisions cost against it, and the pictures."""

import dataclasses
import math
from functools import partial

import numpy as np
import streamlit as st

from dpviz.charts.comparison import Series, comparison_chart, comparison_height
from dpviz.charts.lines import DrawnScale
from dpviz.charts.style import Figure
from dpviz.comparisons import Estimand, Outcome
from dpviz.comparisons.binary_base import BinaryMethod
from dpviz.comparisons.budget import Spending, Spent
from dpviz.core.measures import Measure
from dpviz.core.parameters import readable
from dpviz.core.plain import enumerated
from dpviz.core.wording import measured, more_or_less, number
from dpviz.designs import Design
from pages.budget import SPEC
from pages.budget.controls import PREFIX, Asked
from pages.components.compared import ERROR, Drawn, chosen_measure, show_measures
from pages.components.growing import Growing, growing_of, show_growing
from pages.components.words import listing, note, page_answer

ONE_SET = "best release of one set"
SHOWN = 4  # Divisions that are named where more cannot be told from the best


def spread(one: Outcome) -> Measure:
    """The standard deviation of the estimate, with the error of the root mean squared error."""
    error, bias = one.root_mean_squared_error, one.bias.value
    return Measure(math.sqrt(max(error.value**2 - bias**2, 0.0)), error.error)


def judged(spending: Spending) -> Estimand:
    """What the analyst wants to know, by which divisions are judged."""
    return next(one for one in spending.data.estimands if one.key == spending.data.estimand)


def beside(spending: Spending) -> list[Estimand]:
    """What else could be asked, whose errors are known as well."""
    return [one for one in spending.data.estimands if one.key in spending.beside]


def drawn(spending: Spending) -> dict[str, Drawn]:
    """What can be drawn, in its order."""
    asked, level, axis = judged(spending), spending.analysis.level, spending.axis

    def error(one: Estimand) -> Drawn:
        off = DrawnScale(title=f"error of the estimate of {one.symbol}", log=True)
        return Drawn(
            "error" if one is asked else f"error of {one.symbol}", off, f"Error of the estimate against {axis}."
        )

    deviation = DrawnScale(title="standard deviation of the estimate", log=True)
    return {
        ERROR: error(asked),
        **{one.key: error(one) for one in beside(spending)},
        "coverage": Drawn("coverage", DrawnScale(title="intervals that hold the truth", percent=True, nominal=level),
                          f"Coverage against {axis}."),
        "bias": Drawn("bias", DrawnScale(title=f"bias of the estimate of {asked.symbol}"), f"Bias against {axis}."),
        "spread": Drawn("spread", deviation, f"Standard deviation of the estimate against {axis}."),
    }  # fmt: skip


def _draw_pictures(spending: Spending, known: dict[str, Drawn], key: str, others: list[str], found: Spent) -> None:
    """The picture of the measure that is chosen, and those of the others where they are asked for."""

    def chart(measure: str, *, small: bool = False) -> Figure:
        aside = measure in spending.beside
        single = [] if aside else [_single(spending, found.single, measure)]
        return comparison_chart(
            [_series(spending, found, measure), *single], known[measure].scale, axis=spending.axis,
            symbol=spending.symbol, log=spending.log, chosen=found.best_for(measure) if aside else found.best,
            told="smallest error", span=spending.span, key=measure, small=small,
        )  # fmt: skip

    show_measures(PREFIX, known, key, others, chart, comparison_height([spending.method.label, ONE_SET]))
    done = sum(not math.isnan(one.coverage.value) for one in found.outcomes.values())
    every = {*spending.places, *spending.usual.values(), *found.outcomes}
    st.caption(SPEC.note("pictures", done=done, all=len(every),
                         repetitions=readable(spending.analysis.repetitions)))  # fmt: skip


def _measure(one: Outcome, name: str) -> Measure:
    found: Measure = spread(one) if name == "spread" else one.beside[name] if name in one.beside else getattr(one, name)
    return found


def _single(spending: Spending, one: Outcome | None, name: str) -> Series:
    """The best release of one set, the same wherever the picture's axis stands; nothing where none is known yet."""
    measure, ends = Measure.unknown() if one is None else _measure(one, name), np.array(spending.span)
    known = math.isfinite(measure.value)
    x, y, error = (ends, np.full(2, measure.value), np.full(2, measure.error)) if known else np.empty((3, 0))
    words, short = (ONE_SET, "") if one is None else (f"{ONE_SET}: {one.method.label}", f"one set, {one.method.label}")
    key = "original" if one is None else one.method.key
    return Series(key=key, name=words, short=short, x=x, y=y, error=error, exact=error == 0, reference=True)


def _series(spending: Spending, found: Spent, name: str) -> Series:
    values = {place: _measure(one, name) for place, one in sorted(found.outcomes.items())}
    known = [(place, one.value, one.error) for place, one in values.items() if math.isfinite(one.value)]
    x, y, error = np.array(known).T if known else np.empty((3, 0))
    method = spending.method
    return Series(key=method.key, name=method.label, x=x, y=y, error=error, exact=error == 0)


def spent_first(asked: Asked) -> Spent:
    """The first number: a refusal comes with it."""
    return growing_answer(asked).first()


def growing_answer(asked: Asked) -> Growing[Spent]:
    """The reader's numbers, which come one after the other."""
    return growing_of(f"{PREFIX}spent", ("spent", repr(asked.question)), Spent, asked.question.stream)


def show_answer(asked: Asked) -> None:
    """Sentence, picture and table, as far as they are known."""
    spending, growing = asked.question, growing_answer(asked)
    place = st.empty()
    known = drawn(spending)
    key, others = chosen_measure(PREFIX, known)
    pictures = partial(_draw_pictures, spending, known, key, others)

    def draw(found: Spent) -> None:
        place.html(page_answer(*answer_sentence(asked, found)))
        pictures(found)
        _show_table(spending, found)
        note(further_sentence(spending, found))

    show_growing(growing, "Dividing …", draw, key=f"{PREFIX}step")


def answer_sentence(asked: Asked, found: Spent) -> tuple[str, str, str]:
    """Return the mark, the sentence, and a short one for a class and for a phone."""
    spending, best = asked.question, found.best
    name, epsilon = spending.named(best), readable(spending.epsilon, 4)
    tried, every = len(found.outcomes), len({*spending.places, *spending.usual.values()})
    if tried < every:  # which is best of a few says nothing
        return (
            "computing",
            SPEC.note("begun", tried=tried, all=every, counted=spending.counted),
            "The errors are being computed.",
        )
    error = found.outcomes[best].ranked_error
    if math.isnan(error.value):
        return (
            "no estimate",
            SPEC.note("no_estimate", epsilon=epsilon),
            f"At ε = {epsilon} too few releases give an estimate.",
        )
    typical = readable(error.value, 3) if error.error == 0 else f"about {readable(error.value, 2)}"
    words = (
        f"With ε = {epsilon} for everything that is released, the error is smallest with <b>{name}</b>: the analyst's "
        f"estimate of {_in_words(spending)} is typically off by <b>{typical}</b> (root mean squared error, "
        f"{spending.method.label}, {asked.named})."
    )
    for usual, place in spending.usual.items():
        if place != best and place in found.outcomes:
            words += f" With {spending.named(place)} ({usual}) {_compared(found, place)}."
    short = f"Smallest error at ε = {epsilon}: the estimate is typically off by {typical}."
    return name, words + _of_one_set(found), short


def further_sentence(spending: Spending, found: Spent) -> str:
    """What else is as good, among which divisions the best was sought, and which is best for another question."""
    if math.isnan(found.outcomes[found.best].ranked_error.value):
        return reach_of(spending, found)
    return f"{_alike(spending, found)} {reach_of(spending, found)}{_others_best(spending, found)}".strip()


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
    known = all(one.key in each.beside for each in found.outcomes.values() for one in beside(spending))
    for one in beside(spending) if known else ():
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
