"""Parts of the engine that need no session: pieces of states, prints of partitions, words of errors."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from ritz._core.errors import InputError, NonFiniteError
from ritz.data.engines.refused import ClusterError
from ritz.data.engines.spark.pieces import Arrived, in_pieces, states_of
from ritz.data.engines.spark.prints import Print
from ritz.data.engines.spark.session import told
from ritz.data.passes.accumulate import Sums


class Total(Sums):
    SUMS = ("total", "count")

    def __init__(self):
        self.total, self.count = np.zeros(1000), 0


def state(seed):
    sums = Total()
    sums.total += np.random.default_rng(seed).standard_normal(1000)
    sums.count = seed
    return sums.state()


def test_a_state_survives_its_pieces_in_any_order(monkeypatch):
    monkeypatch.setattr("ritz.data.engines.spark.pieces.PIECE_BYTES", 300)
    given = state(3)
    pieces = list(in_pieces(7, given, {7: (5, 1)}))
    assert len(pieces) > 20
    assert max(len(data) for *_, data in pieces[1:]) == 300
    arrived = Arrived()
    for _, seq, data in reversed(pieces):
        arrived.take(seq, data)
    got = arrived.state()
    assert np.array_equal(got["total"], given["total"])
    assert got["count"] == 3
    assert arrived.facts == {7: (5, 1)}
    got["total"] += 1  # may be added to


def test_states_come_one_after_the_other():
    pieces = [piece for part in range(3) for piece in in_pieces(part, state(part), {part: part})]
    assert [(part, got["count"], facts) for part, got, facts in states_of(pieces)] == [
        (0, 0, {0: 0}), (1, 1, {1: 1}), (2, 2, {2: 2}),
    ]  # fmt: skip
    assert list(states_of([])) == []


def mark(*parts):
    one = Print()
    for part in parts:
        one.add(part)
    return one.rows, one.placed, one.free


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.bool_])
def test_prints_know_rows_however_they_are_cut(dtype):
    rows = np.random.default_rng(0).standard_normal((500, 7)) * 10
    rows = rows > 0 if dtype == np.bool_ else rows.astype(dtype)
    whole = mark(rows)
    assert mark(rows[:100], rows[100:101], rows[101:]) == whole
    assert mark(np.asfortranarray(rows)) == whole
    turned = mark(rows[::-1])
    assert turned[1] != whole[1]
    assert turned[2] == whole[2]
    other = rows.copy()
    other[400, 3] = other[400, 3] + 1 if dtype != np.bool_ else ~other[400, 3]
    assert mark(other)[1:] != whole[1:]
    assert mark(rows[:-1])[1] != whole[1]


def test_prints_of_sparse_rows():
    rows = sp.random_array((300, 40), density=0.1, rng=np.random.default_rng(1), format="csr")
    whole = mark(rows)
    assert mark(rows[:7], rows[7:]) == whole
    moved = rows.copy()
    moved.indices = (moved.indices + 1) % 40
    assert mark(moved)[1:] != whole[1:]


class PythonException(Exception):
    __module__ = "pyspark.errors.exceptions.captured"


TRACE = """
  An exception was thrown from the Python worker. Please see the stack trace below.
Traceback (most recent call last):
  File "ritz/data/engines/spark/task.py", line 1, in __call__
ritz._core.errors.{}

\tat org.apache.spark.api.python.BasePythonRunner
"""


@pytest.mark.parametrize(
    ("words", "kind", "parts"),
    [
        ("InputError: nothing", InputError, ("nothing", None, None)),
        (
            "NonFiniteError: Input X contains NaN; received 1 such value; first at row 3\nhint: drop those rows",
            NonFiniteError,
            ("Input X contains NaN", "1 such value; first at row 3", "drop those rows"),
        ),
    ],
)
def test_errors_of_ritz_come_out_of_a_traceback_as_themselves(words, kind, parts):
    error = told(PythonException(TRACE.format(words)))
    assert type(error) is kind
    assert (error.expected, error.received, error.hint) == parts


def test_errors_of_spark_are_told_in_words():
    lost = told(PythonException("Job aborted.\nLost task 0.3, most recent failure: ExecutorLostFailure\n\tat x"))
    assert isinstance(lost, ClusterError)
    assert "ExecutorLostFailure" in str(lost)
    absent = told(PythonException("ModuleNotFoundError: No module named 'ritz'"))
    assert isinstance(absent, ClusterError)
    assert "pack the environment" in str(absent)
    other = told(PythonException("ModuleNotFoundError: No module named 'pyarrow'"))
    assert isinstance(other, ClusterError)
    assert "'pyarrow'" in str(other)
    assert "PYSPARK_PYTHON" in str(other)
    own = ValueError("mine")
    assert told(own) is own
