"""What a public function asks of its arguments, checked in one place before it runs."""

from __future__ import annotations

import functools
import inspect
import math
import types
import typing
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Literal, TypeVar

import numpy as np

from dpviz.parameters import Parameter, plain_number, shown

Function = TypeVar("Function", bound=Callable[..., Any])
Check = Callable[[object], object]

NOTHING = object()
"""No checked value: what came is not of this kind."""


def checked(**declared: Parameter | Collection[str]) -> Callable[[Function], Function]:
    """Check the arguments of the decorated function by what is declared of them and by their annotations.

    A number arrives as a plain int or float, an array of numbers as an array; numpy's numbers, fractions and decimals
    are numbers, truth values are none. What is not of the annotated kind is refused by a TypeError, what is outside
    its domain by a ValueError; both are sentences that name the argument, what is allowed and what came.

    Parameters
    ----------
    **declared
        By the name of the argument: the declaration of a number, or the words that are accepted.

    Examples
    --------
    >>> @checked(kind=("low", "high"))
    ... def shift(kind: str, by: int, start: float | None = None) -> float:
    ...     return (start or 0.0) + (by if kind == "high" else -by)
    >>> shift("high", np.int8(3), np.float32(0.5))
    3.5
    >>> shift("high", True)
    Traceback (most recent call last):
    TypeError: by must be a whole number; got True.
    >>> shift("middle", 3)
    Traceback (most recent call last):
    ValueError: kind must be one of low, high; got 'middle'.
    """

    def decorate(function: Function) -> Function:
        signature = inspect.signature(function)
        missing = set(declared) - set(signature.parameters)
        if missing:
            raise TypeError(f"{function.__name__} has no arguments {', '.join(sorted(missing))}.")

        @functools.cache
        def checks() -> dict[str, Check]:
            """Made at the first call: annotations may name what is imported later."""
            hints = typing.get_type_hints(function)
            kinds = {name: one.kind for name, one in signature.parameters.items()}
            return {
                name: _check(name, hints.get(name, Any), declared.get(name))
                for name, kind in kinds.items()
                if kind not in (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
            }

        @functools.wraps(function)
        def guarded(*args: Any, **kwargs: Any) -> Any:
            bound = signature.bind(*args, **kwargs)
            for name, check in checks().items():
                if name in bound.arguments:
                    bound.arguments[name] = check(bound.arguments[name])
            return function(*bound.args, **bound.kwargs)

        return typing.cast(Function, guarded)

    return decorate


def _check(name: str, annotation: Any, declared: Parameter | Collection[str] | None) -> Check:
    """The check of one argument: every kind that its annotation allows is tried in turn."""
    options = typing.get_args(annotation) if _is_union(annotation) else (annotation,)
    if any(option in (Any, object) or isinstance(option, TypeVar) for option in options):
        return lambda value: value
    kinds = [_kind(option) for option in options if option is not type(None)]
    optional = type(None) in options
    many = any(words == ARRAY for words, _ in kinds)

    def check(value: object) -> object:
        if value is None and optional:
            return None
        if isinstance(declared, Parameter):
            several = many and _sequence(value) is not NOTHING
            return declared.check_each(value) if several else declared.check(value)
        for _, read in kinds:
            found = read(value)
            if found is not NOTHING:
                break
        else:
            allowed = " or ".join(dict.fromkeys([*(words for words, _ in kinds), *(["None"] if optional else [])]))
            raise TypeError(f"{name} must be {allowed}; got {shown(value)}.")
        if declared is not None and value not in declared:
            raise ValueError(f"{name} must be one of {', '.join(declared)}; got {shown(value)}.")
        return found

    return check


def _is_union(annotation: Any) -> bool:
    return typing.get_origin(annotation) in (typing.Union, types.UnionType)


ARRAY = "an array of numbers"


def _kind(option: Any) -> tuple[str, Check]:
    """A kind of value in words, and what reads a value of it: the value to go on with, or NOTHING."""
    origin = typing.get_origin(option) or option
    if origin is Literal:
        words = typing.get_args(option)
        return f"one of {', '.join(words)}", lambda value: _if(isinstance(value, str) and value in words, value)
    if origin in PLAIN:
        return PLAIN[origin]
    article = "an" if origin.__name__[0] in "AEIO" else "a"
    return f"{article} {origin.__name__}", lambda value: _if(isinstance(value, origin), value)


def _if(condition: bool, value: object) -> object:
    return value if condition else NOTHING


def _whole(value: object) -> object:
    number = plain_number(value)
    if number is None or abs(number) == math.inf or number != math.floor(number):
        return NOTHING
    return int(number)


def _real(value: object) -> object:
    number = plain_number(value)
    try:
        return NOTHING if number is None else float(number)
    except OverflowError:
        return NOTHING


def _array(value: object) -> object:
    try:
        array = np.asarray(value)
    except ValueError:
        return NOTHING
    return _if(array.ndim > 0 and array.dtype.kind in "iuf", array)


def _sequence(value: object) -> object:
    if isinstance(value, np.ndarray):
        return _if(value.ndim > 0, value)
    return _if(isinstance(value, Sequence) and not isinstance(value, (str, bytes)), value)


PLAIN: dict[Any, tuple[str, Check]] = {
    int: ("a whole number", _whole),
    float: ("a number", _real),
    bool: ("True or False", lambda value: bool(value) if isinstance(value, (bool, np.bool_)) else NOTHING),
    str: ("text", lambda value: _if(isinstance(value, str), value)),
    bytes: ("bytes", lambda value: _if(isinstance(value, bytes), value)),
    np.ndarray: (ARRAY, _array),
    Sequence: ("a sequence", _sequence),
    list: ("a list", _sequence),
    tuple: ("a tuple", _sequence),
    Mapping: ("a mapping", lambda value: _if(isinstance(value, Mapping), value)),
    dict: ("a dictionary", lambda value: _if(isinstance(value, Mapping), value)),
}
"""Kinds of values that are no classes of dpviz."""
