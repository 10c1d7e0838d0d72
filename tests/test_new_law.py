"""A law that somebody adds: one class and one entry in the registry, and it is on every page."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
import streamlit as st
from scipy.stats import binom

from dpviz.designs import Design
from dpviz.inference import RULES
from dpviz.parameters import EPSILON, Parameter, readable
from dpviz.priors import minimum_prior
from dpviz.privacy import delta_for_epsilon, pure_epsilon
from dpviz.synthesizers import SYNTHESIZERS, PosteriorMean, TwoCellSynthesizer, WorstCase
from dpviz.synthesizers.base import ROWS, SYNTHETIC_ROWS, parameter
from dpviz.types import FloatArray, IntArray
from pages.components.cached import forget
from pages.coverage.controls import short
from pages.posterior.answer import NAMES
from pages.posterior.sections import SECTIONS as POSTERIOR_SECTIONS
from tests.page_cases import COMPUTED
from tests.pages import (
    alpha_in,
    check_sound,
    html,
    method_table,
    open_coverage,
    open_page,
    open_posterior,
    open_priors,
    problems,
    shown_prior,
    table_called,
    table_rows,
    text,
    value_of,
)

TRUTH = Parameter(
    name="truth",
    symbol="t",
    title="Chance of the truth",
    minimum=0.5,
    maximum=0.99,
    default=0.75,
    slider_minimum=0.5,
    scale="log",
    private_end="smaller",
    help="How likely the single row answers truthfully.",
)


@dataclass(frozen=True, kw_only=True)
class RandomizedResponse(TwoCellSynthesizer):
    """One row that tells the truth with probability t: losses are ± ln(t / (1 − t))."""

    key: ClassVar[str] = "randomized_response"
    label: ClassVar[str] = "Randomised response"
    law: ClassVar[str] = r"\Pr(m_1 = n_1) = t"
    source: ClassVar[str] = "Warner (1965)"

    n: int = 1
    m: int = 1
    truth: float = parameter(TRUTH)

    def log_transition(self, rows: IntArray, columns: IntArray) -> FloatArray:
        same = np.asarray(rows)[:, None] == np.asarray(columns)[None, :]
        return np.where(same, math.log(self.truth), math.log1p(-self.truth))

    def hockey_stick(self, epsilon: float) -> WorstCase:
        return WorstCase(max(0.0, self.truth - math.exp(epsilon) * (1 - self.truth)), 1, 0)


@dataclass(frozen=True, kw_only=True)
class ExponentialMechanism(TwoCellSynthesizer):
    """Every count from 0 to m, with probability proportional to e^{−ε |j/m − x/n| n/2}."""

    key: ClassVar[str] = "exponential"
    label: ClassVar[str] = "Exponential mechanism"
    law: ClassVar[str] = r"\Pr(m_1 = j) \propto e^{-\varepsilon |jn/m - n_1|/2}"
    source: ClassVar[str] = "McSherry & Talwar (2007)"

    n: int = parameter(ROWS)
    m: int = parameter(SYNTHETIC_ROWS)
    epsilon: float = parameter(EPSILON)

    def log_transition(self, rows: IntArray, columns: IntArray) -> FloatArray:
        every = -self.epsilon / 2 * np.abs(np.arange(self.m + 1) * self.n / self.m - np.asarray(rows)[:, None])
        return every[:, columns] - np.logaddexp.reduce(every, axis=1)[:, None]


@dataclass(frozen=True, kw_only=True)
class ShyMean(PosteriorMean):
    """The posterior mean under a prior ten times as large."""

    key: ClassVar[str] = "shy_mean"
    label: ClassVar[str] = "Shy posterior mean"

    @property
    def effective_prior(self) -> tuple[float, float]:
        return 10 * self.alpha, 10 * self.beta

    @classmethod
    def least_alpha(cls, *, m: int, epsilon: float) -> float:
        return PosteriorMean.least_alpha(m=m, epsilon=epsilon) / 10


TOYS: list[type[TwoCellSynthesizer]] = [ExponentialMechanism, ShyMean]


@pytest.fixture
def registered() -> Iterator[None]:
    toys: list[type[TwoCellSynthesizer]] = [RandomizedResponse, *TOYS]
    SYNTHESIZERS.update({toy.key: toy for toy in toys})
    st.cache_resource.clear()  # no curve that a page has kept without the toys, or keeps with them
    forget()
    yield
    for toy in toys:
        del SYNTHESIZERS[toy.key]
    st.cache_resource.clear()
    forget()


def matrix_of(toy: type[TwoCellSynthesizer], n: int, m: int, epsilon: float) -> FloatArray:
    """Row x is the law of the released count, with probabilities of scipy."""
    x, j = np.arange(n + 1)[:, None], np.arange(m + 1)
    if toy is ShyMean:
        prior = 1 / math.expm1(epsilon / m)
        return binom.pmf(j, m, (x + prior) / (n + 2 * prior))
    weights = np.exp(-epsilon / 2 * np.abs(j * n / m - x))
    return weights / weights.sum(axis=1, keepdims=True)


every_toy = pytest.mark.parametrize("toy", TOYS, ids=lambda toy: toy.key)
pytestmark = pytest.mark.usefixtures("registered")


@every_toy
def test_a_new_synthesizer_is_on_the_page_transition_matrices(toy: type[TwoCellSynthesizer]) -> None:
    page = open_page({"tm_law": toy.key}, n=6, epsilon=2.0, alpha=0.05)
    check_sound(page)
    assert not problems(page)
    assert toy.label in page.selectbox(key="tm_law").options
    epsilon = 2.0 if toy is ExponentialMechanism else 6 * math.log(1 + 1 / 0.5)
    worst = np.abs(np.diff(np.log(matrix_of(toy, 6, 6, epsilon)), axis=0)).max()
    assert readable(float(worst), 7) in text(page)


@every_toy
@pytest.mark.parametrize("section", [None, *COMPUTED])
def test_a_new_synthesizer_is_on_the_page_coverage(toy: type[TwoCellSynthesizer], section: str | None) -> None:
    page = open_coverage({"cv_law": toy.key}, n=12, sets=1, rules=["as_if_real"], look=section)
    check_sound(page)
    assert not problems(page)
    assert toy.label in page.selectbox(key="cv_law").options
    released = binom.pmf(np.arange(13), 12, 0.25) @ matrix_of(toy, 12, 12, 2.0)
    release = Design(mechanism=toy.key, n=12).release
    ends = [RULES["as_if_real"].interval_from([count], synthesizer=release) for count in range(13)]
    share = sum(weight for weight, (low, high) in zip(released, ends, strict=True) if low <= 0.25 <= high)
    cells = table_rows(table_called(page, "Coverage of each rule"))
    assert value_of(cells[short("as_if_real")][0]) == pytest.approx(100 * share, rel=1e-4)


@every_toy
@pytest.mark.parametrize("section", [None, *POSTERIOR_SECTIONS])
def test_a_new_synthesizer_is_on_the_page_posterior(toy: type[TwoCellSynthesizer], section: str | None) -> None:
    page = open_posterior({"po_law": toy.key}, n=12, x=4, look=section, source="typed", counts="3, 5")
    check_sound(page)
    assert not problems(page)
    assert toy.label in page.selectbox(key="po_law").options
    matrix, x = matrix_of(toy, 12, 12, 1.0), np.arange(13)
    weights = matrix[:, 3] * matrix[:, 5]  # a uniform prior of p makes x uniform
    assert table_rows(next(part for part in html(page) if "Posteriors of p" in part))[NAMES["exact"]][0] == readable(
        float(weights @ ((1 + x) / 14) / weights.sum()), 5
    )
    assert not problems(open_posterior({"po_law": toy.key}, n=12, x=4))


@every_toy
def test_a_new_synthesizer_has_designs_that_can_be_written_down(toy: type[TwoCellSynthesizer]) -> None:
    design = Design(mechanism=toy.key, n=12)
    assert Design.from_json(design.to_json()) == Design.from_address(design.to_address()) == design
    assert np.allclose(design.release.transition_matrix(), matrix_of(toy, 12, 12, 2.0), rtol=1e-9)


def test_a_new_synthesizer_with_a_prior_is_on_the_page_minimum_priors() -> None:
    """A tenth of what the posterior mean needs, which is searched by other means."""
    page = open_priors(n=40, epsilon=1.5, delta=1e-4)
    check_sound(page)
    assert not problems(page)
    needed = [minimum_prior("synth_post_many", n=40, m=40, epsilon=1.5, delta=delta) / 10 for delta in (0.0, 1e-4)]
    shown = method_table(page)[ShyMean.label][:2]
    assert [alpha_in(cell) for cell in shown] == [shown_prior(alpha) for alpha in needed]


def test_its_smallest_prior_for_one_set_is_known_and_that_of_several_has_a_sentence() -> None:
    design = Design(mechanism="shy_mean", n=12, epsilon=1.0, delta=1e-3, prior="exact")
    needed = minimum_prior("synth_post_many", n=12, m=12, epsilon=1.0, delta=1e-3) / 10
    assert design.alpha_of_one_set == pytest.approx(needed, rel=1e-9)
    for opened in (open_coverage, open_posterior):
        page = opened(law="shy_mean", prior="exact", sets=2)
        check_sound(page)
        assert problems(page) == [
            "prior must be 'pure' (ε split equally) or 'own' (your α) for sets of Shy posterior mean; got 'exact'."
        ]


def test_everything_follows_from_the_law_alone() -> None:
    release = RandomizedResponse(truth=0.75)
    assert pure_epsilon(release) == pytest.approx(math.log(3), rel=1e-14)
    assert delta_for_epsilon(release, 0.0) == pytest.approx(0.5)
    assert np.allclose(release.transition_matrix(), [[0.75, 0.25], [0.25, 0.75]])


def test_its_page_has_its_controls_and_its_verdict() -> None:
    app = open_page(law=RandomizedResponse.key)
    assert not app.exception
    assert any("1.098612" in part.proto.body for part in app.get("html"))
    box = next(box for box in app.number_input if box.key == "tm_truth")
    box.set_value(0.9).run()
    assert not app.exception
    assert any("2.197225" in part.proto.body for part in app.get("html"))


@dataclass(frozen=True, kw_only=True)
class Lazy(ExponentialMechanism):
    """The exponential mechanism that answers with probability t, else with a count drawn evenly."""

    key: ClassVar[str] = "lazy"
    label: ClassVar[str] = "Lazy exponential mechanism"

    truth: float = parameter(TRUTH)

    def log_transition(self, rows: IntArray, columns: IntArray) -> FloatArray:
        answered = super().log_transition(rows, columns) + math.log(self.truth)
        return np.logaddexp(answered, math.log((1 - self.truth) / (self.m + 1)))


def test_what_no_control_asks_for_is_said_with_its_default() -> None:
    SYNTHESIZERS[Lazy.key] = Lazy
    try:
        for page in (
            open_coverage(law="lazy", n=6, rules=["as_if_real"], sets=1),
            open_posterior(law="lazy", n=6, x=2),
        ):
            check_sound(page)
            assert "ε = 2, t = 0.75 by default" in text(page)
    finally:
        del SYNTHESIZERS[Lazy.key]
