"""Latent semantic indexing of texts."""
