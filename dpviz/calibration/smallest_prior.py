"""The smallest prior with which a method keeps a promise: closed forms for ε, a root of δ(ε; α) = δ for (ε, δ)."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, lru_cache

import numpy as np
from scipy.optimize import brentq
from scipy.optimize.elementwise import bracket_root, find_root

from dpviz.calibration.methods import PRIOR_METHODS, TWO_CELLS_OR_MORE, PriorMethod
from dpviz.core.declarations import DELTA, EPSILON, MANY_ROWS, MANY_SYNTHETIC_ROWS
from dpviz.core.formatting import format_number
from dpviz.core.numerics.special import MAX_EXPONENT, round_to_private_side
from dpviz.core.parameters import argument, plain_number, validate_choice
from dpviz.core.types import FloatArray
from dpviz.mechanisms.prior_mechanism import PRIOR_ONES, PRIOR_ZEROS, UnderPrior
from dpviz.privacy.divergence import delta_for_epsilon

MAX_SEARCHED_PRIOR = PRIOR_ONES.maximum / 2
"""Largest prior that is tried where no closed form bounds the answer: what is added to it must stay in the domain."""

RATIO = argument("ratio", 1e-9, 1e9, title="β / α")
BELOW_ONE = replace(
    DELTA, maximum=math.nextafter(1.0, 0.0), domain_text="0 or larger, and below 1: at 1 nothing is promised"
)
LOG_TOLERANCE = 1e-13  # absolute, of ln α
# Relative increase of a prior, per 1 + ε, that outweighs the rounding of its largest log-odds ε: an increase c lowers
# them by at least c (1 − e^{−ε}) ≥ c ε / (1 + ε), and this is more than ε times their relative rounding
PRIOR_ROUNDING = 4e-15
BATCH_ROUNDING = 5e-13  # relative increase of a prior found with many others, whatever ε is; its δ is then checked
FAR_EXCESS = 1e3  # finite bound of ln(ln δ(α) / ln δ), which is infinite where δ(α) is rounded to 0 or 1


def minimum_prior(
    method: str,
    *,
    n: int,
    m: int,
    epsilon: float,
    delta: float = 0.0,
    beta: float | None = None,
    ratio: float = 1.0,
    cells: int = 2,
) -> float:
    """Smallest prior α with which a method is (ε, δ)-differentially private, rounded to the private side.

    It is 1e-300 (just above 1 for SYNTH_MAP) where any prior is enough; ∞ where more than 5e11 would be needed, and for
    δ = 0 more than 1e12.

    Parameters
    ----------
    method : str
        Key of `PRIOR_METHODS`.
    n, m : int
        Confidential and synthetic rows, 1 to 100,000. Neighbours differ by substitution of a row.
    epsilon : float
        1e-6 to 1000, or 0 with a positive δ.
    delta : float, optional
        In [0, 1).
    beta : float, optional
        Prior zeros; `ratio` α unless given.
    ratio : float, optional
        β / α.
    cells : int, optional
        Number k of cells, 2 to 1,000; more than two have the same prior α each.

    Notes
    -----
    δ = 0: m / (e^ε − 1) for SYNTH_Post(One), 1 / (e^{ε/m} − 1) for SYNTH_Post(Many), that plus 1 for SYNTH_MAP, none
    for PARAM_Post. δ > 0: the root of δ(ε; α) = δ, the largest of all pairs of neighbours.

    References
    ----------
    .. [1] Zheng (2015), chapter 6; Machanavajjhala et al. (2008).

    Examples
    --------
    One row, one draw: (α + 1) / (2α + 1) against α / (2α + 1), so δ = (1 − α) / (2α + 1) at ε = ln 2, 1/4 at α = 1/2.

    >>> round(minimum_prior("synth_post_one", n=1, m=1, epsilon=math.log(2)), 12)  # 1 / (2 − 1)
    1.0
    >>> round(minimum_prior("synth_post_one", n=1, m=1, epsilon=math.log(2), delta=0.25), 12)
    0.5
    """
    if beta is not None:
        beta = PRIOR_ZEROS.validate(beta)
    ratio = RATIO.validate(ratio)
    cells = int(TWO_CELLS_OR_MORE.validate(cells))
    if cells > 2 and (beta is not None or ratio != 1):
        unused = f"beta and ratio must be left out where there are {cells} cells"
        raise ValueError(f"{unused}: every cell has the same prior.")
    return _solve(replace(_search(method, n, m, epsilon, delta), beta=beta, ratio=ratio, cells=cells))


def minimum_priors(method: str, settings: Iterable[tuple[int, int, float, float]]) -> FloatArray:
    """`minimum_prior` at many settings of two cells with one prior, several times as fast as one by one.

    On the private side, within a relative 5e-12. The roots for the neighbours with 0 and 1 ones, mostly the worst, are
    found together; where δ of all neighbours is larger there, the prior is searched alone.

    Parameters
    ----------
    method : str
        Key of `PRIOR_METHODS`.
    settings : iterable of tuple
        n, m, ε and δ of each, with the domains of `minimum_prior`.

    Examples
    --------
    >>> minimum_priors("synth_post_one", [(1, 1, math.log(2), 0.0), (1, 1, math.log(2), 0.25)]).round(9).tolist()
    [1.0, 0.5]
    """
    validate_choice("method", method, PRIOR_METHODS)
    searches = [_search(method, *setting) for setting in settings]
    effective = _solve_batch(PRIOR_METHODS[method].effective, tuple(search.effective for search in searches))
    return np.array([search.from_effective(prior) for search, prior in zip(searches, effective, strict=True)])


def validate_epsilon(epsilon: float, delta: float) -> float:
    """Validate an ε, which may be 0 where δ is positive.

    Parameters
    ----------
    epsilon : float
        More than 0, or 0 where δ is positive.
    delta : float
    """
    return 0.0 if delta > 0 and plain_number(epsilon) == 0 else EPSILON.validate(epsilon)


def prior_for_delta(
    delta_of: Callable[[float], float],
    delta: float,
    low: float,
    high: float,
    guess: float,
    tolerance: float = LOG_TOLERANCE,
) -> float:
    """Smallest prior in [low, high] with δ(prior) ≤ δ, on the private side; ∞ where `high` is not enough.

    Parameters
    ----------
    delta_of : callable
        δ as a function of the prior, in which it never rises.
    delta : float
        In (0, 1).
    low, high, guess : float
        The search begins at `guess`.
    tolerance : float, optional
        Of ln prior.

    Notes
    -----
    The root of ln(ln δ(prior) / ln δ), which is nearly linear in ln prior, is bracketed by steps that double, then
    found by Brent's method.

    Examples
    --------
    >>> round(prior_for_delta(lambda prior: math.exp(-prior), math.exp(-3), 1e-9, 1e9, 1.0), 9)
    3.0
    """

    def prior_at(log_prior: float) -> float:
        return min(max(math.exp(log_prior), low), high)

    @cache
    def excess(log_prior: float) -> float:
        value = delta_of(prior_at(log_prior))
        if not 0 < value < 1:
            return math.copysign(FAR_EXCESS, 0.5 - value)
        difference = math.log(math.log(value) / math.log(delta))
        return min(difference, -math.ulp(0.0)) if value > delta else difference  # negative even where it rounds to 0

    # A bracket around the guess
    bottom = math.log(low)
    top = math.log(high)
    left = right = min(max(math.log(guess), bottom), top)
    step = 1.0
    while excess(left) >= 0:
        if left == bottom:
            return low
        right = left
        left = max(left - step, bottom)
        step *= 2
    while excess(right) < 0:
        if right == top:
            return math.inf
        left = right
        right = min(right + step, top)
        step *= 2

    # Its root, moved to the private side
    root = float(brentq(excess, left, right, xtol=tolerance, rtol=1e-15))
    step = tolerance
    while root < right and delta_of(prior_at(root)) > delta:
        root += step
        step *= 2
    return prior_at(root)


@dataclass(frozen=True)
class _Search:
    """Valid arguments of `minimum_prior`, and δ as a function of the effective prior α − `method.lost`."""

    method: PriorMethod
    n: int
    m: int
    epsilon: float
    delta: float = 0.0
    beta: float | None = None
    ratio: float = 1.0
    cells: int = 2

    @property
    def effective(self) -> "_Search":
        """The search by the method that releases the same from the effective prior; itself if α and β differ."""
        is_symmetric = self.beta is None and self.ratio == 1
        return replace(self, method=self.method.effective) if is_symmetric else self

    def from_effective(self, effective: float) -> float:
        """Smallest α whose effective prior is at least the answer of `effective`, or that without δ if smaller."""
        return min(self.method.prior_of(effective), self.minimum_pure_alpha)

    def priors(self, alpha: float) -> tuple[float, float]:
        """α and the β that goes with it."""
        return alpha, self.ratio * alpha if self.beta is None else self.beta

    def delta_of(self, effective: float) -> float:
        """δ of the worst neighbours at an effective prior."""
        alpha, beta = self.priors(effective + self.method.lost)
        return delta_for_epsilon(self.method.release(self.n, self.m, alpha, beta, self.cells), self.epsilon)

    @property
    def has_closed_form(self) -> bool:
        """Whether `minimum_pure_alpha` is the answer: none is enough, δ is 0, or none smaller is in the domain."""
        return not self.method.calibrated or self.delta == 0 or self.minimum_pure_alpha <= PRIOR_ONES.minimum

    @cached_property
    def minimum_pure_alpha(self) -> float:
        """Smallest α for δ = 0, where min(α, β) reaches the answer for α = β; ∞ where none in the domain does."""
        symmetric = self.method.minimum_pure_prior(self.m, self.epsilon) if self.epsilon > 0 else math.inf
        if self.beta is not None:
            return symmetric if self.beta >= symmetric else math.inf
        if math.isinf(symmetric):
            return math.inf
        smallest = symmetric / min(1.0, self.ratio)
        alpha = round_to_private_side(smallest, math.inf, lambda alpha: min(self.priors(alpha)) >= symmetric)
        return alpha if max(self.priors(alpha)) <= PRIOR_ONES.maximum else math.inf

    def minimum_effective_prior(self) -> float:
        """Smallest effective prior in the domain of the method: a posterior mode needs α and β above 1."""
        lost = self.method.lost
        smallest = math.nextafter(lost, math.inf) if lost else PRIOR_ZEROS.minimum
        if self.beta is not None and self.beta < smallest:
            raise ValueError(
                f"beta (invented rows with no) must be above 1 for the posterior mode; got {format_number(self.beta)}."
            )
        alpha = smallest * (max(1.0, 1 / self.ratio) if self.beta is None else 1.0)
        return round_to_private_side(alpha - lost, math.inf, lambda x: min(self.priors(x + lost)) >= smallest)

    @property
    def guess(self) -> float:
        """Effective prior at which a search begins: δ is about e^{−α(e^ε − 1 − ε)}, and at ε = 0 it is 1 / √(πα)."""
        if self.epsilon == 0:
            return 1 / (math.pi * max(self.delta, 1e-7) ** 2)  # at most 3e13, beyond any prior that is tried
        rate = math.expm1(min(self.epsilon, MAX_EXPONENT)) - self.epsilon
        return max(-math.log(self.delta) / rate, 1e-9)  # positive even where δ is nearly 1


def _search(method: str, n: int, m: int, epsilon: float, delta: float) -> _Search:
    """The search with these arguments, validated."""
    validate_choice("method", method, PRIOR_METHODS)
    n = int(MANY_ROWS.validate(n))
    m = int(MANY_SYNTHETIC_ROWS.validate(m))
    delta = BELOW_ONE.validate(delta)
    return _Search(PRIOR_METHODS[method], n, m, validate_epsilon(epsilon, delta), delta)


@lru_cache(maxsize=4096)  # a page, its table of theorems and its picture ask for the same
def _solve(search: _Search) -> float:
    """`minimum_prior` of valid arguments."""
    method = search.method
    pure = search.minimum_pure_alpha
    if search.has_closed_form:
        return pure
    if search.effective.method is not method:
        return search.from_effective(_solve(search.effective))
    low = search.minimum_effective_prior()
    high = min(pure - method.lost, MAX_SEARCHED_PRIOR / max(1.0, search.ratio if search.beta is None else 1.0))
    effective = prior_for_delta(search.delta_of, search.delta, low, high, search.guess)
    if effective > low:  # a root, which needs a margin
        effective *= 1 + PRIOR_ROUNDING * (1 + search.epsilon)
    return search.from_effective(effective)


@lru_cache(maxsize=32)  # SYNTH_MAP and SYNTH_Post(Many) have the same effective method
def _solve_batch(method: PriorMethod, searches: tuple[_Search, ...]) -> list[float]:
    """`_solve` of many searches of one effective method for two cells."""
    open_searches = [search for search in searches if not search.has_closed_form]
    priors = {}
    if open_searches and method.prior_type.log_pair_deltas is not UnderPrior.log_pair_deltas:
        roots = _roots_of_outermost_pairs(method, open_searches).tolist()
        for search, prior in zip(open_searches, roots, strict=True):
            is_inside = PRIOR_ONES.minimum <= prior < min(search.minimum_pure_alpha, MAX_SEARCHED_PRIOR)
            if is_inside and search.delta_of(prior) <= search.delta:
                priors[search] = prior
    return [priors[search] if search in priors else _solve(search) for search in searches]


def _roots_of_outermost_pairs(method: PriorMethod, searches: Sequence[_Search]) -> FloatArray:
    """Priors with which the tables of 0 and 1 ones alone have the δ of each search, rounded up; NaN without a root."""

    def excess(log_prior: FloatArray, *setting: FloatArray) -> FloatArray:
        n, m, epsilon, log_delta = setting
        prior = np.exp(log_prior)
        ends = np.stack([prior, prior + (n - 1)])  # both directions
        both = method.prior_type.log_pair_deltas(ends.ravel(), ends[::-1].ravel(), np.tile(m, 2), np.tile(epsilon, 2))
        ratio = both.reshape(2, -1).max(axis=0) / log_delta
        with np.errstate(divide="ignore"):
            return np.clip(np.log(np.maximum(ratio, 0.0)), -FAR_EXCESS, FAR_EXCESS)

    # A bracket around each guess, and the roots inside
    settings = np.array([(search.n, search.m, search.epsilon, math.log(search.delta)) for search in searches]).T
    middle = np.log([search.guess for search in searches])
    bracket = bracket_root(excess, middle - 0.5, middle + 0.5, args=tuple(settings), maxiter=8)
    is_bracketed = bracket.success
    roots = np.full(len(searches), math.nan)
    if is_bracketed.any():
        ends = tuple(end[is_bracketed] for end in bracket.bracket)
        root = find_root(excess, ends, args=tuple(settings[:, is_bracketed]), tolerances={"xatol": LOG_TOLERANCE})
        private = np.where(root.f_x >= 0, root.x, root.bracket[1])
        roots[is_bracketed] = np.exp(private) * (1 + BATCH_ROUNDING)
    return roots
