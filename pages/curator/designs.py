"""Designs of the answer: what is computed of them, up to three that the reader pins, and links to other pages."""

import math
import re
from functools import partial

import streamlit as st

from dpviz.comparisons import DATA_KINDS, DataKind
from dpviz.core.plain import one_line
from dpviz.core.settings import LONGEST_IGNORED, ControlSetting, Unknown
from dpviz.designs import Design
from dpviz.desk.addresses import keep
from dpviz.desk.assessed import Assessed
from dpviz.desk.relaxing import Relaxed, stream_relaxations
from dpviz.desk.search import Desk, stream_designs, whole_design
from pages import compare_synthesizers
from pages.components.address import drawn
from pages.components.cached import elsewhere
from pages.components.growing import Growing, growing_of
from pages.components.navigation import as_declared
from pages.components.release import lead_on
from pages.curator import SPEC
from pages.curator.controls import PREFIX, Asked

NEAREST = 3  # Designs of which is sought what would have to give way
MOST = 3  # Pins
PINS = f"{PREFIX}pins"
KEY = re.compile(r"[a-z0-9_]{1,60}~[1-9][0-9]{0,2}~[a-z0-9_]{1,60}")


def designs_of(asked: Asked) -> Growing[Desk]:
    """The reader's designs, which come one after the other."""
    question = asked.question
    return growing_of(f"{PREFIX}designs", ("designs", repr(question)), Desk, partial(stream_designs, question))


def desk_of(asked: Asked) -> Desk:
    """The designs as far as they are known, the first one at least, or that there is none; a refusal comes with it."""
    return designs_of(asked).first()


def give_way(asked: Asked, desk: Desk) -> Growing[tuple[Relaxed, ...]]:
    """Of the nearest designs what would have to give way, one after the other."""
    key = "relaxed", repr(asked.question)
    return growing_of(f"{PREFIX}relaxed", key, tuple, partial(stream_relaxations, desk, NEAREST))


def pinned(desk: Desk, keys: list[str]) -> list[Assessed]:
    """The designs with these keys, with everything known of them; those that the question has no more are left out."""
    known = {written_key(one.key): one for one in desk.designs}
    found, whole = [known[key] for key in keys if key in known], elsewhere(whole_design, "Computing intervals …")
    return [one if one.complete else whole(one.question, one.key, one.setting, one.enough) for one in found]


def names_of(desk: Desk) -> dict[str, str]:
    """What each design is called, by its key as the address has it, in their order."""
    return {written_key(one.key): one.full_name for one in desk.designs}


def written_key(key: tuple[str, int, str]) -> str:
    """The key of a design as the address has it."""
    return "~".join(map(str, key))


def _read_pins(text: str) -> list[str]:
    asked = [word for word in dict.fromkeys(text.split(".")) if word]
    known = [word for word in asked if KEY.fullmatch(word)][:MOST]
    if len(known) < len(asked):
        unknown = ", ".join(one_line(word) for word in asked if word not in known)
        raise Unknown(
            one_line(unknown, LONGEST_IGNORED),
            f"each of up to {MOST} pins names a method, its sets and an analysis.",
            known,
        )
    return known


keep(PINS, ControlSetting([], _read_pins, ".".join))


def pins() -> list[str]:
    """The keys of the pinned designs, which belong in the address."""
    return drawn(PINS, list(st.session_state.get(PINS, [])), "Pinned designs")


def pin(key: str) -> None:
    """Pin a design; the oldest gives way to a fourth."""
    held = [one for one in st.session_state.get(PINS, []) if one != key]
    st.session_state[PINS] = [*held, key][-MOST:]


def unpin(*keys: str) -> None:
    """Take pins off."""
    st.session_state[PINS] = [one for one in st.session_state.get(PINS, []) if one not in keys]


def pin_button(one: Assessed) -> None:
    """A button that pins a design, or takes its pin off."""
    key = written_key(one.key)
    held = key in pins()
    words = "Unpin it" if held else "Pin for comparison"
    st.button(words, key=f"{PREFIX}pin_first", on_click=unpin if held else pin, args=(key,))


def lead_further(one: Assessed, words: str, place: str = "") -> None:
    """Links to the pages that know a design; else to the comparison, with the numbers of the question."""
    if design := design_of(one):
        lead_on(SPEC, design, words, place, whole=True)
    elif one.question.data.key in DATA_KINDS:
        page = compare_synthesizers.SPEC
        with st.container(horizontal=True, key=f"{PREFIX}lead_on{place}"):
            st.html(f'<span class="dpviz-lead">{words}</span>', width="content")
            st.page_link(as_declared(page), label=f"{page.title} →", query_params=comparison_of(one))


def worst_data(one: Assessed) -> DataKind:
    """The data with the true value tried that is nearest to where its error is largest, or with that in the middle."""
    question, at = one.question, one.figures["root_mean_squared_error"].at
    if math.isnan(at):
        return question.data_at[len(question.truths) // 2]
    return min(zip(question.truths, question.data_at, strict=True), key=lambda pair: abs(pair[0] - at))[1]


def design_of(one: Assessed) -> Design | None:
    """The release at that value, as other pages know it, if they do."""
    question = one.question
    return one.method.design(
        worst_data(one), one.setting, one.sets, epsilon=one.setting, level=question.level, seed=question.seed,
        rules=(one.rule,),
    )  # fmt: skip


def comparison_of(one: Assessed) -> dict[str, str]:
    """What the address of the comparison says: the same data, ε, sets and analysis, and this method beside the data."""
    question, data = one.question, worst_data(one)
    settings = data.settings() | {"epsilon": one.setting, "sets": one.sets}
    settings |= {name: getattr(question, name) for name in ("level", "seed", "repetitions")}
    settings |= {"kind": data.key, f"{data.key}_methods": f"original.{one.method.key}", "rule": one.rule}
    return {f"{compare_synthesizers.SPEC.prefix}{name}": str(value) for name, value in settings.items()}
