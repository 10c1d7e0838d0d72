"""The best that any mechanism with a promise can do."""

from dpviz.privacy.optimum.interval_length import ShortestLength, shortest_length
from dpviz.privacy.optimum.least_error import LeastError, least_error

__all__ = ["LeastError", "ShortestLength", "least_error", "shortest_length"]
