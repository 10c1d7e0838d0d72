"""Closer looks of the pages: one module a page, one function a section."""
