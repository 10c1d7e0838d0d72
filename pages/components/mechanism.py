"""How a release is made: the controls of its synthesizer, a matrix of the reader's own among them, and its promise."""

from collections.abc import Callable, Collection
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpviz.calibration.prior_rules import PRIOR_RULES, promised_by
from dpviz.claims.poisson_losses import promise_of_counts
from dpviz.core.parameters import Parameter
from dpviz.core.plain import plain
from dpviz.core.settings import LONGEST_TEXT
from dpviz.designs import Design
from dpviz.desk.brought import Upload, brought_matrix, brought_rescaled
from dpviz.desk.promises import FURTHER_NUMBERS, broken_sentence, real_epsilon
from dpviz.mechanisms import SYNTHESIZERS
from dpviz.mechanisms.given_matrix import GivenMatrix
from pages.components.address import drawn
from pages.components.cached import cached, elsewhere
from pages.components.controls import Choice, Control, Numbers, Said, Text
from pages.components.numbers import When, always
from pages.components.uploads import choose_file, chosen

GIVEN = GivenMatrix.key
LONGEST_NAME = 80  # Characters of a file's name that are shown


def is_given(said: Said) -> bool:
    """Whether the release is a matrix of the reader's own."""
    return bool(said["synthesizer"] == GIVEN)


class Mechanism(Choice):
    """The synthesizer, of those whose keys `keys` returns; beside it a broken promise is said."""

    def __init__(self, keys: Callable[[], Collection[str]], default: str) -> None:
        super().__init__(
            "synthesizer", "Synthesizer", lambda: {key: _label(key) for key in keys()}, default,
            help="The distribution from which the released counts are drawn, given the confidential ones.",
        )  # fmt: skip

    def add_to(self, said: Said) -> None:
        """Add its key, also as the mechanism of a design."""
        super().add_to(said)
        said["mechanism"] = said[self.says]
        if not said.fresh:
            beside = st.container()
            said.then.append(lambda design: say_real_epsilon(design, self.key, beside))


def _label(key: str) -> str:
    return SYNTHESIZERS[key].label if key in SYNTHESIZERS else GivenMatrix.label


def say_real_epsilon(design: Design, key: str, place: DeltaGenerator) -> None:
    """Say at a place that a synthesizer, chosen under `key`, breaks its promise, and offer one that does not.

    Nothing is said where the promise is kept, unless it allows a small probability of more.
    """
    if not_pure := promise_of_counts(design.synthesizer):
        place.html(f'<p class="dpviz-note">{not_pure}</p>')
    real = real_epsilon(design)
    if real is None:
        return
    release: Any = design.synthesizer
    sentence = broken_sentence(design.synthesizer_type, design.sets * release.epsilon, real)
    place.html(f'<p class="dpviz-note">{sentence}</p>')
    place.button(
        f"Use {SYNTHESIZERS[design.synthesizer_type.kept_by].label}",
        key=f"{key}_kept_by",
        on_click=st.session_state.update,
        args=({key: design.synthesizer_type.kept_by},),
        width="stretch",
    )


def promise(when: When = always) -> list[Control | Numbers]:
    """How the prior of each set follows, and the numbers of the promise that a synthesizer asks for."""
    words = "Split equally: the papers' rule, the smallest prior without δ when each set has an equal share of ε. "
    words += "Smallest for all sets together: the smallest prior for which the M sets keep (ε, δ), counted exactly."
    rule = Choice(
        "prior", "How the agency sets its prior", {key: one.label for key, one in PRIOR_RULES.items()}, "pure",
        st.radio, help=words, when=lambda said: when(said) and said.synthesizer_type.has_prior,
    )  # fmt: skip
    return [rule, Numbers(of=_asked_of_the_mechanism, when=when)]


def _asked_of_the_mechanism(said: Said) -> dict[str, Parameter]:
    """The numbers of its promise or prior, an α that is no prior as it declares it, and its further ones."""
    made = said.synthesizer_type
    own, promised = made.numbers(), promised_by(made, said.get("prior", "pure"))
    numbers = {**said.page.declared}
    if "alpha" in own and not made.has_prior:
        numbers["alpha"] = own["alpha"]
    return {name: numbers[name] for name in (*promised, *(one for one in FURTHER_NUMBERS if one in own))}


class Matrix(Text):
    """The text of the reader's own matrix, or the file that is shown in its place, where the synthesizer is that.

    Streamlit forgets a file where its control is not shown: it is kept. Only the button makes a new control, empty and
    with another key: a second file is announced by a run without any, and must find the same control.
    """

    def __init__(self, example: str) -> None:
        words = "One line for each confidential table, the probabilities of the released tables separated by commas. "
        words += "A header and columns with the counts may stand before them."
        super().__init__(
            "paste", "or paste the matrix", example, st.text_area, when=is_given, at="synthesizer", height=190,
            help=words,
        )  # fmt: skip

    def add_to(self, said: Said) -> None:
        """Add the matrix with its text, where a script can carry that, and its sizes; or why there is none."""
        try:
            said["mechanism"], said["given_text"] = elsewhere(brought_matrix, "Reading the matrix …")(self.content())
            said["n"], said["m"] = said["mechanism"].n, said["mechanism"].m
        except ValueError as broken:
            said["unread"] = broken

    def content(self) -> str | Upload:
        """Draw the controls and return what holds the matrix."""
        state, prefix = st.session_state, self.prefix
        kept, uploads = f"{prefix}uploaded", f"{prefix}uploads"
        control = f"{prefix}file{state.get(uploads, 0)}"

        def forget() -> None:
            state.pop(kept, None)
            state[uploads] = state.get(uploads, 0) + 1

        def keep() -> None:
            if upload := chosen(control):
                state[kept] = upload.name, Upload.of(upload.getvalue())
            else:
                state.pop(kept, None)

        choose_file("Upload a CSV file", ["csv", "txt", "tsv"], control, 32, on_change=keep)
        pasted = self.draw()
        name, content = state.get(kept, ("", pasted))
        if name:
            shown = plain(name, LONGEST_NAME)
            st.caption(f"The file {shown} is shown in place of the text. A file is not part of the address.")
            st.button("Use the text instead", key=f"{prefix}use_text", on_click=forget)
        elif len(pasted) > LONGEST_TEXT:
            st.caption(
                f"The address carries matrices of up to {LONGEST_TEXT:,} characters. This one is longer and not part "
                "of it: keep it as a file."
            )
        if (text := cached(brought_rescaled)(content)) is not None:

            def use() -> None:
                state.update({kept: (name, Upload.of(text.encode()))} if name else {self.key: text})

            words = "Each row then sums to 1. The numbers count as exact."
            st.button("Divide each row by its sum", key=f"{prefix}rescale", on_click=use, help=words)
        if name or len(pasted) > LONGEST_TEXT:  # a copy of the address must show no other matrix
            drawn(self.key, "", "Matrix", lambda _: "brought by the reader, and not part of the address")
        else:
            drawn(self.key, pasted, "Matrix", lambda _: "the text in the address")
        return content  # type: ignore[no-any-return]
