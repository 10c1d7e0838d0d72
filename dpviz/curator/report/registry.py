"""A design as an entry for the registry of deployments that OpenDP keeps."""

from __future__ import annotations

import json
import re
from typing import Any

import dpviz
from dpviz.curator.numbers import ACCURATE, numbers_of
from dpviz.curator.protection import PrivacyLoss
from dpviz.curator.report.handoff import LIBRARY, VERSION, handoff_of
from dpviz.curator.report.words import sizes
from dpviz.curator.search import Assessed
from dpviz.parameters import readable

OPEN = "TO BE FILLED IN"
"""What only the curator knows; the registry's own check refuses an entry that still has it as a date or a type."""
NEIGHBOURS = (
    "Two data sets are adjacent if they have the same number n of rows and differ in one of them: one row is "
    "substituted (the change-one distance is at most 1). n is public. One person has one row."
)
PUBLIC = "The design was chosen from public numbers and limits alone, without a look at the confidential data."


def registry_entry(design: Assessed, *, pilot_note: str = "") -> dict[str, Any]:
    """Return what the registry asks of a deployment, as far as the design says it; the rest is `OPEN`.

    Sections and names are those of its schema, ``schemas/deployments-schema.yaml`` of opendp/deployments-registry-data
    at commit 057e5d8: basic, dp_variant, privacy_loss, deployment_model, implementation and administrative, for tier 3.
    Its entries are YAML, of which JSON is a part.
    """
    asked, method = design.question, design.method
    parameters, details = _promised(design)
    handoff, n = handoff_of(design), int(asked.data.n)  # type: ignore[attr-defined]
    made = f"{LIBRARY} {VERSION}, by the script in its report" if handoff.same else OPEN
    return {
        "url_slug": re.sub(r"[^a-z0-9]+", "-", design.name.lower()).strip("-"),
        "deployment": {
            "basic": {
                "name": OPEN,
                "data_curators": [{"data_curator_name": OPEN, "data_curator_type": OPEN}],
                "description": f"{design.name}. {method.releases}",
                "intended_use": f"Estimates of {asked.data.estimands[0].label}, with intervals.",
                "data_product_type": "Synthetic data",
                "data_product_region": OPEN,
                "publication_date": OPEN,
            },
            "dp_variant": {
                "variant_name": "Approximate DP" if "delta" in parameters else "Pure DP",
                "data_domain": f"{asked.data.label}: {sizes(asked.data)}.",
                "unprotected_quantities": f"All numbers of the data domain are public: {sizes(asked.data)}.",
            },
            "privacy_loss": {
                "privacy_unit": "One row",
                "privacy_unit_details": NEIGHBOURS,
                "number_of_privacy_units": n,
                "privacy_parameters": parameters,
                "privacy_parameters_details": details,
            },
            "deployment_model": {
                "model_name": "Central",
                "trust_assumptions": OPEN,
                "release_type": "One release",
                "data_source_type": "Static",
                "access_type": "Non-interactive",
            },
            "implementation": {
                "preprocessing_and_hyperparameter_tuning": pilot_note or PUBLIC,
                "mechanisms": f"{method.label} ({method.source}). {method.releases} Implementation: {made}.",
                "composition": _composition(design),
                "post_processing": "None after the sets are made.",
                "justification": f"Chosen with dpviz {dpviz.__version__} among all designs it knows; see its report.",
                "utility": "; ".join(
                    f"{one.label} {one.text(4)} ({one.at}; {one.how})" if one.at else f"{one.label} {one.text()}"
                    for one in numbers_of(design)
                    if one.part == ACCURATE
                ),
            },
            "administrative": {"status": "Draft", "registry_authors": [OPEN], "tier": 3},
        },
    }


def registry_json(design: Assessed, *, pilot_note: str = "") -> str:
    """Return the entry as text."""
    return json.dumps(registry_entry(design, pilot_note=pilot_note), ensure_ascii=False, indent=2)


def _promised(design: Assessed) -> tuple[dict[str, float], str]:
    """Return ε, with δ where that was asked and is needed, and how they are to be read."""
    loss, asked = design.real_epsilon, design.question
    exact = "no pure ε holds" if loss is None or loss == float("inf") else f"the exact pure ε is {readable(loss)}"
    of_all = f"Of all {design.sets} sets together" if design.sets > 1 else "Of the one set"
    limit = next((one for one in asked.protections if isinstance(one, PrivacyLoss)), None)
    if limit is not None and limit.most_delta > 0 and (loss is None or loss > limit.most_epsilon):
        return {"epsilon": limit.most_epsilon, "delta": limit.most_delta}, f"{of_all}; {exact}."
    if loss is None or loss == float("inf"):
        return {}, f"{of_all}; {exact}."
    return {"epsilon": loss}, f"{of_all}, computed exactly and not only bounded."


def _composition(design: Assessed) -> str:
    if design.sets == 1:
        return "One release, so that nothing is composed."
    return (
        f"Sequential composition of {design.sets} independent sets, each with ε′ = {readable(design.setting)}"
        f"/{design.sets}. All may be at their worst at once, so that their exact losses add."
    )
