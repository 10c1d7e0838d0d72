"""The page "Curator's desk"."""

from pages.components.spec import PageSpec

SPEC = PageSpec(
    title="Curator's desk",
    folder="curator",
    prefix="cu_",
    question="Which release keeps all your limits?",
)
