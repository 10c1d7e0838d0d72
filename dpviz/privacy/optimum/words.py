"""The error of a release beside the smallest that its privacy allows: in a sentence, and as a row of a table each."""

import math
from collections.abc import Mapping, Sequence

from dpviz.core.parameters import readable
from dpviz.core.wording import percent
from dpviz.privacy.optimum.least_error import ERROR_TOLERANCE, LeastError
from dpviz.privacy.summary import PrivacySummary

SAME_EPSILON = 1e-9  # Relative difference up to which two ε are one
NEGLIGIBLE = 1e-6  # Relative gap that is rounding

Best = Mapping[str, LeastError]
"""The smallest errors with one promise, by criterion."""


def promises(summary: PrivacySummary) -> list[tuple[str, float]]:
    """The ε at which the release is compared: its real one where there is any, and the promised one."""
    real, promised = summary.worst.value, summary.epsilon
    if math.isinf(real):
        return [("the promised ε", promised)]
    if math.isclose(real, promised, rel_tol=SAME_EPSILON):
        return [("the same ε", promised)]
    return [("the same real ε", real), ("the promised ε", promised)]


def better_sentence(errors: Mapping[str, float], named: str, best: Best) -> str:
    """How far off the release typically is, and how many times the best mechanism that is, as inline HTML."""
    mine, smallest = errors["average"], best["average"]
    text = (
        f"The released proportion is typically off by <b>{readable(mine, 3)}</b> from the confidential one (root mean "
        f"squared error, all tables alike). The best mechanism with {named}, {readable(smallest.epsilon, 4)}, is off "
        f"by <b>{readable(smallest.root_mean_squared_error, 3)}</b>: "
    )
    times = smallest.price(mine)
    if times < 1 - ERROR_TOLERANCE:
        return f"{text}the release is closer, as it does not keep that ε."
    if times < 1 + ERROR_TOLERANCE:
        return f"{text}there is no better one."
    return f"{text}the release has <b>{smallest.times(mine)} times</b> the smallest possible error."


def best_row(errors: Mapping[str, float], named: str, best: Best) -> list[str]:
    """The smallest errors with one promise, and how many times as large those of the release are."""
    one = best["average"]
    promise = f"ε = {readable(one.epsilon, 4)}" + (f", δ = {readable(one.delta, 3)}" if one.delta else "")
    cells = [f"the best with {named}: {promise}"]
    for criterion, smallest in best.items():
        cells += [readable(smallest.root_mean_squared_error, 4), f"{smallest.times(errors[criterion])} times"]
    return cells


def better_table(
    errors: Mapping[str, float], mechanisms: Sequence[tuple[str, Best]]
) -> tuple[list[str], list[list[str]], str]:
    """Head, rows and caption of the table of the release and of the best mechanisms with several promises.

    Parameters
    ----------
    errors : mapping of str to float
        Root mean squared errors of the release by criterion.
    mechanisms : sequence of tuple
        What each promise is called, and the smallest errors with it.

    Returns
    -------
    tuple
    """
    head = ["mechanism", "average error", "the release has", "error at the worst table", "the release has"]
    rows = [["this release", readable(errors["average"], 4), "", readable(errors["worst"], 4), ""]]
    rows += [best_row(errors, name, best) for name, best in mechanisms]
    return head, rows, "The error of the release beside the smallest possible"


def largest_gap(best: Best) -> str:
    """By how much a better mechanism could be better than these at most, in per cent of their error."""
    gap = max(one.gap / (one.root_mean_squared_error or 1.0) for one in best.values())
    return percent(gap, 2) if gap > NEGLIGIBLE else "10⁻⁴ %"
