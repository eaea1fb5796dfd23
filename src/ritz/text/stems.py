"""Stems and stop words: what happens to a word once, however often it occurs.

stems        the Snowball algorithms [Por80], through PyStemmer (C) or snowballstemmer (Python), whichever is there
stop words   "english": the function words of the Snowball list, with the halves that an apostrophe leaves (don, ll)
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable
from typing import Any

from ritz._core.errors import MissingDependency, ParameterError
from ritz.data.words import nearest, shorten

__all__ = ["ENGLISH", "LANGUAGES", "stemmer", "stop_words"]

#: Languages of the Snowball algorithms; ``porter`` is the first one for English.
LANGUAGES = (
    "arabic", "armenian", "basque", "catalan", "danish", "dutch", "english", "finnish", "french", "german", "greek",
    "hindi", "hungarian", "indonesian", "irish", "italian", "lithuanian", "nepali", "norwegian", "porter", "portuguese",
    "romanian", "russian", "serbian", "spanish", "swedish", "tamil", "turkish", "yiddish",
)  # fmt: skip

_ENGLISH = """
i me my myself we our ours ourselves you your yours yourself yourselves he him his himself she her hers herself it
its itself they them their theirs themselves what which who whom this that these those am is are was were be been
being have has had having do does did doing would should could ought a an the and but if or because as until while
of at by for with about against between into through during before after above below to from up down in out on off
over under again further then once here there when where why how all any both each few more most other some such no
nor not only own same so than too very can will just don now ain aren cannot couldn didn doesn hadn hasn haven isn
let ll ma mightn mustn needn re shan shouldn ve wasn weren won wouldn
"""
ENGLISH = frozenset(_ENGLISH.split())


def stemmer(language: str | None) -> Callable[[str], str] | None:
    """A function from a word to its stem; None for None."""
    if language is None:
        return None
    known(language)
    for module, call in (("Stemmer", _by_pystemmer), ("snowballstemmer", _by_snowball)):
        try:
            library = importlib.import_module(module)
        except ImportError:
            continue
        try:
            return call(library, language)
        except KeyError as error:  # a library older than the language
            raise ParameterError(
                f"stem={language!r} is not among the languages of the {module} that is installed",
                hint="install a newer PyStemmer: pip install -U 'ritz[text]'",
            ) from error
    raise MissingDependency(
        f"stem={language!r} needs PyStemmer or snowballstemmer",
        received="neither is installed",
        hint="pip install 'ritz[text]', or leave out stem=",
    )


def known(language: Any) -> None:
    """Raise where ``language`` is not one of the Snowball algorithms."""
    if language not in LANGUAGES:
        raise ParameterError(
            f"stem must be None or a language of Snowball: {shorten(list(LANGUAGES), len(LANGUAGES))}",
            received=repr(language),
            hint=f"stem={nearest(language, LANGUAGES)!r}",
        )


def stop_words(chosen: Any) -> frozenset[str]:
    """The words that are left out."""
    if chosen is None:
        return frozenset()
    if isinstance(chosen, str):
        if chosen != "english":
            raise ParameterError(
                "stop_words must be None, 'english' or a list of words",
                received=repr(chosen),
                hint="for another language give its words: stop_words=['und', 'oder', …]",
            )
        return ENGLISH
    if not isinstance(chosen, Iterable) or not all(isinstance(word, str) for word in chosen):
        raise ParameterError("stop_words must be None, 'english' or a list of words", received=repr(type(chosen)))
    return frozenset(chosen)


def _by_pystemmer(library: Any, language: str) -> Callable[[str], str]:
    stem: Callable[[str], str] = library.Stemmer(language, 0).stemWord  # no cache: each word is asked for once
    return stem


def _by_snowball(library: Any, language: str) -> Callable[[str], str]:
    stem: Callable[[str], str] = library.stemmer(language).stemWord
    return stem
