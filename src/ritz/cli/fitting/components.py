"""How many components ``ritz fit`` computes, and why.

    no -k      min(n − 1, d), at most 20: n centred rows span no more than n − 1 directions
    -k K       a count, a share of the variance, all, or a rule of ``ritz.rank``, with the rule's own sentence

A rule speaks from the values that were computed; where it needs more of them than were kept, and they are cheap,
the spectrum is computed once more in full (``refit``).
"""

from __future__ import annotations

import difflib
from collections.abc import Callable
from typing import Any

from ritz._core.errors import ParameterError
from ritz._core.warn import unsaid

__all__ = ["DEFAULT_COMPONENTS", "count", "parse_choice", "parse_components", "reason"]

DEFAULT_COMPONENTS = 20  # without -k: all components up to this many
ALIKE = 0.75
LARGE = 20  # numbers with a point from here on are taken for percents
SHORT = 0.6  # words of a few letters: pac is pca
OF_TWO = ("kfold", "bartlett")  # of two tables
FILLING = ("gcv", "kfold")  # rules for tables with gaps
RANKED = ("hosvd", "tucker", "tt")  # methods with one rank a mode
FORMS = "expected a count (5), a share (0.9 or 90%), 'all', or a rule such as kaiser"


def parse_components(text: str, missing: str = "error", method: str = "auto") -> Any:
    """Read ``-k``: a count, a share (0.9 or 90%), ``all``, the name of a rule, or for tensors one rank a mode.

    Rules by cross-validation are those of filling gaps: ``missing`` says whether gaps are filled.
    """
    word = text.strip().lower().removeprefix("=")  # -k=3
    if word == "all":
        return None
    ranks = word.split(",")
    if method in RANKED and len(ranks) > 1 and all(one.strip().isdigit() for one in ranks):
        return tuple(int(one) for one in ranks)
    if word in OF_TWO or (word in FILLING and missing not in ("error", "drop")):
        return word
    try:
        number = float(word.removesuffix("%")) / (100 if word.endswith("%") else 1)
    except ValueError:
        return _rule(word, text)
    if word.isdigit() and number >= 1:
        return int(word)
    if 0 < number < 1:
        return number
    if word.endswith("%") and number > 1:
        raise ParameterError(FORMS, received=repr(text), hint="a share of the variance lies below 100 %")
    raise ParameterError(FORMS, received=repr(text), hint=_nearest(number))


def _nearest(number: float) -> str:
    """What may have been meant by a number that is neither a count nor a share."""
    if number == 1:
        return "-k all keeps every one"
    if not 1 < number < 100:
        return "write -k 5 or -k 0.9"
    if number < LARGE and number == int(number):
        return f"write -k {int(number)} for so many components"
    if number < LARGE:  # 1.5 is no share in percent that anybody asks for
        return f"write -k {int(number)} or -k {int(number) + 1} for so many components, or a share below 1"
    return f"write {number / 100:g} or {number:g}%"


def parse_choice(option: str, text: str, allowed: tuple[str, ...], hint: str | None = None) -> str:
    """Read a word that must be one of a few; ``hint`` is for words that come near none."""
    word = text.strip().lower()
    if word in allowed:
        return word
    swapped = [one for one in allowed if sorted(one) == sorted(word)]  # letters in another order: pac is pca, not pcr
    close = swapped or _closest(word, allowed)
    raise ParameterError(
        f"{option} must be one of {', '.join(allowed)}",
        received=repr(text),
        hint=f"did you mean {close[0]}?" if close else hint or f"{option} {allowed[0]}",
    )


def _closest(word: str, allowed: tuple[str, ...]) -> list[str]:
    """The word that is most alike, the first listed of several: pcs is pca, not pls."""
    alike = [difflib.SequenceMatcher(None, word, one).ratio() for one in allowed]
    best = max(alike, default=0.0)
    return [allowed[alike.index(best)]] if best >= SHORT else []


def _rule(word: str, text: str) -> str:
    from ritz.rank.rule import NAMES

    name, names = word.replace("_", "-"), (*NAMES, "consensus")
    if name in names:
        return name
    works = f"these rules work: {', '.join(names)}"
    units, comma, digits = word.removesuffix("%").partition(",")
    if comma and units.isdigit() and digits.isdigit():
        share = f"write {word.replace(',', '.')}"
        ranks = f"one rank a mode is for tensors: --method {', '.join(RANKED)}"
        raise ParameterError(FORMS, received=repr(text), hint=share if word.endswith("%") or not int(units) else ranks)
    close = difflib.get_close_matches(name, names, n=1, cutoff=ALIKE)
    raise ParameterError(FORMS, received=repr(text), hint=f"did you mean {close[0]}? {works}" if close else works)


def count(k: int | float | str | None, rows: int, columns: int, missing: str = "error") -> int | float | str | None:
    """Turn ``all`` (None) and the default (0) into numbers; what the user chose stays.

    Where gaps are filled by components, both are left open: how many fill gaps is decided by cross-validation.
    """
    if not k and missing in ("em", "regularized"):
        return None
    every = max(1, min(rows - 1, columns))
    if k is None:
        return every
    return min(every, DEFAULT_COMPONENTS) if k == 0 else k


def reason(
    asked: int | float | str | None, model: Any, shape: tuple[int, int], refit: Callable[[int], Any] | None,
    possible: int | None = None,
) -> dict[str, Any]:  # fmt: skip
    """Say what was asked for, by which rule k came out, and why, in one sentence or an empty one.

    ``refit`` gives the model of another number of components, where that is cheap; ``possible`` is how many there are,
    where that is known.
    """
    from ritz.methods.fitted import fitted_of

    (n, d), fitted = shape, fitted_of(model)
    k, every, linear = fitted.k, min(n - 1, d), fitted.space == "columns" and fitted.restates
    if isinstance(asked, (str, float)):
        name = asked if isinstance(asked, str) else "fraction"
        if fitted.choice is not None and fitted.choice[0] == name:  # what the rule itself said in the fit
            return {"asked": asked, "rule": name, "why": fitted.choice[1]}
        if name in FILLING or not linear:
            how = ", by cross-validation" if name in FILLING else ""
            return {"asked": asked, "rule": name, "why": f"{k} component{'s' if k != 1 else ''}{how}"}
        return {"asked": asked, "rule": name, "why": _sentence(asked, model, shape, refit)}
    if not linear:
        cut = asked == 0 and k == DEFAULT_COMPONENTS and k != possible
        why = f"the first {k}, as -k was not given; -k all computes all" if cut else ""
    elif asked == 0 and k < every:
        why = f"the first {k}, as -k was not given; -k all computes all {every}"
    elif not asked and n - 1 < d:
        why = f"all {k} directions that {n} rows have" if k != 1 else f"the one direction that {n} rows have"
    else:
        why = ""
    return {"asked": {None: "all", 0: "default"}.get(asked, asked), "rule": None, "why": why}


def _sentence(asked: str | float, model: Any, shape: tuple[int, int], refit: Callable[[int], Any] | None) -> str:
    from ritz.rank import resolve
    from ritz.spectral.problem import Seen

    (n, d), k = shape, int(model.n_components_)
    r = min(n - 1, d)
    rule = resolve(asked, n=n, d=d, centered=True)
    if isinstance(rule, int):
        return ""
    certificate = model.certificate_
    seen = Seen(certificate.values, certificate.total, float(n), d, r, True, k >= r)
    if rule.decide(seen) != k and refit is not None:
        with unsaid():
            full = refit(r).certificate_
        seen = Seen(full.values, full.total, float(n), d, r, True, True)
    return rule.why(seen) if rule.decide(seen) == k else f"{k} component{'s' if k != 1 else ''}"
