"""Methods side by side: their sums against lists of every release, against simulation, and against the papers."""

import itertools
import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom, laplace

from dpviz.audit.release_audit import RELEASE_METHODS
from dpviz.comparisons import (
    DATA_KINDS,
    Analysis,
    BinaryData,
    CategoryData,
    Comparison,
    CountData,
    EqualPrivacy,
    EqualPromise,
    MixedData,
    UnknownVariance,
)
from dpviz.comparisons.budget import SplitOverSets
from dpviz.comparisons.categories import CategoryMethod
from dpviz.comparisons.methods import NumericMethod
from dpviz.comparisons.numeric_releases import OriginalRows
from dpviz.comparisons.proportion import MULTIPLE_SYNTHESIS, ORIGINAL, BinaryMethod, promising_methods
from dpviz.coverage import exact_coverage
from dpviz.curator.question import QUESTION_KINDS as OF_DESK
from dpviz.mechanisms import SYNTHESIZERS, TwoCellSynthesizer, two_cell_synthesizers
from dpviz.privacy.real_loss import ReleaseVerdict
from dpviz.privacy.several_sets import delta_of_sets
from tests.reproduction.bowen_liu import usable_before_rounding

PROMISING = list(promising_methods())
AT_ANY_EPSILON = [one for one in PROMISING if not one.smallest_epsilon]
METHODS: dict[str, Any] = {method.key: method for method in (ORIGINAL, MULTIPLE_SYNTHESIS, *PROMISING)}
WASTEFUL = ("exponential_counts", "sdd", "sdd_exact")
"""Methods that use less ε than they are promised."""


@pytest.mark.parametrize(("n", "p", "epsilon", "released", "before"), [
    (100, 0.02, 0.5, 0.71281, 0.77309), (40, 0.01, 100.0, 0.33103, 0.66551),
])  # fmt: skip
def test_usable_shares_of_the_laplace_sanitizer_are_those_of_what_it_releases(n, p, epsilon, released, before):
    """Σ_x Binomial(x) Pr(½ < x + Laplace(1/ε) < n − ½), by SciPy; the paper counts before the number is rounded."""
    x = np.arange(n + 1)
    inside = laplace.cdf(n - 0.5, x, 1 / epsilon) - laplace.cdf(0.5, x, 1 / epsilon)
    assert float(binom.pmf(x, n, p) @ inside) == pytest.approx(released, abs=1e-5)
    assert METHODS["laplace"].usable_share(BinaryData(n=n, p=p), epsilon, 1) == pytest.approx(released, abs=1e-5)
    assert usable_before_rounding(n, p, epsilon) == pytest.approx(before, abs=1e-5)


@pytest.mark.parametrize("key", METHODS)
def test_outcomes_have_the_exact_coverage_of_the_same_releases(key):
    """Held against simulations in `coverage.test_simulation`; bias and errors in `test_count_kinds`."""
    method, data = METHODS[key], BinaryData(n=30, p=0.2)
    sets = method.sets(4)
    *_, found = data.compare([method], [3.0], Analysis(sets=4))
    release = method.synthesizer(data, 3.0 / sets)
    rule = "as_if_real" if sets == 1 else "reiter_2003"  # a single set where the rule needs more
    exact = exact_coverage(synthesizer=release, p=0.2, sets=sets, rule=rule)
    assert found.is_exact("coverage")
    assert found.coverage.value == pytest.approx(exact.coverage, rel=1e-12)
    if key in {method.key for method in PROMISING} - {"modips_truncated"}:  # which is less private than it promises
        assert found.release_error.value >= data.least_error(3.0).lower_bound
    if key == "original":
        assert found.root_mean_squared_error.value == pytest.approx(math.sqrt(0.2 * 0.8 / 30))
        assert found.real_epsilon == math.inf


@pytest.mark.parametrize("method", AT_ANY_EPSILON, ids=lambda one: one.key)
def test_at_equal_promises_each_method_gets_it_and_sets_share_it(method):
    data = BinaryData(n=20, p=0.25)
    assert EqualPromise().setting(method, data, 0.7, 10) == 0.7
    real = method.real_epsilon(data, 0.7, method.sets(10))
    if method.key in WASTEFUL:
        assert real < 0.9 * 0.7
    elif method is not METHODS["modips_truncated"]:
        assert real == pytest.approx(0.7, rel=0.01)


@pytest.mark.parametrize(("n", "share", "times"), [(20, 0.05, 1.407), (100, 0.01, 1.797), (100, 0.1, 1.368)])
def test_truncation_breaks_its_promise_and_equal_real_privacy_takes_its_gain_away(n, share, times):
    """Ten sets promise 10ε and give more; set to give no more, the release errs more. Factors by quadrature."""
    data, method, promised = BinaryData(n=n, p=0.25), METHODS["modips_truncated"], 10 * share
    assert method.real_epsilon(data, promised, 10) / promised == pytest.approx(times, rel=0.02)
    setting: Any = EqualPrivacy().setting(method, data, promised, 10)
    assert setting < promised
    *_, fair = data.compare([method], [promised], Analysis(repetitions=10), EqualPrivacy())
    unfair = next(data.compare([method], [promised]))
    assert fair.root_mean_squared_error.value > unfair.root_mean_squared_error.value


@pytest.mark.parametrize(("rule", "epsilon"), [
    ("reiter_2003", 0.1), ("reiter_2003", 5.0), ("score", 1.0), ("blaker_2000", 5.0), ("clopper_pearson", 0.1),
])  # fmt: skip
def test_what_is_shorter_than_any_interval_can_be_misses_its_level_or_breaks_its_promise(rule, epsilon):
    """What the picture says of lines in its grey area; rules that hold their level at every p are never there."""
    analysis, places = Analysis(sets=2, rule=rule, repetitions=300), np.linspace(0.0, 1.0, 21)
    every, below = {p: BinaryData(n=12, p=p) for p in places.tolist()}, 0
    for method in BinaryData.methods:
        found = {p: data.outcome(method, epsilon, analysis) for p, data in every.items()}
        kept = found[0.5].real_loss.verdict(epsilon) is ReleaseVerdict.SATISFIED
        keeps = not method.reference and method.has_epsilon and kept
        covers = min(one.coverage.value + 4 * one.coverage.error for one in found.values())
        honest = rule in ("blaker_2000", "clopper_pearson") and analysis.rule_for(method.sets(2)).key == rule
        for p, one in found.items():
            short = one.mean_width.value + 4 * one.mean_width.error < every[p].shortest_length(epsilon).lower_bound
            below += short
            assert not short or not keeps or (covers < analysis.level and not honest), (method.key, p)
    assert below or rule != "reiter_2003"


@pytest.mark.parametrize("delta", [0.0, 1e-3])
def test_limits_come_beside_the_outcomes_and_the_first_of_these_waits_for_none(delta):
    data, terms = BinaryData(n=15, p=0.3), EqualPrivacy(delta)
    methods = tuple(data.method(key) for key in ("original", "geometric"))
    epsilons = [0.1, 1.0, 3.0]
    comparison = Comparison(data, methods, Analysis(sets=1, level=0.9), terms, 1.0, (0.1, 3.0))
    every = list(comparison.stream(epsilons))
    first = next(one for one in every if one.outcomes)
    assert not first.limits("mean_width")
    wanted = {one: data.shortest_length(one, delta, 0.9).lower_bound for one in epsilons}
    assert every[-1].limits("mean_width") == pytest.approx(wanted, rel=1e-12)
    least = {one: data.least_error(one, delta).lower_bound for one in epsilons}
    assert every[-1].limits("release_error") == pytest.approx(least, rel=1e-12)
    assert not every[-1].limits("bias")
    *_, without = comparison.stream(epsilons, limits=["release_error"])
    assert without.limits("release_error")
    assert not without.limits("mean_width")


@pytest.mark.parametrize("method", AT_ANY_EPSILON, ids=lambda one: one.key)
@pytest.mark.parametrize("wanted", [0.3, 2.0])
def test_at_equal_real_privacy_the_setting_spends_all_of_it_and_no_more(method, wanted):
    data, sets = BinaryData(n=20, p=0.25), method.sets(3)
    setting: Any = EqualPrivacy().setting(method, data, wanted, sets)
    real, more = (method.real_epsilon(data, at, sets) for at in (setting, setting * (1 + 1e-4)))
    assert real <= wanted * (1 + 1e-8) < more


@pytest.mark.parametrize(("wanted", "half"), [(0.1, 0.05), (0.2, 0.1), (0.7, 0.35), (3.0, 1.5), (48.0, 24.0)])
def test_a_method_that_really_gives_twice_its_promise_gets_half_of_what_is_wanted(wanted, half):
    """By halving alone: ε/2 gives ε to the last digit, and exp(ln(ε/2)) can be more than ε/2."""
    numbers = {"mean": 0.0, "sigma": 1.0, "low": -4.0, "high": 4.0}
    mixed = MixedData(n=200, cells=24, correlation=0.5, **numbers)
    for data, key in ((UnknownVariance(n=40, **numbers), "perturbed_histogram"), (mixed, "perturbed_cells")):
        assert EqualPrivacy().setting(data.method(key), data, wanted, 10) == pytest.approx(half, rel=1e-6)


@pytest.mark.parametrize(("method", "sets", "n"), [
    *((one, 1, 20) for one in PROMISING), *((one, 5, 12) for one in PROMISING if one.several_sets),
])  # fmt: skip
def test_with_failure_allowed_the_sets_fail_as_often_together_and_no_more(method, sets, n):
    data, wanted, delta = BinaryData(n=n, p=0.25), 0.5, 1e-3
    setting: Any = EqualPrivacy(delta).setting(method, data, wanted, sets)
    step = 1e-4 if sets == 1 else 1e-3
    kept, broken = (
        delta_of_sets(method.synthesizer(data, at / sets), sets, wanted).value for at in (setting, setting * (1 + step))
    )
    assert kept <= delta * (1 + 1e-8) < broken
    pure = EqualPrivacy().setting(method, data, wanted, sets)
    assert pure is None or pure < setting


def test_what_is_quick_comes_first_and_every_method_at_every_epsilon():
    data, epsilons = BinaryData(n=10, p=0.5), [0.1, 1.0, 10.0]
    methods = [one for one in data.methods if not one.smallest_epsilon]
    every = [method.key for method in methods]
    found = list(data.compare(methods, epsilons, Analysis(repetitions=200)))
    count = len(methods) * len(epsilons)
    for part in (found[:count], found[count:]):
        assert {(one.method.key, one.epsilon) for one in part} == set(itertools.product(every, epsilons))
    assert all(math.isnan(one.coverage.value) for one in found[:count])
    assert not any(math.isnan(one.coverage.value) for one in found[count:])
    for key in ("original", "multiple_synthesis"):
        assert len({one.root_mean_squared_error for one in found if one.method.key == key}) == 1


@pytest.mark.parametrize(("p", "n"), [(0.15, 40), (0.25, 40), (0.15, 100), (0.25, 100)])
def test_at_small_epsilon_every_estimate_is_drawn_to_one_half_or_to_the_public_guess(p, n):
    """Bowen & Liu, §4.1: noticeable bias at small ε, as prior and clamped noise are symmetric about ½."""
    data = BinaryData(n=n, p=p).with_guess(0.4)
    for method in AT_ANY_EPSILON:
        first = next(data.compare([method], [math.exp(-10)]))
        assert first.bias.value == pytest.approx((0.4 if method.guess else 0.5) - p, abs=1e-3)


@pytest.mark.parametrize(("call", "words"), [
    (lambda: BinaryData.method("unknown"), "method must be one of original"),
    (lambda: BinaryData(n=10, p=0.5, estimand="mean"), "estimand must be one of proportion"),
    (lambda: Analysis(rule="mean"), "rule must be one of"),
    (lambda: list(BinaryData(n=10, p=0.5).compare(BinaryData.methods, [0.0])), "epsilon"),
])  # fmt: skip
def test_what_does_not_fit_is_refused_in_a_sentence(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_every_kind_says_what_it_has():
    assert BinaryData.usual_keys() == list(BinaryData.usual)
    for key, kind in DATA_KINDS.items():
        assert kind.key == key and kind.parameters()
        assert any(method.reference for method in kind.methods)
        assert 0 < len(kind.usual_keys()) <= len(kind.methods)
        for method in kind.methods:
            assert kind.method(method.key) is method
            for words in (method.releases, method.finding or method.releases):
                assert words.endswith(".") and "  " not in words
            if isinstance(method, NumericMethod):
                assert method.finding or method.audited in RELEASE_METHODS


def test_a_method_that_does_not_say_what_is_known_of_its_real_epsilon_is_refused_by_name():
    said: dict[str, str] = {"key": "silent", "label": "Silent", "source": "a test", "releases": "Nothing."}
    with pytest.raises(TypeError, match=r"'loss_by'"):
        OriginalRows(**said)  # type: ignore[call-arg]


def test_what_a_class_says_of_its_real_epsilon_is_what_its_values_are():
    """n = 12, ε = 1 and the kinds' defaults: exact, proven, or none; no lower end above the upper one."""
    for kind in DATA_KINDS.values():
        data = kind(**{one.name: 12 if one.name in ("n", "m") else one.default for one in kind.parameters()})
        for method in kind.methods:
            loss, real = method.real_loss(data, 1.0, method.sets(2)), method.real_epsilon(data, 1.0, method.sets(2))
            assert real in (loss.proven, loss.at_most), method.key  # no ε is known to hold where it is infinite
            assert loss.at_least <= loss.at_most, method.key
            if method.has_epsilon:
                assert math.isfinite(real) and loss.proven == real, method.key
                assert loss.exact or not method.exact_epsilon, method.key
                assert method.exact_epsilon == (loss.at_most == loss.at_least), method.key
            elif not isinstance(method, BinaryMethod):
                assert real == math.inf, method.key
            assert method.loss_by and not method.loss_by.endswith("."), method.key


def test_no_method_inherits_how_another_one_is_audited():
    methods = {method.key: method for method in DATA_KINDS["gaussian"].methods}
    noisy = "a closed form, for the noisy histogram: the rows lose no more"
    for key in ("perturbed_histogram_safe", "sanitize_bootstrap", "bootstrap_sanitize"):
        assert (methods[key].loss_by, methods[key].audited) == (noisy, "")


# Every mechanism that one page knows is on every page that could show it, or its class says why it is not


def distributions_of(kind: Any) -> set[str]:
    return {one.synthesizer_type.key for one in kind.methods if not one.reference and not one.only_compared}


@pytest.mark.parametrize("key", two_cell_synthesizers())
def test_a_synthesizer_of_two_counts_is_compared_divided_and_on_the_desk(key):
    law = two_cell_synthesizers()[key]
    if law.info.compared_as:
        other = two_cell_synthesizers()[law.info.compared_as]
        for n, epsilon in ((7, 0.5), (20, 2.0)):
            made: list[Any] = [(each, each.smallest_alpha(m=n, epsilon=epsilon)) for each in (law, other)]
            first, second = (each(n=n, m=n, alpha=a, beta=a).transition_matrix() for each, a in made)
            np.testing.assert_allclose(first, second, rtol=1e-9)
        return
    if law.info.not_compared:
        assert not {key} & (
            distributions_of(BinaryData) | distributions_of(CountData) | {*SplitOverSets.methods(BinaryData)}
        )
        return
    assert key in distributions_of(BinaryData) and key in distributions_of(CountData)
    assert (key in SplitOverSets.methods(BinaryData)) == (not law.smallest_epsilon)


def test_a_synthesizer_of_more_counts_is_on_the_desk():
    shown = {method.of_cells.key for method in CategoryData.methods if isinstance(method, CategoryMethod)}
    for key, law in SYNTHESIZERS.items():
        assert issubclass(law, TwoCellSynthesizer) or key in shown or law.info.compared_as in shown, key


def test_the_desk_and_the_comparison_have_the_same_methods_of_one_kind():
    compared = {one.key for one in BinaryData.methods if not one.reference and not one.only_compared}
    assert compared == {one.key for one in CountData.methods if not one.reference}
    for key in DATA_KINDS.keys() & OF_DESK.keys():
        assert [one.key for one in DATA_KINDS[key].methods] == [one.key for one in OF_DESK[key].methods]
