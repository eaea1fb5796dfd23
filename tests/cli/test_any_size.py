"""Tables larger than the memory limit: same numbers, limits kept, nothing lost when the program is killed."""

from __future__ import annotations

import json
import os
import re
import resource
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ritz
from tests import program

PROGRAM = [sys.executable, "-m", "ritz"]
LIMIT = "60MB"  # a quarter of it is loaded: the tables below are larger


def rows(n=100_000, d=40, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, d)) * np.geomspace(3, 0.5, d) + np.linspace(0, 50, d)


@pytest.fixture(scope="module")
def table(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("tables") / "big.npy"
    np.save(path, rows())
    return path


def ritz_fit(folder: Path, *arguments: object, ok: bool = True, **keywords) -> subprocess.CompletedProcess:
    if arguments[0] == "fit":  # the page has tests of its own
        arguments = ("fit", "--no-report", *arguments[1:])
    if keywords:  # limits on the process want one of its own
        done = subprocess.run(
            [*PROGRAM, *map(str, arguments)], cwd=folder, capture_output=True, text=True, check=False, **keywords
        )
    else:
        done = program.ritz(*arguments, cwd=folder)
    assert not ok or done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    return done


def agree(model, truth):
    top = truth.explained_variance_[0]
    assert np.max(np.abs(model.explained_variance_ - truth.explained_variance_)) <= 1e-10 * top
    assert np.allclose(model.components_, truth.components_, atol=1e-8)


@pytest.mark.parametrize("scale", ["--scale", "--no-scale", None])
def test_a_table_read_in_pieces_gives_the_numbers_of_one_in_memory(tmp_path, table, scale):
    done = ritz_fit(tmp_path, "fit", table, "--memory", LIMIT, "-k", 5, *([scale] if scale else []))
    assert "32 MB will be read once to fit (moments), then once for scores" in done.stderr
    truth = ritz.PCA(5, scale=scale == "--scale").fit(np.load(table))
    folder = tmp_path / "big_ritz"
    agree(ritz.load(folder / "model.ritz"), truth)
    scores = pq.read_table(folder / "scores.parquet")
    assert scores.column_names == ["row", "PC1", "PC2", "PC3", "PC4", "PC5"]
    assert scores["row"].to_pylist() == list(range(1, 100_001))
    Z = np.column_stack([scores[f"PC{i}"].to_numpy() for i in range(1, 6)])
    assert np.allclose(Z, truth.transform(np.load(table)), atol=1e-7)
    assert sorted(p.name for p in folder.iterdir()) == [
        "components.csv",
        "manifest.json",
        "model.ritz",
        "scores.parquet",
    ]


def test_spreads_that_differ_are_found_in_the_same_pass(tmp_path):
    X = rows(60_000, 40)
    X[:, 3] *= 1000
    np.save(tmp_path / "t.npy", X)
    done = ritz_fit(tmp_path, "fit", "t.npy", "--memory", LIMIT, "-k", 3, "--json", "--scores", "npy")
    facts = json.loads(done.stdout)
    assert facts["scaled"] is True
    assert "more than tenfold" in facts["scaling"]
    truth = ritz.PCA(3, scale=True).fit(X)
    agree(ritz.load(tmp_path / "t_ritz/model.ritz"), truth)
    assert np.allclose(np.load(tmp_path / "t_ritz/scores.npy"), truth.transform(X), atol=1e-7)


MEASURED = """
import resource, sys
from ritz.cli.main import app
import ritz.cli.fitting.job, scipy.linalg, pyarrow.parquet
def status(key):
    return int(open("/proc/self/status").read().split(key)[1].split()[0]) * 1024
before = status("VmRSS:")
try:
    app(sys.argv[1:])
except SystemExit as end:
    print("exit", end.code)
print("added", status("VmHWM:") - before)
"""


@pytest.fixture(scope="module")
def large() -> tuple[np.ndarray, ritz.PCA]:
    """A table of 160 MB, and its model in memory."""
    X = np.random.default_rng(0).standard_normal((400_000, 100), dtype=np.float32)
    X *= np.geomspace(3, 0.5, 100, dtype=np.float32)
    X += np.linspace(0, 50, 100, dtype=np.float32)
    return X, ritz.PCA(10).fit(X)


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc to measure resident memory")
@pytest.mark.parametrize(("kind", "limit"), [("npy", 90), ("parquet", 150)])
def test_the_memory_limit_is_kept(tmp_path, large, kind, limit):
    X, truth = large
    if kind == "npy":
        np.save(tmp_path / "t.npy", X)
    else:
        columns = {f"x{j}": X[:, j] for j in range(100)}
        pq.write_table(pa.table(columns), tmp_path / "t.parquet", row_group_size=50_000)
    command = ["fit", f"t.{kind}", "--memory", f"{limit}MB", "-k", "10", "-q", "--no-scale"]
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, *command], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert "exit 0" in done.stdout, done.stderr
    added = int(done.stdout.split("added")[1])
    assert 1e6 < added <= limit * 1e6, f"{added / 1e6:.0f} MB"
    model = ritz.load(tmp_path / "t_ritz/model.ritz")
    gap = np.abs(model.explained_variance_ - truth.explained_variance_).max()
    assert gap <= 1e-6 * truth.explained_variance_[0]  # float32 in, float32 out


def test_a_limit_that_cannot_be_kept_names_the_least(tmp_path, table):
    done = ritz_fit(tmp_path, "fit", table, "--memory", "2MB", ok=False)
    assert done.returncode == 3
    assert "the fit must stay within --memory 2 MB" in done.stderr
    assert "hint: allow --memory 2" in done.stderr
    assert list(tmp_path.iterdir()) == []


KILLED = """
import os, signal, sys
import ritz._core.journal as journal
import ritz.data.formats.npy as npy
journal.journaling.__wrapped__.__defaults__ = (0.0,)
left, read = [int(sys.argv.pop(1))], [0]
fill, save = npy.NpySource._fill, journal.Keeper.save
def counted(self, file, out, entry):
    read[0] += out.nbytes
    return fill(self, file, out, entry)
def mortal(self, row, state):
    save(self, row, state)
    left[0] -= 1
    if left[0] == 0:
        os.kill(os.getpid(), signal.SIGKILL)
npy.NpySource._fill, journal.Keeper.save = counted, mortal
from ritz.cli.main import app
try:
    app(sys.argv[1:])
except SystemExit as end:
    print("exit", end.code)
print("read", read[0])
"""


def killed(folder: Path, saves: int, *arguments: object) -> subprocess.CompletedProcess:
    return program.python(KILLED, saves, *arguments, cwd=folder)


@pytest.mark.parametrize("solver", ["auto", "krylov"])
def test_kill_9_then_resume(tmp_path, table, solver):
    command = [
        "fit",
        table,
        "--no-report",
        "--memory",
        "100MB",
        "-k",
        4,
        "--solver",
        solver,
        "--no-scale",
        "--scores",
        "none",
    ]
    whole = killed(tmp_path, -1, *command, "-o", "whole")
    assert "exit 0" in whole.stdout, whole.stderr
    broken = killed(tmp_path, 30 if solver == "auto" else 80, *command, "-o", "broken")
    assert broken.returncode == -9
    assert [p.name for p in (tmp_path / "broken").iterdir()] == [".journal"]
    resumed = killed(tmp_path, -1, *command, "-o", "broken", "--resume")
    assert "exit 0" in resumed.stdout, resumed.stderr
    a, b = ritz.load(tmp_path / "whole/model.ritz"), ritz.load(tmp_path / "broken/model.ritz")
    assert np.array_equal(a.components_, b.components_)
    assert np.array_equal(a.explained_variance_, b.explained_variance_)
    amount = [int(done.stdout.split("read ")[1]) for done in (whole, resumed)]
    assert amount[1] < 0.95 * amount[0], amount
    assert not (tmp_path / "broken/.journal").exists()


FREE = """
import os
import ritz._core.memory as memory
import ritz.cli.fitting.job as job
memory.available = job.available = lambda: float(os.environ["FREE"])
"""


def free(folder: Path, saves: int, amount: float, *arguments: object) -> subprocess.CompletedProcess:
    """The program where ``amount`` bytes are available, killed after some writings of its journal."""
    env = {**os.environ, "FREE": str(amount)}
    return program.python(FREE + KILLED, saves, *arguments, cwd=folder, env=env)


def test_resume_keeps_the_memory_limit_that_the_fit_began_with(tmp_path, table):
    command = ["fit", table, "--no-report", "-k", 4, "--no-scale", "--scores", "none"]
    whole = free(tmp_path, -1, 200e6, *command, "-o", "whole")
    assert "exit 0" in whole.stdout, whole.stderr
    assert free(tmp_path, 30, 200e6, *command, "-o", "broken").returncode == -9
    resumed = free(tmp_path, -1, 130e6, *command, "-o", "broken", "--resume")
    assert "exit 0" in resumed.stdout, resumed.stderr
    assert "another fit" not in resumed.stderr
    a, b = ritz.load(tmp_path / "whole/model.ritz"), ritz.load(tmp_path / "broken/model.ritz")
    assert np.array_equal(a.components_, b.components_)
    assert a.memory is b.memory is None
    amount = [int(done.stdout.split("read ")[1]) for done in (whole, resumed)]
    assert amount[1] < 0.95 * amount[0], amount


@pytest.mark.parametrize(
    ("amount", "options"), [(90e6, []), (200e6, ["--memory", "110MB"])], ids=["too little left", "said otherwise"]
)
def test_a_journal_of_another_memory_limit_is_not_used(tmp_path, table, amount, options):
    command = ["fit", table, "--no-report", "-k", 4, "--no-scale", "--scores", "none"]
    assert free(tmp_path, 8, 200e6, *command).returncode == -9
    done = free(tmp_path, -1, amount, *command, "--resume", *options)
    assert "exit 0" in done.stdout, done.stderr
    assert "belongs to another fit (different memory); starting from the beginning" in done.stderr


def test_a_journal_of_other_words_about_the_table_is_not_used(tmp_path):
    lines = ["a,b,c", *(f"{i % 17},{i % 13}.5,{i % 7}" for i in range(700_000))]
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    command = ["fit", "t.csv", "--no-report", "-k", 2, "--no-scale", "--memory", "45MB", "--scores", "none"]
    assert killed(tmp_path, 2, *command).returncode == -9
    done = killed(tmp_path, -1, *command, "--resume", "--na", "999")
    assert "exit 0" in done.stdout, done.stderr
    assert "belongs to another fit (different --na: not given before, 999 now" in done.stderr


def test_a_journal_is_of_a_fit_and_not_of_how_much_is_said(tmp_path, table):
    command = ["fit", table, "--memory", "100MB", "-k", 4, "--no-scale", "--scores", "none", "-o", "broken"]
    assert killed(tmp_path, 8, *command).returncode == -9
    done = killed(tmp_path, 4, *command, "--resume", "-q", "--method", "pca")
    assert done.returncode == -9
    assert done.stderr == ""
    done = killed(tmp_path, 4, *command, "--resume", "--json", "--no-report")
    assert done.returncode == -9
    assert "another fit" not in done.stderr
    done = killed(tmp_path, -1, *command, "--resume", "-q", "--tol", "1e-8", "--seed", 7, "-k", 3)
    words = "different --seed: 0 before, 7 now, --tol: 1e-06 before, 1e-08 now, -k: 4 before, 3 now"
    assert f"belongs to another fit ({words}); starting from the beginning" in done.stderr
    assert "exit 0" in done.stdout


def test_a_new_fit_does_not_take_up_an_old_journal(tmp_path, table):
    command = ["fit", table, "--no-report", "--memory", LIMIT, "-k", 4, "--no-scale"]
    assert killed(tmp_path, 5, *command).returncode == -9
    done = killed(tmp_path, -1, *command)
    assert "exit 0" in done.stdout
    assert "--resume goes on with it, this one starts anew" in done.stderr


def test_a_full_disk_leaves_nothing_behind(tmp_path, table):
    def small_files() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))

    done = ritz_fit(tmp_path, "fit", table, "--memory", LIMIT, "-k", 5, "--no-scale", ok=False, preexec_fn=small_files)
    assert done.returncode == 4, done.stderr
    assert "error:" in done.stderr
    assert "nothing was left behind" in done.stderr
    assert not (tmp_path / "big_ritz").exists()


def test_transform_streams_and_is_atomic(tmp_path, table):
    ritz_fit(tmp_path, "fit", table, "--memory", LIMIT, "-k", 3, "--scores", "none", "--no-scale")
    model = tmp_path / "big_ritz/model.ritz"
    done = ritz_fit(tmp_path, "transform", model, table, "-o", "z.npy", "--memory", LIMIT)
    assert "100,000 rows, 3 components: z.npy" in done.stderr
    assert np.allclose(np.load(tmp_path / "z.npy"), ritz.load(model).transform(ritz.read(table)), atol=1e-8)
    (tmp_path / "cut.npy").write_bytes(table.read_bytes()[:10_000_000])
    done = ritz_fit(tmp_path, "transform", model, "cut.npy", "-o", "y.csv", ok=False)
    assert done.returncode == 4
    assert "cut" in done.stderr
    assert not (tmp_path / "y.csv").exists()
    done = ritz_fit(tmp_path, "transform", model, table, "-o", "y.xls", ok=False)
    assert "a file name that ends in one of .parquet" in done.stderr
    assert not [p for p in os.listdir(tmp_path) if p.endswith(".tmp")]


def test_merge_of_shards(tmp_path):
    X = rows(3000, 6)
    for i, part in enumerate(np.split(X, [100, 2000])):
        np.save(tmp_path / f"s{i}.npy", part)
        ritz_fit(tmp_path, "fit", f"s{i}.npy", "-k", 3, "--no-scale", "-q")
    shards = [f"s{i}_ritz/model.ritz" for i in range(3)]
    done = ritz_fit(tmp_path, "merge", *shards, "-o", "all.ritz", "--json")
    assert json.loads(done.stdout)["rows"] == 3000
    agree(ritz.load(tmp_path / "all.ritz"), ritz.PCA(3).fit(X))
    done = ritz_fit(tmp_path, "merge", shards[0], "s0.npy", "-o", "no.ritz", ok=False)
    assert done.returncode == 4
    assert "to be a Ritz file" in done.stderr


INTERRUPTED = KILLED.replace("signal.SIGKILL", "signal.SIGINT")


def test_ctrl_c_leaves_nothing_half_written_and_says_how_to_go_on(tmp_path, table):
    command = ["fit", table, "--no-report", "--memory", LIMIT, "-k", 4, "--no-scale"]
    done = program.python(INTERRUPTED, 20, *command, cwd=tmp_path)
    assert "exit 130" in done.stdout, done.stderr
    assert "run again with --resume" in done.stderr
    assert "Traceback" not in done.stderr
    assert [p.name for p in (tmp_path / "big_ritz").iterdir()] == [".journal"]


def damaged_parquet(path: Path) -> None:
    columns = {f"x{j}": column for j, column in enumerate(rows(20_000, 20).T)}
    pq.write_table(pa.table(columns), path, row_group_size=5000)
    data = bytearray(path.read_bytes())
    middle = len(data) // 2
    data[middle : middle + 200_000] = bytes(200_000)
    path.write_bytes(data)


def cut_parquet(path: Path) -> None:
    pq.write_table(pa.table({"a": np.arange(1e5), "b": np.arange(1e5) % 7}), path)
    path.write_bytes(path.read_bytes()[:-100])


def turning_csv(path: Path) -> None:
    lines = ["a,b", *(f"{i % 17},{i % 13}.5" for i in range(60_000)), "3,broken", *("4,2.5" for _ in range(1000))]
    path.write_text("\n".join(lines) + "\n")


def cut_csv(path: Path) -> None:
    lines = ["a,b,c", *(f"{i % 17},{i % 13}.5,{i % 7}" for i in range(60_000))]
    path.write_text("\n".join(lines)[:-3])


def cut_npy(path: Path) -> None:
    np.save(path, rows(20_000, 20))
    path.write_bytes(path.read_bytes()[:-1000])


@pytest.mark.parametrize(
    ("name", "make", "code", "words"),
    [
        ("t.parquet", damaged_parquet, 4, "expected an undamaged Parquet file"),
        ("t.parquet", cut_parquet, 4, "Parquet"),
        ("t.csv", cut_csv, 4, "line 60001|line 60,001"),
        ("t.npy", cut_npy, 4, "the file was cut off"),
    ],
    ids=["damaged parquet", "cut parquet", "cut csv", "cut npy"],
)
def test_damaged_files_give_an_error_and_no_result(tmp_path, name, make, code, words):
    make(tmp_path / name)
    done = ritz_fit(tmp_path, "fit", name, "--memory", "30MB", "-k", 2, "--no-scale", ok=False)
    assert done.returncode == code, done.stderr
    assert re.search(words, done.stderr), done.stderr
    assert "hint:" in done.stderr
    assert os.listdir(tmp_path) == [name]


def test_a_column_that_turns_to_text_halfway_is_named(tmp_path):
    turning_csv(tmp_path / "t.csv")
    done = ritz_fit(tmp_path, "fit", "t.csv", "--memory", "30MB", "-k", 1, "--no-scale", ok=False)
    assert done.returncode == 3
    assert "1 other value in 'b': 'broken' in line 60002" in done.stderr
    done = ritz_fit(tmp_path, "fit", "t.csv", "--memory", "30MB", "-k", 1, "--no-scale", "--drop", "b")
    assert "left out, as you said: 'b'" in done.stderr


def test_missing_values_are_filled_on_request(tmp_path):
    X = rows(400, 6)
    X[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
    np.save(tmp_path / "t.npy", X)
    done = ritz_fit(tmp_path, "fit", "t.npy", "-k", 2, "--no-scale", ok=False)
    assert done.returncode == 3
    assert "the table contains NaN" in done.stderr
    ritz_fit(tmp_path, "fit", "t.npy", "-k", 2, "--no-scale", "--missing", "regularized")
    truth = ritz.PCA(2, missing="regularized").fit(X)
    agree(ritz.load(tmp_path / "t_ritz/model.ritz"), truth)
    done = ritz_fit(tmp_path, "fit", "t.npy", "--missing", "regularised", ok=False)
    assert "did you mean regularized?" in done.stderr


def test_columns_are_found_by_name_in_any_order(tmp_path):
    import pandas as pd

    frame = pd.DataFrame(rows(200, 5), columns=list("abcde"))
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame[list("edcba")].to_csv(tmp_path / "turned.csv", index=False)
    ritz_fit(tmp_path, "fit", "t.csv", "-k", 2, "-q")
    for name in ("t", "turned"):
        ritz_fit(tmp_path, "transform", "t_ritz/model.ritz", f"{name}.csv", "-o", f"{name}.npy")
    assert np.allclose(np.load(tmp_path / "t.npy"), np.load(tmp_path / "turned.npy"))
    frame[list("edcb")].to_csv(tmp_path / "less.csv", index=False)
    done = ritz_fit(tmp_path, "transform", "t_ritz/model.ritz", "less.csv", "-o", "x.npy", ok=False)
    assert "without 'a'" in done.stderr
    assert done.returncode == 3


def test_long_rows_are_iterated_on_the_rows_when_memory_is_short(tmp_path):
    X = rows(200, 30_000).astype(np.float32)
    np.save(tmp_path / "t.npy", X)
    model = ritz.PCA(3, memory="100MB").fit(ritz.read(tmp_path / "t.npy", memory=8_000_000))
    assert model.plan_.side == "rows"
    truth = ritz.PCA(3).fit(X.astype(np.float64))
    assert np.allclose(model.explained_variance_, truth.explained_variance_, rtol=1e-5)


def test_nothing_is_written_over_the_data(tmp_path):
    np.savetxt(tmp_path / "t.csv", rows(60, 3), delimiter=",", header="a,b,c", comments="")
    before = (tmp_path / "t.csv").read_bytes()
    ritz_fit(tmp_path, "fit", "t.csv", "-k", 2, "-q")
    done = ritz_fit(tmp_path, "transform", "t_ritz/model.ritz", "t.csv", "-o", "t.csv", ok=False)
    assert done.returncode == 4
    assert "another file for the scores" in done.stderr
    done = ritz_fit(tmp_path, "merge", "t_ritz/model.ritz", "t_ritz/model.ritz", "-o", "t.csv", ok=False)
    assert "expected t.csv to be absent" in done.stderr
    assert (tmp_path / "t.csv").read_bytes() == before


def test_transform_reads_as_the_fit_did_and_can_be_told_otherwise(tmp_path):
    (tmp_path / "fit.csv").write_text('x,y\n"1,5","2,25"\n"2,5","4,125"\n"4,0","5,75"\n"3,1","1,1"\n')
    (tmp_path / "new.csv").write_text('x,y\n"1,500","2,250"\n"2,500","4,125"\n')
    ritz_fit(tmp_path, "fit", "fit.csv", "-k", 1, "-q")
    done = ritz_fit(tmp_path, "transform", "fit_ritz/model.ritz", "new.csv", "-o", "z.npy")
    assert "the decimal mark is a comma" in done.stderr  # 1,500 alone may be anything
    told = ritz_fit(tmp_path, "transform", "fit_ritz/model.ritz", "new.csv", "-o", "t.npy", "--thousands", ",")
    assert "commas between thousands taken out" in told.stderr
    assert "numbers far from those of the fit: 'x' from 1500 to 2500, in the fit from 1.5 to 4" in told.stderr
    ritz_fit(tmp_path, "transform", "fit_ritz/model.ritz", "fit.csv", "-o", "y.npy")
    assert np.allclose(np.load(tmp_path / "z.npy"), np.load(tmp_path / "y.npy")[:2])


@pytest.mark.parametrize("scale", ["--scale", "--no-scale", None])
def test_sparse_files(tmp_path, scale):
    import scipy.sparse as sp

    X = sp.random_array((300, 20), density=0.1, rng=np.random.default_rng(0), format="csr")
    sp.save_npz(tmp_path / "s.npz", X)
    ritz_fit(tmp_path, "fit", "s.npz", "-k", 2, *([scale] if scale else []))
    model = ritz.load(tmp_path / "s_ritz/model.ritz")
    agree(model, ritz.PCA(2, scale=model.scale).fit(X.toarray()))


def test_gaps_need_no_count_and_a_row_may_lack_a_whole_column(tmp_path):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((100, 2)) @ rng.standard_normal((2, 5)) + 0.1 * rng.standard_normal((100, 5))
    X[rng.random(X.shape) < 0.1] = np.nan
    text = "a,b,c,d,e\n" + "\n".join(",".join("" if np.isnan(v) else f"{v:.6f}" for v in row) for row in X)
    (tmp_path / "t.csv").write_text(text + "\n")
    ritz_fit(tmp_path, "fit", "t.csv", "--missing", "regularized", "-q")
    ritz_fit(tmp_path, "fit", "t.csv", "--missing", "regularized", "-k", "gcv", "-q")
    (tmp_path / "new.csv").write_text("a,b,c,d,e\n,0.5,1,2,3\n")
    ritz_fit(tmp_path, "transform", "t_ritz/model.ritz", "new.csv", "-o", "z.npy")
    model = ritz.load(tmp_path / "t_ritz/model.ritz")
    import pandas as pd

    row = pd.DataFrame([[np.nan, 0.5, 1.0, 2.0, 3.0]], columns=list("abcde"))
    assert np.allclose(np.load(tmp_path / "z.npy"), model.transform(row))
