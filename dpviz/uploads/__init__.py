"""What a reader brings: a transition matrix, or columns of a confidential table, read or refused in a sentence."""

from dpviz.uploads.columns import read_columns
from dpviz.uploads.matrix import read_matrix, recognize

__all__ = ["read_columns", "read_matrix", "recognize"]
