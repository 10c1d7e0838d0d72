"""Transition matrices that a reader brings: read from text, and recognized where they are a known synthesizer."""

from dpviz.given.reading import read_matrix
from dpviz.given.recognition import recognize
from dpviz.synthesizers.given_matrix import MatrixProblem

__all__ = ["MatrixProblem", "read_matrix", "recognize"]
