"""The smallest coverage over a whole range of p, certified: between the ends of intervals it is a polynomial.

So is, over the whole range, the expected length. Releases too many for one table are taken one confidential count after
the other (`dpviz.coverage._bracket`).
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from dpviz.core import limits
from dpviz.core.checked import checked
from dpviz.core.declarations import LEVEL, PROPORTION, SETS
from dpviz.core.numerics.bernstein import Extreme, cells, edges, extremes, restricted, smallest_of
from dpviz.core.types import FloatArray, IntArray
from dpviz.coverage._bracket import CoverageBracket, SharedDistributions, counts_that_matter
from dpviz.coverage._intervals import ends_of, features
from dpviz.coverage.distributions import TOO_LONG
from dpviz.coverage.exact import exact_coverage
from dpviz.inference.confidential import binomial_distribution
from dpviz.inference.interval_rules import IntervalRule, Releases, reached
from dpviz.inference.rules import check_rule
from dpviz.mechanisms import TwoCellSynthesizer

RATIO_STEPS, RATIO_GAP = 30, 1e-12  # Of the search for the largest ratio: at most, and what is left at its end
RAREST = 1e-6  # Probability of an interval below which a mean length says nothing


class ReleaseTable(NamedTuple):
    """All releases that a rule tells apart: `rows` is Pr(release | x), shape (n + 1, releases), `found` what it reads.

    Their intervals reach from `low` to `high`, NaN where there is none.
    """

    rows: FloatArray
    found: Releases
    low: FloatArray
    high: FloatArray


def certifiable(synthesizer: TwoCellSynthesizer, sets: int, rule: IntervalRule) -> bool:
    """Return whether the table of all releases that the rule tells apart, for every x, has at most 4 million entries.

    A rule that knows the noise tells the sums apart, another one the counts of one set, or the pairs of two.
    """
    n, m = synthesizer.n, synthesizer.m
    if not rule.fits(synthesizer, sets):
        return False
    many = sets * m + 1 if rule.knows_noise or sets == 1 else (m + 1) * (m + 2) // 2
    return (n + 1) * many <= limits.TABLE_ENTRIES and (rule.knows_noise or sets <= 2)


def release_table(synthesizer: TwoCellSynthesizer, sets: int, rule: IntervalRule, level: float) -> ReleaseTable:
    """Return the table, or a ValueError where it is not `certifiable`."""
    if not certifiable(synthesizer, sets, rule):
        raise ValueError(TOO_LONG)
    distributions = SharedDistributions(synthesizer, sets).of(rule, np.arange(synthesizer.n + 1))
    rows = np.array([distributions.given(count).probabilities for count in distributions.order])
    return ReleaseTable(rows, distributions.releases, *ends_of(rule, distributions.releases, level))


@checked(sets=SETS, level=LEVEL, low=PROPORTION, high=PROPORTION)
def smallest_coverage(
    synthesizer: TwoCellSynthesizer, *, sets: int, rule: str, level: float = 0.95, low: float = 0.0, high: float = 1.0
) -> Extreme:
    """Return inf C(p) for p from `low` to `high`, certified, and the p at, or beside, which it lies.

    C(p) = Σ_x Binomial(x; n, p) f_x with f_x = Pr(the interval holds p | x). Between two neighbouring ends of intervals
    f does not depend on p, so C is a polynomial there whose Bernstein coefficients on [0, 1] are the f_x. Each piece is
    restricted to its range, the smallest coefficient on which bounds it from below, and halved until the bound is
    attained. Where intervals end C jumps: its smaller side counts, though the closed intervals hold the end itself.
    It is right to within 10⁻¹² where a table of all releases is small (`certifiable`), as for one or two sets. For more
    the value is attained, within the error of the sums, and nothing is more than the `gap`, about 10⁻⁵, below it.
    `synthesizer`, `sets`, `rule`, `level`: As in `exact_coverage`; a ValueError where there are too many releases.
    Source: Farouki & Rajan (1987) on Bernstein coefficients; Brown, Cai & DasGupta (2001) on the jumps.
    One row that is told with probability 2/3, as if real: an interval of width 0 at 0 or at 1.

    >>> from dpviz.mechanisms import BetaBinomial, GeometricSanitizer
    >>> release = BetaBinomial(n=1, m=1, alpha=1, beta=1)
    >>> smallest_coverage(release, sets=1, rule="as_if_real")
    Extreme(value=0.0, at=0.0, gap=0.0)
    >>> round(smallest_coverage(release, sets=1, rule="as_if_real", low=1).value, 12)
    0.666666666667
    >>> found = smallest_coverage(GeometricSanitizer(n=50, epsilon=2), sets=1, rule="score", low=0.05, high=0.5)
    >>> round(found.value, 7)
    0.9242167
    """
    if low > high:
        raise ValueError(f"low must not be above high; got {low} and {high}.")
    *_, found = _narrowing(SharedDistributions(synthesizer, sets), check_rule(rule, sets), level, low, high)
    return found


@checked(sets=SETS, level=LEVEL)
def stream_smallest_coverages(
    synthesizer: TwoCellSynthesizer, *, sets: int, rules: Sequence[str], level: float = 0.95
) -> Iterator[dict[str, Extreme]]:
    """Yield the smallest coverage anywhere from 0 to 1 of those rules whose releases are not too many, one by one.

    The same comes again while one is computed, so that nobody waits long who wants no more.

    >>> from dpviz.mechanisms import BetaBinomial
    >>> *_, last = stream_smallest_coverages(BetaBinomial(n=1, m=1, alpha=1, beta=1), sets=1, rules=["as_if_real"])
    >>> last
    {'as_if_real': Extreme(value=0.0, at=0.0, gap=0.0)}
    """
    return smallest_one_by_one(SharedDistributions(synthesizer, sets), rules, level)


def smallest_one_by_one(
    shared: SharedDistributions,
    rules: Sequence[str],
    level: float,
    brackets: Mapping[str, CoverageBracket] | None = None,
) -> Iterator[dict[str, Extreme]]:
    """`stream_smallest_coverages`, by the `brackets` of those rules whose search has begun."""
    found: dict[str, Extreme] = {}
    yield dict(found)
    for key in rules:
        try:
            begun = (brackets or {}).get(key)
            for best in _narrowing(shared, check_rule(key, shared.sets), level, 0.0, 1.0, begun):  # noqa: B007 (the last)
                yield dict(found)
        except ValueError:  # too many releases
            continue
        found[key] = best
    yield dict(found)


def _narrowing(
    shared: SharedDistributions,
    rule: IntervalRule,
    level: float,
    low: float,
    high: float,
    begun: CoverageBracket | None = None,
) -> Iterator[Extreme]:
    """Yield what is known of the smallest coverage, all of it at last."""
    synthesizer, sets = shared.synthesizer, shared.sets
    if certifiable(synthesizer, sets, rule):
        for best in _from_table(synthesizer, sets, rule, level, low, high):
            yield Extreme(min(max(best.value, 0.0), 1.0), best.at)
    elif low == high:
        one = exact_coverage(synthesizer=synthesizer, p=low, sets=sets, rule=rule.key, level=level)
        yield Extreme(min(one.coverage + one.error_bound, 1.0), low, 2 * one.error_bound)
    else:
        yield from (begun or CoverageBracket(shared, rule, level, low, high)).narrowing()


def _from_table(
    synthesizer: TwoCellSynthesizer, sets: int, rule: IntervalRule, level: float, low: float, high: float
) -> Iterator[Extreme]:
    """Yield the smallest coverage from `low` on, up to the end of one cell after the other."""
    table = release_table(synthesizer, sets, rule, level)
    exists = ~np.isnan(table.low)
    lowest, highest = reached(table.low[exists], table.high[exists])
    rows = np.ascontiguousarray(table.rows[:, exists])
    if low == high:
        covered = rows[:, (lowest <= low) & (low <= highest)].sum(axis=1)
        yield Extreme(float(binomial_distribution(synthesizer.n, low) @ covered), low)
        return
    cuts = np.concatenate([lowest, highest, edges(synthesizer.n)])
    cuts = np.unique(np.concatenate([cuts[(cuts > low) & (cuts < high)], [low, high]]))
    # The release covers the pieces from `first` to `beyond` − 1 of those between the cuts.
    first, beyond = np.searchsorted(cuts, lowest), np.searchsorted(cuts, highest, side="right") - 1
    beyond = np.maximum(beyond, first)
    best = Extreme(np.inf, np.nan)
    for cell in cells(synthesizer.n, low, high):
        start, stop = (int(np.searchsorted(cuts, max(min(end, high), low))) for end in (cell.low, cell.high))
        if start == stop:
            continue
        given = rows[cell.first : cell.first + cell.weights.shape[1]]
        inner = given[:, (first <= start) & (beyond > start)].sum(axis=1, keepdims=True)
        covered = inner + _changes(given, first, beyond, start, stop)
        left, right = cuts[start:stop], cuts[start + 1 : stop + 1]
        pieces = restricted((cell.weights @ covered).T, cell.inside(left), cell.inside(right))
        best = min(best, smallest_of(pieces, left, right))
        yield best


def _changes(given: FloatArray, first: IntArray, beyond: IntArray, start: int, stop: int) -> FloatArray:
    """How much more is covered given x in each piece from `start` to `stop` − 1 than in the first of them."""
    enter = np.flatnonzero((first > start) & (first < stop) & (beyond > first))
    leave = np.flatnonzero((beyond > start) & (beyond < stop) & (beyond > first))
    place = np.concatenate([first[enter], beyond[leave]]) - start
    order = np.argsort(place, kind="stable")
    releases = np.concatenate([enter, leave])[order]
    signs = np.where(order < len(enter), 1.0, -1.0)
    summed = np.zeros((len(given), len(order) + 1))
    np.cumsum(given[:, releases] * signs, axis=1, out=summed[:, 1:])
    return summed[:, np.searchsorted(place[order], np.arange(stop - start), side="right")]


@checked(sets=SETS, level=LEVEL, low=PROPORTION, high=PROPORTION)
def largest_mean_width(
    synthesizer: TwoCellSynthesizer, *, sets: int, rule: str, level: float = 0.95, low: float = 0.0, high: float = 1.0
) -> Extreme:
    """Return the largest expected length of the interval inside 0 to 1 for p from `low` to `high`, certified likewise.

    It is E[length] / Pr(there is an interval), two polynomials of degree n. The value at one p after the other, each
    where E[length] − value · Pr(there is one) is largest, grows to the largest ratio (Dinkelbach 1967). A ValueError
    where releases are too many, or where somewhere almost none has an interval.

    >>> from dpviz.mechanisms import BetaBinomial
    >>> release = BetaBinomial(n=1, m=1, alpha=1, beta=1)
    >>> largest_mean_width(release, sets=1, rule="as_if_real")
    Extreme(value=0.0, at=0.0, gap=0.0)
    """
    length, exists, error = _expected(synthesizer, sets, check_rule(rule, sets), level, low, high)
    rarest = extremes(exists, low, high)[0].value - error
    if rarest <= RAREST:
        raise ValueError("Almost no release has an interval.")
    value, at = 0.0, low
    for _ in range(RATIO_STEPS):
        beyond = extremes(length - value * exists, low, high)[1]
        if beyond.value <= RATIO_GAP:
            break
        weights, at = binomial_distribution(synthesizer.n, beyond.at), beyond.at
        value = float(weights @ length / (weights @ exists))
    off = error * (1 + value) / rarest
    largest = min(value + max(beyond.value, 0.0) / rarest + off, 1.0)
    return Extreme(max(value - off, 0.0), at, largest - max(value - off, 0.0))


def _expected(
    synthesizer: TwoCellSynthesizer, sets: int, rule: IntervalRule, level: float, low: float, high: float
) -> tuple[FloatArray, FloatArray, float]:
    """Given x: the expected length inside 0 to 1, the probability of an interval, and a bound of their errors.

    Both are 0 for counts that do not matter at any p of the range.
    """
    whole = certifiable(synthesizer, sets, rule)
    counts = np.arange(synthesizer.n + 1) if whole else counts_that_matter(synthesizer.n, low, high)
    distributions = SharedDistributions(synthesizer, sets).of(rule, counts)
    ends = ends_of(rule, distributions.releases, level)
    inside, some = features(*ends, ends).inside.ravel(), ~np.isnan(ends[0].ravel())
    at_places, found = np.zeros((int(distributions.places[-1]) + 1, 2)), np.zeros((synthesizer.n + 1, 2))
    for place in distributions.order:
        given = distributions.given(place)
        at_places[place] = given.probabilities @ inside[given.part], given.probabilities @ some[given.part]
        if distributions.mirrored:
            at_places[distributions.across - place] = at_places[place]
    found[counts] = distributions.at_counts(at_places)
    return found[:, 0], found[:, 1], 0.0 if whole else distributions.error
