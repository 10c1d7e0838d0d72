"""Edges at which a calibration or an audit once went wrong: tiny priors, tiny δ, large ε, the ends of the domain."""

from __future__ import annotations

import itertools
import math

import mpmath as mp
import pytest

from dpviz.priors import audit, minimum_prior, release
from dpviz.priors.cell_releases import CellRelease
from dpviz.privacy import delta_for_epsilon
from dpviz.synthesizers import DirichletMultinomial, MultinomialMean, PosteriorMean

LAWS = {"draw": DirichletMultinomial, "plug_in": MultinomialMean}


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize(("n", "m", "cells"), [(1, 60, 3), (3, 7, 5), (50, 200, 3)])
def test_tiny_and_large_priors_of_cells_agree_with_sorted_losses(law: str, n: int, m: int, cells: int) -> None:
    for alpha, epsilon in itertools.product((1e-300, 1e-6, 0.3, 0.5, 0.7, 1.0, 40.0, 1e4), (0.0, 0.5, 2.0, 20.0)):
        expected = LAWS[law](n=n, m=m, cells=cells, alpha=alpha).hockey_stick(epsilon).value
        found = CellRelease(law=law, n=n, m=m, cells=cells, alpha=alpha).hockey_stick(epsilon).value
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-15), (alpha, epsilon)


@pytest.mark.parametrize(
    ("method", "n", "m", "epsilon", "delta"),
    [("synth_post_many", 10, 200, 1.0, 1e-5), ("synth_post_one", 2, 100, 1.0, 0.1)],
)
def test_many_rows_and_few_confidential_ones_need_a_prior(
    method: str, n: int, m: int, epsilon: float, delta: float
) -> None:
    alpha = minimum_prior(method, n=n, m=m, cells=3, epsilon=epsilon, delta=delta)
    law = DirichletMultinomial if method == "synth_post_one" else MultinomialMean
    assert law(n=n, m=m, cells=3, alpha=alpha).hockey_stick(epsilon).value <= delta * (1 + 1e-12)
    assert law(n=n, m=m, cells=3, alpha=alpha * (1 - 1e-6)).hockey_stick(epsilon).value > delta


@pytest.mark.parametrize("epsilon", [690.0, 705.0, 1000.0])
def test_the_parameter_draw_has_an_answer_at_any_epsilon(epsilon: float) -> None:
    alpha = minimum_prior("param_post", n=100, m=1, epsilon=epsilon, delta=1e-30)
    made = release("param_post", n=100, m=1, alpha=alpha)
    assert 0 < delta_for_epsilon(made, epsilon) <= 1e-30


@pytest.mark.parametrize(
    ("method", "n", "m", "epsilon", "delta"),
    [
        ("synth_post_many", 1000, 1, 5.0, 1e-3),
        ("synth_post_one", 1, 1, 0.0, 1e-6),
        ("param_post", 1, 1, 10.0, 1e-3),
        ("synth_post_one", 100, 100, 0.2, 2e-60),
    ],
)
def test_the_answer_keeps_the_promise_to_the_last_digit(
    method: str, n: int, m: int, epsilon: float, delta: float
) -> None:
    alpha = minimum_prior(method, n=n, m=m, epsilon=epsilon, delta=delta)
    assert delta_for_epsilon(release(method, n=n, m=m, alpha=alpha), epsilon) <= delta


def binomial_pair_log_delta(i: int, s: PosteriorMean, epsilon: float) -> mp.mpf:
    """ln δ of the pair i, i + 1 of a plug-in, term by term."""
    with mp.workdps(60):
        total = mp.mpf(s.n) + s.alpha + s.beta
        theta, other = ((i + step + mp.mpf(s.alpha)) / total for step in (1, 0))
        terms = (
            mp.binomial(s.m, j)
            * (theta**j * (1 - theta) ** (s.m - j) - mp.e**epsilon * other**j * (1 - other) ** (s.m - j))
            for j in range(s.m + 1)
        )
        return mp.log(sum(term for term in terms if term > 0))


@pytest.mark.parametrize(
    ("n", "m", "alpha", "beta", "epsilon"),
    [
        (100, 300, 4.707232255973684, 4.707232255973684, 50.0),
        (5, 100, 25.8189, 267130.0, 3.0),
        (6, 100, 99999998.49384862, 99999998.49384862, 1e-6),
    ],
)
def test_a_plug_in_finds_its_worst_pair_where_tails_underflow(
    n: int, m: int, alpha: float, beta: float, epsilon: float
) -> None:
    law = PosteriorMean(n=n, m=m, alpha=alpha, beta=beta)
    pairs = range(n) if n < 10 else (0, 1, n // 2, n - 1)
    up = max(binomial_pair_log_delta(i, law, epsilon) for i in pairs)
    down = max(binomial_pair_log_delta(i, law.mirrored, epsilon) for i in pairs)
    assert math.log(law.hockey_stick(epsilon).value) == pytest.approx(float(max(up, down)), abs=1e-6)


def test_an_answer_beyond_the_domain_is_infinite_and_never_called_exact() -> None:
    assert minimum_prior("param_post", n=2, m=1, epsilon=1e-6, delta=1e-6, ratio=7.9) == math.inf
    assert minimum_prior("synth_post_one", n=5, m=1, epsilon=1e-6, ratio=1e-8) == math.inf
    found = {finding.bound.key: finding for finding in audit("bernoulli", n=1, m=1, epsilon=3e-5, delta=1e-80)}
    assert found["6.5"].verdict == "not asked here"
    assert "beyond" in found["6.4"].sentence


def test_a_very_uneven_mode_stays_in_its_domain() -> None:
    ratio = 1.6862207662136245e-08
    alpha = minimum_prior("synth_map", n=100, m=1, epsilon=5.0, delta=1e-100, ratio=ratio)
    assert delta_for_epsilon(release("synth_map", n=100, m=1, alpha=alpha, beta=ratio * alpha), 5.0) <= 1e-100


def test_a_wrong_beta_is_called_beta() -> None:
    with pytest.raises(ValueError, match=r"beta \(prior zeros\)"):
        minimum_prior("synth_post_one", n=5, m=1, epsilon=1.0, delta=0.1, beta=0)


def test_a_printed_prior_of_exactly_one_is_audited() -> None:
    found = audit("categorical", n=10, m=1, epsilon=80.0)
    assert {finding.verdict for finding in found} <= {"safe", "exact"}


def test_equal_scales_are_called_exact() -> None:
    found = audit("gaussian", n=100, m=1, epsilon=690.0, sigma=0.1, sigma0=0.01)
    assert [finding.verdict for finding in found if finding.bound.number == "7.3"] == ["exact"]
