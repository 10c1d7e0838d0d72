"""Computed results, kept by what made them and shared by all readers."""

import inspect
import threading
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from functools import cache, partial
from typing import Any, ParamSpec, TypeVar

import streamlit as st

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

ENTRIES, FEW_ENTRIES = 256, 16  # Results that are kept of a function, and of one whose results are large


class Store:
    """Results of one function by a text of its arguments; the one that was not asked for the longest goes first.

    One thread computes, and others that ask for the same wait. Streamlit's own cache looks at the function's signature
    several times for every result that it has, which takes longer than many of these results.
    """

    def __init__(self, entries: int) -> None:
        self._entries = entries
        self._kept: OrderedDict[str, Any] = OrderedDict()
        self._lock = threading.Lock()
        self._computing: dict[str, threading.Lock] = {}

    def get(self, made_from: str, compute: Callable[[], Any], spinner: str) -> Any:
        """The result that was made from this, computed if it is not there; `spinner` is said meanwhile."""
        found = self._found(made_from)
        if found:
            return found[0]
        with self._lock:
            mine = self._computing.setdefault(made_from, threading.Lock())
        with mine:
            found = self._found(made_from)
            if not found:
                try:
                    with st.spinner(spinner) if spinner else nullcontext():
                        found = (compute(),)
                    self._keep(made_from, found[0])
                finally:
                    self._computing.pop(made_from, None)
        return found[0]

    def _keep(self, made_from: str, result: object) -> None:
        with self._lock:
            self._kept[made_from] = result
            if len(self._kept) > self._entries:
                self._kept.popitem(last=False)

    def _found(self, made_from: str) -> tuple[Any, ...]:
        with self._lock:
            if made_from not in self._kept:
                return ()
            self._kept.move_to_end(made_from)
            return (self._kept[made_from],)


def cached(
    function: Callable[Arguments, Result], spinner: str = "", entries: int = ENTRIES
) -> Callable[Arguments, Result]:
    """`function` of a module, which computes the same only once; what it raises is not kept.

    Its arguments must say all that they are when they are printed; the page says `spinner` while it computes.
    """
    store = _store(f"{function.__module__}.{function.__qualname__}", entries)
    whole, bound = getattr(function, "__func__", function), getattr(function, "__self__", None)
    first = () if bound is None else (bound,)

    def found(*args: Arguments.args, **rest: Arguments.kwargs) -> Result:
        given = _signature(whole).bind(*first, *args, **rest)
        given.apply_defaults()
        result: Result = store.get(repr(given.arguments), partial(function, *args, **rest), spinner)
        return result

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
    _store.cache_clear()


@cache
def _store(name: str, entries: int) -> Store:
    """A store for each name: a page makes its own functions anew in every run."""
    return Store(entries)


@cache
def _signature(function: Callable[..., Any]) -> inspect.Signature:
    return inspect.signature(function)
