"""Partial least squares: components of one table that say most of another.

    max cov(X̃w, Ỹc),  ‖w‖ = ‖c‖ = 1        X̃ᵀỸ = W Σ Cᵀ  (d×q)                                    [Wol75, dJo93]

The first component is the leading singular pair of the cross-product, whose singular pairs the certificate is about;
with ``algorithm="svd"`` so are all others. ``"simpls"`` and ``"nipals"`` find each further component in the same way
from a cross-product that the earlier ones were taken out of (``components.py``).
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from ritz._core.errors import InputError, ParameterError
from ritz._core.factors import svd
from ritz.methods.fitted.about import About
from ritz.methods.fitted.two_tables import TwoTableModel
from ritz.methods.posed import Posed
from ritz.methods.two_tables.base import TwoTables
from ritz.methods.two_tables.components import Found, by_nipals, by_simpls
from ritz.methods.two_tables.joint import FORMED, Cross, Joint, U
from ritz.spectral.solution import Solution

__all__ = ["PLS"]

Floats = NDArray[np.float64]

ALGORITHMS = ("simpls", "nipals", "svd")


class PLS(TwoTables):
    """Partial least squares, with a certificate of the cross-product that it comes from.

    Parameters
    ----------
    n_components : int, None or "kfold"
        A number, as many as there are, or the number that 10-fold cross-validation chooses.
    algorithm : "simpls", "nipals" or "svd"
        simpls: each component has the largest covariance with the second table among those that are uncorrelated with
        the ones before. nipals: the first table is deflated instead, as scikit-learn's PLSRegression does; the same
        with one column in the second table. svd: all singular pairs of the cross-product at once (PLS-SVD).
    scale : bool
        Divide the columns of both tables by their standard deviations.
    target : None, name, number, or a list of them
        Columns of the table given to ``fit`` that are the second table; None where it is given as ``y``.
    solver, tol, random_state, memory, device, progress
        As for :class:`ritz.PCA`; the solver finds the singular pairs that the certificate is about.

    Attributes
    ----------
    x_weights_, x_loadings_, x_rotations_ : (d, k); scores are ``(x − mean_)/scale_ @ x_rotations_``
    y_weights_, y_loadings_, y_rotations_ : (q, k)
    components_ : (k, d) the rotations
    coef_, intercept_ : (q, d) and (q,); ``predict`` is ``X @ coef_.T + intercept_``, computed about the mean
    explained_variance_, explained_variance_ratio_ : (k,) of the first table; what a component adds
    y_explained_variance_ratio_ : (k,) of the second table
    covariances_ : (k,) singular values of the cross-product that each component was found from, over n − 1
    vip_ : (d,) variable importance in projection; the mean of its squares is 1
    mean_, scale_, y_mean_, y_scale_ : (d,) and (q,)
    cv_errors_ : error of prediction with 0, 1, … components, with ``n_components="kfold"``
    target_names_ : (q,)
    certificate_, plan_, n_components_, n_samples_, n_features_in_

    Examples
    --------
    >>> import ritz
    >>> from sklearn.datasets import load_linnerud
    >>> exercise, body = load_linnerud(return_X_y=True)   # 20 men: three exercises, three measures
    >>> pls = ritz.PLS(2).fit(exercise, body)
    >>> pls.y_explained_variance_ratio_.round(3)          # what the exercises say of weight, waist and pulse
    array([0.207, 0.078])
    >>> pls.predict(exercise[:1]).round(1)
    array([[180.3,  35.6,  56.1]])
    >>> bool(pls.verify(exercise, body))
    True
    """

    about: ClassVar[About] = About(
        "Partial least squares",
        "pls",
        "LV",
        component="component",
        whole="variance of the first table",
        behind="the cross-product of the two tables",
        cites=("[dJo93]", "[Wol75]"),
        paper="S. de Jong, SIMPLS: an alternative approach to partial least squares regression, Chemometrics and "
        "Intelligent Laboratory Systems 18 (1993), 251–263.",
    )
    fitted: ClassVar[type[TwoTableModel]] = TwoTableModel

    def __init__(
        self, n_components: Any = 2, *, algorithm: str = "simpls", scale: bool = True, target: Any = None,
        solver: str = "auto", tol: float = 1e-6, random_state: Any = 0, memory: Any = None, device: str = "cpu",
        progress: Any = None,
    ) -> None:  # fmt: skip
        self.n_components = n_components
        self.algorithm = algorithm
        self.scale = scale
        self.target = target
        self.solver = solver
        self.tol = tol
        self.random_state = random_state
        self.memory = memory
        self.device = device
        self.progress = progress

    def _few_products(self) -> int | None:
        return int(self.n_components) if isinstance(self.n_components, (int, np.integer)) else None

    def _most(self, joint: Joint) -> int:
        most = super()._most(joint)
        return min(most, joint.q) if self.algorithm == "svd" else most

    def _pose_joint(self, joint: Joint, wanted: Any, most: int, dtype: Any, weights: Any) -> Posed:
        """The cross-product of both tables in units of both, the smaller one on the right."""
        k = self._number(wanted, most)
        sizes = float(np.sqrt(joint.sizes[0]) * np.sqrt(joint.sizes[1]))
        S, symbol = joint.cross.T, "ỸᵀX̃/(‖X̃‖‖Ỹ‖)"
        if len(S) < joint.d:
            S, symbol = S.T, "X̃ᵀỸ/(‖X̃‖‖Ỹ‖)"
        if not float(np.linalg.norm(S)) > 1e-14 * sizes:
            raise InputError(
                "two tables with something in common: their columns have no covariance",
                received="a table that does not vary" if sizes == 0 else "covariances that are nothing but rounding",
                hint="look at the columns of both tables",
            )
        if len(S) > 2 * S.shape[1]:
            S = scipy.linalg.qr(S, mode="r", check_finite=False)[0][: S.shape[1]]  # the same SᵀS
        operator, frame = Cross(S / sizes, FORMED * U, symbol), {"matrix": f"AᵀA, A = {symbol}"}
        return Posed(
            operator, wanted=min(k, *operator.shape), weights=weights, kept=(joint, k, dtype, wanted), frame=frame
        )

    def _directions(self, joint: Joint, k: int) -> Found:
        if self.algorithm == "svd":
            U_, s, Vt = svd(joint.cross)
            nothing = FORMED * U * float(np.sqrt(joint.sizes[0]) * np.sqrt(joint.sizes[1]))
            k = min(k, max(1, int(np.sum(s > nothing))))  # the others have no scores, and no coefficients
            return Found(U_[:, :k], U_[:, :k], Vt[:k].T, s[:k], np.zeros(k))
        return (by_simpls if self.algorithm == "simpls" else by_nipals)(joint.X, joint.Y, k)

    def read(self, solution: Solution, posed: Posed) -> None:
        """Components, regression, importance."""
        joint, k, dtype, asked = posed.kept
        found = self._directions(joint, k)
        told = self._few(asked, k, len(found.values))
        if self.algorithm != "svd" and len(found.values) > 1:
            worst, last = float(np.max(found.residuals[1:])), len(found.values)
            which = "component 2 is" if last == 2 else f"components 2 to {last} are each"
            told = (*told, f"{which} the leading singular pair of the cross-product that the earlier ones leave: "
                           f"residual at most {worst:.1e} of the first singular value")  # fmt: skip
        self._name(joint, found, solution, dtype, found.second, told)
        self.covariances_ = (found.values / joint.divisor).astype(dtype)
        says = np.asarray(self.y_explained_variance_ratio_, np.float64)
        unit = np.square(np.asarray(self.x_weights_, np.float64))
        unit = unit / np.sum(unit, axis=0)
        self.vip_ = np.sqrt(joint.d * (unit @ says) / max(float(np.sum(says)), 1e-300)).astype(dtype)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.algorithm not in ALGORITHMS:
            raise ParameterError(
                f"algorithm must be {', '.join(map(repr, ALGORITHMS[:-1]))} or {ALGORITHMS[-1]!r}",
                received=repr(self.algorithm), hint="algorithm='simpls'",
            )  # fmt: skip
