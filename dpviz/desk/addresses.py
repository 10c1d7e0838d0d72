"""What the addresses of pages say: every setting of every page, and those by which a page is asked for a design."""

import dataclasses
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from dpviz.core.parameters import Parameter
from dpviz.core.settings import ControlSetting
from dpviz.core.sliders import LINKS
from dpviz.designs import NOISE_EPSILON_KEY, Design
from dpviz.desk.carried import CARRIED, Carried, goes_along

FORMER_KEYS = {
    "cu_guesses": "cu_most_success",
    "cu_half": "cu_most_length",
    "cu_points": "cu_most_length",
    "cv_synthesizer": "cv_law",
    "mp_p": "mp_proportion",
    "po_synthesizer": "po_law",
    "tm_seed": "tm_draw_seed",
    "tm_synthesizer": "tm_law",
    "tm_x": "tm_secret",
}
"""Settings by the names that they have now, and what the addresses of earlier versions call them."""

TIMES = {"cu_guesses": 100.0, "cu_half": 0.5, "cu_points": 50.0}
"""How many times as much as an earlier version some of them say."""

SETTINGS: dict[str, ControlSetting] = {}
"""Every setting of every page by its key, which is its name in the address as well."""

TAKEN_BY: dict[str, Callable[[Design], Mapping[str, Any]]] = {}
"""What further settings of a page ask for a design, by the names on that page: such as its mechanism where the page has
no list of synthesizers. By prefix; each raises a ValueError in a sentence where the page does not take the design."""

ANALYSIS = frozenset({"gamma1", "gamma2", "level", "rules", "repetitions"})
"""What an address says of the analysis, which belongs to a page."""


def keep(key: str, setting: ControlSetting) -> str:
    """Keep a setting from now on; returns its key."""
    SETTINGS[key] = setting
    return key


def keep_numbers(declared: Mapping[str, Parameter]) -> None:
    """Keep numbers, by key, that are not kept yet."""
    for key, one in declared.items():
        if key not in SETTINGS:
            keep(key, ControlSetting.number(one))


def keep_handed_on(key: str, one: Parameter) -> str:
    """Keep a number that a page has no control for, and hands on to others."""
    return keep(key, ControlSetting.number(one, handed_on=True))


def as_now(key: str, text: str) -> str:
    """Return what a setting says now where an earlier version said `text`."""
    try:
        return f"{TIMES[key] * float(text):.12g}" if key in TIMES else text
    except ValueError:
        return text


def taken_by(prefix: str, design: Design) -> Mapping[str, Any]:
    """Return what a page asks for a design instead of a mechanism, by the names on that page."""
    return TAKEN_BY[prefix](design) if prefix in TAKEN_BY else {}


def settings_of(prefix: str, design: Design) -> Mapping[str, Any]:
    """What the controls of a page say where they ask for `design`, by key; what it has no control for is left out.

    A page without a rule for the prior has α itself, and one for a single set the ε of its noise. A ValueError in a
    sentence says what the page does not take.
    """
    further = taken_by(prefix, design)
    if f"{prefix}m" not in SETTINGS and design.m != design.n:
        raise ValueError(f"as many rows are released here as there are, n = {design.n:,}; got m = {design.m:,}.")
    if f"{prefix}prior" not in SETTINGS and design.synthesizer_type.has_prior:
        design = design.with_own_prior
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


def carried_to(prefix: str, release: Carried) -> dict[str, Any]:
    """What the controls of a page say of a carried release; a ValueError where the page does not take it."""
    first, design = len(prefix), release.design
    return {
        key: value
        for key, value in settings_of(prefix, design).items()
        if key[first:] in CARRIED and goes_along(key[first:], design, release.known)
    }


def address_words(prefix: str, design: Design, said: frozenset[str] | None = None) -> Mapping[str, str]:
    """What the address of a page says of a release: every setting that the page has for it.

    Of the truth, the draw and the analysis it is all of the design, or what is `said` of it: the page has its own for
    the rest.
    """
    settings, first = settings_of(prefix, design), len(prefix)
    kept = [key for key in settings if said is None or key[first:] not in ANALYSIS - said]
    kept = [key for key in kept if said is None or goes_along(key[first:], design, said)]
    return MappingProxyType({key: SETTINGS[key].write(settings[key]) for key in kept})
