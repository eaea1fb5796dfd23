"""Texts of strangers on a terminal: characters that steer it are shown, not sent.

    \\x1b[2J  →  the letters \\x1b[2J

Meant are control characters (C0 but tab and line feed, DEL, C1), marks that turn the direction of writing, and line
and paragraph separators. Names of columns, levels, files and arrays may hold any of them.
"""

from __future__ import annotations

import re

__all__ = ["STEERING", "visible"]

STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def visible(text: str) -> str:
    """The text with what would steer a terminal spelled out."""
    return STEERING.sub(_spelled, text)


def _spelled(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"
