"""The controls of a design that pages share, what it is in words, and what the controls say where it is set."""

import dataclasses
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpviz.calibration.prior_rules import PRIOR_RULES, promised_by
from dpviz.core.declarations import SETS
from dpviz.core.keeping import kept
from dpviz.core.parameters import DELTA, EPSILON, readable, readable_apart, rounded_up
from dpviz.designs import NOISE_EPSILON_KEY, Design
from dpviz.mechanisms import SYNTHESIZERS, Synthesizer
from dpviz.mechanisms.given_matrix import GivenMatrix
from dpviz.mechanisms.prior import PRIOR_ONES
from dpviz.privacy import pure_epsilon
from pages.components.address import SETTINGS, keep_choice
from pages.components.cached import cached
from pages.components.choices import named_choice
from pages.components.controls import LINKS, PageNumbers

DEFAULT = "pure"
TIE = 1e-12  # Relative difference up to which two ε are one, rounding aside

SHARED_SETS = dataclasses.replace(
    SETS,
    private_end="neither",
    help="How many synthetic tables are released, drawn independently from the same secret one. They share the "
    "promise; where you choose α, each of them costs privacy.",
)
"""M where the prior follows from a promise for all sets together: neither end is more private."""

PROMISE = {
    "epsilon": dataclasses.replace(EPSILON, default=2.0, slider_minimum=0.01, slider_maximum=250.0),
    "delta": dataclasses.replace(DELTA, default=1e-6, maximum=0.5, slider_maximum=0.5),
    "alpha": dataclasses.replace(
        PRIOR_ONES, minimum=1e-12, default=10.0, slider_minimum=0.01, slider_maximum=1e4,
        help="Invented rows with a one and as many with a zero, in each set. More of them are more private.",
    ),
}  # fmt: skip
"""What a release follows from, by the rule of the prior."""

ROWS_OF_A_SET = (
    "The number of rows in each set. With a prior, more rows take a larger one to keep the promise; where you choose "
    "α, fewer rows are more private."
)


def prior_text(alpha: float) -> str:
    """A prior to four digits, or to the last invented row where it has more."""
    return readable(alpha, 4 if alpha < 1e4 else 6)


def real_epsilon(design: Design) -> float | None:
    """The exact ε of all sets where the synthesizer spends more than it promises; None where it does not."""
    if not design.synthesizer_type.kept_by:
        return None
    release: Any = design.synthesizer
    real, promised = cached(pure_epsilon)(release), release.epsilon
    return design.sets * real if real > promised * (1 + TIE) else None


def say_real_epsilon(design: Design, key: str, place: DeltaGenerator) -> None:
    """Say at a place that a synthesizer, chosen under `key`, breaks its promise, and offer one that does not.

    Nothing is said where the promise is kept.
    """
    real = real_epsilon(design)
    if real is None:
        return
    release: Any = design.synthesizer
    place.html(
        f'<p class="dpviz-note">{broken_sentence(design.synthesizer_type, design.sets * release.epsilon, real)}</p>'
    )
    place.button(
        f"Use {SYNTHESIZERS[design.synthesizer_type.kept_by].label}",
        key=f"{key}_kept_by",
        on_click=st.session_state.update,
        args=({key: design.synthesizer_type.kept_by},),
        width="stretch",
    )


def broken_sentence(synthesizer_type: type[Synthesizer], promised: float, real: float) -> str:
    """What is promised and what is really spent, why, and what keeps the promise."""
    return (
        f"<b>Promised ε = {readable(promised)}, really {readable_apart(real, promised, 3)}.</b> "
        f"{synthesizer_type.broken_because} "
        f"{SYNTHESIZERS[synthesizer_type.kept_by].label} keeps the promise."
    )


def promise_text(design: Design) -> str:
    """What the release follows from: the promise or an own prior or matrix, and what no control here says."""
    known = ("n", "m", "epsilon", "alpha", "beta")
    further = [one for one in design.synthesizer_type.parameters() if one.name not in known]
    fixed = "".join(f", {one.symbol or one.title} = {readable(one.default)} by default" for one in further)
    if "epsilon" not in design.promised:
        found, sets = readable(rounded_up(design.epsilon_of_sets, 4), 4), design.sets
        gives = f"ε = {found}{'' if sets == 1 else f' for all {sets} sets'}, no δ"
        own = "your own matrix" if design.synthesizer_type is GivenMatrix else design.synthesizer_type.label
        said = f"α = {prior_text(design.alpha)} ({gives})" if design.synthesizer_type.has_prior else f"{gives} ({own})"
        return said + fixed
    noise = "" if design.synthesizer_type.has_prior or design.sets == 1 else ", noise for ε/M in each set"
    delta = f", δ = {readable(design.delta, 3)}" if "delta" in design.promised and design.delta > 0 else ""
    real = real_epsilon(design)
    really = "" if real is None else f" (really {readable_apart(real, design.epsilon, 3)})"
    return f"ε = {readable(design.epsilon, 4)}{really}{delta}{noise}{fixed}"


def keep_prior_rule(prefix: str) -> str:
    """Keep the rule of a page; returns its key."""
    return keep_choice(f"{prefix}prior", PRIOR_RULES, DEFAULT)


def promise_controls(page: PageNumbers, key: str, synthesizer_type: type[Synthesizer]) -> dict[str, Any]:
    """How the prior of each set follows, and the numbers of the promise that a synthesizer asks for."""
    prior = DEFAULT
    if synthesizer_type.has_prior:
        labels = {rule: one.label for rule, one in PRIOR_RULES.items()}
        words = "Split equally: the papers' rule, the smallest prior without δ when each set has an equal share of ε. "
        words += "Smallest for all sets together: the smallest prior for which the M sets keep (ε, δ), counted exactly."
        asked = "How the agency sets its prior"
        with page.at("prior"):
            prior = named_choice(st.radio, asked, labels, key, help=words)
    return {"prior": prior, **page.values(*promised_by(synthesizer_type, prior))}


TAKEN_BY: dict[str, Callable[[Design], Mapping[str, Any]]] = {}
"""What further settings of a page ask for a design, by the names on that page: such as its mechanism where the page has
no list of synthesizers. By prefix; each raises a ValueError in a sentence where the page does not take the design."""


def taken_by(prefix: str, design: Design) -> Mapping[str, Any]:
    """Return what a page asks for a design instead of a mechanism, by the names on that page."""
    return TAKEN_BY[prefix](design) if prefix in TAKEN_BY else {}


@kept
def settings_of(prefix: str, design: Design) -> Mapping[str, Any]:
    """What the controls of a page say where they ask for `design`, by key; what it has no control for is left out.

    A page without a rule for the prior has α itself, and one for a single set the ε of its noise. A ValueError in a
    sentence says what the page does not take.
    """
    further = taken_by(prefix, design)
    if f"{prefix}m" not in SETTINGS and design.m != design.n:
        raise ValueError(f"as many rows are released here as there are, n = {design.n:,}; got m = {design.m:,}.")
    if f"{prefix}prior" not in SETTINGS and design.synthesizer_type.has_prior:
        design = dataclasses.replace(design, prior="own", alpha=design.alpha_of_one_set)
    if f"{prefix}sets" not in SETTINGS and design.sets > 1 and "epsilon" in design.promised:
        noise = {"epsilon": design.epsilon / design.sets, **dict(design.details)}
        design = dataclasses.replace(design, details=tuple(noise.items()))
    own = {NOISE_EPSILON_KEY if name == "epsilon" else name for name in dict(design.details)}
    own |= {"m"} if design.m != design.n else set()
    found: dict[str, Any] = {f"{prefix}{link.switch}": name not in own for name, link in LINKS.items()}
    words = {prefix + word: text for word, text in design.to_address().items()}
    found |= {key: SETTINGS[key].read(text) for key, text in words.items() if key in SETTINGS and text}
    if f"{prefix}synthesizer" not in SETTINGS:  # α is then what some section asks about, and no part of the release
        found.pop(f"{prefix}alpha", None)
    x = SETTINGS.get(f"{prefix}x")
    if x is not None and not x.handed_on and design.confidential_count is None and x.default > design.n:
        found[f"{prefix}x"] = round(design.p * design.n)  # the page's own does not fit so few rows
    found |= {prefix + name: value for name, value in further.items()}
    return MappingProxyType({key: value for key, value in found.items() if key in SETTINGS})
