"""Former names, until no page uses them."""

from collections.abc import Iterable

import streamlit as st

from dpviz.desk.brought import Upload, brought_matrix
from dpviz.mechanisms.given.reading import sums_sentence as sums_sentence
from dpviz.mechanisms.given_matrix import GivenMatrix
from pages.components.address import SETTINGS, keep_text
from pages.components.cached import elsewhere
from pages.components.choices import choice
from pages.components.mechanism import GIVEN as GIVEN
from pages.components.mechanism import Matrix, _label


def synthesizer_choice(key: str, synthesizer_types: Iterable[str]) -> str:
    """The key of the chosen synthesizer."""
    words = "The distribution from which the released counts are drawn, given the confidential ones."
    return choice(st.selectbox, "Synthesizer", synthesizer_types, key, format_func=_label, help=words)


def keep_matrix(prefix: str, example: str) -> None:
    """Keep the text of a page's matrix, an example at first."""
    keep_text(f"{prefix}paste", example)


def matrix_text(prefix: str) -> str | Upload:
    """The controls of a matrix; returns the pasted text, or the file that is shown in its place."""
    one = Matrix(SETTINGS[f"{prefix}paste"].default)
    one.prefix = prefix
    return one.content()


def matrix_of(given: str | Upload) -> tuple[GivenMatrix, str | None]:
    """The matrix that a text or a file holds, and the text where a script can carry it; a ValueError refuses."""
    return elsewhere(brought_matrix, "Reading the matrix …")(given)
