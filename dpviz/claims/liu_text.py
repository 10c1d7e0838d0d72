"""What the sentences of Liu (2016) say of her examples, computed."""

import math
from collections.abc import Iterable, Sequence
from functools import lru_cache

import numpy as np
from scipy.special import ndtr, ndtri

from dpviz.claims.liu import LIU_HALVES, LIU_LEVEL, LIU_REPETITIONS
from dpviz.claims.published import Effort, Record
from dpviz.claims.sentences import Judge, Judged
from dpviz.comparisons.analysis import OutcomeMeasures
from dpviz.comparisons.numeric_data import KnownVariance, NormalData, UnknownVariance
from dpviz.comparisons.numeric_releases import (
    MODIPS_COMMUNAL,
    MODIPS_MEAN,
    MODIPS_MEAN_TRUNCATED,
    MODIPS_SPLIT,
    NumericMethod,
    mean_share,
)
from dpviz.comparisons.numeric_study import NumericStudy
from dpviz.comparisons.proportion_measures import share_moments
from dpviz.core.formatting import format_number
from dpviz.core.numerics.special import binomial_weights
from dpviz.coverage.exact import exact_coverage
from dpviz.inference.combining_rules import COMBINING_RULES
from dpviz.inference.interval_rules import contains, set_statistics
from dpviz.mechanisms import Modips, ModipsTruncated, TwoCellSynthesizer
from dpviz.privacy.gaussian import gaussian_delta

EPSILON_OF_EXAMPLES, FEW, MANY = 1.0, 100, 1_000
SETS_EXAMINED = (2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 40, 50, 100, 150, 200, 300, 500)
SETS_ABOVE_200 = 201  # The first m that is above 200
MINIMAL_BIAS, OBVIOUS_BIAS, SEVERE, NEAR, TENTH, CONSERVATIVE = 0.01, 0.05, 0.85, 0.015, 0.1, 0.99
NEAR_TWO, NEAR_TWO_NORMAL = (0.925, 0.015), (0.91, 0.02)
RULES_OF_FIGURE_7 = ("rubin_1987", "raghunathan_2003", "reiter_2003", "raab_2017")  # From the largest to the smallest


def clipped_bias(n: int, p: float, sets: int) -> float:
    """Return E[p̄*] − p with BIT, at ε = 1 for so many sets.

    E[x̃/n | p*] = (1 + n p*)/(n + 2), p* being x/n with Laplace noise, set to 0 and 1.

    >>> round(clipped_bias(100, 0.1, 201), 3)
    0.316
    """
    scale, share = sets / (n * EPSILON_OF_EXAMPLES), np.arange(n + 1) / n
    clipped = share + scale / 2 * (np.exp(-share / scale) - np.exp(-(1 - share) / scale))
    return float(binomial_weights(np.array([p]), n)[0] @ ((1 + n * clipped) / (n + 2))) - p


@lru_cache(maxsize=1024)
def _expected(made: TwoCellSynthesizer, p: float) -> tuple[float, float]:
    """E[ϖ] and E[b], exactly: given x the sets are independent."""
    weights, moments, m = binomial_weights(np.array([p]), made.n)[0], share_moments(made), made.m
    within = (moments.mean * (1 - moments.mean) - moments.variance) / m
    return float(weights @ within), float(weights @ moments.variance)


def _variance(rule: str, n: int, p: float, sets: int, epsilon: float = EPSILON_OF_EXAMPLES) -> float:
    within, between = _expected(Modips(n=n, m=n, epsilon=epsilon / sets), p)
    return float(COMBINING_RULES[rule].total(np.array(between), np.array(within), sets, 1.0))


def _minimal_bias(_: Effort) -> Judged:
    largest = {n: max(abs(clipped_bias(n, 0.1, sets)) for sets in SETS_EXAMINED) for n in (FEW, MANY)}
    told = (
        f"The largest bias is {format_number(largest[FEW], 3)} for 100 rows and {format_number(largest[MANY], 3)} "
        "for 1,000."
    )
    return Judged(told, holds=max(largest.values()) <= MINIMAL_BIAS)


def _lowest_sd(_: Effort) -> Judged:
    found = {}
    for p in (0.1, 0.5):
        by_sets = [_variance("reiter_2003", FEW, p, sets) for sets in SETS_EXAMINED]
        found[p] = SETS_EXAMINED[int(np.argmax(np.diff(by_sets) > 0))]
    told = f"It stops falling at m = {found[0.1]} for p = 0.1 and at m = {found[0.5]} for p = 0.5."
    return Judged(told, holds=all(30 <= one <= 40 for one in found.values()))


def _sd_larger(_: Effort) -> Judged:
    ratios = {
        (p, sets): math.sqrt(_variance("reiter_2003", FEW, p, sets) / (p * (1 - p) / FEW))
        for p in (0.1, 0.5)
        for sets in SETS_EXAMINED
    }
    smallest = min(ratios, key=lambda one: ratios[one])
    told = (
        f"The smallest is {format_number(ratios[smallest], 3)} times the original, at p = {smallest[0]}, m = "
        f"{smallest[1]}."
    )
    return Judged(told, holds=min(ratios.values()) > 1)


def _two_sets(_: Effort) -> Judged:
    found = [
        exact_coverage(synthesizer=kind(n=n, m=n, epsilon=0.5), p=p, sets=2, rule="reiter_2003").coverage
        for kind in (Modips, ModipsTruncated)
        for n in (FEW, MANY)
        for p in (0.1, 0.5)
    ]
    told = f"Between {format_number(100 * min(found), 3)} and {format_number(100 * max(found), 3)} %."
    return Judged(told, holds=all(abs(one - NEAR_TWO[0]) < NEAR_TWO[1] for one in found))


def _severe(effort: Effort) -> Judged:
    generator, p = effort.generator(), 0.1
    made = Modips(n=FEW, m=FEW, epsilon=EPSILON_OF_EXAMPLES / SETS_ABOVE_200)
    covered, runs = 0.0, min(effort.repetitions, 1_000)
    for x, often in zip(*np.unique(generator.binomial(FEW, p, runs), return_counts=True), strict=True):
        counts = made.draw(generator, int(x), (int(often), SETS_ABOVE_200)).astype(np.int64)
        found = set_statistics(made, SETS_ABOVE_200, counts.sum(axis=1), (counts**2).sum(axis=1))
        covered += float(contains(*COMBINING_RULES["reiter_2003"].ends(found, 0.95), p).sum())
    return Judged(f"{format_number(100 * covered / runs, 3)} % of the intervals hold p.", holds=covered / runs < SEVERE)


@lru_cache(maxsize=256)
def _normal(method: NumericMethod, data: NormalData, sets: int, effort: Effort) -> OutcomeMeasures:
    """What Theorem 7 makes of the mean; of many sets fewer repetitions."""
    repetitions = max(effort.repetitions // max(sets // 10, 1), 10)
    study = NumericStudy(
        data=data,
        method=method,
        epsilon=EPSILON_OF_EXAMPLES,
        sets=sets,
        repetitions=repetitions,
        seed=effort.seed,
        estimands=("mean",),
        rules=("reiter_2003",),
    )
    return study.run().measures("mean", "reiter_2003")


def _data(kind: type[NormalData], high: float = 4.0) -> NormalData:
    return kind(n=FEW, mean=0.0, sigma=1.0, low=-4.0, high=high)


def _normal_two(effort: Effort) -> Judged:
    both = MODIPS_MEAN, MODIPS_MEAN_TRUNCATED
    found = [_normal(method, _data(KnownVariance), 2, effort).coverage for method in both]
    told = " and ".join(f"{format_number(100 * one.value, 3)} ± {format_number(100 * one.error, 2)}" for one in found)
    near, far = NEAR_TWO_NORMAL
    return Judged(f"{told} %.", holds=all(abs(one.value - near) < far + 3 * one.error for one in found))


def _normal_bias(effort: Effort) -> Judged:
    even, uneven = (_normal(MODIPS_MEAN, _data(KnownVariance, high), 40, effort).bias for high in (4.0, 5.0))
    told = " and ".join(f"{format_number(one.value, 3)} ± {format_number(one.error, 2)}" for one in (even, uneven))
    return Judged(f"{told}.", holds=abs(even.value) < 4 * even.error and uneven.value > OBVIOUS_BIAS)


def _peaks(effort: Effort) -> Judged:
    near, parts = True, []
    for method, peak in ((MODIPS_MEAN_TRUNCATED, 20), (MODIPS_MEAN, 40)):
        widths = {sets: _normal(method, _data(KnownVariance), sets, effort).mean_width for sets in (5, 10, 20, 40, 80)}
        top = max(widths, key=lambda one: widths[one].value)
        near &= widths[peak].value > (1 - TENTH) * widths[top].value - 3 * widths[top].error
        parts.append(
            f"{format_number(widths[peak].value / widths[top].value, 2)} of the largest, which is at m = {top}"
        )
    return Judged(f"Truncation: {parts[0]}. BIT: {parts[1]}.", holds=near)


def _narrower(effort: Effort) -> Judged:
    widths = [
        _normal(MODIPS_SPLIT.with_share(share), _data(UnknownVariance), 10, effort).mean_width.value
        for share in (0.1, 0.5, 0.9)
    ]
    original = 2 * 1.96 / math.sqrt(FEW)
    told = (
        f"They are {', '.join(format_number(one, 3) for one in widths)}; that of the original is "
        f"{format_number(original, 3)}."
    )
    return Judged(told, holds=widths[0] > widths[1] > widths[2] > original)


def _communal(_: Effort) -> Judged:
    data = _data(UnknownVariance)
    scales, share = MODIPS_COMMUNAL.noise_scales(data, 1.0), mean_share(data, variance_known=False)
    told = f"w is {format_number(share, 4)}, and the scale of both noises is {format_number(scales['the mean'])}."
    return Judged(told, holds=math.isclose(scales["the mean"], scales["the variance"]))


@lru_cache(maxsize=64)
def liu_cells(half: str, effort: Effort) -> tuple[Record[float], ...]:
    """Every cell of a half of Table 1 beside ours, in all readings."""
    return tuple(LIU_HALVES[half].compare(effort))


def _column(name: str, effort: Effort) -> list[Record[float]]:
    every = [one for half in LIU_HALVES for one in liu_cells(half, effort)]
    return [one for one in every if one.what == name and not one.other]


def _shares(found: Iterable[Record[float]]) -> Sequence[float]:
    return [one.ours for one in found]


def _between(found: Sequence[float]) -> str:
    return f"From {format_number(100 * min(found), 3)} to {format_number(100 * max(found), 3)} %."


def _nominal(effort: Effort) -> Judged:
    found = _column("liu_thm7", effort)
    near = all(abs(one.ours - 0.95) < NEAR + 3 * one.our_error for one in found)
    return Judged(_between(_shares(found)), holds=near)


def _raab_under(effort: Effort) -> Judged:
    found = _shares(one for one in _column("raab", effort) if one.design["epsilon"] <= 1)
    return Judged(_between(found), holds=min(found) < SEVERE)


def _hardly(effort: Effort) -> Judged:
    found = _column("raghunathan", effort)
    near = sum(abs(one.ours - 0.95) < NEAR for one in found)
    return Judged(f"{near} of {len(found)} cells are near.", holds=near <= TENTH * len(found))


def _conservative(effort: Effort) -> Judged:
    found = _column("rubin", effort)
    enough = all(one.ours + 3 * one.our_error > CONSERVATIVE for one in found)
    return Judged(_between(_shares(found)), holds=enough)


def _single_under(effort: Effort) -> Judged:
    found = _shares(_column("single", effort))
    return Judged(_between(found), holds=max(found) < SEVERE)


def _fig7_binary(_: Effort) -> Judged:
    ordered, settings = 0, [(n, p, e) for n in (FEW, MANY) for p in (0.5, 0.1) for e in (0.5, 1.0)]
    for n, p, epsilon in settings:
        found = [_variance(rule, n, p, 10, epsilon) for rule in RULES_OF_FIGURE_7]
        ordered += found == sorted(found, reverse=True)
    return Judged(f"It is so in {ordered} of {len(settings)} settings.", holds=ordered == len(settings))


def _fig7_constant(_: Effort) -> Judged:
    found = [math.sqrt(_variance("raab_2017", MANY, 0.5, 10, epsilon)) for epsilon in (0.5, 100.0)]
    told = f"It is {format_number(found[0], 4)} and {format_number(found[1], 4)}."
    return Judged(told, holds=abs(found[0] / found[1] - 1) < TENTH)


GAUSSIAN_PROMISES = [(epsilon, delta) for epsilon in (0.1, 0.5, 0.99) for delta in (1e-3, 1e-6, 1e-9)]


def _classical(_: Effort) -> Judged:
    """The sensitivity is 1: a release moves by 1/σ standard deviations."""
    shares = [
        gaussian_delta(epsilon / math.sqrt(2 * math.log(1.25 / delta)), epsilon) / delta
        for epsilon, delta in GAUSSIAN_PROMISES
    ]
    return Judged(
        f"The exact δ is at most {format_number(max(shares), 3)} times the promised one.", holds=max(shares) <= 1
    )


def _probabilistic_sigma(_: Effort) -> Judged:
    """The log-odds are normal with mean 1/(2σ²) and variance 1/σ²."""
    shares = []
    for epsilon, delta in GAUSSIAN_PROMISES:
        quantile = float(ndtri(delta / 2))
        sigma = (math.sqrt(quantile**2 + 2 * epsilon) - quantile) / (2 * epsilon)
        beyond = ndtr(1 / (2 * sigma) - epsilon * sigma) + ndtr(-1 / (2 * sigma) - epsilon * sigma)
        shares.append(float(beyond) / delta)
    return Judged(f"The probability is at most {format_number(max(shares), 3)} times δ.", holds=max(shares) <= 1 + 1e-9)


LIU_JUDGES: dict[str, Judge] = {
    "width": lambda _: Judged("6/20 is 0.3.", holds=math.isclose(6 / 20, 3 / 10)),
    "draws": lambda _: Judged(1 / (0.1 * 3 / 10)),
    "outside": lambda _: Judged(200 * float(ndtr(-4.0))),
    "communal": _communal,
    "sure_bias": lambda _: Judged(clipped_bias(FEW, 0.1, SETS_ABOVE_200)),
    "minimal_bias": _minimal_bias,
    "lowest_sd": _lowest_sd,
    "sd_larger": _sd_larger,
    "two_sets": _two_sets,
    "severe": _severe,
    "normal_two": _normal_two,
    "normal_bias": _normal_bias,
    "peaks": _peaks,
    "nominal": _nominal,
    "raab_under": _raab_under,
    "raab_b": lambda _: Judged("The heading of the column has (1+2/m)ϖ.", holds=False),
    "hardly": _hardly,
    "conservative": _conservative,
    "single_under": _single_under,
    "fig7_binary": _fig7_binary,
    "fig7_constant": _fig7_constant,
    "narrower": _narrower,
    "classical": _classical,
    "probabilistic": _probabilistic_sigma,
    "nominal95": lambda _: Judged(100 * LIU_LEVEL),
    "synthesis100": lambda _: Judged(100.0 * Modips(n=FEW, m=FEW, epsilon=1.0).m / FEW),
    "shares": lambda _: Judged(min(row["p"] for row in LIU_HALVES["binary"].printed.rows)),
    "high5": lambda _: Judged(_data(KnownVariance, 5.0).high),
    "most500": lambda _: Judged(float(SETS_EXAMINED[-1])),
    "gap": lambda _: Judged(
        f"The smallest G that is possible is 1/6, {format_number(1 / 6, 3)}.", holds=TENTH >= 1 / 6
    ),
    "sets10": lambda _: Judged(float(LIU_HALVES["binary"].fitting[1].sets)),
    "repeats8": lambda _: Judged(float(LIU_REPETITIONS)),
    "repeats": lambda _: Judged(float(LIU_REPETITIONS)),
    "budget1": lambda _: Judged(EPSILON_OF_EXAMPLES),
    "low4": lambda _: Judged(_data(KnownVariance).high),
    "sigma1": lambda _: Judged(_data(KnownVariance).sigma ** 2),
}
"""By the key of the sentence."""
