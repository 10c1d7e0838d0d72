"""Designs in a curator's order: how much of each limit every one of them uses."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpviz.charts import style

MARKS = ("blue", "circle"), ("vermillion", "diamond"), ("green", "square"), ("pink", "triangle-up")
"""Color and shape of the limits, in their order."""

# Shares of a limit beyond which a mark stands at the edge of the picture.
SMALLEST_USED_SHARE, LARGEST_USED_SHARE = 0.01, 100.0
TICKED_SHARES = 0.01, 0.03, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 100.0
DENSE_DECADES = 2.0  # Powers of ten up to which the ticks between powers have room
DESIGN_ROW, AROUND_DESIGNS = 36, 140  # Pixels of a design, and of what stands around all of them


@dataclass(frozen=True, kw_only=True)
class Used:
    """How much of one limit each design uses, from `low` to `high` where it was simulated; NaN where it is unknown."""

    name: str
    shares: Sequence[float]
    low: Sequence[float]
    high: Sequence[float]


def height_of(designs: int) -> int:
    """Return the pixels of a picture of so many designs."""
    return AROUND_DESIGNS + DESIGN_ROW * designs


def limits_chart(names: Sequence[str], used: Sequence[Used], *, against: str = "") -> style.Figure:
    """A row for each design and a mark for each limit: left of the thin rule the limit is kept, right of it broken.

    Where there is no limit, `against` says what the shares are of. Marks of one design stand a little below each other.
    What was simulated has its 95 % error bar.
    """
    traces = []
    apart = 0.5 / max(len(used), 2)
    for place, (one, (name, symbol)) in enumerate(zip(used, MARKS, strict=False)):
        every = np.array([one.shares, one.low, one.high], float)
        color, (shares, low, high) = style.PALETTE[name], np.clip(every, SMALLEST_USED_SHARE, LARGEST_USED_SHARE)
        rows = np.arange(len(names)) + (place - (len(used) - 1) / 2) * apart
        said = [_share(share, against or "the limit") for share in one.shares]
        look = {
            "text": [f"{design}<br>{one.name}: {words}" for design, words in zip(names, said, strict=True)],
            "error_x": style.error_bar(high - shares, color, shares - low),
            "marker": style.dot_marker(10, color, width=1, symbol=symbol),
        }
        hover = "%{text}<extra></extra>"
        traces.append(style.scatter("markers", shares, rows, hover, name=one.name, cliponaxis=False, **look))
    known = [share for one in used for share in (*one.low, *one.high) if not math.isnan(share)]
    ends = np.clip([min([0.5, *known]), max([2.0, *known])], SMALLEST_USED_SHARE, LARGEST_USED_SHARE)
    first, last = np.log10(ends).tolist()
    ticks = [one for one in TICKED_SHARES if last - first < DENSE_DECADES or math.log10(one) % 1 == 0]
    return style.build(
        traces,
        x=style.axis(
            against or "share of the limit",
            type="log",
            range=[first - 0.06, last + 0.06],
            tickvals=ticks,
            ticktext=[_tick(share) for share in ticks],
        ),
        y=style.axis_of_rows(names, automargin=True),
        uirevision="limits",
        shapes=[style.rule(x=1.0)],
        annotations=[
            style.label_upright(word, 0.0, side=side)
            for word, side in (("kept ", "right"), (" broken", "left"))
            if not against
        ],
        **style.legend_below(0, 16, 16, 48, 84, yref="container", yanchor="bottom"),
    )


def _tick(share: float) -> str:
    """How a share is written at the axis, at whose ends stands what lies beyond them."""
    beyond = {SMALLEST_USED_SHARE: "≤ ", LARGEST_USED_SHARE: "≥ "}.get(share, "")
    return beyond + (f"× {share:g}" if share > 1 else f"{100 * share:g} %")


def _share(share: float, limit: str) -> str:
    if math.isnan(share):
        return "not yet known"
    return f"{100 * share:.3g} % of {limit}" if share < 10 else f"{share:.3g} times {limit}"
