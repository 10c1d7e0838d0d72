"""Computations in worker processes: shared, left when nobody needs them, and safe from dying workers."""

import math
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from dpviz.core import tasks, workers
from dpviz.core.tasks import Task, TaskPool
from tests.core import streams

TIMEOUT_S = 60.0
pytestmark = pytest.mark.usefixtures("plain_main")


@pytest.fixture(scope="module")
def pool() -> TaskPool:
    started = TaskPool()
    started.start(2, ["tests.core.streams"])
    return started


@pytest.fixture(scope="module")
def narrow_pool() -> TaskPool:
    """A pool with a single worker of less priority."""
    started = TaskPool(nice=7)
    started.start(1)
    return started


@pytest.fixture
def key(request: pytest.FixtureRequest) -> str:
    return request.node.nodeid


def finish(task: Task[Any]) -> Any:
    """The last result of a task; its error is raised."""
    task.wait(TIMEOUT_S, lambda: None)
    assert task.done
    if task.error is not None:
        raise task.error
    return task.latest


def wait_until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + TIMEOUT_S
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def worker_of(pool: TaskPool) -> int:
    return finish(pool.task(object(), streams.process_id))


def is_alive(process: int) -> bool:
    """Whether a process runs: one that has ended and that nobody has waited for does not."""
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(") ")[2]
    except OSError:
        return False
    return not state.startswith("Z")


def test_a_result_comes_from_another_process(pool, key):
    assert finish(pool.task(key, streams.process_id)) != os.getpid()


def test_readers_of_one_key_share_one_computation(pool, key, tmp_path):
    log = tmp_path / "log"
    function = partial(streams.count_in_file, log, 20, 0.01)
    results = []
    readers = [threading.Thread(target=lambda: results.append(finish(pool.task(key, function)))) for _ in range(5)]
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join()
    assert results == [20] * 5
    assert len(log.read_text().split("\n")) == 2
    assert pool.task(key, function) is pool.task(key, function)


def test_a_forgotten_key_is_computed_anew_and_its_task_still_completes(pool, key):
    task = pool.task(key, partial(streams.count, 20, 0.01))
    task.wait(TIMEOUT_S, lambda: None, min_version=1)
    pool.forget(key)
    assert pool.task(key, streams.process_id) is not task
    assert finish(task) == 20


def test_the_first_result_comes_at_once_and_the_last_one_is_final(pool, key):
    task = pool.task(key, partial(streams.count, 200, 0.01))
    task.wait(TIMEOUT_S, lambda: None, min_version=1)
    assert (task.latest, task.version, task.done) == (1, 1, False)
    assert finish(task) == 200
    assert 2 <= task.version <= 30


def test_a_result_that_comes_again_is_sent_once(monkeypatch):
    monkeypatch.setattr(workers, "SEND_INTERVAL_S", -1.0)
    first, second = ["a"], ["a"]
    events = []
    stream = partial(iter, [first, first, None, second, second])
    workers.run(0, stream, 0, [math.inf], lambda _number, event, payload, *_: events.append((event.name, payload)))
    assert events == [("RESULT", first), ("RESULT", second), ("DONE", None)]
    assert events[0][1] is first and events[1][1] is second


def test_a_restarted_run_sends_no_result_that_is_known(monkeypatch):
    monkeypatch.setattr(workers, "SEND_INTERVAL_S", -1.0)
    events = []
    stream = partial(iter, ["coarse", None, "fine"])
    workers.run(0, stream, 1, [math.inf], lambda _number, event, payload, *_: events.append((event.name, payload)))
    assert events == [("RESULT", "fine"), ("DONE", None)]


def test_what_a_generator_returns_is_its_last_result(pool, key):
    assert finish(pool.task(key, partial(streams.return_at_end, 7))) == 7
    assert finish(pool.task((key, None), partial(streams.return_at_end, None))) is None


def test_nothing_begins_before_somebody_waits(pool, key):
    task = pool.task(key, partial(streams.count, 3))
    worker_of(pool)
    assert task.version == 0
    assert finish(task) == 3


@pytest.mark.parametrize(("function", "message"), [
    (streams.fail, "2 is refused."),
    (streams.fail_beyond_pickle, "PlainError: 2: refused"),
    (streams.fail_to_send, "pickle"),
    (streams.exit_process, "SystemExit"),
])  # fmt: skip
def test_an_error_ends_the_task_and_not_the_worker(narrow_pool, key, function, message):
    worker = worker_of(narrow_pool)
    with pytest.raises(Exception, match=message):
        finish(narrow_pool.task(key, function))
    assert narrow_pool.task(key, function).done
    assert worker_of(narrow_pool) == worker


def test_an_error_has_the_traceback_of_the_worker(pool, key):
    with pytest.raises(ValueError, match="refused") as caught:
        finish(pool.task(key, streams.fail))
    assert "in fail" in "".join(caught.value.__notes__)


def test_what_cannot_be_pickled_is_computed_in_a_thread(pool, key):
    assert finish(pool.task(key, lambda: iter([1, os.getpid()]))) == os.getpid()


def test_threads_compute_until_processes_are_started():
    pool = TaskPool()
    task = pool.task("before", partial(streams.count, 100, 0.03))
    task.wait(TIMEOUT_S, lambda: None, min_version=1)
    assert finish(pool.task("process", streams.process_id)) == os.getpid()
    pool.start(1, ["tests.core.streams"])
    worker = worker_of(pool)
    assert worker != os.getpid()
    pool.start(3)
    assert worker_of(pool) == worker
    assert finish(task) == 100


def test_workers_give_way(narrow_pool, key):
    assert finish(narrow_pool.task(key, streams.priority)) == min(os.nice(0) + 7, 19)


@pytest.mark.parametrize(("is_released", "patience"), [(False, 20.0), (True, 1.9)])
def test_a_task_that_nobody_needs_ends_and_goes_on_from_its_last_result(pool, key, tmp_path, is_released, patience):
    log = tmp_path / "log"
    task = pool.task(key, partial(streams.count_in_file, log, 60, 0.1))
    task.wait(TIMEOUT_S, lambda: None, min_version=3)
    if is_released:
        task.release()
    before = log.read_text().count(".")
    wait_until(lambda: task._number is None)
    steps = log.read_text().count(".") - before
    assert steps <= patience / 0.1
    assert is_released or steps >= 10
    latest = task.latest
    seen = []
    while not task.done:
        task.wait(TIMEOUT_S, lambda: None, min_version=task.version + 1)
        seen.append(task.latest)
    assert seen == sorted(seen)
    assert seen[0] > latest
    assert seen[-1] == 60


def test_a_released_task_goes_on_while_another_reader_waits(pool, key, tmp_path):
    log = tmp_path / "log"
    task = pool.task(key, partial(streams.count_in_file, log, 30, 0.1))
    task.wait(TIMEOUT_S, task.release)
    assert task.latest == 30
    assert len(log.read_text().split("\n")) == 2


def test_an_interrupted_wait_releases_the_task(pool, key):
    def interrupt() -> None:
        raise InterruptedError

    task = pool.task(key, partial(streams.count, 1_000, 0.1))
    with pytest.raises(InterruptedError):
        task.wait(TIMEOUT_S, interrupt)
    wait_until(lambda: task._number is None)


def test_a_killed_worker_is_replaced_and_the_task_completes(pool, key):
    task = pool.task(key, partial(streams.count, 100, 0.01))
    task.wait(TIMEOUT_S, lambda: None, min_version=1)
    version = task.version
    for worker in {worker_of(pool) for _ in range(20)}:
        os.kill(worker, signal.SIGKILL)
    assert finish(task) == 100
    assert task.version > version
    assert is_alive(worker_of(pool))


def test_where_no_process_can_be_started_in_place_of_a_dead_one_a_thread_computes(monkeypatch):
    def fail() -> None:
        raise OSError

    pool = TaskPool()
    pool.start(1, ["tests.core.streams"])
    os.kill(worker_of(pool), signal.SIGKILL)
    with monkeypatch.context() as patch:
        patch.setattr(pool._workers, "_start_process", fail)
        assert worker_of(pool) == os.getpid()
    assert worker_of(pool) != os.getpid()


def test_results_of_a_repeated_computation_do_not_get_coarser(pool, key, tmp_path):
    task = pool.task(key, partial(streams.kill_first_worker, tmp_path / "died"))
    seen = []
    while not task.done:
        task.wait(TIMEOUT_S, lambda: None, min_version=task.version + 1)
        seen.append(task.latest)
    assert seen == sorted(seen)  # the last may come once more, when the task is done
    assert seen[-1] == 60
    assert (tmp_path / "died").exists()


def test_a_task_that_kills_its_workers_ends_in_an_error_and_no_other_task_does(pool, key):
    """Those that run beside it or wait behind it are repeated, however many tasks of the kind there are."""
    others = [pool.task((key, place), partial(streams.count, 20, 0.01)) for place in range(6)]
    killers = [pool.task((key, "killer", place), streams.kill_worker) for place in range(5)]
    for task in [*killers, *others]:
        task.keep_alive()
    for task in killers:
        with pytest.raises(ValueError, match="again and again"):
            finish(task)
    assert [finish(task) for task in others] == [20] * 6


def test_many_readers_get_their_results_while_workers_are_killed(pool, key):
    """No lock is taken in two orders, and nothing that was sent to a dying worker is lost."""
    stop = time.monotonic() + 4.0
    problems = []

    def read(seed: int) -> None:
        generator = random.Random(seed)
        while time.monotonic() < stop:
            number = generator.randrange(20)
            task = pool.task((key, number, generator.randrange(3)), partial(streams.count, number + 1, 0.001))
            task.wait(generator.choice([0.005, TIMEOUT_S]), lambda: None)
            if generator.random() < 0.3:
                task.release()
            elif finish(task) != number + 1:
                problems.append(number)
            if generator.random() < 0.5:
                pool.forget((key, number, 0))

    readers = [threading.Thread(target=read, args=(seed,)) for seed in range(12)]
    for reader in readers:
        reader.start()
    while time.monotonic() < stop - 0.5:
        os.kill(worker_of(pool), signal.SIGKILL)
        time.sleep(0.7)
    for reader in readers:
        reader.join(TIMEOUT_S)
    assert not any(reader.is_alive() for reader in readers)
    assert not problems


@pytest.fixture
def passing_time(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """All that has been used counts as used long ago."""
    monkeypatch.setattr(tasks, "RECENT_S", -1.0)
    yield


def test_the_number_of_kept_tasks_is_bounded(passing_time):
    pool = TaskPool()
    first = pool.task(0, partial(streams.count, 1))
    for number in range(1, tasks.KEPT_TASKS):
        pool.task(number, partial(streams.count, 1))
    assert pool.task(0, partial(streams.count, 1)) is first  # asked for last now
    second = pool.task(1, partial(streams.count, 1))
    pool.task("new", partial(streams.count, 1))
    assert pool.task(0, partial(streams.count, 1)) is first
    assert pool.task(1, partial(streams.count, 1)) is second
    assert len(pool._tasks) == tasks.KEPT_TASKS


def test_the_size_of_kept_results_is_bounded(pool, key, passing_time):
    size = tasks.KEPT_BYTES // 4
    for number in range(8):
        assert len(finish(pool.task((key, number), partial(streams.large_array, size)))) == size
    pool.task(key, streams.process_id)
    assert sum(task._size for task in pool._tasks.values()) <= tasks.KEPT_BYTES


def test_what_is_in_use_is_kept_at_any_size(monkeypatch):
    """Two pictures larger than all that is kept would drive each other out for ever."""
    monkeypatch.setattr(tasks, "KEPT_TASKS", 2)
    pool = TaskPool()
    used = [pool.task(number, partial(streams.count, 1)) for number in range(5)]
    assert [pool.task(number, partial(streams.count, 1)) for number in range(5)] == used


def test_stopped_pools_end_at_once_and_threads_compute_what_is_asked_for_later():
    """In a process of its own: all worker processes end, whatever they do."""
    script = """if True:
        import multiprocessing, time
        from functools import partial
        from dpviz.core import tasks
        from tests.core import streams

        if __name__ == "__main__":
            pool = tasks.TaskPool()
            pool.start(2)
            busy = pool.task("busy", partial(time.sleep, 60))
            busy.wait(1.0, lambda: None)
            start = time.monotonic()
            tasks.stop(pool)
            assert not multiprocessing.active_children() and time.monotonic() - start < 5
            late = pool.task("late", partial(streams.count, 3))
            late.wait(60, lambda: None)
            assert late.latest == 3
    """
    subprocess.run([sys.executable, "-c", script], check=True, timeout=TIMEOUT_S, cwd=Path(__file__).parents[2])
