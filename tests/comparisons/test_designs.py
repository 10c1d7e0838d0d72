"""A design: what a rule for its prior promises, all sets together keep, and JSON and address bring back whole."""

import dataclasses
import itertools
import math
import re
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dpviz.calibration.methods import PRIOR_METHODS, method_of
from dpviz.calibration.several_sets import PRIOR_RULES, minimum_prior_for_sets
from dpviz.comparisons import DATA_KINDS, Analysis, KnownVariance, NumericStudy
from dpviz.core.parameters import Parameter
from dpviz.coverage import CoveragePlan, exact_coverage
from dpviz.curator.question import QUESTION_KINDS
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
from tests.referees import divergence, of_sets

WITH_PRIOR = [key for key, law in two_cell_synthesizers().items() if law.has_prior]
WITHOUT = [key for key, law in two_cell_synthesizers().items() if not law.has_prior]
SHARING = [key for key in WITHOUT if "epsilon" in two_cell_synthesizers()[key].numbers()]
LAWS = [*WITH_PRIOR, *WITHOUT]
SMALL = [(4, 4, 2), (3, 5, 3), (5, 2, 2)]
every_prior_law = pytest.mark.parametrize("law", WITH_PRIOR)


def designed(law: str, n: int, m: int, sets: int, epsilon: float, **changes: Any) -> Any:
    """The release of one set of a design."""
    return Design(mechanism=law, n=n, m=m, sets=sets, epsilon=epsilon, **changes).release


def largest_log_odds(release: TwoCellSynthesizer) -> float:
    """max |ln P(x̃ | x) − ln P(x̃ | x + 1)| from the transition matrix."""
    return float(np.abs(np.diff(release.log_transition_matrix(), axis=0)).max())


def test_the_laws_are_those_of_two_counts_and_those_with_a_prior_have_a_method():
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
def test_the_papers_prior_gives_each_set_an_equal_share_of_epsilon_and_no_less(law, n, m, sets, epsilon):
    made = designed(law, n, m, sets, epsilon)
    assert largest_log_odds(made) == pytest.approx(epsilon / sets, rel=1e-9)
    assert made.alpha == made.beta
    assert (made.n, made.m) == (n, m)


@every_prior_law
@pytest.mark.parametrize(("n", "m", "sets"), SMALL)
@pytest.mark.parametrize("delta", [0.01, 0.2])
def test_the_exact_prior_keeps_the_promise_of_all_sets_and_a_smaller_one_breaks_it(law, n, m, sets, delta):
    made = designed(law, n, m, sets, 1.5, delta=delta, prior="exact")
    # A composition that is bracketed, not closed, leaves about 1e-5 of the prior.
    least = 1.0 if law == "posterior_mode" else 0.0
    smaller = least + (made.alpha - least) * 0.999
    kept, broken = (
        divergence(of_sets(release.transition_matrix(), sets), release.neighbours, 1.5)
        for release in (made, dataclasses.replace(made, alpha=smaller, beta=smaller))
    )
    assert kept <= delta * (1 + 1e-12) and broken > delta


@every_prior_law
def test_delta_makes_the_prior_smaller_and_counts_for_the_exact_rule_alone(law):
    for prior in ("pure", "own"):
        made = [designed(law, 30, 20, 4, 2.0, delta=delta, prior=prior, alpha=5.0) for delta in (0.0, 1e-3)]
        assert made[0] == made[1] and (prior == "pure" or made[0].alpha == made[0].beta == 5.0)
    priors = [designed(law, 30, 20, 4, 2.0, delta=delta, prior="exact").alpha for delta in (0.0, 1e-9, 1e-3, 0.3)]
    assert priors[0] == pytest.approx(designed(law, 30, 20, 4, 2.0).alpha, rel=1e-9)
    assert priors == sorted(priors, reverse=True)
    assert priors[-1] < priors[0]


@pytest.mark.parametrize("prior", PRIOR_RULES)
@pytest.mark.parametrize("law", SHARING)
def test_a_sanitizer_has_its_share_of_epsilon_under_every_rule(law, prior):
    made = designed(law, 12, 12, 4, 2.0, delta=0.1, prior=prior, alpha=7.0)
    assert made.epsilon == 0.5
    assert largest_log_odds(made) <= 0.5 * (1 + 1e-9)
    assert (made.n, made.m) == (12, 12)


@pytest.mark.parametrize("epsilon", [1e-4, 250.0, 700.0])
@pytest.mark.parametrize("delta", [1e-6, 0.5])
@every_prior_law
def test_where_any_prior_will_do_the_exact_rule_has_one_all_the_same(law, delta, epsilon):
    made = designed(law, 100, 100, 2, epsilon, delta=delta, prior="exact")
    assert 0 < made.alpha <= designed(law, 100, 100, 2, epsilon).alpha
    exact_coverage(synthesizer=made, p=0.25, sets=2, rule="reiter_2002")


MATRIX_RELEASE = BetaBinomial(n=4, m=3, alpha=1.0, beta=1.0)
NUMERIC = KnownVariance(n=10, mean=0.0, sigma=1.0, low=-4.0, high=4.0)
RECORDS: list[Any] = [
    Design(mechanism="beta_binomial", n=9, m=7, sets=3, epsilon=1.0, confidential_count=3),
    Analysis(),
    CoveragePlan(synthesizer=MATRIX_RELEASE, p=0.3, sets=2, rules=("rubin_1987",), repetitions=10, seed=1),
    NumericStudy(data=NUMERIC, method=NUMERIC.method("modips"), repetitions=10, seed=1),
    *(kind.default() for kind in {**DATA_KINDS, **QUESTION_KINDS}.values()),
]


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: type(record).__name__)
def test_every_number_of_a_record_outside_its_domain_is_refused_by_its_name(record):
    for name, number in type(record).numbers().items():
        outside = [math.nan, "3", True, number.minimum - 1]
        outside += [number.minimum] if number.open_minimum else []
        outside += [number.minimum + 0.5] if number.integer else []
        outside += [] if number.infinite else [math.inf, 2 * number.maximum + 1]
        for value in outside:
            with pytest.raises(ValueError, match=rf"^{name} .*must be .*{re.escape(number.domain)}.*\.$"):
                dataclasses.replace(record, **{name: value})


def test_releases_along_epsilon_are_made_when_they_are_asked_for():
    design = Design(mechanism="beta_binomial", n=5, sets=2)
    releases = design.along_epsilon([0.5, 0.0, 2.0])
    assert len(releases) == 3
    for place, epsilon in ((0, 0.5), (2, 2.0), (-1, 2.0)):
        assert releases[place] == designed("beta_binomial", 5, 5, 2, epsilon)
    with pytest.raises(ValueError, match=r"epsilon \(promised privacy loss\) must be"):
        _ = releases[1]
    assert list(design.along_epsilon([0.5, 1.0])) == [designed("beta_binomial", 5, 5, 2, one) for one in (0.5, 1.0)]
    with pytest.raises(IndexError):
        releases[3]


def number_of(parameter: Parameter) -> st.SearchStrategy[Any]:
    if parameter.integer:
        return st.integers(int(parameter.minimum), int(parameter.maximum))
    return st.floats(parameter.minimum, parameter.maximum, exclude_min=True)


@st.composite
def any_design(draw: st.DrawFn) -> Design:
    """A design of a registered law, with numbers of every length, or of a matrix."""
    law = draw(st.sampled_from([*SYNTHESIZERS, "given"]))
    if law == "given":
        rows = draw(st.lists(st.floats(0, 1), min_size=2, max_size=5))
        decimals = draw(st.sampled_from([None, 3, [[17, 2]] * len(rows)]))
        matrix = GivenMatrix(probabilities=[[one, 1 - one] for one in rows], decimals=decimals)
        return Design(mechanism=matrix, confidential_count=draw(st.none() | st.integers(0, len(rows) - 1)))
    n, sets = draw(st.integers(1, 10_000)), draw(st.integers(1, 100))
    own = ("n", "m", "sets", "confidential_count")
    numbers = {name: draw(number_of(one)) for name, one in Design.numbers().items() if name not in own}
    of_law = {one.name: one for one in SYNTHESIZERS[law].parameters()}
    most = of_law["alpha"].maximum if "alpha" in of_law else math.inf
    details = [(name, draw(number_of(one))) for name, one in of_law.items() if name not in ("n", "m", "alpha")]
    return Design(
        mechanism=law, n=n, sets=sets, details=tuple(one for one in details if draw(st.booleans())),
        prior=draw(st.sampled_from(list(PRIOR_RULES))),
        rules=tuple(draw(st.lists(st.sampled_from(list(RULES)), unique=True))),
        confidential_count=draw(st.none() | st.integers(0, n)),
        **numbers | {"alpha": min(1.5 + numbers["alpha"] / 2, most)},
    )  # fmt: skip


@settings(max_examples=100, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(design=any_design())
def test_json_and_address_bring_back_every_digit(design):
    for again in (Design.from_json(design.to_json()), Design.from_address(design.to_address())):
        assert again == design
        assert repr(again) == repr(design)
        assert hash(again) == hash(design)
    assert all(type(word) is type(text) is str for word, text in design.to_address().items())


def test_a_design_cannot_be_changed_and_has_the_sizes_of_its_mechanism():
    design = Design(mechanism="laplace", n=7)
    assert (design.m, design.synthesizer_type.key, design.confidential_count) == (7, "laplace", None)
    with pytest.raises(dataclasses.FrozenInstanceError):
        design.n = 8  # type: ignore[misc]
    own = Design(mechanism=GivenMatrix(probabilities=[[0.5, 0.25, 0.25], [0.25, 0.5, 0.25]]))
    assert (own.n, own.m, own.release, own.promised) == (1, 2, own.mechanism, ())
    with pytest.raises(ValueError, match="Your own matrix has none"):
        _ = own.alpha_of_one_set


def test_what_a_mechanism_has_beside_is_a_detail_of_its_design():
    uneven = Design.of({"mechanism": "beta_binomial", "n": 5, "prior": "own", "alpha": 0.5, "beta": 2.0})
    assert uneven.synthesizer == BetaBinomial(n=5, m=5, alpha=0.5, beta=2.0)
    noisy = Design.of({"mechanism": "laplace", "n": 5, "epsilon": 1.0, "noise_epsilon": 3.0})
    assert (noisy.epsilon_of_sets, noisy.to_address()["noise_epsilon"]) == (pytest.approx(3.0, rel=1e-12), "3.0")
    cells = Design.of({"mechanism": "dirichlet_multinomial", "n": 5, "sets": 2, "epsilon": 2.0, "cells": 4})
    assert cells.synthesizer == DirichletMultinomial(n=5, m=5, cells=4, alpha=5 / math.expm1(1.0))


@pytest.mark.parametrize("law", ["dirichlet_multinomial", "multinomial_mean", "multinomial_mode"])
def test_the_exact_prior_of_several_sets_of_cells_is_that_of_their_composition(law):
    design = Design(mechanism=law, n=6, m=4, sets=2, epsilon=1.5, delta=0.01, prior="exact", details=(("cells", 4),))
    method = method_of(design.synthesizer_type.two_cells).key  # type: ignore[attr-defined]
    found = minimum_prior_for_sets(method, n=6, m=4, cells=4, sets=2, epsilon=1.5, delta=0.01)
    assert design.alpha_of_one_set == pytest.approx(found, rel=1e-12)


def test_what_a_release_follows_from_changes_it_and_nothing_else_does():
    moved = {"epsilon": 1.0, "delta": 0.05, "alpha": 5.0}
    for law, prior in itertools.product(LAWS, PRIOR_RULES):
        design = Design(mechanism=law, n=9, sets=2, delta=0.01, prior=prior, alpha=3.0)
        for name, value in moved.items():
            other = dataclasses.replace(design, **{name: value}).release
            assert (other != design.release) == (name in design.promised), (law, prior, name)


def test_a_posterior_goes_to_ten_thousand_rows_where_no_whole_matrix_is_needed():
    assert Design(mechanism="posterior_mean", n=10_000, m=3).release.shape == (10_001, 4)
    assert Design(mechanism="laplace", n=10_000).release.shape == (10_001, 10_001)
    assert type(Design(mechanism="posterior_mean", n=5_000).release) is PosteriorMean
    with pytest.raises(ValueError, match=r"^n .* from 1 to 1,000; got 10,000"):
        _ = Design(mechanism="modips", n=10_000).release


REFUSED = [
    ({"mechanism": "laplace_cells", "m": 9}, "mechanism must release two counts; got"),
    ({"details": {"cells": 3}}, "details of Beta-binomial (posterior draw) must be some of beta; got {'cells': 3}"),
    ({"details": {"beta": 0.0}}, "beta (invented rows with no) must be"),
    ({"mechanism": "dirichlet_multinomial", "details": {"cells": 2}}, "cells must be"),
    ({"mechanism": "dirichlet_multinomial", "m": 2000}, "m (released rows) must be a whole number from 1 to 1,000"),
    ({"mechanism": "foo"}, "got 'foo'"),
    ({"mechanism": "laplace"}, "must equal n = 9"),
    ({"mechanism": "geometric", "m": 10}, "got 10"),
    ({"prior": "own", "alpha": 0.0}, "alpha (invented rows with yes) must be"),
    ({"mechanism": "posterior_mode", "prior": "own", "alpha": 1.0}, "alpha (invented rows with yes) must be"),
    ({"prior": "foo"}, "prior must be"),
    ({"details": (("beta", 2.0), ("beta", 3.0))}, "details must be numbers by name, each once; got"),
]
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
NO_ADDRESS = [
    ({}, "mechanism must be given"),
    ({"synthesizer": "laplace"}, "n (people) must be"),
    ({"synthesizer": "laplace", "n": "many"}, "n (people) must be"),
    ({"synthesizer": "laplace", "n": "5", "x": "½"}, "confidential_count (confidential ones) must be"),
    ({"synthesizer": "laplace", "n": "5", "rules": "score.foo"}, "rules must be some of"),
    ({"mechanism": "laplace", "n": "5"}, "got 'mechanism'"),
    ({"synthesizer": "laplace", "n": 5}, "got 'n' = 5"),
    ({"synthesizer": "{", "n": "5"}, "must be JSON"),
]
MADE = {"mechanism": "beta_binomial", "n": 9, "m": 7, "sets": 3, "epsilon": 1.0}


def release_of_changed(change: dict[str, Any]) -> object:
    return Design(**MADE | change).release


@pytest.mark.parametrize(("make", "asked", "sentence"), [
    *((release_of_changed, *case) for case in REFUSED),
    *((Design.from_json, *case) for case in NO_DESIGN),
    *((Design.from_address, *case) for case in NO_ADDRESS),
], ids=lambda case: getattr(case, "__name__", str(case))[:60])  # fmt: skip
def test_what_is_no_design_is_refused_in_a_sentence(make, asked, sentence):
    with pytest.raises(ValueError, match=re.escape(sentence)) as refused:
        make(asked)
    assert len(str(refused.value)) < 400
