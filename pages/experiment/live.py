"""What moves on the page by itself, and what it says where the database of the rooms cannot be reached."""

import logging
from collections.abc import Callable
from typing import NamedTuple

import streamlit as st
from sqlalchemy.exc import SQLAlchemyError

from dpviz.teaching.rooms.store import Room
from pages.components.growing import ask_for_next_step
from pages.components.turns import TURNS
from pages.components.words import problem
from pages.experiment import SPEC
from pages.experiment.rooms import PRESENT, watched_at

AGAIN = 3.0  # Seconds after which a database that cannot be reached is asked again
UNREACHABLE = "The database of the rooms cannot be reached at present. What was reported before is kept there."
ENDED = "This room has ended. What was reported in it has been deleted."
STEP = f"{SPEC.prefix}step"


class Next(NamedTuple):
    """When a part is drawn again: after so many seconds, once the room tells something else than what was `seen`.

    `kind` is what is asked of it, a key of `TOLD`.
    """

    after: float
    kind: str
    seen: str = ""


def show_live(code: str, draw: Callable[[Room], Next]) -> None:
    """Draw a part of the page for a room, and again whenever it has changed."""

    def again() -> None:
        with TURNS.turn():
            try:
                room = PRESENT.get(code)
                if room is None or room.settings is None:
                    problem(ENDED)
                    return
                then = draw(room)
            except SQLAlchemyError as broken:
                unreachable(broken)
                ask_for_next_step(STEP, AGAIN)
                return
            ask_for_next_step(STEP, then.after, f"{watched_at(room)}/{then.kind}", then.seen)

    st.fragment(again)()


def unreachable(broken: SQLAlchemyError) -> None:
    """Say that the database cannot be reached; its own words may hold its address."""
    logging.getLogger(__name__).warning("The rooms cannot be reached: %s", type(broken).__name__)
    problem(f"{UNREACHABLE} This page tries again by itself.")


def act(change: Callable[[], object]) -> None:
    """Do what a button or a control asks for; where that is refused, the page says why."""
    try:
        change()
    except ValueError as refused:
        st.session_state["room_refused"] = str(refused)
    except SQLAlchemyError as broken:
        logging.getLogger(__name__).warning("The rooms cannot be reached: %s", type(broken).__name__)
        st.session_state["room_refused"] = f"That was not saved: press again in a moment. {UNREACHABLE}"


def say_refused(say: Callable[[str], object] = problem) -> None:
    """Say once what was refused."""
    if refused := st.session_state.pop("room_refused", ""):
        say(refused)


def try_again() -> None:
    """Run the whole page again in a while."""
    first = st.session_state.setdefault("room_tries", 0)

    def again() -> None:
        if st.session_state["room_tries"] > first:
            st.rerun()
        st.session_state["room_tries"] += 1
        ask_for_next_step(STEP, AGAIN)

    st.fragment(again)()
