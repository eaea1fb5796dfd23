"""Passes on executors: the same bits whatever ends first, killed processes, rows that change, cancelled jobs."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse

import ritz
from ritz._core.errors import Cancelled, DataChanged, MemoryLimitError
from ritz.data.engines.refused import ClusterError
from ritz.data.engines.spark.blocks import SparkBlocks

N, D = 1200, 6


@pytest.fixture(scope="module")
def rows():
    return np.random.default_rng(11).standard_normal((N, D)) * 2.0 ** -np.arange(D) + 5


@pytest.fixture(scope="module", autouse=True)
def shipped():
    from pyspark import cloudpickle

    cloudpickle.register_pickle_by_value(sys.modules[__name__])  # the workers cannot import the tests


def same(a, b):
    assert np.array_equal(a.components_, b.components_)
    assert np.array_equal(a.explained_variance_, b.explained_variance_)


def test_the_tree_on_the_executors_gives_the_bits_of_the_tree_here(cut, rows, monkeypatch):
    frame = cut(rows, [70] * 16 + [80])  # 17 partitions: three merges of up to eight, then one
    here = ritz.PCA(3).fit(frame)
    monkeypatch.setattr("ritz.data.engines.spark.blocks.COLLECT_BYTES", 1)
    monkeypatch.setattr("ritz.data.engines.spark.states.ANSWER_BYTES", 600)
    same(here, ritz.PCA(3).fit(frame))
    np.testing.assert_allclose(np.array(here.transform(frame).collect()), here.transform(rows), atol=1e-10)


def _late(batches):
    """The first partitions end last."""
    from pyspark import TaskContext

    time.sleep(0.2 * (TaskContext.get().partitionId() == 0))
    yield from batches


def test_which_partition_ends_first_changes_nothing(cut, rows):
    frame = cut(rows, [100, 500, 1, 99, 500])
    late = frame.mapInArrow(_late, frame.schema)
    same(ritz.PCA(3).fit(frame), ritz.PCA(3).fit(SparkBlocks(late, persist=False)))


# what dies


class _Trap:
    """Waits to be killed in one partition, when it is computed for the n-th time, once."""

    def __init__(self, folder, place, time_of_death):
        self.folder, self.place, self.time_of_death = str(folder), place, time_of_death

    def __call__(self, batches):
        from pyspark import TaskContext

        if TaskContext.get().partitionId() == self.place:
            times = 1
            while True:
                try:
                    os.close(os.open(f"{self.folder}/{times}", os.O_CREAT | os.O_EXCL))
                    break
                except FileExistsError:
                    times += 1
            if times == self.time_of_death:
                daemon = os.getppid()
                executor = int(Path(f"/proc/{daemon}/stat").read_text().rpartition(")")[2].split()[1])
                Path(self.folder, "pid.part").write_text(f"{os.getpid()} {executor}")
                Path(self.folder, "pid.part").rename(Path(self.folder, "pid"))
                time.sleep(120)
        yield from batches


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are found in /proc")
@pytest.mark.parametrize(("victim", "solver"), [("worker", "moments"), ("executor", "krylov")])
def test_a_process_killed_in_the_middle_of_a_pass_changes_nothing(cut, rows, tmp_path, victim, solver):
    frame = cut(rows, [200] * 6)
    undisturbed = ritz.PCA(3, solver=solver).fit(frame)
    trap = frame.mapInArrow(_Trap(tmp_path, 2, 2), frame.schema)  # its second computation: none of those counted
    killed = []

    def kill():
        while not (tmp_path / "pid").exists():
            time.sleep(0.02)
        worker, executor = map(int, (tmp_path / "pid").read_text().split())
        killed.append(worker if victim == "worker" else executor)
        os.kill(killed[0], signal.SIGKILL)

    killer = threading.Thread(target=kill, daemon=True)
    killer.start()
    model = ritz.PCA(3, solver=solver).fit(SparkBlocks(trap, persist=False))
    killer.join(10)
    assert killed
    assert killed[0] != os.getpid()
    assert (tmp_path / "3").exists()  # the partition was computed again
    same(undisturbed, model)


def _deadly(batches):
    os.kill(os.getpid(), signal.SIGKILL)
    yield from batches


def test_a_partition_that_kills_every_worker_is_an_error(cut, rows):
    frame = cut(rows, [N])
    deadly = frame.mapInArrow(_deadly, frame.schema)
    with pytest.raises(ClusterError, match=r"(?s)the Spark session must stay.*hint: .*executors"):
        ritz.PCA(3).fit(deadly)


# what changes


def _changing(batches):
    import pyarrow as pa

    for batch in batches:
        shift = time.time_ns() % 1000 / 1000
        columns = [pa.array(np.asarray(values) + shift) for values in batch.columns]
        yield pa.RecordBatch.from_arrays(columns, batch.schema.names)


def test_rows_that_change_between_passes_are_found_out(cut, rows):
    frame = cut(rows, [600, 600])
    changing = frame.mapInArrow(_changing, frame.schema)
    with pytest.raises(DataChanged, match=r"(?s)other rows in partition \d than in an earlier pass.*persist"):
        ritz.PCA(3, solver="krylov").fit(SparkBlocks(changing, persist=False))


def test_a_plan_that_is_not_deterministic_is_read_twice_and_refused(spark, cut, rows):
    from pyspark.sql import functions as F

    frame = cut(rows, [600, 600])
    random = F.udf(lambda x: x + np.random.default_rng().random(), "double").asNondeterministic()
    with pytest.raises(DataChanged, match="a plan that says it is not deterministic"):
        ritz.PCA(3).fit(frame.withColumn("x0", random("x0")))
    repeated = spark.range(0, 600, 1, 3).select(F.rand(1).alias("a"), F.randn(2).alias("b"), F.rand(3).alias("c"))
    blocks = SparkBlocks(repeated)
    assert "read twice, with the same rows" in blocks.notes[0]
    values = np.array(repeated.collect())
    want = np.linalg.eigvalsh(np.cov(values.T))[::-1]
    np.testing.assert_allclose(ritz.PCA(2).fit(blocks).explained_variance_, want[:2], rtol=1e-10)


def test_rows_behind_a_shuffle_are_held_meanwhile(spark, cut, rows):
    frame = cut(rows, [600, 600]).repartition(5)
    blocks = SparkBlocks(frame)
    assert "the executors hold the rows" in blocks.notes[-1]
    held = len(spark.sparkContext._jsc.getPersistentRDDs())
    assert held >= 1
    want = np.linalg.svd(rows - rows.mean(axis=0), compute_uv=False)[:3] ** 2 / (N - 1)
    np.testing.assert_allclose(ritz.PCA(3, solver="krylov", tol=1e-12).fit(blocks).explained_variance_, want, rtol=1e-9)
    del blocks
    deadline = time.monotonic() + 20
    while len(spark.sparkContext._jsc.getPersistentRDDs()) >= held and time.monotonic() < deadline:
        time.sleep(0.05)
    assert len(spark.sparkContext._jsc.getPersistentRDDs()) < held  # let go of
    assert "computed again in every pass" in SparkBlocks(cut(rows, [600, 600])).notes[-1]


def test_a_file_that_is_read_by_the_executors(spark, rows, tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    for i, part in enumerate(np.array_split(rows, 3)):
        pq.write_table(pa.table({f"x{j}": part[:, j] for j in range(D)}), tmp_path / f"{i}.parquet")
    frame = spark.read.parquet(str(tmp_path))
    want = np.linalg.svd(rows - rows.mean(axis=0), compute_uv=False)[:3] ** 2 / (N - 1)
    model = ritz.PCA(3, solver="krylov", tol=1e-12).fit(frame)
    np.testing.assert_allclose(model.explained_variance_, want, rtol=1e-9)


# what is told, and stopped


def test_progress_is_told_and_may_stop_the_fit(spark, cut, rows):
    frame = cut(rows, [300] * 4)
    events = []
    ritz.PCA(3, progress=events.append).fit(frame)
    assert events[-1].passes >= 0.999
    slow = SparkBlocks(frame.mapInArrow(_slow, frame.schema), persist=False)
    with pytest.raises(Cancelled):
        ritz.PCA(3, progress=lambda event: event.seconds < 0.5).fit(slow)
    ended(spark)

    def stop(event):
        if event.seconds > 0.5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ritz.PCA(3, progress=stop).fit(slow)
    ended(spark)


def _slow(batches):
    for batch in batches:
        time.sleep(batch.num_rows / 600)
        yield batch


def ended(spark):
    """Jobs are cancelled soon."""
    tracker, deadline = spark.sparkContext.statusTracker(), time.monotonic() + 10
    while list(tracker.getActiveJobsIds()) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not list(tracker.getActiveJobsIds())


def test_a_memory_limit_holds_here(cut, rows):
    with pytest.raises(MemoryLimitError):
        ritz.PCA(3, memory="1kB").fit(cut(rows, [600, 600]))
    assert SparkBlocks(cut(rows, [N]), budget=80e6).reading < 40e6


def test_spark_settings_of_the_caller_are_left_as_they_were(spark, cut, rows):
    context = spark.sparkContext
    context.setJobDescription("mine")
    try:
        ritz.PCA(2).fit(cut(rows, [N]))
        assert context.getLocalProperty("spark.job.description") == "mine"
    finally:
        context.setJobDescription(None)


@pytest.mark.parametrize("kind", ["columns", "vectors", "sparse"])
def test_a_sample_found_by_spark_is_the_one_read_in_python(cut, rows, monkeypatch, kind):
    given = scipy.sparse.csr_array(np.where(np.abs(rows) > 0.7, rows, 0.0)) if kind == "sparse" else rows
    frame = cut(given, [300, 1, 599, 300], kind=kind)
    blocks = SparkBlocks(frame)
    blocks.absent = np.arange(N) % 5 == 1
    found = blocks.sample(100)
    monkeypatch.setattr("ritz.data.engines.spark.blocks.FOUND_SHARE", 2.0)
    blocks._samples.clear()
    read = blocks.sample(100)
    assert found.shape[0] > 40
    as_dense = [one.toarray() if hasattr(one, "toarray") else one for one in (found, read)]
    assert np.array_equal(*as_dense)


def test_a_missing_vector_is_a_missing_row(spark, rows):
    from pyspark.ml.linalg import DenseVector, SparseVector, VectorUDT
    from pyspark.sql.types import StructField, StructType

    schema = StructType([StructField("v", VectorUDT())])
    d = rows.shape[1]
    dense = [(DenseVector(row),) for row in rows[:6].astype(float)]
    for some in (dense, [*dense, (SparseVector(d, [1], [2.0]),)]):
        frame = spark.createDataFrame([*some, (None,)], schema)
        with pytest.raises(ritz.InputError, match="NaN"):
            ritz.PCA(1).fit(frame)
        there = frame.where("v is not null")
        expected = np.vstack([one.toArray() for (one,) in some])
        np.testing.assert_allclose(ritz.PCA(1).fit(there).mean_, expected.mean(axis=0), atol=1e-12)
