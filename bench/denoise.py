"""Taking noise off digits: ``python -m bench.denoise [--quick] [--pictures FOLDER]``.

    x + 0.5·ε  →  transform  →  the first k coordinates  →  inverse_transform  →  x̂        ‖x̂ − x‖², mean over digits

The experiment of Mika, Schölkopf, Smola, Müller, Scholz and Rätsch (1999): 300 training digits of each of the ten
kinds, 50 others, Gaussian noise with σ = 0.5 on pixels in [−1, 1]. Linear PCA against RBF kernel PCA, k(x, y) =
exp(−‖x − y‖²/c), with fixed-point pre-images. c and k of the kernel are chosen on digits of the training half that were
not trained on, 20 of each kind, and then fixed; linear PCA is granted the k that is best on the very digits it is
judged on. All of it is repeated on SPLITS draws of digits and noise, and the table gives means.

Beside them, with the same training digits: an autoencoder that learns to rebuild digits from noisy copies (widths
chosen on the validation digits as well), and the reconstruction of a restricted Boltzmann machine.

A model of all components serves every k: coordinates beyond the k-th are set to 0, which is where the plane of the
first k lies.

The digits come from the folder of reference data; without it there is nothing to do.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import ritz

SHARED = Path(os.environ.get("RITZ_SHARED", Path(__file__).resolve().parent.parent.parent / "shared")) / "data"
PICTURES = Path(__file__).resolve().parent.parent / "docs" / "assets" / "gallery"
SIGMA = 0.5
#: Training digits of each kind, and draws of digits and noise.
EACH, SPLITS = 300, 3
#: c in units of the number of pixels, 256; the paper has 0.5.
WIDTHS = (0.25, 0.5, 0.75, 1.0)
COUNTS = (16, 32, 64, 128, 256, 512, 1024, 2048)
ASKED = 1.4
#: Numbers a digit is rebuilt from and hidden layers of autoencoders, and hidden units of Boltzmann machines.
NETWORKS = ((64, (256,)), (128, (512,)))
UNITS = 256
#: By what the noise is multiplied that a Boltzmann machine is told of; shades are no zeros and ones.
TIMES = (1.0, 1.2, 1.4, 1.7, 2.0)


@dataclass(frozen=True)
class Digits:
    """Training digits, digits to choose by and digits to judge by, the last two with their noisy copies."""

    train: np.ndarray
    valid: np.ndarray
    valid_noisy: np.ndarray
    test: np.ndarray
    test_noisy: np.ndarray
    kind: np.ndarray  # of the test digits


@dataclass
class Result:
    """Mean squared errors of one split."""

    noisy: float
    linear: dict[int, float]  # k → error on test digits, every k
    chosen: dict[tuple[float, int], float]  # (c, k) → error on validation digits
    kernel: dict[int, float] = field(default_factory=dict)  # k → error on test digits at the chosen c
    best: tuple[float, int] = (0.0, 0)  # (c, k)
    ways: dict[str, float] = field(default_factory=dict)  # method → error on test digits at the chosen c and k
    shown: tuple[np.ndarray, ...] = ()  # rows of the picture
    networks: dict[str, tuple[float, str]] = field(default_factory=dict)  # name → error on test digits, and its widths

    @property
    def linear_best(self) -> tuple[int, float]:
        return min(self.linear.items(), key=lambda item: item[1])

    @property
    def ratio(self) -> float:
        return self.linear_best[1] / self.kernel[self.best[1]]


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.denoise", description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="40 training digits of each kind, one split, no pictures")
    parser.add_argument("--pictures", type=Path, help="folder for the pictures; docs/assets/gallery after a full run")
    asked = parser.parse_args(arguments)
    path = SHARED / "usps" / "usps.npz"
    if not path.is_file():
        print(f"no digits at {path}: nothing is measured (RITZ_SHARED names the folder of reference data)")
        return 0
    start = time.perf_counter(), time.process_time()
    each, splits, widths = (40, 1, (0.5, 1.0)) if asked.quick else (EACH, SPLITS, WIDTHS)
    results = [split(load(path, seed, each), widths) for seed in range(splits)]
    print(report(results, each))
    print(f"{time.perf_counter() - start[0]:.0f} s, processor {time.process_time() - start[1]:.0f} s")
    folder = asked.pictures or (None if asked.quick else PICTURES)
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        draw_digits(results[0], folder / "denoising.png")
        draw_errors(results, folder / "denoising-error.png")
        print(f"pictures: {folder}")
    return 0


def load(path: Path, seed: int, each: int) -> Digits:
    """``each`` training digits of each kind; digits that chose nothing are drawn from the other half."""
    rng = np.random.default_rng(seed)
    with np.load(path) as file:
        X, y, X_test, y_test = (file[name] for name in ("X_train", "y_train", "X_test", "y_test"))
    train, valid, test = [], [], []
    for kind in range(10):
        order = rng.permutation(np.flatnonzero(y == kind))
        train.append(order[:each])
        valid.append(order[each : each + 20])
        test.append(rng.permutation(np.flatnonzero(y_test == kind))[:50])
    rows, by, judged = (np.concatenate(part) for part in (train, valid, test))
    V, T = X[by] / 1000, X_test[judged] / 1000
    noisy = (part + SIGMA * rng.standard_normal(part.shape) for part in (V, T))
    return Digits(X[rows] / 1000, V, next(noisy), T, next(noisy), y_test[judged])


def split(digits: Digits, widths: tuple[float, ...]) -> Result:
    """Choose on validation digits, judge on test digits."""
    linear = ritz.PCA().fit(digits.train)
    Z = linear.transform(digits.test_noisy)
    errors = {k: error(linear.inverse_transform(first(Z, k)), digits.test) for k in range(1, Z.shape[1])}
    result = Result(error(digits.test_noisy, digits.test), errors, {})
    kept = None
    for width in widths:
        model = kernel_model(digits.train, width)
        T = model.transform(digits.valid_noisy)
        for k in counts(T.shape[1]):
            result.chosen[width, k] = error(denoised(model, T, k), digits.valid)
        best = min(result.chosen, key=lambda key: result.chosen[key])
        if best != result.best:
            result.best, kept = best, model
        here = min((value, k) for (c, k), value in result.chosen.items() if c == width)
        print(f"validation digits, c = {width:g}·256: least error {here[0]:.2f} at k = {here[1]}", flush=True)
    T = kept.transform(digits.test_noisy)
    rows = {k: denoised(kept, T, k) for k in counts(T.shape[1])}
    result.kernel = {k: error(found, digits.test) for k, found in rows.items()}
    for way in ("ridge", "fixed-point", "mds"):
        result.ways[way] = error(kept.preimages(first(T, result.best[1]), way).rows, digits.test)
    one = [int(np.flatnonzero(digits.kind == kind)[0]) for kind in range(10)]  # the first drawn of each kind
    best_linear = linear.inverse_transform(first(Z, result.linear_best[0]))
    parts = (digits.test, digits.test_noisy, best_linear, rows[result.best[1]])
    result.shown = tuple(part[one] for part in parts)
    result.networks = networks(digits)
    return result


def networks(digits: Digits) -> dict[str, tuple[float, str]]:
    """The autoencoder that is best on validation digits, and a Boltzmann machine, judged on test digits."""
    spread = float(np.sqrt(np.var(digits.train, axis=0, ddof=1).mean()))
    found = {}
    for k, hidden in NETWORKS:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ritz.AccuracyWarning)  # still better at the last epoch
            net = ritz.Autoencoder(
                min(k, len(digits.train) // 4), hidden=hidden, activation="elu", noise=SIGMA / spread, max_epochs=60,
                patience=10, learning_rate=1e-3,
            ).fit(digits.train)  # fmt: skip
        by = error(net.inverse_transform(net.transform(digits.valid_noisy)), digits.valid)
        found[by] = net, f"k = {net.n_components_}, hidden {hidden[0]}"
    net, words = found[min(found)]
    out = {"autoencoder": (error(net.inverse_transform(net.transform(digits.test_noisy)), digits.test), words)}
    rbm = ritz.RBM(UNITS, max_epochs=60, learning_rate=0.01).fit((digits.train + 1) / 2)

    def back(noisy: np.ndarray, times: float) -> np.ndarray:
        return 2 * rbm.denoise((noisy + 1) / 2, times * SIGMA / 2) - 1

    times = min(TIMES, key=lambda one: error(back(digits.valid_noisy, one), digits.valid))
    plain = 2 * rbm.inverse_transform(rbm.transform(np.clip((digits.test_noisy + 1) / 2, 0, 1))) - 1
    words = f"{UNITS} units"
    return {
        **out, "Boltzmann machine, rows at their word": (error(plain, digits.test), words),
        "Boltzmann machine": (error(back(digits.test_noisy, times), digits.test), f"{words}, noise × {times:g}"),
    }  # fmt: skip


def kernel_model(train: np.ndarray, width: float) -> Any:
    """All components that there may be use for."""
    k = min(max(COUNTS), len(train) - 1)
    return ritz.KernelPCA(k, kernel="rbf", gamma=1 / (width * train.shape[1])).fit(train)


def denoised(model: Any, T: np.ndarray, k: int) -> np.ndarray:
    return model.inverse_transform(first(T, k), method="fixed-point")


def first(T: np.ndarray, k: int) -> np.ndarray:
    """Coordinates of the projection onto the first k components."""
    kept = T.copy()
    kept[:, k:] = 0
    return kept


def counts(most: int) -> list[int]:
    return [k for k in COUNTS if k <= most]


def error(found: np.ndarray, truth: np.ndarray) -> float:
    return float(np.square(found - truth).sum(axis=1).mean())


# ------------------------------------------------------------------------------------------------- what came out


def report(results: list[Result], each: int) -> str:
    """The table over k, what was chosen, and the ratio."""
    mean = {name: float(np.mean([getattr(one, name) for one in results])) for name in ("noisy", "ratio")}
    lines = [
        f"USPS, {10 * each} training digits, 500 test digits, noise σ = {SIGMA}, {len(results)} split(s)",
        f"squared error of a test digit, mean; noisy {mean['noisy']:.2f}",
        f"{'k':>6} {'linear PCA':>11} {'kernel PCA':>11}",
    ]
    for k in sorted(results[0].kernel):
        linear = [one.linear[k] for one in results if k in one.linear]
        text = f"{np.mean(linear):11.2f}" if linear else f"{'–':>11}"
        lines.append(f"{k:6d} {text} {np.mean([one.kernel[k] for one in results]):11.2f}")
    for one in results:
        k, least = one.linear_best
        c, chosen = one.best
        kernel = f"kernel c = {c:g}·256, k = {chosen}: {one.kernel[chosen]:.2f}"
        lines.append(f"linear at its best, k = {k}: {least:.2f}   {kernel}   ratio {one.ratio:.2f}")
    for name in results[0].networks:
        errors, words = zip(*(one.networks[name] for one in results), strict=True)
        lines.append(f"{name}, {' / '.join(sorted(set(words)))}: {np.mean(errors):.2f}")
    ways = {way: float(np.mean([one.ways[way] for one in results])) for way in results[0].ways}
    told = ", ".join(f"{way} {value:.2f}" for way, value in ways.items())
    lines.append(f"pre-images at the chosen c and k: {told}; the default is the fixed point")
    lines.append(f"ratio, mean of the splits: {mean['ratio']:.2f}")
    if each == EACH:
        lines.append(f"asked for: {ASKED}, {'reached' if mean['ratio'] >= ASKED else 'not reached'}")
    return "\n".join(lines)


def draw_digits(result: Result, path: Path) -> None:
    """Ten digits, one of each kind: as they were, with noise, and as each method gives them back."""
    import matplotlib.pyplot as plt

    k, least = result.linear_best
    chosen = result.best[1]
    titles = [
        ("original", ""),
        ("noise σ = 0.5", f"error {result.noisy:.1f}"),
        (f"linear PCA, k = {k}", f"error {least:.1f}"),
        (f"kernel PCA, k = {chosen}", f"error {result.kernel[chosen]:.1f}"),
    ]
    with ritz.plot.house():
        fig, axes = plt.subplots(4, 10, figsize=(7.2, 2.55), gridspec_kw={"wspace": 0.06, "hspace": 0.06})
        fig.subplots_adjust(left=0.21, right=0.995, top=0.99, bottom=0.01)
        for row, images, (name, value) in zip(axes, result.shown, titles, strict=True):
            for ax, image in zip(row, images, strict=True):
                ax.imshow(image.reshape(16, 16), cmap="gray_r", vmin=-1, vmax=1, interpolation="nearest")
                ax.set(xticks=[], yticks=[])
                ax.spines[:].set_visible(False)
            row[0].text(-0.25, 0.62, name, transform=row[0].transAxes, ha="right", va="center", fontsize=9)
            row[0].text(
                -0.25, 0.32, value, transform=row[0].transAxes, ha="right", va="center", fontsize=8, color="#666666"
            )
        fig.savefig(path)
        plt.close(fig)


def draw_errors(results: list[Result], path: Path) -> None:
    """Error over k, mean over splits."""
    import matplotlib.pyplot as plt

    ks = sorted(results[0].kernel)
    every = sorted(results[0].linear)
    linear = [np.mean([one.linear[k] for one in results]) for k in every]
    kernel = [np.mean([one.kernel[k] for one in results]) for k in ks]
    with ritz.plot.house():
        fig, ax = plt.subplots(figsize=(5.8, 3.2), layout="constrained")
        ax.plot(every, linear, color="#0072B2", linewidth=2)
        ax.plot(ks, kernel, color="#D55E00", linewidth=2, marker="o", markersize=5)
        ax.axhline(min(linear), color="#0072B2", linewidth=0.8, linestyle="--")
        ax.text(1.1 * every[-1], linear[-1] - 4, "linear PCA", color="#00527F", va="center")
        ax.text(ks[-1], min(linear) + 1, f"its best, {min(linear):.1f}", color="#00527F", ha="right", va="bottom")
        ax.text(ks[-1], kernel[-1] - 3, f"kernel PCA, {kernel[-1]:.1f}", color="#994300", ha="right", va="top")
        ax.set_xscale("log", base=2)
        ax.set_xticks(ks, [str(k) for k in ks])
        ax.set(
            xlim=(0.85 * ks[0], 1.15 * ks[-1]), ylim=(0, 72), xlabel="components k", ylabel="squared error of a digit"
        )
        ax.minorticks_off()
        fig.savefig(path)
        plt.close(fig)


if __name__ == "__main__":
    raise SystemExit(main())
