"""The page "Minimum priors"."""

from pages.components.spec import PageSpec

SPEC = PageSpec(
    title="Minimum priors",
    folder="minimum_priors",
    prefix="mp_",
    question="How strong must the prior be, or how narrow the data, for a synthetic release to keep a promise of "
    "privacy?",
)
