"""The page "Posterior": its numbers are those of an independent sum, and whatever is set, it answers in sentences."""

from __future__ import annotations

import functools
import math
import re
from html import unescape
from typing import Any

import numpy as np
import pytest
from scipy.special import betaincinv
from scipy.stats import beta as beta_law
from streamlit.testing.v1 import AppTest

from dpviz.core.parameters import readable
from dpviz.desk.analyst import NAMES, share
from tests.mixtures import Law, referee
from tests.pages import check_sound, figures, html, marks, open_posterior, problems, table_called, table_rows, text


def shown_laws(page: AppTest) -> dict[str, list[str]]:
    """Mean, standard deviation and interval of each law, by its key, and its region where that is opened."""
    rows = table_rows(table_called(page, "Posteriors of p"))
    assert set(rows) == set(NAMES.values())
    found = {key: rows[name] for key, name in NAMES.items()}
    for regions in [part for part in html(page) if "Regions of highest density" in part]:
        found = {key: [*row, *table_rows(regions)[NAMES[key]]] for key, row in found.items()}
    return found


def sentence_of(page: AppTest) -> str:
    """The answer with its tags left out."""
    return unescape(re.sub(r"<[^>]+>", "", next(part for part in html(page) if "dpviz-answer" in part)))


def released(page: AppTest) -> tuple[int, ...]:
    """The synthetic counts, as the page lists them."""
    found = re.search(r"The counts are ([\d, ]+), (?:drawn|typed)", text(page))
    assert found is not None
    return tuple(int(word) for word in found[1].split(","))


def spread(ends: tuple[float, float], digits: int = 4) -> str:
    return f"{share(ends[0], digits)} to {share(ends[1], digits)}"


def button_group(page: AppTest, name: str) -> Any:
    return next(group for group in page.get("button_group") if group.key == f"po_{name}")


def check_answered(page: AppTest) -> None:
    check_sound(page)
    assert not problems(page)
    assert "po_picture" in figures(page)


CASES: list[dict[str, Any]] = [
    {"counts": (38,), "n": 100, "m": 100, "alpha": 15.0, "x": 30},
    {"counts": (43, 50, 41, 37, 45), "n": 100, "m": 100, "alpha": 203.3, "x": 30, "gamma1": 0.5, "gamma2": 2.0},
    {"counts": (3, 0, 9), "n": 17, "m": 9, "alpha": 0.37, "x": 5, "gamma1": 3.0, "level": 0.8},
    {"counts": (0,), "n": 12, "m": 30, "alpha": 2.0, "x": 0},
    {"counts": (1,) * 20, "n": 1, "m": 1, "alpha": 1.5, "x": 1},
    {"counts": (700, 650), "n": 1000, "m": 1000, "alpha": 80.0, "x": 750, "level": 0.99},
    {"counts": (38,), "n": 100, "m": 100, "alpha": 1e-12, "x": 30, "level": 0.5},
    {"counts": (38, 61), "n": 40, "m": 100, "alpha": 1e12, "x": 30, "gamma1": 2.0, "gamma2": 5.0},
    {"counts": (1197,), "n": 10_000, "m": 10_000, "alpha": 1565.0, "x": 30},
    {"counts": (4,), "n": 5, "m": 5, "alpha": 0.25, "x": 4, "gamma1": 0.5},
]


def open_case(case: dict[str, Any]) -> AppTest:
    """The page with the counts typed in; opened once, for reading."""
    return open_once(**case | {"counts": ", ".join(map(str, case["counts"]))})


@functools.cache
def open_once(**state: Any) -> AppTest:
    return open_posterior(source="typed", prior="own", m_is_n=False, **{"look": "What to compute", **state})


def distributions_of(case: dict[str, Any]) -> dict[str, Law]:
    return referee(
        case["counts"], case["n"], case["m"], case["alpha"], case.get("gamma1", 1.0), case.get("gamma2", 1.0), case["x"]
    )


every_case = pytest.mark.parametrize("case", CASES, ids=lambda case: str(case)[:70])
LISTED = [CASES[place] for place in (0, 1, 2, 3, 6, 7, 9)]
"""Those whose density is soon looked at everywhere."""


@every_case
def test_the_table_and_the_answer_are_those_of_the_written_out_mixture(case: dict[str, Any]) -> None:
    page = open_case(case)
    check_answered(page)
    laws, level, truth = distributions_of(case), case.get("level", 0.95), case["x"] / case["n"]
    for key, law in laws.items():
        mean, deviation, tails, densest = shown_laws(page)[key]
        assert (mean, deviation) == (share(law.mean, 5), readable(100 * law.deviation, 4)), key
        assert tails == spread(law.tails(level)), key
        if case in LISTED:
            assert densest == " and ".join(spread(piece) for piece in law.densest(level)), key
    exact, naive = laws["exact"], laws["naive"]
    assert marks(page) == [f"{readable(100 * exact.mean, 3)} ± {readable(100 * exact.deviation, 2)} %"]
    assert released(page) == case["counts"]
    said, (low, high) = sentence_of(page), map(share, exact.tails(level))
    assert f"between {low} and {high} with {readable(100 * level)} %" in said
    assert f"{readable(exact.deviation / laws['known'].deviation, 3)} times" in said
    start, end = naive.tails(level)
    verb = "holds" if start <= truth <= end else "misses"
    assert f"{share(start)} to {share(end)}, which {verb} the secret share, {share(truth)}." in said


def test_densities_of_the_picture_are_those_of_the_table() -> None:
    case = CASES[1]
    traces = figures(open_case(case))["po_picture"]["figure"]["data"]
    for key, law in distributions_of(case).items():
        (trace,) = [one for one in traces if one.get("name") == NAMES[key]]
        kept = [place for place in range(0, len(trace["x"]), 37) if 0 < trace["x"][place] < 1]
        ours = beta_law.pdf(np.array(trace["x"])[kept][:, None], law.a, law.b) @ law.w
        assert np.array(trace["y"])[kept] == pytest.approx(ours, rel=1e-9, abs=1e-280)


TWO_MODES = {"counts": (0, 5, 0, 5), "n": 5, "m": 5, "alpha": 0.25, "x": 2, "gamma1": 0.6, "gamma2": 1.0}


@pytest.mark.parametrize("level", [0.5, 0.8, 0.95])
def test_a_posterior_with_two_modes_lists_both_pieces_and_draws_the_interval_of_the_sentence(level: float) -> None:
    case = TWO_MODES | {"level": level}
    pieces = distributions_of(TWO_MODES)["exact"].densest(level)
    assert len(pieces) == 2
    page = open_case(case)
    assert shown_laws(page)["exact"][3] == " and ".join(spread(piece) for piece in pieces)
    bars = [trace for trace in figures(page)["po_picture"]["figure"]["data"] if trace["y"][0] < 0]
    ends = [tuple(bar["x"]) for bar in bars if bar["legendgroup"] == "exact"]
    tails = distributions_of(TWO_MODES)["exact"].tails(level)  # the bar is the interval of the sentence
    assert ends == [pytest.approx(tails, abs=1e-9)]


@pytest.mark.parametrize("gamma", [0.1, 0.5])
def test_a_release_that_says_nothing_leaves_the_analysts_own_prior(gamma: float) -> None:
    case = {"counts": (50, 3), "n": 100, "m": 100, "alpha": 1e12, "x": 30, "level": 0.5}
    page = open_case(case | {"gamma1": gamma, "gamma2": gamma})
    check_answered(page)
    low = float(betaincinv(gamma, gamma, 0.25))
    deviation = readable(50 / math.sqrt(2 * gamma + 1), 4)
    ends = [spread((low, 1 - low)), f"{spread((0.0, low))} and {spread((1 - low, 1.0))}"]
    assert shown_laws(page)["exact"] == ["50 %", deviation, *ends]


def test_zero_and_all_ones_pull_a_posterior_to_the_middle() -> None:
    """Two contradicting sets: x in the middle explains both better than either end explains the other."""
    case = {"counts": (0, 100), "n": 100, "m": 100, "alpha": 0.01, "x": 30}
    exact = distributions_of(case)["exact"]
    assert len(exact.densest(0.95)) == 1
    assert shown_laws(open_case(case))["exact"] == [
        "50 %",
        readable(100 * exact.deviation, 4),
        *[spread(exact.tails(0.95))] * 2,
    ]


# Controls.


def test_the_first_answer_is_charests_design() -> None:
    page = open_posterior()
    check_answered(page)
    exact = referee(released(page), 100, 100, 100 / math.expm1(2), 1.0, 1.0, 30)["exact"]
    assert shown_laws(page)["exact"][:3] == [
        share(exact.mean, 5), readable(100 * exact.deviation, 4), spread(exact.tails(0.95))
    ]  # fmt: skip
    assert "drawn with seed 1 from x = 30" in text(page)
    assert set(figures(page)) == {"po_picture"}


def test_counts_that_are_none_have_one_sentence_and_cost_no_other_setting() -> None:
    page = open_posterior(
        source="typed", counts="31", n=100, epsilon=1.25, gamma1=3.0, look="If n is secret", around=False, low=60
    )
    before, shown = {box.key: box.value for box in page.number_input}, shown_laws(page)
    for typed in ("", "150", "<b>1</b>"):
        page.text_input(key="po_counts").set_value(typed).run()
        check_sound(page)
        (sentence,) = problems(page)
        assert sentence.startswith("The synthetic counts must be ")
        assert shown_laws(page) == shown  # the last answer stays
    page.text_input(key="po_counts").set_value("31").run()
    check_answered(page)
    assert shown_laws(page) == shown
    assert {box.key: box.value for box in page.number_input} == before
    page.text_input(key="po_counts").set_value("150").run()
    page.toggle(key="po_m_is_n").set_value(False).run()
    page.number_input(key="po_m").set_value(150).run()
    check_answered(page)
    assert released(page) == (150,)
    (said,) = problems(open_posterior({"po_source": "typed", "po_counts": "<b>"}))
    assert said.startswith("The synthetic counts must be ")


def test_settings_survive_the_other_source() -> None:
    page = open_posterior(sets=4, seed=7)
    drawn = shown_laws(page)
    for source, counts in (("typed", "3, 4"), ("drawn", None), ("typed", None), ("drawn", None)):
        button_group(page, "source").set_value(source).run()
        if counts:
            page.text_input(key="po_counts").set_value(counts).run()
        check_answered(page)
        assert released(page) == (3, 4) if source == "typed" else shown_laws(page) == drawn


def test_the_slider_of_the_confidential_ones_ends_at_the_rows() -> None:
    page = open_posterior(x=2)
    for n in (7, 100, 3000, 1):
        page.session_state["po_n"] = n
        page.run()
        assert n == 1 or page.select_slider(key="po_x_slider").options[-1] == readable(n)
    check_sound(page)
    (sentence,) = problems(page)
    assert sentence.startswith("x (who say yes) must be at most n = 1")


def test_choices_inside_a_section_survive_another_section_and_a_refusal() -> None:
    page = open_posterior(n=24, x=7, epsilon=3.0)
    for section, name, wanted in (
        ("If n is secret", "size_prior", "around a guess"),
        ("Its own coverage", "kind", "highest density"),
    ):
        button_group(page, "look").set_value(section).run()
        button_group(page, name).set_value(wanted).run()
        button_group(page, "look").set_value("What was x?").run()
        button_group(page, "look").set_value(section).run()
        assert page.session_state[f"po_{name}"] == wanted
        page.number_input(key="po_epsilon").set_value(0.0).run()
        page.number_input(key="po_epsilon").set_value(3.0).run()
        assert page.session_state[f"po_{name}"] == wanted


def test_several_bad_words_are_named_one_by_one_until_they_are_chosen() -> None:
    bad = {"po_look": "x", "po_source": "y", "po_prior": "z", "po_epsilon": "foo"}
    page = open_posterior(bad)
    said = problems(page)
    assert len(said) == 4
    for key, value in bad.items():
        assert sum(f"Ignored an invalid value in the link, {key} = {value}: " in sentence for sentence in said) == 1
    page.number_input(key="po_epsilon").set_value(1.5).run()
    button_group(page, "source").set_value("typed").run()
    page.radio(key="po_prior").set_value("own").run()
    check_answered(page)


def test_what_the_address_says_is_taken() -> None:
    page = open_posterior(
        {
            "po_source": "typed", "po_counts": "3, 9", "po_n": "40", "po_m": "30", "po_m_is_n": "false", "po_x": "12",
            "po_prior": "own", "po_alpha": "2.5", "po_gamma1": "0.5", "po_gamma2": "3", "po_level": "0.8",
            "po_look": "If n is secret", "po_around": "false", "po_low": "20", "po_high": "70", "po_knows": "true",
        }
    )  # fmt: skip
    check_answered(page)
    law = referee((3, 9), 40, 30, 2.5, 0.5, 3.0, 12)["exact"]
    assert shown_laws(page)["exact"][:3] == [
        share(law.mean, 5), readable(100 * law.deviation, 4), spread(law.tails(0.8))
    ]  # fmt: skip
    assert "that n lies between 20 and 70" in text(page)
