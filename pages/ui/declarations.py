"""Numbers and presets of a page, as ``pages/texts/<page>.toml`` declares them beside its texts.

``[numbers.n]`` declares a number. Its `base` is a declaration of dpviz ("core.declarations.ROWS"), one that all pages
share ("controls.alpha", of ``controls.toml``) or one above ("n"); what else it has are fields of `Parameter`, whose
value may be a constant of dpviz ("core.limits.MAX_PLAN_ROWS"). ``[[presets]]`` have a `label`, may begin with what
another is `like`, and set the rest; a case ``[cases.charest]`` is what several presets are like, and no preset itself.
Tables of other things than numbers are ``[tables.<name>]``.
"""

import importlib
import re
import tomllib
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any

from dpviz.core.parameters import Parameter
from pages.ui.navigation import TEXTS

CONSTANT = re.compile(r"([a-z_0-9.]+)\.([A-Z_0-9]+)")  # module of dpviz, and name of a constant in it
SHARED = "controls."


def declared_numbers(page: str, bases: Mapping[str, Parameter] | None = None) -> dict[str, Parameter]:
    """Declarations in the tables ``[numbers.<name>]`` of ``pages/texts/<page>.toml``, by name; ValueError if wrong."""
    numbers: dict[str, Parameter] = {}
    for name, table in _read(page).get("numbers", {}).items():
        known = {**(bases or {}), **numbers}
        base = table.get("base", "")
        try:
            values = {key: _constant(value) for key, value in table.items() if key != "base"}
            if base:
                if base.startswith(SHARED):
                    known[base] = declared_numbers("controls")[base.removeprefix(SHARED)]
                numbers[name] = replace(known.get(base) or _constant(base), **values)
            else:
                numbers[name] = Parameter(**{"name": name, **values})
            numbers[name].validate(numbers[name].default)
        except (AttributeError, ImportError, KeyError, TypeError, ValueError) as error:
            raise ValueError(f"{page}.toml, [numbers.{name}]: {error}") from error
    return numbers


def declared_presets(page: str) -> dict[str, dict[str, Any]]:
    """Values by label in the tables ``[[presets]]`` of ``pages/texts/<page>.toml``; ValueError if wrong."""
    content = _read(page)
    known: dict[str, dict[str, Any]] = {}
    cases = [{"label": name, **table} for name, table in content.get("cases", {}).items()]
    for table in [*cases, *content.get("presets", [])]:
        label, like = table.get("label"), table.get("like")
        if not label or label in known or (like is not None and like not in known):
            where = f"{page}.toml, [[presets]] or [cases] {label}"
            raise ValueError(f"{where}: it needs a label of its own, and like = {like!r} above it.")
        own = {key: value for key, value in table.items() if key not in ("label", "like")}
        known[label] = known.get(like, {}) | own
    return {table["label"]: known[table["label"]] for table in content.get("presets", [])}


def declared_table(page: str, name: str) -> Any:
    """Table ``[tables.<name>]`` of ``pages/texts/<page>.toml``, as it is written there."""
    return _read(page)["tables"][name]


def _constant(value: Any) -> Any:
    """Constant of dpviz; any other value as it is."""
    match = CONSTANT.fullmatch(value) if isinstance(value, str) else None
    return getattr(importlib.import_module(f"dpviz.{match[1]}"), match[2]) if match else value


@cache
def _read(page: str) -> dict[str, Any]:
    content = tomllib.loads((TEXTS / f"{page}.toml").read_text(encoding="utf-8"))
    if unknown := content.keys() - {"numbers", "cases", "presets", "tables"}:
        raise ValueError(f"{page}.toml: unknown table {', '.join(sorted(unknown))}.")
    return content
