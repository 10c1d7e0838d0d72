"""Checks of Abowd & Vilhuber, How protective are synthetic data?, Privacy in Statistical Databases 2008."""

import numpy as np

from dpviz import privacy
from dpviz.core.types import FloatArray
from dpviz.mechanisms import BetaBinomial, LaplaceSanitizer, PosteriorMean, TwoCellSynthesizer
from dpviz.mechanisms.beta_binomial import beta_binomial_terms
from dpviz.privacy.divergence import exceeds
from dpviz.published.records import Record
from tests.reproduction import evidence
from tests.reproduction.evidence import CELL_CHECKS, SECTIONS, Evidence, Findings, SimulationBudget, between, values

EPSILON = 2.0
PLUG_IN = PosteriorMean(n=5, m=5, alpha=0.5, beta=0.5)  # shows Fig. 1 and 2 to every printed digit
EQUATION_1 = BetaBinomial(n=5, m=5, alpha=0.5, beta=0.5)  # what the paper says that they show
LAPLACE = LaplaceSanitizer(n=5, epsilon=EPSILON)  # Fig. 3 and 4
RARE = 0.01  # Cells of Fig. 1 below which an outcome counts as rare
FIG_1, FIG_3 = PLUG_IN.transition_matrix(), LAPLACE.transition_matrix()
LOG_ODDS = np.abs(privacy.log_odds_table(PLUG_IN))


def figure_cell(record: Record, _: SimulationBudget) -> Evidence:
    """A cell of a figure, the alternative by equation (1): of a matrix, or of log-odds without their signs."""
    plug_in: TwoCellSynthesizer = EQUATION_1 if record.is_alternative else PLUG_IN
    release = plug_in if record.place in ("Fig. 1", "Fig. 2") else LAPLACE
    is_matrix = record.place in ("Fig. 1", "Fig. 3")
    table = release.transition_matrix() if is_matrix else np.abs(privacy.log_odds_table(release))
    row = int(float(next(iter(record.parameters.values()))))  # n₁, of the first of two tables
    return Evidence(float(table[row, int(record.what[3:])]))


def accounts_of_delta(release: TwoCellSynthesizer) -> dict[str, float]:
    """Return the ways to count how often ε = 2 fails, by name, the one that rounds to the printed 0.0006 first.

    >>> [round(account, 6) for account in accounts_of_delta(PLUG_IN).values()]
    [0.000623, 0.103516, 0.065922, 0.040516, 0.040198, 0.033753, 0.031248]
    >>> set(accounts_of_delta(LAPLACE).values())  # which keeps its promise
    {0.0}
    """
    over, matrix = exceeds(privacy.log_odds_table(release), EPSILON), release.transition_matrix()
    failure, even = privacy.failure_by_row(release, EPSILON), privacy.even_counts(release)
    by_sum, by_column, by_row = beta_binomial_terms(0, release.n, 0.5, 0.5)
    jeffreys = np.exp(by_sum + by_column - by_row)

    def joint_cells(weights: FloatArray, choose: np.ufunc) -> float:
        joint = weights[:, None] * matrix
        return float(choose(joint[:-1], joint[1:])[over].sum())

    return {
        "smaller side of each cell, n1 ~ Binomial(5, ½)": joint_cells(even, np.minimum),
        "worst table: probabilistic differential privacy": privacy.probabilistic_delta(release, EPSILON),
        "(ε, δ)-differential privacy": privacy.delta_for_epsilon(release, EPSILON),
        "any failing cell, n1 ~ Binomial(5, ½)": float(even @ failure),
        "larger side of each cell, n1 ~ Binomial(5, ½)": joint_cells(even, np.maximum),
        "any failing cell, n1 ~ Beta-binomial(5, ½, ½)": float(jeffreys @ failure),
        "larger side of each cell, n1 ~ Beta-binomial(5, ½, ½)": joint_cells(jeffreys, np.maximum),
    }


def statements() -> Findings:
    """The statements on the figures."""
    yield "eight", exceeds(LOG_ODDS, EPSILON).sum()
    yield "eight_meant", exceeds(privacy.log_odds_table(EQUATION_1), EPSILON).sum()
    yield "laplace_epsilon", privacy.pure_epsilon(LAPLACE)
    yield "possible", between(FIG_1, low=1e-300)
    yield "finite", between(LOG_ODDS, high=1e300)
    yield "never", between(np.abs(privacy.log_odds_table(LAPLACE)), high=EPSILON * (1 + 1e-12))
    diagonals = [np.diag(FIG_3)[:3], np.diag(FIG_1)[:3]]  # both matrices are symmetric
    yield "peaked", evidence.decreasing(diagonals, axis=0)
    yield "rare", evidence.count((FIG_3 > FIG_1)[FIG_1 < RARE])

    # The largest log-odds are those of the least likely outcome
    row, column = np.unravel_index(LOG_ODDS.argmax(), LOG_ODDS.shape)
    probability = FIG_1[row : row + 2, column].min()
    yield "unusual", values([LOG_ODDS.max(), probability], probability <= FIG_1.min() * (1 + 1e-9))

    # The noise of Fig. 3 has the scale 1/ε, not 2/ε
    wider = LaplaceSanitizer(n=5, epsilon=EPSILON / 2).transition_matrix()
    yield "laplace_scale", values([FIG_3[0, 0], wider[0, 0]], supported=False)


CELL_CHECKS["abowd_vilhuber", "figures"] = figure_cell
CELL_CHECKS["abowd_vilhuber", "delta"] = lambda record, _: Evidence(accounts_of_delta(PLUG_IN)[record.what])
SECTIONS["abowd_vilhuber"] = [statements]
