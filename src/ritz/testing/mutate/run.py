"""Change every stored value in turn and list what ``verify`` did not find."""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

from ritz._core.errors import RitzError
from ritz.testing.mutate.changes import changes
from ritz.testing.mutate.models import MODELS, fitted
from ritz.testing.mutate.rule import small
from ritz.testing.mutate.targets import EXCLUDED, SAME, UNCERTIFIED, changed, targets

__all__ = ["main", "unfound"]


def unfound(
    model: Any, X: Any, weights: Any = None, Y: Any = None, *, only: str = ""
) -> Iterator[tuple[str, str, bool]]:
    """``(where, change, found)`` for every change that is to be found in a model that ``verify`` passes as it is."""
    given = (X,) if Y is None else (X, Y)
    if not _passes(model, given, weights):
        yield "(unchanged)", str(model.verify(*given, sample_weight=weights)), False
        return
    for path, value in targets(model):
        if not path.startswith(only):
            continue
        for name, made in changes(path, value):
            if not small(model, path, value, made) and (type(model).__name__, path, name) not in SAME:
                yield path, name, not _passes(changed(model, path, made), given, weights)


def _passes(model: Any, given: tuple[Any, ...], weights: Any) -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return bool(model.verify(*given, sample_weight=weights))
        except (RitzError, ValueError, ArithmeticError):
            return False


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; 1 if a change was not found."""
    parser = argparse.ArgumentParser(prog="python -m ritz.testing.mutate", description=__doc__)
    parser.add_argument("--model", choices=list(MODELS), action="append", help="only this one; may be repeated")
    parser.add_argument("--only", default="", help="only names that begin so, such as certificate_.angles")
    parser.add_argument("--excluded", action="store_true", help="list what is left out, with the reasons")
    asked = parser.parse_args(arguments)
    if asked.excluded:
        same = {f"{model}: {path} {change}": why for (model, path, change), why in SAME.items()}
        for title, reasons in (("not a claim", EXCLUDED), ("the same said twice", same), ("no verify", UNCERTIFIED)):
            print(title, *(f"    {name:32} {why}" for name, why in reasons.items()), sep="\n")
        return 0
    begin, count = time.perf_counter(), 0
    missed: list[str] = []
    for name, made in fitted(asked.model or list(MODELS)):
        before, lost = count, len(missed)
        for path, change, noticed in unfound(*made, only=asked.only):
            count += 1
            if not noticed:
                missed.append(f"{name}: {path} {change}")
        print(f"{name:20} {count - before:5} changes {len(missed) - lost:4} not found", flush=True)
    print("\n".join(missed))
    print(f"{count} changes, {len(missed)} not found, {time.perf_counter() - begin:.0f} s")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
