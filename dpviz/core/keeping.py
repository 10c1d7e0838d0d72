"""Results kept by what they were made from, within one budget of bytes for the whole process."""

from __future__ import annotations

import sys
import threading
from collections import OrderedDict, deque
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, fields, is_dataclass
from functools import lru_cache, partial, wraps
from types import FunctionType, MappingProxyType, ModuleType
from typing import Any

import numpy as np

from dpviz.core.types import Arguments, FloatArray, Result

BUDGET = 128_000_000  # Bytes that all that is kept may take
PLAIN = frozenset({int, float, str, bool, bytes, type(None)})
SHARED = type, ModuleType, FunctionType, threading.Thread, type(threading.Lock())  # not the result's own


def size_of(thing: object) -> int:
    """About how many bytes something takes with all that it holds, each part counted once.

    >>> size_of(np.zeros(1000)) > 8000, size_of([np.zeros(1000)] * 2) < 8500
    (True, True)
    """
    seen, waiting, size = set[int](), [thing], 0
    while waiting:
        one = waiting.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        kind = type(one)
        if kind in PLAIN:  # most parts are
            size += sys.getsizeof(one)
            continue
        parts = _parts_of(kind)  # type: ignore[arg-type]
        if parts is not None:
            size += sys.getsizeof(one, 0)
            waiting += parts(one)
    return size


@lru_cache(maxsize=1_000)
def _parts_of(kind: type) -> Callable[[Any], Iterable[object]] | None:
    """What returns the parts of a thing of this kind; None where it is not a result's own."""
    if issubclass(kind, SHARED):
        return None
    if issubclass(kind, np.ndarray):
        return _parts_of_array
    if issubclass(kind, (dict, MappingProxyType)):
        return lambda one: [*one.keys(), *one.values()]
    if issubclass(kind, (list, tuple, set, frozenset, deque)):
        return iter
    if issubclass(kind, (str, bytes, int, float)):
        return lambda _: ()
    slots = [name for base in kind.__mro__ for name in getattr(base, "__slots__", ()) if name != "__weakref__"]
    return lambda one: [getattr(one, name, None) for name in ("__dict__", *slots)]


def _parts_of_array(array: FloatArray) -> list[object]:
    return [array.base, *(array.ravel().tolist() if array.dtype == object else [])]


def _settled(value: object) -> bool:
    """Whether something will never take more bytes: a number, a text, an array, or some of them."""
    if isinstance(value, tuple):
        return all(map(_settled, value))
    return (
        type(value) in PLAIN
        or isinstance(value, np.generic)
        or (isinstance(value, np.ndarray) and value.dtype != object)
    )


def bare(thing: Any) -> Any:
    """Return a record without the arrays that it has computed since it was made: they would be kept with a key."""
    if type(thing) is tuple:
        return tuple([one if type(one) in PLAIN else bare(one) for one in thing])
    names = _compared(type(thing))  # type: ignore[arg-type]
    if names is None:
        return thing
    copy = object.__new__(type(thing))
    vars(copy).update(
        (name, value if type(value) in PLAIN else bare(value))
        for name, value in [*vars(thing).items()]
        if name in names or isinstance(value, (str, int, float))  # a fingerprint takes as long to compute as to read
    )
    return copy


@lru_cache(maxsize=1_000)
def _compared(kind: type) -> frozenset[str] | None:
    """The fields of records of a kind, which are compared by what they hold; None where it has none."""
    is_record = is_dataclass(kind) and kind.__eq__ is not object.__eq__
    return frozenset(one.name for one in fields(kind)) if is_record else None


@dataclass(eq=False)
class _Entry:
    value: Any
    size: int
    grows: bool  # whether the value may hold more later
    asked: int = 0


class Kept:
    """Results by what they were made from, at most `most` bytes: what was not asked for the longest goes first.

    One thread computes, and others that ask for the same wait. What is larger than all may be is not kept. What a
    result computes of itself later belongs to it: its size is taken again when it is asked for the first, second,
    fourth, eighth … time.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._entries: OrderedDict[Hashable, _Entry] = OrderedDict()
        self._computing: dict[Hashable, threading.Lock] = {}
        self.size = 0

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: Hashable, compute: Callable[[], Result]) -> Result:
        """Return what was made from `key`, computed if it is not there; what is raised is not kept."""
        found: tuple[Result, ...] = self.find(key)
        if found:
            return found[0]
        with self._lock:
            mine = self._computing.setdefault(key, threading.Lock())
        with mine:
            found = self.find(key)
            if not found:
                try:
                    found = (compute(),)
                    self.keep(key, found[0])
                finally:
                    self._computing.pop(key, None)
        return found[0]

    def find(self, key: Hashable) -> tuple[Any, ...]:
        """Return what was made from `key`, alone in a tuple, or an empty one."""
        with self._lock:
            entry = self._entries.get(key)
            if entry is None:
                return ()
            self._entries.move_to_end(key)
            entry.asked += 1
            often = entry.asked
        if entry.grows and often & (often - 1) == 0:
            size, gone = size_of((key, entry.value)), list[_Entry]()
            with self._lock:
                if self._entries.get(key) is entry:  # nobody has kept another in the meantime
                    self.size += size - entry.size
                    entry.size = size
                    gone = self._beyond()
            del gone
        return (entry.value,)

    def keep(self, key: Hashable, value: object) -> None:
        """Keep a result."""
        key = bare(key)
        entry = _Entry(value, size_of((key, value)), not _settled(value))
        with self._lock:
            before = self._entries.pop(key, None)
            self.size -= before.size if before else 0
            gone = []
            if entry.size <= self._most:
                self._entries[key] = entry
                self.size += entry.size
                gone = self._beyond()
        del gone

    def clear(self) -> None:
        """Keep nothing."""
        with self._lock:
            self._entries.clear()
            self.size = 0

    def _beyond(self) -> list[_Entry]:
        """Take out the oldest until the rest fit; what they hold is freed after the lock."""
        gone = []
        while self.size > self._most:
            _, oldest = self._entries.popitem(last=False)
            self.size -= oldest.size
            gone.append(oldest)
        return gone


KEPT = Kept(BUDGET)
"""All results of the process, whoever computed them."""


def keep_result(function: Callable[..., Result], result: Result, *args: Any) -> None:
    """Keep what a function whose results are `kept` would return: another process has computed it."""
    KEPT.keep((getattr(function, "__wrapped__", function), args), result)


def kept(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """`function`, whose results are kept in the budget of all; equal arguments have the same result."""

    @wraps(function)
    def found(*args: Arguments.args, **rest: Arguments.kwargs) -> Result:
        return KEPT.get((function, args, *sorted(rest.items())), partial(function, *args, **rest))

    return found
