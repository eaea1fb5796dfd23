"""What other models answer, asked of a model of texts: inverse, export, compare, verify, merge.

Each works, or refuses with one sentence that says what to do.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import ritz
from ritz.text import Words

TEXTS = [
    "red wine from the vineyard", "white wine from a vineyard", "thin wings in flutter", "wings of a plane in flutter",
    "a plane and some wine",
]  # fmt: skip
METHODS = ("svd", "ca", "kernel")


def fitted(method: str = "svd", texts: list[str] = TEXTS, k: int = 2) -> ritz.LSI:
    return ritz.LSI(k, method=method, words=Words()).fit(texts)


@pytest.mark.parametrize("method", METHODS)
def test_inverse_gives_the_table_of_the_topics(method: str, tmp_path: Path) -> None:
    model = fitted(method, k=4)
    table = model.inverse_transform(model.embedding_)
    assert table.shape == (5, model.n_features_in_)
    if method == "ca":  # of rank 4: all of the profiles
        counts = ritz.text.Counts().fit_transform(TEXTS).toarray()
        np.testing.assert_allclose(table, counts / counts.sum(axis=1, keepdims=True), atol=1e-12)
    else:  # the nearest table of rank 4 leaves the smallest singular value
        W = ritz.text.weighting("log-entropy").fit_transform(ritz.text.Counts().fit_transform(TEXTS)).toarray()
        left = np.linalg.svd(W, compute_uv=False)[4]
        assert np.linalg.norm(table - W, 2) == pytest.approx(left, rel=1e-9)
    ritz.save(model, tmp_path / "m.ritz")
    again = ritz.load(tmp_path / "m.ritz")
    np.testing.assert_allclose(again.inverse_transform(again.embedding_), table, atol=1e-15)


@pytest.mark.parametrize("method", METHODS)
def test_verify_of_a_loaded_model(method: str, tmp_path: Path) -> None:
    ritz.save(fitted(method), tmp_path / "m.ritz")
    again = ritz.load(tmp_path / "m.ritz")
    assert again.verify(TEXTS)
    assert not again.verify([*TEXTS[:4], "thin thin wine"])
    with pytest.raises(ritz.InputError, match="verify takes the 5 documents of the fit; received 3 documents"):
        again.verify(TEXTS[:3])


@pytest.mark.parametrize("method", METHODS)
def test_export_is_refused(method: str, tmp_path: Path) -> None:
    for name in ("m.onnx", "m.sql"):
        with pytest.raises(ritz.ParameterError, match="LSI has no formula that could be exported"):
            ritz.export(fitted(method), tmp_path / name)
        assert not (tmp_path / name).exists()


@pytest.mark.parametrize("method", METHODS)
def test_merge_and_subtract_are_refused(method: str) -> None:
    model = fitted(method)
    with pytest.raises(ritz.MergeError, match=r"update\(texts\) adds the documents"):
        model.merge(model)
    with pytest.raises(ritz.MergeError, match="fit the others"):
        model.subtract(model)


def test_models_of_texts_are_compared() -> None:
    model, kernel = fitted(), fitted("kernel")
    same = ritz.insight.compare(model, kernel)
    assert "subspaces are the same" in str(same)
    fewer = fitted(texts=TEXTS[:4])
    with pytest.raises(ritz.InputError, match="compared by the scores of the same rows"):
        ritz.insight.compare(model, fewer)
    assert "2 and 2 components" in str(ritz.insight.compare(model, fewer, TEXTS))
