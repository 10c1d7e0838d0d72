"""A design: what a rule for its prior promises, all sets together keep, and JSON and address bring back whole."""

from __future__ import annotations

import dataclasses
import itertools
import math
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dpviz.calibration.methods import PRIOR_METHODS, method_of
from dpviz.calibration.several_sets import PRIOR_RULES, minimum_prior_for_sets
from dpviz.core.parameters import Parameter
from dpviz.designs import Design
from dpviz.inference import RULES
from dpviz.mechanisms import (
    SYNTHESIZERS,
    BetaBinomial,
    DirichletMultinomial,
    PosteriorMean,
    TwoCellSynthesizer,
    two_cell_synthesizers,
)
from dpviz.mechanisms.matrix_mechanism import GivenMatrix
from dpviz.mechanisms.prior_mechanism import UnderPrior
from tests.pairs import pairwise
from tests.referees import divergence, of_sets

WITH_PRIOR = [key for key, law in two_cell_synthesizers().items() if law.has_prior]
WITHOUT = [key for key, law in two_cell_synthesizers().items() if not law.has_prior]
SHARING = [key for key in WITHOUT if "epsilon" in two_cell_synthesizers()[key].numbers()]
LAWS = [*WITH_PRIOR, *WITHOUT]
SMALL = [(4, 4, 2), (3, 5, 3), (5, 2, 2)]
every_prior_law = pytest.mark.parametrize("law", WITH_PRIOR)


def largest_log_odds(release: TwoCellSynthesizer) -> float:
    """max |ln P(x̃ | x) − ln P(x̃ | x + 1)| from the transition matrix."""
    table = release.log_transition_matrix()
    return float(np.abs(np.diff(table, axis=0)).max())


def delta_of_sets(release: TwoCellSynthesizer, sets: int, epsilon: float) -> float:
    """δ over neighbours and all tuples of M released counts."""
    return divergence(of_sets(release.transition_matrix(), sets), release.neighbours, epsilon)


def test_the_laws_are_those_of_two_counts_and_those_with_a_prior_have_a_method() -> None:
    assert {"beta_binomial", "posterior_mean", "posterior_mode"} <= set(WITH_PRIOR)
    assert {"laplace", "geometric", "modips", "modips_truncated", "sdd"} <= set(WITHOUT)
    for key, law in two_cell_synthesizers().items():
        asked = {declared.name for declared in law.parameters()}
        assert ("alpha" in asked) == ("epsilon" not in asked)
        assert (key in WITH_PRIOR) == law.has_prior <= ("alpha" in asked)
        if issubclass(law, UnderPrior):
            method = method_of(law)
            assert PRIOR_METHODS[method.key] is method
            assert method.synthesizer_type is law


@every_prior_law
@pytest.mark.parametrize(("n", "m", "sets"), [*SMALL, (30, 20, 5), (20, 30, 1)])
@pytest.mark.parametrize("epsilon", [0.1, 2.0, 30.0])
def test_the_papers_prior_gives_each_set_an_equal_share_of_epsilon_and_no_less(
    law: str, n: int, m: int, sets: int, epsilon: float
) -> None:
    made = Design(mechanism=law, n=n, m=m, sets=sets, epsilon=epsilon).release
    assert largest_log_odds(made) == pytest.approx(epsilon / sets, rel=1e-9)
    assert made.alpha == made.beta  # type: ignore[attr-defined]
    assert (made.n, made.m) == (n, m)


@pytest.mark.parametrize("epsilon", [1e-4, 0.5, 2.0, 250.0, 699.0])
@pytest.mark.parametrize("sets", [1, 2, 10])
def test_charests_prior_is_m_over_e_to_the_share_less_one(sets: int, epsilon: float) -> None:
    with mpmath.workdps(50):
        prior = 100 / mpmath.expm1(mpmath.mpf(epsilon) / sets)
    made = Design(mechanism="beta_binomial", n=80, m=100, sets=sets, epsilon=epsilon).release
    assert isinstance(made, BetaBinomial)
    assert made.alpha == pytest.approx(float(prior), rel=1e-11)


@every_prior_law
@pytest.mark.parametrize(("n", "m", "sets"), SMALL)
@pytest.mark.parametrize("delta", [0.01, 0.2])
def test_the_exact_prior_keeps_the_promise_of_all_sets_and_a_smaller_one_breaks_it(
    law: str, n: int, m: int, sets: int, delta: float
) -> None:
    made = Design(mechanism=law, n=n, m=m, sets=sets, epsilon=1.5, delta=delta, prior="exact").release
    alpha: float = made.alpha  # type: ignore[attr-defined]
    assert delta_of_sets(made, sets, 1.5) <= delta * (1 + 1e-12)
    # A composition that is bracketed, not closed, leaves about 1e-5 of the prior.
    least = 1.0 if law == "posterior_mode" else 0.0
    smaller = two_cell_synthesizers()[law](
        n=n, m=m, **dict.fromkeys(("alpha", "beta"), least + (alpha - least) * 0.999)
    )
    assert delta_of_sets(smaller, sets, 1.5) > delta


@every_prior_law
def test_delta_makes_the_prior_smaller_and_counts_for_the_exact_rule_alone(law: str) -> None:
    asked = {"n": 30, "m": 20, "sets": 4, "epsilon": 2.0}
    for prior in ("pure", "own"):
        made = [Design(mechanism=law, **asked, delta=delta, prior=prior, alpha=5.0).release for delta in (0.0, 1e-3)]
        assert made[0] == made[1]
    priors = [
        Design(mechanism=law, **asked, delta=delta, prior="exact").release.alpha  # type: ignore[attr-defined]
        for delta in (0.0, 1e-9, 1e-3, 0.3)
    ]
    pure = Design(mechanism=law, **asked).release
    assert priors[0] == pytest.approx(pure.alpha, rel=1e-9)  # type: ignore[attr-defined]
    assert priors == sorted(priors, reverse=True)
    assert priors[-1] < priors[0]


@every_prior_law
@pytest.mark.parametrize("epsilon", [0.01, 5.0])
def test_an_own_prior_is_taken_as_it_is(law: str, epsilon: float) -> None:
    made = Design(mechanism=law, n=9, m=7, sets=3, epsilon=epsilon, prior="own", alpha=3.25).release
    assert (made.alpha, made.beta) == (3.25, 3.25)  # type: ignore[attr-defined]


@pytest.mark.parametrize("prior", PRIOR_RULES)
@pytest.mark.parametrize("law", SHARING)
def test_a_sanitizer_has_its_share_of_epsilon_under_every_rule(law: str, prior: str) -> None:
    made = Design(mechanism=law, n=12, m=12, sets=4, epsilon=2.0, delta=0.1, prior=prior, alpha=7.0).release
    assert made.epsilon == 0.5  # type: ignore[attr-defined]
    assert largest_log_odds(made) <= 0.5 * (1 + 1e-9)
    assert (made.n, made.m) == (12, 12)


@pytest.mark.parametrize("epsilon", [250.0, 700.0])
@pytest.mark.parametrize("delta", [1e-6, 0.5])
@every_prior_law
def test_where_any_prior_will_do_the_exact_rule_has_one_all_the_same(law: str, delta: float, epsilon: float) -> None:
    made = Design(mechanism=law, n=100, m=100, sets=2, epsilon=epsilon, delta=delta, prior="exact").release
    assert made.alpha > 0  # type: ignore[attr-defined]


REFUSED = [
    ({"mechanism": "laplace_cells", "m": 9}, "mechanism must release two counts; got"),
    ({"details": {"cells": 3}}, "details of Beta-binomial (posterior draw) must be some of beta; got {'cells': 3}"),
    ({"details": {"beta": 0.0}}, "beta (invented rows with no) must be"),
    ({"mechanism": "dirichlet_multinomial", "details": {"cells": 2}}, "cells must be"),
    ({"mechanism": "dirichlet_multinomial", "m": 2000}, "m (released rows) must be a whole number from 1 to 1,000"),
    ({"mechanism": "foo"}, "got 'foo'"),
    ({"mechanism": "laplace"}, "must equal n = 9"),
    ({"mechanism": "geometric", "m": 10}, "got 10"),
    ({"epsilon": 0.0}, "epsilon (promised privacy loss) must be"),
    ({"epsilon": math.nan}, "epsilon (promised privacy loss) must be"),
    ({"epsilon": math.inf}, "epsilon (promised privacy loss) must be"),
    ({"delta": -0.1, "prior": "exact"}, "delta (allowed failure) must be"),
    ({"delta": 1.5}, "delta (allowed failure) must be"),
    ({"prior": "own", "alpha": 0.0}, "alpha (invented rows with yes) must be"),
    ({"mechanism": "posterior_mode", "prior": "own", "alpha": 1.0}, "alpha (invented rows with yes) must be"),
    ({"prior": "foo"}, "prior must be"),
    ({"n": 0}, "n (people) must be"),
    ({"m": 0}, "m (released rows) must be"),
    ({"n": 0, "prior": "exact", "delta": 0.1}, "n (people) must be"),
]


@pytest.mark.parametrize(("change", "sentence"), REFUSED, ids=str)
def test_what_is_out_of_its_domain_is_refused_in_a_sentence(change: dict[str, object], sentence: str) -> None:
    asked: dict[str, Any] = {"mechanism": "beta_binomial", "n": 9, "m": 7, "sets": 3, "epsilon": 1.0} | change
    with pytest.raises(ValueError) as broken:
        _ = Design(**asked).release
    assert sentence in str(broken.value)


@pytest.mark.parametrize(("law", "prior", "sets"), pairwise(LAWS, PRIOR_RULES, [0, -1, 2.5, 2001]))
def test_a_number_of_sets_that_is_none_is_refused_in_a_sentence(law: str, prior: str, sets: float) -> None:
    with pytest.raises(ValueError) as broken:
        Design(mechanism=law, n=9, m=9, sets=sets, epsilon=1.0, delta=0.1, prior=prior, alpha=5.0)
    assert "sets" in str(broken.value)
    assert "must be" in str(broken.value)


ALONG = Design(mechanism="beta_binomial", n=5, sets=2)


def test_releases_along_epsilon_are_made_one_by_one_when_they_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[float] = []
    least = BetaBinomial.smallest_alpha

    def noted(*, m: int, epsilon: float) -> float:
        made.append(2 * epsilon)
        return least(m=m, epsilon=epsilon)

    monkeypatch.setattr(BetaBinomial, "smallest_alpha", noted)
    releases = ALONG.along_epsilon([0.5, 1.0, 2.0, 4.0])
    assert len(releases) == 4
    assert made == []
    assert releases[2] == dataclasses.replace(ALONG, epsilon=2.0).release
    assert made == [2.0, 2.0]
    assert releases[-1] == dataclasses.replace(ALONG, epsilon=4.0).release
    assert made == [2.0, 2.0, 4.0, 4.0]
    assert list(releases) == [releases[0], releases[1], releases[2], releases[3]]
    with pytest.raises(IndexError):
        releases[4]


def floats_of(parameter: Parameter) -> st.SearchStrategy[float]:
    return st.floats(parameter.minimum, parameter.maximum, exclude_min=parameter.open_minimum)


def wild(law: str, draw: st.DrawFn) -> Design:
    """A design with numbers of every length."""
    n = draw(st.integers(1, 10_000))
    numbers = {
        name: draw(st.floats(one.minimum, one.maximum, exclude_min=True))
        for name, one in Design.numbers().items()
        if not one.integer
    }
    whole = {"sets": st.integers(1, 100), "repetitions": st.integers(1, 10**7), "seed": st.integers(0, 10**9)}
    rules = draw(st.lists(st.sampled_from(list(RULES)), unique=True))
    of_law = {one.name: one for one in SYNTHESIZERS[law].parameters()}
    further = [one for name, one in of_law.items() if name not in ("n", "m", "alpha")]
    most = of_law["alpha"].maximum if "alpha" in of_law else math.inf
    details = {one.name: draw(floats_of(one)) for one in further if not one.integer}
    details |= {one.name: draw(st.integers(int(one.minimum), int(one.maximum))) for one in further if one.integer}
    return Design(
        mechanism=law, n=n, details=tuple((name, details[name]) for name in details if draw(st.booleans())),
        prior=draw(st.sampled_from(list(PRIOR_RULES))), rules=tuple(rules),
        confidential_count=draw(st.none() | st.integers(0, n)),
        **numbers | {"alpha": min(1.5 + numbers["alpha"] / 2, most)},
        **{name: draw(one) for name, one in whole.items()},
    )  # fmt: skip


@st.composite
def any_design(draw: st.DrawFn) -> Design:
    """A design of a registered law or of a matrix."""
    law = draw(st.sampled_from([*SYNTHESIZERS, "given"]))
    if law != "given":
        return wild(law, draw)
    rows = draw(st.lists(st.floats(0, 1), min_size=2, max_size=5))
    decimals = draw(st.sampled_from([None, 3, [[17, 2]] * len(rows)]))
    return Design(
        mechanism=GivenMatrix(probabilities=[[one, 1 - one] for one in rows], decimals=decimals),
        confidential_count=draw(st.none() | st.integers(0, len(rows) - 1)),
    )


@settings(max_examples=100, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(design=any_design())
def test_json_and_address_bring_back_every_digit(design: Design) -> None:
    for again in (Design.from_json(design.to_json()), Design.from_address(design.to_address())):
        assert again == design
        assert repr(again) == repr(design)
        assert hash(again) == hash(design)
    assert all(type(word) is type(text) is str for word, text in design.to_address().items())


def test_a_design_cannot_be_changed_and_has_the_sizes_of_its_mechanism() -> None:
    design = Design(mechanism="laplace", n=7)
    assert (design.m, design.synthesizer_type.key, design.confidential_count) == (7, "laplace", None)
    with pytest.raises(dataclasses.FrozenInstanceError):
        design.n = 8  # type: ignore[misc]
    own = Design(mechanism=GivenMatrix(probabilities=[[0.5, 0.25, 0.25], [0.25, 0.5, 0.25]]))
    assert (own.n, own.m, own.release, own.promised) == (1, 2, own.mechanism, ())
    with pytest.raises(ValueError, match="Your own matrix has none"):
        _ = own.alpha_of_one_set


def test_what_a_mechanism_has_beside_is_a_detail_of_its_design() -> None:
    uneven = Design.of({"mechanism": "beta_binomial", "n": 5, "prior": "own", "alpha": 0.5, "beta": 2.0})
    assert uneven.synthesizer == BetaBinomial(n=5, m=5, alpha=0.5, beta=2.0)
    noisy = Design.of({"mechanism": "laplace", "n": 5, "epsilon": 1.0, "noise_epsilon": 3.0})
    assert (noisy.epsilon_of_sets, noisy.to_address()["noise_epsilon"]) == (pytest.approx(3.0, rel=1e-12), "3.0")
    cells = Design.of({"mechanism": "dirichlet_multinomial", "n": 5, "sets": 2, "epsilon": 2.0, "cells": 4})
    assert cells.synthesizer == DirichletMultinomial(n=5, m=5, cells=4, alpha=5 / math.expm1(1.0))


@pytest.mark.parametrize("law", ["dirichlet_multinomial", "multinomial_mean", "multinomial_mode"])
def test_the_exact_prior_of_several_sets_of_cells_is_that_of_their_composition(law: str) -> None:
    design = Design(mechanism=law, n=6, m=4, sets=2, epsilon=1.5, delta=0.01, prior="exact", details=(("cells", 4),))
    method = method_of(design.synthesizer_type.two_cells).key  # type: ignore[attr-defined]
    found = minimum_prior_for_sets(method, n=6, m=4, cells=4, sets=2, epsilon=1.5, delta=0.01)
    assert design.alpha_of_one_set == pytest.approx(found, rel=1e-12)


def test_what_a_release_follows_from_changes_it_and_nothing_else_does() -> None:
    moved = {"epsilon": 1.0, "delta": 0.05, "alpha": 5.0}
    for law, prior in itertools.product(LAWS, PRIOR_RULES):
        design = Design(mechanism=law, n=9, sets=2, delta=0.01, prior=prior, alpha=3.0)
        for name, value in moved.items():
            other = dataclasses.replace(design, **{name: value})
            assert (other.release != design.release) == (name in design.promised), (law, prior, name)


def test_a_posterior_goes_to_ten_thousand_rows_where_no_whole_matrix_is_needed() -> None:
    assert Design(mechanism="posterior_mean", n=10_000, m=3).release.shape == (10_001, 4)
    assert Design(mechanism="laplace", n=10_000).release.shape == (10_001, 10_001)
    assert type(Design(mechanism="posterior_mean", n=5_000).release) is PosteriorMean
    with pytest.raises(ValueError, match=r"^n .* from 1 to 1,000; got 10,000"):
        _ = Design(mechanism="modips", n=10_000).release


NO_DESIGN = [
    ("", "must be JSON"),
    ("[" * 100_000, "must be JSON"),
    ("[]", "must be a JSON object"),
    ('"laplace"', "must be a JSON object"),
    ("{}", "mechanism must be given"),
    ('{"mechanism": "foo", "n": 3}', "got 'foo'"),
    ('{"mechanism": null, "n": 3}', "got None"),
    ('{"mechanism": "laplace"}', "n (people) must be a whole number from 1 to 100,000; got None."),
    ('{"mechanism": "laplace", "n": true}', "got True"),
    ('{"mechanism": "laplace", "n": "5"}', "got '5'"),
    ('{"mechanism": "laplace", "n": 5, "epsilon": NaN}', "got nan"),
    ('{"mechanism": "laplace", "n": 5, "epsilon": 1e999}', "got ∞"),
    ('{"mechanism": "laplace", "n": 5, "rows": 5}', "got 'rows'"),
    ('{"mechanism": "laplace", "n": 5, "prior": ["own"]}', "prior must be one of pure, exact, own; got ['own']"),
    ('{"mechanism": "laplace", "n": 5, "rules": "score"}', "rules must be some of"),
    ('{"mechanism": "laplace", "n": 5, "rules": ["score", "score"]}', "rules must be some of"),
    ('{"mechanism": "laplace", "n": 5, "rules": ["foo"]}', "rules must be some of"),
    ('{"mechanism": "laplace", "n": 5, "confidential_count": 6}', "must be at most n = 5; got 6"),
    ('{"mechanism": {"probabilities": [[1], [0.5, 0.5]]}}', "as many in each row"),
    ('{"mechanism": {"probabilities": [[2, -1], [1, 0]]}}', "is negative"),
    ('{"mechanism": {"probabilities": [[1, 0], [1, 0]], "decimals": -1}}', "decimals must be"),
    ('{"mechanism": {"probabilities": [[1, 0], [1, 0]], "decimals": [1, 2]}}', "decimals must be"),
    ('{"mechanism": {"matrix": [[1, 0], [1, 0]]}}', "A matrix has probabilities"),
    ('{"mechanism": {"probabilities": [[1, 0], [1, 0]]}, "n": 4}', "n and m must be those of the matrix, 1 and 1"),
    ('{"mechanism": "laplace", "n": 5, "beta": 1}', "seed, noise_epsilon; got 'beta'"),
]


@pytest.mark.parametrize(("text", "sentence"), NO_DESIGN, ids=lambda text: text[:60])
def test_what_is_no_design_is_refused_in_a_sentence(text: str, sentence: str) -> None:
    with pytest.raises(ValueError) as broken:
        Design.from_json(text)
    assert sentence in str(broken.value)
    assert len(str(broken.value)) < 400


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ({}, "mechanism must be given"),
        ({"synthesizer": "laplace"}, "n (people) must be"),
        ({"synthesizer": "laplace", "n": "many"}, "n (people) must be"),
        ({"synthesizer": "laplace", "n": "5", "x": "½"}, "confidential_count (confidential ones) must be"),
        ({"synthesizer": "laplace", "n": "5", "rules": "score.foo"}, "rules must be some of"),
        ({"mechanism": "laplace", "n": "5"}, "got 'mechanism'"),
        ({"synthesizer": "laplace", "n": 5}, "got 'n' = 5"),
        ({"synthesizer": "{", "n": "5"}, "must be JSON"),
    ],
    ids=str,
)
def test_an_address_that_is_no_design_is_refused_in_a_sentence(words: dict[str, str], sentence: str) -> None:
    with pytest.raises(ValueError) as broken:
        Design.from_address(words)
    assert sentence in str(broken.value)
