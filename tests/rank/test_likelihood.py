"""AIC and BIC: published numbers, and a bound that no continuation of a spectrum can break."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ritz._core.errors import ParameterError
from ritz.rank import criterion, likelihood


def plain(values, n, d, k, price, *, centered=True):
    """The criterion, written down."""
    lam = values / n
    with np.errstate(divide="ignore"):
        logs = d * math.log(2 * math.pi) + np.log(lam[:k]).sum() + (d - k) * np.log(lam[k:].mean()) + d
    return n * logs + price * (d * k - k * (k - 1) / 2 + 1 + (d if centered else 0))


def test_iris_and_decathlon(iris, decathlon):
    np.testing.assert_allclose(criterion("bic").curve(iris).value[1:], [986.435, 870.053, 829.978], atol=1e-3)
    assert criterion("bic").decide(iris) == 3
    assert criterion("bic").decide(decathlon) == 1
    assert criterion("aic").decide(decathlon) == 4
    assert criterion("bic").why(iris) == "3 components: BIC is 829.98 there, 870.05 with 2"


@pytest.mark.parametrize("centered", [True, False])
@pytest.mark.parametrize(("name", "price"), [("aic", 2.0), ("bic", math.log(90))])
def test_the_curve_is_the_formula_and_the_answer_its_minimum(name, price, centered, make):
    rng = np.random.default_rng(0)
    for d in (1, 2, 5, 40, 128):
        values = np.sort(rng.gamma(1.0, size=d) + 0.1)[::-1] * 90
        seen = make.of_values(values, n=90, centered=centered)
        expected = [plain(values, 90, d, k, price, centered=centered) for k in range(d)]
        np.testing.assert_allclose(criterion(name).curve(seen).value, expected, rtol=1e-12)
        assert criterion(name).decide(seen) == int(np.argmin(expected))


def test_collinear_columns_stop_at_the_rank(make, digits):
    assert criterion("aic").decide(digits) == criterion("bic").decide(digits) == 61
    assert "to rounding nothing is left after them" in criterion("bic").why(digits)
    assert criterion("bic").curve(digits).value[-1] == -np.inf


def test_too_few_rows_are_refused_even_late(make):
    seen = make.of_data(np.random.default_rng(0).standard_normal((20, 20)))
    for name in ("aic", "bic"):
        with pytest.raises(ParameterError, match=f"'{name}' is only supported if n_samples >= n_features"):
            criterion(name).decide(seen)


# ------------------------------------------------------------------------------------------- the horizon


def test_the_answer_is_the_overall_minimum_up_to_129_columns():
    assert likelihood.horizon(129) >= 128
    assert likelihood.horizon(4000) == 1000


@pytest.mark.parametrize("name", ["aic", "bic"])
@pytest.mark.parametrize(
    ("n", "d", "spikes"),
    [(2000, 300, [20.0] * 5), (400, 300, [60.0] * 3), (900, 300, []), (4000, 200, [3.0] * 100)],
)
def test_beyond_129_columns_it_is_the_overall_minimum_of_signals_in_noise(name, n, d, spikes, make):
    seen = make.spiked(n, d, spikes)
    assert criterion(name).decide(seen) == int(np.argmin(criterion(name).curve(seen).value))


def test_one_repeated_column_does_not_drag_the_answer_to_the_last(make):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((3000, 400))
    X[:, :4] *= 6.0
    X[:, -1] = X[:, -2]
    seen = make.of_data(X)
    assert criterion("bic").curve(seen).value.argmin() == 399
    assert criterion("bic").decide(seen) == 4
    assert criterion("bic").why(seen).endswith("lower again only with 399, beyond the next 128")


def test_signals_in_noise_are_found_from_a_small_part_of_the_spectrum(make):
    seen = make.spiked(2000, 400, [20.0] * 5)
    for name, enough in (("bic", 10), ("aic", 60)):
        assert criterion(name).decide(make.part(seen, 5)) is None or name == "bic"
        assert criterion(name).decide(make.part(seen, enough)) == 5


# --------------------------------------------------------------------------------------------- the bound


def continuations(rng, last, rest, count, number):
    """Sequences of `count` values in [0, last] with sum `rest`; corners of that set, and mixtures."""
    corners = []
    for full in range(count + 1):
        for width in {1, 2, max(1, (count - full) // 2), count - full}:
            size = (rest - full * last) / max(width, 1)
            if 0 < width <= count - full and 0 <= size <= last:
                corners.append(np.r_[np.full(full, last), np.full(width, size), np.zeros(count - full - width)])
    corners = np.array(corners) if corners else np.full((1, count), rest / count)
    yield from corners
    for _ in range(number):
        yield rng.dirichlet(np.full(len(corners), rng.choice([0.05, 1.0]))) @ corners


def prefixes(rng, d):
    """A decreasing spectrum of total 1, and how much of it is shown."""
    kind = rng.integers(4)
    values = (
        rng.gamma(rng.choice([0.3, 1.0, 30.0]), size=d)
        if kind < 2
        else 1.0 + 0.05 * rng.random(d) + (np.arange(d) < rng.integers(0, d)) * rng.choice([0.5, 3.0, 30.0])
        if kind == 2
        else rng.uniform(0.3, 1.0) ** np.arange(d)
    )
    values = np.sort(values)[::-1]
    return values / values.sum(), int(rng.integers(1, d))


@pytest.mark.parametrize("name", ["aic", "bic"])
@pytest.mark.parametrize(("near", "d"), [(1, 7), (2, 9), (3, 12), (128, 6), (4, 40)])
def test_a_decision_holds_for_every_way_the_spectrum_can_go_on(name, near, d, make, monkeypatch):
    monkeypatch.setattr(likelihood, "NEAR", near)
    rng, rule, decided = np.random.default_rng(d), criterion(name), 0
    for _ in range(150):
        values, m = prefixes(rng, d)
        n = int(rng.choice([d + 1, 3 * d, 50 * d]))
        early = rule.decide(make.of_values(values[:m], n=n, d=d, r=d, total=1.0, complete=False))
        if early is None:
            continue
        decided += 1
        rest = values[m:].sum()
        for tail in continuations(rng, values[m - 1], rest, d - m, 20):
            whole = make.of_values(np.r_[values[:m], tail], n=n, total=1.0)
            assert rule.decide(whole) == early, (values, m, tail, n)
    assert decided > 10


@pytest.mark.parametrize("name", ["aic", "bic"])
def test_the_bound_is_below_every_continuation_and_reached_by_one(name, make):
    rng, rule, d = np.random.default_rng(1), criterion(name), 12
    for _ in range(60):
        values, m = prefixes(rng, d)
        n = int(rng.integers(d + 1, 900))
        price = 2.0 if name == "aic" else math.log(n)
        constant = plain(values, n, d, 0, price) - n * d * math.log(1.0 / d)
        seen = make.of_values(values[:m], n=n, d=d, r=d, total=1.0, complete=False)
        logs = np.append(0.0, np.cumsum(np.log(values[:m])))
        rest, last = values[m:].sum(), values[m - 1]
        for k in range(m + 1, d):
            bound = rule._beyond(seen, logs, k)
            reached = math.inf
            for tail in continuations(rng, last, rest, d - m, 10):
                for at in range(m + 1, k + 1):
                    # As the rule does, a rest of nothing counts as minus infinity.
                    left = tail[at - m :].sum()
                    value = plain(np.r_[values[:m], tail], n, d, at, price) if left > 1e-12 else -math.inf
                    reached = min(reached, value - constant)
            assert bound <= reached + 1e-9 * n * d
            if math.isfinite(bound) and bound > -1e5:
                assert reached == pytest.approx(bound, rel=1e-6, abs=1e-3)


def test_a_rest_lost_in_rounding_waits_for_the_whole_spectrum(make):
    # 1e-13 of the total is left: by subtraction it is known to about 10 %, which can move the minimum.
    values = np.r_[1.0, 1e-14 * np.arange(10, 0, -1)]
    seen = make.of_values(values, n=10_000)
    assert criterion("bic").decide(seen) is not None
    assert criterion("bic").decide(make.part(seen, 4)) is None
