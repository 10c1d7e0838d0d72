"""The needed prior, or the allowed range, along one axis: exact values and printed bounds."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from dpviz.priors._least_root import Start, interpolated
from dpviz.priors.audit import AuditFamily, Setting
from dpviz.priors.curve_axes import Axis, axis_points, moved, point_count
from dpviz.priors.exact import least_prior
from dpviz.priors.needs import cells_of, need
from dpviz.priors.releases import CALIBRATED
from dpviz.theorems import CLAIMS
from dpviz.types import FloatArray

STRIDES, NEAREST = (8, 4, 2, 1), 4
"""Steps between the points of a curve, coarse to fine, and most values that a guess of the next is drawn through."""

PRINTED_PRIORS: tuple[str, ...] = ("6.10", "6.12", "6.13", "6.5", "6.21", "6.22")
PRINTED_RANGES: tuple[str, ...] = ("7.7", "7.8", "7.13", "7.15", "7.16")
"""Printed bounds that have a number at every m; those on a single row are left to the table."""


@dataclass(frozen=True, kw_only=True)
class Curve:
    """One curve of `prior_curves`.

    Parameters
    ----------
    method
        The method.
    kind
        ``exact``: at the promised δ. ``pure``: δ = 0. ``printed``: a bound of the thesis, whose number is `theorem`.
    values
        The prior or range at each point of the axis; NaN where there is none, which is drawn as a gap.
    theorem
        Name of the printed bound, otherwise empty.
    """

    method: str
    kind: Literal["exact", "pure", "printed"]
    values: FloatArray
    theorem: str = ""


@dataclass(frozen=True, kw_only=True)
class Curves:
    """What is needed along one axis, all else as in `setting`.

    Parameters
    ----------
    family, setting
        What was asked.
    axis
        The quantity that varies.
    points
        Its values, increasing; the chosen one is among them.
    lines
        The curves.
    """

    family: AuditFamily
    setting: Setting
    axis: Axis
    points: FloatArray
    lines: tuple[Curve, ...]

    @property
    def chosen(self) -> float:
        """The user's own value on the axis."""
        return float(getattr(self.setting, self.axis))

    def at_chosen(self, line: Curve) -> float:
        """The value of a curve at the user's own point."""
        return float(line.values[int(np.argmin(np.abs(self.points - self.chosen)))])


def prior_curves(family: AuditFamily, setting: Setting, axis: Axis, *, m_is_n: bool = False) -> Curves:
    """The least prior (or the largest R/σ) of every method against ε, δ, m or n, exact and as printed.

    Parameters
    ----------
    family
        ``"bernoulli"``, ``"categorical"`` or ``"gaussian"``.
    setting
        The promise and the sizes.
    axis
        What varies: ``"epsilon"``, ``"delta"``, ``"m"`` or ``"n"``.
    m_is_n
        Whether m moves with n on the axis n.

    Returns
    -------
    Curves
        Each exact value is one of `minimum_prior` or `maximum_range`.

    Examples
    --------
    >>> setting = Setting(n=10, m=10, epsilon=1.0)
    >>> curves = prior_curves("bernoulli", setting, "epsilon")
    >>> one = next(line for line in curves.lines if line.method == "synth_post_one" and line.kind == "pure")
    >>> round(curves.at_chosen(one), 6)  # 10 / (e − 1)
    5.819767
    """
    *_, last = stream_prior_curves(family, setting, axis, m_is_n=m_is_n)
    return last


def stream_prior_curves(family: AuditFamily, setting: Setting, axis: Axis, *, m_is_n: bool = False) -> Iterator[Curves]:
    """`prior_curves`, coarse to fine: each time with about twice as many points, of which none is computed again.

    Parameters
    ----------
    family, setting, axis, m_is_n
        As in `prior_curves`.

    Yields
    ------
    Curves
        The first have the ends of the axis, the chosen point and a few between; the last are `prior_curves`.

    Examples
    --------
    >>> setting = Setting(n=10, m=10, epsilon=1.0)
    >>> [len(curves.points) for curves in stream_prior_curves("bernoulli", setting, "epsilon")]
    [6, 9, 14, 26]
    """
    points = axis_points(axis, float(getattr(setting, axis)), point_count(setting))
    settings = [moved(setting, axis, float(point), m_is_n) for point in points]
    promises = [pure for pure in (False, True) if pure or axis == "delta" or setting.delta > 0]
    calibrated = [one for one in CALIBRATED if family == "gaussian" or one != "synth_map"]
    places = _scale(axis, points)
    lines = {(one, pure): _Line(family, one, pure, settings, places) for pure in promises for one in calibrated}
    chosen = np.flatnonzero(points == float(getattr(setting, axis)))
    kept: set[int] = set()
    known: dict[tuple[str, Setting], float] = {}
    for stride in STRIDES:
        level = [*chosen.tolist(), 0, len(points) - 1, *range(0, len(points), stride)]
        for place in dict.fromkeys(level):
            if place not in kept:
                for line in lines.values():
                    line.find(place)
        kept.update(level)
        shown = sorted(kept)
        exact = {key: line.values[shown] for key, line in lines.items()}
        if family != "gaussian":  # for counts the mode is the mean with one pseudo-row less in each cell
            exact |= {("synth_map", pure): exact["synth_post_many", pure] + 1 for pure in promises}
        yield Curves(
            family=family,
            setting=setting,
            axis=axis,
            points=points[shown],
            lines=(
                *(
                    Curve(method=one, kind="pure" if pure else "exact", values=exact[one, pure])
                    for pure in promises
                    for one in CALIBRATED
                ),
                *_printed_curves(family, setting, axis, [settings[place] for place in shown], known),
            ),
        )


def _printed_curves(
    family: AuditFamily, setting: Setting, axis: Axis, settings: list[Setting], known: dict[tuple[str, Setting], float]
) -> Iterator[Curve]:
    """The printed bounds at these settings; what is `known` is not computed again, and what is computed joins it."""
    for number in PRINTED_RANGES if family == "gaussian" else PRINTED_PRIORS:
        bound = CLAIMS[number]
        if bound.family == family and (bound.promise == "pure" or axis == "delta" or setting.delta > 0):
            for one in settings:
                if (number, one) not in known:
                    known[number, one] = _printed(number, one)
            values = np.array([known[number, one] for one in settings])
            for method in bound.methods:
                yield Curve(method=method, kind="printed", values=values, theorem=bound.name)


def _scale(axis: Axis, points: FloatArray) -> FloatArray:
    """Where the points lie on a scale on which ln prior is nearly straight."""
    return np.log(-np.log(points)) if axis == "delta" else np.log(points)


@dataclass
class _Line:
    """The answers of one method along the axis, in any order, each started from those on either side of it."""

    family: AuditFamily
    method: str
    pure: bool
    settings: list[Setting]
    places: FloatArray
    values: FloatArray = field(init=False)
    _found: dict[int, Start] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self.values = np.full(len(self.settings), np.nan)

    def find(self, place: int) -> None:
        """Find one value; what no prior gives, or lies beyond what the exact answer reaches, is a gap."""
        setting = self.settings[place]
        delta = 0.0 if self.pure else setting.delta
        try:
            if self.pure or self.family == "gaussian":
                self.values[place] = value = need(self.family, setting, self.method, delta)
            else:
                found = least_prior(
                    self.method, n=setting.n, m=setting.m, epsilon=setting.epsilon, delta=delta,
                    cells=cells_of(self.family, setting), start=self._start(place),
                )  # fmt: skip
                self.values[place] = value = found.prior
                if 0 < value < math.inf:
                    self._found[place] = found
        except ValueError:
            return
        if math.isinf(value):
            self.values[place] = math.nan

    def _start(self, place: int) -> Start | None:
        if not self._found:
            return None
        here = float(self.places[place])
        near = sorted(self._found, key=lambda other: abs(float(self.places[other]) - here))[:NEAREST]
        closest = self._found[near[0]]
        log_prior = interpolated(
            [float(self.places[one]) for one in near], [math.log(self._found[one].prior) for one in near], here
        )
        pair, n = closest.pair, self.settings[place].n
        if pair is not None:  # the worst pair keeps its distance from the nearer end
            i, rows = pair[0], self.settings[near[0]].n
            pair = min(max(i if 2 * i < rows else i - rows + n, 0), n - 1), pair[1]
        return Start(math.exp(min(log_prior, 700.0)), closest.slope, pair)


def _printed(number: str, setting: Setting) -> float:
    bound = CLAIMS[number]
    values = setting.arguments()
    if bound.promise != "pure" and setting.delta == 0:
        return math.nan
    value = bound.at(**values) if bound.applies(**values) else math.nan
    return value if math.isfinite(value) and value > 0 else math.nan
