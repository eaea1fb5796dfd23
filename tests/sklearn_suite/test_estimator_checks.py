"""scikit-learn's own checks of every estimator: cloning, pickling, dtypes, names, sparse input, refusals."""

from __future__ import annotations

from typing import Any

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from ritz import CA, FAMD, MCA, MFA, PCA, SVD

ALL_OF_A_NULL_SPACE = (
    "keeps min(n_samples, n_features) components, which the check compares one by one: of the 27 of its "
    "repeated rows in 30 columns those beyond the rank have no variance, hence no direction; PCA(2) passes"
)


OWN_LEVELS = (
    "takes every number of the check for a category of its own, so rows that are left out leave levels behind that "
    "nobody has seen, and all axes are alike; tests/methods/test_mca.py compares weights with copies of rows"
)


def expected_failures(estimator: Any) -> dict[str, str]:
    if isinstance(estimator, PCA) and estimator.n_components is None:
        names = ("dense", "sparse")
        return {f"check_sample_weight_equivalence_on_{name}_data": ALL_OF_A_NULL_SPACE for name in names}
    if isinstance(estimator, MCA):
        return {"check_sample_weight_equivalence_on_dense_data": OWN_LEVELS}
    return {}


# Numbers are categories for MCA only where they are declared: the checks of MCA() would all end in its question. MFA
# has no groups unless it is given some: here by their places, since most tables of the checks have no names.
ESTIMATORS = [
    PCA(), PCA(2), SVD(2), CA(), MCA(categorical="all"), FAMD(), FAMD(2),
    MFA(groups={"first": slice(0, 1), "rest": slice(1, None)}),
]  # fmt: skip
CHECKS = parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failures)


# As a list: older releases of scikit-learn give a generator, which pytest is about to refuse.
@pytest.mark.filterwarnings("ignore::ritz.EmptyProfiles")  # some of the tables have rows of zeros
@pytest.mark.filterwarnings("ignore::ritz.IntegersAsNumbers")  # and some few different integers
@pytest.mark.filterwarnings("ignore::ritz.IdentifiersAsCategories")  # and some a text of its own in every row
@pytest.mark.filterwarnings("ignore::ritz.ConstantColumnWarning")  # and some one and the same
@pytest.mark.parametrize(CHECKS.args[0], list(CHECKS.args[1]), **CHECKS.kwargs)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
