"""The page where the app begins."""

from pages.components.spec import PageSpec

SPEC = PageSpec(
    title="Start",
    folder="home",
    prefix="home_",
    question="What does privacy cost?",
    lead="An agency must keep a table secret and still publish something. It draws a synthetic table. "
    "Move ε and see what an attacker and an analyst learn from it.",
    home=True,
    tells=("p", "x"),
)
