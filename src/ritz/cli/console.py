"""How commands talk: consoles that respect NO_COLOR and pipes, and errors as sentences with an exit code.

    error: <what was expected; what came>
    hint: <what to do>

A traceback appears only with ``--debug``. Messages are never read as markup: a column may be named ``[red]``.
"""

from __future__ import annotations

import os
import re
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import typer

from ritz._core.errors import FileError, ParameterError, RitzError

if TYPE_CHECKING:
    from rich.console import Console

__all__ = [
    "CANCELLED",
    "DATA",
    "DEFECT",
    "FILE",
    "USAGE",
    "plain",
    "put",
    "repeat",
    "say",
    "spoken",
    "stderr",
    "stopping",
]

DEFECT, USAGE, DATA, FILE, CANCELLED = 1, 2, 3, 4, 130
# What messages of the library call things, and what they are called here; the first match counts.
OPTIONS = [
    (re.compile(pattern), option)
    for pattern, option in (
        (r",? or center=False to decompose a single row about zero", ""),
        (r"\blet PCA fill the gaps: missing='regularized', or impute first", "let --missing regularized fill the gaps"),
        (r"\bmemory must be None, a number of bytes, or a text\b", "--memory must be a size"),
        (r"\bmemory='?([\w. ]+)'?", r"--memory \1"),
        (r"\b(thousands|encoding|decimal|delimiter)=", r"--\1 "),
        (r"\bPCA needs\b", "a fit needs"),
        (r"\bpass more rows\b", "give more rows"),
        (r"\b0 and min\(n_samples, n_features\)=", "1 and "),
        (r"\bn_samples=1\b", "1 row"),
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
        (r"\bheader=True\b", "--header"),
        (r"\bheader=False\b", "--no-header"),
    )
]
TRAILING = re.compile(r" +((?:\x1b\[[0-9;]*m)*)$", re.MULTILINE)
PIPE_WIDTH = 110  # columns of a summary that goes to a file or a pipe


def plain() -> bool:
    """Whether the user wants no escape codes."""
    return bool(os.environ.get("NO_COLOR"))


def put(console: Console, *items: Any) -> None:
    """Print what rich draws, without the spaces at the ends of lines."""
    from rich.text import Text

    with console.capture() as capture:
        for item in items:
            console.print(item, soft_wrap=isinstance(item, (str, Text)))
    console.file.write(TRAILING.sub(r"\1", capture.get()))
    console.file.flush()


def stderr() -> Console:
    """Give a console for talk; colour only on a terminal and without NO_COLOR."""
    from rich.console import Console

    # rich's own reading of NO_COLOR keeps bold and dim, which are escape codes too.
    console = Console(stderr=True, highlight=False, color_system=None if plain() else "auto")
    if not console.is_terminal:
        console.width = PIPE_WIDTH
    return console


def spoken(text: str) -> str:
    """Say a message of the library in the words of the command line: options instead of parameters."""
    for pattern, option in OPTIONS:
        text = pattern.sub(option, text)
    return text


def say(prefix: str, text: str, style: str) -> None:
    """Print one message to stderr, its first word coloured."""
    from rich.text import Text

    first, _, hint = spoken(text).partition("\nhint: ")
    line = Text.assemble((f"{prefix}:", style), " ", first)
    if hint:
        line = Text.assemble(line, "\n", ("hint:", "bold cyan"), " ", hint)
    stderr().print(line, soft_wrap=True)


def repeat(caught: list[warnings.WarningMessage]) -> None:
    """Print each warning once, but for columns set aside, which the summary shows."""
    from ritz._core.errors import ColumnsSetAside

    seen = dict.fromkeys(str(w.message) for w in caught if not issubclass(w.category, ColumnsSetAside))
    for text in seen:
        say("warning", text, "bold yellow")


@contextmanager
def stopping(debug: bool) -> Iterator[None]:
    """Turn errors inside the block into one message and an exit code."""
    try:
        yield
    except (typer.Exit, typer.Abort, BrokenPipeError):
        raise
    except KeyboardInterrupt as error:  # Cancelled is one
        _stop(error, str(error) or "stopped by the keyboard", CANCELLED, debug, prefix="cancelled")
    except RitzError as error:
        code = FILE if isinstance(error, FileError) else USAGE if isinstance(error, ParameterError) else DATA
        _stop(error, str(error), code, debug)
    except OSError as error:
        _stop(error, str(error), FILE, debug)
    except MemoryError as error:
        _stop(error, "not enough memory\nhint: use fewer components (-k) or fewer rows", DATA, debug)
    except Exception as error:  # noqa: BLE001 - the last net: a sentence instead of a traceback
        hint = "this is a defect of Ritz; run again with --debug and report what it prints"
        _stop(error, f"{type(error).__name__}: {error}\nhint: {hint}", DEFECT, debug)


def _stop(error: BaseException, text: str, code: int, debug: bool, prefix: str = "error") -> None:
    if debug:
        traceback.print_exception(error)
    say(prefix, text, "bold yellow" if code == CANCELLED else "bold red")
    raise typer.Exit(code) from error
