"""What the sentences of Abowd & Vilhuber (2008) say of their figures, computed."""

import numpy as np

from dpviz.claims.abowd_vilhuber import EQUATION_ONE, PRINTED_EPSILON, SYNTHESIZER_OF_FIG_1, SYNTHESIZER_OF_FIG_3
from dpviz.claims.published import Effort
from dpviz.claims.sentences import Judge, Judged
from dpviz.core.formatting import format_number
from dpviz.core.types import IntArray
from dpviz.mechanisms import LaplaceSanitizer, TwoCellSynthesizer
from dpviz.privacy.divergence import exceeds, log_odds_table, pure_epsilon

YEAR_OF_RUBIN, YEAR_OF_THE_PAPER = 1993, 2008
RARE = 0.01  # Cells of Fig. 1 below which an outcome counts as rare


def _over(release: TwoCellSynthesizer) -> Judged:
    return Judged(float(np.count_nonzero(exceeds(log_odds_table(release), PRINTED_EPSILON))))


def _unusual(_: Effort) -> Judged:
    matrix, odds = SYNTHESIZER_OF_FIG_1.transition_matrix(), np.abs(log_odds_table(SYNTHESIZER_OF_FIG_1))
    row, column = np.unravel_index(int(odds.argmax()), odds.shape)
    smallest = float(min(matrix[row, column], matrix[row + 1, column]))
    told = (
        f"The largest log-odds are {odds.max():.6f}, and one of the two tables gives that outcome with {smallest:.6f}."
    )
    return Judged(told, holds=smallest <= float(matrix.min()) * (1 + 1e-9))


def _scale(_: Effort) -> Judged:
    as_printed, wider = (LaplaceSanitizer(n=5, epsilon=one) for one in (PRINTED_EPSILON, PRINTED_EPSILON / 2))
    ours, other = (float(one.transition_matrix()[0, 0]) for one in (as_printed, wider))
    return Judged(f"With 1/ε the first cell of Fig. 3 is {ours:.6f}, as printed; with 2/ε it is {other:.6f}.", False)


def _rare(_: Effort) -> Judged:
    plug, noise = SYNTHESIZER_OF_FIG_1.transition_matrix(), SYNTHESIZER_OF_FIG_3.transition_matrix()
    larger = (noise > plug)[plug < RARE]
    return Judged(f"It is larger in {larger.sum()} of {larger.size} such cells.", holds=bool(larger.all()))


def _peaked(_: Effort) -> Judged:
    plug, noise = (np.diag(one.transition_matrix()) for one in (SYNTHESIZER_OF_FIG_1, SYNTHESIZER_OF_FIG_3))
    diagonals = [", ".join(f"{share:.6f}" for share in one[:3]) for one in (noise, plug)]
    told = f"From the ends to the middle the diagonal of Fig. 3 has {diagonals[0]}, and that of Fig. 1 {diagonals[1]}."
    return Judged(told, holds=bool((noise > plug).all()))


def _smallest(_: Effort) -> Judged:
    smallest = float(SYNTHESIZER_OF_FIG_1.transition_matrix().min())
    return Judged(f"The smallest probability is {smallest:.6f}.", holds=smallest > 0)


def _table(ones: int) -> IntArray:
    return np.array([ones, SYNTHESIZER_OF_FIG_1.n - ones])


def _apart(_: Effort) -> Judged:
    return Judged(float(np.abs(_table(0) - _table(1)).sum()))


def _finite(_: Effort) -> Judged:
    epsilon = pure_epsilon(SYNTHESIZER_OF_FIG_1)
    return Judged(f"The largest log-odds are {epsilon:.6f}.", holds=bool(np.isfinite(epsilon)))


def _never(_: Effort) -> Judged:
    epsilon = pure_epsilon(SYNTHESIZER_OF_FIG_3)
    return Judged(f"The largest log-odds are {format_number(epsilon)}.", holds=epsilon <= PRINTED_EPSILON * (1 + 1e-12))


FIGURE_JUDGES: dict[str, Judge] = {
    "alpha0": lambda _: Judged(EQUATION_ONE.alpha + EQUATION_ONE.beta),
    "possible": _smallest,
    "finite": _finite,
    "eight": lambda _: _over(SYNTHESIZER_OF_FIG_1),
    "eight_meant": lambda _: _over(EQUATION_ONE),
    "unusual": _unusual,
    "laplace_scale": _scale,
    "laplace_epsilon": lambda _: Judged(pure_epsilon(SYNTHESIZER_OF_FIG_3)),
    "never": _never,
    "rare": _rare,
    "peaked": _peaked,
    "rows5": lambda _: Judged(float(SYNTHESIZER_OF_FIG_1.n)),
    "alpha_half": lambda _: Judged(SYNTHESIZER_OF_FIG_1.alpha),
    "epsilon2": lambda _: Judged(PRINTED_EPSILON),
    "cells2": lambda _: Judged(float(len(_table(0)))),
    "apart": _apart,
    "fifteen": lambda _: Judged(float(YEAR_OF_THE_PAPER - YEAR_OF_RUBIN)),
}
"""By the key of the sentence."""
