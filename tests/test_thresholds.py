"""Thresholds that a page mentions: each sentence changes where the literal number says, and not elsewhere."""

import contextlib
import dataclasses
import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from dpviz.calibration.data_kinds import KINDS, PromiseQuestion, Setting
from dpviz.calibration.text import needed_sentences
from dpviz.comparisons import Analysis, BinaryData, UnknownVariance
from dpviz.core.formatting import format_number
from dpviz.core.monte_carlo import Measure
from dpviz.core.numerics.special import MAX_EXPONENT
from dpviz.coverage import decomposition
from dpviz.coverage.release_distribution import release_distribution
from dpviz.coverage.report import _distance
from dpviz.curator import provenance
from dpviz.curator.candidate import Candidate
from dpviz.curator.epsilon_search import _lost_accuracy
from dpviz.curator.measures import AccuracyLimit
from dpviz.curator.provenance import _added_error
from dpviz.curator.provenance import _least_error as least_of
from dpviz.curator.summary import privacy_facts
from dpviz.inference import SecretSizePosterior
from dpviz.mechanisms import BetaBinomial, GeometricSanitizer
from dpviz.privacy import report
from dpviz.privacy.odds_text import factor_of_odds
from dpviz.privacy.optimum import least_error
from dpviz.privacy.summary import summarize
from dpviz.published.records import Agreement, load_records
from dpviz.uploads.columns import read_columns
from tests.reproduction.evidence import Evidence, judge


@pytest.mark.parametrize(("apart", "tied"), [(1.95, True), (2.05, False)])
def test_two_simulated_numbers_are_tied_within_two_standard_errors_of_their_difference(apart, tied) -> None:
    assert Measure(1.0 + 5e-3 * apart, 3e-3).tied(Measure(1.0, 4e-3)) == tied


@pytest.mark.parametrize(("away", "far"), [(2.99, False), (3.01, True)])
def test_a_printed_number_disagrees_from_three_standard_errors_on(away: float, far: bool) -> None:
    record = next(record for record in load_records() if record.is_number)
    evidence = Evidence(float(record.printed) + away, standard_error=1.0)
    assert (judge(record, evidence) is Agreement.DIFFERS) == far


@pytest.mark.parametrize(("times", "told"), [(9_900, False), (10_100, True)])
def test_causes_are_told_apart_where_the_variance_is_ten_thousand_times_its_error(times, told, monkeypatch) -> None:
    """As if real v̄ = q(1 − q)/m is at most 1/16 with m = 4, and that times what was left out is the error of E[T]."""
    made = BetaBinomial(n=4, m=4, alpha=1, beta=1)
    law = release_distribution(made, p=0.5, sets=1)
    q = law.statistics.estimate
    mean, most = float(law.probability @ (q * (1 - q) / 4)), 1 / 16
    unsure = dataclasses.replace(law, error_bound=mean / (times * most))
    monkeypatch.setattr(decomposition, "release_distribution", lambda *_, **__: unsure)
    refused = pytest.raises(ValueError, match="the causes cannot be told apart")
    with contextlib.nullcontext() if told else refused:
        decomposition.coverage_decomposition(synthesizer=made, p=0.5, sets=1, rule="as_if_real")


@pytest.mark.parametrize(("share", "compared"), [(0.9951, False), (0.9949, True), (0.0049, False), (0.0051, True)])
def test_a_simulated_share_is_compared_from_five_expected_hits_or_misses_on(share: float, compared: bool) -> None:
    assert (_distance(share, share, 1000) == "0") == compared


@pytest.mark.parametrize(("times", "piled"), [(2.99, False), (3.01, True)])
def test_the_posterior_of_n_piles_up_from_three_times_its_prior_on(times: float, piled: bool) -> None:
    prior = SimpleNamespace(sizes=[50, 51, 200], weights=np.array([0.1, 0.8, 0.1]))
    found: Any = SimpleNamespace(prior=prior, size_weights=np.array([0.1 * times, 0.8, 0.1]))
    assert any("piles up at n = 50," in one for one in SecretSizePosterior.doubts(found, 100)) == piled


def designed(**own: Any) -> Any:
    """A design of the desk with these numbers."""
    question = SimpleNamespace(
        data=SimpleNamespace(simulated=True, least_error=lambda *_: "found"), repetitions=500, epsilon_delta_limit=None,
        promises=((1.0, 1e-6),), protections=(),
    )  # fmt: skip
    exact = SimpleNamespace(exact_epsilon=True)
    return SimpleNamespace(question=question, method=exact, exceeds_usual_epsilon=False, is_saturated=False, **own)


@pytest.mark.parametrize(("below", "between"), [(0.9e-3, False), (1.1e-3, True)])
def test_nothing_is_left_between_an_epsilon_and_a_refuted_one_a_thousandth_below(below: float, between: bool) -> None:
    design = designed(epsilon=2.0, largest_infeasible=2.0 * (1 - below))
    assert Candidate.is_refuted_below.fget(design) != between  # type: ignore[attr-defined]


@pytest.mark.parametrize(("above", "more"), [(0.9e-6, False), (1.1e-6, True)])
def test_a_real_epsilon_is_more_than_was_asked_from_a_millionth_on(above: float, more: bool) -> None:
    assert privacy_facts(designed(real_epsilon=1 + above))["is_above"] == more


@pytest.mark.parametrize(("loss", "known"), [(599.0, True), (601.0, False)])
def test_the_report_has_the_smallest_error_up_to_a_loss_of_600(loss: float, known: bool) -> None:
    assert (least_of(designed(real_epsilon=loss)) == "found") == known


@pytest.mark.parametrize(("loss", "power"), [(MAX_EXPONENT - 1, False), (MAX_EXPONENT + 1, True)])
def test_odds_are_written_by_their_power_alone_where_they_are_no_number(loss: float, power: bool) -> None:
    assert factor_of_odds(loss).startswith("about 10") == power


@pytest.mark.parametrize(("bound", "said"), [(1.26, False), (1.25, True)])
def test_bounds_move_a_mean_from_a_twentieth_of_a_standard_deviation_on(bound: float, said: bool) -> None:
    """A table of the unit normal loss has .05059 at 1.25 and .04954 at 1.26; the other bound is far away."""
    facts = read_columns("age\n17\n41\n64").column("age").numbers()
    normal = dataclasses.replace(
        facts, mean=0.0, standard_deviation=10.0, low=-1000.0, high=10 * bound, skewness=0.0, excess=0.0
    )
    assert ("often lies outside the bounds" in normal.misfit) == said


@pytest.mark.parametrize(("more", "saves"), [(0.9e-3, False), (1.1e-3, True)])
def test_a_delta_saves_invented_rows_from_a_thousandth_on(more: float, saves: bool) -> None:
    setting = Setting(n=1000, m=1000, epsilon=1.0, delta=1e-6)
    question = PromiseQuestion(kind=KINDS["bernoulli"], setting=setting)
    sentence = needed_sentences(question, 50.0 * (1 + more), 50.0)[1]
    assert ("too small to save a noticeable share" in sentence) != saves
    assert ("are enough." in sentence) == saves


@pytest.mark.parametrize(
    ("times", "said"),
    [(1 - 1.1e-9, "is closer"), (1 - 0.9e-9, "no better one"), (1 + 0.9e-9, "no better one"), (1 + 1.1e-9, "times")],
)
def test_no_mechanism_is_better_within_a_billionth(times: float, said: str) -> None:
    best: Any = least_error(n=10, epsilon=1.0)
    errors = {"average": best.root_mean_squared_error * times}
    assert said in report.sentence("better", errors, "the same ε", {"average": best}).rpartition(": ")[2]


@pytest.mark.parametrize(("gap", "said"), [(0.9e-6, "10⁻⁴ %"), (1.1e-6, "0.00011 %")])
def test_a_gap_below_a_millionth_of_the_error_is_rounding(gap: float, said: str) -> None:
    known, searched = (SimpleNamespace(root_mean_squared_error=0.2, gap=0.2 * one) for one in (0.0, gap))
    best: Any = {"average": known, "worst": searched}
    assert report.largest_gap(best) == said


@pytest.mark.parametrize(("apart", "two"), [(0.9e-9, False), (1.1e-9, True)])
def test_a_real_epsilon_is_the_promised_one_within_a_billionth(apart: float, two: bool) -> None:
    found = summarize(GeometricSanitizer(n=10, epsilon=1.0), 1.0, 0.0)
    summary: Any = SimpleNamespace(worst=found.worst, epsilon=found.worst.value * (1 + apart))
    assert (len(report.compared_promises(summary)) == 2) == two


@pytest.mark.parametrize(("gap", "range_"), [(0.9e-9, False), (1.1e-9, True)])
def test_the_smallest_error_is_a_range_from_a_gap_of_a_billionth_on(gap, range_, monkeypatch) -> None:
    least: Any = SimpleNamespace(root_mean_squared_error=0.1, gap=0.1 * gap, lower_bound=0.1 * (1 - gap))
    monkeypatch.setattr(provenance, "_least_error", lambda _: least)
    data = BinaryData(n=10, p=0.5)
    *_, outcome = data.compare([data.method("geometric")], [1.0])
    design: Any = SimpleNamespace(outcomes=(outcome,), method=outcome.method, question=SimpleNamespace(data=data))
    labels = [provenance.ENTRIES[key]["label"] for key, *_ in _added_error(design)]
    assert any(one.endswith(", at least") for one in labels) == range_


@pytest.mark.parametrize(("better", "improves"), [(0.9e-3, False), (1.1e-3, True)])
def test_more_privacy_loss_improves_an_error_from_a_thousandth_on(better: float, improves: bool) -> None:
    limit = AccuracyLimit("root_mean_squared_error", 0.1)
    question = SimpleNamespace(limits=(limit,), goal="root_mean_squared_error", relevant_measures=(limit.key,))

    def design(error: float) -> Any:
        return SimpleNamespace(question=question, verdicts={limit.key: True}, value=lambda _: error)

    assert (_lost_accuracy(design(0.1), design(0.1 * (1 - better))) > 1) == improves


@pytest.mark.parametrize(("repetitions", "ranked"), [(19, False), (20, True)])
def test_an_error_is_ranked_from_twenty_estimates_on(repetitions: int, ranked: bool) -> None:
    data = UnknownVariance(n=4, mean=0.0, sigma=1.0, low=-4.0, high=4.0)
    *_, found = data.compare([data.method("modips_split")], [1.0], Analysis(sets=1, repetitions=repetitions))
    assert math.isfinite(found.ranked_error.value) == ranked


@pytest.mark.parametrize(("apart", "told"), [(0.9e-12, False), (1.1e-12, True)])
def test_a_real_epsilon_is_written_apart_from_the_promised_one_from_a_trillionth_on(apart: float, told: bool) -> None:
    release = BetaBinomial(n=10, m=10, alpha=5, beta=5)
    real = summarize(release, 1.0, 0.0).worst.value
    _, sentence, _ = report.sentences("promise", summarize(release, real * (1 - apart), 0.0))
    assert (f"<b>{format_number(real)}</b>" not in sentence) == told
