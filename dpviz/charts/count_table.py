"""Tables of counts in the layout of Abowd & Vilhuber: confidential counts down the side, m1 over m2 across the top."""

import math
from html import escape
from pathlib import Path

import numpy as np

from dpviz.claims.abowd_vilhuber import layout_source
from dpviz.core.formatting import format_number
from dpviz.core.types import FloatArray
from dpviz.mechanisms import Synthesizer
from dpviz.mechanisms.base import check_index
from dpviz.privacy.divergence import exceeds

__all__ = ["log_odds_html", "matrix_html", "release_html"]

SHOWN_DECIMALS = 6
# Widths in ems: of a column of labels, and of a number its padding, each character, and what bold type and ▲ add.
LABEL_EMS, PADDING_EMS, CHARACTER_EMS, MARK_EMS = 2.9, 0.9, 0.5, 1.1
HINT = "More columns may be at the right: scroll sideways →"

STYLE = Path(__file__).with_suffix(".css").read_text(encoding="utf-8")


MATRIX_TITLE = "Transition matrix Pr(released | confidential)"
LOG_ODDS_TITLES = {
    True: "Signed log-odds ln Pr(m | first) − ln Pr(m | second) of neighbours, one row substituted",
    False: "Log-odds |ln Pr(m | first) / Pr(m | second)| of neighbours, one row substituted",
}
"""By whether the log-odds have their signs."""


def release_html(
    synthesizer: Synthesizer, epsilon: float, *, signed: bool, row: int | None = None, column: int | None = None
) -> str:
    """Transition matrix, and below it the log-odds table, with the figures of the paper whose layout they have.

    Parameters
    ----------
    synthesizer : Synthesizer
    epsilon : float
        Promised ε, above 0.
    signed : bool
        Whether the log-odds have their signs.
    row : int, optional
        Place of a confidential table, which is framed in both.
    column : int, optional
        Place of a released table, whose cells in that row are marked.

    Returns
    -------
    str
    """
    matrix_caption = f"{MATRIX_TITLE}, {synthesizer.info.label}. {layout_source(synthesizer, 0)}"
    log_odds_caption = f"{LOG_ODDS_TITLES[signed]}. {layout_source(synthesizer, 1)}"
    matrix = matrix_html(synthesizer, matrix_caption, row=row, column=column)
    return matrix + log_odds_html(synthesizer, epsilon, log_odds_caption, signed=signed, row=row, column=column)


def matrix_html(
    synthesizer: Synthesizer,
    caption: str,
    *,
    values: FloatArray | None = None,
    row: int | None = None,
    column: int | None = None,
) -> str:
    """Transition matrix as an HTML table; the deeper the shade, the larger the probability.

    Parameters
    ----------
    synthesizer : Synthesizer
    caption : str
    values : ndarray, optional
        In place of the synthesizer's own numbers, where a printed table is to be shown.
    row : int, optional
        Row that is framed.
    column : int, optional
        Column whose cell in that row is marked.

    Returns
    -------
    str
    """
    matrix = synthesizer.transition_matrix() if values is None else _of_shape(values, synthesizer.shape)
    _check_places(synthesizer, row, column)
    lines = []
    for index, probabilities in enumerate(matrix.tolist()):
        cells = [
            _cell(
                f"{probability:.{SHOWN_DECIMALS}f}",
                "dpviz-drawn" if (index, place) == (row, column) else "",
                f' style="background:rgba(0,114,178,{0.42 * probability:.3f})"',
            )
            for place, probability in enumerate(probabilities)
        ]
        lines.append(_line(_row_header(synthesizer.row_table(index)), cells, is_framed=index == row))
    names = [f"n<sub>{cell + 1}</sub>" for cell in range(synthesizer.row_counts.shape[1])]
    width = (PADDING_EMS + CHARACTER_EMS * (SHOWN_DECIMALS + 2)) * matrix.shape[1]
    return _table(caption, names, synthesizer, lines, width)


def log_odds_html(
    synthesizer: Synthesizer, epsilon: float, caption: str, *, signed: bool, values: FloatArray | None = None,
    row: int | None = None, column: int | None = None,
) -> str:  # fmt: skip
    """Log-odds table as HTML; cells over ε are boxed, bold and marked ▲, the largest is underlined.

    Parameters
    ----------
    synthesizer : Synthesizer
    epsilon : float
        Promised ε, above 0.
    caption : str
    signed : bool
        Whether values have their signs.
    values : ndarray, optional
        In place of the synthesizer's own numbers, where a printed table is to be shown.
    row, column : int, optional
        As in `matrix_html`; every pair of neighbours with that confidential table is framed.

    Returns
    -------
    str
    """
    shape = len(synthesizer.neighbours), synthesizer.shape[1]
    values = synthesizer.log_odds_table() if values is None else _of_shape(values, shape)
    _check_places(synthesizer, row, column)
    is_over = exceeds(values, epsilon)
    texts = np.vectorize(six_digits)(values if signed else np.abs(values))
    worst = divmod(int(np.argmax(np.abs(values))), shape[1])
    lines = []
    for index, pair in enumerate(synthesizer.neighbours.tolist()):
        is_framed = row in pair
        cells = []
        for place, text in enumerate(texts[index]):
            kinds = {
                "dpviz-over": is_over[index, place],
                "dpviz-worst": (index, place) == worst,
                "dpviz-drawn": is_framed and place == column,
            }
            title = f' title="over ε = {format_number(epsilon)}"' if is_over[index, place] else ""
            cells.append(_cell(text, " ".join(kind for kind, applies in kinds.items() if applies), title))
        header = _row_header((*synthesizer.row_table(pair[0]), *synthesizer.row_table(pair[1])))
        lines.append(_line(header, cells, is_framed=is_framed))
    cell_names = range(1, synthesizer.row_counts.shape[1] + 1)
    names = [f"n<sub>{cell}</sub><sup>({side})</sup>" for side in (1, 2) for cell in cell_names]
    widths = PADDING_EMS + CHARACTER_EMS * np.strings.str_len(texts) + MARK_EMS * is_over
    return _table(caption, names, synthesizer, lines, float(widths.max(axis=0).sum()))


def six_digits(value: float) -> str:
    """Return a log-odds as printed: six digits, a true minus sign, ∞ where a zero decides."""
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    return f"{value:.{SHOWN_DECIMALS}f}".replace("-", "−")


def _check_places(synthesizer: Synthesizer, row: int | None, column: int | None) -> None:
    for name, place, size in zip(("row", "column"), (row, column), synthesizer.shape, strict=True):
        if place is not None:
            check_index(place, size, name)


def _of_shape(values: FloatArray, shape: tuple[int, int]) -> FloatArray:
    if values.shape != shape:
        raise ValueError(f"values must have the shape {shape} of the synthesizer's own; got {values.shape}.")
    return values


def _cell(text: str, kind: str, attributes: str) -> str:
    """Cell with a CSS class, if any, and further attributes."""
    css_class = f' class="{kind}"' if kind else ""
    return f"<td{css_class}{attributes}>{text}</td>"


def _line(header: str, cells: list[str], *, is_framed: bool) -> str:
    css_class = " class=dpviz-framed" if is_framed else ""
    return f"<tr{css_class}>{header}{''.join(cells)}</tr>"


def _row_header(counts: tuple[int, ...]) -> str:
    *others, last = counts
    heads = "".join(f'<th scope="row">{count}</th>' for count in others)
    return f'{heads}<th scope="row" class=dpviz-last>{last}</th>'


def _table(caption: str, names: list[str], synthesizer: Synthesizer, lines: list[str], width: float) -> str:
    """Table with k header rows of released counts; the cells of a line are together `width` ems wide.

    Its letters become smaller where it is wider than its place, and where that is not enough a hint says so.
    """
    released = synthesizer.column_counts.T.tolist()
    heads = ""
    for cell, counts in enumerate(released, start=1):
        lead = f'<td colspan="{len(names) - 1}"></td><th scope="row">m<sub>{cell}</sub></th>'
        if cell == len(released):
            lead = "".join(f'<th scope="col">{name}</th>' for name in names[:-1])
            lead += f'<th scope="col">{names[-1]} \\ m<sub>{cell}</sub></th>'
        heads += f"<tr>{lead}{''.join(f'<th scope=col>{count}</th>' for count in counts)}</tr>"
    ems = LABEL_EMS * len(names) + width
    return (
        f'<div class="dpviz-table" tabindex="0" role="region" aria-label="{escape(caption)}" style="--ems: {ems:.1f}">'
        f"<table><caption><span>{escape(caption)}</span><em>{HINT}</em></caption>"
        f"<thead>{heads}</thead><tbody>{''.join(lines)}</tbody></table></div>"
    )
