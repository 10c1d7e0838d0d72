"""What the papers' figures show, computed once for the file `figures.csv`: exact where possible, else simulated."""
