"""Options that several commands share: how a table is read, which columns take part, which method is meant.

--drop COL   →  kinds={COL: "drop"}            --id COL           →  kinds={COL: "identifier"}
--na TEXT    →  missing=[TEXT], instead of     --categorical COL  →  kinds={COL: "categorical"}, --numeric likewise
                the usual marks
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from ritz.cli.terminal.command import Group
from ritz.methods import shorts

__all__ = [
    "COLUMNS", "FORCE", "KERNELS", "MEMORY", "METHOD", "METHODS", "MODEL", "OUTPUT_FILE", "READING", "SEED", "STRINGS",
    "TABLE", "TEXT", "UNSEEN", "WEIGHTINGS", "column_option", "model_file",
]  # fmt: skip

METHODS = ("auto", *shorts())
KERNELS = ("linear", "poly", "rbf", "sigmoid", "laplacian", "cosine", "matern")
STRINGS = ("spectrum", "bounded", "mismatch", "subsequence", "edit")
WEIGHTINGS = ("log-entropy", "tf-idf", "sublinear", "bm25", "pivoted", "histogram", "count")
MODEL_NAME = "model.ritz"

TABLE = typer.Argument(
    metavar="TABLE",
    help="CSV, TSV, Excel, OpenDocument, JSON, Parquet, Arrow, .npy, .npz, .h5ad, SQLite or DuckDB file, a folder of "
    "Parquet files or pictures, or - for standard input; several files are one table; with --method lsi a folder of "
    "texts.",
    show_default=False,
)
MODEL = typer.Argument(
    metavar="MODEL", help="A model.ritz, or the folder that ritz fit wrote it to.", show_default=False
)
OUTPUT_FILE = typer.Option(
    "-o",
    "--output",
    metavar="FILE",
    show_default="CSV to stdout",
    help="Ends in .parquet, .csv, .tsv, .arrow or .npy.",
)
MEMORY = typer.Option(
    metavar="SIZE",
    show_default="half of what is available",
    help="Memory to add at most, such as 500MB or 2GB; larger tables are read in pieces.",
)
FORCE = typer.Option("--force", help="Overwrite files that are there already, but never one that is read.")
UNSEEN = typer.Option(
    "--unseen", metavar="WAY", show_default="as fitted: error",
    help="mca, famd, mfa: levels that the fit has not seen: error, ignore, supplementary or missing.",
)  # fmt: skip
TEXT = typer.Option(
    "--text", metavar="COL", show_default="as in the fit", help="lsi: the column, or the field of JSON, of the texts."
)
SEED = typer.Option(min=0, help="Seed of random starts.")

HEADER = typer.Option(
    "--header/--no-header",
    show_default="detected",
    help="Whether the first line of a text file names the columns.",
    rich_help_panel="How the table is read",
)


def _reading(help_text: str, name: str | None = None, metavar: str = "MARK", default: Any = "detected") -> Any:
    names = () if name is None else (name,)
    return typer.Option(
        *names, metavar=metavar, show_default=default, help=help_text, rich_help_panel="How the table is read"
    )


def column_option(name: str, help_text: str, default: Any = False) -> Any:
    """An option that names a column."""
    return typer.Option(
        name, metavar="COL", show_default=default, help=help_text, rich_help_panel="What columns are for"
    )


Texts = list[str] | None

#: How a table is read.
READING = Group(
    "how",
    {
        "header": (Annotated[bool | None, HEADER], None),
        "delimiter": (Annotated[str | None, _reading("What separates fields of a text file.")], None),
        "decimal": (Annotated[str | None, _reading("Decimal mark of a text file: . or ,")], None),
        "thousands": (Annotated[str | None, _reading("What groups digits in a text file.")], None),
        "encoding": (
            Annotated[str | None, _reading("Encoding of a text file, such as latin-1.", metavar="NAME")],
            None,
        ),
        "na": (
            Annotated[
                Texts,
                _reading(
                    "A text that counts as missing in a text file, instead of NA, None, - and the other usual ones.",
                    "--na",
                    "TEXT",
                    False,
                ),
            ],
            None,
        ),
        "keep_na": (
            Annotated[
                Texts,
                _reading("One of the usual marks of missing values that is a value here.", "--keep-na", "TEXT", False),
            ],
            None,
        ),
        "skip": (
            Annotated[int | None, _reading("Lines before the header of a text file.", "--skip", "N")],
            None,
        ),
        "sheet": (
            Annotated[
                str | None,
                _reading(
                    "Sheet of a workbook, by name or number; table of a database; array of an .npz.",
                    "--sheet",
                    "NAME",
                    "the first",
                ),
            ],
            None,
        ),
        "image_shape": (
            Annotated[
                str | None,
                _reading("Height and width of the pictures in the rows, as in 64x64.", "--image-shape", "HxW", False),
            ],
            None,
        ),
        "coerce": (
            Annotated[
                bool | None,
                typer.Option(
                    "--coerce",
                    help="Treat cells that are not numbers as missing in columns that are nearly all numbers.",
                    show_default=False,
                    rich_help_panel="How the table is read",
                ),
            ],
            None,
        ),
        "drop": (
            Annotated[Texts, column_option("--drop", "Leave out columns: names with commas between, a..b, x_*.")],
            None,
        ),
        "ids": (
            Annotated[
                Texts,
                column_option("--id", "A column that names the rows; it goes along with the scores.", "detected"),
            ],
            None,
        ),
        "categorical": (
            Annotated[
                Texts,
                column_option("--categorical", "Numbers that are codes of categories; all means every column."),
            ],
            None,
        ),
        "numeric": (
            Annotated[Texts, column_option("--numeric", "A column that holds numbers, as text or as codes.")],
            None,
        ),
    },
)

#: Which columns take part.
COLUMNS = Group(
    "parts",
    {
        "columns": (
            Annotated[
                Texts,
                column_option(
                    "--columns", "Use these columns only: names with commas between, a..b, x_*.", "all that fit"
                ),
            ],
            None,
        ),
        "weights": (
            Annotated[str | None, column_option("--weights", "A column of weights: how often a row counts.")],
            None,
        ),
    },
)


def _method(help_text: str, *names: str, **more: Any) -> Any:
    return typer.Option(*names, help=help_text, rich_help_panel="The method", **more)


def _methods(begun: str) -> list[str]:
    return [name for name in ("auto", *shorts()) if name.startswith(begun)]


def _weightings(begun: str) -> list[str]:
    return [name for name in WEIGHTINGS if name.startswith(begun)]


def _kernels(begun: str) -> list[str]:
    return [name for name in (*KERNELS, *STRINGS) if name.startswith(begun)]


#: Which method, and its own options.
METHOD = Group(
    "method",
    {
        "name": (
            Annotated[
                str,
                _method(
                    f"{', '.join(METHODS[:-1])} or {METHODS[-1]}; auto looks at the columns and says why.",
                    "--method",
                    "-m",
                    metavar="NAME",
                    autocompletion=_methods,
                ),
            ],
            "auto",
        ),
        "scale": (
            Annotated[
                bool | None,
                _method(
                    "Standardise the columns, or keep their units. Auto: pca, robust, sparse, ica, autoencoder and "
                    "maps standardise when standard deviations differ more than tenfold; factor, mfa, pls, pcr and "
                    "cca always.",
                    "--scale/--no-scale",
                    show_default="auto",
                ),
            ],
            None,
        ),
        "missing": (
            Annotated[
                str,
                _method(
                    "Missing values: error; drop leaves out such rows; pca: mean, em, regularized; mca, famd, mfa: "
                    "category, exclude, regularized.",
                    metavar="WAY",
                ),
            ],
            "error",
        ),
        "kernel": (
            Annotated[
                str | None,
                _method(
                    f"kpca: {', '.join(KERNELS)}; of strings {', '.join(STRINGS)}, with a length as in spectrum:3.",
                    metavar="NAME",
                    show_default="rbf, spectrum:3 for strings",
                    autocompletion=_kernels,
                ),
            ],
            None,
        ),
        "gamma": (
            Annotated[
                str | None,
                _method("kpca: a number, median, scale, entropy or cv.", metavar="G", show_default="median for rbf"),
            ],
            None,
        ),
        "degree": (Annotated[int, _method("kpca: degree of the poly kernel.", min=1)], 3),
        "neighbours": (
            Annotated[
                int | None,
                _method(
                    "isomap, lle, laplacian, diffusion, mvu: how many nearest rows each row is joined to.",
                    "--neighbours",
                    min=1,
                    show_default="10; mvu 5; diffusion all rows",
                ),
            ],
            None,
        ),
        "groups": (
            Annotated[
                Texts,
                _method("mfa: a group and its columns; once for each.", metavar="NAME=COL,COL", show_default=False),
            ],
            None,
        ),
        "target": (
            Annotated[
                Texts,
                column_option(
                    "--target",
                    "pls, pcr, cca: the columns that are the second table; the others are the first.",
                ),
            ],
            None,
        ),
        "error": (
            Annotated[
                float | None,
                _method(
                    "hosvd, tucker, tt: relative error that may be left; ranks follow.",
                    metavar="E",
                    show_default="0.01 without -k",
                ),
            ],
            None,
        ),
        "hidden": (
            Annotated[
                str | None,
                _method(
                    "autoencoder: widths of hidden layers, as in 32,16.", metavar="N,N", show_default="none: linear"
                ),
            ],
            None,
        ),
        "text": (
            Annotated[
                str | None,
                _method(
                    "lsi: the column of texts of a table, or the field of lines of JSON.",
                    metavar="COL",
                    show_default=False,
                ),
            ],
            None,
        ),
        "weighting": (
            Annotated[
                str | None,
                _method(
                    f"lsi: {', '.join(WEIGHTINGS[:-1])} or {WEIGHTINGS[-1]}.",
                    metavar="NAME",
                    show_default="log-entropy",
                    autocompletion=_weightings,
                ),
            ],
            None,
        ),
        "language": (
            Annotated[
                str | None,
                _method(
                    "lsi: language of the texts, whose function words are left out and whose words are stemmed.",
                    metavar="NAME",
                    show_default="detected",
                ),
            ],
            None,
        ),
        "stem": (
            Annotated[
                bool | None,
                _method(
                    "lsi: stem words, or leave them as they are written.",
                    "--stem/--no-stem",
                    show_default="stem where the language is known",
                ),
            ],
            None,
        ),
        "plain": (
            Annotated[
                bool | None,
                _method("lsi: take all words as they are: none left out, none stemmed.", "--plain", show_default=False),
            ],
            None,
        ),
        "counts": (
            Annotated[
                str | None,
                _method(
                    "ca: the column of counts, where rows are combinations of two categories.",
                    metavar="COL",
                    show_default=False,
                ),
            ],
            None,
        ),
    },
)


def model_file(path: Path) -> Path:
    """The path, or the model inside it where it is a folder."""
    from ritz._core.errors import FileError

    if not path.is_dir():
        return path
    if (path / MODEL_NAME).exists():
        return path / MODEL_NAME
    inside = sorted(path.glob("*.ritz"))
    hint = f"did you mean {inside[0]}?" if inside else f"ritz fit writes {MODEL_NAME} into its result folder"
    raise FileError(f"expected a model file at {path}", received="a folder without a model", hint=hint)
