"""Streams: what is kept of rows that are added, how it is solved, how old rows fade, and windows."""
