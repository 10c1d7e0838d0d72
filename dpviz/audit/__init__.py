"""What papers claim about privacy, held against the exact answer at any setting: theorems, and methods of release."""
