"""Tables and models that the tests of the report share, and a browser."""

from __future__ import annotations

import shutil
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import ritz
from tests.held import Held
from tests.report.tab import Tab

WINE = Path(ritz.__file__).parent / "data/samples/wine.csv"


@pytest.fixture(scope="session")
def wine() -> tuple[Any, Any]:
    """178 wines as a table of a file, and their PCA with all components."""
    table = ritz.read(WINE)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ritz.ColumnsSetAside)
        return ritz.PCA(scale=True).fit(table), table


@pytest.fixture(scope="session")
def wine_page(wine: tuple[Any, Any]) -> str:
    """The report of the wines."""
    text: str = ritz.report.render(*wine)
    return text


@pytest.fixture(scope="session")
def counts() -> tuple[Any, Any]:
    """A contingency table of jobs and ways to work, and its CA."""
    names = ["Wife", "Alternating", "Husband", "Jointly"]
    rows = {"Laundry": [156, 14, 2, 4], "Meals": [124, 20, 5, 4], "Dinner": [77, 11, 7, 13], "Tidying": [53, 11, 1, 57],
            "Dishes": [32, 24, 4, 53], "Driving": [10, 51, 75, 3], "Repairs": [0, 3, 160, 2],
            "Holidays": [0, 1, 6, 153]}  # fmt: skip
    X = pd.DataFrame.from_dict(rows, orient="index", columns=names)
    return ritz.CA().fit(X), X


@pytest.fixture(scope="session")
def answers() -> tuple[Any, Any]:
    """Answers to four questions, and their MCA."""
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 2, 120)
    frame = {f"q{j}": np.where(rng.random(120) < 0.8, kind, rng.integers(0, 3, 120)).astype(str) for j in range(4)}
    X = pd.DataFrame({name: ["answer " + value for value in values] for name, values in frame.items()})
    return ritz.MCA(3).fit(X), X


@pytest.fixture(scope="session")
def ring() -> tuple[Any, Any]:
    """Points on a ring, and their kernel PCA."""
    rng = np.random.default_rng(0)
    angle = rng.uniform(0, 2 * np.pi, 80)
    X = np.column_stack([np.cos(angle), np.sin(angle)]) * 5 + rng.normal(size=(80, 2)) * 0.3
    return ritz.KernelPCA(4, kernel="rbf", gamma=0.1).fit(X), X


@pytest.fixture(scope="session")
def squares() -> tuple[Any, Any]:
    """Small pictures of 5×5 pixels, and their PCA."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3)) @ rng.normal(size=(3, 25)) + 0.1 * rng.normal(size=(60, 25))
    return ritz.PCA(3).fit(X), X


@pytest.fixture(scope="session")
def sheet() -> tuple[Any, Any]:
    """A sheet that is rolled up, and the map of its neighbourhoods."""
    rng = np.random.default_rng(0)
    t, height = rng.uniform(0, 4, 150), rng.uniform(0, 2, 150)
    X = np.column_stack([np.cos(t), np.sin(t), height])
    return ritz.LaplacianEigenmaps(2).fit(X), X


EVIL = "</script><script>window.hacked = 1</script>"


@pytest.fixture(scope="session")
def spoken() -> tuple[Any, Any]:
    """Documents about one of three subjects each, and their LSI."""
    rng = np.random.default_rng(0)
    subjects = [[f"{name}{i}" for i in range(10)] for name in ("wine", "wing", "court")]
    common = [f"common{i:02}" for i in range(30)]
    texts = [" ".join([*rng.choice(subjects[i % 3], 8), *rng.choice(common, 12)]) for i in range(60)]
    return ritz.LSI(8).fit(texts), texts


@pytest.fixture(scope="session")
def hostile() -> tuple[Any, Any]:
    """Names that would do harm, or break a page, if they were not text."""
    rng = np.random.default_rng(0)
    names = [EVIL, "\"quoted\" and 'single'", "x" * 10_000, "שלום עולם", "🍷 wine & <b>bold</b>", "plain"]
    rows = [EVIL + str(i) if i % 3 else "‮reversed " + "🙂" * (i + 1) for i in range(29)] + ["y" * 10_000]
    X = pd.DataFrame(rng.normal(size=(30, 6)) @ rng.normal(size=(6, 6)), columns=names, index=rows)
    return ritz.PCA(3, scale=True).fit(X), X


@contextmanager
def opened() -> Iterator[Any]:
    """A page of the browser that is installed, without a window."""
    api = pytest.importorskip("playwright.sync_api", reason="the package playwright is not installed")
    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if path is None:
        pytest.skip("no headless browser is installed")
    with api.sync_playwright() as play:
        held = play.chromium.launch(
            executable_path=path, args=["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
        )
        yield Tab(held)
        held.close()


BROWSER = Held(opened)


@pytest.fixture
def tab() -> Any:
    """Return the page that tests in a row share."""
    return BROWSER.get()


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """End the browser where the next test needs none."""
    if nextitem is None or nextitem.get_closest_marker("chromium") is None:
        BROWSER.close()


@pytest.fixture(scope="session")
def others() -> dict[str, tuple[Any, Any]]:
    """Models whose reports have parts of their own: two tables, a tensor, a network, parts without signs."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(60, 2)) @ rng.normal(size=(2, 6)) + 0.3 * rng.normal(size=(60, 6)))
    X.columns = [f"a measurement with a long name {j}" for j in range(6)]
    T = rng.normal(size=(14, 5, 4))
    bits = (X > 0).astype(float)
    return {
        "two tables": (ritz.PLS(2, target=list(X.columns[4:])).fit(X), X),
        "tensor": (ritz.HOSVD(2).fit(T), T),
        "network": (ritz.RBM(2, random_state=0).fit(bits), bits),
        "parts": (ritz.NMF(2).fit(X.abs()), X.abs()),
    }
