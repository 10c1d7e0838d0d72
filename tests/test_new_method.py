"""A law with a prior that somebody adds: one class and one line, and it is among the smallest priors."""

from __future__ import annotations

import math

import pytest

from dpviz.audit.curves import prior_curves
from dpviz.calibration.methods import CALIBRATED_METHODS, PRIOR_METHODS, method_of
from dpviz.calibration.several_sets import minimum_prior_for_sets
from dpviz.mechanisms import SYNTHESIZERS, two_cell_synthesizers
from dpviz.mechanisms.prior_mechanism import UnderPrior
from dpviz.priors import KINDS, Setting, maximum_range, minimum_prior, minimum_prior_probabilistic, release
from dpviz.privacy import delta_for_epsilon
from tests.toys import RepeatedRow

KEY = RepeatedRow.key
ASKED = {"n": 20, "m": 10, "epsilon": 1.0, "delta": 1e-3}


def test_every_law_with_a_prior_is_a_method_and_no_method_twice() -> None:
    laws = [law for law in two_cell_synthesizers().values() if issubclass(law, UnderPrior)]
    assert [method_of(law).synthesizer_type for law in laws] == laws
    assert {method_of(law).key for law in laws} < set(CALIBRATED_METHODS) < set(PRIOR_METHODS)
    assert len(PRIOR_METHODS) == len(laws) + 2


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SYNTHESIZERS, KEY, RepeatedRow)
    for methods in (PRIOR_METHODS, CALIBRATED_METHODS):
        monkeypatch.setitem(methods, KEY, method_of(RepeatedRow))


pytestmark = pytest.mark.usefixtures("registered")


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
