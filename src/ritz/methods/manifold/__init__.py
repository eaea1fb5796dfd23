"""Embeddings of rows that lie near a curved surface: one file for each method, and what they share beside it."""
