"""Texts whose counts a memory limit has no room for: files take them, and the model is the same."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest

import ritz
from ritz.methods.lsi import counted, weighed
from ritz.text import Counts, Words, adopt
from ritz.text.shards import Folder, Shards

pytestmark = pytest.mark.filterwarnings("ignore::ritz.EmptyDocuments")


def written(n: int, seed: int = 0) -> list[str]:
    """Texts about five subjects, some of them empty."""
    rng = np.random.default_rng(seed)
    words = np.array([f"w{i:04d}" for i in range(400)])
    texts = []
    for i in range(n):
        near = rng.zipf(1.6, rng.integers(5, 40)) % 80 + 80 * (i % 5)
        texts.append("" if i % 97 == 5 else " ".join(words[near % 400]))
    return texts


@pytest.fixture
def little_room(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Every text takes more than there is room for; where temporary files go."""
    monkeypatch.setattr(counted, "BYTES_A_CHARACTER", 1e7)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


CHOICES = [{}, {"min_df": 3}, {"hashing": 64}, {"weighting": "tf-idf", "max_features": 50}]


@pytest.mark.parametrize("choice", CHOICES)
def test_counts_in_files_give_the_same_model(choice: dict[str, object], little_room: Path) -> None:
    texts, words = written(600), Words()
    small = ritz.LSI(4, words=words, memory="2GB", **choice).fit(text for text in texts)
    assert small.plan_.solver in ("krylov", "moments")
    assert list(little_room.iterdir()) == []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counted, "BYTES_A_CHARACTER", 6.0)
        whole = ritz.LSI(4, words=words, **choice).fit(texts)
    np.testing.assert_allclose(small.singular_values_, whole.singular_values_, rtol=1e-9)
    np.testing.assert_allclose(small.embedding_, whole.embedding_, atol=1e-5)
    assert small.vocabulary_ == whole.vocabulary_
    assert small.empty_.tolist() == whole.empty_.tolist()
    assert small.unseen_.tolist() == whole.unseen_.tolist()
    np.testing.assert_allclose(small.explained_variance_, whole.explained_variance_, rtol=1e-7)
    assert small.drift_.expected == pytest.approx(whole.drift_.expected, abs=1e-6)
    assert small.search("w0003 w0001", top=5).rows.tolist() == whole.search("w0003 w0001", top=5).rows.tolist()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counted, "BYTES_A_CHARACTER", 6.0)
        assert small.verify(texts)


@pytest.mark.parametrize(
    "choice", [{"method": "ca"}, {"method": "kernel"}, {"keep_texts": True}, {"keep_counts": True}]
)
def test_what_needs_all_counts_says_so(choice: dict[str, object], little_room: Path) -> None:
    with pytest.raises(ritz.MemoryLimitError, match="must fit into memory=2 GB") as caught:
        ritz.LSI(3, words=Words(), memory="2GB", **choice).fit(written(50))
    assert "LSI(method='svd') without keep_texts and keep_counts" in str(caught.value)


def test_a_fit_that_fails_leaves_no_file_behind(little_room: Path) -> None:
    def broken():
        yield from written(100)
        raise OSError("the line went dead")

    with pytest.raises(OSError, match="went dead"):
        ritz.LSI(3, words=Words(), memory="2GB").fit(broken())
    assert list(little_room.iterdir()) == []


def test_a_full_disk_is_told(little_room: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(little_room / "nowhere"))
    with pytest.raises(ritz.FileError, match="TMPDIR"):
        ritz.LSI(3, words=Words(), memory="2GB").fit(written(50))


def test_new_texts_are_transformed_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = written(300)
    model = ritz.LSI(3, words=Words()).fit(texts)
    more = [*written(200, seed=1), "nothing known"]
    at_once, unseen = model.transform(more), model.unseen_
    monkeypatch.setattr(weighed, "PIECE_SHARE", 1e-12)
    monkeypatch.setattr(adopt, "BATCH", 1000)
    pieces = model.transform(more)
    np.testing.assert_allclose(pieces, at_once, atol=1e-12)
    assert model.unseen_.tolist() == unseen.tolist()
    assert model.transform([]).shape == (0, 3)


def test_shards_are_the_rows_they_were_made_of() -> None:
    rows = Counts().fit_transform(written(90))
    shards = Shards(Folder(), rows.shape[1])
    for first in range(0, 90, 40):
        shards.add(rows[first : first + 40])
    shards = shards.closed()
    assert shards.shape == rows.shape
    assert shards.nnz == rows.nnz
    again = np.vstack([part.toarray() for part in shards.rows(7)])
    np.testing.assert_array_equal(again, rows.toarray())
    kept = np.array([0, 5, 17, rows.shape[1] - 1])
    some = shards.selected(kept)
    np.testing.assert_array_equal(np.vstack([part.toarray() for part in some.rows(11)]), rows.toarray()[:, kept])
    np.testing.assert_array_equal(some.entries, (rows.toarray()[:, kept] > 0).sum(axis=1))
    rule = ritz.text.weighting("log-entropy").fit(rows)
    weighed_rows = np.vstack([part.toarray() for part in shards.weighted(rule).rows(13)])
    np.testing.assert_array_equal(weighed_rows, rule.transform(rows).toarray())


PROGRAM = """
import ritz
from ritz.text import Words

def texts(count):
    for i in range(count):
        yield " ".join(f"w{(i * 7919 + j * j * 31) % (300 + 150 * (i % 4)):03d}" for j in range(160))

def told(name):
    return int(open("/proc/self/status").read().split(name)[1].split()[0]) / 1e3

ritz.LSI(3, words=Words(), memory="2GB").fit(texts(300))
open("/proc/self/clear_refs", "w").write("5")
before = told("VmRSS:")
model = ritz.LSI(3, words=Words(), memory="100MB").fit(texts(32_000))
print(model.n_samples_, told("VmHWM:") - before)
"""


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="peaks are read from /proc")
def test_the_limit_holds_for_a_generator_of_more_text() -> None:
    # 24 million characters: counts and weights take 105 MB in memory (seen: 141 MB with a limit of 2 GB).
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    documents, added = done.stdout.split()
    assert documents == "32000"
    assert float(added) < 100
