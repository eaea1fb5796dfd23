"""What a start takes: ``python -m bench.start``.

Processor seconds of fresh processes, the best of several, beside those of ``import sklearn.base``. As in a package that
is installed, modules are compiled before: bytecode goes to a folder of its own.
"""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import tempfile
from importlib.resources import files
from pathlib import Path

__all__ = ["main"]

RUNS = 7
STARTS = {
    "python": ["-c", "pass"],
    "import sklearn.base": ["-c", "import sklearn.base"],
    "import ritz": ["-c", "import ritz"],
    "from ritz import PCA": ["-c", "from ritz import PCA"],
    "ritz --help": ["-m", "ritz", "--help"],
}
#: Commands on a table of 178 wines, each within 0.8 s.
COMMANDS = {
    "ritz transform": ["transform", "wine_ritz", "wine.csv", "-o", "new.csv", "--force"],
    "ritz inspect": ["inspect", "wine_ritz"],
    "ritz plan": ["plan", "wine.csv"],
    "ritz export": ["export", "wine_ritz", "--to", "csv", "-o", "axes.csv", "--force"],
    "ritz verify": ["verify", "wine_ritz", "wine.csv"],
}


def seconds(words: list[str], bytecode: str, folder: Path | None = None) -> float:
    """Processor seconds of a fresh Python, the best of several after a first that compiles."""
    best, around = float("inf"), {**os.environ, "PYTHONPYCACHEPREFIX": bytecode}
    around.pop("PYTHONDONTWRITEBYTECODE", None)
    for _ in range(RUNS + 1):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(
            [sys.executable, *words], check=True, cwd=folder, env=around, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        best = min(best, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return best


def main() -> None:
    """Print a line for each start."""
    with tempfile.TemporaryDirectory() as place, tempfile.TemporaryDirectory() as bytecode:
        for name, words in STARTS.items():
            print(f"{name:24}{seconds(words, bytecode):8.3f} s", flush=True)
        folder = Path(place)
        shutil.copy(files("ritz") / "data/samples/wine.csv", folder / "wine.csv")  # type: ignore[arg-type]
        subprocess.run([sys.executable, "-m", "ritz", "fit", "wine.csv", "-k", "2", "-q"], check=True, cwd=folder)
        for name, words in COMMANDS.items():
            print(f"{name:24}{seconds(['-m', 'ritz', *words], bytecode, folder):8.3f} s", flush=True)


if __name__ == "__main__":
    main()
