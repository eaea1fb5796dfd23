"""A variable of one level tells nothing about a row, so it does not count when unseen answers are left out."""

from __future__ import annotations

import numpy as np
import pytest

import ritz

pd = pytest.importorskip("pandas")


def table(n=60, seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame({f"q{j}": [f"a{v}" for v in rng.integers(0, 3, n)] for j in range(4)})


def test_constant_variables_do_not_stretch_rows():
    X = table()
    row = X.iloc[:1].assign(q0="new")
    plain = ritz.MCA(2, unseen="supplementary").fit(X)
    with pytest.warns(ritz.ConstantColumnWarning):
        padded = ritz.MCA(2, unseen="supplementary").fit(X.assign(c="same"))
    ratio = np.sqrt(plain.eigenvalues_ / padded.eigenvalues_)
    np.testing.assert_allclose(padded.transform(row.assign(c="same")) * ratio, plain.transform(row), rtol=1e-10)


def test_an_excluded_level_leaves_its_variable_in_the_count():
    X = table().assign(yes=np.where(np.arange(60) % 3, "y", "n"))
    model = ritz.MCA(2, unseen="supplementary", exclude=["yes=n"]).fit(X)
    row = X.iloc[:1].assign(q0="new")
    # Four of five answers are known: each of them counts 5/4.
    known = ritz.MCA(2, unseen="ignore", exclude=["yes=n"]).fit(X).transform(row)
    np.testing.assert_allclose(model.transform(row), 5 / 4 * known, rtol=1e-10)
