"""Which method errs least at one ε, and at what price; the pictures, and the methods in order."""

import dataclasses
import math

import streamlit as st

from dpviz.comparisons import Outcome
from dpviz.comparisons.binary_base import BinaryMethod
from dpviz.designs import Design
from dpviz.parameters import readable, readable_apart
from pages.compare_synthesizers import SPEC
from pages.compare_synthesizers.controls import Asked
from pages.compare_synthesizers.pictures import show_pictures
from pages.compare_synthesizers.ranking import broken, error_of, first_outcomes, in_order, least_error, show_ranking
from pages.components.cached import cached
from pages.components.words import by_reason, note, page_answer, percent

SELDOM = 0.9  # Share of usable releases below which the sentence tells it
ALIKE = 1e-9  # Relative distance within which two errors are equal


def show_answer(asked: Asked) -> None:
    """Sentence, pictures and table."""
    found = first_outcomes(asked)
    st.html(page_answer(*answer_sentence(asked, found, least_error(asked))))
    if absent := left_out(asked, found):
        note(absent)
    show_pictures(asked)
    show_ranking(asked)


def left_out(asked: Asked, found: list[Outcome]) -> str:
    """Which methods cannot be compared on these terms, and why; else nothing."""
    there, epsilon = {one.method.key for one in found}, asked.design.epsilon
    absence = cached(asked.terms.absence)
    names = by_reason(
        (one.label, absence(one, asked.data, epsilon, one.sets(asked.analysis.sets)))
        for one in asked.methods
        if one.key not in there
    )
    return SPEC.note("left_out", names=names, terms=asked.terms.label) if names else ""


def answer_sentence(asked: Asked, found: list[Outcome], least: float | None) -> tuple[str, str, str]:
    """Return the mark, the sentence, and the few words for a phone; `least` is the smallest error where it is known."""
    promising = [one for one in found if not one.method.reference]
    if not promising:
        sentence = f"None of the methods chosen can be set to a real privacy loss of {asked.privacy}."
        return "no method", sentence, f"has a real {asked.privacy}"
    epsilon = readable(asked.design.epsilon, 4)
    ranked = in_order([one for one in promising if not math.isnan(error_of(one))])
    if not ranked:
        return "no estimate", SPEC.note("no_estimate", epsilon=epsilon), f"ε = {epsilon}: no estimate"
    best = [one for one in ranked if error_of(one) <= error_of(ranked[0]) * (1 + ALIKE)]
    names, error = " and ".join(one.method.label for one in best), error_of(best[0])
    what = "real" if asked.terms.asks else "promised"
    its = "have the smallest error: their estimates are" if len(best) > 1 else "has the smallest error: its estimate is"
    words = f"At a {what} {asked.privacy}, <b>{names}</b> {its} typically off by <b>{written(best[0])}</b>"
    reference = next((one for one in found if one.method.reference and one.sets == 1), None)
    if reference and not math.isnan(error_of(reference)):
        words += f", {times(error, error_of(reference))} with the {reference.method.label.lower()}"
    words += f" (root mean squared error, {asked.named})."
    if len(ranked) > len(best):
        words += f" The largest error, {written(ranked[-1])}, is that of {ranked[-1].method.label}."
    for one in best:
        if broken(one, asked.terms):
            words += f" But {one.method.label} <b>breaks its promise</b>: {really(one)}."
    if best[0].usable_share.value < SELDOM:
        words += f" Only {percent(best[0].usable_share.value, 2)} of its releases can be analyzed."
    if best[0].root_mean_squared_error.error != 0:
        words += f" {SPEC.note('simulated')}"
    return names, f"{words}{price_sentence(asked, best[0], least)}", f"ε = {epsilon}: error {written(best[0])}"


def really(outcome: Outcome) -> str:
    """What a method that breaks its promise gives away, with digits enough to differ from what it promises."""
    real = outcome.real_epsilon
    if real is None or math.isinf(real):
        return "no ε holds for it"
    return f"it really gives away ε = {readable_apart(real, outcome.epsilon, 3)}"


def written(outcome: Outcome) -> str:
    """An error: to three digits where it is exact, to two where it is simulated."""
    measure = outcome.root_mean_squared_error
    return readable(measure.value, 3) if measure.error == 0 else f"about {readable(measure.value, 2)}"


def price_sentence(asked: Asked, best: Outcome, least: float | None) -> str:
    """How the error that the release adds compares with the smallest possible; nothing where that is not known."""
    if least is None or not least > 0 or math.isnan(best.release_error.value):
        return ""
    over = readable(best.release_error.value / least, 3)
    return f" {SPEC.note('price', times=over, privacy=asked.privacy)}"


def times(error: float, other: float) -> str:
    """How many times as much as another error, to be followed by "with …"."""
    ratio = error / other if other else math.inf
    if abs(ratio - 1) < 5e-4:
        return "as much as"
    return f"{readable(ratio, 3)} times as much as" if math.isfinite(ratio) else "but not at all"


def lead_design(asked: Asked) -> Design | None:
    """The release with the smallest error that other pages know; None where they know none."""
    for one in in_order([one for one in first_outcomes(asked) if not one.method.reference]):
        if isinstance(one.method, BinaryMethod):
            law = one.method.law.key
            return dataclasses.replace(asked.design, mechanism=law, sets=one.sets, epsilon=one.setting, rules=())
    return None
