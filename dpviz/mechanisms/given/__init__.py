"""What a reader brings: columns, and matrices, which are recognized where they are those of a known synthesizer."""

from dpviz.mechanisms.given.reading import read_matrix
from dpviz.mechanisms.given.recognition import recognize
from dpviz.mechanisms.given_matrix import MatrixProblem

__all__ = ["MatrixProblem", "read_matrix", "recognize"]
