"""What methods need for a promise, by method and number of sets, and what they give at one prior, by m and by θ."""

import dataclasses
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dpviz.calibration.data_kinds import Kind, Setting
from dpviz.calibration.methods import (
    CALIBRATED_METHODS,
    PARAM_MAP,
    TWO_CELLS_OR_MORE,
    PriorMethod,
    validate_method,
)
from dpviz.core.declarations import MANY_ROWS, MANY_SYNTHETIC_ROWS
from dpviz.core.types import FloatArray, IntArray
from dpviz.mechanisms import Release
from dpviz.mechanisms.prior_mechanism import PRIOR_ONES, PRIOR_ZEROS
from dpviz.privacy.divergence import delta_for_epsilon

PARAMETER_STRIDES = (12, 6, 3, 1)  # Steps between the points along θ, coarse to fine
FOLDED = 12  # Decimals to which θ and 1 − θ must agree to be the same point

# The methods whose rows tend to something known as their number grows.
BY_SIZE = {key: method for key, method in CALIBRATED_METHODS.items() if method.limit}

Place = tuple[str, int]
"""Key of a method, and a number of sets."""


@dataclass(frozen=True, kw_only=True)
class Needed:
    """Smallest prior or largest range that keeps a promise, by key of the method, as far as it is known.

    Parameters
    ----------
    pure, exact : mapping of str to float
        For δ = 0, and for the δ of the setting; NaN beyond reach.
    refused : mapping of str to str
        Why a method is beyond reach.
    """

    pure: Mapping[str, float]
    exact: Mapping[str, float]
    refused: Mapping[str, str]


def stream_needed(kind: Kind, setting: Setting, sets: int, first: PriorMethod) -> Iterator[Needed]:
    """What `sets` sets of every method need together, `first` before all others.

    Yields
    ------
    Needed
        After every method, with all that is known.

    Raises
    ------
    ValueError
        If a single set of `first` is beyond reach.
    """
    pure: dict[str, float] = {}
    exact: dict[str, float] = {}
    refused: dict[str, str] = {}
    for method in (first, *(method for key, method in kind.methods.items() if key != first.key)):
        for answers, delta in ((pure, 0.0), (exact, setting.delta)):
            try:
                if sets == 1:
                    answers[method.key] = kind.need(method, setting, delta)
                else:
                    answers[method.key] = kind.together(method, setting, sets, delta)
            except ValueError as error:
                if sets == 1 and method is first:
                    raise
                answers[method.key] = math.nan
                refused[method.key] = str(error)
        yield Needed(pure=dict(pure), exact=dict(exact), refused=dict(refused))


def first_needed(kind: Kind, setting: Setting, sets: int, first: PriorMethod) -> Needed:
    """What `first` needs, before all others; it refuses as `stream_needed` does."""
    return next(stream_needed(kind, setting, sets, first))


def needed_by_one_set(kind: Kind, setting: Setting, first: PriorMethod) -> Needed:
    """What one set of every method needs; it refuses as `stream_needed` does."""
    *_, last = stream_needed(kind, setting, 1, first)
    return last


@dataclass(frozen=True)
class Shares:
    """What is needed where each set has ε/M, (ε/M, δ/M), or what advanced composition allows: NaN without δ."""

    pure: float
    split: float
    advanced: float


@dataclass(frozen=True, kw_only=True)
class Ways:
    """What is known so far, by method and number of sets; `refused` says by method why something is beyond reach."""

    shares: Mapping[Place, Shares]
    exact: Mapping[Place, float]
    refused: Mapping[str, str]


def divided_sets(sets: int) -> list[int]:
    """Numbers of sets at which a picture around `sets` divides ε and δ.

    >>> divided_sets(5)
    [1, 2, 3, 4, 7, 9, 14, 20]
    """
    counts: list[int] = np.unique(np.rint(np.geomspace(1, max(20, 2 * sets), 9)).astype(int)).tolist()
    return counts


def shares_of(kind: Kind, method: PriorMethod, setting: Setting, sets: int) -> Shares:
    """What M sets need where ε and δ are divided among them."""
    share = dataclasses.replace(setting, epsilon=setting.epsilon / sets, delta=setting.delta / sets)
    advanced = kind.by_advanced(method, setting, sets) if setting.delta > 0 else math.nan
    return Shares(kind.need(method, share, 0.0), kind.need(method, share, share.delta), advanced)


def first_ways(kind: Kind, setting: Setting, sets: int, method: PriorMethod) -> Ways:
    """What M sets of a single method need, by every way of counting; why, where that is beyond reach."""
    place = method.key, sets
    try:
        shares = shares_of(kind, method, setting, sets)
        exact = kind.together(method, setting, sets, setting.delta)
    except ValueError as error:
        return Ways(shares={}, exact={}, refused={method.key: str(error)})
    return Ways(shares={place: shares}, exact={place: exact}, refused={})


def stream_ways(
    kind: Kind,
    setting: Setting,
    sets: int,
    first: PriorMethod,
    *,
    divided: Sequence[int] = (),
    together: Sequence[int] = (),
) -> Iterator[Ways]:
    """What M sets of every method need, and then what `first` needs for further numbers of sets.

    Parameters
    ----------
    divided, together : sequence of int, optional
        Numbers of sets among which ε and δ are divided, and whose losses are composed; none of them where M sets of
        `first` are beyond reach.

    Yields
    ------
    Ways
        After every answer, with all that is known.
    """
    shares: dict[Place, Shares] = {}
    exact: dict[Place, float] = {}
    refused: dict[str, str] = {}

    def ways() -> Ways:
        return Ways(shares=dict(shares), exact=dict(exact), refused=dict(refused))

    # All methods, the cheap ways first
    methods = [first, *(method for key, method in kind.methods.items() if key != first.key)]
    for method in methods:
        try:
            shares[method.key, sets] = shares_of(kind, method, setting, sets)
        except ValueError as error:
            refused[method.key] = str(error)
        yield ways()
    for method in methods:
        try:
            exact[method.key, sets] = kind.together(method, setting, sets, setting.delta)
        except ValueError as error:
            refused.setdefault(method.key, str(error))
        yield ways()
    if first.key in refused:
        return

    # Further numbers of sets of the first method, for the picture
    for count in divided:
        if (first.key, count) not in shares:
            shares[first.key, count] = shares_of(kind, first, setting, count)
            yield ways()
    for count in together:
        if (first.key, count) not in exact:
            exact[first.key, count] = kind.together(first, setting, count, setting.delta)
            yield ways()


def release(method: str, *, n: int, m: int, alpha: float, beta: float | None = None, cells: int = 2) -> Release:
    """Mechanism of a method under a prior.

    Parameters
    ----------
    method : str
        Key of `CALIBRATED_METHODS`.
    n, m : int
        Confidential and synthetic rows; with k > 2 cells m is at most 2,000, or 20 n.
    alpha : float
    beta : float, optional
        α unless given.
    cells : int, optional
        Number k of cells, at least 2; more than two have the prior α each.

    Returns
    -------
    Release

    Examples
    --------
    >>> release("synth_post_one", n=1, m=1, alpha=1.0).hockey_stick(0.0).value.__round__(12)
    0.333333333333
    """
    validate_method(method, CALIBRATED_METHODS)
    cells = int(TWO_CELLS_OR_MORE.validate(cells))
    if cells > 2:
        if beta is not None:
            raise ValueError(
                f"beta (invented rows with no) must not be given where there are {cells} cells; got {beta}."
            )
        for declaration, value in ((MANY_ROWS, n), (MANY_SYNTHETIC_ROWS, m), (PRIOR_ONES, alpha)):
            declaration.validate(value)
    return CALIBRATED_METHODS[method].release(n, m, alpha, alpha if beta is None else beta, cells)


@dataclass(frozen=True)
class SizeCurves:
    """δ of the releases of rows by method at rising numbers of rows m, and what each tends to and never exceeds."""

    sizes: IntArray
    deltas: dict[str, FloatArray]
    limits: dict[str, float]

    def at(self, m: int) -> dict[str, float]:
        """Δ of each method at one of the sizes."""
        place = int(np.searchsorted(self.sizes, m))
        return {key: float(deltas[place]) for key, deltas in self.deltas.items()}


def delta_by_size(n: int, alpha: float, beta: float, epsilon: float, sizes: Sequence[int] | IntArray) -> SizeCurves:
    """δ(ε) of every release of m rows at one prior, for each m; SYNTH_MAP is missing where α or β is 1 or less.

    No δ falls as m grows, because leaving out one of the released rows is post-processing. The limits are δ of
    PARAM_Post, and 1 of PARAM_MAP and the posterior mean, which tell neighbouring tables apart for sure. Source: Zheng
    (2015), Theorem 5.1, Hypothesis 5.5, Theorem 5.4 and Corollary 5.6.

    One row and a flat prior: at ε = 0 one released row differs by 1/3, an even m by m / (2m + 2), a draw of θ by 1/2.

    >>> curves = delta_by_size(1, 1.0, 1.0, 0.0, [1, 1000])
    >>> curves.deltas["synth_post_one"].round(6).tolist(), round(curves.limits["synth_post_one"], 6)
    ([0.333333, 0.4995], 0.5)
    """
    if len(sizes) == 0:
        raise ValueError("sizes must hold at least one number of released rows; got none.")
    rows = np.unique(MANY_SYNTHETIC_ROWS.validate_array(sizes)).astype(np.int64)
    smaller = min(PRIOR_ONES.validate(alpha), PRIOR_ZEROS.validate(beta))

    def delta(method: PriorMethod | None, m: int) -> float:
        if method is None or not method.calibrated:
            return 1.0
        return delta_for_epsilon(method.two_cells(n, m, alpha, beta), epsilon)

    known = {key: method for key, method in BY_SIZE.items() if smaller > method.lost}
    deltas = {key: np.array([delta(method, int(m)) for m in rows]) for key, method in known.items()}
    return SizeCurves(rows, deltas, {key: delta(method.limit, 1) for key, method in known.items()})


def average_and_worst(
    n: int, m: int, alpha: float, theta_real: float, epsilon: float
) -> dict[str, tuple[float, float | None] | None]:
    """δ of every method with n − 1 random rows, ones with the probability θ, and with the worst fixed ones.

    The latter is None for PARAM_MAP, where it is 1; None instead of both for SYNTH_MAP at a prior of 1 or less. Source:
    Zheng (2015), section 6.3. One of two rows is random: the count is 1 or 2 against 0 or 1, half of the time the same.

    >>> average_and_worst(2, 1, 1.0, 0.5, 0.0)["param_map"]
    (0.5, None)
    """
    found: dict[str, tuple[float, float | None] | None] = {
        PARAM_MAP.key: (PARAM_MAP.average_delta(n, m, alpha, theta_real, epsilon), None)
    }
    for method in CALIBRATED_METHODS.values():
        found[method.key] = None
        if alpha > method.lost:
            worst = delta_for_epsilon(method.two_cells(n, m, alpha, alpha), epsilon)
            found[method.key] = method.average_delta(n, m, alpha, theta_real, epsilon), worst
    return found


@dataclass(frozen=True)
class AverageCurves:
    """Average-case δ by method along rising probabilities θ of a one."""

    thetas: FloatArray
    deltas: dict[str, FloatArray]


def stream_average_by_theta(
    n: int, m: int, alpha: float, epsilon: float, thetas: Sequence[float] | FloatArray
) -> Iterator[AverageCurves]:
    """Average-case δ of every method with a prior for each θ, coarse to fine: the points before, and some more.

    With α = β nothing changes when ones and zeros trade places, so δ(θ) = δ(1 − θ) and each pair is computed once.
    SYNTH_MAP is missing at a prior of 1 or less.
    One row has no others to hide behind: Beta-binomial rows (2/3, 1/3) and (1/3, 2/3) differ by 1/3 at every θ.

    >>> *_, last = stream_average_by_theta(1, 1, 1.0, 0.0, [0.2, 0.5])
    >>> [round(delta, 12) for delta in last.deltas["synth_post_one"].tolist()]
    [0.333333333333, 0.333333333333]
    """
    points = np.unique(np.asarray(thetas, dtype=float))
    if not len(points):
        raise ValueError("thetas must hold at least one probability; got none.")
    methods = [one for one in CALIBRATED_METHODS.values() if alpha > one.lost]
    smaller = np.minimum(points, 1 - points)
    folded = np.round(smaller, FOLDED).tolist()
    known: dict[float, dict[str, float]] = {}
    places: list[int] = []
    for stride in PARAMETER_STRIDES:
        before, places = places, sorted({len(points) - 1, *range(0, len(points), stride)})
        if places == before:
            continue
        for place in places:
            if folded[place] not in known:
                theta = float(smaller[place])
                known[folded[place]] = {one.key: one.average_delta(n, m, alpha, theta, epsilon) for one in methods}
        deltas = {one.key: np.array([known[folded[place]][one.key] for place in places]) for one in methods}
        yield AverageCurves(points[places], deltas)
