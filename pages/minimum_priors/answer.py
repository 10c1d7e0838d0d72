"""The answer in one sentence, and the exact prior or range of every method with what it costs."""

from __future__ import annotations

import math

import streamlit as st

from dpviz.methods import PARAM_MAP, Method
from pages.components.cached import cached
from pages.components.words import listing, page_answer
from pages.minimum_priors.controls import Asked, promise_text
from pages.minimum_priors.faces import HEADLINE, face_of

WAITING = "Composing the sets …"


def compute_answer(asked: Asked) -> tuple[dict[str, float], dict[str, float]]:
    """What every method needs without δ, and with it."""
    delta = asked.asked_setting.delta
    pure = needed_by_all(asked, 0.0)
    return pure, needed_by_all(asked, delta) if delta > 0 else pure


def show_answer(asked: Asked) -> None:
    """The sentence, then the table of methods."""
    (pure, exact), face = compute_answer(asked), face_of(asked)
    mark, sentence = face.answer(asked, pure[HEADLINE.key], exact[HEADLINE.key])
    st.html(page_answer(mark, sentence, f"{face.told(mark)}; {promise_text(asked.asked_setting)}"))
    _table(asked, pure, exact)
    if reason := beyond_reach(asked):
        st.caption(f"Beyond reach: {reason}")


def needed_by_all(asked: Asked, delta: float) -> dict[str, float]:
    """What every method needs for all sets together at a δ."""
    return {key: needed(asked, method, delta) for key, method in asked.kind.methods.items()}


def needed(asked: Asked, method: Method, delta: float) -> float:
    """The least prior, or largest range, for all sets together; NaN where it is beyond reach."""
    try:
        return _found(asked, method, delta)
    except ValueError:
        if asked.sets == 1 and method is HEADLINE:
            raise
        return math.nan


def beyond_reach(asked: Asked) -> str:
    """Why some method has no answer, in a sentence for each reason; empty where all have one."""
    reasons = []
    for method in asked.kind.methods.values():
        try:
            _found(asked, method, asked.asked_setting.delta)
        except ValueError as broken:
            reasons.append(str(broken))
    return " ".join(dict.fromkeys(reasons))


def _found(asked: Asked, method: Method, delta: float) -> float:
    if asked.sets == 1:
        return cached(asked.kind.need)(method, asked.asked_setting, delta)
    return cached(asked.kind.together, WAITING)(method, asked.asked_setting, asked.sets, delta).upper


def _table(asked: Asked, pure: dict[str, float], exact: dict[str, float]) -> None:
    """Every method with its answers and what they cost; PARAM_MAP, for which there is none, at the end."""
    face, answers = face_of(asked), [pure, exact] if asked.asked_setting.delta > 0 else [pure]
    first, second, *rest = face.columns(asked)
    head = ["method", *[first, second][: len(answers)], *rest]
    rows = [
        [_named(method, face.released), *(face.shown(one[key]) for one in answers), *_costs(asked, method, exact[key])]
        for key, method in asked.kind.methods.items()
    ]
    rows.append([_named(PARAM_MAP, face.released), *["impossible"] * len(answers), *[""] * len(rest)])
    listing(head, rows, face.title, frozenset(range(1, len(head))))
    st.caption(face.caption(asked))


def _costs(asked: Asked, method: Method, value: float) -> list[str]:
    face = face_of(asked)
    try:
        return face.costs(asked, method, value)
    except ValueError:
        return [""] * len(face.columns(asked)[2:])


def _named(method: Method, released: str) -> str:
    return f"<b>{method.label}</b><br><small>{method.words.replace('proportion', released)}</small>"
