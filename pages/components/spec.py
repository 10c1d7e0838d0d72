"""What a page says of itself once, and the texts that lie beside it."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path

PAGES = Path(__file__).parent.parent


@dataclass(frozen=True, kw_only=True)
class PageSpec:
    """A page of the app, which lives in `folder` below ``pages/``; `pages.components.navigation` lists them.

    Its heading is the `question` that it answers, with its `title`, the term, beside it, and a `lead` below where the
    question alone does not say what there is to do. The keys of its controls begin with `prefix`, in the session and
    in the address; the `home` page has no path. `tells` are the names that an address has of what it says of a release
    without a control.
    """

    title: str
    folder: str
    prefix: str
    question: str
    lead: str = ""
    home: bool = False
    tells: tuple[str, ...] = ()

    @property
    def path(self) -> str:
        """Its path in the address."""
        return "" if self.home else self.folder

    @property
    def module(self) -> str:
        """What imports all that its script needs."""
        return f"pages.{self.folder}.{'questions' if self.home else 'sections'}"

    @property
    def file(self) -> Path:
        """The script that draws it."""
        return PAGES / self.folder / "page.py"

    def text(self, name: str) -> str:
        """A text beside the page, in Markdown."""
        return _text(self, name)

    def note(self, name: str, **numbers: object) -> str:
        """A paragraph of ``notes.md`` beside the page, with its numbers where their names stand in braces."""
        return _notes(self)[name].format(**numbers)


@cache
def _text(page: PageSpec, name: str) -> str:
    return (PAGES / page.folder / f"{name}.md").read_text(encoding="utf-8")


@cache
def _notes(page: PageSpec) -> dict[str, str]:
    parts = (part.partition("\n") for part in f"\n{page.text('notes')}".split("\n## ")[1:])
    return {name: " ".join(words.split()) for name, _, words in parts}
