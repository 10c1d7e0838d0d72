"""What an analyst learns from a release: the counts that are seen, the posteriors, and what they say."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple, Self

import numpy as np

from dpviz.calibration.several_sets import minimum_prior_for_sets
from dpviz.charts.posterior import Density, posterior_chart
from dpviz.charts.theme import Figure
from dpviz.core.escape import single_line
from dpviz.core.formatting import TextTable, format_count, format_distinct, format_number, format_percent
from dpviz.core.limits import MAX_COUNTS_OF_PAGE
from dpviz.designs import Design
from dpviz.desk.promises import prior_text, promise_text
from dpviz.inference.beta_mixture import BetaMixture
from dpviz.inference.posterior import (
    PosteriorCells,
    PosteriorMixture,
    SecretSizePosterior,
    SizePrior,
    posterior_given,
    posterior_if_known,
    posterior_if_real,
    posterior_secret_n,
)
from dpviz.inference.posterior_coverage import PosteriorCoverage, posterior_coverage

LISTED_COUNTS = 6  # most counts that a sentence lists one by one
THOUSANDS = re.compile(r"(?<![\d,])\d{1,3}(,\d{3})*,0\d\d(?!\d)")  # One number, and not two that are separated
MAX_TYPED_CHARACTERS = 4_000  # of the counts that are typed
LONGEST_TABLES = 100_000  # Characters of all tables that are typed
SIMULATED_RELEASES = 400  # at each proportion where they are too many to list
NAMES = {
    "exact": "told how the data were made",
    "known": "from the secret table itself",
    "naive": "as if the data were real",
}
"""The posteriors by key: of the confidential data given the release, of these data themselves, and the naive one."""

_given = lru_cache(maxsize=32)(posterior_given)
_known = lru_cache(maxsize=32)(posterior_if_known)
_real = lru_cache(maxsize=32)(posterior_if_real)


class Learned(NamedTuple):
    """What a page says at once of a release that is seen."""

    answer: tuple[str, str, str]
    picture: Figure
    contradiction: str
    table: TextTable


@dataclass(frozen=True)
class SeenRelease:
    """The released counts that an analyst sees, and all that is known of how they were made; `drawn`, or typed in."""

    design: Design
    counts: tuple[int, ...]
    drawn: bool = False
    given_text: str | None = None  # of the reader's own matrix, where a script can carry it

    @classmethod
    def of(cls, design: Design, typed: str | None = None, given_text: str | None = None) -> Self:
        """Return the counts that were typed, as many as there are sets, or counts drawn; a ValueError refuses."""
        if typed is not None:
            counts = typed_counts(typed, design.m)
            return cls(replace(design, sets=len(counts)), counts, given_text=given_text)
        x, generator = design.confidential_count or 0, np.random.default_rng(design.seed)
        counts = tuple(design.release.draw(generator, x, design.sets).tolist())
        return cls(design, counts, drawn=True, given_text=given_text)

    @property
    def truth(self) -> float | None:
        """x / n, where x is known."""
        x = self.design.confidential_count
        return None if x is None else x / self.design.n

    @property
    def words(self) -> str:
        """The release in words: a few counts one by one, many by their number and mean."""
        sets, rows = len(self.counts), "1 row" if self.design.m == 1 else f"{format_number(self.design.m)} rows"
        if sets == 1:
            return f"{self.counts[0]:,} yes in a released table of {rows}"
        mean = f"{format_number(sum(self.counts) / sets, 5)} yes on average"
        counts = f"{', '.join(f'{one:,}' for one in self.counts)} yes" if sets <= LISTED_COUNTS else mean
        return f"{counts} in {sets} released tables of {rows}"

    @property
    def promise(self) -> str:
        """What the release follows from, and the prior that it has by that."""
        design, promise = self.design, promise_text(self.design)
        if not design.synthesizer_type.has_prior or "epsilon" not in design.promised:
            return promise
        return f"{promise} (α = {prior_text(design.alpha_of_one_set)} in each set)"

    @property
    def description(self) -> str:
        """Its settings in words."""
        people = format_count(self.design.n, "person", "people")
        return f"{self.words} made from {people} at {self.promise}"

    @property
    def exact(self) -> PosteriorMixture:
        """The posterior of who is told how the data were made."""
        design = self.design
        return _given(design.release, self.counts, gamma1=design.gamma1, gamma2=design.gamma2)

    def posterior_secret_size(self, prior: SizePrior) -> SecretSizePosterior:
        """The posterior of who is told how the data were made, but not of how many people."""
        design = self.design
        alpha = design.alpha_of_one_set
        return posterior_secret_n(
            synthetic_counts=self.counts, m=design.m, alpha=alpha, beta=alpha, prior=prior, gamma1=design.gamma1,
            gamma2=design.gamma2,
        )  # fmt: skip

    @property
    def posteriors(self) -> dict[str, BetaMixture]:
        """The posteriors by the keys of `NAMES`, that of the secret table where it is known."""
        design, found = self.design, dict[str, BetaMixture](exact=self.exact)
        prior = {"gamma1": design.gamma1, "gamma2": design.gamma2}
        if design.confidential_count is not None:
            found["known"] = _known(confidential_count=design.confidential_count, n=design.n, **prior)
        return found | {"naive": _real(self.counts, m=design.m, **prior)}

    def answer(self) -> tuple[str, str, str]:
        """Return a mark, a sentence with the exact and the naive interval, and a sentence of at most 15 words."""
        found, truth, level = self.posteriors, self.truth, format_percent(self.design.level, 8)
        low, high = map(share, found["exact"].interval(self.design.level))
        start, end = found["naive"].interval(self.design.level)
        words = f"From {self.words} at {self.promise}, the share of yes lies between <b>{low}</b> and <b>{high}</b> "
        words += f"with {level} probability."
        naive = f" Who takes the released rows for real finds {share(start)} to {share(end)}"
        if truth is not None:
            times = math.sqrt(found["exact"].variance / found["known"].variance)
            words += f" Its standard deviation is {format_number(times, 3)} times what the secret table leaves."
            naive += f", which {'holds' if start <= truth <= end else 'misses'} the secret share, {share(truth)}"
        brief = f"The share of yes lies between {low} and {high}, with {level} probability."
        return mean_and_deviation(found["exact"]), f"{words}{naive}.", brief

    @property
    def contradiction(self) -> str:
        """A sentence where the confidential data that the reader gives never lead to the counts; else nothing."""
        x = self.design.confidential_count
        if x is None:
            return ""
        never = np.isneginf(self.design.release.log_transition(np.array([x]), np.array(self.counts))[0])
        if not never.any():
            return ""
        return (
            f"Data with x = {x:,} <b>never lead to a synthetic count of {self.counts[int(np.argmax(never))]:,}</b> "
            "under this synthesizer: its probability is 0. Either x or the counts are not those of this release."
        )

    @property
    def about_count(self) -> str:
        """What the release says of x, the confidential count."""
        found, x = self.exact, self.design.confidential_count
        likeliest = int(np.argmax(found.weights))
        true = (
            ""
            if x is None
            else f" The true x = {format_number(x)} has probability {format_number(float(found.weights[x]), 3)}."
        )
        return (
            f"On average x = {format_number(found.expected_count, 5)}. Most probable is x = "
            f"{format_number(likeliest)}, "
            f"with probability {format_number(float(found.weights[likeliest]), 3)}.{true}"
        )

    def picture(self) -> Figure:
        """The densities with their intervals."""
        named = {key: (NAMES[key], one) for key, one in self.posteriors.items()}
        return posteriors_chart(named, self.design.level, self.truth, "posterior")

    def learned(self) -> Learned:
        """Its answer with all that stands beside it."""
        named = {NAMES[key]: one for key, one in self.posteriors.items()}
        table = posteriors_table(named, self.design.level, "Posteriors of p")
        return Learned(self.answer(), self.picture(), self.contradiction, table)

    def regions(self) -> TextTable:
        """The regions of highest density."""
        level = self.design.level
        rows = [
            [f"<b>{NAMES[key]}</b>", " and ".join(map(_spread, one.highest_density(level)))]
            for key, one in self.posteriors.items()
        ]
        return TextTable(
            ["posterior of the share", f"{format_percent(level, 8)} highest density"],
            rows,
            "Regions of highest density",
        )


def posteriors_chart(
    named: Mapping[str, tuple[str, BetaMixture]], level: float, truth: float | None, key: str
) -> Figure:
    """Return the densities of posteriors, each by its key in `POSTERIOR_COLORS` with its name, and their intervals."""
    drawn = [Density.of(kind, name, one, [one.interval(level)]) for kind, (name, one) in named.items()]
    return posterior_chart(drawn, level=level, share=truth, key=key)


def posteriors_table(named: Mapping[str, BetaMixture], level: float, caption: str) -> TextTable:
    """Return mean, standard deviation and interval of posteriors by their names, in per cent."""
    head = ["posterior of the share", "mean", "standard deviation, points", f"{format_percent(level, 8)} equal tails"]
    rows = [
        [
            f"<b>{name}</b>",
            share(one.mean, 5),
            format_number(100 * math.sqrt(one.variance), 4),
            _spread(one.interval(level)),
        ]
        for name, one in named.items()
    ]
    return TextTable(head, rows, caption)


def cells_table(cells: PosteriorCells, tables: Sequence[Sequence[int]], level: float) -> TextTable:
    """Posterior of every cell of released tables beside its released share.

    Parameters
    ----------
    cells : PosteriorCells
    tables : sequence of sequence of int
        Counts of each released table, all with the same total.
    level : float
        Of the intervals.

    Returns
    -------
    TextTable
    """
    released = list(zip(*tables, strict=True))
    total = sum(map(sum, tables))
    marginals = {f"cell {cell + 1}": cells.marginal(cell) for cell in range(len(released))}
    (_, *head), summaries, _ = posteriors_table(marginals, level, "")
    rows = []
    for (name, *numbers), counts, expected in zip(summaries, released, cells.expected_table.tolist(), strict=True):
        label = f"{name}<br><small>released: {', '.join(map(str, counts))}</small>"
        rows.append([label, share(sum(counts) / total, 4), *numbers, format_number(expected, 4)])
    return TextTable(["cell", "released share", *head, "expected rows"], rows, "Posterior of every cell")


def _spread(ends: tuple[float, float]) -> str:
    return f"{share(ends[0], 4)} to {share(ends[1], 4)}"


def share(value: float, digits: int = 3) -> str:
    """A share in per cent, in a sentence to three digits; it is 100 only where it is so.

    >>> share(0.31358), share(0.99997)
    ('31.4 %', '99.997 %')
    """
    return f"{format_distinct(100 * value, 100.0, digits)} %"


def mean_and_deviation(distribution: BetaMixture) -> str:
    """The mark of an answer."""
    return f"{format_number(100 * distribution.mean, 3)} ± {format_number(100 * math.sqrt(distribution.variance), 2)} %"


def coverage_along_p(design: Design, interval: str, points: tuple[float, ...]) -> PosteriorCoverage:
    """Return how often the posterior interval of a design holds p: exactly, or simulated with its seed."""
    return posterior_coverage(
        synthesizer=design.release,
        proportions=np.array(points),
        sets=design.sets,
        gamma1=design.gamma1,
        gamma2=design.gamma2,
        level=design.level,
        interval=interval,
        seed=design.seed,
        repetitions=SIMULATED_RELEASES,
    )


def prior_of_cells(design: Design, tables: tuple[tuple[int, ...], ...]) -> float:
    """Return the invented rows in every cell of released tables that follow from a design's promise."""
    rows, cells, sets = sum(tables[0]), len(tables[0]), len(tables)
    if "delta" in design.promised and cells > 2:
        return minimum_prior_for_sets(
            "synth_post_one", n=design.n, m=rows, cells=cells, sets=sets, epsilon=design.epsilon, delta=design.delta
        )
    return replace(design, m=rows, sets=sets).alpha_of_one_set


def typed_counts(text: str, m: int) -> tuple[int, ...]:
    """Return the counts that were typed; a ValueError in a sentence where they are none."""
    if len(text) > MAX_TYPED_CHARACTERS:
        raise ValueError(
            f"The synthetic counts must have at most {MAX_TYPED_CHARACTERS:,} characters; got {len(text):,}."
        )
    words, allowed = _words(text), f"whole numbers from 0 to m = {m:,}, separated by commas"
    if not 1 <= len(words) <= MAX_COUNTS_OF_PAGE:
        got = f"got {len(words)} of them" if words else "the list is empty"
        raise ValueError(f"The synthetic counts must be 1 to {MAX_COUNTS_OF_PAGE} {allowed}; {got}.")
    grouped = THOUSANDS.search(text)
    wrong = (word for word in words if not _is_count(word) or int(word) > m)
    if (word := grouped[0] if grouped else next(wrong, None)) is not None:
        raise ValueError(f"The synthetic counts must be {allowed}; got {single_line(word)}.")
    return tuple(map(int, words))


def typed_tables(text: str) -> tuple[tuple[int, ...], ...]:
    """Return the tables that were typed, one a line; a ValueError in a sentence where they are none."""
    _check(len(text) <= LONGEST_TABLES, f"have at most {LONGEST_TABLES:,} characters", f"{len(text):,}")
    lines = [_words(line) for line in text.splitlines() if line.strip()]
    _check(1 <= len(lines) <= MAX_COUNTS_OF_PAGE, f"be 1 to {MAX_COUNTS_OF_PAGE} lines of counts", str(len(lines)))
    for line in lines:
        wrong = [word for word in line if not _is_count(word)]
        _check(not wrong, "hold whole numbers from 0", single_line(wrong[0]) if wrong else "")
        _check(len(line) > 1, "have at least 2 cells in every line", str(len(line)))
    tables = tuple(tuple(map(int, line)) for line in lines)
    sizes, totals = [len(table) for table in tables], sorted({sum(table) for table in tables})
    _check(len(set(sizes)) == 1, "have the same number of cells in every line", ", ".join(map(str, sizes)))
    counted = ", ".join(f"{total:,}" for total in totals)
    _check(len(totals) == 1 and totals[0] > 0, "have the same total in every line, at least 1", counted)
    return tables


def _words(text: str) -> list[str]:
    return [word for word in re.split(r"[\s,;]+", text) if word]


def _is_count(word: str) -> bool:
    return re.fullmatch(r"\d{1,9}", word) is not None


def _check(holds: bool, wanted: str, got: str) -> None:
    if not holds:
        raise ValueError(f"The released tables must {wanted}; got {got}.")
