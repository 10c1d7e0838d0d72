"""What every method needs for a promise about all its sets, one method after the other."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from dpviz.calibration.kinds import Kind, Setting
from dpviz.calibration.methods import PriorMethod


@dataclass(frozen=True, kw_only=True)
class Needed:
    """Smallest prior or largest range that keeps a promise, by key of the method, as far as it is known.

    Parameters
    ----------
    pure, exact : mapping of str to float
        For δ = 0, and for the δ of the setting; NaN beyond reach.
    refused : mapping of str to str
        Why a method is beyond reach.
    """

    pure: Mapping[str, float]
    exact: Mapping[str, float]
    refused: Mapping[str, str]


def stream_needed(kind: Kind, setting: Setting, sets: int, first: PriorMethod) -> Iterator[Needed]:
    """What `sets` sets of every method need together, `first` before all others.

    Yields
    ------
    Needed
        After every method, with all that is known.

    Raises
    ------
    ValueError
        If a single set of `first` is beyond reach.
    """
    pure: dict[str, float] = {}
    exact: dict[str, float] = {}
    refused: dict[str, str] = {}
    for method in (first, *(method for key, method in kind.methods.items() if key != first.key)):
        for answers, delta in ((pure, 0.0), (exact, setting.delta)):
            try:
                if sets == 1:
                    answers[method.key] = kind.need(method, setting, delta)
                else:
                    answers[method.key] = kind.together(method, setting, sets, delta)
            except ValueError as error:
                if sets == 1 and method is first:
                    raise
                answers[method.key] = math.nan
                refused[method.key] = str(error)
        yield Needed(pure=dict(pure), exact=dict(exact), refused=dict(refused))


def first_needed(kind: Kind, setting: Setting, sets: int, first: PriorMethod) -> Needed:
    """What `first` needs, before all others; it refuses as `stream_needed` does."""
    return next(stream_needed(kind, setting, sets, first))


def needed_by_one_set(kind: Kind, setting: Setting, first: PriorMethod) -> Needed:
    """What one set of every method needs; it refuses as `stream_needed` does."""
    *_, last = stream_needed(kind, setting, 1, first)
    return last
