"""What pages are made of, as one namespace beside Streamlit's: ``from pages import ui``, then ``ui.answer(…)``."""

from pages.ui.background import ANSWERS, CURVES, latest, progress, refresh_after, result
from pages.ui.controls import (
    LINKS,
    Places,
    choice,
    choices,
    control_places,
    link_settings,
    linked_number,
    number_control,
    presets,
    text_control,
    toggle,
)
from pages.ui.downloads import PICTURES, File, about_page, download_columns, open_file, show_files, uploaded
from pages.ui.figure import component, show_figure
from pages.ui.layout import (
    Section,
    close_page,
    columns,
    last_valid,
    last_valid_value,
    look_closer,
    open_page,
    section_setting,
    show_problems,
)
from pages.ui.mechanism import GIVEN, mechanism_controls, mechanism_settings, note_broken_promise
from pages.ui.release import mark_moved, page_link, register_shown, release, release_links, shown_release
from pages.ui.text import (
    answer,
    heading,
    html_table,
    note,
    numbers,
    page_note,
    page_text,
    problem,
    section_answer,
    table,
    unbroken,
)
from pages.ui.url import (
    CLASS_MODE,
    Setting,
    Settings,
    choice_setting,
    choices_setting,
    class_mode,
    hidden_number_setting,
    load,
    number_setting,
    number_settings,
    query_of,
    report_problem,
    switch_setting,
    text_setting,
    url_of,
)

__all__ = [
    "ANSWERS", "CLASS_MODE", "CURVES", "GIVEN", "LINKS", "PICTURES", "File", "Places", "Section", "Setting", "Settings",
    "about_page", "answer", "choice", "choice_setting", "choices", "choices_setting", "class_mode", "close_page",
    "columns", "component", "control_places", "download_columns", "heading", "hidden_number_setting", "html_table",
    "last_valid", "last_valid_value", "latest", "link_settings", "linked_number", "load", "look_closer", "mark_moved",
    "mechanism_controls", "mechanism_settings", "note", "note_broken_promise", "number_control", "number_setting",
    "number_settings", "numbers", "open_file", "open_page", "page_link", "page_note", "page_text", "presets", "problem",
    "progress", "query_of", "refresh_after", "register_shown", "release", "release_links", "report_problem", "result",
    "section_answer", "section_setting", "show_figure", "show_files", "show_problems", "shown_release",
    "switch_setting", "table", "text_control", "text_setting", "toggle", "unbroken", "uploaded", "url_of",
]  # fmt: skip
