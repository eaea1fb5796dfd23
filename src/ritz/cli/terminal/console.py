"""How commands talk: consoles that respect NO_COLOR and pipes, and errors as sentences with an exit code.

    error: <what was expected; what came>
    hint: <what to do>

A traceback appears only with ``--debug``. Messages are never read as markup: a column may be named ``[red]``; and what
would steer a terminal is spelled out.
"""

from __future__ import annotations

import contextlib
import difflib
import json
import os
import re
import sys
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar

import typer
from typer.core import TyperGroup

from ritz._core.errors import FileError, ParameterError, RitzError
from ritz._core.visible import STEERING, visible
from ritz.cli.terminal.streams import printed, silenced, speechless, unwritten
from ritz.cli.terminal.values import plainly
from ritz.cli.terminal.vocabulary import pasteable, spoken

if TYPE_CHECKING:
    from rich.console import Console

__all__ = [
    "CANCELLED",
    "DATA",
    "DEFECT",
    "FAILED",
    "FILE",
    "USAGE",
    "Program",
    "as_json",
    "plain",
    "put",
    "repeat",
    "say",
    "spoken",
    "stderr",
    "stdout",
    "stopping",
    "tell_notes",
]

DEFECT, USAGE, DATA, FILE, FAILED, CANCELLED = 1, 2, 3, 4, 5, 130
TRAILING = re.compile(r" +((?:\x1b\[[0-9;]*m)*)$", re.MULTILINE)
PIPE_WIDTH = 110  # columns of a summary that goes to a file or a pipe


def plain() -> bool:
    """Whether the user wants no escape codes."""
    return bool(os.environ.get("NO_COLOR"))


def put(console: Console, *items: Any) -> None:
    """Print what rich draws, without the spaces at the ends of lines; nothing but rich steers the terminal."""
    from rich.segment import Segment, Segments
    from rich.text import Text

    with console.capture() as capture:
        for item in items:
            soft = isinstance(item, (str, Text))
            how = console.options.update(no_wrap=True, overflow="ignore") if soft else console.options
            drawn = list(console.render(console.render_str(item) if isinstance(item, str) else item, how))
            safe = [Segment(visible(one.text), one.style, one.control) for one in drawn]
            console.print(Segments(safe), end="", soft_wrap=True)
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


def stdout() -> Console:
    """Give a console for answers; colour only on a terminal and without NO_COLOR, lines as long as they need to be."""
    from rich.console import Console

    console = Console(highlight=False, color_system=None if plain() else "auto")
    if not console.is_terminal:
        console.width = PIPE_WIDTH
    return console


def say(prefix: str, text: str, style: str) -> None:
    """Print one message to stderr, its first word coloured."""
    from rich.text import Text

    first, _, hint = visible(spoken(text)).partition("\nhint: ")
    line = Text.assemble((f"{prefix}:", style), " ", first)
    hint = pasteable(hint)
    if hint:
        line = Text.assemble(line, "\n", ("hint:", "bold cyan"), " ", hint)
    with contextlib.suppress(OSError):  # there is no third place to complain of the second
        stderr().print(line, soft_wrap=True)


def tell_notes(table: Any, talk: Any) -> None:
    """Say what a table's reader had to decide, unless the user wants nothing but warnings."""
    for note in () if talk.silent else table.notes:
        say("read", note, "bold cyan")


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
    except (typer.Exit, typer.Abort):
        raise
    except BrokenPipeError as error:  # the next program of a pipe has read enough, as head does
        silenced()
        raise typer.Exit(0) from error
    except KeyboardInterrupt as error:  # Cancelled is one
        status = getattr(error, "status", CANCELLED)
        _stop(error, str(error) or "stopped by the keyboard", status, debug, prefix="cancelled")
    except RitzError as error:
        code = FILE if isinstance(error, FileError) else USAGE if isinstance(error, ParameterError) else DATA
        _stop(error, str(error), code, debug)
    except OSError as error:
        if speechless(error):
            failed = unwritten(error)
            _stop(failed, str(failed), FILE, debug)
        where = f"could not use {error.filename}: " if error.filename else ""
        _stop(error, f"{where}{error.strerror or error}\nhint: check the path and its permissions", FILE, debug)
    except MemoryError as error:
        _stop(error, "not enough memory\nhint: use fewer components (-k) or fewer rows", DATA, debug)
    except Exception as error:  # noqa: BLE001 - the last net: a sentence instead of a traceback
        hint = "this is a defect of Ritz; run again with --debug and report what it prints"
        _stop(error, f"{type(error).__name__}: {error}\nhint: {hint}", DEFECT, debug)


#: What typer says of values that are no numbers, or are out of range, and what is said here.
NUMBERS = (
    (r"Input should be a valid integer, .*", "expected a whole number"),
    (r"Input should be a valid number, .*", "expected a number"),
    (r"Input should be greater than or equal to (\S+)", r"expected \1 or more"),
    (r"Input should be less than or equal to (\S+)", r"expected \1 or less"),
)


class Program(TyperGroup):
    """The program, whose usage errors look like all others: one message, a hint, exit code 2."""

    _asked = "ritz"
    typed: ClassVar[list[str]] = []  # the arguments of the run, for what is to be repeated

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse, as click does."""
        plainly(self.get_params(ctx))
        return super().parse_args(ctx, args)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the command, and remember it for what may be wrong with its options."""
        resolved = super().resolve_command(ctx, args)
        self._asked = f"{ctx.command_path} {resolved[0]}"
        return resolved

    def main(  # as that of click, which hands the arguments on by name
        self,
        args: Any = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> Any:
        """Run the program; outside of ``standalone_mode`` errors are left to the caller."""
        Program.typed[:] = sys.argv[1:] if args is None else list(args)
        extra |= {"prog_name": prog_name, "complete_var": complete_var, "windows_expand_args": windows_expand_args}
        if not standalone_mode:
            return super().main(args, standalone_mode=False, **extra)
        try:
            code = super().main(args, standalone_mode=False, **extra)
            sys.stdout.flush()
        except BrokenPipeError:
            silenced()
            sys.exit(0)
        except (typer.Abort, KeyboardInterrupt) as error:
            by = error if isinstance(error, KeyboardInterrupt) else error.__context__
            say("cancelled", str(by or "") or "stopped by the keyboard", "bold yellow")
            sys.exit(getattr(by, "status", CANCELLED))
        except Exception as error:
            # typer carries a click of its own from some release on: its errors are known by what they can do.
            if isinstance(error, OSError) and speechless(error):
                say("error", str(unwritten(error)), "bold red")
                sys.exit(FILE)
            if not hasattr(error, "format_message") or not hasattr(error, "exit_code"):
                raise
            _wrong_usage(error, self._asked)
        sys.exit(code if isinstance(code, int) else 0)


def _wrong_usage(error: Any, asked: str) -> None:
    context = getattr(error, "ctx", None)
    path = asked if context is None else context.command_path  # what a parser complains of has no context
    if type(error).__name__ == "NoArgsIsHelpError":  # no command at all: help
        error.show()
        sys.exit(error.exit_code)
    text = re.sub(r"\s*(\(Possible options: .*\)|Did you mean .*)$", "", str(error.format_message())).removesuffix(".")
    for said, meant in NUMBERS:
        text = re.sub(said, meant, text)
    wrong = re.search(r"command '(.*)'", text)
    if wrong:
        commands = getattr(getattr(context, "command", None), "commands", {})
        what, near = "commands", difflib.get_close_matches(wrong[1], commands, n=1)
    else:
        what, near = "options", list(getattr(error, "possibilities", None) or [])
    meant = f"did you mean {near[0]}? " if near else ""
    text = f"{text[:1].lower()}{text[1:]}\nhint: {meant}{path} --help lists the {what}"
    say("error", text, "bold red")
    _as_json(text, error.exit_code)
    sys.exit(error.exit_code)


def _stop(error: BaseException, text: str, code: int, debug: bool, prefix: str = "error") -> None:
    if debug:
        sys.stderr.write(visible("".join(traceback.format_exception(error))))
    say(prefix, text, "bold yellow" if code >= CANCELLED - 2 else "bold red")
    _as_json(text, code)
    raise typer.Exit(code) from error


def _as_json(text: str, code: int) -> None:
    """The error for programs, where ``--json`` was asked for: they find JSON on stdout whatever happens."""
    if "--json" in Program.typed:
        what, _, hint = spoken(text).partition("\nhint: ")
        hint = pasteable(hint)
        try:
            printed(as_json({"error": what, "hint": hint or None, "code": code}))
        except OSError:  # people have been told
            silenced()


def as_json(facts: dict[str, Any]) -> str:
    """Plain values as JSON that cannot steer a terminal: what could is escaped, as JSON allows, and reads back."""
    text = json.dumps(facts, indent=2, ensure_ascii=False, allow_nan=False)
    return STEERING.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
