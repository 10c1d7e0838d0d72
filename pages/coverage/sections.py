"""The closer looks of the page, each run only when it is opened."""

from __future__ import annotations

from collections.abc import Callable

from dpviz.designs import Design
from pages.coverage.downloads import show_downloads
from pages.coverage.fails import show_failure
from pages.coverage.lengths import show_lengths
from pages.coverage.moments import show_moments
from pages.coverage.published import show_published
from pages.coverage.why import show_why

SECTIONS: dict[str, Callable[[Design], None]] = {
    "Why it fails": show_failure,
    "Length, and its limit": show_lengths,
    "Bias and variance": show_moments,
    "As published": show_published,
    "Download": show_downloads,
    "Why, and sources": show_why,
}
