"""What pages are made of, as one namespace beside Streamlit's: ``from pages import ui``, then ``ui.answer(…)``."""

from pages.ui.background import ANSWERS, latest, progress, refresh_after, result
from pages.ui.controls import (
    LINKS, Places, choice, choices, control_places, draw_again, link_settings, linked_number, number_control,
    number_controls, segmented, text_control, toggle,
)  # fmt: skip
from pages.ui.declarations import declared_numbers, declared_presets, declared_table
from pages.ui.downloads import (
    PICTURES, STORED_TYPES, File, open_file, origin, show_differences, show_files, show_page_files, uploaded,
)  # fmt: skip
from pages.ui.layout import (
    Section, close_page, columns, component, last_valid, last_valid_value, look_closer, open_page, page_frame,
    section_if, section_setting, show_figure, show_problems,
)  # fmt: skip
from pages.ui.mechanism import (
    GIVEN, RELEASE_NUMBERS, mechanism_controls, mechanism_settings, note_broken_promise,
)  # fmt: skip
from pages.ui.release import (
    current_release, mark_moved, page_link, page_links, register_shown, release_links, shown_release,
)  # fmt: skip
from pages.ui.text import (
    answer, heading, html_table, note, numbers, page_note, page_text, problem, section_answer, table, unbroken, words,
)  # fmt: skip
from pages.ui.url import (
    CLASS_MODE, Setting, Settings, choice_setting, choices_setting, class_mode, current_page, current_setting,
    hidden_number_setting, load, number_setting, number_settings, query_of, report_problem, switch_setting,
    text_setting, visit,
)  # fmt: skip
