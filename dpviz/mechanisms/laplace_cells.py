"""The Laplace sanitizer of k cells: independent Laplace noise on every count, rounded and clamped."""

import dataclasses
import itertools
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpviz.core.types import FloatArray, IntArray
from dpviz.mechanisms.base import WorstCase, check_index, parameter
from dpviz.mechanisms.cells import CellSynthesizer
from dpviz.mechanisms.noise import NOISE_EPSILON, LaplaceSanitizer, NoiseSanitizer


@dataclass(frozen=True)
class LossDistribution:
    """The few losses L = ln(P / Q) that counts with noise have, with their probabilities under P."""

    losses: FloatArray
    masses: FloatArray

    def delta(self, epsilon: float) -> float:
        """δ(ε) = Σ_{L > ε} P (1 − e^{ε − L})."""
        return float(self.masses @ -np.expm1(np.minimum(epsilon - self.losses, 0.0)))

    def listed(self) -> tuple[FloatArray, FloatArray]:
        """Return all losses and ln of their probabilities."""
        with np.errstate(divide="ignore"):
            return self.losses, np.log(self.masses)


@dataclass(frozen=True, kw_only=True)
class LaplaceCells(CellSynthesizer):
    """m_c = n_c + Laplace(2/ε) in every cell, rounded to the nearest whole number and clamped to 0 … n.

    Substituting a row moves two counts by 1, hence 2/ε. Source: Abowd & Vilhuber (2008), equation (2).

    >>> release = LaplaceCells(n=4, cells=3, epsilon=2)
    >>> release.worst_log_odds().value, release.shape
    (2.0, (15, 125))
    """

    key = "laplace_cells"
    label = "Laplace sanitizer (k cells)"
    formula = (
        r"m_c = \mathrm{clamp}_{0}^{n}\,\mathrm{round}\!"
        r"\left(n_c + \mathrm{Laplace}(2/\varepsilon)\right),\ c = 1 \dots k"
    )
    source = "Abowd & Vilhuber (2008), equation (2)"
    color = "green"
    kept_by = ""
    opendp = "categories"
    releases = (
        "One set: every count plus Laplace noise of scale 2/ε, rounded and moved to the nearest end where it falls "
        "outside 0 to n. The released counts need not add up to n; the share is the count over n. It spends all of ε "
        "from three rows on."
    )
    finding = ""
    several_sets = False
    noisy = True
    two_cells = LaplaceSanitizer
    share_of_a_count = 0.5
    moved_by = NoiseSanitizer.moved_by
    needs_no_matrix = True

    m: int = dataclasses.field(init=False, default=0)
    epsilon: float = parameter(NOISE_EPSILON, minimum=1e-6)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "m", self.n)

    @cached_property
    def one_cell(self) -> LaplaceSanitizer:
        """The release of a single cell, which carries half of ε."""
        return LaplaceSanitizer.for_rows(self.n, self.n)(n=self.n, epsilon=self.share_of_a_count * self.epsilon)

    @property
    def released_shape(self) -> tuple[int, bool]:
        return self.n, False

    def column_table(self, index: int) -> tuple[int, ...]:
        index = check_index(index, self.shape[1])
        return tuple(index // (self.n + 1) ** place % (self.n + 1) for place in reversed(range(self.cells)))

    def log_transition(self, rows: IntArray, columns: IntArray) -> FloatArray:
        confidential, released = self.row_counts[rows], self.column_counts[columns]
        table = self.one_cell.log_transition_matrix()
        value = np.zeros((len(confidential), len(released)))
        for cell in range(self.cells):
            value += table[confidential[:, cell][:, None], released[:, cell][None, :]]
        return value

    def log_odds(self, pairs: IntArray, columns: IntArray) -> FloatArray:
        gains, loses, gained, lost = self._moved(pairs)
        released, table = self.column_counts[columns], self.one_cell.log_odds_table()
        return table[lost[:, None], released[:, loses].T] - table[gained[:, None], released[:, gains].T]

    def _places(self) -> list[tuple[int, int]]:
        """Return counts before a row is added to cell i and to cell j, that stand for every pair of neighbours.

        From n = 3 on clamping merges, at counts of 1, only released counts with the same likelihood ratio.
        """
        if self.n >= 3:
            return [(1, 1)]
        return [(a, b) for a, b in itertools.product(range(self.n), repeat=2) if a + b <= self.n - 1]

    def _cell_losses(self, place: int, *, gains: bool) -> tuple[FloatArray, FloatArray]:
        """Losses of one cell between counts `place` and `place` + 1, with their probabilities on the likelier side."""
        log_odds = self.one_cell.log_odds(np.array([place]), np.arange(self.n + 1))[0]
        losses, where = np.unique(-log_odds if gains else log_odds, return_inverse=True)
        masses = self.one_cell.row(place + 1 if gains else place)
        return losses, np.array([masses[where == group].sum() for group in range(len(losses))])

    @cached_property
    def _pairs(self) -> list[tuple[LossDistribution, int, int]]:
        result = []
        for gained, lost in self._places():
            up, up_mass = self._cell_losses(gained, gains=True)
            down, down_mass = self._cell_losses(lost, gains=False)
            losses, masses = np.add.outer(up, down).ravel(), np.outer(up_mass, down_mass).ravel()
            result.append((LossDistribution(losses, masses), gained, lost))
        return result

    def _case(self, value: float, gains: int, loses: int, column: int | None = None) -> WorstCase:
        counts = np.zeros((2, self.cells), dtype=np.int64)
        counts[:, :3] = gains, loses, self.n - 1 - gains - loses
        counts[[0, 1], [0, 1]] += 1
        return WorstCase(value, self._place(counts[0]), self._place(counts[1]), column)

    def worst_log_odds(self) -> WorstCase:
        """ε from n = 3 rows on; less below, where the clamp hides part of it."""
        cases, log_odds = [], self.one_cell.log_odds(np.arange(min(self.n, 2)), np.arange(self.n + 1))
        for gained, lost in self._places():
            up, down = -log_odds[gained], log_odds[lost]
            best = (int(np.argmax(up)), int(np.argmax(down)))
            column = (best[0] * (self.n + 1) + best[1]) * (self.n + 1) ** (self.cells - 2)
            cases.append(self._case(float(up[best[0]] + down[best[1]]), gained, lost, column))
        return max(cases, key=lambda case: case.value)
