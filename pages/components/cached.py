"""Computed results, kept by what made them and shared by all readers, within the budget of the process."""

import hashlib
import inspect
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from functools import lru_cache
from typing import Any

import streamlit as st

from dpviz.core.keeping import KEPT
from dpviz.core.types import Arguments, Result

LONGEST_KEY = 1_000  # Characters of a text by which a result is kept; of a longer one its fingerprint


def cached(function: Callable[Arguments, Result], spinner: str = "") -> Callable[Arguments, Result]:
    """`function` of a module, which computes the same only once; what it raises is not kept.

    Its arguments must say all that they are when they are printed; the page says `spinner` while it computes.
    Streamlit's own cache looks at the function's signature several times for every result that it has, which takes
    longer than many of these results.
    """
    name = f"{function.__module__}.{function.__qualname__}"
    whole, bound = getattr(function, "__func__", function), getattr(function, "__self__", None)
    first = () if bound is None else (bound,)

    def found(*args: Arguments.args, **rest: Arguments.kwargs) -> Result:
        def compute() -> Result:
            with st.spinner(spinner) if spinner else nullcontext():
                return function(*args, **rest)

        given = _signature(whole).bind(*first, *args, **rest)
        given.apply_defaults()
        return KEPT.get((name, _written(given.arguments)), compute)

    return found


def first_of(stream: Callable[Arguments, Iterator[Result]]) -> Callable[Arguments, Result]:
    """The first result of a stream, computed only once."""
    return lambda *args, **rest: cached(_first)(stream, args, rest)


def last_of(stream: Callable[Arguments, Iterator[Result]]) -> Callable[Arguments, Result]:
    """The last result of a stream, computed only once."""
    return lambda *args, **rest: cached(_last)(stream, args, rest)


def _first(stream: Callable[..., Iterator[Result]], args: tuple[object, ...], rest: dict[str, object]) -> Result:
    return next(stream(*args, **rest))


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
