"""Nearest vectors by their angle: exact, by graphs of other packages, and by random hyperplanes, with their recall."""
