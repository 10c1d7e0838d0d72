"""Compute what the papers' figures show, and print it as the file `figures.csv` has it; it takes some minutes."""

import argparse
import sys
from collections.abc import Callable, Iterable, Iterator

from dpviz.claims.drawn_figures import FigurePanel, written_figures
from dpviz.claims.figures.bounds import beta_panels, bounds_panels
from dpviz.claims.figures.cells import covariance_panels, every_cell_panels
from dpviz.claims.figures.numbers import budget_panels, normal_rules_panels, normal_sets_panels, study_2_panels
from dpviz.claims.figures.proportions import charest_panels, rules_panels, sets_panels, study_1_panels
from dpviz.claims.published import Effort

CHAREST_PAPER, THESIS, STUDY_PAPER, LIU_PAPER = "Charest (2011)", "Zheng (2015)", "Bowen & Liu (2016)", "Liu (2016)"
HALF_SETTING = "p = 0.5"
Placed = tuple[str, str, FigurePanel]


def _placed(paper: str, place: str, panels: Iterable[FigurePanel]) -> Iterator[Placed]:
    for panel in panels:
        yield paper, place, panel


def _study_1(effort: Effort) -> Iterator[Placed]:
    """Figure 2 has bias and error, Figure 3 coverage; the supplement p = 0.5 and the widths."""
    for panel in study_1_panels(effort):
        in_paper = {"coverage": "Figure 3", "mean_width": "supplement, Figure 2"}.get(panel.measure, "Figure 2")
        own = panel.setting.startswith(HALF_SETTING) and panel.measure != "mean_width"
        yield STUDY_PAPER, "supplement, Figure 1" if own else in_paper, panel


def _study_2(effort: Effort) -> Iterator[Placed]:
    """Of μ Figure 4 has bias and error, Figure 5 coverage and the supplement the widths, which has σ² as well."""
    of_mean = {"coverage": "Figure 5", "mean_width": "supplement, Figure 3"}
    for panel in study_2_panels(-3.0, effort):
        own = panel.setting.startswith("μ")
        yield STUDY_PAPER, of_mean.get(panel.measure, "Figure 4") if own else "supplement, Figures 8 and 9", panel
    yield from _placed(STUDY_PAPER, "supplement, Figures 4 to 7", study_2_panels(-4.0, effort))


def _study_3(effort: Effort) -> Iterator[Placed]:
    yield from _placed(STUDY_PAPER, "Figure 6", every_cell_panels(effort))
    yield from _placed(STUDY_PAPER, "supplement, Figures 10 and 11", covariance_panels(effort))


def _thesis(_: Effort) -> Iterator[Placed]:
    yield from _placed(THESIS, "Figure 3.1", beta_panels())
    yield from _placed(THESIS, "Figure 6.1", bounds_panels("bernoulli"))
    yield from _placed(THESIS, "Figure 7.1", bounds_panels("gaussian"))


def _of_liu(effort: Effort) -> Iterator[Placed]:
    for place, halves in (
        ("Figure 6", (sets_panels, normal_sets_panels)),
        ("Figure 7", (rules_panels, normal_rules_panels)),
    ):
        for panels in halves:
            yield from _placed(LIU_PAPER, place, panels(effort))
    yield from _placed(LIU_PAPER, "Figure 8", budget_panels(effort))


FIGURE_PARTS: dict[str, Callable[[Effort], Iterator[Placed]]] = {
    "charest": lambda _: _placed(CHAREST_PAPER, "Figure 1", charest_panels()),
    "zheng": _thesis,
    "bowen_liu_1": _study_1,
    "bowen_liu_2": _study_2,
    "bowen_liu_3": _study_3,
    "liu": _of_liu,
}
"""What is computed, in the order of the file."""


def print_figures(arguments: list[str] | None = None) -> None:
    """Print the file, or some of its parts."""
    parser = argparse.ArgumentParser(prog="python -m dpviz.claims.figures", description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[[], *FIGURE_PARTS], help="some of them (default: all)")
    parser.add_argument("--repetitions", type=int, default=Effort().repetitions, help="default: %(default)s")
    parser.add_argument("--seed", type=int, default=Effort().seed, help="default: %(default)s")
    asked = parser.parse_args(arguments)
    effort = Effort(asked.repetitions, asked.seed)
    placed = (one for key in asked.parts or FIGURE_PARTS for one in FIGURE_PARTS[key](effort))
    sys.stdout.write(written_figures(placed))


if __name__ == "__main__":
    print_figures()
