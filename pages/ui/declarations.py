"""Numbers and presets of a page, as ``pages/texts/<page>.toml`` declares them beside its texts.

``[numbers.n]`` declares a number. Its `base` is a declaration of dpviz ("ROWS"), a member of a table of them
("PROMISE.alpha") or a table above ("n"); what else it has are fields of `Parameter`, whose value may be a constant of
dpviz ("MAX_ROWS"). ``[[presets]]`` have a `label`, may begin with what another is `like`, and set the rest; a case
``[cases.charest]`` is what several presets are like, and no preset itself.
"""

import importlib
import math
import tomllib
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any, get_args, get_type_hints

from dpviz.core.parameters import Parameter
from pages.ui.navigation import TEXTS

MODULES = (
    "core.parameters", "core.declarations", "core.limits", "mechanisms.prior_mechanism", "mechanisms.cells", "designs",
    "desk.promises", "calibration.gaussian_range", "privacy.attacker", "privacy.subsampling", "comparisons.terms",
    "comparisons.base", "comparisons.gaussian", "comparisons.asked_numbers", "desk.stated", "plans.plan",
    "mechanisms.draws",
)  # fmt: skip
"""Modules of dpviz that are searched for a base or a constant, in this order; imported when one is looked for."""

TYPES = get_type_hints(Parameter)


def declared_numbers(page: str, bases: Mapping[str, Parameter] | None = None) -> dict[str, Parameter]:
    """Declarations in the tables ``[numbers.<name>]`` of ``pages/texts/<page>.toml``, by name; ValueError if wrong."""
    numbers: dict[str, Parameter] = {}
    for name, table in _read(page).get("numbers", {}).items():
        where = f"{page}.toml, [numbers.{name}]"
        known = {**(bases or {}), **numbers}
        try:
            values = {key: _value(key, value) for key, value in table.items() if key != "base"}
            if "base" in table:
                parameter = replace(known.get(table["base"]) or _constant(str(table["base"])), **values)
            else:
                parameter = Parameter(**{"name": name, **values})
            broken = [key for key, value in values.items() if isinstance(value, float) and math.isfinite(value)]
            if parameter.integer and broken:
                raise ValueError(f"{', '.join(broken)} must be whole.")
            parameter.validate(parameter.default)
        except (TypeError, ValueError) as error:
            raise ValueError(f"{where}: {error}") from None
        numbers[name] = parameter
    return numbers


def declared_presets(page: str) -> dict[str, dict[str, Any]]:
    """Values by label in the tables ``[[presets]]`` of ``pages/texts/<page>.toml``; ValueError if wrong."""
    content = _read(page)
    known: dict[str, dict[str, Any]] = {}
    tables = [(f"[cases.{name}]", name, table) for name, table in content.get("cases", {}).items()]
    tables += [(f"[[presets]] {table.get('label')}", table.get("label"), table) for table in content.get("presets", [])]
    for where, label, table in tables:
        like = table.get("like")
        if not label or label in known or (like is not None and like not in known):
            raise ValueError(f"{page}.toml, {where}: it needs a label of its own, and like = {like!r} above it.")
        own = {key: value for key, value in table.items() if key not in ("label", "like")}
        known[label] = known.get(like, {}) | own
    return {table["label"]: known[table["label"]] for table in content.get("presets", [])}


def _value(key: str, value: Any) -> Any:
    """Value of a field of a declaration; a text in capitals may be the name of a constant."""
    if key != "symbol" and isinstance(value, str) and value.isupper():
        value = _constant(value)
    kinds = get_args(TYPES.get(key)) or (TYPES.get(key),)
    if not (value in kinds or type(value) in kinds or (float in kinds and type(value) is int)):
        raise ValueError(f"{key} = {value!r} is no field of a declaration, or not of its kind.")
    return value


def _constant(name: str) -> Any:
    """Constant of dpviz, or a member of one that is a table."""
    constant, _, member = name.partition(".")
    for module in MODULES:
        value = getattr(importlib.import_module(f"dpviz.{module}"), constant, None)
        if value is not None and (not member or member in value):
            return value[member] if member else value
    raise ValueError(f"{name!r} is no declaration or constant of dpviz.")


@cache
def _read(page: str) -> dict[str, Any]:
    content = tomllib.loads((TEXTS / f"{page}.toml").read_text(encoding="utf-8"))
    if unknown := content.keys() - {"numbers", "cases", "presets"}:
        raise ValueError(f"{page}.toml: unknown table {', '.join(sorted(unknown))}.")
    return content
