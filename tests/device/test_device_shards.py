"""Rows over several devices: one answer, however they are shared out; parts of the host stand in for devices."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import scipy.sparse

import ritz

torch = pytest.importorskip("torch")

from ritz._core.device import torch_place  # noqa: E402
from ritz.data.engines import Asked, Columns, Engine  # noqa: E402
from ritz.data.engines.device import place as place_module  # noqa: E402
from ritz.data.engines.device.blocks import DeviceBlocks, csr_tensor  # noqa: E402
from ritz.data.engines.device.shards import ShardedBlocks  # noqa: E402
from ritz.data.engines.device.streamed import StreamedBlocks  # noqa: E402
from ritz.testing import check_engine  # noqa: E402


class Pieces:
    """Rows on several devices."""

    def __init__(self, parts: list[Any]) -> None:
        self.parts = parts


class Shards(Engine):
    """Rows over as many devices as there are pieces."""

    name = "shards"

    def takes(self, X: Any) -> bool:
        return isinstance(X, Pieces)

    def adopt(self, X: Any, asked: Asked) -> Any:
        return ShardedBlocks([DeviceBlocks(part, rows=64) for part in X.parts])

    def columns(self, X: Any) -> Columns:
        blocks = self.adopt(X, Asked())
        return Columns(blocks.shape, blocks.dtype)


def make(rows: Any, lengths: list[int]) -> Pieces:
    edges = np.cumsum([0, *lengths])
    pieces = [rows[a:b] for a, b in pairwise(edges) if b > a]
    return Pieces([_tensor(piece) for piece in pieces])


def _tensor(rows: Any) -> Any:
    if isinstance(rows, np.ndarray):
        return torch.from_numpy(rows.copy())
    rows = scipy.sparse.csr_array(rows)
    return csr_tensor(*map(torch.from_numpy, (rows.indptr, rows.indices, rows.data)), rows.shape)


def test_rows_over_several_devices_keep_the_contract_of_engines() -> None:
    check_engine(Shards(), make)


@pytest.mark.parametrize("solver", ["moments", "krylov", "lanczos", "chebyshev"])
@pytest.mark.parametrize("sparse", [False, True])
def test_every_solver_says_the_same_over_several_devices(
    solver: str, sparse: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(0)
    X: Any = rng.standard_normal((400, 30)) @ np.diag(0.8 ** np.arange(30)) + 3
    if sparse:
        X = scipy.sparse.random(500, 60, density=0.05, format="csr", random_state=0)
    monkeypatch.setattr(place_module, "places_for", lambda device: [torch_place("cpu")] * 3)
    estimator = ritz.SVD if sparse else ritz.PCA
    here, there = estimator(3, solver=solver).fit(X), estimator(3, solver=solver, device="torch:cpu").fit(X)
    a, b = here.certificate_, there.certificate_
    assert np.all(np.abs(a.values - b.values) <= a.width + b.width + 1e-12 * a.values[0])
    assert bool(there.verify(X))


def test_rows_that_do_not_fit_stream_to_the_device(monkeypatch: pytest.MonkeyPatch) -> None:
    X = np.random.default_rng(1).standard_normal((500, 8)) + 5
    monkeypatch.setattr(place_module, "_fits", lambda size, place: False)
    for rows in (X, X.astype(np.float32), scipy.sparse.random(500, 60, density=0.05, format="csr", random_state=0)):
        assert isinstance(place_module.placed(rows, "torch:cpu"), StreamedBlocks)
        for solver in ("moments", "krylov"):
            here, there = (ritz.SVD(3, solver=solver, device=device).fit(rows) for device in ("cpu", "torch:cpu"))
            a, b = here.certificate_, there.certificate_
            assert np.all(np.abs(a.values - b.values) <= a.width + b.width + 1e-12 * a.values[0])
            np.testing.assert_allclose(there.transform(rows), here.transform(rows), atol=1e-4)


def test_files_stream_to_the_device(tmp_path: Any) -> None:
    X = np.random.default_rng(2).standard_normal((3000, 6)) + 5
    np.save(tmp_path / "rows.npy", X)
    table = ritz.read(tmp_path / "rows.npy", memory="50kB")
    there = ritz.PCA(2, device="torch:cpu").fit(table)
    np.testing.assert_allclose(there.explained_variance_, ritz.PCA(2).fit(X).explained_variance_, rtol=1e-12)
    assert there.plan_.reasons[-1] == "passes and products run on torch:cpu"
