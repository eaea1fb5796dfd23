"""The certificate of a fit in words for its reader; ``-v`` shows the certificate as it is.

proved       no component was missed
not proved   which components, what is known of them all the same, and which option would prove the rest
"""

from __future__ import annotations

from typing import Any

from ritz.data.words import counted

__all__ = ["reader_lines"]

#: Lines of the certificate that are for those who check it.
FOR_EXPERTS = ("total ",)
ITERATIVE = ("lanczos", "krylov", "chebyshev", "power")
NONE_MISSED, COMPLETENESS = "completeness: none missed", "completeness: "


def reader_lines(facts: dict[str, Any]) -> list[str]:
    """What is proved, in plain words; lines about gaps and about filled values stay as they are."""
    lines = []
    for line in facts["certificate"]:
        if line.startswith(FOR_EXPERTS):
            continue
        if line.startswith(NONE_MISSED):
            lines.append("no component was missed" + line.removeprefix(NONE_MISSED))
        elif line.startswith(COMPLETENESS) and _open(facts):
            lines += _unproved(facts)
        elif line != "angles are bounded only where completeness is proved":
            lines.append(line)
    return lines


def _open(facts: dict[str, Any]) -> list[str]:
    return [item["name"] for item in facts["components"] if not item["certified"]] if facts["bounded"] else []


def _unproved(facts: dict[str, Any]) -> list[str]:
    """Which components are marked ?, what that means, and what would prove them."""
    names, every = _open(facts), len(facts["components"])
    which = names[0] if len(names) == 1 else f"{names[0]} to {names[-1]}"
    many = "all of them" if len(names) == every else f"{len(names)} of {counted(every, 'component')}"
    is_, has = ("is", "has") if len(names) == 1 else ("are", "have")
    what = facts["measure"]
    return [
        f"{which} ({many}, marked ?) {is_} not proved: some {what} of the table lies in each interval, but a larger "
        f"one may have been missed, so that {which} {has} no bound on the angle",
        _remedy(facts),
    ]


def _remedy(facts: dict[str, Any]) -> str:
    from ritz.spectral.constants import DIRECT_LIMIT

    small = min(facts["rows"], len(facts["columns"]) or facts["rows"])
    if facts["plan"]["solver"] in ITERATIVE and small <= DIRECT_LIMIT:
        solver = "svd" if facts["method"] in ("kpca", "mds", "isomap") else "moments"
        return f"--solver {solver} would prove all of them, at a higher cost"
    if facts["plan"]["solver"] in ITERATIVE:
        return "fewer components (-k) or a smaller --tol may prove the rest"
    return "--solver auto would prove them" if facts["plan"]["solver"] in ("sketch", "nystrom") else (
        "fewer components (-k) may be proved")  # fmt: skip
