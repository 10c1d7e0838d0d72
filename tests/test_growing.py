"""Results that grow: they end where the whole would, are kept for the next reader, and leave no work behind."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from dpviz.calibration.kinds import Setting
from dpviz.calibration.methods import CALIBRATED_METHODS, PRIOR_METHODS
from dpviz.claims.curves import Curves, prior_curves
from dpviz.core.pool import InPlace
from pages.components import growing as module
from pages.components.growing import Growing, finished_before
from pages.minimum_priors import answer, given
from tests import slow_streams
from tests.pages import check_sound, figures, next_steps, open_priors, text

PATIENT = 60.0
"""Seconds that none of these needs."""


def counted(upto: int) -> Iterator[int]:
    yield from range(1, upto + 1)


def test_it_goes_on_to_the_end_and_is_kept_for_all() -> None:
    growing: Growing[int] = Growing(key="kept for all", stream=InPlace(partial(counted, 5)))
    assert finished_before("kept for all", int) is None
    growing.advance(PATIENT)
    assert growing.stream is None
    assert growing.latest == 5
    assert finished_before("kept for all", int) == 5


def test_a_moment_of_work_takes_one_step() -> None:
    growing: Growing[int] = Growing(key="one step", stream=InPlace(partial(counted, 3)))
    for step in (1, 2, 3):
        growing.advance(0.0)
        assert growing.latest == step
        assert growing.stream is not None
    growing.advance(0.0)
    assert growing.stream is None


def test_what_breaks_ends_in_its_sentence_and_is_not_kept() -> None:
    def broken() -> Iterator[int]:
        yield 1
        raise ValueError("alpha must be above 1; got 0.5.")

    growing: Growing[int] = Growing(key="broken", stream=InPlace(broken))
    growing.advance(PATIENT)
    assert growing.stream is None
    assert growing.latest == 1
    assert growing.problem == "alpha must be above 1; got 0.5."
    assert finished_before("broken", int) is None


def test_a_moved_control_ends_it_between_two_steps_and_it_can_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """Streamlit ends a run by an exception, which it raises wherever the session is looked at."""
    growing: Growing[int] = Growing(key="moved", stream=InPlace(partial(counted, 3)))

    def moved() -> None:
        raise InterruptedError

    with monkeypatch.context() as patch:
        patch.setattr(module, "breathe", moved)
        with pytest.raises(InterruptedError):
            growing.advance(PATIENT)
    assert growing.latest is None
    growing.advance(PATIENT)
    assert growing.latest == 3
    assert growing.stream is None


def test_the_first_result_is_waited_for_and_its_refusal_raised() -> None:
    growing: Growing[int] = Growing(key="first", stream=InPlace(partial(counted, 3)))
    assert growing.first() == 1
    refused: Growing[int] = Growing(key="refused at once", stream=InPlace(partial(slow_streams.refused, 1)))
    with pytest.raises(ValueError, match="1 is refused"):
        refused.first()


def test_a_fault_is_raised_where_the_result_is_drawn() -> None:
    growing: Growing[int] = Growing(key="fault", stream=InPlace(slow_streams.broken))
    with pytest.raises(RuntimeError, match="a fault"):
        growing.advance(PATIENT)


def points_of(page: AppTest, key: str) -> list[np.ndarray]:
    return [np.asarray(trace["x"]) for trace in figures(page)[key]["figure"]["data"] if trace["mode"] == "lines"]


@pytest.mark.parametrize("axis", ["against δ", "against ε", "against m", "against n"])
def test_slow_curves_of_the_priors_grow_to_the_whole(axis: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine so slow that each picture has one more stage than the one before."""
    monkeypatch.setattr(module, "AT_ONCE", 0.0)
    setting = Setting(n=37, m=37, epsilon=0.83, delta=1e-7, cells=3)
    page = open_priors(family="k categories", cells=3, axis=axis, n=37, epsilon=0.83, delta=1e-7)
    seen = []
    while page.session_state["mp_growing"].stream is not None:
        check_sound(page)
        assert "points so far, more to come" in text(page)
        assert "mp_step_curves" in next_steps(page)
        seen.append(max(map(len, points_of(page, "mp_curves"))))
        page.run()
    while page.session_state["mp_needed"].stream is not None:
        page.run()
    assert len(seen) > 1
    assert seen == sorted(seen)
    check_sound(page)
    assert "so far" not in text(page)
    assert next_steps(page) == []
    named = {name: key for key, name in answer.NAMES.items()}
    whole = prior_curves("categorical", setting, named[axis], m_is_n=True)
    shown = page.session_state["mp_growing"].latest
    assert isinstance(shown, Curves)
    assert shown.points.tolist() == whole.points.tolist()
    for ours, theirs in zip(shown.lines, whole.lines, strict=True):
        np.testing.assert_array_equal(ours.values, theirs.values)


def test_another_reader_has_grown_curves_at_once() -> None:
    first = open_priors(family="k categories", n=41, epsilon=0.77)
    again = open_priors(family="k categories", n=41, epsilon=0.77)
    assert again.session_state["mp_growing"].latest is first.session_state["mp_growing"].latest
    assert "mp_curves" in figures(again)


def test_the_average_case_grows_to_all_methods(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "AT_ONCE", 0.0)
    page = open_priors(look="Average case", n=23, alpha=3.0)
    lengths = []
    while page.session_state["mp_growing_average"].stream is not None:
        check_sound(page)
        lengths.append(min(map(len, points_of(page, "mp_average"))))
        assert "mp_step_average" in next_steps(page)
        page.run()
    assert next_steps(page) == []
    assert lengths == sorted(lengths)
    assert lengths[0] < len(given.THETAS)
    names = [trace["name"] for trace in figures(page)["mp_average"]["figure"]["data"] if trace["mode"] == "lines"]
    assert names == [PRIOR_METHODS[key].named(2) for key in ("param_map", *CALIBRATED_METHODS)]
    assert all(len(points) >= len(given.THETAS) for points in points_of(page, "mp_average"))
