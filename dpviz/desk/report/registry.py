"""A design as an entry for the registry of deployments that OpenDP keeps."""

from __future__ import annotations

import json
import math
import re
from typing import Any

import dpviz
from dpviz.core.parameters import readable
from dpviz.desk.numbers import ACCURACY_PART, numbers_of
from dpviz.desk.protection import PrivacyLoss
from dpviz.desk.report.handoff import LIBRARY, LIBRARY_VERSION, handoff_of
from dpviz.desk.report.words import sizes
from dpviz.desk.search import Assessed
from dpviz.desk.texts import filled


def registry_entry(design: Assessed, *, pilot_note: str = "") -> dict[str, Any]:
    """Return what the registry asks of a deployment, as far as the design says it; the rest is to be confirmed.

    Sections and names are those of its schema, ``schemas/deployments-schema.yaml`` of opendp/deployments-registry-data
    at commit 057e5d8: basic, dp_variant, privacy_loss, deployment_model, implementation and administrative, for tier 3.
    Its entries are YAML, of which JSON is a part.
    """
    asked, data = design.question, design.question.data
    parameters, details = _promised(design)
    low, high, symbol = readable(asked.lowest), readable(asked.highest), asked.ranged.symbol
    text = filled(
        "report/registry.json",
        design=design,
        asked=asked,
        method=design.method,
        slug=re.sub(r"[^a-z0-9]+", "-", design.name.lower()).strip("-"),
        sizes=sizes(data),
        secret=[one.symbol for one in data.parameters() if one.name in (data.true_value, *data.supposed)],
        supposed=[f"{symbol} from {low} to {high}", *data.in_symbols(names=data.supposed)],
        parameters=parameters,
        variant="Approximate DP" if "delta" in parameters else "Pure DP" if parameters else "to be confirmed",
        details=details,
        same=handoff_of(design).same,
        library=f"{LIBRARY} {LIBRARY_VERSION}",
        numbers=[one for one in numbers_of(design) if one.part == ACCURACY_PART],
        pilot_note=pilot_note,
        version=dpviz.__version__,
    )
    found: dict[str, Any] = json.loads(text)
    return found


def registry_json(design: Assessed, *, pilot_note: str = "") -> str:
    """Return the entry as text."""
    return json.dumps(registry_entry(design, pilot_note=pilot_note), ensure_ascii=False, indent=2)


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
        return {}, f"{of_all}; {exact}. What the release keeps is to be confirmed."
    how = "computed exactly and not only bounded" if found.exact else "proven, and no more than an upper bound"
    return {"epsilon": loss}, f"{of_all}, {how}."
