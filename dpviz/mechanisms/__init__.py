"""Release mechanisms on tables of counts, each one an exact transition matrix."""

from dpviz.mechanisms.base import Release, Synthesizer, TwoCellSynthesizer, WorstCase
from dpviz.mechanisms.beta_binomial import BetaBinomial
from dpviz.mechanisms.binned_posterior import BinnedPosterior, BinnedPosteriorExact
from dpviz.mechanisms.dirichlet_multinomial import DirichletMultinomial
from dpviz.mechanisms.exponential import ExponentialCounts, ExponentialRows
from dpviz.mechanisms.laplace_cells import LaplaceCells
from dpviz.mechanisms.modips import Modips, ModipsTruncated
from dpviz.mechanisms.multinomial_plug_ins import MultinomialMean, MultinomialMode
from dpviz.mechanisms.noise import GeometricSanitizer, LaplaceSanitizer
from dpviz.mechanisms.plug_ins import PosteriorMean, PosteriorMode
from dpviz.mechanisms.poisson_count import PoissonCount
from dpviz.mechanisms.poisson_gamma import PoissonGamma

SYNTHESIZERS: dict[str, type[Synthesizer]] = {
    cls.key: cls
    for cls in (
        BetaBinomial,
        PosteriorMean,
        PosteriorMode,
        LaplaceSanitizer,
        GeometricSanitizer,
        Modips,
        ModipsTruncated,
        ExponentialRows,
        ExponentialCounts,
        BinnedPosterior,
        BinnedPosteriorExact,
        PoissonGamma,
        PoissonCount,
        DirichletMultinomial,
        MultinomialMean,
        MultinomialMode,
        LaplaceCells,
    )
}
"""Every synthesizer by its key: a new one is one file and one line here."""


def two_cell_synthesizers() -> dict[str, type[TwoCellSynthesizer]]:
    """Return the registered synthesizers of two counts that have an n of their own, by key."""
    return {
        key: one
        for key, one in SYNTHESIZERS.items()
        if issubclass(one, TwoCellSynthesizer) and "n" in {declared.name for declared in one.parameters()}
    }


__all__ = [
    "SYNTHESIZERS",
    "BetaBinomial",
    "BinnedPosterior",
    "BinnedPosteriorExact",
    "DirichletMultinomial",
    "ExponentialCounts",
    "ExponentialRows",
    "GeometricSanitizer",
    "LaplaceCells",
    "LaplaceSanitizer",
    "Modips",
    "ModipsTruncated",
    "MultinomialMean",
    "MultinomialMode",
    "PoissonCount",
    "PoissonGamma",
    "PosteriorMean",
    "PosteriorMode",
    "Release",
    "Synthesizer",
    "TwoCellSynthesizer",
    "WorstCase",
    "two_cell_synthesizers",
]
