"""Tables of counts in the layout of Abowd & Vilhuber: confidential counts down the side, m1 over m2 across the top."""

import math
from html import escape
from pathlib import Path

import numpy as np

from dpviz.core.checked import checked
from dpviz.core.parameters import readable
from dpviz.core.types import FloatArray
from dpviz.mechanisms import Synthesizer
from dpviz.privacy import exceeds

__all__ = ["log_odds_html", "matrix_html"]

SHOWN_DECIMALS = 6
MATRIX, LOG_ODDS = "matrix", "log-odds"  # What the two are called where a row or a cell of them is to be lit
# Widths in ems: of a column of labels, and of a number its padding, each character, and what bold type and ▲ add.
LABEL_EMS, PADDING_EMS, CHARACTER_EMS, MARK_EMS = 2.9, 0.9, 0.5, 1.1
HINT = "More columns may be at the right: scroll sideways →"

STYLE = Path(__file__).with_suffix(".css").read_text(encoding="utf-8")


@checked()
def matrix_html(synthesizer: Synthesizer, caption: str, *, values: FloatArray | None = None) -> str:
    """Return the transition matrix as an HTML table; the deeper the shade, the larger the probability.

    `values` stand in place of the synthesizer's own numbers, where a printed table is to be shown.
    """
    matrix = synthesizer.transition_matrix() if values is None else _of_shape(values, synthesizer.shape)
    shade = '<td style="background:rgba(0,114,178,{:.3f})">{:.{}f}</td>'
    cells = ["".join(shade.format(0.42 * one, one, SHOWN_DECIMALS) for one in line) for line in matrix.tolist()]
    labels = [_row_header(synthesizer.row_table(row)) for row in range(len(matrix))]
    names = [f"n<sub>{cell + 1}</sub>" for cell in range(synthesizer.row_counts.shape[1])]
    width = (PADDING_EMS + CHARACTER_EMS * (SHOWN_DECIMALS + 2)) * matrix.shape[1]
    return _table(MATRIX, caption, names, synthesizer, labels, cells, width)


@checked()
def log_odds_html(
    synthesizer: Synthesizer, epsilon: float, caption: str, *, signed: bool, values: FloatArray | None = None
) -> str:
    """Return the log-odds table as HTML; cells over ε are boxed, bold and marked ▲, the largest is underlined.

    `values` stand in place of the synthesizer's own numbers, where a printed table is to be shown.
    """
    shape = len(synthesizer.neighbours), synthesizer.shape[1]
    values = synthesizer.log_odds_table() if values is None else _of_shape(values, shape)
    over, told = exceeds(values, epsilon), np.vectorize(six_digits)(values if signed else np.abs(values))
    marks = np.where(over, "dpviz-over", "").astype(object)
    worst = int(np.argmax(np.abs(values)))
    marks.flat[worst] = f"{marks.flat[worst]} dpviz-worst".strip()
    titles = np.where(over, f' title="over ε = {readable(epsilon)}"', "")
    cells = [
        "".join(f'<td class="{mark}"{title}>{text}</td>' for mark, title, text in zip(*line, strict=True))
        for line in zip(marks, titles, told, strict=True)
    ]
    pairs = synthesizer.neighbours.tolist()
    labels = [_row_header((*synthesizer.row_table(a), *synthesizer.row_table(b))) for a, b in pairs]
    cell_names = range(1, synthesizer.row_counts.shape[1] + 1)
    names = [f"n<sub>{cell}</sub><sup>({side})</sup>" for side in (1, 2) for cell in cell_names]
    width = float((PADDING_EMS + CHARACTER_EMS * np.strings.str_len(told) + MARK_EMS * over).max(axis=0).sum())
    return _table(LOG_ODDS, caption, names, synthesizer, labels, cells, width)


def six_digits(value: float) -> str:
    """Return a log-odds as printed: six digits, a true minus sign, ∞ where a zero decides."""
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    return f"{value:.{SHOWN_DECIMALS}f}".replace("-", "−")


def _of_shape(values: FloatArray, shape: tuple[int, int]) -> FloatArray:
    if values.shape != shape:
        raise ValueError(f"values must have the shape {shape} of the synthesizer's own; got {values.shape}.")
    return values


def _row_header(counts: tuple[int, ...]) -> str:
    *others, last = counts
    heads = "".join(f'<th scope="row">{count}</th>' for count in others)
    return f'{heads}<th scope="row" class=dpviz-last>{last}</th>'


def _table(
    kind: str,
    caption: str,
    names: list[str],
    synthesizer: Synthesizer,
    labels: list[str],
    cells: list[str],
    width: float,
) -> str:
    """Return the table: k header rows of released counts, row labels, cells of a width in ems together.

    Its letters become smaller where it is wider than its place, and where that is not enough a hint says so.
    """
    released, heads = synthesizer.column_counts.T.tolist(), ""
    for cell, counts in enumerate(released, start=1):
        lead = f'<td colspan="{len(names) - 1}"></td><th scope="row">m<sub>{cell}</sub></th>'
        if cell == len(released):
            lead = "".join(f'<th scope="col">{name}</th>' for name in names[:-1])
            lead += f'<th scope="col">{names[-1]} \\ m<sub>{cell}</sub></th>'
        heads += f"<tr>{lead}{''.join(f'<th scope=col>{count}</th>' for count in counts)}</tr>"
    body = "".join(f"<tr>{label}{line}</tr>" for label, line in zip(labels, cells, strict=True))
    ems = LABEL_EMS * len(names) + width
    return (
        f'<div class="dpviz-table" data-light="{kind}" tabindex="0" role="region" aria-label="{escape(caption)}" '
        f'style="--ems: {ems:.1f}">'
        f"<table><caption><span>{escape(caption)}</span><em>{HINT}</em></caption><thead>{heads}</thead><tbody>{body}</tbody></table></div>"
    )
