"""Kernels on a device: tiles, fused products by Triton's interpreter, and kernel PCA with tensors of the host."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import ritz  # noqa: E402
from ritz import kernels  # noqa: E402
from ritz._core.device import torch_place  # noqa: E402
from ritz._core.errors import InputError, ParameterError  # noqa: E402
from ritz._core.linalg import signs  # noqa: E402
from ritz.kernels.device.products import product, wide_product  # noqa: E402
from ritz.kernels.device.rows import DeviceRows, served  # noqa: E402
from ritz.methods.kernel_pca import device  # noqa: E402
from ritz.operators.device.kernel import DeviceKernel, content_key  # noqa: E402

KERNELS = [
    kernels.RBF(0.2),
    kernels.Matern(0.5, 2.0),
    kernels.Matern(1.5, 2.0),
    kernels.Matern(2.5, 2.0),
    kernels.Matern(np.inf, 2.0),
    kernels.Polynomial(3, 0.1, 1.0),
    kernels.Sigmoid(0.01, 0.5),
    kernels.Cosine(),
    kernels.Laplacian(0.2),
    kernels.RBF(0.2) + 2 * kernels.Cosine(),
    (kernels.Linear() * kernels.RBF(0.1)).normalized(),
]


@pytest.fixture(autouse=True)
def no_interpreter(monkeypatch: pytest.MonkeyPatch) -> None:
    """Products by tiles: Triton's interpreter, which stands in for a graphics processor, takes seconds for each."""
    monkeypatch.setattr("ritz.kernels.device.products.fusable", lambda kernel, rows: False)


def table(n: int, d: int, dtype: Any = np.float32) -> np.ndarray:
    return (np.random.default_rng(n + d).standard_normal((n, d)) + 3).astype(dtype)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize(("level", "limit"), [("single", 3e-6), ("double", 1e-13)])
def test_products_by_tiles(kernel: kernels.Kernel, level: str, limit: float) -> None:
    X, V = table(90, 4), np.random.default_rng(1).standard_normal((90, 3))
    A = DeviceRows.of(kernel, torch.from_numpy(X))
    truth = kernel(X.astype(np.float64)) @ V
    assert np.linalg.norm(product(A, A, torch.from_numpy(V), level).numpy() - truth) < limit * np.linalg.norm(truth)
    few = wide_product(A, A.few(torch.tensor([3, 50]), torch.float64), torch.from_numpy(V)).numpy()
    assert np.allclose(few, truth[[3, 50]], rtol=0, atol=1e-12 * np.abs(truth).max())


INTERPRETED = """
import numpy as np, torch
from ritz import kernels
from ritz.kernels.device import fused
from ritz.kernels.device.rows import DeviceRows
fused.PADDED = 64
fused.SHAPES, fused.SUMMED = dict.fromkeys(fused.SHAPES, ((32, 16, 4, 2),)), dict.fromkeys(fused.SHAPES, 32)
rng = np.random.default_rng(0)
cases = [(k, d, 0) for d in (3, 130) for k in (
    kernels.RBF(0.7 / d), kernels.Matern(0.5, d**0.5), kernels.Matern(1.5, d**0.5), kernels.Matern(2.5, d**0.5),
    kernels.Polynomial(3, 0.1, 1.0), kernels.Sigmoid(0.01, 0.5), kernels.Cosine(), kernels.Laplacian(0.5 / d))]
cases += [(kernels.RBF(0.7 / 40), 40, 5), (kernels.Polynomial(2, 0.1, 1.0), 40, 5), (kernels.RBF(0.7 / 130), 130, 5)]
for kernel, d, flat in cases:
    X, V = rng.standard_normal((150 if flat else 75, d)) + 5, rng.standard_normal((150, 5)) * [1, 1e-9, 1e9, 3, 0]
    if flat:  # near a space of five dimensions, in which no column lies
        X = 5 + rng.standard_normal((150, flat)) @ rng.standard_normal((flat, d)) + 1e-3 * X
    X, V = X.astype(np.float32), V[: len(X)]
    B = DeviceRows.of(kernel, torch.from_numpy(X))
    A = DeviceRows.of(kernel, torch.from_numpy(X[:40]), like=B)
    assert fused.fusable(kernel, B) and (not flat or B.axes().lead < 16)
    truth = kernel(X.astype(np.float64))[:40] @ V
    cusp = 5e-4 if kernel == kernels.Matern(0.5, d**0.5) else 2e-6
    levels = (("half", 2e-3), ("mixed", 2e-3), ("single", cusp))
    for level, limit in levels if d < 130 or flat else (levels[cases.index((kernel, d, flat)) % 3],):  # in turn
        made = fused.fused_product(A, B, torch.from_numpy(V), level).numpy()
        size = np.linalg.norm(np.abs(kernel(X.astype(np.float64))[:40]) @ np.abs(V), axis=0)
        off = np.linalg.norm(made - truth, axis=0) / np.maximum(size, 1e-300)
        assert off[:4].max() < limit and not made[:, 4].any(), (kernel, d, level, off)
print("done", len(cases))
"""


def test_fused_products_by_the_interpreter() -> None:
    pytest.importorskip("triton")
    environment = {**os.environ, "TRITON_INTERPRET": "1", "PYTHONPATH": str(Path(ritz.__file__).parents[1])}
    run = subprocess.run(
        [sys.executable, "-c", INTERPRETED], env=environment, capture_output=True, text=True, check=False
    )
    assert run.stdout.strip() == "done 19", run.stderr[-2000:]


def test_a_gap_in_the_range_of_float16_is_seen() -> None:
    from ritz.kernels.device.fused import _lay

    rows = DeviceRows.of(kernels.Linear(), torch.tensor([[1e5], [1.0]]))
    assert not _lay(kernels.Linear(), rows, "pairs").fits
    assert _lay(kernels.Linear(), DeviceRows.of(kernels.Linear(), torch.ones(3, 2)), "half").fits


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kernel", [KERNELS[0], KERNELS[2], KERNELS[5], KERNELS[7], KERNELS[8], KERNELS[9]], ids=repr)
def test_the_answer_of_the_processor(kernel: kernels.Kernel, dtype: Any) -> None:
    X = (np.random.default_rng(0).standard_normal((500, 4)) * [3, 2, 1, 0.5]).astype(dtype)
    here = ritz.KernelPCA(4, kernel=kernel, solver="svd").fit(X.astype(np.float64))
    there = ritz.KernelPCA(4, kernel=kernel, solver="krylov", device="torch:cpu").fit(X)
    a = there.certificate_
    assert np.all(a.lower <= here.certificate_.upper)
    assert np.all(a.upper >= here.certificate_.lower)
    assert a.converged
    assert a.width.max() < 2e-5 * a.values[0]
    cosines = np.abs(np.einsum("ij,ij->j", here.eigenvectors_, there.eigenvectors_))
    assert np.all(cosines > 1 - 1e-5)
    new = X[:20] + dtype(0.1)
    apart = np.abs(there.transform(new) - here.transform(new.astype(np.float64)))
    assert apart.max() < 1e-4 * np.abs(here.transform(X.astype(np.float64))).max()


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device, "FEW_ROWS", 60)


def test_a_sample_to_begin_with(small: None) -> None:
    X = (np.random.default_rng(0).standard_normal((3000, 5)) * [3, 2, 1.5, 1, 0.5]).astype(np.float32)
    here = ritz.KernelPCA(5, kernel="rbf", gamma=0.05, solver="krylov").fit(X)
    there = ritz.KernelPCA(5, kernel="rbf", gamma=0.05, device="torch:cpu").fit(X)
    a = there.certificate_
    assert "fresh Gaussian columns" in a.completeness
    assert a.labelled.all()
    assert np.all((a.lower <= here.certificate_.upper) & (a.upper >= here.certificate_.lower))
    assert a.ceiling < a.values[-1]


def test_what_the_sample_misses_is_found(small: None) -> None:
    """Every 16th row lies in one cloud; the others hold a second one, which a start from the sample cannot know."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2048, 3)).astype(np.float32)
    far = np.arange(2048) % 16 != 0
    X[far & (np.arange(2048) % 3 == 0)] += 50
    here = ritz.KernelPCA(3, kernel="rbf", gamma=0.5, solver="svd").fit(X.astype(np.float64))
    there = ritz.KernelPCA(3, kernel="rbf", gamma=0.5, device="torch:cpu").fit(X)
    assert np.allclose(there.eigenvalues_, here.eigenvalues_, rtol=1e-5)


def test_models_go_without_the_device(tmp_path: Path, small: None) -> None:
    X = table(1200, 3)
    there = ritz.KernelPCA(3, kernel="rbf", gamma=0.2, device="torch:cpu").fit(X)
    expected = there.transform(X[:7])
    ritz.save(there, tmp_path / "model.ritz")
    loaded = ritz.load(tmp_path / "model.ritz").set_params(device="cpu")
    again = pickle.loads(pickle.dumps(there)).set_params(device="cpu")
    for model in (loaded, again):
        assert np.allclose(model.transform(X[:7]), expected, atol=1e-5)
    assert there.verify(X)
    assert np.allclose(there.novelty(X[:5]), loaded.novelty(X[:5]), atol=1e-5)


def test_results_in_kind(small: None) -> None:
    X = table(1200, 3)
    model = ritz.KernelPCA(2, kernel="rbf", gamma=0.2, device="torch:cpu").fit(X)
    assert isinstance(model.transform(X[:3]), np.ndarray)
    assert isinstance(model.transform(torch.from_numpy(X[:3])), torch.Tensor)
    assert isinstance(model.eigenvectors_, np.ndarray)


@pytest.mark.parametrize(
    ("kernel", "options", "why"),
    [
        (kernels.Sigmoid(0.01), {}, "indefinite"),
        (kernels.RBF(0.1), {"solver": "svd"}, "solver='svd'"),
        (kernels.RBF(0.1), {}, "dense decomposition"),
        (kernels.Matern(0.7), {"solver": "krylov"}, "is computed on the processor"),
    ],
)
@pytest.mark.filterwarnings("ignore:the kernel is indefinite")
def test_the_plan_says_why_not(kernel: kernels.Kernel, options: dict[str, Any], why: str) -> None:
    model = ritz.KernelPCA(2, kernel=kernel, device="torch:cpu", **options).fit(table(60, 3))
    assert any(why in reason for reason in model.plan_.reasons)


def test_bad_rows() -> None:
    X = table(100, 3)
    X[3, 1] = np.nan
    with pytest.raises(InputError, match="NaN"):
        DeviceRows.of(kernels.RBF(0.1), torch.from_numpy(X))
    model = ritz.KernelPCA(2, kernel="rbf", solver="krylov", device="torch:cpu").fit(table(100, 3))
    with pytest.raises(InputError):
        model.transform(table(5, 4))
    with pytest.raises(ParameterError, match="device"):
        ritz.KernelPCA(2, device="gpu").fit(table(20, 3))
    assert not served(kernels.Matern(0.7))


def test_signs_where_vectors_lie() -> None:
    V = np.random.default_rng(0).standard_normal((40, 6))
    V[7, 0] = V[3, 0] = np.abs(V[:, 0]).max() + 1
    V[3, 0] *= -1
    assert np.array_equal(signs(torch.from_numpy(V)), signs(V))


def test_the_key_depends_on_every_number_and_its_place() -> None:
    X = torch.from_numpy(table(50, 3))
    keys = {content_key(X), content_key(X.flip(0)), content_key(X * 2), content_key(X.T.contiguous())}
    Y = X.clone()
    Y[49, 2] += 1e-6 * Y[49, 2]
    assert len(keys | {content_key(Y)}) == 5


def test_measured_rounding_covers_the_truth() -> None:
    """‖K̃v − Kv‖ of float32 tiles against float64 ones, for spread vectors, for one row, and for the constant one."""
    X = (np.random.default_rng(0).standard_normal((700, 3)) * 20).astype(np.float32)
    rows = DeviceRows.of(kernels.RBF(0.5), torch.from_numpy(X))
    M = DeviceKernel(kernels.RBF(0.5), rows, "single", torch_place("cpu"))
    V = torch.zeros((700, 3), dtype=torch.float64)
    V[:, 0] = torch.from_numpy(np.random.default_rng(1).standard_normal(700))
    V[5, 1], V[:, 2] = 1.0, 1.0
    off = (M.matmat(V) - product(rows, rows, V, "double")).norm(dim=0) / V.norm(dim=0)
    assert M.measured() >= float(off.max())
