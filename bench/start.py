"""What a start takes: ``python -m bench.start``.

Processor seconds of fresh processes, the best of several, beside those of ``import sklearn.base``.
"""

from __future__ import annotations

import resource
import subprocess
import sys

__all__ = ["main"]

RUNS = 7
STARTS = {
    "python": ["-c", "pass"],
    "import sklearn.base": ["-c", "import sklearn.base"],
    "import ritz": ["-c", "import ritz"],
    "from ritz import PCA": ["-c", "from ritz import PCA"],
    "ritz --help": ["-m", "ritz", "--help"],
}


def seconds(words: list[str]) -> float:
    """Processor seconds of a fresh Python, the best of several."""
    best = float("inf")
    for _ in range(RUNS):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, *words], check=True, stdout=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        best = min(best, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return best


def main() -> None:
    """Print a line for each start."""
    for name, words in STARTS.items():
        print(f"{name:24}{seconds(words):8.3f} s", flush=True)


if __name__ == "__main__":
    main()
