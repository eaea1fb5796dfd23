"""What every command shares: ``--json``, ``--quiet``, ``--debug``, options that come in groups, and one way to answer.

    @command(READING)                        adds the options of a group, and those of talking
    def inspect(model: …, how: …, talk: …) -> Answer

A command gives an :class:`Answer`: plain values for programs (``--json``, to stdout), and a function that shows the
same to people. Data goes to stdout, talk to stderr; ``--quiet`` leaves warnings and errors.
"""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from ritz.cli.terminal.console import as_json, plain, repeat, stopping
from ritz.cli.terminal.streams import printed, speechless, unwritten

__all__ = ["Answer", "Group", "Talk", "command"]

JSON = typer.Option("--json", help="Print the answer as JSON to stdout.")
QUIET = typer.Option("--quiet", "-q", help="Print nothing but warnings and errors.")
DEBUG = typer.Option("--debug", help="Show the traceback of an error.")


@dataclass(frozen=True)
class Group:
    """Options that are added together; the command gets them as a dict under the name ``into``."""

    into: str
    options: Mapping[str, tuple[Any, Any]]  # name of the parameter: annotation and default

    def parameters(self) -> list[inspect.Parameter]:
        """The options as parameters of a function."""
        return [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)
            for name, (kind, default) in self.options.items()
        ]


TALK = Group(
    "talk",
    {
        "as_json": (Annotated[bool, JSON], False),
        "quiet": (Annotated[bool, QUIET], False),
        "debug": (Annotated[bool, DEBUG], False),
    },
)


@dataclass(frozen=True)
class Talk:
    """How the user wants to be talked to."""

    json: bool
    quiet: bool

    @property
    def silent(self) -> bool:
        """Whether nothing but warnings and errors is to be said on the way."""
        return self.json or self.quiet

    @property
    def progress(self) -> bool | None:
        """The ``progress`` parameter of what takes time: bars appear on a terminal only."""
        return False if self.quiet or plain() else None


@dataclass(frozen=True)
class Answer:
    """What a command found out: for programs, and for people."""

    facts: dict[str, Any]
    show: Callable[[], None] | None = None
    code: int = 0
    notes: list[str] = field(default_factory=list)  # said to stderr in any case but --quiet
    wrote: Path | None = None  # the file or folder that the command wrote


def command(*groups: Group) -> Callable[[Callable[..., Answer]], Callable[..., None]]:
    """Turn a function that gives an Answer into a command."""

    def made(body: Callable[..., Answer]) -> Callable[..., None]:
        talks = "talk" in inspect.signature(body).parameters

        @functools.wraps(body)
        def run(**given: Any) -> None:
            inner: dict[str, Any] = {
                group.into: {name: given.pop(name) for name in group.options} for group in (*groups, TALK)
            }
            asked = inner.pop("talk")
            talk = Talk(asked["as_json"], asked["quiet"])
            inner |= {"talk": talk} if talks else {}
            with stopping(asked["debug"]), warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                try:
                    answer = body(**given, **inner)
                finally:
                    repeat(caught)
                _told(answer, talk)
            if answer.code:
                raise typer.Exit(answer.code)

        return _signed(run, body, groups)

    return made


def _told(answer: Answer, talk: Talk) -> None:
    """Give the answer; where nobody can be told, at least say what was done."""
    try:
        _tell(answer, talk)
    except BrokenPipeError:
        raise
    except OSError as error:
        if speechless(error):
            raise unwritten(error, answer.wrote) from error
        raise


def _tell(answer: Answer, talk: Talk) -> None:
    from ritz.cli.terminal.console import say

    if talk.json:
        printed(as_json(answer.facts))
    elif answer.show is not None and not talk.quiet:
        answer.show()
    for note in () if talk.quiet else answer.notes:
        say("note", note, "bold cyan")


def _left_to_us(hint: Any) -> None:
    """Have typer look at no path: what cannot be read is an error of files, not of usage, and is said in our words."""
    for told in getattr(hint, "__metadata__", ()):
        if hasattr(told, "readable"):
            told.readable = False


def _signed(run: Any, body: Callable[..., Answer], groups: tuple[Group, ...]) -> Callable[..., None]:
    """Give ``run`` the parameters of ``body`` with groups spelled out, where typer looks for them."""
    hints = get_type_hints(body, include_extras=True)
    spelled: dict[str, list[inspect.Parameter]] = {group.into: group.parameters() for group in groups}
    spelled["talk"] = []  # comes last
    parameters: list[inspect.Parameter] = []
    for one in inspect.signature(body).parameters.values():
        kind = inspect.Parameter.KEYWORD_ONLY
        plain_one = [one.replace(kind=kind, annotation=hints[one.name])]
        _left_to_us(hints[one.name])
        parameters += spelled.get(one.name, plain_one)
    parameters += TALK.parameters()
    run.__signature__ = inspect.Signature(parameters)
    run.__annotations__ = {one.name: one.annotation for one in parameters}
    del run.__wrapped__  # its signature would count
    signed: Callable[..., None] = run
    return signed
