"""How a release is made: the synthesizer, a matrix of the reader's own among them, its prior rule and its promise."""

from collections.abc import Collection
from typing import Any, NamedTuple

import streamlit as st

from dpviz.audit.poisson_losses import promise_of_counts
from dpviz.calibration.several_sets import PRIOR_RULES, promised_by
from dpviz.core.escape import escape_markdown
from dpviz.designs import Design, broken_promise_sentence
from dpviz.mechanisms import SYNTHESIZERS, two_cell_synthesizers
from dpviz.mechanisms.matrix_mechanism import GivenMatrix
from dpviz.uploads.matrix import read_matrix, rescale_rows, text_of
from pages.ui.background import result
from pages.ui.controls import Places, choice, number_control, text_control
from pages.ui.declarations import declared_numbers
from pages.ui.downloads import uploaded
from pages.ui.release import mark_moved
from pages.ui.text import note, page_note
from pages.ui.url import MAX_TEXT, Setting, choice_setting, current_page, current_setting, keys_of, text_setting

GIVEN = GivenMatrix.key
FURTHER_NUMBERS = {
    parameter.name: parameter
    for synthesizer_type in two_cell_synthesizers().values()
    for parameter in synthesizer_type.parameters()
    if parameter.name not in ("n", "m", "epsilon", "alpha", "beta")
}
RELEASE_NUMBERS = declared_numbers("controls") | FURTHER_NUMBERS
"""What a release follows from, and what its synthesizer asks for beside that."""


class ReleaseChoice(NamedTuple):
    """What the controls say of a release."""

    values: dict[str, Any]  # arguments of `Design.of` by name; n and m are among them for a matrix of the reader's own
    place: Any  # where a broken promise is told, see `note_broken_promise`
    given_text: str | None = None  # of the reader's own matrix where a script can carry it


def mechanism_settings(prefix: str, keys: Collection[str], default: str, example: str = "") -> dict[str, Setting]:
    """Settings of `mechanism_controls`; `example` is the matrix of a fresh page, where it offers `GIVEN`."""
    matrix = {f"{prefix}paste": text_setting(example, "Matrix")} if example else {}
    synthesizer = choice_setting(keys, default, "Synthesizer")
    prior = choice_setting(PRIOR_RULES, "pure", "Prior rule")
    return {f"{prefix}synthesizer": synthesizer, f"{prefix}prior": prior, **matrix}


def mechanism_controls(places: Places, *, has_numbers: bool = True) -> ReleaseChoice:
    """Draw the choice of a synthesizer and what it follows from: its prior rule, promise, prior and own numbers.

    On a page without `has_numbers` the synthesizer alone is chosen, and its prior is its own. A matrix that cannot be
    read raises a ValueError.
    """
    _, setting = current_setting("synthesizer")
    labels = {name: SYNTHESIZERS.get(name, GivenMatrix).info.label for name in keys_of(setting.options)}
    key = choice("synthesizer", labels, place=places.main, help=page_note("controls", "synthesizer"))
    place = places.main.container()
    if key == GIVEN:
        with places.main:
            return _own_matrix(place)
    synthesizer_type = SYNTHESIZERS[key]
    values: dict[str, Any] = {"mechanism": key, "prior": "pure" if has_numbers else "own"}
    if not has_numbers:
        return ReleaseChoice(values, place)
    if synthesizer_type.has_prior:
        label = "How the agency sets its prior"
        help = page_note("controls", "prior rule")
        values["prior"] = choice("prior", PRIOR_RULES, label, place=places.folded, widget=st.radio, help=help)

    # Numbers of the promise or prior, an α that is no prior as the synthesizer declares it, and its further ones
    own = synthesizer_type.numbers()
    details = [name for name in FURTHER_NUMBERS if name in own]
    for name in (*promised_by(synthesizer_type, values["prior"]), *details):
        parameter = own.get(name) if name == "alpha" and not synthesizer_type.has_prior else None
        where = places.first if name in ("epsilon", "alpha") else places.main
        values[name] = number_control(name, parameter, place=where)
    return ReleaseChoice(values, place)


def note_broken_promise(design: Design, release: ReleaseChoice) -> None:
    """Say beside the synthesizer of a design that it breaks its promise, and offer one that keeps it."""
    with release.place:
        if counts := promise_of_counts(design.synthesizer):
            note(page_note("controls", "Poisson counts", **counts))
        sentence = broken_promise_sentence(design)
        if not sentence:
            return
        note(sentence)
        better = design.synthesizer_type.info.kept_by
        prefix = current_page().prefix
        label = f"Use {SYNTHESIZERS[better].info.label}"

        def choose() -> None:
            st.session_state[f"{prefix}synthesizer"] = better
            mark_moved()

        st.button(label, key=f"{prefix}kept_by", width="stretch", on_click=choose)


def _own_matrix(place: Any) -> ReleaseChoice:
    """Draw the box and the upload for a matrix; a file stands in the place of the text until it is taken away."""
    state = st.session_state
    prefix = current_page().prefix
    file_key = f"{prefix}matrix_file"  # kept in the session: Streamlit drops a file whose widget is not drawn
    upload_key = f"{file_key}{state.get(f'{prefix}uploads', 0)}"

    def keep_file() -> None:
        state.pop(file_key, None)
        if (content := uploaded(upload_key)) is not None:
            state[file_key] = (state[upload_key].name, content)
        mark_moved()

    def drop_file() -> None:
        state.pop(file_key, None)
        state[f"{prefix}uploads"] = state.get(f"{prefix}uploads", 0) + 1  # a new widget, which is empty
        mark_moved()

    def replace_matrix(key: str, value: Any) -> None:
        state[key] = value
        mark_moved()

    types = ["csv", "txt", "tsv"]
    st.file_uploader("Upload a CSV file", types, key=upload_key, max_upload_size=32, on_change=keep_file)
    help = page_note("controls", "own matrix")
    pasted = text_control("paste", "or paste the matrix", area=True, height=190, help=help)
    name, content = state.get(file_key, ("", pasted))
    if name:
        shown = escape_markdown(name, 80)
        st.caption(f"The file {shown} is shown in place of the text. A file is not part of the URL.")
        st.button("Use the text instead", key=f"{prefix}use_text", on_click=drop_file)
    elif len(pasted) > MAX_TEXT:
        st.caption(f"A URL carries matrices of up to {MAX_TEXT:,} characters. This one is longer: keep it as a file.")
    checked, rescaled = state.get(f"{prefix}rescaled", ("", None))  # of this reader alone: no cache holds the file
    if checked != content:
        rescaled = rescale_rows(content)
        state[f"{prefix}rescaled"] = content, rescaled
    if rescaled is not None:
        key = file_key if name else f"{prefix}paste"
        value = (name, rescaled.encode()) if name else rescaled
        label, help = "Divide each row by its sum", "Each row then sums to 1. The numbers count as exact."
        st.button(label, key=f"{key}_rescale", on_click=replace_matrix, args=(key, value), help=help)
    matrix = result(read_matrix, content)
    text = text_of(content) if len(content) <= 80_000 else None  # which a script may carry
    return ReleaseChoice({"mechanism": matrix, "n": matrix.n, "m": matrix.m}, place, text)
