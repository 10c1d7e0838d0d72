"""Files of numbers: every digit in the column whose name says what it is, the paper's digits in LaTeX, and a head."""

import csv
import dataclasses
import math
import re
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpviz.audit.curves import AXES, Axis, prior_curves
from dpviz.audit.theorem_audit import audit_theorems
from dpviz.charts.theme import Figure
from dpviz.core import limits
from dpviz.coverage import CoveragePlan, CoverageTally, Performance, exact_coverages, performance_of, run_coverage
from dpviz.export import tables
from dpviz.export.tables import columns_of, coverage_csv, curves_csv, intervals_csv, release_csv, release_latex, to_csv
from dpviz.inference import RULES
from dpviz.mechanisms import SYNTHESIZERS, BetaBinomial, DirichletMultinomial, PosteriorMean, Synthesizer
from dpviz.mechanisms.matrix_mechanism import GivenMatrix
from dpviz.priors import KINDS, Setting
from tests.helpers import printed_figure
from tests.mechanisms.test_contract import every_class, instances
from tests.reproduction.abowd_vilhuber import LAPLACE, PLUG_IN

RELEASE = BetaBinomial(n=12, m=9, alpha=1.5, beta=1.5)
ALL_RULES = tuple(RULES)
SINGLE_SET_RULES = tuple(key for key, rule in RULES.items() if rule.min_sets == 1)
SETTINGS = {
    "bernoulli": Setting(n=50, m=40, epsilon=1.1, delta=1e-5),
    "categorical": Setting(n=50, m=20, epsilon=1.1, delta=1e-5, cells=4),
    "gaussian": Setting(n=50, m=40, epsilon=1.1, delta=1e-5, sigma=2.0, sigma0=3.0),
}


@cache
def simulated(sets: int = 3, repetitions: int = 700) -> tuple[CoverageTally, Performance]:
    rules = ALL_RULES if sets > 1 else SINGLE_SET_RULES
    plan = CoveragePlan(synthesizer=RELEASE, p=0.1, sets=sets, rules=rules, repetitions=repetitions, seed=7)
    tally = run_coverage(plan)
    return tally, performance_of(tally)


def read(text: str) -> tuple[list[str], list[dict[str, str]]]:
    """Names of the columns, and each row by name."""
    head, *rows = csv.reader(text.splitlines())
    assert len(set(head)) == len(head)
    return head, [dict(zip(head, row, strict=True)) for row in rows]


def number(cell: str) -> float:
    return float(cell) if cell else math.nan


def is_same(cell: str, value: float | None) -> bool:
    return np.array_equal(number(cell), math.nan if value is None else value, equal_nan=True)


@pytest.mark.parametrize("with_exact", [True, False])
@pytest.mark.parametrize("with_simulation", [True, False])
def test_the_coverage_as_csv_keeps_every_digit(with_exact: bool, with_simulation: bool) -> None:
    exact = exact_coverages(synthesizer=RELEASE, p=0.1, sets=3, rules=ALL_RULES)
    performance = simulated()[1]
    head, rows = read(coverage_csv(ALL_RULES, exact if with_exact else {}, performance if with_simulation else None))
    assert [row["rule"] for row in rows] == list(ALL_RULES)
    for row in rows:
        rule, by_sum, by_simulation = row["rule"], exact[row["rule"]], performance.rules[row["rule"]]
        exact_values = {
            "exact_coverage": by_sum.coverage,
            "error_bound": by_sum.error_bound,
            "exact_mean_width": math.nan if RULES[rule].has_unbounded_width else by_sum.mean_width,
            "exact_mean_width_inside": by_sum.mean_width_inside,
            "exact_no_interval": by_sum.negative_variance_share,
            "exact_vacuous": by_sum.vacuous_share,
            "exact_negative_total": by_sum.negative_total_share,
            "exact_coverage_given_negative_total": by_sum.coverage_given_negative_total,
            "exact_coverage_given_nonnegative_total": by_sum.coverage_given_nonnegative_total,
        }
        simulated_values = {
            "simulated_coverage": by_simulation.coverage.value,
            "simulated_error": by_simulation.coverage.error,
            "simulated_low": by_simulation.coverage_low,
            "simulated_high": by_simulation.coverage_high,
            "simulated_vacuous": by_simulation.vacuous_share.value,
            "repetitions": float(performance.repetitions),
        }
        assert head == ["rule", *exact_values, *simulated_values]
        for values, is_given in ((exact_values, with_exact), (simulated_values, with_simulation)):
            assert all(is_same(row[name], value if is_given else None) for name, value in values.items())


def test_the_rules_asked_for_are_the_lines_of_the_file_whatever_was_simulated() -> None:
    rules = ("as_if_real", "reiter_2002")
    assert [row["rule"] for row in read(coverage_csv(rules, {}, simulated()[1]))[1]] == list(rules)


@pytest.mark.parametrize(("sets", "repetitions"), [(1, 40), (3, 700), (3, 5)])
def test_the_first_intervals_as_csv_keep_every_digit(sets: int, repetitions: int) -> None:
    tally, _ = simulated(sets, repetitions)
    head, rows = read(intervals_csv(tally))
    rules = tally.plan.rules
    count_names = [f"count_{place}" for place in range(1, sets + 1)]
    assert head[: sets + 3] == ["repetition", "x", *count_names, "estimate"]
    assert set(head[sets + 3 :]) == {f"{end}_{rule}" for rule in rules for end in ("low", "high")}
    assert len(rows) == min(repetitions, 100)
    for place, row in enumerate(rows):
        counts = [int(row[name]) for name in count_names]
        assert int(row["repetition"]) == place + 1
        assert 0 <= int(row["x"]) <= 12
        assert counts == tally.shown.counts[place].tolist()
        assert float(row["estimate"]) == pytest.approx(sum(counts) / (9 * sets), rel=1e-15, abs=0)
        for rule in rules:
            interval = RULES[rule].interval_from(counts, synthesizer=tally.plan.synthesizer)
            written = number(row[f"low_{rule}"]), number(row[f"high_{rule}"])
            assert written == pytest.approx(interval, rel=1e-9, abs=1e-12, nan_ok=True)
    assert any(sets > 1 and row["low_raghunathan_2003"] == "" for row in rows) == (sets > 1)


@pytest.mark.parametrize("delta", [0.0, 1e-5])
@pytest.mark.parametrize("family", SETTINGS)
def test_the_audit_as_csv_keeps_every_digit_and_word(family: str, delta: float) -> None:
    results = audit_theorems(family, **dataclasses.asdict(dataclasses.replace(SETTINGS[family], delta=delta)))
    _, rows = read(to_csv(columns_of("bound", results)))
    assert len(rows) == len(results) > 0
    for result, row in zip(results, rows, strict=True):
        theorem = result.theorem
        assert (row["theorem"], row["part"], row["method"]) == (theorem.name, theorem.part, result.method)
        assert (row["claim"], row["verdict"], row["sentence"]) == (theorem.statement, result.verdict, result.sentence)
        assert (row["source"], int(row["m"])) == (theorem.source, result.setting.m)
        for name in ("printed", "gives_epsilon", "gives_delta", "exact", "constant"):
            assert is_same(row[name], getattr(result, name.replace("gives", "actual"))), name
        assert is_same(row["printed_over_exact"], result.factor)


@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("delta", [0.0, 1e-5])
@pytest.mark.parametrize("family", SETTINGS)
def test_the_curves_of_priors_as_csv_keep_every_digit(family: str, delta: float, axis: Axis) -> None:
    curves = prior_curves(family, dataclasses.replace(SETTINGS[family], delta=delta, n=300), axis)
    head, *rows = csv.reader(curves_csv(curves).splitlines())
    assert head[0] == axis
    values = np.array([[number(cell) for cell in row] for row in rows])
    assert np.array_equal(values[:, 0], curves.points)
    columns = dict(zip(head[1:], values[:, 1:].T, strict=True))
    kinds = ["largest R/σ"] if family == "gaussian" else ["alpha", "invented rows per real row"]
    assert len(columns) == len(head) - 1 == len(kinds) * len(curves.lines)
    for line in curves.lines:
        name = " ".join([line.method, line.kind, *line.theorem.split()])
        assert np.array_equal(columns[f"{name} | {kinds[0]}"], line.values, equal_nan=True)
        if len(kinds) == 2:
            n_rows = curves.points if axis == "n" else 300.0
            expected = KINDS[family].cells(curves.setting) * line.values / n_rows
            assert columns[f"{name} | {kinds[1]}"] == pytest.approx(expected, rel=1e-14, nan_ok=True)


# Releases


FRESH = [cls(**{item.name: item.default for item in cls.parameters()}) for cls in SYNTHESIZERS.values()]
"""A release of every mechanism with the values of a fresh page."""
PUBLISHED = {1: PLUG_IN, 2: PLUG_IN, 3: LAPLACE, 4: LAPLACE}
SUPPRESSED = GivenMatrix(probabilities=np.array([[0.5, 0.5, 0.0], [0.25, 0.5, 0.25]]))


def parse(text: str, labels: int) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Header, counts and numbers of a CSV."""
    head, *rows = csv.reader(text.splitlines())
    assert len(set(head)) == len(head)
    counts = np.array([[int(value) for value in row[:labels]] for row in rows])
    return head, counts, np.array([[float(value) for value in row[labels:]] for row in rows])


def body_of(latex: str) -> list[list[str]]:
    """The cells between \\midrule and \\bottomrule."""
    body = latex.split("\\midrule\n")[1].split("\n\\bottomrule")[0]
    return [line.removesuffix(r" \\").split(" & ") for line in body.splitlines()]


@every_class
@settings(deadline=None, derandomize=True, max_examples=15)
@given(data=st.data())
def test_a_csv_keeps_every_digit(cls: type[Synthesizer], data: st.DataObject) -> None:
    release = data.draw(instances(cls))
    size = release.row_counts.shape[1]
    head, counts, values = parse(release_csv(release), size)
    assert len(head) == size + release.shape[1]
    assert np.array_equal(counts, release.row_counts)
    assert np.array_equal(values, release.transition_matrix())
    _, counts, values = parse(release_csv(release, log_odds=True), 2 * size)
    assert np.array_equal(counts, release.row_counts[release.neighbours].reshape(-1, 2 * size))
    assert np.array_equal(values, release.log_odds_table())


def test_infinite_log_odds_are_kept_in_a_csv_and_infinity_in_latex() -> None:
    *_, values = parse(release_csv(SUPPRESSED, log_odds=True), 4)
    assert values.tolist() == [[math.log(2), 0.0, -math.inf]]
    assert body_of(release_latex(SUPPRESSED, log_odds=True))[0][-1] == r"$\infty$"


@pytest.mark.parametrize("number", PUBLISHED)
def test_a_csv_has_the_header_and_the_rows_of_the_published_one(number: int) -> None:
    ours = list(csv.reader(release_csv(PUBLISHED[number], log_odds=number % 2 == 0).splitlines()))
    printed = list(csv.reader(printed_figure(number).splitlines()))
    labels = 2 if number % 2 else 4
    assert ours[0] == printed[0]
    assert [row[:labels] for row in ours] == [row[:labels] for row in printed]


@pytest.mark.parametrize("number", PUBLISHED)
def test_latex_has_every_printed_digit(number: int) -> None:
    printed = list(csv.reader(printed_figure(number).splitlines()))[1:]
    assert body_of(release_latex(PUBLISHED[number], log_odds=number % 2 == 0)) == printed


def test_latex_has_a_line_for_each_released_count_above_the_probabilities() -> None:
    latex = release_latex(PosteriorMean(n=1, m=2, alpha=1, beta=1))
    head = latex.split("\\toprule\n")[1].split("\\midrule")[0].splitlines()
    assert [line.removesuffix(r" \\").split(" & ") for line in head] == [
        ["", "", "0", "1", "2"],
        ["$n_{1}$", "$n_{2}$", "2", "1", "0"],
    ]


@pytest.mark.parametrize("release", FRESH, ids=lambda release: release.key)
@pytest.mark.parametrize("log_odds", [False, True])
def test_latex_is_balanced_ascii_and_of_one_width(release: Synthesizer, log_odds: bool) -> None:
    latex = release_latex(release, log_odds=log_odds)
    assert latex.isascii()
    assert latex.count("{") == latex.count("}")
    assert latex.count(r"\begin") == latex.count(r"\end") == 2
    columns = re.search(r"\\begin\{tabular\}\{(r+)\|(r+)\}", latex)
    assert columns is not None
    widths = {line.split(r" \\")[0].count(" & ") + 1 for line in latex.splitlines() if r" \\" in line}
    assert widths == {len(columns[1]) + len(columns[2])}


def test_what_latex_would_not_print_is_escaped() -> None:
    text = "100 % of α_1 & β, ε = 2, δ, 1 − p".translate(tables.LATEX_CHARACTERS)
    assert text == r"100 \% of $\alpha$\_1 \& $\beta$, $\varepsilon$ = 2, $\delta$, 1 $-$ p"


def test_a_table_too_large_for_a_file_is_refused() -> None:
    release = PosteriorMean(n=2000, m=2000, alpha=1, beta=1)
    (reason,) = tables.release_files(release)
    assert f"tables of up to {limits.MAX_TABLE_ENTRIES:,} cells" in str(reason)
    matrix, *reasons = tables.release_files(DirichletMultinomial(n=20, m=20, alpha=1, cells=4))  # more neighbours
    assert matrix[1] == "transition_matrix.csv" and reasons[0] == reason


def test_wide_tables_have_no_latex() -> None:
    files = tables.release_files(PosteriorMean(n=40, m=40, alpha=1, beta=1))
    assert [file[1] for file in files if not isinstance(file, str)] == ["transition_matrix.csv", "log_odds.csv"]
    assert files[-1] == "LaTeX tables are made for up to 30 columns."
    small = tables.release_files(PosteriorMean(n=4, m=4, alpha=1, beta=1))
    latex = [file[2]() for file in small if not isinstance(file, str) and file[1].endswith(".tex")]
    assert [text.splitlines()[0] for text in latex] == [r"% needs \usepackage{booktabs}"] * 2


def test_a_csv_of_columns_keeps_every_digit_and_has_no_number_where_there_is_none() -> None:
    values = [1 / 3, math.inf, math.nan, 5e-324]
    text = to_csv({"p": np.array(values), "count": [1, None, 3, 4]})
    assert text == f"p,count\n{1 / 3},1\ninf,\n,3\n5e-324,4\n"
    assert to_csv({"p": np.array([]), "exact": []}) == "p,exact\n"
    with pytest.raises(ValueError, match="same length"):
        to_csv({"p": [1.0], "exact": []})


def test_lines_about_a_file_stand_above_a_table_or_a_script_and_below_a_chart() -> None:
    text = tables.file_text("a.csv", "p\n0.5\n", ["dpviz"])
    assert text.startswith('\ufeff# dpviz\n# to read it: pandas.read_csv("a.csv", comment="#") in Python')
    assert text.endswith("a spreadsheet opens it as it is\np\n0.5\n")
    assert tables.file_text("a.py", "p = 0.5", ["dpviz"]) == "# dpviz\np = 0.5"
    page = tables.file_text("a.html", Figure([], {}), ["n < 3"])
    assert page.startswith("<!doctype html>") and "<p>n &lt; 3</p></footer>" in page
