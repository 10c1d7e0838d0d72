"""The best that any mechanism with a promise can do."""

from dpviz.privacy.optimum.least_error import LeastError, least_error

__all__ = ["LeastError", "least_error"]
