"""Recompute the frozen records of `dpviz.published`: ``python -m tests.reproduction``."""
