"""The released tables under two neighbours, one upon the other: the gap between them is all that can be told."""

import math
from typing import Any

import numpy as np

from dpviz.charts import style
from dpviz.core.formatting import format_number
from dpviz.mechanisms import TwoCellSynthesizer
from dpviz.privacy.report import belief_text, factor_of_odds
from dpviz.privacy.summary import TwoTables

__all__ = ["two_tables_chart"]

GAP = "rgba(138, 143, 152, 0.4)"
HEADROOM = 1.22  # Height of the axis above the highest step, for the words of the mark


def two_tables_chart(found: TwoTables) -> style.Figure:
    """Both distributions as steps, the gap shaded, and the most telling release as one mark with its odds."""
    release, counts = found.synthesizer, found.synthesizer.column_counts
    two_cells = isinstance(release, TwoCellSynthesizer)
    said = ("this person said yes: ", "this person said no: ") if two_cells else ("", "")
    where = counts[found.columns, 0] if two_cells else found.columns
    first, last = float(where[0]) - 0.5, float(where[-1]) + 0.5
    colors = (style.YES_COLOR, style.NO_COLOR) if two_cells else (style.color_of(release.key), style.PALETTE["slate"])
    looks = ({"color": colors[0], "width": 2.6}, {"color": colors[1], "width": 2.2, "dash": "dash"})
    traces = []
    for row, table, words, look in zip(found.probabilities, found.tables, said, looks, strict=True):
        name = f"{words}secret table {release.row_table(table)}"
        trace = style.scatter(
            "lines",
            _with_ends(where, first, last),
            _with_ends(row, row[0], row[-1]),
            f"released %{{customdata}}<br>probability %{{y:.6g}}<extra>{name}</extra>",
            name=name,
            customdata=_with_ends(where, where[0], where[-1]),
            line={**look, "shape": "hvh"},
        )
        traces.append(trace)
    traces[1] |= {"fill": "tonexty", "fillcolor": GAP}
    traces += [_gap(found)] if math.isfinite(found.success) else []
    few = f" ({len(where):,} of {len(counts):,} shown)" if len(where) < len(counts) and not two_cells else ""
    place, annotation = _telling(
        found, float(counts[found.best_column, 0] if two_cells else found.best_column), first, last
    )
    hover = f"most telling release<br>probability {format_number(found.chance, 4)}<extra></extra>"
    marker = style.dot_marker(11, colors[0], symbol="diamond")
    height = found.chance if first < place < last else 0.0
    return style.build(
        [*traces, style.mark(place, height, hover, "markers", marker=marker)],
        x=style.axis_of_counts(
            "released yes (m1)" if two_cells else f"released table, in order{few}", len(where), range=[first, last]
        ),
        y=style.axis("probability", range=[0, HEADROOM * float(found.probabilities.max())]),
        uirevision=f"two tables {release.key} {release.shape}",
        legend={"orientation": "h", "yanchor": "bottom", "y": 1.02, "x": 0, "traceorder": "normal"},
        shapes=[style.rule(x=place, dash="dot")],
        annotations=[annotation],
    )


def _with_ends(values: Any, first: float, last: float) -> Any:
    """The values with one more at both ends, so that the outer steps are as wide as the others."""
    return np.concatenate([[first], values, [last]])


def _gap(found: TwoTables) -> dict[str, Any]:
    """What the legend says of the gap."""
    surely = math.isinf(found.gain) and found.success == 1
    name = f"gap: the best guess is right {belief_text(found.success, surely)} of the time"
    marker = style.dot_marker(12, GAP, 0, symbol="square")
    return style.scatter("markers", [None], [None], "", name=name, marker=marker)


def _telling(found: TwoTables, place: float, first: float, last: float) -> tuple[float, dict[str, Any]]:
    """Where the most telling release is marked, at the edge where it is too unlikely to be in sight, and its words."""
    odds = "it settles the question" if math.isinf(found.gain) else f"odds × {factor_of_odds(found.gain)}"
    words = f"most telling: {found.synthesizer.column_table(found.best_column)}, {odds}"
    if not first < place < last:
        place = min(max(place, first), last)
        words += f"; it is {'left' if place == first else 'right'} of this picture"
    side, away = ("left", 6) if place < (first + last) / 2 else ("right", -6)
    text = style.label(words, x=place, xanchor=side, xshift=away, y=0.99, yref="y domain", yanchor="top")
    return place, text | {"font": {"size": 13}}
