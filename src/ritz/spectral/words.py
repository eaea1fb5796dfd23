"""What a plan says, in words: passes, times, sizes, reasons."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["SAMPLED", "pass_words", "reason_lines", "seconds_words", "size_words", "time_words"]

#: Solvers whose passes are known before them, and those that look for large eigenvalues, which stand out or do not.
DIRECT = ("svd", "moments", "refined", "sketch", "directions")
SEEKING = ("krylov", "lanczos", "chebyshev", "power")
#: By which a plan tells that passes were counted by looking at some rows.
SAMPLED = "of the rows say that about"


def seconds_words(seconds: float) -> str:
    """A time in words."""
    if seconds < 1:
        return f"{max(seconds * 1e3, 0.1):.1f} ms" if seconds < 0.01 else f"{seconds * 1e3:.0f} ms"
    return f"{seconds:.1f} s"


def reason_lines(reasons: Iterable[str]) -> list[str]:
    """A line for each reason of a plan; what was planned, seen and done on the way is told as such.

    >>> reason_lines(["krylov was planned", "few products are enough", "after 9 of them it was left", "so it was"])
    ['krylov was planned', 'because few products are enough', 'after 9 of them it was left', 'so it was']
    """
    return [
        one if one.startswith(("after ", "so ")) or one.endswith(" was planned") else f"because {one}"
        for one in reasons
    ]


def pass_words(passes: float, solver: str, reasons: Iterable[str] = (), over: str = "") -> str:
    """A number of passes in words: those of an iteration end where the data say, and late where these are noise.

    >>> pass_words(1, "moments"), pass_words(9, "krylov")
    ('1 pass', 'about 9 passes (several times as many, and as long, where eigenvalues do not decay)')
    """
    reasons = tuple(reasons)
    iterated = solver not in DIRECT or any(reason.startswith("about ") for reason in reasons)
    seeking = solver in SEEKING and not any("none was missed" in one or SAMPLED in one for one in reasons)
    more = " (several times as many, and as long, where eigenvalues do not decay)" if seeking else ""
    return f"{'about ' if iterated else ''}{passes:g} pass{'' if passes == 1 else 'es'}{over}{more}"


def time_words(passes: float, solver: str) -> str:
    """How often rows are read, in words: ``once``, ``about 9 times, or more where eigenvalues do not decay``."""
    more = ", or more where eigenvalues do not decay" if solver in SEEKING else ""
    return "once" if passes == 1 else f"about {passes:g} times{more}"


def size_words(size: float) -> str:
    """A number of bytes in words."""
    for unit in ("bytes", "kB", "MB", "GB"):
        if size < 1000 or unit == "GB":
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.3g}"
