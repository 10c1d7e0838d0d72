"""Plug-in or posterior draw: both synthesizers with the same prior and the same promise, and what each really loses."""

from dpviz.core.parameters import readable, readable_apart
from dpviz.mechanisms import BetaBinomial, DirichletMultinomial, MultinomialMean, PosteriorMean, Synthesizer
from dpviz.mechanisms.cells import CellSynthesizer
from dpviz.mechanisms.multinomial_plug_ins import MultinomialPlugIn
from dpviz.mechanisms.plug_ins import PlugIn
from dpviz.mechanisms.prior import PRIOR_ONES
from dpviz.privacy.hockey_stick import delta_for_epsilon, pure_epsilon
from dpviz.privacy.verdict import loss_text


def draw_and_plug_in(release: Synthesizer, epsilon: float, *, own: bool) -> tuple[Synthesizer, Synthesizer]:
    """Return the posterior draw and the plug-in with one prior: the release's own, or the smallest of the draw.

    The plug-in is the release itself where that is one and has its own prior, else that of the posterior mean.
    """
    sizes = {"n": release.n, "m": release.m}  # type: ignore[attr-defined]  # as every synthesizer of a page has
    smallest = BetaBinomial.smallest_alpha(m=sizes["m"], epsilon=epsilon)
    plug_in = type(release) if own and isinstance(release, (PlugIn, MultinomialPlugIn)) else None
    if isinstance(release, CellSynthesizer):
        sizes |= {"cells": release.cells, "alpha": release.alpha if own else smallest}  # type: ignore[attr-defined]
        return DirichletMultinomial(**sizes), (plug_in or MultinomialMean)(**sizes)
    prior = (release.alpha, release.beta) if own else (smallest, smallest)  # type: ignore[attr-defined]
    sizes |= dict(zip(("alpha", "beta"), prior, strict=True))
    return BetaBinomial(**sizes), (plug_in or PosteriorMean)(**sizes)


def comparison_sentence(draw: Synthesizer, plug: Synthesizer, epsilon: float) -> str:
    """What is promised, with which prior, and what both really lose, as inline HTML."""
    n, m, plug_in = draw.n, draw.m, plug.label.partition(" (")[0]  # type: ignore[attr-defined]
    kept, broken = (loss_text(pure_epsilon(one), epsilon) for one in (draw, plug))
    return (
        f"The promise is ε = {readable(epsilon)}. With n = {n:,}, m = {m:,} and {prior_in_words(draw)}, the real loss "
        f"of the posterior draw is ε = <b>{kept}</b>, that of the {plug_in[0].lower() + plug_in[1:]} ε = "
        f"<b>{broken}</b>."
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


def synthesizer_row(release: Synthesizer, epsilon: float) -> list[str]:
    """Return a synthesizer's exact ε, its δ at the promised ε, and whether it keeps the promise."""
    exact = pure_epsilon(release)
    word = "kept" if exact <= epsilon * (1 + 1e-12) else f"✗ broken, {readable_apart(exact / epsilon, 1.0, 4)} times ε"
    return [release.label, readable(exact, 7), readable(delta_for_epsilon(release, epsilon), 6), word]
