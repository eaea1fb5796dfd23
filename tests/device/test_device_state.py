"""What is kept of rows on a device, and what is said of fits there that fall short."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse

import ritz

pytest.importorskip("torch")


def test_sparse_rows_of_few_zeros_are_subtracted_again() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 100)) * (rng.random((30, 100)) < 0.9)
    rows = scipy.sparse.csr_array(X)
    whole, some = (ritz.PCA(4, mergeable=True, device="torch:cpu").fit(part) for part in (rows, rows[:6]))
    rest = whole.subtract(some)
    alone = ritz.PCA(4).fit(X[6:])
    np.testing.assert_allclose(rest.explained_variance_, alone.explained_variance_, rtol=1e-12)


def test_a_tolerance_that_is_missed_on_a_device_is_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ritz.spectral.solvers.power.MAX_POWER_STEPS", 3)
    X = np.random.default_rng(1).standard_normal((200, 20))
    with pytest.warns(ritz.AccuracyWarning):
        model = ritz.PCA(2, solver="power", device="torch:cpu").fit(X)
    assert not model.certificate_.converged
