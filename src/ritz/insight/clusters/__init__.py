"""Clusters of rows on their components, and what sets groups of rows apart."""
