"""scikit-learn's own checks of methods of two tables, of sources, parts and networks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.utils.estimator_checks import parametrize_with_checks

from ritz import CCA, ICA, NMF, PCR, PLS, RBM, Autoencoder


class Switches(RBM):
    """A Boltzmann machine takes numbers in [0, 1], and the checks draw others: these are brought there."""

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        return super().fit(_between(X), y, sample_weight)

    def transform(self, X: Any) -> Any:
        return super().transform(_between(X))

    def score_samples(self, X: Any) -> Any:
        return super().score_samples(_between(X))


def _between(X: Any) -> Any:
    """Numbers between 0 and 1; what is no table of numbers as it is."""
    if sp.issparse(X):
        return abs(X) / 10.0
    rows = X if hasattr(X, "columns") or isinstance(X, np.ndarray) else np.asarray(X)
    if rows.ndim != 2 or getattr(rows, "dtype", np.dtype(float)).kind not in "fiu":
        return X
    with np.errstate(invalid="ignore"):
        return 0.5 + 0.5 * (rows / (1 + abs(rows)))


ESTIMATORS = [
    PLS(1), PLS(1, algorithm="svd", scale=False), CCA(1), PCR(1),
    ICA(2), NMF(2), Autoencoder(1), Autoencoder(1, hidden=(3,), max_epochs=2),
    Switches(2, max_epochs=2),
]  # fmt: skip

WEIGHTS = "every row is taken once, and weights are refused instead of passed over"
SEVERAL = "weights say which rows take part; several sizes are refused"
BY_NAME = (
    "the check knows a class named CCA and hands the second table to transform; here transform gives the scores of the "
    "first table, so that it serves in a Pipeline, and transform_y those of the second"
)
REFUSED = {
    "check_sample_weights_pandas_series", "check_sample_weights_not_an_array", "check_sample_weights_list",
    "check_all_zero_sample_weights_error", "check_sample_weights_shape", "check_sample_weights_not_overwritten",
    "check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data",
}  # fmt: skip


def expected(estimator: Any) -> dict[str, str]:
    """Checks that fail, with the reason."""
    if isinstance(estimator, NMF):
        return dict.fromkeys(REFUSED, WEIGHTS)
    if isinstance(estimator, (ICA, RBM)):
        return {name: SEVERAL for name in REFUSED if "overwritten" in name or "equivalence" in name}
    if isinstance(estimator, CCA):
        names = "check_transformer_data_not_an_array", "check_transformer_general"
        return dict.fromkeys((*names, "check_transformer_general(readonly_memmap=True)"), BY_NAME)
    return {}


CHECKS = parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected)


# As a list: older releases of scikit-learn give a generator, which pytest is about to refuse.
@pytest.mark.filterwarnings("ignore::ritz.AccuracyWarning")  # few passes, and fewer components than asked for
@pytest.mark.filterwarnings("ignore::ritz.ConstantColumnWarning")
@pytest.mark.parametrize(CHECKS.args[0], list(CHECKS.args[1]), **CHECKS.kwargs)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
