"""How often the interval of a rule holds the true proportion, by sums over every release: at a point, along an axis."""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from typing import TypeVar

import numpy as np

from dpviz.core.declarations import LEVEL, PROPORTION, SETS
from dpviz.core.types import FloatArray, IntArray
from dpviz.coverage._intervals import Asked, Measures, Point, sum_releases
from dpviz.coverage._points import CountDistributions, point_maker, single_point
from dpviz.coverage.distributions import IN_A_MINUTE, IN_SECONDS, SIX_DIGITS, TOO_LONG, Reach, within_reach
from dpviz.inference.interval_rules import contains, set_statistics
from dpviz.inference.sum_distribution import along_axis, length_limit, matrix_rows, release_sums, within_sums
from dpviz.mechanisms import TwoCellSynthesizer
from dpviz.mechanisms.base import check_index

POINTS_BETWEEN_RESULTS = 4  # Points added between two results

Item = TypeVar("Item")
Proportions = Sequence[float] | FloatArray


@dataclass(frozen=True, kw_only=True)
class ExactCoverage(Measures[float]):
    """Coverage of one rule, by its key, at one design."""

    synthesizer: TwoCellSynthesizer
    p: float
    sets: int
    rule: str
    level: float


def exact_coverage(
    *, synthesizer: TwoCellSynthesizer, p: float, sets: int, rule: str, level: float = 0.95, quick: bool = False
) -> ExactCoverage:
    """Pr(low ≤ p ≤ high) over x ~ Binomial(n, p) and M independent releases, to within 1e-8.

    Σ_x Pr(x) Σ_{(S, Q)} Pr(S, Q | x) 1{covered}, with S = Σ x̃_j and Q = Σ x̃_j², which determine q̄, b and v̄.
    Rules that know the noise read S alone: where only such rules are asked for, its distribution is enough. Other sums
    that would take too long are refused, see `within_reach`.
    `synthesizer`: Synthesizer of one set of two counts; its share of the privacy budget is already its own.
    `p`, `sets`, `level`: True proportion, M, at least as many as the rule needs, and level of the interval.
    `rule`: Key of `dpviz.inference.RULES`.
    `quick`: Whether sums that take more than some seconds, up to a minute, are refused as well.
    Source: Charest (2011), §3.4, who simulates it.
    Charest's T* at ε = 2, p = 1/4, M = 2, where the level is meant to be 0.95.

    >>> import math
    >>> from dpviz.mechanisms import BetaBinomial
    >>> alpha = 100 / math.expm1(2 / 2)
    >>> release = BetaBinomial(n=100, m=100, alpha=alpha, beta=alpha)
    >>> round(exact_coverage(synthesizer=release, p=0.25, sets=2, rule="reiter_2002").coverage, 5)
    0.75442
    """
    p = PROPORTION.validate(p)
    sets = SETS.validate(sets)
    level = LEVEL.validate(level)
    return exact_coverages(synthesizer=synthesizer, p=p, sets=sets, rules=[rule], level=level, quick=quick)[rule]


def coverage_given_count(
    *, synthesizer: TwoCellSynthesizer, confidential_count: int, rule: str, sets: int = 1, level: float = 0.95
) -> float:
    """Pr(low ≤ x/n ≤ high | x): how often the interval from M sets holds the share of the confidential table itself.

    The table stays as it is and the releases alone are drawn again: Σ Pr(S, Q | x) 1{covered}, to rounding for one set
    and for rules that read S alone, to within 1e-8 for others; a ValueError where these sums would take too long.
    `confidential_count`: x, from 0 to n. The other parameters are those of `exact_coverage`.
    One row that is 1 is released as 1 with probability 2/3, and then the interval is [1, 1]; twice with 4/9.

    >>> from dpviz.mechanisms import BetaBinomial
    >>> release = BetaBinomial(n=1, m=1, alpha=1, beta=1)
    >>> round(coverage_given_count(synthesizer=release, confidential_count=1, rule="as_if_real"), 9)
    0.666666667
    >>> round(coverage_given_count(synthesizer=release, confidential_count=1, rule="as_if_real", sets=2), 9)
    0.444444444
    """
    sets = SETS.validate(sets)
    level = LEVEL.validate(level)
    x, (asked,) = (
        check_index(confidential_count, synthesizer.n + 1, "confidential_count"),
        Asked.of(synthesizer, sets, [rule], level).rules,
    )
    if sets == 1 or asked.is_noise_aware:
        row = matrix_rows(synthesizer, np.array([x]))[0]
        distribution = row
        for _ in range(sets - 1):
            distribution = np.convolve(distribution, row)
        total = np.arange(sets * synthesizer.m + 1)
        found = (
            sum_releases(synthesizer, sets, len(total)) if sets > 1 else set_statistics(synthesizer, 1, total, total**2)
        )
    else:
        if not within_reach(synthesizer.n, synthesizer.m, sets):
            raise ValueError(TOO_LONG)
        given = CountDistributions(synthesizer, sets, np.array([x]))
        part = given.given(x)
        found, distribution = given.releases, np.zeros(given.releases.total.size)
        distribution[part.part] = part.probabilities
    low, high = asked.ends(found, level)
    held = contains(low, high, x / synthesizer.n).ravel()
    return float(distribution[held].sum() / distribution.sum())


def exact_coverages(
    *,
    synthesizer: TwoCellSynthesizer,
    p: float,
    sets: int,
    rules: Sequence[str],
    level: float = 0.95,
    quick: bool = False,
) -> dict[str, ExactCoverage]:
    """`exact_coverage` of several rules, by key, from one distribution of the releases."""
    p = PROPORTION.validate(p)
    sets = SETS.validate(sets)
    level = LEVEL.validate(level)
    return _coverages(Asked.of(synthesizer, sets, rules, level), p, IN_SECONDS if quick else IN_A_MINUTE)


def _coverages(asked: Asked, p: float, reach: Reach) -> dict[str, ExactCoverage]:
    """`exact_coverage` of each rule asked for; a ValueError where the sums are beyond `reach`."""
    point = single_point(asked, p, reach)
    return {
        rule.key: ExactCoverage(
            **{name: float(part[place]) for name, part in vars(point).items()},
            synthesizer=asked.synthesizer,
            p=p,
            sets=asked.sets,
            rule=rule.key,
            level=asked.level,
        )
        for place, rule in enumerate(asked.rules)
    }


def coverages_in_reach(
    synthesizer: TwoCellSynthesizer, *, p: float, sets: int, rules: Sequence[str], level: float = 0.95
) -> dict[str, ExactCoverage]:
    """Return `exact_coverages` of the rules whose sums take some seconds at most, those that read the sum alone or all.

    Empty where there are none, or so much noise that the sums would take longer. Parameters are those of
    `exact_coverages`.

    >>> from dpviz.mechanisms import BetaBinomial
    >>> release = BetaBinomial(n=2000, m=2000, alpha=1, beta=1)
    >>> list(coverages_in_reach(release, p=0.5, sets=10, rules=["reiter_2003"]))
    []
    """
    p = PROPORTION.validate(p)
    sets = SETS.validate(sets)
    level = LEVEL.validate(level)
    by_sum = [rule.key for rule in Asked.of(synthesizer, sets, rules, level).rules if rule.is_noise_aware]
    for some in (rules, by_sum) if within_reach(synthesizer.n, synthesizer.m, sets) else (by_sum,):
        with contextlib.suppress(ValueError):  # so much noise that the sums would take longer
            return exact_coverages(synthesizer=synthesizer, p=p, sets=sets, rules=some, level=level, quick=True)
    return {}


def coverages_to_six_digits(
    synthesizer: TwoCellSynthesizer, *, p: float, sets: int, rules: Sequence[str], level: float = 0.95
) -> dict[str, ExactCoverage]:
    """`coverages_in_reach` to within 10⁻⁶ instead of 10⁻⁸, in half of the time, where that takes transforms.

    Parameters
    ----------
    synthesizer, p, sets, rules, level
        As in `coverages_in_reach`.

    Returns
    -------
    dict of str to ExactCoverage
        By the keys of the rules.

    Examples
    --------
    >>> from dpviz.mechanisms import BetaBinomial
    >>> release = BetaBinomial(n=100, m=100, alpha=25, beta=25)
    >>> rough = coverages_to_six_digits(release, p=0.25, sets=5, rules=["reiter_2002"])["reiter_2002"]
    >>> exact = coverages_in_reach(release, p=0.25, sets=5, rules=["reiter_2002"])["reiter_2002"]
    >>> exact.error_bound < 1e-8 < abs(rough.coverage - exact.coverage) < rough.error_bound < 1e-6
    True
    """
    p = PROPORTION.validate(p)
    sets = SETS.validate(sets)
    level = LEVEL.validate(level)
    asked = Asked.of(synthesizer, sets, rules, level)
    if sets > 2 and not asked.by_sum and within_reach(synthesizer.n, synthesizer.m, sets):
        with contextlib.suppress(ValueError):
            return _coverages(asked, p, SIX_DIGITS)
    return coverages_in_reach(synthesizer, p=p, sets=sets, rules=rules, level=level)


def stream_coverages(
    synthesizer: TwoCellSynthesizer, *, p: float, sets: int, rules: Sequence[str], level: float = 0.95
) -> Iterator[dict[str, ExactCoverage]]:
    """`coverages_to_six_digits` as a stream with a single result, for whoever does not wait for it.

    Parameters
    ----------
    synthesizer, p, sets, rules, level
        As in `coverages_in_reach`.

    Yields
    ------
    dict of str to ExactCoverage

    Examples
    --------
    >>> from dpviz.mechanisms import BetaBinomial
    >>> release = BetaBinomial(n=2, m=2, alpha=1, beta=1)
    >>> [list(result) for result in stream_coverages(release, p=0.5, sets=1, rules=["as_if_real"])]
    [['as_if_real']]
    """
    yield coverages_to_six_digits(synthesizer, p=p, sets=sets, rules=rules, level=level)


@dataclass(frozen=True, kw_only=True)
class CoverageCurves(Measures[FloatArray]):
    """Coverage at several points of an axis: `rules` are keys, `places` which points are done, in increasing order."""

    rules: tuple[str, ...]
    places: IntArray


def coverage_by_proportion(
    synthesizer: TwoCellSynthesizer, *, proportions: Proportions, sets: int, rules: Sequence[str], level: float = 0.95
) -> CoverageCurves:
    """Exact coverage at every p, each from 0 to 1, to within 1e-8: Σ_x Pr(x | p) F_x(p), F_x(p) the coverage given x.

    Parameters are those of `exact_coverages`.
    At p = 0 every confidential row is 0; a release of one row then has a zero-width interval at 0 or 1.

    >>> from dpviz.mechanisms import BetaBinomial
    >>> release = BetaBinomial(n=1, m=1, alpha=1, beta=1)
    >>> curves = coverage_by_proportion(release, proportions=[0, 0.5, 1], sets=1, rules=["as_if_real"])
    >>> curves.coverage.round(9).tolist()
    [[0.666666667, 0.0, 0.666666667]]
    """
    proportions = PROPORTION.validate_array(proportions, name="proportions")
    sets = SETS.validate(sets)
    level = LEVEL.validate(level)
    *_, last = _curves(Asked.of(synthesizer, sets, rules, level), proportions, len(proportions))
    return last


def stream_by_proportion(
    synthesizer: TwoCellSynthesizer, *, proportions: Proportions, sets: int, rules: Sequence[str], level: float = 0.95
) -> Iterator[CoverageCurves]:
    """`coverage_by_proportion` as a growing curve: the points done so far, coarse to fine, a few more each time."""
    proportions = PROPORTION.validate_array(proportions, name="proportions")
    sets = SETS.validate(sets)
    level = LEVEL.validate(level)
    return _curves(Asked.of(synthesizer, sets, rules, level), proportions, POINTS_BETWEEN_RESULTS)


def _curves(asked: Asked, proportions: Proportions, step: int) -> Iterator[CoverageCurves]:
    points = point_axis(proportions)
    return growing(asked, points.tolist(), point_maker(asked, np.unique(points)), step)


def stream_by_synthesizer(
    synthesizers: Sequence[TwoCellSynthesizer], *, p: float, sets: int, rules: Sequence[str], level: float = 0.95
) -> Iterator[CoverageCurves]:
    """Exact coverage at one p for each synthesizer, such as one at several ε, as a growing curve: one more each time.

    The synthesizers' n and m may differ; the other parameters are those of `exact_coverages`.

    >>> from dpviz.mechanisms import BetaBinomial
    >>> releases = [BetaBinomial(n=1, m=1, alpha=prior, beta=prior) for prior in (1, 1e12)]
    >>> *_, last = stream_by_synthesizer(releases, p=0, sets=1, rules=["as_if_real"])
    >>> last.coverage.round(6).tolist()
    [[0.666667, 0.5]]
    """
    p = PROPORTION.validate(p)
    sets = SETS.validate(sets)
    level = LEVEL.validate(level)
    if not len(synthesizers):
        raise ValueError("synthesizers must hold at least one synthesizer; got none.")
    asked = Asked.of(synthesizers[0], sets, rules, level)
    yield from growing(asked, synthesizers, lambda one: single_point(asked._replace(synthesizer=one), p), 1)


def point_axis(proportions: Proportions) -> FloatArray:
    """Checked proportions as an array with one axis, or a ValueError."""
    if np.ndim(proportions) != 1 or not len(proportions):
        raise ValueError("proportions must be one or more numbers from 0 to 1 in a row.")
    return along_axis(np.asarray(proportions, float))


def growing(
    asked: Asked, items: Sequence[Item], point: Callable[[Item], Point], step: int = POINTS_BETWEEN_RESULTS
) -> Iterator[CoverageCurves]:
    """Yield the points of the items done so far, coarse to fine, `step` more each time."""
    rules, done = tuple(rule.key for rule in asked.rules), dict[int, Point]()
    for index in coarse_to_fine(len(items)):
        done[index] = point(items[index])
        if len(done) % step == 0 or len(done) == len(items):
            places = sorted(done)
            columns = {
                one.name: np.array([getattr(done[place], one.name) for place in places]).T for one in fields(Measures)
            }
            yield CoverageCurves(rules=rules, places=np.array(places), **columns)


def coarse_to_fine(count: int) -> list[int]:
    """Return the indices 0 … count − 1 so that every beginning covers the axis about evenly: ends, middle, quarters, ….

    >>> coarse_to_fine(5)
    [0, 4, 2, 1, 3]
    """
    order: dict[int, None] = {}
    pieces = 1
    while len(order) < count:
        order |= dict.fromkeys(round(part * (count - 1) / pieces) for part in range(pieces + 1))
        pieces *= 2
    return list(order)


@dataclass(frozen=True, kw_only=True)
class LengthCurves:
    """Expected lengths at the points of an axis that are done.

    `limit` is the Pratt bound and `limit_error` how far it may be off (see `length_limit`), NaN where the
    distribution of the sum is too large; `curves` has `mean_width_inside` of each rule.
    """

    proportions: FloatArray
    curves: CoverageCurves
    limit: FloatArray
    limit_error: FloatArray


def stream_lengths(
    synthesizer: TwoCellSynthesizer, *, proportions: Proportions, sets: int, rules: Sequence[str], level: float = 0.95
) -> Iterator[LengthCurves]:
    """Yield the expected lengths inside 0 to 1 of several rules and their limit, as growing curves, coarse to fine.

    A fair coin in place of one row: the interval that must hold its level at every p is [0, 1], or nothing.

    >>> from dpviz.mechanisms import BetaBinomial
    >>> release = BetaBinomial(n=1, m=1, alpha=1e12, beta=1e12)
    >>> *_, last = stream_lengths(release, proportions=[0.5], sets=1, rules=["clopper_pearson"])
    >>> float(last.curves.mean_width_inside[0, 0].round(6)), float(last.limit[0].round(6))
    (1.0, 0.95)
    """
    proportions = PROPORTION.validate_array(proportions, name="proportions")
    sets = SETS.validate(sets)
    level = LEVEL.validate(level)
    axis = np.asarray(proportions, float)
    sums = release_sums(synthesizer, sets) if within_sums(synthesizer.n, synthesizer.m, sets) else None
    limit, error = np.full((2, len(axis)), np.nan)
    done = np.zeros(len(axis), dtype=bool)
    for curves in stream_by_proportion(synthesizer, proportions=axis, sets=sets, rules=rules, level=level):
        places = curves.places
        new = places[~done[places]]
        if sums is not None:
            found = length_limit(sums, proportions=axis[new], level=level)
            limit[new], error[new] = found.length, found.error
        done[new] = True
        yield LengthCurves(proportions=axis[places], curves=curves, limit=limit[places], limit_error=error[places])
