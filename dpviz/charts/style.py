"""The pictures' grammar, declared once: exact is a line, the chosen point one mark, what is promised a thin rule."""

import math
import re
from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import pairwise, product
from typing import Any, NamedTuple

import numpy as np

from dpviz.core.formatting import SUPERSCRIPTS, format_number
from dpviz.core.types import FloatArray
from dpviz.mechanisms import SYNTHESIZERS

PALETTE = {
    "blue": "#0072B2",
    "magenta": "#D848F8",
    "pink": "#CC79A7",
    "green": "#009E73",
    "sky": "#56B4E9",
    "brown": "#9C6B30",
    "olive": "#7C8F00",
    "azure": "#3888F8",
    "violet": "#8E6CC9",
    "slate": "#6B7A8F",
    "crimson": "#C2185B",
    "cyan": "#00A0C0",
    "pine": "#2A6D73",
    "purple": "#9900E5",
    "indigo": "#6838F8",
    "lichen": "#828745",
    "orchid": "#B800B0",
    "grey": "#8A8F98",
    "other": "#7F5AA2",
}
"""The colors that a synthesizer names by its `color`: Okabe and Ito's but for those of `RESERVED`, and further ones."""

METHODS_IN = {
    "indigo": ["smoothed_histogram", "smoothed_histogram_scott"],
    "pink": ["modips_communal", "modips_printed"],
    "green": [
        "param_post",
        "perturbed_histogram",
        "perturbed_histogram_scott",
        "perturbed_histogram_safe",
        "perturbed_cells_safe",
    ],
    "sky": ["modips_communal_truncated", "perturbed_cells"],
    "brown": ["modips_split", "modips_sums"],
    "olive": ["modips_split_truncated"],
    "cyan": ["nested_modips"],
    "violet": ["param_map"],
    "lichen": ["bootstrap_sanitize"],
    "orchid": ["sanitize_bootstrap"],
    "grey": ["original", "multiple_synthesis"],
}
METHOD_COLORS = {key: PALETTE[name] for name, keys in METHODS_IN.items() for key in keys}
METHOD_COLORS |= {key: PALETTE[one.info.color] for key, one in SYNTHESIZERS.items()}
"""One color per method in every picture, by its key: that of a synthesizer is the one that its class names."""


class Stroke(NamedTuple):
    """How a line is drawn by what its numbers are."""

    dash: str
    width: float


EXACT_LINE = Stroke("solid", 2.6)
PURE_LINE = Stroke("dot", 1.7)
PRINTED_LINE = Stroke("dash", 1.5)
BOUND_LINE = Stroke("dashdot", 1.7)


class RuleStyle(NamedTuple):
    """How one rule is drawn, in every picture: each has its own color and dash, the forms of one rule share a mark."""

    color: str
    dash: str
    symbol: str


RULE_STYLES = {
    "reiter_2002": RuleStyle(PALETTE["blue"], "solid", "circle"),
    "reiter_2002_normal": RuleStyle("#856AD9", "5px,5px", "circle"),
    "raghunathan_2003": RuleStyle("#6E5A94", "dash", "square"),
    "raghunathan_2003_normal": RuleStyle("#9426DB", "9px,3px,2px,3px,2px,3px", "square"),
    "rubin_1987": RuleStyle("#CA0FFE", "dot", "diamond"),
    "rubin_1987_normal": RuleStyle("#FF4371", "2px,5px", "diamond"),
    "reiter_2003": RuleStyle(PALETTE["green"], "dashdot", "triangle-up"),
    "raab_2017": RuleStyle("#D868A0", "longdash", "triangle-down"),
    "raab_2017_plug_in": RuleStyle(PALETTE["lichen"], "14px,4px,2px,4px,2px,4px", "triangle-down"),
    "as_if_real": RuleStyle("#934C74", "longdashdot", "star"),
    "score": RuleStyle("#B777DB", "26px,3px", "hexagon"),
    "posterior": RuleStyle("#2A7041", "8px,5px,8px,5px,2px,5px", "cross"),
    "clopper_pearson": RuleStyle("#CE11A7", "3px,2px", "pentagon"),
    "blaker_2000": RuleStyle("#C80134", "18px,3px,3px,3px", "hourglass"),
}
"""Rules are compared by color, dash and mark. The colors have a contrast of 3 or more on a light and on a dark page.
They are far apart for color-blind readers too, farthest those of the rules that a fresh page shows.
"""

SIMULATED_COLOR = "#E69F00"  # The amber of what is simulated
TRUTH_COLOR = "theme-ink"  # Of the truth: figure.js writes the page's own ink for it, black by day and white by night
PAPER_COLOR = "theme-paper"  # Behind words that stand upon lines: the page's own ground
NAIVE_COLOR = RULE_STYLES["as_if_real"].color  # Of the analyst who takes the released data for real
AWARE_COLOR = RULE_STYLES["posterior"].color  # Of the analyst who is told how they were made
SIMULATED_INK = "#B36B00"  # The same on white paper, where the amber of a screen is too faint for a thin line
YES_COLOR, NO_COLOR = "#D9661A", "#5B9BD0"  # Of people, their answers and rows alone; on a light and on a dark page
FAILED_COLOR = "#E02030"  # Of what misses the truth or breaks a promise, which has another shape as well
EXACT_COLOR = PALETTE["blue"]  # The color of what is exact, where no mechanism has to be told from another one
INK, FAINT = "#1b1f24", "#e6e8eb"  # Of words and frames on white paper, and of the lines of its grid
ON_PAPER = {TRUTH_COLOR: INK, PAPER_COLOR: "#ffffff"}

RESERVED = {
    "naive": NAIVE_COLOR,
    "aware": AWARE_COLOR,
    "simulated": SIMULATED_COLOR,
    "yes": YES_COLOR,
    "failed": FAILED_COLOR,
}
"""Colors that mean one thing on every page: no method has one, and no rule but that of the analyst whose it is."""

OTHER_RULE = RuleStyle("#7A7A00", "1px,4px", "x")  # The style of a rule that has not been given one of its own


def style_of(rule: str) -> RuleStyle:
    """Return how the rule with this key is drawn."""
    return RULE_STYLES.get(rule, OTHER_RULE)


def color_of(key: str) -> str:
    """Return the color of the method or the rule with this key, of a synthesizer that was registered later too."""
    if key in SYNTHESIZERS:
        return PALETTE[SYNTHESIZERS[key].info.color]
    return RULE_STYLES[key].color if key in RULE_STYLES else METHOD_COLORS.get(key, PALETTE["other"])


FEW_TICKED_COUNTS = 9  # Counts below which each has a tick of its own
MAGNITUDES = "Cividis"
# A diverging scale that color-blind readers can read.
SIGNED = [[0.0, "#B2182B"], [0.5, "#E6E6E6"], [1.0, PALETTE["blue"]]]
GREY = PALETTE["grey"]  # Also the edge of a mark: it sets dark ones off a dark page and light ones off a light one
RULE_LINE = {"color": GREY, "width": 1.2}  # The thin grey line of a promised or nominal value


class Figure:
    """A figure as plain data and layout, which plotly.js takes as they are.

    Plotly's own object, which looks at every part and takes twenty times as long to make, is there for who asks it for
    something: `data`, `layout` and all its methods.
    """

    def __init__(self, data: list[dict[str, Any]], layout: dict[str, Any]) -> None:
        self._spec = {"data": data, "layout": layout}
        self._written: dict[Any, str] = {}  # It goes when this does

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._plotly, name)

    @cached_property
    def _plotly(self) -> Any:
        import plotly.graph_objects as go

        return go.Figure(_on_paper(self._spec))

    def written(self, shown: Callable[[str], str] | None = None) -> str:
        """Return it as JSON, `shown` being done to its texts; what is asked for again is not written anew."""
        if shown not in self._written:
            from plotly.io.json import to_json_plotly

            spec = self.to_dict()
            if shown is not None:
                for said in (*spec["data"], *spec["layout"].get("annotations", ())):
                    if isinstance(text := said.get("text"), str):
                        said["text"] = shown(text)
                    elif isinstance(text, list):
                        said["text"] = [shown(one) if isinstance(one, str) else one for one in text]
            self._written[shown] = to_json_plotly(spec)
        return self._written[shown]

    def to_dict(self) -> dict[str, Any]:
        """Data and layout, arrays as plotly.js reads them: their bytes in base64."""
        found: dict[str, Any] = _plain(self._spec)
        return found


def _on_paper(part: Any) -> Any:
    """Return the part of a figure with ink and ground of white paper for those of the page, no colors for Plotly."""
    if isinstance(part, dict):
        return {key: _on_paper(value) for key, value in part.items()}
    if isinstance(part, list | tuple):
        return [_on_paper(value) for value in part]
    return ON_PAPER.get(part, part) if isinstance(part, str) else part


PLOTLY_TYPES = {"i": np.int32, "u": np.uint32, "f": np.float64}  # What plotly.js has for an array of a kind


def _plain(part: Any) -> Any:
    """Return the part of a figure with its arrays as bytes."""
    if isinstance(part, dict):
        return {key: _plain(value) for key, value in part.items()}
    if isinstance(part, np.ndarray):
        if part.dtype.kind not in PLOTLY_TYPES or part.ndim == 0:
            return part.tolist()
        wide = part.dtype.itemsize > 4 and part.dtype.kind != "f"
        if wide and part.size and np.abs(part).max() > np.iinfo(np.int32).max:
            part = part.astype(np.float64)
        elif wide:
            part = part.astype(PLOTLY_TYPES[part.dtype.kind])
        found = {"dtype": part.dtype.str[1:], "bdata": b64encode(part.tobytes()).decode()}
        return found if part.ndim == 1 else {**found, "shape": ", ".join(map(str, part.shape))}
    return [_plain(value) for value in part] if isinstance(part, list | tuple) else part


def build(
    traces: Sequence[dict[str, Any]], *, x: dict[str, Any], y: dict[str, Any], uirevision: str, **layout: Any
) -> Figure:
    """A figure from plain traces and axes, with the house's margins; colors and font come from the page's theme."""
    default = {
        "margin": {"l": 70, "r": 16, "t": 44 if "title" in layout else 30, "b": 52},
        "legend": {"orientation": "h", "yanchor": "bottom", "y": 1.02, "x": 0},
        "hoverlabel": {"align": "left"},
    }
    return Figure(list(traces), {"xaxis": x, "yaxis": y, "uirevision": uirevision, **default, **layout})


def legend_below(y: float, left: int, right: int, top: int, bottom: int, **legend: Any) -> dict[str, Any]:
    """The layout of a picture whose legend stands below it, from `y` of the picture's height on, in these margins."""
    return {
        "legend": {"orientation": "h", "yanchor": "top", "y": y, "x": 0, "font": {"size": 12}, **legend},
        "margin": {"l": left, "r": right, "t": top, "b": bottom},
        "hovermode": "closest",
    }


def scatter(mode: str, x: Any, y: Any, hover: str, **rest: Any) -> dict[str, Any]:
    """Return a trace of lines or marks with what it says on hover."""
    return {"type": "scatter", "mode": mode, "x": x, "y": y, "hovertemplate": hover, **rest}


def limit(x: FloatArray, y: FloatArray, hover: str, name: str) -> dict[str, Any]:
    """Return the best that is possible, as a thin grey line above a grey area."""
    look = {"line": {"color": GREY, "width": 1.6}, "fillcolor": "rgba(138, 143, 152, 0.14)"}
    return scatter("lines", x, y, hover, fill="tozeroy", name=name, **look)


def mark(x: float, y: float, hover: str, mode: str = "markers+text", **rest: Any) -> dict[str, Any]:
    """Return a single mark without an entry in the legend, drawn in full on the edge of the picture."""
    return scatter(mode, [x], [y], hover, cliponaxis=False, showlegend=False, **rest)


def dot_marker(size: float | list[int], color: str, width: int = 2, edge: str = "#fff", **rest: Any) -> dict[str, Any]:
    """Marks with an edge."""
    return {"size": size, "color": color, "line": {"width": width, "color": edge}, **rest}


def error_bar(above: Any, color: str, below: Any = None, *, thickness: float = 1.5, width: int = 3) -> dict[str, Any]:
    """Return bars of simulated values: as far to both sides, unless `below` says how far to the other."""
    far = {"array": above} if below is None else {"symmetric": False, "array": above, "arrayminus": below}
    return {"type": "data", **far, "color": color, "thickness": thickness, "width": width}


def axis(title: str, **rest: Any) -> dict[str, Any]:
    """Return an axis with a title."""
    return {"title": {"text": title}, "exponentformat": "power", **rest}


def axis_of_counts(title: str, counts: int, **rest: Any) -> dict[str, Any]:
    """Return an axis of so many counts, few of which have a tick each: halves of them would else be named."""
    return axis(title, **({"dtick": 1} if counts < FEW_TICKED_COUNTS else {}), **rest)


def axis_of_rows(names: Sequence[str], **rest: Any) -> dict[str, Any]:
    """Return a vertical axis with a name for each row, from the top down."""
    ticks = {"tickvals": list(range(len(names))), "ticktext": list(names), "range": [len(names) - 0.5, -0.5]}
    return axis("", **ticks, showgrid=False, zeroline=False, **rest)


def rule(*, x: float | None = None, y: float | None = None, dash: str = "solid") -> dict[str, Any]:
    """Return a thin grey line across the whole picture at `x` or at `y`."""
    across = {"x0": 0, "x1": 1, "xref": "x domain", "y0": y, "y1": y}
    upright = {"x0": x, "x1": x, "y0": 0, "y1": 1, "yref": "y domain"}
    return {"type": "line", "line": {**RULE_LINE, "dash": dash}, "layer": "below", **(across if x is None else upright)}


def truth(x: float, layer: str = "above") -> dict[str, Any]:
    """Return the rule of the truth at `x`, in the ink of the page; what stands at the truth is drawn on one `below`."""
    return {**rule(x=x), "line": {"color": TRUTH_COLOR, "width": 1.8}, "layer": layer}


def label(text: str, **place: Any) -> dict[str, Any]:
    """Return a small text without an arrow."""
    return {"text": text, "showarrow": False, "font": {"size": 11}, **place}


def label_upright(text: str, x: float, y: float = 1, side: str = "left", edge: str = "bottom") -> dict[str, Any]:
    """Return a small text at `x`, at a share `y` of the picture's height; `side` and `edge` of the text stand there."""
    return label(text, x=x, y=y, yref="y domain", xanchor=side, yanchor=edge)


def side_at(share: float) -> str:
    """Return the side of a small text that stands at a share of the picture's width, so that it ends within it.

    >>> side_at(0.02), side_at(0.5), side_at(0.99)
    ('left', 'center', 'right')
    """
    return "left" if share < 0.2 else "right" if share > 0.8 else "center"


def label_across(text: str, y: float, x: float = 0.005, side: str = "left", edge: str = "bottom") -> dict[str, Any]:
    """Return a small text at `y`, at a share `x` of the picture's width."""
    return label(text, x=x, xref="x domain", y=y, xanchor=side, yanchor=edge)


END = np.linspace(0.01, 1 / 3, 9)  # Shares of a picture's width from an end that the words there may cover
CLEAR_HEIGHTS = 2  # Heights of a text from which on a curve is not near it


def label_free(
    text: str, y: float, curves: Sequence[tuple[FloatArray, FloatArray]], x: Sequence[float], room: float
) -> dict[str, Any]:
    """Return a small text at `y` at the end, and on the side, where it meets the fewest curves.

    The buttons of a picture are above it at the right: there the text stands only if it meets more curves elsewhere.

    The places of the curves, and the ends `x` of the axis, are exponents where an axis is logarithmic; `room` is the
    height of the text on its axis.
    """
    across = {"left": x[0] + END * (x[1] - x[0]), "right": x[1] - END * (x[1] - x[0])}

    def apart(corner: tuple[str, str]) -> float:
        side, edge = corner
        middle = y + room / 2 if edge == "bottom" else y - room / 2
        heights = [np.interp(across[side], *curve, math.nan, math.nan) for curve in curves if len(curve[0])]
        far = np.abs(np.array(heights) - middle)
        near = min(float(np.min(far[np.isfinite(far)], initial=math.inf)), CLEAR_HEIGHTS * room)
        return near - room / 2 if corner == ("right", "bottom") else near

    side, edge = max(product(across, ("bottom", "top")), key=apart)
    return label_across(text, y, 0.005 if side == "left" else 0.995, side, edge)


def labels_apart(heights: Mapping[str, float], x: float, gap: float, ceiling: float) -> list[dict[str, Any]]:
    """Names right of the picture at the ends of lines, moved apart where they would overlap, none above `ceiling`.

    `gap` is what a line of a name needs.
    """
    names = sorted(heights, key=lambda name: heights[name])
    places, lines = [heights[name] for name in names], [1 + name.count("<br>") for name in names]
    gaps = [0.0, *(gap * (one + other) / 2 for one, other in pairwise(lines))]
    for index in range(1, len(places)):
        places[index] = max(places[index], places[index - 1] + gaps[index])
    for index in reversed(range(len(places))):  # those that were pushed out at the top push the ones below them
        places[index] = min(places[index], ceiling)
        ceiling = places[index] - gaps[index]
    return [label_across(name, place, x, edge="middle") for name, place in zip(names, places, strict=True)]


AXIS_INTERVALS = 4  # About how many an axis is cut into


def round_step(rough: float, among: Sequence[float] = (1, 2, 5, 10), share: float = 1.0) -> float:
    """Return the first of these times a power of ten that is at least this share of a rough step.

    >>> round_step(0.25), round_step(30.0)
    (0.5, 50.0)
    """
    power = 10.0 ** math.floor(math.log10(rough))
    return next(one * power for one in among if one * power >= rough * share)


def even_ticks(low: float, high: float) -> list[float]:
    """Return about five round numbers within the ends of an axis, in equal steps.

    >>> even_ticks(0.0, 1.0), even_ticks(0.13, 0.31)
    ([0.0, 0.2, 0.4, 0.6, 0.8, 1.0], [0.15, 0.2, 0.25, 0.3])
    """
    # A step a fifth too small is better than the next one, which would leave three numbers.
    step = round_step((high - low) / AXIS_INTERVALS, (1, 2, 2.5, 5, 10), 0.79)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [float(f"{place * step:.10g}") for place in range(first, last + 1)]


def one_two_five_ticks(low: float, high: float) -> list[float]:
    """Return 1, 2 and 5 times powers of ten within the ends of a logarithmic axis.

    >>> one_two_five_ticks(0.1, 10.0)
    [0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0]
    """
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    found = [float(f"{digit}e{power}") for power in powers for digit in (1, 2, 5)]
    return [one for one in found if low * (1 - 1e-9) <= one <= high * (1 + 1e-9)]


def power_of_ten(exponent: int) -> str:
    """10 raised to `exponent`, as text."""
    return "1" if exponent == 0 else "10" + str(exponent).translate(SUPERSCRIPTS)


def decade_ticks(lowest: int, highest: int, most: int = 7) -> tuple[list[int], list[str]]:
    """Return exponents for the ticks of a base-10 logarithmic axis, no more than about `most`, with their texts."""
    step = max(1, -(-(highest - lowest) // most))
    exponents = list(range(highest, lowest - 1, -step))[::-1]
    return exponents, [power_of_ten(exponent) for exponent in exponents]


def decades(lowest: float, highest: float, most: int = 7) -> dict[str, Any]:
    """Ticks at powers of ten for a logarithmic axis between these exponents."""
    exponents, texts = decade_ticks(math.floor(lowest), math.ceil(highest), most)
    return {"tickvals": [10.0**one for one in exponents], "ticktext": texts}


FEW_DECADES = 2.2  # Length of a logarithmic axis up to which it has ticks between the powers of ten
FACTOR = 0.3  # and up to which, a factor of two, its ticks are in equal steps
DECADE_TICKS = ((1, 1.5, 2, 3, 4, 5, 6, 8), (1, 1.5, 2, 3, 4, 5, 7), (1, 1.5, 2, 3, 5, 7), (1, 2, 3, 5), (1, 2, 5))
"""Ticks of a decade, of which an axis has as many as have room."""
TICK_ROOM = 1 / 8  # Share of the axis that a tick needs, so that large type has room too


def log_scale(low: float, high: float) -> dict[str, Any]:
    """A logarithmic axis between these exponents of ten, with as many ticks as stand well apart."""
    span = high - low
    if span > FEW_DECADES:
        return {"type": "log", "range": [low, high], **decades(low, high)}
    first, last = 10.0**low, 10.0**high
    if span < FACTOR:
        step = round_step((last - first) / AXIS_INTERVALS)
        values = [place * step for place in range(math.ceil(first / step), math.floor(last / step) + 1)]
    else:
        apart = [one for one in DECADE_TICKS if np.diff(np.log10([*one, 10])).min() >= TICK_ROOM * span]
        within = [*apart, DECADE_TICKS[-1]][0]
        powers = range(math.floor(low), math.ceil(high) + 1)
        values = [one * 10.0**power for power in powers for one in within]
    return {
        "type": "log",
        "range": [low, high],
        "tickvals": values,
        "ticktext": [format_number(one, 3) for one in values],
    }


def shorten_labels(labels: Iterable[str]) -> dict[str, str]:
    """Return by its label the first words of each, and of those that begin alike also what tells them apart.

    >>> list(shorten_labels(["Original data", "Noise, twice", "Noise (public), once", "Modips (BIT)"]).values())
    ['Original data', 'Noise, twice', 'Noise, public', 'Modips']
    >>> list(shorten_labels(["Post(One)"]).values())
    ['Post(One)']
    """
    parts = {
        label: re.sub(r" \(([^)]*)\),?", r", \1, ", label).strip(", ").replace(",  ", ", ").split(", ")
        for label in labels
    }

    def short(first: str, rest: list[str]) -> str:
        alike = [further for head, *further in parts.values() if head == first]
        own = [one for one in rest if sum(one in further for further in alike) < len(alike)]
        alone = [one for one in own if sum(one in further for further in alike) == 1]
        return ", ".join([first, *(alone[:1] or own)])

    return {label: short(first, rest) for label, (first, *rest) in parts.items()}
