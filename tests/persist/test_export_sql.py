"""Queries score rows as ``transform`` does, in DuckDB and PostgreSQL; names are only names."""

from __future__ import annotations

import numpy as np
import pytest

import ritz
from ritz.persist.export.form import form_of
from ritz.persist.export.sql.query import sql_query
from ritz.testing.fuzz_models import FAMILIES, fitted, table

pd = pytest.importorskip("pandas")

REFUSED = {"kernel function", "kernel function sum", *(n for n in FAMILIES if n.split()[-1] in
           {"spectrum", "bounded", "mismatch", "subsequence", "edit"})}  # fmt: skip
FORMS = [name for name in FAMILIES if name not in REFUSED and name != "ca observations"]


def columns_of(model, X) -> dict:
    if isinstance(X, pd.DataFrame):
        return {str(name): X[name].tolist() for name in X.columns}
    rows = X.toarray() if hasattr(X, "toarray") else np.asarray(X)
    return {name: rows[:, j].tolist() for j, name in enumerate(form_of(model).columns)}


def query_of(model, path) -> str:
    ritz.export(model, path, table="the rows", keep=["row id"])
    return path.read_text(encoding="utf-8")


def near(got, want, bound=1e-9) -> None:
    assert np.array_equal(np.isnan(got), np.isnan(want))
    assert np.nanmax(np.abs(got - want), initial=0.0) <= bound * np.nanmax(np.abs(want), initial=1e-300)


def test_the_gallery_in_duckdb(gallery, duck, tmp_path):
    model, X, want = gallery
    near(duck(columns_of(model, X), query_of(model, tmp_path / "m.sql")), want)


def test_the_gallery_in_postgresql(gallery, postgres, tmp_path):
    model, X, want = gallery
    near(postgres(columns_of(model, X), query_of(model, tmp_path / "m.sql")), want)


@pytest.mark.parametrize("name", FORMS)
def test_every_form_in_duckdb(name, duck, tmp_path):
    model, rows = fitted(name)
    bound = 1e-6 if "float32" in name else 1e-9  # what was fitted in float32 is placed in float32
    near(duck(columns_of(model, rows), query_of(model, tmp_path / "m.sql")), np.asarray(model.transform(rows)), bound)


@pytest.mark.parametrize("name", ["pca gaps em", "mca regularized", "mfa counts", "kernel sigmoid", "kernel normalized",
                                  "kernel matern", "kernel polynomial", "kernel cosine"])  # fmt: skip
def test_forms_in_postgresql(name, postgres, tmp_path):
    model, rows = fitted(name)
    near(postgres(columns_of(model, rows), query_of(model, tmp_path / "m.sql")), np.asarray(model.transform(rows)))


HOSTILE = [
    'a"; DROP TABLE x; --',
    "select",
    "ü ñ 'quoted'",
    "a\\'b",
    "tab\there",
    "semi;colon",
    "new\nline",
    "🦆",
    "t.x",
]


@pytest.mark.parametrize("database", ["duck", "postgres"])
def test_hostile_names_are_names(database, request, tmp_path):
    scored, rng = request.getfixturevalue(database), np.random.default_rng(0)
    X = pd.DataFrame(rng.standard_normal((20, len(HOSTILE))), columns=HOSTILE)
    model = ritz.PCA(3).fit(X)
    near(scored(columns_of(model, X), query_of(model, tmp_path / "m.sql")), model.transform(X))
    words = pd.DataFrame({name: rng.choice(HOSTILE, 20) for name in HOSTILE[:4]})
    with np.errstate(all="ignore"):
        model = ritz.MCA(2).fit(words)
    near(scored(columns_of(model, words), query_of(model, tmp_path / "w.sql")), model.transform(words))


@pytest.mark.parametrize("database", ["duck", "postgres"])
@pytest.mark.parametrize("missing", ["error", "category", "exclude", "regularized"])
@pytest.mark.parametrize("unseen", ["error", "ignore", "missing", "supplementary"])
def test_missing_and_unseen_answers_follow_transform(missing, unseen, database, request, tmp_path):
    scored = request.getfixturevalue(database)
    X = table("words", gaps=missing != "error")
    model = ritz.MCA(1, missing=missing, unseen=unseen).fit(X)
    new = table("words").iloc[:6].copy()
    new.iloc[0, 0], new.iloc[1, 1], new.iloc[2, 0] = "basalt", "(missing)", None
    new.iloc[3, 2], new.iloc[3, 0] = None, "basalt"
    new.iloc[4, :] = "basalt"
    want = np.full((6, 1), np.nan)
    for i in range(6):  # a row that transform refuses has no score
        try:
            want[i] = model.transform(new.iloc[[i]])
        except ritz.InputError:
            continue
    assert not np.isnan(want[5]).any()
    near(scored(columns_of(model, new), query_of(model, tmp_path / "m.sql")), want)


@pytest.mark.parametrize("database", ["duck", "postgres"])
def test_missing_numbers_have_no_score(database, request, tmp_path):
    scored = request.getfixturevalue(database)
    for name in ("pca", "famd", "ca frame", "kernel rbf", "kernel polynomial", "kernel cosine", "kernel precomputed"):
        model, rows = fitted(name)
        columns = columns_of(model, rows)
        numeric = [c for c in columns if not isinstance(columns[c][0], str)]
        columns[numeric[0]][1] = None
        want = np.asarray(model.transform(rows), float)
        want[1] = np.nan
        near(scored(columns, query_of(model, tmp_path / "m.sql")), want)


@pytest.mark.parametrize("database", ["duck", "postgres"])
def test_rows_without_counts_have_no_place(database, request, tmp_path):
    scored = request.getfixturevalue(database)
    model, _ = fitted("ca frame")
    rows = pd.DataFrame([[0] * 6, [1, 2, 3, 4, 5, 6], [-1, 2, 3, 4, 5, 6]], columns=model.feature_names_in_)
    want = np.full((3, 2), np.nan)
    want[1] = model.transform(rows.iloc[[1]])
    near(scored(columns_of(model, rows), query_of(model, tmp_path / "m.sql")), want)


@pytest.mark.parametrize("database", ["duck", "postgres"])
def test_categories_that_are_numbers_or_truth_values(database, request, tmp_path):
    scored, rng = request.getfixturevalue(database), np.random.default_rng(4)
    X = pd.DataFrame({"grade": rng.integers(1, 4, 30), "ok": rng.random(30) < 0.5, "half": rng.integers(1, 3, 30) / 2})
    model = ritz.MCA(2, categorical="all").fit(X)
    near(scored(columns_of(model, X), query_of(model, tmp_path / "m.sql")), model.transform(X))


def test_counted_observations_score_rows_of_counts(duck, tmp_path):
    model, rows = fitted("ca observations")
    counts = pd.crosstab(rows.iloc[:, 0], rows.iloc[:, 1])
    want = model.row_coordinates_.loc[list(counts.index)].to_numpy()
    near(duck(columns_of(model, counts), query_of(model, tmp_path / "m.sql")), want)


def test_many_columns_do_not_dig_deep(duck, postgres, tmp_path):
    X = np.random.default_rng(0).standard_normal((30, 600))
    model = ritz.PCA(2, mergeable=False).fit(X)
    query = query_of(model, tmp_path / "m.sql")
    for scored in (duck, postgres):
        near(scored(columns_of(model, X), query), model.transform(X))


def test_all_columns_go_along_unless_some_are_named():
    form = form_of(fitted("pca frame scaled")[0])
    assert "t.*," in sql_query(form)
    assert 'FROM "rows" AS t' in sql_query(form)
    assert 'FROM "lake"."wine" AS t' in sql_query(form, "lake.wine")
    assert "t.*" not in sql_query(form, keep=["a"])


def test_names_that_differ_in_case_alone_are_pointed_out():
    X = pd.DataFrame(np.random.default_rng(0).standard_normal((9, 3)), columns=["How", "how", "where"])
    said = sql_query(form_of(ritz.PCA(1).fit(X)))
    assert "-- DuckDB takes names that differ in case alone for one; rename before the fit: How, how\n" in said
    assert "differ in case" not in sql_query(form_of(ritz.PCA(1).fit(X[["how", "where"]])))


def test_what_sql_cannot_say(tmp_path):
    for name in sorted(REFUSED):
        with pytest.raises(ritz.ParameterError, match="kernels"):
            ritz.export(fitted(name)[0], tmp_path / "m.sql")
    with pytest.raises(ritz.ParameterError, match="zero byte"):
        ritz.export(ritz.PCA(1).fit(pd.DataFrame({"a\x00": [1.0, 2], "b": [2.0, 1]})), tmp_path / "m.sql")
    X = np.random.default_rng(0).standard_normal((500, 1000))
    large = ritz.KernelPCA(2, kernel="rbf", solver="krylov", tol=0.1).fit(X)
    with pytest.raises(ritz.ParameterError, match="400,000 numbers"):
        ritz.export(large, tmp_path / "m.sql")
    assert list(tmp_path.iterdir()) == []
