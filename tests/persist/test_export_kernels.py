"""Kernels made of kernels, and the rarer ones, in graphs and queries."""

from __future__ import annotations

import numpy as np
import pytest

import ritz
from ritz.kernels import RBF, Cosine, Laplacian, Linear, Matern, Polynomial, Sigmoid
from ritz.persist.export.form import form_of

runtime = pytest.importorskip("onnxruntime")
pytest.importorskip("onnx")

X = np.random.default_rng(8).standard_normal((25, 3)) + np.array([5, 0, -1])
X[4] = 0  # a row without a direction
KERNELS = [
    Matern(2.5, 1.5), Matern(np.inf, 1.5), Matern(0.5, "median"), Polynomial(5, 0.1, 0.5), Polynomial(2, 0.3, 0.0),
    Cosine() + RBF(0.3), 2.5 * Laplacian(0.2) * RBF(0.1), (Linear() + Cosine()).normalized(), Linear().normalized(),
    (RBF(0.2) * Polynomial(2, 0.1, 1.0)).normalized(), 0.7 * Linear() + 0.1 * Sigmoid(0.01, 0.2),
    Matern(1.5, 2.0).normalized(), (3.0 * Polynomial(3, 0.2, 1.0)), Cosine().normalized() * RBF(0.5),
]  # fmt: skip


@pytest.mark.parametrize("solver", ["auto", "nystrom"])
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.filterwarnings("ignore::ritz.NegativeEigenvalues")
def test_kernels_of_kernels(kernel, solver, duck, tmp_path):
    solver = solver if kernel.positive else "krylov"  # Nyström takes positive kernels
    model = ritz.KernelPCA(2, kernel=kernel, solver=solver, landmarks=12).fit(X)
    want = model.transform(X)
    bound = np.max(np.abs(want))
    ritz.export(model, tmp_path / "m.onnx", dtype="float64")
    options = runtime.SessionOptions()
    options.log_severity_level = 3
    session = runtime.InferenceSession(str(tmp_path / "m.onnx"), options, providers=["CPUExecutionProvider"])
    assert np.max(np.abs(session.run(None, {"X": X})[0] - want)) <= 1e-9 * bound
    query = ritz.export(model, tmp_path / "m.sql", table="the rows", keep=["row id"]).read_text(encoding="utf-8")
    columns = dict(zip(form_of(model).columns, X.T.tolist(), strict=True))
    assert np.max(np.abs(duck(columns, query) - want)) <= 1e-9 * bound
