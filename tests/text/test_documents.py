"""Texts from wherever they lie: lists, frames, tables, folders, files, iterators."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import ritz
from ritz.text import Counts, documents

TEXTS = ["red cat", "thin wings", "İstanbul 東京 😀"]


@pytest.mark.parametrize(
    "source",
    [
        TEXTS,
        tuple(TEXTS),
        np.array(TEXTS),
        np.array(TEXTS, dtype=object),
        pd.Series(TEXTS),
        pd.Series(TEXTS, dtype="string"),
        pl.Series(TEXTS),
        pa.array(TEXTS),
        pa.chunked_array([TEXTS[:1], TEXTS[1:]]),
        pa.array(TEXTS).dictionary_encode(),
        pd.DataFrame({"only": TEXTS}),
        pl.DataFrame({"only": TEXTS}),
    ],
    ids=lambda source: f"{type(source).__module__}.{type(source).__name__}",
)
def test_what_holds_texts_in_memory_is_adopted(source):
    docs = documents(source)
    assert list(docs) == list(docs) == TEXTS
    assert len(docs) == 3
    assert docs.reiterable
    assert docs.names is None
    assert docs.text_of(2) == TEXTS[2]
    assert docs.texts_of([2, 0, 2]) == [TEXTS[2], TEXTS[0], TEXTS[2]]
    assert documents(docs) is docs
    assert all(type(text) is str or isinstance(text, str) for batch in docs.batches(1) for text in batch)
    assert [len(batch) for batch in docs.batches(1)] == [1, 1, 1]


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table, lambda c: ritz.read(pa.table(c))])
def test_a_column_of_a_frame_is_named(make):
    frame = make({"stars": [1, 2, 3], "review": TEXTS})
    docs = documents(frame, text="review")
    assert list(docs) == TEXTS
    assert docs.text_of(1) == TEXTS[1]
    with pytest.raises(ritz.InputError, match="text="):
        documents(frame)
    with pytest.raises(ritz.InputError, match="reviews"):
        documents(frame, text="reviews")


def test_labels_of_a_frame_are_the_names():
    assert documents(pd.Series(TEXTS, index=["a", "b", "c"])).names == ["a", "b", "c"]
    assert documents(pd.DataFrame({"t": TEXTS}, index=[7, 8, 9]), text="t").names == ["7", "8", "9"]


def test_missing_texts_are_empty_and_counted():
    for source in (["red", None, np.nan], pd.Series(["red", None, pd.NA]), pl.Series(["red", None, None])):
        docs = documents(source)
        assert list(docs) == ["red", "", ""]
        assert docs.missing == 2
        assert docs.text_of(1) == ""


@pytest.mark.parametrize(
    ("source", "row", "received"),
    [(["red", 3], 1, "int 3"), (["red", "cat", b"x"], 2, "bytes"), ([["red"]], 0, "list"), ([1.5], 0, "float")],
)
def test_what_is_no_text_is_an_error_that_names_the_row(source, row, received):
    with pytest.raises(ritz.InputError, match=rf"row {row} of texts; received {received}"):
        list(documents(source))
    with pytest.raises(ritz.InputError, match=f"row {row}"):
        Counts().fit(iter(source))


@pytest.mark.parametrize("source", [7, None, {"a": 1}, {"a", "b"}, b"bytes", np.zeros((2, 2)), np.zeros(3)])
def test_what_holds_no_texts_is_refused(source):
    with pytest.raises(ritz.InputError):
        documents(source)


def test_an_iterator_is_read_once_and_an_iterable_again():
    once = documents(text for text in TEXTS)
    assert not once.reiterable
    assert once.n_documents is None
    with pytest.raises(TypeError, match="no length"):
        len(once)
    with pytest.raises(ritz.InputError, match="read again"):
        once.text_of(0)
    assert list(once) == TEXTS
    with pytest.raises(ritz.InputError, match="read already"):
        list(once)

    class Again:
        def __iter__(self):
            return iter(TEXTS)

    again = documents(Again())
    assert again.reiterable
    assert list(again) == list(again) == TEXTS
    assert again.text_of(1) == TEXTS[1]
    with pytest.raises(ritz.InputError, match="row 3"):
        again.text_of(3)


def test_options_that_mean_nothing_are_refused():
    with pytest.raises(ritz.ParameterError, match="text="):
        documents(TEXTS, text="a")
    with pytest.raises(ritz.ParameterError, match="encoding"):
        documents(TEXTS, encoding="utf-8")
    with pytest.raises(ritz.ParameterError, match="memory"):
        documents(TEXTS, memory="much")
    assert documents(TEXTS, memory="2MB")._batch < documents(TEXTS)._batch


# ------------------------------------------------------------------------------------------------------- files


@pytest.fixture
def folder(tmp_path):
    """Texts in several encodings and packings, among files that are none."""
    base = tmp_path / "docs"
    (base / "sub").mkdir(parents=True)
    (base / ".git").mkdir()
    (base / "b.txt").write_text("thin wings", encoding="utf-8")
    (base / "a.txt.gz").write_bytes(gzip.compress(b"red cat"))
    (base / "sub" / "c.md.xz").write_bytes(lzma.compress("東京".encode()))
    (base / "sub" / "d.txt.bz2").write_bytes(bz2.compress(b"packed words"))
    (base / "sub" / "empty.txt").write_text("")
    (base / "e.txt").write_bytes("marked".encode("utf-16"))
    (base / "latin.txt").write_bytes("naïve café".encode("cp1252"))
    (base / ".hidden").write_text("hidden")
    (base / ".git" / "config").write_text("hidden")
    (base / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(range(256)))
    (base / "program.bin").write_bytes(b"text, and then \x00\x01\x02")
    (base / "paper.pdf").write_bytes(b"%PDF-1.7 plain words")
    return base


NAMES = ["a.txt.gz", "b.txt", "e.txt", "latin.txt", "sub/c.md.xz", "sub/d.txt.bz2", "sub/empty.txt"]
READ = ["red cat", "thin wings", "marked", "naïve café", "東京", "packed words", ""]


def test_a_folder_is_every_text_below_it_and_binary_files_are_set_aside(folder):
    with pytest.warns(ritz.FilesSetAside, match="3 files .* set aside") as said:
        docs = documents(folder)
    text = str(said[0].message)
    assert all(name in text for name in ("picture.png", "program.bin (binary)", "paper.pdf (a PDF)"))
    assert docs.names == NAMES
    assert list(docs) == list(docs) == READ
    assert docs.texts_of([4, 0]) == [READ[4], READ[0]]
    assert "latin.txt" in docs.notes[0]
    assert len(docs) == 7


def test_an_encoding_that_is_told_is_kept_to(folder):
    with pytest.warns(ritz.FilesSetAside, match="not utf-8 text"):
        docs = documents(folder, encoding="utf-8")
    assert "latin.txt" not in docs.names


def test_a_folder_counts_like_its_texts(folder):
    with pytest.warns(ritz.FilesSetAside):
        X = Counts().fit_transform(folder)
    assert (Counts().fit_transform(READ) != X).nnz == 0


def test_a_folder_without_texts_is_an_error(tmp_path):
    with pytest.raises(ritz.FileError, match="received none"):
        documents(tmp_path)
    (tmp_path / "x.bin").write_bytes(b"\0\0")
    with pytest.raises(ritz.FileError, match="binary"):
        documents(tmp_path)


def test_files_that_change_are_noticed(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("red cat")
    docs = documents(tmp_path)
    path.write_text("another text")
    with pytest.raises(ritz.DataChanged):
        list(docs)
    path.unlink()
    with pytest.raises(ritz.DataChanged):
        docs.text_of(0)


def test_a_text_file_is_one_document(tmp_path):
    path = tmp_path / "book.txt"
    path.write_text("line one\nline two", encoding="utf-8")
    docs = documents(path)
    assert (list(docs), docs.names) == (["line one\nline two"], ["book.txt"])


PACKINGS = {"": bytes, ".gz": gzip.compress, ".xz": lzma.compress, ".bz2": bz2.compress}


@pytest.mark.parametrize("packing", PACKINGS)
def test_lines_of_json(tmp_path, packing):
    rows = [{"id": i, "text": text} for i, text in enumerate([*TEXTS, None])]
    data = "\n".join(json.dumps(row, ensure_ascii=i % 2 == 0) for i, row in enumerate(rows)) + "\n\n"
    path = tmp_path / f"docs.jsonl{packing}"
    path.write_bytes(PACKINGS[packing](data.encode("utf-8")))
    docs = documents(path, text="text")
    assert list(docs) == list(docs) == [*TEXTS, ""]
    assert docs.missing == 1
    assert docs.texts_of([2, 1]) == [TEXTS[2], TEXTS[1]]
    with pytest.raises(ritz.InputError, match="field 'body' in line 1"):
        list(documents(path, text="body"))
    with pytest.raises(ritz.InputError, match="text="):
        documents(path)


@pytest.mark.parametrize("line", ['{"text": ', "[1]", "not json"])
def test_a_line_that_is_no_object_is_named(tmp_path, line):
    path = tmp_path / "docs.jsonl"
    path.write_text(f'{{"text": "red"}}\n{line}\n')
    with pytest.raises(ritz.InputError, match="line 2"):
        list(documents(path, text="text"))


def test_a_table_in_a_file(tmp_path):
    frame = pd.DataFrame({"stars": [1, 2, 3], "review": ["red, cat", 'thin "wings"', TEXTS[2]]})
    frame.to_csv(tmp_path / "r.csv", index=False)
    frame.to_parquet(tmp_path / "r.parquet")
    for name in ("r.csv", "r.parquet"):
        docs = documents(tmp_path / name, text="review")
        assert list(docs) == list(docs) == frame["review"].tolist()
        assert docs.text_of(1) == 'thin "wings"'
        with pytest.raises(ritz.InputError, match="text="):
            documents(str(tmp_path / name))


@pytest.mark.parametrize("text", ["no such file", "a text\nof two lines", "x" * 5000, "nul\0byte"])
def test_a_text_in_place_of_a_path_gets_a_hint(text):
    with pytest.raises(ritz.FileError, match=r"goes into a list: \[text\]"):
        Counts().fit(text)


def test_nothing_heavy_is_loaded_for_lists():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert repr(documents(TEXTS)) == "Documents(texts: 3 documents)"
        assert repr(documents(iter(TEXTS))) == "Documents(an iterable: not counted yet)"


def test_a_link_to_nothing_is_set_aside_and_told(tmp_path):
    (tmp_path / "a.txt").write_text("red cat")
    (tmp_path / "gone.txt").symlink_to(tmp_path / "nowhere.txt")
    (tmp_path / "same.txt").symlink_to(tmp_path / "a.txt")
    with pytest.warns(ritz.FilesSetAside, match="gone.txt"):
        docs = documents(tmp_path)
    assert docs.names == ["a.txt", "same.txt"]


def test_the_fields_of_lines_are_told(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('\n{"id": 3, "review": "red cat"}\n')
    with pytest.raises(ritz.InputError, match="fields of its first line are 'review'") as told:
        documents(path)
    assert told.value.hint == "text='review'"
    path.write_text("not JSON\n")
    with pytest.raises(ritz.InputError, match="name of the field"):
        documents(path)
