"""What a fit keeps beside its public names, each thing by one property: the only readers of what an estimator records.

    fitted_of(model).state      Moments of the rows, from which models are merged        None where it is not kept
    fitted_of(model).weight     Σw                                                       None where it is not kept

Nothing above ``methods`` looks into an estimator; it asks here.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ritz.data.passes.kept_rows import KeptRows
from ritz.data.passes.moments import Moments
from ritz.methods.moments import moments_of
from ritz.methods.record import set_values, value_of, values_of
from ritz.methods.streams.held import settle, settled
from ritz.spectral.problem import Seen

__all__ = ["Kept"]

Floats = NDArray[np.float64]


class Kept:
    """What an estimator recorded in its fit; None where it did not.

    Parameters
    ----------
    model : a fitted estimator
    """

    def __init__(self, model: Any) -> None:
        self.model = model

    def _recorded(self, key: str) -> Any:
        """What the fit recorded under a key; None where it recorded nothing."""
        return value_of(self.model, key)

    # sums over the rows

    @property
    def state(self) -> Any:
        """The moment state, from which models are merged and solved again; of rows that are kept, it is formed.

        None for a state of another kind.
        """
        state = settled(self.model)
        if isinstance(state, KeptRows):
            return moments_of(state)
        return state if isinstance(state, Moments) else None

    @property
    def pending(self) -> bool:
        """Whether rows were added up since the axes were last solved; reading a fitted name solves them."""
        return bool(self._recorded("_pending"))

    @property
    def counts(self) -> Any:
        """The table that was counted from two columns of categories."""
        return self._recorded("_raw")

    @property
    def mergeable(self) -> bool:
        """Whether what ``merge`` adds up was kept."""
        fills = getattr(self.model, "missing", "error") == "regularized"  # by axes of all rows: no sum of parts
        return (settled(self.model) is not None and not fills) or self.counts is not None

    @property
    def weight(self) -> float | None:
        """Σw of the rows."""
        weight = self._recorded("_weight")
        return None if weight is None else float(weight)

    @property
    def distance_sums(self) -> tuple[float, float, float] | None:
        """Σw, Σw·T² and Σw·Q, of models whose variances are not those of all rows."""
        sums = self._recorded("_sums")
        return None if sums is None else tuple(sums)

    # the frame of the fit

    @property
    def precision(self) -> np.dtype[Any] | None:
        """The floating-point type of the results."""
        return self._recorded("_dtype")

    @property
    def mean(self) -> Floats | None:
        """μ (d,) in float64; None without centring."""
        return self._recorded("_mean64")

    @property
    def mean_low(self) -> Floats | None:
        """What rounding took from μ, (d,)."""
        return self._recorded("_mean_low")

    @property
    def scale(self) -> Floats | None:
        """σ (d,) in float64; None without scaling."""
        return self._recorded("_scale64")

    @property
    def library(self) -> str | None:
        """The library of frames that the rows came in."""
        return self._recorded("_library")

    def row_names(self) -> list[Any] | None:
        """Names of the rows of the fit, where the model keeps them."""
        return self._recorded("_row_labels")

    # the spectrum

    @property
    def seen(self) -> Seen | None:
        """The eigenvalues that the solver knew, beyond those of the axes."""
        rest, values = self._recorded("_seen"), self._recorded("_seen_values")
        return None if rest is None or values is None else Seen(np.asarray(values, np.float64), *rest)

    @property
    def variances_off(self) -> Floats | None:
        """Variances off the plane, of methods that compute them in the fit."""
        values = self._recorded("_rest")
        return None if values is None else np.asarray(values, np.float64)

    @property
    def inertias(self) -> Floats | None:
        """Inertias along the axes of the certificate, where those that the method reports are corrected."""
        values = self._recorded("_lambda")
        return None if values is None else np.asarray(values, np.float64)

    @property
    def choice(self) -> tuple[str, str] | None:
        """The rule that chose the number of components, and its reason."""
        return self._recorded("_choice")

    # a kernel model

    @property
    def kernel(self) -> Any:
        """The kernel, as the fit used it."""
        return self._recorded("kernel_")

    @property
    def kernel_map(self) -> Any:
        """The map of rows into feature space: a ``KernelMap``, or a ``FeatureMapped`` of explicit features."""
        return self._recorded("_solved_map")

    @property
    def eigenvectors(self) -> Floats | None:
        """(n, k) coordinates of every row of the fit, of length 1; landmarks that stand for rows have none."""
        return self._recorded("eigenvectors_")

    # files

    #: what is made again when it is needed, and not written to files
    derived: tuple[str, ...] = ()
    #: names without which a model places no row
    needs: ClassVar[tuple[str, ...]] = ()

    def stored(self) -> dict[str, Any]:
        """What a file holds of the model beside its parameters, by the names that files use."""
        left_out = {*self.model.get_params(deep=False), *self.derived}
        # a field of the record that a reader asks for is written as None where it is None
        needed = dict.fromkeys(name for name in self.needs if name.startswith("_"))
        settle(self.model)
        values = {**needed, **values_of(self.model)}
        return {name: value for name, value in values.items() if name not in left_out}

    def with_parameters(self, **parameters: Any) -> Any:
        """A copy of the fitted model with other parameters, for those that change no result."""
        same = type(self.model)(**self.model.get_params(deep=False))
        set_values(same, {**values_of(self.model), **parameters})
        return same
