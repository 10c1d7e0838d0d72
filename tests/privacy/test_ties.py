"""Ties: ε equal to a log-odds, δ equal to δ(0) or to δ at a log-odds. Random numbers never meet them, people do."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import mpmath as mp
import numpy as np
import pytest

from dpviz.mechanisms import (
    BetaBinomial,
    DirichletMultinomial,
    GeometricSanitizer,
    LaplaceCells,
    LaplaceSanitizer,
    MultinomialMean,
    MultinomialMode,
    PosteriorMean,
    PosteriorMode,
    Release,
    Synthesizer,
    WorstCase,
)
from dpviz.mechanisms.matrix_mechanism import GivenMatrix
from dpviz.priors import release
from dpviz.privacy import delta_for_epsilon, epsilon_for_delta, pure_epsilon
from dpviz.privacy.gaussian import gaussian_delta, gaussian_epsilon, gaussian_ratio
from dpviz.privacy.pld import PrivacyLossDistribution
from dpviz.privacy.subsampling import SubsampledRelease
from dpviz.privacy.summary import summarize

MOST_LOOKS = 3000
"""Values of δ that one inverse may ask for: a search that never ends fails here."""


class Counted:
    """A release that counts how often it is asked."""

    def __init__(self, inner: Release) -> None:
        self.inner, self.looks = inner, 0

    def worst_log_odds(self) -> WorstCase:
        return self.inner.worst_log_odds()

    def hockey_stick(self, epsilon: float) -> WorstCase:
        self.looks += 1
        assert self.looks < MOST_LOOKS, "the search does not end"
        return self.inner.hockey_stick(epsilon)


def given(*rows: list[float]) -> GivenMatrix:
    return GivenMatrix(probabilities=np.array(rows))


def releases() -> Iterator[Release]:
    sizes = [
        (5, 3, 1.0, 1.0), (5, 1, 2.5, 2.5), (1, 1, 1.0, 1.0), (4, 9, 1e-300, 2.0), (3, 3, 1e11, 1e11), (6, 8, 0.5, 3.0),
    ]  # fmt: skip
    for n, m, alpha, beta in sizes:
        yield BetaBinomial(n=n, m=m, alpha=alpha, beta=beta)
        yield PosteriorMean(n=n, m=m, alpha=alpha, beta=beta)
        yield PosteriorMode(n=n, m=m, alpha=1 + max(alpha, 1e-9), beta=1 + beta)
    for n, epsilon in ((1, 1.0), (20, 5.0), (5, 1e-6), (4, 900.0)):
        yield LaplaceSanitizer(n=n, epsilon=epsilon)
        yield GeometricSanitizer(n=n, epsilon=epsilon)
    for n, m, cells, pseudo_rows in (
        (1, 1, 3, 1.0),
        (4, 3, 3, 0.5),
        (2, 5, 3, 1e-300),
        (3, 3, 4, (1e-6, 2.0, 1e6, 0.3)),
    ):
        yield DirichletMultinomial(n=n, m=m, cells=cells, alpha=pseudo_rows)
        yield MultinomialMean(n=n, m=m, cells=cells, alpha=pseudo_rows)
    yield MultinomialMode(n=4, m=3, cells=3, alpha=1.5)
    for n, epsilon in ((1, 1.0), (4, 2.0), (3, 900.0)):
        yield LaplaceCells(n=n, cells=3, epsilon=epsilon)
    yield given([0.5, 0.5, 0.0], [0.25, 0.5, 0.25])
    yield given([0.7, 0.3], [0.1, 0.9])
    yield given([0.5, 0.5], [0.5, 0.5])
    yield given([1.0, 0.0], [0.0, 1.0])
    yield given([1.0, 5e-324], [1e-200, 1.0])
    samples = (
        BetaBinomial(n=3, m=2, alpha=1.0, beta=1.0),
        PosteriorMean(n=4, m=9, alpha=1e-300, beta=1e-300),
        LaplaceSanitizer(n=2, epsilon=1.0),
        GeometricSanitizer(n=3, epsilon=900.0),
        given([0.5, 0.5, 0.0], [0.25, 0.5, 0.25]),
    )
    for sample in samples:
        yield SubsampledRelease(sample=sample, population=sample.n + 3)
    for method, cells in itertools.product(("synth_post_one", "synth_post_many", "synth_map", "param_post"), (2, 3)):
        yield release(method, n=3, m=4, alpha=1.5, cells=cells)


def name(one: Release) -> str:
    return f"{type(one).__name__}-{repr(one).partition('(')[2][:40]}"


every_release = pytest.mark.parametrize("one", [pytest.param(one, id=name(one)) for one in releases()])


def tied_epsilons(one: Release) -> list[float]:
    """0, ε* and its neighbours among the numbers, and some of the log-odds."""
    pure, found = pure_epsilon(one), {0.0}
    if math.isfinite(pure):
        found |= {pure, math.nextafter(pure, 0.0), pure / 2}
    if isinstance(one, Synthesizer):
        table = np.abs(one.log_odds_table())
        levels = np.unique(table[np.isfinite(table)])
        found |= set(levels[np.linspace(0, len(levels) - 1, min(len(levels), 4)).astype(int)].tolist())
    return sorted(found)


@every_release
def test_the_epsilon_of_a_tied_delta_is_private_and_the_least(one: Release) -> None:
    deltas = {0.0, 5e-324, 1e-300, 1e-17, 0.1, 0.25, 0.5, 1 / 3, 1.0}
    for epsilon in tied_epsilons(one):
        delta = delta_for_epsilon(one, epsilon)
        deltas |= {delta, math.nextafter(delta, 0.0), math.nextafter(delta, 1.0), delta * (1 - 1e-13)}
    for delta in deltas:
        found = epsilon_for_delta(Counted(one), delta)
        if math.isfinite(found):
            assert delta_for_epsilon(one, found) <= delta, delta
        less = min(found, 1e6) * (1 - 1e-9) - 1e-13
        assert less <= 0 or delta_for_epsilon(one, less) >= delta * (1 - 1e-9), delta


@every_release
def test_from_the_exact_epsilon_on_delta_is_zero(one: Release) -> None:
    pure = pure_epsilon(one)
    if math.isinf(pure):
        assert delta_for_epsilon(one, 1.0) > 0
    else:
        assert [delta_for_epsilon(one, epsilon) for epsilon in (pure, math.nextafter(pure, 2e4), 2 * pure)] == [0, 0, 0]


@every_release
def test_delta_never_rises_across_a_tie(one: Release) -> None:
    epsilons = np.array(tied_epsilons(one))
    around = np.sort(np.concatenate([epsilons * factor for factor in (1 - 1e-9, 1 - 1e-15, 1.0, 1 + 1e-15, 1 + 1e-9)]))
    deltas = np.array([delta_for_epsilon(one, epsilon) for epsilon in around])
    # By more than rounding: a prior of 1e-300 has logarithms of 690, whose last digit is 1e-13
    assert np.all(np.diff(deltas) <= 5e-14 * (1 + around[1:]) * deltas[0])


@pytest.mark.parametrize(("n", "m", "alpha", "delta", "least"), [
    (5, 3, 1.0, 0.25, 0.0), (5, 1, 2.5, 0.1, 0.0), (1, 1, 1.0, 1 / 3, 0.0), (1, 1, 1.0, 1 / 6, math.log(1.5)),
])  # fmt: skip
def test_a_delta_that_equals_that_of_epsilon_0_needs_no_epsilon(n, m, alpha, delta, least):
    """δ(0) by hand, n = 5: Pr(m1 ≥ 2 | 1) − Pr(m1 ≥ 2 | 0) = 1/4 for m = 3, and 1 / (n + 2α) = 1/10 for m = 1."""
    found = summarize(BetaBinomial(n=n, m=m, alpha=alpha, beta=alpha), 2.0, delta).epsilon_at_delta
    assert found == pytest.approx(least, abs=1e-14)


def test_the_smallest_delta_of_all_has_an_answer() -> None:
    one = GeometricSanitizer(n=20, epsilon=5.0)
    found = epsilon_for_delta(one, 5e-324)
    assert found == pytest.approx(5.0, rel=1e-12)
    assert delta_for_epsilon(one, found) == 0


def test_the_gaussian_at_the_delta_of_epsilon_0() -> None:
    # δ at ε = 0 to the last digit: what rounding may hide is given away as an ε of that size, not as a larger δ.
    assert gaussian_epsilon(1.253835782219086, 0.4692869410182729) < 2e-14
    random = np.random.default_rng(14)
    ratios = np.concatenate([10.0 ** random.uniform(-12, 2, 50), random.uniform(0.1, 3, 50)])
    for ratio, promise in itertools.product(ratios.tolist(), (0.0, 1e-9, 0.5, 30.0)):
        delta = gaussian_delta(ratio, promise)
        for allowed in (delta, math.nextafter(delta, 0.0), min(math.nextafter(delta, 1.0), 1.0), delta * (1 - 1e-12)):
            found = gaussian_epsilon(ratio, allowed)
            assert math.isinf(found) or gaussian_delta(ratio, found) <= allowed
            assert allowed < delta or delta < 1e-300 or ratio > 3 or found <= promise * (1 + 1e-12) + 1e-13 * ratio
            assert gaussian_delta(gaussian_ratio(promise, allowed), promise) <= allowed


@pytest.mark.parametrize("sets", [1, 2, 7])
def test_composed_losses_at_a_tied_epsilon(sets: int) -> None:
    """Randomised response with odds of 3, M times: S = (2 right − M) ln 3 meets the total ε exactly."""
    answer = PrivacyLossDistribution(np.log([3, 1 / 3]), np.log([0.75, 0.25]))
    with mp.workdps(40):
        for level in range(-(-sets // 2) - sets // 2, sets + 1, 2):
            epsilon = level * math.log(3)
            ways = [mp.binomial(sets, right) * 3**right / mp.mpf(4) ** sets for right in range(sets + 1)]
            losses = [(2 * right - sets) * mp.log(3) for right in range(sets + 1)]
            true = mp.fsum(max(0, w * (1 - mp.exp(epsilon - loss))) for w, loss in zip(ways, losses, strict=True))
            assert answer.composed_delta(sets, epsilon) == pytest.approx(float(true), rel=1e-12, abs=1e-15)


def test_a_given_matrix_tells_beyond_the_largest_exponent() -> None:
    """Log-odds up to 744: e^ε overflows, but e^ε p need not."""
    one = given([1.0, 5e-324], [1e-200, 1.0])
    assert [one.hockey_stick(epsilon).value for epsilon in (700.0, 740.0, 744.5, 1e4)] == [
        1.0,
        pytest.approx(-math.expm1(740.0 + math.log(5e-324))),
        0.0,
        0.0,
    ]
