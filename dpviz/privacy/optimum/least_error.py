"""The smallest error that any release of one count with the promise (ε, δ) can have, and a mechanism that has it."""

import math
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, Literal

import numpy as np

from dpviz.core.declarations import ANY_EPSILON, DELTA
from dpviz.core.formatting import format_distinct, format_number, round_down, round_up
from dpviz.core.limits import MAX_PROGRAMME_ROWS, MAX_TABLE_ENTRIES
from dpviz.core.numerics.special import capped_expm1
from dpviz.core.parameters import argument, validate_choice
from dpviz.core.types import FloatArray
from dpviz.mechanisms.matrix_mechanism import GivenMatrix
from dpviz.privacy.optimum.approximate_dp_bound import BoundSearch
from dpviz.privacy.optimum.channels import (
    PEOPLE,
    Mechanism,
    Noise,
    NoiseMixture,
    best_mixture,
    geometric_channel,
    geometric_errors,
    geometric_means,
)
from dpviz.privacy.optimum.minimax import minimax_estimates

Criterion = Literal["average", "worst"]
PROPORTION_ERROR = argument("error", 0.0, 1.0, title="Root mean squared error of a proportion")
SMALLEST_PROBABILITY = 1e-300  # probability that every column has, so that none is 0 beside a positive one
ERROR_TOLERANCE = 1e-9  # relative distance within which two errors are equal
MIN_STATED_PERCENT, MAX_STATED_RATIO = 0.01, 1e6  # of an error against the smallest: beyond, a number says nothing
FITTED = 200  # n up to which the worst case is fitted at every x, and the number of steps of its prior beyond
# Of the way from the released number to a better estimate: for n above `FITTED` the best is mostly near the end
READINGS = (0.0, 0.25, 0.5, 0.75, 0.85, 0.9, 0.95, 1.0)


@dataclass(frozen=True, kw_only=True)
class LeastError:
    """The answer of `least_error`, with the question.

    `root_mean_squared_error` is that of the number that `release` stands for, about the confidential proportion x/n: no
    known mechanism has less. Any mechanism with this promise could have less by `gap` at most; up to rounding it is 0
    where δ = 0 and the criterion is the average.
    """

    n: int
    epsilon: float
    delta: float
    criterion: str
    root_mean_squared_error: float
    gap: float
    _mechanism: Mechanism = field(repr=False, compare=False)

    @property
    def lower_bound(self) -> float:
        """The root mean squared error that no mechanism with this promise is below: the limit to draw."""
        return self.root_mean_squared_error - self.gap

    @property
    def estimates(self) -> FloatArray:
        """The proportion that every column of `release` stands for: released, or concluded by who sees the column."""
        return self._mechanism.estimates / self.n

    @cached_property
    def release(self) -> GivenMatrix:
        """Pr(column | x): a mechanism that has this error if column j stands for the number ``estimates[j]``.

        The columns are no released counts: with δ = 0 there are n + 1 of them, noisy counts, each of which says the
        posterior mean; with δ as many as the search found useful. It keeps (ε, δ) to the last digit.
        """
        if (self.n + 1) * len(self._mechanism.estimates) > MAX_TABLE_ENTRIES:
            raise ValueError(
                f"The matrix of n = {format_number(self.n)} is too large: release needs at most "
                f"{format_number(MAX_TABLE_ENTRIES)} entries. The error itself is known."
            )
        channel = self._mechanism.channel()
        share = 0.0  # of even columns, which are mixed in against rounding
        while True:
            matrix = np.maximum((1 - share) * channel + share / channel.shape[1], SMALLEST_PROBABILITY)
            release = GivenMatrix(probabilities=matrix)
            if self.delta == 0 and release.worst_log_odds().value <= self.epsilon:
                return release
            if self.delta > 0 and release.hockey_stick(self.epsilon).value <= self.delta:
                return release
            share = min(max(16 * share, 1e-16 * math.exp(-self.epsilon), SMALLEST_PROBABILITY), 1.0)

    def prices(self, error: float) -> tuple[float, float]:
        """How many times the smallest error another one is: at least, and at most."""
        error = PROPORTION_ERROR.validate(error)
        low, high = (
            error / best if best > 0 else math.inf if error > 0 else 1.0
            for best in (self.root_mean_squared_error, self.lower_bound)
        )
        return low, high

    def times(self, error: float) -> str:
        """`prices` to three digits: one number where both ends are alike, else from where to where."""
        low, high = self.prices(error)
        if math.isinf(low):
            return "infinitely many"
        if math.isinf(high):
            return f"at least {format_number(round_down(low, 3), 3)}"
        if max(abs(low - 1), abs(high - 1)) <= ERROR_TOLERANCE:
            return "1"
        if math.isclose(low, high, rel_tol=ERROR_TOLERANCE):
            return format_distinct(low, 1.0, 3)
        return _format_range(low, high, 4 if high < 2 else 3)

    def compared(self, error: float) -> str:
        """How much larger than the smallest error another one is, to be followed by "that of …"."""
        low, high = self.prices(error)
        if low >= MAX_STATED_RATIO:
            return "more than a million times"
        if high >= 2:
            return f"{self.times(error)} times"
        if high <= 1 + ERROR_TOLERANCE:
            return "no larger than"
        smallest, largest = (round(100 * (price - 1), 9) for price in (low, high))
        if largest < MIN_STATED_PERCENT:
            return f"less than {MIN_STATED_PERCENT:g} % larger than"
        if smallest <= 0.1 and not math.isclose(low, high, rel_tol=ERROR_TOLERANCE):  # a slight excess
            return f"at most {format_number(round_up(largest, 2), 2)} % larger than"
        return f"{_format_range(smallest, largest, 2)} % larger than"


def _format_range(low: float, high: float, digits: int) -> str:
    """The two ends, rounded away from each other, or the one number that both are."""
    if format_number(low, digits) == format_number(high, digits):
        return format_number(high, digits)
    return f"{format_number(round_down(low, digits), digits)} to {format_number(round_up(high, digits), digits)}"


def least_error(*, n: int, epsilon: float, delta: float = 0.0, criterion: Criterion = "average") -> LeastError:
    """Smallest root mean squared error of x/n from any (ε, δ)-differentially private release of x of n.

    Parameters
    ----------
    n : int
        People.
    epsilon, delta : float
    criterion : {"average", "worst"}
        The error is the root of the average over x = 0 … n of E[(release − x/n)²], or of its worst x.

    Notes
    -----
    Any release counts, of any numbers from any number of columns, and whatever its user concludes from it.

    δ = 0: the geometric mechanism, and the posterior mean of its user, is the best for every prior [1]_; that of the
    least favorable prior for the worst x [2]_. δ > 0: geometric noise with bounded range, and the dual of a linear
    programme, which no mechanism is below; `gap` says what is left between them, about 1 % at most up to n = 1,000,
    ε = 30 and δ = 0.95; with a larger ε or δ it may be more.

    References
    ----------
    .. [1] Ghosh, Roughgarden & Sundararajan (2009); `dpviz.privacy.optimum.channels` has the proof for numbers.
    .. [2] Gupte & Sundararajan (2010).

    Examples
    --------
    A fair coin with ε = ln 3 on one row: the truth with probability 3/4, so that the estimates are 1/4 and 3/4, and the
    squared error is 3/4 · 1/16 + 1/4 · 9/16 = 3/16.

    >>> best = least_error(n=1, epsilon=math.log(3))
    >>> round(best.root_mean_squared_error**2, 12), best.estimates.round(12).tolist()
    (0.1875, [0.25, 0.75])
    """
    n, epsilon, delta = PEOPLE.validate(n), ANY_EPSILON.validate(epsilon), DELTA.validate(delta)
    validate_choice("criterion", criterion, ("average", "worst"))
    largest = 600.0  # with more ε than that the error is below 10⁻¹³⁰ all the same
    mechanism, bound = _search(n, min(epsilon, largest), delta, criterion)
    error = math.sqrt(max(_error_of(mechanism, criterion), 0.0)) / n
    gap = max(error - math.sqrt(max(bound, 0.0)) / n, 0.0) if epsilon <= largest else error
    question: dict[str, Any] = {"n": n, "epsilon": epsilon, "delta": delta, "criterion": criterion}
    return LeastError(**question, root_mean_squared_error=error, gap=gap, _mechanism=mechanism)


def _error_of(mechanism: Mechanism, criterion: Criterion) -> float:
    """Squared error of a mechanism by the criterion."""
    return float(mechanism.errors.max() if criterion == "worst" else mechanism.errors.mean())


def _search(n: int, epsilon: float, delta: float, criterion: Criterion) -> tuple[Mechanism, float]:
    """The mechanism with the smallest squared error, and a bound on all others."""
    if delta > 0:
        return _search_mixtures(n, epsilon, delta, criterion)
    channel = partial(geometric_channel, n, epsilon)
    if criterion == "average":
        mechanism = Mechanism(channel, *geometric_means(np.full(n + 1, 1 / (n + 1)), epsilon))
        return mechanism, float(mechanism.errors.mean())

    # The least favorable prior; beyond `FITTED` of some counts, and a smooth one of all, which leave a gap
    steps, step = min(n, FITTED), max(n / FITTED, 1.0)
    if epsilon > 0 and n > FITTED:
        step = min(max(0.3 / epsilon, 1.0), step)  # nearly as good as steps of 1
    weights, estimates = minimax_estimates(geometric_channel(steps, epsilon * step))
    prior = np.zeros(n + 1)
    np.add.at(prior, np.rint((n - steps * step) / 2 + step * np.arange(steps + 1)).astype(int), weights)
    counts = np.arange(n + 1.0)
    smooth = np.sin(np.pi * (counts + 1) / (n + 2)) ** 2
    priors = [prior] if n <= FITTED else [prior, smooth / smooth.sum()]
    means = [geometric_means(weights, epsilon) for weights in priors]
    bound = max(float(weights @ errors) for weights, (_, errors) in zip(priors, means, strict=True))
    readings = [counts, *(reading for reading, _ in means)]
    if n <= FITTED:
        readings.append(estimates)
    mechanisms = [Mechanism(channel, reading, geometric_errors(reading - counts, epsilon)) for reading in readings]
    return min(mechanisms, key=lambda mechanism: float(mechanism.errors.max())), bound


def _search_mixtures(n: int, epsilon: float, delta: float, criterion: Criterion) -> tuple[Mechanism, float]:
    """The mixture of noises with the smallest error, read as its user reads it best, and a bound on all others.

    For the worst x the noises are chosen under the prior of the bound, which is nearly the least favorable one.
    """
    prior = np.full(n + 1, 1 / (n + 1))
    mixture = best_mixture(n, epsilon, delta, prior)
    best = mixture.read(mixture.means(prior))
    average = float(best.errors.mean())
    bound = _bound_of_pairs(n, epsilon, delta, criterion)
    if bound >= _error_of(best, criterion) * (1 - 1e-12) or average <= 0:
        return best, bound

    # A bound for the average, which is one for the worst x as well
    if n > MAX_PROGRAMME_ROWS:
        bound = max(bound, _bound_of_some_counts(n, epsilon, delta, criterion, average))
    else:
        search = _search_bound(mixture, delta, average, is_worst=False)
        bound, prior = max(bound, search.value), search.prior
    if criterion == "average" or bound >= (1 - 4e-3) * _error_of(best, criterion):
        return best, bound

    # A bound for the worst x, and the best reading of the noises under its prior
    if n <= MAX_PROGRAMME_ROWS:
        search = _search_bound(mixture, delta, average, is_worst=True)
        bound, prior = max(bound, search.value), search.prior
    mechanisms = [best]
    for mixed in (best_mixture(n, epsilon, delta, prior), mixture):
        plain = np.clip(mixed.releases, 0, n)
        for estimates in (_minimax_reading(mixed), mixed.means(prior)):
            mechanisms += [mixed.read(plain + part * (estimates - plain)) for part in READINGS]
    return min(mechanisms, key=lambda mechanism: float(mechanism.errors.max())), bound


def _search_bound(mixture: NoiseMixture, delta: float, average: float, *, is_worst: bool) -> BoundSearch:
    """The bound for the promise of a mixture whose average error is known, which is a good place to begin."""
    noise = mixture.parts[0][1]
    estimates = mixture.split(_minimax_reading(mixture))[0] if is_worst else noise.releases
    search = BoundSearch(
        noise.n, noise.epsilon, delta, is_worst=is_worst, scale=math.sqrt(average), slope=mixture.slope
    )
    used = [(part.left, part.right) for _, part in mixture.parts]
    reaches = {(left + by, right + by) for left, right in used for by in (-1, 0, 1) if min(left, right) + by >= 0}
    return search.run(reaches, noise.releases, estimates)


def _minimax_reading(mixture: NoiseMixture) -> FloatArray:
    """Estimates whose largest error is the smallest; beyond `FITTED` those of fewer counts, interpolated."""
    n, epsilon = mixture.parts[0][1].n, mixture.parts[0][1].epsilon
    steps = min(n, FITTED)
    step = n / steps
    reaches = [(share, round(noise.left / step), round(noise.right / step)) for share, noise in mixture.parts]
    coarse = NoiseMixture(tuple((share, Noise(steps, epsilon * step, *ends)) for share, *ends in reaches))
    estimates = coarse.split(minimax_estimates(coarse.channel())[1])
    pieces = []
    for (_, noise), (_, fewer), reading in zip(mixture.parts, coarse.parts, estimates, strict=True):
        shifts = np.interp(noise.releases / step, fewer.releases, reading - fewer.releases)
        pieces.append(noise.releases + step * shifts)
    return np.clip(np.concatenate(pieces), 0, n)


def _bound_of_pairs(n: int, epsilon: float, delta: float, criterion: Criterion) -> float:
    """The bound from x and x + 1 alone: the exact answer for n = 1, and what is left for large ε.

    For two neighbours everything comes from the truth with probability δ and a coin else: Kairouz, Oh & Viswanath
    (2015), theorem 2.
    """
    fall = math.exp(-epsilon)
    share = 1.0 if criterion == "worst" else 2 * ((n + 1) // 2) / (n + 1)
    return share * (1 - delta) * fall / (1 + fall) ** 2


def _bound_of_some_counts(n: int, epsilon: float, delta: float, criterion: Criterion, average: float) -> float:
    """A bound for large n from that for some counts in equal steps: step² times the error among those.

    A mechanism for all counts is one for some; neighbours at distance g are g pairs apart, so that it keeps
    (gε, δ (e^{gε} − 1)/(e^ε − 1)) among them. For the average all counts but a few are divided into such sets: side by
    side where the error is small beside the step, else one between the other.
    """
    step = math.ceil((n + 1) / (MAX_PROGRAMME_ROWS + 1))
    step = step if math.sqrt(average) >= 4 * step else 1
    sets = step * math.ceil((n + 1) / (step * (MAX_PROGRAMME_ROWS + 1)))
    steps = (n + 1) // sets - 1
    share = 1.0 if criterion == "worst" else sets * (steps + 1) / (n + 1)
    joint = delta * (capped_expm1(step * epsilon) / capped_expm1(epsilon) if epsilon > 0 else step)
    return share * step**2 * _search(steps, step * epsilon, joint, criterion)[1] if joint < 1 else 0.0
