"""A mechanism that somebody adds by a class and an entry: everything follows from its probabilities and facts."""

from __future__ import annotations

import math
import re
from importlib.resources import files

import numpy as np
import pytest
from scipy.stats import binom

from dpviz.audit.release_audit import RELEASE_METHODS
from dpviz.calibration.methods import CALIBRATED_METHODS, PRIOR_METHODS, method_of
from dpviz.charts.theme import PALETTE
from dpviz.coverage import exact_coverage
from dpviz.designs import Design, describe_promise
from dpviz.inference import RULES, posterior_given
from dpviz.mechanisms import SYNTHESIZERS, GeometricSanitizer, Synthesizer, TwoCellSynthesizer
from dpviz.mechanisms.catalogue import MechanismInfo, read_catalogue
from dpviz.mechanisms.prior_mechanism import UnderPrior
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
    for methods in (PRIOR_METHODS, CALIBRATED_METHODS):  # where the entries of the catalogue are from the start
        monkeypatch.setitem(methods, ShyMean.key, method_of(ShyMean))


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
    release = Design(mechanism=toy.key, n=12, sets=2).release
    matrix = matrix_of(toy, 12, 12, 1.0)
    weights = matrix[:, 3] * matrix[:, 5]  # a uniform prior of p makes x uniform
    mean = weights @ ((1 + np.arange(13)) / 14) / weights.sum()
    assert posterior_given(release, [3, 5]).mean == pytest.approx(mean, rel=1e-9)


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
    assert describe_promise(Design(mechanism="lazy", n=6)).endswith("ε = 2, t = 0.75 by default")


ENTRY = {
    "label": "Silent",
    "formula": "p",
    "source": "a test",
    "color": "other",
    "moved_by": "a toy",
    "releases": "A count.",
}
"""An entry of the catalogue with all that a compared mechanism must say."""


@pytest.mark.parametrize("name", ENTRY)
def test_a_field_that_is_missing_is_named(name: str) -> None:
    text = "\n".join(["[silent]", *(f'{field} = "{value}"' for field, value in ENTRY.items() if field != name)])
    with pytest.raises(TypeError, match=rf"^mechanisms.toml, \[silent\]: .*\b{name}\b"):
        read_catalogue(text)


def test_one_that_may_spend_more_than_its_epsilon_must_say_why() -> None:
    with pytest.raises(TypeError, match=r"^Silent needs `broken_because`"):
        MechanismInfo(**ENTRY, kept_by="geometric")


def test_a_class_without_an_entry_is_named() -> None:
    with pytest.raises(KeyError, match="silent"):
        type("Silent", (TwoCellSynthesizer,), {"key": "silent"})


def test_no_mechanism_inherits_what_is_said_of_another() -> None:
    with pytest.raises(KeyError, match="louder"):
        type("Louder", (GeometricSanitizer,), {"key": "louder"})


@pytest.mark.parametrize("one", SYNTHESIZERS.values(), ids=list(SYNTHESIZERS))
def test_every_fact_that_names_something_names_what_there_is(one: type[Synthesizer]) -> None:
    info = one.info
    assert info.color in PALETTE
    assert all(key in SYNTHESIZERS for key in (info.kept_by, info.compared_as) if key)
    assert not info.audited or info.audited in RELEASE_METHODS
    assert not info.opendp or files("dpviz.curator.templates").joinpath(f"opendp_{info.opendp}.txt").is_file()
    assert bool(info.rows_drawn) == issubclass(one, UnderPrior)
    if issubclass(one, TwoCellSynthesizer) and info.is_compared:
        assert {*one.protected_by} <= {*one.numbers()}


def test_everything_follows_from_the_matrix_alone() -> None:
    release = RandomizedResponse(truth=0.75)
    assert pure_epsilon(release) == pytest.approx(math.log(3), rel=1e-14)
    assert delta_for_epsilon(release, 0.0) == pytest.approx(0.5)
    assert np.allclose(release.transition_matrix(), [[0.75, 0.25], [0.25, 0.75]])
