"""The closer looks of the page, each run only when it is opened."""

from __future__ import annotations

from collections.abc import Callable

from pages.priors.average import show_average
from pages.priors.controls import Asked
from pages.priors.downloads import show_downloads
from pages.priors.inverse import show_inverse
from pages.priors.probabilistic import show_probabilistic
from pages.priors.sampling import show_sampling
from pages.priors.sets import show_sets
from pages.priors.sizes import show_sizes
from pages.priors.uneven import show_uneven
from pages.priors.why import show_why

Section = Callable[[Asked], None]


SECTIONS: dict[str, Section] = {
    "The inverse": show_inverse,
    "Several sets": show_sets,
    "Parameter or rows?": show_sizes,
    "Average case": show_average,
    "Subsampling": show_sampling,
    "Probabilistic δ": show_probabilistic,
    "Uneven priors": show_uneven,
    "Download": show_downloads,
    "Why, and sources": show_why,
}
BERNOULLI_ONLY = {"Parameter or rows?", "Average case", "Subsampling", "Probabilistic δ", "Uneven priors"}


def sections_of(asked: Asked) -> dict[str, Section]:
    """The sections that make sense for the family, by name."""
    others = frozenset() if asked.family == "bernoulli" else BERNOULLI_ONLY
    return {name: show for name, show in SECTIONS.items() if name not in others}
