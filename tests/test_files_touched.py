"""A small fit takes a short road: how many files of Ritz have a function that is called on the way."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

#: A second fit in a process of its own: modules are loaded, and no other test has loaded an engine's library.
PROGRAM = """
import json, os, sys
import numpy as np, pandas as pd
import ritz

home = os.path.dirname(ritz.__file__) + os.sep  # the checkout itself may be in a folder of that name
rng = np.random.default_rng(0)
rows = rng.standard_normal((150, 4))
answers = pd.DataFrame({f"q{j}": rng.choice(list("abcd"), 300) for j in range(6)})


def touched(fit):
    files = set()

    def look(frame, event, _):
        place = frame.f_code.co_filename
        if event == "call" and place.startswith(home) and frame.f_code.co_name != "<module>":
            files.add(place[len(home) :].replace(os.sep, "/"))

    fit()
    sys.setprofile(look)
    try:
        fit()
    finally:
        sys.setprofile(None)
    return sorted(files)


print(json.dumps([touched(lambda: ritz.PCA(2).fit(rows)), touched(lambda: ritz.MCA().fit(answers))]))
"""

#: Files at most. A table of categories is looked at, coded and encoded in five files before it is solved.
PCA_FILES, MCA_FILES = 21, 31


@pytest.fixture(scope="module")
def touched() -> tuple[list[str], list[str]]:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    pca, mca = json.loads(done.stdout)
    return pca, mca


def test_a_small_fit_runs_through_few_files(touched) -> None:
    pca, mca = touched
    assert len(pca) <= PCA_FILES, pca
    assert len(mca) <= MCA_FILES, mca
    inner = [file for file in pca if file.startswith(("operators/", "spectral/"))]
    assert len(inner) <= 8, inner


def test_a_plain_array_never_asks_for_lanes_frames_engines_or_other_routes(touched) -> None:
    never = {"_core/threads.py", "_core/blas.py", "_core/lazy.py", "data/engines/__init__.py", "spectral/constants.py"}
    assert not never & set(touched[0])


def test_a_pandas_frame_asks_neither_engines_nor_formats_nor_scikit_learn(touched) -> None:
    never = ("data/engines/", "data/formats/", "data/column_checks.py", "_core/progress.py", "rank/", "methods/rank/")
    assert not [file for file in touched[1] if file.startswith(never)]


def test_the_count_sees_the_files_without_which_nothing_is_fitted(touched) -> None:
    pca, mca = touched
    assert {"spectral/solve.py", "spectral/plan.py", "operators/framed.py", "data/passes/statistics.py"} <= set(pca)
    assert {"data/encode/encoder.py", "spectral/solve.py"} <= set(mca)
