"""The methods of Zheng's thesis as releases whose privacy is known exactly, for up to 100,000 rows."""

from __future__ import annotations

from collections.abc import Mapping

from dpviz.checked import checked
from dpviz.methods import CALIBRATED, Method
from dpviz.methods.base import MANY_ROWS, MANY_SYNTHETIC_ROWS, TWO_CELLS_OR_MORE
from dpviz.synthesizers import Release
from dpviz.synthesizers.prior import PRIOR_ONES


def method_called(key: str, among: Mapping[str, Method] = CALIBRATED) -> Method:
    """The method with this key; a ValueError lists what there is."""
    if key not in among:
        raise ValueError(f"method must be one of {', '.join(among)}; got {key!r}.")
    return among[key]


@checked(method=CALIBRATED, cells=TWO_CELLS_OR_MORE)
def release(method: str, *, n: int, m: int, alpha: float, beta: float | None = None, cells: int = 2) -> Release:
    """The release of a method of `CALIBRATED` under a prior, as the measures of `dpviz.privacy` take it.

    β = α where it is not given; with k > 2 cells every cell has α, and m is at most 2,000, or 20 n where that is more.

    Examples
    --------
    >>> release("synth_post_one", n=1, m=1, alpha=1.0).hockey_stick(0.0).value.__round__(12)
    0.333333333333
    """
    if cells == 2:
        return CALIBRATED[method].two_cells(n, m, alpha, alpha if beta is None else beta)
    if beta is not None:
        raise ValueError(f"beta (prior zeros) must not be given where there are {cells} cells; got {beta}.")
    for declaration, value in ((MANY_ROWS, n), (MANY_SYNTHETIC_ROWS, m), (PRIOR_ONES, alpha)):
        declaration.check(value)
    return CALIBRATED[method].more_cells(n, m, alpha, cells)
