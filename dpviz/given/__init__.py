"""What a reader brings: columns, and matrices, which are recognized where they are those of a known synthesizer."""

from dpviz.given.reading import read_matrix
from dpviz.given.recognition import recognize
from dpviz.synthesizers.given_matrix import MatrixProblem

__all__ = ["MatrixProblem", "read_matrix", "recognize"]
