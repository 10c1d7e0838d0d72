"""What is no sequence of the right things, or too long a one, is refused in a sentence that names the argument."""

import numpy as np
import pytest

from dpviz.calibration.several_sets import minimum_prior_for_sets
from dpviz.core import limits
from dpviz.coverage import coverage_by_proportion, exact_coverages
from dpviz.inference import RULES, length_limit, posterior_coverage, release_sums
from dpviz.mechanisms import BetaBinomial
from dpviz.mechanisms.draws import draw_releases

ONE = BetaBinomial(n=3, m=2, alpha=1, beta=1)
MANY = np.linspace(0, 1, limits.MAX_PROPORTIONS + 1)


def test_rules_may_stand_in_an_array_and_are_named_where_they_are_wrong() -> None:
    given = np.array(["reiter_2002", "as_if_real"])
    found = exact_coverages(synthesizer=ONE, p=0.5, sets=2, rules=given)  # type: ignore[arg-type]
    assert set(found) == {"reiter_2002", "as_if_real"}
    with pytest.raises(ValueError, match="rules must name at least one"):
        exact_coverages(synthesizer=ONE, p=0.5, sets=2, rules=np.array([]))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"rules must be some of .*; got 'zzz'"):
        exact_coverages(synthesizer=ONE, p=0.5, sets=2, rules=("zzz",))


def test_counts_of_several_releases_are_no_counts_of_one() -> None:
    with pytest.raises(ValueError, match="counts must be a list of counts, one for each set"):
        RULES["raab_2017"].interval_from([[1, 1], [2, 0]], synthesizer=ONE)  # type: ignore[list-item]


def test_a_row_that_there_is_not_is_called_row() -> None:
    with pytest.raises(ValueError, match=r"^row must be"):
        draw_releases(ONE, row=200, number=1, seed=1)


def test_more_proportions_than_anybody_draws_are_refused() -> None:
    for ask in (
        lambda: length_limit(release_sums(ONE, 1), proportions=MANY),
        lambda: coverage_by_proportion(ONE, proportions=MANY, sets=1, rules=["as_if_real"]),
        lambda: posterior_coverage(synthesizer=ONE, proportions=MANY),
    ):
        with pytest.raises(ValueError, match="at most 10,000 numbers; got 10,001"):
            ask()


@pytest.mark.parametrize("asked", [(150, 150, 50.0, 2), (60, 30, 0.05, 2), (100, 100, 0.1, 5)], ids=str)
@pytest.mark.parametrize("method", ["synth_post_one", "param_post"])
def test_failures_too_small_to_add_up_over_sets_are_refused_at_once(
    asked: tuple[int, int, float, int], method: str
) -> None:
    n, m, epsilon, sets = asked
    with pytest.raises(ValueError, match=r"delta .* must be 0, or at least 10⁻¹⁵⁰ for several sets"):
        minimum_prior_for_sets(method, n=n, m=m, sets=sets, epsilon=epsilon, delta=1e-300)
