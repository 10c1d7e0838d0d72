"""A matrix of the reader's own, pasted or uploaded, among the synthesizers that a page offers."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
import streamlit as st

from dpviz.core.parameters import readable
from dpviz.core.plain import plain
from dpviz.desk.exports.script import LONGEST_INLINE
from dpviz.mechanisms import SYNTHESIZERS
from dpviz.mechanisms.given import read_matrix
from dpviz.mechanisms.given.reading import ROUNDING_OF_ROWS, rescaled, text_of
from dpviz.mechanisms.given_matrix import GivenMatrix
from pages.components.address import LONGEST_TEXT, drawn, keep_text
from pages.components.cached import cached, elsewhere
from pages.components.choices import choice, written

GIVEN = GivenMatrix.key
RESCALE = "Divide each row by its sum"
LONGEST_NAME = 80  # Characters of a file's name that are shown


@dataclass(frozen=True)
class Upload:
    """A file as it came, known by its fingerprint: what is read of it is kept, and its content looked at once."""

    content: bytes = field(repr=False)
    fingerprint: str

    @classmethod
    def of(cls, content: bytes) -> "Upload":
        """A file with this content."""
        return cls(content, hashlib.sha256(content).hexdigest())


def synthesizer_choice(key: str, synthesizer_types: Iterable[str]) -> str:
    """The key of the chosen synthesizer."""
    return choice(
        st.selectbox,
        "Synthesizer",
        synthesizer_types,
        key,
        format_func=lambda synthesizer_type: (
            SYNTHESIZERS[synthesizer_type].label if synthesizer_type in SYNTHESIZERS else GivenMatrix.label
        ),
        help="The distribution from which the released counts are drawn, given the confidential ones.",
    )


def keep_matrix(prefix: str, example: str) -> None:
    """Keep the text of a page's matrix, an example at first."""
    keep_text(f"{prefix}paste", example)


def matrix_text(prefix: str) -> str | Upload:
    """The controls of a matrix; returns the pasted text, or the file that is shown in its place.

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
            st.session_state[kept] = upload.name, Upload.of(upload.getvalue())
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
        st.caption(
            f"The file {plain(name, LONGEST_NAME)} is shown in place of the text. A file is not part of the address."
        )
        st.button("Use the text instead", key=f"{prefix}use_text", on_click=forget)
    elif len(pasted) > LONGEST_TEXT:
        st.caption(
            f"The address carries matrices of up to {LONGEST_TEXT:,} characters. This one is longer and not part "
            "of it: keep it as a file."
        )
    if (text := cached(_rescaled)(content)) is not None:

        def use() -> None:
            if name:
                st.session_state[kept] = name, Upload.of(text.encode())
            else:
                st.session_state[paste] = text

        st.button(
            RESCALE, key=f"{prefix}rescale", on_click=use, help="Each row then sums to 1. The numbers count as exact."
        )
    if name or len(pasted) > LONGEST_TEXT:  # a copy of the address must show no other matrix
        drawn(paste, "", "Matrix", lambda _: "brought by the reader, and not part of the address")
    else:
        drawn(paste, pasted, "Matrix", lambda _: "the text in the address")
    return content  # type: ignore[no-any-return]


def matrix_of(given: str | Upload) -> tuple[GivenMatrix, str | None]:
    """The matrix that a text or a file holds, and the text where a script can carry it; a ValueError refuses."""
    return elsewhere(_read, "Reading the matrix …")(given)


def _read(given: str | Upload) -> tuple[GivenMatrix, str | None]:
    content = given.content if isinstance(given, Upload) else given
    found, text = read_matrix(content), text_of(content)
    return found, text if len(text) <= LONGEST_INLINE else None


def _rescaled(given: str | Upload) -> str | None:
    return rescaled(given.content if isinstance(given, Upload) else given)


def sums_sentence(given: GivenMatrix) -> str:
    """What is done with rows that do not sum to 1; nothing where all do."""
    sums = given.probabilities.sum(axis=1)
    off, row = np.abs(sums - 1), int(np.argmax(np.abs(sums - 1)))
    number = int((off > ROUNDING_OF_ROWS).sum())
    example = f"row {row + 1} sums to {readable(sums[row], 9)}"
    if number > 1:
        return f"{number:,} of your rows do not sum to exactly 1 ({example}). They are not rescaled."
    return f"Your {example}, not to 1. It is not rescaled." if number else ""
