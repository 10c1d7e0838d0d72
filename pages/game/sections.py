"""What the page shows."""

from pages.components.address import write_address
from pages.components.frame import page_head
from pages.game import SPEC


def show() -> None:
    """The page from its head to its address."""
    page_head(SPEC)
    write_address(SPEC.prefix)
