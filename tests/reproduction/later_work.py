"""Checks of the abstracts of later work on synthetic counts: the papers themselves could not be read."""

import itertools
import math

import numpy as np
from scipy.stats import poisson

from dpviz.audit.poisson_losses import printed_addition, replaced_row
from dpviz.comparisons import Analysis, BinaryData
from dpviz.comparisons.comparison import GUESS_ERROR
from dpviz.comparisons.proportion_measures import share_moments
from dpviz.core.numerics.special import binomial_weights
from dpviz.mechanisms import BetaBinomial, DirichletMultinomial, PoissonCount, PoissonGamma
from dpviz.privacy import probabilistic_delta, pure_epsilon
from tests.reproduction.evidence import Evidence, SimulationBudget, between, check, increasing

ROUNDING = 1 + 1e-9  # Factor that rounding may put a loss above ε by
PAIRS = tuple(itertools.product((1.3, 2.0, 8.0), (1e-2, 1e-4)))  # ε and δ at which the formula is tried


@check("quick", "guess")
def _(_: SimulationBudget) -> Evidence:
    """A guess at the truth lowers the error most, and one that is off by 0.1 still lowers it."""
    data, analysis = BinaryData(n=100, p=0.1), Analysis(sets=1)
    plain, informed = (data.method(key) for key in ("beta_binomial", "poisson_gamma"))
    cases = ((informed, data), (informed, data.with_guess(data.p + GUESS_ERROR)), (plain, data))
    return increasing([case.accuracy(method, 1.0, analysis)[1] for method, case in cases])


@check("quick", "private")
def _(_: SimulationBudget) -> Evidence:
    losses = []
    for n, guess, epsilon in itertools.product((1, 7, 40), (0.001, 0.2, 0.5, 0.8), (0.1, 1.0, 4.0)):
        release = PoissonGamma(n=n, m=n, epsilon=epsilon, public_share=guess)
        losses.append(float(np.abs(release.log_odds_table()).max()) / epsilon)
    return between(losses, 0, ROUNDING, " times ε")


@check("jackson", "count")
def _(_: SimulationBudget) -> Evidence:
    """The exact probability of a larger loss is that of the formula."""
    ratios = []
    for epsilon, delta in PAIRS:
        alpha = printed_addition(epsilon, delta)
        limit = math.floor((1 + epsilon) / math.log1p(1 / alpha) * ROUNDING)
        exact = probabilistic_delta(PoissonCount(n=100, alpha=alpha * ROUNDING), epsilon)
        ratios.append(exact / float(poisson.sf(limit, 1 + alpha)))
    return between(ratios, 1 - 1e-6, 1 + 1e-6, " times it")


check("jackson", "table")(
    lambda _: between([replaced_row(printed_addition(*pair), *pair).failure / pair[1] for pair in PAIRS], 0, 1, " × δ")
)


@check("jackson", "pure")
def _(_: SimulationBudget) -> Evidence:
    """The loss grows without a limit with the largest count that may be published."""
    losses = np.array([[pure_epsilon(PoissonCount(n=n, alpha=alpha)) for n in (10, 100, 1000)] for alpha in (0.5, 5.0)])
    growth = increasing(losses)
    return Evidence(growth.value, growth.supported and bool((losses[:, -1] > 20).all()))


@check("jackson", "dirichlet")
def _(_: SimulationBudget) -> Evidence:
    alpha = DirichletMultinomial.smallest_alpha(m=6, epsilon=1.0)
    return between(np.abs(DirichletMultinomial(n=6, m=6, cells=3, alpha=alpha).log_odds_table()), 0, ROUNDING)


@check("menicucci", "size")
def _(_: SimulationBudget) -> Evidence:
    """α invented rows of each kind keep ε if and only if m ≤ α(e^ε − 1), for every n."""
    cases = []
    for n, alpha, epsilon in itertools.product((1, 20, 300), (0.7, 6.0), (0.4, 1.0, 2.5)):
        largest = math.floor(alpha * math.expm1(epsilon) * ROUNDING)
        for m in {max(largest, 1), largest + 1}:
            loss = pure_epsilon(BetaBinomial(n=n, m=m, alpha=alpha, beta=alpha))
            cases.append((loss <= epsilon * ROUNDING) == (m <= largest))
    return Evidence(f"m ≤ α(e^ε − 1) decides in {sum(cases)} of {len(cases)} cases.", all(cases))


@check("menicucci", "tradeoff")
def _(_: SimulationBudget) -> Evidence:
    """From ε = 2 to 0.5 the largest m falls, so that the error rises."""
    weights, p = binomial_weights(np.array([0.25]), 100)[0][None], np.array([0.25])
    errors = []
    for epsilon in (2.0, 1.0, 0.5):
        m = math.floor(5.0 * math.expm1(epsilon))
        ((_, error),) = share_moments(BetaBinomial(n=100, m=m, alpha=5.0, beta=5.0)).errors(weights, p)
        errors.append(error)
    return increasing(errors)
