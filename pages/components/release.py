"""The release that a reader carries from page to page: set on one, kept on the next."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from dpviz.core.keeping import kept
from dpviz.core.parameters import readable
from dpviz.designs import CONFIDENTIAL_COUNT, NOISE_EPSILON_KEY, Design
from dpviz.mechanisms import Synthesizer, TwoCellSynthesizer
from dpviz.mechanisms.given_matrix import GivenMatrix
from pages.components.address import SETTINGS, Drawn, keep_handed_on
from pages.components.prior_rule import settings_of, taken_by
from pages.components.spec import PageSpec

NOT_EVERYWHERE = frozenset({"delta", "p", "x", "seed"})
"""What some pages do not say of a release: it goes along from those that do."""

CARRIED = ("synthesizer", "n", "m", "m_is_n", "sets", "prior", "epsilon", "alpha", "beta", "beta_is_alpha", "cells",
           NOISE_EPSILON_KEY, "noise_is_promise", *sorted(NOT_EVERYWHERE))  # fmt: skip
"""What belongs to the release; the analysis belongs to a page."""

SYMBOLS = {"epsilon": "ε", "delta": "δ", "alpha": "α"}

RELEASE, PAGE, ENTERED, REFUSED = "release", "release_page", "release_entered", "release_refused"
TOUCHED = "release_touched"  # whether the reader has set any page


@dataclass(frozen=True)
class Carried:
    """The reader's release; `known` are those of `NOT_EVERYWHERE` that some page has said of it."""

    design: Design
    known: frozenset[str]

    @property
    def words(self) -> str:
        """What a reader knows it by."""
        made = self.design
        promised = [
            f"{name} = {readable(getattr(made, key), 3)}" for key, name in SYMBOLS.items() if key in made.promised
        ]
        sets = "1 set" if made.sets == 1 else f"{made.sets:,} sets"
        return ", ".join((made.synthesizer_type.label.partition(" (")[0], f"{made.n:,} people", sets, *promised))

    def settings(self, prefix: str) -> dict[str, Any]:
        """What the controls of a page say of it; a ValueError in a sentence where the page does not take it."""
        every, first = settings_of(prefix, self.design), len(prefix)
        return {
            key: value
            for key, value in every.items()
            if key[first:] in CARRIED and goes_along(key[first:], self.design, self.known)
        }

    def further(self, prefix: str) -> dict[str, Any]:
        """What a page is asked for instead of a mechanism, by key."""
        return {prefix + name: value for name, value in taken_by(prefix, self.design).items()}


def goes_along(name: str, design: Design, said: Collection[str]) -> bool:
    """Whether a setting of a page belongs to what was `said` of a design; an x that nobody has said does where it is
    there, for the page's own would not fit.
    """
    return name not in NOT_EVERYWHERE or name in said or (name == "x" and design.confidential_count is None)


def keep_truth(prefix: str) -> None:
    """Keep what a page says of the truth and the draw, where it has no control for it and hands it on to others."""
    declared = {**Design.numbers(), "x": CONFIDENTIAL_COUNT}
    for name in sorted(NOT_EVERYWHERE - {"delta"}):
        if f"{prefix}{name}" not in SETTINGS:
            keep_handed_on(f"{prefix}{name}", declared[name])


def handed_on(prefix: str, n: float) -> dict[str, Any]:
    """What came to a page that has no control for it, by the names of a design, as far as it fits n rows."""
    names = {"p": "p", "x": "confidential_count", "seed": "seed"}
    found = {name: st.session_state.get(prefix + name) for name in names if SETTINGS[prefix + name].handed_on}
    return {
        names[name]: value for name, value in found.items() if value is not None and (name != "x" or value <= n)
    }  # fmt: skip


def told_by(page: PageSpec) -> frozenset[str]:
    """Return the names that an address has of what a page says of its release."""
    shown: dict[str, Drawn] = st.session_state[f"{page.prefix}drawn"]
    said = {key.removeprefix(page.prefix) for key, one in shown.items() if one.value is not None}
    own = set() if f"{page.prefix}synthesizer" in SETTINGS else {"alpha", "beta"}  # what some section asks about
    return frozenset((said - own) | {*page.tells})


def bring_release(page: PageSpec) -> str:
    """Set the page that is entered to the reader's release, unless its address says what it shows.

    A page that has been left is as it was there while the release has not changed, and keeps its kind of data while
    the mechanism has not. Call it before the controls are read. Returns a sentence where the page does not take the
    release.
    """
    state, context, prefix = st.session_state, get_script_run_ctx(), page.prefix
    last: PageSpec | None = state.get(PAGE)
    if last is not None and (valid := state.get(f"{last.prefix}valid")) is not None:
        _keep(last, valid.design)
        if not state.get(REFUSED):
            state[f"{last.prefix}brought"] = state.get(RELEASE)
    entered, own = last != page, any(key.startswith(prefix) for key in st.query_params)
    back = bool(context and context.is_history_navigation)
    state[PAGE] = page
    release: Carried | None = state.get(RELEASE)
    settings: dict[str, Any] = {}
    if entered:
        state[REFUSED] = ""
    try:
        settings = {} if release is None else release.settings(prefix)
    except ValueError as broken:
        if entered and not own:
            state[REFUSED] = f"Your release stays on the other pages; this one does not take it: {broken}"
    state[f"{prefix}yours"] = {key.removeprefix(prefix): value for key, value in settings.items()}
    if entered:
        state[ENTERED] = "address" if own or (back and release is not None) else None
        if own:
            state.pop(f"{prefix}entry", None)  # a link's address is read as that of a fresh page is
        elif not back and release is not None and settings:
            brought: Carried | None = state.get(f"{prefix}brought")
            if brought != release:
                state.update(settings)
            if brought is None or brought.design.synthesizer_type is not release.design.synthesizer_type:
                state.update(release.further(prefix))
    return str(state[REFUSED])


def carried_on(page: PageSpec) -> str:
    """The reader's release in words, with what this run has changed of it; nothing before there is one."""
    valid = st.session_state.get(f"{page.prefix}valid")
    if valid is not None:
        _keep(page, valid.design)
    release: Carried | None = st.session_state.get(RELEASE)
    return "" if release is None else release.words


def _keep(page: PageSpec, design: Design) -> None:
    """Make what a page showed last the reader's release, as far as it was set there and not by one of its presets.

    The page where the app begins shows a release from the first.
    """
    state = st.session_state
    entered: Design | str | None = state.get(ENTERED)
    state[TOUCHED] = state.get(TOUCHED, False) or entered not in {None, design}
    if design.synthesizer_type is GivenMatrix:  # a matrix of the reader's own belongs to its page
        return
    state[ENTERED] = design
    release: Carried | None = state.get(RELEASE)
    begins = page.home and release is None and not state[TOUCHED]
    if (entered is None and not begins) or entered == design or state.get(f"{page.prefix}preset") is not None:
        return
    told = told_by(page)
    if release is None or state.get(REFUSED):
        state[RELEASE], state[REFUSED] = Carried(design, told & NOT_EVERYWHERE), ""
    else:
        since = entered if isinstance(entered, Design) else None
        state[RELEASE] = _changed(release, since, design, told, f"{page.prefix}prior" in SETTINGS)


@kept
def _changed(
    release: Carried, entered: Design | None, design: Design, told: frozenset[str], ruled: bool
) -> Carried:  # fmt: skip
    """A release with what has changed since the page was entered, or with all that the page tells where that is None.

    `ruled` pages have a rule for the prior, which hides what it has no use for.
    """
    now, words = design.to_address(), release.design.to_address()
    hidden = {"epsilon", "delta", "alpha"} - set(design.promised) if ruled else set()
    if entered is None:
        names = {name for name in CARRIED if name in told} | ({"m"} if "n" in told else set())
        if _cells(design.synthesizer_type) != _cells(release.design.synthesizer_type):
            names |= {"synthesizer", "cells", "prior"}
    else:
        before = entered.to_address()
        names = {name for name in (*CARRIED, "details") if before.get(name) != now.get(name)}
    names -= hidden
    for name in names:
        words.pop(name, None)
        words |= {name: now[name]} if name in now else {}
    known = release.known | (names & told & NOT_EVERYWHERE)
    try:
        found = Design.from_address(words)
        if "synthesizer" in told and not ruled and names - NOT_EVERYWHERE:
            found = _as_made(found, design)
    except ValueError:
        found = design
    return Carried(found, known)


def _cells(synthesizer_type: type[Synthesizer]) -> bool:
    return issubclass(synthesizer_type, TwoCellSynthesizer)


def _as_made(found: Design, design: Design) -> Design:
    """The release that a page without a rule shows: with a prior of its own, where the rule would not give it."""
    if found.prior != "exact" and found.synthesizer == design.synthesizer:
        return found
    shared = {one: getattr(found, one) for one in ("epsilon", "delta", "sets", "p", "confidential_count", "seed")}
    return Design.releasing(design.synthesizer, **shared) or design
