"""Files that are damaged, hostile or newer are refused in words; a full disk leaves nothing behind."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

import ritz
from ritz._core.container import read_container, write_container
from ritz.testing.fuzz import FEW, fuzz
from ritz.testing.fuzz_models import fitted, numbers

LINUX = pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is measured in /proc")


@LINUX
def test_five_hundred_mutated_files():
    found = fuzz(FEW, seed=7)
    assert found.files == FEW
    assert not found.findings, "\n".join(found.findings[:10])
    assert found.refused > FEW / 2
    assert found.loaded > 10  # some changes leave a model: their use is looked at too
    assert len(found.kinds) > 15
    assert found.peak < 200_000_000


FAULTS = {
    "raise ValueError('x')": "refused then ValueError",
    "bytes(300_000_000)": "refused then MemoryError",
    "raise ritz.FileError('no')": "without words",
    "import os; os.kill(os.getpid(), 11)": "ended with status -11",
}


@LINUX
def test_the_fuzzing_finds_faults():
    """A loader with a fault in it, a different one for every file: what the process sees must show."""
    code = f"""
        import sys, ritz
        import ritz.testing.fuzz as fuzz
        inner, limit, begun = fuzz.load, fuzz.Worker.limit, []
        def load(path, kernel=None):
            if begun:
                exec(begun.pop(0))
            return inner(path, kernel=kernel)
        fuzz.load, fuzz.SEEDS = load, ("pca pending",)
        fuzz.Worker.limit = lambda self: (limit(self), begun.extend({list(FAULTS)!r}))
        sys.exit(fuzz.work(0, {len(FAULTS)}, 0, lambda line: print(line, flush=True)))
    """
    run = [sys.executable, "-c", textwrap.dedent(code)]
    done = subprocess.run(run, capture_output=True, text=True, check=False)
    said = [*done.stdout.splitlines(), f"ended with status {done.returncode}"]
    assert len(said) == len(FAULTS), done.stderr
    for line, words in zip(said, FAULTS.values(), strict=True):
        assert words in line


# ------------------------------------------------------------------------------------------- newer and other files


def changed(path, **header) -> None:
    held, arrays = read_container(path)
    write_container(path, "model", {**held, **header}, arrays)


def test_a_newer_format_is_told_from_damage(tmp_path):
    path = tmp_path / "m.ritz"
    ritz.save(fitted("pca")[0], path)
    changed(path, format=2, ritz="9.1")
    with pytest.raises(ritz.FileError, match=r"format 1 or older.*format 2, written by ritz 9\.1") as caught:
        ritz.load(path)
    assert "install a newer release" in caught.value.hint
    data = bytearray(path.read_bytes())
    data[8] = 2
    path.write_bytes(bytes(data))
    with pytest.raises(ritz.FileError, match=r"container version 1.*received version 2"):
        ritz.load(path)


def test_pipes_devices_and_folders_are_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", "/dev/zero", tmp_path):
        with pytest.raises(ritz.FileError):
            ritz.load(path)


@pytest.mark.parametrize(
    ("place", "value", "words"),
    [
        (("components_",), {"dict": {}}, "components_"),
        (("components_",), {"array": "fitted.mean_"}, "components_"),
        (("n_components_",), 7, "components_"),
        (("n_features_in_",), 4, "components_|feature"),
        (("transform",), 1, "fitted name"),
        (("__class__",), "x", "fitted name"),
        (("certificate_",), None, "certificate_"),
        (("plan_",), {"record": "Moments", "fields": {}}, "Moments"),
        (("_dtype",), {"dtype": "O"}, "dtype"),
        (("_library",), "os", "library"),
        (("feature_names_in_",), {"names": ["a"]}, "feature_names_in_"),
    ],
)
def test_values_that_do_not_belong_together(place, value, words, tmp_path):
    path = tmp_path / "m.ritz"
    ritz.save(fitted("pca frame scaled")[0], path)
    header, arrays = read_container(path)
    header["fitted"]["dict"][place[0]] = value
    write_container(path, "model", header, arrays)
    with pytest.raises(ritz.FileError, match=words) as caught:
        ritz.load(path)
    assert caught.value.hint


GRID = np.random.default_rng(3).random((24, 4))
TENSOR = np.random.default_rng(3).random((6, 4, 3))


@pytest.mark.parametrize(
    ("model", "table", "place", "value", "words"),
    [
        (ritz.MDS(2), GRID, "_directions", None, "rows to compare with"),
        (ritz.MDS(2, metric="manhattan"), GRID, "_compared", None, "rows to compare with"),
        (ritz.MDS(2, metric="manhattan"), GRID, "_anchors", None, "places no rows"),
        (ritz.Isomap(2), GRID, "rows_", {"array": "fitted.embedding_"}, "rows_"),
        (ritz.LLE(2, standardize=True), GRID, "spread_", "odd", "spread_"),
        (ritz.LLE(2, standardize=True), GRID, "spread_", None, "spreads that are not told"),
        (ritz.CP(2), TENSOR, "weights_", None, "weights"),
        (ritz.CP(2), TENSOR, "_turn", {"array": "fitted.embedding_"}, "axes of another space"),
    ],
)
def test_maps_and_tensors_whose_parts_do_not_belong_together(model, table, place, value, words, tmp_path):
    path = tmp_path / "m.ritz"
    ritz.save(model.fit(table), path)
    assert ritz.load(path).transform(table[:3]).shape == (3, 2)
    header, arrays = read_container(path)
    assert place in header["fitted"]["dict"]
    header["fitted"]["dict"][place] = value
    write_container(path, "model", header, arrays)
    with pytest.raises(ritz.FileError, match=words) as caught:
        ritz.load(path)
    assert caught.value.hint


def test_places_in_sparse_rows_are_checked(tmp_path):
    path = tmp_path / "m.ritz"
    ritz.save(fitted("kernel rbf sparse")[0], path)
    header, arrays = read_container(path)
    name = next(name for name in arrays if name.endswith("X_fit_.indices"))
    for wrong in (10**6, -1):
        spoilt = arrays[name].copy()
        spoilt[3] = wrong
        write_container(path, "model", header, {**arrays, name: spoilt})
        with pytest.raises(ritz.FileError, match="csr"):
            ritz.load(path)


def test_unknown_parameters_are_refused(tmp_path):
    path = tmp_path / "m.ritz"
    ritz.save(fitted("svd")[0], path)
    header, arrays = read_container(path)
    header["parameters"]["dict"]["command"] = "rm"
    write_container(path, "model", header, arrays)
    with pytest.raises(ritz.FileError, match="command"):
        ritz.load(path)


# ------------------------------------------------------------------------------------------- writing


def test_a_full_disk_leaves_nothing_behind(tmp_path):
    """A limit on the size of files stands for a disk that is full."""
    ritz.save(ritz.PCA(1).fit(numbers()), tmp_path / "old.ritz")
    before = (tmp_path / "old.ritz").read_bytes()
    code = """
        import resource, signal, sys, numpy as np, ritz
        model = ritz.PCA(3, mergeable=True).fit(np.random.default_rng(0).standard_normal((300, 200)))
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))
        for name, write in (("old.ritz", ritz.save), ("new.ritz", ritz.save), ("c.csv", ritz.export)):
            try:
                write(model, sys.argv[1] + "/" + name)
            except ritz.FileError as error:
                print(type(error).__name__, error.received, "|", error.hint)
    """
    run = [sys.executable, "-c", textwrap.dedent(code), str(tmp_path)]
    done = subprocess.run(run, capture_output=True, text=True, check=True)
    assert done.stdout.count("FileError a full disk") == 2, done.stdout + done.stderr
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["c.csv", "old.ritz"]
    assert (tmp_path / "old.ritz").read_bytes() == before


def test_loading_takes_no_more_than_the_file(tmp_path):
    import tracemalloc

    X = np.random.default_rng(0).standard_normal((4000, 200))
    ritz.save(ritz.KernelPCA(2, kernel="linear").fit(X), tmp_path / "m.ritz")
    size = (tmp_path / "m.ritz").stat().st_size
    tracemalloc.start()
    ritz.load(tmp_path / "m.ritz")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2 * size + 10e6
