"""A mechanism that somebody adds by a class and an entry: everything follows from its probabilities and facts."""

from __future__ import annotations

import math
import re
from importlib.resources import files
from typing import Any, ClassVar

import numpy as np
import pytest
from scipy.stats import binom

from dpviz.charts.style import PALETTE
from dpviz.claims.printed_methods import RELEASE_METHODS
from dpviz.coverage import exact_coverage
from dpviz.designs import Design
from dpviz.desk.analyst import SeenRelease
from dpviz.desk.promises import promise_text
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
from tests.toys import ExponentialMechanism, Lazy, RandomizedResponse, ShyMean, matrix_of

TOYS: list[type[TwoCellSynthesizer]] = [ExponentialMechanism, ShyMean]
every_toy = pytest.mark.parametrize("toy", TOYS, ids=lambda toy: toy.key)


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    toys: list[type[Synthesizer]] = [RandomizedResponse, Lazy, *TOYS]
    for toy in toys:
        monkeypatch.setitem(SYNTHESIZERS, toy.key, toy)


@every_toy
def test_its_exact_loss_is_that_of_its_matrix(toy: type[TwoCellSynthesizer]) -> None:
    design = Design(mechanism=toy.key, n=6, epsilon=2.0)
    log_odds = np.abs(np.diff(np.log(matrix_of(toy, 6, 6, 2.0)), axis=0))
    assert pure_epsilon(design.release) == pytest.approx(log_odds.max(), rel=1e-9)


@every_toy
def test_its_coverage_is_the_sum_over_its_matrix(toy: type[TwoCellSynthesizer]) -> None:
    release = Design(mechanism=toy.key, n=12).release
    probabilities = binom.pmf(np.arange(13), 12, 0.25) @ matrix_of(toy, 12, 12, 2.0)
    ends = [RULES["as_if_real"].interval_from([count], synthesizer=release) for count in range(13)]
    share = sum(weight for weight, (low, high) in zip(probabilities, ends, strict=True) if low <= 0.25 <= high)
    coverage = exact_coverage(synthesizer=release, p=0.25, sets=1, rule="as_if_real")
    assert coverage.coverage == pytest.approx(share, rel=1e-9)


@every_toy
def test_its_posterior_is_bayes_rule_on_its_matrix(toy: type[TwoCellSynthesizer]) -> None:
    seen = SeenRelease.of(Design(mechanism=toy.key, n=12), "3, 5")
    matrix = matrix_of(toy, 12, 12, 1.0)
    weights = matrix[:, 3] * matrix[:, 5]  # a uniform prior of p makes x uniform
    mean = weights @ ((1 + np.arange(13)) / 14) / weights.sum()
    assert seen.exact.mean == pytest.approx(mean, rel=1e-9)


@every_toy
def test_its_designs_can_be_written_down(toy: type[TwoCellSynthesizer]) -> None:
    design = Design(mechanism=toy.key, n=12)
    assert Design.from_json(design.to_json()) == Design.from_address(design.to_address()) == design
    assert np.allclose(design.release.transition_matrix(), matrix_of(toy, 12, 12, 2.0), rtol=1e-9)


def test_its_smallest_prior_for_one_set_is_known_and_that_of_several_is_refused() -> None:
    design = Design(mechanism="shy_mean", n=12, epsilon=1.0, delta=1e-3, prior="exact")
    needed = minimum_prior("synth_post_many", n=12, m=12, epsilon=1.0, delta=1e-3) / 10
    assert design.alpha_of_one_set == pytest.approx(needed, rel=1e-9)
    sentence = "prior must be 'pure' (ε split equally) or 'own' (your α) for sets of Shy posterior mean; got 'exact'."
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        Design(mechanism="shy_mean", n=12, prior="exact", sets=2).alpha_of_one_set  # noqa: B018


def test_what_no_control_asks_for_is_said_with_its_default() -> None:
    assert promise_text(Design(mechanism="lazy", n=6)).endswith("ε = 2, t = 0.75 by default")


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


def test_everything_follows_from_the_matrix_alone() -> None:
    release = RandomizedResponse(truth=0.75)
    assert pure_epsilon(release) == pytest.approx(math.log(3), rel=1e-14)
    assert delta_for_epsilon(release, 0.0) == pytest.approx(0.5)
    assert np.allclose(release.transition_matrix(), [[0.75, 0.25], [0.25, 0.75]])
