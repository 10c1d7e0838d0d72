"""Computed results, kept by what made them and shared by all readers, within the budget of the process."""

import hashlib
import inspect
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from functools import lru_cache, partial
from typing import Any, cast

import streamlit as st

from dpviz.core.keeping import KEPT
from dpviz.core.pool import POOL, single
from dpviz.core.types import Arguments, Result
from pages.components.turns import TURNS, breathe

SOON = 0.3  # Seconds of waiting after which a page says what it waits for
LONGEST_KEY = 1_000  # Characters of a text by which a result is kept; of a longer one its fingerprint


def cached(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """`function` of a module, which computes the same only once; what it raises is not kept.

    Its arguments must say all that they are when they are printed.
    Streamlit's own cache looks at the function's signature several times for every result that it has, which takes
    longer than many of these results.
    """

    def found(*args: Arguments.args, **rest: Arguments.kwargs) -> Result:
        return KEPT.get(_key(function, args, rest), partial(function, *args, **rest))

    return found


def elsewhere(function: Callable[Arguments, Result], words: str = "") -> Callable[Arguments, Result]:
    """The same for what takes long: beside the process that serves, once for all who ask; the page says `words`.

    Without any the page stands as it is: to say something in the midst of it moves all that follows.
    """

    def found(*args: Arguments.args, **rest: Arguments.kwargs) -> Result:
        key = _key(function, args, rest)
        known: tuple[Result, ...] = KEPT.find(key)
        if not known:
            going = POOL.ask(key, partial(single, function, *args, **rest), waited_for=True)
            with TURNS.aside():
                going.wait(SOON, breathe)
            if not going.finished:
                with st.spinner(words) if words else nullcontext(), TURNS.aside():
                    while not going.finished:
                        going.wait(SOON, breathe)
            if going.problem is not None:
                raise going.problem
            known = (cast(Result, going.latest),)
            KEPT.keep(key, known[0])
        return known[0]

    return found


def apart(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """The same for what takes some milliseconds: where others wait for their turn, beside the process that serves.

    Where that has enough to do, it is computed in place.
    """
    return elsewhere(function) if TURNS.crowded and not POOL.behind else cached(function)


def _key(function: Callable[..., Any], args: tuple[Any, ...], rest: dict[str, Any]) -> tuple[str, str]:
    """What a result is kept by."""
    whole, bound = getattr(function, "__func__", function), getattr(function, "__self__", None)
    given = _signature(whole).bind(*(() if bound is None else (bound,)), *args, **rest)
    given.apply_defaults()
    return f"{function.__module__}.{function.__qualname__}", _written(given.arguments)


def last_of(stream: Callable[Arguments, Iterator[Result]]) -> Callable[Arguments, Result]:
    """The last result of a stream, computed only once."""
    return lambda *args, **rest: cached(_last)(stream, args, rest)


def _last(stream: Callable[..., Iterator[Result]], args: tuple[object, ...], rest: dict[str, object]) -> Result:
    (last,) = deque(stream(*args, **rest), maxlen=1)
    return last


def forget() -> None:
    """Forget all results: what was computed before is computed anew."""
    KEPT.clear()


def once(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """`function`, which computes once for the same arguments, and for all that ask at the same time.

    What `functools.cache` has not kept yet it computes again for everyone who asks meanwhile.
    """
    found: dict[tuple[Any, ...], tuple[threading.Lock, list[Result]]] = {}

    def get(*args: Arguments.args, **rest: Arguments.kwargs) -> Result:
        lock, result = found.setdefault((args, *sorted(rest.items())), (threading.Lock(), []))
        if not result:
            with lock:
                if not result:
                    result.append(function(*args, **rest))
        return result[0]

    return get


def _written(arguments: dict[str, Any]) -> str:
    """What a result is kept by: its arguments as they print, and of long texts among them a fingerprint."""
    return repr({name: _short(value) for name, value in arguments.items()})


def _short(value: object) -> object:
    if not isinstance(value, (str, bytes)) or len(value) <= LONGEST_KEY:
        return value
    letters = value.encode("utf-8", "surrogatepass") if isinstance(value, str) else value
    return type(value).__name__, len(value), hashlib.sha256(letters).hexdigest()


@lru_cache(maxsize=512)
def _signature(function: Callable[..., Any]) -> inspect.Signature:
    return inspect.signature(function)
