"""``ritz fit R.csv --covariance-of 145``: a table that is a covariance or correlation matrix.

Nobody has the rows, so there are no scores, no figures of rows and no report of them; the model, the components and
the summary are those of any fit.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ritz._core.errors import ParameterError
from ritz.cli.terminal.console import say

__all__ = ["of_matrix"]

#: Methods that need nothing but covariances.
METHODS = ("pca", "factor")


def of_matrix(job: Any, name: str) -> tuple[Any, str]:
    """The job and the method for a covariance matrix; what needs rows is left out, and refused where it was asked."""
    name = "pca" if name == "auto" else name
    if name not in METHODS:
        raise ParameterError("--covariance-of is for pca and factor", received=f"--method {name}",
                             hint="other methods need the rows")  # fmt: skip
    rows = {"--weights": job.parts.get("weights"), "--supplementary": job.parts.get("supplementary"),
            "--figures": job.figures, "--engine": job.engine, "--resume": job.resume}  # fmt: skip
    asked = [option for option, value in rows.items() if value]
    if job.scores not in (None, "none"):
        asked.append("--scores")
    if job.method["missing"] != "error":
        asked.append("--missing")
    if asked:
        raise ParameterError(f"{asked[0]} needs rows", received="--covariance-of, so a matrix without rows",
                             hint="leave it out")  # fmt: skip
    if not job.quiet:
        say("note", "a covariance matrix has no rows: no scores and no report are written", "bold cyan")
    return replace(job, scores="none", report=False), name
