"""Ways to release data under a prior: Zheng's (2015) methods, and every further synthesizer with a prior."""

from collections.abc import Iterator, Mapping
from functools import cache

from dpviz.calibration.base import PriorMethod as PriorMethod
from dpviz.calibration.base import RowMethod
from dpviz.calibration.zheng import PARAM_MAP, PARAM_POST, SYNTH_MAP, SYNTH_POST_MANY, SYNTH_POST_ONE
from dpviz.mechanisms import two_cell_synthesizers
from dpviz.mechanisms.prior import PriorSynthesizer

ZHENG: tuple[PriorMethod, ...] = (SYNTH_POST_ONE, SYNTH_POST_MANY, SYNTH_MAP, PARAM_POST, PARAM_MAP)
_method_like_any = cache(RowMethod)


def method_of(synthesizer_type: type[PriorSynthesizer]) -> RowMethod:
    """Return the method that releases rows by this synthesizer."""
    own = (one for one in ZHENG if isinstance(one, RowMethod) and one.synthesizer_type is synthesizer_type)
    return next(own, None) or _method_like_any(synthesizer_type)


class _PriorMethods(Mapping[str, PriorMethod]):
    """Zheng's methods, or those that some prior makes private, then further registered synthesizers, by key."""

    def __init__(self, zheng: tuple[PriorMethod, ...]) -> None:
        self._zheng = zheng

    def _found(self) -> dict[str, PriorMethod]:
        synthesizer_types = [
            method_of(synthesizer_type)
            for synthesizer_type in two_cell_synthesizers().values()
            if issubclass(synthesizer_type, PriorSynthesizer)
        ]
        return {one.key: one for one in (*self._zheng, *synthesizer_types)}

    def __getitem__(self, key: str) -> PriorMethod:
        own = next((one for one in self._zheng if one.key == key), None)
        return own or self._found()[key]  # which synthesizers are registered is looked up where another is asked for

    def __iter__(self) -> Iterator[str]:
        return iter(self._found())

    def __len__(self) -> int:
        return len(self._found())


PRIOR_METHODS = _PriorMethods(ZHENG)
CALIBRATED_METHODS = _PriorMethods(tuple(method for method in ZHENG if method.calibrated))
"""Those that some prior makes private."""

__all__ = ["CALIBRATED_METHODS", "PARAM_MAP", "PRIOR_METHODS", "SYNTH_POST_ONE"]
