"""Start: its sentence and drawing, what it makes the reader's release, and what it takes of another one."""

from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dpviz.comparisons.overview import Overview, overview_texts
from pages.start import METHODS
from tests.pages import apptest
from tests.pages.apptest import links, move, open_page, opener, plain_text, press, problems, settings, visit
from tests.pairs import pairwise

open_start = opener("start")
STAYS = "Your release stays on the other pages."


def drawing(app: AppTest) -> dict[str, Any]:
    """What was sent to the browser for the drawing."""
    data: dict[str, Any] = apptest.component_data(app, "dpviz_drawing")["home_drawing"]
    return data


def draw(app: AppTest) -> AppTest:
    """Press the button that draws the next table."""
    return press(app, "home_go")


@pytest.mark.parametrize(
    ("values", "guesses", "intervals"),
    [
        ({}, "51.6 %", "25.3 %"),
        ({"epsilon": 10}, "53.3 %", "82.9 %"),
        ({"n": 20, "epsilon": 2, "seed": 3}, "55.8 %", "80.7 %"),
        ({"n": 1000, "method": "geometric"}, "73.1 %", "100 %"),
        ({"n": 20, "method": "best", "epsilon": 10}, "99.995 %", "100 %"),
    ],
)
def test_the_answer_compares_guesses_and_intervals_with_what_was_expected(values, guesses, intervals) -> None:
    app = open_start(**values)
    sentence = apptest.answer(app).replace("  ", " ")
    assert sentence.endswith(
        f"The best guess about the ringed person is right {guesses} of the time, instead of 50 %. An analyst who takes "
        f"the table for real data is right in {intervals} of all releases of this secret table and expects at least "
        "95 %."
    )
    assert drawing(app)["texts"]["average"] == guesses


def test_in_class_mode_the_drawing_has_a_legend() -> None:
    assert 'class="legend"' in drawing(open_start(is_large=True))["html"]


@pytest.mark.parametrize(("method", "epsilon", "n"), pairwise([*METHODS], [0.01, 1.0, 20.0], [20, 100, 1000]))
def test_the_drawing_shows_what_is_computed(method: str, epsilon: float, n: int) -> None:
    app = open_start(epsilon=epsilon, n=n, method=method)
    is_best = method == "best"
    overview = Overview.of("geometric" if is_best else method, n, epsilon, 1, best=is_best)
    data = drawing(app)
    assert data["texts"] == overview_texts(overview).texts
    assert data["numbers"] == pytest.approx(overview_texts(overview).places)
    assert data["dots"] == {"secret": n // 4, "released": round(overview.released)}
    assert data["paths"]["possible"].count("h0") == 100
    people, rows = data["html"].split('data-dots="secret"')[1].split('data-dots="released"')
    assert people.count('<i class="person"></i>') == 1
    assert (people.count("<i></i>"), rows.split("</div>")[0].count("<i></i>")) == (n - 1, n)
    assert not problems(app)


def test_six_questions_have_answers_and_links_that_open_with_the_release() -> None:
    app = open_start(epsilon=2, n=20, seed=5)
    text = plain_text(apptest.markup(app)).replace("  ", " ")
    overview = Overview.of("beta_binomial", 20, 2.0, 5)
    for sentence in overview_texts(overview).answers:
        assert plain_text(sentence).replace("  ", " ") in text
    queries = links(app)
    assert not queries.pop("Lessons")  # they are the first card
    assert list(queries) == [
        "Transition matrices", "Minimum priors", "Coverage", "Posterior", "Compare synthesizers", "Curator's desk",
    ]  # fmt: skip
    for query in queries.values():
        values = {name.partition("_")[2]: text for name, text in query.items()}
        said = {"n": "20", "epsilon": "2", "p": "0.25", "x": "5", "seed": "5", "sets": "1"}
        assert values.items() >= (said | {"synthesizer": "beta_binomial"}).items()
    assert queries["Minimum priors"]["mp_delta"] == "1e-06"
    assert queries["Coverage"]["cv_rules"] == "as_if_real"
    compare = {"cs_measure": "release_error", "cs_binary_methods": "beta_binomial.modips.geometric"}
    assert queries["Compare synthesizers"].items() >= compare.items()


def test_the_card_of_coverage_says_whose_releases_it_counts_and_whose_the_page() -> None:
    answer = overview_texts(Overview.of("beta_binomial", 100, 1.0, 1)).answers[2]
    assert "the share of this secret table in <b>25.3 %</b> of its releases." in answer
    assert answer.endswith("The page Coverage draws the people anew as well.")


def test_the_url_brings_the_drawing_back_and_the_next_table_is_another_one() -> None:
    app = open_start(epsilon=2, n=20, seed=5)
    again = open_page("start", **settings(app))
    assert drawing(again) == drawing(app)
    assert settings(draw(again))["home_seed"] == "6" and drawing(again)["texts"] != drawing(app)["texts"]


def test_the_app_begins_with_the_release_of_start() -> None:
    app = open_start()
    release = app.session_state["visit"].release
    shown = {"synthesizer": "beta_binomial", "n": 100, "sets": 1, "epsilon": 1.0, "x": 25, "seed": 1, "prior": "pure"}
    assert release.items() >= shown.items()
    visit(app, "posterior")
    assert (app.session_state["po_x"], app.session_state["po_epsilon"]) == (25, 1.0)


def test_the_people_who_say_yes_follow_the_number_of_people() -> None:
    app = open_start(x=40)
    assert drawing(app)["texts"]["yes"] == "40"
    assert drawing(move(app, home_n=1000))["texts"]["yes"] == settings(app)["home_x"] == "400"
    visit(app, "start", home_n=20)  # a step back, or a link that does not say who said yes
    assert drawing(app)["texts"]["yes"] == "8"
    app = move(open_start(), home_n=20)
    assert (drawing(app)["texts"]["yes"], settings(app)) == ("5", {"home_n": "20"})
    assert drawing(open_start(p=0.5))["texts"]["yes"] == "50"
    assert drawing(open_start(p=0.001))["texts"]["yes"] == "1"  # the ringed person


def test_a_release_that_start_does_not_show_is_named_and_its_size_is_fitted() -> None:
    app = visit(open_page("posterior", po_n=500, po_x=100, po_sets=5), "start")
    said = drawing(app)["texts"]
    assert (said["people"], said["yes"]) == ("1,000", "200")
    assert STAYS in " ".join(apptest.texts(app))
    move(app, home_n=100)  # from now on it is the reader's release
    assert STAYS not in " ".join(apptest.texts(app))
    release = app.session_state["visit"].release
    assert (release["n"], release["sets"], release["m_is_n"]) == (100, 1, True)


def test_a_release_by_geometric_noise_is_taken_and_the_best_possible_stays() -> None:
    app = open_start(method="best")
    line = "Your release: Geometric sanitizer, 100 people, 1 set, ε = 1. This page shows its best reading."
    assert line in " ".join(apptest.texts(app))
    visit(visit(app, "coverage", cv_synthesizer="geometric", cv_epsilon=3, cv_sets=1), "start")
    assert (app.session_state["home_method"], app.session_state["home_epsilon"]) == ("best", 3.0)
    visit(visit(app, "coverage", cv_synthesizer="beta_binomial", cv_epsilon=3, cv_sets=1), "start")
    assert app.session_state["home_method"] == "beta_binomial"
    assert STAYS not in " ".join(apptest.texts(app))


def test_more_who_say_yes_than_people_are_lowered_with_a_sentence() -> None:
    app = open_start(x=50, n=20)
    assert problems(app) == ["x was lowered to 20: the other settings allow no more."]
    assert drawing(app)["texts"]["yes"] == "20"
    assert settings(app)["home_x"] == "50" and settings(draw(app))["home_x"] == "20"  # a link stands until then
