"""Why the numbers can be trusted: the certificate of every eigenvalue, and the plan that found them, in words."""

from __future__ import annotations

import numpy as np

from ritz.report.context import Context
from ritz.report.html import Html, details, join, number, table, tag
from ritz.report.part import Content, Part
from ritz.spectral.plan import size_words

__all__ = ["PART"]

#: Eigenvalues in the table.
SHOWN = 30
#: Share of the largest eigenvalue below which one is zero up to rounding.
ZERO = 1e-13


def _applies(about: Context) -> bool:
    return getattr(about.model, "certificate_", None) is not None


def _build(about: Context) -> Content:
    certificate = about.model.certificate_
    # times differ from run to run
    sentences = [line for line in certificate.sentences() if "over the data" not in line]
    words = tag("ul", [tag("li", _upper(line)) for line in sentences], class_="plain")
    return Content(join(tag("p", _lead(about)), words, _table(about), _plan(about)))


def _lead(about: Context) -> str:
    certificate = about.model.certificate_
    if certificate.kind == "estimate":
        return (
            "These components are an estimate from a single product, without proof; fit again with another solver for "
            "one."
        )
    behind = about.known.about.behind
    of = f" The certificate is that of {behind}." if behind else ""
    size = np.abs(certificate.values)
    proved = np.isfinite(certificate.width) & certificate.labelled
    sure = proved & (size > ZERO * size.max(initial=0.0))
    if not sure.any():
        return f"Every eigenvalue comes with its residual.{of}"
    count, every = int(np.count_nonzero(proved)), len(size)
    which = "Every eigenvalue comes" if count == every else f"{count} of {every} eigenvalues come"
    aside = "" if sure.sum() == count else ", those of zero aside,"
    return (
        f"{which} with an interval that holds the true one. The widest{aside} is "
        f"{number(float((certificate.width[sure] / size[sure]).max()), 2)} of its value.{of}"
    )


def _upper(line: str) -> str:
    return line if line.startswith("|") else line[:1].upper() + line[1:]


def _table(about: Context) -> Html:
    c = about.model.certificate_
    rows = []
    for i in range(min(len(c.values), SHOWN)):
        half = max(c.upper[i] - c.values[i], c.values[i] - c.lower[i])
        angle = number(c.angles[i], 2) if np.isfinite(c.angles[i]) else "gap too small"
        proof = "yes" if c.labelled[i] else "no"
        row = (f"{i + 1}", number(c.values[i], 7), number(half, 2), number(c.residuals[i], 2), angle, proof)
        rows.append(row if c.bounds_angles else (*row[:3], row[-1]))
    head: tuple[str, ...] = ("", "eigenvalue", "± at most", "residual", "angle at most", "proved")
    head = head if c.bounds_angles else (*head[:3], head[-1])
    return details("The certificate, eigenvalue by eigenvalue", table(head, rows, "Certificate"))


def _plan(about: Context) -> Html | None:
    plan = getattr(about.model, "plan_", None)
    if plan is None:
        return None
    passes = plan.actual_passes if plan.actual_passes is not None else plan.passes
    many = f"{passes:g} pass{'' if passes == 1 else 'es'} over the data"
    memory = f"about {size_words(plan.bytes)} of memory beyond the data"
    what = "The map was" if about.maps and not about.known.certified else "The eigenvalues were"
    route = f"the solver “{plan.solver}” on the {plan.side}, in {plan.precision}"
    lead = f"{what} found by {route}, with {many} and {memory}:"
    return join(tag("h3", "The plan"), tag("p", lead), tag("ul", [tag("li", reason) for reason in plan.reasons]))


PART = Part("certificate", "Why to trust it", _applies, _build)
