"""How many components: all criteria side by side, with a consensus and its reasons.

    rows                 one fit, whose spectrum every criterion reads; some rows are looked at again
    fitted model         its spectrum and its moment state: no row is read
    fitted model, rows   the same, and some rows for the criteria that need them

``n_components="consensus"``, ``"parallel"`` and so on in an estimator ask exactly these rules. The rules themselves lie
in ``ritz.rank``; what they are handed is the method's own business (``methods/rank_*.py``).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError

from ritz._core.bases import check_is_fitted
from ritz._core.errors import NoComponents, ParameterError
from ritz._core.random import seed_of
from ritz._core.warn import unsaid
from ritz.insight.calls import asked
from ritz.methods.fitted import Fitted, capabilities_of, fitted_of
from ritz.methods.pca import PCA
from ritz.rank.consensus import WHOLE, Consensus, Ranks
from ritz.rank.material import SAMPLE_ROWS
from ritz.rank.rule import NAMES, Options, criterion

__all__ = ["choose_rank"]

#: Spreads of columns that differ more than this many times are probably in different units.
UNLIKE = 10.0

FORMS = "choose_rank takes rows, or a model of Ritz"


@asked
def choose_rank(
    X_or_model: Any, X: Any = None, *, criteria: Iterable[str] | None = None, fraction: float = 0.9,
    noise: float | None = None, quantile: float | None = None, sample: int = SAMPLE_ROWS, center: bool = True,
    scale: bool = False, sample_weight: Any = None, random_state: Any = 0,
) -> Ranks:  # fmt: skip
    """Ask all criteria how many components there are, and take a consensus.

    Parameters
    ----------
    X_or_model : rows, or a model
        Rows are analysed by PCA. A fitted model is asked without its rows, from what it kept; one that is not fitted
        needs ``X``.
    X : rows, optional
        Rows of the model, for the criteria that permute, hold out and draw again.
    criteria : list of names, optional
        Which criteria to ask; all that make sense for the method if None.
    fraction : float
        Share of the variance for ``"fraction"``.
    noise : float, optional
        Standard deviation of the noise in an entry, in the units of the analysis, for ``"gavish-donoho"``.
    quantile : float, optional
        Quantile of simulated and permuted eigenvalues that a component must exceed. None: their mean for
        ``"parallel"``, 0.95 for ``"permutation"``.
    sample : int
        Rows that permutation, cross-validation and bootstrap look at, at most.
    center, scale : bool
        As in :class:`ritz.PCA`, for rows.
    sample_weight : (n,) frequencies, optional
        Of the rows that are fitted.
    random_state : int, Generator, RandomState or None
        Seed of simulations and samples.

    Returns
    -------
    Ranks
        ``consensus``, ``table`` (rows ``criterion, k, why``), ``reasons``; ``r[name]`` with ``k``, ``curve``, ``why``,
        ``assumption`` and ``caution``.

    Examples
    --------
    >>> import numpy as np, ritz
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((300, 2)) @ rng.standard_normal((2, 12)) + 0.5 * rng.standard_normal((300, 12))
    >>> r = ritz.choose_rank(X, criteria=["fraction", "kaiser", "parallel", "bic", "map"], fraction=0.99)
    >>> r.consensus
    2
    >>> r["kaiser"].k, r["parallel"].k, r["fraction"].k  # 99 % of the variance is mostly noise
    (2, 2, 11)
    >>> print(r["parallel"].assumption)
    Without structure the columns are independent and Gaussian, with the variances they have.
    """
    options = Options(_share(fraction), noise, quantile, _size(sample))
    if isinstance(X_or_model, type):
        raise ParameterError(FORMS, received=f"the class {X_or_model.__name__}", hint="choose_rank(X)")
    if not hasattr(X_or_model, "get_params"):
        if X is not None:
            raise ParameterError(FORMS, received="two tables", hint="choose_rank(X), or choose_rank(model, X)")
        model: Any = PCA(center=center, scale=scale, random_state=random_state)
        return _fitted(model, X_or_model, sample_weight, _names(criteria, model), options, random_state)
    model = X_or_model
    asked = capabilities_of(model)
    if asked is None:
        raise ParameterError(FORMS, received=type(model).__name__, hint="choose_rank(X)")
    if not asked.chooses:
        why, instead = asked.without_rules
        asked.refuse(
            "consensus of rules", why, instead or f"choose_rank(X, scale={getattr(model, 'scale', None) or False!r})"
        )
    if scale and not getattr(model, "scale", False):
        raise ParameterError(
            "scale belongs to rows; a model was fitted with a scale of its own",
            received="a model of unscaled columns",
            hint="choose_rank(X, scale=True), or a model with scale=True",
        )
    names = _names(criteria, model)
    if X is None:
        if not _is_fitted(model):
            raise ParameterError(
                "a model that is not fitted needs rows", received=type(model).__name__, hint="choose_rank(model, X)"
            )
        if not asked.keeps_spectrum:
            raise ParameterError(
                f"a {type(model).__name__} keeps no spectrum that the rules could look at", received="no rows",
                hint="choose_rank(model, X)",
            )  # fmt: skip
        return _kept(model, None, names, options, random_state)
    if _is_fitted(model) and sample_weight is None and fitted_of(model).answers_for(X):
        return _kept(model, X, names, options, random_state)
    return _fitted(model, X, sample_weight, names, options, random_state)


# checks


def _share(fraction: float) -> float:
    if not 0.0 < float(fraction) < 1.0:
        raise ParameterError("fraction must lie strictly between 0 and 1", received=repr(fraction), hint="fraction=0.9")
    return float(fraction)


def _size(sample: int) -> int:
    if isinstance(sample, bool) or not isinstance(sample, (int, np.integer)) or sample < 10:
        raise ParameterError("sample must be a number of rows, at least 10", received=repr(sample), hint="sample=20000")
    return int(sample)


def _names(criteria: Iterable[str] | None, model: Any) -> tuple[str, ...]:
    """The rules to ask; a name that is unknown or makes no sense raises."""
    method = capabilities_of(model)
    allowed = () if method is None else method.rules
    if criteria is None:
        return ("fraction", *allowed)
    asked = (criteria,) if isinstance(criteria, str) else tuple(criteria)
    for name in asked:
        if name != "fraction":
            _known(str(name), allowed, type(model).__name__)
    if not asked:
        raise ParameterError("criteria must name at least one", received="none", hint="criteria=None asks all")
    return asked


def _known(name: str, allowed: tuple[str, ...], method: str) -> None:
    """Refuse a name in the words of ``criteria``; ``criterion`` speaks of ``n_components``."""
    try:
        criterion(name, names=allowed, method=method)
    except ParameterError as error:
        hint = str(error.hint).removesuffix(", 'consensus'")
        if name in NAMES:
            raise ParameterError(f"{name!r} makes no sense for {method}", hint=hint) from None
        hint = "the result has it: choose_rank(X).consensus" if name == "consensus" else hint
        raise ParameterError("criteria are names of rules, or None for all", received=repr(name), hint=hint) from None


def _is_fitted(model: Any) -> bool:
    try:
        check_is_fitted(model)
    except NotFittedError:
        return False
    return True


# two ways to a spectrum


def _fitted(model: Any, X: Any, weights: Any, names: tuple[str, ...], options: Options, random_state: Any) -> Ranks:
    """Fit once, with the criteria as the rule that decides."""
    shape = getattr(X, "shape", None)
    small = min(int(shape[0]), int(shape[1])) if shape is not None and len(shape) == 2 else 0
    rule = Consensus(names, options, whole=small)
    made = type(model)(**{**model.get_params(deep=False), "n_components": rule, "random_state": random_state})
    with unsaid(NoComponents):  # no component is an answer here, not a model without any
        made.fit(X) if weights is None else made.fit(X, sample_weight=weights)
        fitted = fitted_of(made)
        if fitted.pending:
            len(made.certificate_.values)  # a state is solved when it is read
    ranks: Ranks = rule.held["ranks"]
    ranks.reasons.extend(_units(fitted))
    return ranks


def _units(fitted: Fitted) -> list[str]:
    """A word on columns in units of their own: the widest decide how many components there seem to be."""
    spread = fitted.unlike_columns()
    spread = spread[spread > 0]
    if not len(spread) or spread.max() <= UNLIKE * spread.min():
        return []
    times = float(spread.max() / spread.min())
    return [
        f"The standard deviations of the columns differ {times:,.3g}-fold, and wide columns decide; "
        "scale=True counts all alike."
    ]


def _kept(model: Any, X: Any, names: tuple[str, ...], options: Options, random_state: Any) -> Ranks:
    """Ask what a fitted model kept, and some rows if there are any."""
    fitted = fitted_of(model)
    seen, material = fitted.spectrum(), replace(fitted.material(X), seed=seed_of(random_state))
    rule: Any = Consensus(names, options, whole=0 if seen.complete else WHOLE + 1)
    within = fitted.within(rule, seen)
    if within is not None:
        return within.on(material).rule.ranks(within.seen(seen))
    ranks: Ranks = rule.on(material).ranks(seen)
    return ranks
