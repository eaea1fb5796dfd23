"""Documents of the command line, and the estimator that its options mean.

    ritz fit docs/ --method lsi              every text file below the folder is a document, named by its path
    ritz fit reviews.csv --text review       every row of the column is one, named by the only column of identifiers
    ritz fit reviews.jsonl --text review     every line of JSON is one

    --language L          function words of L are left out, other words stemmed; found out without a word of the user
    --no-stem --plain     words as they are written; all of them

A model that was saved reads its documents in the same way again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ritz._core.errors import FileError, InputError, ParameterError
from ritz.cli.fitting.columns import SPELLED, expand
from ritz.cli.fitting.components import parse_choice
from ritz.cli.fitting.job import read_table
from ritz.cli.fitting.method import is_text
from ritz.cli.options import WEIGHTINGS
from ritz.data.tables.identifiers import Labels, labels_of
from ritz.data.tables.table import Table
from ritz.data.words import counted, shorten
from ritz.methods.lsi.lsi import LSI
from ritz.report.origin import OfTexts
from ritz.text.adopt import LINES, PACKED, TABLES, documents
from ritz.text.collection import Documents
from ritz.text.function_words import languages
from ritz.text.language import Language, recognise, rule_of
from ritz.text.words import Words

__all__ = ["Texts", "color_of", "make_lsi", "open_texts", "prepared", "refuse_parts"]

#: Rows of identifiers that are read at once.
BATCH_ROWS = 1 << 16


@dataclass(frozen=True, repr=False)
class Texts:
    """Documents, and where they came from."""

    documents: Documents
    path: Path
    table: Table | None = None  # whose column they are
    column: str | None = None  # or field
    encoding: str | None = None

    @property
    def origin(self) -> OfTexts:
        """How a report opens them again."""
        return OfTexts(str(self.path), self.column, self.encoding, getattr(self.table, "origin", None))

    @property
    def source(self) -> str:
        """What people call it."""
        return self.table.source if self.table is not None else self.path.resolve().name or str(self.path)

    @property
    def n_rows(self) -> int | None:
        """How many documents there are; None where only reading would tell."""
        return self.documents.n_documents

    @property
    def lazy(self) -> bool:
        """Whether texts are read in pieces: they always are."""
        return True

    def __repr__(self) -> str:
        return repr(self.documents).removeprefix("Documents(").removesuffix(")")

    @property
    def files(self) -> list[Path]:
        """What is read."""
        return [self.path, *(() if self.table is None else self.table.files)]

    @property
    def notes(self) -> tuple[str, ...]:
        """What had to be decided."""
        return (*(() if self.table is None else self.table.notes), *self.documents.notes)

    @property
    def identifiers(self) -> list[str]:
        """Columns that name the documents."""
        if self.table is None:
            return [] if self.documents.names is None else ["document"]
        return [name for name, kind in self.table.kinds.items() if kind == "identifier" and name != self.column]

    def labels(self, *, numbered: bool) -> Labels:
        """Names of the documents, for their scores."""
        names = [name for name in self.identifiers if not (numbered and name == "row")]
        if self.table is not None:
            return Labels(iter(self.table.batches(names, BATCH_ROWS)) if names else None, numbered)
        if self.documents.names is None:
            return Labels(None, numbered)
        return Labels(_pieces(self.documents.names), numbered)

    def check_unchanged(self) -> None:
        """Raise where what was read is not what it was."""
        if self.table is not None:
            self.table.check_unchanged()
        self.documents.check_unchanged()


def _pieces(names: list[str]) -> Iterator[Any]:
    yield labels_of(names, "document").take(len(names))


def open_texts(path: Path, column: str | None, how: dict[str, Any], **options: Any) -> Texts:
    """Documents of a folder, of a column of a table, of lines of JSON, or of one text file."""
    ending = next((one for one in reversed([one.lower() for one in path.suffixes]) if one not in PACKED), "")
    folder = path.is_dir() and column is None
    if folder or ending in LINES or (path.is_file() and column is None and ending not in TABLES):
        said = [name for name, value in how.items() if value not in (None, []) and name != "encoding"]
        if said:
            option = SPELLED.get(said[0], f"--{said[0]}")
            raise ParameterError(
                f"{option} is for tables", received=f"{'a folder of texts' if path.is_dir() else path.name}",
                hint=f"leave out {option}",
            )  # fmt: skip
        encoding, memory = how.get("encoding"), options.get("memory")
        return Texts(documents(path, text=column, encoding=encoding, memory=memory), path, None, column, encoding)
    table = _table(path, how, options)
    name = _column(table, column)
    found = documents(table, text=name, memory=options.get("memory"))
    texts = Texts(found, path, table, name)
    if len(texts.identifiers) == 1:
        found.names = ["" if label is None else str(label) for label in table.labels(texts.identifiers[0])]
    return texts


def _table(path: Path, how: dict[str, Any], options: dict[str, Any]) -> Table:
    """The table; one column of texts has no delimiter to be found out."""
    try:
        return read_table(path, how, **options)
    except FileError as error:
        if how["delimiter"] is not None or "without a delimiter" not in (error.received or ""):
            raise
        return read_table(path, {**how, "delimiter": "\t" if path.suffix.lower() == ".tsv" else ","}, **options)


def _column(table: Table, asked: str | None) -> str:
    """The column of texts: the one that the user names, or the only one of strings."""
    strings = [one.name for one in table.columns if is_text(table, one.name)]
    if asked is not None:
        name = expand("--text", [asked], table)[0]
        if name not in strings:
            kind = next(one.kind for one in table.columns if one.name == name)
            raise InputError(
                "expected texts in the column of --text", received=f"{name!r} ({kind})",
                hint=f"columns of texts are {shorten([repr(one) for one in strings])}" if strings else
                "the table has no column of texts",
            )  # fmt: skip
        return name
    long = [one.name for one in table.columns if one.kind == "text" and one.name in strings] or strings
    if len(long) == 1:
        return long[0]
    raise InputError(
        f"expected --text with the name of the column of texts in {table.source or 'the table'}",
        received=f"{counted(len(long), 'column')} of texts" + (f": {shorten(long)}" if long else ""),
        hint=f"--text {long[-1]}" if long else "give texts, or fit the table without --method lsi",
    )


def refuse_parts(asked: dict[str, Any]) -> None:
    """Refuse what columns of texts cannot be."""
    for option, why in (
        ("columns", "--columns is for methods of several columns"),
        ("weights", "--weights is for every method but lsi"),
        ("supplementary", "--supplementary is for every method but lsi"),
    ):
        if asked.get(option):
            hint = "--text names the column of texts" if option == "columns" else "leave it out"
            raise ParameterError(why, received="--method lsi", hint=hint)


def color_of(name: str | None, texts: Texts, *, asked: bool = True) -> str | None:
    """The column that documents are coloured by; what was not ``asked`` for now may be missing."""
    if not name:
        return None
    if texts.table is None or (not asked and name not in texts.table.names):
        if not asked:
            return None
        raise ParameterError(
            "--color names a column of a table", received=f"{texts.source}, which is none", hint="leave it out"
        )
    return expand("--color", [name], texts.table)[0]


def prepared(
    path: Path, method: dict[str, Any], how: dict[str, Any], asked: dict[str, Any], k: Any, common: dict[str, Any]
) -> tuple[Texts, LSI]:
    """Texts and the estimator that would be fitted to them, for commands that do not fit and write."""
    refuse_parts(asked)
    texts = open_texts(path, method["text"], how, memory=common["memory"], progress=common["progress"])
    return texts, make_lsi(method, k or None, texts, common)[0]


def make_lsi(method: dict[str, Any], k: Any, texts: Texts, common: dict[str, Any]) -> tuple[LSI, Language | None]:
    """The estimator; and the language, where it had to be found out for its words."""
    words, language = _rule(method, texts)
    weighting = parse_choice("--weighting", method["weighting"] or WEIGHTINGS[0], WEIGHTINGS)
    return LSI(k, words=words, weighting=weighting, **common), language


def _rule(method: dict[str, Any], texts: Texts) -> tuple[Words | None, Language | None]:
    named, stem, plain = method["language"], method["stem"], method["plain"]
    if plain and (named or stem):
        raise ParameterError(
            "--plain takes all words as they are", received="--language" if named else "--stem",
            hint="leave out one of them",
        )  # fmt: skip
    if plain:
        return Words(), None
    if named is not None:
        found = Language(parse_choice("--language", named, tuple(languages()), "--language english"), 0.0, 0)
    elif stem is None:
        return None, None
    else:
        found = recognise(texts.documents)
    if stem and found.name is None:
        raise ParameterError(
            "--stem needs the language of the texts, which was not recognised", received="no --language",
            hint="--language english",
        )  # fmt: skip
    rule = rule_of(found)
    if stem is False:
        rule = Words(stop_words=rule.stop_words)
    return rule, found if named is None else None
