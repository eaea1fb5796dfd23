"""No fit waits for ever: the ways of ``ritz.testing.faults.hangs``, in processes that are killed when they hang."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ritz.testing.faults.hangs import findings

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="every way is a forked process")

# Grid searches and first imports are left to the program: starting their processes takes seconds.
WAYS = (
    "fit_in_progress", "fit_in_kernel", "fit_in_rows", "fit_in_journal", "fit_in_dask_threads", "fit_in_dask_cluster",
    "results_in_progress", "small_beside_large", "fork_beside_fits", "fork_in_progress", "fork_after_lanes",
    "partial_fits", "fit_in_signal_handler", "interrupts", "errors_in_lanes", "ends_of_interpreters",
)  # fmt: skip


def test_every_way_is_held(tmp_path: Path) -> None:
    """One program for all ways, so that the libraries are loaded once."""
    assert findings(tmp_path, WAYS) == {way: [] for way in WAYS}
