"""Tests of large studies."""
