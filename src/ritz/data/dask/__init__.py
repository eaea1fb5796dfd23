"""Rows on a Dask cluster: one pure task for each partition, merged in a fixed tree.

The library of the same name is imported by its absolute name and inside functions only.
"""
