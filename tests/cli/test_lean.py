"""What commands load: placing a few rows needs no scikit-learn, nor the scipy.stats and pandas that it asks for.

Modules are looked at, not seconds: what a command takes is in ``python -m bench.start``.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import ritz
from tests import program

WINE = Path(ritz.__file__).parent / "data" / "samples" / "wine.csv"
#: Inside of libraries that a command must not load; a module that waits until it is used has none of them.
HEAVY = (
    "scipy.stats._stats_py", "scipy.optimize._optimize", "scipy.sparse.linalg", "numpy.polynomial._polybase", "sklearn",
    "joblib", "pydantic", "pandas.core", "matplotlib", "dask", "torch", "numba",
)  # fmt: skip
COMMANDS = {
    "transform": "transform wine_ritz wine.csv -o new.csv",
    "inspect": "inspect wine_ritz",
    "plan": "plan wine.csv",
    "export": "export wine_ritz --to csv -o axes.csv",
    "verify": "verify wine_ritz wine.csv",
}
CODE = """
import json, sys
from ritz.cli.entry import main
found = []
for line in sys.argv[1:]:
    sys.argv = ["ritz", *line.split()]
    try:
        main()
    except SystemExit as end:
        found.append([end.code or 0, sorted(sys.modules)])
print(json.dumps(found))
"""


def fresh(folder, *lines):
    """In a new Python, one command after the other: the exit code of each, and the modules loaded at its end."""
    done = subprocess.run([sys.executable, "-c", CODE, *lines], cwd=folder, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("lean")
    shutil.copy(WINE, place / "wine.csv")
    [(code, _)] = fresh(place, "fit wine.csv -k 2 --drop cultivar --no-report")
    assert code == 0
    return place


def test_commands_load_no_library_that_they_do_not_use(folder):
    """All in one Python: what none of them loads, each of them does not load."""
    for name, (code, modules) in zip(COMMANDS, fresh(folder, *COMMANDS.values()), strict=True):
        assert (name, code) == (name, 0)
        assert (name, [module for module in HEAVY if module in modules]) == (name, [])


def test_what_waits_is_there_when_it_is_used():
    code = (
        "from ritz.cli.terminal.lean import load_less; load_less()\n"
        "import sklearn.base, pyarrow as pa, sys\n"
        "eval('pa.array([1.0])')\n"
        "assert 'pandas' not in sys.modules\n"
        "import pandas, scipy.stats\n"
        "print(pandas.DataFrame({'x': [1, 2]})['x'].sum(), round(float(scipy.stats.norm.cdf(0)), 2))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["3", "0.5"]


def test_the_program_writes_the_same_with_and_without(folder):
    """Categories come back in frames of pandas, and a report takes statistics: both must work where they wait."""
    fit = "fit wine.csv --method famd -k 2 -o"
    assert fresh(folder, f"{fit} lean")[0][0] == 0
    assert program.ritz(*fit.split(), "plain", cwd=folder).returncode == 0
    for name in ("components.csv", "scores.csv"):
        assert (folder / "lean" / name).read_bytes() == (folder / "plain" / name).read_bytes()


ESTIMATORS = """
import pickle
from sklearn.base import clone
from sklearn.utils import get_tags
one = ritz.PCA(2, scale=True, solver="svd")
print(repr(one), one.get_params(), clone(one).get_params() == one.get_params(), one.set_params(tol=0.5).tol)
print(get_tags(one).transformer_tags, get_tags(ritz.MCA(2)).input_tags)
one = one.fit([[1.0, 2.0], [2.0, 1.0], [4.0, 4.0]])
print(pickle.loads(pickle.dumps(one)).transform([[3.0, 3.0]]), one.get_feature_names_out())
for wrong in (lambda: ritz.PCA().transform([[1.0]]), lambda: one.set_params(nothing=1)):
    try:
        wrong()
    except Exception as error:
        print(type(error).__mro__, error)
"""


def test_estimators_of_the_program_are_as_those_that_scikit_learn_knows():
    own = "from ritz.cli.terminal.lean import load_less; load_less(); import ritz, sys; ritz.PCA\n"
    own += "assert 'sklearn' not in sys.modules"
    told = [
        subprocess.run(
            [sys.executable, "-c", f"{first}\n{ESTIMATORS}"], capture_output=True, text=True, check=True
        ).stdout
        for first in ("import ritz", own)
    ]
    assert len(told[0].splitlines()) > 4
    assert told[0] == told[1]


def test_a_module_that_waits_is_whole_for_every_thread():
    code = (
        "from ritz.cli.terminal.lean import load_less; load_less()\n"
        "import numpy.polynomial as late, sys, threading\n"
        "assert 'numpy.polynomial._polybase' not in sys.modules\n"
        "start, found = threading.Barrier(8), []\n"
        "def read():\n"
        "    start.wait()\n"
        "    found.append(late.set_default_printstyle.__name__)\n"  # the last name that the module makes
        "threads = [threading.Thread(target=read) for _ in range(8)]\n"
        "[one.start() for one in threads]; [one.join() for one in threads]\n"
        "print(len(found))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["8"]
