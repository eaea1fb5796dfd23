"""Values of options and arguments: words and paths are taken as they are typed.

From some release on typer has pydantic turn every value into its type, a word into a ``str`` too. Loading pydantic
takes a tenth of the time of a command that places a few rows. What needs no conversion is taken here; everything else,
and everything that may be wrong, is left to typer.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any, get_args, get_origin

from typer import BadParameter
from typer.core import TyperCommand

__all__ = ["PlainCommand", "plainly"]

LEFT = object()  # to typer
#: What typer is asked to see to in paths; where one of them is set, it does.
CHECKS = ("exists", "readable", "writable", "resolve_path", "allow_dash")


class PlainCommand(TyperCommand):
    """A command that takes words and paths as they are."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse, as click does."""
        plainly(self.get_params(ctx))
        return super().parse_args(ctx, args)


def plainly(parameters: Iterable[Any]) -> None:
    """Have the values of these options and arguments taken as they are."""
    for one in parameters:
        if hasattr(one, "get_runtime_param") and not isinstance(one.process_value, partial):
            one.process_value = partial(_processed, one, one.process_value)


def _processed(one: Any, usual: Any, ctx: Any, value: Any) -> Any:
    taken = _taken(one, value)
    if taken is LEFT:
        return usual(ctx, value)
    return taken if one.callback is None else one.callback(ctx, one, taken)


def _taken(one: Any, value: Any) -> Any:
    """The value in its type where nothing has to be done for it."""
    several = one.multiple or one.nargs == -1
    if (one.required and one.value_is_missing(value)) or one.nargs > 1:
        return LEFT
    if value is None:
        return () if several else None
    kind, info = one.type_descriptor.annotation, one.type_descriptor.parameter_info
    if info.parser is not None:
        return LEFT
    if several:
        inner = get_args(kind)[0] if get_origin(kind) is list else None
        items = [_item(inner, info, item) for item in value] if isinstance(value, (list, tuple)) else [LEFT]
        return LEFT if any(item is LEFT for item in items) else items
    return value if type(value) is kind and value == one.default else _item(kind, info, value)


def _item(kind: Any, info: Any, value: Any) -> Any:
    if kind is str and type(value) is str:
        return value
    if kind is Path and type(value) is str and info.file_okay and info.dir_okay:
        if not value:  # which Path takes for the folder of the shell
            raise BadParameter("expected the path of a file or folder; received an empty one")
        return LEFT if any(getattr(info, name, False) for name in CHECKS) else Path(value)
    return LEFT
