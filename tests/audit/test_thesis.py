"""What Zheng's thesis and Abowd & Vilhuber print, and what pages say of it, against exact answers."""

import functools
import itertools
import math
import re

import mpmath as mp
import numpy as np
import pytest
from scipy.optimize import linprog

from dpviz.audit.theorems import THEOREMS
from dpviz.charts.matrix import release_html
from dpviz.mechanisms import SYNTHESIZERS, BetaBinomial, DirichletMultinomial, PosteriorMean, PosteriorMode
from dpviz.priors import KINDS, METHODS, minimum_prior
from dpviz.privacy import pure_epsilon
from dpviz.privacy.average_case import (
    average_case_delta,
    count_release_delta,
    count_simulator_deltas,
    log_count_probabilities,
    midpoint_simulator_delta,
)
from dpviz.privacy.probabilistic import failure_by_row
from dpviz.privacy.subsampling import subsampled_epsilon
from dpviz.published.records import load_errata
from pages.minimum_priors import describe_change
from tests.calibration.test_text import LAWS, question
from tests.privacy.test_average_case import close, hockey_stick
from tests.privacy.test_report import RELEASES
from tests.referees import binomial_distribution, listed_delta
from tests.reproduction.abowd_vilhuber import EQUATION_1, LAPLACE, PLUG_IN, accounts_of_delta

pytestmark = pytest.mark.usefixtures("sixty_digits")


@pytest.mark.parametrize(("n", "theta", "epsilon", "refuted"), [
    (100, 0.5, 0.01, True), (100, 0.5, 0.1, True), (100, 0.5, 1.0, False), (1000, 0.5, 0.01, True),
    (1000, 0.5, 0.1, False), (1000, 0.5, 1.0, False), (20, 0.9, 1.0, True),
])  # fmt: skip
def test_proposition_6_17_promises_too_small_a_delta_at_small_epsilon(n, theta, epsilon, refuted) -> None:
    law, grow = binomial_distribution(n, theta), mp.e ** mp.mpf(epsilon)
    pairs = list(itertools.pairwise(law))
    printed = max(max(p - grow * q, q - grow * p, mp.mpf(0)) for p, q in pairs) / 2
    least, midpoint = count_simulator_deltas(n, theta, epsilon)
    claimed = THEOREMS["6.17"].value(n=n, theta_real=theta, epsilon=epsilon)
    assert close(claimed, printed, 1e-8)
    assert (claimed < least) == refuted
    if not refuted:
        assert midpoint < claimed


def test_the_printed_slack_of_proposition_6_17_shrinks_faster_than_the_true_delta() -> None:
    printed = [THEOREMS["6.17"].value(n=n, theta_real=0.5, epsilon=1e-6) for n in (100, 10_000)]
    least = [count_simulator_deltas(n, 0.5, 1e-6)[0] for n in (100, 10_000)]
    assert printed[0] / printed[1] == pytest.approx(100, rel=0.02)
    assert least[0] / least[1] == pytest.approx(10, rel=0.02)


@pytest.mark.parametrize("theta", [0.001, 0.5, 0.9])
@pytest.mark.parametrize("epsilon", [0.1, 5.0, 700.0])
def test_theorem_6_18_holds_at_every_theta(theta: float, epsilon: float) -> None:
    certain = max(theta, 1 - theta) ** 19  # n ones, or none, show the row
    assert 0 < certain <= count_release_delta(20, theta, epsilon) * (1 + 1e-12)
    assert count_release_delta(20, theta, 700.0) == pytest.approx(certain, rel=1e-12)


@pytest.mark.parametrize("theta", [0.5, 0.9, 0.99])
@pytest.mark.parametrize("epsilon", [0.1, 1.0])
def test_corollary_6_19_fails_at_a_fixed_theta_where_delta_falls_exponentially(theta: float, epsilon: float) -> None:
    deltas = [
        midpoint_simulator_delta(functools.partial(count_release_delta, n, theta), epsilon) for n in (1000, 10_000)
    ]
    rates = [THEOREMS["6.19"].value(n=n, epsilon=epsilon) for n in (1000, 10_000)]
    assert max(rates) < 0
    assert deltas[1] / deltas[0] < 0.15 * rates[1] / rates[0]


def test_a_sample_of_all_rows_changes_nothing_and_losses_are_rounded_to_one_side() -> None:
    """A loss of 1.66472 at both ends was once said to change from 1.66 to 1.67."""
    assert describe_change(1.66472, 1.66472) == ("ε = 1.67", "its loss stays at ε = 1.67.")
    assert describe_change(1.66472, 1.6601) == (
        "ε = 1.665 → 1.661", "its loss changes from ε = 1.665 to ε = 1.661."
    )  # fmt: skip
    assert describe_change(1.66472, 0.62011, " at most") == (
        "ε = 1.67 → at most 0.621", "its loss changes from ε = 1.67 to at most ε = 0.621."
    )  # fmt: skip
    promise = question("bernoulli", n=6, m=6, epsilon=1.0, delta=1e-3)
    alone = KINDS["bernoulli"].given(METHODS["synth_post_one"], promise.setting, 1.0)
    assert alone is not None
    release_of_rows = METHODS["synth_post_one"].two_cells(6, 6, 1.0, 1.0)
    after = subsampled_epsilon(release_of_rows, 6, 1e-3)
    assert describe_change(alone.epsilon_at_delta, after)[1].startswith("its loss stays at ε = ")


def test_what_is_said_of_uneven_priors_holds():
    """Without δ the smaller one binds; with δ more of the other never hurts; the pull is towards α/(α + β)."""
    for law, n, m, epsilon, alpha in itertools.product(
        (BetaBinomial, PosteriorMean), (1, 12), (1, 12), (0.2, 2.0), (0.5, 9.0)
    ):
        betas = (alpha, 2 * alpha, 50 * alpha)
        releases = [law(n=n, m=m, alpha=alpha, beta=beta) for beta in betas]
        exact = [release.worst_log_odds().value for release in releases]
        assert exact == pytest.approx([exact[0]] * 3, rel=1e-9)
        left = [listed_delta(release, epsilon) for release in releases]
        assert left[0] >= left[1] * (1 - 1e-9) >= left[2] * (1 - 1e-9) ** 2
    far = [law(n=3, m=5, alpha=3e6, beta=1e6).transition_matrix() @ np.arange(6) / 5 for law in LAWS.values()]
    assert np.allclose(far, 0.75, atol=1e-5)
    near = PosteriorMode(n=1, m=1, alpha=2.0, beta=1.5).transition_matrix()[:, 1]
    assert near.tolist() == pytest.approx([(0 + 1) / (1 + 1.5), (1 + 1) / (1 + 1.5)])  # towards 1/1.5, not 2/3.5


def test_what_is_said_of_several_categories_holds():
    """From k = 3 on the prior falls and the total grows; PARAM_Post needs the same for every k and n."""
    for n, m, epsilon, delta in itertools.product((1, 5, 50), (1, 20), (0.1, 1.0, 8.0), (1e-6, 1e-2)):
        needed = [
            minimum_prior("synth_post_one", n=n, m=m, epsilon=epsilon, delta=delta, cells=cells) for cells in (3, 5, 20)
        ]
        assert needed[0] >= needed[1] * (1 - 1e-9) >= needed[2] * (1 - 2e-9)
        if needed[2] > 1e-200:
            assert 3 * needed[0] <= 5 * needed[1] * (1 + 1e-9) <= 20 * needed[2] * (1 + 2e-9)
    every = [
        minimum_prior("param_post", n=n, m=1, epsilon=1.0, delta=1e-5, cells=cells)
        for n, cells in itertools.product((1, 7, 100), (3, 30))
    ]
    assert every == pytest.approx([every[0]] * len(every), rel=1e-9)
    for alpha, epsilon in itertools.product((0.5, 2.0), (0.2, 1.0)):
        release = DirichletMultinomial(n=4, m=3, cells=3, alpha=alpha)
        worst = release.hockey_stick(epsilon)
        cells = np.array([release.row_table(worst.likelier), release.row_table(worst.unlikelier)])
        moved = np.flatnonzero(cells[0] != cells[1])
        assert sorted(cells[:, moved].ravel().tolist()) == [0, 0, 1, 1]  # its only row of two cells in one or the other
        assert worst.value == pytest.approx(listed_delta(release, epsilon), rel=1e-9)


def test_the_probability_of_failure_does_not_fall_steadily_in_the_prior():
    priors = np.geomspace(1.0, 30.0, 200)
    failing = [failure_by_row(BetaBinomial(n=20, m=5, alpha=prior, beta=prior), 1.0).max() for prior in priors]
    steps = np.diff(failing)
    assert steps.min() < -1e-3
    assert steps.max() > 1e-6


def test_a_table_names_the_figures_that_show_its_synthesizer():
    for key, law in SYNTHESIZERS.items():
        release = next(made for made in [*RELEASES, None] if made is None or isinstance(made, law))
        if release is not None:
            captions = re.findall(r"<caption>.*?</caption>", release_html(release, 1.0, signed=False))
            figures = [re.findall(r"Fig\. (\d)", caption) for caption in captions]
            expected = {"posterior_mean": [["1"], ["2"]], "laplace": [["3"], ["4"]]}.get(key, [[], []])
            assert figures == expected
    assert PLUG_IN.key == "posterior_mean"
    assert LAPLACE.key == "laplace"
    assert EQUATION_1.key == "beta_binomial"


def test_what_is_said_of_the_printed_figures_holds():
    assert pure_epsilon(EQUATION_1) == pytest.approx(math.log(11), rel=1e-12)
    assert pure_epsilon(PLUG_IN) == pytest.approx(5 * math.log(3), rel=1e-12)
    assert f"{PLUG_IN.transition_matrix()[0, 5]:.6f}" == f"{12.0**-5:.6f}" == "0.000004"
    corner = 0.5 * 1.5 * 2.5 * 3.5 * 4.5 / (6 * 7 * 8 * 9 * 10)
    assert EQUATION_1.transition_matrix()[0, 5] == pytest.approx(corner, rel=1e-12)
    first, worst, *others = accounts_of_delta(PLUG_IN).values()
    assert f"{first:.4f}" == "0.0006"
    assert 0.09 < worst < 0.11  # "about one time in ten"
    assert max(others) <= worst  # "up to"
    law, delta, *_ = (erratum.truth for erratum in load_errata("Abowd & Vilhuber (2008)"))
    assert f"ln 11 = {math.log(11):.6f}" in law and f"5 ln 3 = {5 * math.log(3):.6f}" in law
    assert f"(1/12)⁵ = {12.0**-5:.6f}" in law and f"(6 · 7 · 8 · 9 · 10) = {corner:.6f}" in law
    assert f"({worst:.6f})" in delta and f"up to {worst / first:.3g}." in delta


def least_by_linear_programming(n: int, theta: float, epsilon: float) -> float:
    """The least δ over every simulator: the minimum of the definition itself."""
    law = np.exp(log_count_probabilities(n - 1, theta))
    laws, cells, grow = (np.append(0, law), np.append(law, 0)), n + 1, math.exp(epsilon)
    size, rows, bounds = cells + 1 + 4 * cells, [], []
    for index, known in enumerate(laws):
        for side, (factor, bound) in enumerate(((-grow, -known), (1.0, grow * known))):
            start = cells + 1 + (2 * index + side) * cells
            for cell in range(cells):
                row = np.zeros(size)
                row[cell], row[start + cell] = factor, -1
                rows.append(row)
                bounds.append(bound[cell])
            row = np.zeros(size)
            row[start : start + cells], row[cells] = 1, -1
            rows.append(row)
            bounds.append(0.0)
    cost, total = np.zeros(size), np.zeros(size)
    cost[cells], total[:cells] = 1, 1
    return float(linprog(cost, A_ub=np.array(rows), b_ub=bounds, A_eq=[total], b_eq=[1]).fun)


@pytest.mark.parametrize(("n", "theta"), [(20, 0.5), (20, 0.9), (8, 0.3)])
@pytest.mark.parametrize("epsilon", [0.01, 0.3, 1.0])
def test_the_best_simulator_lies_between_the_two_bounds(n: int, theta: float, epsilon: float) -> None:
    best, (least, midpoint) = least_by_linear_programming(n, theta, epsilon), count_simulator_deltas(n, theta, epsilon)
    assert least - 1e-7 <= best <= midpoint + 1e-7
    assert midpoint <= count_release_delta(n, theta, epsilon) / 2 * (1 + 1e-12)


@pytest.mark.parametrize("epsilon", [0.0, 0.2, 0.69, 0.7, 2.0])
def test_the_midpoint_simulator_is_the_even_mixture(epsilon: float) -> None:
    law = binomial_distribution(11, 0.3)
    with_one, with_zero = [mp.mpf(0), *law], [*law, mp.mpf(0)]
    even = [(p + q) / 2 for p, q in zip(with_one, with_zero, strict=True)]
    exact = max(hockey_stick(with_one, even, epsilon), hockey_stick(with_zero, even, epsilon))
    assert close(midpoint_simulator_delta(lambda value: count_release_delta(12, 0.3, value), epsilon), exact, 1e-11)


def test_proposition_2_15_holds_for_the_best_simulator_of_a_release_of_rows() -> None:
    def delta_of(epsilon: float) -> float:
        return average_case_delta(BetaBinomial(n=30, m=30, alpha=1.0, beta=1.0), 0.3, epsilon)

    for epsilon in (0.01, 0.1, 0.5):
        assert 0 < delta_of(2 * epsilon) / (1 + math.exp(epsilon)) <= midpoint_simulator_delta(delta_of, epsilon)
