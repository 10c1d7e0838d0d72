"""A design as an entry for the registry of deployments that OpenDP keeps."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any

import dpviz
from dpviz.core.parameters import readable
from dpviz.desk.numbers import ACCURACY_PART, numbers_of
from dpviz.desk.protection import PrivacyLoss
from dpviz.desk.report.handoff import LIBRARY, LIBRARY_VERSION, handoff_of
from dpviz.desk.report.words import sizes
from dpviz.desk.search import Assessed

OPEN = "to be confirmed"
"""What only the agency knows; the registry's own check refuses an entry that still has it as a date or a type."""
NEIGHBOURS_NOTE = (
    "Two data sets are adjacent if they have the same number n of rows and differ in one of them: one row is "
    "substituted (the change-one distance is at most 1). n is public. That one person has one row is "
    f"assumed, and {OPEN}."
)
PUBLIC = (
    f"That every number and limit was chosen without the confidential data is {OPEN}: dpviz was given no such data."
)


def registry_entry(design: Assessed, *, pilot_note: str = "") -> dict[str, Any]:
    """Return what the registry asks of a deployment, as far as the design says it; the rest is `OPEN`.

    Sections and names are those of its schema, ``schemas/deployments-schema.yaml`` of opendp/deployments-registry-data
    at commit 057e5d8: basic, dp_variant, privacy_loss, deployment_model, implementation and administrative, for tier 3.
    Its entries are YAML, of which JSON is a part.
    """
    asked, method = design.question, design.method
    parameters, details = _promised(design)
    handoff, n = handoff_of(design), int(asked.data.n)  # type: ignore[attr-defined]
    made = f"{OPEN}; the report has a script for {LIBRARY} {LIBRARY_VERSION}" if handoff.same else OPEN
    true = [one.symbol for one in asked.data.parameters() if one.name in (asked.data.true_value, *asked.data.supposed)]
    return {
        "url_slug": re.sub(r"[^a-z0-9]+", "-", design.name.lower()).strip("-"),
        "deployment": {
            "basic": {
                "name": OPEN,
                "data_curators": [{"data_curator_name": OPEN, "data_curator_type": OPEN}],
                "description": f"{design.name}. {method.releases}",
                "intended_use": f"Estimates of {asked.wanted.label}, with intervals. Any other use is {OPEN}.",
                "data_product_type": "Synthetic data",
                "data_product_region": OPEN,
                "publication_date": OPEN,
            },
            "dp_variant": {
                "variant_name": _variant(parameters),
                "data_domain": f"{asked.data.label}: {sizes(asked.data)}.",
                "unprotected_quantities": (
                    f"The release takes these numbers of the data domain for public: {sizes(asked.data)}. That they "
                    f"are is {OPEN}. Nothing public is said of {' and '.join(true)}; of these the design supposes "
                    f"{_supposed(design)}."
                ),
            },
            "privacy_loss": {
                "privacy_unit": "One row",
                "privacy_unit_details": NEIGHBOURS_NOTE,
                "number_of_privacy_units": n,
                "privacy_parameters": parameters,
                "privacy_parameters_details": details,
            },
            "deployment_model": {
                "model_name": "Central",
                "trust_assumptions": OPEN,
                "release_type": OPEN,
                "data_source_type": OPEN,
                "access_type": OPEN,
            },
            "implementation": {
                "preprocessing_and_hyperparameter_tuning": pilot_note or PUBLIC,
                "mechanisms": f"{method.label} ({method.source}). {method.releases} Implementation: {made}.",
                "composition": _composition(design),
                "post_processing": f"None is part of the design; what is done to the sets afterwards is {OPEN}.",
                "justification": (
                    f"A design of dpviz {dpviz.__version__}, whose report says what was asked and what came before and "
                    f"after it. That the agency chose it for these reasons is {OPEN}."
                ),
                "utility": f"{asked.supposed} ".lstrip()
                + "; ".join(
                    f"{one.label} {one.text(4)} ({one.at}; {one.how})" if one.at else f"{one.label} {one.text()}"
                    for one in numbers_of(design)
                    if one.part == ACCURACY_PART
                ),
            },
            "administrative": {"status": "Draft", "registry_authors": [OPEN], "tier": 3},
        },
    }


def registry_json(design: Assessed, *, pilot_note: str = "") -> str:
    """Return the entry as text."""
    return json.dumps(registry_entry(design, pilot_note=pilot_note), ensure_ascii=False, indent=2)


def _variant(parameters: Mapping[str, float]) -> str:
    """Return the kind of privacy that is kept for sure; without a finite ε none is."""
    if not parameters:
        return OPEN
    return "Approximate DP" if "delta" in parameters else "Pure DP"


def _supposed(design: Assessed) -> str:
    """Return what a design supposes of the true numbers."""
    asked = design.question
    low, high, symbol = readable(asked.lowest), readable(asked.highest), asked.ranged.symbol
    return " and ".join([f"{symbol} from {low} to {high}", *asked.data.in_symbols(names=asked.data.supposed)])


def _promised(design: Assessed) -> tuple[dict[str, float], str]:
    """Return ε, with δ where that was asked and is needed, and how they are to be read; none where no ε is known."""
    found, asked = design.outcomes[0].real_loss, design.question
    loss = found.proven
    of_all = f"Of all {design.sets} sets together" if design.sets > 1 else "Of the one set"
    if not design.method.has_epsilon or loss is None or math.isinf(loss):
        exact, loss = "no finite ε is known to hold", None
    else:
        exact = f"the {'exact pure' if found.exact else 'proven'} ε is {readable(loss)}"
    limit = next((one for one in asked.protections if isinstance(one, PrivacyLoss)), None)
    if limit is not None and limit.most_delta > 0 and (loss is None or loss > limit.most_epsilon):
        return {"epsilon": limit.most_epsilon, "delta": limit.most_delta}, f"{of_all}; {exact}."
    if loss is None:
        return {}, f"{of_all}; {exact}. What the release keeps is {OPEN}."
    how = "computed exactly and not only bounded" if found.exact else "proven, and no more than an upper bound"
    return {"epsilon": loss}, f"{of_all}, {how}."


def _composition(design: Assessed) -> str:
    if design.sets == 1:
        return f"One set, so that nothing is composed. Other releases from the same data are {OPEN}."
    return (
        f"Sequential composition of {design.sets} independent sets, each with ε′ = {readable(design.setting)}"
        f"/{design.sets}. All may be at their worst at once, so that their losses add. Other releases from the "
        f"same data are {OPEN}."
    )
