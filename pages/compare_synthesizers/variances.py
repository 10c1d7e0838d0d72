"""What the variance of modips' estimate is made of, with one and with several sets of each noisy count."""

import streamlit as st

from dpviz.comparisons import BinaryData
from dpviz.comparisons.nested_modips import SETS_OF_EACH, Variances, estimate_variances
from dpviz.core.parameters import readable
from dpviz.core.wording import number, percent
from pages.compare_synthesizers import SPEC
from pages.compare_synthesizers.controls import Asked
from pages.components.words import answer, listing

PARTS = {
    "sample": "the confidential data, a sample",
    "sanitization": "the noise on the counts (b₁)",
    "posterior": "the draw of the proportion (b₂₁)",
    "rows": "the draw of the rows (b₂₂)",
    "total": "together",
}


def show_variances(asked: Asked) -> None:
    """A sentence and a table, for yes-or-no data."""
    data, epsilon, sets = asked.data, asked.design.epsilon, asked.analysis.sets
    if not isinstance(data, BinaryData):
        st.caption(SPEC.note("no_variances"))
        return
    found = [estimate_variances(data, epsilon, sets, each) for each in (1, SETS_OF_EACH)]
    drawn, share = (
        percent(part / parts.total if parts.total else 0.0, 3)
        for part, parts in zip((found[0].posterior + found[0].rows, found[1].sanitization), found, strict=True)
    )
    counts = "one noisy count" if sets == 1 else f"{sets} noisy counts"
    said = SPEC.note("variances", epsilon=readable(epsilon, 4), counts=counts, share=share, drawn=drawn)
    st.html(answer(share, said))
    rows = [[f"<b>{name}</b>", *(_cell(parts, key) for parts in found)] for key, name in PARTS.items()]
    listing(["part of the variance", "modips", "nested modips"], rows, "Parts of the variance")
    st.caption(SPEC.note("parts", each=str(SETS_OF_EACH), named=asked.named))


def _cell(parts: Variances, key: str) -> str:
    """A part and its share of all."""
    part = getattr(parts, key)
    return f"{number(part, 3)} <small>{percent(part / parts.total if parts.total else 0.0, 3)}</small>"
