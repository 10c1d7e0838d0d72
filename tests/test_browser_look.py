"""The app in real Chromium: for everybody, on any screen, in both themes."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser

from pages.transition_matrices.sections import SECTIONS
from tests.look import (
    LOOKS,
    OPPOSITE,
    TELEPHONE,
    beyond_the_screen,
    by_section,
    check_looks,
    check_pictures_are_named,
    check_pictures_follow_the_theme,
    faults,
    put_on,
)
from tests.visit import visiting

pytestmark = pytest.mark.browser


def test_every_section_is_accessible(chromium: Browser, server: str) -> None:
    with visiting(chromium, server, *LOOKS[0]) as page:
        check_looks(page, SECTIONS)


VIEWS = [
    "tm_n=40&tm_law=beta_binomial",
    "tm_n=40&tm_law=beta_binomial&tm_picture=log-odds&tm_sign=signed",
    "tm_law=given_matrix",
    "tm_law=posterior_mode&tm_m_is_n=false&tm_beta_is_alpha=false&tm_n=foo",
]


def test_every_view_is_accessible_and_fits_its_screen(chromium: Browser, server: str) -> None:
    for view in VIEWS:
        with visiting(chromium, f"{server}/?{view}", *LOOKS[0]) as page:
            for screen, theme in OPPOSITE:
                put_on(page, screen, theme)
                assert faults(page) == [], (view, theme)


def test_no_section_scrolls_sideways_on_a_telephone(chromium: Browser, server: str) -> None:
    with visiting(chromium, server, viewport=TELEPHONE, has_touch=True, is_mobile=True) as page:
        assert by_section(page, SECTIONS, beyond_the_screen) == {}


def test_pictures_follow_the_theme(chromium: Browser, server: str) -> None:
    check_pictures_follow_the_theme(chromium, f"{server}/?tm_n=40", 2)


def test_pictures_have_names_and_keep_their_labels_from_screen_readers(chromium: Browser, server: str) -> None:
    with visiting(chromium, f"{server}/?tm_n=40&tm_look=The+attacker") as page:
        check_pictures_are_named(page, 3)
