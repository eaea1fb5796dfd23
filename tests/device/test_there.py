"""Work that waits for a device once: orthonormal columns as on the host, and copies to the host."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from ritz._core import there  # noqa: E402
from ritz._core.linalg import orth, to_numpy  # noqa: E402

LIMIT = {"float64": 1e-12, "float32": 5e-6}


def block(kind: str, n: int = 500, l: int = 9) -> np.ndarray:
    rng = np.random.default_rng(len(kind))
    W = rng.standard_normal((n, l))
    if kind == "graded":
        W *= np.logspace(0, -6, l)
    elif kind == "leaning":
        W = W[:, :1] + 1e-2 * W
    elif kind == "dependent":
        W[:, 4] = W[:, 1] + W[:, 2]
    elif kind == "zero":
        W[:, 3] = 0
    elif kind == "huge":
        W *= 1e12
    return W


def same_span(Q: np.ndarray, P: np.ndarray) -> float:
    """The largest sine between two spaces."""
    return float(np.linalg.norm(Q - P @ (P.T @ Q), 2))


@pytest.mark.parametrize("kind", ["plain", "graded", "leaning", "dependent", "zero", "huge"])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("basis", [False, True])
def test_orthonormal_columns_as_on_the_host(kind: str, dtype: str, basis: bool) -> None:
    W = block(kind).astype(dtype)
    B = np.linalg.qr(np.random.default_rng(5).standard_normal((500, 6)))[0].astype(dtype) if basis else None
    here = orth(W, against=B)
    Q = to_numpy(orth(torch.from_numpy(W), against=None if B is None else torch.from_numpy(B)))
    assert Q.shape == here.shape
    assert np.abs(Q.T @ Q - np.eye(Q.shape[1])).max() < LIMIT[dtype]
    assert same_span(Q.astype(float), here.astype(float)) < 200 * LIMIT[dtype] * (100 if kind == "leaning" else 1)
    if B is not None:
        assert np.abs(B.T @ Q).max() < LIMIT[dtype]
    rest = W.astype(float) if B is None else W - B @ (B.T @ W.astype(float))
    for basis_of in (here.astype(float), Q.astype(float)):  # no column is lost where another depends on the rest
        left = rest - basis_of @ (basis_of.T @ rest)
        assert np.linalg.norm(left, axis=0).max() < 200 * LIMIT[dtype] * np.linalg.norm(rest, axis=0).max()


def test_what_squares_cannot_tell_is_left_to_a_closer_look() -> None:
    assert there.orthonormal(torch.from_numpy(block("plain")), None, False) is not None
    for kind in ("dependent", "zero"):
        assert there.orthonormal(torch.from_numpy(block(kind)), None, False) is None
    W = torch.from_numpy(block("plain"))
    Q = there.orthonormal(W, None, False)
    assert there.orthonormal(Q + 1e-9 * W, Q, False) is None  # columns that lie in the basis already
    assert there.orthonormal(W[:, 3:], Q[:, :3], True) is not None
    assert there.orthonormal(Q[:, :3] + 0.01 * W[:, 3:6], Q[:, :3], True) is None  # said to be projected, and is not


def test_memory_is_made_ahead_for_one_copy_and_given_up() -> None:
    shape = (there.PINNED_BYTES // 8 + 1, 1)
    with there.expected(shape, np.float64):
        (ready,) = there._expected.values()
        assert ready.result().shape == shape
    assert not there._expected
    with there.expected((3, 3), np.float64):
        assert not there._expected  # small ones are made when they are needed


def test_a_copy_in_a_thread_of_its_own() -> None:
    x = torch.arange(12.0).reshape(3, 4)
    out = np.zeros((3, 4), np.float32)
    there.filling(out, x).result()
    np.testing.assert_array_equal(out, x.numpy())
    failed = there.filling(np.zeros((2, 2), np.float32), x)
    with pytest.raises(RuntimeError):
        failed.result()


@pytest.mark.gpu
@pytest.mark.parametrize("turned", [False, True])
def test_large_tensors_are_copied_as_they_are(turned: bool) -> None:
    x: Any = torch.rand((3_000_001, 5), dtype=torch.float64, device="cuda")
    x = x.T if turned else x
    with there.expected(tuple(x.shape), np.float64):
        np.testing.assert_array_equal(to_numpy(x), x.cpu().numpy())
    assert not there._expected


def test_several_tensors_come_in_one_copy() -> None:
    parts = [torch.tensor(True), torch.arange(6.0).reshape(2, 3), torch.zeros((0, 4)), torch.tensor([1, 2])]
    here = there.Brought(parts).arrays()
    assert [x.shape for x in here] == [(), (2, 3), (0, 4), (2,)]
    assert all(x.dtype == np.float64 for x in here)
    for x, y in zip(here, parts, strict=True):
        np.testing.assert_array_equal(x, y.numpy())
