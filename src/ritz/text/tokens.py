"""Words of many texts at once, as numbers: which word stands where.

    texts  →  codes (t,)     which of the distinct words each token is, token after token
              starts (n + 1,)  the tokens of document i are codes[starts[i] : starts[i + 1]]
              words           the distinct words

No token is ever a Python object. The bytes of a piece of texts are looked up in a table of classes, a word is a run of
letters, the runs laid end to end are an Arrow array of strings, and Arrow's hash table numbers the distinct ones:

    "The cat, the hat."  →  "thecatthehat", offsets 0 3 6 9 12  →  0 1 0 2, ["the", "cat", "hat"]

Texts with other characters than ASCII go through an array of code points; where a script has no spaces, each two
neighbouring characters are a token (bigrams overlap; a character alone is one token), and so is each character of Han,
before the two that it begins.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from ritz.text.characters import HIDDEN, IDEOGRAPH, LETTER, UNSPACED, classes, written

__all__ = [
    "Tokens",
    "bytes_of",
    "encoded",
    "gathered",
    "joined",
    "pattern_tokens",
    "renumbered",
    "rewritten",
    "selected",
    "strings",
    "strings_of",
    "word_tokens",
]

#: Bytes of texts that are looked at together: small enough for the caches (64 kB to 1 MB are alike).
PIECE = 1 << 18
#: Characters from which a text is cut into parts, at a space: one text of 100 MB needs no arrays of its own size.
LONG = 1 << 20
#: Characters of parts of long texts whose tokens are numbered together.
TOGETHER = 1 << 23
#: Characters after which a text without any space or mark of punctuation is cut all the same.
ENDLESS = 1 << 26
_SPACE = re.compile(r"[\s!-/:-@\[-`{-~。，、！？；：]")
_PLAIN = bytes(b for b in range(128) if chr(b).isalnum())
_LETTERS = np.isin(np.arange(256, dtype=np.uint8), np.frombuffer(_PLAIN, np.uint8))
_OTHERS = bytes(b for b in range(256) if b not in _PLAIN)
_LOWER = bytes(range(256)).lower()


@dataclass(frozen=True)
class Tokens:
    """Tokens of n texts: ``codes`` (t,) int32, ``starts`` (n + 1,) int64, and the ``distinct`` words in Arrow."""

    codes: Any
    starts: Any
    distinct: Any

    @property
    def n(self) -> int:
        """Number of texts."""
        return len(self.starts) - 1

    @property
    def words(self) -> list[str]:
        """The distinct words."""
        words: list[str] = self.distinct.to_pylist()
        return words

    def listed(self) -> list[str]:
        """All tokens in order, as words."""
        words = self.words
        return [words[code] for code in self.codes.tolist()]


def word_tokens(texts: Sequence[str], *, lowercase: bool = True, accents: bool = False) -> Tokens:
    """Runs of letters, marks and digits, those of one letter among them."""
    sizes = np.fromiter(map(len, texts), np.int64, len(texts))
    if not len(sizes) or sizes.max() < LONG:
        return _tokens_of(texts, sizes, lowercase, accents)
    parts, ends = _in_parts(texts)
    sizes = np.fromiter(map(len, parts), np.int64, len(parts))
    spans = _runs(sizes, TOGETHER)
    tokens = joined([_tokens_of(parts[a:b], sizes[a:b], lowercase, accents) for a, b in spans])
    return Tokens(tokens.codes, tokens.starts[ends], tokens.distinct)


def joined(several: Sequence[Tokens]) -> Tokens:
    """Tokens of texts, and of further texts, in one."""
    numbers, distinct = encoded([tokens.distinct for tokens in several])
    codes = np.empty(sum(len(tokens.codes) for tokens in several), np.int32)
    starts, words, done = [np.zeros(1, np.int64)], 0, 0
    for tokens in several:
        codes[done : done + len(tokens.codes)] = numbers[words:][tokens.codes]
        starts.append(tokens.starts[1:] + done)
        words, done = words + len(tokens.distinct), done + len(tokens.codes)
    return Tokens(codes, np.concatenate(starts), distinct)


def _tokens_of(texts: Sequence[str], sizes: Any, lowercase: bool, accents: bool) -> Tokens:
    """The same for texts none of which is long."""
    plain = np.fromiter(map(str.isascii, texts), bool, len(texts))
    border, order = int(plain.sum()), None
    if border < len(texts):  # those of ASCII first
        order = np.argsort(~plain, kind="stable")
        texts, sizes = [texts[i] for i in order.tolist()], sizes[order]
    arrays: list[Any] = []
    lengths = np.zeros(len(texts), np.int64)
    for a, b in _runs(sizes[:border], PIECE):
        array, lengths[a:b] = _plain_piece(texts[a:b], sizes[a:b], lowercase)
        arrays.append(array)
    for a, b in _runs(sizes[border:], PIECE):
        wide = slice(border + a, border + b)
        array, lengths[wide] = _wide_piece(texts[wide], lowercase, accents)
        arrays.append(array)
    codes, distinct = encoded(arrays)
    if order is not None:
        codes, lengths = _in_order(codes, lengths, order)
    starts = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=starts[1:])
    return Tokens(codes, starts, distinct)


def pattern_tokens(texts: Sequence[str], find: Callable[[str], list[str]]) -> Tokens:
    """What ``find`` gives for each text."""
    found = [find(text) for text in texts]
    starts = np.zeros(len(texts) + 1, np.int64)
    np.cumsum([len(tokens) for tokens in found], out=starts[1:])
    codes, distinct = encoded([strings([token for tokens in found for token in tokens])])
    return Tokens(codes, starts, distinct)


def strings(words: list[str]) -> Any:
    """Words as an Arrow array; a lone half of a surrogate pair, which no file could keep, becomes U+FFFD."""
    import pyarrow as pa

    try:
        return pa.array(words, pa.string())
    except UnicodeEncodeError:
        return pa.array([re.sub("[\ud800-\udfff]", "\ufffd", word) for word in words], pa.string())


def bytes_of(words: Any) -> tuple[Any, Any]:
    """UTF-8 of words laid end to end, uint8, and where each begins and the last one ends, int64."""
    words = words.to_pylist() if hasattr(words, "to_pylist") else words
    data = [word.encode("utf-8") for word in words]
    offsets = np.concatenate([[0], np.cumsum([len(one) for one in data], dtype=np.int64)])
    return np.frombuffer(b"".join(data), np.uint8), offsets


def strings_of(letters: Any, offsets: Any) -> Any:
    """The words again, as an Arrow array; what is no UTF-8 is an error of Arrow."""
    array = _strings(letters.tobytes(), np.diff(offsets))
    array.validate(full=True)
    return array


def renumbered(tokens: Tokens, numbers: Any, distinct: Any) -> Tokens:
    """The tokens with number ``numbers[j]`` in place of j; of −1, left out."""
    if not len(numbers):
        return Tokens(tokens.codes, tokens.starts, distinct)
    codes = numbers[tokens.codes]
    if numbers.min() >= 0:
        return Tokens(codes, tokens.starts, distinct)
    kept = codes >= 0
    starts = np.zeros(len(tokens.starts), np.int64)
    filled = np.flatnonzero(np.diff(tokens.starts))  # ``reduceat`` gives no zero for rows without tokens
    if len(filled):
        starts[1:][filled] = np.add.reduceat(kept, tokens.starts[filled], dtype=np.int64)
    return Tokens(codes[kept], np.cumsum(starts), distinct)


def selected(tokens: Tokens, kept: Any) -> Tokens:
    """Only the tokens of the words for which ``kept`` is true."""
    if kept.all():
        return tokens
    import pyarrow as pa

    numbers = np.where(kept, np.cumsum(kept) - 1, -1).astype(np.int32)
    return renumbered(tokens, numbers, tokens.distinct.filter(pa.array(kept)))


def rewritten(tokens: Tokens, finals: Sequence[str | None]) -> Tokens:
    """The tokens with ``finals[j]`` in place of word j; where that is None, the tokens are left out."""
    ids: dict[str, int] = {}
    numbers = np.array([-1 if word is None else ids.setdefault(word, len(ids)) for word in finals], np.int32)
    return renumbered(tokens, numbers, strings(list(ids)))


def encoded(arrays: Sequence[Any]) -> tuple[Any, Any]:
    """Codes of Arrow arrays of strings laid end to end, as int32, and the distinct strings."""
    import pyarrow as pa

    arrays = [array for array in arrays if len(array)]
    if not arrays:
        return np.zeros(0, np.int32), pa.array([], pa.string())
    chunks = pa.chunked_array(arrays).dictionary_encode().chunks
    codes = np.concatenate([chunk.indices.to_numpy(zero_copy_only=False) for chunk in chunks])
    return codes.astype(np.int32, copy=False), chunks[-1].dictionary


def gathered(starts: Any, lengths: Any) -> Any:
    """Positions starts[0] … starts[0] + lengths[0] − 1, starts[1] …, laid end to end."""
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    return np.arange(total, dtype=np.int64) + np.repeat(starts - (ends - lengths), lengths)


def _in_parts(texts: Sequence[str]) -> tuple[Sequence[str], Any]:
    """Texts with the long ones cut at spaces, and where each text ends among the parts."""
    parts: list[str] = []
    ends = [0]
    for text in texts:
        start = 0
        while len(text) - start >= LONG:
            space = _SPACE.search(text, start + LONG // 2, start + ENDLESS)
            cut = min(start + ENDLESS, len(text)) if space is None else space.start()
            parts.append(text[start:cut])
            start = cut
        parts.append(text[start:] if start else text)
        ends.append(len(parts))
    return parts, np.array(ends)


def _runs(sizes: Any, most: int) -> list[tuple[int, int]]:
    """Runs of texts of about ``most`` characters."""
    if not len(sizes):
        return []
    group = np.cumsum(sizes + 1) // most
    edges = [0, *(np.flatnonzero(np.diff(group)) + 1).tolist(), len(sizes)]
    return list(pairwise(edges))


def _plain_piece(texts: Sequence[str], sizes: Any, lowercase: bool) -> tuple[Any, Any]:
    """Words of texts of ASCII as an Arrow array, and how many each text has."""
    data = ("\n" + "\n".join(texts) + "\n").encode("ascii")
    inside = _LETTERS[np.frombuffer(data, np.uint8)]
    edges = np.flatnonzero(inside[1:] != inside[:-1]) + 1
    starts, ends = edges[::2], edges[1::2]
    letters = data.translate(_LOWER if lowercase else None, _OTHERS)
    return _strings(letters, ends - starts), _counts(starts, sizes)


def _wide_piece(texts: Sequence[str], lowercase: bool, accents: bool) -> tuple[Any, Any]:
    """The same for texts of any characters."""
    # A search in every text for what is hidden takes longer than all else; the table of classes finds it on the way.
    spelled = [written(text, lowercase=lowercase, accents=accents, hidden=not accents) for text in texts]
    points = _points(spelled)
    kinds = classes(points)
    if (kinds == HIDDEN).any():
        spelled = [written(text, lowercase=lowercase, accents=accents) for text in texts]
        points = _points(spelled)
        kinds = classes(points)
    inside = kinds == LETTER
    edges = np.flatnonzero(inside[1:] != inside[:-1]) + 1
    starts, ends = edges[::2], edges[1::2]
    unspaced = (kinds == UNSPACED) | (kinds == IDEOGRAPH)
    if unspaced.any():
        first = np.flatnonzero(unspaced[1:-1]) + 1
        follows, precedes = unspaced[first + 1], unspaced[first - 1]
        words = first[(follows | precedes) & (kinds[first] == IDEOGRAPH)]  # those that stand alone come with the pairs
        first, pair = first[follows | ~precedes], follows[follows | ~precedes]
        starts, ends = np.concatenate([starts, words, first]), np.concatenate([ends, words + 1, first + 1 + pair])
        order = np.argsort(starts, kind="stable")
        starts, ends = starts[order], ends[order]
    # Places in UTF-8: a code point takes one to four bytes.
    sizes = 1 + (points >= 0x80).astype(np.int64) + (points >= 0x800) + (points >= 0x10000)
    places = np.zeros(len(points) + 1, np.int64)
    np.cumsum(sizes, out=places[1:])
    text = np.frombuffer(("\n" + "\n".join(spelled) + "\n").encode("utf-8", "surrogatepass"), np.uint8)
    lengths = places[ends] - places[starts]
    letters = text[gathered(places[starts], lengths)]
    return _strings(letters, lengths), _counts(starts, np.array([len(text) for text in spelled]))


def _points(texts: Sequence[str]) -> Any:
    """Code points of texts, with a separator before, between and behind them."""
    return np.frombuffer(("\n" + "\n".join(texts) + "\n").encode("utf-32-le", "surrogatepass"), "<u4")


def _strings(letters: Any, lengths: Any) -> Any:
    """An Arrow array of strings from their bytes laid end to end."""
    import pyarrow as pa

    offsets = np.zeros(len(lengths) + 1, np.int32)
    np.cumsum(lengths, out=offsets[1:])
    return pa.StringArray.from_buffers(len(lengths), pa.py_buffer(offsets), pa.py_buffer(letters))


def _counts(starts: Any, sizes: Any) -> Any:
    """How many tokens begin in each of the texts, which stand behind one separator each."""
    ends = np.cumsum(sizes + 1)
    return np.diff(np.searchsorted(starts, np.concatenate([[0], ends]), side="right"))


def _in_order(codes: Any, lengths: Any, order: Any) -> tuple[Any, Any]:
    """Codes and numbers of tokens of texts in their own order; they came in the order ``order``."""
    own, came = np.zeros_like(lengths), np.zeros_like(lengths)
    own[order], came[order] = lengths, np.cumsum(lengths) - lengths
    return codes[gathered(came, own)], own
