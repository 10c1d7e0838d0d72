"""What is computed before it is asked for: when, how often, and that it is what the pages ask for."""

from __future__ import annotations

import dataclasses
import threading
import time
from collections.abc import Callable, Hashable, Iterable

import pytest
from streamlit import runtime
from streamlit.testing.v1 import AppTest

from dpviz.core.keeping import Kept
from dpviz.designs import Design
from pages.components import ahead, cached
from pages.components.ahead import AHEAD, Ahead, Step
from pages.components.controls import MOVED, PageNumbers
from pages.components.turns import TURNS
from pages.minimum_priors.controls import NUMBERS
from tests.pages import check_sound, open_coverage, open_page, open_priors

PATIENCE = 60


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch) -> Ahead:
    """What works ahead, as on a server."""
    monkeypatch.setattr(runtime, "exists", lambda: True)
    return Ahead()


def wait_for(reached: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not reached():
        assert time.monotonic() < end
        time.sleep(0.001)


def refuse() -> None:
    raise ValueError


def test_nothing_is_computed_ahead_while_somebody_is_served(work: Ahead) -> None:
    done: list[int] = []
    with TURNS.turn():
        work.follow("plan", [lambda: done.append(1), refuse, lambda: done.append(2)])
        time.sleep(5 * ahead.LOOK)
        assert not done
    wait_for(lambda: done == [1, 2])


def test_a_plan_gives_way_to_a_new_one_and_is_followed_once(work: Ahead) -> None:
    done: list[str] = []
    with TURNS.turn():
        work.follow("old", [lambda: done.append("old")])
        work.follow("new", [lambda: done.append("new")])
        work.follow("new", [lambda: done.append("again")])
    wait_for(lambda: "new" in work._known)
    work.follow("new", [lambda: done.append("later")])
    work.follow("last", [lambda: done.append("last")])
    wait_for(lambda: "last" in work._known)
    assert done == ["new", "last"]


def test_a_plan_whose_steps_take_too_long_is_left(work: Ahead, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ahead, "LONGEST", -1.0)
    done: list[int] = []
    work.follow("long", [lambda: done.append(1), lambda: done.append(2)])
    wait_for(lambda: "long" in work._known)
    assert done == [1]


def test_without_a_server_nothing_is_started() -> None:
    before = threading.active_count()
    alone = Ahead()
    alone.follow("plan", [refuse])
    assert threading.active_count() == before


STOP = {"epsilon": 1.4}


def computed_anew(monkeypatch: pytest.MonkeyPatch) -> list[Hashable]:
    """What is computed from now on: the name of the function, and a text of the arguments."""
    anew: list[Hashable] = []
    keep = Kept.keep

    def noted(every: Kept, key: Hashable, result: object) -> None:
        if isinstance(key, tuple) and isinstance(key[0], str):  # of a page, and no part of its work
            anew.append(key)
        keep(every, key, result)

    monkeypatch.setattr(Kept, "keep", noted)
    return anew


@pytest.mark.parametrize("opened", [open_page, open_priors, open_coverage])
def test_a_page_asks_for_what_was_computed_ahead(
    opened: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch
) -> None:
    def take(page: PageNumbers, design: Design, steps: Callable[[Design], Iterable[Step]], *rest: object) -> None:
        taken.extend(steps(dataclasses.replace(design, **STOP)))

    taken: list[Step] = []
    with monkeypatch.context() as at_first:
        at_first.setattr(PageNumbers, "compute_ahead", take)
        opened()
    cached.forget()
    computed = computed_anew(monkeypatch)
    for step in taken:
        step()
    before = {*computed}
    computed.clear()
    check_sound(opened(**STOP))
    assert before
    assert not before & {*computed}


@pytest.mark.parametrize("name", ["epsilon", "n"])
def test_the_next_stops_are_those_of_the_slider_that_was_moved(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    followed: list[tuple[object, list[object]]] = []
    monkeypatch.setattr(AHEAD, "follow", lambda key, steps: followed.append((key, list(steps))))
    page = open_priors(n=40)
    (first, _) = followed.pop()  # nobody has moved a slider yet: it is that of ε
    page.session_state[MOVED] = f"mp_{name}"
    page.run()
    page.run()
    (key, steps), (same, _) = followed
    assert key == same
    assert (key == first) == (name == "epsilon")
    designs: list[Design] = [step.args[0].design for step in steps]  # type: ignore[attr-defined]
    assert NUMBERS[name].slider_maximum in {getattr(one, name) for one in designs}
    assert all(one.m == one.n for one in designs)
    assert getattr(designs[0], name) == pytest.approx(getattr(page.session_state["mp_valid"].design, name), rel=0.2)
