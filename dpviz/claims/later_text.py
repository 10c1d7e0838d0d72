"""What the abstracts of later work on synthetic counts say, computed: the papers themselves could not be read."""

import itertools
import math

import numpy as np

from dpviz.audit.poisson_losses import printed_addition, replaced_row
from dpviz.claims.published import Effort
from dpviz.claims.sentences import Judge, Judged
from dpviz.comparisons import Analysis, BinaryData
from dpviz.comparisons.comparison import GUESS_ERROR
from dpviz.comparisons.proportion_measures import share_moments
from dpviz.core.formatting import format_number
from dpviz.core.numerics.special import binomial_weights
from dpviz.mechanisms import BetaBinomial, DirichletMultinomial, PoissonCount, PoissonGamma
from dpviz.privacy import probabilistic_delta, pure_epsilon

EXAMPLE_EPSILON = 1.0
PRINTED_PAIRS = tuple(itertools.product((1.3, 2.0, 8.0), (1e-2, 1e-4)))  # ε and δ at which the formula is tried
TIED_FACTOR, SHARE_TIED = 1 + 1e-9, 1e-6
GREAT_LOSS = 20.0  # That no α below 5 keeps a release of 1,000 rows from


def _guess(_effort: Effort) -> Judged:
    data, analysis = BinaryData(n=100, p=0.1), Analysis(sets=1)
    plain, told = (data.method(key) for key in ("beta_binomial", "poisson_gamma"))
    asked = (plain, data), (told, data), (told, data.with_guess(data.p + GUESS_ERROR))
    found = [at.accuracy(method, EXAMPLE_EPSILON, analysis)[1] for method, at in asked]
    first, best, off = (format_number(one, 3) for one in found)
    words = f"The error is {first} without a guess, {best} with the guess at the truth and {off} with one off by 0.1."
    return Judged(words, holds=found[1] < found[2] < found[0])


def _private(_effort: Effort) -> Judged:
    largest = 0.0
    for n, guess, epsilon in itertools.product((1, 7, 40), (0.001, 0.2, 0.5, 0.8), (0.1, 1.0, 4.0)):
        made = PoissonGamma(n=n, m=n, epsilon=epsilon, public_share=guess)
        largest = max(largest, float(np.abs(made.log_odds_table()).max()) / epsilon)
    return Judged(f"The largest loss is {format_number(largest, 6)} times ε.", holds=largest <= TIED_FACTOR)


def _count(_effort: Effort) -> Judged:
    from scipy.stats import poisson  # it takes long to load, and few ask for it

    shares = []
    for epsilon, delta in PRINTED_PAIRS:
        added = printed_addition(epsilon, delta)
        printed = float(poisson.sf(math.floor((1 + epsilon) / math.log1p(1 / added) * TIED_FACTOR), 1 + added))
        shares.append(probabilistic_delta(PoissonCount(n=100, alpha=added * TIED_FACTOR), epsilon) / printed)
    words = (
        f"The exact probability of a larger loss is {format_number(min(shares), 6)} to "
        f"{format_number(max(shares), 6)} times it."
    )
    return Judged(words, holds=abs(max(shares) - 1) <= SHARE_TIED)


def _table(_effort: Effort) -> Judged:
    found = [replaced_row(printed_addition(*one), *one).failure / one[1] for one in PRINTED_PAIRS]
    words = (
        f"A larger loss has a probability of {format_number(min(found), 3)} to {format_number(max(found), 3)} times δ."
    )
    return Judged(words, holds=max(found) <= 1)


def _pure(_effort: Effort) -> Judged:
    counts = (10, 100, 1000)
    losses = [[pure_epsilon(PoissonCount(n=n, alpha=alpha)) for n in counts] for alpha in (0.5, 5.0)]
    told = ", ".join(
        f"{format_number(loss, 3)} at {format_number(n)}" for n, loss in zip(counts, losses[0], strict=True)
    )
    rises = all(one == sorted(one) and one[-1] > GREAT_LOSS for one in losses)
    return Judged(f"With α = 0.5 and what is published cut off at n, ε is {told}.", holds=rises)


def _dirichlet(_effort: Effort) -> Judged:
    alpha = DirichletMultinomial.smallest_alpha(m=6, epsilon=EXAMPLE_EPSILON)
    found = float(np.abs(DirichletMultinomial(n=6, m=6, cells=3, alpha=alpha).log_odds_table()).max())
    return Judged(
        f"With α = {format_number(alpha, 4)} the largest loss is {format_number(found, 6)}.", holds=found <= TIED_FACTOR
    )


def _size(_effort: Effort) -> Judged:
    holds = True
    for n, alpha, epsilon in itertools.product((1, 20, 300), (0.7, 6.0), (0.4, 1.0, 2.5)):
        most = math.floor(alpha * math.expm1(epsilon) * TIED_FACTOR)
        for m in {most, most + 1} - {0}:
            keeps = pure_epsilon(BetaBinomial(n=n, m=m, alpha=alpha, beta=alpha)) <= epsilon * TIED_FACTOR
            holds &= keeps == (m <= most)
    return Judged("The loss is ln(1 + m/α) at every n: to release a tenth of the rows takes a tenth of α.", holds=holds)


def _tradeoff(_effort: Effort) -> Judged:
    alpha, told, sizes, errors = 5.0, [], [], []
    for epsilon in (2.0, 1.0, 0.5):
        m = math.floor(alpha * math.expm1(epsilon))
        moments = share_moments(BetaBinomial(n=100, m=m, alpha=alpha, beta=alpha))
        ((_, error),) = moments.errors(binomial_weights(np.array([0.25]), 100)[0][None], np.array([0.25]))
        told.append(f"m = {m} and {format_number(error, 3)} at ε = {format_number(epsilon)}")
        sizes.append(m)
        errors.append(error)
    words = f"The largest m, and the error: {', '.join(told)}."
    return Judged(words, holds=sizes == sorted(sizes, reverse=True) and errors == sorted(errors))


QUICK_JUDGES: dict[str, Judge] = {"guess": _guess, "private": _private}
JACKSON_JUDGES: dict[str, Judge] = {"count": _count, "table": _table, "pure": _pure, "dirichlet": _dirichlet}
MENICUCCI_JUDGES: dict[str, Judge] = {"size": _size, "tradeoff": _tradeoff}
