"""Model files of every release so far load and place rows as they did.

``python tests/persist/test_golden.py`` writes files that are missing; those that are there are never written again.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import ritz
from ritz.testing.fuzz_models import fitted, product_of

GOLDEN = Path(__file__).resolve().parent.parent / "golden" / "models"
NAMES = (
    "pca frame scaled", "pca pending", "pca gaps regularized", "svd sparse", "factor analysis oblique", "robust robpca",
    "sparse pca", "ca frame", "ca observations", "mca burt pooled", "mca regularized", "famd weighted", "mfa counts",
    "kernel linear", "kernel rbf sparse", "kernel sum", "kernel nystrom", "kernel spectrum", "kernel subsequence",
    "kernel function",
)  # fmt: skip


def file_of(name: str) -> Path:
    return GOLDEN / f"0.1.0-{name.replace(' ', '-')}.ritz"


def expected() -> dict:
    path = GOLDEN / "expected.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


@pytest.mark.parametrize("name", NAMES)
def test_a_file_of_this_release_loads_in_all_later_ones(name):
    held = expected()[name]
    model = ritz.load(file_of(name), kernel=product_of)
    assert type(model).__name__ == held["estimator"]
    _, rows = fitted(name)
    got, want = np.asarray(model.transform(rows), float), np.asarray(held["scores"], float)
    # one bit of slack for BLAS: the file is the same everywhere, sums are not
    assert np.max(np.abs(got - want)) <= 1e-12 * np.max(np.abs(want))
    assert model.n_samples_ == held["rows"]
    assert np.allclose(model.certificate_.values, held["certificate"], rtol=1e-12)
    assert model.plan_.solver == held["solver"]


def test_golden_files_are_small_and_all_listed():
    files = set(GOLDEN.glob("*.ritz"))
    assert files == {file_of(name) for name in NAMES}
    assert sum(path.stat().st_size for path in files) < 300_000


def write() -> None:
    held = expected()
    for name in NAMES:
        if file_of(name).exists():
            continue
        model, rows = fitted(name)
        ritz.save(model, file_of(name))
        held[name] = {
            "estimator": type(model).__name__,
            "rows": int(model.n_samples_),
            "solver": model.plan_.solver,
            "certificate": np.asarray(model.certificate_.values, float).tolist(),
            "scores": np.asarray(model.transform(rows), float).tolist(),
        }
    (GOLDEN / "expected.json").write_text(json.dumps(held, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    write()
