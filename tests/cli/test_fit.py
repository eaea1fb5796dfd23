"""``ritz fit`` as a user meets it: files, summary, exit codes, streams."""

from __future__ import annotations

import csv
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.datasets import load_wine
from typer.testing import CliRunner

import ritz.data.tables.read
from ritz.cli.commands.fit import COMPONENTS, SOLVER
from ritz.cli.main import app
from ritz.rank.rule import NAMES
from ritz.spectral.plan import SOLVERS
from tests import program as started

WINE = Path(ritz.__file__).parent / "data" / "samples" / "wine.csv"


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_COLOR", "1")

    def call(*args, code=0, page=False):
        if args[0] == "fit" and not page:  # the page has tests of its own
            args = ("fit", "--no-report", *args[1:])
        result = CliRunner().invoke(app, [str(a) for a in args])
        assert result.exit_code == code, (result.stdout, result.stderr, result.exception)
        return result

    return call


def rows(path):
    with Path(path).open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def numbers(path, prefix="PC"):
    table = rows(path)
    heads = [h for h in table[0] if h.startswith(prefix)]
    return np.array([[float(r[h]) for h in heads] for r in table])


def truth(scale):
    X = load_wine().data
    Y = X - X.mean(axis=0)
    Y = Y / Y.std(axis=0, ddof=1) if scale else Y
    return Y, np.linalg.svd(Y, compute_uv=False) ** 2 / (len(X) - 1)


def test_wine_is_standardised_and_written(run):
    result = run("fit", WINE, page=True)
    assert result.stdout == ""
    for words in (
        "wine.csv: 178 rows, 13 of 14 columns, all 13 components",
        "cultivar (categories: 3",
        "36.2 %",
    ):
        assert words in result.stderr
    assert "standardised: the standard deviations of the columns differ 2,530-fold" in result.stderr
    assert "no component was missed" in result.stderr
    assert sorted(os.listdir("wine_ritz")) == [
        "components.csv",
        "manifest.json",
        "model.ritz",
        "report.html",
        "scores.csv",
    ]
    Y, variances = truth(scale=True)
    scores, parts = numbers("wine_ritz/scores.csv"), rows("wine_ritz/components.csv")
    assert [r["column"] for r in parts][:2] == ["alcohol", "malic_acid"]
    np.testing.assert_allclose(scores.var(axis=0, ddof=1), variances, rtol=1e-10)
    V = numbers("wine_ritz/components.csv")
    np.testing.assert_allclose(Y @ V, scores, atol=1e-10)
    mean, scale = (np.array([float(r[name]) for r in parts]) for name in ("mean", "scale"))
    np.testing.assert_allclose((load_wine().data - mean) / scale @ V, scores, atol=1e-10)


@pytest.mark.parametrize(
    ("options", "scaled"),
    [
        ([], True),
        (["--scale"], True),
        (["--no-scale"], False),
        (["--scale", "auto"], True),
        (["--scale=no"], False),
        (["--scale", "yes"], True),
    ],
)
def test_scaling_options(run, options, scaled):
    facts = json.loads(run("fit", *options, WINE, "--json").stdout)
    assert facts["scaled"] is scaled
    np.testing.assert_allclose([c["variance"] for c in facts["components"]], truth(scaled)[1], rtol=1e-9)


def test_unscaled_wine_is_one_column(run):
    run("fit", WINE, "--no-scale", "-k", "1", "-o", "out")
    parts = {r["column"]: float(r["PC1"]) for r in rows("out/components.csv")}
    assert abs(parts["proline"]) > 0.999


def test_json_is_all_that_stdout_gets(run):
    result = run("fit", WINE, "-k", "2", "--json")
    facts = json.loads(result.stdout)
    assert result.stderr == ""
    assert facts["rows"] == 178
    assert facts["folder"] == "wine_ritz"
    assert facts["set_aside"] == [{"column": "cultivar", "reason": "categories: 3 different values"}]
    assert [c["name"] for c in facts["components"]] == ["PC1", "PC2"]
    first = facts["components"][0]
    assert first["certified"]
    assert 0 <= first["variance_error"] < 1e-9
    assert 0 <= first["angle_error"] < 1e-9
    assert abs(first["variance"] - truth(True)[1][0]) <= first["variance_error"] + 1e-13


def test_quiet_says_nothing(run):
    result = run("fit", WINE, "--quiet")
    assert result.stdout == result.stderr == ""


def test_k_as_share_count_rule_and_all(run):
    def k(*options):
        return len(json.loads(run("fit", WINE, "--json", *options).stdout)["components"])

    share = np.cumsum(truth(True)[1]) / 13
    assert k("-k", "3") == 3
    assert k("-k", "0.9") == k("--components", "90%") == int(np.argmax(share >= 0.9)) + 1
    assert k("-k", "all") == 13
    assert k("-k", "kaiser") == 3


def test_default_is_all_up_to_twenty(run):
    np.save("wide.npy", np.random.default_rng(0).normal(size=(60, 40)))
    result = run("fit", "wide.npy")
    assert "20 of 40 components" in result.stderr
    assert numbers("wide_ritz/scores.csv").shape == (60, 20)


def test_few_rows_have_few_directions(run):
    rng = np.random.default_rng(0)
    np.save("few.npy", rng.normal(size=(5, 8)))
    for options in ([], ["-k", "all"]):
        result = run("fit", "few.npy", *options)
        assert "all 4 directions that 5 rows have" in result.stderr
        assert numbers("few_ritz/scores.csv").shape == (5, 4)
    np.save("two.npy", rng.normal(size=(2, 2)))
    assert "the one direction that 2 rows have" in run("fit", "two.npy").stderr
    assert "-k all computes all 40" in _wide(run)


def _wide(run):
    np.save("wide.npy", np.random.default_rng(0).normal(size=(60, 40)))
    return run("fit", "wide.npy").stderr


@pytest.mark.parametrize("rule", [*NAMES, "0.9"])
def test_a_rule_says_why(run, rule):
    choice = json.loads(run("fit", WINE, "-k", rule, "--json").stdout)["choice"]
    assert choice["rule"] == ("fraction" if rule == "0.9" else rule)
    assert "component" in choice["why"]
    assert any(mark in choice["why"] for mark in ":;")
    assert json.loads(Path("wine_ritz/manifest.json").read_text())["choice"] == choice
    words = " ".join(run("fit", WINE, "-k", rule).stderr.split())
    assert choice["why"] in words


def test_no_component_kept_is_a_sentence(run):
    np.save("noise.npy", np.random.default_rng(0).normal(size=(400, 30)))
    result = run("fit", "noise.npy", "-k", "broken-stick")
    assert "No component is kept" in result.stderr
    assert "by broken-stick: 0 components: component 1 holds" in result.stderr
    assert "cumulated" not in result.stderr


def test_identifiers_travel_with_the_scores(run):
    pq.write_table(
        pa.table({"sample_id": [f"s{i}" for i in range(6)], "x": [1.0, 2, 4, 3, 9, 7], "y": [2, 1, 5, 3, 8, 9]}),
        "t.parquet",
    )
    run("fit", "t.parquet")
    table = rows("t_ritz/scores.csv")
    assert list(table[0]) == ["row", "sample_id", "PC1", "PC2"]
    assert [r["sample_id"] for r in table] == [f"s{i}" for i in range(6)]


def test_header_of_numbers(run):
    body = "5,7.5,1\n2,8,4\n3,3,3\n9,1,4\n"
    Path("t.csv").write_text("0,1,2\n" + body)
    result = run("fit", "t.csv")
    assert "t.csv: 4 rows, 3 columns" in result.stderr
    assert "numbers the columns, so it is the header" in result.stderr
    assert "5 rows" in run("fit", "t.csv", "--no-header").stderr
    Path("t.csv").write_text("0.5,1,2\n" + body)
    assert "(--header takes it as names)" in " ".join(run("fit", "t.csv").stderr.split())
    run("fit", "t.csv", "--header")
    assert [r["column"] for r in rows("t_ritz/components.csv")] == ["0.5", "1", "2"]


def test_second_run_is_identical_and_foreign_files_are_safe(run):
    run("fit", WINE, page=True)
    first = {p.name: p.read_bytes() for p in Path("wine_ritz").iterdir()}
    run("fit", WINE, page=True)
    assert {p.name: p.read_bytes() for p in Path("wine_ritz").iterdir()} == first
    Path("mine").mkdir()
    Path("mine/thesis.tex").write_text("x")
    result = run("fit", WINE, "-o", "mine", code=4)
    assert "other files: thesis.tex" in result.stderr
    assert os.listdir("mine") == ["thesis.tex"]
    run("fit", WINE, "-o", "mine", "--force")
    assert "thesis.tex" in os.listdir("mine")


def test_results_of_another_table_are_replaced_aloud(run):
    np.save("x.npy", np.random.default_rng(0).normal(size=(9, 3)))
    run("fit", "x.npy", "-o", "out")
    assert "replaced" not in run("fit", "x.npy", "-o", "out").stderr
    assert "note: replaced the results of x.npy\n" in run("fit", WINE, "-o", "out").stderr
    result = run("fit", "x.npy", "-o", "out", "--json")
    assert json.loads(result.stdout)["replaced"] == "wine.csv"
    assert run("fit", WINE, "-o", "out", "--quiet").stderr == ""
    Path("out/notes.txt").write_text("mine")
    assert "other files: notes.txt" in run("fit", WINE, "-o", "out", code=4).stderr


BAD = {
    "missing file": (None, 4, "error: t.csv does not exist"),
    "empty": ("", 4, "an empty file"),
    "ragged": ("a,b\n1,2\n3\n4,5\n", 4, "Expected 2 columns"),
    "no numbers": (
        "a,b\n2024-01-01,2024-02-01\n2024-01-02,2024-02-05\n2024-01-03,2024-02-02\n",
        3,
        "none of them numeric",
    ),
    "missing values": ("a,b\n1,2\n,3\n4,5\n7,7\n", 3, "1 of 2 columns: column 'a' (1)"),
    "infinite": ("a,b\n1,2\ninf,3\n4,5\n", 3, "contains infinity"),
    "one row": ("a,b\n1,2\n", 3, "received 1 row\nhint: give more rows\n"),
    "constant": ("a,b\n1,2\n1,2\n", 3, "received only constant columns: 'a' (always 1)"),
    "line": (
        "a,b\n1,2\n\n,3\n4,5\n",
        3,
        "first at line 4 column 'a'\nhint: --missing drop leaves out those rows, or let",
    ),
    "page": ("<html><p>", 4, "error: expected a table"),
}


@pytest.mark.parametrize(("text", "code", "words"), BAD.values(), ids=BAD.keys())
def test_bad_tables(run, text, code, words):
    if text is not None:
        Path("t.csv").write_text(text)
    result = run("fit", "t.csv", code=code)
    assert words in result.stderr
    assert "hint: " in result.stderr
    assert "Traceback" not in result.stderr
    assert not Path("t_ritz").exists()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["-k", "99"], "error: -k 99 must be between 1 and 13; received 99 for 178 rows and 13 columns\nhint: -k all"),
        (["-k", "nonsense"], "received 'nonsense'\nhint: these rules work"),
        (["-k", "0,9"], "hint: write 0.9"),
        (["-k", "1.5"], "received '1.5'"),
        (["--solver", "magic"], "magic"),
        (["--tol", "-1"], "error: --tol must"),
        (["--seed", "-1"], "--seed"),
        (["--scal"], "--scale"),
        (["--seed", "x"], "--seed"),
    ],
)
def test_wrong_usage(run, options, words):
    result = run("fit", WINE, *options, code=2)
    assert words in result.stderr
    assert "Traceback" not in result.stderr
    assert not Path("wine_ritz").exists()


def test_debug_shows_the_traceback(run):
    assert "Traceback" in run("fit", "none.csv", "--debug", code=4).stderr


def test_every_solver_in_the_help_works(run):
    words = SOLVER.help.rstrip(".").replace(" or ", ", ").split(", ")
    assert words == ["auto", *SOLVERS]
    for solver in words:
        facts = json.loads(run("fit", WINE, "-k", "2", "--solver", solver, "--json").stdout)
        assert facts["components"][0]["variance"] == pytest.approx(truth(True)[1][0], rel=1e-3)


# --- the program as a process -----------------------------------------------------------------------------


def program(*args, **settings):
    command = [sys.executable, "-c", "from ritz.cli.main import main; main()", *map(str, args)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, **settings)


def test_version_and_help_are_light():
    assert program("--version").stdout == f"ritz {ritz.__version__}\n"
    code = (
        "import sys\n"
        "from ritz.cli.main import app\n"
        "app(['--help'], standalone_mode=False)\n"
        "heavy = {'sklearn', 'scipy', 'pandas', 'pyarrow', 'polars', 'matplotlib', 'pydantic'} & set(sys.modules)\n"
        "print(sorted(heavy))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.returncode == 0
    assert "fit" in result.stdout
    assert result.stdout.endswith("[]\n")


def test_pipes_get_no_colour_and_codes_reach_the_shell(tmp_path):
    result = started.ritz("fit", "--no-report", WINE, cwd=tmp_path)
    assert result.returncode == 0
    assert result.stdout == ""
    assert "\x1b" not in result.stderr
    assert program("fit", "none.csv", cwd=tmp_path).returncode == 4
    assert started.ritz("fit", cwd=tmp_path).returncode == 2


def on_terminal(*args, cwd, **settings):
    """What the program writes to a terminal."""
    pytest.importorskip("pty")
    env = {k: v for k, v in os.environ.items() if k != "NO_COLOR"} | {"TERM": "xterm-256color"} | settings
    return started.on_terminal(*args, cwd=cwd, env=env)[1]


@pytest.mark.parametrize(
    "args", [["fit", "--no-report", WINE], ["fit", "none.csv"], ["fit", "--nonsense"], ["fit", "--help"]]
)
def test_no_color_means_no_escape_codes(tmp_path, args):
    assert "\x1b" in on_terminal(*args, cwd=tmp_path)
    assert "\x1b" not in on_terminal(*args, cwd=tmp_path, NO_COLOR="1")


def test_lines_do_not_end_in_spaces(tmp_path):
    text = on_terminal("fit", "--no-report", WINE, cwd=tmp_path)
    for piece in (started.ritz("fit", "--no-report", WINE, cwd=tmp_path).stderr, re.sub(r"\x1b\[[0-9;]*m", "", text)):
        assert "PC13" in piece
        assert not [line for line in piece.splitlines() if line != line.rstrip()]


def test_a_terminal_without_unicode_gets_question_marks(tmp_path):
    result = program("fit", "--no-report", WINE, cwd=tmp_path, env={**os.environ, "PYTHONIOENCODING": "ascii"})
    assert result.returncode == 0
    assert "? variance" in result.stderr


def test_every_rule_in_the_help_exists():
    listed = COMPONENTS.help.partition("rule: ")[2].partition(";")[0].rstrip(".").split(", ")
    assert sorted(listed) == sorted(NAMES)
