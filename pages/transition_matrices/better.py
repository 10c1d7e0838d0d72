"""Is there a better mechanism: the error of the release beside the smallest that its privacy allows."""

import math

import streamlit as st

from dpviz.core.limits import TABLE_ENTRIES
from dpviz.core.parameters import readable
from dpviz.core.wording import percent
from dpviz.mechanisms.base import TwoCellSynthesizer
from dpviz.privacy.optimum import LeastError, least_error
from dpviz.privacy.summary import PrivacySummary
from pages.components.address import keep_switch
from pages.components.cached import cached, elsewhere
from pages.components.choices import switch
from pages.components.words import listing, note
from pages.transition_matrices import SPEC

WITH_DELTA = keep_switch("tm_with_delta", False)
SAME = 1e-9  # Relative difference up to which two ε are one
NEGLIGIBLE = 1e-6  # Relative gap that is rounding


def show_better(summary: PrivacySummary) -> None:
    """The error of the released proportion, and that of the best mechanisms that are as private."""
    release = summary.synthesizer
    if not isinstance(release, TwoCellSynthesizer):
        note("The best mechanism is known for two cells: choose two to see it.")
        return
    if release.shape[0] * release.shape[1] > TABLE_ENTRIES:
        note("The error of the release is a sum over the whole matrix, which has over 4 million entries here.")
        return
    with_delta = summary.delta > 0 and switch("Allow the δ of the promise too (may take some seconds)", WITH_DELTA)
    # Imported here as it brings all that analyses need, which no other section of the page does.
    from dpviz.comparisons.binary_measures import row_moments

    errors = cached(row_moments)(release).added()
    found = [_best(release.n, epsilon, 0.0, named) for named, epsilon in promises(summary)]
    if with_delta:
        found.append(_best(release.n, summary.epsilon, summary.delta, "the promise"))
    st.html(f'<p class="dpviz-answer">{better_sentence(errors, *found[0])}</p>')
    head = ["mechanism", "average error", "the release has", "error at the worst table", "the release has"]
    rows = [["this release", readable(errors["average"], 4), "", readable(errors["worst"], 4), ""]]
    rows += [best_row(errors, named, best) for named, best in found]
    listing(head, rows, "The error of the release beside the smallest possible")
    note(SPEC.note("The best mechanism"))
    if with_delta:
        gap = max(best.gap / (best.root_mean_squared_error or 1.0) for best in found[-1][1].values())
        note(SPEC.note("The best with delta", gap=percent(gap, 2) if gap > NEGLIGIBLE else "10⁻⁴ %"))


def promises(summary: PrivacySummary) -> list[tuple[str, float]]:
    """The ε at which the release is compared: its real one where there is any, and the promised one."""
    real, promised = summary.worst.value, summary.epsilon
    if math.isinf(real):
        return [("the promised ε", promised)]
    if math.isclose(real, promised, rel_tol=SAME):
        return [("the same ε", promised)]
    return [("the same real ε", real), ("the promised ε", promised)]


def _best(n: int, epsilon: float, delta: float, named: str) -> tuple[str, dict[str, LeastError]]:
    """The best mechanisms with a promise by both criteria."""
    best = {
        one: elsewhere(least_error, "The best mechanism …")(n=n, epsilon=epsilon, delta=delta, criterion=one)
        for one in ("average", "worst")
    }
    return named, best


def better_sentence(errors: dict[str, float], named: str, best: dict[str, LeastError]) -> str:
    """How far off the release typically is, and how many times the best mechanism that is."""
    mine, least = errors["average"], best["average"]
    told = f"{named}, {readable(least.epsilon, 4)}"
    text = (
        f"The released proportion is typically off by <b>{readable(mine, 3)}</b> from the confidential one (root mean "
        f"squared error, all tables alike). The best mechanism with {told}, is off by "
        f"<b>{readable(least.root_mean_squared_error, 3)}</b>: "
    )
    times = least.price(mine)
    if times < 1 - SAME:
        return f"{text}the release is closer, as it does not keep that ε."
    if times < 1 + SAME:
        return f"{text}there is no better one."
    return f"{text}the release has <b>{least.times(mine)} times</b> the smallest possible error."


def best_row(errors: dict[str, float], named: str, best: dict[str, LeastError]) -> list[str]:
    """The smallest errors with one promise, and how many times as large those of the release are."""
    one = best["average"]
    promise = f"ε = {readable(one.epsilon, 4)}" + (f", δ = {readable(one.delta, 3)}" if one.delta else "")
    cells = [f"the best with {named}: {promise}"]
    for criterion, least in best.items():
        cells += [readable(least.root_mean_squared_error, 4), f"{least.times(errors[criterion])} times"]
    return cells
