"""Release mechanisms on tables of counts, each one an exact transition matrix."""

from dpviz.mechanisms.base import Release, Synthesizer, TwoCellSynthesizer, WorstCase
from dpviz.mechanisms.beta_binomial import BetaBinomial
from dpviz.mechanisms.binned_posterior import BinnedPosterior, BinnedPosteriorExact
from dpviz.mechanisms.cell_mechanisms import DirichletMultinomial, LaplaceCells, MultinomialMean, MultinomialMode
from dpviz.mechanisms.exponential import ExponentialCounts, ExponentialRows
from dpviz.mechanisms.matrix_mechanism import GivenMatrix
from dpviz.mechanisms.modips import Modips, ModipsTruncated
from dpviz.mechanisms.noise import GeometricSanitizer, LaplaceSanitizer
from dpviz.mechanisms.plug_ins import PosteriorMean, PosteriorMode
from dpviz.mechanisms.poisson import PoissonCount, PoissonGamma

SYNTHESIZERS: dict[str, type[Synthesizer]] = {
    cls.key: cls
    for cls in (
        BetaBinomial, PosteriorMean, PosteriorMode, LaplaceSanitizer, GeometricSanitizer, Modips, ModipsTruncated,
        ExponentialRows, ExponentialCounts, BinnedPosterior, BinnedPosteriorExact, PoissonGamma, PoissonCount,
        DirichletMultinomial, MultinomialMean, MultinomialMode, LaplaceCells,
    )
}  # fmt: skip
"""Every synthesizer by its key: a new one is a class, an entry of `mechanisms.toml` and a line here."""


def two_cell_synthesizers() -> dict[str, type[TwoCellSynthesizer]]:
    """Registered synthesizers of two counts that have an n of their own, by key."""
    return {
        key: cls for key, cls in SYNTHESIZERS.items() if issubclass(cls, TwoCellSynthesizer) and "n" in cls.numbers()
    }


__all__ = [
    "SYNTHESIZERS", "BetaBinomial", "BinnedPosterior", "BinnedPosteriorExact", "DirichletMultinomial",
    "ExponentialCounts", "ExponentialRows", "GeometricSanitizer", "GivenMatrix", "LaplaceCells", "LaplaceSanitizer",
    "Modips", "ModipsTruncated", "MultinomialMean", "MultinomialMode", "PoissonCount", "PoissonGamma", "PosteriorMean",
    "PosteriorMode", "Release", "Synthesizer", "TwoCellSynthesizer", "WorstCase", "two_cell_synthesizers",
]  # fmt: skip
