"""The answer in one sentence, and the exact prior or range of every method with what it costs."""

import math
from typing import Any

import streamlit as st

from dpviz.calibration.methods import PARAM_MAP, PriorMethod
from dpviz.privacy.composition import DeltaBracket
from pages.components.cached import cached, elsewhere
from pages.components.words import listing, page_answer
from pages.minimum_priors.controls import Asked
from pages.minimum_priors.faces import HEADLINE, face_of

WAITING = "Composing the sets …"


def compute_answer(asked: Asked) -> tuple[dict[str, float], dict[str, float], list[str]]:
    """What every method needs without δ, and with it, and why some are beyond reach."""
    (pure, _), (exact, reasons) = needed_by_all(asked, 0.0), needed_by_all(asked, asked.design.delta)
    return pure, exact, reasons


def show_answer(asked: Asked) -> None:
    """The answer in a sentence."""
    (pure, exact, _), face = compute_answer(asked), face_of(asked)
    mark, sentence = face.answer(asked, pure[HEADLINE.key], exact[HEADLINE.key])
    st.html(page_answer(mark, sentence, face.short(asked, mark)))


def show_table(asked: Asked) -> None:
    """Every method with its answers and costs, at the end PARAM_MAP, for which there is none; what is beyond reach."""
    pure, exact, reasons = compute_answer(asked)
    face, answers = face_of(asked), [pure, exact] if asked.design.delta > 0 else [pure]
    first, second, *rest = face.columns(asked)
    head = ["method", *[first, second][: len(answers)], *rest]
    rows = []
    for key, method in asked.kind.methods.items():
        try:
            costs = face.costs(asked, method, exact[key])
        except ValueError:
            costs = [""] * len(rest)
        rows.append([_named(method, asked), *(face.needed(asked, one[key]) for one in answers), *costs])
    rows.append([_named(PARAM_MAP, asked), *["impossible"] * len(answers), *[""] * len(rest)])
    listing(head, rows, face.title)
    beyond = f" Beyond reach: {' '.join(dict.fromkeys(reasons))}" if reasons else ""
    st.caption(face.caption(asked) + beyond)


def needed_by_all(asked: Asked, delta: float) -> tuple[dict[str, float], list[str]]:
    """Return the smallest prior, or largest range, of every method for all sets: NaN beyond reach, with its reason."""
    found, reasons = {}, []
    for key, method in asked.kind.methods.items():
        try:
            if asked.design.sets == 1:
                found[key] = cached(asked.kind.need)(method, asked.setting, delta)
            else:
                found[key] = together_of(asked, method, delta).upper
        except ValueError as broken:
            if asked.design.sets == 1 and method is HEADLINE:
                raise
            found[key] = math.nan
            reasons.append(str(broken))
    return found, reasons


def together_of(asked: Asked, method: PriorMethod, delta: float) -> DeltaBracket:
    """What all sets of the design need together, exactly."""
    steps: Any = asked.kind.together_in_steps
    found: DeltaBracket = elsewhere(steps, WAITING)(method, asked.setting, asked.design.sets, delta)
    return found


def _named(method: PriorMethod, asked: Asked) -> str:
    """A method by its name in the paper; below it that of the synthesizer of counts, and what is released."""
    said = method.words.replace("proportion", face_of(asked).released)
    if plain := method.plain(asked.kind.cells(asked.setting)):
        said = f"{plain}: {said}"
    return f"<b>{method.label}</b><br><small>{said}</small>"
