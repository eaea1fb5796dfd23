"""Maps of rows near the ends of float64: the same map, or a refusal that says what is expected."""

from __future__ import annotations

import numpy as np
import pytest

import ritz
from ritz.methods.manifold import sources

X = np.random.default_rng(0).standard_normal((60, 4)) @ np.diag([3.0, 2, 1, 0.5])


@pytest.mark.parametrize("exponent", [-640, 640])
def test_local_weights_do_not_see_the_unit_of_the_rows(exponent):
    model, other = ritz.LLE(2).fit(X), ritz.LLE(2).fit(np.ldexp(X, exponent))
    np.testing.assert_allclose(np.abs(other.embedding_), np.abs(model.embedding_), atol=1e-8)
    np.testing.assert_allclose(other.certificate_.values, model.certificate_.values, rtol=1e-6)
    new = X[:5] + 0.05
    placed, there = model.transform(new), other.transform(np.ldexp(new, exponent))
    np.testing.assert_allclose(np.abs(there), np.abs(placed), atol=1e-8)
    assert other.verify(np.ldexp(X, exponent))


@pytest.mark.parametrize("size", [1e200, 1e-200])
@pytest.mark.parametrize(
    "model",
    [
        ritz.Isomap(2),
        ritz.Isomap(2, metric="manhattan"),
        ritz.MDS(2, metric="manhattan"),
        ritz.MDS(2, metric="manhattan", correction="lingoes"),
        ritz.MDS(2, method="ordinal"),
        ritz.MDS(2, landmarks=20),
        ritz.DiffusionMaps(2),
        ritz.MVU(2),
        ritz.LLE(2, metric="manhattan"),
        ritz.ICA(2),
        ritz.RobustPCA(2),
    ],
    ids=lambda model: "".join(repr(model).split()),
)
def test_squares_beyond_float64_are_refused_in_words(model, size):
    with pytest.raises(ritz.InputError, match=r"squares of the data.*range of float64|variances must stay") as caught:
        model.fit(X * size)
    assert "power of ten" in caught.value.hint


def test_distances_that_are_given_are_refused_alike():
    D = np.abs(np.subtract.outer(np.arange(20.0), np.arange(20.0)))
    with pytest.raises(ritz.InputError, match=r"squares of the data"):
        ritz.MDS(1, metric="precomputed").fit(D * 1e200)


@pytest.mark.parametrize("correction", ["lingoes", "cailliez"])
@pytest.mark.parametrize("size", [1e-20, 1e-12, 1e10])
def test_the_constant_of_many_rows_has_the_same_digits_in_any_unit(correction, size, monkeypatch):
    whole = ritz.MDS(2, metric="manhattan", correction=correction).fit(X).constant_
    monkeypatch.setattr(sources, "DENSE", 10)
    model = ritz.MDS(2, metric="manhattan", correction=correction).fit(X * size)
    unit = size if correction == "cailliez" else size * size
    assert abs(model.constant_ / unit / whole - 1) < 1e-11
