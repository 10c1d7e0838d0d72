"""Small pictures as SVG, which need no library to be seen and print sharp: lines, dots with error bars, and limits."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape

from dpviz.charts.style import EXACT_COLOR, FAINT, GREY, INK, SIMULATED_INK
from dpviz.charts.ticks import even_ticks, one_two_five_ticks
from dpviz.core.measures import Measure
from dpviz.core.parameters import readable

FLAT_SHARE = 0.02  # Share of a number below which its changes are not spread over the whole axis


def ends(values: Sequence[float]) -> tuple[float, float]:
    """Return the ends of an axis that holds the values, with room around them."""
    low, high = min(values), max(values)
    room = max((high - low) * 0.08, FLAT_SHARE * max(abs(low), abs(high), 1e-9))
    return low - room, high + room


@dataclass
class Drawing:
    """A picture of so many units, whose parts are placed by the numbers on its axes."""

    width: float
    height: float
    x: tuple[float, float]
    y: tuple[float, float]
    title: str
    left: float = 56
    top: float = 26
    right: float = 14
    bottom: float = 40
    log: bool = False  # whether the horizontal axis is logarithmic
    parts: list[str] = field(default_factory=list)

    def across(self, value: float) -> float:
        """Return the place of a number of the horizontal axis."""
        low, high = self.x
        if self.log:
            low, high, value = math.log(low), math.log(high), math.log(value)
        return round(self.left + (value - low) / (high - low) * (self.width - self.left - self.right), 2)

    def up(self, value: float) -> float:
        """Return the place of a number of the vertical axis."""
        low, high = self.y
        room = self.height - self.top - self.bottom
        return round(self.height - self.bottom - (value - low) / (high - low) * room, 2)

    def line(self, x1: float, y1: float, x2: float, y2: float, color: str, width: float = 1, dash: str = "") -> None:
        """Draw a line between two places."""
        dashed = f' stroke-dasharray="{dash}"' if dash else ""
        self.parts.append(
            f'<line x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}" stroke="{color}" stroke-width="{width:g}"{dashed}/>'
        )

    def words(self, x: float, y: float, text: str, anchor: str = "middle", color: str = INK, size: float = 11) -> None:
        """Write at a place."""
        placed = f'x="{x:g}" y="{y:g}" text-anchor="{anchor}"'
        self.parts.append(f'<text {placed} fill="{color}" font-size="{size:g}">{escape(text)}</text>')

    def dot(self, x: float, y: float, color: str, filled: bool = True, radius: float = 3.2) -> None:
        """Draw a mark."""
        self.parts.append(
            f'<circle cx="{x:g}" cy="{y:g}" r="{radius:g}" fill="{color if filled else "#fff"}" stroke="{color}" '
            'stroke-width="1.4"/>'
        )

    def axis_x(self, name: str) -> None:
        """Draw the horizontal axis."""
        foot = self.height - self.bottom
        self.line(self.left, foot, self.width - self.right, foot, GREY)
        for one in (one_two_five_ticks if self.log else even_ticks)(*self.x):
            self.line(self.across(one), foot, self.across(one), foot + 4, GREY)
            self.words(self.across(one), foot + 16, readable(one, 4))
        self.words((self.left + self.width - self.right) / 2, foot + 32, name)

    def axis_y(self) -> None:
        """Draw the vertical axis and its lines."""
        for one in even_ticks(*self.y):
            self.line(self.left, self.up(one), self.width - self.right, self.up(one), FAINT)
            self.words(self.left - 6, self.up(one) + 4, readable(one, 4), "end")

    def limit_y(self, value: float, words: str) -> None:
        """Draw a limit as a thin dashed rule with its words."""
        self.line(self.left, self.up(value), self.width - self.right, self.up(value), INK, 1.2, "5 3")
        self.words(self.width - self.right, self.up(value) - 4, words, "end", size=10)

    def curve(self, places: Sequence[float], values: Sequence[Measure], color: str = "", dash: str = "") -> None:
        """Draw what is exact as a line, what is simulated as dots with an error bar of two standard errors.

        Each has its usual color where none is given.
        """
        known = [(x, one) for x, one in zip(places, values, strict=True) if not math.isnan(one.value)]
        if all(one.error == 0 for _, one in known) and len(known) > 1:
            points = " ".join(f"{self.across(x):g},{self.up(one.value):g}" for x, one in known)
            dashed = f' stroke-dasharray="{dash}"' if dash else ""
            stroke = f'stroke="{color or EXACT_COLOR}" stroke-width="2"{dashed}'
            self.parts.append(f'<polyline points="{points}" fill="none" {stroke}/>')
            return
        for x, one in known:
            shade = color or (SIMULATED_INK if one.error > 0 else EXACT_COLOR)
            if one.error > 0:
                low, high = one.value - 2 * one.error, one.value + 2 * one.error
                self.line(self.across(x), self.up(low), self.across(x), self.up(high), shade, 1.4)
            self.dot(self.across(x), self.up(one.value), shade)

    def text(self) -> str:
        """Return the picture."""
        self.words(min(self.left, 56), 14, self.title, "start", size=12)
        return (
            f'<svg viewBox="0 0 {self.width:g} {self.height:g}" role="img" aria-label="{escape(self.title)}" '
            f'xmlns="http://www.w3.org/2000/svg"><g font-family="inherit">{"".join(self.parts)}</g></svg>'
        )
