"""What papers print, digit for digit, and what was computed of it: frozen records that are read and laid out."""
