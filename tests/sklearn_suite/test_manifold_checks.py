"""scikit-learn's own checks of maps of distances: none is expected to fail."""

from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from ritz import MDS, MVU, TSNE, Isomap

ESTIMATORS = [MDS(), MDS(1, metric="manhattan"), Isomap(), Isomap(1, n_neighbors=4), MVU(1), MVU(1, solver="low-rank"),
              TSNE(1, max_iter=30, early_exaggeration_iter=30)]  # fmt: skip
CHECKS = parametrize_with_checks(ESTIMATORS)


# As a list: older releases of scikit-learn give a generator, which pytest is about to refuse.
@pytest.mark.filterwarnings("ignore::ritz.NegativeEigenvalues")
@pytest.mark.filterwarnings("ignore::ritz.DisconnectedGraph")
@pytest.mark.parametrize(CHECKS.args[0], list(CHECKS.args[1]), **CHECKS.kwargs)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
