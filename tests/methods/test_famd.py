"""Factor analysis of mixed data: FactoMineR's answers, the definition written out, identities with PCA and MCA."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import ritz
from ritz import FAMD, PCA

GOLDEN = Path(__file__).parent.parent / "golden" / "correspondence"


def golden(name: str, folder: Path = GOLDEN) -> dict:
    return json.loads((folder / f"{name}.json").read_text())


def matrix(held: dict) -> pd.DataFrame:
    return pd.DataFrame(held["values"], held["rows"], held["cols"], dtype=float)


def signed(mine, theirs) -> float:
    """Largest difference after the axes have been given the same signs."""
    mine, theirs = np.asarray(mine, float), np.asarray(theirs, float)
    mine = mine[:, : theirs.shape[1]]
    turn = np.sign(np.nansum(mine * theirs, axis=0))
    return float(np.nanmax(np.abs(mine * turn - theirs)))


WINE = pd.read_csv(GOLDEN / "wine.csv", index_col=0)


def labels(frame: pd.DataFrame, levels) -> list[str]:
    """The names of FactoMineR's categories, with their variables."""
    texts = frame.select_dtypes(exclude="number")
    return [next(f"{name}={level}" for name in texts if level in set(texts[name])) for level in levels]


class Dense:
    """The definition, written out on dense arrays."""

    def __init__(self, frame: pd.DataFrame, w: np.ndarray | None = None) -> None:
        n = len(frame)
        w = np.full(n, 1 / n) if w is None else w / w.sum()
        columns, names, share, owner = [], [], [], []
        for name in frame.select_dtypes("number"):
            x = frame[name].to_numpy(float)
            x = x - w @ x
            columns.append(x / np.sqrt(w @ x**2))
            names.append(name), share.append(1.0), owner.append(name)
        for name in frame.select_dtypes(exclude="number"):
            for level in sorted(frame[name].unique()):
                z = (frame[name] == level).to_numpy(float)
                columns.append((z - w @ z) / np.sqrt(w @ z))
                names.append(f"{name}={level}"), share.append(w @ z), owner.append(name)
        self.B, self.w, self.names, self.share, self.owner = np.stack(columns, 1), w, names, np.array(share), owner
        self.numbers = np.array([name == own for name, own in zip(names, owner, strict=True)])
        _, s, Vt = np.linalg.svd(self.B * np.sqrt(w)[:, None], full_matrices=False)
        keep = s > 1e-9 * s[0]
        self.values, self.V = s[keep] ** 2, Vt[keep].T
        self.F = self.B @ self.V

    def columns(self) -> np.ndarray:
        """Correlations with the axes; means over the rows of a category."""
        out = []
        for j in range(self.B.shape[1]):
            if self.numbers[j]:
                out.append((self.w * self.B[:, j]) @ self.F / np.sqrt(self.values))
            else:
                z = self.B[:, j] > 0
                out.append(np.average(self.F[z], axis=0, weights=self.w[z]))
        return np.array(out)

    def distances(self) -> np.ndarray:
        """Squared distances of the means of categories from the centre in the whole space."""
        out = [1.0 if number else np.nan for number in self.numbers]
        for j in np.flatnonzero(~self.numbers):
            z = self.B[:, j] > 0
            out[j] = np.sum(np.average(self.B[z], axis=0, weights=self.w[z]) ** 2)
        return np.array(out)


def mixed(n: int = 80, seed: int = 0, levels: int = 4) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    t = rng.normal(size=n)
    kind = (np.clip(t + rng.normal(size=n), -1.9, 1.9) + 2).astype(int) % levels
    return pd.DataFrame({
        "size": 3 * t + rng.normal(size=n) + 20,
        "kind": np.array(list("abcdefgh"))[kind],
        "weight": t - rng.normal(size=n),
        "sex": rng.choice(["f", "m"], n),
        "age": rng.integers(18, 90, n),
    })  # fmt: skip


# answers of others


def check_famd(theirs: dict, frame: pd.DataFrame, k: int, model: FAMD) -> None:
    values = matrix(theirs["eig"]).to_numpy()[:k]
    np.testing.assert_allclose(model.eigenvalues_[:k], values[:, 0], rtol=1e-9)
    np.testing.assert_allclose(100 * model.explained_inertia_ratio_[:k], values[:, 1], rtol=1e-9)
    for name, factor in (("coord", 1), ("contrib", 100), ("cos2", 1)):
        mine = {"coord": "coordinates", "contrib": "contributions", "cos2": "cos2"}[name]
        assert signed(factor * getattr(model, f"row_{mine}_"), matrix(theirs["ind"][name])) < 1e-7
        of_variables = matrix(theirs["var"][name])
        assert signed(factor * getattr(model, f"variable_{mine}_").loc[of_variables.index], of_variables) < 1e-7
        for side in ("quanti_var", "quali_var"):
            if name not in theirs[side]:
                continue
            held = matrix(theirs[side][name])
            rows = held.index if side == "quanti_var" else labels(frame, held.index)
            assert signed(factor * getattr(model, f"column_{mine}_").loc[rows], held) < 1e-7
    held = matrix(theirs["quali_var"]["v.test"])
    assert signed(model.column_v_tests_.loc[labels(frame, held.index)], held) < 1e-7


def test_factominer() -> None:
    check_famd(golden("wine_factominer_FAMD"), WINE, 3, FAMD(3).fit(WINE))


def test_published_wine() -> None:
    """Eight columns of the wines, as recomputed from the data in R."""
    model = FAMD().fit(WINE.iloc[:, [0, 1, 15, 21, 28, 27, 29, 30]])
    expected = [4.8315174, 1.8568797, 1.5824794, 1.1491200, 0.6518053]
    np.testing.assert_allclose(model.eigenvalues_[:5], expected, atol=5e-8)
    np.testing.assert_allclose(model.total_inertia_, 11, rtol=1e-12)


@pytest.mark.shared
@pytest.mark.parametrize("name", ["wine", "iris"])
def test_factominer_in_full(shared: Path, name: str) -> None:
    frame = pd.read_csv(shared / name / "data.csv")
    frame = frame.set_index("id") if "id" in frame else frame
    theirs = golden("factominer_FAMD", shared / name)
    k = len(theirs["eig"]["rows"])
    check_famd(theirs, frame, k, FAMD().fit(frame))
    check_famd(theirs, frame, k, FAMD(k).fit(frame))


@pytest.mark.shared
def test_supplementary_points(shared: Path) -> None:
    theirs = golden("factominer_FAMD_sup", shared / "wine")
    beside = ["Soil", "Overall.quality", "Typical"]
    active = WINE.drop(index=WINE.index[[4, 14]], columns=beside)
    columns, rows = WINE.loc[active.index, beside], WINE.iloc[[4, 14]].drop(columns=beside)
    for model in (FAMD().fit(active), FAMD(8).fit(active)):
        check_famd(theirs, active, 8, model)
        assert signed(model.transform(rows), matrix(theirs["ind_sup"]["coord"])) < 1e-7
        assert signed(model.supplementary_rows(rows, "cos2"), matrix(theirs["ind_sup"]["cos2"])) < 1e-7
        for result, name in (("coordinates", "coord"), ("cos2", "cos2"), ("v_tests", "v.test")):
            got = model.supplementary_columns(columns, result, rows=active)
            held = matrix(theirs["quali_sup"][name])
            assert signed(got.loc[labels(columns, held.index)], held) < 1e-7
            if name != "v.test":
                held = matrix(theirs["quanti_sup"][name])
                assert signed(got.loc[held.index], held) < 1e-7
        assert (
            signed(model.supplementary_columns(columns, "eta2").loc[["Soil"]], matrix(theirs["quali_sup"]["eta2"]))
            < 1e-7
        )
    with pytest.raises(ritz.ParameterError, match=r"(?s)8 axes and no rows\nhint: pass the table of the fit as rows="):
        model.supplementary_columns(columns, "cos2")


# the definition


@pytest.mark.parametrize("weighted", [False, True])
def test_definition(weighted: bool, seed: int) -> None:
    frame = mixed(seed=seed)
    w = np.random.default_rng(seed).uniform(0.2, 3, len(frame)) if weighted else None
    truth, model = Dense(frame, w), FAMD().fit(frame, sample_weight=w)
    assert list(model.column_coordinates_.index) == truth.names
    np.testing.assert_allclose(model.eigenvalues_, truth.values, rtol=1e-10)
    assert signed(model.row_coordinates_, truth.F) < 1e-9
    assert signed(model.column_coordinates_, truth.columns()) < 1e-9
    np.testing.assert_allclose(model.column_contributions_, truth.V**2, atol=1e-9)
    np.testing.assert_allclose(model.row_contributions_, truth.w[:, None] * truth.F**2 / truth.values, atol=1e-9)
    np.testing.assert_allclose(model.row_cos2_, truth.F**2 / np.sum(truth.B**2, axis=1, keepdims=True), atol=1e-9)
    np.testing.assert_allclose(model.column_cos2_, truth.columns() ** 2 / truth.distances()[:, None], atol=1e-9)
    np.testing.assert_allclose(model.column_inertias_, truth.w @ truth.B**2, atol=1e-12)
    np.testing.assert_allclose(model.row_masses_, truth.w, rtol=1e-12)


def test_v_tests_are_those_of_a_mean_of_a_part(seed: int) -> None:
    """(mean of the part)/√(variance of such a mean without replacement), of centred coordinates."""
    frame = mixed(seed=seed)
    model, n = FAMD().fit(frame), len(frame)
    F = model.row_coordinates_.to_numpy()
    z = (frame["kind"] == "b").to_numpy()
    count = z.sum()
    expected = F[z].mean(axis=0) / np.sqrt((n - count) / (n - 1) * F.var(axis=0) / count)
    np.testing.assert_allclose(model.column_v_tests_.loc["kind=b"], expected, atol=1e-9)
    assert model.column_v_tests_.loc["size"].isna().all()


def test_identities(seed: int) -> None:
    frame = mixed(seed=seed)
    model = FAMD().fit(frame)
    np.testing.assert_allclose(model.total_inertia_, 3 + (4 - 1) + (2 - 1), rtol=1e-12)
    np.testing.assert_allclose(model.eigenvalues_.sum(), model.total_inertia_, rtol=1e-12)
    assert model.n_components_ == 7
    for side in ("row", "column", "variable"):
        np.testing.assert_allclose(getattr(model, f"{side}_contributions_").sum(axis=0), 1, rtol=1e-10)
    for side in ("row", "column"):
        np.testing.assert_allclose(getattr(model, f"{side}_cos2_").sum(axis=1), 1, rtol=1e-10)
        np.testing.assert_allclose(getattr(model, f"{side}_masses_").sum(), 1, rtol=1e-12)
        np.testing.assert_allclose(getattr(model, f"{side}_inertias_").sum(), model.total_inertia_, rtol=1e-12)
    squared = model.variable_coordinates_
    np.testing.assert_allclose(squared.sum(axis=0), model.eigenvalues_, rtol=1e-10)
    assert ((squared.to_numpy() >= 0) & (squared.to_numpy() <= 1 + 1e-12)).all()  # r² and η²
    F = model.row_coordinates_.to_numpy()
    means = pd.DataFrame(F).groupby(frame["kind"].to_numpy()).transform("mean").to_numpy()
    np.testing.assert_allclose(squared.loc["kind"], means.var(axis=0) / F.var(axis=0), atol=1e-10)
    correlation = np.corrcoef(frame["age"], F.T)[0, 1:]
    np.testing.assert_allclose(model.column_coordinates_.loc["age"], correlation, atol=1e-10)
    np.testing.assert_allclose(squared.loc["age"], correlation**2, atol=1e-10)


def test_standard_coordinates_add_up_to_the_rows() -> None:
    """A row lies at the sum of what its numbers and its answers bring."""
    frame = mixed()
    model = FAMD().fit(frame)
    standard = model.column_standard_coordinates_
    numbers = frame[["size", "weight", "age"]]
    brought = ((numbers - numbers.mean()) / numbers.std(ddof=0)).to_numpy() @ standard.iloc[:3].to_numpy()
    for name in ("kind", "sex"):
        brought += standard.loc[[f"{name}={level}" for level in frame[name]]].to_numpy()
    np.testing.assert_allclose(brought, model.row_coordinates_, atol=1e-10)


def test_only_numbers_is_scaled_pca(seed: int) -> None:
    X = np.random.default_rng(seed).normal(size=(50, 6)) @ np.random.default_rng(7).normal(size=(6, 6))
    model, pca = FAMD().fit(X), PCA(scale=True).fit(X)
    np.testing.assert_allclose(model.eigenvalues_, pca.explained_variance_, rtol=1e-10)
    np.testing.assert_allclose(model.row_coordinates_, pca.transform(X) * np.sqrt(50 / 49), atol=1e-10)
    np.testing.assert_allclose(model.components_, pca.components_, atol=1e-10)
    np.testing.assert_allclose(model.inverse_transform(model.transform(X)), X, atol=1e-10)


def test_only_categories_is_mca(seed: int) -> None:
    """Eigenvalues are J times those of the indicator's correspondence analysis, coordinates √J times."""
    frame = mixed(seed=seed)[["kind", "sex"]].assign(more=np.random.default_rng(seed).choice(list("uvw"), 80))
    Z = pd.get_dummies(frame).to_numpy(float)
    model, ca = FAMD().fit(frame), ritz.CA().fit(Z)
    np.testing.assert_allclose(model.eigenvalues_, 3 * ca.eigenvalues_, rtol=1e-10)
    assert signed(model.row_coordinates_, np.sqrt(3) * ca.row_coordinates_) < 1e-9
    assert signed(model.column_coordinates_, ca.column_coordinates_ * np.sqrt(3 * ca.eigenvalues_)) < 1e-9
    np.testing.assert_allclose(model.column_contributions_, ca.column_contributions_, atol=1e-10)
    np.testing.assert_allclose(model.column_masses_, ca.column_masses_, atol=1e-12)


@pytest.mark.parametrize("solver", ["svd", "moments", "krylov", "lanczos", "power"])
def test_solvers_agree(solver: str) -> None:
    exact, model = FAMD(2).fit(WINE), FAMD(2, solver=solver, tol=1e-12).fit(WINE)
    np.testing.assert_allclose(model.eigenvalues_, exact.eigenvalues_, rtol=1e-9)
    assert signed(model.row_coordinates_, exact.row_coordinates_) < 1e-6


def test_certificate_verifies_and_can_fail() -> None:
    frame = mixed(200)
    model = FAMD(3).fit(frame)
    check = model.verify(frame)
    assert check, str(check)
    assert not model.verify(frame.assign(size=frame["size"] ** 3))


def test_n_components() -> None:
    frame = mixed()
    whole = FAMD().fit(frame)
    half = FAMD(0.5).fit(frame)
    assert half.n_components_ == int(np.searchsorted(np.cumsum(whole.explained_inertia_ratio_), 0.5)) + 1
    with pytest.raises(ritz.ParameterError, match="n_components=8 must be at most 7: this table has no more axes"):
        FAMD(8).fit(frame)


# the way back


def test_inverse_gives_back_numbers_and_categories() -> None:
    frame = mixed().assign(flag=np.arange(80) % 3 == 0)
    model = FAMD().fit(frame)
    back = model.inverse_transform(model.transform(frame))
    assert list(back.columns) == list(frame.columns)
    np.testing.assert_allclose(back[["size", "weight", "age"]], frame[["size", "weight", "age"]], atol=1e-9)
    for name in ("kind", "sex", "flag"):
        assert back[name].to_list() == frame[name].to_list()
    assert back["flag"].dtype == bool


def test_probabilities_are_shares() -> None:
    frame = mixed()
    model = FAMD().fit(frame)
    exact = model.probabilities(model.transform(frame))
    np.testing.assert_allclose(exact, pd.get_dummies(frame[["kind", "sex"]]).to_numpy(float), atol=1e-9)
    assert list(exact.columns) == ["kind=a", "kind=b", "kind=c", "kind=d", "sex=f", "sex=m"]
    few = FAMD(2).fit(frame)
    some = few.probabilities(few.transform(frame))
    assert (some.to_numpy() >= 0).all()
    np.testing.assert_allclose(some.iloc[:, :4].sum(axis=1), 1, rtol=1e-12)
    centre = few.probabilities(np.zeros((1, 2)))
    np.testing.assert_allclose(centre["sex=f"], np.mean(frame["sex"] == "f"), rtol=1e-10)
    # the mean over all rows is the shares themselves, before anything is cut off
    np.testing.assert_allclose(few.inverse_transform(np.zeros((1, 2)))["size"], frame["size"].mean(), rtol=1e-12)


def test_the_best_rebuilding_of_its_rank() -> None:
    """What k axes leave out of the standardised rows is the inertia of the others."""
    frame = mixed()
    truth, model = Dense(frame), FAMD(2).fit(frame)
    left = truth.B - model.transform(frame) @ model.components_
    np.testing.assert_allclose(truth.w @ (left**2).sum(axis=1), truth.values[2:].sum(), rtol=1e-10)
