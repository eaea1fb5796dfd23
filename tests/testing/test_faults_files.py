"""Faults of files and processes that are quick to make; ``python -m ritz.testing.faults`` makes all of them."""

from __future__ import annotations

import sys

import pytest

from ritz.testing.faults.run import faults, run_fault


def test_the_faults_of_files_are_found_by_name():
    known = {"foreign_manifest", "changed_data", "two_fits", "full_disk", "terminated", "killed_scores"}
    assert known <= set(faults())


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize("name", ["terminated", "killed_scores"])
def test_held(name, tmp_path):
    assert run_fault(name, tmp_path) == []
