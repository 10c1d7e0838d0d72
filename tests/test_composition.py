"""M independent releases against every sum of losses, against dp-accounting, and against each other."""

from __future__ import annotations

import itertools
import math
from functools import partial

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.special import betaincc, betaln

from dpviz.calibration import sets as sets_module
from dpviz.calibration.exact import minimum_prior
from dpviz.calibration.pairs import BetaLosses, beta_binomial_pair
from dpviz.calibration.posterior_parameter import log_parameter_delta
from dpviz.calibration.releases import release
from dpviz.calibration.sets import minimum_prior_for_sets, smallest_by_advanced
from dpviz.mechanisms import BetaBinomial, PosteriorMean
from dpviz.privacy import delta_for_epsilon
from dpviz.privacy.composition import DeltaBracket, DiscreteLosses, advanced_composition, composed_delta
from dpviz.privacy.loss_grid import LossGrid, mass_rounding, split_shares
from tests.referees import Law, beta_binomial_law, discretized_delta, divergence, excess, of_sets

DIGITS = 60


def laws(x: float, y: float, m: int) -> tuple[Law, Law]:
    """Laws of the released count under both neighbours that share x and y rows."""
    return beta_binomial_law(mp.mpf(x) + 1, y, m), beta_binomial_law(x, mp.mpf(y) + 1, m)


def tuples(law: Law, sets: int) -> Law:
    """The probability of every tuple of outcomes."""
    return [math.prod(outcome, start=mp.mpf(1)) for outcome in itertools.product(law, repeat=sets)]


def on_grid(losses: DiscreteLosses, sets: int, epsilon: float, spacing: float) -> DeltaBracket:
    """δ by the grid alone, however few outcomes there are."""
    return losses.grid(spacing, losses.saddle_point(epsilon / sets)).composed_delta(sets, epsilon)


CASES = [
    (0.5, 3.0, 4, 3, 1.0),
    (6.0, 105.0, 9, 2, 0.4),
    (2.5, 2.5, 3, 5, 2.0),
    (30.0, 40.0, 25, 2, 0.1),
    (1e-3, 7, 3, 3, 9),
]


@pytest.mark.parametrize(("x", "y", "m", "sets", "epsilon"), CASES)
def test_every_tuple_of_outcomes_added_up_gives_the_same_delta(
    x: float, y: float, m: int, sets: int, epsilon: float
) -> None:
    with mp.workdps(DIGITS):
        likelier, other = laws(x, y, m)
        exact = excess(tuples(likelier, sets), tuples(other, sets), epsilon)
        found = composed_delta(beta_binomial_pair(x, y, m), sets, epsilon)
        assert found.lower <= exact <= found.upper
        assert found.upper <= found.lower * (1 + 1e-11)


@pytest.mark.parametrize("spacing", [0.3, 0.03, 0.003, 3e-4])
@pytest.mark.parametrize(("x", "y", "m", "sets", "epsilon"), CASES)
def test_the_grid_brackets_delta_at_any_spacing(
    x: float, y: float, m: int, sets: int, epsilon: float, spacing: float
) -> None:
    exact = composed_delta(beta_binomial_pair(x, y, m), sets, epsilon)
    found = on_grid(beta_binomial_pair(x, y, m), sets, epsilon, spacing)
    assert found.lower <= exact.upper
    assert exact.lower <= found.upper


@settings(max_examples=60, deadline=None)
@given(
    masses=st.lists(st.floats(0.01, 1.0), min_size=2, max_size=5),
    seed=st.integers(0, 10**6),
    sets=st.integers(1, 4),
    epsilon=st.floats(0.0, 3.0),
    spacing=st.floats(1e-3, 0.5),
)
def test_the_grid_brackets_delta_of_any_two_laws(
    masses: list[float], seed: int, sets: int, epsilon: float, spacing: float
) -> None:
    likelier = np.array(masses) / sum(masses)
    other = np.random.default_rng(seed).dirichlet(np.ones(len(masses)))
    losses = DiscreteLosses(np.log(likelier / other), np.log(likelier))
    first, second = of_sets(np.array([likelier, other]), sets)
    exact = float(excess(first, second, epsilon))
    for found in (on_grid(losses, sets, epsilon, spacing), composed_delta(losses, sets, epsilon)):
        assert found.lower <= exact + 1e-13
        assert exact - 1e-13 <= found.upper


def test_the_bracket_narrows_with_the_square_of_the_spacing() -> None:
    pair, widths = beta_binomial_pair(60.0, 159.0, 300), []
    for spacing in (1e-3, 5e-4, 2.5e-4):
        found = on_grid(pair, 10, 1.0, spacing)
        widths.append(found.upper - found.lower)
    assert widths[0] / widths[1] == pytest.approx(4, rel=0.1)
    assert widths[1] / widths[2] == pytest.approx(4, rel=0.1)


@pytest.mark.parametrize("epsilon", [0.0, 0.3, 1.0, 2.0])
def test_one_set_has_the_delta_of_the_release(epsilon: float) -> None:
    for n, m, prior in [(1, 100, 6.1), (1, 700, 2.0), (1, 5, 0.5)]:
        exact = delta_for_epsilon(BetaBinomial(n=n, m=m, alpha=prior, beta=prior), epsilon)
        pair = beta_binomial_pair(prior, prior, m)
        for found in (composed_delta(pair, 1, epsilon), on_grid(pair, 1, epsilon, 1e-4)):
            assert found.lower <= exact * (1 + 1e-11)
            assert exact <= found.upper * (1 + 1e-11)


def test_delta_of_1e_200_keeps_its_digits() -> None:
    x, y, m, epsilon = 500.0, 560.0, 400, 1.15
    with mp.workdps(40):
        likelier, other = laws(x, y, m)
        exact = excess(tuples(likelier, 2), tuples(other, 2), epsilon)
        assert 1e-215 < exact < 1e-185
        found = composed_delta(beta_binomial_pair(x, y, m), 2, epsilon)
        assert found.lower <= exact <= found.upper
        assert found.upper <= found.lower * (1 + 1e-5)


@pytest.mark.parametrize("sets", [2, 7])
@pytest.mark.parametrize("length", [5, 300, 20_000])
def test_the_sum_by_transform_is_the_sum_by_convolution(length: int, sets: int) -> None:
    position = np.linspace(-20, 20, length)
    masses = np.exp(-np.abs(position)) * (1.2 + np.sin(9 * position))
    masses /= masses.sum()
    grid = LossGrid(first=-1.0, spacing=1e-3, tilt=0.0, log_scale=0.0, masses=masses)
    start, shares, error, astray = grid._sum(sets, -(10**9))
    direct = masses
    for _ in range(sets - 1):
        direct = np.convolve(direct, masses) if length < 1000 else _slow_enough(direct, masses)
    inside = np.arange(max(start, 0), min(start + len(shares), len(direct)))
    gap = np.linalg.norm(shares[inside - start] - direct[inside])
    assert gap <= error + astray
    assert direct[inside].sum() == pytest.approx(1, abs=1e-14)
    assert error < 1e-12


@pytest.mark.parametrize(
    ("length", "sets", "low", "high"),
    [
        (length, sets, *ends)
        for length, sets in itertools.product((5, 300, 20_000), (2, 7))
        for ends in ((0.4, 0.6), (0.5, 0.52), (0.0, 0.45), (0.55, 1.0))
        if length < 20_000 or (ends == (0.5, 0.52)) == (sets == 7)  # which take seconds each
    ],
)
def test_a_part_of_the_sum_is_that_of_the_convolution(length: int, sets: int, low: float, high: float) -> None:
    """What else there is wraps around onto sums that are not asked for, but for the share that may be left out."""
    position = np.linspace(-20, 20, length)
    masses = np.exp(-np.abs(position + 3)) * (1.2 + np.sin(9 * position))
    masses /= masses.sum()
    direct = masses
    for _ in range(sets - 1):
        direct = np.convolve(direct, masses) if length < 1000 else _slow_enough(direct, masses)
    grid = LossGrid(first=-1.0, spacing=1e-3, tilt=0.0, log_scale=0.0, masses=masses)
    first, last = (round(end * len(direct)) for end in (low, high))
    for negligible in (1e-17, 1e-9, 1e-4):
        start, shares, error, astray = grid._sum(sets, first, highest=last, negligible=negligible)
        assert astray <= 2.1 * negligible
        whole = np.zeros(last - first)
        whole[start - first : start - first + len(shares)] = shares
        assert np.abs(whole - direct[first:last]).sum() <= error * math.sqrt(len(whole)) + astray


def _slow_enough(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """A convolution in blocks, each a plain one, for lengths at which one call would take seconds."""
    total = np.zeros(len(first) + len(second) - 1)
    for begin in range(0, len(second), 4000):
        part = second[begin : begin + 4000]
        total[begin : begin + len(first) + len(part) - 1] += np.convolve(first, part)
    return total


@pytest.mark.parametrize(("x", "y", "m", "sets", "epsilon"), CASES)
def test_a_tail_is_bounded_by_any_tilt_and_at_the_saddle_point_closely(
    x: float, y: float, m: int, sets: int, epsilon: float
) -> None:
    with mp.workdps(DIGITS):
        likelier, other = laws(x, y, m)
        exact = float(excess(tuples(likelier, sets), tuples(other, sets), epsilon))
    pair = beta_binomial_pair(x, y, m)
    best = pair.saddle_point(epsilon / sets)
    bounds = [pair.tail_bound(sets, epsilon, tilt) for tilt in (0.0, 0.1, best / 2, best, 1.5 * best, 3 * best + 1)]
    assert all(exact <= one <= 1 for one in bounds)
    assert bounds[3] <= 12 * exact
    assert BetaLosses(x, y).tail_bound(sets, epsilon, best) == 1
    infinite = DiscreteLosses(np.array([math.inf, 0.1, -0.2]), np.log([0.01, 0.5, 0.49]), beyond=1e-3)
    assert infinite.tail_bound(3, 50.0, 1.0) == pytest.approx(1 - 0.989**3, rel=1e-12)


@pytest.mark.parametrize("near", [0.0, 1e-3, 5.0, 1e3])
@pytest.mark.parametrize(
    "losses",
    [beta_binomial_pair(38.9, 1037.9, 1000), beta_binomial_pair(0.3, 5.0, 40), BetaLosses(20, 60), BetaLosses(2, 0.1)],
    ids=["rows", "few", "drawn", "wide"],
)  # fmt: skip
def test_a_saddle_point_is_found_from_any_guess(losses: DiscreteLosses | BetaLosses, near: float) -> None:
    at_rest = losses.cumulants(0.0)[1]
    for mean in (at_rest + 0.01, 2 * at_rest + 0.1):
        tilt = losses.saddle_point(mean, near)
        _, found, variance = losses.cumulants(tilt)
        assert abs(found - mean) <= 0.03 * mean + 0.03 * math.sqrt(variance)
    assert losses.saddle_point(at_rest / 2, near) == 0


@pytest.mark.parametrize(
    ("x", "y", "m"),
    [(38.9, 1037.9, 1000), (1e-291, 50.0, 40), (50.0, 1e-291, 40), (5e11, 5e11, 300), (3.0, 2e4, 9000), (0.4, 2.0, 1)],
)
def test_the_masses_of_a_pair_are_quotients_of_gamma_functions(x: float, y: float, m: int) -> None:
    found = beta_binomial_pair(x, y, m).log_masses
    allowed = mass_rounding(found)
    with mp.workdps(350 if min(x, y) < 1e-9 else 50):
        ones, zeros = mp.mpf(x) + 1, mp.mpf(y)
        whole = mp.loggamma(m + 1) - mp.loggamma(ones) - mp.loggamma(zeros)
        whole += mp.loggamma(ones + zeros) - mp.loggamma(ones + zeros + m)
        for j in {0, 1, m // 40, m // 10, m // 2, m - 1, m}:
            exact = whole - mp.loggamma(j + 1) - mp.loggamma(m - j + 1) + mp.loggamma(ones + j)
            exact += mp.loggamma(zeros + m - j)
            assert abs(float(exact - mp.mpf(float(found[j])))) <= allowed


@pytest.mark.parametrize("wrong", [math.nan, 1e-3, 0.03, 30.0, 1e4])
@pytest.mark.parametrize(
    "asked",
    [
        {"n": 100, "m": 100, "sets": 3, "epsilon": 1.0, "delta": 1e-5},
        {"n": 30, "m": 300, "sets": 8, "epsilon": 0.4, "delta": 0.02},
        {"n": 1810, "m": 8, "sets": 16, "epsilon": 0.41, "delta": 0.136},  # any prior is enough
    ],
)
def test_a_wrong_guess_leads_to_the_same_prior(
    asked: dict[str, float], wrong: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Far too large a guess keeps the search from the answer, which then begins anew from a prior that is too small."""
    usual, guess = minimum_prior_for_sets("synth_post_one", **asked), sets_module._normal_guess  # type: ignore[arg-type]
    monkeypatch.setattr(sets_module, "_normal_guess", lambda *given: wrong * guess(*given))
    found = minimum_prior_for_sets("synth_post_one", **asked)  # type: ignore[arg-type]
    assert found.upper == pytest.approx(usual.upper, rel=1e-6)
    assert found.lower == pytest.approx(usual.lower, rel=1.3e-6)


@pytest.mark.parametrize(("sets", "epsilon"), [(2, 0.5), (5, 1.0), (5, 1.4), (20, 2.0)])
def test_google_dp_accounting_brackets_the_composition(sets: int, epsilon: float) -> None:
    x, y, m = 33.0, 132.0, 100
    found = composed_delta(beta_binomial_pair(x, y, m), sets, epsilon)
    s = BetaBinomial(n=1, m=m, alpha=x, beta=y)
    other, likelier = s.log_transition(np.array([0, 1]), np.arange(m + 1))
    optimistic, pessimistic = (
        discretized_delta(likelier, other, epsilon, rounded_up=up, sets=sets) for up in (False, True)
    )
    assert optimistic <= found.upper * (1 + 1e-9)
    assert found.lower <= pessimistic * (1 + 1e-9) + 1e-15
    assert found.upper - found.lower < 0.01 * (pessimistic - optimistic) + 1e-9 * found.upper


@pytest.mark.parametrize("epsilon", [0.0, 0.5, 1.0, 3.0])
@pytest.mark.parametrize(("x", "y"), [(20.5, 119.5), (119.5, 20.5), (0.3, 5.0), (3.0, 0.2), (1e4, 1.5e4), (1e8, 1.1e8)])
def test_one_drawn_proportion_has_the_delta_of_its_beta_tails(x: float, y: float, epsilon: float) -> None:
    epsilon *= min(1.0, 10 / math.sqrt(x))
    exact = math.exp(log_parameter_delta(np.array([x]), np.array([y]), epsilon)[0])
    found = composed_delta(BetaLosses(x, y), 1, epsilon)
    assert found.lower <= exact * (1 + 2e-8)
    assert exact <= found.upper * (1 + 2e-8)
    assert found.upper <= found.lower * (1 + 1e-5)


@pytest.mark.parametrize(("x", "y", "epsilon"), [(20.0, 60.0, 1.0), (2.0, 1.5, 2.0), (40.0, 3.0, 1.5)])
def test_two_drawn_proportions_have_the_delta_of_a_double_integral(x: float, y: float, epsilon: float) -> None:
    def given_first(theta: float) -> float:
        rest = epsilon - math.log(theta / (1 - theta)) - math.log(y / x)  # what the second loss must exceed
        cut = 1 / (1 + y / x * math.exp(-rest))
        tail = betaincc(x + 1, y, cut) - math.exp(rest) * betaincc(x, y + 1, cut)
        density = math.exp(x * math.log(theta) + (y - 1) * math.log1p(-theta) - betaln(x + 1, y))
        return density * max(tail, 0.0)

    middle = (x + 1) / (x + 1 + y)
    exact = sum(
        quad(given_first, low, high, epsabs=1e-15, epsrel=1e-11, limit=400)[0]
        for low, high in ((1e-9, middle), (middle, 1 - 1e-9))
    )
    found = composed_delta(BetaLosses(x, y), 2, epsilon)
    assert found.lower <= exact * (1 + 1e-8)
    assert exact <= found.upper * (1 + 1e-8)
    assert found.upper <= found.lower * (1 + 1e-5)


def test_many_rows_of_one_set_tend_to_the_drawn_proportion() -> None:
    limit = composed_delta(BetaLosses(30.0, 50.0), 3, 1.0)
    rows = [composed_delta(beta_binomial_pair(30.0, 50.0, m), 3, 1.0).upper for m in (100, 10_000, 100_000)]
    assert rows[0] < rows[1] < rows[2] < limit.upper
    assert rows[2] == pytest.approx(limit.upper, rel=0.02)


@pytest.mark.parametrize("sets", [2, 6])
def test_sets_of_a_plug_in_are_one_set_with_all_their_rows(sets: int) -> None:
    x, y, m, epsilon = 12.0, 30.0, 40, 1.2
    one = PosteriorMean(n=1, m=m, alpha=x, beta=y)
    columns = np.arange(m + 1)
    losses = DiscreteLosses(-one.log_odds(np.array([0]), columns)[0], one.log_transition(np.array([1]), columns)[0])
    whole = PosteriorMean(n=1, m=sets * m, alpha=x, beta=y).worst_upward_pair(epsilon).value
    found = composed_delta(losses, sets, epsilon)
    assert found.lower <= whole * (1 + 1e-10)
    assert whole <= found.upper * (1 + 1e-10)
    assert found.upper <= found.lower * (1 + 1e-5)


def test_an_infinite_loss_counts_as_itself() -> None:
    likelier, other = np.array([0.01, 0.59, 0.4]), np.array([0.0, 0.41, 0.59])
    losses = np.array([math.inf, *np.log(likelier[1:] / other[1:])])
    first, second = of_sets(np.array([likelier, other]), 3)
    law, exact = DiscreteLosses(losses, np.log(likelier)), excess(first, second, 0.3)
    for found in (composed_delta(law, 3, 0.3), on_grid(law, 3, 0.3, 1e-5)):
        assert found.lower <= exact <= found.upper
        assert found.upper == pytest.approx(float(exact), rel=1e-6)
    assert composed_delta(law, 3, 100.0).upper == pytest.approx(1 - 0.99**3, rel=1e-12)


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 2.5, 4.0])
def test_outcomes_that_are_left_out_count_as_infinite_from_above_alone(epsilon: float) -> None:
    losses, masses = np.array([2.0, 1.0, 0.5, -1.0]), np.array([1e-4, 0.2, 0.4, 0.3999])
    every, some = DiscreteLosses(losses, np.log(masses)), DiscreteLosses(losses[1:], np.log(masses[1:]), masses[0])
    exact = composed_delta(every, 3, epsilon)
    for found in (composed_delta(some, 3, epsilon), on_grid(some, 3, epsilon, 1e-4)):
        assert found.lower <= exact.lower
        assert exact.upper <= found.upper <= exact.upper + 3.1e-4


@given(h=st.floats(1e-4, 2.0), part=st.floats(0.0, 1.0))
def test_a_split_keeps_both_masses_and_varies_no_more_than_its_docstring_says(h: float, part: float) -> None:
    s = part * h
    lower, upper = (float(share) for share in split_shares(np.array(s), h, 0.0))
    assert lower + upper == pytest.approx(1, rel=1e-12)
    assert lower * math.exp(s) + upper * math.exp(s - h) == pytest.approx(1, rel=1e-12)
    variance = lower * math.expm1(s) ** 2 + upper * math.expm1(s - h) ** 2
    assert variance <= math.sinh(h / 2) ** 2 * (1 + 1e-9)


def test_advanced_composition_is_that_of_the_papers() -> None:
    with mp.workdps(40):
        each, slack = mp.mpf("0.1"), mp.mpf("1e-6")
        total = each * mp.sqrt(20 * mp.log(1 / slack)) + 10 * each * (mp.exp(each) - 1)
        assert advanced_composition(0.1, 10, 1e-6) == pytest.approx(float(total), rel=1e-14)


@pytest.mark.parametrize(
    ("sets", "low", "high", "split", "pure"),
    [(2, 13.438, 13.448, 25.77, 154), (5, 33.05, 33.11, 118.9, 452), (10, 60.46, 60.62, 293.5, 951)],
)
def test_the_prior_of_m_sets_is_where_an_earlier_bracket_found_it(
    sets: int, low: float, high: float, split: float, pure: float
) -> None:
    found = minimum_prior_for_sets("synth_post_one", n=100, m=100, sets=sets, epsilon=1.0, delta=1e-5)
    assert low < found.lower < found.upper < high
    shares = [minimum_prior("synth_post_one", n=100, m=100, epsilon=1 / sets, delta=d / sets) for d in (1e-5, 0.0)]
    assert shares == [pytest.approx(split, rel=4e-4), pytest.approx(pure, rel=1e-3)]
    assert found.upper < found.lower * (1 + 1e-5)


@pytest.mark.parametrize(
    ("n", "m", "sets", "epsilon", "delta"),
    [(4, 3, 3, 1.0, 1e-3), (6, 2, 3, 3.0, 1e-6), (3, 4, 2, 0.3, 0.02), (1, 1, 6, 1.0, 0.05), (9, 5, 2, 6.0, 0.1)],
)
def test_all_pairs_of_neighbours_in_both_directions_keep_the_promise(
    n: int, m: int, sets: int, epsilon: float, delta: float
) -> None:
    found = minimum_prior_for_sets("synth_post_one", n=n, m=m, sets=sets, epsilon=epsilon, delta=delta)

    def worst(alpha: float) -> float:
        matrix = BetaBinomial(n=n, m=m, alpha=alpha, beta=alpha).transition_matrix()
        pairs = itertools.pairwise(range(n + 1))
        return divergence(of_sets(matrix, sets), pairs, epsilon)

    assert worst(found.upper) <= delta * (1 + 1e-9)
    assert worst(found.lower) > delta * (1 - 1e-9)
    assert worst(found.lower * (1 - 1e-5)) > delta
    assert found.upper < found.lower * (1 + 1e-5)


@pytest.mark.parametrize("method", ["synth_post_one", "param_post"])
@pytest.mark.parametrize(
    ("n", "m", "sets", "epsilon", "delta"),
    [
        (60, 40, 5, 0.004, 1e-5),
        (6, 2, 3, 3.0, 1e-6),
        (45, 300, 3, 0.2, 1e-9),
        (1000, 1000, 10, 1.0, 1e-6),
        (20, 5, 4, 2.0, 1e-3),
        (50, 50, 3, 8.0, 1e-7),
        (30, 1, 2, 0.1, 1e-4),
        (5, 5, 7, 0.05, 1e-12),
        (1, 20, 5, 40.0, 1e-5),
    ],
)
def test_the_prior_of_several_sets_is_known_to_about_a_millionth(
    method: str, n: int, m: int, sets: int, epsilon: float, delta: float
) -> None:
    found = minimum_prior_for_sets(method, n=n, m=m, sets=sets, epsilon=epsilon, delta=delta)
    assert found.lower < found.upper < found.lower * (1 + 1.5e-6)


@pytest.mark.parametrize(("epsilon", "delta", "sets"), [(1.0, 1e-5, 5), (0.01, 1e-4, 3), (8.0, 1e-7, 4)])
@pytest.mark.parametrize("method", ["synth_post_one", "param_post"])
def test_no_pair_exceeds_delta_at_the_upper_end(method: str, epsilon: float, delta: float, sets: int) -> None:
    n, m = 7, 60
    found = minimum_prior_for_sets(method, n=n, m=m, sets=sets, epsilon=epsilon, delta=delta)
    worst = [0.0, 0.0]
    for i in range(n):
        for end, alpha in enumerate((found.lower, found.upper)):
            x, y = alpha + i, alpha + (n - 1 - i)
            pair = BetaLosses(x, y) if method == "param_post" else beta_binomial_pair(x, y, m)
            bound = composed_delta(pair, sets, epsilon, 5e-4)
            worst[end] = max(worst[end], bound.lower)
    assert worst[1] <= delta < worst[0] * (1 + 1e-5)


def test_the_proportion_drawn_once_is_calibrated_as_a_single_release() -> None:
    for method in ("synth_post_one", "param_post"):
        found = minimum_prior_for_sets(method, n=100, m=100, sets=1, epsilon=1.0, delta=1e-5)
        single = minimum_prior(method, n=100, m=100, epsilon=1.0, delta=1e-5)
        assert found.upper == pytest.approx(single, rel=1e-12)


@pytest.mark.parametrize("method", ["synth_post_many", "synth_map"])
def test_plug_ins_need_the_prior_of_one_set_with_all_rows(method: str) -> None:
    found = minimum_prior_for_sets(method, n=50, m=30, sets=4, epsilon=1.0, delta=1e-5)
    for prior, kept in ((found.upper, True), (found.lower, False)):
        whole = release(method, n=50, m=120, alpha=prior, beta=prior)
        assert (delta_for_epsilon(whole, 1.0) <= 1e-5) is kept


@pytest.mark.parametrize("method", ["synth_post_one", "synth_post_many", "synth_map", "param_post"])
def test_the_exact_sum_needs_the_least_prior(method: str) -> None:
    found = minimum_prior_for_sets(method, n=40, m=20, sets=30, epsilon=0.5, delta=1e-6)
    single = partial(minimum_prior, method, n=40, m=20)
    shares = [single(epsilon=0.5 / 30, delta=delta) for delta in (0.0, 1e-6 / 30)]
    advanced, _ = smallest_by_advanced(lambda epsilon, delta: single(epsilon=epsilon, delta=delta), 30, 0.5, 1e-6)
    assert found.lower <= found.upper <= min(*shares, advanced)


def test_advanced_composition_is_split_the_best_way() -> None:
    sets, epsilon, delta = 10, 1.0, 1e-5

    def single(epsilon: float, delta: float) -> float:
        return minimum_prior("synth_post_one", n=100, m=100, epsilon=epsilon, delta=delta)

    advanced, slack_found = smallest_by_advanced(single, sets, epsilon, delta)
    priors = {}
    for slack in delta * np.arange(0.05, 1.0, 0.05):
        low, high = 0.0, epsilon
        for _ in range(80):
            middle = (low + high) / 2
            kept = advanced_composition(middle, sets, slack) <= epsilon
            low, high = (middle, high) if kept else (low, middle)
        priors[slack] = single(low, (delta - slack) / sets)
    assert advanced <= min(priors.values()) * (1 + 1e-7)
    assert advanced == pytest.approx(min(priors.values()), rel=2e-3)
    assert slack_found == pytest.approx(min(priors, key=lambda slack: priors[slack]), abs=0.06 * delta)


def test_without_delta_only_the_pure_rule_is_left() -> None:
    found = minimum_prior_for_sets("synth_post_one", n=100, m=100, sets=5, epsilon=1.0, delta=0.0)
    assert found.lower == found.upper == pytest.approx(100 / math.expm1(0.2), rel=1e-12)
    pair = beta_binomial_pair(found.upper, found.upper + 99, 100)
    assert composed_delta(pair, 5, 1.0).upper == 0.0
    assert composed_delta(pair, 5, 0.999).upper > 0.0
    assert minimum_prior_for_sets("param_post", n=9, m=1, sets=2, epsilon=1.0, delta=0.0).upper == math.inf


def test_many_tied_pairs_are_still_covered() -> None:
    found = minimum_prior_for_sets("param_post", n=300, m=1, sets=2, epsilon=1e-3, delta=1e-5)
    assert found.upper < found.lower * (1 + 1e-5)
    value = composed_delta(BetaLosses(found.lower, found.lower + 299), 2, 1e-3)
    assert value.upper > 1e-5


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"method": "param_map"}, "method must be one of"),
        ({"sets": 0}, "sets .* must be a whole number from 1"),
        ({"epsilon": 0.0}, "epsilon"),
        ({"epsilon": 2e-6, "sets": 5}, "epsilon must be at least 10⁻⁶ for each set"),
        ({"delta": 1.0}, "delta"),
        ({"n": 0}, "n "),
        ({"m": 2.5}, "m "),
    ],
)
def test_what_cannot_be_asked_is_said(change: dict[str, object], words: str) -> None:
    asked = {"method": "synth_post_one", "n": 10, "m": 10, "sets": 2, "epsilon": 1.0, "delta": 1e-3} | change
    with pytest.raises(ValueError, match=words):
        minimum_prior_for_sets(asked.pop("method"), **asked)


def test_bad_numbers_are_refused_by_name() -> None:
    pair = beta_binomial_pair(1.0, 1.0, 2)
    with pytest.raises(ValueError, match="resolution must be a number above 0"):
        composed_delta(pair, 2, 1.0, 0.0)
    with pytest.raises(ValueError, match="epsilon"):
        composed_delta(pair, 2, -1.0)
