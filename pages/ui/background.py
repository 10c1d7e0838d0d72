"""Pages that refine: a page draws what is known, and runs again once a background task has something new."""

import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

import streamlit as st

from dpviz.core.tasks import Task, TaskPool

Result = TypeVar("Result")

POLL_INTERVAL_S = 0.05
FIRST_PAUSE_S = 0.15
SHORTEST_PAUSE_S = 0.3
LONGEST_PAUSE_S = 5.0
# How many times as long as drawing the page took the first, second and every further refinement waits at least: the
# slower a busy server draws, the less it refines
PAUSES_PER_DRAWING = (2.0, 5.0, 10.0)

ANSWERS = TaskPool(nice=0)  # short computations that a page waits for, and what a reader has started with a button
CURVES = TaskPool(nice=19)  # everything that refines while the reader looks on
MODULES = (  # what the computations need: loaded once, in the process from which all workers are forked
    "dpviz.comparisons.overview", "dpviz.inference.prior_tables", "dpviz.audit.curves", "dpviz.comparisons",
    "dpviz.coverage", "dpviz.curator.search", "dpviz.plans",
)  # fmt: skip
_STATE = "background"
_page_lock = threading.Lock()  # held while a page is drawn: threads that draw side by side slow each other down
_queue: set[int] = set()  # threads that wait for the lock
_thread = threading.local()


@dataclass
class _Refinement:
    """What a run of a page waits for: tasks with the versions that it has drawn, and a time."""

    count: int = 0  # refinements since the reader has moved a control
    pending: list[tuple[Task[Any], int]] = field(default_factory=list)
    due: float | None = None
    drawing_time: float = 0.0  # seconds
    on_rest: Callable[[], object] | None = None
    rest: float = 0.0  # time.monotonic() at which it is called


@contextmanager
def refining() -> Iterator[None]:
    """Draw a page, one at a time in this process; then wait for news of its tasks, and run it again.

    The last statement of the main script: ``with refining(): page.run()``.
    """
    # A list of pending tasks that an interrupted run has left behind would keep them alive: it is replaced
    current = st.session_state[_STATE] = _Refinement(count=st.session_state.pop("refinements", 0))
    start = time.monotonic()
    _acquire()
    try:
        yield
    finally:
        _release()
    current.drawing_time = time.monotonic() - start
    if current.on_rest is not None:
        while time.monotonic() < current.rest:
            _pause(current)
        current.on_rest()
    if current.pending or current.due is not None:
        _wait_for_news(current)
        st.session_state["refinements"] = current.count + 1
        st.rerun()


def latest(function: Callable[..., Iterator[Result | None]], *args: Any, **arguments: Any) -> Result | None:
    """Latest result of a long computation, None before the first; arguments as of `progress`."""
    return progress(function, *args, **arguments)[0]


def progress(
    function: Callable[..., Iterator[Result | None]], *args: Any, pool: TaskPool = CURVES, timeout: float = 0.02,
    **arguments: Any,
) -> tuple[Result | None, bool]:  # fmt: skip
    """Latest result of a long computation, and whether it is the last; the page runs again for the next.

    The function returns an iterator of results, coarse to fine, which depend on its arguments alone; these are
    picklable and hashable. What it raises is raised here. `CURVES` is for what refines while the reader looks on,
    `ANSWERS` for what a reader waits for; `timeout` are seconds to wait for all of it, as it then needs no second run.
    """
    # All readers share a computation by its key; a bound method belongs to its object
    owner = getattr(function, "__self__", None)
    key = f"{function.__module__}.{function.__qualname__}", owner, args, tuple(sorted(arguments.items()))
    task: Task[Result] = pool.task(key, partial(_stream, function, args, arguments))
    task.keep_alive()
    refinement: _Refinement | None = st.session_state.get(_STATE)
    if refinement is None:  # a page that runs by itself, as in a test: nothing would run it again
        timeout = LONGEST_PAUSE_S * 100
    # Whoever leaves the lock queues anew behind all who wait for it: that is worth an answer, but no curve
    if not task.done and (pool is ANSWERS or not _queue or refinement is None):
        _wait(task, timeout)
    is_done = task.done  # read before the result: another may come in between
    version = task.version
    if task.error is not None:
        pool.forget(key)
        raise task.error
    if not is_done and refinement is not None:
        refinement.pending.append((task, version))
    return task.latest, is_done


def result(function: Callable[..., Result], *args: Any, spinner: str = "", **arguments: Any) -> Result:
    """Result of a function, computed in another process while this one draws other pages.

    It depends on the arguments alone, which are picklable and hashable: equal ones share one computation. What the
    function raises is raised here. Meanwhile a `spinner` is shown with these words, if any.
    """
    with st.spinner(spinner) if spinner else nullcontext():
        return latest(function, *args, pool=ANSWERS, timeout=math.inf, **arguments)  # type: ignore[arg-type, return-value]


def refresh_after(seconds: float) -> None:
    """Run the page again after some seconds, such as for the next step of an animation."""
    refinement: _Refinement | None = st.session_state.get(_STATE)
    if refinement is not None:
        due = time.monotonic() + seconds
        refinement.due = due if refinement.due is None else min(refinement.due, due)


def call_at_rest(function: Callable[[], object], not_before: float) -> None:
    """Call a function once the page is drawn and `time.monotonic()` is `not_before`, unless a control is moved first.

    A page that runs by itself, as in a test, calls it at once.
    """
    refinement: _Refinement | None = st.session_state.get(_STATE)
    if refinement is None:
        function()
    else:
        refinement.on_rest = function
        refinement.rest = not_before


def check_interrupt() -> None:
    """Let Streamlit end this run if a control was moved: it looks at every access to the session state."""
    st.session_state.get(_STATE)


def _stream(function: Callable[..., Any], args: tuple[Any, ...], arguments: dict[str, Any]) -> Iterator[Any]:
    """Results of a function that returns an iterator, or its only one."""
    results = function(*args, **arguments)
    if isinstance(results, Iterator):
        return (yield from results)
    yield results


def _wait_for_news(refinement: _Refinement) -> None:
    """Wait, without the lock, until the page should be drawn again."""
    start = time.monotonic()
    factor = PAUSES_PER_DRAWING[min(refinement.count, len(PAUSES_PER_DRAWING) - 1)]
    shortest = SHORTEST_PAUSE_S if refinement.count else FIRST_PAUSE_S
    pause = min(max(shortest, factor * refinement.drawing_time), LONGEST_PAUSE_S)
    last_pause = min(pause, max(FIRST_PAUSE_S, 2 * refinement.drawing_time))  # the last picture comes soon
    while (waited := time.monotonic() - start) < LONGEST_PAUSE_S:
        if refinement.due is not None and time.monotonic() >= refinement.due:
            return
        is_last = bool(refinement.pending) and all(task.done for task, _ in refinement.pending)
        has_news = any(task.done or task.version > version for task, version in refinement.pending)
        # A reader who has moved a control comes before one whose picture only gets finer
        if has_news and not _queue and waited >= (last_pause if is_last else pause):
            return
        _pause(refinement)


def _pause(refinement: _Refinement) -> None:
    """Wait for a moment; a control that is moved, or a reader who leaves, ends the run, which then needs no task."""
    time.sleep(POLL_INTERVAL_S)
    for task, _ in refinement.pending:
        task.keep_alive()
    try:
        check_interrupt()
    except BaseException:  # Streamlit ends a run by what is no Exception
        for task, _ in refinement.pending:
            task.release()
        raise


def _wait(task: Task[Any], seconds: float) -> None:
    """Wait for a task, and let others draw meanwhile."""
    has_lock = getattr(_thread, "has_lock", False)
    if has_lock:
        _release()
    try:
        task.wait(seconds, check_interrupt)
    finally:
        if has_lock:
            _acquire()


def _acquire() -> None:
    _queue.add(threading.get_ident())
    _page_lock.acquire()
    _queue.discard(threading.get_ident())
    _thread.has_lock = True


def _release() -> None:
    _thread.has_lock = False
    _page_lock.release()
