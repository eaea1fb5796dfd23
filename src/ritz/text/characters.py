"""What a character is to words, and how a text is written before it is cut into words.

    class of a character    SEPARATOR    ends a word: spaces, punctuation, symbols, emoji, controls
                            LETTER       part of a word: letters, marks and digits (categories L, M, N of Unicode)
                            UNSPACED     the same in a script that is written without spaces between words:
                                         Hiragana, Katakana, Thai, Lao, Khmer, Myanmar
                            IDEOGRAPH    the same of Han, whose characters are words by themselves as well
                            HIDDEN       not seen, and taken out of the text

    written(text)           NFKC (ﬁ is fi, a letter and its accent are one character, full-width forms are plain),
                            lower case, and without characters that are not seen (soft hyphens, joiners, variation
                            selectors), as Unicode's NFKC_Casefold does; ``ß`` stays ``ß``. Points of Arabic and Hebrew,
                            which say vowels and are written or left out as one likes, and the bar that stretches a word
                            (tatweel) are taken out as well; ``İ`` is ``i``, as it is where nobody writes the dot

Texts of ASCII alone need none of this but the lower case.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from functools import cache
from typing import Any

import numpy as np

__all__ = ["HIDDEN", "IDEOGRAPH", "LETTER", "SEPARATOR", "UNSPACED", "classes", "is_unspaced", "written"]

SEPARATOR, LETTER, UNSPACED, HIDDEN, IDEOGRAPH, UNKNOWN = 0, 1, 2, 3, 4, 255

#: First and last characters of the blocks of scripts without spaces; what is no letter there stays a separator.
BLOCKS = (
    (0x0E00, 0x0EFF),  # Thai, Lao
    (0x1000, 0x109F),  # Myanmar
    (0x1780, 0x17FF),  # Khmer
    (0x2E80, 0x2FDF),  # Han radicals
    (0x3005, 0x3007),  # 々 〆 〇
    (0x3021, 0x3029),
    (0x3031, 0x3035),
    (0x3041, 0x30FF),  # Hiragana, Katakana
    (0x31F0, 0x31FF),
    (0x3400, 0x4DBF),  # Han
    (0x4E00, 0x9FFF),
    (0xA9E0, 0xA9FF),  # Myanmar
    (0xAA60, 0xAA7F),
    (0xF900, 0xFAFF),
    (0x1AFF0, 0x1B16F),  # Kana
    (0x20000, 0x3FFFF),  # Han
)
#: Those of Han; 々 and its kin repeat a character or leave one out, and are none.
HAN = (
    (0x2E80, 0x2FDF),
    (0x3007, 0x3007),
    (0x3021, 0x3029),
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
    (0x20000, 0x3FFFF),
)
#: Points that say vowels, and the tatweel: of Hebrew, of Arabic.
POINTS = (
    "\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7"
    "\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed"
)
#: Characters that are not seen and end no word, and points. U+200B is not among them: it stands between words of Thai
#: and Khmer.
UNSEEN = re.compile(
    "[\u00ad\u034f\u061c\u180b-\u180f\u200c-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\U000e0000-\U000e0fff"
    f"{POINTS}]+"
)
#: Canonical combining class from which a mark stands above or below its letter: accents, not vowel signs or viramas.
ACCENT = 200


def written(text: str, *, lowercase: bool = True, accents: bool = False, hidden: bool = False) -> str:
    """The text in one spelling; ``accents`` takes them off. ``hidden`` leaves characters in that are not seen."""
    if text.isascii():
        return text.lower() if lowercase else text
    text = unicodedata.normalize("NFKC", text)
    if lowercase:
        text = text.lower()
        if "i\u0307" in text:  # what ``lower`` makes of İ
            text = text.replace("i\u0307", "i")
    if not hidden and UNSEEN.search(text):
        text = unicodedata.normalize("NFKC", UNSEEN.sub("", text))
    if accents:
        text = unicodedata.normalize("NFKC", _accents().sub("", unicodedata.normalize("NFD", text)))
    return text


def classes(points: Any) -> Any:
    """Class of each code point of an array, as uint8."""
    found = _TABLE[points]
    unknown = found == UNKNOWN
    if unknown.any():
        for point in np.unique(points[unknown]):
            _TABLE[point] = _class_of(int(point))
        found = _TABLE[points]
    return found


def is_unspaced(character: str) -> bool:
    """Whether a character belongs to a script that is written without spaces."""
    return character >= "\u0e00" and _class_of(ord(character)) in (UNSPACED, IDEOGRAPH)


def _class_of(point: int) -> int:
    if UNSEEN.match(chr(point)):
        return HIDDEN
    if unicodedata.category(chr(point))[0] not in "LMN":
        return SEPARATOR
    if any(first <= point <= last for first, last in HAN):
        return IDEOGRAPH
    return UNSPACED if any(first <= point <= last for first, last in BLOCKS) else LETTER


@cache
def _accents() -> re.Pattern[str]:
    marks = [chr(point) for point in range(sys.maxunicode + 1) if unicodedata.combining(chr(point)) >= ACCENT]
    return re.compile(f"[{''.join(marks)}]+")


#: Classes that are known by now: asking for all takes a quarter of a second, a text has a few hundred characters.
_TABLE = np.full(sys.maxunicode + 1, UNKNOWN, np.uint8)
_TABLE[:128] = [_class_of(point) for point in range(128)]
