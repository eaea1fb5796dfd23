"""What a fitted model and its axes are called, and how it refuses what its method does not have."""

from __future__ import annotations

from typing import NoReturn

from ritz._core.errors import ParameterError
from ritz.methods.fitted.about import About
from ritz.methods.fitted.kept import Kept

__all__ = ["Words"]


class Words(Kept):
    """Names of a method, of its axes and of its columns."""

    @property
    def name(self) -> str:
        """The estimator."""
        return type(self.model).__name__

    @property
    def about(self) -> About:
        """Words about the method."""
        about: About = self.model.about
        return about

    @property
    def k(self) -> int:
        """Number of axes."""
        return int(self.model._n_features_out)

    def axis_names(self, k: int | None = None) -> list[str]:
        """PC1, PC2, … as files and reports say."""
        return [f"{self.about.axis}{i + 1}" for i in range(self.k if k is None else k)]

    def column_labels(self) -> list[str] | None:
        """Names of the columns of the fit; None where it had none."""
        names = getattr(self.model, "feature_names_in_", None)
        return None if names is None else [str(name) for name in names]

    def entry_labels(self) -> list[str] | None:
        """Names of what stands in a row where columns have no names of their own; None where they have."""
        return None

    @property
    def rules(self) -> tuple[str, ...]:
        """Names of the rules for the number of components that make sense for the method."""
        return tuple(self.model._rules)

    def refuse(self, what: str, why: str | None = None, hint: str | None = None) -> NoReturn:
        """Say that a method has no such thing; the only wording there is."""
        raise ParameterError(f"{self.name} has no {what}" + ("" if why is None else f": {why}"), hint=hint)
