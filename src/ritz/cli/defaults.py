"""What options are without a word of the user, for commands that do without them."""

from __future__ import annotations

from typing import Any

from ritz.cli.options import METHOD, READING

__all__ = ["METHOD_DEFAULTS", "READING_DEFAULTS"]

METHOD_DEFAULTS: dict[str, Any] = {name: default for name, (_, default) in METHOD.options.items()}
READING_DEFAULTS: dict[str, Any] = {name: default for name, (_, default) in READING.options.items()}
