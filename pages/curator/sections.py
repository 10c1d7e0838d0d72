"""The closer looks of the page, each run only when it is opened."""

from dpviz.desk.report.files import desk_csv, desk_script
from dpviz.desk.search import Desk, stream_designs
from pages.components.cached import last_of
from pages.components.downloads import show_columns
from pages.components.frame import Section, text_of
from pages.curator import SPEC
from pages.curator.along import show_changes, show_frontier
from pages.curator.beside import show_side_by_side
from pages.curator.controls import PREFIX, Asked
from pages.curator.designs import designs_of
from pages.curator.pilot import show_pilot
from pages.curator.report import show_report


def show_downloads(asked: Asked) -> None:
    """Offer the table, the question and the script."""
    show_columns(
        PREFIX,
        [
            ("All designs and measures, CSV", "desk.csv", lambda: desk_csv(whole(asked))),
            "The file is made when the button is pressed, which takes as long as the table above does.",
        ],
        [
            ("Question, JSON", "question.json", asked.question.to_json),
            "It holds your limits and sizes, and nothing of a file that you have opened here.",
        ],
        ("desk.py", desk_script(asked.question), "the designs in order"),
        middle="Your question",
    )


def whole(asked: Asked) -> Desk:
    """The complete answer: what has grown on the page, or computed to the end."""
    grown = designs_of(asked).latest
    return grown if grown is not None and grown.complete else last_of(stream_designs)(asked.question)


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
