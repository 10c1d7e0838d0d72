"""The controls of the page, and the synthesizer that they describe."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import streamlit as st

from dpviz.given import MatrixProblem
from dpviz.parameters import DELTA, EPSILON, Parameter, readable
from dpviz.published import printed_figure
from dpviz.synthesizers import SYNTHESIZERS, Synthesizer
from dpviz.synthesizers.given_matrix import GivenMatrix
from pages.components.cache import cached_matrix
from pages.components.choices import begin_choice, end_choice, forget_problem, presets
from pages.components.controls import SWITCH, address_problems, number_control, read_address
from pages.components.words import problem
from pages.transition.attacker import ATTACKER_ADDRESS
from pages.transition.given import RECOGNIZED

GIVEN = GivenMatrix.key
PREFIX = "tm_"
LINKS = ("m_is_n", "beta_is_alpha", "noise_is_promise")
"""Switches that let one number follow another."""

DEFAULT_LAW = "posterior_mean"
LONGEST_IN_ADDRESS = 4000
"""Characters of a pasted matrix that the address carries."""

PRESETS: dict[str, dict[str, object]] = {
    "A&V Fig. 1/2 as printed": {"law": "posterior_mean", "n": 5, "alpha": 0.5, "epsilon": 2.0},
    "A&V equation (1)": {"law": "beta_binomial", "n": 5, "alpha": 0.5, "epsilon": 2.0},
    "A&V Fig. 3/4": {"law": "laplace", "n": 5, "epsilon": 2.0},
    "100 rows, least α for ε = 1": {"law": "beta_binomial", "n": 100, "alpha": 58.19767068693265, "epsilon": 1.0},
}
"""Abowd & Vilhuber's figures, and a release of ordinary size at its least prior."""


@dataclass(frozen=True)
class Choice:
    """What the reader has set.

    Parameters
    ----------
    synthesizer
        The release, or None where the settings break a rule.
    epsilon, delta
        The promise.
    given_text
        The text of a pasted or uploaded matrix.
    problems
        What is wrong with a setting or was wrong with the address, in sentences.
    mends
        Settings that would put it right, by key, with the words of a button.
    """

    synthesizer: Synthesizer | None
    epsilon: float
    delta: float
    given_text: str | None = None
    problems: tuple[str, ...] = ()
    mends: tuple[tuple[str, float, str], ...] = ()


def choose(choices: dict[str, list[str]]) -> Choice:
    """Draw the controls and return what they say; `choices` are the words that the page's other choices accept."""
    read_address(IN_ADDRESS | ATTACKER_ADDRESS, {**{PREFIX + link: SWITCH for link in LINKS}, **choices})
    presets(PREFIX, PRESETS, dict.fromkeys(LINKS, True))
    law, law_problem = _law()
    choice = _given() if law == GIVEN else _registered(SYNTHESIZERS[law])
    return dataclasses.replace(choice, problems=(*law_problem, *address_problems(IN_ADDRESS), *choice.problems))


def show_problems(choice: Choice) -> None:
    """The sentences about what is wrong, each mend as a button."""
    for sentence in choice.problems:
        problem(sentence)
    for key, value, words in choice.mends:
        st.button(words, key=f"mend_{key}", on_click=st.session_state.__setitem__, args=(key, value))


def _law() -> tuple[str, list[str]]:
    """The chosen law, which the address keeps by its key, and what was wrong with the one asked for there."""
    key, laws = f"{PREFIX}law", [*SYNTHESIZERS, GIVEN]
    begin_choice(key, laws, DEFAULT_LAW)
    law: str = st.selectbox(
        "Synthesizer",
        laws,
        index=laws.index(st.session_state[key]),
        format_func=lambda law: SYNTHESIZERS[law].label if law in SYNTHESIZERS else GivenMatrix.label,
        key=key,
        on_change=forget_problem,
        args=(key,),
        help="The law by which the released counts are drawn from the confidential ones.",
    )
    return law, end_choice(key, law, DEFAULT_LAW)


def _widest() -> dict[str, Parameter]:
    """Each parameter with the domain and default that all laws together give it."""
    found: dict[str, Parameter] = {}
    for declaration in (declared for law in SYNTHESIZERS.values() for declared in law.parameters()):
        first = found.setdefault(declaration.name, declaration)
        found[declaration.name] = dataclasses.replace(
            first,
            minimum=min(first.minimum, declaration.minimum),
            maximum=max(first.maximum, declaration.maximum),
            open_minimum=first.open_minimum and declaration.open_minimum,
        )
    return found


WIDEST = _widest()
IN_ADDRESS = {PREFIX + name: declared for name, declared in WIDEST.items() if name != "epsilon"} | {
    f"{PREFIX}epsilon": EPSILON,
    f"{PREFIX}delta": DELTA,
    f"{PREFIX}noise_epsilon": WIDEST["epsilon"],
}
"""The numbers that the address can set."""


def _promise() -> tuple[float, float]:
    epsilon = number_control(EPSILON, f"{PREFIX}epsilon")
    return epsilon, number_control(DELTA, f"{PREFIX}delta", zero=True)


def _linked(link: str, label: str, of: float, draw: Callable[[], float]) -> float:
    """A value that follows another one until the reader unlinks it."""
    if st.toggle(label, value=True, key=f"{PREFIX}{link}", bind="query-params"):
        return of
    return draw()


def _registered(law: type[Synthesizer]) -> Choice:
    """Controls for the declared parameters of `law`, in the order of its signature, then the promise."""
    values: dict[str, float] = {}
    declared = {declaration.name: declaration for declaration in law.parameters()}
    noise = declared.pop("epsilon", None)
    for name, declaration in declared.items():

        def draw(declaration: Parameter = declaration, name: str = name) -> float:
            widest = WIDEST.get(name, declaration)
            return number_control(declaration, PREFIX + name, widest=widest, default=widest.default)

        if name == "m" and "n" in values:
            values[name] = _linked("m_is_n", "m = n: as many synthetic rows", values["n"], draw)
        elif name == "beta" and "alpha" in values:
            values[name] = _linked("beta_is_alpha", "β = α: symmetric prior", values["alpha"], draw)
        else:
            values[name] = draw()
    least = st.container()
    epsilon, delta = _promise()
    if noise is not None:
        values["epsilon"] = _linked(
            "noise_is_promise",
            "noise made for the promised ε",
            epsilon,
            lambda: number_control(noise, f"{PREFIX}noise_epsilon"),
        )
    if hasattr(law, "least_alpha") and "m" in values:
        with least:
            st.button(
                "Set α to the least that gives ε",
                key=f"{PREFIX}least",
                on_click=_set_least,
                args=(law, int(values["m"]), epsilon),
                help="The smallest symmetric prior for which the release is ε-differentially private, without δ.",
                width="stretch",
            )
    try:
        return Choice(law(**values), epsilon, delta)
    except ValueError as broken:
        return Choice(None, epsilon, delta, problems=(str(broken),), mends=tuple(_mends(law, values)))


def _mends(law: type[Synthesizer], values: dict[str, float]) -> Iterator[tuple[str, float, str]]:
    """The nearest default for every value that its declaration refuses."""
    for declaration in law.parameters():
        try:
            declaration.check(values[declaration.name])
        except ValueError:
            value = min(declaration.maximum, max(declaration.default, values[declaration.name]))
            value = int(value) if declaration.integer else value
            words = f"Set {declaration.symbol} = {readable(value)}"
            if declaration.name == "beta" and st.session_state.get(f"{PREFIX}beta_is_alpha", True):
                continue
            if declaration.name == "m" and st.session_state.get(f"{PREFIX}m_is_n", True):
                yield f"{PREFIX}n", value, f"Set n = m = {readable(value)}"
                continue
            yield PREFIX + declaration.name, value, words


def _set_least(law: type[Synthesizer], m: int, epsilon: float) -> None:
    st.session_state[f"{PREFIX}alpha"] = law.least_alpha(m=m, epsilon=epsilon)  # type: ignore[attr-defined]
    st.session_state[f"{PREFIX}beta_is_alpha"] = True


def _given() -> Choice:
    """A matrix pasted or uploaded, and the promise it is held against."""
    upload = st.file_uploader(
        "Upload a CSV file",
        type=["csv", "txt", "tsv"],
        key=f"{PREFIX}file",
        max_upload_size=32,
        on_change=forget_problem,
        args=(RECOGNIZED,),
    )
    pasted = st.text_area(
        "or paste the matrix",
        value=printed_figure(1).text,
        height=190,
        key=f"{PREFIX}paste",
        bind="query-params",
        on_change=forget_problem,
        args=(RECOGNIZED,),
        help="One line for each confidential table, the probabilities of the released tables separated by commas. "
        "A header and columns with the counts may stand before them.",
    )
    content: str | bytes = upload.getvalue() if upload is not None else pasted
    if upload is not None:
        st.caption("The uploaded file is shown; remove it to use the text. An upload is not part of the address.")
    elif len(pasted) > LONGEST_IN_ADDRESS:
        st.caption(f"The address carries matrices of up to {LONGEST_IN_ADDRESS:,} characters; keep this one as a file.")
    epsilon, delta = _promise()
    try:
        given = cached_matrix(content)
    except MatrixProblem as broken:
        return Choice(None, epsilon, delta, problems=(str(broken),))
    text = content if isinstance(content, str) else content.decode("utf-8-sig")
    return Choice(given, epsilon, delta, text)
