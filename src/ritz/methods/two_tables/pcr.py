"""Principal component regression: the second table from the principal components of the first.

    X̃ᵀX̃ V = V Λ,   T = X̃ V (k scores),   Ŷ = T (TᵀT)⁻¹TᵀỸ                                       [Mas65, Jol02]

The components are those of the first table alone: directions of little variance are left out, whether they say much of
the second table or not. Errors of both kinds are in the model: what components explain of X, and of Y.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import InputError, ParameterError
from ritz._core.factors import svd
from ritz.methods.fitted.about import About
from ritz.methods.fitted.two_tables import TwoTableModel
from ritz.methods.posed import Posed
from ritz.methods.two_tables.base import TwoTables
from ritz.methods.two_tables.components import Found
from ritz.methods.two_tables.joint import Cross, Joint, U
from ritz.spectral.plan import Plan, Shape
from ritz.spectral.problem import SpectralProblem
from ritz.spectral.solution import Solution

__all__ = ["PCR"]

Floats = NDArray[np.float64]

#: Rules that read the spectrum of the first table.
RULES = ("aic", "bic", "broken-stick", "elbow", "gavish-donoho", "kaiser", "mle")
#: Singular values, in units of the largest, below which directions hold nothing but rounding.
NOTHING = 1e-13


class PCR(TwoTables):
    """Principal component regression, with the certificate of its components.

    Parameters
    ----------
    n_components : int, float, None or str
        A number; a fraction of the variance of the first table in (0, 1); None for all; ``"kfold"`` for the number that
        10-fold cross-validation chooses; or a rule for the spectrum of the first table: ``aic bic broken-stick elbow
        gavish-donoho kaiser mle``.
    scale : bool
        Divide the columns of both tables by their standard deviations.
    target : None, name, number, or a list of them
        Columns of the table given to ``fit`` that are the second table; None where it is given as ``y``.
    solver, tol, random_state, memory, device, progress
        As for :class:`ritz.PCA`.

    Attributes
    ----------
    components_ : (k, d) principal axes of the first table
    explained_variance_, explained_variance_ratio_ : (k,) of the first table
    y_explained_variance_ratio_ : (k,) what each component says of the second table
    coef_, intercept_, mean_, scale_, y_mean_, y_scale_, target_names_, cv_errors_ : as for :class:`ritz.PLS`
    certificate_, plan_, n_components_, n_samples_, n_features_in_

    Examples
    --------
    >>> import ritz
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> pcr = ritz.PCR("kfold").fit(X, y)
    >>> pcr.n_components_, round(pcr.score(X, y), 3)
    (4, 0.5)
    >>> round(float(pcr.explained_variance_ratio_.sum()), 3)
    0.768
    """

    about: ClassVar[About] = About(
        "Principal component regression",
        "pcr",
        "PC",
        whole="variance of the first table",
        cites=("[Jol02]", "[Mas65]"),
        paper="W. F. Massy, Principal components regression in exploratory statistical research, Journal of the "
        "American Statistical Association 60 (1965), 234–256.",
    )
    fitted: ClassVar[type[TwoTableModel]] = TwoTableModel
    _small_svd = False
    _rules: ClassVar[tuple[str, ...]] = RULES
    _words: ClassVar[tuple[str, ...]] = ("kfold", *RULES)

    def __init__(
        self, n_components: Any = None, *, scale: bool = True, target: Any = None, solver: str = "auto",
        tol: float = 1e-6, random_state: Any = 0, memory: Any = None, device: str = "cpu", progress: Any = None,
    ) -> None:  # fmt: skip
        self.n_components = n_components
        self.scale = scale
        self.target = target
        self.solver = solver
        self.tol = tol
        self.random_state = random_state
        self.memory = memory
        self.device = device
        self.progress = progress

    def _pose_joint(self, joint: Joint, wanted: Any, most: int, dtype: Any, weights: Any) -> Posed:
        """The first table itself, by its factor."""
        size = float(np.linalg.norm(joint.X))
        if size == 0:
            raise InputError("columns that vary in the first table", received="constant columns only",
                             hint="components are directions of variance")  # fmt: skip
        operator = Cross(joint.X / size, joint.error * U, "X̃/‖X̃‖")
        if wanted is None or isinstance(wanted, (int, np.integer)):
            wanted = self._number(wanted, most)
        else:
            wanted = self._wanted(joint.rows, joint.d, centered=True)
        return Posed(operator, centered=True, wanted=wanted, weights=weights, kept=(joint, dtype),
                     frame={"matrix": "X̃ᵀX̃/‖X̃‖²"})  # fmt: skip

    def _small(self, shape: Shape, q: int) -> Shape:
        return Shape(min(shape.n, 2 * (shape.d + q)), shape.d, 8, None)

    def _problem(self, posed: Posed, plan: Plan) -> SpectralProblem:
        joint: Joint = posed.kept[0]
        return SpectralProblem(
            posed.operator, n=joint.weight, d=joint.d, rows=joint.rows, centered=True,
            **self._request(posed.wanted, posed.shape),
        )  # fmt: skip

    def _directions(self, joint: Joint, k: int) -> Found:
        s, Vt = svd(joint.X)[1:]
        k = min(k, int(np.sum(s > NOTHING * s[0])))
        V = Vt[:k].T
        return Found(V, V, joint.Y.T @ (joint.X @ V), s[:k], np.zeros(k))

    def read(self, solution: Solution, posed: Posed) -> None:
        """Axes and regression; axes without variance say nothing, and are left out."""
        joint, dtype = posed.kept
        s = np.asarray(solution.singular_values, np.float64)  # in units of ‖X̃‖
        k = max(1, int(np.sum(s > NOTHING * s[0])))
        V = np.asarray(solution.vectors, np.float64)[:, :k]
        C = joint.Y.T @ (joint.X @ V)
        C = C / np.maximum(np.linalg.norm(C, axis=0), 1e-300)
        told = self._few(self.n_components, len(s), k)
        self._name(joint, Found(V, V, C, s[:k], np.zeros(k)), solution, dtype, C, told)

    def _check_parameters(self) -> None:
        if isinstance(self.n_components, float) and not 0 < self.n_components < 1:
            raise ParameterError("a fraction of the variance lies in (0, 1)", received=repr(self.n_components),
                                 hint="n_components=0.9")  # fmt: skip
        super()._check_parameters()
