"""One release on all pages: a number that several of them tell is the same on each."""

import re

import pytest
from streamlit.testing.v1 import AppTest

from tests.pages.apptest import cells_of, component_data, links, open_page, said, visit
from tests.pages.test_lessons import open_lesson, words

QUERY = {"home_epsilon": 1, "home_seed": 3}
"""A Beta-binomial release of 100 people with ε = 1, 25 of whom said yes."""


@pytest.fixture(scope="module")
def start() -> AppTest:
    return open_page("start", **QUERY)


def follow(start: AppTest, title: str, module: str) -> AppTest:
    """Open the page behind a link of Start in a session of its own."""
    return visit(open_page("start", **QUERY), module, **links(start)[title])


def numbers(text: str, pattern: str) -> tuple[str, ...]:
    """The parts of the only place at which a text has a pattern, in which a blank stands for any white space."""
    places = re.findall(pattern.replace(" ", r"\s+"), " ".join(text.split()))
    assert len(set(places)) == 1, (pattern, places, text)
    return places[0] if isinstance(places[0], tuple) else (places[0],)


def drawing(start: AppTest) -> dict[str, str]:
    """Texts of the drawing on Start."""
    texts: dict[str, str] = component_data(start, "dpviz_drawing")["home_drawing"]["texts"]
    return texts


def test_the_guess_is_the_same_in_headline_drawing_and_class_mode_and_the_worst_on_transition_matrices(start) -> None:
    (headline,) = numbers(said(start), "guess about the ringed person is right (\\S+ %) of the time, instead of")
    average, worst = numbers(said(start), "After it, (\\S+ %) of the guesses .* are right, and (\\S+ %) about the most")
    in_class = open_page("start", **QUERY, **{"class": 1})
    assert numbers(said(in_class), "The attacker is right (\\S+ %) of the time, the") == (headline,)
    assert (drawing(start)["average"], drawing(in_class)["average"], average) == (headline,) * 3
    assert headline == "51.6 %"
    matrices = follow(start, "Transition matrices", "transition_matrices")
    assert numbers(said(matrices), "best guess from the release is right (\\S+ %) of the time") == (worst,)
    allowed = numbers(said(matrices), "the promise would allow (\\S+ %)")
    assert allowed == numbers(said(start), "ε = 1 would allow (\\S+ %)") == (drawing(start)["allowed"],)


def test_the_invented_rows_are_those_of_minimum_priors_and_lesson_3(start: AppTest) -> None:
    rows, fewer = numbers(said(start), "must mix in (\\S+) invented rows .* δ = 10⁻⁶, (\\S+) invented rows are enough")
    assert numbers(drawing(start)["adds"], "at least (\\S+) invented rows") == (rows,)
    priors = follow(start, "Minimum priors", "minimum_priors")
    assert numbers(said(priors), "The answer (\\S+) → (\\S+) invented rows") == (rows, fewer) == ("117", "15.7")
    lesson = open_lesson("invented_rows", 4, **{"try": 100})
    said_there = numbers(words(lesson), "100 people</b>: (\\S+) invented rows without δ, (\\S+) with δ")
    assert said_there == (rows, fewer)


def test_intervals_that_hold_the_truth_are_as_many_on_coverage(start: AppTest) -> None:
    (share,) = numbers(
        said(start), "is right in (\\S+ %) of all releases of this secret table and expects at least 95 %"
    )
    coverage = said(follow(start, "Coverage", "coverage"))
    assert numbers(coverage, "holds its share of 25 % in (\\S+ %) of all releases") == (share,) == ("25.3 %",)


def test_both_analysts_find_the_same_intervals_on_posterior(start: AppTest) -> None:
    posterior = said(follow(start, "Posterior", "posterior"))
    told = numbers(said(start), "the share of yes lies between (\\S+ %) and (\\S+ %) with probability 95 %")
    assert numbers(posterior, "the share of yes lies between (\\S+ %) and (\\S+ %) with 95 % probability") == told
    naive = drawing(start)["low"], drawing(start)["high"]
    assert numbers(posterior, "by the usual formula it is (\\S+ %) to (\\S+ %)\\.") == naive == ("21 %", "39 %")


def test_the_error_is_told_in_points_and_is_that_of_compare_budget_and_lessons_6_and_7(start: AppTest) -> None:
    error, best = numbers(said(start), "typically off by (\\S+) percentage points\\. .* with ε = 1 is off by (\\S+) :")
    (times,) = numbers(said(start), "Its error is (\\S+) times the smallest possible")
    floor = words(open_lesson("best", 1, guess1=1))
    assert numbers(floor, "share of yes is typically off by (\\S+) points") == (error,) == ("16.7",)
    assert numbers(floor, "More: (\\S+) times\\. The best possible mechanism is off by (\\S+) points") == (times, best)
    # All secret tables alike, and with a true share of 25 %
    compared = follow(start, "Compare synthesizers", "compare_synthesizers")
    beta = cells_of(compared, "The methods in order")["Beta-binomial (posterior draw)"]
    assert (f"{float(beta[-2]):.3g}", beta[-1]) == (error, times)
    sets = words(open_lesson("one_or_ten", 2, guess2=1))
    (divided,) = numbers(sets, "Its error is (\\S+) points")
    assert f"{float(beta[0]):.3g}" == divided == "14.8"
    budget = visit(open_page("start", **QUERY), "budget")
    assert numbers(said(budget), "is typically off by (\\S+) points \\(root") == (divided,)


def test_modips_has_the_same_prior_in_the_lessons_and_on_compare_and_budget(start: AppTest) -> None:
    compared = follow(start, "Compare synthesizers", "compare_synthesizers")
    rows = cells_of(compared, "The methods in order")
    order = words(open_lesson("best", 2, guess2="geometric.modips.beta_binomial"))
    (error,) = numbers(order, "points, modips by (\\S+), the")
    assert error == "5.9"  # to three digits
    assert float(rows["Modips (boundary-inflated)"][-2]) == pytest.approx(5.9, abs=0.0051)
    lesson = words(open_lesson("one_or_ten", 1, guess1=5))
    sets, divided = numbers(lesson, "Yes: (\\S+) tables have the smallest error, (\\S+) points")
    budget = said(open_page("budget", bu_synthesizer="modips", bu_epsilon=1))
    assert numbers(budget, "smallest with (\\S+) sets : .* is typically off by (\\S+) points") == (sets, divided)
    assert divided == "5.93"


def test_the_released_table_is_the_same_on_transition_matrices_and_posterior(start: AppTest) -> None:
    counts = drawing(start)["drawn_yes"], drawing(start)["drawn_no"]
    matrices = follow(start, "Transition matrices", "transition_matrices")
    assert numbers(said(matrices), "the released table \\((\\d+), (\\d+)\\)") == counts == ("30", "70")
    posterior = follow(start, "Posterior", "posterior")
    assert numbers(said(posterior), "From (\\d+) yes in a released table of 100 rows at ε = 1") == counts[:1]


def test_the_error_is_the_same_beside_the_best_mechanism_on_transition_matrices(start: AppTest) -> None:
    error, best = numbers(said(start), "typically off by (\\S+) percentage points\\. .* with ε = 1 is off by (\\S+) :")
    times = numbers(said(start), "Its error is (\\S+) times the smallest possible")
    link = {**links(start)["Transition matrices"], "tm_look": "Is there a better mechanism?"}
    matrices = said(visit(open_page("start", **QUERY), "transition_matrices", **link))
    assert numbers(matrices, "typically off by (\\S+) points .* the same ε, 1, is off by (\\S+) points") == (
        error,
        best,
    )
    assert numbers(matrices, "the release has (\\S+) times the smallest possible error") == times == ("12.5",)
