"""What is said of an attacker in odds, errors, guesses and risk, over a grid of releases and promises."""

from __future__ import annotations

import itertools
import math
import re

import mpmath
import numpy as np
import pytest

from dpviz.charts.html import fragment
from dpviz.charts.privacy import trade_off_chart
from dpviz.core.formatting import format_number
from dpviz.mechanisms import BetaBinomial, GeometricSanitizer, PosteriorMean
from dpviz.mechanisms.matrix_mechanism import GivenMatrix
from dpviz.privacy import report
from dpviz.privacy.attacker import attacker_view, epsilon_for_risk_ratio, risk_ratio
from dpviz.privacy.odds_text import belief_text, risk_text
from dpviz.privacy.summary import summarize
from dpviz.privacy.trade_off import TradeOffCurve, trade_off_curve

DIGITS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")

RELEASES = [
    BetaBinomial(n=5, m=5, alpha=0.5, beta=0.5),
    BetaBinomial(n=20, m=20, alpha=300.0, beta=300.0),
    PosteriorMean(n=5, m=5, alpha=0.5, beta=0.5),
    GeometricSanitizer(n=6, epsilon=1.0),
    GivenMatrix(probabilities=[[0.5, 0.5, 0.0], [0.25, 0.5, 0.25], [0.0, 0.4, 0.6]]),
    GivenMatrix(probabilities=[[0.5, 0.5], [0.5, 0.5]]),
]
SUMMARIES = [summarize(release, epsilon, delta) for release in RELEASES for epsilon, delta in ((0.5, 0.0), (2.0, 1e-5))]
GRID = pytest.mark.parametrize("summary", SUMMARIES, ids=lambda one: f"{one.synthesizer}-{one.epsilon}")


def percents(text: str) -> list[float]:
    return [float(one) / 100 for one in re.findall(r"([0-9.]+) %", text)]


@GRID
def test_the_best_guess_is_the_overlap_of_the_worst_rows(summary):
    matrix = summary.synthesizer.transition_matrix()
    overlap = min(np.minimum(matrix[i], matrix[j]).sum() for i, j in summary.synthesizer.neighbours)
    promised = TradeOffCurve.promised(summary.epsilon, summary.delta)
    said = percents(report.sentence("guess", trade_off_curve(summary.synthesizer), promised))
    e = math.exp(summary.epsilon)
    assert said == pytest.approx([0.5, 1 - overlap / 2, (e + summary.delta) / (e + 1)], rel=5.1e-3)


@GRID
def test_risk_is_bayes_rule_and_the_wanted_ratio_is_kept_exactly_as_said(summary):
    for risk, ratio in itertools.product((0.01, 0.3, 0.9), (1.05, 2.0, 30.0)):
        said, wanted = report.sentences("risk", summary, risk, ratio)
        found = percents(said)
        for place, loss in ((1, summary.worst.value), (3, summary.epsilon)):
            after = 1.0 if math.isinf(loss) else risk * math.exp(loss) / (risk * math.exp(loss) + 1 - risk)
            assert found[place] == pytest.approx(after, rel=5.1e-3)
        truth = 1.0 if math.isinf(summary.worst.value) else math.exp(summary.worst.value)
        grown = truth / (risk * truth + 1 - risk) if math.isfinite(summary.worst.value) else 1 / risk
        if "Any ε" in wanted:
            assert ratio * risk >= 1
        elif abs(grown - ratio) > 1e-9:
            assert ("this release keeps" in wanted) == (grown < ratio)
        if "or smaller" in wanted:
            kept = math.exp(float(wanted.split("must be ε = ")[1].split()[0]))
            assert kept / (risk * kept + 1 - risk) <= ratio < 1.02 * kept / (risk * kept + 1 - risk)


@GRID
def test_odds_dots_and_measures_are_those_of_the_summary(summary):
    worst, curve = summary.worst.value, trade_off_curve(summary.synthesizer)
    if math.isinf(worst):
        assert "settles the question" in report.sentence("odds", summary) and fragment("odds", worst) == ""
        assert "No μ" in report.sentence("gaussian", curve)
    else:
        row = 0 if worst == 0 else summary.synthesizer.transition_matrix()[summary.worst.likelier, summary.worst.column]
        assert (f"probability {format_number(float(row), 3)}." in report.sentence("odds", summary)) == (worst > 0)
        assert fragment("odds", worst).count("<i") == (
            0 if round(math.exp(worst)) > 400 else 1 + round(math.exp(worst))
        )
    values = {row[0].partition(" at")[0]: row[1] for row in report.measures_table(summary, curve)[1]}
    assert float(values["advantage"]) == pytest.approx(summary.synthesizer.hockey_stick(0.0).value, rel=1e-5, abs=1e-15)
    assert float(values["δ"]) == pytest.approx(summary.divergence.value, rel=1e-5, abs=1e-15)


@GRID
def test_the_line_of_slope_e_to_the_epsilon_touches_the_curve_and_never_crosses_it(summary):
    curve = trade_off_curve(summary.synthesizer)
    figure = trade_off_chart(curve, TradeOffCurve.promised(summary.epsilon, summary.delta), summary)
    line = next(trace for trace in figure.data if str(trace.name).startswith("slope"))
    gap = curve.type_two - (line.y[0] - math.exp(summary.epsilon) * curve.type_one)
    assert gap.min() == pytest.approx(0.0, abs=1e-12)


def test_the_ratio_and_its_epsilon_are_inverses_and_agree_with_many_digits():
    for risk, loss in itertools.product((1e-6, 0.1, 0.5, 0.999, 1.0), (-800.0, -2.0, 0.0, 1e-9, 1.0, 40.0, 800.0)):
        with mpmath.workdps(800):
            odds = mpmath.exp(mpmath.mpf(loss))
            exact = odds / (mpmath.mpf(risk) * odds + 1 - mpmath.mpf(risk))
        assert risk_ratio(loss, prior_risk=risk) == pytest.approx(float(exact), rel=1e-13)
    for risk, ratio in itertools.product((0.01, 0.3, 0.49), (1.0, 1.5, 2.0)):
        assert risk_ratio(epsilon_for_risk_ratio(ratio, prior_risk=risk), prior_risk=risk) == pytest.approx(
            ratio, rel=1e-12
        )
    assert epsilon_for_risk_ratio(2.0, prior_risk=0.5) == math.inf  # twice one half is 1, which no loss exceeds


@GRID
def test_the_letters_on_the_curve_are_where_the_measures_are_read_off(summary):
    curve = trade_off_curve(summary.synthesizer)
    x, y = curve.steepest
    if math.isfinite(summary.worst.value) and summary.worst.value > 0:
        slope = math.log((1 - y) / x)  # of the piece from (0, 1)
        assert slope <= summary.worst.value * (1 + 1e-6)
        if summary.synthesizer.shape[1] < 10:  # otherwise the first pieces may be shorter than the rounding
            assert slope == pytest.approx(summary.worst.value, rel=1e-9)
    elif summary.worst.value > 0:
        assert x == 0 and y < 1
    x, y = curve.touching(summary.epsilon)
    assert y + math.exp(summary.epsilon) * x == pytest.approx(1 - summary.divergence.value, abs=1e-12)
    if summary.failure is not None:
        assert 1 - y <= summary.failure.max() + 1e-9
        if summary.is_pure:
            assert (x, y) == (0.0, 1.0)
    if math.isfinite(curve.mu):
        inside = (curve.type_one > 0) & (curve.type_one < 1)
        below = curve.normal(curve.type_one[inside])
        assert (below <= curve.type_two[inside] + 1e-12).all()
        assert not inside.any() or min(curve.type_two[inside] - below) < 1e-9
    figure = trade_off_chart(curve, TradeOffCurve.promised(summary.epsilon, summary.delta), summary)
    letters = "".join("".join(trace.text) for trace in figure.data if trace.text is not None)
    assert all(letter in letters for letter in "ABC")


@GRID
def test_releases_one_by_one_are_bayes_rule_and_pieces_of_the_curve(summary):
    matrix, worst = summary.synthesizer.transition_matrix(), summary.worst
    rows = report.releases_table(summary, 0.1)[1]
    every = len(rows) == matrix.shape[1]
    for row in rows:
        column = next(c for c in range(matrix.shape[1]) if str(summary.synthesizer.column_table(c)) == row[0])
        one, two = matrix[worst.likelier, column], matrix[worst.unlikelier, column]
        assert row[1:3] == [format_number(float(one), 3), format_number(float(two), 3)]
        if one + two == 0:
            assert row[3:] == ["never released", "–", "–"]
            continue
        guess, risk = percents(" ".join(row[4:]))
        assert guess == pytest.approx(max(one, two) / (one + two), rel=6e-3)
        assert risk == pytest.approx(0.1 * one / (0.1 * one + 0.9 * two), rel=6e-3, abs=1e-12)
        left, right = (float(side.replace("∞", "inf").replace(",", "")) for side in row[3].split(" : "))
        if math.inf in (left, right):
            assert (two if left == math.inf else one) == 0
        else:
            assert left * two == pytest.approx(right * one, rel=6e-3)
    assert not every or len({row[0] for row in rows}) == matrix.shape[1]


def test_a_loss_that_is_not_0_is_never_said_to_be_none():
    tiny = summarize(BetaBinomial(n=5, m=5, alpha=1e9, beta=1e9), 50.0, 0.0)
    assert "1.000000005" in report.sentence("odds", tiny)
    assert "1 times" not in report.sentence("odds", tiny) + report.sentences("risk", tiny, 0.1, 2.0)[0]
    assert "to 10 %" not in report.sentences("risk", tiny, 0.1, 2.0)[0]


@pytest.mark.parametrize("epsilon", [30.0, 36.0, 38.0, 100.0, 1000.0])
def test_a_rate_below_1_never_reads_100_percent(epsilon):
    """1 / (1 + e^-ε) is 1 in floating-point numbers from ε = 37 on; only a release that decides is always guessed."""
    summary = summarize(GeometricSanitizer(n=2, epsilon=epsilon), epsilon, 0.0)
    curve, promised = trade_off_curve(summary.synthesizer), TradeOffCurve.promised(epsilon)
    texts = [report.sentence("guess", curve, promised), *report.sentences("risk", summary, 0.1, 2.0)]
    texts.append(risk_text(epsilon, prior_risk=0.9))
    texts += [" ".join(row) for row in report.releases_table(summary, 0.1)[1]]
    texts += [str(trace.text) for trace in trade_off_chart(curve, promised, summary).data]
    assert not any(re.search(r"(?<![\d.])(100|0) %", one) for one in texts)
    assert all(0.99 < float(one) / 100 < 1 for one in re.findall(r"<b>([0-9.]+) %", texts[0]))


def test_a_risk_and_odds_are_never_rounded_to_what_they_are_not():
    assert risk_text(0.5, prior_risk=0.9996) == "from 99.96 % to 99.98 %, 1.0002 times as likely"
    assert risk_text(-800.0, prior_risk=0.1) == "from 10 % to less than 10⁻³⁰⁰ %, below 10⁻³⁰⁰ times as likely"
    release = PosteriorMean(n=5, m=1000, alpha=0.5, beta=0.5)
    for pair, column, sign in ((4, 0, 1), (0, 1000, -1)):
        view = attacker_view(release, pair, column, 1.0)
        assert 700 < sign * view.log_gain < 2000
        power = round(abs(view.log_gain) / math.log(10))
        odds = report.attacker_numbers(view)[1][1].translate(DIGITS)
        assert odds == (f"about 10{power} : 1" if sign > 0 else f"1 : about 10{power}")


def test_a_rate_of_1_reads_100_percent_and_half_is_said_only_where_it_is_half():
    summary = summarize(GivenMatrix(probabilities=[[1.0, 0.0], [0.0, 1.0]]), 1.0, 0.0)
    assert "<b>100 %</b>" in report.sentence("guess", trade_off_curve(summary.synthesizer), TradeOffCurve.promised(1.0))
    assert [row[4:] for row in report.releases_table(summary, 0.1)[1]] == [["100 %", "100 %"], ["100 %", "0 %"]]
    assert "to 100 %" in report.sentences("risk", summary, 0.1, 2.0)[0]
    assert [belief_text(one) for one in (0.5, 0.500004, 0.7310585)] == ["50 %", "50.0004 %", "73.1 %"]
