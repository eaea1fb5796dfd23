"""What all tests share: seeds, the folder of reference data, and which tests this machine can run."""

from __future__ import annotations

import gc
import os
import shutil
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import hypothesis
import numpy as np
import pytest

from ritz._core.device import devices

ROOT = Path(__file__).resolve().parent.parent
SHARED = Path(os.environ.get("RITZ_SHARED", ROOT.parent / "shared")) / "data"
# Triton reads this when it is loaded: kernels run by its interpreter where there is no graphics processor.
if shutil.which("nvidia-smi") is None:
    os.environ.setdefault("TRITON_INTERPRET", "1")
# Where the generators of a test module stood when it had been imported.
STARTS: dict[str, list[tuple[np.random.Generator, Any]]] = {}
# Folders that one process runs: a cluster, a Spark session; and a few long tests, which would be left for the end.
TOGETHER = ("cluster", "spark", "bench", "core")
# Files of few and long tests, which go with the bench: whole files are run in the order of how many tests they have.
LONG = ("test_plan_memory", "test_faults_readers", "test_faults_files", "test_proof_pays", "test_lean")
BROWSERS = ("chromium", "chromium-browser", "google-chrome")

# The same examples on every run and machine, so a failure in one place is a failure everywhere; never timed.
hypothesis.settings.register_profile("ritz", deadline=None, derandomize=True, max_examples=16, database=None)
# RITZ_HYPOTHESIS=explore looks for new examples instead.
hypothesis.settings.register_profile("explore", deadline=None, max_examples=500, print_blob=True)
hypothesis.settings.load_profile(os.environ.get("RITZ_HYPOTHESIS", "ritz"))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give tests that ask for `seed` one seed, or as many as RITZ_SEEDS says."""
    if "seed" in metafunc.fixturenames:
        metafunc.parametrize("seed", range(int(os.environ.get("RITZ_SEEDS", "1"))))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what needs something that this machine does not have."""
    gpu = any(item.get_closest_marker("gpu") for item in items) and bool(devices())
    browser = any(shutil.which(name) for name in BROWSERS)
    for item in items:
        if isinstance(item, pytest.Function):
            _remember(item.module)
        if item.get_closest_marker("shared") and not SHARED.is_dir():
            item.add_marker(pytest.mark.skip(reason="the folder of reference data is not here"))
        if item.get_closest_marker("chromium") and not browser:
            item.add_marker(pytest.mark.skip(reason="no headless browser is installed"))
        if item.get_closest_marker("gpu") and not gpu:
            item.add_marker(pytest.mark.skip(reason="torch sees no graphics processor"))


def pytest_collectstart() -> None:
    """Look for no garbage among what is being collected."""
    gc.disable()


def pytest_collection_finish(session: pytest.Session) -> None:
    """Keep what was collected, a million objects, out of every later search for garbage, which begins now."""
    gc.collect()
    gc.freeze()
    gc.enable()


def _remember(module: ModuleType) -> None:
    if module.__name__ not in STARTS:
        held = [value for value in vars(module).values() if isinstance(value, np.random.Generator)]
        STARTS[module.__name__] = [(one, one.bit_generator.state) for one in held]


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Let a generator that a module holds begin anew: what a test draws does not depend on the tests before it.

    A fixture of a wider scope makes a generator of its own.
    """
    if isinstance(item, pytest.Function):
        for generator, state in STARTS.get(item.module.__name__, ()):
            generator.bit_generator.state = state


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """With ``--dist loadgroup``, give whole files to a process: what a file, a cluster or a browser needs is made once.

    Marks would do for groups, but xdist writes them into names that pytest 9.2 does not read.
    """
    if config.getvalue("dist") != "loadgroup":
        return None
    from xdist.scheduler import LoadScopeScheduling

    class ByFile(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return unit(nodeid)

    return ByFile(config, log)


def unit(nodeid: str) -> str:
    """The tests that one process runs: a file, or what shares something larger."""
    path = Path(nodeid.split("::")[0])
    folder = path.parts[1] if len(path.parts) > 2 else ""
    if folder in TOGETHER:
        return folder
    if path.stem in LONG:
        return "bench"
    return "browser" if path.stem.endswith("browser") else str(path)


@pytest.fixture(autouse=True)
def _routes_are_planned_anew() -> Any:
    """Routes are kept by shape: those of a test that sets other constants are not for the next one."""
    yield
    if (method := sys.modules.get("ritz.methods.method")) is not None:
        method.routed.cache_clear()


@pytest.fixture(scope="session")
def shared() -> Path:
    """Return the folder of reference data; only for tests marked ``shared``."""
    return SHARED


@pytest.fixture(scope="session")
def root() -> Path:
    """Return the top of the repository."""
    return ROOT
