"""What a public function asks of its arguments, checked in one place before it runs."""

import functools
import inspect
import math
import types
import typing
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, TypeVar

import numpy as np

from dpviz.core.formatting import describe_value
from dpviz.core.parameters import Parameter, plain_number

Function = TypeVar("Function", bound=Callable[..., Any])
Check = Callable[[Any], object]
Declared = Parameter | Collection[str]

GAPS: Collection[str] = frozenset()  # Declares an array that holds NaN where there is no number
ARRAY = "an array of numbers"  # How messages call an array
SEVERAL = inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD  # Arguments that no name is checked by
LARGEST_WHOLE = 2**63  # Beyond the whole numbers that an array can hold
NOT_OF_KIND = object()  # No checked value: what came is not of this kind


class WrongKind(TypeError, ValueError):
    """An argument of a kind that is not accepted; who catches what is wrong with a value catches it too."""


def checked(*broadcast: str, **declared: Declared) -> Callable[[Function], Function]:
    """Check the arguments of the decorated function by what is declared of them and by their annotations.

    A number arrives as a plain int or float, an array as an array; numpy's numbers, fractions and decimals are numbers,
    truth values are none. The wrong kind is a TypeError, a value outside its domain a ValueError, in a sentence.
    Arguments in `broadcast` must have shapes that go together. `declared` gives, by the name of the argument, the
    declaration of a number, the words that are accepted, or GAPS where NaN may be.

    >>> @checked(kind=("low", "high"))
    ... def shift(kind: str, by: int) -> int:
    ...     return by if kind == "high" else -by
    >>> shift("high", np.int8(3))
    3
    >>> shift("middle", 3)
    Traceback (most recent call last):
    ValueError: kind must be one of low, high; got 'middle'.
    """

    def decorate(function: Function) -> Function:
        signature = inspect.signature(function)
        missing = set(declared) - set(signature.parameters)
        if missing:
            raise TypeError(f"{function.__name__} has no arguments {', '.join(sorted(missing))}.")

        named = {name: replace(one, name=name) if isinstance(one, Parameter) else one for name, one in declared.items()}

        @functools.cache
        def checks() -> tuple[list[Check], dict[str, Check]]:
            """Those of the arguments in order, and of all by name; at the first call: hints may name later imports."""
            hints = typing.get_type_hints(function)
            single = {name: one for name, one in signature.parameters.items() if one.kind not in SEVERAL}
            by_name = {name: _check(name, hints.get(name, Any), named.get(name), name in broadcast) for name in single}
            return [by_name[name] for name, one in single.items() if one.kind is not one.KEYWORD_ONLY], by_name

        @functools.wraps(function)
        def guarded(*args: Any, **kwargs: Any) -> Any:
            in_order, by_name = checks()
            given = [check(value) for check, value in zip(in_order, args, strict=False)]
            if not (kwargs or broadcast):  # as nearly always
                return function(*given, *args[len(given) :])
            rest = {name: by_name[name](value) if name in by_name else value for name, value in kwargs.items()}
            if broadcast:
                together: dict[str, Any] = dict(zip(signature.parameters, given, strict=False)) | rest
                shapes = {name: np.shape(together[name]) for name in broadcast if name in together}
                try:
                    np.broadcast_shapes(*shapes.values())
                except ValueError:
                    told = ", ".join(f"{name} {shape}" for name, shape in shapes.items())
                    all_names = " and ".join(broadcast)
                    raise ValueError(f"{all_names} must have shapes that go together; got {told}.") from None
            return function(*given, *args[len(given) :], **rest)

        return typing.cast(Function, guarded)

    return decorate


def _check(name: str, annotation: Any, declared: Declared | None, broadcast: bool) -> Check:
    """Return the check of one argument: every kind that its annotation allows is tried in turn."""
    union = typing.get_origin(annotation) in (typing.Union, types.UnionType)
    options = typing.get_args(annotation) if union else (annotation,)
    if any(option in (Any, object) or isinstance(option, TypeVar) for option in options):
        return lambda value: value
    kinds = [_kind(option) for option in options if option is not type(None)]
    kinds.sort(key=lambda kind: kind not in (PLAIN_KINDS[float], PLAIN_KINDS[int]))  # a single number is no array
    optional = type(None) in options
    many = any(words.startswith((ARRAY, PLAIN_KINDS[Sequence][0])) for words, _ in kinds)
    words = [word for option in options if typing.get_origin(option) is Literal for word in typing.get_args(option)]
    accepted = words if declared is None or isinstance(declared, Parameter) else declared

    allowed = " or ".join(dict.fromkeys([*(kind for kind, _ in kinds), *(["None"] if optional else [])]))
    single = broadcast or any(kind in (PLAIN_KINDS[float], PLAIN_KINDS[int]) for kind in kinds)

    def refusal(allowed: str, value: object) -> str:
        return f"{name} must be {allowed}; got {describe_value(value)}."

    # Of most arguments one thing alone is asked, and nothing of it at every call.
    if isinstance(declared, Parameter) and single and not (many or optional):
        return declared.validate
    if len(kinds) == 1 and not (declared or accepted or many or optional):
        return functools.partial(_of_kind, kinds[0][1], functools.partial(refusal, allowed))

    def check(value: object) -> object:
        if value is None and optional:
            return None
        if isinstance(declared, Parameter):
            if many and _sequence(value) is not NOT_OF_KIND:
                numbers = declared.validate_array(value)
                if numbers.ndim > 1 and PLAIN_KINDS[np.ndarray] not in kinds:
                    raise WrongKind(refusal(allowed, value))
                return numbers
            if single:
                return declared.validate(value)
        if accepted and isinstance(value, str) and value not in accepted:
            raise ValueError(refusal(f"one of {', '.join(accepted)}", value))
        found = next((found for _, read in kinds if (found := read(value)) is not NOT_OF_KIND), NOT_OF_KIND)
        if found is NOT_OF_KIND or (isinstance(found, np.ndarray) and found.ndim == 0 and not single):
            raise WrongKind(refusal(allowed, value))
        if isinstance(found, np.ndarray) and found.dtype.kind == "f" and declared is not GAPS and np.isnan(found).any():
            raise ValueError(refusal(f"{ARRAY} without NaN", value))
        return found

    return check


def _of_kind(read: Check, refusal: Callable[[object], str], value: object) -> object:
    found = read(value)
    if found is NOT_OF_KIND:
        raise WrongKind(refusal(value))
    return found


def _kind(option: Any) -> tuple[str, Check]:
    """Return a kind of value in words, and what reads a value of it: the value to go on with, or NOTHING."""
    origin = typing.get_origin(option) or option
    if origin is Literal:
        accepted = typing.get_args(option)
        return f"one of {', '.join(accepted)}", lambda value: _if(isinstance(value, str) and value in accepted, value)
    if origin in PLAIN_KINDS:
        words, read = PLAIN_KINDS[origin]
        inside = next(iter(typing.get_args(option)), Any)
        own = inspect.isclass(inside) and inside not in PLAIN_KINDS and inside is not object
        if origin not in (Sequence, list, tuple) or not (own or inside in (str, bool)):
            return words, read
        one, read_one = _kind(inside)

        def read_each(value: object) -> object:
            items: Any = read(value)
            return _if(items is not NOT_OF_KIND and all(read_one(item) is not NOT_OF_KIND for item in items), items)

        return f"{words} in which every item is {one}", read_each
    article = "an" if origin.__name__[0] in "AEIO" else "a"
    known: dict[type, bool] = {}

    def belongs(value: object) -> object:
        kind = type(value)
        if kind not in known:  # of a protocol, Python looks at every method, each time
            known[kind] = issubclass(kind, origin)
        return _if(known[kind], value)

    return f"{article} {origin.__name__}", belongs


def _if(condition: bool, value: object) -> object:
    return value if condition else NOT_OF_KIND


def _whole(value: object) -> object:
    number = plain_number(value)
    if number is None or abs(number) >= LARGEST_WHOLE or number != math.floor(number):
        return NOT_OF_KIND
    return int(number)


def _real(value: object) -> object:
    number = plain_number(value)
    try:
        return NOT_OF_KIND if number is None else float(number)
    except OverflowError:
        return NOT_OF_KIND


def _array(value: object) -> object:
    try:
        array = np.asarray(value)
    except ValueError:
        return NOT_OF_KIND
    return _if(array.dtype.kind in "iuf" and not np.ma.is_masked(value), array)


def _sequence(value: object) -> object:
    if isinstance(value, np.ndarray):
        return _if(value.ndim > 0, value)
    return _if(isinstance(value, Sequence) and not isinstance(value, (str, bytes)), value)


# Kinds of values that are no classes of dpviz, in words, and what reads them.
PLAIN_KINDS: dict[Any, tuple[str, Check]] = {
    int: ("a whole number", _whole),
    float: ("a number", _real),
    bool: ("True or False", lambda value: bool(value) if isinstance(value, (bool, np.bool_)) else NOT_OF_KIND),
    str: ("text", lambda value: _if(isinstance(value, str), value)),
    bytes: ("bytes", lambda value: _if(isinstance(value, bytes), value)),
    np.ndarray: (ARRAY, _array),
    Sequence: ("a sequence", _sequence),
    list: ("a list", _sequence),
    tuple: ("a tuple", _sequence),
    Mapping: ("a mapping", lambda value: _if(isinstance(value, Mapping), value)),
    dict: ("a dictionary", lambda value: _if(isinstance(value, Mapping), value)),
}
