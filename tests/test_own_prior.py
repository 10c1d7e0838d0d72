"""What an own prior gives, where the range of a secret n stands, and other words that must follow the numbers."""

import dataclasses
import math
import re

import numpy as np
import pytest

from dpviz.core import limits
from dpviz.core.formatting import format_number, round_up
from dpviz.designs import Design
from dpviz.inference import posterior_mixture
from dpviz.inference.secret_size import posterior_secret_n, range_around, size_prior
from dpviz.mechanisms import BetaBinomial
from dpviz.mechanisms.matrix_mechanism import GivenMatrix
from dpviz.privacy.subsampling import subsampled_epsilon_printed, subsampled_tight
from tests.pages.apptest import cells_of, markup, opener, said, set_state
from tests.referees import of_sets

DESIGNS = [
    Design(mechanism="beta_binomial", n=3, m=2, prior="own", alpha=0.7),
    Design(mechanism="posterior_mean", n=3, prior="own", alpha=0.4),
    Design(mechanism="posterior_mode", n=2, prior="own", alpha=1.5),
    Design(mechanism="geometric", n=3, epsilon=0.8),
    Design(mechanism=GivenMatrix(probabilities=BetaBinomial(n=3, m=2, alpha=0.7, beta=1.9).transition_matrix())),
]


@pytest.mark.parametrize("sets", [1, 2, 3])
@pytest.mark.parametrize("design", DESIGNS, ids=lambda design: design.synthesizer_type.key)
def test_the_epsilon_of_sets_is_the_largest_ratio_over_every_tuple_of_counts(design: Design, sets: int) -> None:
    design = dataclasses.replace(design, sets=sets)
    chances = of_sets(design.release.transition_matrix(), sets)
    assert design.epsilon_of_sets == pytest.approx(np.abs(np.diff(np.log(chances), axis=0)).max(), rel=1e-12)


def test_the_epsilon_of_sets_is_infinite_where_a_zero_decides() -> None:
    matrix = GivenMatrix(probabilities=np.array([[0.5, 0.5], [0.0, 1.0]]))
    assert math.isinf(Design(mechanism=matrix, sets=2).epsilon_of_sets)


@pytest.mark.parametrize(("law", "sets"), [("beta_binomial", 1), ("beta_binomial", 5), ("posterior_mean", 3)])
def test_coverage_says_what_an_own_prior_gives_and_shows_no_dead_epsilon(law: str, sets: int) -> None:
    page = opener("coverage")(prior="own", alpha=7.5, synthesizer=law, sets=sets, n=40, rules="raab_2017")
    made = Design(mechanism=law, n=40, sets=sets, prior="own", alpha=7.5)
    found = re.search(r"α = 7\.5 \(ε = ([\d.,]+)( for all (\d+) sets)?, no δ\)", said(page))
    assert found is not None
    shown, exact = float(found[1].replace(",", "")), made.epsilon_of_sets
    assert exact <= shown <= exact * 1.001
    assert found[3] == (None if sets == 1 else str(sets))
    assert "cv_epsilon" not in {box.key for box in page.number_input}
    set_state(page, cv_prior="pure")
    assert "cv_epsilon" in {box.key for box in page.number_input}


@pytest.mark.parametrize("n", [1, 2, 99, 1000, 1001, 3000, 9990, 10_000])
def test_the_range_around_n_holds_it_and_can_be_summed(n: int) -> None:
    low, high = range_around(n)
    assert 1 <= low <= n <= high <= 10_000
    assert sum(range(low + 1, high + 2)) <= limits.MAX_LISTED_TABLES
    found = posterior_secret_n(
        synthetic_counts=[1], m=2, alpha=1.0, beta=1.0, prior=size_prior("uniform", low, min(high, low + 2))
    )
    assert found.size_weights.sum() == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("settings", "told", "untold"),
    [
        ({"n": 40, "x": 13}, "that n lies between {low:,} and {high:,}", "leaves out the true n"),
        ({"n": 3000, "x": 1000}, "that n lies between {low:,} and {high:,}", "leaves out the true n"),
        ({"n": 3000, "x": 900, "low": 50, "high": 200}, "The range from 50 to 200 leaves out the true n = 3,000", ""),
        ({"n": 50, "x": 15, "low": 50, "high": 50}, "who takes n to be 50 finds a share of yes between", "50 and 50"),
    ],
    ids=str,
)  # fmt: skip
def test_the_range_of_a_secret_n_follows_n_until_the_reader_sets_it_and_its_doubts_are_told(
    settings: dict[str, object], told: str, untold: str
) -> None:
    page = opener("posterior")(look="If n is secret", around="low" not in settings, **settings)
    low, high = range_around(settings["n"])
    assert told.format(low=low, high=high) in said(page)
    assert not untold or untold not in said(page)


def test_a_larger_n_is_named_where_it_makes_the_posterior_narrower() -> None:
    page = opener("posterior")(look="If n is secret", n=10, x=3)
    assert "Some possible n are larger than this" not in said(page)
    narrower = "Because n may be larger than 10, the posterior of p is narrower than with n known."
    release = {"synthetic_counts": [3], "m": 10, "alpha": 10 / math.expm1(2), "beta": 10 / math.expm1(2)}
    secret = posterior_secret_n(**release, prior=size_prior("uniform", *range_around(10)))
    assert (narrower in said(page)) == (secret.variance < posterior_mixture(**release, n=10).variance)


def test_the_bounds_of_sampling_stand_at_any_size_and_the_exact_answer_where_it_can_be_had() -> None:
    sizes = {"n": 1000, "population": 50_000, "alpha": 30.0}
    large = opener("minimum_priors")(look="Subsampling", delta=1e-6, **sizes)
    alone, printed, tight = map(float, cells_of(large, "What subsampling adds")["SYNTH_Post(One)"])
    assert printed == pytest.approx(subsampled_epsilon_printed(alone, 0.02), rel=1e-3)
    assert tight == pytest.approx(subsampled_tight(alone, 0.02), rel=1e-3)
    assert f"→ at most {format_number(round_up(tight, 3), 3)}" in said(large)
    small = opener("minimum_priors")(look="Subsampling", n=40, population=400, alpha=10.0, delta=1e-6)
    *_, bound, exact = map(float, cells_of(small, "What subsampling adds")["SYNTH_Post(One)"])
    assert exact <= bound * (1 + 1e-4)


def test_a_bias_that_is_rounding_is_none() -> None:
    page = opener("minimum_priors")(m_is_n=False, m=1, n=5, delta=0.3)
    assert "×10⁻¹⁷" not in markup(page)
