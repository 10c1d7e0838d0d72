"""The papers' printed tables, digit for digit, and what they really show."""
