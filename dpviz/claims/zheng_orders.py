"""The cells of Figures 6.1 and 7.1 of Zheng's (2015) thesis, tables of orders, each held against exact thresholds T."""

import math
from collections.abc import Callable, Iterable, Iterator
from itertools import product
from typing import NamedTuple

from dpviz.calibration.data_kinds import GAUSSIAN, KINDS
from dpviz.calibration.gaussian_range import maximum_range
from dpviz.calibration.methods import PRIOR_METHODS
from dpviz.calibration.smallest_prior import minimum_prior
from dpviz.claims.published import Record, Shown, printed_rows
from dpviz.claims.zheng_printed import AUDITED_AT
from dpviz.core.declarations import EPSILON
from dpviz.core.formatting import format_number

ORDER_EPSILONS, ORDER_SIZES, ORDER_DELTAS = (0.1, 0.3, 1.0), (10, 100, 1_000), (1e-3, 1e-6, 1e-9)
LARGEST_CONSTANT = 10.0  # Up to which, and down to one over which, T may be a multiple of a bound
SAYS_YES = "Yes"
NEEDED = {"O": (True, False), "Ω": (False, True), "Θ": (True, True)}
"""Whether T may be no larger, and no smaller, than a multiple of the bound."""


class OrderSetting(NamedTuple):
    """What T is asked at."""

    epsilon: float
    n: int
    m: int
    delta: float


def _log(setting: OrderSetting) -> float:
    return math.log(1 / setting.delta)


class OrderPromise(NamedTuple):
    """The ε and δ at which a kind of privacy is looked at: for its orders, and whether it can be had at all."""

    epsilons: tuple[float, ...] = ORDER_EPSILONS
    deltas: tuple[float, ...] = ORDER_DELTAS
    epsilon: float = AUDITED_AT.epsilon
    delta: float = AUDITED_AT.delta


EITHER = OrderPromise()
PRIVACIES = {
    "ε": OrderPromise(deltas=(0.0,), delta=0.0),
    "(0, δ)": OrderPromise(epsilons=(EPSILON.minimum,), deltas=(1e-1, 1e-2, 1e-3), epsilon=EPSILON.minimum),
}
"""By how the tables write them; all others are `EITHER`. The smallest ε that is taken stands for 0."""


class OrderBound(NamedTuple):
    """A printed order: its value without a constant, NaN where it says nothing, and which m it is about, by n."""

    value: Callable[[OrderSetting], float]
    rows: Callable[[int], Iterable[int]] = lambda n: [n]


BOUNDS: dict[str, OrderBound] = {
    "delta_squared": OrderBound(lambda at: 1 / at.delta**2),
    "with_n": OrderBound(lambda at: (math.log(at.n) + _log(at)) / at.epsilon**2),
    "without_n": OrderBound(lambda at: max(math.log(at.epsilon / (at.delta * at.n)), 0.0) / at.epsilon**2 or math.nan),
    "without_rows": OrderBound(lambda at: _log(at) / at.epsilon**2),
    "rows": OrderBound(lambda at: at.m / at.epsilon, lambda n: (n, 10 * n)),
    "root_epsilon": OrderBound(lambda at: math.sqrt(at.epsilon)),
    "root_n": OrderBound(lambda at: at.epsilon * math.sqrt(at.n / _log(at))),
    "root_share": OrderBound(lambda at: math.sqrt(at.epsilon * at.n / at.m), lambda n: (max(n // 10, 1), n)),
    "share_of_log": OrderBound(lambda at: math.sqrt(at.epsilon * at.n / (at.m * _log(at))), lambda n: (n, 10 * n)),
    "share_times_root": OrderBound(
        lambda at: at.epsilon * at.n / (at.m * math.sqrt(math.log(at.m / at.delta))), lambda n: (1, max(n // 10, 1))
    ),
}
"""By their names in the file."""


def _threshold(family: str, method: str, at: OrderSetting) -> float:
    find = maximum_range if KINDS[family] is GAUSSIAN else minimum_prior
    return float(find(method, n=at.n, m=at.m, epsilon=at.epsilon, delta=at.delta))


def ratios(family: str, method: str, promise: OrderPromise, bound: OrderBound) -> list[float]:
    """Return T over the bound at every setting at which the bound says something."""
    found = []
    for epsilon, n, delta in product(promise.epsilons, ORDER_SIZES, promise.deltas):
        for m in bound.rows(n):
            at = OrderSetting(epsilon, n, m, delta)
            if not math.isnan(value := bound.value(at)):
                found.append(_threshold(family, method, at) / value)
    return found


FAMILIES = {"Figure 6.1": "bernoulli", "Figure 7.1": "gaussian"}


def order_records() -> Iterator[Record[str]]:
    """Yield every cell of both tables beside what the exact thresholds are."""
    keys = {one.label: key for key, one in PRIOR_METHODS.items()}
    for row in printed_rows("zheng_orders"):
        family, method = FAMILIES[row["place"]], keys[row["method"]]
        promise, judge = PRIVACIES.get(row["privacy"], EITHER), _ordered if row["bound"] else _achievable
        told, holds, reading = judge(family, method, promise, row)
        settings = {name: getattr(AUDITED_AT, name) for name in ("n", "m", "epsilon", "delta")}
        yield Record(
            source=f"Zheng (2015), {row['place']}",
            what=row["column"],
            printed=row["printed"],
            ours=told,
            holds=holds,
            reading=reading,
            reason="" if holds else row["reason"],
            design={"method": row["method"], "privacy": row["privacy"]},
            shown=Shown("minimum_priors", {"family": KINDS[family].label, **settings}),
        )


def _achievable(family: str, method: str, promise: OrderPromise, row: dict[str, str]) -> tuple[str, bool, str]:
    found = _threshold(family, method, OrderSetting(promise.epsilon, AUDITED_AT.n, AUDITED_AT.m, promise.delta))
    possible = 0 < found < math.inf
    told = f"T is {format_number(found, 4)} there." if possible else "There is none."
    at = f"n = m = {AUDITED_AT.n}, ε = {format_number(promise.epsilon)} and δ = {format_number(promise.delta)}"
    return told, possible == (row["printed"] == SAYS_YES), f"Whether there is a T at {at}."


def _ordered(family: str, method: str, promise: OrderPromise, row: dict[str, str]) -> tuple[str, bool, str]:
    found = ratios(family, method, promise, BOUNDS[row["bound"]])
    above, below = NEEDED[row["printed"][0]]
    holds = not (above and max(found) > LARGEST_CONSTANT) and not (below and min(found) < 1 / LARGEST_CONSTANT)
    told = (
        f"T is from {format_number(min(found), 3)} to {format_number(max(found), 3)} times it at {len(found)} settings."
    )
    reading = (
        "An order has no constant: T, where the release begins to be private, may be up to "
        f"{format_number(LARGEST_CONSTANT)} times as large, or as small, at every setting: ε "
        f"{_span(promise.epsilons)}, "
        f"δ {_span(promise.deltas)}, n {_span(ORDER_SIZES)}."
    )
    return told, holds, reading


def _span(values: tuple[float, ...]) -> str:
    low, high = format_number(min(values)), format_number(max(values))
    return low if low == high else f"{low} to {high}"
