"""Counts of released tables as an analyst sees them: read from a text, and the posteriors that follow from them."""

import re
from dataclasses import dataclass
from functools import cached_property

from dpviz.core.escape import single_line
from dpviz.core.limits import MAX_COUNTS_OF_PAGE
from dpviz.inference.beta_mixture import BetaMixture
from dpviz.inference.posterior import posterior_given, posterior_if_known, posterior_if_real
from dpviz.mechanisms import TwoCellSynthesizer

COUNT = re.compile(r"\d{1,9}")
# One number with separators of thousands, rather than several counts
THOUSANDS = re.compile(r"(?<![\d,])\d{1,3}(,\d{3})*,0\d\d(?!\d)")


@dataclass(frozen=True, kw_only=True)
class ReleasedCounts:
    """Counts of M released tables, the analyst's prior and level, and x where it is known, as the agency knows it."""

    synthesizer: TwoCellSynthesizer
    counts: tuple[int, ...]
    gamma1: float = 1.0
    gamma2: float = 1.0
    level: float = 0.95
    confidential_count: int | None = None

    @property
    def secret_share(self) -> float | None:
        """x / n, where x is known."""
        return None if self.confidential_count is None else self.confidential_count / self.synthesizer.n

    @property
    def exact(self) -> BetaMixture:
        """Posterior of an analyst who is told how the data were made."""
        return self.posteriors["exact"]

    @cached_property
    def posteriors(self) -> dict[str, BetaMixture]:
        """Posteriors by key: "exact", "known" from x itself where it is known, and "naive", as if rows were real."""
        prior = {"gamma1": self.gamma1, "gamma2": self.gamma2}
        posteriors = {"exact": posterior_given(self.synthesizer, self.counts, **prior)}
        if self.confidential_count is not None:
            n = self.synthesizer.n
            posteriors["known"] = posterior_if_known(confidential_count=self.confidential_count, n=n, **prior)
        posteriors["naive"] = posterior_if_real(self.counts, m=self.synthesizer.m, **prior)
        return posteriors


def read_counts(text: str, m: int) -> tuple[int, ...]:
    """Counts from 0 to m of released tables, separated by commas, semicolons or spaces.

    Parameters
    ----------
    text : str
    m : int
        Largest count.

    Examples
    --------
    >>> read_counts("31, 45", 100)
    (31, 45)
    """
    _check_length("counts", text, 4_000)
    words = _split(text)
    allowed = f"whole numbers from 0 to m = {m:,}, separated by commas"
    if not 1 <= len(words) <= MAX_COUNTS_OF_PAGE:
        state = f"got {len(words)} of them" if words else "the list is empty"
        raise ValueError(f"The synthetic counts must be 1 to {MAX_COUNTS_OF_PAGE} {allowed}; {state}.")
    number = THOUSANDS.search(text)
    wrong = [number[0]] if number else [word for word in words if not COUNT.fullmatch(word) or int(word) > m]
    if wrong:
        raise ValueError(f"The synthetic counts must be {allowed}; got {single_line(wrong[0])}.")
    return tuple(map(int, words))


def read_tables(text: str) -> tuple[tuple[int, ...], ...]:
    r"""Counts of released tables of k cells written in a text, one table a line, all with the same total.

    >>> read_tables("7, 2, 3\n3, 4, 5")
    ((7, 2, 3), (3, 4, 5))
    """
    _check_length("tables", text, 100_000)
    lines = [_split(line) for line in text.splitlines() if line.strip()]
    wrong = [single_line(word) for line in lines for word in line if not COUNT.fullmatch(word)]
    sizes = sorted({len(line) for line in lines})
    totals = [] if wrong else sorted({sum(map(int, line)) for line in lines})
    for is_met, condition, values in (
        (1 <= len(lines) <= MAX_COUNTS_OF_PAGE, f"be 1 to {MAX_COUNTS_OF_PAGE} lines of counts", [len(lines)]),
        (not wrong, "hold whole numbers from 0", wrong[:1]),
        (min(sizes, default=0) > 1, "have at least 2 cells in every line", sizes[:1]),
        (len(sizes) == 1, "have the same number of cells in every line", sizes),
        (len(totals) == 1 and totals[0] > 0, "have the same total in every line, at least 1", totals),
    ):
        if not is_met:
            listed = ", ".join(value if isinstance(value, str) else f"{value:,}" for value in values)
            raise ValueError(f"The released tables must {condition}; got {listed}.")
    return tuple(tuple(map(int, line)) for line in lines)


def _split(text: str) -> list[str]:
    return [word for word in re.split(r"[\s,;]+", text) if word]


def _check_length(name: str, text: str, maximum: int) -> None:
    if len(text) > maximum:
        raise ValueError(f"The synthetic {name} must have at most {maximum:,} characters; got {len(text):,}.")
