"""The script for OpenDP: it publishes what the plan says, and nothing before the right rows stand in it."""

import csv
import random
import subprocess
from pathlib import Path
from typing import Any

import pytest

from dpviz.curator.privacy_limits import EpsilonDeltaLimit
from dpviz.plans import BoundedMean, CategoryShares, CrossTable, ReleasePlan, YesNoShare, solve_plan
from dpviz.plans.files import opendp_script
from tests.helpers import run_hand_over

LIBRARY = """
class Noise:
    def __init__(self, domain, metric, scale): self.scale = scale
    def map(self, change): return change / self.scale
    def __call__(self, values): return values
class m:
    def make_laplace(domain, metric, scale): return Noise(domain, metric, scale)
    def make_gaussian(domain, metric, scale): return Noise(domain, metric, scale)
def enable_features(name): pass
def atom_domain(**named): return named
def vector_domain(domain): return domain
def l1_distance(T): return T
l2_distance = l1_distance
"""
"""What stands for OpenDP: its noise is 0, and its loss in proportion to the change."""
STATISTICS = (
    YesNoShare(name='In "work"', limit=0.1),
    CategoryShares(name="Region", categories=3, limit=0.1, mechanism="laplace_count", suppress_below=9),
    CrossTable(name="Age by sex", first=2, second=2, limit=0.1, mechanism="gaussian"),
    BoundedMean(name="Hours", lower=10.0, upper=80.0, limit=10.0, mechanism="laplace"),
    YesNoShare(name="North", group="N", limit=0.1),
)
PLAN = ReleasePlan(
    n=40, statistics=STATISTICS, groups=(("N", 10),), protection=EpsilonDeltaLimit(most_epsilon=5.0, most_delta=1e-3)
)
LOSSES = [
    change * mechanism.rate
    for change, mechanism in zip((1, 2, 2**0.5, 70, 1), solve_plan(PLAN).design.mechanisms, strict=True)
]
"""ε of the noise of each statistic alone (of the Gaussian, its sensitivity over its scale), by hand."""
DRAWS = random.Random(1)
ROWS: list[list[Any]] = [
    ["N" if place < 10 else "", DRAWS.randrange(2), min(place // 4, 2), [place % 2, DRAWS.randrange(2)],
     DRAWS.uniform(0, 99), DRAWS.randrange(2)]
    for place in range(40)
]  # fmt: skip


def run(folder: Path, rows: str, library: str = LIBRARY) -> subprocess.CompletedProcess[str]:
    """The script with these rows in it; with OpenDP itself where no other library is given."""
    return run_hand_over(folder, opendp_script(solve_plan(PLAN)), rows, library)


def losses_in(output: str) -> list[float]:
    """Loss of each statistic as the script prints it."""
    return [float(line.rpartition(": ")[2]) for line in output.splitlines()[:-1]]


def test_what_is_published_is_what_the_plan_says_and_once(tmp_path: Path) -> None:
    done = run(tmp_path, repr(ROWS))
    assert done.returncode == 0, done.stderr
    with (tmp_path / "published.csv").open(encoding="utf-8") as file:
        published = [(row["statistic"], row["cell"], row["value"]) for row in csv.DictReader(file)]
    pairs = [tuple(row[3]) for row in ROWS]
    hours = sum(min(max(row[4], 10.0), 80.0) for row in ROWS) / 40
    expected: list[tuple[str, str, float | None]] = [
        ('In "work"', "yes", sum(row[1] for row in ROWS) / 40),
        *(("Region", str(cell), count / 40 if count >= 9 else None) for cell, count in enumerate((4, 4, 32))),
        *(("Age by sex", str(2 * i + j), pairs.count((i, j)) / 40) for i in range(2) for j in range(2)),
        ("Hours", "mean", hours),
        ("North", "yes", sum(row[5] for row in ROWS[:10]) / 10),
    ]
    assert [row[:2] for row in published] == [row[:2] for row in expected]
    assert [float(row[2]) if row[2] else None for row in published] == pytest.approx([row[2] for row in expected])

    # The loss of each is that of its sensitivities and rate, and a second run is refused
    assert losses_in(done.stdout) == pytest.approx(LOSSES)
    assert "there is a file published.csv already" in run(tmp_path, repr(ROWS)).stderr


def test_opendp_itself_publishes_as_many_numbers_and_finds_the_same_losses(tmp_path: Path) -> None:
    done = run(tmp_path, repr(ROWS), library="")
    assert done.returncode == 0, done.stderr
    with (tmp_path / "published.csv").open(encoding="utf-8") as file:
        cells = [(row["statistic"], row["cell"]) for row in csv.DictReader(file)]
    assert len(cells) == len(set(cells)) == 10
    kinds = [type(mechanism).key for mechanism in solve_plan(PLAN).design.mechanisms]
    assert "gaussian" in kinds and "laplace" in kinds
    # OpenDP measures the Gaussian by ρ of zero-concentrated privacy: half the square of its sensitivity over its scale
    expected = [loss**2 / 2 if kind == "gaussian" else loss for kind, loss in zip(kinds, LOSSES, strict=True)]
    assert losses_in(done.stdout) == pytest.approx(expected)


WRONG: dict[str, Any] = {
    "rows must be a list of the 40 confidential rows": ROWS[:-1],
    "every row must be a list of 6": [row[:-1] for row in ROWS],
    'every answer to In "work" must be one of 0 to 1': [[row[0], 2, *row[2:]] for row in ROWS],
    "every answer to Age by sex must be one of (0, 0) to (1, 1)": [[*row[:3], 3, *row[4:]] for row in ROWS],
    "every answer to Hours must be a finite number": [[*row[:4], float("1e999"), row[5]] for row in ROWS[:-1]]
    + ROWS[:1],
    "the group N must have 10 rows": [["", *row[1:]] for row in ROWS],
}


@pytest.mark.parametrize("reason", WRONG)
def test_wrong_rows_are_refused_in_a_sentence_and_nothing_is_spent(reason: str, tmp_path: Path) -> None:
    done = run(tmp_path, repr(WRONG[reason]).replace("inf", "1e999"))
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert f"Nothing is released and no ε is spent: {reason}" in done.stderr
    assert not (tmp_path / "published.csv").exists()


def test_a_plan_that_cannot_keep_its_promise_is_not_released() -> None:
    noisy = tuple(YesNoShare(name=f"a{place}", mechanism="geometric") for place in range(10))
    plan = ReleasePlan(
        n=10, statistics=(*noisy, YesNoShare(name="b", mechanism="gaussian")), person_rows=100,
        protection=EpsilonDeltaLimit(most_epsilon=0.001, most_delta=1e-12),
    )  # fmt: skip
    with pytest.raises(ValueError, match="nothing can be released"):
        opendp_script(solve_plan(plan))
