"""What the sentences of Bowen & Liu (2016) say of their figures, judged by the lines that we draw."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from dpviz.claims.seen_figures import (
    ALIKE,
    CLOSE_TO_LEVEL,
    COVERAGE_MEASURE,
    ERROR_MEASURE,
    MODIPS_KEYS,
    NOMINAL,
    NOTICED_BIAS,
    SeenPanel,
    figure_judge,
    seen,
    so_in,
)
from dpviz.claims.sentences import Judge, Judged
from dpviz.core.formatting import format_number

PRIVATE_METHODS = "laplace", "modips", "modips_truncated", "beta_binomial"
REFERENCES_OF_STUDIES = "original", "multiple_synthesis"
OF_NUMBERS, OF_HISTOGRAMS = ("modips_split", "modips_communal"), ("perturbed_histogram", "smoothed_histogram")
OF_CELLS = "modips_printed", "perturbed_cells"
MOSTLY = 0.95  # Share of all points from which it is so


def _study(place: str, measure: str, where: str = "") -> tuple[SeenPanel, ...]:
    return seen("Bowen & Liu (2016)", place, measure, where)


def _near_reference(one: SeenPanel, key: str) -> bool:
    """Whether the error of a method with the least privacy is that of the data, or of multiple synthesis."""
    ends = [float(one.y(reference)[-1]) for reference in REFERENCES_OF_STUDIES]
    return any(abs(float(one.y(key)[-1]) / end - 1) < ALIKE for end in ends)


def _small_epsilon() -> Judged:
    bias = [abs(float(one.y(key)[0])) > NOTICED_BIAS for one in _study("Figure 2", "bias") for key in PRIVATE_METHODS]
    larger = [
        float(one.y(key)[0]) > 2 * float(one.y("original")[0])
        for one in _study("Figure 2", ERROR_MEASURE)
        for key in PRIVATE_METHODS
    ]
    return so_in([*bias, *larger], "lines")


def _approach(place: str, keys: Sequence[str], but: Sequence[str] = ()) -> Judged:
    """Errors fall with ε, and end at those of a reference; but for some, which do not."""
    panels = _study(place, ERROR_MEASURE)
    fall = [bool(one.y(key)[-1] < one.y(key)[0]) for one in panels for key in keys]
    near = [_near_reference(one, key) for one in panels for key in keys]
    apart = [not _near_reference(one, key) for one in panels for key in but]
    return so_in([*fall, *near, *apart], "cases")


def _more_rows() -> Judged:
    panels = _study("Figure 2", ERROR_MEASURE)
    three = [panels[start : start + 3] for start in range(0, len(panels), 3)]
    pairs = [(few, more, key) for each in three for few, more in pairwise(each) for key in ("laplace", "modips")]
    return so_in([bool(np.all(more.y(key) <= few.y(key) * (1 + 1e-6))) for few, more, key in pairs], "comparisons")


def _best_at_half() -> Judged:
    half = _study("supplement, Figure 1", "bias")
    holds = []
    for place, one in enumerate(_study("Figure 2", "bias")):
        other = half[place % len(half)]
        holds += [bool(np.all(np.abs(other.y(key)) <= np.abs(one.y(key)) + 1e-9)) for key in PRIVATE_METHODS]
    return so_in(holds, "lines")


def _truncation_larger() -> Judged:
    panels = _study("Figure 2", ERROR_MEASURE)
    larger = np.concatenate([one.y("modips_truncated") >= one.y("modips") for one in panels])
    better = np.concatenate([one.y(key) <= one.y("posterior_mean") for one in panels for key in MODIPS_KEYS])
    told = (
        f"Truncation has the larger error at {larger.sum()} of {larger.size} points, and modips a smaller one than "
        f"DP-prior at {better.sum()} of {better.size}."
    )
    return Judged(told, holds=bool(larger.all() and better.all()))


def _switched() -> Judged:
    panels, (noise, *_, draw) = _study("Figure 2", ERROR_MEASURE), PRIVATE_METHODS
    first = [bool(one.y(noise)[0] >= max(one.y(key)[0] for key in PRIVATE_METHODS)) for one in panels]
    middle = [len(set((one.y(noise) > one.y(draw)).tolist())) > 1 for one in panels]
    told = (
        f"They change places in {sum(middle)} of {len(middle)} panels; at the smallest ε the Laplace sanitizer has the "
        f"largest error in {sum(first)}."
    )
    return Judged(told, holds=any(middle))


def _modips_under() -> Judged:
    found = [100 * float(one.y(key)[0]) for one in _study("Figure 3", COVERAGE_MEASURE) for key in MODIPS_KEYS]
    told = f"At the smallest ε from {format_number(min(found), 3)} to {format_number(max(found), 3)} %."
    return Judged(told, holds=max(found) < 100 * NOMINAL)


def _fewer_rows_cover() -> Judged:
    panels, keys = (
        _study("Figure 3", COVERAGE_MEASURE),
        ("laplace", "modips_truncated", "beta_binomial", "posterior_mean"),
    )
    middle = len(panels[0].y("laplace")) // 3  # ε = e⁻²
    three = [panels[start : start + 3] for start in range(0, len(panels), 3)]
    holds = [
        bool(few.y(key)[middle] >= more.y(key)[middle] - few.slack(key)[middle])
        for each in three
        for few, more in pairwise(each)
        for key in keys
    ]
    return so_in(holds, "comparisons")


def _histograms_under() -> Judged:
    (panel,) = _study("Figure 5", COVERAGE_MEASURE, "μ, n = 1,000")
    low = {key: float(panel.y(key).min()) for key in (*OF_NUMBERS, *OF_HISTOGRAMS)}
    told = (
        f"The lowest are {', '.join(format_number(100 * one, 3) for one in low.values())} %: modips split and not, the "
        "perturbed and the smoothed histogram."
    )
    close = all(low[key] > NOMINAL - 2 * CLOSE_TO_LEVEL for key in OF_NUMBERS)
    return Judged(told, holds=close and all(low[key] < NOMINAL - 2 * CLOSE_TO_LEVEL for key in OF_HISTOGRAMS))


def _smaller_in(
    place: str, measure: str, where: str, ours: Sequence[str], theirs: Sequence[str], times: float = 1.0
) -> Judged:
    """Some lines lie below others at every point, up to chance."""
    holds = [
        bool(one)
        for panel in _study(place, measure, where)
        for key in ours
        for other in theirs
        for one in times * np.abs(panel.y(key)) <= np.abs(panel.y(other)) + panel.slack(key, other)
    ]
    return so_in(holds, "points")


def _quicker() -> Judged:
    perturbed, smoothed = OF_HISTOGRAMS
    holds = np.concatenate(
        [
            np.abs(panel.y(perturbed)) <= np.abs(panel.y(smoothed)) + panel.slack(*OF_HISTOGRAMS)
            for panel in _study("Figure 4", "bias")
        ]
    )
    return Judged(
        f"Its bias is the smaller one at {holds.sum()} of {holds.size} points.", holds=bool(holds.mean() > 0.5)
    )


def _variance_covered() -> Judged:
    holds = [
        bool(one)
        for panel in _study("supplement, Figures 8 and 9", COVERAGE_MEASURE)
        for key in OF_NUMBERS
        for other in OF_HISTOGRAMS
        for one in np.abs(panel.y(key) - NOMINAL) <= np.abs(panel.y(other) - NOMINAL) + panel.slack(key, other)
    ]
    told = f"It is so in {sum(holds)} of {len(holds)} points."
    return Judged(told, holds=sum(holds) >= MOSTLY * len(holds))


def _symmetric_covered() -> Judged:
    low = [
        float(panel.y(key).min())
        for panel in _study("supplement, Figures 4 to 7", COVERAGE_MEASURE, "μ")
        for key in OF_HISTOGRAMS
    ]
    return Judged(f"The lowest is {format_number(100 * min(low), 3)} %.", holds=min(low) > NOMINAL - CLOSE_TO_LEVEL)


def _cells(measure: str) -> Iterator[tuple[float, float]]:
    """Of every ε the medians over the cells of modips and of the perturbed histogram."""
    for panel in _study("Figure 6", measure, "24"):
        modips, perturbed = (float(np.nanmedian(np.abs(panel.y(key)))) for key in OF_CELLS)
        yield modips, perturbed


def _cell_means() -> Judged:
    pairs = [*_cells("bias"), *_cells(ERROR_MEASURE)]
    told = "; ".join(f"{format_number(one, 2)} against {format_number(two, 2)}" for one, two in pairs)
    return Judged(
        f"Medians over the cells of bias and error, by ε: {told}.", holds=all(2 * one < two for one, two in pairs)
    )


def _cells_covered() -> Judged:
    """A box plot shows a median and, at the end of its box, the lower quartile."""
    panels, (modips, perturbed) = _study("Figure 6", COVERAGE_MEASURE, "24"), OF_CELLS
    medians = [100 * float(np.nanmedian(panel.y(modips))) for panel in panels]
    first = panels[0].y(perturbed)
    quartile, lowest = 100 * float(np.nanquantile(first, 0.25)), 100 * float(np.nanmin(first))
    told = (
        f"The medians of modips are {', '.join(format_number(one, 3) for one in medians)} %, by ε. Of the histogram "
        "at the "
        f"smallest ε a quarter of the cells has at most {format_number(quartile, 3)} %, and one "
        f"{format_number(lowest, 3)} %."
    )
    near = 100 * (NOMINAL - CLOSE_TO_LEVEL)
    return Judged(told, holds=min(medians) > near > quartile)


def _cells_converge() -> Judged:
    *_, last = _study("Figure 6", ERROR_MEASURE, "24")
    medians = [float(np.nanmedian(last.y(key))) for key in (*OF_CELLS, "multiple_synthesis", "original")]
    told = (
        f"At the largest ε the median errors are {', '.join(format_number(one, 3) for one in medians)}: modips, the "
        "histogram, MS and the original."
    )
    modips, perturbed, synthesis, original = medians
    return Judged(told, holds=abs(modips / synthesis - 1) < ALIKE and abs(perturbed / original - 1) < ALIKE)


def _marginals_precise() -> Judged:
    return _smaller_in("Figure 6", ERROR_MEASURE, "6", ("perturbed_cells",), ("modips_printed",))


def _marginals_covered() -> Judged:
    panels = _study("Figure 6", COVERAGE_MEASURE, "6")
    modips, perturbed = (min(100 * float(panel.y(key).min()) for panel in panels) for key in OF_CELLS)
    told = (
        f"The lowest are {format_number(modips, 3)} % for modips and {format_number(perturbed, 3)} % for the histogram."
    )
    return Judged(told, holds=min(modips, perturbed) > 100 * (NOMINAL - 2 * CLOSE_TO_LEVEL))


STUDY_FIGURE_JUDGES: dict[str, Judge] = {
    key: figure_judge(found)
    for key, found in {
        "small_epsilon": _small_epsilon,
        "approach": lambda: _approach("Figure 2", PRIVATE_METHODS, ("posterior_mean",)),
        "more_rows": _more_rows,
        "best_at_half": _best_at_half,
        "truncation_larger": _truncation_larger,
        "switched": _switched,
        "modips_under": _modips_under,
        "fewer_rows_cover": _fewer_rows_cover,
        "approach_2": lambda: _approach("Figure 4", (*OF_NUMBERS, "perturbed_histogram")),
        "histograms_under": _histograms_under,
        "histograms_precise": lambda: _smaller_in("Figure 4", ERROR_MEASURE, "", OF_HISTOGRAMS, OF_NUMBERS),
        "quicker": _quicker,
        "variance_precise": lambda: _smaller_in(
            "supplement, Figures 8 and 9", ERROR_MEASURE, "", OF_NUMBERS, OF_HISTOGRAMS
        ),
        "variance_covered": _variance_covered,
        "symmetric_covered": _symmetric_covered,
        "cell_means": _cell_means,
        "cells_covered": _cells_covered,
        "cells_converge": _cells_converge,
        "marginals_precise": _marginals_precise,
        "marginals_covered": _marginals_covered,
    }.items()
}
"""By the key of the sentence, of Bowen & Liu."""
