"""How the prior of each of M sets follows from a promise that they share."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from dpviz.mechanisms import Synthesizer
from dpviz.mechanisms.cell_mechanisms import PriorCellSynthesizer

# A prior that changes nothing: where ε/M needs no more, no better count of the cost is asked for.
PRIOR_WITHOUT_EFFECT = 1e-50


@dataclass(frozen=True)
class PriorRule:
    """How α = β of each set follows for a synthesizer with a prior, from the `numbers` of a design."""

    label: str
    numbers: tuple[str, ...]
    alpha: Callable[[Any], float]


def _pure(design: Any) -> float:
    return design.synthesizer_type.smallest_alpha(m=design.m, epsilon=design.epsilon / design.sets)


def _exact(design: Any) -> float:
    pure = _pure(design)
    if pure < PRIOR_WITHOUT_EFFECT:
        return pure
    synthesizer_type = design.synthesizer_type
    cells = dict(design.details).get("cells", 3) if issubclass(synthesizer_type, PriorCellSynthesizer) else 2
    sizes = (design.n, design.m, design.sets)
    return _searched(synthesizer_type, *sizes, design.epsilon, design.delta, int(cells))


@lru_cache(maxsize=4096)  # it takes up to half a second, and few controls of a page change its answer
def _searched(
    synthesizer_type: type[Any], n: int, m: int, sets: int, epsilon: float, delta: float, cells: int
) -> float:
    from dpviz.calibration.methods import PriorMethod, method_of  # a design of another rule needs no search
    from dpviz.calibration.several_sets import minimum_prior_for_sets

    method = method_of(synthesizer_type if cells == 2 else synthesizer_type.two_cells)
    if sets > 1 and not (method.independent or method.knows(PriorMethod.losses)):
        raise ValueError(
            f"prior must be 'pure' (ε split equally) or 'own' (your α) for sets of {synthesizer_type.info.label}; "
            "got 'exact'."
        )
    return minimum_prior_for_sets(method.key, n=n, m=m, sets=sets, epsilon=epsilon, delta=delta, cells=cells)


# By key: the papers' rule, as in Charest (2011); the exact composition of the sets; α as it is set.
PRIOR_RULES = {
    "pure": PriorRule("split ε equally over the sets, as in the papers", ("epsilon",), _pure),
    "exact": PriorRule("smallest prior for all sets together, with δ", ("epsilon", "delta"), _exact),
    "own": PriorRule("choose α myself", ("alpha",), lambda design: design.alpha),
}


def promised_by(synthesizer_type: type[Synthesizer], prior: str) -> tuple[str, ...]:
    """Names of the numbers of the promise, or of the prior by the rule with this key, that a release follows from.

    Parameters
    ----------
    synthesizer_type : type of Synthesizer
    prior : str
        Key of `PRIOR_RULES`; unused by a synthesizer without a prior.
    """
    if synthesizer_type.has_prior:
        return PRIOR_RULES[prior].numbers
    names = [parameter.name for parameter in synthesizer_type.parameters()]
    return tuple(name for name in names if name in ("epsilon", "alpha"))
