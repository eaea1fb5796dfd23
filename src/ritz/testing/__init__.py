"""What proves Ritz right: matrices of known spectrum, true eigenvalues, angles, the check of certificates.

    spectra   matrices with a prescribed spectrum, and hostile ones
    known     matrices whose stored entries have an exactly known spectrum
    truth     eigenvalues of the stored entries in high precision, with a proof
    truth_ca  inertias of the stored counts, with a proof
    angles    principal angles; comparison cluster by cluster
    engines   check_engine: any engine of rows against the contract
    operators check_operator: any operator against its dense form
    solvers   check_solver: any solver against exactly known spectra
    estimators check_estimator: Ritz's conventions, on top of scikit-learn's
    certify   `python -m ritz.testing.certify`: thousands of fits against the truth
    faults    `python -m ritz.testing.faults`: what goes wrong on a site, as programs that can be repeated
    fuzz      `python -m ritz.testing.fuzz`: thousands of damaged and hostile model files

Names load on first use; `truth` and `certify` need python-flint.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ritz.testing.angles import Comparison as Comparison
    from ritz.testing.angles import clusters as clusters
    from ritz.testing.angles import compare as compare
    from ritz.testing.angles import largest_sine as largest_sine
    from ritz.testing.angles import principal_sines as principal_sines
    from ritz.testing.engines import check_engine as check_engine
    from ritz.testing.estimators import check_estimator as check_estimator
    from ritz.testing.kernels import check_kernel as check_kernel
    from ritz.testing.known import Eigenvalue as Eigenvalue
    from ritz.testing.known import Known as Known
    from ritz.testing.known import incidence as incidence
    from ritz.testing.known import known_hadamard as known_hadamard
    from ritz.testing.known import known_integers as known_integers
    from ritz.testing.known import known_sparse as known_sparse
    from ritz.testing.known import known_wide as known_wide
    from ritz.testing.known import symmetric_known as symmetric_known
    from ritz.testing.operators import check_operator as check_operator
    from ritz.testing.solvers import check_solver as check_solver
    from ritz.testing.spectra import HOSTILE as HOSTILE
    from ritz.testing.spectra import KINDS as KINDS
    from ritz.testing.spectra import hostile as hostile
    from ritz.testing.spectra import matrix as matrix
    from ritz.testing.spectra import sparse_matrix as sparse_matrix
    from ritz.testing.spectra import spectrum as spectrum
    from ritz.testing.truth import Truth as Truth
    from ritz.testing.truth import known_truth as known_truth
    from ritz.testing.truth import true_eigenvalues as true_eigenvalues
    from ritz.testing.truth import true_rows as true_rows
    from ritz.testing.truth import true_spectrum as true_spectrum
    from ritz.testing.truth_ca import true_inertia as true_inertia

_NAMES = {
    "HOSTILE": "spectra",
    "KINDS": "spectra",
    "Comparison": "angles",
    "Eigenvalue": "known",
    "Known": "known",
    "Truth": "truth",
    "check_engine": "engines",
    "check_estimator": "estimators",
    "check_kernel": "kernels",
    "check_operator": "operators",
    "check_solver": "solvers",
    "clusters": "angles",
    "compare": "angles",
    "hostile": "spectra",
    "incidence": "known",
    "known_hadamard": "known",
    "known_integers": "known",
    "known_sparse": "known",
    "known_truth": "truth",
    "known_wide": "known",
    "largest_sine": "angles",
    "matrix": "spectra",
    "principal_sines": "angles",
    "sparse_matrix": "spectra",
    "spectrum": "spectra",
    "symmetric_known": "known",
    "true_eigenvalues": "truth",
    "true_inertia": "truth_ca",
    "true_rows": "truth",
    "true_spectrum": "truth",
}

__all__ = sorted(_NAMES)


def __getattr__(name: str) -> Any:
    if name in _NAMES:
        return getattr(import_module(f"ritz.testing.{_NAMES[name]}"), name)
    raise AttributeError(f"module 'ritz.testing' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
