"""The closer looks of the page, each run only when it is opened."""

from __future__ import annotations

from collections.abc import Callable

from pages.intervals.controls import Design
from pages.intervals.downloads import show_downloads
from pages.intervals.fails import show_failure
from pages.intervals.lengths import show_lengths
from pages.intervals.moments import show_moments
from pages.intervals.published import show_published
from pages.intervals.why import show_why

SECTIONS: dict[str, Callable[[Design], None]] = {
    "Why it fails": show_failure,
    "Length, and its limit": show_lengths,
    "Bias and variance": show_moments,
    "As published": show_published,
    "Download": show_downloads,
    "Why, and sources": show_why,
}
