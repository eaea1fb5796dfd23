"""Operators whose blocks lie on a device."""
