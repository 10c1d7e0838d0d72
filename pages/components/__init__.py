"""Controls and pieces that the pages share; nothing here computes."""
