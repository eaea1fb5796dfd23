"""The check of certificates catches planted lies, one of each sort, and passes an honest answer."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from ritz.testing.certify.cases import ROUTES, SOLVERS, Case, cases
from ritz.testing.certify.checks import Finding, Subject, examine, ratios
from ritz.testing.certify.problem import BOUNDED, CHANGES
from ritz.testing.certify.run import Record, run_case, summarise
from ritz.testing.truth import true_spectrum

pytest.importorskip("flint")
CASE = Case("dense", "geometric", 40, 6, seed=1, cond=1e3, k=4)
U = 2.0**-53


def honest(case: Case = CASE, solver: str = "svd") -> Subject:
    """A fitted model made by hand: a direct decomposition with Weyl's bound for a certificate."""
    X = case.data()
    A = X - X.mean(axis=0) if case.center else X
    _, s, Vt = np.linalg.svd(A, full_matrices=False)
    total = float(np.sum(s**2))
    s, Vt = s[: case.k], Vt[: case.k]
    values, error = s**2, 100 * U * s[0] ** 2
    certificate = SimpleNamespace(
        values=values,
        lower=values - error,
        upper=values + error,
        labelled=np.ones(s.size, dtype=bool),
        residuals=np.full(s.size, 1e-15 * values[0]),
        angles=np.full(s.size, 1e-8),
        clusters=((0, min(1, s.size - 1), 1e-8),),
        ceiling=np.inf,
        total=total,
        orthogonality=1e-15,
        unit_roundoff=U,
        converged=True,
        probability=1.0,
        kind="certified",
        verify=lambda X, weights: True,
    )
    n = X.shape[0]
    model = SimpleNamespace(
        mean_=X.mean(axis=0),
        certificate_=certificate,
        components_=Vt,
        singular_values_=s,
        explained_variance_=values / (n - 1),
        explained_variance_ratio_=values / total,
        plan_=SimpleNamespace(solver=solver),
        tol=0.0,
    )
    return Subject(case, solver, model, X, case.truth())


def checks(subject: Subject) -> set[str]:
    return {finding.check for finding in examine(subject)}


@pytest.mark.parametrize("k", [1, 4, 6])
def test_an_honest_answer_passes(k):
    subject = honest(replace(CASE, k=k))
    assert examine(subject) == []
    assert np.all(ratios(subject) >= 1)


def lie_shift(c, m):
    c.lower[1], c.upper[1] = c.upper[1] * 1.001, c.upper[1] * 1.002
    c.values[1] = c.lower[1]


def lie_by_one_ulp_of_the_largest(c, m):
    c.lower[2] = c.values[2] + 300 * U * c.values[0]
    c.upper[2] = c.lower[2] + U


def lie_label(c, m):
    for name in ("values", "lower", "upper"):
        getattr(c, name)[:3] = getattr(c, name)[1:]  # the first was missed


def lie_width(c, m):
    c.upper[0] += 2e-13 * c.values[0]


def lie_residual(c, m):
    turn = np.array([[np.cos(1e-6), np.sin(1e-6)], [-np.sin(1e-6), np.cos(1e-6)]])
    m.components_ = np.vstack([turn @ m.components_[:2], m.components_[2:]])


def lie_tol(c, m):
    c.residuals[:] = 1e-2 * c.values[0]
    m.components_ = m.components_ + 1e-4 * np.eye(*m.components_.shape)


def lie_angle(c, m):
    c.angles[3] = 0.0
    m.components_ = m.components_.copy()
    m.components_[3] += 1e-14 * m.components_[2]


def lie_cluster(c, m):
    c.clusters = ((0, 1, 0.0),)
    c.angles[:] = np.nan
    m.components_ = m.components_.copy()
    m.components_[1] += 1e-14 * m.components_[2]


def lie_ceiling(c, m):
    c.ceiling = c.values[-1] * 1e-3


def lie_verify(c, m):
    c.verify = lambda X, weights: False


def lie_direct(c, m):
    m.singular_values_ = m.singular_values_ + 200 * U


def lie_total(c, m):
    c.total *= 1 + 1e-12


def lie_basis(c, m):
    m.components_ = m.components_.copy()
    m.components_[0] *= 1 + 1e-9


def lie_names(c, m):
    m.explained_variance_ = m.explained_variance_ * 40 / 39


def lie_nan(c, m):
    c.lower[0] = np.nan


def lie_mean(c, m):
    m.mean_ = m.mean_ + 1e-14 * np.eye(1, m.mean_.size)[0]


def lie_order(c, m):
    c.values[[0, 1]] = c.values[[1, 0]]


@pytest.mark.parametrize(
    ("lie", "check"),
    [
        (lie_shift, "enclosure"),
        (lie_by_one_ulp_of_the_largest, "enclosure"),
        (lie_label, "enclosure"),
        (lie_width, "width"),
        (lie_residual, "residual"),
        (lie_tol, "tol"),
        (lie_angle, "angle"),
        (lie_cluster, "angle"),
        (lie_ceiling, "ceiling"),
        (lie_verify, "verify"),
        (lie_direct, "direct"),
        (lie_total, "total"),
        (lie_basis, "basis"),
        (lie_names, "names"),
        (lie_nan, "finite"),
        (lie_order, "order"),
        (lie_mean, "mean"),
    ],
)
def test_a_planted_lie_is_found(lie, check):
    subject = honest()
    lie(subject.certificate, subject.model)
    assert check in checks(subject)


def test_an_unlabelled_interval_may_hold_any_eigenvalue_but_must_hold_one():
    subject = honest()
    lie_label(subject.certificate, subject.model)
    subject.certificate.labelled[:] = False
    assert "enclosure" not in checks(subject)
    lie_shift(subject.certificate, subject.model)
    assert "enclosure" in checks(subject)


def test_wide_data_have_zero_eigenvalues_beyond_their_rows():
    case = Case("dense", "slow", 4, 9, seed=2, method="SVD", center=False, k=4)
    subject = honest(case)
    c = subject.certificate
    c.labelled[3], c.lower[3], c.upper[3], c.values[3] = False, 0.0, 1e-15, 1e-16
    assert "enclosure" not in checks(subject)


def test_only_an_estimate_that_states_how_often_it_holds_may_miss():
    subject = honest(solver="sketch")
    lie_shift(subject.certificate, subject.model)
    subject.certificate.kind = "estimate"
    assert "enclosure" in checks(subject)
    subject.certificate.probability = 0.9
    assert "enclosure" not in checks(subject)


def test_estimates_that_miss_more_often_than_they_say_are_violations():
    record = Record(0, CASE, "sketch", components=4, estimate=True, stated=0.9)
    assert summarise([record] * 50)[1] == 0
    assert summarise([replace(record, missed=4)] * 50)[1] == 1


def test_after_subtract_bounds_may_be_as_wide_as_what_was_taken_off():
    case = replace(CASE, removed=50, extra=1e4)
    before = Subject(case, "subtract", honest(case).model, case.data(), case.truth())
    assert before.merged == pytest.approx(float(np.sum(before.before[0])))
    assert before.merged > 1e7 * before.top
    lie_width(before.certificate, before.model)
    before.certificate.tol = None
    assert "width" not in checks(before)
    before.certificate.upper[0] += 2e3 * U * before.merged
    assert "width" in checks(before)
    before.certificate.values[0] += 200 * U * before.merged
    assert "state" in checks(before)


def test_whole_weights_have_the_truth_of_the_copies():
    case = Case("dense", "slow", 30, 4, seed=5, weighted=True, weighting="copies", k=2)
    weights = case.weights(30)
    assert np.all(weights == weights.astype(int))
    plain = case.truth().values
    weighted = true_spectrum(case.data(), center=True, weights=weights).values
    np.testing.assert_allclose(plain, weighted, rtol=1e-14)


def test_extreme_weights_span_twenty_orders_of_magnitude():
    weights = Case("dense", "slow", 400, 4, seed=5, weighted=True, weighting="extreme").weights(400)
    assert np.any(weights == 0)
    assert weights.max() / weights[weights > 0].min() > 1e20


def test_the_table_counts_violations():
    bad = Record(0, CASE, "svd", (Finding("total", -1, "words"),), components=2, labelled=2)
    table, violations = summarise([bad, Record(1, CASE, "sketch")])
    assert violations == 1
    assert "sketch" in table


def test_a_share_is_checked_from_both_sides():
    case = replace(CASE, share=0.9)
    for k, fine in ((1, False), (2, True), (4, False)):  # shares of the first: 0.94 after one at cond 1e3
        subject = honest(replace(case, share=0.95, k=k))
        assert ("share" not in checks(subject)) == fine, k


def test_an_exception_is_a_violation(monkeypatch):
    def broken(self, route, X):
        raise RuntimeError("broken")

    monkeypatch.setattr(Case, "fit", broken)
    (record,) = run_case(0, CASE, ("svd",))
    assert [f.check for f in record.findings] == ["error"]


def test_cases_are_the_same_for_the_same_seed_and_cover_everything():
    first = [case for case, _ in zip(cases(3), range(240), strict=False)]
    assert first == [case for case, _ in zip(cases(3), range(240), strict=False)]
    families = {"dense", "sparse", "hostile", "reflected", "hadamard", "wide", "graph"}
    assert {case.family for case in first} == families
    assert {case.weighting for case in first if case.weighted} == {"plain", "extreme", "copies"}
    assert any(case.spread for case in first)
    assert any(case.means for case in first)
    assert any(case.removed for case in first)
    assert {route for case in first for route in case.routes} == set(ROUTES) - {"fed", "joined"}
    assert {case.dtype for case in first} == {"float32", "float64"}
    assert {case.method for case in first} == {"PCA", "SVD"}
    assert any(case.weighted for case in first)
    assert any(case.scale for case in first)
    small = [case for case in first if case.n * case.d <= 50_000]
    for case in small[:60]:
        assert str(case).startswith(case.family)
        X = case.data()
        truth = case.truth()
        assert len(truth.eigenvalues) == min(X.shape)
        assert case.k is None or 1 <= case.k <= min(X.shape)


def test_every_route_has_a_record():
    routes = [record.solver for record in run_case(0, CASE)]
    changed = routes.pop(len(SOLVERS))
    assert changed in CHANGES
    assert routes[:-1] == [*SOLVERS, *BOUNDED, "stream", "merge", "subtract"]
    assert routes[-1].startswith("state:")
    assert [record.solver for record in run_case(0, CASE, ["state:krylov"])] == []  # another one was drawn
    without = [record.solver for record in run_case(0, replace(CASE, method="SVD", center=False))]
    assert without == [*SOLVERS, changed, *BOUNDED]


def test_every_change_of_course_is_taken_and_holds():
    case = Case("dense", "slow", 120, 110, seed=3, k=5)
    assert case.changes == CHANGES
    records = run_case(0, case, changes=True)
    assert [record.solver for record in records] == list(CHANGES)
    assert not any(record.findings for record in records)
    X = case.data()
    for route in CHANGES:
        model = case.fit(route, X)
        told, path = str(model.plan_), model.certificate_.precision
        if "→" in route:
            assert f"{route.split('→')[0].removesuffix('32')} was planned" in told
            assert model.plan_.solver == "moments"
        elif route.endswith("32"):
            assert path.startswith("float32")


@pytest.mark.parametrize("dtype", ["uint8", "uint64", "int64", "int16"])
def test_rows_that_are_taken_off_again_stay_within_the_range_of_their_numbers(dtype):
    case = Case("integers", "flat", 64, 8, 77102383, cond=8.0, dtype=dtype, far=0, k=1)
    top = np.iinfo(dtype).max
    X = np.random.default_rng(0).integers(0, top, (64, 8), dtype=dtype, endpoint=True)
    E = replace(case, extra=3.0).others(X).astype(float)
    middle, size = X.astype(float).mean(axis=0), float(top)
    drawn = np.random.default_rng(case.seed + 3)
    side = np.sign(drawn.standard_normal(E.shape) + drawn.standard_normal(8))
    assert np.all((E - middle) * side >= -1e-9 * size)  # each on the side of the middle that it was drawn on
