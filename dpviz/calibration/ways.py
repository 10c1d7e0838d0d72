"""What several sets of the same data need, by every way of counting their cost, the cheaper ways first."""

import dataclasses
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dpviz.calibration.kinds import Kind, Setting
from dpviz.calibration.methods import PriorMethod
from dpviz.core.numerics.steps import telling
from dpviz.privacy.composition import DeltaBracket

Place = tuple[str, int]
"""Key of a method, and a number of sets."""


@dataclass(frozen=True)
class Shares:
    """What is needed where each set has ε/M, (ε/M, δ/M), or what advanced composition allows: NaN without δ."""

    pure: float
    split: float
    advanced: float


@dataclass(frozen=True, kw_only=True)
class Ways:
    """What is known so far, by method and number of sets; `refused` says by method why something is beyond reach."""

    shares: Mapping[Place, Shares]
    exact: Mapping[Place, DeltaBracket]
    refused: Mapping[str, str]


def divided_sets(sets: int) -> list[int]:
    """Return numbers of sets at which a picture around `sets` divides ε and δ.

    >>> divided_sets(5)
    [1, 2, 3, 4, 7, 9, 14, 20]
    """
    counts: list[int] = np.unique(np.rint(np.geomspace(1, max(20, 2 * sets), 9)).astype(int)).tolist()
    return counts


def shares_of(kind: Kind, method: PriorMethod, setting: Setting, sets: int) -> Shares:
    """Return what M sets need where ε and δ are divided among them."""
    share = dataclasses.replace(setting, epsilon=setting.epsilon / sets, delta=setting.delta / sets)
    advanced = kind.by_advanced(method, setting, sets) if setting.delta > 0 else math.nan
    return Shares(kind.need(method, share, 0.0), kind.need(method, share, share.delta), advanced)


def first_ways(kind: Kind, setting: Setting, sets: int, method: PriorMethod) -> Ways:
    """What M sets of a single method need, by every way of counting; why, where that is beyond reach."""
    place = method.key, sets
    try:
        shares = shares_of(kind, method, setting, sets)
        exact = kind.together(method, setting, sets, setting.delta)
    except ValueError as error:
        return Ways(shares={}, exact={}, refused={method.key: str(error)})
    return Ways(shares={place: shares}, exact={place: exact}, refused={})


def stream_ways(
    kind: Kind,
    setting: Setting,
    sets: int,
    first: PriorMethod,
    *,
    divided: Sequence[int] = (),
    together: Sequence[int] = (),
    known: Mapping[Place, DeltaBracket] | None = None,
) -> Iterator[Ways]:
    """Yield what M sets of every method need, and then what `first` needs for further numbers of sets.

    `divided` are the numbers for which ε and δ are divided among the sets, `together` those for which their losses are
    composed; nothing of this where M sets of `first` are beyond reach. What is `known` is not computed again. It yields
    before every composition of losses, whatever is known by then.
    """
    shares: dict[Place, Shares] = {}
    exact: dict[Place, DeltaBracket] = {}
    refused: dict[str, str] = {}

    def ways() -> Ways:
        return Ways(shares=dict(shares), exact=dict(exact), refused=dict(refused))

    def compose(method: PriorMethod, count: int) -> Iterator[Ways]:
        place = method.key, count
        found = (known or {}).get(place)
        if found is None:
            found = yield from telling(kind.together_in_steps(method, setting, count, setting.delta), ways)
        exact[place] = found
        yield ways()

    methods = [first, *(method for key, method in kind.methods.items() if key != first.key)]
    for method in methods:
        try:
            shares[method.key, sets] = shares_of(kind, method, setting, sets)
        except ValueError as broken:
            refused[method.key] = str(broken)
        yield ways()
    for method in methods:
        try:
            yield from compose(method, sets)
        except ValueError as broken:
            refused.setdefault(method.key, str(broken))
            yield ways()
    if first.key in refused:
        return
    for count in (one for one in divided if (first.key, one) not in shares):
        shares[first.key, count] = shares_of(kind, first, setting, count)
        yield ways()
    for count in together:
        if (first.key, count) not in exact:
            yield from compose(first, count)
