"""Tables as files: every digit in the CSV, the paper's digits in LaTeX, and a head that says what the file is."""

from __future__ import annotations

import csv
import math
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpviz.core import limits
from dpviz.export.tables import LATEX_CHARACTERS, file_header, release_csv, release_files, release_latex, to_csv
from dpviz.mechanisms import SYNTHESIZERS, DirichletMultinomial, PosteriorMean, Synthesizer
from dpviz.mechanisms.matrix_mechanism import GivenMatrix
from tests.helpers import printed_figure
from tests.mechanisms.test_contract import every_class, instances
from tests.reproduction.abowd_vilhuber import LAPLACE, PLUG_IN

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
    text = "100 % of α_1 & β, ε = 2, δ, 1 − p".translate(LATEX_CHARACTERS)
    assert text == r"100 \% of $\alpha$\_1 \& $\beta$, $\varepsilon$ = 2, $\delta$, 1 $-$ p"


def test_a_table_too_large_for_a_file_is_refused() -> None:
    release = PosteriorMean(n=2000, m=2000, alpha=1, beta=1)
    (reason,) = release_files(release)
    assert f"tables of up to {limits.MAX_TABLE_ENTRIES:,} cells" in str(reason)
    matrix, *reasons = release_files(DirichletMultinomial(n=20, m=20, alpha=1, cells=4))  # more neighbours
    assert matrix[1] == "transition_matrix.csv" and reasons[0] == reason


def test_wide_tables_have_no_latex() -> None:
    files = release_files(PosteriorMean(n=40, m=40, alpha=1, beta=1))
    assert [file[1] for file in files if not isinstance(file, str)] == ["transition_matrix.csv", "log_odds.csv"]
    assert files[-1] == "LaTeX tables are made for up to 30 columns."
    small = release_files(PosteriorMean(n=4, m=4, alpha=1, beta=1))
    latex = [file[2]() for file in small if not isinstance(file, str) and file[1].endswith(".tex")]
    assert [text.splitlines()[0] for text in latex] == [r"% needs \usepackage{booktabs}"] * 2


def test_a_csv_of_columns_keeps_every_digit_and_has_no_number_where_there_is_none() -> None:
    values = [1 / 3, math.inf, math.nan, 5e-324]
    text = to_csv({"p": np.array(values), "count": [1, None, 3, 4]})
    assert text == f"p,count\n{1 / 3},1\ninf,\n,3\n5e-324,4\n"
    assert to_csv({"p": np.array([]), "exact": []}) == "p,exact\n"
    with pytest.raises(ValueError, match="same length"):
        to_csv({"p": [1.0], "exact": []})


def test_the_head_of_a_csv_begins_with_a_mark_for_spreadsheets_and_says_how_it_is_read() -> None:
    head = file_header("a.csv", ["dpviz"])
    assert head.startswith('\ufeff# dpviz\n# to read it: pandas.read_csv("a.csv", comment="#") in Python')
    assert file_header("a.py", ["dpviz"]) == "# dpviz\n"
