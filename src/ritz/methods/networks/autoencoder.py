"""Autoencoders: a network that rebuilds rows from k numbers.                                             [BH89, HS06]

    min Σ w‖z − g(f(z))‖²       f: R^d → R^k,  g: R^k → R^d

Without hidden layers f and g are linear, and no linear network does better than the first k principal components
[BH89]: the certificate of those bounds its error from below. With hidden layers it may do better, and nobody knows by
how much: the loss has many local minima, and what is told is measured on rows that took no part in the training.
"""

from __future__ import annotations

import numbers
import time
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ritz._core.bases import check_is_fitted
from ritz._core.errors import AccuracyWarning, InputError, ParameterError
from ritz._core.linalg import signs
from ritz._core.progress import using
from ritz._core.random import seed_of
from ritz._core.warn import unsaid, warn
from ritz.data.passes.blocks import are_blocks
from ritz.data.validate import validate_rows
from ritz.methods.fitted.about import About
from ritz.methods.fitted.network import OfNetwork
from ritz.methods.linear_record import NetworkRecord
from ritz.methods.method import Method
from ritz.methods.networks.layers import ACTIVATIONS, Layers, NetworkMap
from ritz.methods.networks.training import Recipe, Trained, require_torch, trained
from ritz.methods.pca import PCA
from ritz.methods.posed import Posed, rows_that_count
from ritz.methods.record import keep
from ritz.methods.verify.again import refound
from ritz.project.linear import result_dtype
from ritz.spectral.plan import Plan
from ritz.spectral.verify import Verification

__all__ = ["Autoencoder"]

Floats = NDArray[np.float64]

INITS = ("pca", "random")
#: What is said of every network with hidden layers.
HONEST = "a network has no proof: another start may end lower. The eigenvalues are those of the ordinary components"
#: Relative difference that a second computation of an error may leave.
CLOSE = 1e-9


@dataclass(eq=False)
class Trial:
    """The ordinary components of the rows, rows in their frame, and which are held out."""

    pca: PCA
    rows: Any
    weights: Floats
    held: NDArray[np.intp]


class Autoencoder(Method):
    """An autoencoder, linear or with hidden layers; these are trained by PyTorch (``pip install 'ritz[gpu]'``).

    Parameters
    ----------
    n_components : int
        Numbers that a row is rebuilt from.
    hidden : tuple of int
        Widths of the layers between a row and these numbers; the same the other way round. () is the linear one.
    activation : "tanh", "relu", "elu" or "logistic"
        Of hidden layers.
    init : "pca" or "random"
        Straight paths past the hidden layers begin as principal components and everything else as nothing, so that no
        row that is held out is rebuilt worse than by PCA; or all weights begin at random.
    scale : bool
        Divide columns by their standard deviations.
    noise : float
        Standard deviation of noise that is added to rows in training, in units of the mean spread of a column: a
        denoising autoencoder.
    validation : float
        Share of the rows that are held out, to decide when to stop. A linear network needs none.
    max_epochs, patience : int
        Passes over the rows at most, and passes without a better error on held-out rows after which training ends.
    batch_size, learning_rate, weight_decay
        Of Adam.
    solver, tol, random_state, memory, device, progress
        As for :class:`ritz.PCA`. The same ``random_state`` gives the same network on the same machine; torch takes one
        thread.

    Attributes
    ----------
    embedding_ : (n, k) coordinates of the rows of the fit: uncorrelated, by decreasing variance
    explained_variance_ : (k,) their variances
    reconstruction_error_, pca_error_ : mean squared error of an entry of the rows of the fit, by the network and by as
        many principal components, in the scale of the fit
    held_out_error_, pca_held_out_error_ : the same on the rows that were held out; NaN of a linear network
    loss_curve_, held_out_curve_ : errors of all epochs, the start first; with ``noise``, of noisy copies
    best_epoch_, n_iter_ : the epoch whose weights were kept, and how many there were
    mean_, scale_ : (d,); scale_ is None without scaling
    certificate_ : of the ordinary components; the network itself is not certified
    plan_, n_components_, n_samples_, n_features_in_

    Examples
    --------
    >>> import numpy as np, ritz
    >>> angle = np.random.default_rng(0).uniform(0, 2 * np.pi, 400)
    >>> ring = np.column_stack([2 * np.cos(angle), 2 * np.sin(angle), np.cos(2 * angle)])
    >>> net = ritz.Autoencoder(2, hidden=(16,), max_epochs=1000, patience=5, learning_rate=0.01).fit(ring)
    >>> bool(net.held_out_error_ < 0.01 * net.pca_held_out_error_)  # the ring is a curved surface, and no plane
    True
    >>> straight = ritz.Autoencoder(2, init="random").fit(ring)   # without hidden layers it is PCA
    >>> bool(abs(straight.reconstruction_error_ / straight.pca_error_ - 1) < 1e-6)
    True
    """

    about: ClassVar[About] = About(
        "Autoencoder", "autoencoder", "AE", measure="variance", whole="variance of the coordinates",
        behind="the ordinary components of the same rows", cites=("[BH89]", "[HS06]"),
        paper="G. E. Hinton and R. R. Salakhutdinov, Reducing the dimensionality of data with neural networks, Science "
        "313 (2006), 504–507.",
    )  # fmt: skip
    fitted: ClassVar[type[OfNetwork]] = OfNetwork
    _records: ClassVar[type[NetworkRecord]] = NetworkRecord
    _record: NetworkRecord

    def __init__(
        self, n_components: Any = 2, *, hidden: Any = (), activation: str = "tanh", init: str = "pca",
        scale: bool = False, noise: float = 0.0, validation: float = 0.1, max_epochs: int = 500, patience: int = 20,
        batch_size: int = 64, learning_rate: float = 5e-3, weight_decay: float = 0.0, solver: str = "auto",
        tol: float = 1e-6, random_state: Any = 0, memory: Any = None, device: str = "cpu", progress: Any = None,
    ) -> None:  # fmt: skip
        self.n_components = n_components
        self.hidden = hidden
        self.activation = activation
        self.init = init
        self.scale = scale
        self.noise = noise
        self.validation = validation
        self.max_epochs = max_epochs
        self.patience = patience
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.solver = solver
        self.tol = tol
        self.random_state = random_state
        self.memory = memory
        self.device = device
        self.progress = progress

    # the fit

    def pose(self, rows: Any, weights: Floats | None) -> Posed:
        """The rows, and which of them are held out."""
        if self._hidden():
            require_torch()
        if are_blocks(rows):
            raise InputError("an autoencoder goes over its rows many times, and needs them in memory",
                             received="rows that are read in pieces", hint="fit a sample of the rows")  # fmt: skip
        n, d = rows.shape
        rows_that_count(self, rows, weights)
        k = self.n_components
        if not isinstance(k, (int, np.integer)) or isinstance(k, bool) or not 1 <= k <= min(n - 1, d):
            raise ParameterError(f"n_components={k!r} must be a number from 1 to {min(n - 1, d)}", received=repr(k),
                                 hint="n_components=1")  # fmt: skip
        held = np.zeros(0, np.intp)
        if self._hidden():
            count = max(1, round(float(self.validation) * n))
            if n - count < max(2, k + 1):
                raise InputError("rows to train on beside those that are held out", received=f"{n} rows",
                                 hint="more rows, or a smaller share of them in validation")  # fmt: skip
            held = np.sort(np.random.default_rng(seed_of(self.random_state)).permutation(n)[:count])
        options = {"solver": self.solver, "tol": self.tol, "random_state": self.random_state, "memory": self.memory}
        pca = PCA(int(k), scale=bool(self.scale), mergeable=False, **options)
        w = np.ones(n) if weights is None else weights
        return Posed(rows=rows, weights=weights, kept=Trial(pca, rows, w, held))

    def _hidden(self) -> tuple[int, ...]:
        given = self.hidden
        return (int(given),) if isinstance(given, (int, np.integer)) else tuple(int(one) for one in given)

    def _plan(self, posed: Posed) -> Plan:
        n, d = posed.rows.shape
        hidden = self._hidden()
        size = 2 * d * int(self.n_components) + 2 * sum(
            a * b for a, b in zip((d, *hidden), (*hidden, int(self.n_components)), strict=True)
        )
        if hidden:
            most = int(self.max_epochs)
            reasons: tuple[str, ...] = (f"{size:,} weights, trained by Adam for {most:,} passes over the rows at most",
                       f"{len(posed.kept.held):,} rows are held out, and say when to stop")  # fmt: skip
            return Plan("Adam", "rows", "float32", most, 6e-10 * size * n * most, 8.0 * n * d, reasons)
        reasons = ("without hidden layers the loss is a function of the covariance: L-BFGS on all rows at once",)
        return Plan("L-BFGS", "rows", "float64", 1, 1e-9 * size * d + 2e-10 * n * d * d, 8.0 * n * d, reasons)

    def _solved(self, posed: Posed, plan: Any) -> tuple[Any, ...]:
        trial: Trial = posed.kept
        began = time.perf_counter()
        with using(self.progress, type(self).__name__):
            with unsaid():
                pca = trial.pca.fit(trial.rows, sample_weight=posed.weights)
            record = pca._record
            unit = float(np.sqrt(max(pca.total_variance_, 1e-300) / trial.rows.shape[1]))
            mean = np.asarray(record.mean64) + (0.0 if record.mean_low is None else record.mean_low)
            frame = NetworkMap(*(Layers.of([np.zeros((1, 1)), np.zeros(1)]),) * 2, "tanh", mean, record.scale64, unit)
            Z = frame.framed(trial.rows)
            made = trained(Z, trial.weights, trial.held, np.asarray(pca.components_, np.float64).T, self._recipe())
        return pca, made, Z, frame, plan.done(len(made.errors), time.perf_counter() - began)

    def _recipe(self) -> Recipe:
        return Recipe(
            int(self.n_components), self._hidden(), self.activation, self.init, float(self.noise), int(self.max_epochs),
            int(self.patience), int(self.batch_size), float(self.learning_rate), float(self.weight_decay),
            float(self.tol), seed_of(self.random_state),
        )  # fmt: skip

    def read(self, solution: Any, posed: Posed) -> None:
        """Coordinates along their principal axes, errors, and what is not proved."""
        pca, made, Z, frame, plan = solution
        trial: Trial = posed.kept
        w, d, unit = trial.weights, Z.shape[1], frame.unit
        encoder, decoder, T = _turned(made, Z, w, self.activation)
        dtype = result_dtype(trial.rows.dtype)
        self.embedding_ = T.astype(dtype)
        self.explained_variance_ = (w @ np.square(T) / (w.sum() - 1)).astype(dtype)
        off = np.square((Z - decoder(T, self.activation)) * unit).sum(axis=1) / d
        V = np.asarray(pca.components_, np.float64).T
        plain = np.square((Z - (Z @ V) @ V.T) * unit).sum(axis=1) / d
        out, mean = trial.held, lambda x, s: float(np.average(x[s], weights=w[s])) if len(s) else float("nan")
        every = np.arange(len(Z))
        self.reconstruction_error_, self.pca_error_ = mean(off, every), mean(plain, every)
        self.held_out_error_, self.pca_held_out_error_ = mean(off, out), mean(plain, out)
        self.loss_curve_, self.held_out_curve_ = made.errors * unit**2 / d, made.held_out * unit**2 / d
        self.best_epoch_, self.n_iter_ = made.best, len(made.errors) - 1
        self.mean_, self.scale_ = pca.mean_, pca.scale_
        self.n_components_, self.n_samples_ = T.shape[1], len(T)
        self.plan_ = plan
        keep(
            self, encoder=encoder.arrays(), decoder=decoder.arrays(), mean64=frame.mean, scale64=frame.scale, unit=unit,
            dtype=np.dtype(dtype), weight=float(w.sum()),
        )  # fmt: skip
        self.certificate_ = replace(pca.certificate_, notes=(*pca.certificate_.notes, *self._notes(made)))

    def _notes(self, made: Trained) -> tuple[str, ...]:
        """What is known of the network, and a warning where it did not come to rest."""
        own, plain = self.reconstruction_error_, self.pca_error_
        if not self._hidden():
            above = max(own - plain, 0.0) / plain if plain > 0 else 0.0
            words = [
                f"a linear network cannot do better than the ordinary components; this one is {above:.1e} above them"
            ]
        else:
            words = [HONEST, f"mean squared error of an entry {own:.4g}, by as many components {plain:.4g}; of rows "
                     f"held out {self.held_out_error_:.4g} and {self.pca_held_out_error_:.4g}"]  # fmt: skip
            if self.best_epoch_ == 0:
                start = "the ordinary components" if self.init == "pca" else "random weights"
                words.append(f"training made nothing better on rows held out: the network is its start, {start}")
        if not made.rested:
            cause = f"max_epochs={self.max_epochs}" if self._hidden() else "its last step"
            warn(f"the autoencoder still became better at {cause}; try more epochs", AccuracyWarning)
            words.append(f"training ended at {cause}, not by itself")
        return tuple(words)

    # rows

    def _map(self) -> NetworkMap:  # type: ignore[override]
        check_is_fitted(self)
        r, names = self._record, getattr(self, "feature_names_in_", None)
        return NetworkMap(
            Layers.of(r.encoder),
            Layers.of(r.decoder),
            self.activation,
            np.asarray(r.mean64),
            r.scale64,
            float(r.unit),
            names,
        )

    def reconstruction_error(self, X: Any) -> Floats:
        """Mean squared error of an entry of each row, rebuilt from its coordinates, (n,); in the scale of the fit.

        Examples
        --------
        >>> import numpy as np, ritz
        >>> X = np.random.default_rng(0).standard_normal((60, 2)) @ [[1.0, 2.0, 0.0], [0.0, 1.0, 1.0]]
        >>> model = ritz.Autoencoder(2).fit(X)
        >>> odd = X[:1] + [[3.0, -3.0, 3.0]]          # off the plane in which the rows lie
        >>> bool(model.reconstruction_error(odd)[0] > 100 * model.reconstruction_error(X).max())
        True
        """
        check_is_fitted(self)
        return self._map().squares(validate_rows(self, X, reset=False)) / int(self.n_features_in_)

    def score_samples(self, X: Any) -> Floats:
        """Minus ``reconstruction_error``: higher is more normal.

        Examples
        --------
        >>> import numpy as np, ritz
        >>> t = np.linspace(-1.0, 1.0, 80)
        >>> curve = np.column_stack([t, t**2])
        >>> model = ritz.Autoencoder(1).fit(curve)
        >>> on, off = model.score_samples([[0.5, 0.25], [0.5, 2.25]])
        >>> bool(on > off)
        True
        """
        return -self.reconstruction_error(X)

    def score(self, X: Any, y: Any = None) -> float:
        """Mean of ``score_samples``."""
        return float(np.mean(self.score_samples(X)))

    # the check

    def verify(self, X: Any, sample_weight: Any = None) -> Verification:
        """Check the certificate of the ordinary components, and the errors that are told, from the rows.

        That no better network exists is not checked: nobody knows.

        Parameters
        ----------
        X, sample_weight : what fit took

        Examples
        --------
        >>> import numpy as np, ritz
        >>> X = np.random.default_rng(0).standard_normal((50, 4))
        >>> net = ritz.Autoencoder(2).fit(X)
        >>> bool(net.verify(X)), bool(net.verify(X + 0.1 * (X > 1)))
        (True, False)
        """
        check_is_fitted(self)
        rows, weights = self._rows(X, sample_weight, reset=False)
        checked: Verification = self.certificate_.verify(rows, weights)
        w = np.ones(rows.shape[0]) if weights is None else weights
        step = self._map()
        own = float(np.average(step.squares(rows), weights=w)) / int(self.n_features_in_)
        T = np.asarray(step.forward(rows, np.float64))
        wrong = [] if checked.ok else list(checked.words)
        close = 1e-5 if self._record.dtype == np.float32 else CLOSE
        if not abs(own - self.reconstruction_error_) <= close * max(own, self.pca_error_):
            wrong.append(f"rows are rebuilt with an error of {own:.6g}, told {self.reconstruction_error_:.6g}")
        size = float(np.max(np.abs(T), initial=0.0))
        if T.shape != self.embedding_.shape or not float(np.max(np.abs(T - self.embedding_))) <= close * size:
            wrong.append("embedding_ is not what the network makes of the rows")
        spread = w @ np.square(T) / (w.sum() - 1)
        if not np.allclose(self.explained_variance_, spread, rtol=10 * close, atol=1e-300):
            wrong.append("explained_variance_ does not follow from the coordinates")
        wrong += refound(self, lambda other: other.fit(X, sample_weight=sample_weight), place=("embedding_",))
        said = f"rows are rebuilt with a mean squared error of {own:.6g}"
        said += "; whether a better network exists is not known" if self._hidden() else ""
        return replace(checked, ok=not wrong, words=tuple(wrong or (*checked.words, said)))

    # small checks

    def _check_parameters(self) -> None:
        super()._check_parameters()
        try:
            hidden = self._hidden()
        except (TypeError, ValueError):
            hidden = (-1,)
        if any(one < 1 for one in hidden):
            raise ParameterError("hidden names the widths of layers", received=repr(self.hidden), hint="hidden=(32,)")
        for name, allowed in (("activation", tuple(ACTIVATIONS)), ("init", INITS)):
            if getattr(self, name) not in allowed:
                raise ParameterError(f"{name} must be one of {', '.join(map(repr, allowed))}",
                                     received=repr(getattr(self, name)), hint=f"{name}={allowed[0]!r}")  # fmt: skip
        bounds = {"noise": (0, np.inf), "validation": (1e-9, 0.9), "learning_rate": (1e-12, np.inf),
                  "weight_decay": (0, np.inf), "max_epochs": (1, np.inf), "patience": (1, np.inf),
                  "batch_size": (1, np.inf)}  # fmt: skip
        for name, (low, high) in bounds.items():
            value = getattr(self, name)
            if not isinstance(value, numbers.Real) or isinstance(value, bool) or not low <= float(value) <= high:
                words = "a share in (0, 0.9]" if name == "validation" else f"a number ≥ {low:g}"
                raise ParameterError(f"{name} must be {words}", received=repr(value), hint=f"leave out {name}")


def _turned(made: Trained, Z: Floats, w: Floats, activation: str) -> tuple[Layers, Layers, Floats]:
    """The same network with uncorrelated coordinates about zero, by decreasing variance."""
    T = made.encoder(Z, activation)
    middle = np.average(T, axis=0, weights=w)
    _, _, Vt = np.linalg.svd((T - middle) * np.sqrt(w)[:, None], full_matrices=False)
    Q = Vt.T * signs(Vt.T)
    e, g = made.encoder.arrays(), made.decoder.arrays()
    # t' = (t − m)Q leaves ẑ as it is where the decoder takes t'Qᵀ + m
    e[0], e[1] = e[0] @ Q, (e[1] - middle) @ Q
    if len(e) > 2:
        e[-2], e[-1] = e[-2] @ Q, e[-1] @ Q
    g[1] = g[1] + middle @ g[0]
    g[0] = Q.T @ g[0]
    if len(g) > 2:
        g[3] = g[3] + middle @ g[2]
        g[2] = Q.T @ g[2]
    encoder, decoder = Layers.of(e), Layers.of(g)
    return encoder, decoder, encoder(Z, activation)
