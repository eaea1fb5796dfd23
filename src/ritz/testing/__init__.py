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
from typing import Any

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
