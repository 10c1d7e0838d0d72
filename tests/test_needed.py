"""What every method needs comes one after the other, and is what each needs by itself."""

from __future__ import annotations

import dataclasses
import math

import pytest

from dpviz.calibration.curves import stream_needed
from dpviz.calibration.data_kinds import KINDS, Kind, Setting
from dpviz.calibration.methods import CALIBRATED_METHODS, PriorMethod
from dpviz.designs import Design

FIRST = CALIBRATED_METHODS["synth_post_one"]
SETTINGS = [
    Setting(n=1, m=1, epsilon=1.0, delta=0.0),
    Setting(n=30, m=20, epsilon=0.5, delta=1e-4, cells=3),
    Setting(n=100, m=100, epsilon=2.0, delta=1e-6),
]


@pytest.mark.parametrize("family", KINDS)
@pytest.mark.parametrize("sets", [1, 2, 5])
@pytest.mark.parametrize("setting", SETTINGS)
def test_each_is_what_its_method_needs_by_itself(family: str, sets: int, setting: Setting) -> None:
    kind = KINDS[family]
    setting = dataclasses.replace(setting, **dict.fromkeys(("sigma", "sigma0"), 1.0) if family == "gaussian" else {})
    seen = list(stream_needed(kind, setting, sets, FIRST))
    assert list(seen[0].exact) == [FIRST.key]
    assert set(seen[-1].exact) == set(seen[-1].pure) == set(kind.methods)
    assert [len(one.exact) for one in seen] == list(range(1, len(kind.methods) + 1))
    for key, method in kind.methods.items():
        for delta, found in ((0.0, seen[-1].pure), (setting.delta, seen[-1].exact)):
            try:
                if sets == 1:
                    assert found[key] == pytest.approx(kind.need(method, setting, delta), rel=1e-12)
                else:
                    together = kind.need(method, setting, delta, sets)
                    assert found[key] == pytest.approx(together, rel=1e-12)
            except ValueError as refused:
                assert math.isnan(found[key])
                assert seen[-1].refused[key] == str(refused)


def test_the_first_beyond_reach_refuses_and_another_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    kind, needs = KINDS["bernoulli"], type(KINDS["bernoulli"]).need
    beyond = [FIRST]

    def need(self: Kind, method: PriorMethod, setting: Setting, delta: float, sets: int = 1) -> float:
        if method in beyond:
            raise ValueError("It is beyond reach.")
        return needs(self, method, setting, delta, sets)

    monkeypatch.setattr(type(kind), "need", need)
    with pytest.raises(ValueError, match=r"^It is beyond reach\.$"):
        list(stream_needed(kind, SETTINGS[1], 1, FIRST))
    beyond[0] = CALIBRATED_METHODS["synth_map"]
    *_, last = stream_needed(kind, SETTINGS[1], 1, FIRST)
    assert last is not None
    assert last.refused == {"synth_map": "It is beyond reach."}
    assert math.isnan(last.exact["synth_map"])
    assert math.isfinite(last.exact[FIRST.key])


@pytest.mark.parametrize(("sets", "delta"), [(1, 0.0), (1, 1e-6), (3, 1e-5)])
def test_the_prior_of_a_design_is_that_which_its_method_needs(sets: int, delta: float) -> None:
    design = Design(mechanism="beta_binomial", n=40, m=40, sets=sets, epsilon=1.3, delta=delta, prior="exact")
    setting = Setting(n=40, m=40, epsilon=1.3, delta=delta)
    found = next(stream_needed(KINDS["bernoulli"], setting, sets, FIRST))
    assert found.exact[FIRST.key] == pytest.approx(design.alpha_of_one_set, rel=1e-12)
