"""Results turned into pictures: plotly figures and HTML tables, with no mathematics of their own."""
