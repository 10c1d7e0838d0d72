"""The smallest prior with which a method keeps a promise: closed forms for ε, a root of δ(ε; α) = δ for (ε, δ)."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, lru_cache

from scipy.optimize import brentq

from dpviz.calibration.methods import PRIOR_METHODS, TWO_CELLS_OR_MORE, PriorMethod
from dpviz.core.declarations import DELTA, EPSILON, MANY_ROWS, MANY_SYNTHETIC_ROWS
from dpviz.core.formatting import format_number
from dpviz.core.numerics.special import MAX_EXPONENT, round_to_private_side
from dpviz.core.parameters import argument, plain_number, validate_choice
from dpviz.mechanisms.prior_mechanism import PRIOR_ONES, PRIOR_ZEROS
from dpviz.privacy.divergence import delta_for_epsilon

MAX_SEARCHED_PRIOR = PRIOR_ONES.maximum / 2
"""Largest prior that is tried where no closed form bounds the answer."""

RATIO = argument("ratio", 1e-9, 1e9, title="β / α")

LOG_TOLERANCE = 1e-13  # absolute, of ln α
PRIOR_ROUNDING = 4e-15  # relative change of a prior, per 1 + ε, that outweighs the rounding of its largest log-odds
FAR_EXCESS = 1e3  # stands for ln(−ln δ) where δ is rounded to 0 or 1


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

    Returns
    -------
    float
        1e-300 (just above 1 for SYNTH_MAP) where any prior is enough; ∞ where none up to 5e11 is.

    Raises
    ------
    ValueError
        If an argument is outside its domain, or the method has no exact answer.

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
    validate_choice("method", method, PRIOR_METHODS)
    n = int(MANY_ROWS.validate(n))
    m = int(MANY_SYNTHETIC_ROWS.validate(m))
    delta = DELTA.validate(delta)
    epsilon = validate_epsilon(epsilon, delta)
    if delta == 1:
        raise ValueError("delta (allowed failure) must be below 1: at 1 nothing is promised; got 1.")
    if beta is not None:
        beta = PRIOR_ZEROS.validate(beta)
    ratio = RATIO.validate(ratio)
    cells = int(TWO_CELLS_OR_MORE.validate(cells))
    if cells > 2 and (beta is not None or ratio != 1):
        left_out = f"beta and ratio must be left out where there are {cells} cells"
        raise ValueError(f"{left_out}: every cell has the same prior.")
    return smallest_prior(PriorSearch(PRIOR_METHODS[method], n, m, epsilon, delta, beta, ratio, cells))


def validate_epsilon(epsilon: float, delta: float) -> float:
    """ε as a plain number; 0 is allowed where δ is positive."""
    return 0.0 if delta > 0 and plain_number(epsilon) == 0 else EPSILON.validate(epsilon)


@dataclass(frozen=True)
class PriorSearch:
    """Arguments of `minimum_prior`, and δ as a function of the effective prior.

    The effective prior is α less `method.lost`, invented rows without effect: 1 for the posterior mode, else 0.
    """

    method: PriorMethod
    n: int
    m: int
    epsilon: float
    delta: float = 0.0
    beta: float | None = None
    ratio: float = 1.0
    cells: int = 2

    @property
    def is_symmetric(self) -> bool:
        """Whether the prior is the same in all cells."""
        return self.beta is None and self.ratio == 1

    def priors(self, alpha: float) -> tuple[float, float]:
        """α and the β that goes with it."""
        return alpha, self.ratio * alpha if self.beta is None else self.beta

    def delta_of(self, effective: float) -> float:
        """δ of the worst neighbours at an effective prior."""
        alpha, beta = self.priors(effective + self.method.lost)
        return delta_for_epsilon(self.method.release(self.n, self.m, alpha, beta, self.cells), self.epsilon)

    def smallest_pure(self) -> float:
        """Smallest α where δ = 0: the smaller of α and β must reach the answer for α = β. ∞ where none is allowed."""
        symmetric = self.method.smallest_pure(self.m, self.epsilon) if self.epsilon > 0 else math.inf
        if self.beta is not None:
            return symmetric if self.beta >= symmetric else math.inf
        if math.isinf(symmetric):
            return math.inf
        smallest = symmetric / min(1.0, self.ratio)
        alpha = round_to_private_side(smallest, math.inf, lambda alpha: min(self.priors(alpha)) >= symmetric)
        return alpha if max(self.priors(alpha)) <= PRIOR_ONES.maximum else math.inf

    def smallest_effective(self) -> float:
        """Smallest effective prior that the method accepts: both priors of the posterior mode must be above 1."""
        lost = self.method.lost
        smallest = math.nextafter(lost, math.inf) if lost else PRIOR_ZEROS.minimum
        if self.beta is not None and self.beta < smallest:
            raise ValueError(
                f"beta (invented rows with no) must be above 1 for the posterior mode; got {format_number(self.beta)}."
            )
        alpha = smallest * (max(1.0, 1 / self.ratio) if self.beta is None else 1.0)
        return round_to_private_side(alpha - lost, math.inf, lambda x: min(self.priors(x + lost)) >= smallest)


@lru_cache(maxsize=4096)  # a page, its table of theorems and its picture ask for the same
def smallest_prior(search: PriorSearch) -> float:
    """`minimum_prior` of valid arguments."""
    method = search.method
    pure = search.smallest_pure()
    if not method.calibrated or search.delta == 0 or pure <= PRIOR_ONES.minimum:
        return pure
    if method.effective is not method and search.is_symmetric:
        return min(method.prior_of(smallest_prior(replace(search, method=method.effective))), pure)

    low = search.smallest_effective()
    high = min(pure - method.lost, MAX_SEARCHED_PRIOR / max(1.0, search.ratio if search.beta is None else 1.0))
    guess = _first_guess(search.epsilon, search.delta)
    effective = smallest_root(search.delta_of, search.delta, low, high, guess)
    if effective > low:  # where `low` is enough, nothing smaller was rounded
        effective *= 1 + PRIOR_ROUNDING * (1 + search.epsilon)
    return min(method.prior_of(effective), pure)


def _first_guess(epsilon: float, delta: float) -> float:
    """Effective prior to begin with: δ falls about as e^{−α(e^ε − 1 − ε)}, and at ε = 0 as 1 / √(πα)."""
    if epsilon == 0:
        return 1 / (math.pi * max(delta, 1e-7) ** 2)
    rate = math.expm1(min(epsilon, MAX_EXPONENT)) - epsilon
    return max(-math.log(delta) / max(rate, 1e-300), 1e-9)


def smallest_root(
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
        δ, which never rises in the prior.
    delta : float
        In (0, 1).
    low, high, guess : float
        The search begins at `guess`.
    tolerance : float, optional
        Of ln prior.

    Notes
    -----
    ln(−ln δ) is nearly linear in ln prior: the root of its excess is bracketed by doubled steps, then Brent's.

    Examples
    --------
    >>> round(smallest_root(lambda prior: math.exp(-prior), math.exp(-3), 1e-9, 1e9, 1.0), 9)
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
        return min(difference, -math.ulp(0.0)) if value > delta else difference  # of the right sign at a tie as well

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
