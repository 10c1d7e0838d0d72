"""Every law, log-odds and δ against the definitions evaluated with 50 digits."""

from __future__ import annotations

import functools
from collections.abc import Callable

import mpmath as mp
import numpy as np
import pytest

from dpviz import privacy
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
    Synthesizer,
)
from dpviz.mechanisms.beta_binomial import beta_binomial_terms
from tests.referees import worst_excess

pytestmark = pytest.mark.usefixtures("fifty_digits")
Exact = Callable[[Synthesizer, tuple[int, ...], tuple[int, ...]], mp.mpf]
FULL_DIGITS = mp.mpf("1e-280")


def priors(s: Synthesizer) -> list[mp.mpf]:
    """Prior rows of each cell, exactly as the floating-point numbers say."""
    if hasattr(s, "cells"):
        return [mp.mpf(float(weight)) for weight in np.broadcast_to(s.alpha, s.cells)]  # type: ignore[attr-defined]
    return [mp.mpf(s.alpha), mp.mpf(s.beta)]  # type: ignore[attr-defined]


def posterior_draw(s: Synthesizer, confidential: tuple[int, ...], released: tuple[int, ...]) -> mp.mpf:
    """Multinomial coefficient times a ratio of Dirichlet normalising constants, by gamma functions."""
    value = mp.loggamma(sum(released) + 1)
    total = sum(priors(s)) + sum(confidential)
    value += mp.loggamma(total) - mp.loggamma(total + sum(released))
    for prior, n, m in zip(priors(s), confidential, released, strict=True):
        value += mp.loggamma(prior + n + m) - mp.loggamma(prior + n) - mp.loggamma(m + 1)
    return mp.exp(value)


def drawn_from(weights: list[mp.mpf], released: tuple[int, ...]) -> mp.mpf:
    """Multinomial probability with proportions `weights` over their sum."""
    value = mp.factorial(sum(released))
    for weight, m in zip(weights, released, strict=True):
        value *= (weight / sum(weights)) ** m / mp.factorial(m)
    return value


def posterior_mean(s: Synthesizer, confidential: tuple[int, ...], released: tuple[int, ...]) -> mp.mpf:
    return drawn_from([prior + n for prior, n in zip(priors(s), confidential, strict=True)], released)


def posterior_mode(s: Synthesizer, confidential: tuple[int, ...], released: tuple[int, ...]) -> mp.mpf:
    return drawn_from([prior + n - 1 for prior, n in zip(priors(s), confidential, strict=True)], released)


def clamped_laplace(n: int, epsilon: mp.mpf, count: int, released: int) -> mp.mpf:
    """Laplace(1/ε) noise on one count, rounded and clamped to 0 … n, by its upper tail."""

    def above(t: mp.mpf) -> mp.mpf:
        return mp.exp(-epsilon * t) / 2 if t >= 0 else 1 - mp.exp(epsilon * t) / 2

    distance, half = abs(released - count), mp.mpf(1) / 2
    if released in (0, n):
        return above(distance - half)
    return above(distance - half) - above(distance + half)


def laplace(s: Synthesizer, confidential: tuple[int, ...], released: tuple[int, ...]) -> mp.mpf:
    return clamped_laplace(s.n, mp.mpf(s.epsilon), confidential[0], released[0])  # type: ignore[attr-defined]


def laplace_cells(s: Synthesizer, confidential: tuple[int, ...], released: tuple[int, ...]) -> mp.mpf:
    half = mp.mpf(s.epsilon) / 2  # type: ignore[attr-defined]
    return mp.fprod(clamped_laplace(s.n, half, *pair) for pair in zip(confidential, released, strict=True))  # type: ignore[attr-defined]


def geometric(s: Synthesizer, confidential: tuple[int, ...], released: tuple[int, ...]) -> mp.mpf:
    """Two-sided geometric noise; the clamped ends hold the sums of the geometric tails."""
    ratio = mp.exp(-mp.mpf(s.epsilon))  # type: ignore[attr-defined]
    mass = ratio ** abs(released[0] - confidential[0]) * (1 - ratio) / (1 + ratio)
    return mass / (1 - ratio) if released[0] in (0, s.n) else mass  # type: ignore[attr-defined]


LAWS: dict[type[Synthesizer], Exact] = {
    BetaBinomial: posterior_draw, PosteriorMean: posterior_mean, PosteriorMode: posterior_mode,
    LaplaceSanitizer: laplace, GeometricSanitizer: geometric, DirichletMultinomial: posterior_draw,
    MultinomialMean: posterior_mean, MultinomialMode: posterior_mode, LaplaceCells: laplace_cells,
}  # fmt: skip


def exact(s: Synthesizer, row: int, column: int) -> mp.mpf:
    return LAWS[type(s)](s, s.row_table(row), s.column_table(column))


@functools.cache
def exact_matrix(s: Synthesizer) -> np.ndarray:
    return np.array([[exact(s, row, column) for column in range(s.shape[1])] for row in range(s.shape[0])])


def exact_delta(s: Synthesizer, epsilon: float, matrix: np.ndarray) -> mp.mpf:
    """Largest Σ max(0, P − e^ε Q) over all neighbours, both ways round."""
    return max(worst_excess([matrix[first], matrix[second]], epsilon) for first, second in s.neighbours)


def worst(errors: list[mp.mpf]) -> float:
    return float(max(errors))


PRIORS = [1e-6, 0.3, 7.0, 1e3, 1e6]
PRIOR_CLASSES: list[type[BetaBinomial | PosteriorMean | PosteriorMode]] = [BetaBinomial, PosteriorMean, PosteriorMode]
CELL_CLASSES = (DirichletMultinomial, MultinomialMean, MultinomialMode)
SMALL = [
    pytest.param(cls(n=n, m=m, alpha=alpha + shift, beta=beta + shift), id=f"{cls.key}-{n}-{m}-{alpha:g}-{beta:g}")
    for cls, shift in zip(PRIOR_CLASSES, (0, 0, 1), strict=True)
    for n, m, alpha, beta in [
        *((17, 29, alpha, alpha) for alpha in PRIORS),
        *((40, 40, alpha, beta) for alpha, beta in [(1e-6, 1e6), (0.3, 2.5), (1e6, 1e-6)]),
        *((1, 40, alpha, 0.3) for alpha in PRIORS),
        (40, 3, 1e3, 1e-6),
    ]
] + [
    pytest.param(cls(n=n, epsilon=epsilon), id=f"{cls.key}-{n}-{epsilon:g}")
    for cls in (LaplaceSanitizer, GeometricSanitizer)
    for n, epsilon in [(1, 1e-6), (2, 0.1), (13, 1.0), (40, 5.0), (40, 60.0), (40, 1e-6)]
]
CELLS = [
    DirichletMultinomial(n=4, m=5, cells=3, alpha=0.5),
    DirichletMultinomial(n=3, m=3, cells=4, alpha=(1e-6, 2.0, 1e6, 0.3)),
    MultinomialMean(n=4, m=5, cells=3, alpha=(1e-6, 30.0, 0.5)),
    MultinomialMode(n=3, m=3, cells=4, alpha=(1.5, 2.0, 1e6, 1.0 + 1e-6)),
    LaplaceCells(n=4, cells=3, epsilon=1.0),
    LaplaceCells(n=2, cells=4, epsilon=10.0),
]
every_law = pytest.mark.parametrize("s", [*SMALL, *(pytest.param(s, id=f"{s.key}-{s.n}-{s.cells}") for s in CELLS)])


@every_law
def test_transition_matrix_has_twelve_digits(s: Synthesizer) -> None:
    law, matrix = exact_matrix(s), s.transition_matrix()
    likely = law > FULL_DIGITS
    assert worst([abs(p / x - 1) for p, x in zip(matrix[likely], law[likely], strict=True)]) <= 1e-12
    assert matrix[~likely].max(initial=0.0) <= 1e-279


@every_law
def test_log_odds_have_fourteen_digits(s: Synthesizer) -> None:
    """Absolute, relative above 1; and thirteen digits of the largest of the pair, which a large prior makes small."""
    law, table = exact_matrix(s), s.log_odds_table()
    for (first, second), row in zip(s.neighbours, table, strict=True):
        true = [mp.log(p / q) for p, q in zip(law[first], law[second], strict=True)]
        errors = [abs(value - x) for value, x in zip(row, true, strict=True)]
        assert worst([error / max(1, abs(x)) for error, x in zip(errors, true, strict=True)]) <= 1e-14
        assert worst(errors) <= 1e-13 * float(max(abs(x) for x in true))


def test_log_odds_of_no_ones_and_of_ones_alone_have_a_single_term() -> None:
    """Which a difference of sums with the logarithm of a tiny prior would lose."""
    table, i = BetaBinomial(n=5, m=4, alpha=1e-300, beta=2.0).log_odds_table(), np.arange(5)
    assert table[:, 0] == pytest.approx(np.log1p(4 / (2 + (4 - i))), rel=1e-15, abs=0)
    assert table[1:, 4] == pytest.approx(-np.log1p(4 / i[1:]), rel=1e-15, abs=0)


def log_binomial(s: PosteriorMean | PosteriorMode, row: int, column: int) -> mp.mpf:
    """ln of the binomial probability, by gamma functions: thousands of draws are too many for `drawn_from`."""
    shift = 1 if isinstance(s, PosteriorMode) else 0
    ones, zeros = mp.mpf(s.alpha) - shift + row, mp.mpf(s.beta) - shift + (s.n - row)
    value = mp.loggamma(s.m + 1) - mp.loggamma(column + 1) - mp.loggamma(s.m - column + 1)
    return value + column * mp.log(ones / (ones + zeros)) + (s.m - column) * mp.log(zeros / (ones + zeros))


UNEVEN, EVEN = (1e-6, 1e6), (7.5808, 7.5808)
LARGE = [
    (n, m, *prior)
    for place, (n, m) in enumerate([(1000, 1000), (5000, 7), (7, 5000)])
    for prior in [(1e-6, 1e-6), UNEVEN, (1e6, 3.0), EVEN, (1e6, 1e6)][place % 2 :: 2]
] + [(5000, 5000, *prior) for prior in (UNEVEN, EVEN)]


@pytest.mark.parametrize(("n", "m", "alpha", "beta"), LARGE)
@pytest.mark.parametrize("cls", PRIOR_CLASSES, ids=lambda cls: cls.key)
def test_large_matrices_have_twelve_digits(cls: type, n: int, m: int, alpha: float, beta: float) -> None:
    """Forty cells of any likelihood. Logarithms near 5,000 are added, whose last place is 10⁻¹²."""
    shift = 1 if cls is PosteriorMode else 0
    s = cls(n=n, m=m, alpha=alpha + shift, beta=beta + shift)
    matrix = s.transition_matrix()
    rows = [0, 1, n // 7, n // 2, n - 1, n]
    random = np.random.default_rng(n + m)
    for row in rows:
        likely = np.flatnonzero(matrix[row] > 1e-279)
        columns = {int(likely[0]), int(matrix[row].argmax()), int(likely[-1]), *random.choice(likely, 4).tolist()}
        for column in columns:
            true = exact(s, row, column) if cls is BetaBinomial else mp.exp(log_binomial(s, row, column))
            allowed = 1e-12 if m <= 1000 else 3e-12
            assert abs(matrix[row, column] / true - 1) <= allowed, (row, column)
            logarithm = s.log_transition(np.array([row]), np.array([column]))[0, 0]
            assert abs(logarithm - mp.log(true)) <= 2e-15 * max(n, m) + 1e-12, (row, column)


def shares(s: Synthesizer) -> list[float]:
    """ε at 0, inside, near the end and a hair below the ε that the release really has."""
    pure = privacy.pure_epsilon(s)
    return [0.0, 0.3 * pure, 0.8 * pure, 0.999 * pure]


@every_law
def test_delta_is_the_largest_divergence_of_all_neighbours(s: Synthesizer) -> None:
    law = exact_matrix(s)
    for epsilon in shares(s):
        true = exact_delta(s, epsilon, law)
        if true > FULL_DIGITS:
            assert abs(privacy.delta_for_epsilon(s, epsilon) / true - 1) <= 1e-9, epsilon


TINY = [
    (BetaBinomial(n=4, m=300, alpha=20.0, beta=80.0), {1.9: -25, 2.76: -65}),
    (BetaBinomial(n=4, m=500, alpha=800.0, beta=900.0), {0.194: -19, 0.48: -134}),
    (BetaBinomial(n=4, m=500, alpha=2000.0, beta=1.5), {2.9: -22, 5.2: -249}),
    (PosteriorMean(n=4, m=200, alpha=3.0, beta=40.0), {20.0: -30, 57.4: -214}),
    (PosteriorMode(n=4, m=300, alpha=90.0, beta=12.0), {16.0: -109, 25.0: -240}),
]


@pytest.mark.parametrize(("s", "wanted"), TINY, ids=lambda value: getattr(value, "key", ""))
def test_tiny_delta_keeps_nine_digits(s: Synthesizer, wanted: dict[float, int]) -> None:
    law = exact_matrix(s)
    for epsilon, power in wanted.items():
        true = exact_delta(s, epsilon, law)
        assert FULL_DIGITS < true < mp.mpf(10) ** power
        assert abs(privacy.delta_for_epsilon(s, epsilon) / true - 1) <= 1e-9, epsilon


def random_cells(seed: int) -> Synthesizer:
    """Three or four cells, few rows, and priors that spread over up to eight decades."""
    random = np.random.default_rng(seed)
    cells = int(random.integers(3, 5))
    n, m = (int(number) for number in random.integers(1, 6 if cells == 3 else 4, 2))
    alpha = tuple(float(10**power) for power in random.uniform(-4, 4, cells) * random.choice([0.1, 1.0]))
    match seed % 4:
        case 0:
            return DirichletMultinomial(n=n, m=m, cells=cells, alpha=alpha)
        case 1:
            return MultinomialMean(n=n, m=m, cells=cells, alpha=alpha)
        case 2:
            return MultinomialMode(n=n, m=m, cells=cells, alpha=tuple(1 + weight for weight in alpha))
    return LaplaceCells(n=min(n, 10 - 2 * cells), cells=cells, epsilon=float(10 ** random.uniform(-1, 1)))


@pytest.mark.parametrize("seed", range(40))
def test_no_neighbours_of_many_cells_are_worse_than_the_two_that_are_looked_at(seed: int) -> None:
    """Every pair of neighbours by brute force confirms the argument of `dpviz.mechanisms.cells`."""
    s = random_cells(seed)
    law = exact_matrix(s)
    for epsilon in shares(s):
        true = exact_delta(s, epsilon, law)
        assert abs(privacy.delta_for_epsilon(s, epsilon) / true - 1) <= 1e-9, (s, epsilon)
    largest = max(abs(mp.log(p / q)) for i, j in s.neighbours for p, q in zip(law[i], law[j], strict=True))
    assert abs(privacy.pure_epsilon(s) / largest - 1) <= 1e-13


def test_the_row_in_the_second_rarest_cell_may_be_the_likelier_one() -> None:
    s = DirichletMultinomial(n=1, m=10, cells=3, alpha=(0.128, 0.474, 0.49))
    worst = s.hockey_stick(1.31)
    assert abs(worst.value / exact_delta(s, 1.31, exact_matrix(s)) - 1) <= 1e-9
    assert (s.row_table(worst.likelier), s.row_table(worst.unlikelier)) == ((0, 1, 0), (1, 0, 0))


@pytest.mark.parametrize("cls", [*PRIOR_CLASSES, *CELL_CLASSES], ids=lambda cls: cls.key)
@pytest.mark.parametrize(("n", "m"), [(1, 1), (5, 20), (6, 9), (60, 60), (400, 30)])
@pytest.mark.parametrize("fixed", [None, 1.2, 300.0])
def test_delta_never_rises_with_the_prior(cls: type, n: int, m: int, fixed: float | None) -> None:
    """With α = β and with β held fixed; the solver for the least prior relies on it."""
    grid = 1 + np.geomspace(1e-3, 1e5, 30)
    if cls in CELL_CLASSES:
        made = [cls(n=n, m=m, cells=3, alpha=(alpha, fixed or alpha, fixed or alpha)) for alpha in grid]
    else:
        made = [cls(n=n, m=m, alpha=alpha, beta=fixed or alpha) for alpha in grid]
    for epsilon in (0.0, 0.1, 1.0, 4.0):
        profile = [privacy.delta_for_epsilon(s, epsilon) for s in made]
        assert np.all(np.diff(profile) <= 1e-13), epsilon


def test_entries_of_lists_of_columns_are_those_of_the_whole_table() -> None:
    s = BetaBinomial(n=3, m=4, alpha=0.5, beta=2.0)
    columns = [0, 2, 1, 4, 3]
    np.testing.assert_array_equal(s.log_transition([3, 0], columns), s.log_transition_matrix()[[3, 0]][:, columns])  # type: ignore[arg-type]
    assert not any(terms.flags.writeable for terms in beta_binomial_terms(s.n, s.m, s.alpha, s.beta))
