"""What would have to give way for a design to keep all limits."""

from __future__ import annotations

import math
from typing import Any

from dpviz.core.formatting import format_number, round_up
from dpviz.curator.measures import ACCURACY_MEASURES, AccuracyMeasure
from dpviz.curator.privacy_limits import EpsilonDeltaLimit
from dpviz.curator.question import QUESTION_KINDS
from dpviz.desk.relaxing import Relaxed
from dpviz.desk.stated import form_limits
from dpviz.desk.told.measures import analysis, asked_of, numbers, reading
from dpviz.inference.rules import RULES


def relaxed_sentence(found: Relaxed) -> str:
    """Return what would have to give way for a design to keep all limits, as inline HTML."""
    one, values, epsilon = found.design, accepted(found), enough_epsilon(found)
    ways = []
    if found.analyzed is not None:
        ways.append(f"if it is analyzed with <b>“{RULES[found.analyzed.rule].label}”</b>: {numbers(found.analyzed)}")
    if values:
        limits = (asked_of(one.question, ACCURACY_MEASURES[key], value) for key, value in values.items())
        ways.append(f"if you accept {' and '.join(limits)}")
    if epsilon is not None:
        now = one.epsilon if one.real_epsilon is None else one.real_epsilon
        ways.append(f"with <b>ε = {format_number(epsilon, 4)}</b> instead of {format_number(now, 4)}")
    start = f"<b>{one.name}</b> {analysis(one)}"
    if not ways:
        return f"{start} keeps them with no ε that was tried up to 100."
    never = "" if found.epsilon is not None else "; no ε that was tried up to 100 would do"
    return f"{start} keeps them {', or '.join(ways)}{never}."


def enough_epsilon(found: Relaxed) -> float | None:
    """Return the real privacy loss with which the design keeps all limits, rounded up; None where no ε does."""
    if found.epsilon is None:
        return None
    one = found.design
    real = one.method.real_epsilon(one.question.data, found.epsilon, one.sets)
    return found.epsilon if real is None else round_up(real, 4)


def accepted(found: Relaxed) -> dict[str, float]:
    """Return the limits with which the design would do as it is set, in three digits; none where one has no number."""
    if not all(math.isfinite(value) for value in found.values.values()):
        return {}
    return {key: enough(ACCURACY_MEASURES[key], value) for key, value in found.values.items()}


def enough(measure: AccuracyMeasure, value: float) -> float:
    """Return a limit in three digits that a value keeps: the nearest on the far side of it."""
    near = float(f"{value:.3g}")
    if measure.is_worse(value, near):
        unit = 10.0 ** (math.floor(math.log10(abs(value))) - 2)
        near = float(f"{near + (unit if value > near else -unit):.3g}")
    return near


def offers(relaxed: Relaxed) -> list[tuple[str, dict[str, Any]]]:
    """Changes of a form that let the design keep all limits: each in words, with its values by name."""
    question = relaxed.design.question
    kind = QUESTION_KINDS[question.data.key]
    changes: list[tuple[str, dict[str, Any]]] = []
    if relaxed.analyzed is not None:
        rule = relaxed.analyzed.rule
        changes.append((f"Analyze with “{RULES[rule].label}”", {f"{kind.key}_rules": [*question.rules, rule]}))
    epsilon = enough_epsilon(relaxed)
    if epsilon is not None and [protection.key for protection in question.protections] == [EpsilonDeltaLimit.key]:
        changes.append((f"Allow ε = {format_number(epsilon, 4)}", {"epsilon": epsilon}))
    limits = accepted(relaxed)
    if limits:
        words = [
            f"{ACCURACY_MEASURES[key].name} {reading(question, ACCURACY_MEASURES[key], limit)}"
            for key, limit in limits.items()
        ]
        changes.append((f"Accept {' and '.join(words)}", {**form_limits(kind, limits)}))
    return changes
