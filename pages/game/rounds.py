"""How a round of each level is drawn: what is known, the guess, and what it comes to once it is locked."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import streamlit as st

from dpviz.charts.rounds import chances_html, counts_html, people_html, ranges_html, share_html
from dpviz.core.parameters import readable
from dpviz.teaching.game.agency import BeTheAgency
from dpviz.teaching.game.cases import ERROR_ALLOWED, GAME_ALPHAS, SUCCESS_ALLOWED, AgencyRound
from dpviz.teaching.game.count import CountRound, SecretCount
from dpviz.teaching.game.seen_count import PEOPLE_COUNTED
from dpviz.teaching.game.who import FEW_PEOPLE, PersonRound, WhoSaidYes
from pages.game.controls import PREFIX

Lock = Callable[[Any], None]
"""Locks a guess."""


class Shown(ABC):
    """How the rounds of one level are drawn."""

    @abstractmethod
    def question(self, one: Any) -> str:
        """What is known before the guess, as HTML; of a round that has a secret it takes what is seen alone."""

    @abstractmethod
    def choose(self, lock: Lock, place: int) -> None:
        """Draw what the guess is made with."""

    @abstractmethod
    def outcome(self, one: Any, guess: Any) -> str:
        """What the guess came to, as HTML."""

    def known(self, one: Any) -> Any:
        """What may be shown of a round before its guess is locked."""
        return one.seen


def _button(words: str, key: str, on_click: Callable[[], None], shortcut: str | None = None) -> None:
    st.button(words, key=f"{PREFIX}{key}", on_click=on_click, shortcut=shortcut)


class ShownPerson(Shown):
    """Two buttons, and the two probabilities of what was released."""

    def question(self, one: Any) -> str:
        return (
            people_html(one.people, ringed=FEW_PEOPLE - 1)
            + f"<p>{one.known} {one.made}</p>"
            + share_html("Published", one.released, FEW_PEOPLE)
        )

    def choose(self, lock: Lock, place: int) -> None:
        with st.container(horizontal=True):
            _button("Yes", "lock_yes", lambda: lock(True), "y")
            _button("No", "lock_no", lambda: lock(False), "n")

    def outcome(self, one: PersonRound, guess: bool) -> str:
        yes, no = one.seen.likelihoods
        rows = [("if the person said yes", yes, True), ("if the person said no", no, False)]
        asked = f"<p>How probable it was that <b>{one.seen.released} yes</b> would be published:</p>"
        return people_html(one.people, ringed=FEW_PEOPLE - 1) + asked + chances_html(rows)


class ShownCount(Shown):
    """A slider, and the posterior with the truth and both guesses."""

    def question(self, one: Any) -> str:
        return (
            people_html(one.people)
            + f"<p>{one.known} {one.made}</p>"
            + share_html("Published", one.released, PEOPLE_COUNTED)
        )

    def choose(self, lock: Lock, place: int) -> None:
        guess = st.slider("Your guess", 0, PEOPLE_COUNTED, PEOPLE_COUNTED // 2, key=f"{PREFIX}{place}_slider")
        _button("Lock", "lock", lambda: lock(guess))

    def outcome(self, one: CountRound, guess: int) -> str:
        marks = [("truth", one.secret), ("you", guess), ("best", one.seen.best)]
        return people_html(one.people) + counts_html(one.seen.posterior.tolist(), marks)


class ShownAgency(Shown):
    """A slider, and the ranges that keep each limit and both."""

    def question(self, one: AgencyRound) -> str:
        return (
            share_html("Real people", one.yes, one.n)
            + f"<p>{one.case} Attacker: right at most {readable(100 * SUCCESS_ALLOWED)} % of the time. Analyst: "
            f"typically off by at most {readable(100 * ERROR_ALLOWED)} points.</p>"
        )

    def choose(self, lock: Lock, place: int) -> None:
        alpha = st.select_slider(
            "Invented people with a yes, and as many with a no: α (more is more private)",
            GAME_ALPHAS,
            1,
            format_func=readable,
            key=f"{PREFIX}{place}_slider",
        )
        with st.container(horizontal=True):
            _button(f"Release with α = {readable(alpha)}", "lock", lambda: lock(alpha))
            _button("It cannot be done", "lock_none", lambda: lock(None))

    def outcome(self, one: AgencyRound, guess: float | None) -> str:
        attacker = (one.protecting, GAME_ALPHAS[-1]) if one.protecting <= GAME_ALPHAS[-1] else None
        ranges = [("Attacker stopped", attacker), ("Analyst near enough", one.informing), ("Both", one.both)]
        mark = None if guess is None else (f"α = {readable(guess)}", guess)
        return share_html("Real people", one.yes, one.n) + ranges_html((GAME_ALPHAS[0], GAME_ALPHAS[-1]), ranges, mark)

    def known(self, one: AgencyRound) -> AgencyRound:
        return one


SHOWN: dict[str, Shown] = {
    WhoSaidYes.key: ShownPerson(), SecretCount.key: ShownCount(), BeTheAgency.key: ShownAgency(),
}  # fmt: skip
"""By the key of a level."""
