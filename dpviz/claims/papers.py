"""The papers: every printed number and statement of each beside ours, table by table, and their errata."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, NamedTuple

from dpviz.claims.abowd_vilhuber import accounts_of_printed_delta, figure_cells
from dpviz.claims.abowd_vilhuber_text import FIGURE_JUDGES
from dpviz.claims.bowen_liu import compare_other_shares, compare_usable_shares
from dpviz.claims.bowen_liu_figures import STUDY_FIGURE_JUDGES
from dpviz.claims.bowen_liu_text import STUDY_JUDGES
from dpviz.claims.charest import PRINTED_TABLES, SIMULATED_RUNS, compare_charest
from dpviz.claims.charest_text import CHAREST_JUDGES
from dpviz.claims.later_text import JACKSON_JUDGES, MENICUCCI_JUDGES, QUICK_JUDGES
from dpviz.claims.liu import LIU_HALVES, USUAL_EFFORT
from dpviz.claims.liu_figures import LIU_FIGURE_JUDGES
from dpviz.claims.liu_text import LIU_JUDGES, liu_cells
from dpviz.claims.promise_records import promise_records
from dpviz.claims.published import Effort, Erratum, Record, read_errata
from dpviz.claims.sentences import Judge, read_sentences
from dpviz.claims.zheng_orders import order_records
from dpviz.claims.zheng_printed import THESIS_JUDGES, claim_records

Compare = Callable[[Effort], Iterable[Record[Any]]]


class PrintedPart(NamedTuple):
    """Something that a paper prints, such as a table, and what compares it with ours."""

    what: str
    compare: Compare


class Paper(NamedTuple):
    """A paper: its key, authors and year, and its parts in their order."""

    key: str
    cited: str
    parts: tuple[PrintedPart, ...]

    @property
    def errata(self) -> tuple[Erratum, ...]:
        """What it prints and its own definitions contradict."""
        return read_errata(self.key)


def _without_effort(compare: Callable[[], Iterable[Record[Any]]]) -> Compare:
    return lambda _: compare()


def _charest(number: int, effort: Effort) -> Iterable[Record[float]]:
    return compare_charest(number, max(effort.repetitions, SIMULATED_RUNS), effort.seed)


def _paper(key: str, cited: str, judges: dict[str, Judge], *parts: tuple[str, Compare]) -> Paper:
    text = PrintedPart("the text", lambda effort: read_sentences(key, judges, effort))
    return Paper(key, cited, (*(PrintedPart(*one) for one in parts), text))


PAPERS: dict[str, Paper] = {
    one.key: one
    for one in (
        _paper(
            "abowd_vilhuber",
            "Abowd & Vilhuber (2008)",
            FIGURE_JUDGES,
            ("Figures 1 to 4", _without_effort(figure_cells)),
            ("the printed δ", _without_effort(accounts_of_printed_delta)),
        ),
        _paper(
            "charest",
            "Charest (2011)",
            CHAREST_JUDGES,
            *((f"Table {number}", partial(_charest, number)) for number in PRINTED_TABLES),
        ),
        _paper(
            "zheng",
            "Zheng (2015)",
            THESIS_JUDGES,
            ("Theorems", _without_effort(claim_records)),
            ("Figures 6.1 and 7.1", _without_effort(order_records)),
        ),
        _paper(
            "bowen_liu",
            "Bowen & Liu (2016)",
            STUDY_JUDGES | STUDY_FIGURE_JUDGES,
            ("supplement, Table 1, Laplace sanitizer", _without_effort(compare_usable_shares)),
            ("supplement, Table 1, other methods", _without_effort(compare_other_shares)),
            ("promises", partial(promise_records, "Bowen & Liu (2016)")),
        ),
        _paper(
            "liu",
            "Liu (2016)",
            LIU_JUDGES | LIU_FIGURE_JUDGES,
            *((half.source.partition(", ")[2], partial(liu_cells, key)) for key, half in LIU_HALVES.items()),
            ("promises", partial(promise_records, "Liu (2016)")),
        ),
        _paper("quick", "Quick (2021)", QUICK_JUDGES),
        _paper("jackson", "Jackson et al. (2024)", JACKSON_JUDGES),
        _paper("menicucci", "Menicucci et al. (2026)", MENICUCCI_JUDGES),
    )
}
"""In the order of their years."""


def parts_of(papers: Iterable[str] = PAPERS) -> Iterator[tuple[str, PrintedPart]]:
    """Yield the parts of the papers, by their keys, each with its whole name."""
    for key in papers:
        for part in PAPERS[key].parts:
            yield f"{PAPERS[key].cited}, {part.what}", part


def stream_records(
    papers: Iterable[str] = PAPERS, effort: Effort = USUAL_EFFORT
) -> Iterator[tuple[str, list[Record[Any]]]]:
    """Yield the records of each part of the papers with its name."""
    for name, part in parts_of(papers):
        yield name, list(part.compare(effort))
