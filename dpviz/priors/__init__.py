"""Which prior, or which range of the data, a promise of privacy needs: as printed, and exactly."""
