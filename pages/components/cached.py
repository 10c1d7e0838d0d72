"""Computed results, kept by what made them and shared by all readers."""

import inspect
from collections.abc import Callable
from functools import cache, partial, wraps
from typing import Any, ParamSpec, TypeVar

import streamlit as st

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

ENTRIES, FEW_ENTRIES = 256, 16  # Results that are kept of a function, and of one whose results are large


def cached(
    function: Callable[Arguments, Result], spinner: str = "", entries: int = ENTRIES
) -> Callable[Arguments, Result]:
    """`function` of a module, which computes the same only once; what it raises is not kept.

    Its arguments must say all that they are when they are printed; the page says `spinner` while it computes.
    """
    kept = _store(f"{function.__module__}.{function.__qualname__}", spinner, entries)
    signature = inspect.signature(function)

    @wraps(function)
    def found(*args: Arguments.args, **rest: Arguments.kwargs) -> Result:
        given = signature.bind(*args, **rest)
        given.apply_defaults()
        made_from = repr((getattr(function, "__self__", None), given.arguments))
        result: Result = kept(made_from, partial(function, *args, **rest))
        return result

    return found


@cache
def _store(name: str, spinner: str, entries: int) -> Callable[[str, Callable[[], Any]], Any]:
    """A store of its own for each name: that is what Streamlit tells functions apart by."""

    def compute(arguments: str, _call: Callable[[], Any]) -> Any:
        return _call()

    compute.__qualname__ = name
    return st.cache_resource(max_entries=entries, show_spinner=spinner or False)(compute)
