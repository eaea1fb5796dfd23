"""Data sets of the gallery with a model each, and databases to score them in."""

from __future__ import annotations

import contextlib
import io
import os
import shutil
import subprocess
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pytest

import ritz

ROOT = Path(__file__).resolve().parent.parent.parent
GOLDEN = ROOT / "tests" / "golden"
SHARED = Path(os.environ.get("RITZ_SHARED", ROOT.parent / "shared")) / "data"


def csv(path: Path, **options):
    import pandas as pd

    return pd.read_csv(path, **options)


def correspondence(name: str):
    return csv(GOLDEN / "correspondence" / f"{name}.csv", index_col="id" if name != "poison" else None)


def numbers(loader: str):
    from sklearn import datasets

    return getattr(datasets, loader)().data


def shared(name: str, **options):
    return csv(SHARED / name / "data.csv", **options)


def wine():
    return csv(ROOT / "src/ritz/data/samples/wine.csv").select_dtypes("number")


def tea():
    return shared("tea").rename(columns={"how": "bag"})  # DuckDB takes "how" and "How" for one name


def wine_groups():
    names = list(correspondence("wine").columns)
    return {"origin": names[:2], "before": names[2:7], "after": names[7:20], "taste": names[20:]}


def circles():
    from sklearn.datasets import make_circles

    return make_circles(120, factor=0.3, noise=0.05, random_state=0)[0]


def swiss_roll():
    from sklearn.datasets import make_swiss_roll

    return make_swiss_roll(200, random_state=0)[0]


#: Name → model and table.
SETS = {
    "iris": (lambda: ritz.PCA(3, scale=True), lambda: numbers("load_iris")),
    "iris whitened": (lambda: ritz.PCA(2, whiten=True), lambda: numbers("load_iris")),
    "iris rbf": (lambda: ritz.KernelPCA(3, kernel="rbf", gamma=0.5), lambda: numbers("load_iris")),
    "iris quadratic": (lambda: ritz.KernelPCA(3, kernel="poly", degree=2), lambda: numbers("load_iris")),
    "wine": (lambda: ritz.PCA(4, scale=True), wine),
    "wines of the Loire": (lambda: ritz.FAMD(3), lambda: correspondence("wine")),
    "wine groups": (lambda: ritz.MFA(3, groups=wine_groups()), lambda: correspondence("wine")),
    "wine robust": (lambda: ritz.RobustPCA(3, scale=True), lambda: numbers("load_wine")),
    "wine factors": (lambda: ritz.FactorAnalysis(3, rotation="varimax"), lambda: numbers("load_wine")),
    "wine sparse": (lambda: ritz.SparsePCA(3, alpha=0.1, scale=True), lambda: numbers("load_wine")),
    "digits": (lambda: ritz.PCA(10), lambda: numbers("load_digits")[:400]),
    "digits svd": (lambda: ritz.SVD(6), lambda: numbers("load_digits")[:400]),
    "digits landmarks": (
        lambda: ritz.KernelPCA(5, kernel="rbf", gamma=0.001, solver="nystrom", landmarks=40),
        lambda: numbers("load_digits")[:300],
    ),
    "circles": (lambda: ritz.KernelPCA(4, kernel="rbf", gamma=2.0), circles),
    "swiss roll": (lambda: ritz.KernelPCA(3, kernel="laplacian", gamma=0.05), swiss_roll),
    "decathlon": (lambda: ritz.PCA(5, scale=True), lambda: csv(GOLDEN / "rank" / "decathlon.csv")),
    "poison": (lambda: ritz.FAMD(4), lambda: correspondence("poison")),
    "poison answers": (lambda: ritz.MCA(5), lambda: correspondence("poison").iloc[:, 2:]),
    "housetasks": (lambda: ritz.CA(3), lambda: correspondence("housetasks")),
    "children": (lambda: ritz.CA(3), lambda: correspondence("children").iloc[:14, :5]),
    "smoke": (lambda: ritz.CA(2), lambda: correspondence("smoke")),
    "orange": (
        lambda: ritz.PCA(2, scale=True, missing="regularized"),
        lambda: csv(GOLDEN / "missing" / "orange.csv", index_col="id"),
    ),
    "tea": (lambda: ritz.MCA(5), lambda: tea().drop(columns="age")),
    "tea mixed": (lambda: ritz.FAMD(3), tea),
    "arrests": (lambda: ritz.PCA(4, scale=True), lambda: shared("usarrests", index_col="id")),
    "hair and eyes": (lambda: ritz.CA(2), lambda: shared("hair_eye_color", index_col="id")),
    "hbk": (lambda: ritz.RobustPCA(2), lambda: shared("hbk")),
}  # fmt: skip
NEED_SHARED = {"tea", "tea mixed", "arrests", "hair and eyes", "hbk"}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "gallery" in metafunc.fixturenames:
        marks = {name: [pytest.mark.shared] if name in NEED_SHARED else [] for name in SETS}
        metafunc.parametrize("gallery", [pytest.param(name, marks=marks[name]) for name in SETS], indirect=True)


FITTED = {}


@pytest.fixture
def gallery(request):
    """A fitted model of a data set, its table, and the scores."""
    name = request.param
    if name not in FITTED:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            build, table = SETS[name]
            X = table()
            model = build().fit(X)
            FITTED[name] = model, X, np.asarray(model.transform(X))
    return FITTED[name]


# ------------------------------------------------------------------------------------------- databases


def quoted(name) -> str:
    return '"' + str(name).replace('"', '""') + '"'


def sql_types(columns) -> list[str]:
    def kind(values):
        held = [v for v in values if v is not None and v == v]
        if held and all(isinstance(v, (bool, np.bool_)) for v in held):
            return "BOOLEAN"
        return "TEXT" if any(isinstance(v, str) for v in held) else "DOUBLE PRECISION"

    return [kind(values) for values in columns.values()]


def plain(value):
    return None if value is None or value != value else value.item() if hasattr(value, "item") else value


@pytest.fixture
def duck():
    """A function from columns and a query to scores, in DuckDB."""
    duckdb = pytest.importorskip("duckdb")
    import pyarrow as pa

    kinds = {"BOOLEAN": pa.bool_(), "TEXT": pa.string(), "DOUBLE PRECISION": pa.float64()}

    def scored(columns: dict, query: str) -> np.ndarray:
        n = len(next(iter(columns.values())))
        held = {
            name: pa.array([plain(v) for v in values], kinds[kind])
            for (name, values), kind in zip(columns.items(), sql_types(columns), strict=True)
        }
        with contextlib.closing(duckdb.connect(config={"threads": 1})) as db:
            db.register("the rows", pa.table({"row id": range(n), **held}))
            found = db.execute(query).fetchnumpy()
        return ordered({name: np.ma.filled(np.ma.asarray(v, dtype=float), np.nan) for name, v in found.items()})

    return scored


def script(columns: dict, query: str) -> str:
    """SQL for psql: the table of the rows with their numbers, its content, and the query."""

    def cell(value) -> str:
        value = plain(value)
        return "" if value is None else quoted(value) if isinstance(value, str) else repr(value)

    kinds = sql_types(columns)
    names = ", ".join(f"{quoted(name)} {kind}" for name, kind in zip(columns, kinds, strict=True))
    rows = [f"{i},{','.join(map(cell, row))}" for i, row in enumerate(zip(*columns.values(), strict=True))]
    made = f"CREATE TEMPORARY TABLE {quoted('the rows')} ({quoted('row id')} INTEGER, {names});\n"
    copy = f"COPY {quoted('the rows')} FROM STDIN WITH (FORMAT csv);\n"
    return made + copy + "\n".join(rows) + "\n\\.\n" + query


def ordered(found: dict) -> np.ndarray:
    order = np.argsort(found.pop("row id"))
    return np.column_stack([np.asarray(v, float) for v in found.values()])[order]


def postgres_folder() -> Path | None:
    found = shutil.which("initdb")
    folders = [Path(found).parent] if found else sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    return folders[-1] if folders and (folders[-1] / "postgres").exists() else None


@pytest.fixture(scope="session")
def cluster():
    """A PostgreSQL server of its own on a socket in a folder of its own."""
    programs = postgres_folder()
    if programs is None or shutil.which("psql") is None:
        pytest.skip("PostgreSQL is not installed")
    user = {"user": "postgres", "group": "postgres", "extra_groups": []} if os.getuid() == 0 else {}
    folder = Path(tempfile.mkdtemp(prefix="ritz-pg-"))
    if user:
        shutil.chown(folder, "postgres", "postgres")
    run = {"check": True, "capture_output": True, "cwd": folder, **user}
    try:
        options = ["-A", "trust", "-U", "ritz", "-E", "UTF8", "--no-sync", "--no-locale"]
        try:
            subprocess.run([programs / "initdb", "-D", folder / "data", *options], **run)
        except (OSError, subprocess.CalledProcessError) as error:  # such as a machine that lends no other user
            pytest.skip(f"PostgreSQL cannot make a database here: {getattr(error, 'stderr', error)}")
        started = f"-k {folder} -c listen_addresses='' -c fsync=off -c shared_buffers=16MB"
        start = [programs / "pg_ctl", "-D", folder / "data", "-o", started, "-l", folder / "log", "-w", "start"]
        # the server inherits what it is given: pipes would never end
        subprocess.run(start, **(run | {"capture_output": False, "stdout": subprocess.DEVNULL}))
        yield folder
        subprocess.run([programs / "pg_ctl", "-D", folder / "data", "-m", "immediate", "stop"], **run)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def postgres(cluster):
    """A function from columns and a query to scores, in PostgreSQL."""

    def scored(columns: dict, query: str) -> np.ndarray:
        import pandas as pd

        command = ["psql", "-h", cluster, "-U", "ritz", "-d", "postgres", "-v", "ON_ERROR_STOP=1", "--csv", "-q", "-X"]
        done = subprocess.run(command, input=script(columns, query), capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[:2000]
        return ordered(dict(pd.read_csv(io.StringIO(done.stdout)).items()))

    return scored
