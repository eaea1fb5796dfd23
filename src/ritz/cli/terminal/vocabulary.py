"""The words of the library in those of the command line: options instead of parameters, and no Python.

    missing='category' makes them …  →  --missing category makes them …
    let PCA fill the gaps: missing=… →  let --missing regularized fill the gaps

The rules are tried one after the other, each on what the one before has left; special ones stand before general ones.
Errors that speak of columns and rows by number are given their names.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache

from ritz._core.errors import RitzError
from ritz.methods import METHODS

__all__ = ["by_name", "pasteable", "spoken"]

CLASSES = "|".join(METHODS)
TEXT = "thousands|encoding|decimal|delimiter"


FROM_ZERO = "count from 0"


def _method(match: re.Match[str]) -> str:
    """``ritz.KernelPCA`` as ``--method kpca``."""
    return f"--method {METHODS[match['name']][1]}"


def _names(match: re.Match[str]) -> str:
    """``numeric=['a', 'b']`` as ``--numeric a,b``."""
    listed = match["names"].replace("'", "").replace('"', "").replace(", ", ",")
    return f"--{match['option']} {'COL' if listed in ('…', '') else listed}"


def _codes(match: re.Match[str]) -> str:
    """``categorical=['a', 'my b'] if …`` as ``--categorical 'a,my b'``, in quotes that a shell takes."""
    listed = ",".join(re.findall(r"'([^']*)'", match["names"])) or match["names"]
    return f"--categorical '{listed}' if they are codes of categories"


def _ways(match: re.Match[str]) -> str:
    """``missing='a', 'b' or 'c'`` as ``--missing a, b or c``."""
    return f"--{match['option']} {match['ways'].replace(chr(39), '')}"


def _switch(match: re.Match[str]) -> str:
    """``scale=True`` as ``--scale``, ``scale=False`` as ``--no-scale``."""
    return f"--{'' if match['state'] == 'True' else 'no-'}{match['option']}"


def _rank_of_rows(match: re.Match[str]) -> str:
    """``choose_rank(X, scale=True)``: the rules for principal components."""
    return f"ritz rank --method pca{' --scale' if match['state'] == 'True' else ''} asks them of all rows"


#: What messages of the library call things, and what they are called here.
RULES: tuple[tuple[str, str | Callable[[re.Match[str]], str]], ...] = (
        # matrices
        (r"\b\w+\.from_covariance\(S, n\) takes the matrix of n rows", "--covariance-of N takes the matrix of N rows"),
        (r"\bfrom_covariance\(S, n=(\d+)\)", r"--covariance-of \1"),
        (r"\bfit\(X\) takes a table of rows", "a table of rows is fitted without --covariance-of"),
        # columns
        (r"(?s)(in column '([^']*)'; .*)kinds=\{name: 'drop'\}", r"\1--drop '\2'"),
        (
            r"categorical=\[(?P<names>[^\]]*)\] if they are categories, numeric=\[…\] if not",
            _codes,
        ),
        (r"categorical='all', or a list of names, makes them categories", "--categorical makes them categories"),
        (r"declare (.*): categorical='all', or categorical=\[…\]", r"declare \1: --categorical COL,COL"),
        (r", categorical='all', or cast the columns", ""),
        (r"categorical='all'", "--categorical COL,COL"),
        (r"\b(?P<option>categorical|numeric)=\[(?P<names>.*?)\]", _names),
        (r"\b(categorical|numeric) must be None, 'all' or a list of column names", r"--\1 names columns"),
        (r"\britz\.read\(path, kinds=\{name: 'numeric'\}\) reads", "--numeric COL reads"),
        (r"\bkinds=\{'?([^'{}]+)'?: '(drop|categorical|numeric)'\}", r"--\2 \1"),
        (r"\bkinds=\{'?([^'{}]+)'?: 'identifier'\}", r"--id \1"),
        (r"\bsample_weight\b", "--weights"),
        (r"\bcoerce=True\b", "--coerce"),
        (r"\bwhich sheet= names\b", "which --sheet names"),
        (r"\bsheet=(?=')", "--sheet "),
        (r"\bsheet is for\b", "--sheet is for"),
        (r"\bleave out sheet=", "leave out --sheet"),
        (r"\bimage_shape=\((\d+), (\d+)\)", r"--image-shape \1x\2"),
        (r"\bimage_shape=\(height, width\)", "--image-shape HxW"),
        (r"\bimage_shape\b", "--image-shape"),
        (r"\bskip=(?=\d)", "--skip "),
        (r"\bskip must\b", "--skip must"),
        (r"\bleave skip= out\b", "leave --skip out"),
        (r"\bkeep is for text files\b", "--keep-na is for text files"),
        (r"\bkeep=\['?(.*?)'?\]", r"--keep-na \1"),
        # gaps, and levels that the fit has not seen
        (r"\blet PCA fill the gaps: missing='regularized', or impute first", "let --missing regularized fill the gaps"),
        (r"\bMCA\(2, missing='regularized'\)", "-k 2 --missing regularized"),
        (r"\b(?P<option>missing|unseen)=(?P<ways>'\w+'(?:(?:, | or )'\w+')*)", _ways),
        (
            r"\bfit the model with --missing regularized, or drop those rows",
            "leave out those rows; or place them by a model that ritz fit --missing regularized has made",
        ),
        (r"; None and NaN are missing", ""),
        (r"\brare=(?=[\d.])", "in Python, rare="),
        (r": X\[.*?\](?: = numpy\.nan)?(?=;|$)", ""),  # how it is done with an array
        # files
        (r"\bread it again with ritz\.read\b", "run the command again"),
        (r"\ba larger memory limit in ritz\.read\b", "a larger --memory"),
        (r"\bmemory must be None, a number of bytes, or a text\b", "--memory must be a size"),
        (r"\bmemory='?([\w. ]+)'?", r"--memory \1"),
        (r"\b(?P<option>encoding)=(?P<ways>'utf-8', 'cp1252' or 'utf-16')", _ways),
        (rf"\b({TEXT})= ?", r"--\1 "),
        (rf"\b({TEXT}) is for text files\b", r"--\1 is for text files"),
        (rf"^({TEXT}|fraction|tol|solver) must\b", r"--\1 must"),
        (r"\bmissing is for text files\b", "--na is for text files"),
        (r"\bmissing=\['?(.*?)'?\]", r"--na \1"),
        (r"\bleave out missing=", "leave out --na"),
        (r"\b(?P<option>header)=(?P<state>True|False)\b", _switch),
        # texts
        (r"\btext= (?=with|names)", "--text "),
        (r"\btext='?([^'\s]+)'?", r"--text \1"),
        (r"\bread the documents again: ritz\.text\.documents\(path\)", "run the command again"),
        (r"\bencoding= (sets another|where)", r"--encoding \1"),
        (r"\bfit with keep_counts=True", "such a model is made in Python: ritz.LSI(keep_counts=True)"),
        (r"\bfewer documents at a time: fit some, update\(others\)", "fewer documents"),
        (r"\blook at words=, min_df= and max_df=; ", "--plain keeps all words: "),
        (r"\bmodel\.update\(texts\) adds", "in Python, model.update(texts) adds"),
        (r"\bDocuments\(([^()]*)\)", r"\1"),
        (r"\bhybrid=", "--hybrid "),
        # maps
        (r"\bn_neighbors > (\d+) may connect it", lambda match: f"--neighbours {2 * int(match[1])} may connect it"),
        (r"\bn_neighbors=", "--neighbours "),
        (r"\bn_neighbors\b", "--neighbours"),
        (r"\britz\.insight\.intrinsic_dimension\(X\)", "in Python, ritz.insight.intrinsic_dimension(X)"),
        (r"; disconnected= says what becomes of components", ""),
        # methods
        (r"\bmust be a number from 1 to 1, None, '(\w+)'", r"must be 1, all or \1"),
        (r"\bmust be a number from 1 to (\d+), None, '(\w+)'", r"must be a number from 1 to \1, all or \2"),
        (r"\bmust be a number from 1 to (\d+), None\b", r"must be a number from 1 to \1 or all"),
        (r"\britz\.save keeps every model", "ritz transform writes the scores of other rows"),
        (r", or add them with partial_fit\b", ""),
        (r"\bfit with (\w+)\(mergeable=True\)", r"such a model is made in Python: ritz.\1(mergeable=True)"),
        (r"\bmust have the same parameters and columns\b", "must be fitted with the same options on the same columns"),
        (r"\bfit both with the same parameters on\b", "fit both with the same options on"),
        (r"\bfit both models with the same mergeable=, or add .*", "such models are made in Python, by mergeable="),
        (r"[. ]*\bwhat is made of it, such as noise_variance_, (is .*?);", r"; the noise that is made of it \1;"),
        (r"\bfit each part with ritz\.PCA\b", "ritz fit --method pca gives such a model of each part"),
        (r"\b(merge takes models that can be merged), or the paths of their files\b", r"\1"),
        (rf"(?<=\bfit the other rows with )a (?P<name>{CLASSES}) first", lambda match: f"{_method(match)} first"),
        (r"\bKernelPCA\(solver='nystrom', landmarks=(\d+)\)", r"a Nyström model of \1 rows"),
        (rf"(?<!Python: )\britz\.(?P<name>{CLASSES})\b(?!\()", _method),
        (r"\bchoose_rank\(X, scale=(?P<state>True|False)\)$", _rank_of_rows),
        (r"\bchoose_rank\(X, scale=True\), or a model with scale=True", "--scale"),
        (r"\bPCA\(scale=True\)", "--scale"),
        (r"\bto='(\w+)'", r"--to \1"),
        (r"\bfraction=", "--fraction "),
        (r"\bcriteria are names of rules, or None for all\b", "--criteria takes names of rules"),
        (r"\bcriteria=None asks all\b", "without --criteria all are asked"),
        (r",? or center=False to decompose a single row about zero", ""),
        (r"(?<!kernel )\bPCA needs\b", "a fit needs"),
        (r"\bpass more rows\b", "give more rows"),
        (r"\bbetween 0 and min\(n_samples, n_features\)=1\b", "1"),
        (r"\b0 and min\(n_samples, n_features\)=", "1 and "),
        (r"\bn_components=\(([\d, ]+)\)", lambda match: f"-k {match[1].replace(' ', '').rstrip(',')}"),
        (r"\berror must be None or a relative error\b", "--error must be a relative error"),
        (r"\berror=(?=[\d.])", "--error "),
        (r"\branks follow from error= or from n_components=", "ranks follow from --error or from -k"),
        (r"\bnp\.save\('tensor\.npy', X\)",
         "a table has two modes, and --method svd takes it apart; in Python, numpy.save writes a tensor"),
        (r"\bsklearn\.preprocessing\.minmax_scale\(X\), or X > threshold",
         "bring the columns to numbers from 0 to 1, or to 0 and 1, before"),
        (r"\bn_components=None keeps all 1(?=;|$)", "-k 1, or leave it out"),
        (r"\bn_samples=1\b", "1 row"),
        (r"\bn_samples=(\d+)", r"\1 rows"),
        (r"\bn_features=1\b", "1 column"),
        (r"\bn_features=(\d+)", r"\1 columns"),
        (r"\bn_samples (>=?) n_features\b", r"rows \1 columns"),
        (r"\bInput X contains\b", "the table contains"),
        (r" or a value too large for dtype\('\w+'\)", ""),
        (r"\bn_components=None\b", "-k all"),
        (r"\bn_components(=|\b)", lambda match: f"-k{' ' * len(match[1])}"),
        (r"\brandom_state(=|\b)", lambda match: f"--seed{' ' * len(match[1])}"),
        (r"\bsolver='?([\w-]+)'?", r"--solver \1"),
        (r"\bmin_uniqueness=", ""),  # no option
        (r"\btol=", "--tol "),
        (r"\b(?P<option>scale)=(?P<state>True|False)\b", _switch),
)  # fmt: skip


@cache
def _rules() -> list[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]]]:
    """The rules, made ready when the first message is said: most commands say none."""
    return [(re.compile(pattern), words) for pattern, words in RULES]


def spoken(text: str) -> str:
    """Say a message of the library in the words of the command line."""
    for pattern, words in _rules():
        text = pattern.sub(words, text)
    if FROM_ZERO in text:  # in Python a row is an index; here and in files rows are numbered from 1
        text = re.sub(r"\brow (\d+(?:,\d{3})*)", lambda match: f"row {int(match[1].replace(',', '')) + 1:,}", text)
        text = text.replace(FROM_ZERO, "count from 1")
    return text


#: What is no Python though it looks like it: texts of the user in quotes, options with their values, whole commands.
NOT_PYTHON = re.compile(
    r"'[^']*'|\"[^\"]*\"|--[\w-]+ \S+|\britz (?:fit|transform|report|compare|verify|merge|plan|rank) .*"
)
PYTHON = re.compile(
    r"(?<![\w-])[a-z][a-z_0-9]*=(?=\S)|\b(?:ritz|numpy|np|pandas|pyarrow|polars|torch|scipy|sklearn|dask)\.\w|\bX\[|\bX\.\w"
    r"|\b(?:None|True|False)\b|\b[A-Za-z_][\w.]*\([^)]*\)|\b(?:partial_fit|fit_transform|matmat|astype|mergeable)\b"
    r"|\b(?:n_\w+|sample_weight|keep_\w+|m(?:in|ax)_df|max_\w+)\b|\b[a-z_]+=(?:,|;|$| )|\*\*"
)


def pasteable(hint: str) -> str:
    """A hint without what only Python understands: of several ways those that the command line has.

    What says that it is Python may stay: ``in Python, rare=0.02 takes rare levels together``.
    """
    parts = re.split(r"(; |, or |: )", hint)
    kept, python = "", False
    for i in range(0, len(parts), 2):
        between = parts[i - 1] if i else ""
        python = python or "in Python" in parts[i]
        if not python and PYTHON.search(NOT_PYTHON.sub("", parts[i])):
            continue
        kept = f"{kept}{between}{parts[i]}" if kept else parts[i]
    return kept.strip()


def by_name(error: RitzError, names: Sequence[str], row_name: Callable[[int], str] | None = None) -> RitzError:
    """The same error with columns, and rows where ``row_name`` knows them, by their names instead of numbers."""
    received = error.received
    if received is not None:
        received = re.sub(r"\bcolumn (\d+)\b", lambda match: _column(match, names), received)
    if received is not None and row_name is not None:
        received = re.sub(r"\brow (\d+)\b", lambda match: row_name(int(match[1])), received)
        received = re.sub(r"\brows (\d+(?:, \d+)*)\b", lambda match: _rows(match, row_name), received)
    hint = (error.hint or "").removesuffix("; rows count from 0")
    if re.search(r"\brow \d", received or ""):
        hint += "; rows count from 0"
    return type(error)(error.expected, received=received, hint=hint or None)


def _rows(match: re.Match[str], row_name: Callable[[int], str]) -> str:
    return ", ".join(row_name(int(i)) for i in match[1].split(", "))


def _column(match: re.Match[str], names: Sequence[str]) -> str:
    j = int(match[1])
    return f"column {names[j]!r}" if j < len(names) else match[0]
