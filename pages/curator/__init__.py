"""The page "Curator's desk"."""

from pages.components.spec import PageSpec

SPEC = PageSpec(
    title="Curator's desk",
    folder="curator",
    prefix="cu_",
    question="Say what must be protected and how far an analyst may be off: which release keeps both?",
)
