"""Where the error is smallest, what the papers' divisions cost against it, and the pictures."""

import dataclasses

import streamlit as st

from dpviz.comparisons.binary_base import BinaryMethod
from dpviz.comparisons.budget import Spending, Spent
from dpviz.designs import Design
from dpviz.parameters import readable
from pages.budget.controls import PREFIX, Asked
from pages.budget.pictures import show_pictures
from pages.components.cached import first_of
from pages.components.growing import Growing, growing_of, show_growing
from pages.components.words import listing, number, page_answer, percent

ALIKE = 1e-9  # Relative distance within which two errors are equal


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
                _measure(one.root_mean_squared_error), _measure(one.bias),
                "–" if one.coverage.value != one.coverage.value else percent(one.coverage.value, 4),
                _measure(one.mean_width), number(found.price(place), 4),
            ]
        )  # fmt: skip
    head = ["division of ε", "error", "bias", "coverage", "mean width", "times the smallest error"]
    listing(head, rows, "The smallest error and the papers' divisions")


def _measure(measure: object) -> str:
    value, error = dataclasses.astuple(measure)  # type: ignore[call-overload]
    if value != value:
        return "–"
    value = 0.0 if abs(value) < 1e-12 else value
    return readable(value, 4) + (f" ± {readable(error, 1)}" if error > 0 else "")


def lead_design(asked: Asked, found: Spent | None) -> Design | None:
    """The release with the smallest error so far as other pages know it; None where they do not."""
    spending = asked.spending
    if not isinstance(spending.method, BinaryMethod) or found is None:
        return None
    method, analysis = spending.at(found.best)
    sets = method.sets(analysis.sets)
    return dataclasses.replace(asked.design, mechanism=spending.method.law.key, sets=sets)
