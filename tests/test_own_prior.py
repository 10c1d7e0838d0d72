"""What an own prior gives, where the range of a secret n stands, and other words that must follow the numbers."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Callable

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from dpviz.claims.formulas import subsampled_epsilon_printed
from dpviz.core import limits
from dpviz.core.parameters import readable, rounded_up
from dpviz.designs import Design
from dpviz.inference import posterior_mixture
from dpviz.inference.secret_n import posterior_secret_n, range_around, uniform_size
from dpviz.mechanisms import BetaBinomial
from dpviz.mechanisms.given_matrix import GivenMatrix
from dpviz.privacy.subsampling import subsampled_tight
from tests.pages import (
    check_sound,
    html,
    marks,
    open_coverage,
    open_posterior,
    open_priors,
    problems,
    table_rows,
    text,
)
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
    assert math.isinf(
        Design(mechanism=GivenMatrix(probabilities=np.array([[0.5, 0.5], [0.0, 1.0]])), sets=2).epsilon_of_sets
    )


@pytest.mark.parametrize(("law", "sets"), [("beta_binomial", 1), ("beta_binomial", 5), ("posterior_mean", 3)])
def test_coverage_says_what_an_own_prior_gives_and_shows_no_dead_epsilon(law: str, sets: int) -> None:
    page = open_coverage(prior="own", alpha=7.5, synthesizer=law, sets=sets, n=40, rules=["raab_2017"])
    check_sound(page)
    made = Design(mechanism=law, n=40, sets=sets, prior="own", alpha=7.5)
    found = re.search(r"α = 7\.5 \(ε = ([\d.,]+)( for all (\d+) sets)?, no δ\)", text(page))
    assert found is not None
    shown, exact = float(found[1].replace(",", "")), made.epsilon_of_sets
    assert exact <= shown <= exact * 1.001
    assert found[3] == (None if sets == 1 else str(sets))
    assert "cv_epsilon" not in {box.key for box in page.number_input}
    page.radio(key="cv_prior").set_value("pure").run()
    assert "cv_epsilon" in {box.key for box in page.number_input}


@pytest.mark.parametrize("n", [1, 2, 99, 1000, 1001, 3000, 9990, 10_000])
def test_the_range_around_n_holds_it_and_can_be_summed(n: int) -> None:
    low, high = range_around(n)
    assert 1 <= low <= n <= high <= 10_000
    assert sum(range(low + 1, high + 2)) <= limits.LISTED_TABLES
    found = posterior_secret_n(
        synthetic_counts=[1], m=2, alpha=1.0, beta=1.0, prior=uniform_size(low, min(high, low + 2))
    )
    assert found.size_weights.sum() == pytest.approx(1.0)


def test_the_secret_range_follows_n_until_the_reader_sets_it() -> None:
    for n in (40, 3000):
        page = open_posterior(look="If n is secret", n=n, x=n // 3)
        check_sound(page)
        low, high = range_around(n)
        assert f"that n lies between {low:,} and {high:,}" in text(page)
        assert "leaves out the true n" not in text(page)
    page = open_posterior(look="If n is secret", around=False, low=50, high=200, n=3000, x=900)
    assert "The range from 50 to 200 leaves out the true n = 3,000" in text(page)


def test_a_range_of_one_number_is_a_belief_and_a_larger_n_is_named() -> None:
    page = open_posterior(look="If n is secret", around=False, low=50, high=50, n=50, x=15)
    assert "An analyst who takes n to be 50 finds a share of yes between" in text(page)
    page = open_posterior(look="If n is secret", n=10, x=3)
    check_sound(page)
    assert "Some possible n are larger than this" not in text(page)
    narrower = "Because n may be larger than 10, the posterior of p is narrower than with n known."
    release = {"synthetic_counts": [3], "m": 10, "alpha": 10 / math.expm1(2), "beta": 10 / math.expm1(2)}
    secret = posterior_secret_n(**release, prior=uniform_size(*range_around(10)))
    assert (narrower in text(page)) == (secret.variance < posterior_mixture(**release, n=10).variance)


def test_a_range_that_cuts_the_posterior_of_n_is_told() -> None:
    """Nearly all 400 rows of two releases are ones, which a table of 20 rows with α = 15 cannot bring about easily."""
    page = open_posterior(
        look="If n is secret", around=False, low=5, high=20, n=20, knows=False, m=200, m_is_n=False, source="typed",
        counts="197, 199", prior="own", alpha=15.0,
    )  # fmt: skip
    check_sound(page)
    assert "The posterior of n piles up at n = 20" in text(page)
    even = open_posterior(look="If n is secret", n=20, x=6)
    assert "piles up" not in text(even)


@pytest.mark.parametrize(("key", "opened"), [("cv_m_is_n", open_coverage), ("mp_m_is_n", open_priors)])
def test_a_switch_takes_only_true_and_false_from_the_address(
    key: str, opened: Callable[[dict[str, str]], AppTest]
) -> None:
    (sentence,) = problems(opened({key: "maybe"}))
    assert sentence == f"Ignored an invalid value in the link, {key} = maybe: it must be one of true, false."
    for word in ("true", "false", "False"):
        assert problems(opened({key: word})) == []


def test_a_failure_that_is_too_small_is_refused_by_the_control_and_costs_nothing_else() -> None:
    page = open_priors(delta=1e-320, n=77, look="The inverse")
    (sentence,) = problems(page)
    assert sentence.startswith("delta (allowed failure) must be 0, or from 10⁻³⁰⁰ to 0.5; got")
    page.number_input(key="mp_delta").set_value(1e-300).run()
    check_sound(page)
    assert page.number_input(key="mp_n").value == 77
    assert problems(page) == []


def table(page: AppTest) -> str:
    return next(part for part in html(page) if 'aria-label="What subsampling adds"' in part)


def test_the_bounds_of_sampling_stand_at_any_size_and_the_exact_answer_where_it_can_be_had() -> None:
    large = open_priors(look="Subsampling", n=1000, population=50_000, alpha=30.0, delta=1e-6)
    check_sound(large)
    rows = table_rows(table(large))
    alone, printed, tight = (float(cell) for cell in rows["SYNTH_Post(One)"])
    assert printed == pytest.approx(subsampled_epsilon_printed(alone, 0.02), rel=1e-3)
    assert tight == pytest.approx(subsampled_tight(alone, 0.02), rel=1e-3)
    assert f"→ at most {readable(rounded_up(tight, 3), 3)}" in " ".join(marks(large))
    small = open_priors(look="Subsampling", n=40, population=400, alpha=10.0, delta=1e-6)
    *_, bound, exact = (float(cell) for cell in table_rows(table(small))["SYNTH_Post(One)"])
    assert exact <= bound * (1 + 1e-4)


def test_the_headline_of_a_coverage_just_below_all_is_not_all() -> None:
    page = open_coverage(p=0.5, epsilon=2.0, sets=5, n=100)
    assert marks(page)[0] == "99.999 %"


def test_a_bias_that_is_rounding_is_none() -> None:
    page = open_priors(m_is_n=False, m=1, n=5, delta=0.3)
    check_sound(page)
    assert "×10⁻¹⁷" not in " ".join(html(page))
