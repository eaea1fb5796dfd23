"""When a refit is due, on 20 newsgroups: ``python -m bench.drift [--documents N] [--added M] [-k K]``.

    same    a model of N messages of a group, and M further messages of the same group:       drift should not fire
    other   the same model, and M messages of each of the 19 other groups:                    drift should fire

Messages are drawn at random, once for each group, and cut to 2,000 characters. Groups that are about nearly the same
thing (two makes of computers, two of religion) are the hard ones, and are named.
"""

from __future__ import annotations

import argparse
import copy
import json
import lzma
import sys
import warnings
from collections.abc import Callable

import numpy as np

import ritz
from bench.digits import ABSENT, SHARED

__all__ = ["fired", "main", "messages_by_group"]

LENGTH = 2_000


def messages_by_group(most: int, seed: int = 0) -> dict[str, list[str]] | None:
    """Up to ``most`` messages of each group, in random order; None where the collection is not at hand."""
    path = SHARED / "20newsgroups" / "20news-bydate.jsonl.xz"
    if not path.exists():
        return None
    groups: dict[str, list[str]] = {}
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        for one in map(json.loads, lines):
            groups.setdefault(one["group"], []).append(one["text"][:LENGTH])
    rng = np.random.default_rng(seed)
    return {name: [texts[i] for i in rng.permutation(len(texts))[:most]] for name, texts in sorted(groups.items())}


def fired(groups: dict[str, list[str]], n: int, m: int, k: int, tell: Callable[[str], None] = print) -> np.ndarray:
    """(g, g) whether drift fired when m messages of group j came to a model of n of group i."""
    names, out = list(groups), np.zeros((len(groups), len(groups)), bool)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for i, name in enumerate(names):
            model = ritz.LSI(min(k, n)).fit(groups[name][:n])
            for j, other in enumerate(names):
                out[i, j] = copy.deepcopy(model).update(groups[other][-m:]).drift_.due
            silent = [names[j] for j in range(len(names)) if j != i and not out[i, j]]
            again = "fired" if out[i, i] else "silent"
            tell(f"  {name:28}{again:>8} for its own, {out[i].sum() - out[i, i]:2} of {len(names) - 1} others fired"
                 + (f"; not {', '.join(silent)}" if silent else ""))  # fmt: skip
    return out


def main(arguments: list[str] | None = None) -> int:
    """Print a line a group, and both shares."""
    parser = argparse.ArgumentParser(prog="python -m bench.drift", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--documents", type=int, default=400, help="messages of a group that a model is fitted to")
    parser.add_argument("--added", type=int, default=100, help="messages that are added")
    parser.add_argument("-k", type=int, default=50, help="topics")
    asked = parser.parse_args(arguments)
    groups = messages_by_group(asked.documents + asked.added)
    if groups is None:
        print(ABSENT)
        return 0
    print(f"{asked.documents} messages of a group, {asked.added} added, {asked.k} topics")
    out = fired(groups, asked.documents, asked.added, asked.k, lambda line: print(line, flush=True))
    own = np.eye(len(out), dtype=bool)
    print(f"fired for {out[own].mean():.1%} of the same group, for {out[~own].mean():.1%} of other groups")
    return 0


if __name__ == "__main__":
    sys.exit(main())
