"""Ways to release data under a prior: Zheng's (2015) methods, and every further synthesizer with a prior."""

from collections.abc import Iterator, Mapping
from functools import cache

from dpviz.methods.base import Method as Method
from dpviz.methods.base import RowMethod
from dpviz.methods.zheng import PARAM_MAP, PARAM_POST, SYNTH_MAP, SYNTH_POST_MANY, SYNTH_POST_ONE
from dpviz.synthesizers import two_cell_laws
from dpviz.synthesizers.prior import PriorSynthesizer

ZHENG: tuple[Method, ...] = (SYNTH_POST_ONE, SYNTH_POST_MANY, SYNTH_MAP, PARAM_POST, PARAM_MAP)
_method_like_any = cache(RowMethod)


def method_of(law: type[PriorSynthesizer]) -> RowMethod:
    """Return the method that releases rows by this synthesizer."""
    own = (one for one in ZHENG if isinstance(one, RowMethod) and one.law is law)
    return next(own, None) or _method_like_any(law)


class _Methods(Mapping[str, Method]):
    """Zheng's methods, or those that some prior makes private, then further registered synthesizers, by key."""

    def __init__(self, zheng: tuple[Method, ...]) -> None:
        self._zheng = zheng

    def _found(self) -> dict[str, Method]:
        laws = [method_of(law) for law in two_cell_laws().values() if issubclass(law, PriorSynthesizer)]
        return {one.key: one for one in (*self._zheng, *laws)}

    def __getitem__(self, key: str) -> Method:
        own = next((one for one in self._zheng if one.key == key), None)
        return own or self._found()[key]  # which synthesizers are registered is looked up where another is asked for

    def __iter__(self) -> Iterator[str]:
        return iter(self._found())

    def __len__(self) -> int:
        return len(self._found())


METHODS = _Methods(ZHENG)
CALIBRATED = _Methods(tuple(method for method in ZHENG if method.calibrated))  # those that some prior makes private

__all__ = ["CALIBRATED", "METHODS", "PARAM_MAP", "SYNTH_POST_ONE"]
