"""The page "Coverage"."""

from pages.components.spec import PageSpec

SPEC = PageSpec(
    title="Coverage",
    folder="coverage",
    prefix="cv_",
    question="How often does the interval that an analyst computes from synthetic sets hold the true proportion?",
)
