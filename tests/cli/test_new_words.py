"""What the summary says of methods that an option chooses, of parts, of networks and of matrices."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from ritz.cli.main import app


def test_an_option_that_chooses_a_method_is_named_as_the_reason(run):
    told = json.loads(run("fit WINE --target proline -k 1 --json --no-report").stdout)
    assert told["method"] == "pls"
    assert told["method_reason"].startswith("--target names a second table")
    named = json.loads(run("fit WINE -m pls --target proline -k 1 --json --no-report").stdout)
    assert named["method_reason"] == "as asked"


def test_a_matrix_is_taken_as_it_was_given(run, tmp_path):
    (tmp_path / "R.csv").write_text("a,b,c\n1,0.5,0.2\n0.5,1,0.1\n0.2,0.1,1\n")
    told = run("fit R.csv --covariance-of 90 -k 2").stderr
    assert "--covariance-of says" in told
    assert "taken as it was given" in " ".join(told.split())
    assert "as asked" in run("fit R.csv --covariance-of 90 -k 2 --scale").stderr


def test_an_autoencoder_standardises_by_the_rule_of_pca(run):
    told = json.loads(run("fit WINE -m autoencoder -k 2 --json --no-report").stdout)
    ordinary = json.loads(run("fit WINE -k 2 --json --no-report").stdout)
    assert told["scaling"] == ordinary["scaling"]
    found, expected = ([item["variance"] for item in one["components"]] for one in (told, ordinary))
    np.testing.assert_allclose(found, expected, rtol=1e-6)  # a linear network is PCA


def test_sums_of_squares_are_said_in_the_plural(run, tmp_path):
    (tmp_path / "w.csv").write_text("a,b,c\n1,2,3\n4,5,6.5\n7,8,1\n2,2,2\n")
    told = run("fit w.csv -m nmf -k 2").stderr
    assert "the sums of squares above" in told


def test_a_machine_says_what_to_do_without_python(run):
    told = run("fit WINE -m rbm -k 2", code=3).stderr
    assert "hint: bring the columns to numbers from 0 to 1" in told
    assert "X >" not in told


@pytest.mark.parametrize("measure", ["variance", "inertia", "sum of squares", "λ²"])
def test_measures_have_a_plural(measure):
    from ritz.methods.fitted.about import About

    plural = {"variance": "variances", "inertia": "inertias", "sum of squares": "sums of squares", "λ²": "λ²"}
    assert About("T", "t", "T", measure=measure).measures == plural[measure]


@pytest.mark.parametrize("name", ["autoencoder", "rbm"])
def test_networks_are_planned_as_they_are_fitted(run, tmp_path, name):
    rows = (np.random.default_rng(0).random((40, 5)) < 0.4).astype(int)
    np.savetxt(tmp_path / "b.csv", rows, fmt="%d", delimiter=",", header="a,b,c,d,e", comments="")
    assert f"{name}: as asked" in run(f"plan b.csv -m {name}").stdout
    fitted = json.loads(run(f"fit b.csv -m {name} --json --no-report").stdout)
    assert len(fitted["components"]) == {"autoencoder": 2, "rbm": 20}[name]


@pytest.mark.parametrize(("name", "why"), [("nmf", "not orthogonal"), ("autoencoder", "network"), ("ica", "rotat")])
def test_rules_are_refused_with_a_reason_that_is_true(run, name, why):
    told = run(f"rank WINE -m {name}", code=2).stderr
    assert why in told
    assert "trusts only some rows" not in told


def test_the_second_table_is_not_said_to_be_unused(run):
    from pathlib import Path

    run("fit WINE --target proline -k 1 -o two")
    assert "not used by this model" not in Path("two/report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["pls", "pcr", "cca", "factor"])
def test_methods_that_standardise_by_themselves_say_so(run, name):
    target = "" if name == "factor" else "--target proline,hue"
    told = json.loads(run(f"fit WINE -m {name} {target} -k 1 --json --no-report").stdout)
    assert (told["scaled"], told["scaling"]) == (
        True,
        f"standardised, as {name} does unless --no-scale keeps the units",
    )
    plain = json.loads(run(f"fit WINE -m {name} {target} -k 1 --json --no-report --no-scale --force").stdout)
    assert (plain["scaled"], plain["scaling"]) == (False, "not standardised: as asked")


def test_a_table_in_place_of_a_matrix_is_told_what_to_leave_out(run):
    told = run("fit WINE --covariance-of 90", code=3).stderr
    assert "hint: a table of rows is fitted without --covariance-of" in told
    run("fit WINE -k 2 --no-report -q")


def test_slices_of_a_tensor_are_not_called_pictures(run, tmp_path):
    np.save(tmp_path / "t.npy", np.random.default_rng(0).normal(size=(6, 5, 4)))
    run("fit t.npy -m hosvd -k 2 -o out --no-report -q")
    for line in ("plan t.npy -m hosvd", "verify out t.npy", "transform out t.npy -o s.csv"):
        told = run(line)
        assert "picture" not in told.stdout + told.stderr
    assert "rank 1: relative error" in run("fit t.npy -m cp -k 1 -o one --no-report").stderr


def test_the_warning_of_a_torn_graph_names_an_option_that_works(run, tmp_path):
    rng = np.random.default_rng(0)
    apart = np.concatenate([rng.normal(size=(15, 3)), rng.normal(size=(15, 3)) + 9])
    np.savetxt(tmp_path / "two.csv", apart, delimiter=",", header="a,b,c", comments="", fmt="%.4f")
    for name in ("isomap", "lle", "laplacian"):
        told = run(f"fit two.csv -m {name} --neighbours 9 -o {name} --no-report").stderr
        assert "hint: --neighbours 18 may connect it" in told
        assert "hint" not in run(f"fit two.csv -m {name} --neighbours 18 -o {name} --no-report").stderr


def test_supplementary_columns_are_said_to_be_supplementary(run):
    from pathlib import Path

    run("fit WINE -k 2 --supplementary proline -o out")
    page = Path("out/report.html").read_text(encoding="utf-8")
    assert "not used by this model" not in page
    assert "supplementary: placed among the axes" in page


def test_codes_are_all_named_in_the_hint(run, tmp_path):
    rng = np.random.default_rng(0)
    lines = [f"{rng.normal():.2f},{i % 3},{i * i % 2},{'xy'[i % 2]},{'uvw'[i % 3]}" for i in range(40)]
    (tmp_path / "c.csv").write_text("x,my school,sex,p,q\n" + "\n".join(lines) + "\n")
    assert "hint: --categorical 'my school,sex' if they are codes" in run("fit c.csv --no-report -k 2").stderr


def _said(path, *more):
    done = CliRunner().invoke(app, ["fit", str(path), *more, "-o", str(path.with_suffix(".out"))])
    assert done.exit_code
    return done.output


def test_several_rows_without_a_value_are_named_by_their_lines(tmp_path):
    path = tmp_path / "gaps.csv"
    path.write_text("a,b,c\n1,2,4\n,,\n3,4,4\n,,\n5,5,7\n2,2,1\n")
    assert "nothing observed in line 3, line 5" in _said(path, "--missing", "mean")


def test_embeddings_without_a_value_are_refused_with_rows_from_one_and_no_warning(tmp_path):
    path = tmp_path / "gaps.parquet"
    none = pa.array([None] * 5, pa.list_(pa.float32(), 2))
    pq.write_table(pa.table({"id": range(5), "embedding": none}), path)
    said = _said(path, "--missing", "mean")
    assert "nothing observed in row 1, row 2, row 3 and 2 more" in said
    assert "rows count from 1" in said
    assert "warning" not in said


def test_the_plan_of_texts_shorter_than_the_windows_says_so(tmp_path):
    path = tmp_path / "short.csv"
    path.write_text("a,b\nx,y\nz,w\nq,x\n")
    done = CliRunner().invoke(app, ["plan", str(path)])
    assert "no row has a feature of this kernel" in done.output
    assert "of 0 components" not in done.output
