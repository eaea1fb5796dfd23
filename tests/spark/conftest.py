"""One real Spark for all tests of this folder: two executors in JVMs of their own, each with Python workers."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
from collections.abc import Iterator
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
#: A Java that compiles little and starts few threads.
BRIEF = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let Spark's own threads, sockets and deprecations be: only warnings about numbers and data count here."""
    lacking = lacks()
    for item in items:
        if item.path.parent != Path(__file__).parent or item.path.name == "test_parts.py":
            continue
        for kind in ("ResourceWarning", "DeprecationWarning", "FutureWarning", "UserWarning"):
            item.add_marker(pytest.mark.filterwarnings(f"ignore::{kind}"))
        item.add_marker(pytest.mark.filterwarnings("error::ritz.RitzWarning"))
        if lacking:
            item.add_marker(pytest.mark.skip(reason=lacking))


def lacks() -> str:
    """What keeps Spark from running here, or nothing."""
    if importlib.util.find_spec("pyspark") is None:
        return "pyspark is not installed: pip install 'ritz[spark]'"
    return "" if shutil.which("java") or os.environ.get("JAVA_HOME") else "Spark needs Java, and none is installed"


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Return a session with two executors of one core and 1 GB each."""
    import pyspark
    from pyspark.sql import SparkSession

    place = tmp_path_factory.mktemp("spark")
    os.environ.setdefault("SPARK_HOME", str(Path(pyspark.__file__).parent))
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_DIRS"], os.environ["SPARK_WORKER_DIR"] = str(place / "local"), str(place / "work")
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": "1g",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.warehouse.dir": str(place / "warehouse"),
        "spark.executorEnv.PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(Path(__file__).parent)]),
        "spark.python.daemon.module": "workers",  # beside this file
        "spark.executorEnv.OPENBLAS_NUM_THREADS": "1",
        "spark.log.level": "ERROR",
        "spark.task.maxFailures": "2",  # an error of a step is one each time
        # Tables of a few rows: compiling costs more than it saves, of the generated code of every query most of all.
        "spark.sql.codegen.wholeStage": "false",
        "spark.driver.extraJavaOptions": BRIEF,
        "spark.executor.extraJavaOptions": BRIEF,
    }
    builder = SparkSession.builder.master("local-cluster[2,1,1024]").appName("ritz")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    yield session
    session.stop()


class Cut:
    """Makes DataFrames of given partitions."""

    def __init__(self, session: Any) -> None:
        self.session = session

    def __call__(self, rows: Any, lengths: Any, names: Any = None, kind: str = "columns") -> Any:
        """Rows, an array or CSR matrix, in partitions of so many; as columns, or one column of arrays or vectors."""
        from pyspark.ml.linalg import DenseVector, SparseVector, VectorUDT
        from pyspark.sql.types import ArrayType, DoubleType, FloatType, StructField, StructType

        number = FloatType() if rows.dtype == np.float32 else DoubleType()
        d = rows.shape[1]
        made: list[Any] = []
        for a, b in pairwise([0, *accumulate(lengths)]):
            part = rows[a:b]
            if hasattr(rows, "tocsr"):
                some = [part[[i]].tocsr() for i in range(b - a)]
                made.append([(SparseVector(d, one.indices.tolist(), one.data.tolist()),) for one in some])
            elif kind == "vectors":
                made.append([(DenseVector(row.astype(float)),) for row in part])
            elif kind == "arrays":
                made.append([(row.tolist(),) for row in part])
            else:
                made.append([tuple(row.tolist()) for row in part])
        if hasattr(rows, "tocsr") or kind == "vectors":
            schema = StructType([StructField("features", VectorUDT())])
        elif kind == "arrays":
            schema = StructType([StructField("embedding", ArrayType(number))])
        else:
            schema = StructType([StructField(name, number) for name in names or [f"x{j}" for j in range(d)]])
        # Held, or every pass would make the rows anew.
        return self._cut(made, schema).persist()

    def _cut(self, made: list[list[Any]], schema: Any) -> Any:
        """A DataFrame of these partitions, made without Python on the executors: one row a partition, then its rows."""
        from pyspark.sql import DataFrame
        from pyspark.sql.types import ArrayType, StructField, StructType

        whole = StructType([StructField("part", ArrayType(schema))])
        chunks = self.session.sparkContext.parallelize([whole.toInternal((part,)) for part in made], len(made))
        java = self.session._jvm.SerDeUtil.toJavaArray(chunks._to_java_object_rdd())
        parts = self.session._jsparkSession.applySchemaToPythonRDD(java.rdd(), whole.json())
        return DataFrame(parts, self.session).selectExpr("inline(part)")


@pytest.fixture(scope="session")
def cut(spark: Any) -> Cut:
    """Return a function of rows and lengths that makes a DataFrame."""
    from pyspark import cloudpickle

    cloudpickle.register_pickle_by_value(sys.modules[__name__])  # the workers cannot import the tests
    return Cut(spark)
