"""What every method needs for a promise about all its sets, one method after the other."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from dpviz.calibration.kinds import Kind, Setting
from dpviz.calibration.methods import PriorMethod
from dpviz.core.numerics.steps import Steps
from dpviz.privacy.composition import DeltaBracket


@dataclass(frozen=True, kw_only=True)
class Needed:
    """What is known so far, by method: the smallest prior or largest range that keeps the promise, NaN beyond reach.

    `pure` is for δ = 0 and `exact` for the setting's δ; `together` brackets the latter where there are several sets;
    `refused` says why a method is beyond reach.
    """

    pure: Mapping[str, float]
    exact: Mapping[str, float]
    together: Mapping[str, DeltaBracket]
    refused: Mapping[str, str]


def first_needed(kind: Kind, setting: Setting, sets: int, first: PriorMethod) -> Needed:
    """What `first` needs, before all others; it refuses as `stream_needed` does."""
    return next(needed for needed in stream_needed(kind, setting, sets, first) if needed is not None)


def needed_by_one_set(kind: Kind, setting: Setting, first: PriorMethod) -> Needed:
    """What one set of every method needs; it refuses as `stream_needed` does."""
    *_, last = (needed for needed in stream_needed(kind, setting, 1, first) if needed is not None)
    return last


def stream_needed(kind: Kind, setting: Setting, sets: int, first: PriorMethod) -> Iterator[Needed | None]:
    """Yield what every method needs, `first` before all others, and None before what takes long.

    A ValueError in a sentence refuses where a single set of `first` is beyond reach.
    """
    exact: dict[str, float] = {}
    pure: dict[str, float] = {}
    together: dict[str, DeltaBracket] = {}
    refused: dict[str, str] = {}

    def needs(method: PriorMethod, delta: float) -> Steps[float]:
        if sets == 1:
            return kind.need(method, setting, delta)
        found = yield from kind.together_in_steps(method, setting, sets, delta)
        if delta == setting.delta:
            together[method.key] = found
        return found.upper

    for method in (first, *(one for key, one in kind.methods.items() if key != first.key)):
        for found, delta in ((pure, 0.0), (exact, setting.delta)):
            try:
                found[method.key] = yield from needs(method, delta)
            except ValueError as broken:
                if sets == 1 and method is first:
                    raise
                found[method.key] = math.nan
                refused[method.key] = str(broken)
        yield Needed(pure=dict(pure), exact=dict(exact), together=dict(together), refused=dict(refused))
