"""The page "Plan"."""

from pages.components.spec import PageSpec

SPEC = PageSpec(
    title="Plan",
    folder="plan",
    prefix="pl_",
    question="How is one promise divided among several statistics?",
    carries=False,
)
