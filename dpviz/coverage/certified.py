"""The smallest coverage over a whole range of p, certified: between the ends of intervals it is a polynomial.

So is, over the whole range, the expected length. Releases too many for one table are taken one confidential count after
the other (`dpviz.coverage._bracket`).
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from dpviz.core import limits
from dpviz.core.declarations import LEVEL, PROPORTION, SETS
from dpviz.core.numerics.binomial_averages import (
    Extreme,
    cell_edges,
    cells,
    maximum,
    minimum,
    minimum_of_pieces,
    restrict,
)
from dpviz.core.types import FloatArray, IntArray
from dpviz.coverage._bracket import CoverageBracket, FewDistributions, SharedDistributions, counts_that_matter
from dpviz.coverage._intervals import ends_of, features
from dpviz.coverage.distributions import ROW_ERROR, TOO_LONG
from dpviz.coverage.exact import exact_coverage
from dpviz.inference.confidential import binomial_distribution, binomial_distributions
from dpviz.inference.interval_rules import Ends, IntervalRule, SetStatistics, widen_for_rounding
from dpviz.inference.rules import RULES, check_rule
from dpviz.mechanisms import TwoCellSynthesizer

RATIO_STEPS, RATIO_GAP = 30, 1e-12  # Of the search for the largest ratio: at most, and what is left at its end
RAREST = 1e-6  # Probability of an interval below which a mean length says nothing
BOUND_ROUNDING = 1e-12  # More than what a coefficient loses to rounding on the way to a part of its cell
FIRST_PIECES = 16  # Of those with the smallest bounds, by whose values the others are sorted out


class ReleaseTable(NamedTuple):
    """All releases that a rule tells apart: `rows` is Pr(release | x), shape (n + 1, releases), `found` what it reads.

    Their intervals reach from `low` to `high`, NaN where there is none.
    """

    rows: FloatArray
    found: SetStatistics
    low: FloatArray
    high: FloatArray

    @property
    def reach(self) -> Ends:
        """What each interval holds."""
        return widen_for_rounding(self.low, self.high)

    @property
    def lengths(self) -> FloatArray:
        """The length inside 0 to 1 of each interval, 0 where there is none, and whether there is one, in columns."""
        ends = self.low, self.high
        return np.column_stack([features(*ends, ends).inside, ~np.isnan(self.low)])


class Intervals(NamedTuple):
    """What intervals do at each of several true proportions: how often they hold it, their mean length inside 0 to 1.

    `coverage_error`, `length_error`: Bounds of their errors.
    """

    coverage: FloatArray
    length: FloatArray
    coverage_error: FloatArray
    length_error: FloatArray


def certifiable(synthesizer: TwoCellSynthesizer, sets: int, rule: IntervalRule) -> bool:
    """Return whether the table of all releases that the rule tells apart, for every x, has at most 4 million entries.

    A rule that knows the noise tells the sums apart, another one the counts of one set, or the pairs of two.
    """
    fits = rule.is_feasible(synthesizer, sets) and (rule.is_noise_aware or sets <= 2)
    return fits and _entries(synthesizer, sets, rule) <= limits.MAX_TABLE_ENTRIES


def _entries(synthesizer: TwoCellSynthesizer, sets: int, rule: IntervalRule) -> int:
    n, m = synthesizer.n, synthesizer.m
    return (n + 1) * (sets * m + 1 if rule.is_noise_aware or sets == 1 else (m + 1) * (m + 2) // 2)


def release_table(synthesizer: TwoCellSynthesizer, sets: int, rule: IntervalRule, level: float) -> ReleaseTable:
    """Return the table, or a ValueError where it is not `certifiable`."""
    if not certifiable(synthesizer, sets, rule):
        raise ValueError(TOO_LONG)
    distributions = FewDistributions(synthesizer, sets, rule, np.arange(synthesizer.n + 1))
    return ReleaseTable(distributions.every(), distributions.releases, *ends_of(rule, distributions.releases, level))


def _table(synthesizer: TwoCellSynthesizer, sets: int, rule: IntervalRule, level: float) -> ReleaseTable:
    """`release_table`, the same as the last time where the same is asked, unless it is large."""
    if _entries(synthesizer, sets, rule) > limits.MAX_CACHED_ENTRIES:
        return release_table(synthesizer, sets, rule, level)
    return _last_table(synthesizer, sets, rule.key, level)


@lru_cache(maxsize=1)
def _last_table(synthesizer: TwoCellSynthesizer, sets: int, rule: str, level: float) -> ReleaseTable:
    return release_table(synthesizer, sets, RULES[rule], level)


def intervals_at(
    synthesizer: TwoCellSynthesizer, *, proportions: Sequence[float], sets: int, rule: str, level: float = 0.95
) -> Intervals:
    """Return what the intervals do at some true proportions, from the table of all releases.

    A ValueError where they are too many. With s the share of releases that have an interval, and each probability off
    by e in all, a mean length w is off by at most e (1 + w) / (s − e).

    >>> from dpviz.mechanisms import BetaBinomial
    >>> found = intervals_at(BetaBinomial(n=1, m=1, alpha=1, beta=1), proportions=[0.0], sets=1, rule="as_if_real")
    >>> found.coverage.round(9).tolist(), found.length.tolist()
    ([0.666666667], [0.0])
    """
    proportions = PROPORTION.validate_array(proportions, name="proportions")
    sets = SETS.validate(sets)
    level = LEVEL.validate(level)
    table, p = _table(synthesizer, sets, check_rule(rule, sets), level), np.asarray(proportions, float)
    chances = binomial_distributions(synthesizer.n, tuple(p.tolist())) @ table.rows
    lowest, highest = (end[None] for end in table.reach)
    coverage = np.minimum((chances * ((lowest <= p[:, None]) & (p[:, None] <= highest))).sum(axis=1), 1.0)
    length, some = (chances @ table.lengths).T
    error = (sets + 1) * ROW_ERROR
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.clip(length / some, 0.0, 1.0)
        off = np.where(some > error, np.minimum(error * (1 + mean) / (some - error), 1.0), 1.0)
    return Intervals(coverage, mean, np.full(p.shape, error), off)


def smallest_coverage(
    synthesizer: TwoCellSynthesizer, *, sets: int, rule: str, level: float = 0.95, low: float = 0.0, high: float = 1.0
) -> Extreme:
    """Return inf C(p) for p from `low` to `high`, certified, and the p at, or beside, which it lies.

    C(p) = Σ_x Binomial(x; n, p) f_x with f_x = Pr(the interval holds p | x). Between two neighbouring ends of intervals
    f does not depend on p, so C is a polynomial there whose Bernstein coefficients on [0, 1] are the f_x. Each piece is
    restricted to its range, the smallest coefficient on which bounds it from below, and halved until the bound is
    attained. Where intervals end C jumps: its smaller side counts, though the closed intervals hold the end itself.
    Of several such p with the same coverage it is the smallest, if intervals end there.
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
    sets = SETS.validate(sets)
    level = LEVEL.validate(level)
    low = PROPORTION.validate(low, name="low")
    high = PROPORTION.validate(high, name="high")
    if low > high:
        raise ValueError(f"low must not be above high; got {low} and {high}.")
    *_, found = _narrowing(SharedDistributions(synthesizer, sets), check_rule(rule, sets), level, low, high)
    return found


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
    sets = SETS.validate(sets)
    level = LEVEL.validate(level)
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
    """Yield what is known of the smallest coverage: first nothing, then of some pieces, then all."""
    table = _table(synthesizer, sets, rule, level)
    rows, (lowest, highest) = table.rows, table.reach
    exists = ~np.isnan(lowest)
    if not exists.all():
        rows, lowest, highest = np.ascontiguousarray(rows[:, exists]), lowest[exists], highest[exists]
    if low == high:
        covered = rows[:, (lowest <= low) & (low <= highest)].sum(axis=1)
        yield Extreme(float(binomial_distribution(synthesizer.n, low) @ covered), low)
        return
    cuts = np.concatenate([lowest, highest, cell_edges(synthesizer.n)])
    cuts = np.unique(np.concatenate([cuts[(cuts > low) & (cuts < high)], [low, high]]))
    # The release covers the pieces from `first` to `beyond` − 1 of those between the cuts.
    first, beyond = np.searchsorted(cuts, lowest), np.searchsorted(cuts, highest, side="right") - 1
    beyond, pieces = np.maximum(beyond, first), np.arange(len(cuts) - 1)
    orders = [np.argsort(places, kind="stable") for places in (first, beyond)]
    begun, over = (
        np.searchsorted(places[order], pieces, "right") for places, order in zip((first, beyond), orders, strict=True)
    )
    alike = (orders[0] == orders[1]).all()  # as almost always, where the ends rise with the count
    entered = _running(rows, orders[0])
    left = entered if alike else _running(rows, orders[1])
    best, found = Extreme(np.inf, np.nan), list[list[FloatArray]]()
    yield best
    for cell in cells(synthesizer.n, low, high):
        start, stop = (int(np.searchsorted(cuts, max(min(end, high), low))) for end in (cell.low, cell.high))
        if start == stop:
            continue
        given = slice(cell.first, cell.first + cell.weights.shape[1])
        covered = entered[given, begun[start:stop]] - left[given, over[start:stop]]
        covered[:, begun[start:stop] == over[start:stop]] = 0.0  # no release covers it, whatever rounding leaves
        begin, end = cuts[start:stop], cuts[start + 1 : stop + 1]
        found.append([(cell.weights @ covered).T, begin, end, cell.inside(begin), cell.inside(end)])
    del entered, left
    in_cells, *ends = map(np.concatenate, zip(*found, strict=True))
    # No polynomial is below its smallest coefficient on its cell: most pieces need no closer look.
    bounds = in_cells.min(axis=1)
    for some in (np.argsort(bounds)[:FIRST_PIECES], slice(None)):
        chosen = np.arange(len(bounds))[some]
        chosen = chosen[bounds[chosen] < best.value + BOUND_ROUNDING]
        begin, end, *inside = (one[chosen] for one in ends)
        coefficients = restrict(in_cells[chosen], *inside)
        best = min(best, minimum_of_pieces(coefficients, begin, end))
        # Of jumps with the same coverage, as at p and 1 − p, the first is told.
        values, places = coefficients[:, [0, -1]], np.column_stack([begin, end])
        yield best._replace(at=min([best.at, *places[values <= best.value + BOUND_ROUNDING].tolist()]))


def _running(rows: FloatArray, order: IntArray) -> FloatArray:
    """The sums of the first releases in this order, from none of them to all."""
    sums = np.zeros((len(rows), len(order) + 1))
    np.cumsum(rows if (np.diff(order) == 1).all() else rows[:, order], axis=1, out=sums[:, 1:])
    return sums


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
    sets = SETS.validate(sets)
    level = LEVEL.validate(level)
    low = PROPORTION.validate(low, name="low")
    high = PROPORTION.validate(high, name="high")
    length, exists, error = _expected(synthesizer, sets, check_rule(rule, sets), level, low, high)
    rarest = minimum(exists, low, high).value - error
    if rarest <= RAREST:
        raise ValueError("Almost no release has an interval.")
    value, at = 0.0, low
    for _ in range(RATIO_STEPS):
        beyond = maximum(length - value * exists, low, high)
        if beyond.value <= RATIO_GAP:
            break
        weights, at = binomial_distribution(synthesizer.n, beyond.at), beyond.at
        value = float(weights @ length / (weights @ exists))
    off = error * (1 + value) / rarest
    most = min(value + max(beyond.value, 0.0) / rarest + off, 1.0)
    return Extreme(max(value - off, 0.0), at, most - max(value - off, 0.0))


def _expected(
    synthesizer: TwoCellSynthesizer, sets: int, rule: IntervalRule, level: float, low: float, high: float
) -> tuple[FloatArray, FloatArray, float]:
    """Given x: the expected length inside 0 to 1, the probability of an interval, and a bound of their errors.

    Both are 0 for counts that do not matter at any p of the range.
    """
    if certifiable(synthesizer, sets, rule):
        table = _table(synthesizer, sets, rule, level)
        return *(table.rows @ table.lengths).T, 0.0
    counts = counts_that_matter(synthesizer.n, low, high)
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
    return found[:, 0], found[:, 1], distributions.error
