"""Delimited text, read as a person would: bytes to pieces of whole rows, pieces to columns of one type."""
