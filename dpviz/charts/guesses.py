"""A reader's guess, drawn into the picture of the answer: one dashed line, or one mark, with its number beside it."""

import math
from typing import Any

from dpviz.charts import style

GUESS_COLOR = style.PALETTE["other"]
_GAP = 0.06  # Share of the width between two pictures
_MIDDLE, _LOW = 0.55, 0.85  # Shares of width and height up to which words stand right of a place, and above it


def with_guess(
    figure: style.Figure, text: str, *, x: float | None = None, y: float | None = None, low: bool = False
) -> style.Figure:
    """Return the picture with a guess at `x`, at `y`, or at the point of both; words of an upright line may be `low`.

    A guess beyond the end of an axis stands at that end.
    """
    spec = figure.to_dict()
    layout, traces = spec["layout"], list(spec["data"])
    shapes, notes = list(layout.get("shapes", ())), list(layout.get("annotations", ()))
    words: dict[str, Any] = {
        "text": f"<b>{text}</b>",
        "showarrow": False,
        "font": {"size": 13},
        "bgcolor": style.PAPER_COLOR,
        "borderpad": 1,
    }
    look = {"line": {"color": GUESS_COLOR, "width": 2.4, "dash": "dash"}, "layer": "above"}
    if x is not None and y is not None:
        (across, share), (up, height) = _inside(layout["xaxis"], x), _inside(layout["yaxis"], y)
        marker = style.dot_marker(13, GUESS_COLOR, symbol="diamond")
        at = _shown(layout["xaxis"], across), _shown(layout["yaxis"], up)
        traces.append(style.mark(*at, f"{text}<extra></extra>", "markers", marker=marker, name=text))
        edge = "bottom" if height < _LOW else "top"
        notes.append(words | _beside(share) | {"x": across, "y": up, "yanchor": edge})
    elif x is not None:
        across, share = _inside(layout["xaxis"], x)
        shapes.append(style.rule(x=_shown(layout["xaxis"], across)) | look)
        place = {"y": 0.03, "yanchor": "bottom"} if low else {"y": 0.97, "yanchor": "top"}
        notes.append(words | _beside(share) | place | {"x": across, "yref": "y domain"})
    elif y is not None:
        up, _ = _inside(layout["yaxis"], y)
        shapes.append(style.rule(y=_shown(layout["yaxis"], up)) | look)
        at_the_end = {"x": 0.995, "xref": "x domain", "xanchor": "right"}
        notes.append(words | at_the_end | {"y": up, "yanchor": "bottom"})
    return style.Figure(traces, {**layout, "shapes": shapes, "annotations": notes})


def _beside(share: float) -> dict[str, Any]:
    """On which side of a place the words of it stand, which is at this share of the width."""
    return {"xanchor": "left", "xshift": 8} if share < _MIDDLE else {"xanchor": "right", "xshift": -8}


def _inside(axis: dict[str, Any], value: float) -> tuple[float, float]:
    """Where a value stands on an axis, as an exponent on a logarithmic one, and at which share of its length."""
    place = math.log10(value) if axis.get("type") == "log" else value
    first, last = axis["range"]
    place = min(max(place, min(first, last)), max(first, last))
    return place, (place - first) / (last - first)


def _shown(axis: dict[str, Any], place: float) -> float:
    """The value of a place on an axis."""
    return 10**place if axis.get("type") == "log" else place


def beside_each_other(left: style.Figure, right: style.Figure) -> style.Figure:
    """Return two pictures with the same vertical axis side by side in one, to the same scale."""
    first, second = left.to_dict(), right.to_dict()
    half = (1 - _GAP) / 2
    layout = first["layout"]
    beside = second["layout"]
    moved = {"x": "x2", "x domain": "x2 domain"}
    ends = list(zip(layout["xaxis"]["range"], beside["xaxis"]["range"], strict=True))
    reach = {"range": [min(ends[0]), max(ends[1])]}
    drawn = [{**one, "xaxis": "x2"} for one in second["data"]]

    def across(parts: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [{**one, "xref": moved[one.get("xref", "x")]} for one in parts]

    return style.Figure(
        [*first["data"], *drawn],
        {
            **layout,
            "xaxis": {**layout["xaxis"], **reach, "domain": [0, half]},
            "xaxis2": {**beside["xaxis"], **reach, "domain": [1 - half, 1], "anchor": "y"},
            "shapes": [*layout["shapes"], *across(beside["shapes"])],
            "annotations": [*layout["annotations"], *across(beside["annotations"])],
        },
    )
