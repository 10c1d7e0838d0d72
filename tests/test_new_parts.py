"""Mechanisms, a law with a prior and a combining rule that somebody adds by a class or a record and a line each."""

import itertools
import math
import re
from importlib.resources import files

import numpy as np
import pytest
from scipy.stats import binom

from dpviz.audit.curves import prior_curves
from dpviz.audit.release_audit import RELEASE_METHODS, actual_loss_sentence
from dpviz.calibration.methods import CALIBRATED_METHODS, PRIOR_METHODS, method_of
from dpviz.calibration.several_sets import minimum_prior_for_sets
from dpviz.charts.theme import OTHER_RULE, PALETTE, RULE_STYLES, style_of
from dpviz.comparisons import Analysis, BinaryData, CountData
from dpviz.comparisons.budget import SplitOverSets
from dpviz.comparisons.proportion import method_of_release
from dpviz.coverage import exact_coverage
from dpviz.curator.measures import AccuracyLimit
from dpviz.curator.privacy_limits import EpsilonDeltaLimit
from dpviz.curator.question import QUESTION_KINDS, DesignQuestion
from dpviz.curator.search import evaluate_designs
from dpviz.designs import Design, describe_promise
from dpviz.inference import COMBINING_RULES, RULES, posterior_given
from dpviz.mechanisms import (
    SYNTHESIZERS,
    BetaBinomial,
    GeometricSanitizer,
    Synthesizer,
    TwoCellSynthesizer,
    two_cell_synthesizers,
)
from dpviz.mechanisms.catalogue import MechanismInfo, read_catalogue
from dpviz.mechanisms.prior_mechanism import UnderPrior
from dpviz.priors import KINDS, Setting, maximum_range, minimum_prior, minimum_prior_probabilistic, release
from dpviz.privacy import delta_for_epsilon, pure_epsilon
from tests.toys import (
    TWICE,
    ExponentialMechanism,
    Lazy,
    RandomizedResponse,
    RepeatedRow,
    ShyMean,
    matrix_of,
    worst_log_odds,
)

TOY = ExponentialMechanism
KEY = RepeatedRow.key
TOYS: list[type[TwoCellSynthesizer]] = [TOY, ShyMean]
every_toy = pytest.mark.parametrize("toy", TOYS, ids=lambda toy: toy.key)


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    toys: list[type[TwoCellSynthesizer]] = [RandomizedResponse, Lazy, RepeatedRow, *TOYS]
    for toy in toys:
        monkeypatch.setitem(SYNTHESIZERS, toy.key, toy)
    for toy, methods in itertools.product((ShyMean, RepeatedRow), (PRIOR_METHODS, CALIBRATED_METHODS)):
        monkeypatch.setitem(methods, toy.key, method_of(toy))  # where the entries of the catalogue are from the start
    for rules in (COMBINING_RULES, RULES):
        monkeypatch.setitem(rules, TWICE.key, TWICE)


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
    "label": "Silent", "formula": "p", "source": "a test", "color": "other", "moved_by": "a toy",
    "releases": "A count.",
}  # fmt: skip
"""An entry of the catalogue with all that a compared mechanism must say."""


@pytest.mark.parametrize("name", ENTRY)
def test_a_field_that_is_missing_is_named(name: str) -> None:
    text = "\n".join(["[silent]", *(f'{field} = "{value}"' for field, value in ENTRY.items() if field != name)])
    with pytest.raises(TypeError, match=rf"^mechanisms.toml, \[silent\]: .*\b{name}\b"):
        read_catalogue(text)


def test_one_that_may_spend_more_than_its_epsilon_must_say_why() -> None:
    with pytest.raises(TypeError, match=r"^Silent needs `broken_because`"):
        MechanismInfo(**ENTRY, kept_by="geometric")


@pytest.mark.parametrize("base", [TwoCellSynthesizer, GeometricSanitizer])
def test_a_class_without_an_entry_of_its_own_is_named(base: type[TwoCellSynthesizer]) -> None:
    with pytest.raises(KeyError, match="silent"):
        type("Silent", (base,), {"key": "silent"})


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


# Compared, divided and on the desk


def test_methods_are_read_when_they_are_asked_for() -> None:
    for kind in (BinaryData, CountData):
        there = [one.key for one in kind.methods]
        assert {"exponential", "shy_mean"} < {*there}
        assert "randomized_response" not in there  # t sets its ε
        assert kind.method("exponential") is kind.method("exponential")
    law = SYNTHESIZERS.pop("exponential")
    assert "exponential" not in {one.key for kind in (BinaryData, CountData) for one in kind.methods}
    SYNTHESIZERS["exponential"] = law


def test_a_number_that_nothing_asks_for_is_as_by_default_and_said() -> None:
    method, data = BinaryData.method("lazy"), BinaryData(n=6, p=0.5)
    assert method.releases == ("One set, whose count is chosen at random, and now and then blindly. Here t = 0.75.")
    made = Lazy(n=6, m=6, epsilon=1.0, truth=0.75).transition_matrix()
    assert method.real_epsilon(data, 1.0, 1) == pytest.approx(np.abs(np.diff(np.log(made), axis=0)).max())


def test_a_new_mechanism_is_compared() -> None:
    data = BinaryData(n=20, p=0.25)
    *_, outcome = data.compare([data.method(TOY.key)], [1.0])
    assert outcome.real_epsilon == pytest.approx(worst_log_odds(20, 1.0), rel=1e-9)
    assert outcome.real_epsilon == pytest.approx(0.714014, abs=1e-6)
    counts = np.arange(21)
    chances = np.array([math.comb(20, count) * 0.25**count * 0.75 ** (20 - count) for count in counts])
    square = chances @ matrix_of(TOY, 20, 20, 1.0) @ (counts / 20 - 0.25) ** 2
    assert outcome.root_mean_squared_error.value == pytest.approx(math.sqrt(square), rel=1e-9)
    assert actual_loss_sentence(data.method(TOY.key), data, 1.0, 1).startswith(
        "The promise ε = 1 is kept, 71.4 % of it used."
    )


def test_the_budget_of_a_new_mechanism_is_divided() -> None:
    data = BinaryData(n=8, p=0.25)
    question = SplitOverSets(data=data, method=data.method(TOY.key), epsilon=1.0, analysis=Analysis(repetitions=50))
    assert TOY.key in SplitOverSets.methods(BinaryData)
    outcome = question.first().outcomes[1]
    *_, alone = data.compare([question.method], [1.0], Analysis(sets=1))
    assert outcome.root_mean_squared_error.value == pytest.approx(alone.root_mean_squared_error.value, rel=1e-9)


@pytest.mark.parametrize("methods", [(TOY.key,), ()], ids=["chosen", "all"])
def test_a_new_mechanism_is_on_the_desk(methods: tuple[str, ...]) -> None:
    """Also where the methods are not named."""
    question = DesignQuestion(
        data=CountData(n=20, m=20, p=0.25), lowest=0.1, highest=0.4, values=2, sets=(1,), methods=methods,
        protections=(EpsilonDeltaLimit(),), limits=(AccuracyLimit("root_mean_squared_error", 0.2),), repetitions=60,
    )  # fmt: skip
    *_, desk = evaluate_designs(question)
    designs = {design.method.key: design for design in desk.designs}
    assert {TOY.key, ShyMean.key} & designs.keys() == ({TOY.key} if methods else {TOY.key, ShyMean.key})
    assert designs[TOY.key].meets_limits
    assert designs[TOY.key].real_epsilon == pytest.approx(1.0, rel=1e-5)
    assert worst_log_odds(20, designs[TOY.key].epsilon) == pytest.approx(1.0, abs=5e-4)


def test_a_release_by_a_new_mechanism_is_one_that_is_compared() -> None:
    assert method_of_release(Design(mechanism=TOY.key, n=12)).key == TOY.key
    assert RandomizedResponse.info.not_compared == "t sets its ε"


# A law with a prior among the smallest priors

ASKED = {"n": 20, "m": 10, "epsilon": 1.0, "delta": 1e-3}


def test_every_law_with_a_prior_is_a_method_and_no_method_twice() -> None:
    laws = [law for law in two_cell_synthesizers().values() if issubclass(law, UnderPrior)]
    assert [method_of(law).synthesizer_type for law in laws] == laws
    assert {method_of(law).key for law in laws} < set(CALIBRATED_METHODS) < set(PRIOR_METHODS)
    assert len(PRIOR_METHODS) == len(laws) + 2


@pytest.mark.parametrize(("n", "epsilon", "delta"), [(1, 1.0, 0.1), (30, 0.5, 1e-3), (2000, 2.0, 1e-5)])
def test_its_least_prior_is_that_of_its_own_formula(n: int, epsilon: float, delta: float) -> None:
    """δ (2α + n) = 1 − (e^ε − 1) α at the table without ones, where e^ε is exceeded most."""
    alpha = minimum_prior(KEY, n=n, m=50, epsilon=epsilon, delta=delta)
    assert alpha == pytest.approx(max((1 - delta * n) / (math.expm1(epsilon) + 2 * delta), 1e-300), rel=1e-11)
    assert delta_for_epsilon(release(KEY, n=n, m=50, alpha=alpha), epsilon) <= delta
    assert minimum_prior(KEY, n=n, m=50, epsilon=epsilon) == pytest.approx(1 / math.expm1(epsilon), rel=1e-12)


def test_it_has_a_curve_and_an_inverse() -> None:
    setting = Setting(n=20, m=10, epsilon=1.0, delta=1e-3)
    curves = prior_curves("bernoulli", setting, "epsilon")
    line = next(one for one in curves.lines if (one.method, one.kind) == (KEY, "exact"))
    assert curves.at_chosen(line) == pytest.approx(minimum_prior(KEY, n=20, m=10, epsilon=1.0, delta=1e-3))
    given = KINDS["bernoulli"].given(PRIOR_METHODS[KEY], setting, 2.0)
    assert given is not None
    assert given.pure_epsilon == pytest.approx(math.log1p(1 / 2.0))


def test_what_it_cannot_do_it_refuses_by_name() -> None:
    assert [kind.key for kind in KINDS.values() if KEY in kind.methods] == ["bernoulli"]
    with pytest.raises(ValueError, match="Repeated row has no exact answer for several sets"):
        minimum_prior_for_sets(KEY, sets=2, **ASKED)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="Repeated row has no exact answer for more than two cells"):
        release(KEY, n=20, m=10, alpha=1.0, cells=3)
    with pytest.raises(ValueError, match="Repeated row has no exact answer for probabilistic privacy"):
        minimum_prior_probabilistic(KEY, **ASKED)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="Repeated row has no exact answer for Gaussian data"):
        maximum_range(KEY, **ASKED)  # type: ignore[arg-type]


# A combining rule


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
