"""The closer looks of the page, each run only when it is opened."""

from __future__ import annotations

from collections.abc import Callable

from pages.bayes.categories import show_categories
from pages.bayes.controls import Asked
from pages.bayes.count import show_count
from pages.bayes.downloads import show_downloads
from pages.bayes.published import show_published
from pages.bayes.reach import show_reach
from pages.bayes.secret import show_secret
from pages.bayes.why import show_why

SECTIONS: dict[str, Callable[[Asked], None]] = {
    "What was x?": show_count,
    "Its own coverage": show_reach,
    "If n is secret": show_secret,
    "k categories": show_categories,
    "As published": show_published,
    "Download": show_downloads,
    "Why, and sources": show_why,
}
