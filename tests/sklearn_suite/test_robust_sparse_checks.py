"""scikit-learn's own checks of RobustPCA and SparsePCA, with every method: none is expected to fail."""

from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from ritz import RobustPCA, SparsePCA

ESTIMATORS = [
    RobustPCA(), RobustPCA(2), RobustPCA(2, method="robpca"), RobustPCA(2, method="pcp"), SparsePCA(), SparsePCA(2),
    SparsePCA(1, n_nonzero=1), SparsePCA(1, method="truncated-power", n_nonzero=1),
]  # fmt: skip
CHECKS = parametrize_with_checks(ESTIMATORS)


# As a list: older releases of scikit-learn give a generator, which pytest is about to refuse.
@pytest.mark.filterwarnings("ignore::ritz.AccuracyWarning")  # one check allows one iteration
@pytest.mark.parametrize(CHECKS.args[0], list(CHECKS.args[1]), **CHECKS.kwargs)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
