"""Results as files: CSV at full precision, LaTeX, and the script that computes them again."""
