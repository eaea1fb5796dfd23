"""Pages of HTML as texts: what a reader sees, without tags, scripts and styles.

    <p>thin <b>w</b>ings &amp; flutter</p>   →   thin wings & flutter

Tags inside a word leave it whole; all others stand for a space. Only files that are named as pages are read so: a text
in memory is what it is.
"""

from __future__ import annotations

import html
import re
from pathlib import Path

__all__ = ["is_page", "seen"]

ENDINGS = (".html", ".htm", ".xhtml")
_UNSEEN = re.compile(r"<!--.*?-->|<(script|style|template)\b[^>]*>.*?(?:</\1\s*>|\Z)", re.IGNORECASE | re.DOTALL)
_INLINE = re.compile(
    r"</?(?:a|abbr|b|big|code|em|font|i|ins|kbd|mark|q|s|small|span|strong|sub|sup|tt|u|var|wbr)(?:\s[^<>]*)?>",
    re.IGNORECASE,
)
_TAG = re.compile(r"</?[a-z][^<>]*>|<[!?][^<>]*>", re.IGNORECASE)


def is_page(path: Path, packed: tuple[str, ...] = (".gz", ".xz", ".bz2", ".zst")) -> bool:
    """Whether a file is named as a page of HTML."""
    endings = [ending.lower() for ending in path.suffixes if ending.lower() not in packed]
    return bool(endings) and endings[-1] in ENDINGS


def seen(page: str) -> str:
    """What a reader sees of a page.

    >>> seen("<p>thin <b>w</b>ings &amp; flutter</p><script>var x = 1;</script>").split()
    ['thin', 'wings', '&', 'flutter']
    """
    return html.unescape(_TAG.sub(" ", _INLINE.sub("", _UNSEEN.sub(" ", page))))
