"""Every generated sentence of the page "Transition matrices" is a claim: checked against the listed matrix."""

from __future__ import annotations

import itertools
import math
import re

import numpy as np
import pytest

from dpviz.comparisons.proportion_measures import share_moments
from dpviz.mechanisms import (
    BetaBinomial,
    DirichletMultinomial,
    GeometricSanitizer,
    LaplaceSanitizer,
    Modips,
    ModipsTruncated,
    MultinomialMean,
    PosteriorMean,
    PosteriorMode,
    Synthesizer,
)
from dpviz.mechanisms.base import TwoCellSynthesizer
from dpviz.mechanisms.matrix_mechanism import GivenMatrix
from dpviz.privacy import attacker_view, pure_epsilon, report
from dpviz.privacy.odds_text import factor_of_odds
from dpviz.privacy.optimum import least_error
from dpviz.privacy.summary import PrivacySummary, summarize
from tests.helpers import match_in, value_of
from tests.referees import listed_delta

RELEASES: list[Synthesizer] = [
    BetaBinomial(n=5, m=5, alpha=0.5, beta=0.5),
    BetaBinomial(n=1, m=1, alpha=1.0, beta=2.0),
    BetaBinomial(n=40, m=7, alpha=20.0, beta=20.0),
    BetaBinomial(n=3, m=9, alpha=1e-3, beta=1e-3),
    PosteriorMean(n=5, m=5, alpha=0.5, beta=0.5),
    PosteriorMean(n=8, m=30, alpha=90.0, beta=90.0),
    PosteriorMode(n=6, m=4, alpha=3.0, beta=2.0),
    LaplaceSanitizer(n=5, epsilon=2.0),
    LaplaceSanitizer(n=30, epsilon=0.01),
    LaplaceSanitizer(n=7, epsilon=250.0),
    GeometricSanitizer(n=5, epsilon=0.5),
    Modips(n=9, m=7, epsilon=0.5),
    ModipsTruncated(n=30, m=30, epsilon=0.1),
    DirichletMultinomial(n=3, m=2, cells=3, alpha=0.7),
    MultinomialMean(n=3, m=3, cells=3, alpha=1.0),
    GivenMatrix(probabilities=np.array([[0.7, 0.3, 0.0], [0.2, 0.5, 0.3], [0.1, 0.4, 0.5]])),
    GivenMatrix(probabilities=np.array([[0.9, 0.1], [0.2, 0.8]])),
]
EPSILONS = (0.01, 0.5, 2.0, 250.0)
TABLE = r"\([\d, ]+\)"


def table(text: str) -> tuple[int, ...]:
    return tuple(int(one) for one in text.strip("()").split(",") if one.strip())


def listed(release: Synthesizer) -> tuple[np.ndarray, dict[tuple[int, ...], int], dict[tuple[int, ...], int]]:
    """ln of the matrix, and the places of its confidential and released tables."""
    rows, columns = release.shape
    log = release.log_transition(np.arange(rows), np.arange(columns))
    return log, {release.row_table(i): i for i in range(rows)}, {release.column_table(j): j for j in range(columns)}


def ratios(release: Synthesizer) -> np.ndarray:
    """ln of the ratio of every ordered pair of neighbours, NaN where both are 0."""
    log = listed(release)[0]
    pairs = np.concatenate([release.neighbours, release.neighbours[:, ::-1]])
    with np.errstate(invalid="ignore"):
        return log[pairs[:, 0]] - log[pairs[:, 1]]


def divergence(release: Synthesizer, epsilon: float) -> float:
    return listed_delta(release, epsilon) if epsilon < 700 else 0.0


def check_verdict(summary: PrivacySummary) -> str:
    release, epsilon, delta = summary.synthesizer, summary.epsilon, summary.delta
    mark, sentence, _ = report.sentences("promise", summary)
    exact, left = float(np.nanmax(ratios(release))), divergence(release, epsilon)
    log, rows, columns = listed(release)
    assert mark == ("✓ kept" if exact <= epsilon * (1 + 1e-9) else "≈ kept with δ" if left <= delta else "✗ broken")
    told = match_in(r"<b>(?:ε = )?([^<]*)</b>", sentence)
    if math.isinf(exact):
        assert told[1] == "∞"
        released, one, other = map(table, re.findall(TABLE, sentence)[:3])
        assert log[rows[one], columns[released]] > -math.inf
        assert log[rows[other], columns[released]] == -math.inf
        assert sorted((rows[one], rows[other])) in release.neighbours.tolist()
        assert (mark == "≈ kept with δ") == ("covers it" in sentence)
        return "infinite"
    assert value_of(told[1]) == pytest.approx(exact, rel=5.1e-3, abs=1e-9)
    promised = value_of(match_in(r"The promise ε = (\S+) is (?:kept|broken)", sentence)[1])
    assert promised == pytest.approx(epsilon, rel=1e-5)
    factor = re.search(r"by (?:more than )?a factor of ([\d.,]+)[ .,]", sentence)
    if factor and exact < 20:  # beyond, powers of ten
        assert value_of(factor[1].rstrip(".,")) == pytest.approx(math.exp(exact), rel=5.1e-3)
    if mark == "✓ kept":
        assert value_of(told[1]) <= promised * (1 + 6e-6 * math.isclose(exact, epsilon, rel_tol=1e-12))
        return "kept"
    assert value_of(told[1]) > promised  # nobody reads "not 2-private, its ε is 2"
    likelier, unlikelier, released = tables_of(release, sentence)
    found = log[rows[likelier], columns[released]] - log[rows[unlikelier], columns[released]]
    assert abs(found) == pytest.approx(exact, rel=1e-9)
    number = match_in(r"δ\(\S+\) = ([^. ]+(?:\.\d+)?(?:×10\S+?)?)\.$", sentence)
    assert value_of(number[1]) == pytest.approx(left, rel=5.1e-3)
    assert (mark == "≈ kept with δ") == ("it is kept" in sentence)
    assert (mark == "✗ broken") == ("does not cover" in sentence)
    if left != delta:
        assert (value_of(number[1]) <= delta) == (mark == "≈ kept with δ")
    return mark


def tables_of(release: Synthesizer, sentence: str) -> list[tuple[int, ...]]:
    """Both secret tables of a broken promise and the released one; those of two cells are told by their yes."""
    if not isinstance(release, TwoCellSynthesizer):
        return [table(text) for text in re.findall(TABLE, sentence)[:3]]
    numbers = match_in(r"If (\S+) yes of (\S+) are .* answer, (\S+) yes against (\S+) in", sentence).groups()
    released, m, likelier, unlikelier = (int(text.replace(",", "")) for text in numbers)
    assert m == release.m
    return [(likelier, release.n - likelier), (unlikelier, release.n - unlikelier), (released, m - released)]


def check_short(summary: PrivacySummary, mark: str) -> None:
    short, real = report.sentences("promise", summary)[2], summary.worst.value
    assert len(short.split()) <= 15 and short.endswith(".")
    assert short.startswith("No ε is enough" if math.isinf(real) else "The real loss is ε = ")
    assert (", within the promised " in short) == (mark == "kept")
    assert (", but the allowed δ = " in short and short.endswith("covers it.")) == (
        mark == "≈ kept with δ" or (mark == "infinite" and summary.is_approximate)
    )
    if math.isfinite(real):
        told = value_of(match_in(r"ε = ([^\s,]+)", short)[1])
        assert told == pytest.approx(real, rel=5.1e-3, abs=1e-9)
        if promised := re.search(r"promised (\S+)\.$", short):
            assert value_of(promised[1]) == pytest.approx(summary.epsilon, rel=1e-5)
            same = math.isclose(real, summary.epsilon, rel_tol=1e-12)
            assert told == value_of(promised[1]) if same else (told < value_of(promised[1])) == (mark == "kept")


def check_numbers(summary: PrivacySummary) -> None:
    release, epsilon, delta = summary.synthesizer, summary.epsilon, summary.delta
    (_, exact, where), (_, left, at), (_, failing, failed), (_, least, changed) = report.verdict_numbers(summary)
    log, rows, columns = listed(release)
    largest = float(np.nanmax(ratios(release)))
    if math.isinf(largest):
        assert exact == "∞"
    else:
        assert value_of(exact) == pytest.approx(largest, rel=1e-6, abs=1e-9)
    one, other, released = map(table, re.findall(TABLE, where)[:3])
    with np.errstate(invalid="ignore"):
        assert abs(log[rows[one], columns[released]] - log[rows[other], columns[released]]) == pytest.approx(largest)
    expected = divergence(release, epsilon)
    if left == "below 10⁻³⁰⁰":
        assert expected == 0
        assert largest > epsilon
    else:
        assert value_of(left) == pytest.approx(expected, rel=1e-6, abs=1e-15)
    if "no neighbours differ" in at:
        assert largest <= epsilon * (1 + 1e-9)
    if "no ε is enough" in at:
        assert divergence(release, 300.0) > delta
    else:
        holds = value_of(match_in(r"ε = (\S+) is kept", at)[1])
        assert divergence(release, holds) <= delta * (1 + 1e-9) + 1e-15
        if holds > 1e-5:
            assert divergence(release, holds * (1 - 1e-4)) >= delta * (1 - 1e-9)
    worst = np.zeros(release.shape)
    for (i, j), column in itertools.product(release.neighbours.tolist(), range(release.shape[1])):
        with np.errstate(invalid="ignore"):
            if abs(log[i, column] - log[j, column]) > epsilon * (1 + 1e-12):
                worst[i, column] = worst[j, column] = 1.0
    failure = (np.exp(log) * worst).sum(axis=1)
    assert value_of(failing) == pytest.approx(failure.max(), rel=1e-6, abs=1e-12)
    assert failure[rows[table(re.findall(TABLE, failed)[0])]] == pytest.approx(failure.max())
    if "differs from the confidential" in changed:
        kept = np.array([math.exp(log[i, columns[name]]) for name, i in rows.items()])
        assert value_of(least) == pytest.approx((1 - kept).min(), rel=1e-6, abs=1e-9)
        assert 1 - kept[rows[table(re.findall(TABLE, changed)[0])]] == pytest.approx((1 - kept).min(), abs=1e-12)
    else:
        assert release.row_counts[0].sum() != release.column_counts[0].sum()


def test_the_verdict_and_its_numbers_are_what_the_listed_matrix_gives():
    seen = set()
    for release in RELEASES:
        exact = pure_epsilon(release)
        ties = [exact] if 0 < exact < 1000 else []
        for epsilon in (*EPSILONS, *ties, *(one * (1 - 1e-8) for one in ties)):
            left = divergence(release, epsilon)
            near = [left * (1 + 1e-7), left * (1 - 1e-7)] if epsilon in EPSILONS and 1e-6 < left < 1 else []
            for delta in (0.0, 1e-6, 0.1, *near):
                summary = summarize(release, epsilon, delta)
                mark = check_verdict(summary)
                check_short(summary, mark)
                seen.add(mark)
                check_numbers(summary)
    assert seen == {"kept", "infinite", "≈ kept with δ", "✗ broken"}


def test_no_probability_of_the_attacker_is_rounded_to_all() -> None:
    """2,001 : 1 is 0.9995, and 0.999999999 is the most that can be set: neither is 1."""
    for odds, text in ((2001.0, "0.9995"), (1e9, "0.999999999")):
        sentence = report.sentence("attacker", attacker_view(BetaBinomial(n=5, m=5, alpha=1, beta=1), 0, 0, odds), 2.0)
        assert f"the first has probability {text}. Then" in sentence
    assert "than the factor 7.39 that ε = 2 alone allows" in report.sentence(
        "attacker", attacker_view(PosteriorMean(n=5, m=5, alpha=0.5, beta=0.5), 0, 5, 1.0), 2.0
    )


def test_the_attacker_is_told_what_the_matrix_says():
    seen = set()
    for release, prior, epsilon in itertools.product(RELEASES, (1e-9, 0.2, 1.0, 1e9), (0.01, 2.0, 800.0)):
        log, rows, columns = listed(release)
        step = max(1, release.shape[1] // 4)
        for pair, column in itertools.product({0, len(release.neighbours) - 1}, range(0, release.shape[1], step)):
            view = attacker_view(release, pair, column, prior)
            sentence = report.sentence("attacker", view, epsilon)
            first, second = (rows[one] for one in map(table, re.findall(TABLE, sentence)[:2]))
            released = columns[table(re.findall(TABLE, sentence)[2])]
            with np.errstate(invalid="ignore"):
                gain = log[first, released] - log[second, released]
            assert ("That is within the factor" in sentence) == (abs(gain) <= epsilon * (1 + 1e-9))
            if "decides: only" in sentence:
                sure = rows[table(match_in(f"only ({TABLE}) can", sentence)[1])]
                assert log[sure, released] > -math.inf
                assert log[first + second - sure, released] == -math.inf
                seen.add("decides")
                continue
            towards = re.search(f"towards ({TABLE}), by a factor of (?:about )?(\\S+)\\. That", sentence)
            seen.add(towards is not None)
            if towards is None:
                assert "does not move the odds" in sentence
                assert abs(gain) < 1e-6
            else:
                assert rows[table(towards[1])] == (first if gain > 0 else second)
                if abs(gain) < 700:
                    assert value_of(towards[2]) == pytest.approx(math.exp(abs(gain)), rel=5.1e-3)
            odds = math.log(prior) + gain
            (_, before, _), (_, after, chance) = report.attacker_numbers(view)
            assert value_of(before.removesuffix(" : 1")) == pytest.approx(prior, rel=6e-4)
            assert value_of(after.removesuffix(" : 1")) == pytest.approx(
                math.exp(odds) if odds < 709 else math.inf, rel=6e-6
            )
            assert (
                "above" in chance
                or "below" in chance
                or value_of(chance.removeprefix("probability ")) == pytest.approx(1 / (1 + math.exp(-odds)), rel=6e-6)
            )
            said = match_in(r"<b>(.*)</b>\.$", sentence)[1]
            if said == "above 1 − 10⁻¹⁵":
                assert odds > 34
            elif said == "below 10⁻³⁰⁰":
                assert odds < -690
            else:
                assert value_of(said) == pytest.approx(1 / (1 + math.exp(-odds)), rel=5.1e-3)
                assert value_of(said) not in (0.0, 1.0)
    assert seen == {True, False, "decides"}
    assert factor_of_odds(800.0) == "about 10³⁴⁷"  # 800 / ln 10 = 347.4


@pytest.mark.parametrize("release", [one for one in RELEASES if isinstance(one, TwoCellSynthesizer)], ids=repr)
@pytest.mark.parametrize("epsilon", EPSILONS[1::2])
def test_the_price_of_a_release_is_the_ratio_of_two_errors_that_it_names(release, epsilon):
    truth = np.arange(release.n + 1)[:, None] / release.n
    squares = (release.transition_matrix() * (np.arange(release.m + 1) / release.m - truth) ** 2).sum(axis=1)
    errors = {"average": math.sqrt(squares.mean()), "worst": math.sqrt(squares.max())}
    assert share_moments(release).release_error() == pytest.approx(errors, rel=1e-9)
    for place, (named, compared) in enumerate(report.compared_promises(summarize(release, epsilon, 0.0))):
        best = {one: least_error(n=release.n, epsilon=compared, criterion=one) for one in errors}  # type: ignore[arg-type]
        text = report.sentence("better", errors, named, best)
        mine, least, *times = (value_of(found) for found in re.findall(r"<b>([^<]*?)(?: times| points)?</b>", text))
        assert mine / 100 == pytest.approx(errors["average"], rel=6e-3)
        assert least / 100 == pytest.approx(best["average"].root_mean_squared_error, rel=6e-3)
        if place == 0 and math.isfinite(pure_epsilon(release)):
            assert "closer" not in text
        if times:
            assert times[0] == pytest.approx(errors["average"] / best["average"].root_mean_squared_error, rel=6e-3)
            assert times[0] > 1
        else:
            assert best["average"].prices(errors["average"])[0] <= 1 + 1e-9
        cells = report.better_table(errors, [(named, best)])[1][1]
        assert value_of(cells[3]) == pytest.approx(best["worst"].root_mean_squared_error, rel=6e-4)


def test_a_factor_beyond_what_is_allowed_never_reads_like_it() -> None:
    """What is a little above ε is told with so many digits that its factor is above that of ε."""
    for epsilon, beyond in itertools.product(
        (0.01, 0.1, 1.0, 2.0, 8.0), (1.1e-12, 1e-10, 1e-6, 1e-4, 4e-4, 0.003, 0.2)
    ):
        release = GeometricSanitizer(n=20, epsilon=epsilon * (1 + beyond))
        verdict = report.sentences("promise", summarize(release, epsilon, 0.0))[1]
        odds = report.sentence("odds", summarize(release, epsilon, 0.0))
        step = report.sentence("attacker", attacker_view(release, 5, 0, 1.0), epsilon)
        for words, pattern in (
            (verdict, r"by a factor of (\S+), instead of at most (\S+)\. The"),
            (odds, r"<b>(\S+)</b> times as likely as .* allows at most (\S+) times"),
            (step, r"by a factor of (\S+)\. That is more than the factor (\S+) that"),
        ):
            found = re.search(pattern, words)
            assert found, words
            assert value_of(found[1]) > value_of(found[2]), words
    kept = report.sentences("promise", summarize(GeometricSanitizer(n=20, epsilon=1.2), 2.0, 0.0))[1]
    (most,) = re.findall(r"more than a factor of (\S+)\.", kept)
    assert math.exp(1.2) <= value_of(most) <= math.exp(1.2) * (1 + 1e-4)
