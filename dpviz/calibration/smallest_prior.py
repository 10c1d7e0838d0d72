"""The smallest prior with which a method keeps a promise: closed forms for ε, a root of δ(ε; α) = δ for (ε, δ).

For many settings, the roots for the outermost neighbours, which are mostly the worst, are found together. Where other
neighbours have a larger δ there, and for a single setting, `prior_for_delta` finds the root over all neighbours.
"""

import math
from collections.abc import Callable, Iterable
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

# Largest prior that is tried where no closed form bounds the answer: what is added to it must stay in the domain
MAX_SEARCHED_PRIOR = PRIOR_ONES.maximum / 2
RATIO = argument("ratio", 1e-9, 1e9, title="β / α")
BELOW_ONE = replace(
    DELTA, maximum=math.nextafter(1.0, 0.0), domain_text="0 or larger, and below 1: at 1 nothing is promised"
)
LOG_TOLERANCE = 1e-13  # absolute, of ln α
MAX_SLACK = 1e3  # finite bound of ln(ln δ(α) / ln δ), which is infinite where δ(α) is rounded to 0 or 1


def minimum_prior(
    method: str, *, n: int, m: int, epsilon: float, delta: float = 0.0, beta: float | None = None, ratio: float = 1.0,
    cells: int = 2,
) -> float:  # fmt: skip
    """Smallest prior α with which a method is (ε, δ)-differentially private, rounded to the private side.

    With α = β it is 1e-300 (just above 1 for SYNTH_MAP) where any prior is enough; it is never above the prior for
    δ = 0, and ∞ where no α up to 5e11 is enough and the prior for δ = 0 leaves the domain, which ends at 1e12.

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
        Prior zeros β; `ratio` times α where left out.
    ratio : float, optional
        β / α.
    cells : int, optional
        Number k of cells, 2 to 1,000; more than two have the same prior α each.

    Notes
    -----
    δ = 0: m / (e^ε − 1) for SYNTH_Post(One), 1 / (e^{ε/m} − 1) for SYNTH_Post(Many), that plus 1 for SYNTH_MAP; no
    prior is enough for PARAM_Post. δ > 0: the root of δ(ε; α) = δ, the largest of all pairs of neighbours. Sources:
    Zheng (2015), chapter 6; Machanavajjhala et al. (2008).

    Examples
    --------
    One row, one draw: (α + 1) / (2α + 1) against α / (2α + 1), so δ = (1 − α) / (2α + 1) at ε = ln 2, 1/4 at α = 1/2.

    >>> round(minimum_prior("synth_post_one", n=1, m=1, epsilon=math.log(2)), 12)  # 1 / (2 − 1)
    1.0
    >>> round(minimum_prior("synth_post_one", n=1, m=1, epsilon=math.log(2), delta=0.25), 12)
    0.5
    """
    beta = None if beta is None else PRIOR_ZEROS.validate(beta)
    ratio, cells = RATIO.validate(ratio), TWO_CELLS_OR_MORE.validate(cells)
    if cells > 2 and (beta is not None or ratio != 1):
        unused = f"beta and ratio must be left out where there are {cells} cells"
        raise ValueError(f"{unused}: every cell has the same prior.")
    search = replace(_validate_search(method, n, m, epsilon, delta), beta=beta, ratio=ratio, cells=cells)
    return _smallest_alphas((search,))[0]


def minimum_priors(method: str, settings: Iterable[tuple[int, int, float, float]]) -> FloatArray:
    """`minimum_prior` at many settings of two cells with α = β, several times as fast as one by one.

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
    return np.array(_smallest_alphas(tuple(_validate_search(method, *setting) for setting in settings)))


@dataclass(frozen=True)
class _Search:
    """Valid arguments of `minimum_prior`, and what its search takes from them."""

    method: PriorMethod
    n: int
    m: int
    epsilon: float
    delta: float
    beta: float | None = None
    ratio: float = 1.0
    cells: int = 2

    def beta_of(self, alpha: float) -> float:
        return self.ratio * alpha if self.beta is None else self.beta

    def delta_of(self, alpha: float) -> float:
        """δ of the worst neighbours."""
        release = self.method.release(self.n, self.m, alpha, self.beta_of(alpha), self.cells)
        return delta_for_epsilon(release, self.epsilon)

    def alpha_reaching(self, prior: float) -> float:
        """Smallest α that makes both α and β at least `prior`; ∞ where that leaves the domain."""
        if math.isinf(prior) or (self.beta is not None and self.beta < prior):
            return math.inf
        smallest = prior if self.beta is not None else prior / min(1.0, self.ratio)
        alpha = round_to_private_side(smallest, math.inf, lambda alpha: min(alpha, self.beta_of(alpha)) >= prior)
        return alpha if max(alpha, self.beta_of(alpha)) <= PRIOR_ONES.maximum else math.inf

    @cached_property
    def pure_alpha(self) -> float:
        """Smallest α for δ = 0: of α and β, the smaller decides."""
        return self.alpha_reaching(self.method.minimum_pure_prior(self.m, self.epsilon) if self.epsilon else math.inf)

    @cached_property
    def domain(self) -> tuple[float, float]:
        """Smallest and largest α that is tried for δ > 0: a posterior mode needs α and β above 1."""
        lost = self.method.lost
        low = self.alpha_reaching(math.nextafter(lost, math.inf) if lost else PRIOR_ONES.minimum)
        if self.beta is not None and math.isinf(low):
            shown = format_number(self.beta)
            raise ValueError(f"beta (invented rows with no) must be above 1 for the posterior mode; got {shown}.")
        beta_per_alpha = self.ratio if self.beta is None else 1.0
        return low, min(self.pure_alpha, MAX_SEARCHED_PRIOR / max(1.0, beta_per_alpha))

    @property
    def has_closed_form(self) -> bool:
        """Whether `pure_alpha` is the answer: no prior is enough, δ is 0, or none smaller is in the domain."""
        return not self.method.calibrated or self.delta == 0 or self.pure_alpha <= PRIOR_ONES.minimum

    @property
    def guess(self) -> float:
        """Where the search begins: δ is about e^{−α(e^ε − 1 − ε)}, and at ε = 0 it is 1 / √(πα)."""
        if self.epsilon == 0:
            return 1 / (math.pi * max(self.delta, 1e-7) ** 2)  # at most 3e13, beyond any prior that is tried
        rate = math.expm1(min(self.epsilon, MAX_EXPONENT)) - self.epsilon
        return max(-math.log(self.delta) / rate, 1e-9)  # positive even where δ is nearly 1

    @property
    def margin(self) -> float:
        """Factor of a root that outweighs the rounding of δ, and that of the largest log-odds ε.

        A relative increase c of the prior lowers the largest log-odds by at least c (1 − e^{−ε}) ≥ c ε / (1 + ε),
        which must be more than ε times their relative rounding.
        """
        return 1 + max(5e-13, 4e-15 * (1 + self.epsilon))


def _validate_search(method: str, n: int, m: int, epsilon: float, delta: float) -> _Search:
    validate_choice("method", method, PRIOR_METHODS)
    n, m, delta = MANY_ROWS.validate(n), MANY_SYNTHETIC_ROWS.validate(m), BELOW_ONE.validate(delta)
    epsilon = 0.0 if delta > 0 and plain_number(epsilon) == 0 else EPSILON.validate(epsilon)
    return _Search(PRIOR_METHODS[method], n, m, epsilon, delta)


@lru_cache(maxsize=4096)  # a page, its table of theorems and its picture ask for the same
def _smallest_alphas(searches: tuple[_Search, ...]) -> list[float]:
    """`minimum_prior` of searches by one method: its closed form, or a root of δ(α)."""
    open_searches = tuple(search for search in searches if not search.has_closed_form)
    if not open_searches:
        return [search.pure_alpha for search in searches]

    # With α = β, a method that releases what another one does from a changed prior takes the root of that one
    method = searches[0].method
    is_plain = all(search.beta is None and search.ratio == 1 for search in searches)
    if is_plain and method.effective is not method:
        effective = _smallest_alphas(tuple(replace(search, method=method.effective) for search in searches))
        return [
            min(method.prior_of(prior), search.pure_alpha) for search, prior in zip(searches, effective, strict=True)
        ]

    # Many roots for the outermost neighbours together; one for all neighbours where those have a larger δ
    roots = _roots_of_outermost_pairs(open_searches) if len(open_searches) > 1 else {}
    alphas = []
    for search in searches:
        alpha = search.pure_alpha
        if not search.has_closed_form:
            low, high = search.domain
            alpha = roots.get(search, low)
            if not low <= alpha < high or search.delta_of(alpha) > search.delta:
                alpha = prior_for_delta(search.delta_of, search.delta, low, high, search.guess)
                alpha = min(alpha * search.margin, search.pure_alpha)
        alphas.append(alpha)
    return alphas


def _roots_of_outermost_pairs(searches: tuple[_Search, ...]) -> dict[_Search, float]:
    """By search, the prior, rounded up, at which the tables of 0 and 1 ones have its δ, where one was found."""
    log_pair_deltas = searches[0].method.prior_type.log_pair_deltas
    if log_pair_deltas is UnderPrior.log_pair_deltas:
        return {}

    def slack(log_prior: FloatArray, *setting: FloatArray) -> FloatArray:
        # Positive where the prior is more than enough
        n, m, epsilon, log_delta = setting
        prior = np.exp(log_prior)
        ends = np.stack([prior, prior + (n - 1)])  # both directions
        both = log_pair_deltas(ends.ravel(), ends[::-1].ravel(), np.tile(m, 2), np.tile(epsilon, 2))
        ratio = both.reshape(2, -1).max(axis=0) / log_delta
        with np.errstate(divide="ignore"):
            return np.clip(np.log(np.maximum(ratio, 0.0)), -MAX_SLACK, MAX_SLACK)

    # A bracket around each guess, and the roots inside
    settings = np.array([(search.n, search.m, search.epsilon, math.log(search.delta)) for search in searches]).T
    middle = np.log([search.guess for search in searches])
    bracket = bracket_root(slack, middle - 0.5, middle + 0.5, args=tuple(settings), maxiter=8)
    places = np.flatnonzero(bracket.success)
    if not len(places):
        return {}
    ends = tuple(end[places] for end in bracket.bracket)
    root = find_root(slack, ends, args=tuple(settings[:, places]), tolerances={"xatol": LOG_TOLERANCE})
    private = np.exp(np.where(root.f_x >= 0, root.x, root.bracket[1])).tolist()
    return {searches[place]: prior * searches[place].margin for place, prior in zip(places, private, strict=True)}


def prior_for_delta(
    delta_of: Callable[[float], float], delta: float, low: float, high: float, guess: float,
    tolerance: float = LOG_TOLERANCE,
) -> float:  # fmt: skip
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
    def slack(log_prior: float) -> float:
        value = delta_of(prior_at(log_prior))
        if not 0 < value < 1:
            return math.copysign(MAX_SLACK, 0.5 - value)
        difference = math.log(math.log(value) / math.log(delta))
        return min(difference, -1e-300) if value > delta else difference  # negative even where it rounds to 0

    # A bracket around the guess
    bottom, top = math.log(low), math.log(high)
    start = min(max(math.log(guess), bottom), top)
    steps = [2.0**count - 1 for count in range(12)]  # up to 2047, beyond ln(1e12 / 1e-300)
    left = next((at for step in steps if slack(at := max(start - step, bottom)) < 0), None)
    if left is None:
        return low
    right = next((at for step in steps if slack(at := min(start + step, top)) >= 0), None)
    if right is None:
        return math.inf

    # Its root, rounded to the private side
    root = float(brentq(slack, left, right, xtol=tolerance, rtol=1e-15)) + tolerance
    return round_to_private_side(prior_at(root), math.inf, lambda prior: delta_of(prior) <= delta)
