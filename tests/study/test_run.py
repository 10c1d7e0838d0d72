"""A study gives the digits of one process, whatever is lost on the way: a worker, the client, the disk."""

import contextlib
import dataclasses
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from dpviz.coverage import exact_coverage, run_coverage
from dpviz.study.__main__ import FAILED, REFUSED, main
from dpviz.study.plan import StudyCell, StudyPlan, read_study_plan, simulation_of
from dpviz.study.results import CellResult, read_results, results_to_csv
from dpviz.study.run import evaluate_cell, process_executor, run_study, stored_results
from tests.study.plans import FEW, PLAN, SIMULATED, SLOW
from tests.test_import_boundaries import ROOT, is_within, modules_after

pytestmark = pytest.mark.usefixtures("plain_main")  # of the processes that are started here

TIMEOUT_S = 240.0
SMALL_FILES = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (900, 900))"  # as if the disk were full


def evaluate(text: str) -> list[CellResult]:
    """Results of a plan without any executor or file."""
    return [evaluate_cell(cell) for cell in read_study_plan(text).cells]


@contextlib.contextmanager
def command(plan: Path, *options: str, before: str = "") -> Iterator[subprocess.Popen[str]]:
    """The command at work after a line of Python, ended with the test whatever happens."""
    program = f"import runpy, sys\n{before}\nrunpy.run_module('dpviz.study', run_name='__main__')"
    arguments = [sys.executable, "-c", program, str(plan), *options]
    with subprocess.Popen(arguments, cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            yield process
        finally:
            process.kill()


def write_plan(directory: Path, text: str) -> Path:
    plan = directory / "plan.toml"
    plan.write_text(text, "utf-8")
    return plan


def wait_for(condition: Callable[[], object]) -> None:
    end = time.monotonic() + TIMEOUT_S
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def descendants(pid: int) -> list[int]:
    """All processes that a process has started, and those have."""
    listing = subprocess.run(["ps", "-eo", "pid=,ppid="], capture_output=True, text=True, check=True).stdout
    pairs = [tuple(map(int, line.split())) for line in listing.splitlines()]
    children = [child for child, parent in pairs if parent == pid]
    return children + [grandchild for child in children for grandchild in descendants(child)]


def is_running(pid: int) -> bool:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


@contextlib.contextmanager
def dask_workers(scheduler: str, number: int) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Workers of a scheduler, each a process of its own that nobody starts again."""
    arguments = [sys.executable, "-m", "distributed.cli.dask_worker", scheduler]
    options = ["--no-nanny", "--nthreads", "1", "--no-dashboard"]
    quiet: dict[str, Any] = {"cwd": ROOT, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    workers = [subprocess.Popen([*arguments, *options], **quiet) for _ in range(number)]
    try:
        yield workers
    finally:
        for worker in workers:
            worker.kill()
            worker.wait()


@pytest.mark.filterwarnings("ignore")
def test_a_dask_worker_that_is_killed_in_mid_run_changes_no_digit(tmp_path: Path) -> None:
    from distributed import Client, LocalCluster

    plan = write_plan(tmp_path, SLOW)
    cells = tmp_path / "plan" / "cells"
    with (
        LocalCluster(n_workers=0, processes=True, dashboard_address=None, silence_logs=50) as cluster,
        Client(cluster) as client,
        dask_workers(address := cluster.scheduler_address, 2) as workers,
    ):
        client.wait_for_workers(2, timeout=TIMEOUT_S)
        with command(plan, "--scheduler", address) as process:
            wait_for(lambda: list(cells.glob("*.csv")) or process.poll() is not None)
            workers[0].kill()
            output, problems = process.communicate(timeout=TIMEOUT_S)
        assert process.returncode == 0, problems
        assert [worker.poll() is None for worker in workers] == [False, True]
    assert "The study has 8 cells" in output
    results = read_results((tmp_path / "plan" / "study.csv").read_bytes())
    assert list(results[::3]) == [evaluate_cell(cell) for cell in read_study_plan(SLOW).cells[::3]]


def test_a_client_that_is_killed_goes_on_where_it_was(tmp_path: Path) -> None:
    """It leaves no worker behind, and finished cells are not computed again."""
    plan = write_plan(tmp_path, SLOW)
    cells = tmp_path / "plan" / "cells"
    with command(plan, "--workers", "2") as process:
        wait_for(lambda: list(cells.glob("*.csv")) or process.poll() is not None)
        started = descendants(process.pid)
        assert len(started) >= 2
        process.send_signal(signal.SIGKILL)
    wait_for(lambda: not any(map(is_running, started)))
    before = {path: path.stat().st_mtime_ns for path in cells.glob("*.csv")}
    assert 0 < len(before) < 8
    assert main([str(plan), "--workers", "2"]) == 0
    assert all(path.stat().st_mtime_ns == time_ns for path, time_ns in before.items())
    assert len(list(cells.glob("*.csv"))) == 8
    study = read_study_plan(SLOW)
    assert stored_results(study, cells)[:2] == [evaluate_cell(cell) for cell in study.cells[:2]]


def test_a_full_disk_is_reported_and_no_finished_cell_is_lost(tmp_path: Path) -> None:
    study = read_study_plan(FEW)
    plan = write_plan(tmp_path, FEW)
    cells = tmp_path / "plan" / "cells"
    first = {name: (getattr(study.cells[0].design, name),) for name in ("epsilon", "sets", "p")}
    with ThreadPoolExecutor(1) as executor:
        part = dataclasses.replace(study, mechanisms=("geometric",), **first)
        assert [*run_study(part, cells, executor)] == [(0, 1), (1, 1)]
    before = {path: path.read_bytes() for path in cells.iterdir()}
    with command(plan, "--workers", "1", before=SMALL_FILES) as process:
        _, problems = process.communicate(timeout=TIMEOUT_S)
    assert process.returncode == FAILED
    refusal, advice = problems.splitlines()[-2:]
    assert "could not be written: File too large. Make space there" in refusal
    assert "run the same command again" in advice and "Traceback" not in problems
    assert {path: path.read_bytes() for path in cells.iterdir()} == before


@pytest.mark.parametrize("make_executor", [process_executor, ThreadPoolExecutor])
def test_any_executor_gives_the_digits_of_one_process(make_executor: Any, tmp_path: Path) -> None:
    with make_executor(2) as executor:
        progress = list(run_study(read_study_plan(FEW), tmp_path, executor))
        assert progress == [(finished, 4) for finished in range(5)]
        assert list(run_study(read_study_plan(FEW), tmp_path, executor)) == [(4, 4)]
    assert stored_results(read_study_plan(FEW), tmp_path) == evaluate(FEW)


def test_what_is_exact_is_the_sum_and_what_is_simulated_is_near_it() -> None:
    """Within four standard errors, of all numbers in all cells; and where exactness is not asked for, nothing is."""
    for exact, simulated in zip(evaluate(PLAN), evaluate(PLAN + "exact = false"), strict=True):
        assert exact.is_exact and not simulated.is_exact and not simulated.estimate_exact
        design = exact.design
        settings: dict[str, Any] = {"p": design.p, "sets": design.sets, "level": design.level}
        for key, rule in exact.rules.items():
            alone = exact_coverage(synthesizer=design.release, rule=key, **settings)
            assert rule.exact and not simulated.rules[key].exact
            assert abs(rule.coverage.value - alone.coverage) <= rule.error_bound + alone.error_bound < 2e-8
            for name in ("coverage", "mean_width_inside", "negative_variance_share", "vacuous_share"):
                measure = getattr(simulated.rules[key], name)
                assert abs(measure.value - getattr(rule, name).value) <= 4 * measure.error, (key, name)
        for name in ("bias", "root_mean_squared_error"):
            measure = getattr(simulated, name)
            assert 0 < abs(measure.value - getattr(exact, name).value) <= 4 * measure.error


def test_rules_without_exact_sums_are_simulated_beside_those_with() -> None:
    """Of ten sets of 1,000 rows no sums over (S, Q) are in reach, but those of a rule that reads S alone are."""
    cell = StudyPlan.of({
        "mechanisms": "geometric", "n": 1000, "epsilon": 1, "sets": 10, "p": 0.2, "rules": ["score", "reiter_2003"],
        "repetitions": 700, "seed": 7,
    }).cells[0]  # fmt: skip
    result = evaluate_cell(cell)
    assert [(key, rule.exact) for key, rule in result.rules.items()] == [("score", True), ("reiter_2003", False)]
    assert (result.rules["score"].coverage.error, result.bias.error) == (0.0, 0.0)
    tally = run_coverage(simulation_of(cell.design, cell.design.rules))  # whose draws no rule changes
    covered = tally.sums["covered"][tally.plan.rules.index("reiter_2003")]
    assert covered / 700 == result.rules["reiter_2003"].coverage.value


def test_pandas_reads_a_row_for_each_rule_of_each_cell(tmp_path: Path) -> None:
    assert main([str(write_plan(tmp_path, PLAN)), "--workers", "1"]) == 0
    table = pd.read_parquet(tmp_path / "plan" / "study.parquet")
    assert table.equals(pd.read_csv(tmp_path / "plan" / "study.csv", keep_default_na=False, na_values="nan"))
    results = read_results((tmp_path / "plan" / "study.csv").read_bytes())
    assert table.coverage.tolist() == [rule.coverage.value for result in results for rule in result.rules.values()]
    assert table.groupby(["mechanism", "n", "sets", "p"]).ngroups == 16
    assert set(table.query("sets == 1").rule) == {"as_if_real", "score"}  # the third one needs two sets
    assert (table.coverage_error[table.exact] == 0).all()


def test_the_command_says_what_is_wrong_in_a_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(write_plan(tmp_path, "n = 5"))]) == REFUSED
    assert capsys.readouterr().err.startswith("mechanisms must be given")
    assert main([str(tmp_path / "nothing.toml")]) == REFUSED
    assert "No such file" in capsys.readouterr().err
    assert main([str(write_plan(tmp_path, PLAN)), "--workers", "0"]) == REFUSED
    assert "workers" in capsys.readouterr().err
    (tmp_path / "file").write_text("")
    assert main([str(write_plan(tmp_path, PLAN)), "--folder", str(tmp_path / "file")]) == FAILED
    assert "Not a directory" in capsys.readouterr().err


def test_nothing_needs_dask_but_a_scheduler(tmp_path: Path) -> None:
    pages = "\n".join(f"import {name}" for name in ("dpviz.study.__main__", "pages.coverage", "pages.plan"))
    assert not {name for name in modules_after(pages) if is_within(name, "dask", "distributed")}
    with command(
        write_plan(tmp_path, FEW), "--scheduler", "tcp://127.0.0.1:1",
        before="sys.modules['dask'] = sys.modules['distributed'] = None",
    ) as process:  # fmt: skip
        _, problems = process.communicate(timeout=TIMEOUT_S)
    assert process.returncode == FAILED and "Traceback" not in problems
    assert 'needs dask, which is not installed: pip install "dpviz[study]"' in problems


def test_what_cannot_be_read_in_the_folder_is_computed_again(tmp_path: Path) -> None:
    study = read_study_plan(FEW)
    with ThreadPoolExecutor(1) as executor:
        assert [*run_study(study, tmp_path, executor)][-1] == (4, 4)
    first, second, third, _ = (tmp_path / f"{cell.key}.csv" for cell in study.cells)
    whole = first.read_bytes()
    first.write_bytes(whole[:-50])
    second.unlink()
    third.write_bytes(whole)  # of another cell
    with ThreadPoolExecutor(1) as executor:
        assert [*run_study(study, tmp_path, executor)] == [(1, 4), (2, 4), (3, 4), (4, 4)]
    assert stored_results(study, tmp_path) == evaluate(FEW)


def test_an_interrupt_or_an_error_starts_nothing_else(tmp_path: Path) -> None:
    """Whoever stops to iterate keeps what is finished."""
    study = read_study_plan(SIMULATED)
    evaluated = list[StudyCell]()

    class Recorder(ThreadPoolExecutor):
        def submit(self, function: Any, cell: Any, /) -> Any:  # type: ignore[override]
            def record(cell: StudyCell) -> object:
                evaluated.append(cell)
                return function(cell)

            return super().submit(record, cell)

    with Recorder(1) as executor:
        progress = run_study(study, tmp_path, executor)
        assert [next(progress), next(progress)] == [(0, 16), (1, 16)]
        progress.close()
    assert len(evaluated) < 16
    assert len(stored_results(study, tmp_path)) == 1
    assert results_to_csv(stored_results(study, tmp_path)) == results_to_csv([evaluate_cell(study.cells[0])])
