"""Speed against the implementations that one would write first."""
