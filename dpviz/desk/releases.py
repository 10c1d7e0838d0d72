"""What the release of a single set is asked for by: the numbers of its promise and of its synthesizer, and in words."""

import dataclasses
from functools import cache

from dpviz.core.parameters import DELTA, EPSILON, Parameter, readable
from dpviz.designs import NOISE_EPSILON_KEY, Design
from dpviz.mechanisms import Synthesizer
from dpviz.mechanisms.given_matrix import GivenMatrix


@cache
def numbers_asked(synthesizer_type: type[Synthesizer]) -> dict[str, Parameter]:
    """Return the numbers of the promise and of a synthesizer, in the order in which they are asked for.

    >>> from dpviz.mechanisms import GeometricSanitizer
    >>> list(numbers_asked(GeometricSanitizer))
    ['epsilon', 'delta', 'n', 'noise_epsilon']
    """
    own = {one.name: one for one in synthesizer_type.parameters()}
    noise = {NOISE_EPSILON_KEY: own.pop("epsilon")} if "epsilon" in own else {}
    prior = {name: own.pop(name) for name in ("alpha", "beta") if name in own}
    return {"epsilon": EPSILON, "delta": DELTA, **prior, **own, **noise}


@cache
def widest_numbers(*synthesizer_types: type[Synthesizer]) -> dict[str, Parameter]:
    """Return each of these numbers with the domain that all the synthesizers together give it.

    >>> from dpviz.mechanisms import BetaBinomial, PosteriorMode  # a mode needs α > 1
    >>> widest_numbers(PosteriorMode, BetaBinomial)["alpha"].minimum == BetaBinomial.numbers()["alpha"].minimum
    True
    """
    found: dict[str, Parameter] = {}
    for synthesizer_type in synthesizer_types:
        for name, one in numbers_asked(synthesizer_type).items():
            first = found.get(name, one)
            found[name] = dataclasses.replace(
                first,
                minimum=min(first.minimum, one.minimum),
                maximum=max(first.maximum, one.maximum),
                open_minimum=first.open_minimum and one.open_minimum,
            )
    return found


def release_text(design: Design) -> str:
    """The release of a single set and the promise, with their numbers."""
    release, promise = design.synthesizer, f"ε = {readable(design.epsilon)}, δ = {readable(design.delta)}"
    if isinstance(release, GivenMatrix):
        return f"the given matrix of {release.shape[0]:,} rows and {release.shape[1]:,} columns, {promise}"
    return ", ".join([release.label, *release.in_symbols(names=release.numbers().keys() - {"epsilon"}), promise])
