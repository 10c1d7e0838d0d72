"""A large study gives the digits of one process whoever is lost on the way: a worker, the client, the disk."""

from __future__ import annotations

import contextlib
import dataclasses
import io
import math
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from dpviz.coverage import exact_coverage
from dpviz.simulation import read_run
from dpviz.study.__main__ import FAILED, REFUSED, study_command
from dpviz.study.cluster import NO_DASK, dask_executor
from dpviz.study.folder import StudyFolder
from dpviz.study.plan import StudyPlan, read_study_plan
from dpviz.study.results import read_study, study_parquet
from dpviz.study.run import carry_out, results_of
from tests.test_import_boundaries import ROOT, is_within, modules_after

PLAN = """
mechanisms = ["geometric", "beta_binomial"]
n = [30, 60]
epsilon = 1
sets = [1, 3]
p = [0.2, 0.5]
rules = ["reiter_2003", "as_if_real", "score"]
repetitions = 3_300
seed = 7
"""
LONG = PLAN.replace("[30, 60]", "60").replace("[1, 3]", "3").replace("3_300", "400_250") + "exact = false\n"
ENTRIES: dict[str, Any] = {
    "mechanisms": ["geometric"], "n": [30], "epsilon": [1.0], "sets": [3], "p": [0.2], "rules": ["reiter_2003"],
    "repetitions": 100, "seed": 7,
}  # fmt: skip
LIMIT = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (9_000, 9_000))"
"""No file may grow beyond so many bytes, as if the disk were full."""

SECONDS = 240.0  # that anything is waited for


def carried_out(study: StudyPlan, folder: Path, executor: Executor | None = None, workers: int = 1) -> bytes:
    """The file of all results."""
    kept = StudyFolder(folder)
    *_, last = carry_out(study, kept, executor=executor, workers=workers)
    assert last.finished == last.cells == len(study.cells)
    return study_parquet(results_of(study, kept))


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """What one process finds for the long plan, without a stop."""
    return carried_out(read_study_plan(LONG), tmp_path_factory.mktemp("whole"))


@contextlib.contextmanager
def command(plan: Path, *more: str, before: str = "") -> Iterator[subprocess.Popen[str]]:
    """The command at work after a line of Python, ended with the test whatever happens."""
    program = f"import runpy, sys\n{before}\nrunpy.run_module('dpviz.study', run_name='__main__')"
    with subprocess.Popen(
        [sys.executable, "-c", program, str(plan), *more],
        cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as run:  # fmt: skip
        try:
            yield run
        finally:
            run.kill()


def written(folder: Path, text: str = LONG) -> Path:
    plan = folder / "plan.toml"
    plan.write_text(text, "utf-8")
    return plan


def wait_for(true: Callable[[], object]) -> None:
    end = time.monotonic() + SECONDS
    while not true():
        assert time.monotonic() < end
        time.sleep(0.01)


def children(pid: int) -> list[int]:
    """All processes that one has started, and those have."""
    listed = subprocess.run(["ps", "-eo", "pid=,ppid="], capture_output=True, text=True, check=True).stdout
    pairs = [tuple(map(int, line.split())) for line in listed.splitlines()]
    found, new = [], [pid]
    while new:
        new = [one for one, parent in pairs if parent in new]
        found += new
    return found


def is_running(pid: int) -> bool:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


@contextlib.contextmanager
def dask_workers(scheduler: str, number: int) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Workers of a scheduler, each a process of its own that nobody starts again."""
    arguments = [sys.executable, "-m", "distributed.cli.dask_worker", scheduler]
    options = ["--no-nanny", "--nthreads", "1", "--no-dashboard"]
    found = [
        subprocess.Popen([*arguments, *options], cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(number)
    ]
    try:
        yield found
    finally:
        for one in found:
            one.kill()
            one.wait()


@pytest.mark.filterwarnings("ignore")
def test_a_worker_that_is_killed_in_mid_run_changes_no_digit(whole: bytes, tmp_path: Path) -> None:
    """Two processes by `--scheduler`, of which the first is killed when something has been kept."""
    from distributed import Client, LocalCluster

    plan = written(tmp_path)
    with (
        LocalCluster(n_workers=0, processes=True, dashboard_address=None, silence_logs=50) as cluster,
        Client(cluster) as client,
        dask_workers(address := cluster.scheduler_address, 2) as workers,
    ):
        client.wait_for_workers(2, timeout=SECONDS)
        with command(plan, "--scheduler", address) as run:
            wait_for(lambda: list((tmp_path / "plan").glob("runs/*.json")) or run.poll() is not None)
            workers[0].kill()
            told, problems = run.communicate(timeout=2 * SECONDS)
        assert run.returncode == 0, problems
        assert [one.poll() is None for one in workers] == [False, True]
    assert "4 of 4 cells" in told
    assert (tmp_path / "plan" / "study.parquet").read_bytes() == whole


@pytest.mark.filterwarnings("ignore")
def test_a_client_that_is_killed_goes_on_where_it_was(whole: bytes, tmp_path: Path) -> None:
    """It leaves no worker behind, and what was kept is not drawn again."""
    plan, folder = written(tmp_path), tmp_path / "plan"
    with command(plan, "--workers", "2") as run:
        wait_for(lambda: list(folder.glob("runs/*.json")) or run.poll() is not None)
        started = children(run.pid)
        assert len(started) >= 2
        run.send_signal(signal.SIGKILL)
    wait_for(lambda: not any(map(is_running, started)))
    assert not (folder / "study.parquet").exists()
    study = read_study_plan(LONG)
    kept = sum(read_run(one.read_text()).repetitions for one in folder.glob("runs/*.json"))
    assert kept > 0
    first, *_, last = carry_out(study, StudyFolder(folder))
    drawn = (first.cells - first.before) * study.repetitions - kept
    assert last.repetitions == drawn
    assert study_parquet(results_of(study, StudyFolder(folder))) == whole


def test_a_full_disk_is_said_and_nothing_that_was_kept_is_lost(whole: bytes, tmp_path: Path) -> None:
    """No file may grow beyond 9,000 bytes: how far it has come fits, the first finished cell does not."""
    plan, folder = written(tmp_path), tmp_path / "plan"

    small = read_study_plan(PLAN).cells[0]
    for _ in carry_out(dataclasses.replace(read_study_plan(PLAN), **one_cell(small.design)), StudyFolder(folder)):
        pass
    before = {one: one.read_bytes() for one in folder.glob("*/*")}
    assert len(before) == 1
    with command(plan, "--here", before=LIMIT) as run:
        _, problems = run.communicate(timeout=SECONDS)
    assert run.returncode == FAILED
    refused, again = problems.splitlines()[-2:]
    assert "could not be written: File too large. Make space" in refused and "run the same command again" in again
    assert "Traceback" not in problems and not list(folder.rglob("*.new"))
    assert all(one.read_bytes() == content for one, content in before.items())
    kept = sum(read_run(one.read_text()).repetitions for one in folder.glob("runs/*.json"))
    *_, last = carry_out(study := read_study_plan(LONG), StudyFolder(folder))
    assert 0 < kept == last.cells * study.repetitions - last.repetitions
    assert study_parquet(results_of(study, StudyFolder(folder))) == whole


def one_cell(design: Any) -> dict[str, Any]:
    names = ("n", "epsilon", "sets", "p")
    return {"mechanisms": (design.mechanism,), **{name: (getattr(design, name),) for name in names}}


@pytest.mark.filterwarnings("ignore")
def test_any_executor_gives_the_digits_of_one_process(tmp_path: Path) -> None:
    study = read_study_plan(PLAN.replace("n = [30, 60]", "n = 30").replace("[1, 3]", "3"))
    here = carried_out(study, tmp_path / "here")
    with ThreadPoolExecutor(3) as threads:
        assert carried_out(study, tmp_path / "threads", threads, 3) == here
    with dask_executor(None, 2) as (cluster, workers):
        assert workers == 2
        assert carried_out(study, tmp_path / "cluster", cluster, workers) == here


def test_a_cell_has_its_seed_and_its_digits_in_every_plan(tmp_path: Path) -> None:
    """In another order, with other cells around it, and its draws with other rules too."""
    study = read_study_plan(PLAN)
    turned = dataclasses.replace(study, n=study.n[::-1], sets=(3,), p=study.p[::-1], mechanisms=study.mechanisms[::-1])
    cells = {cell.key: cell for cell in study.cells}
    assert {cell.key for cell in turned.cells} == {key for key, cell in cells.items() if cell.design.sets == 3}
    assert all(cells[cell.key].design == cell.design for cell in turned.cells)
    fewer = dataclasses.replace(study, rules=("score",), level=0.9)
    assert [one.design.seed for one in fewer.cells] == [one.design.seed for one in study.cells]
    assert not {one.key for one in fewer.cells} & set(cells)
    assert len({one.design.seed for one in study.cells}) == study.size == len(study.cells) == 16
    assert {one.design.seed for one in dataclasses.replace(study, seed=8).cells}.isdisjoint(
        one.design.seed for one in study.cells
    )
    carried_out(study, tmp_path)
    *_, last = carry_out(turned, StudyFolder(tmp_path))
    assert (last.before, last.finished, last.repetitions) == (8, 8, 0)


def test_what_is_exact_is_the_sum_and_what_is_simulated_is_near_it(tmp_path: Path) -> None:
    """Within four standard errors, of all numbers in all cells; and where exactness is not asked for, nothing is."""
    exact = read_study(carried_out(read_study_plan(PLAN), tmp_path / "exact"))
    drawn = read_study(carried_out(read_study_plan(PLAN + "exact = false"), tmp_path / "drawn"))
    for sums, ours in zip(exact, drawn, strict=True):
        assert sums.estimate_exact and not sums.run and ours.run and not ours.estimate_exact
        for key, one in sums.rules.items():
            assert one.exact and not ours.rules[key].exact
            design = sums.design
            settings: dict[str, Any] = {"p": design.p, "sets": design.sets, "level": design.level}
            alone = exact_coverage(synthesizer=design.release, rule=key, **settings)
            assert abs(one.coverage.value - alone.coverage) <= one.error_bound + alone.error_bound < 2e-8
            for name in ("coverage", "mean_width_inside", "negative_variance_share", "vacuous_share"):
                seen = getattr(ours.rules[key], name)
                assert abs(seen.value - getattr(one, name).value) <= 4 * seen.error, (key, name)
        for name in ("bias", "root_mean_squared_error"):
            seen = getattr(ours, name)
            assert 0 < abs(seen.value - getattr(sums, name).value) <= 4 * seen.error


def test_rules_beyond_exact_sums_are_simulated_beside_those_within(tmp_path: Path) -> None:
    """Of ten sets of 1,000 rows no sums over (S, Q) are in reach, but those of a rule that reads S alone are."""
    study = StudyPlan.of(ENTRIES | {"n": 1000, "sets": 10, "rules": ["score", "reiter_2003"], "repetitions": 700})
    (found,) = read_study(carried_out(study, tmp_path))
    assert [(key, one.exact) for key, one in found.rules.items()] == [("score", True), ("reiter_2003", False)]
    assert (found.rules["score"].coverage.error, found.bias.error) == (0.0, 0.0)
    assert found.rules["reiter_2003"].coverage.error > 0
    tally = read_run(found.run).tally_of(study.cells[0].plan)
    assert tally.repetitions == 700
    assert (
        tally.sums["covered"][tally.plan.rules.index("reiter_2003")] / 700 == found.rules["reiter_2003"].coverage.value
    )


def test_pandas_reads_a_row_for_each_rule_of_each_cell(tmp_path: Path) -> None:
    content = carried_out(read_study_plan(PLAN), tmp_path)
    table = pd.read_parquet(io.BytesIO(content))
    assert len(table) == sum(len(one.rules) for one in read_study(content))
    assert table.groupby(["mechanism", "n", "sets", "p"]).ngroups == 16
    assert set(table.query("sets == 1").rule) == {"as_if_real", "score"}  # the third one needs two sets
    assert (table.coverage_error[table.exact] == 0).all()
    assert len(pd.read_parquet(tmp_path / "cells")) == len(table)  # as the study runs


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "n": ({"n": [30, 0]}, "n (people) must be a whole number from 1 to 5,000; got 0."),
    "epsilon": ({"epsilon": [math.nan]}, "epsilon (promised privacy loss) must be a number from"),
    "infinite": ({"epsilon": [math.inf]}, "got ∞"),
    "p": ({"p": "many"}, "p (true share) must be a number from 0 to 1; got 'many'."),
    "twice": ({"sets": [2, 2.0]}, "sets must have each value once; got [2, 2]."),
    "none": ({"n": []}, "n must have from 1 to 10,000 values; got 0."),
    "mechanisms": ({"mechanisms": ["nothing"]}, "mechanisms must be at least one of beta_binomial,"),
    "rules": ({"rules": [3]}, "rules must be at least one of"),
    "repetitions": ({"repetitions": [5]}, "repetitions must be a whole number from 1 to 10⁷; got [5]."),
    "seed": ({"seed": -1}, "seed must be a whole number from 0 to 10⁹; got −1."),
    "exact": ({"exact": 1}, "exact must be true or false; got 1."),
    "unknown": ({"delta": 0.1}, "A plan has the entries mechanisms, rules, n,"),
    "no fit": ({"sets": 1}, "The cell geometric, n = 30, epsilon = 1, sets = 1, p = 0.2 cannot be: rules must hold"),
    "m": ({"mechanisms": "laplace", "m": 5}, "cannot be: m (released rows) must equal n = 30"),
    "large": (
        {"n": list(range(1, 200)), "p": [one / 100 for one in range(99)]},
        "The grid must have at most 10,000 cells; got 19,701, the product of",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_a_plan_that_cannot_be_is_refused_in_a_sentence(name: str) -> None:
    entries, words = WRONG[name]
    with pytest.raises(ValueError) as refused:
        _ = StudyPlan.of(ENTRIES | entries).cells
    assert words in str(refused.value)


@pytest.mark.parametrize("name", [name for name, one in ENTRIES.items() if name])
def test_every_entry_that_is_needed_is_asked_for(name: str) -> None:
    with pytest.raises(ValueError, match=f"^{name} must be given"):
        StudyPlan.of({key: value for key, value in ENTRIES.items() if key != name})


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("n = ", "A plan must be in TOML"),
        ("n = " + "[" * 50_000, "A plan must be in TOML"),
        ("#" * 200_001, "A plan must have at most 200,000 characters; got 200,001."),
        ("x = 1", "A plan has the entries"),
    ],
)
def test_a_text_that_is_no_plan_is_refused_in_a_sentence(text: str, words: str) -> None:
    with pytest.raises(ValueError) as refused:
        read_study_plan(text)
    assert words in str(refused.value)


def test_the_plan_of_the_readme_can_be_carried_out() -> None:
    text = (ROOT / "dpviz" / "study" / "README.md").read_text("utf-8").partition("```toml\n")[2].partition("```")[0]
    study = read_study_plan(text)
    assert study.size == len(study.cells) == 144


def test_a_size_is_refused_before_anything_is_expanded() -> None:
    axis = {name: [(1 + one) / 20_000 for one in range(10_000)] for name in ("epsilon", "p")}
    begin = time.process_time()
    with pytest.raises(ValueError, match="got 10⁸, the product"):
        StudyPlan.of(ENTRIES | axis)
    assert time.process_time() - begin < 2


def test_the_command_says_what_is_wrong_in_a_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert study_command([str(written(tmp_path, "n = 5"))]) == REFUSED
    assert capsys.readouterr().err.startswith("mechanisms must be given")
    assert study_command([str(tmp_path / "nothing.toml")]) == REFUSED
    assert "No such file" in capsys.readouterr().err
    assert study_command([str(written(tmp_path, PLAN)), "--workers", "0"]) == REFUSED
    assert "workers" in capsys.readouterr().err
    (tmp_path / "file").write_text("")
    assert study_command([str(written(tmp_path, PLAN)), "--here", "--folder", str(tmp_path / "file")]) == FAILED
    assert "cannot be written" in capsys.readouterr().err


def test_the_app_needs_no_dask_and_the_command_says_what_to_install(tmp_path: Path) -> None:
    pages = "\n".join(
        f"import {name}" for name in ("dpviz.study.__main__", "pages.coverage", "pages.curator", "pages.plan")
    )
    assert not {name for name in modules_after(pages) if is_within(name, "dask", "distributed")}
    few = PLAN.replace("[30, 60]", "30").replace("[1, 3]", "3")
    plan, absent = written(tmp_path, few), "sys.modules['dask'] = sys.modules['distributed'] = None"
    with command(plan, before=absent) as run:
        told, problems = run.communicate()
    assert (run.returncode, told, NO_DASK in problems.splitlines()) == (FAILED, "", True)
    assert "Traceback" not in problems
    with command(plan, "--here", before=absent) as run:
        told, problems = run.communicate()
    assert (run.returncode, "4 of 4 cells, 4 of them exact" in told) == (0, True), problems


def test_what_cannot_be_read_in_the_folder_is_computed_again(tmp_path: Path) -> None:
    study = dataclasses.replace(read_study_plan(PLAN), n=(30,), sets=(3,), p=(0.2,), exact=False)
    here = carried_out(study, tmp_path / "one")
    torn = tmp_path / "two"
    carried_out(study, torn)
    first, second = (torn / "cells" / f"{cell.key}.parquet" for cell in study.cells)
    first.write_bytes(first.read_bytes()[:-50])
    second.unlink()
    (torn / "runs" / f"{second.stem}.json").write_text("{")
    (torn / "runs" / ".half.json.77.new").write_text("left by a command that was killed")
    assert carried_out(study, torn) == here
    assert not list(torn.rglob("*.new"))
