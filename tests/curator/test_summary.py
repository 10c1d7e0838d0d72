"""The curator's desk: its sentence, table, files and offers say what the search finds."""

import csv
import io
import math
import re
from functools import cache

import pytest

from dpviz.comparisons import UnknownVariance
from dpviz.core.formatting import format_number
from dpviz.core.monte_carlo import Measure
from dpviz.curator.measures import ACCURACY_MEASURES, AccuracyLimit
from dpviz.curator.pilot import Suggestion, suggest_settings
from dpviz.curator.privacy_limits import EpsilonDeltaLimit, GuessingLimit, PrivacyLimit
from dpviz.curator.report import designs_csv, search_script
from dpviz.curator.search import Relaxation, SearchResult, evaluate_designs
from dpviz.curator.summary import ranking_table, relaxation_sentence, relaxed_epsilon, relaxed_limits, rounded_limit
from dpviz.uploads.columns import read_columns
from tests.curator.questions import answered, asking
from tests.helpers import ROUNDING, WRONG, run_script, value_of
from tests.helpers import desk_answer as summarize

LIMITS = {
    "error": (AccuracyLimit("root_mean_squared_error", 0.12),),
    "both": (AccuracyLimit("root_mean_squared_error", 0.12), AccuracyLimit("coverage", 0.8)),
    "strict": (AccuracyLimit("bias", 1e-4), AccuracyLimit("mean_width", 0.01)),
    "close": (AccuracyLimit("coverage", 0.94),),
    "none": (),
}
PROTECTED: dict[str, tuple[PrivacyLimit, ...]] = {
    "ε = 0.2": (EpsilonDeltaLimit(most_epsilon=0.2),), "ε = 5": (EpsilonDeltaLimit(most_epsilon=5.0),),
    "guesses": (GuessingLimit(most_success=0.8),), "nothing": (),
}  # fmt: skip
GRID = [(limit, protection) for limit in LIMITS for protection in PROTECTED if limit != "none" or PROTECTED[protection]]
METHODS = "laplace", "beta_binomial", "modips"


@cache
def desks(limit: str, protection: str, average: bool = False) -> tuple[SearchResult, ...]:
    question = asking(
        *PROTECTED[protection], low=0.2, high=0.5, values=2, limits=LIMITS[limit], sets=(1, 2), repetitions=60,
        methods=METHODS, average=average,
    )  # fmt: skip
    return tuple(evaluate_designs(question))


def numbers_in(sentence: str, told: str, sense: str) -> list[tuple[float, float]]:
    """Values and limits that a sentence names of a measure, as it writes them."""
    plain = re.sub(r"<[^>]+>", "", sentence)
    text = told.format(r"(\S+?)(?: %)?(?: ± \S+(?: %)?)?")
    pattern = rf"{text} \({sense} (\S+?)(?: %)?\)"
    return [(value_of(result[1]), value_of(result[2])) for result in re.finditer(pattern, plain)]


@pytest.mark.parametrize(
    ("limit", "protection", "average"), [(*one, False) for one in GRID] + [(*one, True) for one in GRID[::5]]
)
def test_every_sentence_on_the_way_is_sound_and_the_last_says_who_leads_with_numbers_on_its_side_of_their_limits(
    limit: str, protection: str, average: bool
) -> None:
    """The mean over all places at every fifth pair, in which each limit and each protection meets it."""
    steps = desks(limit, protection, average)
    for desk in steps:
        for part in summarize(desk):
            assert part and not WRONG.search(part), part
    last = steps[-1]
    mark, sentence, brief = summarize(last)
    first = last.best
    if first is None:
        assert mark == "no design"
    elif last.feasible and last.question.promises:
        assert mark == first.name
        assert "keeps <b>" in sentence and f"ε = {reading_of(first.real_epsilon)}" in sentence
        assert first.name not in brief
    elif last.feasible:
        least = min(design.real_epsilon for design in last.feasible)
        assert mark.startswith("ε = ") and value_of(mark[4:]) == pytest.approx(least, rel=1e-3)
    elif last.undecided:
        assert mark in ("too close to call", "not known")
    else:
        assert mark == "none keeps all" and f"Nearest is <b>{first.name}</b>" in sentence
    if not average:
        check_sides(last)


def reading_of(value: float | None) -> str:
    assert value is not None
    return format_number(float(f"{value:.5g}"), 3)


@pytest.mark.parametrize("limit", ["error", "close", "none"])
def test_where_only_guesses_are_limited_the_real_loss_is_told_as_odds(limit: str) -> None:
    last = desks(limit, "guesses")[-1]
    _, sentence, _ = summarize(last)
    if (last.feasible or not last.undecided) and last.best is not None:
        assert "not how sure it can be" in sentence
        assert f"by a factor of {format_number(math.exp(last.best.real_epsilon), 3)}." in sentence
    assert "not how sure" not in summarize(desks(limit, "ε = 5")[-1])[1]


def check_sides(last: SearchResult) -> None:
    """Numbers of the sentence lie on the side of their limit that it says."""
    mark, sentence, _ = summarize(last)
    if last.best is None or mark == "too close to call":
        return
    missed, _, kept = sentence.partition("It keeps th")
    n_compared = 0
    for limit in last.question.limits:
        for part, holds in ((missed, bool(last.feasible)), (kept, True)):
            for value, question in numbers_in(part, limit.measure.sentence, limit.measure.bound):
                assert limit.measure.is_worse(value, question) != holds, (part, limit)
                n_compared += 1
    assert n_compared or not last.question.limits


@pytest.mark.parametrize("key", ACCURACY_MEASURES)
@pytest.mark.parametrize("value", [0.12345, 0.5, 0.99951, 0.00098765])
def test_a_limit_that_is_offered_is_kept_by_the_value_behind_it(key: str, value: float) -> None:
    near = rounded_limit(ACCURACY_MEASURES[key], value)
    assert AccuracyLimit(key, near).verdict(Measure(value, 0.0))
    assert near == pytest.approx(value, rel=0.01)


def test_a_design_that_no_epsilon_helps_says_so() -> None:
    first = desks("strict", "ε = 5")[-1].best
    assert first is not None
    text = relaxation_sentence(Relaxation(first, {"mean_width": math.nan}, None))
    assert text.endswith("keeps them with no ε that was tried up to 100.")
    assert relaxed_limits(Relaxation(first, {"mean_width": math.nan}, None)) == {}
    assert relaxed_epsilon(Relaxation(first, {}, None)) is None


@pytest.mark.parametrize(("limit", "protection"), [("both", "ε = 5"), ("strict", "ε = 0.2"), ("none", "guesses")])
def test_the_table_has_the_designs_in_their_order(limit: str, protection: str) -> None:
    last = desks(limit, protection)[-1]
    rows = ranking_table(last, len(last.designs)).rows
    names = [re.fullmatch(r"(\d+)\. <b>([^<]*)</b> <small>([^,]*), [^<]*</small>.*", name) for name, *_ in rows]
    assert [(int(name[1]), name[2], name[3].replace("&nbsp;", " ")) for name in names if name] == [
        (place, one.method.label, one.name.rpartition(", ")[2]) for place, one in enumerate(last.designs, start=1)
    ]


def test_the_script_prints_the_table_and_the_file_has_it() -> None:
    last = desks("both", "ε = 5")[-1]
    printed = [line.split("; ") for line in run_script(search_script(last.question)).splitlines()]
    rows = list(csv.DictReader(io.StringIO(designs_csv(last))))
    assert [line[:3] for line in printed[: len(rows)]] == [[row["method"], row["sets"], row["rule"]] for row in rows]
    for line, row, design in zip(printed, rows, last.designs, strict=False):
        for value, key in zip(line[6:], ACCURACY_MEASURES, strict=True):
            measure = design.worst_cases[key].measure
            assert float(value) == pytest.approx(measure.value, rel=ROUNDING) or math.isnan(measure.value)
            assert (row[key] == "") == math.isnan(measure.value)
            assert row[key] == "" or float(row[key]) == measure.shown


def test_the_file_says_why_a_number_is_not_there() -> None:
    usual = {"values": 2, "sets": (1, 5), "repetitions": 60, "epsilon": 1.0}
    strict, loose = answered(asking(**usual, error=0.05, coverage=0.9)), answered(asking(**usual, bias=10.0))
    for desk, words in (
        (strict, "the design breaks a limit: root_mean_squared_error"),
        (loose, "no limit asks for it and other designs come first"),
    ):
        rows = list(csv.DictReader(io.StringIO(designs_csv(desk))))
        empty = [row for row in rows if not all(row[key] for key in ACCURACY_MEASURES)]
        assert 0 < len(empty) < len(rows) == len(desk.designs)
        for row in rows:
            assert row["why_empty"] == (f"not computed, because {words}" if row in empty else "")


def test_numbers_of_a_column_are_those_of_a_kind_of_data_that_has_them() -> None:
    assert Suggestion("", {"n": 12}, ()).kind("count") == "count"
    assert Suggestion("", {"low": 1.0, "high": 9.0}, ()).kind("count") == "gaussian"
    assert Suggestion("", {"lowest_p": 0.1, "highest_p": 0.2}, ()).kind("gaussian") == "count"


def test_a_range_taken_from_a_column_holds_its_share_and_is_rounded_outward() -> None:
    column = read_columns("smoker\n" + "yes\n" * 30 + "no\n" * 70).column("smoker")
    facts = column.proportion()
    (_, rows, _), (words, ends, taken) = suggest_settings(facts, "count").offers
    assert rows == {"n": 100} and taken == ("share",)
    assert ends["lowest_p"] < 0.3 < ends["highest_p"]
    assert all(str(value) in words for value in ends.values())
    assert facts.n == 100


def test_a_design_of_numbers_leads_to_the_comparison_with_the_same_numbers() -> None:
    question = asking(
        data=UnknownVariance(n=9, mean=0.0, sigma=2.0, low=-5.0, high=4.0), low=0.5, high=1.5, values=2, sets=(2,),
        epsilon=2.0, bias=5.0, repetitions=70, rules=("rubin_1987",), methods=("modips_split",),
    )  # fmt: skip
    (one,) = answered(question).designs
    settings = one.comparison_settings
    assert one.release_design is None
    expected = {
        "kind": "gaussian", "epsilon": one.epsilon, "sets": 2, "gaussian_methods": ["original", "modips_split"],
        "rule": "rubin_1987", "repetitions": 70,
    }  # fmt: skip
    assert {name: settings[name] for name in expected} == expected
    numbers = {number.name: settings[number.name] for number in UnknownVariance.parameters()}
    assert UnknownVariance(**numbers) in question.data_at_truths


def test_a_column_offers_what_the_desk_takes_of_it() -> None:
    def offers(*cells: str, reading: str) -> list[str]:
        column = read_columns("x\n" + "\n".join(cells)).column("x")
        return [offer.label for offer in suggest_settings(getattr(column, reading)(), "count").offers]

    numbers = offers("0", "0", "0", "0", "100", reading="numbers")
    assert "Use bounds 0 to 110, a mean from 1.1 to 60 and σ = 45" in numbers
    rare = offers(*["0"] * 199, "100", reading="numbers")  # a mean of 0.5, of which half is nearer than a hundredth
    assert "Use 0.25 to 1.5 as the range of the mean" in rare
    assert "Use k = 3 categories" in offers("yes", "no", "maybe", "maybe", reading="categories")
    many_rows = offers(*"10" * 15_000, reading="proportion")
    assert many_rows[0] == "Use n = 10,000, the most that the desk takes of such data"
