"""Plug-in or posterior draw: both synthesizers with the same prior and the same promise."""

import math

import streamlit as st

from dpviz.charts.profile import compare_profiles
from dpviz.parameters import readable, readable_apart
from dpviz.privacy import delta_for_epsilon, pure_epsilon
from dpviz.privacy.summary import profile
from dpviz.synthesizers import BetaBinomial, DirichletMultinomial, MultinomialMean, PosteriorMean, Synthesizer
from dpviz.synthesizers.cells import CellSynthesizer
from pages.components.address import keep_switch
from pages.components.cached import cached
from pages.components.choices import switch
from pages.components.figure import show_figure
from pages.components.words import listing, note
from pages.transition_matrices import SPEC

OWN_ALPHA = keep_switch("tm_own_alpha", False)


def show_plug_in_or_draw(release: Synthesizer, epsilon: float) -> None:
    """Show both synthesizers at the same n, m, ε and α: the smallest α of the posterior draw, or the reader's own."""
    own = getattr(release, "alpha", None)
    use_own = isinstance(own, float) and switch("Use the α of the controls instead of m/(eᵋ − 1)", OWN_ALPHA)
    n, m = release.n, release.m  # type: ignore[attr-defined]  # as every law of the registry and a given matrix has
    alpha = own if use_own and isinstance(own, float) else BetaBinomial.least_alpha(m=m, epsilon=epsilon)
    draw: Synthesizer = BetaBinomial(n=n, m=m, alpha=alpha, beta=alpha)
    plug: Synthesizer = PosteriorMean(n=n, m=m, alpha=alpha, beta=alpha)
    if isinstance(release, CellSynthesizer):
        draw = DirichletMultinomial(n=n, m=m, cells=release.cells, alpha=alpha)
        plug = MultinomialMean(n=n, m=m, cells=release.cells, alpha=alpha)
    told, kept, broken = readable(epsilon), pure_epsilon(draw), pure_epsilon(plug)
    st.html(
        '<p class="dpviz-answer">'
        f"The promise is ε = {told}. With n = {n:,}, m = {m:,} and α = {readable(alpha, 3)} invented rows of each "
        f"kind, the real loss of the posterior draw is ε = <b>{_loss(kept, epsilon)}</b>, that of the plug-in "
        f"ε = <b>{_loss(broken, epsilon)}</b>.</p>"
    )
    head = ["synthesizer", "exact ε", f"δ at ε = {told}", "promise"]
    rows = [law_row(draw, epsilon), law_row(plug, epsilon)]
    listing(head, rows, "The two synthesizers side by side", frozenset({1, 2}))
    figure = compare_profiles([cached(profile)(draw), cached(profile)(plug)], epsilon)
    alt = f"Privacy profiles of the posterior draw and the plug-in at α = {alpha:.6g}, with ε = {epsilon:g} marked."
    show_figure(figure, key="tm_compare", alt=alt, height=330)
    note(SPEC.note("One step apart"))
    note(SPEC.note("In use"))


def _loss(exact: float, epsilon: float) -> str:
    """Return an exact ε to three digits, with more where they tell it from the promised one."""
    same = math.isclose(exact, epsilon, rel_tol=1e-12)
    return readable(epsilon) if same else readable_apart(exact, epsilon, 3)


def law_row(release: Synthesizer, epsilon: float) -> list[str]:
    """Return a synthesizer's exact ε, its δ at the promised ε, and whether it keeps the promise."""
    exact = pure_epsilon(release)
    word = "kept" if exact <= epsilon * (1 + 1e-12) else f"✗ broken, {readable_apart(exact / epsilon, 1.0, 4)} times ε"
    return [release.label, readable(exact, 7), readable(delta_for_epsilon(release, epsilon), 6), word]
