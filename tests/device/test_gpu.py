"""On a graphics processor: the compiled kernel, rows where they lie, streams, sparse rows, no room, memory freed."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import pytest
import scipy.sparse

import ritz
from ritz._core.errors import InputError, MemoryLimitError, NonFiniteError

torch = pytest.importorskip("torch")

from ritz.data.engines.device import place as place_module  # noqa: E402
from ritz.data.engines.device.blocks import DeviceBlocks  # noqa: E402
from ritz.data.engines.device.streamed import StreamedBlocks  # noqa: E402
from ritz.data.passes.device import gram_triton  # noqa: E402
from ritz.data.passes.device.rounding import Slabs  # noqa: E402
from ritz.data.passes.statistics import Statistics  # noqa: E402

pytestmark = pytest.mark.gpu


def _rows(n: int, d: int, dtype: Any = None) -> Any:
    generator = torch.Generator(device="cuda").manual_seed(1)
    rows = torch.randn((n, d), generator=generator, device="cuda", dtype=dtype or torch.float32)
    return rows * torch.linspace(1, 9, d, device="cuda", dtype=rows.dtype) + 50


@pytest.mark.parametrize(("n", "d"), [(100_000, 5), (300_001, 128), (100_000, 200), (50_000, 500)])
def test_the_compiled_kernel_forms_the_gram_matrix_to_float32(n: int, d: int) -> None:
    X = _rows(n, d)
    shift = X[:256].mean(dim=0)
    slabs = Slabs(X, shift, 1.0, None, torch.float32, gram_triton.SLAB_ROWS)
    made = gram_triton.gram(slabs)
    assert bool(made[2])
    Z = (X - shift).double()
    truth = Z.T @ Z
    lengths = truth.diagonal().sqrt()
    assert float(((made[1] - truth) / lengths / lengths[:, None]).abs().max()) < 1.5e-6
    assert float((made[0] - Z.sum(dim=0)).abs().max()) < 1e-6 * float(Z.abs().sum(dim=0).max())


@pytest.mark.parametrize("kind", ["gaussian", "two values", "equal rows"])
def test_the_rounding_of_the_kernel_is_within_its_bound(kind: str) -> None:
    X = _rows(2_000_000, 64)
    if kind == "two values":
        X = (X > 50).float() + 0.3
    elif kind == "equal rows":
        X = X[:64].repeat(30_000, 1)
    made = Statistics(DeviceBlocks(X), None, np.float32).moments
    Z = X.double() - X.double().mean(dim=0)
    truth = (Z.T @ Z).cpu().numpy()
    assert np.linalg.norm(made.scatter - truth, 2) <= made.noise
    assert made.noise <= 1e-5 * np.trace(truth)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("solver", ["auto", "krylov", "lanczos", "chebyshev"])
def test_fits_where_rows_lie_are_those_of_the_host(dtype: Any, solver: str) -> None:
    X = _rows(60_000, 50, dtype)
    there, here = ritz.PCA(5, solver=solver).fit(X), ritz.PCA(5, solver=solver).fit(X.cpu().numpy())
    a, b = here.certificate_, there.certificate_
    assert np.all(np.abs(a.values - b.values) <= a.width + b.width + 1e-12 * a.values[0])
    assert bool(there.verify(X))
    T = there.transform(X)
    assert T.device == X.device
    assert there.inverse_transform(T).device == X.device
    assert isinstance(there.components_, np.ndarray)


def test_rows_of_the_host_are_sent_or_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = np.random.default_rng(0).standard_normal((400_000, 30)).astype(np.float32) + 5
    here = ritz.PCA(3).fit(rows)
    for fits in (True, False):
        monkeypatch.setattr(place_module, "_fits", lambda size, place, fits=fits: fits)
        assert isinstance(place_module.placed(rows, "cuda"), DeviceBlocks if fits else StreamedBlocks)
        there = ritz.PCA(3, device="cuda").fit(rows)
        np.testing.assert_allclose(there.explained_variance_, here.explained_variance_, rtol=1e-5)
        assert isinstance(there.transform(rows), np.ndarray)


def test_sparse_rows_are_multiplied_on_the_device() -> None:
    S = scipy.sparse.random(200_000, 3000, density=0.002, format="csr", random_state=0)
    for solver in ("krylov", "lanczos"):
        there, here = (ritz.SVD(4, solver=solver, device=device).fit(S) for device in ("cuda", "cpu"))
        a, b = here.certificate_, there.certificate_
        assert np.all(np.abs(a.values - b.values) <= a.width + b.width + 1e-12 * a.values[0])
        assert bool(there.verify(S))


def test_wrong_rows_are_named_and_memory_is_given_back() -> None:
    torch.cuda.empty_cache()
    before = torch.cuda.memory_allocated()
    X = _rows(200_000, 20)
    X[17, 2] = float("nan")
    with pytest.raises(NonFiniteError, match="row 17 column 2"):
        ritz.PCA(2).fit(X)
    with pytest.raises(InputError, match="Complex"):
        ritz.PCA(2).fit(torch.zeros((3, 2), dtype=torch.complex64, device="cuda"))
    with pytest.raises(InputError, match="rows must lie on the device"):
        ritz.PCA(2, device="torch:cpu").fit(X)
    model = ritz.PCA(2).fit(X[100:])
    assert model.n_samples_ == 199_900
    del X, model
    gc.collect()
    assert torch.cuda.memory_allocated() <= before + (1 << 20)


def test_a_device_that_is_nearly_full_is_used_in_smaller_blocks_or_refused_in_words() -> None:
    X = _rows(2_000_000, 64, torch.float64)
    here = ritz.PCA(2).fit(X).explained_variance_
    for left in (600 << 20, 24 << 20):
        torch.cuda.empty_cache()
        free = torch.cuda.mem_get_info()[0]
        held = torch.empty(free - left, dtype=torch.uint8, device="cuda")
        found = _fitted(X)
        del held
        torch.cuda.empty_cache()
        if isinstance(found, str):
            assert left < (100 << 20)
            assert "must fit into the memory of cuda:0" in found
        else:
            np.testing.assert_allclose(found, here, rtol=1e-9)
    np.testing.assert_allclose(ritz.PCA(2).fit(X).explained_variance_, here, rtol=1e-9)


def _fitted(X: Any) -> Any:
    """Variances, or what is said where there is no room for them."""
    try:
        return ritz.PCA(2).fit(X).explained_variance_
    except MemoryLimitError as error:
        return str(error)


@pytest.mark.parametrize("pinned", [False, True])
def test_rows_on_their_way_give_the_bits_of_rows_that_are_there(pinned: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gram_triton, "STRETCH_BYTES", 16 << 20)
    X = torch.empty((300_001, 300), pin_memory=pinned)
    X.copy_(_rows(*X.shape))
    there = ritz.PCA(7).fit(X.cuda())
    for _ in range(3):  # memory that was used before comes again
        coming = ritz.PCA(7, device="cuda").fit(X.numpy())
        assert np.array_equal(coming.components_, there.components_)
        assert np.array_equal(coming.certificate_.upper, there.certificate_.upper)


@pytest.mark.parametrize("kind", ["float16", "float64", "int32", "uint16", "columns first", "every second", "reversed"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("solver", ["auto", "krylov"])
def test_rows_of_every_kind_that_are_sent_give_what_the_host_gives(kind: str, weighted: bool, solver: str) -> None:
    rng = np.random.default_rng(2)
    rows = (rng.standard_normal((90_001, 24)) * np.linspace(1, 9, 24) + 50).astype(np.float32)
    rows = {
        "columns first": np.asfortranarray(rows), "every second": rows[:, ::2], "reversed": rows[::-1],
    }.get(kind, rows if " " in kind or kind == "reversed" else rows.astype(kind))  # fmt: skip
    w = rng.integers(0, 3, len(rows)).astype(float) if weighted else None
    there, here = (ritz.PCA(3, solver=solver, device=device).fit(rows, sample_weight=w) for device in ("cuda", "cpu"))
    a, b = here.certificate_, there.certificate_
    assert np.all(np.abs(a.values - b.values) <= a.width + b.width + 1e-12 * a.values[0])
    np.testing.assert_allclose(there.mean_, here.mean_, rtol=1e-6)
    assert bool(there.verify(rows, sample_weight=w))
