"""One release on all pages: what two pages know of it arrives unchanged, by links and by the navigation."""

from __future__ import annotations

import copy
import functools
import itertools
import json
import re
from importlib import import_module
from typing import Any
from urllib.parse import parse_qsl

import pytest
from streamlit.testing.v1 import AppTest

import pages.home.controls  # noqa: F401 (its settings)
from dpviz.comparisons.overview import Overview
from dpviz.comparisons.overview_words import overview_answers
from dpviz.designs import Design
from dpviz.desk.addresses import SETTINGS, address_words, settings_of, taken_by
from dpviz.desk.carried import Carried
from dpviz.mechanisms import PoissonCount
from pages.components.navigation import PAGES
from pages.components.spec import PageSpec
from pages.home.questions import QUESTIONS
from tests.pages import address as page_address
from tests.pages import html, problems, run_script

for one in PAGES:
    import_module(f"pages.{one.folder}.controls")  # which keep the settings of the page

KNOWN = ("synthesizer", "n", "m", "sets", "epsilon", "delta", "alpha", "p", "x", "seed")
AT = {page.prefix: page for page in PAGES}
START = AT["home_"]
RELEASES = {
    "Start": Design(mechanism="beta_binomial", n=20, epsilon=2.5, p=0.35, confidential_count=7, seed=4),
    "several sets": Design(mechanism="beta_binomial", n=20, sets=3, epsilon=2.5, p=0.35, confidential_count=7, seed=4),
    "noise": Design(mechanism="geometric", n=20, epsilon=2.5, p=0.35, confidential_count=7, seed=4),
}


QUICK = {"bu_repetitions": 50, "cs_repetitions": 50, "cu_repetitions": 60, "cu_values": 2}
"""Settings with which pages answer at once, none of which belongs to a release."""


def session_of(page: AppTest) -> dict[str, Any]:
    """What the session keeps for a reader who goes to another page."""
    kept = page.session_state.to_dict()  # once: to look for a key there goes through all of it
    names = {*SETTINGS, "release", *(one.prefix for one in PAGES)}
    return {key: copy.copy(kept[key]) for key in names & kept.keys()}


def settled(page: PageSpec, address: dict[str, str] | None = None, before: AppTest | None = None) -> AppTest:
    """A page that a reader comes to, after `before` if any, by an address or by the navigation."""
    found = AppTest.from_file(str(page.file), default_timeout=120)
    for key, value in (QUICK if before is None else session_of(before)).items():
        found.session_state[key] = value
    for key, word in (address or {}).items():
        found.query_params[key] = word
    found.run()
    assert not found.exception, found.exception[0].value
    return found


@functools.cache
def first_of(page: PageSpec, name: str) -> AppTest:
    """A page that a reader has opened with that release, before going to any other."""
    return settled(page, dict(address_words(page.prefix, RELEASES[name])))


def shown(page: PageSpec, found: AppTest) -> dict[str, Any]:
    """What a page shows of the release that every other page may know, by the names of an address."""
    design = found.session_state[page.prefix].valid.design
    drawn = found.session_state[page.prefix].drawn
    told = {key.removeprefix(page.prefix) for key, one in drawn.items() if one.value is not None} | {*page.tells}
    every = {
        "synthesizer": design.synthesizer_type.key,
        "n": design.n, "m": design.m, "sets": design.sets, "epsilon": design.epsilon,
        "delta": design.delta, "p": design.p, "x": design.confidential_count, "seed": design.seed,
    }  # fmt: skip
    if f"{page.prefix}synthesizer" in SETTINGS or page.home:
        told |= {"synthesizer", "m"}
        every["alpha"] = design.alpha_of_one_set if design.synthesizer_type.has_prior else None
        told |= {"alpha"}
    return {name: every[name] for name in KNOWN if name in told and every.get(name) is not None}


def troubles(page: AppTest) -> list[str]:
    """What a page refuses; of one set Coverage shows fewer rules, and says which."""
    return [one for one in problems(page) if not one.startswith("Left out")]


def taken(page: PageSpec, design: Design) -> bool:
    try:
        settings_of(page.prefix, design)
    except ValueError:
        return False
    return True


def agree(first: dict[str, Any], second: dict[str, Any]) -> None:
    for name in first.keys() & second.keys():
        assert second[name] == (first[name] if name == "synthesizer" else pytest.approx(first[name], rel=1e-12)), name


ARRIVALS = [
    (first, second, known[(PAGES.index(first) + PAGES.index(second)) % len(known)])
    for first, second in itertools.permutations(PAGES, 2)
    if (known := [name for name, design in RELEASES.items() if taken(first, design) and taken(second, design)])
]
"""Every page after every other, with one of the releases that both take; these go round."""


def test_every_page_leads_to_every_other_and_each_takes_every_release_that_it_can():
    assert len(ARRIVALS) == len(PAGES) * (len(PAGES) - 1)
    can = {(page, name) for page in PAGES for name, design in RELEASES.items() if taken(page, design)}
    assert {(second, name) for _, second, name in ARRIVALS} == can
    assert {(first, name) for first, _, name in ARRIVALS} == can


@pytest.mark.parametrize(("first", "second", "name"), ARRIVALS, ids=lambda one: getattr(one, "title", one))
def test_what_two_pages_know_of_a_release_arrives_by_the_navigation(first: PageSpec, second: PageSpec, name: str):
    design = RELEASES[name]
    here = first_of(first, name)
    there = settled(second, before=here)
    assert troubles(there) == []
    agree(shown(first, here), shown(second, there))
    told = "synthesizer" in shown(first, here)  # where the mechanism is not said, Beta-binomial stands for it
    asked = taken_by(second.prefix, design) if told else {}
    assert {key: there.session_state[second.prefix + key] for key in asked} == dict(asked)


def release_line(found: AppTest) -> str:
    """What the line of the reader's release says."""
    (written,) = [one for one in found.get("bidi_component") if one.proto.component_name == "dpviz_address"]
    said: str = json.loads(written.proto.bytes)["release"]
    return said


@pytest.mark.parametrize("page", [page for page in PAGES if not page.home], ids=lambda page: page.title)
def test_every_page_says_which_release_the_reader_carries(page: PageSpec):
    assert release_line(settled(page)) == ""  # nobody has set one
    there = settled(page, before=first_of(START, "Start"))
    assert release_line(there) == "Your release: Beta-binomial, 20 people, 1 set, ε = 2.5"
    there.number_input(key=f"{page.prefix}n").set_value(21).run()
    assert ", 21 people, " in release_line(there)  # in the same run


def test_a_release_of_one_person_is_not_of_people() -> None:
    alone = Design(mechanism="beta_binomial", n=1, m=1, sets=1, epsilon=2.5)
    assert Carried(alone, frozenset()).words == "Beta-binomial, 1 person, 1 set, ε = 2.5"


def links_of(found: AppTest) -> dict[str, dict[str, str]]:
    """The addresses of the links to other pages on a page, by the titles of these."""
    return {
        re.sub(r" →$", "", link.proto.label): dict(parse_qsl(link.proto.query_string))
        for link in found.get("page_link")
    }


@pytest.mark.parametrize("name", RELEASES)
@pytest.mark.parametrize("first", PAGES, ids=[page.title for page in PAGES])
def test_what_two_pages_know_of_a_release_arrives_by_the_links(first: PageSpec, name: str):
    design = RELEASES[name]
    if not taken(first, design):
        pytest.skip("the page does not take the release, and says so")
    here = first_of(first, name)
    for place, (title, words) in enumerate(links_of(here).items()):
        second = next((page for page in PAGES if page.title == title), None)
        if second is None or (place + list(RELEASES).index(name)) % 2:  # each link with every other release
            continue
        there = settled(second, words)  # in another browser: the link alone says it
        assert troubles(there) == []
        if first.prefix not in ("cs_", "bu_", "cu_"):  # these lead on with a release that they have found
            agree(shown(first, here), shown(second, there))


@pytest.mark.parametrize(("people", "epsilon"), [("100", 1.0), ("100", 5.0), ("20", 10.0)])
def test_the_numbers_on_a_card_are_shown_by_the_page_that_it_opens(people: str, epsilon: float):
    here = settled(START, {"home_n": people, "home_epsilon": str(epsilon), "home_seed": "1"})
    found = Overview(here.session_state["home_"].valid.design)
    links = links_of(here)
    for (page, *_), answer in zip(QUESTIONS, overview_answers(found), strict=True):
        there = settled(page, links[page.title])
        words = re.sub(r"<[^>]+>", "", " ".join(html(there)))
        # the guesses, the invented rows with and without δ, the coverage; an interval is in per cent on a card alone
        for number in re.findall(r"\d[\d.,]*\d(?= %)|(?<=weight of )[\d.,]*\d|[\d.,]*\d(?= invented)", plain(answer)):
            share = f"{float(number) / 100:.6g}"
            assert number in words or (page.prefix == "po_" and share in words), (page.title, number)


def plain(answer: str) -> str:
    """An answer without its markup and without what everybody starts from."""
    return re.sub(r"<[^>]+>", "", answer).replace("with probability 95 %", "")


def test_the_secret_table_and_the_seed_of_start_are_drawn_from_on_the_matrices():
    """100 people, ε = 1, seed 1: Start draws 39 of 100 from (25, 75), and so does everybody else."""
    here = settled(START)
    assert Overview(here.session_state["home_"].valid.design).released == 39
    drawn = settled(AT["tm_"], {**links_of(here)["Transition matrices"], "tm_look": "Draw a release",
                               "tm_drawn_releases": "1"})  # fmt: skip
    assert "The secret table is <b>(25, 75)</b>. Release 1: <b>(39, 61)</b>" in " ".join(html(drawn))
    posterior = settled(AT["po_"], before=here)  # by the navigation, where nothing has been touched
    assert posterior.session_state["po_"].valid.question.counts == (39,)
    assert "n = 100" not in problems(posterior) and posterior.session_state["po_x"] == 25


def test_what_came_with_a_release_stays_in_the_address_of_a_page_without_a_control_for_it():
    words = dict(address_words(AT["mp_"].prefix, RELEASES["Start"]))
    found = settled(AT["mp_"], words)
    assert {"mp_x": "7", "mp_seed": "4", "mp_p": "0.35"}.items() <= page_address(found).items()


def test_a_release_that_a_page_does_not_take_stays_on_the_others_and_is_said():
    here = settled(
        AT["cv_"], dict(address_words(AT["cv_"].prefix, Design(mechanism="poisson_count", n=40, alpha=2.5, sets=2)))
    )
    there = settled(AT["bu_"], before=here)
    (sentence,) = problems(there)
    assert "Poisson count releases one set. Choose a method that releases several." in sentence
    back = settled(AT["po_"], before=there)
    assert back.session_state["po_"].valid.design.release == PoissonCount(n=40, alpha=2.5)


@pytest.mark.parametrize("prefix", ["cs_", "bu_"])
def test_fewer_rows_than_people_go_along_to_the_pages_of_methods(prefix: str) -> None:
    words = dict(address_words("cv_", Design(mechanism="beta_binomial", n=40, m=20, epsilon=1.5, sets=2)))
    there = settled(AT[prefix], before=settled(AT["cv_"], words))
    assert problems(there) == []
    asked = there.session_state[prefix].valid
    assert (asked.question.data.n, asked.question.data.m, asked.design.m) == (40, 20, 20)
    back = settled(AT["po_"], before=there)
    assert (back.session_state["po_"].valid.design.n, back.session_state["po_"].valid.design.m) == (40, 20)


@pytest.mark.parametrize("prefix", ["cs_", "bu_"])
def test_a_public_guess_goes_along_to_the_pages_of_methods_where_else_it_is_the_truth(prefix: str) -> None:
    words = dict(
        address_words("cv_", Design.of({"mechanism": "poisson_gamma", "n": 20, "public_share": 0.4, "sets": 2}))
    )
    there = settled(AT[prefix], before=settled(AT["cv_"], words))
    assert problems(there) == []
    assert there.session_state[prefix].valid.question.data.guess == 0.4
    method = {"cs_": "cs_binary_methods", "bu_": "bu_sets_binary_method"}[prefix]
    fresh = settled(AT[prefix], {method: "poisson_gamma", f"{prefix}p": "0.3", f"{prefix}n": "20"})
    assert problems(fresh) == []
    assert fresh.session_state[prefix].valid.question.data.guess == 0.3


def test_a_few_rows_find_a_count_that_fits_them():
    here = settled(AT["cv_"], {"cv_n": "20", "cv_p": "0.25"})
    there = settled(AT["po_"], before=here)  # whose own 30 ones do not fit
    assert problems(there) == [] and there.session_state["po_x"] == 5


@pytest.mark.parametrize(
    ("prefix", "words", "now"),
    [
        ("tm_", {"tm_draw_seed": "7", "tm_n": "9"}, {"tm_seed": 7}),
        ("tm_", {"tm_draw_seed": "7", "tm_seed": "8"}, {"tm_seed": 8}),  # the name of today goes first
        ("tm_", {"tm_n": "60", "tm_secret": "25", "tm_look": "Draw a release"}, {"tm_x": 25}),
        ("tm_", {"tm_n": "9", "tm_secret": "25", "tm_look": "Draw a release"}, {"tm_x": 1}),  # there is no such table
        ("tm_", {"tm_synthesizer": "dirichlet_multinomial", "tm_secret": "4", "tm_look": "Draw a release"},
         {"tm_secret": 4, "tm_x": None}),
        ("mp_", {"mp_proportion": "0.37"}, {"mp_p": 0.37}),
    ],
)  # fmt: skip
def test_addresses_of_earlier_versions_keep_what_they_say(prefix: str, words: dict[str, str], now: dict[str, Any]):
    found = settled(AT[prefix], words)
    assert troubles(found) == []
    assert {key: found.session_state[key] for key in now} == now
    assert all(page_address(found)[key] == str(value) for key, value in now.items() if value not in (1, None))
    if now.get("tm_x") == 25:
        assert links_of(found)["Posterior"]["po_x"] == "25"  # from the first run on


def test_the_first_page_of_a_fresh_server_links_to_every_other_with_its_release() -> None:
    """Of the other pages it has loaded the controls alone, and the rest of them changes no link."""
    script = """
from pages.components.navigation import PAGES, prepare, tune_process
from dpviz.desk.addresses import address_words
from dpviz.designs import Design
tune_process()
made = Design(mechanism="beta_binomial", n=20, epsilon=2.0)
print([page.folder for page in PAGES if not page.home and not address_words(page.prefix, made)])
some = [made, *(Design(mechanism=one, n=30, epsilon=1.0, seed=7, p=0.3) for one in ("geometric", "laplace", "modips"))]
links = lambda: [dict(address_words(page.prefix, one)) for page in PAGES for one in some if not page.home]
before = links()
for page in PAGES:
    prepare(page)
print(before == links())
"""
    assert run_script(script) == "[]\nTrue\n"
