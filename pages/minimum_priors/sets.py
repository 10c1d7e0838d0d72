"""Several synthetic sets from the same data: what each way of counting their cost asks of the prior."""

import math
from functools import partial

import numpy as np
import streamlit as st

from dpviz.calibration.ways import Ways, stream_ways
from dpviz.charts.lines import DrawnLine, DrawnScale, Mark, Rule, lines_chart
from dpviz.charts.style import BOUND_LINE, PRINTED_LINE, PURE_LINE
from dpviz.core.parameters import readable, rounded_up
from dpviz.privacy.composition import DeltaBracket
from pages.components.figure import show_figure
from pages.components.growing import growing_of, show_growing
from pages.components.words import answer, listing
from pages.minimum_priors.answer import LATER, WAITING, needed_of
from pages.minimum_priors.controls import PREFIX, Asked
from pages.minimum_priors.faces import BEYOND, HEADLINE, face_of, known

EXACT_AT = (1, 2, 5, 10, 20)  # Numbers of sets for which the picture has the exact answer

SHOWN = 5  # Sets that the section speaks of while the page is about a single one


def show_sets(asked: Asked) -> None:
    """Table of ways, picture, and what they mean, as they come."""
    sets, setting, counted = asked.design.sets, asked.setting, {}
    if sets == 1:
        sets = SHOWN
        st.caption(f"The answer above is for one set. This section shows M = {sets}; “Released sets M” changes that.")
    else:
        counted = {(key, sets): one for key, one in needed_of(asked).last().together.items()}
    pictured = asked.kind.binary and setting.delta > 0
    begin = partial(
        stream_ways, asked.kind, setting, sets, HEADLINE, known=counted,
        divided=_counts(sets) if pictured else (), together=(*EXACT_AT, sets) if pictured else (),
    )  # fmt: skip
    growing = growing_of(f"{PREFIX}growing_ways", ("ways to count sets", asked.kind, setting, sets), Ways, begin)
    show_growing(growing, WAITING, partial(_draw, asked, sets), key=f"{PREFIX}step_ways")


def _counts(sets: int) -> list[int]:
    """Numbers of sets at which the picture divides ε and δ."""
    counts: list[int] = np.unique(np.rint(np.geomspace(1, max(20, 2 * sets), 9)).astype(int)).tolist()
    return counts


def _draw(asked: Asked, sets: int, found: Ways) -> None:
    """The sentence, the table and the picture as far as they are known."""
    face, rows = face_of(asked), []
    for key, method in asked.kind.methods.items():
        rows.append([f"<b>{method.label}</b>", *_cells(asked, found, (key, sets))])
    one = found.exact.get((HEADLINE.key, sets))
    if one is not None:
        shares = found.shares[HEADLINE.key, sets]
        ways = shares.pure, shares.split, shares.advanced
        st.html(answer(*face.of_sets(asked, sets, one.upper, _digits(one), ways)))
    pure = f"ε/M each, δ = 0{', truncated' if asked.kind.conditioned else ''}"
    head = ["for all sets together", pure, "(ε/M, δ/M) each", "advanced composition", "exact"]
    listing(head, rows, face.sets_title)
    if found.refused:
        reasons = dict.fromkeys(found.refused[key] for key in asked.kind.methods if key in found.refused)
        st.caption(f"Beyond reach: {' '.join(reasons)}")
    st.caption(face.how_sets(asked, sets))
    if one is not None and asked.kind.binary and asked.setting.delta > 0:
        _picture(asked, sets, found, one)


def _cells(asked: Asked, found: Ways, place: tuple[str, int]) -> list[str]:
    """The cells of one method: what is beyond reach, what is needed, and what is still to come."""
    face, missing = face_of(asked), BEYOND if place[0] in found.refused else LATER
    cells = [missing] * 4
    if place in found.shares:
        shares = found.shares[place]
        ways = shares.pure, shares.split, shares.advanced
        cells[:3] = ("–" if math.isnan(way) else face.needed(asked, way) for way in ways)
    if place in found.exact:
        exact = found.exact[place]
        cells[3] = f"<b>{face.needed(asked, exact.upper, _digits(exact))}</b>"
    return cells


def _picture(asked: Asked, sets: int, found: Ways, one: DeltaBracket) -> None:
    """The invented rows that `HEADLINE` needs against the number of sets, by way of counting."""
    color, rows = HEADLINE.color, partial(asked.kind.counted, setting=asked.setting)
    several = sorted(count for key, count in found.exact if key == HEADLINE.key)
    exact = [found.exact[HEADLINE.key, count].upper for count in several]
    counts = [count for count in _counts(sets) if (HEADLINE.key, count) in found.shares]
    divided = [found.shares[HEADLINE.key, count] for count in counts]
    lines = [DrawnLine(name="exact", color=color, x=np.array(several), y=np.array([*map(rows, exact)]))]
    if counts:
        line = partial(DrawnLine, color=color, x=np.array(counts))
        lines += [
            line(
                name="ε/M each, δ = 0 (the papers' rule)",
                y=np.array([rows(at.pure) for at in divided]),
                stroke=PURE_LINE,
            ),
            line(name="(ε/M, δ/M) each", y=np.array([rows(at.split) for at in divided]), stroke=PRINTED_LINE),
            line(name="advanced composition", y=np.array([rows(at.advanced) for at in divided]), stroke=BOUND_LINE),
        ]
    low = rows(min(one.lower, *(at.split for at in divided)) if divided else one.lower) / 2
    scale = DrawnScale(title=asked.kind.axis, log=True, low=low)
    needed = readable(rounded_up(rows(one.upper), min(_digits(one), 3)), 3)
    marks = [Mark(x=sets, y=rows(one.upper), color=color, text=f"exact: {needed}", name=f"exact, M = {sets}")]
    rules = [Rule(text="as many invented rows as real ones", y=1.0, dash="dot")]
    figure = lines_chart(lines, DrawnScale(title="sets M", log=True), scale, key="sets", marks=marks, rules=rules)
    alt = f"The {asked.kind.axis} that several sets need, by three ways to bound their cost, and exactly."
    show_figure(figure, key=f"{PREFIX}sets_picture", alt=alt)


def _digits(exact: DeltaBracket) -> int:
    """The digits of the exact answer on which both bounds agree."""
    low, high = exact.lower, exact.upper
    if not known(high):
        return 2
    return next((d for d in (5, 4, 3) if high - low <= 0.5 * 10 ** (math.floor(math.log10(high)) - d + 1)), 2)
