"""The name of a report: a page of HTML, whatever it is called, but nothing that another program would try to open."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ritz._core.errors import FileError

__all__ = ["require_page"]

#: Endings that promise another kind of file.
OTHERS = {".pdf", ".docx", ".doc", ".odt", ".md", ".txt", ".png", ".svg", ".jpg", ".json", ".csv", ".xlsx", ".ritz"}


def require_page(path: Any) -> Path:
    """The path of a report, refused where its name promises another kind of file."""
    target = Path(path)
    if target.suffix.lower() in OTHERS:
        way = (
            "open it in a browser and print it to a file" if target.suffix.lower() == ".pdf" else "open it in a browser"
        )
        raise FileError(
            "a report is a page of HTML: its name ends in .html", received=repr(str(target)),
            hint=f"{target.with_suffix('.html')} is such a name; {way}",
        )  # fmt: skip
    return target
