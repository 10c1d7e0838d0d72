"""The methods at the reader's ε: what is known at once of each, and all of them in the order of their errors."""

import math
from collections.abc import Callable
from functools import partial

import streamlit as st

from dpviz.comparisons import Compared, ComparisonTerms, Outcome
from dpviz.comparisons.base import RANKED_REPETITIONS, stream_ranking
from dpviz.comparisons.terms import NO_EPSILON
from dpviz.core.measures import Measure
from dpviz.core.parameters import readable
from dpviz.core.wording import measured, percent
from dpviz.privacy.optimum import LeastError
from dpviz.privacy.real_loss import ReleaseVerdict
from pages.compare_synthesizers import SPEC
from pages.compare_synthesizers.controls import PREFIX, Asked
from pages.components.growing import Growing, growing_of, show_growing
from pages.components.words import heading, listing, note


def found_so_far(asked: Asked) -> Compared:
    """What is known of every method at the reader's ε, which is ranked: at least what comes first."""
    return ranked(asked).first()


def ranked(asked: Asked) -> Growing[Compared]:
    """All outcomes at the reader's ε, first what is known at once; with δ the smallest error comes last."""
    data, methods, analysis, terms = asked.comparison
    begin = partial(stream_ranking, data, methods, asked.design.epsilon, analysis, terms)
    key = ("ranking", *map(repr, asked.comparison), asked.design.epsilon)
    return growing_of(f"{PREFIX}ranking", key, Compared, begin)


def broken(one: Outcome, terms: ComparisonTerms) -> bool:
    """Whether a method that promises a pure ε is proven to give away more."""
    return not one.method.reference and terms.delta == 0 and one.real_loss.verdict(one.epsilon).bad


def unfit(one: Outcome, terms: ComparisonTerms) -> str:
    """Why a method cannot have the smallest error whatever its error is, in a few words; nothing where it can.

    With δ every method has been set so that it keeps its promise.
    """
    if one.method.reference:
        return "it promises nothing"
    if not one.method.has_epsilon:
        return NO_EPSILON
    verdict = one.real_loss.verdict(one.epsilon)
    if terms.delta > 0 or verdict is ReleaseVerdict.KEEPS:
        return ""
    return "it breaks its promise" if verdict.bad else "it is not known to keep its promise"


def in_order(found: list[Outcome], terms: ComparisonTerms) -> list[Outcome]:
    """Outcomes that can win by their error, the smallest first; then by theirs those that cannot, or have none."""

    def place(one: Outcome) -> tuple[bool, bool, float]:
        error = one.ranked_error.value
        return math.isnan(error), bool(unfit(one, terms)), error

    return sorted(found, key=place)


def contenders(found: list[Outcome], terms: ComparisonTerms) -> list[Outcome]:
    """Outcomes that can win, in order: of methods whose promise holds, with enough repetitions to rank them."""
    fit = [one for one in found if not unfit(one, terms) and not math.isnan(one.ranked_error.value)]
    return in_order(fit, terms)


def show_ranking(asked: Asked, say: Callable[[Compared], str]) -> None:
    """A table that fills as what takes longer is computed; `say` renews the answer, and returns what is more to say."""
    heading(f"The methods at ε = {readable(asked.design.epsilon, 4)}, the smallest error first")

    def draw(found: Compared) -> None:
        more = say(found)
        _table(asked, found)
        if more:
            note(more)

    show_growing(ranked(asked), "Ranking …", draw, key=f"{PREFIX}ranking_step")


def _table(asked: Asked, found: Compared) -> None:
    """One row for each method."""
    outcomes = in_order(list(found.outcomes.values()), asked.terms)
    least = found.smallest_errors.get(asked.design.epsilon)
    columns: dict[str, Callable[[Outcome], str]] = {"method": partial(_named, asked.terms)}
    if asked.terms.asks:
        columns["given ε"] = lambda one: "–" if one.method.reference else readable(one.setting, 4)
    columns |= {
        "error": error_cell,
        "bias": lambda one: written(one.bias),
        "coverage": lambda one: written(one.coverage, share=True),
        "mean width": lambda one: written(one.mean_width),
        "usable": lambda one: written(one.usable_share, share=True),
        "real ε": lambda one: real(one, asked.terms),
    }
    if any(one.release_error.value >= 0 for one in outcomes):
        columns["added error"] = lambda one: written(one.release_error)
    if least is not None:
        columns["times the best"] = lambda one: "–" if unfit(one, asked.terms) else priced(one, least)
    listing(list(columns), [[cell(one) for cell in columns.values()] for one in outcomes], "The methods in order")
    rule, level = asked.analysis.rule_for(asked.analysis.sets), percent(asked.analysis.level, 8)
    st.caption(SPEC.note("table", rule=rule.label, level=level))


def priced(one: Outcome, least: LeastError) -> str:
    """How many times the smallest error a release adds, from where to where if that is not known to three digits."""
    added = one.release_error.value
    return least.times(added) if added >= 0 and least.lower_bound > 0 else "–"


def _named(terms: ComparisonTerms, one: Outcome) -> str:
    each = one.method.sets_of_each
    sets = "one set" if one.sets * each == 1 else f"{one.sets} × {each} sets" if each > 1 else f"{one.sets} sets"
    ranked = (
        ""
        if one.method.reference or not unfit(one, terms)
        else "<br><small>not ranked: " + unfit(one, terms) + "</small>"
    )
    return f"<b>{one.method.label}</b> <small>{sets.replace(' ', '&nbsp;')}</small>{ranked}"


def error_cell(one: Outcome) -> str:
    """The error; where too few repetitions gave an estimate, how many did."""
    if one.repetitions >= RANKED_REPETITIONS:
        return written(one.root_mean_squared_error)
    return f"–<br><small>{few(one)}</small>"


def few(one: Outcome) -> str:
    """How many repetitions gave an estimate."""
    return f"{int(one.repetitions)} usable repetition{'' if one.repetitions == 1 else 's'}"


def written(measure: Measure, *, share: bool = False) -> str:
    """A measure; below it, so that the columns are narrow, its Monte Carlo error."""
    value, error = measured(measure, share=share)
    return f"{value}<br><small>{error}</small>" if error else value


def real(one: Outcome, terms: ComparisonTerms) -> str:
    """The pure ε of all sets, exact or as far as it is known, marked where it is more than was promised."""
    if one.method.reference:
        promised = "" if math.isinf(one.real_loss.at_least) else "<br><small>not promised</small>"
        return f"{one.real_loss.text(digits=4)}{promised}"
    if not one.method.has_epsilon:
        return "unbounded<br><b>not private</b>"
    return f"{one.real_loss.text(one.epsilon, 4)}{'<br><b>broken</b>' if broken(one, terms) else ''}"
