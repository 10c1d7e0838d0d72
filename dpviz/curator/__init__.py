"""Curator's desk: from limits on privacy and accuracy to ranked designs of a release, and a report."""
