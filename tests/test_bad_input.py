"""Numbers of every kind that scripts pass: a public function returns a result, or refuses in a sentence."""

import dataclasses
import itertools
import math
import re
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest

from dpviz import coverage, inference, mechanisms, plans, priors, privacy
from dpviz.calibration.several_sets import minimum_prior_for_sets
from dpviz.comparisons import UnknownVariance
from dpviz.core import limits
from dpviz.core.parameters import plain_number
from dpviz.designs import Design
from dpviz.mechanisms import BetaBinomial
from dpviz.mechanisms.draws import draw_releases
from dpviz.privacy.optimum import least_error

HOSTILE: tuple[Any, ...] = (
    True, np.True_, "3", math.nan, math.inf, -math.inf, np.float64("nan"), np.float16("inf"),
    -1, -5, 0, 2.5, 1e308, 5e-324,
    10**400, -(10**400), 10**19, np.uint8(200), Decimal("nan"), Decimal("sNaN"), Decimal("1e999"), Fraction(1, 3),
    2 + 1j, [], [[1, 2], [3]], np.array([1 + 1j]), np.ma.masked_array([1.0, 2.0], [False, True]),
)  # fmt: skip
"""What somebody once passed for a number, or might."""

MECHANISM = BetaBinomial(n=4, m=3, alpha=1.0, beta=1.0)
RULE = "raab_2017"
COUNTS = {"synthetic_counts": [1, 2]}
PRIOR = {"alpha": 2.0, "beta": 2.0}
ANALYST = {"gamma1": 1.0, "gamma2": 1.0}
OF_A_STATISTIC: dict[str, Any] = {"name": "In work", "limit": 0.1, "suppress_below": 0}
MIXTURE = inference.posterior_mixture(**COUNTS, n=4, m=3, **PRIOR)
GAUSSIAN = priors.GaussianRelease(method="param_post", n=4, m=1, sigma=1.0, sigma0=2.0)
SIZES = inference.size_prior("uniform", 2, 6)
NORMAL = {"n": 4, "mean": 0.0, "sigma": 1.0, "low": -4.0, "high": 4.0}

CALLS: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    **{
        name: (getattr(mechanisms, name), {"n": 4, "m": 3, **PRIOR})
        for name in ("BetaBinomial", "PosteriorMean", "PosteriorMode")
    },
    **{
        name: (getattr(mechanisms, name), {"n": 4, "m": 3, "epsilon": 1.0})
        for name in ("ExponentialCounts", "BinnedPosterior")
    },
    **{
        name: (getattr(mechanisms, name), {"n": 4, "epsilon": 1.0})
        for name in ("GeometricSanitizer", "LaplaceSanitizer")
    },
    "DirichletMultinomial": (mechanisms.DirichletMultinomial, {"n": 3, "cells": 3, "m": 2, "alpha": 1.0}),
    "LaplaceCells": (mechanisms.LaplaceCells, {"n": 3, "cells": 3, "epsilon": 1.0}),
    "Modips": (mechanisms.Modips, {"n": 4, "m": 3, "epsilon": 1.0, **PRIOR}),
    "PoissonCount": (mechanisms.PoissonCount, {"n": 4, "alpha": 1.0}),
    "PoissonGamma": (mechanisms.PoissonGamma, {"n": 4, "m": 3, "epsilon": 1.0, "public_share": 0.3}),
    "hockey_stick": (MECHANISM.hockey_stick, {"epsilon": 1.0}),
    "row": (MECHANISM.row, {"index": 1}),
    "smallest_alpha": (BetaBinomial.smallest_alpha, {"m": 3, "epsilon": 1.0}),
    "draw_releases": (draw_releases, {"synthesizer": MECHANISM, "row": 1, "number": 3, "seed": 1}),
    "delta_for_epsilon": (privacy.delta_for_epsilon, {"release": MECHANISM, "epsilon": 1.0}),
    "epsilon_for_delta": (privacy.epsilon_for_delta, {"release": MECHANISM, "delta": 0.01}),
    "probabilistic_delta": (privacy.probabilistic_delta, {"synthesizer": MECHANISM, "epsilon": 1.0}),
    "promised": (privacy.TradeOffCurve.promised, {"epsilon": 1.0}),
    "least_error": (least_error, {"n": 4, "epsilon": 1.0, "delta": 0.0}),
    "least_error with δ": (partial(least_error, n=4), {"epsilon": 1.0, "delta": 0.01}),  # of 200 people it takes long
    "minimum_prior": (
        priors.minimum_prior, {"method": "synth_post_one", "n": 4, "m": 3, "epsilon": 1.0, "delta": 0.01}
    ),
    "minimum_prior_probabilistic": (
        priors.minimum_prior_probabilistic, {"method": "synth_post_one", "n": 4, "m": 3, "epsilon": 1.0, "delta": 0.01}
    ),
    "maximum_range": (priors.maximum_range, {"method": "param_post", "n": 4, "epsilon": 1.0, "delta": 0.01}),
    "audit": (priors.audit, {"family": "bernoulli", "n": 4, "m": 3, "epsilon": 1.0, "delta": 0.01}),
    "GaussianRelease": (priors.GaussianRelease, {"method": "param_post", "n": 4, "m": 1, "sigma": 1.0, "sigma0": 2.0}),
    "GaussianRelease.delta": (GAUSSIAN.delta, {"range_over_sigma": 1.0, "epsilon": 1.0}),
    "Setting": (
        priors.Setting, {"n": 4, "m": 3, "epsilon": 1.0, "delta": 0.01, "cells": 3, "sigma": 1.0, "alpha": 1.0}
    ),
    "posterior_mixture": (inference.posterior_mixture, {**COUNTS, "n": 4, "m": 3, **PRIOR, **ANALYST}),
    "posterior_given": (inference.posterior_given, {"synthesizer": MECHANISM, **COUNTS, **ANALYST}),
    "posterior_if_known": (inference.posterior_if_known, {"confidential_count": 2, "n": 4, **ANALYST}),
    "posterior_if_real": (inference.posterior_if_real, {**COUNTS, "m": 3, **ANALYST}),
    "posterior_cells": (
        inference.posterior_cells, {"synthetic_counts": [[1, 1, 1]], "n": 4, "alpha": 1.0, "gamma": 1.0}
    ),
    "posterior_secret_n": (inference.posterior_secret_n, {**COUNTS, "m": 3, **PRIOR, "prior": SIZES, **ANALYST}),
    "posterior_summaries": (
        inference.posterior_summaries, {"synthetic_counts": [[1, 2]], "synthesizer": MECHANISM, **ANALYST, "level": 0.9}
    ),
    "posterior_coverage": (
        inference.posterior_coverage,
        {"synthesizer": MECHANISM, "proportions": [0.25], "sets": 2, "level": 0.9, "repetitions": 50, "seed": 3}
    ),
    "quantile": (MIXTURE.quantile, {"q": 0.5}),
    "interval": (MIXTURE.interval, {"level": 0.9}),
    "highest_density": (MIXTURE.highest_density, {"level": 0.9}),
    "proportion_moments": (
        inference.proportion_moments,
        {"method": "synth_post_one", "n": 4, "m": 3, **PRIOR, "proportion": 0.25, "sets": 2}
    ),
    "normal_tail_share": (inference.normal_tail_share, {"range_over_sigma": 1.0}),
    "set_moments": (inference.set_moments, {"synthesizer": MECHANISM, "p": 0.25, "sets": 2}),
    "size_prior": (inference.size_prior, {"kind": "around a guess", "low": 3, "high": 9, "guess": 5.0}),
    "release_sums": (inference.release_sums, {"synthesizer": MECHANISM, "sets": 2}),
    "exact_coverage": (
        coverage.exact_coverage, {"synthesizer": MECHANISM, "p": 0.25, "sets": 2, "rule": RULE, "level": 0.9}
    ),
    "coverage_given_count": (
        coverage.coverage_given_count, {"synthesizer": MECHANISM, "confidential_count": 2, "rule": RULE, "sets": 2}
    ),
    "coverage_by_proportion": (
        coverage.coverage_by_proportion, {"synthesizer": MECHANISM, "proportions": [0.25], "sets": 2, "rules": [RULE]}
    ),
    "coverage_decomposition": (
        coverage.coverage_decomposition, {"synthesizer": MECHANISM, "p": 0.25, "sets": 2, "rule": RULE}
    ),
    "coverage_curves": (
        coverage.coverage_curves, {"synthesizer": MECHANISM, "sets": 2, "rules": [RULE], "level": 0.9}
    ),
    "wilson_interval": (coverage.wilson_interval, {"share": 0.5, "repetitions": 20, "level": 0.9}),
    "repetitions_needed": (coverage.repetitions_needed, {"share": 0.5, "error": 0.01}),
    "CoveragePlan": (
        coverage.CoveragePlan,
        {"synthesizer": MECHANISM, "p": 0.25, "sets": 2, "rules": (RULE,), "repetitions": 20, "seed": 1, "batch": 10},
    ),
    "UnknownVariance": (UnknownVariance, NORMAL),
    "Design": (Design, {"mechanism": "beta_binomial", "n": 4, "m": 3, "sets": 2, "epsilon": 1.0, "p": 0.25, "seed": 1}),
    "YesNoShare": (plans.YesNoShare, OF_A_STATISTIC | {"lowest": 0.1, "highest": 0.9}),
    "BoundedMean": (plans.BoundedMean, OF_A_STATISTIC | {"lower": 0.0, "upper": 80.0}),
    "CategoryShares": (plans.CategoryShares, OF_A_STATISTIC | {"categories": 3}),
    "ReleasePlan": (
        plans.ReleasePlan, {"n": 40, "statistics": (plans.YesNoShare(**OF_A_STATISTIC),), "person_rows": 1}
    ),
}  # fmt: skip
"""Functions and arguments that they accept."""

SENTENCE = re.compile(r"\S+ .*[.]", re.DOTALL)
MAX_SENTENCE = 600
every_call = pytest.mark.parametrize("name", CALLS)


def answer(name: str, **changes: Any) -> Any:
    """What a function returns, or the first three of what it yields."""
    function, arguments = CALLS[name]
    result = function(**arguments | changes)
    return list(itertools.islice(result, 3)) if isinstance(result, Iterator) else result


def numbers(name: str) -> dict[str, Any]:
    return {key: value for key, value in CALLS[name][1].items() if isinstance(value, (int, float))}


def has_nan(result: object) -> bool:
    if isinstance(result, float):
        return math.isnan(result)
    if isinstance(result, np.ndarray):
        return result.dtype.kind == "f" and bool(np.isnan(result).any())
    if isinstance(result, Mapping):
        return any(map(has_nan, result.values()))
    if isinstance(result, (list, tuple)):
        return any(map(has_nan, result))
    if dataclasses.is_dataclass(result) and not isinstance(result, type):
        return any(has_nan(getattr(result, field.name)) for field in dataclasses.fields(result))
    return False


@every_call
def test_a_number_outside_of_its_domain_is_refused_in_a_sentence(name: str) -> None:
    answer(name)
    for argument in numbers(name):
        for value in HOSTILE:
            try:
                result = answer(name, **{argument: value})
            except ValueError as refusal:
                assert SENTENCE.fullmatch(str(refusal)), (argument, value)
                assert len(str(refusal)) < MAX_SENTENCE, (argument, value)
            else:
                number = plain_number(value)
                assert number is not None, (argument, value)
                assert abs(number) < math.inf or not has_nan(result), (argument, value)


@every_call
def test_a_number_of_any_kind_is_that_number(name: str) -> None:
    """An `np.int8` neither overflows nor is refused; neither is a whole number of another kind, or written as 3.0."""
    expected = repr(answer(name))
    if "object at 0x" in expected:
        return
    for argument, value in numbers(name).items():
        kinds: list[Any] = [np.float64(value), Decimal(value), Fraction(value)]
        if value == int(value) and value >= 0:
            kinds += [int(value), float(value), np.int8(value), np.uint8(value)]
        for kind in kinds:
            assert repr(answer(name, **{argument: kind})) == expected, (argument, kind)


MANY = np.linspace(0, 1, limits.MAX_PROPORTIONS + 1)
TOO_MANY = "at most 10,000 numbers; got 10,001"
REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "10⁴⁰⁰": (lambda: BetaBinomial(n=4, m=1, alpha=10**400, beta=1), "alpha .* got a number above 10³⁰⁸"),
    "a method that there is not": (
        lambda: inference.proportion_moments("laplace", n=1, m=1, alpha=1, beta=1, proportion=0.5),
        "method must be one of .*; got 'laplace'",
    ),
    "a mode without a mode": (
        lambda: inference.cell_moments("synth_map", n=3, m=1, alpha=0.5, cells=3, proportion=0.5),
        "alpha .* must be a number from 1",
    ),
    "the variance between the sets of one": (
        lambda: inference.COMBINING_RULES["rubin_1987"].variance_and_degrees(np.array(0.0), np.array(0.1), sets=1),
        "needs at least 2 sets; got 1",
    ),
    "rules in an empty array": (
        lambda: coverage.exact_coverages(synthesizer=MECHANISM, p=0.5, sets=2, rules=np.array([])),
        "rules must be at least one of",
    ),
    "a rule that there is not": (
        lambda: coverage.exact_coverages(synthesizer=MECHANISM, p=0.5, sets=2, rules=("zzz",)),
        r"rules must be at least one of .*; got \['zzz'\]",
    ),
    "one rule that there is not": (
        lambda: coverage.exact_coverage(synthesizer=MECHANISM, p=0.5, sets=2, rule="zzz"),
        r"^rule must be one of .*; got 'zzz'",
    ),
    "one rule at a fixed count": (
        lambda: coverage.coverage_given_count(synthesizer=MECHANISM, confidential_count=2, rule=7),  # type: ignore[arg-type]
        r"^rule must be one of .*; got 7",
    ),
    "one rule at its worst": (
        lambda: coverage.smallest_coverage(MECHANISM, sets=2, rule="zzz"),
        r"^rule must be one of .*; got 'zzz'",
    ),
    "counts of several releases": (
        lambda: inference.RULES["raab_2017"].interval_from([[1, 1], [2, 0]], synthesizer=MECHANISM),  # type: ignore[list-item]
        "counts must be a list of counts, one for each set",
    ),
    "a limit at too many proportions": (
        lambda: inference.length_limit(inference.release_sums(MECHANISM, 1), proportions=MANY),
        TOO_MANY,
    ),
    "coverage at too many proportions": (
        lambda: coverage.coverage_by_proportion(MECHANISM, proportions=MANY, sets=1, rules=["as_if_real"]),
        TOO_MANY,
    ),
    "posteriors at too many proportions": (
        lambda: inference.posterior_coverage(synthesizer=MECHANISM, proportions=MANY),
        TOO_MANY,
    ),
    "half a float": (
        lambda: inference.BetaMixture(a=np.float16("inf"), b=[1.0], weights=[1.0]),
        "a must be a number from 0.0001",
    ),
}


@pytest.mark.parametrize(("call", "words"), REFUSED.values(), ids=REFUSED)
def test_what_went_wrong_before_is_refused_in_a_sentence(call: Callable[[], Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        call()


def test_rules_may_stand_in_an_array() -> None:
    given = np.array(["reiter_2002", "as_if_real"])
    assert set(coverage.exact_coverages(synthesizer=MECHANISM, p=0.5, sets=2, rules=given)) == set(given)


@pytest.mark.parametrize("asked", [(150, 150, 50.0, 2), (60, 30, 0.05, 2), (100, 100, 0.1, 5)], ids=str)
@pytest.mark.parametrize("method", ["synth_post_one", "param_post"])
def test_failures_too_small_to_add_up_over_sets_are_refused_at_once(asked, method) -> None:
    n, m, epsilon, sets = asked
    with pytest.raises(ValueError, match=r"delta .* must be 0, or at least 10⁻¹⁵⁰ for several sets"):
        minimum_prior_for_sets(method, n=n, m=m, sets=sets, epsilon=epsilon, delta=1e-300)
