"""Modules that were renamed, by their former names: scripts that were saved before go on to run."""

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType

RENAMED = {
    "dpviz.analysis": "dpviz.core.declarations",
    "dpviz.audits": "dpviz.claims.audit",
    "dpviz.audits.releases": "dpviz.claims.printed_methods",
    "dpviz.checked": "dpviz.core.checked",
    "dpviz.csv_text": "dpviz.core.csv_text",
    "dpviz.curator": "dpviz.desk",
    "dpviz.curator.pilot": "dpviz.mechanisms.given.pilot",
    "dpviz.desk.pilot": "dpviz.mechanisms.given.pilot",
    "dpviz.draws": "dpviz.mechanisms.draws",
    "dpviz.exports": "dpviz.desk.exports",
    "dpviz.given": "dpviz.mechanisms.given",
    "dpviz.keeping": "dpviz.core.keeping",
    "dpviz.limits": "dpviz.core.limits",
    "dpviz.methods": "dpviz.calibration.methods",
    "dpviz.optimum": "dpviz.privacy.optimum",
    "dpviz.overview": "dpviz.comparisons.overview",
    "dpviz.parameters": "dpviz.core.parameters",
    "dpviz.plain": "dpviz.core.plain",
    "dpviz.prior_rules": "dpviz.calibration.prior_rules",
    "dpviz.priors.curves": "dpviz.claims.curves",
    "dpviz.priors.exact": "dpviz.calibration.exact",
    "dpviz.priors.kinds": "dpviz.calibration.kinds",
    "dpviz.priors.ranges": "dpviz.calibration.ranges",
    "dpviz.priors.releases": "dpviz.calibration.releases",
    "dpviz.priors.sets": "dpviz.calibration.sets",
    "dpviz.published": "dpviz.claims",
    "dpviz.studies": "dpviz.coverage.studies",
    "dpviz.studies.measures": "dpviz.core.measures",
    "dpviz.synthesizers": "dpviz.mechanisms",
    "dpviz.theorems": "dpviz.claims.theorems",
    "dpviz.types": "dpviz.core.types",
}
"""The present name of each module, or of a package and all that is in it, by the former one."""


def present_name(name: str) -> str | None:
    """Return the name that a module has now, by its former one; None where it was not renamed.

    >>> present_name("dpviz.synthesizers.noise"), present_name("dpviz.designs")
    ('dpviz.mechanisms.noise', None)
    """
    package, within = name, ""
    while package:
        if package in RENAMED:
            return RENAMED[package] + within
        package, dot, last = package.rpartition(".")
        within = f"{dot}{last}{within}"
    return None


class _FormerNames(MetaPathFinder, Loader):
    """Finds a renamed module under its former name: one and the same module, so that its classes are the same."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        # What is run by `python -m` is loaded from its file as ever, below the package that is found here.
        present = None if fullname.endswith(".__main__") else present_name(fullname)
        found = present and find_spec(present)
        return ModuleSpec(fullname, self, is_package=found.submodule_search_locations is not None) if found else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        present = present_name(spec.name)
        assert present is not None
        module = import_module(present)
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Leave it as it was executed under its present name, with the specification of that."""
        assert module.__spec__ is not None
        if any(one.startswith(f"{module.__spec__.name}.") for one in RENAMED) and not hasattr(module, "__path__"):
            module.__path__ = []  # What was a package stays one, so that the modules that were in it are asked for.
        module.__spec__ = module.__spec__.loader_state


def find_former_names() -> None:
    """Have imports find renamed modules from now on."""
    if not any(isinstance(finder, _FormerNames) for finder in sys.meta_path):
        sys.meta_path.insert(0, _FormerNames())
