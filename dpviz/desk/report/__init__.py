"""The report that defends a choice: one file to print, what makes it again, and the hand-off to a library."""
