"""The controls of the page, and the synthesizer that they describe."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import streamlit as st

from dpviz.parameters import DELTA, EPSILON, Parameter, readable
from dpviz.published.abowd_vilhuber import printed_figure
from dpviz.synthesizers import SYNTHESIZERS, Synthesizer
from dpviz.synthesizers.given_matrix import GivenMatrix
from pages.components.address import SETTINGS, keep_choice, keep_numbers, keep_switch, read_address
from pages.components.choices import presets, switch
from pages.components.controls import number_control
from pages.components.last_valid import Refused
from pages.components.matrix import GIVEN, keep_matrix, matrix_of, matrix_text, synthesizer_choice
from pages.transition_matrices import SPEC

PREFIX = SPEC.prefix
LINKS = ("m_is_n", "beta_is_alpha", "noise_is_promise")
"""Switches that let one number follow another."""

FOLLOWERS = {
    "m": ("m_is_n", "n", "n = m"),
    "beta": ("beta_is_alpha", "alpha", "α = β"),
    "epsilon": ("noise_is_promise", "epsilon", "ε"),
}
"""By the name of a number: the switch that lets it follow another, which one, and both in symbols."""

OWN_KEYS = {"epsilon": "noise_epsilon"}
"""What a number's own control is called where it is not by its name."""

DEFAULT_LAW = "posterior_mean"
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
    release
        The release.
    epsilon, delta
        The promise.
    given_text
        The text of a pasted or uploaded matrix.
    """

    release: Synthesizer
    epsilon: float
    delta: float
    given_text: str | None = None
    valid: ClassVar[bool] = True
    problems: ClassVar[tuple[str, ...]] = ()

    @property
    def named(self) -> str:
        """The release and the promise in words."""
        release, promise = self.release, f"ε = {readable(self.epsilon)}, δ = {readable(self.delta)}"
        if isinstance(release, GivenMatrix):
            return f"the given matrix of {release.shape[0]:,} rows and {release.shape[1]:,} columns, {promise}"
        numbers = [
            f"{one.symbol} = {readable(getattr(release, one.name))}"
            for one in release.parameters()
            if one.name != "epsilon"
        ]
        return f"{release.label}, {', '.join(numbers)}, {promise}"


def first_choice() -> Choice:
    """What a fresh page asks for."""
    law = SYNTHESIZERS[DEFAULT_LAW]
    values = {one.name: SETTINGS[PREFIX + one.name].default for one in law.parameters()}
    return Choice(law(**values), EPSILON.default, DELTA.default)


def choose() -> Choice | Refused:
    """Draw the controls and return what they say."""
    # A synthesizer may have been registered after this file was read.
    keep_numbers({PREFIX + name: one for name, one in _widest().items() if PREFIX + name not in SETTINGS})
    laws = [*SYNTHESIZERS, GIVEN]
    keep_choice(LAW_KEY, laws, DEFAULT_LAW)
    read_address(PREFIX)
    presets(PREFIX, PRESETS, dict.fromkeys(LINKS, True))
    law = synthesizer_choice(LAW_KEY, laws)
    return _given() if law == GIVEN else _registered(SYNTHESIZERS[law])


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

keep_numbers(IN_ADDRESS)
LAW_KEY = keep_choice(f"{PREFIX}law", [*SYNTHESIZERS, GIVEN], DEFAULT_LAW)
keep_matrix(PREFIX, printed_figure(1).text)

for link in LINKS:
    keep_switch(PREFIX + link, True)


def _promise() -> tuple[float, float]:
    epsilon = number_control(EPSILON, f"{PREFIX}epsilon")
    return epsilon, number_control(DELTA, f"{PREFIX}delta", zero=True)


def _linked(link: str, label: str, of: float, draw: Callable[[], float]) -> float:
    """A value that follows another one until the reader unlinks it."""
    if switch(label, PREFIX + link):
        return of
    return draw()


def _registered(law: type[Synthesizer]) -> Choice | Refused:
    """Controls for the declared parameters of `law`, in the order of its signature, then the promise."""
    values: dict[str, float] = {}
    declared = {declaration.name: declaration for declaration in law.parameters()}
    noise = declared.pop("epsilon", None)
    for name, declaration in declared.items():

        def draw(declaration: Parameter = declaration, name: str = name) -> float:
            return number_control(declaration, PREFIX + name)

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
    if law.has_prior and "m" in values:
        with least:
            st.button(
                "Set α to the least that gives ε",
                key=f"{PREFIX}least",
                on_click=_set_least,
                args=(law, values["m"], epsilon),
                help="The smallest symmetric prior for which the release is ε-differentially private, without δ.",
                width="stretch",
            )
    try:
        _check_promise(epsilon, delta)
        return Choice(law(**values), epsilon, delta)
    except ValueError as broken:
        return Refused((str(broken),), _mends(law, values))


def _mends(law: type[Synthesizer], values: dict[str, float]) -> dict[str, tuple[float, str]]:
    """A value near by, and the words of its button, for the key of every setting that a declaration refuses."""
    found: dict[str, tuple[float, str]] = {}
    for declaration in law.parameters():
        try:
            declaration.check(values[declaration.name])
        except ValueError:
            near, value = declaration.default, values[declaration.name]
            if value > near:  # not for an empty box
                near = min(declaration.maximum, value)
            near = int(near) if declaration.integer else near
            link, leader, words = FOLLOWERS.get(declaration.name, ("", declaration.name, declaration.symbol))
            if link and not st.session_state.get(PREFIX + link, True):
                leader, words = OWN_KEYS.get(declaration.name, declaration.name), declaration.symbol
            found.setdefault(PREFIX + leader, (near, f"Set {words} = {readable(near)}"))
    return found


def _check_promise(epsilon: float, delta: float) -> None:
    EPSILON.check(epsilon)
    DELTA.check(delta)


def _set_least(law: type[Synthesizer], m: float, epsilon: float) -> None:
    try:
        alpha = law.least_alpha(m=int(m), epsilon=EPSILON.check(epsilon))
    except ValueError:
        return  # the sentence about m or ε stands on the page already
    st.session_state[f"{PREFIX}alpha"] = alpha
    st.session_state[f"{PREFIX}beta_is_alpha"] = True


def _given() -> Choice | Refused:
    """A matrix pasted or uploaded, and the promise it is held against."""
    content = matrix_text(PREFIX)
    epsilon, delta = _promise()
    try:
        _check_promise(epsilon, delta)
        given, text = matrix_of(content)
    except ValueError as broken:
        return Refused((str(broken),))
    return Choice(given, epsilon, delta, text)
