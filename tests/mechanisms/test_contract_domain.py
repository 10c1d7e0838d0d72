"""Every registered synthesizer accepts its whole declared domain, works at its ends and refuses what lies outside."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from dpviz import privacy
from dpviz.core.formatting import format_number
from dpviz.core.parameters import Parameter
from dpviz.mechanisms import Synthesizer
from tests.mechanisms.test_contract import CLASSES, MANY_CELLS, every_class, least, names


def default_values(cls: type[Synthesizer]) -> dict[str, float]:
    return {declaration.name: declaration.default for declaration in cls.parameters()}


def refused(declaration: Parameter) -> list[object]:
    """One step outside the domain at either end, far outside, and what is no such number at all."""
    step = 1 if declaration.integer else 0
    low, high = declaration.minimum, declaration.maximum
    below = low if declaration.open_minimum else low - 1 if step else math.nextafter(low, -math.inf)
    above = high + 1 if step else math.nextafter(high, math.inf)
    values: list[object] = [below, above, -1.0, math.nan, math.inf, -math.inf, "many", "3", True, None, b"3", 2 + 1j]
    return [*values, 2.5] if step else values


every_declaration = [
    pytest.param(cls, declaration, id=f"{cls.key}-{declaration.name}")
    for cls in CLASSES
    for declaration in cls.parameters()
]


@pytest.mark.parametrize(("cls", "declaration"), every_declaration)
def test_a_value_outside_the_domain_is_refused_by_name_domain_and_value(cls, declaration):
    ends = (declaration.minimum, declaration.maximum)
    for value in refused(declaration):
        each = [(declaration.default, value, declaration.default)] if declaration.per_cell else []
        for candidate in (value, *each):
            with pytest.raises(ValueError, match="must be") as refusal:
                cls(**(default_values(cls) | {declaration.name: candidate}))
                pytest.fail(f"{candidate!r} was accepted")
            message = str(refusal.value)
            assert message.startswith(f"{declaration.name} "), candidate
            assert declaration.domain in message, candidate
            plain = isinstance(value, (int, float)) and not isinstance(value, bool) and not math.isnan(value)
            shown = message.rpartition("got ")[2].removesuffix(".")
            assert shown in ((format_number(value), repr(float(value))) if plain else (repr(value),)), candidate
            assert shown not in map(format_number, ends) or value in ends, candidate


@every_class
def test_the_ends_of_every_domain_are_accepted(cls: type[Synthesizer]) -> None:
    for declaration in cls.parameters():
        for value in (least(declaration), declaration.default, declaration.maximum):
            assert getattr(cls(**(default_values(cls) | {declaration.name: value})), declaration.name) == value


@every_class
def test_releases_with_the_same_numbers_are_one_key_and_others_are_not(cls: type[Synthesizer]) -> None:
    """What is remembered of a release is found by its equality, its hash or how it prints."""
    values = default_values(cls)
    release = cls(**values)
    for declaration in cls.parameters():
        same = cls(**(values | {declaration.name: np.float64(declaration.default)}))
        end = declaration.maximum if least(declaration) == declaration.default else least(declaration)
        changed = cls(**(values | {declaration.name: end}))
        assert (same, hash(same), repr(same)) == (release, hash(release), repr(release))
        assert changed != release and repr(changed) != repr(release)


@every_class
def test_one_prior_for_each_cell_must_mean_each_cell(cls: type[Synthesizer]) -> None:
    for declaration in cls.parameters():
        for wrong in (1, 2, 4) if declaration.per_cell else ():
            values = default_values(cls) | {declaration.name: (declaration.default,) * wrong}
            with pytest.raises(ValueError, match=rf"{declaration.name} .*one number or 3 of them; got {wrong}"):
                cls(**values)


def extremes(declaration: Parameter) -> list[float]:
    if declaration.name == MANY_CELLS:
        return [3]
    wanted = [1, 2, 50] if declaration.integer else [1.0]
    ends = [] if declaration.integer else [least(declaration), declaration.maximum]
    return sorted({value for value in wanted + ends if least(declaration) <= value <= declaration.maximum})


@every_class
def test_nothing_breaks_at_the_extremes(cls: type[Synthesizer]) -> None:
    """No NaN, no infinity and no warning, which the test configuration turns into an error."""
    grids = [extremes(declaration) for declaration in cls.parameters()]
    for values in itertools.product(*grids):
        s = cls(**dict(zip(names(cls), values, strict=True)))
        pure = privacy.pure_epsilon(s)
        profile = np.array([privacy.delta_for_epsilon(s, epsilon) for epsilon in (0.0, 1e-6, 1.0, 600.0, 1e3)])
        assert 0 <= pure < math.inf, s
        assert np.all((profile >= 0) & (profile <= 1)), s
        assert np.all(np.diff(profile) <= 1e-12), s
        assert 0 <= privacy.epsilon_for_delta(s, 1e-5) <= pure, s
        if math.prod(s.shape) <= 200_000:
            matrix = s.transition_matrix()
            assert np.abs(matrix.sum(axis=1) - 1).max() <= 1e-11, s
            assert matrix.min() >= 0, s
            assert np.isfinite(s.log_transition_matrix()).all(), s
            assert np.abs(s.log_odds_table()).max() <= pure * (1 + 1e-13), s
            assert profile[0] <= privacy.probabilistic_delta(s, 0.0) + 1e-12, s
