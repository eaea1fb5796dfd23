"""scikit-learn's own tests of KernelPCA, run on Ritz's class; and its checks of every estimator.

The test file comes from the installed scikit-learn and is executed as it is; only the name of the estimator means
Ritz's class while it is loaded (see adapter_kernel.py, which renames keywords). What does not pass is listed below with
its reason and explained in docs/sklearn-tests.md; a failure that is not listed is an error, and so is a listed one that
passes.
"""

from __future__ import annotations

import importlib.util
import os
from contextlib import nullcontext
from pathlib import Path
from types import ModuleType
from unittest import mock

import pytest
import sklearn.decomposition.tests
from sklearn.utils.estimator_checks import parametrize_with_checks

from ritz import KernelPCA

HERE = Path(__file__).parent
FILE = Path(sklearn.decomposition.tests.__file__).parent / "test_kernel_pca.py"
SEEDS = (42, 0, 1)[: int(os.environ.get("RITZ_SEEDS", "1"))]

# scikit-learn trains a perceptron for 5 rounds and lets its warning pass.
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

EXCEPTIONS = {
    "test_kernel_pca_invalid_parameters": "wants pre-images refused for a precomputed kernel; Ritz has neighbours()",
    "test_kernel_pca_precomputed_non_symmetric": "wants a matrix that is not symmetric, hence no kernel, accepted",
    "test_precomputed_kernel_not_psd": "wants an error or silence, depending on n_components, for the same indefinite "
    "kernel; Ritz has one policy and one warning",
}


def loaded(path: Path, **replaced: object) -> ModuleType:
    """Execute a file as a module of its own, while some names of sklearn.decomposition are replaced."""
    spec = importlib.util.spec_from_file_location(f"ritz_runs_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    with mock.patch.multiple("sklearn.decomposition", **replaced) if replaced else nullcontext():
        spec.loader.exec_module(module)
    return module


adapter = loaded(HERE / "adapter_kernel.py")
THEIRS = {
    name: test for name, test in vars(loaded(FILE, KernelPCA=adapter.KernelPCA)).items() if name.startswith("test_")
}
TestKernelPCA = type("TestKernelPCA", (), {name: staticmethod(test) for name, test in THEIRS.items()})


@pytest.fixture(params=SEEDS, ids="seed{}".format)
def global_random_seed(request):
    return request.param


@pytest.fixture(autouse=True)
def expected_to_fail(request):
    reason = EXCEPTIONS.get(request.node.originalname) if request.cls else None
    if reason:
        request.applymarker(pytest.mark.xfail(reason=reason, strict=True))


def test_every_exception_exists_and_is_explained(root):
    page = (root / "docs" / "sklearn-tests.md").read_text(encoding="utf-8")
    assert set(EXCEPTIONS) <= set(THEIRS)
    assert not [name for name in EXCEPTIONS if f"`{name}`" not in page]
    assert len((HERE / "adapter_kernel.py").read_text(encoding="utf-8").splitlines()) <= 30


CHECKS = parametrize_with_checks([KernelPCA(), KernelPCA(2, kernel="rbf")])


# As a list: older releases of scikit-learn give a generator, which pytest is about to refuse.
@pytest.mark.parametrize(CHECKS.args[0], list(CHECKS.args[1]), **CHECKS.kwargs)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
