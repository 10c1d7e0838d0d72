"""Choices that the address keeps by key, and buttons that set several controls at once."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import streamlit as st


def begin_choice(key: str, accepted: Collection[str], default: str) -> None:
    """Before its control is drawn: take the choice from the address, or note that what stands there is none."""
    if key in st.session_state:
        return
    asked = st.query_params.get(key, default)
    if asked not in accepted:
        st.session_state[f"{key}_problem"] = (
            f"In the address, {key} = {asked[:40]} was left out: it must be one of {', '.join(accepted)}."
        )
    st.session_state[key] = asked if asked in accepted else default


def forget_problem(key: str) -> None:
    """What the control does when it is moved."""
    st.session_state.pop(f"{key}_problem", None)


def end_choice(key: str, value: str, default: str) -> list[str]:
    """After its control is drawn: keep the choice in the address; returns what was wrong there, in sentences.

    Streamlit itself would keep the label of a list, which is long and may change.
    """
    if value == default:
        st.query_params.pop(key, None)
    elif st.query_params.get(key) != value:
        st.query_params[key] = value
    sentence = st.session_state.get(f"{key}_problem")
    return [sentence] if sentence else []


def presets(prefix: str, cases: Mapping[str, Mapping[str, object]], links: Mapping[str, object]) -> None:
    """Buttons that set the controls to a known case; the chosen one stays marked while it holds.

    Parameters
    ----------
    prefix
        What the page's keys begin with.
    cases
        Values by control, for each button.
    links
        Controls that every case sets to the same value.
    """
    key = f"{prefix}preset"
    chosen = st.session_state.get(key)
    if chosen is not None and not all(
        st.session_state.get(prefix + name, value if name in links else None) == value
        for name, value in {**links, **cases[chosen]}.items()
    ):
        st.session_state[key] = None

    def apply() -> None:
        wanted = st.session_state.get(key)
        for name, value in {**links, **cases[wanted]}.items() if wanted is not None else ():
            st.session_state[prefix + name] = value

    st.pills("Start from", list(cases), key=key, on_change=apply)
