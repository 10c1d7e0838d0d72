"""Parameter or rows: what releasing more rows costs at one prior (Zheng, chapter 5)."""

import numpy as np
import streamlit as st

from dpviz.calibration.methods import PRIOR_METHODS
from dpviz.calibration.releases import BY_SIZE, SizeCurves, delta_by_size
from dpviz.charts.lines import DrawnScale, Rule
from dpviz.core.limits import LARGEST_PRIOR_ROWS
from dpviz.core.parameters import readable
from pages.components.cached import cached
from pages.components.words import answer, listing
from pages.minimum_priors.controls import PAGE, Asked
from pages.minimum_priors.faces import HEADLINE
from pages.minimum_priors.pictures import allowed, lowest, method_marks, show_deltas

POINTS = 25


def show_sizes(asked: Asked) -> None:
    """δ against m for every release of rows, with the parameter draw as the limit."""
    setting, alpha = asked.setting, PAGE.checked("alpha")
    most = int(min(LARGEST_PRIOR_ROWS, max(1000, 10 * setting.m)))
    sizes = tuple(sorted({*np.rint(np.geomspace(1, most, POINTS)).astype(int).tolist(), setting.m}))
    found = cached(delta_by_size)(setting.n, alpha, alpha, setting.epsilon, sizes)
    place = int(np.searchsorted(found.sizes, setting.m))
    here = {key: float(y[place]) for key, y in found.deltas.items()}
    one, limit = here[HEADLINE.key], found.limits[HEADLINE.key]
    said = f"With α = {readable(alpha)} and m = {readable(setting.m)} synthetic rows, SYNTH_Post(One) keeps "
    said += f"ε = {readable(setting.epsilon)} with δ = {readable(one, 3)}. With more rows δ rises towards that of "
    said += f"PARAM_Post, {readable(limit, 3)}, and never beyond (Theorem 5.1). "
    said += others_go(mode=len(found.deltas) == len(BY_SIZE))
    st.html(answer(f"δ = {readable(one, 3)} → {readable(limit, 3)}", said))
    _claims(setting.delta, found)
    curves = {key: (found.sizes.astype(float), y) for key, y in found.deltas.items()}
    show_deltas(
        asked,
        "sizes",
        curves,
        DrawnScale(title="synthetic rows m (left is more private)", log=True),
        lowest(curves, 1e-12),
        method_marks(setting.m, here),
        [Rule(text="PARAM_Post: the limit of SYNTH_Post(One)", y=limit), *allowed(setting.delta, "dot")],
        "δ of every release against the number of synthetic rows, with the parameter release as its limit.",
    )
    without = "".join(f" {BY_SIZE[key].label} needs α > 1." for key in BY_SIZE if key not in found.deltas)
    st.caption(f"Exact, n = {readable(setting.n)}, α = β, one set, one row substituted.{without}")


def others_go(*, mode: bool) -> str:
    """What becomes of the plug-ins as m grows; the mode is one of them where the prior is above 1."""
    who = "For the other two it goes" if mode else "For SYNTH_Post(Many) it goes"
    theorems = "Theorem 5.4, Corollary 5.6" if mode else "Corollary 5.6"
    return f"{who} to 1, for enough rows show what they were drawn from ({theorems})."


def _claims(delta: float, found: SizeCurves) -> None:
    """The theorems of chapter 5, and where they are seen in the picture."""
    stays = readable(float(found.deltas[HEADLINE.key].max()), 4)
    limit = f"δ of SYNTH_Post(One) stays within {stays} up to m = {readable(float(found.sizes[-1]))}; "
    limit += f"PARAM_Post has {readable(found.limits[HEADLINE.key], 4)}"
    claim = "<b>Theorem 5.1</b><br><small>rows drawn from a private parameter are as private, whatever m</small>"
    rows = [[claim, limit, "✓ true: the rows are made from the draw alone"]]
    for name, key in (("Theorem 5.4", "synth_map"), ("Corollary 5.6", "synth_post_many")):
        label, curve = PRIOR_METHODS[key].label, found.deltas.get(key)
        claim = f"<b>{name}</b><br><small>at a fixed prior {label} is not private for some m</small>"
        verdict = "– not defined at this prior" if curve is None else "✓ true: δ goes to 1 as m grows"
        rows.append([claim, first_broken(label, delta, found.sizes, curve), verdict])
    listing(["chapter 5", "seen here", "verdict"], rows, "The theorems of chapter 5", ())


def first_broken(label: str, delta: float, sizes: np.ndarray, curve: np.ndarray | None) -> str:
    """From which of the drawn sizes on a release breaks δ, whose δ(m) rises to 1."""
    if curve is None:
        return f"{label} needs α &gt; 1"
    broken = np.flatnonzero(curve > delta)
    if len(broken) == 0:
        return f"within δ = {readable(delta, 3)} up to m = {readable(float(sizes[-1]))}; beyond it for some larger m"
    return f"beyond δ = {readable(delta, 3)} at m = {readable(float(sizes[broken[0]]))}, and from there on"
