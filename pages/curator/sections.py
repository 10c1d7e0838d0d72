"""The closer looks of the page, each run only when it is opened."""

from pages.components.frame import Section, text_of
from pages.curator import SPEC
from pages.curator.along import show_changes, show_frontier
from pages.curator.controls import Asked
from pages.curator.downloads import show_downloads
from pages.curator.pilot import show_pilot
from pages.curator.pins import show_side_by_side
from pages.curator.report import show_report

SECTIONS: dict[str, Section[Asked]] = {
    "How to read this page": text_of(SPEC, "guide"),
    "The frontier": show_frontier,
    "How the choice changes": show_changes,
    "Side by side": show_side_by_side,
    "Pilot data": show_pilot,
    "The report": show_report,
    "Download": show_downloads,
    "Why, and sources": text_of(SPEC),
}
