"""The folder in which a study keeps a Parquet file of each finished cell, and how far a simulation has come."""

import contextlib
import os
from pathlib import Path

from dpviz.coverage import CoverageTally
from dpviz.simulation import read_run, save_run
from dpviz.study.parquet import unpacked
from dpviz.study.plan import StudyCell
from dpviz.study.results import CellResult, cells_of, study_parquet

_CELLS, _RUNS = "cells", "runs"
"""The folders within it, of finished cells and of simulations under way."""


class NotKeptError(Exception):
    """A file could not be written; what had been kept before is still there."""


class StudyFolder:
    """Files by the keys of cells, each written beside its place and then renamed, so that it is there whole or not.

    What cannot be read, or belongs to another cell, counts as not there, and is computed again.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            for part in (_CELLS, _RUNS):
                (path / part).mkdir(parents=True, exist_ok=True)
            for left in path.glob("**/.*.new"):  # by a command that was killed as it wrote
                left.unlink()
        except OSError as refused:
            raise NotKeptError(f"The folder {path} cannot be written: {refused.strerror}.") from refused

    def result(self, cell: StudyCell) -> CellResult | None:
        """Return what is known of a finished cell."""
        with contextlib.suppress(OSError, ValueError):
            (found,) = cells_of(unpacked(self._result(cell).read_bytes()))
            return found if found.design == cell.design else None
        return None

    def keep_result(self, cell: StudyCell, result: CellResult) -> None:
        """Keep a finished cell; how far it had come is not needed any more."""
        self._write(self._result(cell), study_parquet([result]))
        self._run(cell).unlink(missing_ok=True)

    def tally(self, cell: StudyCell) -> CoverageTally | None:
        """Return how far the simulation of a cell has come; its first block is drawn again, and must agree."""
        with contextlib.suppress(OSError, ValueError):
            return read_run(self._run(cell).read_text("utf-8")).tally_of(cell.plan)
        return None

    def keep_tally(self, cell: StudyCell, tally: CoverageTally) -> None:
        """Keep how far the simulation of a cell has come, in a file that "Coverage" opens."""
        self._write(self._run(cell), save_run(tally, about=cell.design.to_address()).encode())

    def write(self, name: str, content: bytes) -> Path:
        """Write a file of the whole study; returns where it is."""
        self._write(self.path / name, content)
        return self.path / name

    def _result(self, cell: StudyCell) -> Path:
        return self.path / _CELLS / f"{cell.key}.parquet"

    def _run(self, cell: StudyCell) -> Path:
        return self.path / _RUNS / f"{cell.key}.json"

    def _write(self, place: Path, content: bytes) -> None:
        new = place.with_name(f".{place.name}.{os.getpid()}.new")
        try:
            new.write_bytes(content)
            new.replace(place)
        except OSError as refused:
            with contextlib.suppress(OSError):
                new.unlink(missing_ok=True)
            raise NotKeptError(
                f"{place} could not be written: {refused.strerror}. Make space there, or give another folder."
            ) from refused
