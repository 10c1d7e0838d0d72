"""The answer in one sentence, and the exact prior or range of every method with what it costs."""

import math
from functools import partial

import streamlit as st

from dpviz.calibration.methods import PARAM_MAP, PriorMethod
from dpviz.calibration.needed import Needed, stream_needed
from dpviz.calibration.prior_rules import know_exact_prior
from dpviz.calibration.promise_in_words import HEADLINE, needed_in_words
from dpviz.calibration.promise_question import PromiseQuestion
from dpviz.core.parameters import readable
from dpviz.inference.moments import cell_moments, share_beyond
from pages.components.growing import Growing, growing_of, show_growing
from pages.components.words import listing, page_answer
from pages.minimum_priors import SPEC
from pages.minimum_priors.controls import PREFIX, Asked

WAITING = "Composing the sets …"
LATER = "…"  # What stands for an answer that is still being computed
ROUNDING = 1e-15  # Bias below which it is nothing but rounding


def needed_of(question: PromiseQuestion) -> Growing[Needed]:
    """What every method needs, `HEADLINE` first."""
    about = question.kind, question.setting, question.sets, HEADLINE
    return growing_of(f"{PREFIX}needed", ("needed", *about), Needed, partial(stream_needed, *about), answer=True)


def compute_answer(asked: Asked) -> Needed:
    """What is known, `HEADLINE` at least; a refusal comes with it."""
    return needed_of(asked.question).first()


def show_answer(asked: Asked) -> None:
    """The answer in a sentence."""
    question, found = asked.question, compute_answer(asked)
    needs = found.exact[HEADLINE.key]
    if question.kind.binary and not math.isnan(needs):
        know_exact_prior(asked.design, needs)  # which the links to other pages say
    st.html(page_answer(*needed_in_words(question, found.pure[HEADLINE.key], needs)))


def show_table(question: PromiseQuestion) -> None:
    """Every method with its answers and costs as they come; the picture of several sets has them too."""
    draw, several = partial(_draw, question), question.sets > 1
    show_growing(needed_of(question), WAITING, draw, key=f"{PREFIX}step_needed", then_all=several)


def _draw(question: PromiseQuestion, found: Needed) -> None:
    """The table, at its end PARAM_MAP, for which there is nothing, and what is beyond reach."""
    kind, setting = question.kind, question.setting
    answers = [found.pure, found.exact] if setting.delta > 0 else [found.pure]
    delta, p = readable(setting.delta, 3), readable(question.p, 3)
    needed, costs = (f"{kind.axis}, δ = 0", f"{kind.axis}, δ = {delta}"), [f"bias at p = {p}", "standard error"]
    title = "The exact prior of every method, and what it costs"
    if kind.conditioned:
        needed, costs = (f"{needed[0]}, truncated", f"{needed[1]}, not truncated"), ["share of N(0, σ²) beyond ±R"]
        title = "The exact range of every method, and what it cuts off"
    rows = []
    for key, method in kind.methods.items():
        row = [LATER] * (len(answers) + len(costs))
        if key in found.exact:
            row = [question.level_cell(one[key]) for one in answers]
            row += _costs(question, method, found.exact[key]) or [""] * len(costs)
        rows.append([_named(method, question), *row])
    rows.append([_named(PARAM_MAP, question), *["impossible"] * len(answers), *[""] * len(costs)])
    listing(["method", *needed[: len(answers)], *costs], rows, title)
    caption = SPEC.note(
        f"The table of {texts_of(question)}",
        **{name: readable(getattr(setting, name)) for name in ("epsilon", "sigma", "sigma0")},
        which="second" if setting.delta > 0 else "first",
        plain=readable(math.sqrt(question.p * (1 - question.p) / setting.n), 3),
        composed=" Several sets: their losses are added exactly." if question.sets > 1 else "",
    )
    beyond = f" Beyond reach: {' '.join(dict.fromkeys(found.refused.values()))}" if found.refused else ""
    st.caption(caption + beyond)


def texts_of(question: PromiseQuestion) -> str:
    """What the texts beside the page are called that are about data of this kind."""
    return "ranges" if question.kind.conditioned else "counts"


def _named(method: PriorMethod, question: PromiseQuestion) -> str:
    """A method by its name in the paper; below it that of the synthesizer of counts, and what is released."""
    said = method.words.replace("proportion", "mean" if question.kind.conditioned else "proportion")
    if plain := method.plain(question.cells):
        said = f"{plain}: {said}"
    return f"<b>{method.label}</b><br><small>{said}</small>"


def _costs(question: PromiseQuestion, method: PriorMethod, level: float) -> list[str]:
    """Bias and standard error at a prior, or what a range cuts off; nothing where that is not computed."""
    setting = question.setting
    if not math.isfinite(level):
        return []
    if question.kind.conditioned:
        return [readable(share_beyond(level), 3)]
    try:
        found = cell_moments(
            method.key,
            n=setting.n,
            m=setting.m,
            alpha=level,
            cells=question.cells,
            proportion=question.p,
            sets=question.sets,
        )
    except ValueError:
        return []
    bias = found.bias if abs(found.bias) > ROUNDING else 0.0
    return [f"{'+' if bias > 0 else ''}{readable(bias, 3)}", readable(found.standard_error, 3)]
