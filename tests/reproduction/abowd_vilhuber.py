"""Checks of Abowd & Vilhuber, How protective are synthetic data?, Privacy in Statistical Databases 2008."""

from functools import cache

import numpy as np

from dpviz.core.types import FloatArray
from dpviz.mechanisms import BetaBinomial, LaplaceSanitizer, PosteriorMean, TwoCellSynthesizer
from dpviz.mechanisms.beta_binomial import beta_binomial_terms
from dpviz.privacy import (
    delta_for_epsilon,
    even_counts,
    failure_by_row,
    log_odds_table,
    probabilistic_delta,
    pure_epsilon,
)
from dpviz.privacy.divergence import exceeds
from dpviz.published.records import Record
from tests.reproduction.evidence import Evidence, SimulationBudget, between, check, check_each

PAPER, EPSILON = "abowd_vilhuber", 2.0
PLUG_IN = PosteriorMean(n=5, m=5, alpha=0.5, beta=0.5)  # shows Fig. 1 and 2 to every printed digit
EQUATION_1 = BetaBinomial(n=5, m=5, alpha=0.5, beta=0.5)  # what the paper says that they show
LAPLACE = LaplaceSanitizer(n=5, epsilon=EPSILON)  # Fig. 3 and 4
RARE = 0.01  # Cells of Fig. 1 below which an outcome counts as rare


@cache
def figure_values(place: str, alternative: bool) -> FloatArray:
    """Return a figure as we compute it, the alternative by equation (1): a matrix, or log-odds without their signs."""
    release: TwoCellSynthesizer = LAPLACE if place in ("Fig. 3", "Fig. 4") else PLUG_IN
    if alternative:
        release = EQUATION_1
    return release.transition_matrix() if place in ("Fig. 1", "Fig. 3") else np.abs(log_odds_table(release))


@check_each(PAPER, "figures")
def _(record: Record, _: SimulationBudget) -> Evidence:
    row = int(float(next(iter(record.parameters.values()))))  # n₁, of the first of two tables
    return Evidence(float(figure_values(record.place, record.is_alternative)[row, int(record.what[3:])]))


def accounts_of_delta(release: TwoCellSynthesizer) -> dict[str, float]:
    """Return the ways to count how often ε = 2 fails, by name, the one that rounds to the printed 0.0006 first.

    >>> [round(account, 6) for account in accounts_of_delta(PLUG_IN).values()]
    [0.000623, 0.103516, 0.065922, 0.040516, 0.040198, 0.033753, 0.031248]
    """
    over, matrix = exceeds(log_odds_table(release), EPSILON), release.transition_matrix()
    failure, even = failure_by_row(release, EPSILON), even_counts(release)
    by_sum, by_column, by_row = beta_binomial_terms(0, release.n, 0.5, 0.5)
    jeffreys = np.exp(by_sum + by_column - by_row)

    def cells(weights: FloatArray, choose: np.ufunc) -> float:
        joint = weights[:, None] * matrix
        return float(choose(joint[:-1], joint[1:])[over].sum())

    return {
        "smaller side of each cell, n1 ~ Binomial(5, ½)": cells(even, np.minimum),
        "worst table: probabilistic differential privacy": probabilistic_delta(release, EPSILON),
        "(ε, δ)-differential privacy": delta_for_epsilon(release, EPSILON),
        "any failing cell, n1 ~ Binomial(5, ½)": float(even @ failure),
        "larger side of each cell, n1 ~ Binomial(5, ½)": cells(even, np.maximum),
        "any failing cell, n1 ~ Beta-binomial(5, ½, ½)": float(jeffreys @ failure),
        "larger side of each cell, n1 ~ Beta-binomial(5, ½, ½)": cells(jeffreys, np.maximum),
    }


@check_each(PAPER, "delta")
def _(record: Record, _: SimulationBudget) -> Evidence:
    return Evidence(accounts_of_delta(PLUG_IN)[record.what])


def n_exceeding(release: TwoCellSynthesizer) -> Evidence:
    """Return how many log-odds exceed ε = 2."""
    return Evidence(float(np.count_nonzero(exceeds(log_odds_table(release), EPSILON))))


check(PAPER, "eight")(lambda _: n_exceeding(PLUG_IN))
check(PAPER, "eight_meant")(lambda _: n_exceeding(EQUATION_1))
check(PAPER, "laplace_epsilon")(lambda _: Evidence(pure_epsilon(LAPLACE)))
check(PAPER, "possible")(lambda _: between(PLUG_IN.transition_matrix(), low=1e-300))
check(PAPER, "finite")(lambda _: between(log_odds_table(PLUG_IN), -1e300, 1e300))
check(PAPER, "never")(lambda _: between(np.abs(log_odds_table(LAPLACE)), 0, EPSILON * (1 + 1e-12)))
# "… the diagonal of Fig. 3 is larger"
check(PAPER, "peaked")(lambda _: between(np.diag(LAPLACE.transition_matrix() / PLUG_IN.transition_matrix()), low=1))


@check(PAPER, "rare")
def _(_: SimulationBudget) -> Evidence:
    matrix = PLUG_IN.transition_matrix()
    return between((LAPLACE.transition_matrix() / matrix)[matrix < RARE], low=1)


@check(PAPER, "unusual")
def _(_: SimulationBudget) -> Evidence:
    """The largest log-odds are those of the least likely outcome."""
    matrix, log_odds = PLUG_IN.transition_matrix(), np.abs(log_odds_table(PLUG_IN))
    row, column = np.unravel_index(int(log_odds.argmax()), log_odds.shape)
    return between(matrix[row : row + 2, column].min() / matrix.min(), 0, 1 + 1e-9)


@check(PAPER, "laplace_scale")
def _(_: SimulationBudget) -> Evidence:
    printed, wider = (LaplaceSanitizer(n=5, epsilon=epsilon).transition_matrix()[0, 0] for epsilon in (2.0, 1.0))
    return Evidence(f"With 1/ε the first cell of Fig. 3 is {printed:.6f}, as printed; with 2/ε {wider:.6f}.", False)
