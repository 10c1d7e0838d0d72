"""Large studies: a grid of designs, exact where that is in reach and simulated elsewhere, on any number of workers."""
