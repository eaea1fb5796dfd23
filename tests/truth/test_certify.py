"""A few hundred fits against the truth; ``make certify`` runs thousands."""

from __future__ import annotations

import warnings
from itertools import islice

import pytest

import ritz
from ritz.testing import known_sparse, known_truth
from ritz.testing.certify.cases import ADVERSE_FROM, Case, adverse_cases, cases
from ritz.testing.certify.run import main, run_case, summarise

pytest.importorskip("flint")
MATRICES = 35


@pytest.mark.parametrize("number", range(MATRICES))
def test_no_claim_is_refuted(number):
    case = next(islice(cases(0), number, None))
    records = run_case(number, case)
    assert [record.solver for record in records] == list(case.routes)
    lines = [
        f"--case {number} --solver {record.solver}: {finding.check} {finding.component}: {finding.words}"
        for record in records
        for finding in record.findings
    ]
    assert not lines, "\n".join([str(case), *lines])
    assert summarise(records)[1] == 0


ADVERSE = 9  # one of every family


@pytest.mark.parametrize("number", range(ADVERSE))
def test_no_claim_is_refuted_where_an_assumption_breaks(number):
    case = next(islice(adverse_cases(0), number, None))
    records = run_case(ADVERSE_FROM + number, case)
    assert [record.solver for record in records] == list(case.routes)
    lines = [f"{r.solver}: {f.check} {f.component}: {f.words}" for r in records for f in r.findings]
    assert not lines, "\n".join([str(case), *lines])


# 16384×700 and 8192×700: float32 products pay here, and the Krylov space is far from the whole space
LARGE = [
    Case("hadamard", "slow", 16384, 700, seed=1, dtype="float32", k=10, offset=20.0),
    Case("hadamard", "spikes", 8192, 700, seed=2, k=10, offset=1000.0),
]


@pytest.mark.parametrize("case", LARGE, ids=str)
def test_no_claim_is_refuted_on_larger_data(case):
    for record in run_case(0, case, ("moments", "krylov", "stream")):
        assert not record.findings, record.solver


def test_a_share_is_judged_by_the_components_that_it_keeps():
    # of the ten that lanczos began with, those near 1e-14·λ₁ have not converged; the two that are kept have
    options = {"scale": True, "weighted": True, "share": 0.9, "tol": 1e-10}
    case = Case("dense", "geometric", 32, 32, seed=3100111, cond=1e14, k=1, **options)
    records = run_case(0, case, ("lanczos",))
    assert [(r.components, r.converged, r.findings) for r in records] == [(2, True, ())]


def test_verify_takes_a_sketch_of_a_merged_state():
    # it allows for ten times the rounding of the state, which is most of what a state promises
    case = Case("hadamard", "step", 2048, 400, seed=3200128, cond=1e2, dtype="float32", k=8, tol=1e-3)
    records = run_case(0, case, ("state:sketch",))
    assert [r.solver for r in records] == ["state:sketch"]
    assert not records[0].findings


@pytest.mark.parametrize("solver", ["krylov", "chebyshev", "lanczos", "sketch"])
def test_completeness_holds_from_every_start(solver):
    known = known_sparse("deficient", 200, 60, cond=24206.4, seed=257868, rounds=1)
    following = known_truth(known).values[6]
    for start in range(40):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            certificate = ritz.SVD(6, solver=solver, tol=9.6e-4, random_state=start).fit(known.X).certificate_
        assert following <= certificate.ceiling, f"random_state={start}"


def test_the_command_prints_a_table(capsys):
    assert main(["--case", "0", "--solver", "svd"]) == 0
    out = capsys.readouterr().out
    assert "width/error" in out
    assert "0 violations" in out
