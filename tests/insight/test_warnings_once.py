"""One call of the user says each warning once, at the user's line; refits say nothing."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import ritz
from ritz import insight

N = 40
rng = np.random.default_rng(0)
ARRAY = rng.standard_normal((N, 5)) * np.arange(1, 6)
ARRAY[:, 2] = 3.0
FRAME = pd.DataFrame(ARRAY, columns=list("abcde"))
GAPS = ARRAY.copy()
GAPS[::7, 1] = np.nan
LEVELS = pd.DataFrame({"p": rng.choice(list("uvw"), N), "q": rng.choice(list("xy"), N), "same": "k"})
MIXED = LEVELS.assign(number=ARRAY[:, 0], const=1.0, few=rng.integers(0, 3, N))
COUNTS = rng.integers(1, 6, (12, 5)).astype(float)
COUNTS[3] = 0

MODELS: dict[str, tuple[Callable[[], Any], Any]] = {
    "PCA": (lambda: ritz.PCA(2, scale=True), FRAME),
    "PCA with gaps": (lambda: ritz.PCA(2, scale=True, missing="em"), GAPS),
    "CA": (lambda: ritz.CA(2), COUNTS),
    "MCA": (lambda: ritz.MCA(2), LEVELS),
    "FAMD": (lambda: ritz.FAMD(2), MIXED),
    "KernelPCA": (lambda: ritz.KernelPCA(2, kernel="sigmoid", gamma=1.0), FRAME),
    "SparsePCA": (lambda: ritz.SparsePCA(2, scale=True), FRAME),
}


def said(call: Callable[[], Any]) -> list[str]:
    """What a call warns of; each once, and at a line of this file."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    for text, times in Counter(str(w.message) for w in caught).items():
        assert times == 1, f"{times} times: {text}"
    assert {w.filename for w in caught} <= {__file__}
    return [w.category.__name__ for w in caught]


def table(folder: Path) -> ritz.Table:
    path = folder / "table.csv"
    FRAME.assign(name=[f"row {i}" for i in range(N)]).to_csv(path, index=False)
    return ritz.read(path)


@pytest.mark.parametrize("rule", [None, 2, 0.9, "kaiser", "bic", "mle", "parallel", "consensus"])
def test_a_fit_with_constant_columns(rule: Any) -> None:
    names = said(lambda: ritz.PCA(rule, scale=True).fit(ARRAY))
    assert [name for name in names if name != "NoComponents"] == ["ConstantColumnWarning"]


@pytest.mark.parametrize("solver", ["svd", "moments", "krylov", "lanczos", "chebyshev", "power", "sketch"])
def test_a_fit_by_every_solver(solver: str) -> None:
    assert "ConstantColumnWarning" in said(lambda: ritz.PCA(2, scale=True, solver=solver).fit(ARRAY))


def test_other_ways_to_fit(tmp_path: Path) -> None:
    pca = ritz.PCA(2, scale=True)
    assert said(lambda: pca.fit_transform(FRAME)) == ["ConstantColumnWarning"]
    assert said(lambda: pca.fit(iter([ARRAY[:20], ARRAY[20:]]))) == ["ConstantColumnWarning"]
    state = ritz.PCA(2, scale=True).partial_fit(ARRAY)
    assert said(lambda: state.components_) == ["ConstantColumnWarning"]
    assert said(lambda: pca.fit_transform(table(tmp_path))) == ["ColumnsSetAside"]
    assert said(lambda: ritz.CA(2).fit_transform(COUNTS)) == ["EmptyProfiles"]
    assert said(lambda: ritz.choose_rank(ritz.PCA(scale=True), FRAME)) == ["ConstantColumnWarning"]
    assert said(lambda: ritz.choose_rank(table(tmp_path))) == ["ColumnsSetAside"]


@pytest.mark.parametrize("name", list(MODELS))
def test_what_a_fitted_model_is_asked(name: str, tmp_path: Path) -> None:
    made, X = MODELS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = made().fit(X)
    asked: list[Callable[[], Any]] = [
        lambda: insight.outliers(model, X),
        lambda: ritz.report(model, X, tmp_path / "report.html"),
        lambda: model.transform(X),
    ]
    if name in ("PCA", "CA", "MCA"):
        asked.append(lambda: insight.bootstrap(model, X, n_boot=20))
        asked.append(lambda: insight.permutation_test(model, X, n_perm=19))
    if name != "CA":  # a table with an empty row is warned of whenever it is handed in
        asked.append(lambda: insight.limits(model, X=X))
        assert [said(call) for call in asked] == [[]] * len(asked)
    else:
        assert [said(call) for call in asked] == [["EmptyProfiles"]] * len(asked)


def test_names_that_are_missing_are_told_once() -> None:
    model = ritz.PCA(2).fit(FRAME)
    for call in (insight.outliers, insight.cos2, insight.t2, insight.permutation_test):
        assert said(lambda call=call: call(model, ARRAY)) == ["UserWarning"]
    bare = ritz.PCA(2).fit(ARRAY)
    with pytest.warns(UserWarning, match="X has feature names, but PCA was fitted without feature names"):
        bare.transform(FRAME)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(ritz.InputError, match="X has 4 features, but PCA is expecting 5"):
            model.transform(ARRAY[:, :4])
