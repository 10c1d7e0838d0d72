"""Results as files: every digit in the CSV, the paper's digits in LaTeX, and a script that says what the page says."""

from __future__ import annotations

import csv
import math
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpviz.claims.abowd_vilhuber import PRINTED_FIGURES, SYNTHESIZER_OF_FIG_1, SYNTHESIZER_OF_FIG_3
from dpviz.core import limits
from dpviz.core.formatting import format_number
from dpviz.desk.exports.script import LONGEST_INLINE, page_script
from dpviz.desk.exports.tables import log_odds_csv, log_odds_latex, matrix_csv, matrix_latex
from dpviz.mechanisms import SYNTHESIZERS, DirichletMultinomial, PosteriorMean, Synthesizer
from dpviz.mechanisms.matrix_mechanism import GivenMatrix
from dpviz.privacy.summary import PrivacySummary, summarize
from dpviz.uploads import read_matrix
from tests.mechanisms.test_contract import instances

ROOT = Path(__file__).resolve().parent.parent
every_class = pytest.mark.parametrize("cls", SYNTHESIZERS.values(), ids=SYNTHESIZERS.keys())
LAWS = {1: SYNTHESIZER_OF_FIG_1, 2: SYNTHESIZER_OF_FIG_1, 3: SYNTHESIZER_OF_FIG_3, 4: SYNTHESIZER_OF_FIG_3}
SUPPRESSED = GivenMatrix(probabilities=np.array([[0.5, 0.5, 0.0], [0.25, 0.5, 0.25]]))


def cells_of(text: str, labels: int) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Header, counts and numbers of a CSV."""
    head, *rows = csv.reader(text.splitlines())
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
    head, counts, values = cells_of(matrix_csv(release), size)
    assert len(set(head)) == len(head) == size + release.shape[1]
    assert np.array_equal(counts, release.row_counts)
    assert np.array_equal(values, release.transition_matrix())
    head, counts, values = cells_of(log_odds_csv(release), 2 * size)
    assert len(set(head)) == len(head)
    assert np.array_equal(counts, release.row_counts[release.neighbours].reshape(-1, 2 * size))
    assert np.array_equal(values, release.log_odds_table())


def test_infinite_log_odds_are_kept_in_a_csv() -> None:
    *_, values = cells_of(log_odds_csv(SUPPRESSED), 4)
    assert values.tolist() == [[math.log(2), 0.0, -math.inf]]


@pytest.mark.parametrize("number", LAWS)
def test_a_csv_has_the_header_and_the_rows_of_the_published_one(number: int) -> None:
    write = matrix_csv if number % 2 else log_odds_csv
    ours, printed = (
        list(csv.reader(text.splitlines())) for text in (write(LAWS[number]), PRINTED_FIGURES[number].text)
    )
    labels = 2 if number % 2 else 4
    assert ours[0] == printed[0]
    assert [row[:labels] for row in ours] == [row[:labels] for row in printed]


@pytest.mark.parametrize("number", LAWS)
def test_latex_has_every_printed_digit(number: int) -> None:
    write = matrix_latex if number % 2 else log_odds_latex
    printed = list(csv.reader(PRINTED_FIGURES[number].text.splitlines()))[1:]
    assert body_of(write(LAWS[number], "caption")) == printed


def test_endless_log_odds_in_latex_are_infinity() -> None:
    assert body_of(log_odds_latex(SUPPRESSED, "caption"))[0][-1] == r"$\infty$"


@every_class
def test_latex_is_balanced_ascii_and_of_one_width(cls: type[Synthesizer]) -> None:
    release = cls(**{one.name: one.default for one in cls.parameters()})
    caption = f"{cls.info.label}, 100 % of α_1 & β, ε = 2, δ = 10^-5, 1 − p"
    for latex in (matrix_latex(release, caption), log_odds_latex(release, caption)):
        assert latex.isascii()
        assert latex.count("{") == latex.count("}")
        assert latex.count(r"\begin") == latex.count(r"\end")
        columns = re.search(r"\\begin\{tabular\}\{(r+)\|(r+)\}", latex)
        assert columns is not None
        widths = {line.split(r" \\")[0].count(" & ") + 1 for line in latex.splitlines() if r" \\" in line}
        assert widths == {len(columns[1]) + len(columns[2])}
        assert r"100 \% of" in latex
        assert r"\&" in latex


def test_a_table_too_large_for_a_file_is_refused() -> None:
    release = PosteriorMean(n=2000, m=2000, alpha=1, beta=1)
    for write in (matrix_csv, log_odds_csv):
        with pytest.raises(ValueError, match=f"files hold at most {limits.MAX_TABLE_ENTRIES:,}"):
            write(release)


def run_script(script: str, folder: Path) -> dict[str, str]:
    """The named numbers that the script prints, without a warning on the way."""
    path = folder / "transition_matrix.py"
    path.write_text(script, encoding="utf-8")
    run = subprocess.run(
        [sys.executable, "-W", "error", str(path)],
        capture_output=True,
        encoding="utf-8",
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"},
    )
    assert run.returncode == 0, run.stderr
    assert run.stderr == ""
    named = re.findall(r"^([a-z][^:\n]*(?:\([^)]*\))?[^:\n]*): (\S+)$", run.stdout, re.MULTILINE)
    attained = re.search(r"attained by (.+) against (.+)$", run.stdout, re.MULTILINE)
    assert attained is not None
    return dict(named) | {"likelier": attained[1], "other": attained[2], "all": run.stdout}


def expected(summary: PrivacySummary) -> dict[str, str]:
    release, worst = summary.synthesizer, summary.worst
    lines = {
        "exact epsilon": format_number(worst.value, 7),
        "delta at the promised epsilon": format_number(summary.divergence.value, 7),
        "smallest epsilon at the allowed delta": format_number(summary.epsilon_at_delta, 7),
        "likelier": str(release.row_table(worst.likelier)),
        "other": str(release.row_table(worst.unlikelier)),
    }
    if summary.failure is not None and summary.joint_failure is not None:
        lines["probabilistic delta, worst table"] = format_number(float(summary.failure.max()), 7)
        lines["probabilistic delta, joint, even cells"] = format_number(summary.joint_failure, 7)
    if summary.change is not None:
        lines["smallest Pr(released differs from confidential)"] = format_number(float(summary.change.min()), 7)
    return lines


@every_class
def test_the_script_of_the_page_prints_its_numbers(cls: type[Synthesizer], tmp_path: Path) -> None:
    release = cls(**{one.name: one.default for one in cls.parameters()})
    printed = run_script(page_script(release, 1.5, 1e-5), tmp_path)
    assert printed.items() >= expected(summarize(release, 1.5, 1e-5)).items()
    with np.printoptions(precision=6, suppress=True):
        assert str(release.transition_matrix()) in printed["all"]


def test_the_script_of_a_release_beyond_listing_prints_what_can_be_known(tmp_path: Path) -> None:
    release = DirichletMultinomial(n=1000, m=1000, alpha=0.1, cells=9)
    assert not release.enumerable
    printed = run_script(page_script(release, 1.0, 1e-6), tmp_path)
    assert printed.items() >= expected(summarize(release, 1.0, 1e-6)).items()


@pytest.mark.parametrize("text", [PRINTED_FIGURES[1].text, "a,b\n1,0\n0.5,0.5\n"], ids=["figure 1", "a zero"])
def test_the_script_of_a_given_matrix_carries_it(text: str, tmp_path: Path) -> None:
    release = read_matrix(text)
    printed = run_script(page_script(release, 2.0, 0.0, given_text=text), tmp_path)
    assert printed.items() >= expected(summarize(release, 2.0, 0.0)).items()


@pytest.mark.parametrize("long", [True, False])
def test_the_script_of_a_long_or_unknown_matrix_reads_a_file(long: bool, tmp_path: Path) -> None:
    release = PosteriorMean(n=40, m=40, alpha=1, beta=1)
    text = matrix_csv(release)
    assert len(text) > LONGEST_INLINE
    given_one = read_matrix(text)
    (tmp_path / "matrix.csv").write_text(text, encoding="utf-8")
    printed = run_script(page_script(given_one, 2.0, 1e-5, given_text=text if long else None), tmp_path)
    assert printed.items() >= expected(summarize(given_one, 2.0, 1e-5)).items()


@every_class
@settings(deadline=None, derandomize=True, max_examples=10)
@given(data=st.data())
def test_the_script_makes_the_very_same_release(cls: type[Synthesizer], data: st.DataObject) -> None:
    release = data.draw(instances(cls))
    made: dict[str, object] = {}
    script = page_script(release, 1.0, 0.0)
    kept = [line for line in script.splitlines() if line.startswith(("from dpviz.mechanisms", "release ="))]
    exec("\n".join(kept), made)
    assert made["release"] == release
