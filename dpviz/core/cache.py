"""A cache of results that need not be computed where they are asked for."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic

from dpviz.core.types import Result


class Memo(Generic[Result]):
    """Results by key, like `functools.lru_cache`, into which a result can also be put that was computed elsewhere.

    Parameters
    ----------
    maxsize : int
        Largest number of results; of more, those that were used longest ago are dropped.

    Examples
    --------
    >>> squares = Memo[int](maxsize=2)
    >>> squares.put(3, 9)
    >>> squares.get_or_compute(3, lambda: 0), squares.get_or_compute(4, lambda: 16)
    (9, 16)
    """

    def __init__(self, maxsize: int) -> None:
        self._maxsize = maxsize
        self._results: OrderedDict[Hashable, Result] = OrderedDict()
        self._lock = threading.Lock()

    def get_or_compute(self, key: Hashable, compute: Callable[[], Result]) -> Result:
        """Result of a key; two threads may compute it at the same time, and what is raised is not cached."""
        with self._lock:
            if key in self._results:
                self._results.move_to_end(key)
                return self._results[key]
        result = compute()
        self.put(key, result)
        return result

    def put(self, key: Hashable, result: Result) -> None:
        """Set the result of a key."""
        with self._lock:
            self._results[key] = result
            self._results.move_to_end(key)
            while len(self._results) > self._maxsize:
                self._results.popitem(last=False)

    def cache_clear(self) -> None:
        """Drop all results, as the method of the same name of `functools.lru_cache` does."""
        with self._lock:
            self._results.clear()
