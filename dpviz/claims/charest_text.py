"""What the sentences of Charest (2011) say of her tables and her figure, computed."""

import math
from collections.abc import Sequence
from functools import cache, lru_cache

import numpy as np

from dpviz.claims.charest import (
    CHAREST_COUNT,
    CHAREST_ROWS,
    CHAREST_SEED,
    FIGURE_1,
    FIGURE_1_EPSILONS,
    PRINTED_RUNS,
    PRINTED_TABLES,
    TABLE_3_EPSILON,
    TRUE_MEAN,
    PosteriorRuns,
    charest_synthesizer,
    figure_1_curves,
    posterior_runs,
    rule_moments,
)
from dpviz.claims.published import Effort
from dpviz.claims.sentences import Judge, Judged
from dpviz.comparisons.proportion import EPSILON_WITHOUT_NOISE
from dpviz.core.formatting import format_number, round_down
from dpviz.core.types import FloatArray
from dpviz.coverage.exact import exact_coverage
from dpviz.inference.posterior import posterior_if_known
from dpviz.mechanisms import BetaBinomial, GeometricSanitizer

SETS_OF_TABLE_1, PRIVATE, HARDLY_PRIVATE = (1, 2, 5, 10), 2.0, 250.0
ALMOST_HALF, ALMOST_ALL, ALMOST_THREE, VERY_CLOSE, CENTERED = (39.0, 50.0), 0.96, (2.5, 3.0), 0.01, 0.03
NOT_OFFSET = 10.0  # Points of bias from which it counts as not offset
PERCENT_ERROR = 100 / math.sqrt(FIGURE_1.repetitions[0])  # of a share of one half, in the smaller of both numbers


def _bias(epsilon: float, p: float, sets: int, rows: int = CHAREST_ROWS) -> float:
    """E[q̄] − p in per cent of p."""
    alpha = BetaBinomial.smallest_alpha(m=rows, epsilon=epsilon / sets)
    return 100 * ((rows * p + alpha) / (rows + 2 * alpha) / p - 1)


def _listed(values: Sequence[float], digits: int = 4) -> str:
    *most, last = (format_number(float(one), digits) for one in values)
    return f"{', '.join(most)} and {last}" if most else last


def _rising(values: Sequence[float]) -> bool:
    return bool(np.all(np.diff(values) > 0))


def _fixed(_: Effort) -> Judged:
    alpha, x = charest_synthesizer(TABLE_3_EPSILON, 1).alpha, np.arange(CHAREST_ROWS + 1)
    away = (alpha + x) / (2 * alpha + CHAREST_ROWS) - x / CHAREST_ROWS
    same = x[np.abs(away) < 1e-12].tolist()
    return Judged(f"The mean of q is x/n where x is {_listed(same)}, and for no other x.", holds=not same)


def _asymptotic(_: Effort) -> Judged:
    rows = [_bias(PRIVATE, 0.25, 5, n) for n in (100, 10_000, 1_000_000)]
    sets = [_bias(PRIVATE, 0.25, one) for one in (10, 100, 1_000)]
    told = f"For 100, 10,000 and a million rows it is {_listed(rows)} %; for 10, 100 and 1,000 sets {_listed(sets)} %."
    return Judged(told, holds=min(rows) > 1 and _rising(sets))


def _unbiased(_: Effort) -> Judged:
    most = max(abs(_bias(PRIVATE, 0.5, one)) for one in SETS_OF_TABLE_1)
    return Judged(f"The relative bias is {format_number(round(most, 9))} %.", holds=most < 1e-9)


def _extreme(_: Effort) -> Judged:
    found = [[_bias(PRIVATE, p, sets) for p in (0.4, 0.25, 0.1)] for sets in SETS_OF_TABLE_1]
    told = f"With five sets the relative bias is {_listed(found[2])} % for p = 0.4, 0.25 and 0.1."
    return Judged(told, holds=all(map(_rising, found)))


def _more_sets(_: Effort) -> Judged:
    found = [_bias(PRIVATE, 0.25, sets) for sets in SETS_OF_TABLE_1]
    return Judged(f"It is {_listed(found)} % for 1, 2, 5 and 10 sets.", holds=_rising(found))


def _large(_: Effort) -> Judged:
    most = max(_bias(HARDLY_PRIVATE, 0.25, sets) for sets in SETS_OF_TABLE_1)
    return Judged(f"The largest relative bias is {format_number(most, 3)} %.", holds=most < 0.005)


@cache
def _table_2() -> tuple[tuple[float, float, int, dict[str, float]], ...]:
    """The exact numbers of every row: ε, p, M, and by column."""
    rows = ((float(one["epsilon"]), float(one["p"]), int(one["M"])) for one in PRINTED_TABLES[2].rows)
    return tuple((*row, {name: expected.value for name, expected in rule_moments(*row).items()}) for row in rows)


def _column(name: str, epsilon: float, p: float | None = None) -> list[float]:
    return [found[name] for at, share, _, found in _table_2() if at == epsilon and p in (None, share)]


def _both_over(_: Effort) -> Judged:
    smallest = [min(_column(name, PRIVATE)) for name in ("rel_bias_TM_pct", "rel_bias_TMstar_pct")]
    return Judged(f"The smallest relative biases are {_listed(smallest)} %.", holds=min(smallest) > 0)


def _t_smaller(_: Effort) -> Judged:
    t, star = (np.array(_column(name, PRIVATE)) for name in ("rel_bias_TM_pct", "rel_bias_TMstar_pct"))
    return Judged(
        f"That of T* is at least {format_number(float((star / t).min()), 3)} times as large.", bool((t < star).all())
    )


def _half(_: Effort) -> Judged:
    found = _column("negative_TM_pct", PRIVATE)
    low, high = min(found), max(found)
    told = f"Between {format_number(low, 3)} and {format_number(high, 3)} % of the releases."
    return Judged(told, holds=ALMOST_HALF[0] <= low <= high <= ALMOST_HALF[1])


def _star_grows(_: Effort) -> Judged:
    found = [_column("rel_bias_TMstar_pct", epsilon, 0.25) for epsilon in (PRIVATE, HARDLY_PRIVATE)]
    told = f"For 2, 5 and 10 sets it is {_listed(found[0])} % at ε = 2, and {_listed(found[1])} % at ε = 250."
    return Judged(told, holds=all(map(_rising, found)))


def _variance_falls(_: Effort) -> Judged:
    found = [_column("var_qbar_1e-4", *at) for at in ((PRIVATE, 0.25), (PRIVATE, 0.5), (HARDLY_PRIVATE, 0.25))]
    told = f"For 2, 5 and 10 sets it is {_listed(found[0])} (×10⁻⁴) at ε = 2 and p = 0.25."
    return Judged(told, holds=all(_rising(one[::-1]) for one in found))


def _real_unbiased(_: Effort) -> Judged:
    """E[q(1 − q)/n] = p(1 − p)/n (1 − 1/n)."""
    bias = -100 / CHAREST_ROWS
    return Judged(f"The relative bias of the variance is {format_number(bias)} %.", holds=abs(bias) < 0.05)


@cache
def _coverages() -> dict[int, FloatArray]:
    """Exact coverage by M, shape (readings, proportions, ε)."""
    return figure_1_curves(FIGURE_1_EPSILONS)


def _at(sets: int, reading: int, p: int) -> FloatArray:
    return _coverages()[sets][reading, p]


def _eighty(reading: int) -> Judged:
    ours = 100 * float(_at(2, reading, 0)[FIGURE_1_EPSILONS.index(3.0)])
    return Judged(ours, error=math.hypot(PERCENT_ERROR * math.sqrt(ours * (100 - ours)) / 100, 1 / math.sqrt(12)))


def _fewer_cover(_: Effort) -> Judged:
    found = [[float(_at(sets, reading, 0)[-1]) for sets in FIGURE_1.sets] for reading in (0, 1)]
    told = f"With the normal quantile {_listed(found[0], 3)}, with t throughout {_listed(found[1], 3)}."
    return Judged(told, holds=all(_rising(one[::-1]) for one in found))


def _lowest(sets: Sequence[int], enough: float) -> Judged:
    low = {one: min(float(_at(one, reading, 1).min()) for reading in (0, 1)) for one in sets}
    told = "; ".join(f"{one} sets at least {format_number(round_down(100 * low[one], 4), 4)} %" for one in sets)
    return Judged(f"{told}.".capitalize(), holds=min(low.values()) >= enough)


def _true_95(_: Effort) -> Judged:
    made = GeometricSanitizer(n=CHAREST_ROWS, epsilon=EPSILON_WITHOUT_NOISE)
    found = [
        exact_coverage(synthesizer=made, p=p, sets=1, rule="as_if_real", level=FIGURE_1.level).coverage
        for p in FIGURE_1.proportions
    ]
    told = f"It is {_listed([100 * one for one in found])} % for p = 0.25 and 0.5."
    return Judged(told, holds=all(abs(one - FIGURE_1.level) < VERY_CLOSE for one in found))


def _below_nominal(_: Effort) -> Judged:
    most = max(float(_at(sets, reading, 0).max()) for sets in FIGURE_1.sets for reading in (0, 1))
    return Judged(f"The largest coverage is {format_number(100 * most, 3)} %.", holds=most < FIGURE_1.level)


def _worse(_: Effort) -> Judged:
    curves = np.array([_at(sets, 0, 0) for sets in FIGURE_1.sets])
    falls: list[bool] = np.all(np.diff(curves, axis=0) < 0, axis=0).tolist()
    where = [epsilon for epsilon, one in zip(FIGURE_1_EPSILONS, falls, strict=True) if not one]
    told = f"It does not at ε = {_listed(where)}." if where else "It does at every ε."
    return Judged(told, holds=not where)


@lru_cache(maxsize=64)
def _posteriors(epsilon: float, sets: int, drawn: int) -> PosteriorRuns:
    return posterior_runs(epsilon, sets, np.random.default_rng(CHAREST_SEED), drawn)


def _by_sets(effort: Effort) -> list[PosteriorRuns]:
    return [_posteriors(TABLE_3_EPSILON, sets, effort.repetitions) for sets in SETS_OF_TABLE_1]


def _by_epsilon(effort: Effort) -> list[PosteriorRuns]:
    return [_posteriors(float(row["epsilon"]), 1, effort.repetitions) for row in PRINTED_TABLES[4].rows]


def _centered(effort: Effort) -> Judged:
    away = [one.mean.value - TRUE_MEAN for one in _by_sets(effort)]
    return Judged(f"They are off by {_listed(away, 2)}.", holds=max(map(abs, away)) < CENTERED)


def _variances(found: Sequence[PosteriorRuns]) -> list[float]:
    return [1e3 * one.mean_of_variances.value for one in found]


def _wider(effort: Effort) -> Judged:
    found = _variances(_by_sets(effort))
    return Judged(f"It is {_listed(found, 3)} (×10⁻³).", holds=_rising(found))


def _mean_grows(effort: Effort) -> Judged:
    away = [100 * (one.mean.value - TRUE_MEAN) for one in _by_epsilon(effort)]
    return Judged(f"From ε = 0.1 to 250 it is {_listed(away, 3)} points.", holds=_rising(away[::-1]))


def _variance_shrinks(effort: Effort) -> Judged:
    found = _variances(_by_epsilon(effort))
    return Judged(f"From ε = 0.1 to 250 it is {_listed(found, 3)} (×10⁻³).", holds=_rising(found[::-1]))


def _offset(effort: Effort) -> Judged:
    found = [100 * (_posteriors(epsilon, 1, effort.repetitions).mean.value - TRUE_MEAN) for epsilon in (0.1, 1.0)]
    return Judged(f"It is {_listed(found, 3)} points at ε = 0.1 and 1.", holds=found[0] > NOT_OFFSET > found[1])


def _centered_half(_: Effort) -> Judged:
    made = charest_synthesizer(PRIVATE, 1)
    return Judged(made.alpha / (made.alpha + made.beta))


def _three_times(effort: Effort) -> Judged:
    true = posterior_if_known(confidential_count=CHAREST_COUNT, n=CHAREST_ROWS).variance
    ratio = _posteriors(HARDLY_PRIVATE, 1, effort.repetitions).mean_of_variances.value / true
    return Judged(f"It is {format_number(ratio, 3)} times as large.", holds=ALMOST_THREE[0] < ratio < ALMOST_THREE[1])


TRUE_POSTERIOR = 1 + CHAREST_COUNT, 1 + CHAREST_ROWS - CHAREST_COUNT


def _true_moment(place: int) -> Judged:
    from scipy.stats import beta  # it takes long to load, and few ask for it

    return Judged(float(beta.stats(*TRUE_POSTERIOR)[place]))


CHAREST_JUDGES: dict[str, Judge] = {
    "fixed": _fixed,
    "asymptotic": _asymptotic,
    "unbiased": _unbiased,
    "ninety": lambda _: Judged(_bias(PRIVATE, 0.25, 10)),
    "extreme": _extreme,
    "more_sets": _more_sets,
    "large": _large,
    "both_over": _both_over,
    "t_smaller": _t_smaller,
    "half": _half,
    "star_grows": _star_grows,
    "variance_falls": _variance_falls,
    "real_unbiased": _real_unbiased,
    "eighty": lambda _: _eighty(0),
    "eighty_t": lambda _: _eighty(1),
    "fewer_cover": _fewer_cover,
    "almost_100": lambda _: _lowest(FIGURE_1.sets, ALMOST_ALL),
    "true_95": _true_95,
    "below_nominal": _below_nominal,
    "worse": _worse,
    "high": lambda _: _lowest(FIGURE_1.sets[2:], ALMOST_ALL),
    "repetitions": lambda _: Judged("Text: {:,}; caption: {:,}.".format(*FIGURE_1.repetitions), holds=False),
    "true_alpha": lambda _: Judged(float(TRUE_POSTERIOR[0])),
    "true_beta": lambda _: Judged(float(TRUE_POSTERIOR[1])),
    "true_mean": lambda _: _true_moment(0),
    "true_variance": lambda _: _true_moment(1),
    "centered": _centered,
    "wider": _wider,
    "optimal": _wider,
    "mean_grows": _mean_grows,
    "variance_shrinks": _variance_shrinks,
    "three_times": _three_times,
    "n100": lambda _: Judged(float(charest_synthesizer(PRIVATE, 1).n)),
    "m100": lambda _: Judged(float(charest_synthesizer(PRIVATE, 1).m)),
    "runs1": lambda _: Judged(float(PRINTED_RUNS[1])),
    "runs3": lambda _: Judged(float(PRINTED_RUNS[3])),
    "x30": lambda _: Judged(float(CHAREST_COUNT)),
    "epsilon_2": lambda _: Judged(TABLE_3_EPSILON),
    "centered_half": _centered_half,
    "iterations": lambda _: Judged(float(FIGURE_1.repetitions[0])),
    "offset": _offset,
    "uniform1": lambda _: Judged(float(TRUE_POSTERIOR[0] - CHAREST_COUNT)),
    "level95": lambda _: Judged(100 * FIGURE_1.level),
}
"""By the key of the sentence."""
