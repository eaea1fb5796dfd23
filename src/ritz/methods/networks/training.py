"""Training of an autoencoder, by torch where it has hidden layers: rows z (n×d) in, weights out.

    min Σ w‖z − ẑ‖²/Σw     linear: L-BFGS on all rows, float64     otherwise: Adam on batches, float32, and the weights
                                                                   of the epoch with the least error on held-out rows

With ``init="pca"`` the straight paths begin as principal components and the layers beside them as zero, so that the
error before the first step is that of PCA; held-out rows then decide whether any step was worth it.     [BH89, HS06]
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import MissingDependency
from ritz._core.progress import track
from ritz.methods.networks.layers import Layers

__all__ = ["Recipe", "Trained", "require_torch", "trained"]

Floats = NDArray[np.float64]

#: Steps of L-BFGS for a linear network.
STEPS = 2000


def require_torch() -> Any:
    """torch, or a refusal where it is not installed."""
    try:
        import torch
    except ImportError as error:
        raise MissingDependency("an autoencoder is trained by PyTorch", hint="pip install 'ritz[gpu]'") from error
    return torch


@dataclass(frozen=True)
class Recipe:
    """How a network is made and trained."""

    k: int
    hidden: tuple[int, ...]
    activation: str
    init: str
    noise: float
    epochs: int
    patience: int
    batch: int
    rate: float
    decay: float
    tol: float
    seed: int


@dataclass(frozen=True)
class Trained:
    """A network with the errors on the way, each a mean of w‖z − ẑ‖²."""

    encoder: Layers
    decoder: Layers
    errors: Floats  # (epochs + 1,) of the rows that were trained on
    held_out: Floats  # (epochs + 1,) of those that were not; empty of a linear network
    best: int  # the epoch whose weights these are
    rested: bool  # whether training ended by itself


def trained(Z: Floats, w: Floats, held: NDArray[np.intp], V: Floats, recipe: Recipe) -> Trained:
    """Train on the rows that are not ``held``; V (d, k) are principal axes, for the start."""
    if not recipe.hidden:
        return _linear(Z, w, V, recipe)
    torch = require_torch()
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # products this small wait for threads longer than they compute; and sums keep one order
    try:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(recipe.seed % 2**63)
            return _batches(torch, _Net(torch, V, recipe), Z, w, held, recipe)
    finally:
        torch.set_num_threads(threads)


class _Net:
    """Straight paths and the layers beside them as tensors."""

    def __init__(self, torch: Any, V: Floats, recipe: Recipe) -> None:
        self.torch, self.phi = torch, _activation(torch, recipe.activation)
        self.dtype = torch.float32
        d, k = V.shape
        if recipe.init == "pca":
            E, D = (torch.tensor(np.ascontiguousarray(M), dtype=self.dtype) for M in (V, V.T))
        else:
            E, D = (torch.randn(*s, dtype=self.dtype) / s[0] ** 0.5 for s in ((d, k), (k, d)))
        sides = [(d, *recipe.hidden, k), (k, *recipe.hidden[::-1], d)]
        self.halves = [
            [straight, torch.zeros(straight.shape[1], dtype=self.dtype), *self._layers(side, recipe)]
            for straight, side in zip((E, D), sides, strict=True)
        ]
        for one in self.parameters():
            one.requires_grad_(True)

    def _layers(self, side: tuple[int, ...], recipe: Recipe) -> list[Any]:
        out = []
        for i, (a, b) in enumerate(pairwise(side)):
            last = i == len(side) - 2
            W = self.torch.randn(a, b, dtype=self.dtype) / a**0.5
            out += [W * 0 if last and recipe.init == "pca" else W, self.torch.zeros(b, dtype=self.dtype)]
        return out

    def parameters(self) -> list[Any]:
        return [one for half in self.halves for one in half]

    def _half(self, half: list[Any], A: Any) -> Any:
        out = A @ half[0] + half[1]
        for i in range(2, len(half), 2):
            A = A @ half[i] + half[i + 1]
            A = self.phi(A) if i + 2 < len(half) else A
        return out + A if len(half) > 2 else out

    def __call__(self, Z: Any) -> Any:
        return self._half(self.halves[1], self._half(self.halves[0], Z))

    def taken(self) -> list[list[Floats]]:
        """The weights as arrays of their own."""
        return [[one.detach().numpy().astype(np.float64) for one in half] for half in self.halves]


def _activation(torch: Any, name: str) -> Any:
    return {"tanh": torch.tanh, "relu": torch.relu, "elu": torch.nn.functional.elu, "logistic": torch.sigmoid}[name]


def _linear(Z: Floats, w: Floats, V: Floats, recipe: Recipe) -> Trained:
    """All rows at once, by L-BFGS: with B = ED and C the covariance, the loss is tr C − 2 tr CB + tr BᵀCB."""
    from scipy.optimize import minimize

    d, k = V.shape
    C = (Z * (w / w.sum())[:, None]).T @ Z
    total = float(np.trace(C))
    start = [V, V.T]
    if recipe.init == "random":
        rng = np.random.default_rng(recipe.seed)
        start = [rng.standard_normal((a, b)) / a**0.5 for a, b in ((d, k), (k, d))]
    errors: list[float] = []

    def loss(both: Floats) -> tuple[float, Floats]:
        E, D = both[: d * k].reshape(d, k), both[d * k :].reshape(k, d)
        B = E @ D
        G = 2 * (C @ B - C)
        errors.append(total + float(np.sum((C @ B) * B)) - 2 * float(np.sum(C * B.T)))
        return errors[-1] / total, np.concatenate([(G @ D.T).ravel(), (E.T @ G).ravel()]) / total

    begun = np.concatenate([one.ravel() for one in start])
    done = minimize(
        loss, begun, jac=True, method="L-BFGS-B",
        options={"maxiter": STEPS, "maxfun": 4 * STEPS, "maxcor": 30, "ftol": 0.0, "gtol": 1e-13},
    )  # fmt: skip
    E, D = done.x[: d * k].reshape(d, k), done.x[d * k :].reshape(k, d)
    rested = float(np.max(np.abs(done.jac))) <= max(recipe.tol, 1e-9)
    halves = (Layers.of([E, np.zeros(k)]), Layers.of([D, np.zeros(d)]))
    return Trained(*halves, np.asarray(errors), np.zeros(0), len(errors) - 1, rested)


class _Adam:
    """Adam's steps; torch's own module of them would load a compiler first."""

    def __init__(self, torch: Any, parameters: list[Any], rate: float, decay: float) -> None:
        self.torch, self.parameters, self.rate, self.decay, self.count = torch, parameters, rate, decay, 0
        self.first = [torch.zeros_like(one) for one in parameters]
        self.second = [torch.zeros_like(one) for one in parameters]

    def step(self, loss: Any) -> None:
        """One step down the gradient of a loss."""
        slopes = self.torch.autograd.grad(loss, self.parameters)
        self.count += 1
        lift = (1 - 0.999**self.count) ** 0.5 / (1 - 0.9**self.count)
        with self.torch.no_grad():
            for one, slope, m, v in zip(self.parameters, slopes, self.first, self.second, strict=True):
                slope = slope + self.decay * one if self.decay else slope
                m.mul_(0.9).add_(slope, alpha=0.1)
                v.mul_(0.999).addcmul_(slope, slope, value=0.001)
                one.sub_(self.rate * lift * m / (v.sqrt() + 1e-8))


def _batches(torch: Any, net: _Net, Z: Floats, w: Floats, held: NDArray[np.intp], recipe: Recipe) -> Trained:
    """Adam on batches; the weights of the best epoch."""
    seen = np.setdiff1d(np.arange(len(Z)), held)
    tensors = [torch.tensor(Z[one], dtype=net.dtype) for one in (seen, held)]
    weights = [torch.tensor(w[one] / np.mean(w[one]), dtype=net.dtype) for one in (seen, held)]
    rng = np.random.default_rng(recipe.seed)
    steps = _Adam(torch, net.parameters(), recipe.rate, recipe.decay)

    blurred = [one + recipe.noise * torch.randn_like(one) if recipe.noise else one for one in tensors]

    def error(which: int) -> float:
        with torch.no_grad():
            off = torch.square(tensors[which] - net(blurred[which])).sum(dim=1)
            return float((weights[which] * off).mean())

    errors, outside = [error(0)], [error(1)]
    best, taken, epoch = 0, net.taken(), 0
    with track("epochs", total=recipe.epochs) as tick:
        for epoch in range(1, recipe.epochs + 1):
            turn = torch.tensor(rng.permutation(len(seen)))
            for rows in torch.split(turn, recipe.batch):
                given, wanted = tensors[0][rows], tensors[0][rows]
                if recipe.noise:
                    given = given + recipe.noise * torch.randn_like(given)
                off = torch.square(wanted - net(given)).sum(dim=1)
                steps.step((weights[0][rows] * off).mean())
            errors.append(error(0))
            outside.append(error(1))
            tick(1)
            if outside[-1] < outside[best]:
                best, taken = epoch, net.taken()
            if epoch - best >= recipe.patience:
                break
    rested = epoch - best >= recipe.patience
    return Trained(Layers.of(taken[0]), Layers.of(taken[1]), np.asarray(errors), np.asarray(outside), best, rested)
