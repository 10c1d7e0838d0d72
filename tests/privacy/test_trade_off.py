"""The trade-off curve against riskcal, against δ(ε), its convex dual, and against cases done by hand."""

from __future__ import annotations

import itertools
import math

import mpmath
import numpy as np
import pytest
from dp_accounting.pld.common import DifferentialPrivacyParameters  # noqa: F401 (riskcal needs the package)
from dp_accounting.pld.privacy_loss_distribution import from_two_probability_mass_functions
from riskcal.analysis import (
    get_advantage_from_pld,
    get_bayes_risk_from_pld,
    get_beta_for_epsilon_delta,
    get_beta_from_pld,
)

from dpviz.mechanisms import (
    BetaBinomial,
    GeometricSanitizer,
    LaplaceSanitizer,
    PosteriorMean,
    PosteriorMode,
    Synthesizer,
)
from dpviz.mechanisms.cell_mechanisms import DirichletMultinomial
from dpviz.mechanisms.matrix_mechanism import GivenMatrix
from dpviz.privacy import delta_for_epsilon, pure_epsilon
from dpviz.privacy.trade_off import TradeOffCurve, trade_off_curve

DESIGNS: list[Synthesizer] = [
    *(
        BetaBinomial(n=n, m=m, alpha=a, beta=b)
        for n, m, a, b in [(1, 1, 1, 1), (5, 5, 0.5, 0.5), (6, 3, 2, 7), (8, 12, 30, 30), (3, 9, 1e-6, 1)]
    ),
    *(PosteriorMean(n=n, m=m, alpha=a, beta=b) for n, m, a, b in [(4, 4, 1, 1), (7, 2, 0.3, 5), (2, 9, 10, 10)]),
    *(PosteriorMode(n=n, m=m, alpha=a, beta=b) for n, m, a, b in [(5, 5, 2, 2), (3, 8, 1.5, 9), (8, 4, 20, 20)]),
    *(LaplaceSanitizer(n=n, epsilon=e) for n, e in [(4, 0.5), (6, 2.0), (9, 5.0)]),
    *(GeometricSanitizer(n=n, epsilon=e) for n, e in [(4, 0.5), (6, 2.0), (9, 5.0)]),
    DirichletMultinomial(n=3, m=3, cells=3, alpha=(1.0, 2.0, 0.5)),
    GivenMatrix(probabilities=[[0.7, 0.3], [0.1, 0.9]]),
    GivenMatrix(probabilities=[[0.5, 0.5, 0.0], [0.25, 0.5, 0.25], [0.0, 0.4, 0.6]]),
]
STEP = 1e-4


def losses(design: Synthesizer) -> list[object]:
    """dp-accounting's privacy loss of every ordered pair of neighbours."""
    logs = design.log_transition_matrix()
    found = []
    for i, j in design.neighbours:
        for first, second in ((i, j), (j, i)):
            lower, upper = ({c: float(p) for c, p in enumerate(logs[row]) if p > -math.inf} for row in (second, first))
            found.append(
                from_two_probability_mass_functions(
                    lower, upper, value_discretization_interval=STEP, pessimistic_estimate=True
                )
            )
    return found


@pytest.mark.parametrize("design", DESIGNS, ids=str)
def test_the_curve_is_the_lower_hull_of_riskcals_curves_of_all_pairs(design):
    """A convex curve is what it is by its smallest mean errors at all priors. riskcal takes a step below each knot."""
    curve, pairs = trade_off_curve(design), losses(design)
    for prior in np.linspace(0.02, 0.98, 25):
        risk = min(get_bayes_risk_from_pld(pair, prior) for pair in pairs)
        assert abs(curve.success(float(prior)) - (1 - risk)) < STEP
    assert abs(curve.advantage - max(get_advantage_from_pld(pair) for pair in pairs)) < STEP
    alarms = np.linspace(0, 1, 41)
    below = np.min([get_beta_from_pld(pair, alarms) for pair in pairs], axis=0)
    assert np.all(below <= np.interp(alarms, curve.type_one, curve.type_two) + STEP)


@pytest.mark.parametrize("design", DESIGNS, ids=str)
def test_the_curve_is_convex_symmetric_and_the_dual_of_the_privacy_profile(design):
    curve = trade_off_curve(design)
    slopes = np.diff(curve.type_two) / np.diff(curve.type_one)
    assert np.all(np.diff(slopes) > -1e-9) and np.all(np.diff(curve.type_one) > 0)
    assert curve.type_one[0] == 0 and curve.type_one[-1] == 1 and curve.type_two[-1] == 0
    mirrored = np.interp(np.linspace(0, 1, 33), curve.type_two[::-1], curve.type_one[::-1])
    np.testing.assert_allclose(
        mirrored[1:], np.interp(np.linspace(0, 1, 33), curve.type_one, curve.type_two)[1:], atol=1e-12
    )
    for epsilon in (0.0, 0.1, 0.7, 1.5, 3.0):
        dual = max(0.0, float(np.max(1 - curve.type_two - math.exp(epsilon) * curve.type_one)))
        assert dual == pytest.approx(delta_for_epsilon(design, epsilon), abs=1e-13)


@pytest.mark.parametrize("design", DESIGNS, ids=str)
def test_the_curve_lies_above_what_its_own_epsilon_and_mu_allow_and_touches_the_latter(design):
    curve, epsilon = trade_off_curve(design), pure_epsilon(design)
    if math.isinf(epsilon):
        assert curve.mu == math.inf
        return
    allowed = TradeOffCurve.promised(epsilon)
    assert np.all(curve.type_two >= np.interp(curve.type_one, allowed.type_one, allowed.type_two) - 1e-13)
    assert curve.mu <= allowed.mu * (1 + 1e-12) and curve.success(0.5) <= allowed.success(0.5) + 1e-13
    inner = (curve.type_one > 0) & (curve.type_two > 0)
    a, b = curve.type_one[inner], curve.type_two[inner]
    with mpmath.workdps(50):
        normal = [[mpmath.erfinv(1 - 2 * mpmath.mpf(float(error))) for error in part] for part in (a, b)]
        largest = max(float(mpmath.sqrt(2) * (one + two)) for one, two in zip(*normal, strict=True))
    assert largest == pytest.approx(curve.mu, rel=1e-9)


@pytest.mark.parametrize(("epsilon", "delta"), [*itertools.product((0.0, 0.5, 1.0, 4.0), (0.0, 1e-5, 0.2))])
def test_what_a_promise_allows_is_riskcals_curve(epsilon, delta):
    curve, alphas = TradeOffCurve.promised(epsilon, delta), np.linspace(0, 1, 101)
    np.testing.assert_allclose(
        np.interp(alphas, curve.type_one, curve.type_two),
        get_beta_for_epsilon_delta(epsilon, delta, alphas),
        atol=1e-12,
    )
    assert curve.success(0.5) == pytest.approx((math.exp(epsilon) + delta) / (1 + math.exp(epsilon)), abs=1e-14)


@pytest.mark.parametrize(("alpha", "success"), [(100 / math.expm1(1), 0.517), (6.09, 0.557)])
def test_the_published_example_comes_out(alpha, success):
    curve = trade_off_curve(BetaBinomial(n=100, m=100, alpha=alpha, beta=alpha))
    assert round(curve.success(0.5), 3) == success


def test_far_tails_give_no_mu_that_rounding_made():
    """At ε = 40 a type II error of 10⁻¹⁸ counts, and powers below 10⁻³⁰⁰ are not taken for sure detection."""
    assert trade_off_curve(LaplaceSanitizer(n=5, epsilon=40.0)).mu < TradeOffCurve.promised(40.0).mu < math.inf
    assert trade_off_curve(BetaBinomial(n=20, m=400, alpha=1e-6, beta=1e-6)).mu == pytest.approx(6.5, abs=0.3)


def test_where_releases_decide_the_steepest_piece_is_the_upright_one():
    assert TradeOffCurve.promised(1.0, 0.5).steepest == (0.0, 0.75)  # half way from (0, 1) down to (0, 1 − δ)


def test_a_matrix_too_large_is_refused_in_a_sentence():
    with pytest.raises(ValueError, match=r"at most 4,000,000 of them; here there are 25,005,000\. Set fewer rows"):
        trade_off_curve(BetaBinomial(n=5_000, m=5_000, alpha=1, beta=1))
