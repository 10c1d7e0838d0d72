"""Addresses and designs of earlier versions are read as ever."""

from __future__ import annotations

from importlib import import_module

import pytest

from dpviz.designs import Design
from dpviz.desk.addresses import FORMER_KEYS, SETTINGS
from pages.components.navigation import PAGES
from tests.pages import open_coverage, open_page, open_posterior

OPENED = {"tm": open_page, "cv": open_coverage, "po": open_posterior}


def test_every_setting_that_was_renamed_has_its_present_name() -> None:
    for page in PAGES:
        import_module(f"pages.{page.folder}.controls")  # which keep the settings of the page
    assert FORMER_KEYS.keys() <= SETTINGS.keys()


def test_a_design_that_calls_its_mechanism_a_law_is_read() -> None:
    design = Design(mechanism="posterior_mean", n=9, epsilon=1.5)
    words = design.to_address()
    assert words["synthesizer"] == "posterior_mean"
    words["law"] = words.pop("synthesizer")
    assert Design.from_address(words) == design


@pytest.mark.parametrize("prefix", OPENED)
def test_an_address_that_calls_the_synthesizer_a_law_is_read(prefix: str) -> None:
    former = OPENED[prefix]({f"{prefix}_law": "posterior_mean", f"{prefix}_n": "9"})
    present = OPENED[prefix]({f"{prefix}_synthesizer": "posterior_mean", f"{prefix}_n": "9"})
    for page in (former, present):
        assert page.session_state[f"{prefix}_synthesizer"] == "posterior_mean"
        assert not page.exception
    assert [one.value for one in former.markdown] == [one.value for one in present.markdown]
    wrong = OPENED[prefix]({f"{prefix}_law": "nothing"})
    (sentence,) = wrong.session_state[f"{prefix}_"].noted.values()
    assert sentence.startswith(f"Ignored an invalid value in the link, {prefix}_synthesizer = nothing")
