"""From the limits that must hold to the designs that meet them."""
