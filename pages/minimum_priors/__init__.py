"""The page "Minimum priors"."""

from pages.components.spec import PageSpec

SPEC = PageSpec(
    title="Minimum priors",
    folder="minimum_priors",
    prefix="mp_",
    question="How many invented rows does a promise need?",
)
