"""A matrix that a reader brings, as a text or a file, read for a page and for the script that repeats it."""

import hashlib
from dataclasses import dataclass, field

from dpviz.export.scripts import MAX_INLINE_CHARACTERS
from dpviz.mechanisms.matrix_mechanism import GivenMatrix
from dpviz.uploads import read_matrix
from dpviz.uploads.matrix import rescale_rows, text_of


@dataclass(frozen=True)
class Upload:
    """A file as it came, known by its fingerprint: what is read of it is kept, and its content looked at once."""

    content: bytes = field(repr=False)
    fingerprint: str

    @classmethod
    def of(cls, content: bytes) -> "Upload":
        """A file with this content."""
        return cls(content, hashlib.sha256(content).hexdigest())


def brought_matrix(given: str | Upload) -> tuple[GivenMatrix, str | None]:
    """The matrix that a text or a file holds, and the text where a script can carry it; a ValueError refuses."""
    content = given.content if isinstance(given, Upload) else given
    found, text = read_matrix(content), text_of(content)
    return found, text if len(text) <= MAX_INLINE_CHARACTERS else None


def brought_rescaled(given: str | Upload) -> str | None:
    """The text of a matrix whose rows are near 1, each divided by its sum; None where nothing is to be done."""
    return rescale_rows(given.content if isinstance(given, Upload) else given)
