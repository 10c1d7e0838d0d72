"""Colors, lines, axes and labels of all pictures: exact is a line, simulated an amber dot, a promise a thin rule."""

import math
import re
from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from dpviz.core.formatting import SUPERSCRIPTS, format_number
from dpviz.mechanisms import SYNTHESIZERS

PALETTE = {
    "blue": "#0072B2", "magenta": "#D848F8", "pink": "#CC79A7", "green": "#009E73", "sky": "#56B4E9",
    "brown": "#9C6B30", "olive": "#7C8F00", "azure": "#3888F8", "violet": "#8E6CC9", "slate": "#6B7A8F",
    "crimson": "#C2185B", "cyan": "#00A0C0", "pine": "#2A6D73", "purple": "#9900E5", "indigo": "#6838F8",
    "lichen": "#828745", "orchid": "#B800B0", "grey": "#8A8F98", "other": "#7F5AA2",
}  # fmt: skip
"""Colors by name, of which a synthesizer has one: Okabe and Ito's but for those of `RESERVED`, and further ones."""

METHODS_OF_COLORS = {
    "indigo": "smoothed_histogram smoothed_histogram_scott",
    "pink": "modips_communal modips_printed",
    "green": "param_post perturbed_histogram perturbed_histogram_scott perturbed_histogram_safe perturbed_cells_safe",
    "sky": "modips_communal_truncated perturbed_cells",
    "brown": "modips_split modips_sums",
    "olive": "modips_split_truncated",
    "cyan": "nested_modips",
    "violet": "param_map",
    "lichen": "bootstrap_sanitize",
    "orchid": "sanitize_bootstrap",
    "grey": "original multiple_synthesis",
}
METHOD_COLORS = {key: PALETTE[name] for name, keys in METHODS_OF_COLORS.items() for key in keys.split()}
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


class RuleStyle(NamedTuple):
    """Color, dash and mark of an analyst's rule; the forms of one rule share a mark."""

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
"""Colors have a contrast of 3 or more on light and dark pages and differ for color-blind readers too."""

OTHER_RULE = RuleStyle("#7A7A00", "1px,4px", "x")  # of a rule that is not in the table

TRUTH_COLOR = "theme-ink"  # figure.js writes the page's own ink for it, black by day and white by night
PAPER_COLOR = "theme-paper"  # the page's own ground, behind words that stand upon lines
INK, FAINT = "#1b1f24", "#e6e8eb"  # of words and frames on white paper, and of the lines of a grid
ON_PAPER = {TRUTH_COLOR: INK, PAPER_COLOR: "#ffffff"}
SIMULATED_COLOR = "#E69F00"
SIMULATED_INK = "#B36B00"  # the same on white paper, where the amber of a screen is too faint for a thin line
NAIVE_COLOR = RULE_STYLES["as_if_real"].color  # of the analyst who takes the released data for real
AWARE_COLOR = RULE_STYLES["posterior"].color  # of the analyst who is told how they were made
YES_COLOR, NO_COLOR = "#D9661A", "#5B9BD0"  # of people, their answers and rows alone
FAILED_COLOR = "#E02030"  # of what misses the truth or breaks a promise, which has another shape as well
EXACT_COLOR = PALETTE["blue"]  # of exact values where no mechanism has to be told from another one
GREY = PALETTE["grey"]  # also the edge of marks, on dark and on light pages
RULE_LINE = {"color": GREY, "width": 1.2}  # of a promised or nominal value
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

    Data and layout as Plotly's own objects, which take twenty times as long, are made when they are asked for.
    """

    def __init__(self, data: list[dict[str, Any]], layout: dict[str, Any]) -> None:
        self._spec = {"data": data, "layout": layout}
        self._texts: dict[Any, str] = {}

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._plotly, name)

    @cached_property
    def _plotly(self) -> Any:
        import plotly.graph_objects as go

        return go.Figure(_on_paper(self._spec))

    def to_dict(self) -> dict[str, Any]:
        """Data and layout, arrays as plotly.js reads them: their bytes in base64."""
        spec: dict[str, Any] = _encoded(self._spec)
        return spec

    def json_text(self, transform: Callable[[str], str] | None = None) -> str:
        """JSON of the figure, the texts of traces and annotations transformed; cached."""
        if transform not in self._texts:
            from plotly.io.json import to_json_plotly

            spec = self.to_dict()
            if transform is not None:
                for part in (*spec["data"], *spec["layout"].get("annotations", ())):
                    text = part.get("text")
                    if isinstance(text, str):
                        part["text"] = transform(text)
                    elif isinstance(text, list):
                        part["text"] = [transform(item) if isinstance(item, str) else item for item in text]
            self._texts[transform] = to_json_plotly(spec)
        return self._texts[transform]


def _on_paper(part: Any) -> Any:
    """The part of a figure with ink and ground of white paper in place of the page's."""
    if isinstance(part, dict):
        return {key: _on_paper(value) for key, value in part.items()}
    if isinstance(part, list | tuple):
        return [_on_paper(value) for value in part]
    return ON_PAPER.get(part, part) if isinstance(part, str) else part


def _encoded(part: Any) -> Any:
    """The part of a figure with its numeric arrays as bytes, of at most 32 bits if they are integers."""
    if isinstance(part, dict):
        return {key: _encoded(value) for key, value in part.items()}
    if isinstance(part, list | tuple):
        return [_encoded(value) for value in part]
    if not isinstance(part, np.ndarray):
        return part
    if part.dtype.kind not in "iuf" or part.ndim == 0:
        return part.tolist()
    if part.dtype.kind in "iu" and part.dtype.itemsize > 4:
        part = part.astype(np.int32 if np.all(np.abs(part) <= np.iinfo(np.int32).max) else np.float64)
    spec = {"dtype": part.dtype.str[1:], "bdata": b64encode(part.tobytes()).decode()}
    return spec if part.ndim == 1 else spec | {"shape": ", ".join(map(str, part.shape))}


def build(
    traces: Sequence[dict[str, Any]], *, x: dict[str, Any], y: dict[str, Any], uirevision: str, **layout: Any
) -> Figure:
    """Figure of traces and axes; the reader's zoom survives as long as its `uirevision` is the same."""
    default = {
        "margin": {"l": 70, "r": 16, "t": 44 if "title" in layout else 30, "b": 52},
        "legend": {"orientation": "h", "yanchor": "bottom", "y": 1.02, "x": 0},
        "hoverlabel": {"align": "left"},
    }
    return Figure(list(traces), {"xaxis": x, "yaxis": y, "uirevision": uirevision, **default, **layout})


def margins(left: int, right: int, top: int, bottom: int, *, showlegend: bool = False) -> dict[str, Any]:
    """Layout with these margins in pixels, and usually without a legend."""
    margin = {"l": left, "r": right, "t": top, "b": bottom}
    return {"margin": margin, "hovermode": "closest", "showlegend": showlegend}


def legend_below(y: float, left: int, right: int, top: int, bottom: int, **legend: Any) -> dict[str, Any]:
    """Layout with a legend below the picture, from the share `y` of its height on."""
    below = {"orientation": "h", "yanchor": "top", "y": y, "x": 0, "font": {"size": 12}, **legend}
    return margins(left, right, top, bottom, showlegend=True) | {"legend": below}


# Traces


def scatter(mode: str, x: Any, y: Any, hover: str, **rest: Any) -> dict[str, Any]:
    """Trace of lines or marks."""
    return {"type": "scatter", "mode": mode, "x": x, "y": y, "hovertemplate": hover, **rest}


def mark(x: float, y: float, hover: str, mode: str = "markers+text", **rest: Any) -> dict[str, Any]:
    """A single mark without an entry in the legend, drawn in full on the edge of the picture."""
    return scatter(mode, [x], [y], hover, cliponaxis=False, showlegend=False, **rest)


def dot_marker(size: float | list[int], color: str, width: int = 2, edge: str = "#fff", **rest: Any) -> dict[str, Any]:
    """Marks with an edge."""
    return {"size": size, "color": color, "line": {"width": width, "color": edge}, **rest}


def error_bar(above: Any, color: str, below: Any = None, *, thickness: float = 1.5, width: int = 3) -> dict[str, Any]:
    """Error bars, symmetric unless `below` is given."""
    lengths = {"array": above} if below is None else {"symmetric": False, "array": above, "arrayminus": below}
    return {"type": "data", **lengths, "color": color, "thickness": thickness, "width": width}


# Rules and labels


def rule(*, x: float | None = None, y: float | None = None, dash: str = "solid") -> dict[str, Any]:
    """Thin grey line across the whole picture at `x` or at `y`."""
    across = {"x0": 0, "x1": 1, "xref": "x domain", "y0": y, "y1": y}
    upright = {"x0": x, "x1": x, "y0": 0, "y1": 1, "yref": "y domain"}
    return {"type": "line", "line": {**RULE_LINE, "dash": dash}, "layer": "below", **(across if x is None else upright)}


def truth(x: float, layer: str = "above", width: float = 1.8) -> dict[str, Any]:
    """Rule of the truth in the page's ink; it is drawn ``below`` marks that stand at the truth."""
    return {**rule(x=x), "line": {"color": TRUTH_COLOR, "width": width}, "layer": layer}


def label(text: str, size: int = 11, **place: Any) -> dict[str, Any]:
    """Small text without an arrow."""
    return {"text": text, "showarrow": False, "font": {"size": size}, **place}


def label_upright(text: str, x: float, y: float = 1, side: str = "left", edge: str = "bottom") -> dict[str, Any]:
    """Small text at `x`, at a share `y` of the picture's height; `side` and `edge` of the text stand there."""
    return label(text, x=x, y=y, yref="y domain", xanchor=side, yanchor=edge)


def label_across(text: str, y: float, x: float = 0.005, side: str = "left", edge: str = "bottom") -> dict[str, Any]:
    """Small text at `y`, at a share `x` of the picture's width."""
    return label(text, x=x, xref="x domain", y=y, xanchor=side, yanchor=edge)


def side_at(share: float) -> str:
    """Side of a text that stands at a share of the picture's width, so that it ends within it."""
    return "left" if share < 0.2 else "right" if share > 0.8 else "center"


def spread_labels(heights: Mapping[str, float], x: float, gap: float, ceiling: float) -> list[dict[str, Any]]:
    """Names right of the picture at the ends of lines, moved apart where they would overlap.

    A line of a name is a `gap` high, no name stands above the `ceiling`, and `x` is a share of the picture's width.
    """
    names = sorted(heights, key=lambda name: heights[name])
    sizes = [1 + name.count("<br>") for name in names]
    gaps = [0.0, *(gap * (below + above) / 2 for below, above in pairwise(sizes))]
    places = [heights[name] for name in names]
    for index in range(1, len(places)):
        places[index] = max(places[index], places[index - 1] + gaps[index])
    # Names that were pushed out at the top push the ones below them.
    for index in reversed(range(len(places))):
        places[index] = min(places[index], ceiling)
        ceiling = places[index] - gaps[index]
    return [label_across(name, place, x, edge="middle") for name, place in zip(names, places, strict=True)]


def colored_name(name: str, color: str) -> str:
    """A name behind a dash in its color, as inline HTML."""
    return f'<span style="color: {color}"><b>━</b></span> {name}'


def shorten_labels(labels: Iterable[str]) -> dict[str, str]:
    """First words of each label, and of those that begin alike also what tells them apart.

    >>> list(shorten_labels(["Original data", "Noise, twice", "Noise (public), once", "Modips (BIT)"]).values())
    ['Original data', 'Noise, twice', 'Noise, public', 'Modips']
    """
    parts = {
        label: re.sub(r" \(([^)]*)\),?", r", \1, ", label).strip(", ").replace(",  ", ", ").split(", ")
        for label in labels
    }

    def shorten(first: str, rest: list[str]) -> str:
        same_start = [words for head, *words in parts.values() if head == first]
        distinct = [word for word in rest if sum(word in words for words in same_start) < len(same_start)]
        unique = [word for word in distinct if sum(word in words for words in same_start) == 1]
        return ", ".join([first, *(unique[:1] or distinct)])

    return {label: shorten(first, rest) for label, (first, *rest) in parts.items()}


# Axes and ticks


def axis(title: str, **rest: Any) -> dict[str, Any]:
    """Axis with a title."""
    return {"title": {"text": title}, "exponentformat": "power", **rest}


def axis_of_counts(title: str, counts: int, **rest: Any) -> dict[str, Any]:
    """Axis of so many counts; few have a tick each, as plotly would else name halves."""
    return axis(title, **({"dtick": 1} if counts < 9 else {}), **rest)


def axis_of_rows(names: Sequence[str], **rest: Any) -> dict[str, Any]:
    """Vertical axis with a name for each row, from the top down."""
    ticks = {"tickvals": list(range(len(names))), "ticktext": list(names), "range": [len(names) - 0.5, -0.5]}
    return axis("", **ticks, showgrid=False, zeroline=False, **rest)


AXIS_INTERVALS = 4  # about how many an axis is cut into


def round_step(rough: float, digits: Sequence[float] = (1, 2, 5, 10), share: float = 1.0) -> float:
    """First of the digits times a power of ten that is at least this share of a rough step.

    >>> round_step(0.25), round_step(30.0)
    (0.5, 50.0)
    """
    power = 10.0 ** math.floor(math.log10(rough))
    return next(digit * power for digit in digits if digit * power >= rough * share)


def power_of_ten(exponent: int) -> str:
    """10 raised to `exponent`, as text."""
    return "1" if exponent == 0 else "10" + str(exponent).translate(SUPERSCRIPTS)


def decade_ticks(lowest: int, highest: int, most: int = 7) -> tuple[list[int], list[str]]:
    """Exponents for about `most` ticks of a base-10 logarithmic axis, with their texts."""
    step = max(1, math.ceil((highest - lowest) / most))
    exponents = list(range(highest, lowest - 1, -step))[::-1]
    return exponents, [power_of_ten(exponent) for exponent in exponents]


DECADE_TICKS = ((1, 1.5, 2, 3, 4, 5, 6, 8), (1, 1.5, 2, 3, 4, 5, 7), (1, 1.5, 2, 3, 5, 7), (1, 2, 3, 5), (1, 2, 5))


def log_scale(low: float, high: float) -> dict[str, Any]:
    """Logarithmic axis between two exponents of ten, with as many ticks as stand well apart."""
    span = high - low
    if span > 2.2:
        exponents, texts = decade_ticks(math.floor(low), math.ceil(high))
        ticks = [10.0**exponent for exponent in exponents]
        return {"type": "log", "range": [low, high], "tickvals": ticks, "ticktext": texts}
    if span < 0.3:  # a factor of two: equal steps
        step = round_step((10.0**high - 10.0**low) / AXIS_INTERVALS)
        ticks = [place * step for place in range(math.ceil(10.0**low / step), math.floor(10.0**high / step) + 1)]
    else:  # the most ticks per decade that have an eighth of the axis each
        roomy = (digits for digits in DECADE_TICKS if np.diff(np.log10([*digits, 10])).min() >= span / 8)
        powers = range(math.floor(low), math.ceil(high) + 1)
        digits = next(roomy, DECADE_TICKS[-1])
        ticks = [digit * 10.0**power for power in powers for digit in digits]
    return {
        "type": "log",
        "range": [low, high],
        "tickvals": ticks,
        "ticktext": [format_number(tick, 3) for tick in ticks],
    }
