"""A matrix of the reader's own, pasted or uploaded, among the synthesizers that a page offers."""

from collections.abc import Iterable

import numpy as np
import streamlit as st

from dpviz.given import read_matrix
from dpviz.given.reading import text_of
from dpviz.parameters import readable
from dpviz.synthesizers import SYNTHESIZERS
from dpviz.synthesizers.given_matrix import GivenMatrix
from pages.components.address import drawn, keep_text
from pages.components.cached import FEW_ENTRIES, cached
from pages.components.choices import choice, written

GIVEN = GivenMatrix.key
LONGEST_IN_ADDRESS = 4000  # Characters of a pasted matrix that the address carries

ROUNDING_OF_SUMS = 1e-12


def synthesizer_choice(key: str, laws: Iterable[str]) -> str:
    """The key of the chosen synthesizer."""
    return choice(
        st.selectbox,
        "Synthesizer",
        laws,
        key,
        format_func=lambda law: SYNTHESIZERS[law].label if law in SYNTHESIZERS else GivenMatrix.label,
        help="The distribution from which the released counts are drawn, given the confidential ones.",
    )


def keep_matrix(prefix: str, example: str) -> None:
    """Keep the text of a page's matrix, an example at first."""
    keep_text(f"{prefix}paste", example)


def matrix_text(prefix: str) -> str | bytes:
    """The controls of a matrix; returns the pasted text, or the content of the file that is shown in its place.

    Streamlit forgets a file where its control is not shown: it is kept. Only the button makes a new control, empty and
    with another key: a second file is announced by a run without any, and must find the same control.
    """
    kept, uploads, paste = f"{prefix}uploaded", f"{prefix}uploads", f"{prefix}paste"
    control = f"{prefix}file{st.session_state.get(uploads, 0)}"

    def forget() -> None:
        st.session_state.pop(kept, None)
        st.session_state[uploads] = st.session_state.get(uploads, 0) + 1

    def keep() -> None:
        if upload := st.session_state[control]:
            st.session_state[kept] = upload.name, upload.getvalue()
        else:
            st.session_state.pop(kept, None)

    st.file_uploader("Upload a CSV file", ["csv", "txt", "tsv"], max_upload_size=32, key=control, on_change=keep)
    pasted = written(
        st.text_area,
        "or paste the matrix",
        paste,
        height=190,
        help="One line for each confidential table, the probabilities of the released tables separated by commas. "
        "A header and columns with the counts may stand before them.",
    )
    name, content = st.session_state.get(kept, ("", pasted))
    if name:
        st.caption(f"The file {name} is shown in place of the text. A file is not part of the address.")
        st.button("Use the text instead", key=f"{prefix}use_text", on_click=forget)
    elif len(pasted) > LONGEST_IN_ADDRESS:
        st.caption(
            f"The address carries matrices of up to {LONGEST_IN_ADDRESS:,} characters. This one is longer and not part "
            "of it: keep it as a file."
        )
    if name or len(pasted) > LONGEST_IN_ADDRESS:
        drawn(paste, "")  # so that a copy of the address shows no other matrix
    return content  # type: ignore[no-any-return]


def matrix_of(content: str | bytes) -> tuple[GivenMatrix, str]:
    """The matrix that a text holds, and the text; a ValueError in a sentence where it holds none."""
    found = cached(read_matrix, "Reading the matrix …", FEW_ENTRIES)(content)
    return found, text_of(content)


def sums_sentence(given: GivenMatrix) -> str:
    """What is done with rows that do not sum to 1; nothing where all do."""
    sums = given.probabilities.sum(axis=1)
    off, row = np.abs(sums - 1), int(np.argmax(np.abs(sums - 1)))
    number = int((off > ROUNDING_OF_SUMS).sum())
    example = f"row {row + 1} sums to {readable(sums[row], 9)}"
    if number > 1:
        return f"{number:,} of your rows do not sum to exactly 1 ({example}). They are not rescaled."
    return f"Your {example}, not to 1. It is not rescaled." if number else ""
