"""What the pages about methods on one kind of data share: its numbers, the papers' scenarios, what a refusal says."""

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

import streamlit as st

from dpviz.comparisons import KINDS, DataKind
from dpviz.parameters import Parameter, readable
from pages.components.choices import presets
from pages.components.last_valid import Refused


def numbers_of(kinds: Mapping[str, type[DataKind]]) -> dict[str, Parameter]:
    """The numbers of all kinds of data by name; one that several kinds have takes what any of them does."""
    found: dict[str, Parameter] = {}
    for one in (one for kind in kinds.values() for one in kind.parameters()):
        known = found.setdefault(one.name, one)
        ends = {"minimum": min(known.minimum, one.minimum), "maximum": max(known.maximum, one.maximum)}
        found[one.name] = dataclasses.replace(known, **ends)  # type: ignore[arg-type]
    return found


OF_KINDS = numbers_of(KINDS)


def scenarios(prefix: str, cases: Mapping[str, Mapping[str, object]], words: str) -> None:
    """A list of the papers' scenarios, which are too many for buttons; `words` say where they come from."""
    presets(prefix, cases, {}, st.selectbox, index=None, placeholder="a scenario of the papers", help=words)


def refused(broken: ValueError, prefix: str, numbers: Mapping[str, Parameter], values: Mapping[str, Any]) -> Refused:
    """What a refusal says, with a button for each number outside its domain."""
    mends: dict[str, tuple[object, str]] = {}
    for one in numbers.values():
        value = values.get(one.name)
        if value is None:
            continue
        try:
            one.check(value)
        except ValueError:
            near = one.maximum if value > one.maximum else one.default if math.isnan(value) else one.minimum
            near = one.default if one.open_minimum and near == one.minimum else near
            near = int(near) if one.integer else near
            mends[prefix + one.name] = near, f"Set {one.symbol or one.title} = {readable(near)}"
    return Refused((str(broken),), mends)
