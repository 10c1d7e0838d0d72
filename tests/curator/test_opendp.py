"""The hand-off to OpenDP: every script runs there, spends what it says, and spends nothing before the right rows."""

import math
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from dpviz.comparisons import CountData, UnknownVariance
from dpviz.comparisons.proportion import BinaryMethod
from dpviz.comparisons.terms import setting_for
from dpviz.curator.candidate import Candidate
from dpviz.curator.opendp import nearest_method, opendp_script
from dpviz.curator.privacy_limits import EpsilonDeltaLimit
from dpviz.curator.question import DesignQuestion
from dpviz.mechanisms import BetaBinomial, GeometricSanitizer
from tests.curator import questions
from tests.curator.test_report import CELLS, COUNT, NUMBERS
from tests.helpers import assess, match_in, run_hand_over

every_kind = pytest.mark.parametrize("data", [COUNT, CELLS, NUMBERS], ids=lambda data: data.key)


def asking(data: CountData, sets: int) -> DesignQuestion:
    """A question with an ε of 1 for so many sets."""
    low, high = (-0.5, 0.5) if isinstance(data, UnknownVariance) else (0.2, 0.4)
    return questions.asking(data=data, low=low, high=high, values=2, sets=(sets,), epsilon=1.0, repetitions=20)


def designs_of(data: CountData, sets: int, *keys: str) -> Iterator[Candidate]:
    """The design of each of these methods, or of every one, that keeps an ε of 1 in so many sets."""
    question = asking(data, sets)
    for method in map(data.method, keys) if keys else question.considered_methods:
        number = method.sets(sets)
        epsilon = setting_for(method, data, number, question.promises)
        if epsilon is not None:
            yield assess(question, method, number, "as_if_real", epsilon, whole=False)


@every_kind
@pytest.mark.parametrize("sets", [1, 3])
def test_every_method_is_handed_over_or_said_not_to_be(data: CountData, sets: int) -> None:
    for design in designs_of(data, sets):
        script = opendp_script(design)
        compile(script.text, design.method.key, "exec")
        assert "$" not in script.text
        assert script.explanation.endswith(".")
        assert bool(script.text) == (nearest_method(design.method) is not None)
        assert script.is_same == script.explanation.startswith("OpenDP has what")


def test_another_release_that_is_handed_over_keeps_the_same_promise() -> None:
    question = questions.asking(EpsilonDeltaLimit(most_epsilon=0.5, most_delta=0.01), n=30, low=0.5, high=0.5)
    data = question.data
    epsilon = setting_for(BinaryMethod.of(BetaBinomial), data, 1, question.promises)
    assert epsilon is not None
    script = opendp_script(assess(question, BinaryMethod.of(BetaBinomial), 1, "as_if_real", epsilon, whole=False))
    assert not script.is_same
    match = match_in(r"(?m)^epsilon = (.*)", script.text)
    worst = BinaryMethod.of(GeometricSanitizer).real_delta(data, float(match[1]), 1, 0.5)
    assert worst is not None
    assert worst.value <= 0.01 * (1 + 1e-9)
    assert epsilon > 1.2 * float(match[1])  # the promised δ lets the prior shrink far more than the noise


def handed_over(data: CountData, key: str, sets: int = 1) -> str:
    """The script of a method with an ε of 1 for all its sets."""
    (design,) = designs_of(data, sets, key)
    return opendp_script(design).text


LIBRARY = """
class Chain:
    def __getattr__(self, name): return Chain()
    def __rshift__(self, other): return other
    def __rrshift__(self, other): return self
    def __mul__(self, number): return self
    def map(self, distance): return 1.0
    def __call__(self, *given, **named): return NOISY if given and isinstance(given[0], list) else Chain()
c, m, t = Chain(), Chain(), Chain()
c.make_composition = lambda many: many[0]
def enable_features(name): pass
def atom_domain(**named): return Chain()
def vector_domain(domain, size): return domain
def change_one_distance(): return Chain()
"""
"""What stands for OpenDP where it is not installed: it gives NOISY for any rows, and a loss of 1."""


def run_beside(folder: Path, script: str, rows: object, noisy: object) -> subprocess.CompletedProcess[str]:
    """A script in a folder with these rows put in, with `noisy` in the place of what the library gives."""
    return run_hand_over(folder, script, str(rows), f"NOISY = {noisy!r}\n{LIBRARY}")


@pytest.mark.parametrize(("data", "key", "wrong"), [
    (COUNT, "geometric", [2] * 40), (COUNT, "modips", [0.5] * 40), (CELLS, "laplace_cells", [3] * 40),
    (NUMBERS, "sanitize_bootstrap", [math.inf] * 50), (NUMBERS, "modips_split", ["a"] * 50),
])  # fmt: skip
def test_a_script_spends_nothing_until_the_right_rows_stand_in_it(data, key, wrong, tmp_path) -> None:
    script = handed_over(data, key)
    rows = str(wrong).replace("inf", 'float("inf")')
    for given, reason in (("None", f"list of the {len(wrong)} confidential rows."), ("[0]", "confidential rows."),
                        (rows, "every row must be ")):  # fmt: skip
        run = run_beside(tmp_path, script, given, noisy=1)
        assert run.returncode == 1
        assert run.stderr.startswith("Nothing is released and no ε is spent: "), run.stderr
        assert reason in run.stderr
        assert run.stdout == ""
    (tmp_path / "released.csv").write_text("set,value\n1,1\n")
    again = run_beside(tmp_path, script, [0] * len(wrong), noisy=1)
    assert "there is a file released.csv already" in again.stderr
    assert (tmp_path / "released.csv").read_text() == "set,value\n1,1\n"


def test_a_script_writes_every_released_row_to_the_last_digit(tmp_path: Path) -> None:
    """2,000 rows and two sets: an array that is printed would show six of each."""
    data = UnknownVariance(n=2000, mean=0.0, sigma=1.0, low=-4.0, high=4.0)
    bins = math.ceil(2 * 2000 ** (1 / 3))
    half = [0.0] * (bins // 2) + [5.0] * (bins - bins // 2)
    for key, noisy, least in (
        ("perturbed_histogram_safe", [half, half], 0.0), ("sanitize_bootstrap", [half, half], 0.0),
        ("modips_split", [3.0, 0.01, 3.0, 0.01], 1.5),
    ):  # fmt: skip
        run = run_beside(tmp_path / key, handed_over(data, key, sets=2), [0.5] * 2000, noisy)
        assert run.returncode == 0, run.stderr
        assert "All 4000 released rows are in the file released.csv" in run.stdout
        head, *lines = (tmp_path / key / "released.csv").read_text(encoding="utf-8").splitlines()
        assert head == "set,value"
        assert [line.split(",")[0] for line in lines] == ["1"] * 2000 + ["2"] * 2000
        values = [float(line.split(",")[1]) for line in lines]
        assert all(least <= one <= 4.0 for one in values)
        assert len(set(values)) > 3900
        assert "..." not in run.stdout
    run = run_beside(tmp_path / "count", handed_over(COUNT, "geometric"), [0, 1] * 20, 13)
    assert run.returncode == 0, run.stderr
    lines = (tmp_path / "count" / "released.csv").read_text(encoding="utf-8").splitlines()[1:]
    assert sorted(lines) == ["1,0"] * 27 + ["1,1"] * 13
    run = run_beside(tmp_path / "none", handed_over(NUMBERS, "perturbed_histogram_safe"), [0] * 50, [[-1.0] * 8])
    assert run.returncode == 0, run.stderr
    assert "A set is left out" in run.stdout
    assert (tmp_path / "none" / "released.csv").read_text() == "set,value\n"


@pytest.mark.parametrize(("key", "near"), [
    ("modips_split_truncated", "Model-based (modips), split, BIT"), ("sanitize_bootstrap", None),
    ("modips_communal_truncated", "Model-based (modips), not split (communal), BIT"), ("perturbed_histogram", None),
    ("smoothed_histogram", "Perturbed histogram, twice the noise"),
    ("bootstrap_sanitize", "Perturbed histogram, twice the noise"),
])  # fmt: skip
def test_methods_for_numbers_have_what_opendp_has_of_them(key: str, near: str | None) -> None:
    method = NUMBERS.method(key)
    match = nearest_method(method)
    assert match is not None
    assert (None if match is method else match.label) == near
    assert ("once more from the histogram" in handed_over(NUMBERS, key)) == (key == "sanitize_bootstrap")


@every_kind
def test_the_accountant_of_opendp_finds_the_same_loss(data: CountData, tmp_path: Path) -> None:
    n_same, n_rows = 0, getattr(data, "n")  # noqa: B009 (every kind of data has it)
    for design in designs_of(data, 3):
        script, folder = opendp_script(design), tmp_path / design.method.key
        if script.text:
            run = run_hand_over(folder, script.text, str([0, 1] * (n_rows // 2)))
            assert run.returncode == 0, run.stderr
            match = match_in(r"(?m)privacy loss.* ([\d.e-]+)$", run.stdout)
            assert len((folder / "released.csv").read_text().splitlines()) > n_rows // 2
            loss = design.real_epsilon if script.is_same else 1.0
            assert float(match[1]) == pytest.approx(loss, rel=1e-9)
            n_same += script.is_same
    assert n_same >= 1
