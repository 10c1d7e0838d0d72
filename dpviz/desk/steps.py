"""Computations that stop between costly steps, so that whoever waits for them can turn to something else."""

from collections.abc import Callable, Generator
from typing import Any, TypeVar

from dpviz.core.types import Arguments, Result

SoFar = TypeVar("SoFar")
Steps = Generator[None, None, Result]
"""What a computation is in steps: it yields nothing before each, and returns its result."""


def finished(steps: Generator[Any, None, Result], between: Callable[[], object] = lambda: None) -> Result:
    """Take all steps and return the result; `between` is called before each, and may raise to end them.

    >>> finished(paused(max, 1, 2))
    2
    """
    while True:
        try:
            next(steps)
        except StopIteration as end:
            result: Result = end.value
            return result
        between()


def paused(function: Callable[Arguments, Result], *args: Arguments.args, **rest: Arguments.kwargs) -> Steps[Result]:
    """Stop once, and then compute."""
    yield
    return function(*args, **rest)


def telling(steps: Generator[Any, None, Result], tell: Callable[[], SoFar]) -> Generator[SoFar, None, Result]:
    """The same steps, each of which yields what there is to `tell` now.

    >>> list(telling(paused(max, 1, 2), lambda: "so far"))
    ['so far']
    """
    so_far = tell()
    while True:
        try:
            next(steps)
        except StopIteration as end:
            result: Result = end.value
            return result
        yield so_far
