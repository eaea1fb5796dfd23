"""A model file, and the manifest that lies beside it when ``ritz fit`` wrote both.

The manifest knows what columns were for. A table that goes with the model is read in the same way, unless the user
says otherwise; a model that stands alone takes the table as it is.
"""

from __future__ import annotations

import difflib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ritz._core.errors import FileError, ParameterError
from ritz.cli.fitting.columns import open_table
from ritz.cli.fitting.method import string_column
from ritz.cli.options import MODEL_NAME, model_file
from ritz.cli.results.alike import like_of
from ritz.cli.results.manifest import MANIFEST
from ritz.data.tables.table import Table

#: What the user may say of a text file and of no other.
TEXT_ONLY = (
    "header",
    "delimiter",
    "decimal",
    "thousands",
    "encoding",
    "na",
    "keep_na",
    "skip",
    "coerce",
    "sheet",
    "image_shape",
)

__all__ = ["Saved", "open_model", "refuse_text", "unseen_way"]


@dataclass(frozen=True)
class Saved:
    """A fitted model, where it lies, and what is known of its fit."""

    path: Path
    model: Any
    manifest: dict[str, Any]

    @property
    def files(self) -> list[Path]:
        """What is read of it: never written over."""
        return [self.path, self.path.parent / MANIFEST]

    @property
    def like(self) -> dict[str, Any]:
        """How the table of the fit was written, for other tables to be read alike."""
        return like_of(self.manifest)

    @property
    def takes_strings(self) -> bool:
        """Whether rows are strings."""
        from ritz.methods.fitted import fitted_of

        kernel = fitted_of(self.model).kernel
        return kernel is not None and kernel.takes == "strings"

    @property
    def takes_texts(self) -> bool:
        """Whether rows are texts."""
        return type(self.model).about.takes == "texts"

    def texts(self, path: Path, column: str | None, how: dict[str, Any], **options: Any) -> Any:
        """Documents, read as the fit read its own unless the user says otherwise."""
        from ritz.cli.fitting.texts import open_texts

        before = self.manifest.get("reading")
        before = dict(before) if isinstance(before, dict) else {}
        known = before.pop("text", None)
        said = {name: value for name, value in how.items() if value not in (None, [])}
        if path.is_dir() and column is None:  # a folder of texts has no columns
            before, known = {name: value for name, value in before.items() if name == "encoding"}, None
        elif path.is_file() and column is None and not _tabular(path):
            before, known = {}, None
        return open_texts(path, column or known, {**how, **before, **said}, **options)

    def fitted_table(self, path: Path, how: dict[str, Any], **options: Any) -> Table:
        """The table of the fit, read as the fit read it."""
        before = self.manifest.get("reading")
        said = {name: value for name, value in how.items() if value not in (None, [])}
        how = {**how, **(before if isinstance(before, dict) else {}), **said}
        table = open_table(path, how, like=like_of(self.manifest), **options)
        beside = self.manifest.get("supplementary_rows")
        if isinstance(beside, list) and not table.lazy and max(beside, default=0) <= len(table):
            import numpy as np

            rest = np.setdiff1d(np.arange(len(table)), np.asarray(beside, np.intp) - 1)
            table = table.kept(rest, "rows without part in the fit are left out")
        dropped = self.manifest.get("dropped")
        if not isinstance(dropped, dict):
            return table
        from ritz.cli.fitting.dropped import without_gaps

        return without_gaps(table, [name for name in dropped.get("columns", []) if name in table.names])[0]

    def new_table(self, path: Path, how: dict[str, Any], **options: Any) -> Table:
        """Another table, read as the fit read its own as far as that can be, unless the user says otherwise."""
        known = self.manifest.get("reading")
        before = {name: known[name] for name in TEXT_ONLY if name in known} if isinstance(known, dict) else {}
        said = {name: value for name, value in how.items() if value not in (None, [])}
        like = like_of(self.manifest)
        try:
            return open_table(path, {**how, **before, **said}, like=like, **options)
        except ParameterError as error:
            if not before or "text files only" not in error.expected:
                raise
            return open_table(path, how, like=like, **options)  # a table of numbers needs no such word

    def rows(self, table: Table) -> Any:
        """What ``transform`` takes: the table, or its column of strings."""
        if not self.takes_strings:
            return table
        used = [name for name in self.manifest.get("columns") or [] if name in table.names]
        return ["" if text is None else str(text) for text in table.labels(used[0] if used else string_column(table))]


def _tabular(path: Path) -> bool:
    from ritz.text.adopt import LINES, TABLES

    return any(ending.lower() in LINES | TABLES for ending in path.suffixes)


def refuse_text(saved: Saved, column: str | None) -> None:
    """``--text`` is for models of texts."""
    if column is not None and not saved.takes_texts:
        raise ParameterError(
            "--text is for models of texts: lsi", received=type(saved.model).__name__, hint="leave out --text"
        )


def open_model(path: Path, **parameters: Any) -> Saved:
    """Load a model; ``parameters`` such as ``memory`` and ``progress`` are those of this run."""
    from ritz.persist.model import load

    if not path.exists():
        raise FileError(f"there is no model at {path}", hint=_near(path))
    file = model_file(path)
    model = load(file)
    if "unseen" in parameters and "unseen" not in model.get_params(deep=False):
        raise ParameterError(
            "--unseen is for models of categories: mca, famd, mfa", received=type(model).__name__,
            hint="leave out --unseen",
        )  # fmt: skip
    if parameters:
        model.set_params(**parameters)
    return Saved(file, model, _manifest(file))


def unseen_way(text: str | None) -> dict[str, str]:
    """``--unseen`` as a parameter of the model, where it is given."""
    from ritz.cli.fitting.components import parse_choice
    from ritz.data.encode.encoder import UNSEEN_WAYS

    return {} if text is None else {"unseen": parse_choice("--unseen", text, UNSEEN_WAYS)}


def _near(path: Path) -> str:
    """Suggest a result folder of nearly the same name."""
    folder = path.parent
    names = [one.name for one in folder.iterdir() if (one / MODEL_NAME).exists() or one.suffix == ".ritz"] \
        if folder.is_dir() else []  # fmt: skip
    close = difflib.get_close_matches(path.name, names, n=1)
    return f"did you mean {folder / close[0]}?" if close else "ritz fit TABLE writes one to the folder <stem>_ritz"


def _manifest(file: Path) -> dict[str, Any]:
    """What lies beside the model, if it is of this model."""
    import hashlib

    try:
        content = json.loads((file.parent / MANIFEST).read_text(encoding="utf-8"))
        listed = content["files"][file.name]["sha256"]
        return content if hashlib.sha256(file.read_bytes()).hexdigest() == listed else {}
    except (OSError, ValueError, KeyError, TypeError):
        return {}
