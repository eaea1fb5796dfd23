"""The words of the library in those of the command line: options instead of parameters, and no Python.

    missing='category' makes them …  →  --missing category makes them …
    let PCA fill the gaps: missing=… →  let --missing regularized fill the gaps

The rules are tried one after the other, each on what the one before has left; special ones stand before general ones.
Errors that speak of columns and rows by number are given their names.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from ritz._core.errors import RitzError

__all__ = ["by_name", "spoken"]

CLASSES = "PCA|SVD|CA|MCA|FAMD|MFA|KernelPCA"
TEXT = "thousands|encoding|decimal|delimiter"


def _method(found: re.Match[str]) -> str:
    name = found["name"].lower()
    return f"--method {'kpca' if name == 'kernelpca' else name}"


def _names(found: re.Match[str]) -> str:
    listed = found["names"].replace("'", "").replace('"', "").replace(", ", ",")
    return f"--{found['option']} {'COL' if listed in ('…', '') else listed}"


#: What messages of the library call things, and what they are called here.
RULES: list[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]]] = [
    (re.compile(pattern), words)
    for pattern, words in (
        # columns
        (r"(?s)(in column '([^']*)'; .*)kinds=\{name: 'drop'\}", r"\1--drop '\2'"),
        (
            r"categorical=\['?([^,\]']*)'?[^\]]*\] if they are categories, numeric=\[…\] if not",
            r"--categorical '\1' if they are codes of categories",
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
        # gaps, and levels that the fit has not seen
        (r"\blet PCA fill the gaps: missing='regularized', or impute first", "let --missing regularized fill the gaps"),
        (r"\bMCA\(2, missing='regularized'\)", "-k 2 --missing regularized"),
        (r"\bmissing='(\w+)', '(\w+)' or '(\w+)'", r"--missing \1, \2 or \3"),
        (r"\bmissing='(\w+)' or '(\w+)'", r"--missing \1 or \2"),
        (r"\bmissing='(\w+)'", r"--missing \1"),
        (r"; None and NaN are missing", ""),
        (r"\bunseen='(\w+)'", r"--unseen \1"),
        (r"\brare=(?=[\d.])", "in Python, rare="),
        (r": X\[.*?\](?: = numpy\.nan)?(?=;|$)", ""),  # how it is done with an array
        # files
        (r"\bread it again with ritz\.read\b", "run the command again"),
        (r"\ba larger memory limit in ritz\.read\b", "a larger --memory"),
        (r"\bmemory must be None, a number of bytes, or a text\b", "--memory must be a size"),
        (r"\bmemory='?([\w. ]+)'?", r"--memory \1"),
        (r"\bencoding='utf-8', 'cp1252' or 'utf-16'", "--encoding utf-8, cp1252 or utf-16"),
        (rf"\b({TEXT})= ", r"--\1 "),
        (rf"\b({TEXT})=", r"--\1 "),
        (rf"\b({TEXT}) is for text files\b", r"--\1 is for text files"),
        (rf"^({TEXT}) must\b", r"--\1 must"),
        (r"\bmissing is for text files\b", "--na is for text files"),
        (r"\bmissing=\['?(.*?)'?\]", r"--na \1"),
        (r"\bleave out missing=", "leave out --na"),
        (r"\bheader=True\b", "--header"),
        (r"\bheader=False\b", "--no-header"),
        # methods
        (r", or add them with partial_fit\b", ""),
        (r"\bfit with (\w+)\(mergeable=True\)", r"such a model is made in Python: ritz.\1(mergeable=True)"),
        (r"\bfit each part with ritz\.PCA\b", "ritz fit of a part gives one, but with --method kpca"),
        (r"\b(merge takes models that can be merged), or the paths of their files\b", r"\1"),
        (rf"(?<=\bfit the other rows with )a (?P<name>{CLASSES}) first", lambda m: f"{_method(m)} first"),
        (r"\bKernelPCA\(solver='nystrom', landmarks=(\d+)\)", r"a Nyström model of \1 rows"),
        (rf"(?<!Python: )\britz\.(?P<name>{CLASSES})\b(?!\()", _method),
        (r"\bchoose_rank\(X, scale=True\), or a model with scale=True", "--scale"),
        (r"\bPCA\(scale=True\)", "--scale"),
        (r"\bto='(\w+)'", r"--to \1"),
        (r"^fraction must\b", "--fraction must"),
        (r"\bfraction=", "--fraction "),
        (r"\bcriteria are names of rules, or None for all\b", "--criteria takes names of rules"),
        (r"\bcriteria=None asks all\b", "without --criteria all are asked"),
        (r",? or center=False to decompose a single row about zero", ""),
        (r"\bPCA needs\b", "a fit needs"),
        (r"\bpass more rows\b", "give more rows"),
        (r"\bbetween 0 and min\(n_samples, n_features\)=1\b", "1"),
        (r"\b0 and min\(n_samples, n_features\)=", "1 and "),
        (r"\bn_components=None keeps all 1$", "-k 1, or leave it out"),
        (r"\bn_samples=1\b", "1 row"),
        (r"\bn_samples (>=?) n_features\b", r"rows \1 columns"),
        (r"\bInput X contains\b", "the table contains"),
        (r" or a value too large for dtype\('\w+'\)", ""),
        (r"^(tol|solver) must\b", r"--\1 must"),
        (r"\bn_components=None\b", "-k all"),
        (r"\bn_components=", "-k "),
        (r"\bn_components\b", "-k"),
        (r"\brandom_state=", "--seed "),
        (r"\brandom_state\b", "--seed"),
        (r"\bsolver='?([\w-]+)'?", r"--solver \1"),
        (r"\btol=", "--tol "),
        (r"\bscale=True\b", "--scale"),
        (r"\bscale=False\b", "--no-scale"),
    )
]  # fmt: skip


def spoken(text: str) -> str:
    """Say a message of the library in the words of the command line."""
    for pattern, words in RULES:
        text = pattern.sub(words, text)
    return text


def by_name(error: RitzError, names: Sequence[str], row_name: Callable[[int], str] | None = None) -> RitzError:
    """The same error with columns, and rows where ``row_name`` knows them, by their names instead of numbers."""
    received = error.received
    if received is not None:
        received = re.sub(r"\bcolumn (\d+)\b", lambda m: _column(m, names), received)
    if received is not None and row_name is not None:
        received = re.sub(r"\brow (\d+)\b", lambda m: row_name(int(m[1])), received)
    hint = (error.hint or "").removesuffix("; rows count from 0")
    if re.search(r"\brow \d", received or ""):
        hint += "; rows count from 0"
    return type(error)(error.expected, received=received, hint=hint or None)


def _column(found: re.Match[str], names: Sequence[str]) -> str:
    j = int(found[1])
    return f"column {names[j]!r}" if j < len(names) else found[0]
