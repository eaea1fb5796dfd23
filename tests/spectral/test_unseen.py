"""What a Lanczos chain says of eigenvectors that it has not seen."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ritz.spectral.solvers.deflated import SOON, _searched
from ritz.spectral.solvers.strand import Strand
from ritz.spectral.solvers.unseen import Unseen, least_level, needed, shown

SPECTRA = {
    "slow": 1 / np.arange(1, 801) ** 0.7,
    "gap": np.append(np.full(40, 5.0), np.full(760, 0.1)),
    "flat": np.linspace(1.0, 0.0, 800),
    "far": np.append(1.0, np.linspace(0.3, 0.0, 799)),
}


def chain_of(values: np.ndarray, g: np.ndarray, products: int) -> tuple[list[tuple[float, float]], float]:
    chain = Strand(lambda v: values * v, len(values), products, np.float64)
    length = chain.begin(g)
    columns = []
    for _ in range(products):
        chain.extend()
        columns.append(chain.last())
    return columns, length


@pytest.mark.parametrize("name", SPECTRA)
@pytest.mark.parametrize("products", [1, 2, 5, 9])
def test_an_eigenvector_has_no_larger_part_in_the_start(name, products, seed):
    """Of every eigenvalue above the Ritz values, whatever the start: here one with hardly any of the leading ones."""
    values, rng = SPECTRA[name], np.random.default_rng(seed)
    g = rng.standard_normal(800) * np.where(np.arange(800) < 3, 1e-9, 1.0)
    columns, length = chain_of(values, g, products)
    top = np.linalg.eigvalsh(
        np.diag([a for a, _ in columns]) + sum(np.diag([b for _, b in columns[:-1]], s) for s in (1, -1))
    )[-1]
    for i in np.flatnonzero(values > top * (1 + 1e-9)):
        same = values == values[i]  # in a space of eigenvectors the start has one
        total = shown(columns, 0.0, float(values[i]))
        assert np.sum(g[same] ** 2) <= length**2 / total * (1 + 1e-6)
    assert shown(columns, 0.0, float(top) * (1 - 1e-9)) == 0


@pytest.mark.parametrize("name", SPECTRA)
@pytest.mark.parametrize("products", [2, 4, 7])
def test_a_level_is_wrong_as_rarely_as_it_says(name, products, seed):
    """Failure 0.2: seen less often in 300 draws."""
    values, rng, wrong = SPECTRA[name], np.random.default_rng(seed), 0
    for _ in range(300):
        columns, length = chain_of(values, rng.standard_normal(800), products)
        level = least_level(columns, 0.0, needed(length, 0.2), 0.0, 100.0, 40)
        wrong += level < values[0]
    assert wrong <= 0.2 * 300 + 3 * math.sqrt(300 * 0.2 * 0.8)


def test_decaying_eigenvalues_take_fewer_products_than_a_full_interval(seed):
    """As many as Chebyshev's polynomials ask for where they fill it, T_q ≥ ‖g‖/η."""
    made, g = {}, np.random.default_rng(seed).standard_normal(800)
    for name, values in {"flat": np.linspace(1, 0, 800), "decays": 1 / np.arange(1, 801)}.items():
        columns, length = chain_of(values, g, 40)
        seen = Unseen(1.3, 0.0)
        made[name] = next(q for q, column in enumerate(columns, 1) if seen.add(*column) >= needed(length, 1e-9))
    growth = math.acosh(2 * 1.3 - 1)
    assert made["decays"] + 8 <= made["flat"]
    assert abs(made["flat"] - math.log(2 * length / 1.25e-9) / growth) <= 3


def test_rounding_costs_what_it_may_hide():
    """A next vector as short as rounding is long shows no more than one as long as that."""
    exact, rounded = Unseen(1.0, 0.0), Unseen(1.0, 1e-3)
    assert exact.add(0.1, 1e-12) > 1e23
    assert 1e5 < rounded.add(0.1, 1e-12) < 1e6
    assert Unseen(1.0, 1e-3).add(0.9995, 1.0) == 0  # a Ritz value that rounding may have lowered
    assert Unseen(1.0, 0.0).add(0.1, 0.0) > 1e100


@pytest.mark.parametrize("failure", [0.2, 1e-3, 1e-9])
def test_what_is_asked_for_is_the_chance_of_a_normal_number(failure):
    """|uᵀg| ≤ ‖g‖/√asked has the probability that is allowed, and hardly less."""
    asked = needed(7.0, failure)
    chance = math.erf(7.0 / math.sqrt(asked) / math.sqrt(2))
    assert 0.98 * failure <= chance <= failure * (1 + 1e-12)


def test_a_level_is_the_least_that_shows_what_is_asked_for(seed):
    columns, length = chain_of(SPECTRA["far"], np.random.default_rng(seed).standard_normal(800), 12)
    asked = needed(length, 1e-6)
    level = least_level(columns, 1e-9, asked, 0.0, 64.0, 30)
    assert shown(columns, 1e-9, level) >= asked > shown(columns, 1e-9, level * (1 - 1e-6))


@pytest.mark.parametrize(("rooms", "patient"), [((0.5, 0.6, 0.9), 50), ((0.99, 1.2, 2.0), 0)])
def test_a_search_that_does_not_show_what_it_was_to_is_above_all_the_same(rooms, patient, seed):
    """Where it ends without the first of its rooms: by its length, or by the second one."""
    values = np.append(1.0, np.linspace(0.98, 0.0, 799))
    chain = Strand(lambda v: values * v, 800, 40, np.float64)
    length = chain.begin(np.random.default_rng(seed).standard_normal(800))
    asked = needed(length, 1e-9)
    ceiling, _ = _searched(chain, list(rooms), asked, 40, patient, 1e-12, 3.0)
    columns, _ = chain_of(values, np.random.default_rng(seed).standard_normal(800), chain.m)
    assert ceiling >= 1.0
    assert shown(columns, 1e-12, ceiling) >= asked


@pytest.mark.parametrize(("near", "soon"), [(1.8, True), (1.3, False)])
def test_a_search_longer_than_half_of_what_it_follows_goes_on_only_where_it_is_nearly_done(near, soon, seed):
    """Eleven products show that nothing is above 2; twelve show 1.8, eighteen 1.3."""
    values, rooms, asked = SPECTRA["flat"], [near, 2.0, 2.0], 1e16
    g, made = np.random.default_rng(seed).standard_normal(800), []
    for patient in (0, 20, 40):
        chain = Strand(lambda v: values * v, 800, 40, np.float64)
        chain.begin(g)
        ceiling, missed = _searched(chain, rooms, asked, 40, patient, 1e-12, 3.0)
        columns, _ = chain_of(values, g, chain.m)
        assert not missed
        assert 1.0 <= ceiling <= 2.0
        assert shown(columns, 1e-12, ceiling) >= asked
        made.append((chain.m, ceiling <= near))
    late, half, whole = made
    assert half == (whole if soon else late)
    assert not late[1]
    assert whole[1]
    assert (whole[0] - late[0] <= SOON) == soon
