"""A combining rule that somebody adds by one record: it is summed exactly, compared, and offered on the desk."""

from __future__ import annotations

import math

import pytest

from dpviz.charts.theme import OTHER_RULE, RULE_STYLES, style_of
from dpviz.comparisons import Analysis, BinaryData
from dpviz.coverage import exact_coverage
from dpviz.curator.question import QUESTION_KINDS
from dpviz.inference import COMBINING_RULES, RULES
from dpviz.mechanisms import BetaBinomial
from tests.toys import TWICE


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(COMBINING_RULES, TWICE.key, TWICE)
    monkeypatch.setitem(RULES, TWICE.key, TWICE)


def coverage_of_two_sets(n: int, epsilon: float) -> float:
    """Its coverage of p = ¼ by two sets of the Beta-binomial that share ε."""
    alpha = n / math.expm1(epsilon / 2)
    release = BetaBinomial(n=n, m=n, alpha=alpha, beta=alpha)
    return exact_coverage(synthesizer=release, p=0.25, sets=2, rule="twice").coverage


def test_its_coverage_is_summed_release_by_release() -> None:
    release = BetaBinomial(n=2, m=2, alpha=1.0, beta=1.0)
    matrix = release.transition_matrix()
    covered = 0.0
    for x, weight in enumerate((9 / 16, 6 / 16, 1 / 16)):
        for first in range(3):
            for second in range(3):
                low, high = RULES["twice"].interval_from((first, second), synthesizer=release)
                covered += weight * matrix[x, first] * matrix[x, second] * (low <= 0.25 <= high)
    coverage = exact_coverage(synthesizer=release, p=0.25, sets=2, rule="twice").coverage
    assert coverage == pytest.approx(covered, abs=1e-12)


def test_comparisons_have_its_coverage() -> None:
    data = BinaryData(n=12, p=0.25)
    outcome = data.outcome(data.method("beta_binomial"), 1.0, Analysis(sets=2, rule="twice"))
    assert outcome is not None
    assert outcome.coverage.value == pytest.approx(coverage_of_two_sets(12, 1.0), rel=1e-9)


def test_every_kind_of_data_of_the_desk_offers_it() -> None:
    for kind in QUESTION_KINDS.values():
        assert "twice" in kind.rules


def test_a_rule_without_a_style_of_its_own_has_one_that_no_other_has() -> None:
    assert style_of("twice") is OTHER_RULE
    for part in ("color", "dash", "symbol"):
        assert getattr(OTHER_RULE, part) not in {getattr(style, part) for style in RULE_STYLES.values()}
    assert set(RULES) - {"twice"} == set(RULE_STYLES)
