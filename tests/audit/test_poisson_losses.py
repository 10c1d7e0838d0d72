"""The audit of the Poisson mechanism of Jackson et al.: what is printed against what a count and a table lose."""

import math

import numpy as np
import pytest
from scipy.stats import poisson

from dpviz.audit.poisson_losses import _printed_addition, _quantiles, promise_of_counts
from dpviz.audit.release_audit import RELEASE_METHODS
from dpviz.audit.release_losses import ReleaseSetting
from dpviz.core.formatting import format_number
from dpviz.mechanisms import PoissonCount, PoissonGamma
from dpviz.privacy import probabilistic_delta
from dpviz.privacy.real_loss import ReleaseVerdict
from pages.ui.text import page_note
from tests.referees import listed_delta

ADDITIONS = [1e-300, 1e-3, 0.5, 6.0, 120.0, 500.0]
PROMISES = [(1.0, 1e-2), (1.0, 1e-5), (1.3, 1e-3), (2.0, 1e-2), (2.0, 1e-6), (5.0, 1e-4), (30.0, 1e-9)]
METHODS = RELEASE_METHODS


@pytest.mark.parametrize(("epsilon", "delta"), PROMISES)
def test_what_is_printed_to_be_added_is_enough_and_the_smallest(epsilon: float, delta: float) -> None:
    added = _printed_addition(epsilon, delta)
    assert (epsilon, delta) != (2.0, 1e-2) or added == pytest.approx(1.868939, abs=1e-6)  # (1 + ε)/ln(1 + 1/α) = 7

    def printed(alpha: float) -> float:
        bracket = (1 + epsilon) / math.log1p(1 / alpha)
        return float(poisson.sf(math.floor(bracket * (1 + 1e-12)), 1 + alpha))

    assert printed(added) <= delta
    assert all(printed(added * share) > delta for share in (0.999999, 0.99, 0.9, 0.5, 0.1))


@pytest.mark.parametrize(("epsilon", "delta"), PROMISES)
def test_of_one_count_the_printed_formula_is_exact(epsilon: float, delta: float) -> None:
    """The failure of every count y and both its neighbours, over a long list of what is published."""
    method, setting = METHODS["poisson_count"], ReleaseSetting(n=40, epsilon=epsilon, delta=delta, cell=2)
    added, z = _printed_addition(epsilon, delta), np.arange(2_000)

    def failure(limit: float) -> float:
        worst = 0.0
        for y in range(41):
            near = [min(y, neighbour) for neighbour in (y - 1, y + 1) if 0 <= neighbour <= 40]
            is_larger = np.any(
                [np.abs(1 - z * math.log1p(1 / (x + added))) > limit * (1 + 1e-12) for x in near], axis=0
            )
            worst = max(worst, float(poisson.pmf(z, y + added)[is_larger].sum()))
        return worst

    real = method.loss(setting)
    assert real.exact and real.verdict(epsilon) is ReleaseVerdict.SATISFIED
    assert real.at_least == pytest.approx(epsilon, rel=1e-12)
    assert failure(real.at_least) <= delta < failure(real.at_least * (1 - 1e-9))


def test_the_card_has_the_printed_failure_where_what_is_cut_off_is_rare() -> None:
    added = _printed_addition(2.0, 1e-2)
    exact = float(poisson.sf(7, 1 + added))
    assert probabilistic_delta(PoissonCount(n=60, alpha=added * (1 + 1e-12)), 2.0) == pytest.approx(exact, rel=1e-9)


@pytest.mark.parametrize(("epsilon", "delta"), [*PROMISES[:-1], (3.0, 0.1), (5.0, 0.05), (5.0, 0.2)])
def test_a_replaced_row_loses_more_than_is_printed(epsilon: float, delta: float) -> None:
    """Both counts in a list of pairs: the tables (1, 0) and (0, 1), the other rows elsewhere."""
    method, setting = METHODS["poisson_table"], ReleaseSetting(n=40, epsilon=epsilon, delta=delta, cell=2)
    added = _printed_addition(epsilon, delta)
    with_row, without = (poisson.pmf(np.arange(400), mean) for mean in (1 + added, added))
    first, second = np.outer(with_row, without), np.outer(without, with_row)
    with np.errstate(divide="ignore", invalid="ignore"):
        losses = np.where(first > 0, np.log(first / second), 0.0)
    real = method.loss(setting)
    assert real.verdict(epsilon) is ReleaseVerdict.BREAKS
    beyond = [
        float(first[np.abs(losses) > limit].sum()) for limit in (real.at_least * (1 + 1e-9), real.at_least * (1 - 1e-9))
    ]
    assert beyond[0] <= delta < beyond[1]
    often, hockey = (
        first[np.abs(losses) > epsilon * (1 + 1e-9)].sum(),
        np.maximum(first - math.exp(epsilon) * second, 0).sum(),
    )
    assert all(f" {format_number(float(number), 3)}" in real.note for number in (often, hockey))


@pytest.mark.parametrize("alpha", [0.01, 0.5, 5.0, 10.0, 80.0])
def test_the_sentence_beside_the_synthesizer_has_the_numbers_of_long_lists(alpha: float) -> None:
    n, z = 100, np.arange(600)
    count = next(k for k in range(600) if poisson.sf(k, 1 + alpha) <= 1e-3)
    promised = max(count * math.log1p(1 / alpha) - 1, 1.0)
    release = PoissonCount(n=n, alpha=alpha)
    failure, delta = probabilistic_delta(release, promised), listed_delta(release, promised)
    with_row, without = (poisson.pmf(z, mean) for mean in (1 + alpha, alpha))
    is_larger = np.abs(z[:, None] - z) * math.log1p(1 / alpha) > promised * (1 + 1e-12)
    of_table = float(np.outer(with_row, without)[is_larger].sum())
    verdicts = ["kept" if share <= 1e-3 else "broken" for share in (failure, of_table)]
    values = promise_of_counts(release)
    assert values == {
        "promised": format_number(promised, 3), "allowed": "0.001", "count": format_number(failure, 3),
        "delta": format_number(delta if delta > 1e-30 else 0.0, 3), "table": format_number(of_table, 3),
        "count_verdict": verdicts[0], "table_verdict": verdicts[1],
    }  # fmt: skip
    sentence = page_note("controls", "Poisson counts", **values)
    assert f"For one count that is {verdicts[0]}: a larger loss has probability {values['count']}, and" in sentence
    assert verdicts == (["kept", "broken"] if alpha < 80 else ["kept", "kept"])
    assert promise_of_counts(PoissonGamma(n=5, m=5, epsilon=1.0, public_share=0.2)) == {}


def test_quantiles_are_the_smallest_counts_that_are_seldom_exceeded() -> None:
    means = np.array([1e-9, 0.3, 1.0, 17.5, 900.0])
    for delta in (0.5, 1e-3, 1e-12):
        quantiles = _quantiles(means, delta)
        assert np.all(poisson.sf(quantiles, means) <= delta)
        assert np.all((quantiles == 0) | (poisson.sf(quantiles - 1, means) > delta))


@pytest.mark.parametrize("key", ["poisson_count", "poisson_table"])
def test_a_delta_that_excuses_everything_is_no_number_of_a_loss(key: str) -> None:
    loss = METHODS[key].loss(ReleaseSetting(n=10, epsilon=3.0, delta=0.9, cell=2))
    assert loss.at_least == 0.0 and loss.verdict(3.0) is not ReleaseVerdict.BREAKS
