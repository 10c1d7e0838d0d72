"""Statistics and groups as forms and URLs have them: limits of shares in points, and lists in a line."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

from dpviz.core.escape import single_line
from dpviz.core.formatting import describe_value
from dpviz.core.parameters import Parameter
from dpviz.export.templates import capitalize_first
from dpviz.plans.mechanisms import PLAN_MECHANISMS
from dpviz.plans.plan import MAX_GROUPS, ReleasePlan, read_statistics
from dpviz.plans.statistics import ANY_MECHANISM, ERROR_MEASURES, PLAN_STATISTICS, Statistic

NEW_LIMIT = 0.01  # of a share, or of the distance of the bounds
MAX_LINE_CHARACTERS = 12_000  # of statistics: browsers and proxies cut longer URLs


def form_parameters(kind: type[Statistic]) -> dict[str, Parameter]:
    """Numbers that a form has for a kind of statistic, by name; the limit of a share is stated in points."""
    parameters = kind.numbers()
    title = f"at most, in {kind.unit}" if kind.unit else "at most"
    limit, factor = parameters["limit"], _factor(kind)
    low, high = factor * limit.minimum, factor * limit.maximum
    parameters["limit"] = replace(limit, title=title, minimum=low, maximum=high)
    if not kind.has_counts:
        del parameters["suppress_below"]
    return parameters


def form_options(plan: ReleasePlan, statistic: Statistic) -> dict[str, dict[str, str]]:
    """Options of the choices of a form with their labels, by name; a group is chosen where there are several.

    Parameters
    ----------
    plan : ReleasePlan
    statistic : Statistic
        Of the plan; what it has is an option, whether or not it is suitable.
    """
    groups = dict.fromkeys(["", *dict(plan.groups), statistic.group])
    options: dict[str, Mapping[str, str]] = {
        "kind": {key: kind.label for key, kind in PLAN_STATISTICS.items()},
        "measure": ERROR_MEASURES,
        "mechanism": {ANY_MECHANISM: "whichever is best"} | {
            key: kind.label
            for key, kind in PLAN_MECHANISMS.items()
            if key == statistic.mechanism or not plan.unsuitable(kind, statistic)
        },
    }  # fmt: skip
    if len(groups) > 1:
        options["group"] = {name: single_line(name) or "all rows" for name in groups}
    return {name: {key: capitalize_first(label) for key, label in labels.items()} for name, labels in options.items()}


def form_values(statistic: Statistic) -> dict[str, Any]:
    """What a form says of a statistic, by name; `statistic_of_form` reads it.

    >>> from dpviz.plans.statistics import YesNoShare
    >>> works = YesNoShare(name="works", limit=0.02)
    >>> form_values(works)["limit"], statistic_of_form(form_values(works)) == works
    (2.0, True)
    """
    limit = _without_rounding(statistic.limit * _factor(type(statistic)))
    return {"kind": statistic.key, **statistic.to_dict(), "limit": limit}


def statistic_of_form(values: Mapping[str, Any]) -> Statistic:
    """Statistic that a form describes, where an empty box is None; a ValueError says which number is not accepted."""
    kind = PLAN_STATISTICS[values["kind"]]
    arguments = {name: value for name, value in values.items() if name != "kind"}
    for name, parameter in form_parameters(kind).items():
        if arguments[name] is None:
            raise ValueError(f"{name} ({parameter.title}) must be {parameter.domain}; got nothing: its box is empty.")
        arguments[name] = parameter.validate(arguments[name])
    arguments["limit"] = _without_rounding(arguments["limit"] / _factor(kind))
    arguments["name"] = " ".join(arguments["name"].split())
    return kind(**arguments)


def as_kind(statistic: Statistic, kind: type[Statistic]) -> Statistic:
    """Statistic of another kind with what both have in common; its limit is a new one where the unit is another.

    Parameters
    ----------
    statistic : Statistic
    kind : type of Statistic

    Examples
    --------
    >>> from dpviz.plans.statistics import BoundedMean, YesNoShare
    >>> as_kind(YesNoShare(name="age", limit=0.02), BoundedMean).limit
    1.0
    """
    names = {part.name for part in fields(statistic)}.intersection(part.name for part in fields(kind))
    names -= {"mechanism", "suppress_below"}
    changed = kind(**{name: getattr(statistic, name) for name in names})
    has_same_unit = kind.unit == statistic.unit
    return changed if has_same_unit else replace(changed, limit=NEW_LIMIT * getattr(changed, "width", 1.0))


def _factor(kind: type[Statistic]) -> float:
    return 100.0 if kind.unit else 1.0


def _without_rounding(value: float) -> float:
    """Number without the rounding of binary fractions, which a box would show."""
    return float(f"{value:.12g}")


def statistics_line(statistics: tuple[Statistic, ...]) -> str:
    """Statistics in a line of JSON, without what is a default; `read_statistics_line` reads it.

    >>> from dpviz.plans.statistics import YesNoShare
    >>> statistics_line((YesNoShare(name="works", limit=0.02),))
    '[{"kind":"yes_no","name":"works","limit":0.02}]'
    """
    objects = [{"kind": statistic.key, **statistic.non_default_fields()} for statistic in statistics]
    return json.dumps(objects, ensure_ascii=False, separators=(",", ":"))


def read_statistics_line(line: str) -> tuple[Statistic, ...]:
    """Statistics of a line of JSON; a ValueError says what is wrong with the line."""
    if len(line) > MAX_LINE_CHARACTERS:
        raise ValueError(
            f"a link carries statistics of up to {MAX_LINE_CHARACTERS:,} characters; these have {len(line):,}."
        )
    try:
        objects = json.loads(line)
    except (ValueError, RecursionError):
        raise ValueError("it must be a list of statistics as JSON.") from None
    return read_statistics(objects)


def groups_line(groups: Sequence[tuple[str, int]]) -> str:
    """Disjoint groups in a line; `read_groups_line` reads it.

    >>> groups_line((("North", 7000), ("South", 5000)))
    'North = 7,000; South = 5,000'
    """
    return "; ".join(f"{name} = {rows:,}" for name, rows in groups)


def read_groups_line(line: str) -> tuple[tuple[str, int], ...]:
    """Disjoint groups with their rows, from a line such as "North = 7,000; South = 5,000"."""
    groups = []
    for part in filter(None, map(str.strip, line.split(";"))):
        name, _, rows = part.rpartition("=")
        digits = rows.replace(",", "").replace("\u202f", "").strip()
        if not name.strip() or not digits.isdecimal() or len(digits) > 9:
            raise ValueError(
                f"Groups must be written as “North = 7,000; South = 5,000”, at most {MAX_GROUPS} of them; "
                f"got {describe_value(part)}."
            )
        groups.append((" ".join(name.split()), int(digits)))
    return tuple(groups)
