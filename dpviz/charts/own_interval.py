"""What one seat sees of its own table: the yes and no of it, and its interval on a line, as HTML without a script."""

from dpviz.core.formatting import format_number


def released_bar_html(yes: int, rows: int) -> str:
    """A released table as a bar: its invented yes and no.

    >>> released_bar_html(30, 100).count("30 yes")
    2
    """
    return (
        f'<div class="dpviz-seat-bar" role="img" aria-label="{yes:,} yes, {rows - yes:,} no">'
        f'<span style="width: {100 * yes / rows:.4g}%"></span></div>'
        f'<div class="dpviz-seat-ends"><b>{yes:,} yes</b><span>{rows - yes:,} no</span></div>'
    )


def own_interval_html(low: float, high: float, truth: float | None) -> str:
    """An interval on a line from 0 to 100 %, and the truth where it is told.

    >>> "left: 30%" in own_interval_html(0.2, 0.4, 0.3), "truth" in own_interval_html(0.2, 0.4, None)
    (True, False)
    """
    left, right = 100 * max(low, 0.0), 100 * min(high, 1.0)
    said = f"from {format_number(left, 3)} % to {format_number(right, 3)} %"
    rule = "" if truth is None else f'<span class="truth" style="left: {100 * truth:.4g}%"></span>'
    missed = "" if truth is None or low <= truth <= high else " missed"
    return (
        f'<div class="dpviz-seat-line" role="img" aria-label="Your interval, {said}">'
        f'<span class="range{missed}" style="left: {left:.4g}%; width: {right - left:.4g}%"></span>{rule}</div>'
        '<div class="dpviz-seat-ends"><span>0 %</span><span>100 %</span></div>'
    )
