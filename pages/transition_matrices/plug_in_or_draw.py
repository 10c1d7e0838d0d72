"""Plug-in or posterior draw: both synthesizers with the same prior and the same promise."""

import math

import streamlit as st

from dpviz.charts.profile import compare_profiles
from dpviz.core.parameters import readable, readable_apart
from dpviz.mechanisms import BetaBinomial, DirichletMultinomial, MultinomialMean, PosteriorMean, Synthesizer
from dpviz.mechanisms.cells import CellSynthesizer
from dpviz.mechanisms.multinomial_plug_ins import MultinomialPlugIn
from dpviz.mechanisms.plug_ins import PlugIn
from dpviz.mechanisms.prior import PRIOR_ONES
from dpviz.privacy import delta_for_epsilon, pure_epsilon
from dpviz.privacy.summary import profile
from pages.components.address import keep_switch
from pages.components.cached import cached
from pages.components.choices import switch
from pages.components.figure import show_figure
from pages.components.words import listing, note
from pages.transition_matrices import SPEC

OWN_ALPHA = keep_switch("tm_own_alpha", False)


def draw_and_plug_in(release: Synthesizer, epsilon: float, *, own: bool) -> tuple[Synthesizer, Synthesizer]:
    """The posterior draw and the plug-in with one prior: the release's own, or the smallest that the draw needs.

    The plug-in is the release itself where that is one and has its own prior, else that of the posterior mean.
    """
    sizes = {"n": release.n, "m": release.m}  # type: ignore[attr-defined]  # as every synthesizer of a page has
    least = BetaBinomial.smallest_alpha(m=sizes["m"], epsilon=epsilon)
    plug_in = type(release) if own and isinstance(release, (PlugIn, MultinomialPlugIn)) else None
    if isinstance(release, CellSynthesizer):
        sizes |= {"cells": release.cells, "alpha": release.alpha if own else least}  # type: ignore[attr-defined]
        return DirichletMultinomial(**sizes), (plug_in or MultinomialMean)(**sizes)
    sizes |= {"alpha": release.alpha, "beta": release.beta} if own else {"alpha": least, "beta": least}  # type: ignore[attr-defined]
    return BetaBinomial(**sizes), (plug_in or PosteriorMean)(**sizes)


def show_plug_in_or_draw(release: Synthesizer, epsilon: float) -> None:
    """Show both synthesizers at the same n, m, ε and prior: the smallest of the posterior draw, or the reader's own."""
    own = release.has_prior and switch("Use the prior of the controls instead of the smallest, m/(eᵋ − 1)", OWN_ALPHA)
    draw, plug = draw_and_plug_in(release, epsilon, own=own)
    st.html(f'<p class="dpviz-answer">{comparison_sentence(draw, plug, epsilon)}</p>')
    head = ["synthesizer", "exact ε", f"δ at ε = {readable(epsilon)}", "promise"]
    rows = [synthesizer_row(draw, epsilon), synthesizer_row(plug, epsilon)]
    listing(head, rows, "The two synthesizers side by side", frozenset({1, 2}))
    figure = compare_profiles([cached(profile)(draw), cached(profile)(plug)], epsilon)
    alt = f"Privacy profiles of the posterior draw and the plug-in, with ε = {epsilon:g} marked."
    show_figure(figure, key="tm_compare", alt=alt, height=330)
    note(SPEC.note("One step apart"))
    note(SPEC.note("In use"))


def comparison_sentence(draw: Synthesizer, plug: Synthesizer, epsilon: float) -> str:
    """What is promised, with which prior, and what both really lose, as inline HTML."""
    n, m, prior = draw.n, draw.m, prior_in_words(draw)  # type: ignore[attr-defined]
    kept, broken = _loss(pure_epsilon(draw), epsilon), _loss(pure_epsilon(plug), epsilon)
    plug_in = plug.label.partition(" (")[0]
    return (
        f"The promise is ε = {readable(epsilon)}. With n = {n:,}, m = {m:,} and {prior}, the real loss of the "
        f"posterior draw is ε = <b>{kept}</b>, that of the {plug_in[0].lower() + plug_in[1:]} ε = <b>{broken}</b>."
    )


def prior_in_words(release: Synthesizer) -> str:
    """How many invented rows a prior adds, kind by kind, to three digits.

    >>> prior_in_words(BetaBinomial(n=5, m=5, alpha=2.0, beta=2.0))
    'α = 2 invented rows of each kind'
    >>> prior_in_words(BetaBinomial(n=5, m=5, alpha=2.0, beta=0.5))
    'α = 2 invented rows with a one and β = 0.5 with a zero'
    """
    alpha, beta = release.alpha, getattr(release, "beta", None)  # type: ignore[attr-defined]
    if isinstance(alpha, tuple):
        return f"α = {', '.join(readable(one, 3) for one in alpha)} invented rows in the cells"
    if beta not in (None, alpha):
        return f"α = {readable(alpha, 3)} invented rows with a one and β = {readable(beta, 3)} with a zero"
    fewest = " (the fewest that can be computed with)" if alpha <= PRIOR_ONES.minimum else ""
    return f"α = {readable(alpha, 3)} invented rows of each kind{fewest}"


def _loss(exact: float, epsilon: float) -> str:
    """Return an exact ε to three digits, with more where they tell it from the promised one."""
    same = math.isclose(exact, epsilon, rel_tol=1e-12)
    return readable(epsilon) if same else readable_apart(exact, epsilon, 3)


def synthesizer_row(release: Synthesizer, epsilon: float) -> list[str]:
    """Return a synthesizer's exact ε, its δ at the promised ε, and whether it keeps the promise."""
    exact = pure_epsilon(release)
    word = "kept" if exact <= epsilon * (1 + 1e-12) else f"✗ broken, {readable_apart(exact / epsilon, 1.0, 4)} times ε"
    return [release.label, readable(exact, 7), readable(delta_for_epsilon(release, epsilon), 6), word]
