"""What the page Posterior says of a release: its answer, and tables of posteriors."""

import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from dpviz.core.formatting import TextTable, format_count, format_distinct, format_number, format_percent
from dpviz.inference.beta_mixture import BetaMixture
from dpviz.inference.posterior import PosteriorCells
from dpviz.inference.released import ReleasedCounts
from dpviz.inference.rules import RULES

POSTERIOR_NAMES = {
    "exact": "told how the data were made",
    "known": "from the secret table itself",
    "naive": "as if the data were real",
}
"""Names of the posteriors of `ReleasedCounts`."""


def format_share(share: float, digits: int = 3) -> str:
    """Format a share in per cent; it is 100 only where it is so.

    Parameters
    ----------
    share : float
    digits : int
        Significant digits.

    Examples
    --------
    >>> format_share(0.31358), format_share(0.99997)
    ('31.4 %', '99.997 %')
    """
    return f"{format_distinct(100 * share, 100.0, digits)} %"


def _format_ends(ends: Iterable[float], digits: int = 4) -> str:
    return " to ".join(format_share(end, digits) for end in ends)


def interval_mark(low: str, high: str) -> str:
    """Interval between two shares in per cent, as short as a frame has room for."""
    return f"{low.removesuffix(' %')} to {high}"


def posterior_answer(release: ReleasedCounts, promise: str) -> tuple[str, str, str]:
    """What an analyst learns who is told how the data were made, and one who takes them for real.

    Parameters
    ----------
    release : ReleasedCounts
    promise : str
        What the release follows from, in words.

    Returns
    -------
    mark, sentence, short_sentence : str
        In inline HTML.
    """
    posteriors, counts, truth = release.posteriors, release.counts, release.secret_share
    yes = ", ".join(f"{count:,}" for count in counts) + " yes"
    if len(counts) > 6:  # too many to read one by one
        yes = f"{format_number(sum(counts) / len(counts), 5)} yes on average"
    tables = "a released table" if len(counts) == 1 else format_count(len(counts), "released table")
    level = format_percent(release.level, 8)
    low, high = map(format_share, posteriors["exact"].interval(release.level))
    start, end = posteriors["naive"].interval(release.level)
    by_formula = RULES["as_if_real"].interval_from(counts, synthesizer=release.synthesizer, level=release.level)
    low_usual, high_usual = np.clip(by_formula, 0, 1).tolist()
    usual = _format_ends((low_usual, high_usual), 3) if low_usual < high_usual else f"just {format_share(low_usual)}"
    ratio = verdict = ""
    if truth is not None:
        times = math.sqrt(posteriors["exact"].variance / posteriors["known"].variance)
        compared = f"{format_number(times, 3)} times what the secret table leaves"
        compared = "as large as from the secret table itself" if compared.startswith("1 times") else compared
        ratio = f" Its standard deviation is {compared}."
        verdict = f", which {'holds' if start <= truth <= end else 'misses'} the secret share, {format_share(truth)}"
    sentence = (
        f"From {yes} in {tables} of {format_count(release.synthesizer.m, 'row')} at {promise}, the share of yes lies "
        f"between <b>{low}</b> and <b>{high}</b> with {level} probability.{ratio} Who takes the released rows for real "
        f"finds {_format_ends((start, end), 3)}{verdict}; by the usual formula it is {usual}."
    )
    short = f"The share of yes lies between {low} and {high}, with {level} probability."
    return interval_mark(low, high), sentence, short


def contradiction_sentence(release: ReleasedCounts) -> str:
    """Sentence on the first count that the known x never leads to, as inline HTML; empty if there is none."""
    x = release.confidential_count
    counts = np.array(release.counts)
    if x is not None:
        counts = counts[np.isneginf(release.synthesizer.log_transition(np.array([x]), counts)[0])]
    if x is None or not len(counts):
        return ""
    return (
        f"Data with x = {x:,} <b>never lead to a synthetic count of {counts[0]:,}</b> under this synthesizer: its "
        "probability is 0. Either x or the counts are not those of this release."
    )


def confidential_count_sentence(release: ReleasedCounts) -> str:
    """What the release says of x."""
    weights, x = release.exact.weights, release.confidential_count
    mean, mode = float(weights @ np.arange(len(weights))), int(np.argmax(weights))
    true = "" if x is None else f" The true x = {format_number(x)} has probability {format_number(weights[x], 3)}."
    return (
        f"On average x = {format_number(mean, 5)}. Most probable is x = {format_number(mode)}, "
        f"with probability {format_number(weights[mode], 3)}.{true}"
    )


def posteriors_table(
    posteriors: Mapping[str, BetaMixture], names: Mapping[str, str], level: float, caption: str
) -> TextTable:
    """Mean, standard deviation and interval of posteriors in per cent.

    Parameters
    ----------
    posteriors : dict of str to BetaMixture
    names : dict of str to str
        Names of the posteriors.
    level : float
    caption : str
    """
    rows = [[f"<b>{names[key]}</b>", *_summary(posterior, level)] for key, posterior in posteriors.items()]
    return TextTable(["posterior of the share", *_summary_head(level)], rows, caption)


def _summary_head(level: float) -> list[str]:
    return ["mean", "standard deviation, points", f"{format_percent(level, 8)} equal tails"]


def _summary(posterior: BetaMixture, level: float) -> list[str]:
    deviation = format_number(100 * math.sqrt(posterior.variance), 4)
    return [format_share(posterior.mean, 5), deviation, _format_ends(posterior.interval(level))]


def regions_table(release: ReleasedCounts) -> TextTable:
    """Regions of highest density of the posteriors."""
    rows = [
        [f"<b>{POSTERIOR_NAMES[key]}</b>", " and ".join(map(_format_ends, posterior.highest_density(release.level)))]
        for key, posterior in release.posteriors.items()
    ]
    head = ["posterior of the share", f"{format_percent(release.level, 8)} highest density"]
    return TextTable(head, rows, "Regions of highest density")


def cells_table(cells: PosteriorCells, tables: Sequence[Sequence[int]], level: float) -> TextTable:
    """Posterior of every cell beside its released share, over tables with the same total.

    Parameters
    ----------
    cells : PosteriorCells
    tables : sequence of sequence of int
        Released tables.
    level : float
    """
    total = sum(map(sum, tables))
    rows = []
    for place, counts in enumerate(zip(*tables, strict=True)):
        name = f"<b>cell {place + 1}</b><br><small>released: {', '.join(map(str, counts))}</small>"
        expected = format_number(float(cells.expected_table[place]), 4)
        rows.append([name, format_share(sum(counts) / total, 4), *_summary(cells.marginal(place), level), expected])
    head = ["cell", "released share", *_summary_head(level), "expected rows"]
    return TextTable(head, rows, "Posterior of every cell")
