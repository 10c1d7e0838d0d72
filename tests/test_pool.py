"""Long computations beside the process that serves: shared, least served first, and left when nobody asks."""

from __future__ import annotations

import gc
import itertools
import math
import os
import pickle
import signal
import threading
import time
from collections.abc import Callable, Hashable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dpviz.charts.style import Figure
from dpviz.comparisons.overview import Overview
from dpviz.comparisons.overview_words import overview_words
from dpviz.core import pool as module
from dpviz.core import working
from dpviz.core.numerics.steps import finished
from dpviz.core.pool import DIED, POOL, TRIES, WANTED, Elsewhere, InPlace, Pool, UnderWay, single
from dpviz.core.working import QUANTUM, About, Job, Message
from dpviz.designs import Design
from dpviz.desk.analyst import SeenRelease
from dpviz.desk.paths import PATHS
from pages.components.growing import Growing
from tests import slow_streams

PATIENCE = 60.0
"""Seconds that none of these needs."""


def nothing() -> None:
    """What is done while one waits."""


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    """A pool of a single worker, so that streams meet."""
    made = Pool()
    made.start(1)
    yield made
    made.stop()
    until(lambda: not any(one.name == "worker" for one in threading.enumerate()))


def complete(one: UnderWay[int]) -> int | None:
    one.wait(PATIENCE, nothing)
    assert one.finished
    return one.latest


def until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_a_result_comes_from_another_process(pool: Pool) -> None:
    here = pool.ask("root", partial(single, math.sqrt, 2.0))
    assert isinstance(here, Elsewhere)
    here.wait(PATIENCE, nothing)
    assert here.latest == math.sqrt(2.0)
    other = pool.ask("process", partial(single, os.getpid))
    assert complete(other) not in (None, os.getpid())


def test_a_computation_in_steps_ends_with_its_result(pool: Pool) -> None:
    assert complete(pool.ask("steps", partial(single, slow_streams.in_steps, 7))) == 7
    assert finished(single(slow_streams.in_steps, 7)) == 7


def test_a_single_result_is_over_when_it_is_there_however_much_waits_for_the_worker(pool: Pool) -> None:
    asked = [pool.ask(place, partial(single, math.sqrt, place)) for place in range(20)]
    for one in asked:
        one.wait(0.0, nothing)
    for one in asked:
        one.wait(PATIENCE, nothing, 0)
        assert one.finished


def test_what_nobody_has_waited_for_has_not_begun(pool: Pool) -> None:
    one = pool.ask("not begun", partial(slow_streams.counted, 3, 0.0))
    assert complete(pool.ask("after it", partial(slow_streams.counted, 3, 0.0))) == 3
    assert one.count == 0
    assert complete(one) == 3


def test_who_begins_with_it_waits_for_nothing(pool: Pool) -> None:
    one = pool.ask("begun ahead", partial(slow_streams.counted, 3, 0.0))
    growing: Growing[int] = Growing(key="begun ahead", stream=one)
    growing.begin()
    until(lambda: one.finished)
    assert growing.latest is None  # not taken yet
    growing.now()
    assert (growing.latest, growing.stream) == (3, None)
    growing.begin()  # nothing is left to begin with


@pytest.mark.parametrize("wide", [False, True])
def test_what_pages_wait_for_is_the_same_from_another_process(pool: Pool, wide: bool) -> None:
    """An overview and a release that is seen, as pages ask for them where a class waits."""
    design = Design(mechanism="geometric" if wide else "beta_binomial", n=100, epsilon=0.7, confidential_count=31)
    found = Overview(design, wide)
    seen = SeenRelease.of(design, "12, 40" if wide else None)
    asked: list[tuple[Hashable, Callable[[], Any]]] = [
        ("overview", partial(overview_words, found)),
        ("seen", seen.learned),
    ]
    for name, compute in asked:
        one = pool.ask((name, wide), partial(single, compute))
        one.wait(PATIENCE, nothing)
        assert one.problem is None
        assert compared(one.latest) == compared(compute())


def compared(found: Any) -> Any:
    """What is made of numbers, words, arrays and figures, as plain lists."""
    if isinstance(found, Figure):
        return found.written()
    if isinstance(found, np.ndarray):
        return found.tolist()
    return [*map(compared, found)] if isinstance(found, (tuple, list)) else found


def test_a_worker_that_pages_wait_for_is_behind_while_it_has_several_streams(pool: Pool) -> None:
    assert not pool.behind
    long = [pool.ask(("behind", one), partial(slow_streams.counted, 100_000, 0.001), waited_for=True) for one in (1, 2)]
    long[0].wait(0.0, nothing)
    assert not pool.behind
    long[1].wait(0.0, nothing)
    assert pool.behind
    long.clear()
    until(lambda: not pool.behind)
    assert not Pool().behind  # without processes


def test_all_that_ask_the_same_share_it_while_one_holds_it(pool: Pool) -> None:
    begin = partial(slow_streams.counted, 3, 0.02)
    first, second = pool.ask("shared", begin), pool.ask("shared", begin)
    assert first is second
    assert pool.ask("another", begin) is not first
    assert complete(first) == 3


def test_the_first_result_comes_at_once_and_later_ones_thinned_out(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    seen, take = list[int](), Elsewhere.take

    def noted(self: Elsewhere[int], kind: About, said: bytes, steps: int = 0) -> None:
        take(self, kind, said, steps)
        if self is one and self.latest is not None:
            seen.append(self.latest)

    monkeypatch.setattr(Elsewhere, "take", noted)
    one = pool.ask("thinned", partial(slow_streams.counted, 100, 0.004))
    complete(one)
    assert seen[-1] == 100
    assert len(seen) < 20


def test_what_is_new_has_the_worker_before_what_has_long_had_it(pool: Pool) -> None:
    long = pool.ask("long", partial(slow_streams.counted, 1_000_000, 0.001))
    long.wait(0.5, nothing)
    short = pool.ask("short", partial(slow_streams.counted, 5, 0.001))
    assert complete(short) == 5
    assert not long.finished


def test_a_refusal_and_a_fault_come_with_what_was_there_before(pool: Pool) -> None:
    refusal = pool.ask("refused", partial(slow_streams.refused, 3))
    assert complete(refusal) == 2 or refusal.latest == 1
    assert str(refusal.problem) == "3 is refused."
    assert isinstance(refusal.problem, ValueError)
    fault = pool.ask("fault", slow_streams.broken)
    complete(fault)
    assert isinstance(fault.problem, RuntimeError)
    assert "a fault" in str(fault.problem)


def test_what_nobody_asks_for_rests_and_goes_on(pool: Pool) -> None:
    one = pool.ask("resting", partial(slow_streams.counted, 2_500, 0.001))
    one.wait(0.3, nothing)
    assert isinstance(one, Elsewhere)
    until(lambda: one.resting and not any(worker._stopping for worker in pool._workers))  # the process has said so
    reached = one.latest
    time.sleep(0.3)
    assert one.latest == reached
    assert complete(one) == 2_500
    assert not one.resting


def test_what_nobody_holds_is_left_and_the_pool_is_at_rest(pool: Pool) -> None:
    one = pool.ask("left", partial(slow_streams.counted, 100_000, 0.001))
    one.wait(0.2, nothing)
    del one
    gc.collect()
    until(lambda: not pool.busy)
    assert not any(worker.streams for worker in pool._workers)


def test_a_step_that_does_not_end_is_ended_with_its_process(pool: Pool) -> None:
    one = pool.ask("stuck", partial(slow_streams.stuck, 1_000.0))
    one.wait(PATIENCE, nothing, 0)
    process = one.latest
    assert process is not None
    other = pool.ask("waits behind it", partial(slow_streams.counted, 3, 0.001))
    del one
    gc.collect()
    assert complete(other) == 3  # long before the step would have ended
    with suppress(ProcessLookupError):
        os.kill(process, 0)
        pytest.fail("the process is still there")


def test_a_long_step_that_is_asked_for_goes_on_while_another_stream_rests(pool: Pool) -> None:
    other = pool.ask("soon rests", partial(slow_streams.counted, 100_000, 0.001))
    one = pool.ask("long step", partial(slow_streams.stuck, 4 * WANTED))
    other.wait(0.1, nothing, 0)
    one.wait(PATIENCE, nothing, 0)
    process = one.latest
    assert complete(one) == 2
    assert isinstance(other, Elsewhere)
    until(lambda: other.resting)
    assert complete(pool.ask("the process after it", partial(single, os.getpid))) == process


def test_a_long_step_that_is_asked_for_seldom_is_not_begun_anew_for_ever(pool: Pool) -> None:
    """As where readers come late on a busy machine: it rests in the step, and ends its process."""
    one = pool.ask("seldom", partial(slow_streams.stuck, 2.5 * WANTED))
    assert isinstance(one, Elsewhere)
    for _ in range(TRIES):
        one.wait(0.0, nothing)
        worker = one.worker
        until(lambda: one.latest == 2 or one.worker is not worker)  # noqa: B023
    assert one.latest == 2
    assert complete(one) == 2


def test_what_is_asked_for_is_not_to_blame_where_others_end_its_process(pool: Pool, tmp_path: Path) -> None:
    one = pool.ask("innocent", partial(slow_streams.counted, 1_000_000, 0.001))
    assert isinstance(one, Elsewhere)
    for number in range(TRIES):
        mark = tmp_path / str(number)
        others = [one, pool.ask(f"stuck {number}", partial(slow_streams.marked, mark, 1_000.0))]
        until(lambda: any(each.wait(0.0, nothing) for each in others) or mark.exists())  # noqa: B023
        worker = one.worker
        others.clear()
        gc.collect()
        until(lambda: one.wait(0.0, nothing) or one.finished or one.worker is not worker)  # noqa: B023
    assert one.problem is None
    reached = one.count
    one.wait(PATIENCE, nothing, reached)
    assert one.count > reached


def test_what_was_forgotten_begins_anew_for_who_comes_back(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    one = pool.ask("forgotten", partial(slow_streams.counted, 2_500, 0.001))
    assert isinstance(one, Elsewhere)
    with monkeypatch.context() as patch:
        patch.setattr(module, "FORGOTTEN", 1.1 * WANTED)
        one.wait(0.3, nothing)
        until(lambda: not any(one.number in worker.streams for worker in pool._workers))
    assert not one.finished
    assert complete(one) == 2_500


def test_a_process_that_dies_of_a_stream_again_and_again_is_a_fault_of_the_stream(pool: Pool) -> None:
    one = pool.ask("dying", slow_streams.dying)
    complete(one)
    assert isinstance(one.problem, ValueError)  # which a page says in a sentence
    assert str(one.problem) == DIED
    assert complete(pool.ask("after it", partial(slow_streams.counted, 3, 0.001))) == 3


def test_a_worker_without_streams_takes_one_of_several_and_no_number_comes_twice() -> None:
    made = Pool()
    made.start(3)  # one of them for what is waited for
    try:
        asked = [made.ask(place, partial(slow_streams.counted, 2 if place % 2 else 80, 0.01)) for place in range(6)]
        for one in asked:
            one.wait(0.0, nothing)
        long, seen = asked[::2], [list[int](), list[int](), list[int]()]
        end = time.monotonic() + PATIENCE
        while not all(one.finished for one in long) and time.monotonic() < end:
            for one, numbers in zip(long, seen, strict=True):
                one.wait(0.01, nothing, one.count)
                if one.latest is not None:
                    numbers.append(one.latest)
        moved = [isinstance(one, Elsewhere) and one.moved for one in long]
        assert sum(moved) == 1
        assert [one.latest for one in long] == [80, 80, 80]
        assert all(numbers == sorted(numbers) for numbers in seen)
    finally:
        made.stop()


def replaced(pool: Pool, gone: object) -> bool:
    return bool(pool._workers) and gone not in pool._workers


def test_who_is_at_work_beside_what_does_not_stop_is_no_fault_of_its_own(pool: Pool) -> None:
    """A worker may be ended for what another stream does, and again: what goes on with it begins anew each time."""
    one = pool.ask("beside", partial(slow_streams.counted, 600, 0.001))
    for _ in range(TRIES + 2):
        count = one.count
        one.wait(PATIENCE, nothing, count)
        (worker,) = pool._workers
        worker.end()
        until(partial(replaced, pool, worker))
    assert complete(one) == 600


def test_a_worker_that_has_had_no_time_is_not_ended(pool: Pool) -> None:
    """It stands still, as on a machine that has none for it, for longer than it may take to stop; then it goes on."""
    one = pool.ask("starved", partial(slow_streams.counted, 3_000, 0.001))
    one.wait(PATIENCE, nothing, 0)
    (worker,) = pool._workers
    os.kill(worker._process.pid, signal.SIGSTOP)
    worker._stop(About.REST, one.number)  # type: ignore[attr-defined]
    for number, (_, work) in worker._stopping.items():
        worker._stopping[number] = time.monotonic() - 1.0, work
    assert worker.look()
    assert not worker.ended
    os.kill(worker._process.pid, signal.SIGCONT)
    until(lambda: not worker._stopping)
    assert pool._workers == [worker]


def test_who_asks_in_the_moment_in_which_a_stream_is_laid_to_rest_gets_it(
    pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One reader of a class in ten or so never saw the end of a picture: the worker heard of the rest last."""
    one = pool.ask("laid to rest", partial(slow_streams.counted, 600, 0.001))
    assert isinstance(one, Elsewhere)
    one.wait(PATIENCE, nothing, 0)
    (worker,) = pool._workers
    worked, asks = module._worked, threading.Thread(target=one.wait, args=(PATIENCE, nothing))

    def asked_again(process: int) -> float:
        """What is looked up between the note that it rests and the message."""
        if asks.ident is None:
            asks.start()
            asks.join(0.2)
        return worked(process)

    monkeypatch.setattr(module, "_worked", asked_again)
    one.wanted = time.monotonic() - 2 * WANTED
    worker.look()
    asks.join(PATIENCE)
    assert complete(one) == 600


def test_who_waits_can_leave(pool: Pool) -> None:
    one = pool.ask("moved", partial(slow_streams.counted, 1_000_000, 0.001))

    def moved() -> None:
        raise InterruptedError

    with pytest.raises(InterruptedError):
        one.wait(PATIENCE, moved)


def test_without_a_process_or_a_pickle_the_one_who_asks_takes_the_steps(pool: Pool) -> None:
    alone = Pool()
    assert isinstance(alone.ask("alone", partial(slow_streams.counted, 3, 0.0)), InPlace)
    local = pool.ask("local", lambda: iter([1, 2]))
    assert isinstance(local, InPlace)
    assert complete(local) == 2
    refusal = alone.ask("refused", partial(slow_streams.refused, 2))
    assert complete(refusal) == 1
    assert str(refusal.problem) == "2 is refused."
    assert POOL.ask("here", lambda: iter([1])).__class__ is InPlace  # no server has started it


def test_taking_a_moment_of_steps_is_one_step() -> None:
    one = InPlace(partial(slow_streams.counted, 3, 0.0))
    for number in (1, 2, 3):
        one.wait(0.0, nothing)
        assert one.latest == number
        assert not one.finished
    one.wait(0.0, nothing)
    assert one.finished


def test_a_stream_goes_on_until_it_has_more_to_tell_unless_something_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of streams that take turns at every moment each computes again what the others have driven out of memory."""
    taken = itertools.count(1)
    now = [0]

    def steps() -> Iterator[int]:
        for now[0] in taken:
            yield now[0]

    monkeypatch.setattr(working.time, "thread_time", lambda: now[0] * 0.01)  # type: ignore[attr-defined]
    for asked, most in ((False, working.FIRST), (True, 2 * QUANTUM)):
        told, first = list[Message](), now[0] + 1

        job = Job(1, steps())
        assert job.advance(told.append, lambda: asked)  # noqa: B023 (called at once)
        assert (now[0], len(told)) == (first, 1)  # the first result comes at once
        before = job.spent
        assert job.advance(told.append, lambda: asked)  # noqa: B023
        assert len(told) == (1 if asked else 2)
        assert QUANTUM <= job.spent - before <= most + 0.011


def test_who_waits_for_another_that_takes_the_steps_sleeps() -> None:
    one = InPlace(partial(slow_streams.counted, 3, 0.0))
    with one._lock:  # another thread is at it
        start, used = time.monotonic(), time.thread_time()
        one.wait(PATIENCE, nothing, 0)
        assert time.monotonic() - start > 0.1
        assert time.thread_time() - used < 0.05
        one.wait(0.0, nothing)  # who only looks does not wait
    assert one.latest is None
    assert complete(one) == 3


def test_the_axes_of_the_desk_are_the_same_in_another_process() -> None:
    for one in PATHS.values():
        assert pickle.loads(pickle.dumps(one)) is one
