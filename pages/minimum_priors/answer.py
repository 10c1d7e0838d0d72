"""The answer in one sentence, and the exact prior or range of every method with what it costs."""

import math
from functools import partial

import streamlit as st

from dpviz.calibration.methods import PARAM_MAP, PriorMethod
from dpviz.calibration.needed import Needed, stream_needed
from dpviz.calibration.prior_rules import know_exact_prior
from pages.components.growing import Growing, growing_of, show_growing
from pages.components.words import listing, page_answer
from pages.minimum_priors.controls import PREFIX, Asked
from pages.minimum_priors.faces import HEADLINE, face_of

WAITING = "Composing the sets …"
LATER = "…"  # What stands for an answer that is still being computed


def needed_of(asked: Asked) -> Growing[Needed]:
    """What every method needs, `HEADLINE` first."""
    about = asked.kind, asked.setting, asked.design.sets, HEADLINE
    return growing_of(f"{PREFIX}needed", ("needed", *about), Needed, partial(stream_needed, *about), answer=True)


def compute_answer(asked: Asked) -> Needed:
    """What is known, `HEADLINE` at least; a refusal comes with it."""
    return needed_of(asked).first()


def show_answer(asked: Asked) -> None:
    """The answer in a sentence."""
    found, face = compute_answer(asked), face_of(asked)
    needs = found.exact[HEADLINE.key]
    if asked.kind.binary and not math.isnan(needs):
        know_exact_prior(asked.design, needs)  # which the links to other pages say
    mark, sentence = face.answer(asked, found.pure[HEADLINE.key], needs)
    st.html(page_answer(mark, sentence, face.short(asked, mark)))


def show_table(asked: Asked) -> None:
    """Every method with its answers and costs as they come; the picture of several sets has them too."""
    draw, several = partial(_draw, asked), asked.design.sets > 1
    show_growing(needed_of(asked), WAITING, draw, key=f"{PREFIX}step_needed", then_all=several)


def _draw(asked: Asked, found: Needed) -> None:
    """The table, at its end PARAM_MAP, for which there is nothing, and what is beyond reach."""
    face, answers = face_of(asked), [found.pure, found.exact] if asked.design.delta > 0 else [found.pure]
    first, second, *rest = face.columns(asked)
    head = ["method", *[first, second][: len(answers)], *rest]
    rows = []
    for key, method in asked.kind.methods.items():
        if key not in found.exact:
            rows.append([_named(method, asked), *[LATER] * (len(answers) + len(rest))])
            continue
        try:
            costs = face.costs(asked, method, found.exact[key])
        except ValueError:
            costs = [""] * len(rest)
        rows.append([_named(method, asked), *(face.needed(asked, one[key]) for one in answers), *costs])
    rows.append([_named(PARAM_MAP, asked), *["impossible"] * len(answers), *[""] * len(rest)])
    listing(head, rows, face.title)
    beyond = f" Beyond reach: {' '.join(dict.fromkeys(found.refused.values()))}" if found.refused else ""
    st.caption(face.caption(asked) + beyond)


def _named(method: PriorMethod, asked: Asked) -> str:
    """A method by its name in the paper; below it that of the synthesizer of counts, and what is released."""
    said = method.words.replace("proportion", face_of(asked).released)
    if plain := method.plain(asked.kind.cells(asked.setting)):
        said = f"{plain}: {said}"
    return f"<b>{method.label}</b><br><small>{said}</small>"
