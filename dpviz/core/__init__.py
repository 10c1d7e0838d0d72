"""What every room stands on: declarations and checks of numbers, limits, types, measures, numerics and tables."""
