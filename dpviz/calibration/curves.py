"""What methods need for a promise, by method and number of sets, and what they give at one prior, by θ."""

import copy
import dataclasses
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from dpviz.calibration.data_kinds import Kind, Setting
from dpviz.calibration.methods import CALIBRATED_METHODS, PARAM_MAP, TWO_CELLS_OR_MORE, PriorMethod
from dpviz.core.declarations import MANY_ROWS, MANY_SYNTHETIC_ROWS
from dpviz.core.parameters import validate_choice
from dpviz.core.types import FloatArray
from dpviz.mechanisms import Release
from dpviz.mechanisms.prior_mechanism import PRIOR_ONES
from dpviz.privacy.divergence import delta_for_epsilon

SetCount = tuple[str, int]
"""Key of a method, and a number of sets."""


@dataclass(frozen=True, kw_only=True)
class Needed:
    """Smallest prior or largest range that keeps a promise, by key of the method, as far as it is known.

    `pure` is for δ = 0, `exact` for the δ of the setting: NaN beyond reach, and `refused` says why.
    """

    pure: dict[str, float]
    exact: dict[str, float]
    refused: dict[str, str]


def stream_needed(kind: Kind, setting: Setting, sets: int, first: PriorMethod) -> Iterator[Needed]:
    """What M sets of every method need together: after every method, all that is known.

    Parameters
    ----------
    kind : Kind
    setting : Setting
    sets : int
    first : PriorMethod
        Asked before all others; a ValueError says that a single set of it is beyond reach.
    """
    needed = Needed(pure={}, exact={}, refused={})
    for method in _methods_after(kind, first):
        for answers, delta in ((needed.pure, 0.0), (needed.exact, setting.delta)):
            try:
                answers[method.key] = kind.need(method, setting, delta, sets)
            except ValueError as error:
                if sets == 1 and method is first:
                    raise
                answers[method.key] = math.nan
                needed.refused[method.key] = str(error)
        yield copy.deepcopy(needed)


def _methods_after(kind: Kind, first: PriorMethod) -> list[PriorMethod]:
    return [first, *(method for key, method in kind.methods.items() if key != first.key)]


def first_needed(*arguments: Any) -> Needed:
    """What `first` needs, before all others: the first answer of `stream_needed`."""
    return next(stream_needed(*arguments))


def all_needed(*arguments: Any) -> Needed:
    """What every method needs: the last answer of `stream_needed`."""
    return [*stream_needed(*arguments)][-1]


class Shares(NamedTuple):
    """What is needed where each set has ε/M, (ε/M, δ/M), or what advanced composition allows: NaN without δ."""

    pure: float
    split: float
    advanced: float


@dataclass(frozen=True, kw_only=True)
class Ways:
    """What is known so far, by method and number of sets; `refused` says by method why something is beyond reach."""

    shares: dict[SetCount, Shares]
    exact: dict[SetCount, float]
    refused: dict[str, str]


def divided_sets(sets: int) -> list[int]:
    """Numbers of sets at which a picture around `sets` divides ε and δ.

    >>> divided_sets(5)
    [1, 2, 3, 4, 7, 9, 14, 20]
    """
    return sorted({round(count) for count in np.geomspace(1, max(20, 2 * sets), 9).tolist()})


def shares_of(kind: Kind, method: PriorMethod, setting: Setting, sets: int) -> Shares:
    """What M sets need where their ε and δ, those of the setting, are divided among them.

    Parameters
    ----------
    kind : Kind
    method : PriorMethod
    setting : Setting
    sets : int
    """
    share = dataclasses.replace(setting, epsilon=setting.epsilon / sets, delta=setting.delta / sets)
    advanced = kind.by_advanced(method, setting, sets) if setting.delta > 0 else math.nan
    return Shares(kind.need(method, share, 0.0), kind.need(method, share, share.delta), advanced)


def stream_ways(
    kind: Kind, setting: Setting, sets: int, first: PriorMethod, *, divided: Sequence[int] = (),
    together: Sequence[int] = (),
) -> Iterator[Ways]:  # fmt: skip
    """What M sets of every method need, then what `first` needs for other numbers of sets: after each, all so far.

    Parameters
    ----------
    kind, setting, sets, first
        As in `stream_needed`.
    divided, together : sequence of int, optional
        Numbers of sets among which ε and δ are divided, and whose losses are composed; none of them where M sets of
        `first` are beyond reach.
    """
    ways = Ways(shares={}, exact={}, refused={})

    # All methods, the cheap ways first, and then the points of a picture
    questions = [(is_exact, method, sets) for is_exact in (False, True) for method in _methods_after(kind, first)]
    questions += [(False, first, count) for count in divided] + [(True, first, count) for count in together]
    for is_exact, method, count in dict.fromkeys(questions):
        if count != sets and first.key in ways.refused:
            return
        try:
            if is_exact:
                ways.exact[method.key, count] = kind.need(method, setting, setting.delta, count)
            else:
                ways.shares[method.key, count] = shares_of(kind, method, setting, count)
        except ValueError as error:
            ways.refused.setdefault(method.key, str(error))
        yield copy.deepcopy(ways)


def first_ways(kind: Kind, setting: Setting, sets: int, first: PriorMethod) -> Ways:
    """What M sets of `first` need, exactly or why not, before the exact answers of all others.

    Parameters
    ----------
    kind, setting, sets, first
        As in `stream_needed`.
    """
    ways = stream_ways(kind, setting, sets, first)
    return next(known for known in ways if first.key in known.refused or (first.key, sets) in known.exact)


def release(method: str, *, n: int, m: int, alpha: float, beta: float | None = None, cells: int = 2) -> Release:
    """Mechanism of a method under a prior.

    Parameters
    ----------
    method : str
        Key of `CALIBRATED_METHODS`.
    n, m : int
        Confidential and synthetic rows; with k > 2 cells m is at most 2,000, or 20 n.
    alpha, beta : float
        β is α unless given.
    cells : int, optional
        Number k of cells, at least 2; more than two have the prior α each.

    Examples
    --------
    >>> round(release("synth_post_one", n=1, m=1, alpha=1.0).hockey_stick(0.0).value, 12)
    0.333333333333
    """
    validate_choice("method", method, CALIBRATED_METHODS)
    cells = int(TWO_CELLS_OR_MORE.validate(cells))
    if cells > 2:
        if beta is not None:
            raise ValueError(f"beta must be left out where there are {cells} cells: every cell has the same prior.")
        for declaration, value in ((MANY_ROWS, n), (MANY_SYNTHETIC_ROWS, m), (PRIOR_ONES, alpha)):
            declaration.validate(value)
    return CALIBRATED_METHODS[method].release(n, m, alpha, alpha if beta is None else beta, cells)


def average_and_worst(
    n: int, m: int, alpha: float, theta_real: float, epsilon: float
) -> dict[str, tuple[float, float | None] | None]:
    """δ of every method with n − 1 random rows, and with the worst fixed ones: None for PARAM_MAP, where it is 1.

    SYNTH_MAP has no δ at a prior of 1 or less: None instead of both. Source: Zheng (2015), section 6.3.

    Parameters
    ----------
    n, m : int
    alpha, epsilon : float
    theta_real : float
        Probability of a one in each of the random rows.

    Examples
    --------
    One of two rows is random: the count is 1 or 2 against 0 or 1, half of the time the same.

    >>> average_and_worst(2, 1, 1.0, 0.5, 0.0)["param_map"]
    (0.5, None)
    """
    deltas: dict[str, tuple[float, float | None] | None] = dict.fromkeys(CALIBRATED_METHODS)
    deltas[PARAM_MAP.key] = PARAM_MAP.average_delta(n, m, alpha, theta_real, epsilon), None
    for key, method in CALIBRATED_METHODS.items():
        if alpha > method.lost:
            worst = delta_for_epsilon(method.two_cells(n, m, alpha, alpha), epsilon)
            deltas[key] = method.average_delta(n, m, alpha, theta_real, epsilon), worst
    return deltas


@dataclass(frozen=True)
class AverageCurves:
    """Average-case δ by method along rising probabilities θ of a one."""

    thetas: FloatArray
    deltas: dict[str, FloatArray]


def stream_average_by_theta(
    n: int, m: int, alpha: float, epsilon: float, thetas: Sequence[float] | FloatArray
) -> Iterator[AverageCurves]:
    """Average-case δ of every method with a prior along θ, coarse to fine; SYNTH_MAP only at a prior above 1.

    Parameters
    ----------
    n, m : int
    alpha, epsilon : float
    thetas : sequence of float

    Examples
    --------
    One row has no others to hide behind: Beta-binomial rows (2/3, 1/3) and (1/3, 2/3) differ by 1/3 at every θ.

    >>> *_, last = stream_average_by_theta(1, 1, 1.0, 0.0, [0.2, 0.5])
    >>> [round(delta, 12) for delta in last.deltas["synth_post_one"].tolist()]
    [0.333333333333, 0.333333333333]
    """
    points = np.unique(np.asarray(thetas, dtype=float))
    if not len(points):
        raise ValueError("thetas must hold at least one probability; got none.")
    methods = {key: method for key, method in CALIBRATED_METHODS.items() if alpha > method.lost}

    @cache
    def deltas_at(theta: float) -> list[float]:
        return [method.average_delta(n, m, alpha, theta, epsilon) for method in methods.values()]

    for stride in (12, 6, 3, 1):
        shown = np.unique(np.append(points[::stride], points[-1]))
        # The prior is symmetric, so that θ and 1 − θ, alike to twelve digits, are one point
        rows = [deltas_at(float(f"{min(theta, 1 - theta):.12g}")) for theta in shown.tolist()]
        yield AverageCurves(shown, dict(zip(methods, np.array(rows).T, strict=True)))
