"""scikit-learn's base classes of estimators, and its check that one is fitted, without loading it where nobody asks.

    import ritz         BaseEstimator, TransformerMixin, ClassNamePrefixFeaturesOutMixin are scikit-learn's own
    the program         bases with the same parameters, states and names: to load scikit-learn takes a quarter of the
                        processor time of a command that places a few rows

The program calls nothing of an estimator but what stands here. Where it hands one to scikit-learn, to be cloned for
instance, what counts there is what the estimator can do, not its class; what scikit-learn alone can tell, it is asked.
"""

from __future__ import annotations

import inspect
import sys
from typing import TYPE_CHECKING, Any

from ritz._core import imports

__all__ = ["BaseEstimator", "ClassNamePrefixFeaturesOutMixin", "TransformerMixin", "check_is_fitted"]


def check_is_fitted(estimator: Any) -> None:
    """Pass where the estimator is fitted; else ``sklearn.utils.validation.check_is_fitted`` says that it is not."""
    if not isinstance(estimator, type) and hasattr(estimator, "fit"):
        told = getattr(estimator, "__sklearn_is_fitted__", None)
        if told() if told is not None else any(n.endswith("_") and not n.startswith("__") for n in vars(estimator)):
            return
    from sklearn.utils.validation import check_is_fitted as check

    check(estimator)


class _OwnEstimator:
    """Parameters, states and names of an estimator, as ``sklearn.base`` has them."""

    @classmethod
    def _get_param_names(cls) -> list[str]:
        found = inspect.signature(cls.__init__).parameters.values()
        return sorted(one.name for one in found if one.name != "self" and one.kind != one.VAR_KEYWORD)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters by name."""
        params: dict[str, Any] = {}
        for name in self._get_param_names():
            value = params[name] = getattr(self, name)
            if deep and hasattr(value, "get_params") and not isinstance(value, type):
                params |= {f"{name}__{inner}": held for inner, held in value.get_params().items()}
        return params

    def set_params(self, **params: Any) -> Any:
        """Set parameters."""
        for name, value in params.items():
            owner, _, inner = name.partition("__")
            if owner not in self._get_param_names():
                known = f"Valid parameters are: {self._get_param_names()!r}."
                raise ValueError(f"Invalid parameter {owner!r} for estimator {self}. {known}")
            if inner:
                getattr(self, owner).set_params(**{inner: value})
            else:
                setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        from sklearn.base import BaseEstimator as Base

        twin = type(type(self).__name__, (Base,), {"__init__": type(self).__init__})
        return repr(twin(**self.get_params(deep=False)))

    def __getstate__(self) -> dict[str, Any]:
        return dict(vars(self))

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)

    def __sklearn_tags__(self) -> Any:
        from sklearn import base

        return type("Tagged", (base.TransformerMixin, base.BaseEstimator), {})().__sklearn_tags__()


class _OwnMixin:
    """Nothing: what a transformer has, the methods have themselves."""


class _OwnNames:
    """Names of columns that are given: the class and a number."""

    _n_features_out: int

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Names of the columns of ``transform``."""
        from sklearn.utils.validation import _generate_get_feature_names_out as generate

        check_is_fitted(self)
        return generate(self, self._n_features_out, input_features=input_features)


if TYPE_CHECKING or not imports.alone or "sklearn" in sys.modules:
    from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
else:
    BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin = _OwnEstimator, _OwnNames, _OwnMixin
