"""Regions of highest density: probability, heights at the ends, nothing higher outside; infinite ends, many modes."""

import math

import mpmath as mp
import numpy as np
import pytest
from scipy.special import betaincinv
from scipy.stats import beta as beta_law

from dpviz.inference import BetaMixture, posterior_cells, posterior_given, posterior_mixture
from dpviz.inference._roots import falling_roots
from dpviz.inference.beta_mixture import MixtureFamily
from dpviz.inference.posterior_coverage import EQUAL_TAILS, HIGHEST_DENSITY, posterior_coverage
from dpviz.inference.secret_size import posterior_secret_n, size_prior
from dpviz.mechanisms import BetaBinomial, TwoCellSynthesizer
from dpviz.mechanisms.matrix_mechanism import GivenMatrix
from tests.mixtures import beta_of, check_region

LEVELS = [0.001, 0.5, 0.8, 0.95, 0.999999]


def test_the_region_of_a_density_that_falls_and_is_infinite_where_no_probability_is():
    """γ2 = 0.9 makes the density infinite at 1 as well, where there is next to no probability."""
    far = 0.0634871142
    for count, gamma1, gamma2, region in (
        (0, 1, 0.9, (0.0, pytest.approx(far, abs=1e-9))),
        (0, 0.8, 0.8, (0.0, pytest.approx(0.05, abs=0.05))),
        (20, 0.9, 1, (pytest.approx(1 - far, abs=1e-9), 1.0)),
    ):
        post = posterior_mixture(synthetic_counts=[count], n=20, m=20, alpha=1, beta=1, gamma1=gamma1, gamma2=gamma2)
        assert check_region(post, 0.5) == [region]


@pytest.mark.parametrize("block", range(8))
def test_intervals_and_regions_of_random_designs(block):
    random = np.random.default_rng([5, block])
    for _ in range(16):
        n, m, sets = int(random.choice([1, 2, 3, 5, 10, 30, 80])), int(random.integers(1, 60)), random.integers(1, 11)
        gammas = np.exp(random.uniform(math.log(0.01), math.log(2), 2))
        gammas[random.random(2) < 0.15] = 1.0
        alpha, beta = np.exp(random.uniform(-12, 5, 2))
        counts = random.choice([0, m], sets) if random.random() < 0.4 else random.integers(0, m + 1, sets)
        release: TwoCellSynthesizer = BetaBinomial(n=n, m=m, alpha=alpha, beta=beta)
        if random.random() >= 0.7:
            rows = random.dirichlet(np.full(m + 1, random.choice([0.3, 1.0, 10.0])), size=n + 1)
            release, counts = GivenMatrix(probabilities=rows / rows.sum(axis=1, keepdims=True)), counts[:2]
        post, level = posterior_given(release, counts, gamma1=gammas[0], gamma2=gammas[1]), float(random.choice(LEVELS))
        assert post.weights.sum() == pytest.approx(1, abs=1e-13)
        assert post.cdf(np.array([-1.0, 0.0, 1.0, 2.0])) == pytest.approx([0, 0, 1, 1], abs=1e-14)
        grid = np.linspace(0.0, 1.0, 33)
        assert post.cdf(grid) == pytest.approx(beta_law.cdf(grid[:, None], post.a, post.b) @ post.weights, abs=1e-13)
        low, high = post.interval(level)
        region = check_region(post, level)
        assert sum(end - start for start, end in region) <= high - low + 1e-9


def test_regions_of_other_mixtures():
    """A cell of a table, and an unknown n, whose components have different sizes."""
    cells = posterior_cells(synthetic_counts=[[0, 7, 3], [1, 9, 0]], n=12, alpha=0.5, gamma=[0.3, 0.7, 0.2])
    for cell in range(3):
        check_region(cells.marginal(cell), 0.9)
    for gammas in ((1.0, 1.0), (0.4, 0.6)):
        secret = posterior_secret_n(
            synthetic_counts=[0, 2], m=8, alpha=0.3, beta=0.4, prior=size_prior("uniform", 4, 40),
            gamma1=gammas[0], gamma2=gammas[1],
        )  # fmt: skip
        check_region(secret, 0.9)
    with pytest.raises(ValueError, match="must rise and b fall by 1"):
        BetaMixture(a=np.array([1.0, 2.0]), b=np.array([1.5, 1.0]), weights=np.array([0.5, 0.5]))


def test_a_dip_between_any_two_points_of_a_grid_is_found():
    """Three narrow modes among two thousand components."""
    weights = np.zeros(2001)
    weights[[300, 380, 1500]] = [0.4, 0.35, 0.25]
    x = np.arange(2001)
    post = BetaMixture(a=1.0 + x, b=2001.0 - x, weights=weights)
    assert len(check_region(post, 0.95)) == 3
    assert len(check_region(post, 0.5)) == 2


FEW = {"synthetic_counts": [3, 3], "n": 4, "m": 6, "alpha": 0.01, "beta": 0.02}
MORE = {"synthetic_counts": [0, 7], "n": 12, "m": 9, "alpha": 0.3, "beta": 1.2}


@pytest.mark.parametrize(("release", "gammas", "pieces"), [
    (FEW, (0.4, 0.7), 3), (MORE, (0.05, 0.6), 3), (MORE, (1.0, 1.0), 1), (MORE, (3.0, 0.2), 2),
])  # fmt: skip
def test_quantiles_and_regions_have_their_probability_by_mpmath(release, gammas, pieces):
    post = posterior_mixture(**release, gamma1=gammas[0], gamma2=gammas[1])
    components = list(zip(post.weights.tolist(), post.a.tolist(), post.b.tolist(), strict=True))

    def mass(low, high):
        return float(mp.fsum(w * mp.betainc(a, b, low, high, regularized=True) for w, a, b in components))

    for q in (0.001, 0.025, 0.5, 0.975):
        assert mass(0, post.quantile(q)) == pytest.approx(q, abs=1e-12)
    region = post.highest_density(0.7)
    assert sum(mass(*piece) for piece in region) == pytest.approx(0.7, abs=1e-9) and len(region) == pieces


@pytest.mark.parametrize(("a", "b", "smallest"), [(2.5, 4.0, 1e-15), (50.0, 50.0, 1e-300)])
def test_a_single_component_is_its_beta_law_in_tiny_tails_too(a, b, smallest):
    law = beta_of(a, b)
    for q in (0.0, smallest, 1e-14, 1e-9, 0.3, 1 - 1e-9, 1 - 1e-14, 1.0):
        assert law.quantile(q) == pytest.approx(float(betaincinv(a, b, q)), rel=1e-12 if q < 0.5 else 1e-3)
    assert law.pdf(np.array([[0.1, 0.2], [1.5, -1.0]])).shape == (2, 2)
    assert law.pdf(np.array([1.5, -1.0])).tolist() == [0.0, 0.0]


@pytest.mark.parametrize("q", [1e-30, 1e-14, 1e-9])
@pytest.mark.parametrize(
    ("a", "b", "weights"), [(50.0, 2.0, (0.3, 0.7)), (2000.5, 8.5, (0.5, 0.5)), (40.0, 3.0, (1e-20, 0.4, 0.6 - 1e-20))]
)
def test_tiny_tails_keep_their_digits_where_the_quantile_is_next_to_one(a, b, weights, q):
    """Light components count, too: they have most of a small tail."""
    k = np.arange(len(weights))
    law = BetaMixture(a=a + k, b=b - k, weights=np.array(weights))
    p = mp.mpf(law.quantile(q))
    parts = zip(law.weights.tolist(), law.a.tolist(), law.b.tolist(), strict=True)
    with mp.workdps(40):
        below = mp.fsum(w * mp.betainc(a, b, 0, p, regularized=True) for w, a, b in parts)
    assert float(below) == pytest.approx(q, rel=1e-11)


def test_intervals_of_the_arcsine_law():
    law = beta_of(0.5, 0.5)
    assert math.isinf(law.pdf(0.0)) and math.isinf(law.pdf(1.0))
    for level in (0.5, 0.9):
        assert law.interval(level) == pytest.approx(beta_law.ppf([(1 - level) / 2, (1 + level) / 2], 0.5, 0.5))
        ends = [0, np.sin(level * np.pi / 4) ** 2, np.cos(level * np.pi / 4) ** 2, 1]
        assert np.ravel(check_region(law, level)) == pytest.approx(ends)


@pytest.mark.parametrize(("a", "b"), [(1.0, 1.0), (2.5, 4.0), (300.0, 9_000.0), (40.0, 1e6)])
def test_an_outline_shows_the_whole_density(a, b):
    p, density = beta_of(a, b).outline
    assert (p[0], p[-1]) == (0.0, 1.0)
    assert density == pytest.approx(beta_law.pdf(p, a, b), rel=1e-9, abs=1e-200)
    assert np.trapezoid(density, p) == pytest.approx(1.0, abs=2e-3)
    assert density.max() == pytest.approx(beta_law.pdf((a - 1) / (a + b - 2) if a > 1 else 0.5, a, b), rel=3e-3)


def test_a_part_that_no_float_can_name_is_the_last_one_inside():
    near_1, near_0 = beta_of(1.0, 0.005), beta_of(0.0005, 1.0)
    assert near_1.highest_density(0.5) == [(math.nextafter(1.0, 0.0), 1.0)]
    assert near_0.highest_density(0.5) == [(0.0, pytest.approx(0.0, abs=1e-300))]
    assert near_1.interval(0.5) == pytest.approx((1.0, 1.0), abs=1e-15)  # 1 − 0.75²⁰⁰ and 1 − 0.25²⁰⁰


@pytest.mark.parametrize("interval", [EQUAL_TAILS, HIGHEST_DENSITY])
@pytest.mark.parametrize("gammas", [(0.02, 0.3), (0.6, 0.05), (1.05, 0.5), (3.0, 1.03)])
def test_coverage_at_an_end_and_next_to_it_is_that_of_the_mirrored_problem(interval, gammas):
    near = np.array([0.0, 2.0**-20, 0.25])
    for level in (0.3, 0.9):
        left, right = (
            posterior_coverage(
                synthesizer=BetaBinomial(n=12, m=9, alpha=alpha, beta=beta), proportions=p, sets=2,
                gamma1=gamma1, gamma2=gamma2, level=level, interval=interval,
            ).coverage
            for alpha, beta, p, (gamma1, gamma2) in ((0.7, 2.0, near, gammas), (2.0, 0.7, 1 - near, gammas[::-1]))
        )  # fmt: skip
        assert left == pytest.approx(right, abs=1e-12)
        can_hold_0 = interval == HIGHEST_DENSITY and gammas[0] < 1
        assert left[0] > 0.5 if can_hold_0 else left[0] == 0


def test_an_interval_is_found_once(monkeypatch):
    """A page asks for the same one for its sentence, its table and its picture."""
    calls: list[float] = []
    found = MixtureFamily.equal_tails
    monkeypatch.setattr(MixtureFamily, "equal_tails", lambda self, level: calls.append(level) or found(self, level))
    post = posterior_mixture(synthetic_counts=[3], n=5, m=5, alpha=1.0, beta=1.0)
    intervals = [post.interval(level) for level in (0.9, 0.5, 0.9)]
    assert calls == [0.9, 0.5]
    assert intervals[0] == intervals[2]


def test_newtons_method_leaves_a_cycle_between_the_ends_of_its_bracket():
    """sign(x) √|x| sends x to −x: the bracket shrinks to both of them, and bisection ends it."""

    def falling(_: np.ndarray, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return -np.sign(x) * np.sqrt(np.abs(x)), -0.5 / np.sqrt(np.maximum(np.abs(x), 1e-300))

    assert falling_roots(falling, np.array([-3.0]), np.array([5.0])) == pytest.approx(0.0, abs=1e-12)


def test_values_at_both_ends_are_those_of_scipy_also_for_parameters_next_to_1():
    for a, b in ((1.00001, 1.0), (1.0, 2.0), (0.5, 3.0), (1.0, 0.9999), (0.001, 1.0)):
        for p in (0.0, 1.0):
            assert beta_of(a, b).pdf(p) == pytest.approx(beta_law.pdf(p, a, b))
            assert beta_of(a, b).cdf(p) == p
