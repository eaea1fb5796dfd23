"""Spectra for the tests of the rules: of data, of given eigenvalues, whole or cut."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from ritz.rank.material import Material
from ritz.rank.sample import LinearSample
from ritz.spectral.problem import Seen

# Correlation matrix of the ten events of the decathlon data, 41 athletes (FactoMineR 2.7).
DECATHLON = [
    3.27190553796568, 1.73713102312438, 1.40491668214964, 1.05685035325947, 0.68477353485989,
    0.599268680805833, 0.451235263803241, 0.396876585740906, 0.214814853172235, 0.182227485118716,
]  # fmt: skip


def of_values(values, *, n, d=None, centered=True, total=None, r=None, complete=True) -> Seen:
    values = np.asarray(values, dtype=float)
    d = len(values) if d is None else d
    return Seen(
        values=values,
        total=float(values.sum()) if total is None else total,
        n=n,
        d=d,
        r=len(values) if r is None else r,
        centered=centered,
        complete=complete,
    )


def of_data(X, *, centered=True) -> Seen:
    n, d = X.shape
    A = X - X.mean(axis=0) if centered else X
    r = min(n - centered, d)
    values = np.linalg.svd(A, compute_uv=False)[:r] ** 2
    return of_values(values, n=n, d=d, centered=centered, total=float(np.sum(A**2)))


def part(seen: Seen, m: int) -> Seen:
    complete = seen.complete and m >= seen.r
    return of_values(
        seen.values[:m],
        n=seen.n,
        d=seen.d,
        centered=seen.centered,
        total=seen.total,
        r=seen.r,
        complete=complete,
    )


def times(seen: Seen, c: float) -> Seen:
    return of_values(
        seen.values * c,
        n=seen.n,
        d=seen.d,
        centered=seen.centered,
        total=seen.total * c,
        r=seen.r,
        complete=seen.complete,
    )


def spiked(n: int, d: int, spikes: list[float], seed: int = 0) -> Seen:
    """Noise of variance 1 in d columns, the first of which have more."""
    scale = np.ones(d)
    scale[: len(spikes)] = np.sqrt(spikes)
    return of_data(np.random.default_rng(seed).standard_normal((n, d)) * scale)


@pytest.fixture(scope="session")
def make() -> SimpleNamespace:
    """Return the makers of spectra."""
    return SimpleNamespace(
        of_values=of_values, of_data=of_data, part=part, times=times, spiked=spiked, planted=planted, handed=handed
    )


@pytest.fixture(scope="session")
def decathlon() -> Seen:
    return of_values(np.array(DECATHLON) * 40.0, n=41)


@pytest.fixture(scope="session")
def iris() -> Seen:
    from sklearn.datasets import load_iris

    return of_data(load_iris().data)


@pytest.fixture(scope="session")
def digits() -> Seen:
    from sklearn.datasets import load_digits

    return of_data(load_digits().data)


GOLDEN = Path(__file__).resolve().parent.parent / "golden" / "rank"


@pytest.fixture(scope="session")
def events() -> np.ndarray:
    """Ten events of 41 athletes."""
    return np.loadtxt(GOLDEN / "decathlon.csv", delimiter=",", skiprows=1)


@pytest.fixture(scope="session")
def harman() -> np.ndarray:
    """Correlations of 24 psychological tests, 145 children."""
    return np.genfromtxt(GOLDEN / "harman74.csv", delimiter=",", skip_header=1)[:, 1:]


@pytest.fixture(scope="session")
def golden() -> dict:
    """Results of R packages."""
    return json.loads((GOLDEN / "r.json").read_text(encoding="utf-8"))


def planted(n, d, q, *, strength=15.0, noise="white", seed=0) -> np.ndarray:
    """q components of variances between one and two times ``strength`` times what noise alone could show."""
    rng = np.random.default_rng(seed)
    V = np.linalg.qr(rng.standard_normal((d, q)))[0]
    spread = np.exp(rng.uniform(np.log(0.2), np.log(5.0), d)) if noise == "uneven" else np.ones(d)
    E = rng.standard_normal((n, d)) * np.sqrt(spread / spread.mean())
    size = np.sqrt(strength * np.sqrt(d / n) * np.linspace(2.0, 1.0, q))
    return (rng.standard_normal((n, q)) * size) @ V.T + E + 3.0 * rng.standard_normal(d)


def handed(X, *, center=True, scale=False, seed=0) -> Material:
    """What PCA hands to rules, from first principles."""
    A = X - X.mean(axis=0) if center else X
    A = A / X.std(axis=0, ddof=1) if scale else A
    n = len(X) - center
    return Material(
        seed=seed,
        columns=lambda: (A**2).sum(axis=0) / n,
        matrix=lambda: A.T @ A / n,
        sample=lambda most: LinearSample(X[:most], len(X), center=center, scale=scale),
    )
