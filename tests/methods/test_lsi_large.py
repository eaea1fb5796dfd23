"""Collections of odd sizes in full: one document of 100 MB, and a million of three words."""

from __future__ import annotations

import numpy as np
import pytest

import ritz

pytestmark = pytest.mark.slow


def test_one_document_of_100_mb_among_small_ones(tmp_path):
    rng = np.random.default_rng(0)
    words = [f"wing{chr(97 + i)}{chr(97 + j)}" for i in range(26) for j in range(26)]
    page = " ".join(rng.choice(words, 20_000)) + "\n"
    with (tmp_path / "large.txt").open("w") as file:
        for _ in range(1 + 100_000_000 // len(page)):
            file.write(page)
    assert (tmp_path / "large.txt").stat().st_size >= 100_000_000
    for i, text in enumerate(["red wine", "white wine and oak", f"{words[0]} {words[1]}"]):
        (tmp_path / f"small{i}.txt").write_text(text)
    (tmp_path / "picture.bin").write_bytes(bytes(range(256)) * 100)
    with pytest.warns(ritz.FilesSetAside, match=r"picture\.bin"):
        lsi = ritz.LSI(3, words=ritz.text.Words()).fit(tmp_path)
    assert lsi.n_samples_ == 4
    assert lsi.search(f"{words[5]} {words[700 % 676]}", top=1).names == ["large.txt"]
    assert sorted(lsi.search("oak", top=2).names) == ["small0.txt", "small1.txt"]


def test_a_million_documents_of_three_words():
    """Three subjects without a common word, each topic one of them: σ² is a third of all documents' squared lengths."""
    kinds = [("red", "wine", "oak"), ("thin", "wings", "flutter"), ("judge", "court", "appeal")]
    texts = (" ".join(kinds[i % 3]) for i in range(999_999))
    lsi = ritz.LSI(3, words=ritz.text.Words(), weighting="tf-idf").fit(texts)
    assert lsi.n_samples_ == 999_999
    np.testing.assert_allclose(lsi.singular_values_**2, 333_333.0, rtol=1e-9)
    assert lsi.search("flutter", top=5).rows.tolist() == [1, 4, 7, 10, 13]
    assert len(lsi.search("the of and")) == 0
