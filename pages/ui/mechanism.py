"""How a release is made: the synthesizer, a matrix of the reader's own among them, its prior rule and its promise."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import streamlit as st

from dpviz.calibration.prior_rules import PRIOR_RULES, promised_by
from dpviz.claims.poisson_losses import promise_of_counts
from dpviz.core.parameters import Parameter
from dpviz.core.plain import plain
from dpviz.designs import Design
from dpviz.desk.brought import Upload, brought_matrix, brought_rescaled
from dpviz.desk.promises import FURTHER_NUMBERS, broken_sentence, real_epsilon
from dpviz.mechanisms import SYNTHESIZERS, Synthesizer
from dpviz.mechanisms.given_matrix import GivenMatrix
from pages.ui.background import result
from pages.ui.controls import Places, choice, number_control, text_control
from pages.ui.downloads import uploaded
from pages.ui.text import note
from pages.ui.url import MAX_TEXT, Setting, choice_setting, text_setting

GIVEN = GivenMatrix.key
MAX_NAME = 80  # characters of a file's name that are shown
MAX_UPLOAD_MB = 32


@dataclass(frozen=True)
class ReleaseChoice:
    """What the controls say of a release.

    Attributes
    ----------
    values : dict of str to Any
        Arguments of `Design.of` by name; n and m are among them for a matrix of the reader's own.
    place : container
        Where a broken promise is told, see `note_broken_promise`.
    given_text : str or None
        Text of the reader's own matrix where a script can carry it.
    """

    values: dict[str, Any]
    place: Any
    given_text: str | None = None


def mechanism_settings(prefix: str, keys: Collection[str], default: str, example: str = "") -> dict[str, Setting]:
    """Settings of `mechanism_controls`.

    Parameters
    ----------
    prefix : str
        Of the page's keys.
    keys : collection of str
        Synthesizers that the page offers.
    default : str
    example : str, optional
        Matrix of a fresh page, where it offers `GIVEN`.

    Returns
    -------
    dict of str to Setting
    """
    settings = {
        f"{prefix}synthesizer": choice_setting(keys, default, "Synthesizer"),
        f"{prefix}prior": choice_setting(PRIOR_RULES, "pure", "Prior rule"),
    }
    if example:
        settings[f"{prefix}paste"] = text_setting(example, "Matrix")
    return settings


def mechanism_controls(
    parameters: Mapping[str, Parameter], prefix: str, places: Places, keys: Collection[str], *, prior: str = ""
) -> ReleaseChoice:
    """Draw the choice of a synthesizer and what it follows from: its prior rule, promise, prior and own numbers.

    Parameters
    ----------
    parameters : mapping of str to Parameter
        Numbers of the page by name, ``PROMISE | FURTHER_NUMBERS`` among them.
    prefix : str
        Of the page's keys.
    places : Places
        ε and α stand with the first controls, the rest with the main ones.
    keys : collection of str
        Synthesizers that the page offers.
    prior : str, optional
        Key of `PRIOR_RULES`, on a page without a choice of it.

    Returns
    -------
    ReleaseChoice

    Raises
    ------
    ValueError
        If the reader's own matrix cannot be read.
    """
    labels = {key: SYNTHESIZERS[key].label if key in SYNTHESIZERS else GivenMatrix.label for key in keys}
    help = "The distribution from which the released counts are drawn, given the confidential ones."
    key = choice("Synthesizer", labels, f"{prefix}synthesizer", place=places.main, help=help)
    place = places.main.container()
    if key == GIVEN:
        with places.main:
            return _own_matrix(prefix, place)
    synthesizer_type = SYNTHESIZERS[key]
    values: dict[str, Any] = {"mechanism": key, "prior": prior or "pure"}
    if synthesizer_type.has_prior and not prior:
        rules = {name: rule.label for name, rule in PRIOR_RULES.items()}
        values["prior"] = choice(
            "How the agency sets its prior", rules, f"{prefix}prior", place=places.more, widget=st.radio,
            help="Split equally: the papers' rule, the smallest prior without δ when each set has an equal share of ε. "
            "Smallest for all sets together: the smallest prior for which the M sets keep (ε, δ), counted exactly.",
        )  # fmt: skip
    for name, parameter in _numbers_of(synthesizer_type, values["prior"], parameters).items():
        where = places.first if name in ("epsilon", "alpha") else places.main
        values[name] = number_control({name: parameter}, prefix, name, place=where)
    return ReleaseChoice(values, place)


def _numbers_of(
    synthesizer_type: type[Synthesizer], prior: str, parameters: Mapping[str, Parameter]
) -> dict[str, Parameter]:
    """Numbers of the promise or prior, an α that is no prior as the synthesizer declares it, and its further ones."""
    own = synthesizer_type.numbers()
    names = [*promised_by(synthesizer_type, prior), *(name for name in FURTHER_NUMBERS if name in own)]
    numbers = {name: parameters[name] for name in names if name in parameters}
    if "alpha" in numbers and not synthesizer_type.has_prior:
        numbers["alpha"] = own["alpha"]
    return {name: numbers[name] for name in names if name in numbers}


def note_broken_promise(design: Design, release: ReleaseChoice, prefix: str) -> None:
    """Say beside the synthesizer that it breaks its promise, and offer one that keeps it.

    Parameters
    ----------
    design : Design
    release : ReleaseChoice
        What the design was made of.
    prefix : str
        Of the page's keys.
    """
    with release.place:
        if sentence := promise_of_counts(design.synthesizer):
            note(sentence)
        real = real_epsilon(design)
        if real is None:
            return
        mechanism: Any = design.synthesizer
        note(broken_sentence(design.synthesizer_type, design.sets * mechanism.epsilon, real))
        better = design.synthesizer_type.kept_by
        st.button(
            f"Use {SYNTHESIZERS[better].label}", key=f"{prefix}kept_by", width="stretch",
            on_click=st.session_state.update, args=({f"{prefix}synthesizer": better},),
        )  # fmt: skip


def _own_matrix(prefix: str, place: Any) -> ReleaseChoice:
    """Draw the box and the upload for a matrix; a file stands in the place of the text until it is taken away."""
    state = st.session_state
    upload_key = f"{prefix}matrix_file{state.get(f'{prefix}uploads', 0)}"
    file_key = f"{prefix}matrix_file"  # kept in the session: Streamlit drops a file whose widget is not drawn

    def keep_file() -> None:
        content = uploaded(upload_key)
        state.pop(file_key, None)
        if content is not None:
            state[file_key] = (state[upload_key].name, Upload.of(content))

    def drop_file() -> None:
        state.pop(file_key, None)
        state[f"{prefix}uploads"] = state.get(f"{prefix}uploads", 0) + 1  # a new widget, which is empty

    st.file_uploader(
        "Upload a CSV file", ["csv", "txt", "tsv"], key=upload_key, max_upload_size=MAX_UPLOAD_MB, on_change=keep_file
    )
    pasted = text_control(
        "or paste the matrix", f"{prefix}paste", area=True, height=190,
        help="One line for each confidential table, the probabilities of the released tables separated by commas. A "
        "header and columns with the counts may stand before them.",
    )  # fmt: skip
    name, content = state.get(file_key, ("", pasted))
    if name:
        st.caption(f"The file {plain(name, MAX_NAME)} is shown in place of the text. A file is not part of the URL.")
        st.button("Use the text instead", key=f"{prefix}use_text", on_click=drop_file)
    elif len(pasted) > MAX_TEXT:
        st.caption(f"A URL carries matrices of up to {MAX_TEXT:,} characters. This one is longer: keep it as a file.")
    _offer_rescaling(content, file_key if name else f"{prefix}paste", name)
    matrix, text = result(brought_matrix, content)
    return ReleaseChoice({"mechanism": matrix, "n": matrix.n, "m": matrix.m}, place, text)


def _offer_rescaling(content: str | Upload, key: str, name: str) -> None:
    """Offer to divide each row by its sum, where these are near 1."""
    text = _rescaled(content)
    if text is None:
        return
    value = (name, Upload.of(text.encode())) if name else text
    st.button(
        "Divide each row by its sum", key=f"{key}_rescale", on_click=st.session_state.update, args=({key: value},),
        help="Each row then sums to 1. The numbers count as exact.",
    )  # fmt: skip


@lru_cache(maxsize=16)
def _rescaled(content: str | Upload) -> str | None:
    return brought_rescaled(content)
