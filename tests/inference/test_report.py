"""Every generated sentence of the page "Posterior" is a claim: checked against sums of its own."""

import itertools
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy.special import comb
from scipy.stats import beta as beta_law
from scipy.stats import betabinom, binom, dlaplace, laplace, poisson

from dpviz.designs import Design, describe_promise
from dpviz.inference.posterior_coverage import posterior_coverage
from dpviz.inference.report import posterior_answer
from dpviz.inference.secret_size import posterior_secret_n, size_prior
from dpviz.mechanisms import two_cell_synthesizers
from dpviz.mechanisms.matrix_mechanism import GivenMatrix
from pages import posterior as details
from pages.posterior import question_of
from tests.helpers import match_in, value_of
from tests.pairs import pairwise


def noisy(design: Design, x: np.ndarray, count: int, law: Any) -> np.ndarray:
    """Pr(count | x) where symmetric noise is rounded and clamped to 0 … n, from the lower tail, which keeps digits."""
    if count in (0, design.n):
        return law.cdf(0.5 - np.abs(count - x))
    return law.cdf(0.5 - np.abs(count - x)) - law.cdf(-0.5 - np.abs(count - x))


def exponential(design: Design, x: np.ndarray, ways: np.ndarray) -> np.ndarray:
    """Rows of the exponential mechanism with these weights of the counts."""
    counts = np.arange(design.m + 1) * design.n / design.m
    weights = ways * np.exp(-design.epsilon / design.sets / 2 * np.abs(x[:, None] - counts))
    return weights / weights.sum(axis=1, keepdims=True)


LIKELIHOODS: dict[str, Callable[[Design, np.ndarray, int], np.ndarray]] = {
    "beta_binomial": lambda d, x, c: betabinom.pmf(c, d.m, d.alpha + x, d.alpha + d.n - x),
    "posterior_mean": lambda d, x, c: binom.pmf(c, d.m, (x + d.alpha) / (d.n + 2 * d.alpha)),
    "posterior_mode": lambda d, x, c: binom.pmf(c, d.m, (x + d.alpha - 1) / (d.n + 2 * d.alpha - 2)),
    "laplace": lambda d, x, c: noisy(d, x, c, laplace(scale=d.sets / d.epsilon)),
    "geometric": lambda d, x, c: noisy(d, x, c, dlaplace(d.epsilon / d.sets)),
    "exponential_rows": lambda d, x, c: exponential(d, x, comb(d.m, np.arange(d.m + 1)))[:, c],
    "exponential_counts": lambda d, x, c: exponential(d, x, np.ones(d.m + 1))[:, c],
    "poisson_count": lambda d, x, c: poisson.sf(c - 1, x + d.alpha) - (c < d.n) * poisson.sf(c, x + d.alpha),
    **dict.fromkeys(
        ("poisson_gamma", "modips", "modips_truncated", "sdd", "sdd_exact", "given_matrix"),
        lambda d, x, c: d.release.transition_matrix()[x, c],
    ),
}
"""Pr(count | x) of each synthesizer, with distributions of scipy where it has them."""

GIVEN = GivenMatrix(probabilities=np.random.default_rng(5).dirichlet(np.ones(21), size=41))


def mixture(design: Design, counts: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """The confidential counts and their probabilities given the release."""
    x = np.arange(design.n + 1)
    weights = betabinom.pmf(x, design.n, design.gamma1, design.gamma2)
    for count in counts:
        weights = weights * LIKELIHOODS[design.synthesizer_type.key](design, x, count)
    return x, weights / weights.sum()


def why(design: Design) -> str:
    """The explanation of the page."""
    texts: list[str] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pages.posterior.st.markdown", texts.append)
        details._show_explanation(SimpleNamespace(design=design))
    return texts[0]


def mean_width(design: Design, **plan: Any) -> float:
    """Mean length of the posterior interval at p = 0.3."""
    return posterior_coverage(synthesizer=design.release, proportions=0.3, sets=design.sets, **plan).mean_width[0]


def test_every_synthesizer_has_a_likelihood_of_its_own_to_be_held_against():
    assert set(LIKELIHOODS) == {*two_cell_synthesizers(), GivenMatrix.key}


def designs(law: str) -> Iterator[Design]:
    """Designs of few and many rows, from hardly any prior or noise to much of it."""
    for n, level, (strength, gamma) in pairwise((1, 40), (0.5, 0.95), ((1e-3, 1.0), (5.0, 2.5), (400.0, 0.8))):
        rest: dict[str, Any] = {"gamma1": gamma, "level": level}
        if law == GivenMatrix.key:
            yield Design(mechanism=GIVEN, **rest)
        elif two_cell_synthesizers()[law].has_prior:
            alpha = strength + (law == "posterior_mode")
            yield Design(mechanism=law, n=n, m=20, prior="own", alpha=alpha, **rest)
        else:
            yield Design(mechanism=law, n=n, epsilon=4 / strength**0.5, **rest)


@pytest.mark.parametrize("law", LIKELIHOODS)
@pytest.mark.parametrize("knows", [False, True])
def test_the_intervals_said_hold_their_probability_and_the_naive_one_holds_or_misses_as_said(law, knows):
    seen = set()
    for design, counts in itertools.product(designs(law), ((0,), (13,), (20,), (3, 9))):
        n, m, level, gamma = design.n, design.m, design.level, design.gamma1
        for x in ((0, n // 3, n) if knows else (0,)) if max(counts) <= m else ():
            made = replace(design, sets=len(counts), confidential_count=x if knows else None)
            ones, weights = mixture(made, counts)
            if not weights.max() > 0:
                continue  # a release that hardly any data bring about is below the numbers of this referee
            release = question_of(made, " ".join(map(str, counts))).release
            _, sentence, brief = posterior_answer(release, describe_promise(made))
            first = ones + gamma, 1.0 + n - ones

            # The interval, in the sentence and in brief
            tail = (1 - level) / 2
            ends = [value_of(one) / 100 for one in re.findall(r"<b>([^<]+)</b>", sentence)]
            for end, below in zip(ends, (tail, 1 - tail), strict=True):
                less, more = (weights @ beta_law.cdf(min(end * times, 1.0), *first) for times in (1 - 6e-3, 1 + 6e-3))
                assert less - 1e-9 <= below <= more + 1e-9
            assert f"{100 * level:g} %" in sentence and f"{100 * level:g} %" in brief
            assert len(re.findall(r"[^\W_][\w.,×⁻]*", brief)) <= 15, brief
            written = match_in(r"between (\S+ %) and (\S+ %),", brief).groups()
            assert [value_of(one) / 100 for one in written] == ends

            # What was released, and at which promise
            tables = f"{counts[0]} yes in a" if len(counts) == 1 else "3, 9 yes in 2"
            rows = f"released table{'s' * (len(counts) > 1)} of {m} row{'s' * (m > 1)}"
            assert sentence.startswith(f"From {tables} {rows} at ")
            assert promised_in(sentence, made)

            # Who takes the rows for real
            pooled = gamma + sum(counts), 1.0 + m * len(counts) - sum(counts)
            start, end = beta_law.ppf([tail, 1 - tail], *pooled)
            naive = match_in(r"for real finds (\S+) % to (\S+) %(?:, which|;)", sentence).groups()
            assert list(map(value_of, naive)) == pytest.approx([100 * start, 100 * end], rel=6e-3)
            assert knows == ("secret share" in sentence) == ("standard deviation" in sentence)
            if knows:
                assert ("which holds" in sentence) == (start <= x / n <= end)
                seen.add("which holds" in sentence)
                means = first[0] / (gamma + 1.0 + n)
                variance = weights @ (beta_law.var(*first) + means**2) - (weights @ means) ** 2
                times = math.sqrt(variance / beta_law.var(gamma + x, 1.0 + n - x))
                told = match_in(r"standard deviation is (\S+ times what|as large as from) the secret table", sentence)[
                    1
                ]
                said = 1.0 if told == "as large as from" else value_of(told.split()[0])
                assert said == pytest.approx(times, rel=6e-3)
    assert seen == ({True, False} if knows else set())


def promised_in(sentence: str, design: Design) -> bool:
    """Whether the ε that is said is the promise, or the largest log-odds of all sets together, rounded up."""
    said = value_of(match_in(r"ε = ([^\s,]*[^\s,)])", sentence)[1])
    if "epsilon" in design.promised:
        noise = "noise for ε/M in each set" if design.synthesizer_type.adds_noise else "ε/M for each set"
        shared = not design.synthesizer_type.has_prior and design.sets > 1
        return said == pytest.approx(design.epsilon, rel=1e-3) and ((f", {noise}" in sentence) == shared)
    with np.errstate(divide="ignore"):
        odds = np.diff(np.log(design.release.transition_matrix()), axis=0)
    exact = design.sets * float(np.abs(odds).max())
    return exact * (1 - 1e-9) <= said <= exact * 1.001 and "no δ" in sentence


def test_what_speaks_against_a_range_of_n_is_what_the_sums_say():
    seen, m = set(), 20
    ranges = ("uniform", 1, 40), ("uniform", 30, 30), ("uniform in log n", 5, 80), ("around a guess", 2, 60, 20)
    for counts, alpha, n, kind in itertools.product(((0,), (10,), (5, 15)), (0.01, 50.0), (3, 40), ranges):
        prior = size_prior(*kind)
        found = posterior_secret_n(synthetic_counts=counts, m=m, alpha=alpha, beta=alpha, prior=prior)
        said = " ".join(found.doubts(n))
        low, high = int(prior.sizes[0]), int(prior.sizes[-1])
        assert ("leaves out the true n" in said) == (not low <= n <= high)
        evidence = []
        for size in prior.sizes:
            x = np.arange(size + 1)
            likelihoods = [betabinom.pmf(count, m, alpha + x, alpha + size - x) for count in counts]
            evidence.append(np.prod([betabinom.pmf(x, size, 1, 1), *likelihoods], axis=0).sum())
        times = np.array(evidence) / (prior.weights @ evidence)
        piled = [end for end, place in ((low, 0), (high, -1)) if low < high and times[place] > 3]
        shown = re.search(r"piles up at n = (.+), where the range ends", said)
        assert [int(one) for one in shown[1].split(" and ")] == piled if shown else not piled
        seen |= {"out" if "leaves out" in said else "in", bool(shown)}
    assert seen == {"in", "out", True, False}


def test_without_n_a_narrower_posterior_comes_from_larger_n_alone():
    """What the page says where n secret makes the standard deviation smaller than n known."""
    narrower = 0
    for counts, alpha, n in itertools.product(((0,), (6,), (10,)), (0.5, 5.0), (5, 20)):
        known, smaller, larger = (
            posterior_secret_n(
                synthetic_counts=counts, m=20, alpha=alpha, beta=alpha, prior=size_prior("uniform", low, high)
            ).variance
            for low, high in ((n, n), (max(n // 2, 1), n), (max(n // 2, 1), 2 * n))
        )
        assert smaller >= known * (1 - 1e-12)
        narrower += larger < known
    assert narrower > 0


@pytest.mark.parametrize(
    "law", [key for key in two_cell_synthesizers() if "epsilon" in Design(mechanism=key, n=9).promised]
)
def test_five_sets_that_share_a_promise_leave_more_unknown_than_one(law):
    """At p = 0.3, n = 100: the mean length of the interval, one set exactly and five simulated.

    Where rows are drawn after noise was added this holds at a small ε only, as is said.
    """
    drawn = two_cell_synthesizers()[law].draws_after_noise
    for epsilon in (2.0, 0.2) if drawn else (2.0,):
        widths = []
        for sets in (1, 5):
            design = Design(mechanism=law, n=100, sets=sets, epsilon=epsilon, confidential_count=30)
            assert ("More sets are not more knowledge" in why(design)) != drawn
            assert ("narrower on average than from one at ε = 2, and wider at ε = 0.2" in why(design)) == drawn
            widths.append(mean_width(design, repetitions=200))
        ratio = widths[1] / widths[0]
        longer = 1.0002 if law == "sdd" else 1.02  # which says next to nothing, however it is shared
        assert ratio < 0.9 if drawn and epsilon == 2.0 else ratio > longer


def test_what_does_not_follow_from_a_promise_tells_more_with_every_set_and_costs_as_much_more():
    """Five sets of one release: a shorter mean interval than one, and five times its ε."""
    own = Design(mechanism="beta_binomial", n=12, prior="own", alpha=2.0)
    given = GivenMatrix(probabilities=own.release.transition_matrix())
    for one in (
        own, replace(own, mechanism="posterior_mean"), Design(mechanism="poisson_count", n=12, alpha=2.0),
        Design(mechanism=given),
    ):  # fmt: skip
        five = replace(one, sets=5)
        assert "More sets cost privacy" in why(one)
        assert five.release == one.release
        assert five.epsilon_of_sets == pytest.approx(5 * one.epsilon_of_sets)
        assert mean_width(five) < mean_width(one)


@pytest.mark.parametrize("law", LIKELIHOODS)
def test_what_moves_the_synthetic_shares_is_what_the_explanations_say(law):
    """A prior pulls towards 1/2; noise moves most at the ends, and alone there if it is cut off. The middle stays.

    A public guess pulls towards itself; what is added to the count moves it up, as far as it can.
    """
    for epsilon in (0.5, 2.0):
        if law == GivenMatrix.key:
            assert "a matrix may move them anywhere" in why(Design(mechanism=GIVEN))
            continue
        design = Design(mechanism=law, n=20, epsilon=epsilon)
        five = replace(design, sets=5)
        assert ("with ε/M in the place of ε" in why(five)) == (getattr(five.release, "epsilon", None) == epsilon / 5)
        shares = design.release.transition_matrix() @ np.linspace(0, 1, 21)
        moved = shares - np.linspace(0, 1, 21)
        if law in ("poisson_gamma", "poisson_count"):
            assert f"But {design.synthesizer_type.info.moved_by} moves them" in why(design)
            first, last = (5, 6) if law == "poisson_gamma" else (15, 20)  # what is above n is cut off
            assert (moved[:first] > 0).all() and (moved[last:] < 0).all()
            continue
        assert abs(moved[10]) < 1e-12
        assert (moved[:10] > 0).all()
        mover = "the prior α" if design.synthesizer_type.has_prior else design.synthesizer_type.info.moved_by
        pulled, at_ends = "pulls them towards ½" in why(design), "cut off" in mover
        assert pulled == design.synthesizer_type.has_prior != (f"But {mover} moves them" in why(design))
        assert "knows the noise" not in why(design)
        assert np.ptp(np.diff(moved)) < 1e-12 if pulled else moved[0] > (10 if at_ends else 2) * moved[5]


@pytest.mark.parametrize("law", LIKELIHOODS)
def test_a_release_that_says_little_leaves_the_analysts_prior(law):
    design = Design(mechanism=GivenMatrix(probabilities=np.tile(GIVEN.probabilities[0], (41, 1))))
    if law != GivenMatrix.key:
        design = Design(mechanism=law, n=40, epsilon=1e-5, alpha=500.0)
    design = replace(design, gamma1=2.0, gamma2=3.0)
    for count in (design.m,) if law == "poisson_count" else (0, 7, design.m):  # others than m are hardly ever released
        found = question_of(design, str(count)).release.exact
        assert found.mean == pytest.approx(0.4, abs=1e-4)
        assert found.variance == pytest.approx(0.04, abs=1e-4)
