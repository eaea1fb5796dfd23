"""scikit-learn's own checks of FactorAnalysis, with every method: none is expected to fail."""

from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from ritz import FactorAnalysis

ESTIMATORS = [
    FactorAnalysis(), FactorAnalysis(1, method="principal-axes"), FactorAnalysis(2, rotation="varimax"),
    FactorAnalysis(1, scores="bartlett", scale=False),
]  # fmt: skip
CHECKS = parametrize_with_checks(ESTIMATORS)


# As a list: older releases of scikit-learn give a generator, which pytest is about to refuse.
@pytest.mark.filterwarnings("ignore::ritz.AccuracyWarning")  # few columns are easily a Heywood case
@pytest.mark.filterwarnings("ignore::ritz.ConstantColumnWarning")
@pytest.mark.parametrize(CHECKS.args[0], list(CHECKS.args[1]), **CHECKS.kwargs)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
