"""The bench runs: tiny cases through its own steps, without timing anything that matters."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.fixture(autouse=True)
def bench_is_importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT))


def tiny(kind: str, dtype: str = "float64", n: int = 300, d: int = 60):
    from bench.cases import Case

    return Case(kind, n, d, 4, dtype, density=0.05 if kind in ("topics", "uniform") else None)


def test_names_are_unique_and_hard_cases_are_extra():
    from bench.cases import cases, from_dict

    names = [case.name for case in cases(hard=True)]
    assert len(set(names)) == len(names)
    assert set(cases()) < set(cases(hard=True))
    assert all(from_dict(case.to_dict()) == case for case in cases())
    assert len({case.small().name for case in cases()}) == len(cases())
    assert all(case.small().n * case.small().d < 2e6 for case in cases(hard=True))


@pytest.mark.parametrize("kind", ["signal", "slow", "noise", "topics", "uniform"])
def test_tables_are_reproducible_and_survive_the_file(kind, tmp_path):
    from bench.data import load, make, save

    case = tiny(kind)
    X, again = make(case), make(case)
    save(X, tmp_path / "table.npy")
    back = load(tmp_path / "table.npy")
    dense = [part if isinstance(part, np.ndarray) else part.toarray() for part in (X, again, back)]
    np.testing.assert_array_equal(dense[0], dense[1])
    np.testing.assert_array_equal(dense[0], dense[2])
    assert X.shape == (300, 60)
    assert X.dtype == np.float64


@pytest.mark.parametrize(("kind", "n", "d"), [("signal", 300, 60), ("signal", 60, 300), ("topics", 300, 60)])
def test_the_truth_is_that_of_a_singular_value_decomposition(kind, n, d):
    from bench.data import make
    from bench.reference import leading_variances

    X = make(tiny(kind, n=n, d=d))
    dense = X if isinstance(X, np.ndarray) else X.toarray()
    sigma = np.linalg.svd(dense - dense.mean(axis=0), compute_uv=False)
    np.testing.assert_allclose(leading_variances(X, 4), sigma[:4] ** 2 / (n - 1), rtol=1e-12)


def test_the_slow_spectrum_is_what_it_says():
    from bench.data import make
    from bench.reference import leading_variances

    values = leading_variances(make(tiny("slow")), 4) * 299
    np.testing.assert_allclose(values, 1 / np.arange(1, 5), rtol=1e-12)


@pytest.mark.parametrize(("kind", "dtype"), [("signal", "float32"), ("topics", "float64")])
def test_a_case_runs_through_all_its_steps(kind, dtype, tmp_path, monkeypatch):
    from bench import worker
    from bench.report import case_lines, summary

    monkeypatch.setattr(worker, "MOST", 1)
    case, path = tiny(kind, dtype), tmp_path / "table.npy"
    made = worker.run("data", path, case)
    memory = {name: worker.run(f"memory-{name}", path, case) for name in ("ritz", "sklearn")}
    speed = worker.run("speed", path, case, repeat=1)
    result = {
        "name": case.name,
        "case": case.to_dict(),
        "density": made["density"],
        "speed": speed,
        "memory": memory,
    }
    json.dumps(result)
    assert speed["error_lambda1"]["ritz"] < 1e-6
    assert speed["residual"] < 1e-6
    assert speed["floor_seconds"] > 0
    assert all(one["extra_bytes"] >= 0 for one in memory.values())
    assert case.name in case_lines(result)
    assert "geometric mean of 1 speed-ups" in summary([result])


@pytest.mark.parametrize("solver", ["krylov", "chebyshev", "moments", "svd"])
def test_every_route_has_a_floor(solver):
    import ritz
    from bench.data import make
    from bench.floor import calls, recorded

    X = make(tiny("topics" if solver == "chebyshev" else "signal"))
    with recorded() as products:
        plan = ritz.PCA(4, solver=solver).fit(X).plan_
    floor = calls(X, 4, plan.solver, plan.precision, products)
    assert floor
    assert all(call.times >= 1 for call in floor)
    for call in floor:
        call.run()


def test_a_name_that_no_case_has_is_said(capsys):
    from bench.__main__ import main

    assert main(["--only", "no-such-case"]) == 2
    assert "--list" in capsys.readouterr().out
    assert main(["--list", "--only", "slow"]) == 0
    assert capsys.readouterr().out.split() == ["slow-10000x4000-f32", "slow-10000x4000-f64"]
