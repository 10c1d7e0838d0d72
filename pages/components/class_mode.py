"""Class mode: large type, thick lines, few controls and three digits, for a projector and for a class with one link."""

import re
from decimal import ROUND_HALF_UP, Decimal

import streamlit as st

from pages.components import component

KEY = "class"
"""In the session and in the address, whatever the page."""

DIGITS = 3
NUMBER = re.compile(r"(?<![\w.,])\d+(?:,\d{3})*(?:\.\d+)?(?![\w.]*\w)")

_keys = component("keys")


def class_mode() -> bool:
    """Whether it is on; the address decides when the app is opened, the switch from then on."""
    on = st.session_state.get(KEY)
    if on is None:
        on = st.session_state[KEY] = st.query_params.get(KEY, "") in ("1", "true")
    return bool(on)


def for_class(html: str) -> str:
    """A sentence as it is, or with three digits in class mode."""
    return three_digits(html) if class_mode() else html


def table_for_class(html: str) -> str:
    """A table as it is, or with three digits in every cell in class mode."""
    return re.sub(r"(?<=>)[^<>]+", lambda cell: three_digits(cell[0]), html) if class_mode() else html


def three_digits(html: str) -> str:
    """HTML with three digits in each decimal number of its text.

    More stay where fewer would make a number equal to another one of the text, or rounder than it is; and where what
    is cut off reads as just a half, for the number was rounded before, and nothing tells to which side of the half.

    >>> three_digits("ε = <b>5.493061</b>, not 1.0004 but 1: in 99.9998 %, 0.06592181 or 1,164.53, from 5.495 on")
    'ε = <b>5.49</b>, not 1.0004 but 1: in 99.9998 %, 0.0659 or 1,165, from 5.495 on'
    """
    parts = re.split(r"(<[^>]*>)", html)
    all_numbers = {_value(text) for part in parts[::2] for text in NUMBER.findall(part)}
    parts[::2] = [NUMBER.sub(lambda found: _shortened(found[0], all_numbers), part) for part in parts[::2]]
    return "".join(parts)


def _value(text: str) -> Decimal:
    return Decimal(text.replace(",", ""))


def _to_places(value: Decimal, places: int) -> str:
    """With so many decimals."""
    return f"{value.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP):,f}"


def _shortened(text: str, beside: set[Decimal]) -> str:
    value, decimals = _value(text), len(text.partition(".")[2])
    for places in range(decimals):
        shorter = _to_places(value, places)
        figures = shorter.replace(",", "").replace(".", "").lstrip("0")
        alone = all(_to_places(other, places) != shorter for other in beside - {value})
        half = 2 * abs(_value(shorter) - value) == Decimal(1).scaleb(-places)
        if len(figures) >= DIGITS and alone and not half and (len(figures.rstrip("0")) > 1 or _value(shorter) == value):
            return shorter.rstrip("0").rstrip(".") if places else shorter
    return text


def show_class_mode() -> None:
    """The switch, and what it does to the page."""
    st.toggle(
        "Class mode",
        key=KEY,
        persist_state="session",
        help="Large type and thick lines for a projector, fewer words and controls. ← and → move the slider that "
        "was touched last, the space bar starts and stops. The address keeps it: one link for the whole class.",
    )
    if class_mode():
        _keys(key="dpviz_keys", data=b"", height=1)
