"""On a graphics processor: compiled kernel products over many tiles, certified kernel PCA, memory given back."""

from __future__ import annotations

import gc
import warnings
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import ritz  # noqa: E402
from ritz import kernels  # noqa: E402
from ritz._core.errors import InputError  # noqa: E402
from ritz.kernels.device.products import product, wide_product  # noqa: E402
from ritz.kernels.device.rows import DeviceRows  # noqa: E402

pytestmark = pytest.mark.gpu

KERNELS = [
    kernels.RBF(0.02),
    kernels.Matern(0.5, 6.0),
    kernels.Matern(1.5, 6.0),
    kernels.Matern(2.5, 6.0),
    kernels.Polynomial(3, 0.02, 1.0),
    kernels.Sigmoid(0.001, 0.5),
    kernels.Cosine(),
    kernels.Laplacian(0.02),
    kernels.RBF(0.02) + kernels.Cosine(),
]


def rows(n: int, d: int, dtype: Any = torch.float32) -> Any:
    generator = torch.Generator(device="cuda").manual_seed(n)
    X = torch.randn((n, d), generator=generator, device="cuda", dtype=dtype)
    return X * torch.linspace(2, 0.3, d, device="cuda", dtype=dtype) + 7


@pytest.mark.parametrize(
    ("kernel", "d"),
    [(kernel, 64) for kernel in KERNELS] + [(KERNELS[0], 7), (KERNELS[0], 150), (KERNELS[7], 7)],
    ids=repr,
)
def test_products_over_many_tiles(kernel: kernels.Kernel, d: int) -> None:
    """A sum over thousands of tiles would show it where tensor cores cut off what they accumulate."""
    X, V = rows(100_003, d), torch.randn((100_003, 20), device="cuda", dtype=torch.float64).abs()
    A = DeviceRows.of(kernel, X)
    index = torch.arange(0, 100_003, 997, device="cuda")
    truth = wide_product(A, A.few(index, torch.float64), V)
    limits = {"half": 6e-3, "mixed": 3e-3, "single": 5e-6, "double": 1e-11}
    for level, limit in limits.items():
        off = float((product(A, A, V, level)[index] - truth).norm() / truth.norm())
        assert off < limit * (100 if level == "single" and kernel == kernels.Matern(0.5, 6.0) else 1), level


@pytest.mark.parametrize(("d", "width"), [(64, 128), (128, 64)])
def test_wide_rows_and_blocks_take_shapes_that_fit(d: int, width: int) -> None:
    """Tiles of the usual shape would need more of the memory that threads share than there is."""
    kernel = KERNELS[0]
    X = rows(5_001, d) / d**0.5
    V = torch.randn((5_001, width), device="cuda", dtype=torch.float64)
    A = DeviceRows.of(kernel, X)
    index = torch.arange(0, 5_001, 97, device="cuda")
    truth = wide_product(A, A.few(index, torch.float64), V)
    for level, limit in {"mixed": 3e-3, "single": 5e-6}.items():
        assert float((product(A, A, V, level)[index] - truth).norm() / truth.norm()) < limit, level


def test_many_components() -> None:
    X = rows(20_000, 40)
    a = ritz.KernelPCA(100, kernel="rbf", gamma=0.02).fit(X).certificate_
    exact = ritz.KernelPCA(100, kernel="rbf", gamma=0.02).fit(X.double()).certificate_
    assert np.all((a.lower <= exact.upper) & (exact.lower <= a.upper))


@pytest.mark.parametrize("kernel", [KERNELS[0], KERNELS[2], KERNELS[4], KERNELS[7]], ids=repr)
def test_enclosures_hold(kernel: kernels.Kernel) -> None:
    """Residuals and enclosures of float16 pairs, recomputed in float64."""
    X = rows(40_000, 8)
    model = ritz.KernelPCA(6, kernel=kernel).fit(X)
    a = model.certificate_
    assert a.converged
    exact = ritz.KernelPCA(6, kernel=kernel).fit(X.double()).certificate_
    assert np.all((a.lower <= exact.upper) & (exact.lower <= a.upper))
    V = torch.from_numpy(model.eigenvectors_).cuda().double()
    V -= V.mean(dim=0)
    held = DeviceRows.of(kernel, X)
    MV = product(held, held, V, "double")
    MV -= MV.mean(dim=0)
    left = (MV - V * torch.from_numpy(model.eigenvalues_).cuda().double()).norm(dim=0).cpu().numpy()
    assert np.all(left <= a.residuals + a.rounding + 3e-7 * a.values[0])  # vectors were rounded to float32


@pytest.mark.parametrize("gamma", [1e-6, 1e-3, 1.0, 1e3])
def test_hostile_widths_and_rows(gamma: float) -> None:
    """Near duplicates, far outliers, tiny and huge γ: what is certified holds for the float64 answer."""
    X = rows(20_000, 5)
    X[:50] = X[50:100] * (1 + 1e-7)
    X[100] += 1e4
    kept = ritz.KernelPCA(4, kernel="rbf", gamma=gamma, solver="krylov")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ritz.AccuracyWarning)
        a = kept.fit(X).certificate_
        exact = kept.fit(X.double()).certificate_
    assert np.all((a.lower <= exact.upper) & (exact.lower <= a.upper))


def test_results_in_kind_and_memory_given_back() -> None:
    gc.collect()
    torch.cuda.empty_cache()
    before = torch.cuda.memory_allocated()
    X = rows(30_000, 6)
    model = ritz.KernelPCA(3, kernel="rbf", gamma=0.05).fit(X)
    Z = model.transform(X[:100])
    assert Z.device == X.device
    assert Z.dtype == X.dtype
    here = model.set_params(device="cpu").transform(X[:100].cpu().numpy())
    assert np.abs(here - Z.cpu().numpy()).max() < 1e-4 * np.abs(here).max()
    X[3, 2] = float("nan")
    with pytest.raises(InputError):
        model.fit(X)
    del model, Z, X
    gc.collect()
    assert torch.cuda.memory_allocated() - before < 1 << 20
