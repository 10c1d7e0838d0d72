"""Transition matrices that a reader brings: read from text, audited, and recognised where they are a known law."""

from dpviz.given.reading import MatrixProblem, read_matrix
from dpviz.given.recognition import Recognition, recognize

__all__ = ["MatrixProblem", "Recognition", "read_matrix", "recognize"]
