"""Multiple factor analysis: FactoMineR's answers, the definition written out for every kind of group, identities."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from ritz import CA, FAMD, MCA, MFA

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
NAMES, SIZES = ("orig", "olf", "vis", "olfag", "gust", "ens"), (2, 5, 3, 10, 9, 2)
EDGES = np.cumsum([0, *SIZES])
GROUPS = {name: list(WINE.columns[a:b]) for name, a, b in zip(NAMES, EDGES, EDGES[1:], strict=False)}


def survey(n: int = 60, seed: int = 0) -> tuple[pd.DataFrame, dict[str, list[str]]]:
    """Numbers, categories, both, and two tables of counts."""
    rng = np.random.default_rng(seed)
    t = rng.normal(size=n)
    frame = pd.DataFrame({
        "a": t + rng.normal(size=n), "b": 3 * rng.normal(size=n) + 100, "c": t - rng.normal(size=n),
        "u": rng.choice(list("xyz"), n), "v": np.where(t + rng.normal(size=n) > 0, "hi", "lo"),
        "d": rng.normal(size=n), "w": rng.choice(list("pq"), n),
    })  # fmt: skip
    for j in range(4):
        frame[f"m{j}"] = rng.poisson(3 * np.exp(0.4 * t * (j - 1.5)))
        frame[f"s{j}"] = rng.poisson(2 + rng.gamma(1, size=n))
    frame["m0"] += 1
    groups = {
        "numbers": ["a", "b", "c"], "answers": ["u", "v"], "both": ["d", "w"],
        "words": [f"m{j}" for j in range(4)], "songs": [f"s{j}" for j in range(4)],
    }  # fmt: skip
    return frame, groups


class Dense:
    """The definition, written out on dense arrays: FactoMineR's kinds s, c, n, m and f."""

    def __init__(self, frame, groups, counts=(), unscaled=(), w=None) -> None:
        copies = np.ones(len(frame)) if w is None else np.asarray(w, float)
        totals = frame[[column for name in counts for column in groups[name]]].sum(axis=1).to_numpy(float)
        w = copies * totals if counts else copies
        N = w.sum()
        self.w = w = w / w.sum()
        self.blocks, self.first, self.names, self.kinds = {}, {}, [], []
        for name, columns in groups.items():
            if name in counts:
                f = frame[columns].to_numpy(float) * copies[:, None] / N
                row, column = f.sum(axis=1), f.sum(axis=0)
                x = (f / column - (row / row.sum())[:, None]) / w[:, None]  # Bécue-Bertaut & Pagès (2004)
                B = x * np.sqrt(column)
                self.names += columns
            else:
                parts = []
                for c in columns:
                    if pd.api.types.is_numeric_dtype(frame[c]):
                        x = frame[c].to_numpy(float) - w @ frame[c].to_numpy(float)
                        parts.append(x if name in unscaled else x / np.sqrt(w @ x**2))
                        self.names.append(c)
                        continue
                    for level in sorted(frame[c].unique()):
                        z = (frame[c] == level).to_numpy(float)
                        parts.append((z - w @ z) / np.sqrt(w @ z))
                        self.names.append(f"{c}={level}")
                B = np.stack(parts, axis=1)
            self.first[name] = np.linalg.svd(B * np.sqrt(w)[:, None], compute_uv=False) ** 2
            self.blocks[name] = B / np.sqrt(self.first[name][0])
        A = np.hstack(list(self.blocks.values()))
        _, s, Vt = np.linalg.svd(A * np.sqrt(w)[:, None], full_matrices=False)
        keep = s > 1e-8 * s[0]
        self.values, self.V, self.A = s[keep] ** 2, Vt[keep].T, A
        self.F = A @ self.V

    def lg(self) -> np.ndarray:
        blocks = list(self.blocks.values())
        return np.array([[np.sum(((a.T * self.w) @ b) ** 2) for b in blocks] for a in blocks])

    def partial(self, name: str) -> np.ndarray:
        """The rows with every other group at its mean, stretched by the number of groups."""
        own = [np.full(block.shape[1], name == other) for other, block in self.blocks.items()]
        return len(self.blocks) * (self.A * np.concatenate(own)) @ self.V


# answers of others


def check_mfa(theirs: dict, model: MFA, k: int) -> None:
    values = matrix(theirs["eig"]).to_numpy()[: len(model.eigenvalues_)]
    np.testing.assert_allclose(model.eigenvalues_, values[:, 0], rtol=1e-9)
    np.testing.assert_allclose(100 * model.explained_inertia_ratio_, values[:, 1], rtol=1e-9)
    for name, mine, factor in (("coord", "coordinates", 1), ("contrib", "contributions", 100), ("cos2", "cos2", 1)):
        assert signed(factor * getattr(model, f"row_{mine}_"), matrix(theirs["ind"][name])) < 1e-7
        assert signed(factor * getattr(model, f"group_{mine}_"), matrix(theirs["group"][name])) < 1e-7
        held = matrix(theirs["quanti_var"][name])
        assert signed(factor * getattr(model, f"column_{mine}_").loc[held.index], held) < 1e-7
    for name, mine in (("Lg", model.lg_), ("RV", model.rv_)):
        held = matrix(theirs["group"][name])
        np.testing.assert_allclose(mine.loc[held.index, held.columns], held, atol=1e-9)
    for name, result in (("coord", "coordinates"), ("cos2", "cos2"), ("v.test", "v_tests")):
        got, held = model.supplementary_columns(result=result), matrix(theirs["quali_var_sup"][name])
        rows = [f"{'Label' if level in set(WINE['Label']) else 'Soil'}={level}" for level in held.index]
        assert signed(got.loc[rows], held) < 1e-7
        if name != "v.test":
            held = matrix(theirs["quanti_var_sup"][name])
            assert signed(got.loc[held.index], held) < 1e-7
    for name, held in theirs["partial_axes_eig"].items():
        mine, expected = model.group_eigenvalues_[name], matrix(held).to_numpy()[:, 0]
        common = min(len(mine), len(expected))
        np.testing.assert_allclose(mine[:common], expected[:common], rtol=1e-9)


def test_factominer() -> None:
    for k in (3, None):
        model = MFA(k, groups=GROUPS, supplementary=["orig", "ens"]).fit(WINE)
        check_mfa(golden("wine_factominer_MFA"), model, 3)


@pytest.mark.shared
def test_factominer_in_full(shared: Path) -> None:
    model = MFA(5, groups=GROUPS, supplementary=["orig", "ens"]).fit(WINE)
    check_mfa(golden("factominer_MFA", shared / "wine"), model, 5)


def test_published_wine() -> None:
    model = MFA(groups=GROUPS, supplementary=["orig", "ens"]).fit(WINE)
    np.testing.assert_allclose(
        model.eigenvalues_[:5], [3.4619504, 1.3667683, 0.6154291, 0.3721997, 0.2703825], atol=5e-8
    )
    first = [model.group_eigenvalues_[name][0] for name in ("olf", "vis", "olfag", "gust")]
    np.testing.assert_allclose(first, [2.24187, 2.83477, 4.70075, 5.64201], atol=5e-6)


# the definition


CASES = [
    (("numbers", "answers", "both"), (), ()),
    (("numbers", "answers"), (), ("numbers",)),
    (("numbers", "words"), ("words",), ()),
    (("answers", "both", "words", "songs"), ("words", "songs"), ()),
    (("words", "songs"), ("words", "songs"), ()),
]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("names", "counts", "unscaled"), CASES, ids=lambda case: "+".join(case))
def test_definition(names, counts, unscaled, weighted: bool, seed: int) -> None:
    frame, groups = survey(seed=seed)
    groups = {name: groups[name] for name in names}
    columns = [column for held in groups.values() for column in held]
    w = np.random.default_rng(seed).uniform(0.5, 3, len(frame)) if weighted else None
    truth = Dense(frame, groups, counts, unscaled, w)
    scale = dict.fromkeys(unscaled, False) or True
    model = MFA(groups=groups, frequencies=counts, scale=scale).fit(frame[columns], sample_weight=w)
    np.testing.assert_allclose(model.eigenvalues_, truth.values, rtol=1e-9)
    np.testing.assert_allclose(model.row_masses_, truth.w, rtol=1e-12)
    assert signed(model.row_coordinates_, truth.F) < 1e-8
    np.testing.assert_allclose(model.row_contributions_, truth.w[:, None] * truth.F**2 / truth.values, atol=1e-8)
    np.testing.assert_allclose(model.row_cos2_, truth.F**2 / np.sum(truth.A**2, axis=1, keepdims=True), atol=1e-8)
    np.testing.assert_allclose(model.column_contributions_.loc[truth.names], truth.V**2, atol=1e-8)
    np.testing.assert_allclose(model.lg_.iloc[:-1, :-1], truth.lg(), rtol=1e-9)
    for name in names:
        assert signed(model.partial_coordinates_[name], truth.partial(name)) < 1e-7
        own = truth.first[name] / (len(groups[name]) if name == "answers" else 1)  # an MCA
        np.testing.assert_allclose(
            model.group_eigenvalues_[name], own[: len(model.group_eigenvalues_[name])], rtol=1e-8
        )
    np.testing.assert_allclose(model.transform(frame), model.row_coordinates_, atol=1e-10)


def test_columns_lie_where_their_rows_say(seed: int) -> None:
    frame, groups = survey(seed=seed)
    model = MFA(groups=groups, frequencies=["words", "songs"], scale={"numbers": False}).fit(frame)
    F, w = model.row_coordinates_.to_numpy(), model.row_masses_.to_numpy()
    root, got = np.sqrt(model.eigenvalues_), model.column_coordinates_
    for name in ("a", "b", "d"):
        x = frame[name] - w @ frame[name]
        r = (w * x) @ F / root / np.sqrt(w @ x**2)
        np.testing.assert_allclose(got.loc[name], r, atol=1e-8)
        np.testing.assert_allclose(model.column_cos2_.loc[name], r**2, atol=1e-8)
        np.testing.assert_allclose(model.variable_coordinates_.loc[name], r**2, atol=1e-8)
    z = (frame["u"] == "y").to_numpy()
    np.testing.assert_allclose(got.loc["u=y"], np.average(F[z], axis=0, weights=w[z]), atol=1e-8)
    means = {level: np.average(F[frame["u"] == level], axis=0, weights=w[frame["u"] == level]) for level in "xyz"}
    share = {level: w[frame["u"] == level].sum() for level in "xyz"}
    eta2 = sum(share[level] * means[level] ** 2 for level in "xyz") / model.eigenvalues_
    np.testing.assert_allclose(model.variable_coordinates_.loc["u"], eta2, atol=1e-8)
    # counts: mean of the standard rows by the column's profile, less that of the whole table
    N = frame[groups["words"]].to_numpy(float)
    profile, whole = N / N.sum(axis=0), N.sum(axis=1) / N.sum()
    np.testing.assert_allclose(got.loc[groups["words"]], (profile - whole[:, None]).T @ F / root, atol=1e-8)
    assert model.variable_coordinates_.loc["m1"].isna().all()
    assert model.column_cos2_.to_numpy().max() <= 1 + 1e-9


# identities


def test_identities(seed: int) -> None:
    frame, groups = survey(seed=seed)
    model = MFA(groups=groups, frequencies=["words", "songs"]).fit(frame)
    for side in ("row", "column", "group", "variable"):
        np.testing.assert_allclose(getattr(model, f"{side}_contributions_").sum(axis=0), 1, rtol=1e-9)
    np.testing.assert_allclose(model.group_coordinates_.sum(axis=0), model.eigenvalues_, rtol=1e-9)
    assert model.group_coordinates_.to_numpy().max() <= 1 + 1e-12  # no group alone makes an axis
    assert 1 <= model.eigenvalues_[0] <= 5
    points = model.partial_coordinates_
    np.testing.assert_allclose(sum(points.values()) / 5, model.row_coordinates_, atol=1e-9)
    w = model.row_masses_.to_numpy()
    between = w @ model.row_coordinates_.to_numpy() ** 2
    total = sum(w @ table.to_numpy() ** 2 for table in points.values()) / 5
    np.testing.assert_allclose(model.inertia_ratio_, between / total, rtol=1e-9)
    for name, table in points.items():
        F = model.row_coordinates_.to_numpy()
        r = (w @ (table.to_numpy() * F)) / np.sqrt((w @ table.to_numpy() ** 2) * (w @ F**2))
        np.testing.assert_allclose(model.group_correlations_.loc[name], r, atol=1e-8)
    # Lg of a group with an axis is its coordinate; of the whole, Σλ²/λ₁²; RV of a configuration with itself is 1
    np.testing.assert_allclose(model.lg_.loc["MFA", "MFA"], np.sum(model.eigenvalues_**2) / model.eigenvalues_[0] ** 2)
    np.testing.assert_allclose(np.diag(model.rv_), 1, rtol=1e-12)
    np.testing.assert_allclose(model.rv_, model.rv_.T, atol=1e-14)
    assert ((model.rv_.to_numpy() >= 0) & (model.rv_.to_numpy() <= 1 + 1e-12)).all()
    for name in groups:  # Lg(g, g) = Σ (λ/λ₁)², at least 1
        own = model.group_eigenvalues_[name]
        np.testing.assert_allclose(model.lg_.loc[name, name], np.sum((own / own[0]) ** 2), rtol=1e-8)


def test_partial_axes_are_correlations(seed: int) -> None:
    frame, groups = survey(seed=seed)
    groups = {name: groups[name] for name in ("numbers", "answers")}
    columns = groups["numbers"] + groups["answers"]
    model = MFA(groups=groups, supplementary=["answers"]).fit(frame[columns])
    axes = model.partial_axes_
    assert list(axes.index) == [f"{g}:Dim{i + 1}" for g, k in (("numbers", 3), ("answers", 3)) for i in range(k)]
    F = model.row_coordinates_.to_numpy()
    for own in (FAMD().fit(frame[groups["numbers"]]), MCA().fit(frame[groups["answers"]])):
        T = own.row_coordinates_.to_numpy()
        r = np.corrcoef(T.T, F.T)[: T.shape[1], T.shape[1] :]
        name = "numbers" if isinstance(own, FAMD) else "answers"
        mine = axes[axes.index.str.startswith(name)].to_numpy()
        np.testing.assert_allclose(np.abs(mine), np.abs(r), atol=1e-8)
    # the axes of the only active group are those of the whole
    np.testing.assert_allclose(np.abs(axes.to_numpy()[:3]), np.eye(3), atol=1e-8)


def test_one_variable_a_group_is_famd(seed: int) -> None:
    frame, _ = survey(seed=seed)
    frame = frame[["a", "u", "b", "v", "c"]]
    model, famd = MFA(groups={name: [name] for name in frame}).fit(frame), FAMD().fit(frame)
    np.testing.assert_allclose(model.eigenvalues_, famd.eigenvalues_, rtol=1e-9)
    assert signed(model.row_coordinates_, famd.row_coordinates_) < 1e-9
    assert signed(model.column_coordinates_, famd.column_coordinates_) < 1e-9
    np.testing.assert_allclose(model.column_cos2_, famd.column_cos2_, atol=1e-9)
    assert signed(model.column_v_tests_, famd.column_v_tests_) < 1e-8
    np.testing.assert_allclose(model.variable_coordinates_, famd.variable_coordinates_, atol=1e-9)
    np.testing.assert_allclose(model.variable_cos2_, famd.variable_cos2_, atol=1e-9)


def test_one_group_is_its_own_analysis(seed: int) -> None:
    frame, groups = survey(seed=seed)
    answers = groups["answers"]
    model, mca = MFA(groups={"all": answers}).fit(frame[answers]), MCA().fit(frame[answers])
    np.testing.assert_allclose(model.eigenvalues_, mca.eigenvalues_ / mca.eigenvalues_[0], rtol=1e-9)
    np.testing.assert_allclose(model.group_eigenvalues_["all"], mca.eigenvalues_, rtol=1e-9)
    assert signed(model.row_coordinates_, mca.row_coordinates_ / np.sqrt(mca.eigenvalues_[0])) < 1e-8
    words = groups["words"]
    model, ca = MFA(groups={"all": words}, frequencies=["all"]).fit(frame[words]), CA().fit(frame[words])
    np.testing.assert_allclose(model.eigenvalues_, ca.eigenvalues_ / ca.eigenvalues_[0], rtol=1e-9)
    np.testing.assert_allclose(model.group_eigenvalues_["all"], ca.eigenvalues_, rtol=1e-9)
    np.testing.assert_allclose(model.row_masses_, ca.row_masses_, rtol=1e-12)
    assert signed(model.row_coordinates_, ca.row_coordinates_ / np.sqrt(ca.eigenvalues_[0])) < 1e-8
    assert signed(model.column_coordinates_, ca.column_coordinates_) < 1e-8
    np.testing.assert_allclose(model.column_contributions_, ca.column_contributions_, atol=1e-9)
    np.testing.assert_allclose(model.column_cos2_, ca.column_cos2_, atol=1e-9)
    np.testing.assert_allclose(model.column_masses_, ca.column_masses_, atol=1e-12)


def test_a_group_twice_says_nothing_new() -> None:
    """Two copies of a group: the axes of one, with twice the inertia; partial points fall together."""
    frame, groups = survey()
    one = frame[groups["numbers"]]
    both = pd.concat([one, one.add_suffix("'")], axis=1)
    model = MFA(groups={"first": list(one), "second": list(both)[3:]}).fit(both)
    famd = FAMD().fit(one)
    np.testing.assert_allclose(model.eigenvalues_, 2 * famd.eigenvalues_ / famd.eigenvalues_[0], rtol=1e-9)
    np.testing.assert_allclose(model.inertia_ratio_, 1, rtol=1e-9)
    np.testing.assert_allclose(model.rv_, 1, rtol=1e-9)
    np.testing.assert_allclose(*[table.to_numpy() for table in model.partial_coordinates_.values()], atol=1e-9)


def test_no_group_drowns_another() -> None:
    """A hundred columns that repeat each other weigh as much as a single one."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 200))
    many = x[:, None] + 0.01 * rng.normal(size=(200, 100))
    X = np.hstack([many, y[:, None]])
    model = MFA(2, groups={"many": slice(0, 100), "one": [100]}).fit(X)
    np.testing.assert_allclose(
        model.eigenvalues_, [1 + abs(np.corrcoef(x, y)[0, 1]), 1 - abs(np.corrcoef(x, y)[0, 1])], atol=1e-2
    )
    assert FAMD(2).fit(X).eigenvalues_[0] > 50


# supplementary groups


def test_supplementary_groups_do_not_move_anything(seed: int) -> None:
    frame, groups = survey(seed=seed)
    active = {name: groups[name] for name in ("numbers", "answers")}
    columns = [column for held in active.values() for column in held]
    plain = MFA(groups=active).fit(frame[columns])
    more = MFA(groups=groups, frequencies=["words", "songs"], supplementary=["both", "words", "songs"]).fit(frame)
    np.testing.assert_array_equal(more.eigenvalues_, plain.eigenvalues_)
    np.testing.assert_array_equal(more.row_coordinates_, plain.row_coordinates_)
    assert list(more.lg_.index) == ["numbers", "answers", "both", "words", "songs", "MFA"]
    f = more.row_coordinates_.to_numpy() / np.sqrt(more.eigenvalues_)
    truth = Dense(frame, {"both": groups["both"]})
    coordinate = np.sum(((truth.blocks["both"].T / 60) @ f) ** 2, axis=0)
    np.testing.assert_allclose(more.supplementary_group_coordinates_.loc["both"], coordinate, atol=1e-9)
    own = truth.lg()[0, 0]
    np.testing.assert_allclose(more.lg_.loc["both", "both"], own, rtol=1e-9)
    np.testing.assert_allclose(more.supplementary_group_cos2_.loc["both"], coordinate**2 / own, atol=1e-9)
    active_truth = Dense(frame, active)
    cross = [np.sum(((truth.blocks["both"].T / 60) @ block) ** 2) for block in active_truth.blocks.values()]
    np.testing.assert_allclose(more.lg_.loc["both", ["numbers", "answers"]], cross, rtol=1e-9)
    # columns of both, and counts by their profiles
    placed = more.supplementary_columns()
    np.testing.assert_allclose(placed.loc["d"], np.corrcoef(frame["d"], more.row_coordinates_.T)[0, 1:], atol=1e-9)
    z = frame["w"] == "q"
    np.testing.assert_allclose(placed.loc["w=q"], more.row_coordinates_[z.to_numpy()].mean(), atol=1e-9)
    N = frame[groups["words"]].to_numpy(float)
    np.testing.assert_allclose(
        placed.loc[groups["words"]], (N / N.sum(axis=0) - (N.sum(axis=1) / N.sum())[:, None]).T @ f, atol=1e-8
    )
    assert more.supplementary_columns(result="cos2").to_numpy().max() <= 1 + 1e-9
    other = more.supplementary_columns(frame[["d", "w"]])
    np.testing.assert_allclose(other, placed.loc[["d", "w=p", "w=q"]], atol=1e-9)


# the way back


def test_inverse(seed: int) -> None:
    frame, groups = survey(seed=seed)
    model = MFA(groups=groups, frequencies=["words", "songs"]).fit(frame)
    back = model.inverse_transform(model.transform(frame))
    np.testing.assert_allclose(back[["a", "b", "c", "d"]], frame[["a", "b", "c", "d"]], atol=1e-7)
    for name in ("u", "v", "w"):
        assert back[name].to_list() == frame[name].to_list()
    one = {name: held for name, held in groups.items() if name != "songs"}
    model = MFA(groups=one, frequencies=["words"]).fit(frame.drop(columns=groups["songs"]))
    back = model.inverse_transform(model.transform(frame))
    shares = frame[groups["words"]].div(frame[groups["words"]].sum(axis=1), axis=0)
    np.testing.assert_allclose(back[groups["words"]], shares, atol=1e-9)
    np.testing.assert_allclose(model.probabilities(model.transform(frame))["w=p"], frame["w"] == "p", atol=1e-9)
