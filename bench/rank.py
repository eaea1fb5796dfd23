"""How often each rule counts planted components right, and what asking costs: ``python -m bench.rank [--quick]``.

    X = Σ_{i≤q} √ℓᵢ zᵢ vᵢᵀ + E + 1μᵀ,    q = 2 … 8,  vᵢ random orthonormal,  zᵢ ~ N(0, 1)

    noise      white: one variance; uneven: variances of the columns from 0.2 to 5, evenly on a logarithmic scale;
               heavy: Student's t with 4 degrees of freedom
    strength   the weakest ℓ in units of (edge − mean variance) of the noise, edge the upper end of its spectrum
    spread     even: the largest ℓ is twice the smallest; steep: thirty times

A hit is the number planted, neither more nor less. Strength 4 and more is called clear; there the consensus has to be
right nine times in ten. A fraction is a budget, so its hits say nothing. The second part is the time of
``choose_rank`` beside that of the fit: of the rules that need the spectrum and simulations only, and of all rules.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

import ritz
from ritz.rank.edge import upper_edge

__all__ = ["CLEAR", "Case", "cases", "hits", "main", "planted", "shown", "timed"]

ROOT = Path(__file__).resolve().parent.parent
RANKS = range(2, 9)
CLEAR = 4.0
SPECTRAL = (
    "fraction", "elbow", "kaiser", "broken-stick", "parallel", "dpa", "mle", "aic", "bic", "gavish-donoho", "gcv",
)  # fmt: skip


@dataclass(frozen=True)
class Case:
    """One kind of table."""

    n: int
    d: int
    noise: str = "white"
    strength: float = CLEAR
    spread: str = "even"
    scale: bool = False

    @property
    def name(self) -> str:
        """The case in words."""
        standard = ", scaled" if self.scale else ""
        return f"{self.n}×{self.d} {self.noise}, {self.spread} {self.strength:g}{standard}"


def cases(*, quick: bool) -> list[Case]:
    """The tables: tall and wide, three kinds of noise, from weak to strong."""
    found = []
    for n, d in ((200, 20), (400, 80), (80, 200)):
        for noise in ("white", "uneven") if quick else ("white", "uneven", "heavy"):
            found += [Case(n, d, noise, strength) for strength in ((CLEAR,) if quick else (1.0, CLEAR, 16.0))]
            found.append(Case(n, d, noise, CLEAR, "steep"))
            if not quick:
                found.append(Case(n, d, noise, CLEAR, scale=True))
    return found


def planted(case: Case, q: int, seed: int) -> np.ndarray:
    """A table with q components."""
    rng = np.random.default_rng([seed, q, case.n, case.d])
    n, d = case.n, case.d
    t = np.ones(d)
    if case.noise == "uneven":
        t = np.exp(rng.uniform(np.log(0.2), np.log(5.0), d))
        t /= t.mean()
    E = rng.standard_t(4, (n, d)) / np.sqrt(2.0) if case.noise == "heavy" else rng.standard_normal((n, d)) * np.sqrt(t)
    weakest = case.strength * (upper_edge(t, d / n) - 1.0)
    sizes = weakest * np.geomspace(30.0 if case.spread == "steep" else 2.0, 1.0, q)
    V = np.linalg.qr(rng.standard_normal((d, q)))[0]
    return (rng.standard_normal((n, q)) * np.sqrt(sizes)) @ V.T + E + 3.0 * rng.standard_normal(d)


def hits(case: Case, repeats: int) -> tuple[dict[str, float], dict[str, float]]:
    """The share of tables that each rule, and the consensus, counts right; and its mean error in components."""
    found: dict[str, list[int | None]] = {}
    for q in RANKS:
        for seed in range(repeats):
            ranks = ritz.choose_rank(planted(case, q, seed), scale=case.scale)
            for row in ranks.table:
                found.setdefault(row.criterion, []).append(None if row.k is None else row.k - q)
            found.setdefault("consensus", []).append(ranks.consensus - q)
    share = {name: float(np.mean([error == 0 for error in errors])) for name, errors in found.items()}
    told = {name: [error for error in errors if error is not None] for name, errors in found.items()}
    return share, {name: float(np.mean(errors)) for name, errors in told.items() if errors}


def shown(found: dict[str, dict[str, float]], answered: dict[str, dict[str, float]]) -> str:
    """A line a case, a column a rule; a dash where a rule has no answer."""
    names = [name for name in next(iter(found.values())) if name not in ("fraction", "consensus")]
    short = {"broken-stick": "stick", "gavish-donoho": "gd", "permutation": "perm", "stability": "stable"}
    head = f"{'% right':<32}" + "".join(f"{short.get(name, name):>9}" for name in names) + f"{'CONSENSUS':>11}"
    lines = [head, "-" * len(head)]
    for case, share in found.items():
        cells = [f"{100 * share[name]:>9.0f}" if name in answered[case] else f"{'–':>9}" for name in names]
        lines.append(f"{case:<32}" + "".join(cells) + f"{100 * share['consensus']:>11.0f}")
    return "\n".join(lines)


def timed(n: int, d: int) -> dict[str, float]:
    """Seconds, and seconds of the processor, of a fit and of asking."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    X += rng.standard_normal((n, 5)) @ (0.3 * rng.standard_normal((5, d)))
    model = ritz.PCA(10).fit(X)
    tasks: dict[str, Any] = {
        "warm": lambda: ritz.choose_rank(X[:2000]),
        "fit": lambda: ritz.PCA(10).fit(X),
        "spectrum": lambda: ritz.choose_rank(X, criteria=SPECTRAL),
        "model": lambda: ritz.choose_rank(model, criteria=SPECTRAL),
        "all": lambda: ritz.choose_rank(X),
    }
    found: dict[str, float] = {}
    for name, task in tasks.items():
        begin, processor = time.perf_counter(), time.process_time()
        task()
        found[name], found[f"{name}_processor"] = time.perf_counter() - begin, time.process_time() - processor
    return found


def main(arguments: list[str] | None = None) -> int:
    """Print both tables; the exit status says whether the consensus was right nine times in ten where it has to be."""
    parser = argparse.ArgumentParser(prog="python -m bench.rank", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="clear components only, seven tables a case, 100,000×100")
    parser.add_argument("--only", default="", help="cases whose name holds this")
    chosen = parser.parse_args(arguments)
    begin, processor = time.perf_counter(), time.process_time()
    found, off, clear = {}, {}, []
    for case in (case for case in cases(quick=chosen.quick) if chosen.only in case.name):
        found[case.name], off[case.name] = hits(case, 1 if chosen.quick else 3)
        print(f"{case.name:<32} consensus {found[case.name]['consensus']:.0%}", flush=True)
        clear += [found[case.name]["consensus"]] * (case.strength >= CLEAR)
    print("", shown(found, off), "", sep="\n")
    right = float(np.mean(clear)) if clear else float("nan")
    worst = f", {min(clear):.0%} in the worst case" if clear else ""
    print(f"clear components: the consensus is right {right:.1%} of the time{worst}; at least 90 % was asked for")
    n, d = (100_000, 100) if chosen.quick else (1_000_000, 200)
    cost = timed(n, d)
    for name, words in TASKS.items():
        ratio = cost[f"{name}_processor"] / max(cost["fit_processor"], 1e-9)
        seconds = f"{cost[name]:.2f} s, {cost[f'{name}_processor']:.2f} s of processor time"
        print(f"{n:,}×{d} {words:<44} {seconds}, {ratio:.1f} × fit")
    print(f"{time.perf_counter() - begin:.0f} s, {time.process_time() - processor:.0f} s of processor time in all")
    kept = {"hits": found, "errors": off, "cost": cost, "cases": [asdict(c) for c in cases(quick=chosen.quick)]}
    folder = ROOT / "bench" / "results"
    folder.mkdir(exist_ok=True)
    stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
    (folder / f"{stamp}-rank{'-quick' if chosen.quick else ''}.json").write_text(json.dumps(kept, indent=1))
    return int(bool(clear) and right < 0.9)


TASKS = {
    "fit": "fit",
    "spectrum": "rows → spectrum and simulations",
    "model": "fitted model → spectrum and simulations",
    "all": "rows → all rules",
}


if __name__ == "__main__":
    sys.exit(main())
