"""The smallest priors of many promises at once: their roots are sought in step, for one pair of neighbours each.

Bounds on blocks of pairs then show that no other pair asks for more. This gives what
`dpviz.calibration.exact.smallest_prior` gives for one promise, in a tenth of the time where there are dozens.
"""

import math
from collections.abc import Sequence
from functools import partial

import numpy as np

from dpviz.calibration.exact import LARGEST_SOUGHT, PRIOR_ROUNDING, Promise, gamma_guess, smallest_pure
from dpviz.calibration.smallest_root import PRIOR_RESOLUTION, Start
from dpviz.core.numerics.lockstep import roots
from dpviz.core.numerics.worst_pair import pair_blocks
from dpviz.core.types import FloatArray, IntArray
from dpviz.mechanisms.prior import PRIOR_ONES

PAIR_SEARCHES = 4  # Searches for a worse pair
BLOCK_HALVINGS, MOST_OPEN_BLOCKS = 6, 16  # Halvings of a block, and blocks that are open for a promise
MOST_KEPT_STARTS = 10_000  # Answers that are kept for other curves
NO_WORSE_PAIR, UNDECIDED_PAIR = -1.0, -2.0  # No other pair exceeds δ, or the blocks do not tell
_found: dict[Promise, Start] = {}


def smallest_priors(promises: Sequence[Promise]) -> list[Start | None]:
    """`smallest_prior` of promises by one method, of two cells and with δ > 0; None where it must be asked alone.

    What was found is kept: the points of a curve against δ are the same wherever the reader's own δ stands.
    """
    known = {one: start for one in promises if (start := _found.get(one)) is not None}
    missing = [one for one in promises if one not in known]
    known |= {one: start for one, start in zip(missing, _sought(missing), strict=True) if start is not None}
    if len(_found) > MOST_KEPT_STARTS:
        _found.clear()
    _found.update(known)
    return [known.get(one) for one in promises]


def _sought(promises: Sequence[Promise]) -> list[Start | None]:
    found: list[Start | None] = [None] * len(promises)
    pure = np.array([smallest_pure(one) for one in promises])
    apt = np.array([one.in_step for one in promises], dtype=bool)
    (asked,) = np.nonzero(apt & (pure > PRIOR_ONES.minimum) & ((pure < LARGEST_SOUGHT) | np.isinf(pure)))
    if len(asked):
        search = _Search([promises[place] for place in asked.tolist()], pure[asked])
        search.run()
        for place, start in zip(asked.tolist(), search.starts(), strict=True):
            found[place] = start
    return found


class _Search:
    """The priors of some promises, the pair that each is sought for, and whether no other is shown to exceed δ."""

    def __init__(self, promises: list[Promise], pure: FloatArray) -> None:
        self.promises, self.pure, self.method = promises, pure, promises[0].method
        self.n, self.m, self.epsilon, self.delta = (
            np.array([float(getattr(one, name)) for one in promises]) for name in ("n", "m", "epsilon", "delta")
        )
        guessed = np.array([gamma_guess(one.epsilon, one.delta) for one in promises])
        self.prior = np.clip(guessed, PRIOR_ONES.minimum, np.minimum(pure / 2, LARGEST_SOUGHT))
        self.proved, every = np.zeros(len(promises), dtype=bool), np.arange(len(promises))
        at_first, at_last = (self.log_delta(every, self.prior, end, end) for end in (0 * self.n, self.n - 1))
        self.pair = np.where(at_last > at_first, self.n - 1, 0.0)  # either end may be the worse one

    def log_delta(self, which: IntArray, prior: FloatArray, first: FloatArray, last: FloatArray) -> FloatArray:
        """ln δ of the pair that shares the ones of `first` and the zeros of `last`; none between exceeds it."""
        ones, zeros = prior + first, prior + (self.n[which] - 1 - last)
        return self.method.log_pair_deltas(ones, zeros, self.m[which], self.epsilon[which])

    def run(self) -> None:
        """Seek the priors for the pairs that are known, then worse pairs, and so on."""
        top, which = np.minimum(self.pure, LARGEST_SOUGHT), np.arange(len(self.n))
        for _ in range(PAIR_SEARCHES):
            start, ends = np.log(self.prior[which]), (math.log(PRIOR_ONES.minimum), np.log(top[which]))
            log_prior, done = roots(partial(self._excess, which), start, *ends, PRIOR_RESOLUTION)
            self.prior[which] = np.where(done, np.minimum(np.exp(log_prior), top[which]), math.nan)
            self.proved[which] = self.prior[which] >= self.pure[which]
            which = which[self.prior[which] < top[which]]
            worse = self._worse_pairs(which)
            self.proved[which[worse == NO_WORSE_PAIR]] = True
            which, worse = which[worse >= 0], worse[worse >= 0]
            self.pair[which] = worse
            if len(which) == 0:
                return

    def _excess(self, which: IntArray, log_prior: FloatArray, some: IntArray) -> FloatArray:
        """ln(−ln δ) less that of the allowed δ, as in `dpviz.calibration.smallest_root.excess_of`."""
        here = which[some]
        value = self.log_delta(here, np.exp(log_prior), self.pair[here], self.pair[here])
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(value < 0, np.log(value / np.log(self.delta[here])), -math.inf)

    def _worse_pairs(self, which: IntArray) -> FloatArray:
        """Return the worst pair found to exceed each δ, or `NO_WORSE_PAIR` or `UNDECIDED_PAIR`, by bounds on blocks."""
        rows = {n: pair_blocks(int(n)) for n in set(self.n[which].tolist())}
        first, last = (
            np.concatenate([np.zeros(0), *(rows[n][side] for n in self.n[which].tolist())]) for side in (0, 1)
        )
        of = np.repeat(np.arange(len(which)), [len(rows[n][0]) for n in self.n[which].tolist()])
        worst, largest = np.full(len(which), NO_WORSE_PAIR), np.zeros(len(which))
        for _ in range(BLOCK_HALVINGS):
            other = (first < last) | (first != self.pair[which[of]])
            first, last, of = first[other], last[other], of[other]
            if len(of) == 0:
                break
            here = which[of]
            over = self.log_delta(here, self.prior[here], first, last) - np.log(self.delta[here])
            for place in np.flatnonzero((over > 0) & (first == last)).tolist():
                if over[place] > largest[of[place]]:
                    worst[of[place]], largest[of[place]] = first[place], over[place]
            wide = (over > 0) & (first < last)
            first, last, of = first[wide], last[wide], of[wide]
            if len(of) > MOST_OPEN_BLOCKS * len(which):
                break
            middle = (first + last) // 2
            first, last, of = np.append(first, middle + 1), np.append(middle, last), np.append(of, of)
        worst[of[worst[of] == NO_WORSE_PAIR]] = UNDECIDED_PAIR
        return worst

    def starts(self) -> list[Start | None]:
        """Return the priors on the private side; None where none is shown, nor found, to be enough for all pairs."""
        found: list[Start | None] = []
        for place, promise in enumerate(self.promises):
            prior = float(self.prior[place])
            enough = self.proved[place] or (prior > 0 and promise.all_pairs(prior).value <= promise.delta)
            safe = min(prior * (1 + PRIOR_ROUNDING * (1 + promise.epsilon)), float(self.pure[place]))
            found.append(Start(safe, pair=(int(self.pair[place]), True)) if enough else None)
        return found
