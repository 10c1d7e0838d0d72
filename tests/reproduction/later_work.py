"""Checks of the abstracts of later work on synthetic counts: the papers themselves could not be read."""

import itertools
import math

import numpy as np
from scipy.stats import poisson

from dpviz.audit.poisson_losses import _printed_addition, _replaced_row
from dpviz.comparisons import Analysis, BinaryData
from dpviz.comparisons.comparison import GUESS_ERROR
from dpviz.comparisons.proportion_measures import share_moments
from dpviz.mechanisms import BetaBinomial, DirichletMultinomial, PoissonCount, PoissonGamma
from dpviz.privacy import probabilistic_delta, pure_epsilon
from tests.reproduction.evidence import SECTIONS, Findings, between, count, increasing, values

ROUNDING = 1 + 1e-9  # Factor that rounding may put a loss above ε by
PAIRS = tuple(itertools.product((1.3, 2.0, 8.0), (1e-2, 1e-4)))  # ε and δ at which the formula is tried


def quick() -> Findings:
    """A guess at the truth lowers the error most, and one that is off by 0.1 still lowers it."""
    data, analysis = BinaryData(n=100, p=0.1), Analysis(sets=1)
    plain, informed = (data.method(key) for key in ("beta_binomial", "poisson_gamma"))
    cases = ((informed, data), (informed, data.with_guess(data.p + GUESS_ERROR)), (plain, data))
    yield "guess", increasing([case.accuracy(method, 1.0, analysis)[1] for method, case in cases])

    losses = []
    for n, guess, epsilon in itertools.product((1, 7, 40), (0.001, 0.2, 0.5, 0.8), (0.1, 1.0, 4.0)):
        release = PoissonGamma(n=n, m=n, epsilon=epsilon, public_share=guess)
        losses.append(np.abs(release.log_odds_table()).max() / epsilon)
    yield "private", between(losses, high=ROUNDING)


def jackson() -> Findings:
    """The exact probability of a larger loss is that of the formula for a count, and not for a row that moves two."""
    ratios = []
    for epsilon, delta in PAIRS:
        alpha = _printed_addition(epsilon, delta)
        limit = math.floor((1 + epsilon) / math.log1p(1 / alpha) * ROUNDING)
        exact = probabilistic_delta(PoissonCount(n=100, alpha=alpha * ROUNDING), epsilon)
        ratios.append(exact / poisson.sf(limit, 1 + alpha))
    yield "count", between(ratios, 1 - 1e-6, 1 + 1e-6)
    yield "table", between([_replaced_row(_printed_addition(*pair), *pair).failure / pair[1] for pair in PAIRS], high=1)

    # The loss grows without a limit with the largest count that may be published
    losses = np.array([[pure_epsilon(PoissonCount(n=n, alpha=alpha)) for n in (10, 100, 1000)] for alpha in (0.5, 5.0)])
    yield "pure", values(losses, increasing(losses).supported and (losses[:, -1] > 20).all())
    alpha = DirichletMultinomial.smallest_alpha(m=6, epsilon=1.0)
    loss = DirichletMultinomial(n=6, m=6, cells=3, alpha=alpha).log_odds_table().max()
    yield "dirichlet", values([alpha, loss], loss <= ROUNDING)


def menicucci() -> Findings:
    """α invented rows of each kind keep ε if and only if m ≤ α(e^ε − 1), for every n."""
    cases = []
    for n, alpha, epsilon in itertools.product((1, 20, 300), (0.7, 6.0), (0.4, 1.0, 2.5)):
        largest = math.floor(alpha * math.expm1(epsilon) * ROUNDING)
        for m in {max(largest, 1), largest + 1}:
            loss = pure_epsilon(BetaBinomial(n=n, m=m, alpha=alpha, beta=alpha))
            cases.append((loss <= epsilon * ROUNDING) == (m <= largest))
    yield "size", count(cases)

    # From ε = 2 to 0.5 the largest m falls, so that the error rises
    sizes = [math.floor(5.0 * math.expm1(epsilon)) for epsilon in (2.0, 1.0, 0.5)]
    errors = [share_moments(BetaBinomial(n=100, m=m, alpha=5.0, beta=5.0)).errors(0.25)[1] for m in sizes]
    yield "tradeoff", values([*sizes, *errors], increasing(errors).supported)


SECTIONS.update(quick=[quick], jackson=[jackson], menicucci=[menicucci])
