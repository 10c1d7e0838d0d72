"""What is asked of a promise: how large a prior, or how narrow a range, so many sets of a kind of data need for it."""

from dataclasses import dataclass
from typing import Any

from dpviz.calibration.kinds import Kind, Setting
from dpviz.core.parameters import known, readable
from dpviz.mechanisms import SYNTHESIZERS


@dataclass(frozen=True, kw_only=True)
class PromiseQuestion:
    """What `sets` sets together need for the ε and δ of a setting, and what that costs at a share `p` of ones.

    `m_is_n`: on an axis of n, m moves with it.
    """

    kind: Kind
    setting: Setting
    sets: int = 1
    p: float = 0.5
    m_is_n: bool = True

    @property
    def promise(self) -> str:
        """The promise in symbols."""
        return ", ".join(self.setting.in_symbols(4, ("epsilon", "delta")))

    @property
    def cells(self) -> int:
        """How many cells a table has; none where rows are numbers."""
        return self.kind.cells(self.setting)

    @property
    def of_one_set(self) -> dict[str, Any]:
        """What a search for the prior of two cells asks of one set, by name."""
        return {name: getattr(self.setting, name) for name in ("n", "m", "epsilon", "delta")}

    @property
    def synthesizer(self) -> str:
        """The plain name of what releases rows of such data."""
        return SYNTHESIZERS[self.kind.mechanism].label.partition(" (")[0]

    def named(self) -> str:
        """Return all that is asked, in symbols."""
        sizes = self.setting.in_symbols(names=("n", "m", *self.kind.numbers))
        return ", ".join([self.kind.label, *sizes, f"M = {self.sets}", self.promise])

    def held(self, level: float) -> str:
        """Return a prior or range that is given, in words."""
        return f"{self.kind.symbol} = {readable(level)}{' invented rows in each cell' if self.cells else ''}"

    def level_cell(self, level: float, digits: int = 5) -> str:
        """Return a prior or range that is needed as a cell of a table: above α stand the invented rows per real row."""
        text = self.kind.quantity.text(level, digits)
        if not (self.cells and known(level)):
            return text
        per_row = self.kind.quantity.text(self.kind.counted(level, self.setting), min(digits, 3))
        return f"{per_row}<br><small>{self.kind.symbol} = {text}</small>"
