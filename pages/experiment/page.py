"""Class experiment."""

from pages.experiment.sections import show

show()
