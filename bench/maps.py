"""Maps of two tables that are not part of the repository: ``python -m bench.maps [FOLDER]``.

    tea     300 people × 18 questions about tea (MCA)
    wine    21 wines of the Loire × 31 columns (MFA: origin, odour, visual, after shaking, taste, overall)

They come from the R package FactoMineR and lie in the folder of reference data; pictures go to docs/assets/gallery.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
SHARED = Path(os.environ.get("RITZ_SHARED", ROOT.parent / "shared")) / "data"
PICTURES = ROOT / "docs" / "assets" / "gallery"
GROUPS = {"origin": 2, "odour": 5, "visual": 3, "shaken": 10, "taste": 9, "overall": 2}


def tea() -> Any:
    """The map of the tea table."""
    import pandas as pd

    import ritz

    answers = pd.read_csv(SHARED / "tea" / "data.csv").drop(columns="id", errors="ignore").iloc[:, :18]
    return ritz.plot.map(ritz.MCA().fit(answers))


def wine() -> Any:
    """The map of the wine table."""
    import pandas as pd

    import ritz

    table = pd.read_csv(SHARED / "wine" / "data.csv", index_col=0)
    groups, start = {}, 0
    for name, width in GROUPS.items():
        groups[name], start = list(table.columns[start : start + width]), start + width
    model = ritz.MFA(groups=groups, supplementary=("overall",)).fit(table)
    return ritz.plot.map(model)


def main() -> None:
    """Draw both."""
    if not SHARED.is_dir():
        print(f"skipped: the reference data are not in {SHARED}")
        return
    import matplotlib as mpl

    mpl.use("Agg")
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else PICTURES
    for draw in (tea, wine):
        path = folder / f"map-{draw.__name__}.png"
        draw().figure.savefig(path, dpi=130)
        print(path)


if __name__ == "__main__":
    main()
