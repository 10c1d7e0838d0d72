"""The prior that M independent synthetic sets of the same data need together, and how a design chooses it."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from typing import Any

from scipy.optimize import brentq, minimize_scalar
from scipy.special import expit

from dpviz.calibration.methods import CALIBRATED_METHODS, TWO_CELLS_OR_MORE, PriorMethod, method_of
from dpviz.calibration.smallest_prior import minimum_prior, prior_for_delta
from dpviz.core import limits
from dpviz.core.declarations import COMPOSED_SETS, DELTA, EPSILON, MANY_ROWS, MANY_SYNTHETIC_ROWS
from dpviz.core.formatting import format_number
from dpviz.core.numerics.special import round_to_private_side
from dpviz.core.parameters import validate_choice
from dpviz.mechanisms import Synthesizer
from dpviz.mechanisms.cell_mechanisms import PriorCellSynthesizer
from dpviz.privacy.pld import advanced_composition
from dpviz.privacy.several_sets import largest_over_pairs

MIN_COMPOSED_DELTA = 1e-150
"""Smallest δ of several sets whose losses must be added up: below it the numbers are too small for that."""

MIN_COMPOSED_HOLD = 1e-9
"""Smallest 1 − δ of them: sums next to 1 are off by 1e-13."""

# Of the sum of losses, for a first root, as far from the answer the finer sums of a thousand sets are too long, and for
# the answer, whose α is rounded up by less than a millionth
COARSE_RESOLUTION, RESOLUTION = 5e-2, 5e-3
COARSE_ERROR = 1e-2  # relative, of coarse sums and of the first root: far more than they are off by


def minimum_prior_for_sets(
    method: str, *, n: int, m: int, sets: int, epsilon: float, delta: float, cells: int = 2
) -> float:
    """Smallest α in every cell with which M sets together are (ε, δ)-differentially private.

    On the private side, about 1e-6 above the smallest, relative; about 1e-3 where too many pairs tie.

    Parameters
    ----------
    method : str
        Key of `CALIBRATED_METHODS`.
    n, m : int
        Confidential rows, and synthetic rows of one set.
    sets : int
        Number M of sets.
    epsilon, delta : float
        Of all sets together, ε/M at least 1e-6; without δ each set has ε/M.
    cells : int, optional
        Number k of cells, at least 2.

    Raises
    ------
    ValueError
        If the losses of the sets cannot be added up: δ below 1e-150 or 1 − δ below 1e-9 (posterior draws), too many
        rows, or a method whose losses are not known.

    Notes
    -----
    Two cells: the largest δ_M(ε; α) over all n pairs of neighbours is δ. More: the worst neighbours hold their only
    row of two cells in one or in the other, everything else elsewhere, whatever M is; PARAM_Post then tells neither k
    nor n. M sets of a plug-in are one set of Mm rows.

    Source: Zheng (2015), Proposition 2.17, Theorem 2.18 and §6.4, made exact; Charest (2011) for ε/M each.

    Examples
    --------
    One row and two sets of one draw: each has odds 1 + 1/α at most, together 4 where α = 1.

    >>> round(minimum_prior_for_sets("synth_post_one", n=1, m=1, sets=2, epsilon=math.log(4), delta=0.0), 9)
    1.0
    """
    prior_method = _validate(method, n, m, sets, epsilon, delta)
    cells = int(TWO_CELLS_OR_MORE.validate(cells))
    if cells > 2 and not prior_method.knows_cells:
        n, m, cells = 1, 1, 2

    def for_one_set(share: float, failure: float, rows: int = m) -> float:
        return minimum_prior(method, n=n, m=rows, epsilon=share, delta=failure, cells=cells)

    # Where one set answers
    if delta == 0:
        return for_one_set(epsilon / sets, 0.0)
    if prior_method.independent or sets == 1:
        return for_one_set(epsilon, delta, sets * m)
    if cells > 2 and max(n, m) > limits.MAX_ROWS_OF_CELL_SETS:
        limit = f"at most {limits.MAX_ROWS_OF_CELL_SETS:,} for several sets of {cells} cells"
        raise ValueError(f"n and m must be {limit}; got {format_number(max(n, m))}.")

    # A single set needs less than M sets; M sets that divide ε, or ε and δ, equally need more
    low = max(for_one_set(epsilon, delta), 1e-291)  # which counts as none
    high = for_one_set(epsilon / sets, 0.0)
    if math.isinf(high):
        high = for_one_set(epsilon / sets, delta / sets)
    if not low < high < math.inf:
        return high
    if 1 - delta < MIN_COMPOSED_HOLD and low > 1e-291:
        limit = f"at most 1 − {format_number(MIN_COMPOSED_HOLD)} for several sets of this method"
        raise ValueError(f"delta (allowed failure) must be {limit}; got 1 − {format_number(1 - delta)}.")
    n_pairs = n if cells == 2 else 1

    @cache
    def delta_of_block(alpha: float, first: int, last: int, resolution: float = RESOLUTION) -> float:
        """Bound on δ of these pairs: that of one which shares only what all of them share."""
        x, y = alpha + first, alpha + (n_pairs - 1 - last)
        if cells > 2:
            left_out = 1e-10 * delta / sets
            shared = prior_method.cell_losses(n, m, cells, left_out, x, y)
        else:
            shared = prior_method.losses(x, y, m, epsilon / sets, resolution)
        return shared.composed_delta(sets, epsilon, resolution=resolution, max_size=limits.MAX_LOSS_POINTS)

    return _prior_of_worst_pair(delta_of_block, n_pairs, delta, low, high)


def _validate(method: str, n: int, m: int, sets: int, epsilon: float, delta: float) -> PriorMethod:
    """The method of this key, after a look at all other arguments."""
    validate_choice("method", method, CALIBRATED_METHODS)
    declarations = MANY_ROWS, MANY_SYNTHETIC_ROWS, COMPOSED_SETS, EPSILON, DELTA
    for declaration, value in zip(declarations, (n, m, sets, epsilon, delta), strict=True):
        declaration.validate(value)
    prior_method = CALIBRATED_METHODS[method]
    if 0 < delta < MIN_COMPOSED_DELTA and sets > 1 and not prior_method.independent:
        smallest = f"0, or at least {format_number(MIN_COMPOSED_DELTA)} for several sets of a posterior draw"
        raise ValueError(f"delta (allowed failure) must be {smallest}; got {format_number(delta)}.")
    if epsilon / sets < EPSILON.minimum:
        raise ValueError(
            f"epsilon must be at least {format_number(EPSILON.minimum)} for each set; got {format_number(epsilon)}."
        )
    if delta > 0 and prior_method.independent and sets * m > limits.MAX_PRIOR_ROWS:
        raise ValueError(
            f"sets times m (all synthetic rows together) must be at most {limits.MAX_PRIOR_ROWS:,} for several sets of "
            f"a plug-in; got {format_number(sets * m)}."
        )
    return prior_method


def _prior_of_worst_pair(
    delta_of_block: Callable[..., float], n_pairs: int, delta: float, low: float, high: float
) -> float:
    """Root of δ of the worst pair of neighbours, and of a worse one as long as there is any; first of coarse sums.

    The prior is symmetric: the pairs i and n − 1 − i are the two directions of one. Where too many pairs tie to be told
    apart, the prior is larger, so that the bounds of all of them prove it enough.
    """

    def bound(alpha: float, first: int, last: int) -> float:
        """Bound on the δ of these pairs: coarse where that is within δ already."""
        coarse = delta_of_block(alpha, first, last, COARSE_RESOLUTION) * (1 + COARSE_ERROR)
        return coarse if coarse <= delta else delta_of_block(alpha, first, last)

    guess = math.sqrt(low) * math.sqrt(high)
    pair = max((0, n_pairs - 1), key=lambda end: delta_of_block(guess, end, end, COARSE_RESOLUTION))
    while True:
        delta_of = partial(delta_of_block, first=pair, last=pair)
        coarse_delta_of = partial(delta_of, resolution=COARSE_RESOLUTION)
        coarse = min(prior_for_delta(coarse_delta_of, delta, low, high, guess, 1e-4), high)
        bottom, top = max(low, coarse * (1 - COARSE_ERROR)), min(coarse * (1 + COARSE_ERROR), high)
        alpha = min(prior_for_delta(delta_of, delta, bottom, top, coarse, 3e-10), high)
        value, worse = largest_over_pairs(partial(bound, alpha), n_pairs, enough=delta)
        while worse == pair and value > delta and alpha < high:  # undecided: steps of a thousandth
            alpha = min(1.001 * alpha, high)
            value, worse = largest_over_pairs(partial(bound, alpha), n_pairs, enough=delta)
        if value <= delta or alpha >= high:
            return alpha
        low = guess = alpha
        pair = worse


def minimum_by_advanced(need: Callable[[float, float], float], sets: int, epsilon: float, delta: float) -> float:
    """What M sets need by advanced composition with the best slack δ' = δ / (1 + e^{−t}).

    Each set gets (ε₀, δ₀): ε₀ is the largest that Theorem 2.18 of Zheng (2015) takes to ε with slack δ', and
    δ₀ = (δ − δ') / M. The need is ∞ where every split leaves a set less than the smallest ε.

    Parameters
    ----------
    need : callable
        What one set needs for (ε₀, δ₀), the more the more private: a prior, or one over a range.
    sets : int
    epsilon, delta : float
        Of all sets together; δ in (0, 1).

    Examples
    --------
    Where a set needs 1/ε₀ whatever its δ, all of δ is best spent as slack.

    >>> round(minimum_by_advanced(lambda epsilon, delta: 1 / epsilon, 4, 1.0, 1e-6), 3)
    10.897
    """

    def with_slack(t: float) -> float:
        slack, failure = delta * float(expit(t)), delta * float(expit(-t)) / sets
        limit = epsilon / math.sqrt(-2 * sets * math.log(slack))

        def excess(share: float) -> float:
            return advanced_composition(share, sets, slack) - epsilon

        share = float(brentq(excess, 0.0, limit, xtol=1e-13 * limit, rtol=1e-13))
        share = round_to_private_side(share, 0.0, lambda value: excess(value) <= 0)
        return need(share, failure) if share >= EPSILON.minimum else math.inf

    def log_need(t: float) -> float:
        return math.log(min(with_slack(t), 1e300))

    best = minimize_scalar(log_need, bounds=(-8.0, 8.0), method="bounded", options={"xatol": 1e-2})
    return min(with_slack(float(best.x)), with_slack(math.inf))


@dataclass(frozen=True)
class PriorRule:
    """How α = β of each set follows for a synthesizer with a prior, from the `numbers` of a design."""

    label: str
    numbers: tuple[str, ...]
    alpha: Callable[[Any], float]


def _divided_alpha(design: Any) -> float:
    return design.synthesizer_type.smallest_alpha(m=design.m, epsilon=design.epsilon / design.sets)


def _exact_alpha(design: Any) -> float:
    divided = _divided_alpha(design)
    if divided < 1e-50:  # a prior without effect: no better count of the cost is asked for
        return divided
    synthesizer_type = design.synthesizer_type
    has_cells = issubclass(synthesizer_type, PriorCellSynthesizer)
    method = method_of(synthesizer_type.two_cells if has_cells else synthesizer_type)
    cells = int(dict(design.details).get("cells", 3)) if has_cells else 2
    if design.sets > 1 and not (method.independent or method.knows(PriorMethod.losses)):
        raise ValueError(
            f"prior must be 'pure' (ε split equally) or 'own' (your α) for sets of {synthesizer_type.info.label}; "
            "got 'exact'."
        )
    setting = {name: getattr(design, name) for name in ("n", "m", "sets", "epsilon", "delta")}
    return _alpha_of_sets(method.key, **setting, cells=cells)


# It takes up to half a second, and few controls of a page change its answer
_alpha_of_sets = lru_cache(maxsize=4096)(minimum_prior_for_sets)

# By key: the papers' rule, as in Charest (2011); the exact composition of the sets; α as it is set.
PRIOR_RULES = {
    "pure": PriorRule("split ε equally over the sets, as in the papers", ("epsilon",), _divided_alpha),
    "exact": PriorRule("smallest prior for all sets together, with δ", ("epsilon", "delta"), _exact_alpha),
    "own": PriorRule("choose α myself", ("alpha",), lambda design: design.alpha),
}


def promised_by(synthesizer_type: type[Synthesizer], prior: str) -> tuple[str, ...]:
    """Names of the numbers that a release follows from: those of its promise, or of its prior by the rule of this key.

    Parameters
    ----------
    synthesizer_type : type of Synthesizer
    prior : str
        Key of `PRIOR_RULES`; unused by a synthesizer without a prior.
    """
    if synthesizer_type.has_prior:
        return PRIOR_RULES[prior].numbers
    return tuple(name for name in synthesizer_type.numbers() if name in ("epsilon", "alpha"))
