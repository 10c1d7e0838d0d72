"""What was printed, held against the truth: theorems, audits, published tables and errata."""
