"""What every page keeps: both ends of every slider, edges, refusals, the address, presets, sections, the script."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from importlib import import_module
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dpviz.core.parameters import readable
from dpviz.desk.addresses import SETTINGS
from pages.budget import sections as budget
from pages.components.cached import forget
from pages.components.navigation import EVERY_PAGE
from tests.page_cases import CASES, Case, State, in_turn
from tests.pages import address, check_sound, figures, html, marks, problems, text, whole

STILL = "The page shows the answer for the last settings that are allowed: "


@pytest.fixture(scope="module", autouse=True)
def two_epsilons() -> Iterator[None]:
    """Where every number of sets is tried at many ε, it is at the smallest and the largest; others find none of it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(budget, "EPSILONS", (budget.EPSILONS[0], budget.EPSILONS[-1]))
        yield
    forget()


def of_every(entries: str) -> Any:
    """A test of every page for every entry of one of its lists."""
    found = []
    for page, case in CASES.items():
        listed: Iterable[Any] = getattr(case, entries)
        for place, one in enumerate(listed):
            name = one if isinstance(listed, Mapping) else f"{place}-{one!s:.70}"
            found.append(pytest.param(case, one, id=f"{page}-{name}"))
    return pytest.mark.parametrize(("case", "entry"), found)


every_page = pytest.mark.parametrize("case", CASES.values(), ids=list(CASES))


def opened(case: Case, **state: Any) -> AppTest:
    """A page that answers: no exception, nothing that is no number, no sentence but known ones, its picture."""
    page = case.opened(**state)
    check_shown(case, page)
    return page


def check_shown(case: Case, page: AppTest) -> None:
    whole(page, f"{case.prefix}ranking")  # which on a busy machine has no method yet
    assert not page.exception, page.exception[0].value
    if not (case.picture in figures(page) and not figures(page)[case.picture]["figure"]["data"]):
        check_sound(page)  # a picture that waits for its run has axes alone
    assert case.faults(page) == []
    assert not case.picture or case.picture in figures(page)


def boxes(page: AppTest) -> dict[str, Any]:
    return {str(box.key): box.value for box in page.number_input}


def numbers(case: Case) -> list[str]:
    """The keys of a page's numbers."""
    return [
        key
        for key, one in SETTINGS.items()
        if key.startswith(case.prefix) and isinstance(one.default, int | float) and not isinstance(one.default, bool)
    ]


def start_from(page: AppTest, prefix: str) -> Any:
    """The list of presets, or their buttons."""
    return next(one for one in [*page.selectbox, *page.get("button_group")] if one.key == f"{prefix}preset")


def test_every_page_has_its_case() -> None:
    listed = [one for one in EVERY_PAGE if hasattr(import_module(f"pages.{one.folder}.controls"), "CONTROLS")]
    assert sorted(CASES) == sorted(page.folder for page in listed if not page.home)  # which has tests of its own
    for case in CASES.values():
        shown = {one for _, sections in case.variants.values() for one in sections}
        assert {"Download", "Why, and sources", *case.edged} <= shown


def under_the_same_settings(entries: Callable[[Case], Iterable[tuple[State, Any]]]) -> Any:
    """A test of every page for all entries that ask for the same settings, which are tried on one page."""
    found: dict[tuple[str, str], tuple[Case, State, list[Any]]] = {}
    for page, case in CASES.items():
        for state, one in entries(case):
            found.setdefault((page, repr(state)), (case, state, []))[2].append(one)
    ids = [f"{page}-{state:.70}" for page, state in found]
    return pytest.mark.parametrize(("case", "state", "entries"), found.values(), ids=ids)


def show(page: AppTest, start: dict[str, Any], moved: Collection[str]) -> None:
    """Run the page with every number back where it was, those aside that were moved."""
    for key in start.keys() - moved:
        if page.number_input(key=key).value != start[key]:
            page.number_input(key=key).set_value(start[key])
    page.run()


@under_the_same_settings(lambda case: ((state, name) for name, (*_, state) in case.sliders.items()))
def test_each_slider_moves_its_box_to_both_ends(case: Case, state: State, entries: list[str]) -> None:
    """On one page: each goes to its lower end as the one before goes to its upper end, and then back."""
    page = opened(case, **state)
    start = boxes(page)
    for lower, upper in zip([*entries, None], [None, *entries], strict=True):
        moved = {}
        for end, entry in ((0, lower), (-1, upper)):
            if entry is not None and (entry, end) not in case.slow:  # which a test of the page asks for once
                name, declared, _ = case.sliders[entry]
                low = 0.0 if name == "delta" else declared.slider_minimum or declared.minimum
                high = declared.maximum if declared.slider_maximum is None else declared.slider_maximum
                slider = page.select_slider(key=f"{case.prefix}{name}_slider")
                moved[case.prefix + name] = value = high if end else low
                told = f"{readable(100 * value)} %" if declared.share else readable(value)
                assert slider.options[end].replace("\u00a0", " ") == told, entry
                slider.set_value(value)
        show(page, start, moved.keys())
        check_shown(case, page)
        assert boxes(page) == start | moved, (lower, upper)


@of_every("extremes")
def test_extreme_settings_are_answered(case: Case, entry: State) -> None:
    page = case.opened(**entry)
    if not case.picture:  # every law has settings of the list that it refuses in a sentence
        check_sound(page)
        return
    check_shown(case, page)
    case.further(page)
    check_shown(case, page)


@of_every("extremes_of_sections")
def test_extreme_settings_leave_every_section_sound(case: Case, entry: State) -> None:
    """Each section at some of the edges: two neighbours in their list ask for them all."""
    for section in in_turn(case.edged, case.extremes_of_sections.index(entry), of=2):
        opened(case, look=section, **entry)


@of_every("variants")
def test_every_section_is_shown(case: Case, entry: str) -> None:
    """On one page, one after the other; and once more after what a reader does next."""
    state, sections = case.variants[entry]
    page = opened(case, **state)
    alone = len(text(page))
    for goes_on in (False, True):
        if goes_on:
            case.further(page)
        for section in sections:
            page.session_state[f"{case.prefix}look"] = section
            check_shown(case, page.run())
            assert len(text(page)) > alone, section
            if section == "Download" and not goes_on:
                assert ast.parse(page.code[-1].value).body
                assert not page.get("download_button") or len(page.get("download_button")) >= 2
                check_copied(case, page)
        if not case.goes_on:
            break


@under_the_same_settings(lambda case: ((state, (name, value)) for name, value, state in case.refused))
def test_a_value_that_is_refused_has_one_sentence_and_costs_no_other_setting(
    case: Case, state: State, entries: list[tuple[str, float]]
) -> None:
    """On one page, on which each takes the place of the one before."""
    page = opened(case, **state)
    before, answered = boxes(page), marks(page)
    for name, value in entries:
        page.number_input(key=case.prefix + name).set_value(value)
        show(page, before, {case.prefix + name})
        check_sound(page)
        said = problems(page)
        declared = next(one for one in case.sliders.values() if one[0] == name)[1]
        assert len(said) == 1, (name, value, said)
        assert re.match(rf"{declared.name} (.* )?must be .* got ", said[0]), (name, value, said)
        assert 'role="alert"' in next(part for part in html(page) if "dpviz-problem" in part and "<p" in part)
        assert marks(page) == answered, (name, value)
        assert STILL in text(page) or "The page shows the answer for " in said[0], (name, value)
        assert boxes(page) == before | {case.prefix + name: value}, (name, value)
    show(page, before, set())
    check_shown(case, page)
    assert boxes(page) == before
    assert marks(page) == answered


@every_page
def test_every_number_in_the_address_that_is_none_is_named_and_the_page_is_a_fresh_one(case: Case) -> None:
    written = dict(zip(numbers(case), itertools.cycle(["nan", "1e400", "", "foo", "<b>x</b>"])))
    assert len(written) >= 5
    page, fresh = case.opened(written), case.opened()
    assert not page.exception
    assert marks(page)[:1] == marks(fresh)[:1]
    assert address(page) == address(fresh)
    said = problems(page)
    for key, value in written.items():
        assert sum(f"Ignored an invalid value in the link, {key} = {value}: " in sentence for sentence in said) == 1, (
            key
        )
        assert page.session_state[key] == SETTINGS[key].default


@every_page
def test_every_choice_in_the_address_that_is_none_is_named(case: Case) -> None:
    words = [key for key, one in SETTINGS.items() if key.startswith(case.prefix) and not one.typed]
    written = dict(zip(words, itertools.cycle(["no such word", "<b>x</b>", "x" * 400])))
    assert len(written) >= 3
    page = case.opened(written)
    check_sound(page)
    said = problems(page)
    assert all(len(sentence) < 500 for sentence in said)
    for key, value in written.items():
        cut = value if len(value) <= 40 else f"{value[:40]} …"
        assert sum(f"Ignored an invalid value in the link, {key} = {cut}: " in one for one in said) == 1, key


def check_copied(case: Case, page: AppTest) -> None:
    """The address of a page, copied, shows the same page, once nothing grows there any more."""
    page, copied = ended(case, page), ended(case, case.opened(address(page)))
    assert address(copied) == address(page)
    assert boxes(copied) == boxes(page)
    assert html(copied) == html(page)
    assert copied.code[-1].value == page.code[-1].value


@pytest.mark.parametrize("folder", ["compare_synthesizers", "budget", "curator"])
def test_every_scenario_of_the_papers_is_taken_by_its_controls(folder: str) -> None:
    """Of these pages `presets` of the case has but a few of them."""
    case = CASES[folder]
    for name, values in import_module(f"pages.{folder}.controls").PRESETS.items():
        for key, value in values.items():
            setting = SETTINGS[case.prefix + key]
            assert setting.read(setting.write(value)) == value, (name, key)


@of_every("presets")
def test_a_preset_sets_its_case_and_stays_marked(case: Case, entry: str) -> None:
    page = case.opened(**case.disturbed)
    start_from(page, case.prefix).set_value(entry).run()
    check_shown(case, page)
    wanted = case.presets[entry]
    assert {key: page.session_state[case.prefix + key] for key in wanted} == wanted
    linked = f"{case.prefix}m_is_n"
    assert linked not in SETTINGS or page.session_state[linked] is True
    assert page.session_state[f"{case.prefix}preset"] == entry
    page.number_input(key=f"{case.prefix}epsilon").set_value(1.75).run()
    assert page.session_state[f"{case.prefix}preset"] is None


@pytest.mark.parametrize(
    ("page", "state", "mend"),
    [
        ("minimum_priors", {"n": 0}, "mp_n"),
        ("minimum_priors", {"family": "Gaussian", "n": 40, "sigma": -1.0}, "mp_sigma"),
        ("coverage", {"synthesizer": "laplace", "m_is_n": False, "n": 30, "m": 7}, "cv_m_is_n"),
        ("coverage", {"n": 3, "sets": 501}, "cv_sets"),
        ("posterior", {"synthesizer": "geometric", "m_is_n": False, "n": 30, "x": 9, "m": 7}, "po_m_is_n"),
        ("posterior", {"n": 20, "x": 30}, "po_x"),
        ("posterior", {"synthesizer": "given_matrix", "matrix_x": 4}, "po_matrix_x"),
        ("compare_synthesizers", {"n": 3000, "repetitions": 100}, "cs_n"),
    ],
    ids=str,
)
def test_a_refused_setting_can_be_mended_by_its_button(page: str, state: State, mend: str) -> None:
    refused = CASES[page].opened(**state)
    assert len(problems(refused)) == 1
    refused.button(key=f"mend_{mend}").click().run()
    check_shown(CASES[page], refused)


@pytest.mark.parametrize("case", [one for one in CASES.values() if one.spec.file.with_name("notes.md").exists()])
def test_every_note_beside_a_page_is_shown_and_no_other_is_asked_for(case: Case) -> None:
    heads = re.findall(r"^## (\w+)$", case.spec.text("notes"), re.MULTILINE)
    source = "".join(path.read_text() for path in case.spec.file.parent.glob("*.py"))
    assert len(set(heads)) == len(heads)
    assert all(re.search(rf"[\"']{head}[\"']", source) for head in heads)
    assert set(re.findall(r"\.note\(\s*[\"'](\w+)[\"']", source)) <= set(heads)


SLIDER = "select_slider"
CONTROLS = (SLIDER, "selectbox", "radio", "toggle", "button_group", "text_input", "multiselect")


def controls(block: Any, shut: bool = False) -> Iterator[tuple[str, str, bool]]:
    """The controls in a part of a page, in order: kind, label without its hint, whether it is under "More"."""
    for one in block.children.values():
        if hasattr(one, "children"):
            yield from controls(one, shut or one.type == "expander")
        elif one.type in CONTROLS:
            yield one.type, one.label.partition(" · ")[0], shut


SHARED = [
    "Start from", "Synthesizer", "Promised privacy loss ε", "Allowed failure δ", "Invented rows with yes α", "People n",
    "Released sets M", "True share p", "m = n: as many released rows", "Released rows m",
    "Level of the interval", "Seed",
]  # fmt: skip
"""Controls of more than one page, in their order."""


def test_controls_that_pages_share_have_the_same_names_in_the_same_order() -> None:
    shown: dict[str, int] = {}
    for case in CASES.values():
        for state in ({}, {"prior": "own", "m_is_n": False}, {"prior": "exact"}):
            page = case.opened(**{key: one for key, one in state.items() if case.prefix + key in SETTINGS})
            labels = [label for _, label, _ in controls(page.main)]
            mine = [one for one in SHARED if one in labels]
            assert [one for one in labels if one in SHARED] == mine, case.prefix
            for one in mine if not state else ():
                shown[one] = shown.get(one, 0) + 1
    assert {one for one, pages in shown.items() if pages > 1} >= {*SHARED} - {
        "Invented rows with yes α",
        "Released rows m",
    }


def test_in_class_mode_presets_and_two_numbers_are_in_sight_and_the_rest_is_one_click_away() -> None:
    for case in CASES.values():
        usual, classroom = (list(controls(case.opened(address).main)) for address in ({}, {"class": "1"}))
        assert sorted(label for _, label, _ in usual) == sorted(label for _, label, _ in classroom)
        sliders = [label for kind, label, shut in classroom if kind == SLIDER and not shut]
        asked = case is CASES["curator"]  # how many people come before how private, and how far off after it
        assert sliders[asked].endswith("privacy loss ε")  # what the arrow keys move before any slider was touched
        assert len(sliders) == 2 + asked
        assert any((kind, "Start from", False) in classroom for kind in ("button_group", "selectbox"))


PLACES = "growing", "smallest", "lengths", "spent", "designs", "relaxed", "answer"
"""Where the pages keep what grows, by the names on the page."""


def ended(case: Case, page: AppTest) -> AppTest:
    """A page on which nothing grows any more."""
    return whole(page, *(f"{case.prefix}{place}" for place in PLACES))


@every_page
def test_what_is_folded_under_more_counts_as_if_it_were_in_sight(case: Case) -> None:
    state = {"n": 30, "m_is_n": False, "m": 20} | case.fewer_rows
    page, folded = (ended(case, case.opened(more=more, **state)) for more in (True, False))
    assert len(list(controls(folded.main))) < len(list(controls(page.main)))
    assert f"{case.prefix}m" not in boxes(folded)
    assert (html(folded), address(folded)) == (html(page), address(page))
    if f"{case.prefix}m" not in SETTINGS:
        return
    ended(case, page.number_input(key=f"{case.prefix}m").set_value(29).run())
    said = html(page), address(page)
    assert address(page)[f"{case.prefix}m"] == "29"
    for more in (False, True):
        page.session_state["more"] = more
        ended(case, page.run())
        assert (html(page), address(page)) == said
    assert boxes(page)[f"{case.prefix}m"] == 29
