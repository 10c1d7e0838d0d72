"""What the release of a single set is asked for by: the numbers of its promise and of its synthesizer, and in words."""

import dataclasses
from collections.abc import Mapping
from functools import cache
from typing import Any

from dpviz.calibration.prior_rules import PRIOR_RULES
from dpviz.core.declarations import DELTA, EPSILON
from dpviz.core.formatting import format_count, format_number
from dpviz.core.parameters import Parameter
from dpviz.designs import NOISE_EPSILON_KEY, Design
from dpviz.desk.promises import PROMISE
from dpviz.mechanisms import SYNTHESIZERS, Synthesizer
from dpviz.mechanisms.matrix_mechanism import GivenMatrix


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


@cache
def numbers_to_set(synthesizer_type: type[Synthesizer], *synthesizer_types: type[Synthesizer]) -> dict[str, Parameter]:
    """Numbers of a release in boxes that hold what another synthesizer allows, and this one refuses in a sentence."""
    widest = widest_numbers(*synthesizer_types)
    return {
        name: dataclasses.replace(
            number,
            minimum=widest.get(name, number).minimum,
            slider_minimum=number.slider_minimum or number.minimum,
            domain_text=number.domain,
        )
        for name, number in numbers_asked(synthesizer_type).items()
    }


def alpha_by_rule(values: Mapping[str, Any]) -> float | None:
    """The α that follows from the promise of a release by the rule of its prior; None where it is a number of its own.

    `values` are those of a `Design` by name, with the key of its synthesizer; it is None as well where they are wrong.
    """
    synthesizer_type = SYNTHESIZERS.get(values.get("synthesizer", ""))
    if synthesizer_type is None or not synthesizer_type.has_prior or values.get("prior", "own") == "own":
        return None
    names = ["n", "sets", "epsilon", "delta", "prior", *([] if values.get("m_is_n", True) else ["m"])]
    numbers = {name: values[name] for name in names if name in values}
    try:
        return Design.of({"mechanism": synthesizer_type.key, **numbers}).alpha_of_one_set
    except ValueError:
        return None


def release_words(values: Mapping[str, Any]) -> str:
    """Synthesizer, sizes and promise of a release, as far as `values` have them by the names of `alpha_by_rule`.

    >>> release_words({"synthesizer": "laplace", "n": 100, "sets": 1, "epsilon": 2.0})
    'Laplace sanitizer, 100 people, 1 set, ε = 2'
    """
    words = []
    if "synthesizer" in values:
        words.append(SYNTHESIZERS[values["synthesizer"]].info.label.partition(" (")[0])
    if "n" in values:
        words.append(format_count(int(values["n"]), "person", "people"))
    if "sets" in values:
        words.append(format_count(int(values["sets"]), "set"))
    names = PRIOR_RULES[values.get("prior", "pure")].numbers
    words += [f"{PROMISE[name].symbol} = {format_number(values[name], 3)}" for name in names if name in values]
    return ", ".join(words)


def release_text(design: Design) -> str:
    """The release of a single set and the promise, with their numbers."""
    release, promise = design.synthesizer, f"ε = {format_number(design.epsilon)}, δ = {format_number(design.delta)}"
    if isinstance(release, GivenMatrix):
        return f"the given matrix of {release.shape[0]:,} rows and {release.shape[1]:,} columns, {promise}"
    return ", ".join([release.info.label, *release.in_symbols(names=release.numbers().keys() - {"epsilon"}), promise])
