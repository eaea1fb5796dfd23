"""From Ritz pairs to coordinates of old and new rows."""
