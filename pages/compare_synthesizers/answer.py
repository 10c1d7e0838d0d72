"""Which method errs least at one ε, and at what price; the pictures, and the methods in order."""

import dataclasses
import math

import streamlit as st

from dpviz.comparisons import Compared, Outcome
from dpviz.comparisons.base import RANKED_REPETITIONS
from dpviz.comparisons.binary_base import BinaryMethod
from dpviz.comparisons.terms import NO_EPSILON
from dpviz.core.parameters import readable
from dpviz.core.plain import enumerated
from dpviz.core.wording import more_or_less, percent, without_rounding
from dpviz.designs import Design
from dpviz.privacy.optimum import LeastError
from dpviz.privacy.real_loss import Loss
from pages.compare_synthesizers import SPEC
from pages.compare_synthesizers.controls import Asked
from pages.compare_synthesizers.pictures import show_pictures
from pages.compare_synthesizers.ranking import contenders, few, found_so_far, in_order, show_ranking, unfit
from pages.components.cached import cached
from pages.components.words import by_reason, note, page_answer

NOT_KNOWN = "is not known to keep its promise"
SELDOM = 0.9  # Share of usable releases below which the sentence tells it


def show_answer(asked: Asked) -> None:
    """Sentence, picture and table; the sentence is said anew whenever the table grows."""
    place = st.empty()

    def say(found: Compared) -> str:
        least, outcomes = found.smallest_errors.get(asked.design.epsilon), list(found.outcomes.values())
        place.html(page_answer(*answer_sentence(asked, outcomes, least)))
        return further_sentence(asked, outcomes)

    say(found_so_far(asked))
    show_pictures(asked)
    show_ranking(asked, say)
    if absent := left_out(asked, [*found_so_far(asked).outcomes.values()]):
        note(absent)


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


def answer_sentence(asked: Asked, found: list[Outcome], least: LeastError | None) -> tuple[str, str, str]:
    """Return the mark, the sentence, and a short one for a class; `least` is the smallest error where it is known."""
    promising, epsilon = [one for one in found if not one.method.reference], readable(asked.design.epsilon, 4)
    if not promising:
        sentence = f"None of the methods chosen can be set to a real privacy loss of {asked.privacy}."
        return "no method", sentence, f"No chosen method can be set to a real ε of {epsilon}."
    terms = asked.terms
    ranking = contenders(promising, terms)
    if not ranking:
        fit = [one for one in promising if not unfit(one, terms)]
        if any(one.unfinished and 0 < one.repetitions < RANKED_REPETITIONS for one in fit):
            begun = SPEC.note("begun", enough=RANKED_REPETITIONS)
            return "simulating", begun, f"At ε = {epsilon} the simulation has only begun."
        if fit:
            none = SPEC.note("no_estimate", epsilon=epsilon)
            return "no estimate", none, f"At ε = {epsilon} too few releases give an estimate."
        none = SPEC.note("none_kept", privacy=asked.privacy)
        return "none ranked", none, f"No chosen method is known to keep its promise of ε = {epsilon}."
    first, *rest = ranking
    tied = [one for one in rest if one.ranked_error.tied(first.ranked_error)]
    exact = all(one.ranked_error.error == 0 for one in (first, *tied))
    best = [first, *tied] if exact else [first]
    names = enumerated([one.method.label for one in best])
    what = "real" if terms.asks else "promised"
    its = "have the smallest error: their estimates are" if len(best) > 1 else "has the smallest error: its estimate is"
    words = f"At a {what} {asked.privacy}, <b>{names}</b> {its} typically off by <b>{written(first)}</b>"
    reference = next((one for one in found if one.method.reference and one.sets == 1), None)
    if reference and not math.isnan(reference.ranked_error.value):
        compared = times(first.ranked_error.value, reference.ranked_error.value)
        words += f", {compared} with the {reference.method.label.lower()}"
    words += f" (root mean squared error, {asked.named})."
    if len(best) <= len(tied):
        alike = enumerated([f"{one.method.label} ({written(one)})" for one in tied])
        words += f" The simulation cannot tell it from {alike}."
        names = f"{names} or {tied[0].method.label if len(tied) == 1 else f'{len(tied)} others'}"
    short = f"Smallest error at ε = {epsilon}: the estimate is typically off by {written(first)}."
    return names, f"{words}{price_sentence(asked, first, least)}", short


def further_sentence(asked: Asked, found: list[Outcome]) -> str:
    """The largest error, and what keeps other methods from having the smallest; nothing where there is no more."""
    promising, terms = [one for one in found if not one.method.reference], asked.terms
    ranking = contenders(promising, terms)
    barred = in_order([one for one in promising if unfit(one, terms) and not math.isnan(one.ranked_error.value)], terms)
    if not ranking:
        return f"{_barred(barred)}{_few(promising)}".strip()
    first, last, words = ranking[0], ranking[-1], ""
    if not last.ranked_error.tied(first.ranked_error):
        words = f" The largest error, {written(last)}, is that of {last.method.label}."
    words += _barred([one for one in barred if surely_less(one, first)]) + _few(promising)
    if first.usable_share.value < SELDOM:
        share = percent(first.usable_share.value, 2)
        words += f" Only {share} of the releases of {first.method.label} can be analyzed."
    if first.ranked_error.error > 0:
        words += f" {SPEC.note('simulated')}"
    return words.strip()


def surely_less(one: Outcome, other: Outcome) -> bool:
    """Whether an error is smaller than another one, by more than a simulation or rounding leaves open."""
    mine, its = one.ranked_error, other.ranked_error
    return mine.value < its.value and not mine.tied(its)


def _barred(found: list[Outcome]) -> str:
    """The errors of methods that cannot win, each with the reason, in sentences."""
    words = ""
    for one in found:
        bad = one.real_loss.verdict(one.epsilon).bad
        if one.method.has_epsilon:
            why = f"<b>breaks its promise</b>: {really(one.real_loss, one.epsilon)}" if bad else NOT_KNOWN
            reason = f"it {why}"
        else:
            reason = f"{'it is not private: ' if bad else ''}{NO_EPSILON}"
        words += f" {one.method.label} is off by {written(one)}, but {reason}."
    return words


def _few(found: list[Outcome]) -> str:
    """Methods of which too few repetitions gave an estimate to rank them, in a sentence."""
    short = [f"{one.method.label} ({few(one)})" for one in found if 0 < one.repetitions < RANKED_REPETITIONS]
    return f" Too few to be ranked: {enumerated(short)}." if short else ""


def really(loss: Loss, promised: float) -> str:
    """What a method that breaks its promise gives away, with digits enough to differ from what it promises."""
    if math.isinf(loss.at_least):
        return "no ε holds for it"
    real = loss.text(promised)
    return f"it really gives away {'' if 'at least' in real else 'ε = '}{real}"


def written(outcome: Outcome) -> str:
    """An error: to three digits where it is exact, to two where it is simulated."""
    measure = outcome.root_mean_squared_error
    value = without_rounding(measure)
    return readable(value, 3) if measure.error == 0 else f"about {readable(value, 2)}"


def price_sentence(asked: Asked, best: Outcome, least: LeastError | None) -> str:
    """How the error that the release adds compares with the smallest possible; nothing where that is not known."""
    if least is None or not least.lower_bound > 0 or math.isnan(best.release_error.value):
        return ""
    compared = least.compared(best.release_error.value)
    return f" {SPEC.note('price', method=best.method.label, compared=compared, privacy=asked.privacy)}"


def times(error: float, other: float) -> str:
    """How many times as much as another error, or how many per cent more or less, to be followed by "with …"."""
    ratio = error / other if other else math.inf
    if abs(ratio - 1) < 5e-4:
        return "no more than"
    if math.isinf(ratio):
        return "but not at all"
    said = more_or_less(ratio)
    return f"{said} {'as' if said.endswith('as much') else 'than'}"


def lead_design(asked: Asked) -> Design | None:
    """The release with the smallest error that other pages know; None where they know none."""
    for one in contenders([*found_so_far(asked).outcomes.values()], asked.terms):
        if isinstance(one.method, BinaryMethod):
            synthesizer_type = one.method.synthesizer_type.key
            return dataclasses.replace(
                asked.design, mechanism=synthesizer_type, sets=one.sets, epsilon=one.setting, rules=()
            )
    return None
