"""The release of one set: what a rule for its prior promises, all sets together keep, and no smaller prior would."""

from __future__ import annotations

import itertools
import math

import mpmath
import numpy as np
import pytest

from dpviz.coverage.design import METHODS, PRIOR_RULES, PriorRule, ReleasesByEpsilon, release_of_one_set, two_cell_laws
from dpviz.synthesizers import BetaBinomial, TwoCellSynthesizer

LAWS = ["beta_binomial", "posterior_mean", "posterior_mode", "laplace", "geometric"]
WITH_PRIOR, WITHOUT = LAWS[:3], LAWS[3:]
SMALL = [(4, 4, 2), (3, 5, 3), (5, 2, 2)]
every_prior_law = pytest.mark.parametrize("law", WITH_PRIOR)


def largest_log_odds(release: TwoCellSynthesizer) -> float:
    """max |ln P(x̃ | x) − ln P(x̃ | x + 1)| from the transition matrix."""
    table = release.log_transition_matrix()
    return float(np.abs(np.diff(table, axis=0)).max())


def delta_of_sets(release: TwoCellSynthesizer, sets: int, epsilon: float) -> float:
    """The largest Σ max(P − e^ε Q, 0) over neighbours and all tuples of M released counts."""
    table, worst = release.transition_matrix(), 0.0
    for x in range(len(table) - 1):
        for p, q in ((table[x], table[x + 1]), (table[x + 1], table[x])):
            terms = [
                math.prod(p[list(counts)]) - math.exp(epsilon) * math.prod(q[list(counts)])
                for counts in itertools.product(range(len(p)), repeat=sets)
            ]
            worst = max(worst, math.fsum(term for term in terms if term > 0))
    return worst


def test_the_laws_are_those_of_two_counts_and_those_with_a_prior_have_a_method() -> None:
    assert list(two_cell_laws()) == LAWS
    assert list(METHODS) == WITH_PRIOR
    for key, law in two_cell_laws().items():
        asked = {declared.name for declared in law.parameters()}
        assert ("alpha" in asked) == (key in METHODS) == ("epsilon" not in asked)


@every_prior_law
@pytest.mark.parametrize(("n", "m", "sets"), [*SMALL, (30, 20, 5), (20, 30, 1)])
@pytest.mark.parametrize("epsilon", [0.1, 2.0, 30.0])
def test_the_papers_prior_gives_each_set_an_equal_share_of_epsilon_and_no_less(
    law: str, n: int, m: int, sets: int, epsilon: float
) -> None:
    made = release_of_one_set(law, n=n, m=m, sets=sets, epsilon=epsilon)
    assert largest_log_odds(made) == pytest.approx(epsilon / sets, rel=1e-9)
    assert made.alpha == made.beta  # type: ignore[attr-defined]
    assert (made.n, made.m) == (n, m)


@pytest.mark.parametrize("epsilon", [1e-4, 0.5, 2.0, 250.0, 699.0])
@pytest.mark.parametrize("sets", [1, 2, 10])
def test_charests_prior_is_m_over_e_to_the_share_less_one(sets: int, epsilon: float) -> None:
    with mpmath.workdps(50):
        prior = 100 / mpmath.expm1(mpmath.mpf(epsilon) / sets)
    made = release_of_one_set("beta_binomial", n=80, m=100, sets=sets, epsilon=epsilon)
    assert isinstance(made, BetaBinomial)
    assert made.alpha == pytest.approx(float(prior), rel=1e-11)


@every_prior_law
@pytest.mark.parametrize(("n", "m", "sets"), SMALL)
@pytest.mark.parametrize("delta", [0.01, 0.2])
def test_the_exact_prior_keeps_the_promise_of_all_sets_and_a_smaller_one_breaks_it(
    law: str, n: int, m: int, sets: int, delta: float
) -> None:
    made = release_of_one_set(law, n=n, m=m, sets=sets, epsilon=1.5, delta=delta, prior="exact")
    alpha: float = made.alpha  # type: ignore[attr-defined]
    assert delta_of_sets(made, sets, 1.5) <= delta * (1 + 1e-12)
    # A composition that is bracketed, not closed, leaves about 1e-5 of the prior.
    least = 1.0 if law == "posterior_mode" else 0.0
    smaller = two_cell_laws()[law](n=n, m=m, **dict.fromkeys(("alpha", "beta"), least + (alpha - least) * 0.999))
    assert delta_of_sets(smaller, sets, 1.5) > delta


@every_prior_law
def test_without_delta_the_exact_prior_is_the_papers(law: str) -> None:
    asked = {"n": 30, "m": 20, "sets": 4, "epsilon": 2.0}
    pure = release_of_one_set(law, **asked)
    exact = release_of_one_set(law, **asked, delta=0.0, prior="exact")
    assert exact.alpha == pytest.approx(pure.alpha, rel=1e-9)  # type: ignore[attr-defined]


@every_prior_law
def test_delta_makes_the_prior_smaller_and_counts_for_the_exact_rule_alone(law: str) -> None:
    asked = {"n": 30, "m": 20, "sets": 4, "epsilon": 2.0}
    for prior in ("pure", "own"):
        made = [release_of_one_set(law, **asked, delta=delta, prior=prior, alpha=5.0) for delta in (0.0, 1e-3)]
        assert made[0] == made[1]
    priors = [
        release_of_one_set(law, **asked, delta=delta, prior="exact").alpha  # type: ignore[attr-defined]
        for delta in (0.0, 1e-9, 1e-3, 0.3)
    ]
    assert priors == sorted(priors, reverse=True)
    assert priors[-1] < priors[0]


@every_prior_law
@pytest.mark.parametrize("epsilon", [0.01, 5.0])
def test_an_own_prior_is_taken_as_it_is(law: str, epsilon: float) -> None:
    made = release_of_one_set(law, n=9, m=7, sets=3, epsilon=epsilon, prior="own", alpha=3.25)
    assert (made.alpha, made.beta) == (3.25, 3.25)  # type: ignore[attr-defined]


@pytest.mark.parametrize("prior", PRIOR_RULES)
@pytest.mark.parametrize("law", WITHOUT)
def test_a_sanitizer_has_its_share_of_epsilon_under_every_rule(law: str, prior: PriorRule) -> None:
    made = release_of_one_set(law, n=12, m=12, sets=4, epsilon=2.0, delta=0.1, prior=prior, alpha=7.0)
    assert made.epsilon == 0.5  # type: ignore[attr-defined]
    assert largest_log_odds(made) <= 0.5 * (1 + 1e-9)
    assert (made.n, made.m) == (12, 12)


@pytest.mark.parametrize("epsilon", [250.0, 700.0])
@pytest.mark.parametrize("delta", [1e-6, 0.5])
@every_prior_law
def test_where_any_prior_will_do_the_exact_rule_has_one_all_the_same(law: str, delta: float, epsilon: float) -> None:
    made = release_of_one_set(law, n=100, m=100, sets=2, epsilon=epsilon, delta=delta, prior="exact")
    assert made.alpha > 0  # type: ignore[attr-defined]


REFUSED = [
    ({"law": "laplace_cells"}, "law must be one of beta_binomial"),
    ({"law": "foo"}, "got 'foo'"),
    ({"law": "laplace"}, "must equal n = 9"),
    ({"law": "geometric", "m": 10}, "got 10"),
    ({"epsilon": 0.0}, "epsilon (promised privacy loss) must be"),
    ({"epsilon": math.nan}, "epsilon (promised privacy loss) must be"),
    ({"epsilon": math.inf}, "epsilon (promised privacy loss) must be"),
    ({"delta": -0.1, "prior": "exact"}, "delta (allowed failure) must be"),
    ({"delta": 1.5}, "delta (allowed failure) must be"),
    ({"prior": "own", "alpha": 0.0}, "alpha (prior ones) must be"),
    ({"law": "posterior_mode", "prior": "own", "alpha": 1.0}, "alpha (prior ones) must be"),
    ({"n": 0}, "n (confidential rows) must be"),
    ({"m": 0}, "m (synthetic rows) must be"),
    ({"n": 0, "prior": "exact", "delta": 0.1}, "n (confidential rows) must be"),
]


@pytest.mark.parametrize(("change", "sentence"), REFUSED, ids=str)
def test_what_is_out_of_its_domain_is_refused_in_a_sentence(change: dict[str, object], sentence: str) -> None:
    asked = {"law": "beta_binomial", "n": 9, "m": 7, "sets": 3, "epsilon": 1.0} | change
    with pytest.raises(ValueError) as broken:
        release_of_one_set(**asked)
    assert sentence in str(broken.value)


@pytest.mark.parametrize("sets", [0, -1, 2.5, 2001])
@pytest.mark.parametrize("prior", PRIOR_RULES)
@pytest.mark.parametrize("law", LAWS)
def test_a_number_of_sets_that_is_none_is_refused_in_a_sentence(law: str, prior: PriorRule, sets: float) -> None:
    with pytest.raises(ValueError) as broken:
        release_of_one_set(law, n=9, m=9, sets=sets, epsilon=1.0, delta=0.1, prior=prior, alpha=5.0)
    assert "sets" in str(broken.value)
    assert "must be" in str(broken.value)


def test_a_rule_for_the_prior_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError) as broken:
        release_of_one_set("beta_binomial", n=9, m=7, sets=3, epsilon=1.0, prior="foo")
    assert "prior must be" in str(broken.value)


def counted(epsilons: list[float]) -> tuple[ReleasesByEpsilon, list[float]]:
    """Releases along ε, and at which of them one has been made."""
    made: list[float] = []

    def make(epsilon: float) -> TwoCellSynthesizer:
        made.append(epsilon)
        return release_of_one_set("beta_binomial", n=5, m=5, sets=2, epsilon=epsilon)

    return ReleasesByEpsilon(epsilons, make), made


def test_releases_along_epsilon_are_made_one_by_one_when_they_are_asked_for() -> None:
    epsilons = [0.5, 1.0, 2.0, 4.0]
    releases, made = counted(epsilons)
    assert len(releases) == 4
    assert made == []
    assert releases[2] == release_of_one_set("beta_binomial", n=5, m=5, sets=2, epsilon=2.0)
    assert made == [2.0]
    assert releases[-1] == release_of_one_set("beta_binomial", n=5, m=5, sets=2, epsilon=4.0)
    assert made == [2.0, 4.0]


def test_releases_along_epsilon_are_a_sequence() -> None:
    releases, made = counted([0.5, 1.0, 2.0, 4.0])
    tail = releases[1:]
    assert len(tail) == 3
    assert made == []
    assert list(tail) == [releases[1], releases[2], releases[3]]
    assert [len(releases[::2]), len(releases[4:])] == [2, 0]
    with pytest.raises(IndexError):
        releases[4]
