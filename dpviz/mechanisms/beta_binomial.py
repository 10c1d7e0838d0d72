"""The Beta-binomial synthesizer: draw the proportion from its posterior, then the synthetic rows from it."""

import math
from bisect import bisect
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpviz.core.checked import checked
from dpviz.core.numerics.blocks import uncopied
from dpviz.core.numerics.ends import gain, private_side, quotient, within
from dpviz.core.numerics.sums import SplitSum, from_ratios, log_binomials, log_rising, log_rising_ratio
from dpviz.core.types import FloatArray, IntArray
from dpviz.mechanisms._stop_loss import log_delta_of_pairs
from dpviz.mechanisms.base import WorstCase, check_index
from dpviz.mechanisms.laplace_cells import LossDistribution
from dpviz.mechanisms.prior import PRIOR_ONES, PROMISED_EPSILON, PROMISED_ROWS, PriorSynthesizer

# Prior size from which logarithms are taken relative to the prior, so that nearly equal ones do not round alike.
LARGE = 1e4
# Largest m, and smallest ratio of the smallest to the largest number of the Hankel table, for which its
# products neither under- nor overflow.
HANKEL_COLUMNS, HANKEL_RANGE = 900, 1e-260
# Rows filled by one product, a power of 2, and the smallest prior with which products of so many cannot overflow.
ROWS_TOGETHER, TOGETHER_PRIOR = 8, 1e-200
LARGE_MATRIX = 1 << 22  # Cells, 32 MB, from which fresh memory is handed over as zeros that nobody had to write
# δ, or share of what it is the difference of, from which that difference keeps twelve digits and is the answer, and δ
# from which it tells which pairs can be the worst, within what rounding may put on it relative to what was added
CLEAR_DELTA, SMALLEST_RANKED_DELTA, ROUNDING_SHARE = 1e-4, 1e-12, 1e-14
LARGEST_DIFFERENCE, SMALLEST_PRODUCT = 30.0, 1e-290  # ε up to which it is taken, and the smallest product with digits
LONGEST_WAY = 20_000  # n + m up to which it is found sooner than the worst pair by branch and bound
LOG_END_OF_WAY = math.log(SMALLEST_PRODUCT) + 10  # The numbers on it waver, for each pair's first count is a whole one
NARROWEST_WINDOW = 9.0  # Half of the deviations to each side of a mean beyond which next to nothing is sought first
RESEED_GROWTH = 60.0  # Nats that an entry may grow by along a run of rows before the run starts from a fresh row


@dataclass(frozen=True, kw_only=True)
class BetaBinomial(PriorSynthesizer):
    """Pr(m1 | n1) = C(m, m1) B(α + n1 + m1, β + n0 + m0) / B(α + n1, β + n0), with n0 = n − n1 and m0 = m − m1.

    Source: Abowd & Vilhuber (2008), equation (1) for k = 2; Charest (2011), BB; Zheng (2015), SYNTH_Post(One). With the
    prior 1/3 it is the non-private multiple synthesis (MS) of Bowen & Liu (2016).
    With one row and a flat prior the posterior is Beta(1, 2) or Beta(2, 1), so a single draw has odds 2 to 1.

    >>> BetaBinomial(n=1, m=1, alpha=1, beta=1).transition_matrix().round(6).tolist()
    [[0.666667, 0.333333], [0.333333, 0.666667]]
    """

    key = "beta_binomial"
    label = "Beta-binomial (posterior draw)"
    formula = r"p \sim \mathrm{Beta}(\alpha+n_1,\ \beta+n_2),\quad m_1 \mid p \sim \mathrm{Binomial}(m, p)"
    source = "Abowd & Vilhuber (2008), equation (1); Zheng (2015), SYNTH_Post(One)"
    compared_source = "Bowen & Liu (2016), Multinomial-Dirichlet; Abowd & Vilhuber (2008), Charest (2011)"
    audited = "beta_binomial"
    color = "blue"
    kept_by = finding = opendp = ""
    zheng = ("synth_post_one", "SYNTH_Post(One)")
    rows_drawn = "one draw of the proportion, then m rows from it"
    releases = (
        "Each set draws the proportion from its posterior and then the rows to be released. It invents as many rows of "
        "each kind as its share of ε asks for, and spends exactly that."
    )
    several_sets = True

    @cached_property
    def _log_terms(self) -> tuple[SplitSum, SplitSum, SplitSum]:
        return beta_binomial_terms(self.n, self.m, self.alpha, self.beta)

    def log_transition(self, rows: IntArray, columns: IntArray) -> FloatArray:
        by_sum, by_column, by_row = self._log_terms
        i, j = np.asarray(rows)[:, None], np.asarray(columns)[None, :]
        return (by_sum[i + j] + by_column[j] + by_row[i]).total()

    def log_likelihood(self, counts: IntArray) -> FloatArray:
        return beta_binomial_log_likelihood(counts, np.arange(self.n + 1), self.n, self.m, self.alpha, self.beta)

    def row(self, index: int) -> FloatArray:
        """As of every synthesizer, no tail of which loses its digits."""
        index = check_index(index, self.n + 1)
        x, y, j = self.alpha + index, self.beta + (self.n - index), np.arange(float(self.m))
        after = j + 1
        with np.errstate(over="ignore"):
            return from_ratios(after[::-1] * (x + j) / (after * (y + j[::-1])))

    def transition_matrix(self) -> FloatArray:
        """Pr(m1 | n1), shape (n + 1, m + 1), relative error about 1e-13 wherever it exceeds 1e-280."""
        if self.m <= HANKEL_COLUMNS:
            k = np.arange(self.n + self.m)
            hankel = np.ones(self.n + self.m + 1)
            with np.errstate(over="ignore", under="ignore", invalid="ignore"):
                by_sum = (self.alpha + k) / (self.beta + ((self.n - 1 + self.m) - k))
                np.multiply.accumulate(by_sum, out=hankel[1:])
                hankel /= max(1.0, hankel[-1])  # by_sum increases, so that the largest number is at an end
            if hankel.min() >= HANKEL_RANGE:
                return self._matrix_from_hankel(hankel)
        return self._matrix_from_recurrence()

    def _matrix_from_hankel(self, hankel: FloatArray) -> FloatArray:
        """T[i, j] ∝ C(m, j) h[i + j], every row divided by its sum."""
        n, m, j = self.n, self.m, np.arange(self.m)
        binomials = np.ones(m + 1)
        np.multiply.accumulate((m - j) / (j + 1), out=binomials[1:])
        matrix: FloatArray = _hankel(hankel, n + 1, m) * binomials
        matrix *= (1 / np.correlate(hankel, binomials, "valid"))[:, None]
        return matrix

    def _matrix_from_recurrence(self) -> FloatArray:
        """T[i+s, j] = T[i, j] U_s[i+j] c_s[i]: two multiplications a cell, several rows at once.

        Only cells right of the mode grow. One that underflowed could grow back without its digits, so unless the last
        one has them all a fresh row starts before growth reaches e^60. A power of two goes from U to c, so that neither
        overflows where α and β lie 300 decades apart. Where they are equal the first half of the rows is the second one
        backwards, along which cells grow less, and is written while that is near the processor. Of a large matrix the
        columns that are 0 in a fresh row are not touched.
        """
        n, m, i, k = self.n, self.m, np.arange(self.n), np.arange(self.n + self.m)
        balance = 2.0 ** round(math.log2((self.alpha + n) / (self.beta + n)))
        by_sum = (self.alpha + k) / balance / (self.beta + ((n - 1 + m) - k))
        by_row = (self.beta + ((n - 1) - i)) * balance / (self.alpha + i)
        growth = np.concatenate([[0.0], np.cumsum(np.log1p(m / (self.alpha + i)))])
        steps = [(1, _hankel(by_sum, n, m), by_row[:, None])]
        together = min(ROWS_TOGETHER, n) if min(self.alpha, self.beta) > TOGETHER_PRIOR else 1
        while 2 * (largest := steps[-1][0]) <= together:
            by_sum, by_row = by_sum[:-largest] * by_sum[largest:], by_row[:-largest] * by_row[largest:]
            steps.append((2 * largest, _hankel(by_sum, len(by_row), m), by_row[:, None]))
        start = (n + 1) // 2 if (symmetric := self.alpha == self.beta) else 0
        large = (n + 1) * (m + 1) > LARGE_MATRIX
        matrix, columns = (np.zeros if large else np.empty)((n + 1, m + 1)), slice(0, m + 1)
        backwards = matrix[::-1, ::-1]
        with uncopied(), np.errstate(under="ignore"):
            while start <= n:
                row, stop = self.row(start), n + 1
                if row[-1] < SMALLEST_PRODUCT:
                    stop = int(np.searchsorted(growth, growth[start] + RESEED_GROWTH, side="right"))
                    stop = min(max(stop, start + 1), n + 1)
                if large:
                    (some,) = np.nonzero(row)
                    columns = slice(int(some[0]), int(some[-1]) + 1)
                run, mirrored = (one[start:stop, columns] for one in (matrix, backwards))
                run[0] = row[columns]
                if symmetric:
                    mirrored[0] = run[0]
                for step, shifted, far in steps:
                    across, last = shifted[start:stop, columns], len(run)
                    for first in range(step, last if step == largest else min(2 * step, last), step):
                        below = run[first : first + step]
                        above = slice(first - step, first - step + len(below))
                        np.multiply(run[above], across[above], out=below)
                        below *= far[start:stop][above]
                        if symmetric:
                            mirrored[first : first + step] = below
                start = stop
        return matrix

    @cached_property
    def _log_odds_terms(self) -> tuple[FloatArray, FloatArray]:
        """Terms in i + j and in i whose sum is the log-odds of rows i, i + 1 at column j."""
        n, m = self.n, self.m
        k, i = np.arange(n + m), np.arange(n)
        ones, zeros = _log_growth(self.alpha, k), _log_growth(self.beta, k)
        return zeros[::-1] - ones, ones[i] - zeros[n - 1 - i]

    def log_odds(self, pairs: IntArray, columns: IntArray) -> FloatArray:
        by_sum, by_row = self._log_odds_terms
        pairs, columns = np.asarray(pairs), np.asarray(columns)
        rows = np.lib.stride_tricks.sliding_window_view(by_sum, self.m + 1)
        whole = np.array_equal(columns, np.arange(self.m + 1))
        table = rows[pairs] if whole else rows[pairs[:, None], columns[None, :]]
        table += by_row[pairs][:, None]
        # Of the outermost counts one term is left, beside which the rounding of those that cancel can be anything.
        table[:, columns == 0] = np.log1p(self.m / (self.beta + (self.n - 1 - pairs)))[:, None]
        table[:, columns == self.m] = -np.log1p(self.m / (self.alpha + pairs))[:, None]
        return table

    def worst_log_odds(self) -> WorstCase:
        """ε* = ln(1 + m / min(α, β))."""
        return self.single_row(math.log1p(self.m / min(self.alpha, self.beta)))

    log_pair_deltas = staticmethod(log_delta_of_pairs)

    def first_pair_losses(self, unseen: float) -> LossDistribution:
        """ln Pr(j | 1) / Pr(j | 0) = ln (x + j) y / (x (y + m − j)), x = α and y = β + n − 1, with Pr(j | 1).

        Counts j far from the mean are left out where all of them have a probability of at most `unseen`, which then is
        that of an infinite loss. Ratios of neighbours fall where y ≥ 1, so that a geometric series bounds each tail.
        """
        x, y, m = self.alpha, self.beta + (self.n - 1), self.m
        mean, total = m * (x + 1) / (x + 1 + y), x + 1 + y
        deviation = math.sqrt(mean * (1 - mean / m) * (total + m) / (total + 1)) + 1.0
        reach, bound = NARROWEST_WINDOW, math.inf
        while bound > unseen:
            reach *= 2
            low, high = max(math.floor(mean - reach * deviation), 0), min(math.ceil(mean + reach * deviation), m)
            if y < 1 or high - low > m / 2:
                low, high = 0, m
            j = np.arange(max(low - 1, 0), min(high + 1, m))
            with np.errstate(over="ignore"):
                ratios = (m - j) * (x + 1 + j) / ((j + 1) * (y + (m - 1 - j)))
            inside = ratios[int(low > 0) : len(ratios) - int(high < m)]
            masses = from_ratios(inside)
            before, after = (1 / ratios[0] if low else 0.0), (ratios[-1] if high < m else 0.0)
            ends = zip((before, after), (masses[0], masses[-1]), strict=True)
            bound = math.fsum(mass * ratio / (1 - ratio) if ratio < 1 else math.inf for ratio, mass in ends)
        j = np.arange(low, high + 1)
        losses = np.log1p(j / x) - np.log1p((m - j) / y)
        if high - low == m:
            return LossDistribution(losses, masses)
        return LossDistribution(np.append(losses, math.inf), np.append(masses, unseen))

    def worst_upward_pair(self, epsilon: float) -> WorstCase:
        """As of every prior; where δ is not small, differences of tails are the answer, or tell whose it is."""
        if 1 < self.n <= LONGEST_WAY - self.m and (found := self._tail_differences(epsilon)):
            deltas, added = found
            best = int(deltas.argmax())
            unsure = math.exp(epsilon) * added[best]
            (near,) = np.nonzero(deltas >= deltas[best] - ROUNDING_SHARE * (1 + unsure))
            if deltas[best] > CLEAR_DELTA * (unsure if len(near) == 1 else 1.0):
                return WorstCase(float(deltas[best]), best + 1, best)
            if deltas[best] > SMALLEST_RANKED_DELTA:
                return self.worst_of(near, epsilon)
        return super().worst_upward_pair(epsilon)

    def _tail_differences(self, epsilon: float) -> tuple[FloatArray, FloatArray] | None:
        """δ_i of the pairs that exceed ε, and all that was added to get them, along one staircase, no matrix: O(n + m).

        With x = α + i and y = β + n − 1 − i the released counts that favour row i + 1 by more than e^ε are those from a
        threshold t on, and the two tails differ by Pr(t | i) t / x, so that δ_i is that less (e^ε − 1) Pr(m1 ≥ t | i).
        t never falls in i, and each tail follows from the one before, along (0, t_0), (1, t_0), …, (1, t_1), … The way
        ends before its numbers underflow and lose their digits. A pair after that has no larger δ than one that shares
        the fewest ones and the fewest zeros that any of them does. None where that one might be the worst.
        """
        n, m, count = self.n, self.m, self._exceeding(epsilon)
        if not count or epsilon >= LARGEST_DIFFERENCE:
            return None
        pairs = np.arange(count)
        x, y = self.alpha + pairs, self.beta + np.arange(n - 1, n - 1 - count, -1)
        t = (x * (m - y * math.expm1(-epsilon)) / (y * math.exp(-epsilon) + x)).astype(np.int64)
        t = np.minimum(t + 1, m)

        def smallness(pair: int) -> float:
            return -_log_mass(int(t[pair]), m, float(x[pair]), float(y[pair]) + 1)

        left_out = -math.inf
        if smallness(count - 1) > -LOG_END_OF_WAY:
            if not (count := bisect(range(count), -LOG_END_OF_WAY, key=smallness)):
                return None
            left_out = float(self.log_pair_deltas(x[count : count + 1], y[-1:], m, epsilon)[0])
            pairs, x, y, t = pairs[:count], x[:count], y[:count], t[:count]
        start, end = int(t[0]), int(t[-1])
        first_row = self.row(0)
        if first_row[start] <= SMALLEST_PRODUCT:
            return None
        columns, width = np.arange(start, end), t - start
        corner, passed = pairs + width, np.repeat(pairs[1:], t[1:] - t[:-1]) + np.arange(end - start)
        both = passed + start  # rows and columns of what is passed
        path: FloatArray = np.empty(count + end - start)
        path[0], gained = first_row[start], t / x
        with np.errstate(over="ignore", under="ignore"):
            path[corner[:-1] + 1] = ((1 + gained) / (1 + (m - t) / y))[:-1]
            path[passed + 1] = (m - columns) * (self.alpha + both) / ((columns + 1) * (self.beta + (n + m - 1 - both)))
            np.multiply.accumulate(path, out=path)
        if not (path.min() > SMALLEST_PRODUCT and path.max() < math.inf):
            return None
        difference, added, passed_by = path[corner] * gained, np.empty(count), np.zeros(end - start + 1)
        added[0], added[1:] = first_row[start:].sum(), difference[:-1]
        np.add.accumulate(added, out=added)
        np.add.accumulate(path[passed], out=passed_by[1:])
        deltas = difference - math.expm1(epsilon) * (added - passed_by[width])
        return (deltas, added) if 2 * math.exp(left_out) < deltas.max() else None

    def _exceeding(self, epsilon: float) -> int:
        """How many pairs, the first ones, have log-odds ln(1 + m / (α + i)) above ε."""
        smallest = gain(epsilon)
        count = math.ceil(max(0.0, min(self.n, quotient(self.m, smallest) - self.alpha)))
        while count < self.n and self.m / (self.alpha + count) > smallest:
            count += 1
        while count and not self.m / (self.alpha + (count - 1)) > smallest:
            count -= 1
        return count

    @classmethod
    @checked(m=PROMISED_ROWS, epsilon=PROMISED_EPSILON)
    def smallest_alpha(cls, *, m: int, epsilon: float) -> float:
        """m / (e^ε − 1). Source: Abowd & Vilhuber (2008), Charest (2011) after Machanavajjhala et al. (2008).

        It does not ask n. So with a given prior it is m that a promise bounds, by α (e^ε − 1), however many rows there
        are: a release of fewer rows than the data have needs a prior that is small beside them. Menicucci et al. (2026)
        study such releases, of the Dirichlet-multinomial and of priors with any number of categories.
        """
        alpha = m / math.expm1(epsilon) if epsilon < 700 else m * math.exp(-epsilon)
        return private_side(
            max(alpha, PRIOR_ONES.minimum), math.inf, lambda value: within(epsilon, times=1, rows=m, prior=value)
        )


def beta_binomial_terms(n: int, m: int, alpha: float, beta: float) -> tuple[SplitSum, SplitSum, SplitSum]:
    """Terms in i + j, in j and in i whose sum is ln BetaBinomial(j; m, α + i, β + n − i), for n = 0 too."""
    total = alpha + beta + n
    i, j, k = np.arange(n + 1), np.arange(m + 1), np.arange(n + m + 1)
    large_ones, large_zeros = alpha > LARGE, beta > LARGE
    ones = (log_rising_ratio if large_ones else log_rising)(alpha, n + m)
    zeros = (log_rising_ratio if large_zeros else log_rising)(beta, n + m)
    by_column = log_binomials(m)
    by_row = SplitSum(np.zeros(n + 1), np.zeros(n + 1)) - ones[i] - zeros[n - i]
    if large_ones or large_zeros:
        scale_ones, scale_zeros = alpha if large_ones else 1.0, beta if large_zeros else 1.0
        share = j * _log_ratio(scale_ones, total) + (m - j) * _log_ratio(scale_zeros, total)
        by_column = by_column + SplitSum(np.zeros(m + 1), share)
        normalizer = log_rising_ratio(total, m)
    else:
        normalizer = log_rising(total, m)
    return ones[k] + zeros[n + m - k], by_column, by_row - normalizer[np.full(n + 1, m)]


def beta_binomial_log_likelihood(
    counts: Sequence[int] | IntArray, x: IntArray, n: IntArray | int, m: int, alpha: float, beta: float
) -> FloatArray:
    """Σ_j ln BetaBinomial(x̃_j; m, α + x, β + n − x) up to a constant that is the same for every x and n.

    Rising factorials are relative to powers of α and β, so that neither a prior of 1e-107 nor one of 1e12 loses digits.
    """
    x, n = np.broadcast_arrays(x, n)
    largest = int(n.max()) + m
    ones, zeros, total = (log_rising_ratio(base, largest) for base in (alpha, beta, alpha + beta))
    base = ones[x] + zeros[n - x] + total[n + m] - total[n]
    sum_of_sets = SplitSum(np.zeros(x.shape), np.zeros(x.shape))
    for count in counts:
        sum_of_sets = sum_of_sets + ones[x + count] + zeros[(n - x) + (m - count)] - base
    return sum_of_sets.total()


def _hankel(terms: FloatArray, rows: int, m: int) -> FloatArray:
    """Terms in i + j as a matrix of so many rows i and of the columns j = 0 … m, which takes no memory."""
    return np.ndarray((rows, m + 1), buffer=terms, strides=terms.strides * 2)


def _log_mass(j: int, m: int, a: float, b: float) -> float:
    """ln of the BetaBinomial(m; a, b) mass at j, up to the rounding of large logarithms."""
    binomial = math.lgamma(m + 1) - math.lgamma(j + 1) - math.lgamma(m - j + 1)
    joint = math.lgamma(a + j) + math.lgamma(b + (m - j)) - math.lgamma(a + b + m)
    return binomial + joint + math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)


def _log_ratio(part: float, whole: float) -> float:
    """ln(part / whole), to full precision where they are nearly equal."""
    return math.log1p((part - whole) / whole) if 2 * part > whole else math.log(part / whole)


def _log_growth(base: float, k: IntArray) -> FloatArray:
    """ln(base + k) up to a constant, relative to `base` where that keeps digits."""
    return np.log1p(k / base) if base > 1 else np.log(base + k)
