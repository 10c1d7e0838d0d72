"""A law that somebody adds: one class and one entry in the registry, and it is on every page."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from importlib.resources import files
from typing import Any, ClassVar

import numpy as np
import pytest
import streamlit as st
from scipy.stats import binom

from dpviz.charts.style import PALETTE
from dpviz.claims.printed_methods import RELEASE_METHODS
from dpviz.core.parameters import readable
from dpviz.core.types import FloatArray
from dpviz.designs import Design
from dpviz.desk.analyst import NAMES
from dpviz.inference import RULES
from dpviz.mechanisms import (
    SYNTHESIZERS,
    BetaBinomial,
    GeometricSanitizer,
    Modips,
    PosteriorMean,
    PosteriorMode,
    Synthesizer,
    TwoCellSynthesizer,
)
from dpviz.mechanisms.base import FACTS
from dpviz.priors import minimum_prior
from dpviz.privacy import delta_for_epsilon, pure_epsilon
from pages.components.cached import forget
from pages.coverage.controls import short
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
from tests.toys import ExponentialMechanism, Lazy, RandomizedResponse, ShyMean

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
    page = open_page({"tm_synthesizer": toy.key}, n=6, epsilon=2.0, alpha=0.05)
    check_sound(page)
    assert not problems(page)
    assert toy.label in page.selectbox(key="tm_synthesizer").options
    epsilon = 2.0 if toy is ExponentialMechanism else 6 * math.log(1 + 1 / 0.5)
    worst = np.abs(np.diff(np.log(matrix_of(toy, 6, 6, epsilon)), axis=0)).max()
    assert readable(float(worst), 7) in text(page)


@every_toy
@pytest.mark.parametrize("section", [None, *COMPUTED])
def test_a_new_synthesizer_is_on_the_page_coverage(toy: type[TwoCellSynthesizer], section: str | None) -> None:
    page = open_coverage({"cv_synthesizer": toy.key}, n=12, sets=1, rules=["as_if_real"], look=section)
    check_sound(page)
    assert not problems(page)
    assert toy.label in page.selectbox(key="cv_synthesizer").options
    released = binom.pmf(np.arange(13), 12, 0.25) @ matrix_of(toy, 12, 12, 2.0)
    release = Design(mechanism=toy.key, n=12).release
    ends = [RULES["as_if_real"].interval_from([count], synthesizer=release) for count in range(13)]
    share = sum(weight for weight, (low, high) in zip(released, ends, strict=True) if low <= 0.25 <= high)
    cells = table_rows(table_called(page, "Coverage of each rule"))
    assert value_of(cells[short("as_if_real")][0]) == pytest.approx(100 * share, rel=1e-4)


@every_toy
@pytest.mark.parametrize("section", [None, *POSTERIOR_SECTIONS])
def test_a_new_synthesizer_is_on_the_page_posterior(toy: type[TwoCellSynthesizer], section: str | None) -> None:
    page = open_posterior({"po_synthesizer": toy.key}, n=12, x=4, look=section, source="typed", counts="3, 5")
    check_sound(page)
    assert not problems(page)
    assert toy.label in page.selectbox(key="po_synthesizer").options
    matrix, x = matrix_of(toy, 12, 12, 1.0), np.arange(13)
    weights = matrix[:, 3] * matrix[:, 5]  # a uniform prior of p makes x uniform
    mean = 100 * float(weights @ ((1 + x) / 14) / weights.sum())
    posteriors = table_rows(next(part for part in html(page) if "Posteriors of p" in part))
    assert posteriors[NAMES["exact"]][0] == f"{readable(mean, 5)} %"
    assert not problems(open_posterior({"po_synthesizer": toy.key}, n=12, x=4))


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
        page = opened(synthesizer="shy_mean", prior="exact", sets=2)
        check_sound(page)
        assert problems(page) == [
            "prior must be 'pure' (ε split equally) or 'own' (your α) for sets of Shy posterior mean; got 'exact'."
        ]


CARD: dict[str, object] = {
    "__module__": __name__,
    "key": "silent",
    "label": "Silent",
    "formula": "p",
    "source": "a test",
    "color": "other",
    "kept_by": "",
    "moved_by": "a toy",
    "__annotations__": {"epsilon": float},
    "releases": "A count.",
    "finding": "",
    "several_sets": False,
    "opendp": "",
}
"""All that a synthesizer with an ε must say."""


def test_a_mechanism_that_says_all_of_its_facts_is_taken() -> None:
    assert type("Silent", (TwoCellSynthesizer,), dict(CARD)).__name__ == "Silent"


@pytest.mark.parametrize("name", [one for one in CARD if one in FACTS])
def test_a_fact_that_is_missing_is_named_by_the_import(name: str) -> None:
    with pytest.raises(TypeError, match=f"^Silent must say by `{name}` {re.escape(FACTS[name])}.$"):
        type("Silent", (TwoCellSynthesizer,), {said: fact for said, fact in CARD.items() if said != name})


def test_all_missing_facts_are_named_at_once() -> None:
    with pytest.raises(TypeError, match=r"by `color` its color.*; by `moved_by` what moves its shares.*; by `not_comp"):

        class Silent(TwoCellSynthesizer):
            key: ClassVar[str] = "silent"


def test_one_that_no_epsilon_sets_must_say_why_it_is_not_compared() -> None:
    said = {name: fact for name, fact in CARD.items() if name != "__annotations__"}
    with pytest.raises(TypeError, match="by `not_compared` why it is not compared, as nothing that it is made with"):
        type("Silent", (TwoCellSynthesizer,), said)


def test_one_that_may_spend_more_than_its_epsilon_must_say_why() -> None:
    with pytest.raises(TypeError, match="Silent must say by `broken_because` why it may spend more than its ε"):
        type("Silent", (TwoCellSynthesizer,), CARD | {"kept_by": "geometric"})


def test_one_with_a_prior_must_say_how_its_rows_come_about() -> None:
    with pytest.raises(TypeError, match="Silent must say by `rows_drawn` how its rows come about"):
        type("Silent", (PosteriorMean,), dict(CARD))


def test_no_mechanism_inherits_what_is_said_of_another() -> None:
    with pytest.raises(TypeError) as refused:
        type("Louder", (GeometricSanitizer,), {"key": "louder"})
    assert re.findall("`([a-z_]+)`", str(refused.value)) == [
        *("label", "formula", "source", "color", "kept_by", "releases", "finding", "opendp")
    ]
    for made_from in (Modips, PosteriorMode, BetaBinomial):
        louder: Any = type("Louder", (made_from,), CARD | {"rows_drawn": "loudly"})
        assert (louder.compared_as, louder.compared_source, louder.audited, louder.zheng) == ("", "", "", None)
    assert GeometricSanitizer.finding == "Every released count tells neighbours apart by ε, and by no more."


@pytest.mark.parametrize("one", SYNTHESIZERS.values(), ids=list(SYNTHESIZERS))
def test_every_fact_that_names_something_names_what_there_is(one: type[Synthesizer]) -> None:
    assert one.color in PALETTE
    assert not one.kept_by or one.kept_by in SYNTHESIZERS
    assert not one.audited or one.audited in {record.key for record in RELEASE_METHODS}
    script = getattr(one, "opendp", "")
    assert not script or files("dpviz.desk.report").joinpath(f"opendp_{script}.txt").is_file()


def test_why_coverage_fails_names_what_the_law_says_and_no_noise_that_it_does_not_have() -> None:
    page = open_coverage({"cv_synthesizer": "exponential"}, n=12, sets=2, rules=["reiter_2003"], look="Why it fails")
    check_sound(page)
    assert "the choice between counts at random" in text(page)
    assert "cut off" not in text(page)
    assert "bias of the noise" not in text(page)


def test_everything_follows_from_the_law_alone() -> None:
    release = RandomizedResponse(truth=0.75)
    assert pure_epsilon(release) == pytest.approx(math.log(3), rel=1e-14)
    assert delta_for_epsilon(release, 0.0) == pytest.approx(0.5)
    assert np.allclose(release.transition_matrix(), [[0.75, 0.25], [0.25, 0.75]])


def test_its_page_has_its_controls_and_its_verdict() -> None:
    app = open_page(synthesizer=RandomizedResponse.key)
    assert not app.exception
    assert any("1.098612" in part.proto.body for part in app.get("html"))
    box = next(box for box in app.number_input if box.key == "tm_truth")
    box.set_value(0.9).run()
    assert not app.exception
    assert any("2.197225" in part.proto.body for part in app.get("html"))


def test_what_no_control_asks_for_is_said_with_its_default() -> None:
    SYNTHESIZERS[Lazy.key] = Lazy
    try:
        for page in (
            open_coverage(synthesizer="lazy", n=6, rules=["as_if_real"], sets=1),
            open_posterior(synthesizer="lazy", n=6, x=2),
        ):
            check_sound(page)
            assert "ε = 2, t = 0.75 by default" in text(page)
    finally:
        del SYNTHESIZERS[Lazy.key]
