"""The closer looks of the page, each run only when it is opened."""

import streamlit as st

from dpviz.priors import Kind
from pages.components.frame import Section
from pages.minimum_priors import SPEC
from pages.minimum_priors.average import show_average
from pages.minimum_priors.controls import Asked
from pages.minimum_priors.downloads import show_downloads
from pages.minimum_priors.faces import face_of
from pages.minimum_priors.inverse import show_inverse
from pages.minimum_priors.sampling import show_sampling
from pages.minimum_priors.sets import show_sets
from pages.minimum_priors.sizes import show_sizes
from pages.minimum_priors.variants import show_probabilistic, show_uneven


def _why(asked: Asked) -> None:
    st.markdown(SPEC.text(face_of(asked).why))


SECTIONS: dict[str, Section[Asked]] = {
    "The inverse": show_inverse,
    "Several sets": show_sets,
    "Parameter or rows?": show_sizes,
    "Average case": show_average,
    "Subsampling": show_sampling,
    "Probabilistic δ": show_probabilistic,
    "Uneven priors": show_uneven,
    "Download": show_downloads,
    "Why, and sources": _why,
}
BERNOULLI_ONLY = {"Parameter or rows?", "Average case", "Subsampling", "Probabilistic δ", "Uneven priors"}


def sections_of(kind: Kind) -> dict[str, Section[Asked]]:
    """The sections that make sense for a kind of data, by name."""
    return {name: show for name, show in SECTIONS.items() if kind.binary or name not in BERNOULLI_ONLY}
