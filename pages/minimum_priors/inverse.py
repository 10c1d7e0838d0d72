"""A prior or range in, the exact privacy of every method out."""

import math
from collections.abc import Mapping

import streamlit as st

from dpviz.calibration.kinds import Given, Setting
from dpviz.calibration.methods import PRIOR_METHODS
from dpviz.charts.lines import DrawnScale, Rule
from dpviz.core.parameters import readable
from dpviz.privacy.summary import SMALLEST_PROFILE_DELTA
from pages.components.cached import cached
from pages.components.words import answer, listing
from pages.minimum_priors.answer import needed_of
from pages.minimum_priors.controls import PAGE, Asked
from pages.minimum_priors.faces import face_of, failure, together
from pages.minimum_priors.pictures import allowed, method_marks, show_deltas


def show_inverse(asked: Asked) -> None:
    """Control, sentence, table and privacy profiles."""
    setting, kind, sets = asked.setting, asked.kind, asked.design.sets
    level = PAGE.checked(kind.level)
    found = {key: cached(kind.given)(method, setting, level) for key, method in kind.methods.items()}
    held = face_of(asked).held(level)
    said = f"With one set, this keeps {asked.promise} for <b>{kept_by(found, setting)}</b>, one row substituted."
    st.html(answer(held, said + (_together(asked, level) if sets > 1 else "")))
    zero = "ε at δ = 0, truncated" if kind.conditioned else "ε at δ = 0"
    head = ["exact", *([zero, f"ε at δ = {readable(setting.delta, 3)}"] if setting.delta > 0 else [zero])]
    head += [f"δ at ε = {readable(setting.epsilon, 4)}", *([f"{sets} sets: {zero}"] if sets > 1 else [])]
    rows = []
    for key, given in found.items():
        name = f"<b>{PRIOR_METHODS[key].label}</b>"
        if given is None:
            rows.append([name, f"needs α > {readable(PRIOR_METHODS[key].lost)}", *[""] * (len(head) - 2)])
            continue
        bounded = not kind.conditioned and given.pure_epsilon <= setting.epsilon
        cells = [_epsilon(given.pure_epsilon)] if setting.delta > 0 else []
        cells.append(_epsilon(given.epsilon_at_delta))
        cells.append(readable(given.delta_at_epsilon, 4) if bounded else failure(given.delta_at_epsilon))
        rows.append([name, *cells, *([_epsilon(sets * given.pure_epsilon)] if sets > 1 else [])])
    listing(head, rows, "What this prior or range gives")
    shown = {key: given for key, given in found.items() if given is not None}
    end = max(float(one.epsilons[-1]) for one in shown.values())
    right = max(end, min(setting.epsilon * 1.1, 3 * end)) or 1.0  # the promise is shown where it lies a little beyond
    here = {key: one.delta_at_epsilon for key, one in shown.items() if one.delta_at_epsilon >= SMALLEST_PROFILE_DELTA}
    promised = Rule(text=f"promised ε = {readable(setting.epsilon, 4)}", x=setting.epsilon)
    show_deltas(
        asked,
        "profiles",
        {key: (given.epsilons, given.deltas) for key, given in shown.items()},
        DrawnScale(title="ε (left is more private)", low=0.0, high=right),
        SMALLEST_PROFILE_DELTA,
        method_marks(setting.epsilon, here),
        [promised, *allowed(setting.delta)],
        f"Privacy profiles of all methods at {held}.",
    )
    st.caption("Exact privacy profiles δ(ε) of one synthetic set, down to δ = 10⁻¹². Neighbours: one row substituted.")


def kept_by(found: Mapping[str, Given | None], setting: Setting) -> str:
    """The methods that keep the promise at a prior or range, in words."""

    def keeps(given: Given) -> bool:
        if setting.delta > 0:
            return given.delta_at_epsilon <= setting.delta
        return given.pure_epsilon <= setting.epsilon

    return _named([PRIOR_METHODS[key].label for key, given in found.items() if given and keeps(given)], len(found))


def _named(kept: list[str], of: int) -> str:
    return "no method" if not kept else "every method" if len(kept) == of else ", ".join(kept)


def _together(asked: Asked, level: float) -> str:
    """Say which methods keep the promise with all sets together, by the prior or range that these need."""
    limits = needed_of(asked).last().exact
    kept = [PRIOR_METHODS[key].label for key, limit in limits.items() if asked.kind.quantity.keeps(level, limit)]
    unknown = [PRIOR_METHODS[key].label for key, limit in limits.items() if math.isnan(limit)]
    rest = f" (not computed: {', '.join(unknown)})" if unknown else ""
    named = _named(kept, len(limits))
    return f" With {together(asked.design.sets)}, counted exactly, it does so for <b>{named}</b>{rest}."


def _epsilon(value: float) -> str:
    return "unbounded" if math.isinf(value) else readable(value, 5)
