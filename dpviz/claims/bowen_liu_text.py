"""What the sentences of Bowen & Liu (2016) say of their three studies, computed."""

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np

from dpviz.claims.bowen_liu import (
    ONE_DIMENSION,
    STUDY,
    STUDY_SETS,
    TWO_DIMENSIONS,
    ScottRule,
    binary_methods,
    median_bins,
)
from dpviz.claims.published import PRINTED_REPETITIONS, Effort
from dpviz.claims.sentences import Judge, Judged
from dpviz.comparisons import BinaryData, MixedData, UnknownVariance
from dpviz.comparisons.analysis import Analysis, OutcomeMeasures
from dpviz.comparisons.mixed import LARGEST_SHARE, SMALLEST_SHARE
from dpviz.comparisons.mixed_releases import N_STATISTICS
from dpviz.comparisons.numeric_data import NormalData
from dpviz.comparisons.numeric_releases import MODIPS_COMMUNAL, MODIPS_SPLIT, NumericMethod, uniform_share
from dpviz.comparisons.numeric_study import NumericStudy
from dpviz.core.formatting import format_number
from dpviz.core.monte_carlo import Measure
from dpviz.coverage.exact import exact_coverage
from dpviz.mechanisms import BetaBinomial

STUDY_ROWS, STUDY_SHARES = (40, 100, 1_000), (0.15, 0.25, 0.5)
STUDY_RANGE, MIXED_RANGE = 7.0, 8.0  # In standard deviations
STUDY_LOGS = -2.0, 0.0, 2.0  # ln ε of the second study that are tried
CATEGORIES_OF_STUDY_3 = 2, 3, 4  # Of the three categories of the third study
ORDER_OF_BIAS = "laplace", "modips", "modips_truncated", "posterior_mean", "beta_binomial"  # From the best to the worst
MODIPS_OF_MEAN, HISTOGRAM_KEYS = ("modips_split", "modips_communal"), ("perturbed_histogram", "smoothed_histogram")
LARGE_BIAS, NEAR_THE_LEVEL, SIMULATED_WITH = 0.1, 0.03, 500
MIXED, MIXED_LOGS = ("modips_printed", "perturbed_cells"), (0.0, 2.0)
StudyMeasures = dict[str, OutcomeMeasures]


def _accuracy(key: str, n: int, p: float, epsilon: float) -> tuple[float, float]:
    """Bias and root mean squared error, exactly."""
    return BinaryData(n=n, p=p).accuracy(binary_methods()[key], epsilon, STUDY)


def _covered(key: str, n: int, p: float, log: float, effort: Effort) -> Measure:
    analysis = Analysis(sets=STUDY_SETS, repetitions=min(effort.repetitions, 2_000), seed=effort.seed)
    *_, found = BinaryData(n=n, p=p).outcomes(binary_methods()[key], math.exp(log), math.exp(log), analysis)
    return found.coverage


def exact_coverage_of(key: str, n: int, p: float, log: float) -> float:
    """Return the exact coverage of a method of the first study at ε = e^log, for ten sets where it has several."""
    method, data = binary_methods()[key], BinaryData(n=n, p=p)
    sets = method.sets(STUDY_SETS)
    made, rule = method.synthesizer(data, math.exp(log) / sets), STUDY.rule_for(sets).key
    return exact_coverage(synthesizer=made, p=p, sets=sets, rule=rule).coverage


def _prior_bias(_: Effort) -> Judged:
    found = {key: [_accuracy(key, n, 0.25, 1.0)[0] for n in STUDY_ROWS] for key in ORDER_OF_BIAS[3:]}
    told = "; ".join(", ".join(format_number(one, 3) for one in each) for each in found.values())
    return Judged(f"DP-prior and MD: {told}.", holds=min(map(min, found.values())) > LARGE_BIAS)


def _half_over(effort: Effort) -> Judged:
    (_, original), (_, error) = (_accuracy(key, 40, 0.5, 1.0) for key in ("original", "beta_binomial"))
    covered = _covered("beta_binomial", 40, 0.5, 0.0, effort).value
    told = (
        f"Error {format_number(error, 3)} against {format_number(original, 3)}; coverage "
        f"{format_number(100 * covered, 4)} %."
    )
    return Judged(told, holds=error < original and covered > 0.95)


def _order(_: Effort) -> Judged:
    settings = [(n, p, math.exp(log)) for n in STUDY_ROWS for p in (0.15, 0.25) for log in (-2.0, 0.0, 1.0)]
    kept_in = 0
    for setting in settings:
        found = [_accuracy(key, *setting)[0] for key in ORDER_OF_BIAS]
        kept_in += found == sorted(found)
    return Judged(f"It is so in {kept_in} of {len(settings)} settings.", holds=kept_in == len(settings))


def _approached(_: Effort) -> Judged:
    keys = "original", "multiple_synthesis", "laplace", "modips", "beta_binomial"
    found = {key: _accuracy(key, 100, 0.25, math.exp(6.0))[1] for key in keys}
    of = {key: format_number(one, 4) for key, one in found.items()}
    told = (
        f"Original {of['original']}, MS {of['multiple_synthesis']}; Laplace sanitizer {of['laplace']}, modips "
        f"{of['modips']}, MD {of['beta_binomial']}."
    )
    away = {key: abs(one - found["multiple_synthesis"]) < abs(one - found["original"]) for key, one in found.items()}
    return Judged(told, holds=away["laplace"] and away["modips"] and not away["beta_binomial"])


def _proper(effort: Effort) -> Judged:
    settings = [(p, log) for p in (0.15, 0.25, 0.5) for log in (-4.0, 0.0, 1.0, 3.0)]
    closest = 0
    for p, log in settings:
        found = {key: _covered(key, 40, p, log, effort) for key in ORDER_OF_BIAS}
        distances = {key: abs(one.value - 0.95) - 2 * one.error for key, one in found.items()}
        closest += abs(found["modips"].value - 0.95) - 2 * found["modips"].error <= min(distances.values())
    return Judged(f"It is the closest in {closest} of {len(settings)} settings.", holds=closest == len(settings))


def _dp_prior(effort: Effort) -> Judged:
    found = {key: _covered(key, 40, 0.25, 5.0, effort) for key in ORDER_OF_BIAS}
    near = {key for key, one in found.items() if abs(one.value - 0.95) < NEAR_THE_LEVEL + 3 * one.error}
    told = "; ".join(
        f"{binary_methods()[key].label} {format_number(100 * one.value, 3)} %" for key, one in found.items()
    )
    return Judged(f"{told}.", holds=near == set(ORDER_OF_BIAS) - {"posterior_mean"})


@lru_cache(maxsize=256)
def _study(key: str, data: NormalData, log: float, estimands: tuple[str, ...], effort: Effort) -> StudyMeasures:
    """What a method of the second or third study comes to, by estimand; of the third with fewer repetitions."""
    method = next(one for one in data.methods if one.key == key and isinstance(one, NumericMethod))
    sets, most = method.sets(STUDY_SETS), SIMULATED_WITH // (5 if isinstance(data, MixedData) else 1)
    rule = STUDY.rule_for(sets).key
    results = NumericStudy(
        data=data,
        method=method,
        epsilon=math.exp(log),
        sets=sets,
        repetitions=min(effort.repetitions, most),
        seed=effort.seed,
        estimands=estimands,
        rules=(rule,),
    ).run()
    return {one: results.measures(one, rule) for one in estimands}


def _normal_data(n: int, low: float = -3.0) -> UnknownVariance:
    return UnknownVariance(n=n, mean=0.0, sigma=1.0, low=low, high=4.0)


def _normal_study(key: str, n: int, log: float, effort: Effort, low: float = -3.0) -> StudyMeasures:
    return _study(key, _normal_data(n, low), log, ("mean", "variance"), effort)


def _mixed_study(key: str, log: float, effort: Effort) -> StudyMeasures:
    data = MixedData(
        n=1_000, mean=0.0, sigma=1.0, low=-4.0, high=4.0, cells=math.prod(CATEGORIES_OF_STUDY_3), correlation=0.5
    )
    return _study(key, data, log, ("half", "cell_variance"), effort)


def _symmetric(effort: Effort) -> Judged:
    found = [
        _normal_study(key, n, 0.0, effort, -4.0)["mean"].bias
        for key in (*MODIPS_OF_MEAN, *HISTOGRAM_KEYS)
        for n in STUDY_ROWS
    ]
    scores = [one.value / one.error for one in found]
    told = f"They are from {format_number(min(scores), 2)} to {format_number(max(scores), 2)} standard errors from 0."
    return Judged(told, holds=max(map(abs, scores)) < 4)


def _surely_smaller(one: Measure, other: Measure) -> bool:
    return one.value + 3 * math.hypot(one.error, other.error) < other.value


def _precise(effort: Effort) -> Judged:
    found = [
        [_normal_study(key, n, 0.0, effort, -4.0)["mean"].root_mean_squared_error for n in STUDY_ROWS]
        for key in (*MODIPS_OF_MEAN, *HISTOGRAM_KEYS)
    ]
    larger = sum(
        any(_surely_smaller(one, two) for one in pair[:2] for two in pair[2:]) for pair in zip(*found, strict=True)
    )
    return Judged(f"One of them is larger in {larger} of {len(STUDY_ROWS)} sizes.", holds=not larger)


def _both_mixed(what: str, effort: Effort) -> list[tuple[OutcomeMeasures, OutcomeMeasures]]:
    """Modips and the perturbed histogram of the third study, for every ε that is tried."""
    return [
        (_mixed_study(MIXED[0], log, effort)[what], _mixed_study(MIXED[1], log, effort)[what]) for log in MIXED_LOGS
    ]


def _mixed_variance(effort: Effort) -> Judged:
    both = _both_mixed("cell_variance", effort)
    pairs = [[one.root_mean_squared_error.value for one in pair] for pair in both]
    told = "; ".join(f"{format_number(ours, 3)} against {format_number(theirs, 3)}" for ours, theirs in pairs)
    return Judged(f"Their errors are {told}.", holds=all(2 * ours < theirs for ours, theirs in pairs))


def _mixed_covered(effort: Effort) -> Judged:
    most = max(pair[1].coverage.value for pair in _both_mixed("cell_variance", effort))
    told = (
        f"It is at most {format_number(100 * most, 3)} %."
        if most
        else "No interval of any of the simulations holds it."
    )
    return Judged(told, holds=most < 0.5)


def _mixed_share(effort: Effort) -> Judged:
    pairs = [[one.root_mean_squared_error for one in pair] for pair in _both_mixed("half", effort)]
    told = "; ".join(
        f"{format_number(theirs.value, 3)} against {format_number(ours.value, 3)}" for ours, theirs in pairs
    )
    return Judged(f"Its errors are {told}.", holds=not any(_surely_smaller(*pair) for pair in pairs))


def _positive(effort: Effort) -> Judged:
    found = [
        _normal_study(key, n, log, effort)["mean"].bias
        for key in (*MODIPS_OF_MEAN, *HISTOGRAM_KEYS)
        for n in STUDY_ROWS
        for log in STUDY_LOGS
    ]
    lowest = min(found, key=lambda one: one.value)
    told = f"The smallest of {len(found)} is {format_number(lowest.value, 2)} ± {format_number(lowest.error, 2)}."
    return Judged(told, holds=all(one.value > -4 * one.error for one in found))


def _errors_of(key: str, what: str, effort: Effort) -> list[Measure]:
    return [_normal_study(key, n, log, effort)[what].root_mean_squared_error for n in STUDY_ROWS for log in STUDY_LOGS]


def _smaller(first: str, other: str, what: str, slack: float) -> Callable[[Effort], Judged]:
    """Judge whether the error of the first method is the smaller one everywhere, up to so many standard errors."""

    def judge(effort: Effort) -> Judged:
        pairs = list(zip(_errors_of(first, what, effort), _errors_of(other, what, effort), strict=True))
        smaller = [one.value < two.value + slack * math.hypot(one.error, two.error) for one, two in pairs]
        return Judged(f"It is in {sum(smaller)} of {len(smaller)} settings.", holds=all(smaller))

    return judge


def _best(effort: Effort) -> Judged:
    errors = {key: _errors_of(key, "mean", effort) for key in (*MODIPS_OF_MEAN, *HISTOGRAM_KEYS)}
    best = [
        max(errors[key][place].value for key in MODIPS_OF_MEAN)
        < min(errors[key][place].value for key in HISTOGRAM_KEYS)
        for place in range(len(STUDY_ROWS) * len(STUDY_LOGS))
    ]
    return Judged(f"Their errors are the smallest in {sum(best)} of {len(best)} settings.", holds=all(best))


def _smoothed_worse(_: Effort) -> Judged:
    found = [float(uniform_share(median_bins(n, STUDY_RANGE), n, 1.0)) for n in STUDY_ROWS]
    told = f"It is {', '.join(format_number(one, 3) for one in found)}."
    return Judged(told, holds=found == sorted(found))


def _nonsplit_variance(_: Effort) -> Judged:
    data = UnknownVariance(n=100, mean=0.0, sigma=1.0, low=-3.0, high=4.0)
    split, communal = (one.noise_scales(data, 1.0) for one in (MODIPS_SPLIT, MODIPS_COMMUNAL))
    told = "; ".join(f"{what}: {format_number(split[what])} and {format_number(communal[what])}" for what in split)
    holds = split["the mean"] < communal["the mean"] and communal["the variance"] < split["the variance"]
    return Judged(f"Split and not split, {told}.", holds=holds)


def _squares(rows: int, rule: ScottRule) -> Judged:
    return Judged(float(median_bins(rows, MIXED_RANGE, rule) ** 2))


def _mean_of_prior(_: Effort) -> Judged:
    alpha = BetaBinomial.smallest_alpha(m=100, epsilon=1 / STUDY_SETS)
    return Judged(BetaBinomial(n=100, m=100, alpha=alpha, beta=alpha).alpha / (2 * alpha))


STUDY_JUDGES: dict[str, Judge] = {
    "half": _mean_of_prior,
    "prior_bias": _prior_bias,
    "half_over": _half_over,
    "order": _order,
    "approached": _approached,
    "proper": _proper,
    "dp_prior": _dp_prior,
    "bins40": lambda _: Judged(float(median_bins(40, STUDY_RANGE))),
    "bins100": lambda _: Judged(float(median_bins(100, STUDY_RANGE))),
    "bins1000": lambda _: Judged(float(median_bins(1_000, STUDY_RANGE))),
    "positive": _positive,
    "split_better": _smaller(*MODIPS_OF_MEAN, "mean", 2.0),
    "best": _best,
    "smoothed_worse": _smoothed_worse,
    "nonsplit_variance": _nonsplit_variance,
    "symmetric": _symmetric,
    "precise": _precise,
    "mixed_variance": _mixed_variance,
    "mixed_covered": _mixed_covered,
    "mixed_share": _mixed_share,
    "perturbed_better": _smaller(*HISTOGRAM_KEYS, "variance", 2.0),
    "ten": lambda _: Judged(float(binary_methods()["modips"].sets(STUDY_SETS))),
    "tenth": lambda _: Judged(float(STUDY_SETS)),
    "five_thousand": lambda _: Judged(float(PRINTED_REPETITIONS)),
    "cells": lambda _: Judged(float(math.prod(CATEGORIES_OF_STUDY_3))),
    "marginals": lambda _: Judged(float(sum(one - 1 for one in CATEGORIES_OF_STUDY_3))),
    "sensitivity2": lambda _: Judged(float(np.abs(np.subtract((3, 2), (2, 3))).sum())),
    "sensitivity1": lambda _: Judged(float(np.abs(np.subtract((3, 2), (2, 2))).sum())),
    "scenarios1": lambda _: Judged(float(len(STUDY_ROWS) * len(STUDY_SHARES))),
    "scenarios2": lambda _: Judged(float(len(STUDY_ROWS))),
    "statistics6": lambda _: Judged(float(1 + N_STATISTICS)),
    "components3": lambda _: Judged(float(len(np.triu_indices(2)[0]))),
    "whole": lambda _: Judged(100 * BinaryData(n=100, p=0.25).m / 100),
    "level_1": lambda _: Judged(100 * STUDY.level),
    "centre0": lambda _: Judged(_normal_data(100).mean),
    "squares_low": lambda _: _squares(SMALLEST_SHARE, TWO_DIMENSIONS),
    "squares_high": lambda _: _squares(LARGEST_SHARE, TWO_DIMENSIONS),
    "squares_low_1": lambda _: _squares(SMALLEST_SHARE, ONE_DIMENSION),
    "squares_high_1": lambda _: _squares(LARGEST_SHARE, ONE_DIMENSION),
}
"""By the key of the sentence."""
