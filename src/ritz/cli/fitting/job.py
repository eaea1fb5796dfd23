"""The work behind ``ritz fit``: read → what columns are for → which method → fit → describe → write."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from shlex import quote
from typing import Any

from ritz import __version__
from ritz._core.blas import small_blas
from ritz._core.errors import Cancelled, FileError, InputError, ParameterError, RitzError
from ritz._core.journal import discard, journaling, known_identity
from ritz._core.memory import available, limit
from ritz._core.threads import lane_count
from ritz.cli.fitting.columns import Parts, dropping, naming_marks, open_table, parts_of, read_options, within_reach
from ritz.cli.fitting.components import reason
from ritz.cli.fitting.dropped import columns_used, without_gaps
from ritz.cli.fitting.estimator import TENSORS, check_method
from ritz.cli.fitting.extra import Extra, apart
from ritz.cli.fitting.fitting import Request, fit_table
from ritz.cli.fitting.matrix import of_matrix
from ritz.cli.fitting.method import Choice, choose_method, is_text, label_of, string_column
from ritz.cli.fitting.totals import warn_of_totals
from ritz.cli.options import STRINGS
from ritz.cli.results.alike import reading_facts
from ritz.cli.results.extra import extra_facts, found_besides
from ritz.cli.results.files import contents
from ritz.cli.results.output import JOURNAL, Place, check_folder, result_folder, working, write_results
from ritz.cli.results.ranked import ranks_facts, ranks_of_fit
from ritz.cli.results.summary import describe, possible
from ritz.cli.terminal.console import say
from ritz.data.engines import engaged
from ritz.data.tables.lists import lost_lists
from ritz.data.tables.table import Table

__all__ = ["Job", "chosen", "run"]

#: Memory that a report may take, libraries included; 99 to 116 MB were measured beside a table of 400,000 × 100.
PAGE_MEMORY = 200_000_000
#: Endings of files with a JSON object in each line.
LINES = (".jsonl", ".ndjson")
#: Options of every estimator that its numbers depend on.
NUMERICAL = ("solver", "tol", "random_state")

#: Why a method was taken that nobody named, where an option called for it.
TAKEN = {
    "pls": "--target names a second table: partial least squares; --method pcr and cca are others",
    "pca": "--covariance-of says that the table is a covariance matrix: principal component analysis",
}


@dataclass(frozen=True)
class Job:
    """What the user asked for; ``k`` is 0 where he did not choose."""

    path: Path
    k: Any
    method: dict[str, Any]
    how: dict[str, Any]  # to read the table, as far as the user says
    parts: dict[str, Any]  # what columns are for
    options: dict[str, Any]  # of the estimator
    named: Sequence[Path] = ()  # the files that the user named, which are not written over
    said: dict[str, Any] = field(default_factory=dict)  # how each of several is read
    output: Path | None = None
    force: bool = False
    memory: str | float | None = None
    resume: bool = False
    covariance_of: int | None = None  # rows behind a table that is a covariance matrix
    engine: str | None = None
    scores: str | None = None
    figures: tuple[str, ...] = ()
    report: bool = True
    quiet: bool = False
    command: str = ""
    extra: Extra = field(default_factory=Extra)


def run(job: Job) -> tuple[dict[str, Any], Path]:
    """Do the work; what the summary says, and the folder with the results."""
    name = check_method(job.method)
    folder = result_folder(job.path, job.output)
    with working(folder):
        if name == "lsi":
            from ritz.cli.fitting.texts_job import run_texts

            return run_texts(job, folder), folder
        if name in TENSORS:
            from ritz.cli.fitting.tensors_job import run_tensor

            return run_tensor(job, folder, name), folder
        return _run(job, name, folder), folder


def _run(job: Job, name: str, folder: Path) -> dict[str, Any]:
    before = check_folder(folder, job.force, [job.path, *job.named])
    # Workers of a cluster run in folders of their own.
    path = job.path if job.engine is None else job.path.absolute()
    bounded = replace(job, memory=_allowed(job, folder))
    table = read_table(path, job.how, memory=bounded.memory, progress=job.options["progress"])
    if len(job.named) > 1:  # as the user knows them, not the file that their rows were gathered in
        table.source = f"{job.named[0].name} and {len(job.named) - 1:,} more"
        each = tuple(map(str, job.named))
        table.origin = replace(table.origin, options=read_options(job.said), files=each)
    place = Place(folder, [job.path, *job.named, *table.files])
    if job.covariance_of is not None:
        job, name = of_matrix(job, name)
    whole = table
    table, beside, numbers = apart(table, job.extra.rows) if job.extra.rows else (table, None, [])
    if numbers:
        table.origin = replace(whole.origin, left=tuple(i - 1 for i in numbers))
    parts, choice = chosen(table, name, job.parts, job.method)
    if job.extra.rotate is not None and job.k == 0 and choice.method == "pca":
        job = replace(job, k="kaiser")  # rotating components that are noise would spoil the others
    dropped: dict[str, Any] = {}
    if job.method["missing"] == "drop":
        names, origin = columns_used(parts, choice, job.method), getattr(table, "origin", None)
        table, lost = without_gaps(table, names)
        parts, choice = chosen(table, name, job.parts, job.method)
        table.origin = getattr(table, "origin", None) or origin
        parts = replace(parts, whole=table, dropped=tuple(names) if lost else ())
        dropped = {"dropped": {"rows": lost, "columns": names}} if lost else {}
        job = replace(job, method={**job.method, "missing": "error"})
    outside = table.lazy or job.engine is not None
    if job.resume and not outside:
        say("note", "a table in memory is fitted at once, so there is nothing to resume", "bold cyan")
    memory = bounded.memory if outside else job.memory
    job = _without_page(job, bounded.memory) if table.lazy else job
    request = Request(parts, choice, job.method, job.k, memory, job.options, outside, job.scores, job.quiet,
                      job.covariance_of)  # fmt: skip
    kept = outside and choice.method == "pca"
    narrow = nullcontext() if outside else small_blas(table.n_rows or 0, len(table.columns))
    with narrow, engaged(job.engine), _keeping(folder) if kept else nullcontext():
        with _journal(bounded, folder, parts) if kept else nullcontext(), within_reach(table), naming_marks(table):
            done = _fitted(request)
        why = reason(job.k, done.model, done.shape, done.refit, possible(done))
        facts = {**describe(parts, choice, done, why), "reading": _said(job)}
        found = found_besides(done, job.extra, parts, chosen=job.k != 0, beside=beside)
        facts |= reading_facts(table, done.columns) | dropped | extra_facts(found, numbers)
        ranks = _ranks(done, parts) if job.report else None
        facts |= {} if ranks is None else {"ranks": ranks_facts(ranks)}
        files = contents(job, parts, done, found, ranks)
        paths, removed = write_results(folder, files, facts, place=place, check=table.check_unchanged)
    replaced = before if before != table.source else None
    written = [path.name for path in paths]
    done_with = {"replaced": replaced, "written": written, "removed": removed}
    return {**facts, **done_with, "seconds": done.model.plan_.actual_seconds}


def _fitted(request: Request) -> Any:
    """The fit; where too many components are asked for, the error says which columns took no part."""
    warn_of_totals(request.parts, request.choice)
    try:
        return fit_table(request)
    except ParameterError as error:
        aside = [f"{one.name} ({one.reason})" for one in request.parts.used.columns if one.reason]
        if "n_components" not in error.expected or not aside:
            raise
        told = f"columns set aside: {'; '.join(aside[:5])}{' and more' if len(aside) > 5 else ''}"
        hint = f"{error.hint}; {told}" if error.hint else told
        raise type(error)(error.expected, received=error.received, hint=hint) from error


def _ranks(done: Any, parts: Parts) -> Any:
    """What the rules for the number of components say, for this report and for those of other rows."""
    rows = done.rows if isinstance(done.rows, list) else parts.whole
    return ranks_of_fit(done.model, rows, parts.supplementary)


def _without_page(job: Job, memory: Any) -> Job:
    """The job without a report, where the memory limit would not hold one."""
    if not job.report or memory >= PAGE_MEMORY:
        return job
    if not job.quiet:
        say("note", f"no report: it takes about {PAGE_MEMORY // 10**6} MB, more than --memory allows", "bold cyan")
    return replace(job, report=False)


def _said(job: Job) -> dict[str, Any]:
    """How the table was read as far as the user said, for commands that read it again."""
    return {name: value for name, value in job.how.items() if value not in (None, [])}


def read_table(path: Path, how: dict[str, Any], **options: Any) -> Table:
    """Read a table; a list of strings has no header where the first one looks like the others."""
    try:
        table = open_table(path, how, **options)
    except FileError as error:
        raise _of_texts(error, path) from error
    if _lines_of_texts(path, table):
        raise FileError(
            f"expected a column of numbers or of categories in {path}", received="texts only",
            hint="lines of JSON: --text names the field of texts",
        )  # fmt: skip
    name = table.names[0]
    if how["header"] is not None or len(table.names) != 1 or table.lazy or not is_text(table, name):
        return table
    texts = [text for text in table.labels(name) if text]
    letters = set("".join(texts[:1000]))
    if not texts or not set(name) <= letters or not min(map(len, texts)) <= len(name) <= max(map(len, texts)):
        return table
    table = open_table(path, {**how, "header": False}, **options)
    table.notes = (
        *table.notes[1:],
        "the first line looks like the others, so it is no header (--header takes it as a name)",
    )
    return table


def _of_texts(error: FileError, path: Path) -> FileError:
    """The error with the way that texts go, where texts may be meant."""
    if "lines without a delimiter" in (error.received or ""):
        hint = f"{error.hint}; lines of text are taken by --method lsi"
        return FileError(error.expected, received=error.received, hint=hint)
    if path.is_dir() and "folder of Parquet files" in error.expected and any(path.iterdir()):
        hint = f"{error.hint}; --method lsi takes a folder of texts"
        return FileError(error.expected, received=error.received, hint=hint)
    return error


def _lines_of_texts(path: Path, table: Table) -> bool:
    """Whether lines of JSON hold texts and nothing else."""
    lines = path.is_file() and any(ending.lower() in LINES for ending in path.suffixes)
    return lines and all(is_text(table, one.name) and one.kind in ("text", "identifier") for one in table.columns)


def chosen(table: Table, name: str, asked: dict[str, Any], method: dict[str, Any]) -> tuple[Parts, Choice]:
    """What columns are for, and the method, by the user's word or by a look at the columns."""
    parts = parts_of(table, **asked)
    _require_numbers(parts, name, method)
    _require_lists(parts, name)
    if name == "auto":
        choice = choose_method(parts.used, weighted=parts.weights is not None)
        check_method({**method, "name": choice.method}, said=method["name"] == choice.method)
    else:
        choice = asked_for(name, method, parts.used)
    if choice.weights is not None and parts.weights is None:
        parts = parts_of(table, **{**asked, "weights": choice.weights})
    if parts.color is None and choice.color is not None:
        parts = replace(parts, color=choice.color)
    if parts.supplementary and choice.method == "kpca":
        raise ParameterError(
            "--supplementary is for every method but kpca", received="--method kpca", hint="leave it out"
        )
    return parts, choice


def _require_numbers(parts: Parts, name: str, method: dict[str, Any]) -> None:
    """Refuse values that are no numbers in columns of numbers: a typing error decides neither method nor columns."""
    strays = [column for column in parts.used.columns if column.strays]
    strings = name == "kpca" and (method["kernel"] or "").partition(":")[0].strip().lower() in STRINGS
    if strays and not strings:
        from ritz.data.tables.strays import stray_error

        error = stray_error(strays, parts.whole.source, parts.whole.row_name)
        raise InputError(error.expected, received=error.received, hint=(error.hint or "").replace(
            "coerce=True makes them missing",
            f"{dropping(parts.whole, '--coerce --missing drop leaves out their rows')}, "
            "--coerce --missing regularized fills them in").replace("coerce=True makes its values missing",
            dropping(parts.whole, "--coerce --missing drop leaves it out")))  # fmt: skip


def _require_lists(parts: Parts, name: str) -> None:
    """Refuse to analyse what names rows where embeddings were to be there; methods of categories take no numbers."""
    error = None if name in ("mca", "ca") else lost_lists(parts.used, lambda lost: f"--drop {quote(','.join(lost))}")
    if error is not None:
        raise error


def asked_for(name: str, method: dict[str, Any], table: Table) -> Choice:
    """The method that the user named; a kernel of strings finds their column."""
    kernel = (method["kernel"] or "").partition(":")[0].strip().lower()
    if name == "kpca" and (kernel in STRINGS or not (kernel or "numeric" in table.kinds.values())):
        column = string_column(table)
        words = [one for one, kind in table.kinds.items() if kind == "categorical" and one != column]
        return Choice(name, f"as asked, on the strings in {column}", strings=column, color=words[0] if words else None)
    why = "as asked" if method["name"] != "auto" else TAKEN.get(name, "as asked")
    return Choice(name, why, color=label_of(table))


def _allowed(job: Job, folder: Path) -> float:
    """The memory limit in bytes: what was asked for, or half of what is available.

    Batches and lanes are sized by it, and with them the order of sums. So a fit that is gone on with keeps the limit it
    began with, however much is available by now, as long as that much is.
    """
    before = known_identity(folder / JOURNAL) if job.resume and job.memory is None else None
    kept = None if before is None else before.get("memory")
    if isinstance(kept, (int, float)) and 0 < kept <= available():
        return float(kept)
    return float(int(limit(job.memory)))


@contextmanager
def _keeping(folder: Path) -> Iterator[None]:
    """Keep the sums of the fit until its results are there; a fit that fails by itself takes them away again."""
    try:
        yield
    except (KeyboardInterrupt, Cancelled):
        say("note", "what was summed so far is kept: run again with --resume", "bold cyan")
        raise
    except RitzError:
        discard(folder / JOURNAL)
        raise
    discard(folder / JOURNAL)


@contextmanager
def _journal(job: Job, folder: Path, parts: Parts) -> Iterator[None]:
    """Write down sums in the result folder while they are formed."""
    names = [column.name for column in parts.used.columns if column.kind == "numeric"]
    source, _ = parts.used.source_for(names)
    place = folder / JOURNAL
    begun = known_identity(place) is not None
    if job.resume and not begun:
        say("note", f"there is nothing to resume in {folder}, so the fit starts from the beginning", "bold cyan")
    if begun and not job.resume:
        say("note", "an earlier fit was broken off; --resume goes on with it, this one starts anew", "bold cyan")
        discard(place)
    with journaling(place, _identity(job, parts, names, source), keep=True):
        yield


def _identity(job: Job, parts: Parts, names: list[str], source: Any) -> dict[str, Any]:
    """Which fit this is: all that its sums depend on, options by the names that users know, and nothing else.

    How much is said on the way (-q, --json, NO_COLOR) and where results go is no part of a fit.
    """
    k = {None: "all", 0: "default"}.get(job.k, job.k)
    estimator = {f"--{name.replace('random_state', 'seed')}": job.options[name] for name in NUMERICAL}
    options = {"-k": k, "--scale": job.method["scale"], "--missing": job.method["missing"], **estimator}
    reading = {f"--{'id' if name == 'ids' else name}": value for name, value in job.how.items()}
    said = {name: "not given" if value in (None, []) else value for name, value in {**options, **reading}.items()}
    return {
        "data": source.fingerprint(), "columns": names, "number of threads": lane_count(),
        "release of Ritz": __version__, "memory": job.memory, "weights": parts.weights, **said,
    }  # fmt: skip
