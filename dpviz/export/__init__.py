"""Numbers as CSV and LaTeX, scripts that compute them again, and templates of files."""
