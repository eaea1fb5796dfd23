"""Faults of readers: hostile stores, declared sizes, memory limits."""

from __future__ import annotations

import sys

import pytest

from ritz.testing.faults import declared_sizes, hostile_h5ad, memory_limits

measured = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc to measure resident memory")


def test_no_store_reaches_out_of_itself(tmp_path):
    assert hostile_h5ad.check(tmp_path) == []


@measured
def test_declared_sizes_exhaust_nothing(tmp_path):
    assert declared_sizes.check(tmp_path) == []


@measured
def test_limits_hold(tmp_path):
    cases = ("FAMD of a frame", "PCA of an array file, read before")
    assert memory_limits.check(tmp_path, cases) == []
