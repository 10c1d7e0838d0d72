"""All methods at one setting."""

from dpviz.audits.releases.methods import RELEASE_METHODS
from dpviz.audits.releases.record import ReleaseFinding, ReleaseSetting
from dpviz.checked import checked


@checked()
def audit_releases(setting: ReleaseSetting) -> tuple[ReleaseFinding, ...]:
    """Return what every printed method really gives at a setting, in the order of the papers.

    >>> found = audit_releases(ReleaseSetting(n=100, epsilon=1.0))
    >>> [one.method.key for one in found if one.verdict == "not private at any ε"]
    ['perturbed_scott', 'cell_mean_unbounded', 'standardized']
    """
    return tuple(ReleaseFinding(method, setting, method.loss(setting)) for method in RELEASE_METHODS)
