"""The rows of one data set with two numbers each, one mark a row, between their public bounds."""

from dpviz.charts import style
from dpviz.types import FloatArray

MARGIN = 0.04  # Share of the distance of the bounds that the axes go on beyond them
GREY = str(style.RULE["color"])  # Edge of a mark, which sets dark ones off a dark page and light ones off a light one
MOST = 2_000  # Rows that are drawn, so that a picture stays quick


def rows_chart(rows: FloatArray, *, cells: int, bounds: tuple[float, float], name: str) -> style.Figure:
    """Return the numbers of rows, shape (3, rows): the cell of each from 0 on, and its two numbers.

    They are in the order of their cells, so that of very many rows every second or third stands for all cells alike.
    The color counts the cells; the first one, the smallest, is drawn last with a mark of its own. `bounds` are thin
    rules, and a row on one of them stands on it.
    """
    rows = rows[:, :: -(-rows.shape[1] // MOST)] if rows.shape[1] else rows
    first = rows[0] == 0
    low, high = bounds
    pad = MARGIN * (high - low)
    scale = {"colorscale": style.MAGNITUDES, "cmin": 1, "cmax": cells}
    traces = []
    for some, symbol, size, words in ((~first, "circle", 6, "other cells"), (first, "diamond", 10, "smallest cell")):
        cell, across, up = rows[:, some]
        marker = style.dot(size, "", width=1, edge=GREY, symbol=symbol) | {"color": cell + 1, **scale}
        if symbol == "circle":
            marker |= {"colorbar": {"title": {"text": "cell"}, "thickness": 12, "tickformat": "d"}}
        hover = f"<b>{name}</b><br>cell %{{customdata}}: (%{{x:.4g}}, %{{y:.4g}})<extra></extra>"
        told = {"customdata": (cell + 1).astype(int), "name": words, "meta": f"{name}, {words}"}
        traces.append(style.scatter("markers", across, up, hover, marker=marker, cliponaxis=False, **told))
    ends = {"range": [low - pad, high + pad], "zeroline": False}
    return style.build(
        traces,
        x=style.axis("first number", **ends),
        y=style.axis("second number", **ends),
        uirevision=f"rows {bounds}",
        shapes=[style.rule(x=low), style.rule(x=high), style.rule(y=low), style.rule(y=high)],
        showlegend=False,
        margin={"l": 62, "r": 12, "t": 30, "b": 52},
        hovermode="closest",
    )
