"""What DataFrames may hold, in plain words where they may not, and coordinates that wait until somebody asks."""

from __future__ import annotations

import numpy as np
import pytest

import ritz
from ritz.data.engines import engine_of


def measured(n=300, d=4):
    return np.random.default_rng(0).standard_normal((n, d)) * np.arange(d, 0, -1) + 10


def test_coordinates_are_lazy_and_other_columns_go_along(spark, cut):
    from pyspark.sql import functions as F

    rows = measured()
    frame = cut(rows, [100, 200])
    model = ritz.PCA(2).fit(frame)
    more = (
        frame.withColumn("id", F.monotonically_increasing_id())
        .withColumn("word", F.lit("x"))
        .select("word", "x3", "x1", "x0", "id", "x2")
    )
    before = jobs(spark)
    Z = model.transform(more)
    assert jobs(spark) == before  # nothing was computed
    assert Z.columns == ["word", "id", "pca0", "pca1"]
    got = Z.collect()
    np.testing.assert_allclose([[row.pca0, row.pca1] for row in got], model.transform(rows), atol=1e-10)
    assert [row.word for row in got] == ["x"] * 300
    assert [row.id for row in got] == sorted(row.id for row in got)
    with pytest.raises(ritz.InputError, match=r"no column 'pca1' beside the features"):
        model.transform(frame.withColumn("pca1", F.lit(1)))
    with pytest.raises(ritz.InputError, match="X has 3 features, but PCA is expecting 4"):
        model.transform(frame.drop("x2"))


def jobs(spark):
    """How many jobs the session has run so far."""
    return spark.sparkContext._jsc.sc().statusStore().jobsList(None).size()


def test_float32_coordinates_of_embeddings(cut):
    rows = measured().astype(np.float32)
    frame = cut(rows, [100, 200], kind="arrays")
    model = ritz.PCA(2).fit(frame)
    Z = model.transform(frame)
    assert {field.dataType.simpleString() for field in Z.schema.fields} == {"float"}
    np.testing.assert_allclose(engine_of(frame).computed(Z), model.transform(rows), atol=1e-4)


def test_a_number_that_is_not_finite_is_named_by_column_and_row(cut):
    rows = measured()
    frame = cut(rows, [100, 200])
    model = ritz.PCA(2).fit(frame)
    rows[123, 2] = np.inf
    broken = cut(rows, [100, 200])
    with pytest.raises(ritz.NonFiniteError, match=r"(?s)1 such value in 1 of 4 columns.*row 123 column 'x2'"):
        ritz.PCA(2).fit(broken)
    with pytest.raises(ritz.NonFiniteError, match=r"row 23 of partition 1 column 'x2'"):
        engine_of(broken).computed(model.transform(broken))


def test_columns_without_numbers_are_named(spark):
    frame = spark.createDataFrame([(1.0, "a", 2)], ["x", "word", "y"])
    with pytest.raises(ritz.InputError, match=r"(?s)non-numeric column 'word' \(string\).*hint: .*X\.drop"):
        ritz.PCA(1).fit(frame)


def test_nulls_of_whole_numbers_are_missing(spark):
    frame = spark.createDataFrame([(1, 2.0), (None, 3.0), (5, 4.5)], "a int, b double").coalesce(1)
    with pytest.raises(ritz.NonFiniteError, match=r"row 1 column 'a'"):
        ritz.PCA(1).fit(frame)


def test_whole_numbers_decimals_and_truth_values(spark):
    listed = [(1, True, 0.5, 10**12), (2, False, 1.5, 10**12 + 1), (4, True, 3.5, 10**12 + 5), (3, True, 0.25, 10**12)]
    frame = spark.createDataFrame(listed, "a int, b boolean, c double, e long").selectExpr(
        "a", "b", "cast(c as decimal(10, 2)) as c", "e"
    )
    rows = np.array([[a, b, c, e] for a, b, c, e in listed], float)
    model = ritz.PCA(2).fit(frame)
    Z = rows - rows.mean(axis=0)
    want = np.linalg.svd(Z, compute_uv=False)[:2] ** 2 / 3
    np.testing.assert_allclose(model.explained_variance_, want, rtol=1e-10)


def test_arrays_of_other_lengths_are_found(spark):
    frame = spark.createDataFrame([([1.0, 2.0],), ([2.0, 1.0],), ([3.0],)], ["e"]).coalesce(1)
    with pytest.raises(ritz.InputError, match=r"lists of 2 numbers in column 'e'; received 1 number"):
        ritz.PCA(1).fit(frame)


def test_no_rows_no_columns_two_of_one_name(spark):
    frame = spark.createDataFrame([(1.0, 2.0)], ["a", "b"])
    with pytest.raises(ritz.InputError, match=r"0 sample\(s\)"):
        ritz.PCA(1).fit(frame.where("a > 5"))
    with pytest.raises(ritz.InputError, match=r"0 feature\(s\)"):
        ritz.PCA(1).fit(frame.select())
    with pytest.raises(ritz.InputError, match=r"different names in a DataFrame; received more than one 'a'"):
        ritz.PCA(1).fit(frame.select("a", "a"))


def test_names_with_dots_and_backticks(cut):
    rows = measured(60)
    names = ["a.b", "c`d", "e f", "g[0]"]
    model = ritz.PCA(2).fit(cut(rows, [60], names))
    assert list(model.feature_names_in_) == names
    Z = model.transform(cut(rows, [20, 40], names))
    np.testing.assert_allclose(np.array(Z.collect()), model.transform(rows), atol=1e-10)


@pytest.mark.parametrize(
    ("module", "words"),
    [
        ("pyspark.sql.connect.dataframe", r"(?s)a DataFrame of Spark Connect.*hint: .*spark-submit"),
        ("pyspark.pandas.frame", r"(?s)one of pandas on Spark.*to_spark"),
    ],
)
def test_other_frames_of_spark_are_refused_in_words(module, words):
    other = type("DataFrame", (), {"__module__": module})()
    assert engine_of(other).name == "spark"
    with pytest.raises(ritz.InputError, match=words):
        ritz.PCA(1).fit(other)


def test_a_streaming_frame_is_refused(spark):
    stream = spark.readStream.format("rate").load().selectExpr("cast(value as double) as x", "1.0D as y")
    with pytest.raises(ritz.InputError, match=r"(?s)a streaming DataFrame.*foreachBatch"):
        ritz.PCA(1).fit(stream)
