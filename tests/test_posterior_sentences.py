"""Every generated sentence of the page "Posterior" is a claim: checked against sums of its own."""

from __future__ import annotations

import itertools
import math
import re

import numpy as np
import pytest
from scipy.stats import beta as beta_law
from scipy.stats import betabinom

from dpviz.inference.posterior_coverage import posterior_coverage
from dpviz.inference.posterior_secret_n import decade_size, poisson_size, posterior_secret_n, uniform_size
from dpviz.synthesizers import BetaBinomial
from pages.posterior.answer import laws, posterior_sentence
from pages.posterior.controls import Asked
from pages.posterior.secret import doubts
from tests.pages import found_in, value_of


def mixture(asked: Asked) -> tuple[np.ndarray, np.ndarray]:
    """The confidential counts and their probabilities given the release, with densities of scipy."""
    x = np.arange(asked.n + 1)
    log = betabinom.logpmf(x, asked.n, asked.gamma1, asked.gamma2)
    for count in asked.counts:
        log = log + betabinom.logpmf(count, asked.m, asked.alpha + x, asked.alpha + asked.n - x)
    weights = np.exp(log - log.max())
    return x, weights / weights.sum()


@pytest.mark.parametrize("knows", [False, True])
def test_the_intervals_said_hold_their_probability_and_the_naive_one_holds_or_misses_as_said(knows):
    seen = set()
    for n, m, counts, alpha, level in itertools.product(
        (1, 40), (20,), ((0,), (20,), (3, 9)), (1e-3, 5.0, 400.0), (0.5, 0.95)
    ):
        for x, gamma in zip((0, n // 3, n), (1.0, 2.5, 0.8), strict=True):
            asked = Asked(
                n=n, m=m, x=x, epsilon=1.0, delta=0.0, alpha=alpha, gamma1=gamma, gamma2=1.0, level=level, seed=1,
                prior="own", source="typed", knows=knows, counts=counts,
            )  # fmt: skip
            _, sentence, brief = posterior_sentence(asked, laws(asked))
            low, high = (value_of(one) for one in re.findall(r"<b>([^<]+)</b>", sentence))
            ones, weights = mixture(asked)
            below = [
                float(weights @ beta_law.cdf(end, gamma + ones, 1.0 + n - ones))
                for end in (low * (1 - 6e-3), low * (1 + 6e-3), high * (1 - 6e-3), min(high * (1 + 6e-3), 1.0))
            ]
            tail = (1 - level) / 2
            assert below[0] - 1e-9 <= tail <= below[1] + 1e-9
            assert below[2] - 1e-9 <= 1 - tail <= below[3] + 1e-9
            assert f"{100 * level:g} %" in sentence
            assert f"{100 * level:g} %" in brief
            pooled = sum(counts)
            rows = m * len(counts)
            start, end = beta_law.ppf([tail, 1 - tail], gamma + pooled, 1.0 + rows - pooled)
            naive = found_in(r"The naive analysis says (\S+) to ([^\s,]+?)(?:, which|\.$)", sentence)
            assert value_of(naive[1]) == pytest.approx(start, rel=6e-3)
            assert value_of(naive[2]) == pytest.approx(end, rel=6e-3)
            assert knows == ("x/n" in sentence) == ("standard deviation" in sentence)
            if knows:
                assert ("which holds" in sentence) == (start <= x / n <= end)
                seen.add("which holds" in sentence)
                means = (gamma + ones) / (gamma + 1.0 + n)
                within = beta_law.var(gamma + ones, 1.0 + n - ones)
                variance = float(weights @ (within + means**2) - (weights @ means) ** 2)
                times = math.sqrt(variance / beta_law.var(gamma + x, 1.0 + n - x))
                said = value_of(found_in(r"standard deviation is (\S+) times", sentence)[1])
                assert said == pytest.approx(times, rel=6e-3)
    assert seen == ({True, False} if knows else set())


def test_what_speaks_against_a_range_of_n_is_what_the_sums_say():
    seen = set()
    for counts, m, alpha, n in itertools.product(((0,), (10,), (5, 15)), (20,), (0.01, 50.0), (3, 40)):
        for prior in (uniform_size(1, 40), uniform_size(30, 30), decade_size(5, 80), poisson_size(20, 2, 60)):
            found = posterior_secret_n(synthetic_counts=counts, m=m, alpha=alpha, beta=alpha, prior=prior)
            said = " ".join(doubts(n, found))
            low, high = int(prior.sizes[0]), int(prior.sizes[-1])
            assert ("leaves out the true n" in said) == (not low <= n <= high)
            log = []
            for size, before in zip(prior.sizes, prior.weights, strict=True):
                x = np.arange(size + 1)
                terms = betabinom.pmf(x, size, 1, 1)
                for count in counts:
                    terms = terms * betabinom.pmf(count, m, alpha + x, alpha + size - x)
                log.append(before * terms.sum())
            weights = np.array(log) / sum(log)
            piled = [
                end for end, place in ((low, 0), (high, -1)) if low < high and weights[place] > 3 * prior.weights[place]
            ]
            shown = re.search(r"piles up at n = (.+), where the range ends", said)
            assert [int(one) for one in shown[1].split(" and ")] == piled if shown else not piled
            seen |= {"out" if "leaves out" in said else "in", bool(shown)}
    assert seen == {"in", "out", True, False}


def test_without_n_a_narrower_posterior_comes_from_larger_n_alone():
    """What the page says where n secret makes the standard deviation smaller than n known."""
    narrower = 0
    for counts, alpha, n in itertools.product(((0,), (6,), (10,)), (0.5, 5.0), (5, 20)):
        spread = {}
        for high in (n, 2 * n):
            found = posterior_secret_n(
                synthetic_counts=counts, m=20, alpha=alpha, beta=alpha, prior=uniform_size(max(n // 2, 1), high)
            )
            spread[high] = found.variance
        known = posterior_secret_n(
            synthetic_counts=counts, m=20, alpha=alpha, beta=alpha, prior=uniform_size(n, n)
        ).variance
        assert spread[n] >= known * (1 - 1e-12)
        narrower += spread[2 * n] < known
    assert narrower > 0


def test_equal_tails_never_hold_0_or_1():
    for n, m, sets, alpha, gamma in itertools.product((1, 10), (1, 10), (1, 2), (0.1, 5.0), (0.1, 1.0, 100.0)):
        release = BetaBinomial(n=n, m=m, alpha=alpha, beta=alpha)
        found = posterior_coverage(
            synthesizer=release, proportions=np.array([0.0, 1.0]), sets=sets, gamma1=gamma, gamma2=gamma, level=0.95
        )
        assert found.exact
        assert (found.coverage == 0).all()


def test_five_sets_leave_more_unknown_than_one():
    """At ε = 2, x = 30 of n = 100: the mean length of the interval, one set exactly and five simulated."""
    means = []
    for sets in (1, 5):
        alpha = 100 / math.expm1(2 / sets)
        found = posterior_coverage(
            synthesizer=BetaBinomial(n=100, m=100, alpha=alpha, beta=alpha), proportions=0.3, sets=sets,
            confidential_count=30, kind="equal_tailed", generator=np.random.default_rng(1), runs=200,
        )  # fmt: skip
        means.append(float(found.mean_width[0]))
    assert means[1] > means[0] * 1.2
