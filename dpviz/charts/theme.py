"""Colors, figures and primitives of all pictures: exact is a line, simulated an amber dot, a promise a thin line."""

import math
import re
import tomllib
from base64 import b64encode
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dpviz.mechanisms import SYNTHESIZERS

Look = dict[str, Any]
"""Attributes of plotly.js by name."""

THEME = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
PALETTE: dict[str, str] = THEME["palette"]
METHOD_COLORS = {key: PALETTE[name] for name, keys in THEME["methods"].items() for key in keys}
METHOD_COLORS |= {key: PALETTE[synthesizer.info.color] for key, synthesizer in SYNTHESIZERS.items()}
"""One color per method in every picture, by its key."""


class Stroke(NamedTuple):
    """Dash and width of a line, by the origin of its numbers."""

    dash: str
    width: float


EXACT_LINE = Stroke("solid", 2.6)
PURE_LINE = Stroke("dot", 1.7)
PRINTED_LINE = Stroke("dash", 1.5)
BOUND_LINE = Stroke("dashdot", 1.7)
THIN_LINE = Stroke("solid", 1.6)


class RuleStyle(NamedTuple):
    """Color, dash and mark of an analyst's rule; the forms of a rule share a mark."""

    color: str
    dash: str
    symbol: str


RULE_STYLES = {key: RuleStyle(PALETTE.get(color, color), *look) for key, (color, *look) in THEME["rules"].items()}
OTHER_RULE = RuleStyle("#7A7A00", "1px,4px", "x")  # of a rule that is not in the table

TRUTH_COLOR = "theme-ink"  # figure.js writes the page's own ink for it, black by day and white by night
INK, FAINT = "#1b1f24", "#e6e8eb"  # of words and frames on white paper, and of the lines of a grid
SIMULATED_COLOR = "#E69F00"
SIMULATED_INK = "#B36B00"  # the same on white paper, where the amber of a screen is too faint for a thin line
NAIVE_COLOR = RULE_STYLES["as_if_real"].color  # of the analyst who takes the released data for real
AWARE_COLOR = RULE_STYLES["posterior"].color  # of the analyst who is told how they were made
YES_COLOR, NO_COLOR = "#D9661A", "#5B9BD0"  # of people, their answers and rows alone
FAILED_COLOR = "#E02030"  # of what misses the truth or breaks a promise, which has another shape as well
EXACT_COLOR = PALETTE["blue"]  # of exact values where no mechanism has to be told from another one
GREY = PALETTE["grey"]  # also the edge of marks, on dark and on light pages
TRUTH: Look = {"color": TRUTH_COLOR, "width": 1.8}  # look of a line at the truth
MAGNITUDES = "Cividis"
SIGNED = [[0.0, "#B2182B"], [0.5, "#E6E6E6"], [1.0, PALETTE["blue"]]]


def style_of(rule: str) -> RuleStyle:
    """Style of the rule with this key."""
    return RULE_STYLES.get(rule, OTHER_RULE)


def color_of(key: str) -> str:
    """Color of a method or a rule with this key, also of one that was registered later; a color is its own.

    >>> color_of("#8A8F98"), color_of("theme-ink"), color_of("posterior")
    ('#8A8F98', 'theme-ink', '#2A7041')
    """
    if key.startswith(("#", "theme-")):
        return key
    if key in SYNTHESIZERS:
        return PALETTE[SYNTHESIZERS[key].info.color]
    return RULE_STYLES[key].color if key in RULE_STYLES else METHOD_COLORS.get(key, PALETTE["other"])


class Figure:
    """A plotly.js figure as plain data: traces, with NumPy arrays or lists, and a layout.

    Plotly's own object, which takes twenty times as long, is made when one of its attributes is asked for.
    """

    def __init__(self, data: list[Look], layout: Look) -> None:
        self._spec = {"data": data, "layout": layout}

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._plotly, name)

    @cached_property
    def _plotly(self) -> Any:
        import plotly.graph_objects as go

        # With the ink of white paper in place of the page's
        return go.Figure(
            _convert(self._spec, lambda part: INK if isinstance(part, str) and part == TRUTH_COLOR else part)
        )

    def to_dict(self) -> Look:
        """Data and layout, arrays as plotly.js reads them: their bytes in base64."""
        spec: Look = _convert(self._spec, _encode)
        return spec

    def json_text(self, transform: Callable[[str], str] | None = None) -> str:
        """JSON of the figure, the texts of traces and annotations transformed."""
        from plotly.io.json import to_json_plotly

        spec = self.to_dict()
        for part in (*spec["data"], *spec["layout"]["annotations"]):
            if transform is not None and "text" in part:
                part["text"] = _convert(part["text"], transform)
        return str(to_json_plotly(spec))


def _convert(part: Any, convert: Callable[[Any], Any]) -> Any:
    """The part of a figure with everything that is no mapping and no list converted."""
    if isinstance(part, dict):
        return {key: _convert(value, convert) for key, value in part.items()}
    if isinstance(part, list | tuple):
        return [_convert(value, convert) for value in part]
    return convert(part)


def _encode(part: Any) -> Any:
    """A numeric array as bytes, of at most 32 bits if it is of integers; all else as it is."""
    if not isinstance(part, np.ndarray):
        return part
    if part.dtype.kind not in "iuf" or part.ndim == 0:
        return part.tolist()
    if part.dtype.kind in "iu" and part.dtype.itemsize > 4:
        part = part.astype(np.int32 if np.all(np.abs(part) <= np.iinfo(np.int32).max) else np.float64)
    spec = {"dtype": part.dtype.str[1:], "bdata": b64encode(part.tobytes()).decode()}
    return spec if part.ndim == 1 else spec | {"shape": ", ".join(map(str, part.shape))}


def figure(
    traces: Iterable[Look], x: Look, y: Look, key: str, *,
    margin: tuple[int, ...] = (70, 16, 30), legend: str = "above", references: Sequence["ReferenceLine"] = (),
    labels: Sequence[Look] = (), names: Sequence[Look] = (), **layout: Any,
) -> Figure:  # fmt: skip
    """Figure of traces and axes.

    Parameters
    ----------
    key : str
        The reader's zoom survives as long as it is the same.
    margin : tuple of int, optional
        Pixels at the left, at the right, above, and below if not as usual.
    legend : {"above", "right", "inside left", "inside right", "below", ""}, optional
        Where it stands, if at all.
    references, labels, names : sequence of ReferenceLine and of dict, optional
        Thin lines, of which those beyond the axes are left out, and further texts before and after theirs.
    **layout
        Further attributes of plotly's layout.
    """
    shapes, annotations = [], [*labels]
    for reference in references:
        place, share = place_on(x, reference.x) if reference.y is None else place_on(y, reference.y)
        if 0 <= share <= 1:
            shapes.append(reference.shape)
            annotations += [reference.label(place)] if reference.text else []
    sides = dict(zip("lrtb", (*margin, 104 if legend == "below" else 52), strict=False))
    annotations += names
    default: Look = {"margin": sides, "hoverlabel": {"align": "left"}, "shapes": shapes, "annotations": annotations}
    default |= {"legend": THEME["legends"].get(legend, {})} | (
        {"showlegend": bool(legend)} if legend in ("below", "") else {}
    )
    return Figure([*traces], {"xaxis": x, "yaxis": y, "uirevision": key, **default, **layout})


def place_on(axis: Look, value: float | None) -> tuple[float, float]:
    """Place of a value in units of an axis, and the share of the axis that is below it; NaN for no value.

    >>> place_on({"type": "log", "range": [0, 4]}, 10.0), place_on({"range": [2, 0]}, 0.5)
    ((1.0, 0.25), (0.5, 0.75))
    """
    place = math.nan if value is None else float(value)
    if axis.get("type") == "log":
        place = math.log10(place) if place > 0 else -math.inf
    first, last = axis.get("range", (place - 1, place + 1))
    return place, (place - first) / (last - first)


# Primitives


def scatter(mode: str, x: Any, y: Any, hover: str, /, **look: Any) -> Look:
    """Trace of lines or marks, with the template of its hover and further attributes of plotly's trace."""
    hover = hover if "<extra>" in hover else f"{hover}<extra></extra>"
    return {"type": "scatter", "mode": mode, "x": x, "y": y, "hovertemplate": hover, **look}


def dot_marker(size: float | list[int], color: str, width: int = 1, edge: str = "#fff", **look: Any) -> Look:
    """Look of marks of a diameter in pixels, with a thin edge, and further attributes of plotly's marker."""
    return {"size": size, "color": color, "line": {"width": width, "color": edge}, **look}


def error_bar(below: Any, above: Any, color: str, *, thickness: float = 1.5, width: int = 3) -> Look:
    """Look of error bars of these lengths to both sides; pixels of a bar and of the stroke across its end."""
    lengths = {"symmetric": False, "array": above, "arrayminus": below}
    return {"type": "data", **lengths, "color": color, "thickness": thickness, "width": width}


def label(text: str, size: int = 11, /, **place: Any) -> Look:
    """Small text without an arrow, at a place that attributes of plotly's annotation say."""
    return {"text": text, "showarrow": False, "font": {"size": size}, **place}


@dataclass(frozen=True, kw_only=True)
class ReferenceLine:
    """Thin line across the whole picture at `x` or at `y`, with a few words; `**TRUTH` makes it that of the truth."""

    x: float | None = None
    y: float | None = None
    text: str = ""
    dash: str = "solid"
    color: str = GREY
    width: float = 1.2
    layer: str = "below"  # the marks of the picture, or above them
    side: str = "left"  # of the words that stands at their place: left, center or right
    anchor: str = "top"  # the same of top and bottom
    at: float | None = None  # share of the picture's height or width at which they stand

    @property
    def shape(self) -> Look:
        """The line."""
        across = {"x0": 0, "x1": 1, "xref": "x domain", "y0": self.y, "y1": self.y}
        upright = {"x0": self.x, "x1": self.x, "y0": 0, "y1": 1, "yref": "y domain"}
        line = {"color": self.color, "width": self.width, "dash": self.dash}
        return {"type": "line", "line": line, "layer": self.layer} | (across if self.x is None else upright)

    def label(self, place: float) -> Look:
        """Its words, where it stands at `place` in units of its axis."""
        own, across, start = ("y", "x", 0.005) if self.x is None else ("x", "y", 1)
        ends = {own: place, across: start if self.at is None else self.at, f"{across}ref": f"{across} domain"}
        return label(self.text, **ends, xanchor=self.side, yanchor=self.anchor)


def truth_line(x: float | None, text: str, low: float = 0.0, high: float = 1.0) -> list[ReferenceLine]:
    """The truth, if it is known and inside a picture, with words above that end within the picture.

    Parameters
    ----------
    low, high : float, optional
        Ends of the picture.
    """
    if x is None or not low <= x <= high:
        return []
    share = (x - low) / ((high - low) or 1.0)
    side = "left" if share < 0.2 else "center"
    side = "right" if share > 0.8 else side
    return [ReferenceLine(x=x, text=text, side=side, anchor="bottom", layer="above", **TRUTH)]


def spread_labels(heights: Mapping[str, float], x: float, gap: float, ceiling: float) -> list[Look]:
    """Names right of the picture at the ends of lines, moved apart where they would overlap.

    Parameters
    ----------
    heights : mapping of str to float
        Of the ends, by name.
    gap, ceiling : float
        Height of a line of a name, and that above which none stands.
    """
    names = sorted(heights, key=lambda name: heights[name])
    lines = np.array([1 + name.count("<br>") for name in names])
    offsets = gap * (np.cumsum(lines) - lines / 2)  # of names upon one another
    offsets -= offsets[:1]
    # Each name pushes up those above it; where the highest is beyond the ceiling, it pushes all below it down
    bases = np.maximum.accumulate([heights[name] for name in names] - offsets)
    places = (np.minimum(bases, ceiling - offsets[-1:]) + offsets).tolist()
    look = {"xref": "x domain", "xanchor": "left", "yanchor": "middle"}
    return [label(name, x=x, y=place, **look) for name, place in zip(names, places, strict=True)]


def shorten_labels(labels: Iterable[str]) -> dict[str, str]:
    """First words of each label, and of those that begin alike also what tells them apart.

    >>> list(shorten_labels(["Original data", "Noise, twice", "Noise (public), once", "Modips (BIT)"]).values())
    ['Original data', 'Noise, twice', 'Noise, public', 'Modips']
    """
    parts = {text: re.sub(r" \(([^)]*)\),?", r", \1,", text).strip(", ").split(", ") for text in labels}
    counts = Counter((first, word) for first, *rest in parts.values() for word in ("", *rest))  # "" for all
    short = {}
    for text, (first, *rest) in parts.items():
        distinct = [word for word in rest if counts[first, word] < counts[first, ""]]
        unique = [word for word in distinct if counts[first, word] == 1]
        short[text] = ", ".join([first, *(unique[:1] or distinct)])
    return short
