"""What a certificate claims, held against the truth: every claim is one small function that yields findings.

    enclosure    labelled: lowerᵢ ≤ λᵢ ≤ upperᵢ; unlabelled: some λⱼ lies between
    width        upperᵢ − lowerᵢ ≤ 4‖rᵢ‖ + 1000·u·λ₁ (+ 2e-12·λ₁ for a state without its rows; after ``subtract``
                 1000·u·tr(merged), because that is how much was taken off)
    residual     the reported ‖Mv − θv‖ is not below the true one; where ``tol`` was reached, it was
    ceiling      no eigenvalue beyond the k returned ones exceeds the stated bound
    angle        sin∠(vᵢ, true eigenspace) ≤ the stated sine, for single vectors and for clusters
    direct       |σ̂ᵢ − σᵢ| ≤ 100·u·σ₁ for ``svd`` and ``moments``, or 1e-3·tol·σᵢ for ``moments``
    state        |λ̂ᵢ − λᵢ| ≤ 1e-12·λ₁ for a state without its rows, and 100·u·tr(merged) more after ``subtract``
    share        as asked, and no more;      mean    column means are those of the rows
    total, basis, names, verify    the trace; ‖VVᵀ − I‖; one spectrum under all names; its own heavy check

A finding is a violation. Comparisons with eigenvalues are exact (balls against floats); those with vectors
are made in extended precision and allow for the rounding of the stored vectors, nothing else.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ritz._core.lazy import cached_property
from ritz._core.tolerance import REPAIR_SHARE
from ritz.testing.angles import largest_sine
from ritz.testing.certify.problem import Case, from_state
from ritz.testing.truth import Truth, precision, true_rows

__all__ = [
    "DIRECT", "Finding", "Subject", "ceiling", "eigenvalues", "examine", "guesses", "misses", "ratios", "verified",
]  # fmt: skip

Array = np.ndarray[Any, Any]
DIRECT = ("svd", "moments")
WIDTH = 1000.0  # allowance of the width, in u·λ₁
DIRECT_ERROR = 100.0  # promise of the direct routes, in u·σ₁
STATE_ERROR = 1e-12  # promise of a state without its data, in λ₁
EXTENDED_ENTRIES = 500_000  # beyond this many entries residuals are taken in float64
BITS = 400


@dataclass(frozen=True)
class Finding:
    """A claim that does not hold."""

    check: str
    component: int
    words: str


@dataclass(frozen=True)
class Subject:
    """A fitted model beside what it should have found."""

    case: Case
    solver: str
    model: Any
    X: Any
    truth: Truth

    @cached_property
    def certificate(self) -> Any:
        """The claims, in the units of the data: near the ends of float64 a certificate is shown in others."""
        c = self.model.certificate_
        square = float(getattr(c, "frame", {}).get("shown", 1.0)) ** 2
        if square == 1:
            return c
        names = ("values", "lower", "upper", "residuals", "ceiling", "total")
        return replace(c, **{name: getattr(c, name) * square for name in names})

    @property
    def vectors(self) -> Array:
        """(d, k) components as stored, in extended precision."""
        return np.asarray(self.model.components_, dtype=np.longdouble).T

    @property
    def top(self) -> float:
        """λ₁."""
        return float(self.truth.values[0])

    @property
    def roundoff(self) -> float:
        """u of the path that the certificate states."""
        return float(self.certificate.unit_roundoff)

    @property
    def merged(self) -> float:
        """After ``subtract``: the trace of what stood in the state before, which bounds what rounding left; else 0."""
        return 0.0 if self.solver != "subtract" else float(np.sum(self.before[0]))

    @cached_property
    def before(self) -> tuple[Array, float]:
        """The state from which ``subtract`` took rows off: squares of its columns, and weight over weight left."""
        case, X, E = self.case, self.X, self.case.others(self.X)
        both = np.concatenate([np.asarray(X.toarray() if hasattr(X, "toarray") else X), E]).astype(np.longdouble)
        w = case.weights(X.shape[0])
        w = np.ones(len(both)) if w is None else np.append(w, np.ones(len(E)))
        rest, v = both[: X.shape[0]], w[: X.shape[0]]
        squares = w @ np.square(both - (w @ both) / w.sum() if case.center else both)
        if case.scale:
            spread = v @ np.square(rest - (v @ rest) / v.sum()) / (v.sum() - 1)
            squares = squares / np.where(spread > 0, spread, 1)
        return squares.astype(float), float(w.sum() / v.sum())

    @property
    def stored(self) -> float:
        """u of the type that the components are stored in."""
        return float(np.finfo(np.asarray(self.model.components_).dtype).eps) / 2


def examine(subject: Subject) -> list[Finding]:
    """All findings of all checks."""
    certificate = subject.certificate
    k, wanted = len(certificate.values), subject.case.components(subject.solver, subject.X.shape)
    stored = np.shape(subject.model.components_)
    if k != stored[0] or (isinstance(wanted, int) and k != wanted):
        return [Finding("shape", k, f"{wanted} asked for, {k} values, components {stored}")]
    arrays = (certificate.values, certificate.lower, certificate.upper, certificate.residuals)
    if not all(np.all(np.isfinite(a)) for a in arrays):
        return [Finding("finite", -1, f"NaN or infinity in values, bounds or residuals: {arrays}")]
    checks = (_order, _width, _residual, ceiling, _angle, _direct, _state, _share, _total, _basis, _names, _mean)
    findings = [finding for check in (*checks, _verify) for finding in check(subject)]
    return findings if guesses(subject) else [*misses(subject), *findings]


def guesses(subject: Subject) -> bool:
    """Whether the enclosures are estimates that say how often they hold."""
    c = subject.certificate
    return c.kind == "estimate" and c.probability < 1


def misses(subject: Subject) -> list[Finding]:
    """Intervals that do not hold what they claim to hold."""
    certificate, balls = subject.certificate, subject.truth.eigenvalues
    findings = []
    with precision(BITS):
        for i, (low, high) in enumerate(zip(certificate.lower, certificate.upper, strict=True)):
            low, high = float(low), float(high)
            if certificate.labelled[i]:
                inside = not (balls[i] < low or balls[i] > high)
            else:
                # a wide matrix has further eigenvalues that are zero
                more = subject.X.shape[1] > len(balls) and low <= 0
                inside = more or any(not (ball < low or ball > high) for ball in balls)
            if not inside:
                label = "labelled" if certificate.labelled[i] else "unlabelled"
                value = float(balls[i].mid())
                share = max(low - value, value - high) / subject.top if subject.top else np.inf
                words = f"{label} [{low!r}, {high!r}] misses λ={value!r} by {share:.2g}·λ₁"
                findings.append(Finding("enclosure", i, words))
    return findings


def _order(subject: Subject) -> Iterator[Finding]:
    c = subject.certificate
    if np.any(np.diff(c.values) > 0):
        yield Finding("order", int(np.argmax(np.diff(c.values) > 0)), f"values do not decrease: {c.values}")
    for i in np.flatnonzero((c.lower > c.values) | (c.values > c.upper)):
        yield Finding("order", int(i), f"value {c.values[i]!r} outside [{c.lower[i]!r}, {c.upper[i]!r}]")


def _width(subject: Subject) -> Iterator[Finding]:
    c = subject.certificate
    share = WIDTH * subject.roundoff + (2 * STATE_ERROR if from_state(subject.solver) else 0.0)
    allowed = 4 * np.asarray(c.residuals) + share * subject.top + WIDTH * subject.roundoff * subject.merged
    allowed += 2 * c.rounding if subject.solver == "refined" else 0.0  # small tables, whose corrections are large
    width = np.asarray(c.upper) - np.asarray(c.lower)
    for i in np.flatnonzero(width > allowed * (1 + 1e-9)):
        words = f"width {width[i]:.3g} > {allowed[i]:.3g} = 4·{c.residuals[i]:.3g} + {share:.2g}·λ₁"
        yield Finding("width", int(i), words)


def _residual(subject: Subject) -> Iterator[Finding]:
    c, case = subject.certificate, subject.case
    if subject.top == 0:
        return
    true, noise = true_residuals(subject)
    slack = WIDTH * subject.roundoff * (subject.top + subject.merged) + 4 * subject.stored * subject.top + noise
    slack += c.rounding if subject.solver == "refined" else 0.0  # the image of a correction is known to that
    for i in np.flatnonzero(true > 1.01 * np.asarray(c.residuals) + slack):
        words = f"true residual {true[i]:.3g} above the reported {c.residuals[i]:.3g} + {slack:.3g}"
        yield Finding("residual", int(i), words)
    if c.converged and case.tol > 0:
        goal = case.tol * float(c.values[0]) + slack
        for i in np.flatnonzero(true > goal):
            yield Finding("tol", int(i), f"tol={case.tol:g} reported as reached; residual {true[i]:.3g} > {goal:.3g}")


def true_residuals(subject: Subject) -> tuple[Array, float]:
    """‖Mv − θv‖ of the stored pairs, and how far rounding may have moved it."""
    case, X = subject.case, subject.X
    V, theta = subject.vectors, np.asarray(subject.certificate.values, np.longdouble)
    if X.shape[0] * X.shape[1] <= EXTENDED_ENTRIES:
        options = {"center": case.center, "scale": case.scale, "weights": case.weights(X.shape[0])}
        A = true_rows(X, **options)
        unit = np.longdouble(2.0) ** np.round(np.log2(np.longdouble(subject.top)) / 2)
        A = A / unit  # squares of 1e±300 leave even the extended range once multiplied
        R = A.T @ (A @ V) - V * (theta / unit**2)
        return np.sqrt(np.sum(R * R, axis=0)).astype(float) * float(unit**2), 1e-17 * subject.top
    integral = X.dtype.kind in "iu" and case.center  # integers keep their digits through an integer shift
    Y, W = (_shifted(X) if integral else X.astype(np.float64)), V.astype(np.float64)
    mean = np.asarray(Y.mean(axis=0)).ravel() if case.center else np.zeros(X.shape[1])
    if isinstance(Y, np.ndarray):  # beforehand: afterwards a far mean would cancel
        Y, mean = Y - mean, np.zeros_like(mean)
    P = Y @ W - mean @ W
    R = Y.T @ P - np.outer(mean, P.sum(axis=0)) - W * theta.astype(np.float64)
    return np.sqrt(np.sum(R * R, axis=0)), 1e-13 * subject.top


def _shifted(X: Array) -> Array:
    """X − x₁ of an integer table, exactly."""
    return (X.astype(np.uint64) - X[0].astype(np.uint64)).astype(np.int64).astype(np.float64)


def ceiling(subject: Subject) -> Iterator[Finding]:
    """Completeness: λ_{k+1} does not exceed the stated bound on everything that was not returned."""
    c, balls, k = subject.certificate, subject.truth.eigenvalues, len(subject.certificate.values)
    with precision(BITS):
        if k < len(balls) and np.isfinite(c.ceiling) and balls[k] > float(c.ceiling):
            words = f"λ={float(balls[k].mid())!r} was not returned and exceeds the ceiling {float(c.ceiling)!r}"
            yield Finding("ceiling", k, words)


def _angle(subject: Subject) -> Iterator[Finding]:
    c = subject.certificate
    claims = [(i, i, float(bound)) for i, bound in enumerate(c.angles)]
    for first, last, bound in [*claims, *c.clusters]:
        if not bound < 1:
            continue
        sine = _true_sine(subject, first, last)
        slack = 2 * subject.stored * (last - first + 1) ** 0.5 + 1e3 * float(np.finfo(np.longdouble).eps)
        if sine > bound + slack:
            name = f"components {first}-{last}" if last > first else "component"
            yield Finding("angle", first, f"{name}: sine {sine:.3g} above the bound {bound:.3g} + {slack:.2g}")


def _true_sine(subject: Subject, first: int, last: int) -> float:
    """Largest angle between the stored vectors and the true eigenspace; 0 where the truth has no vectors."""
    if subject.truth.vectors is None:
        return 0.0
    values = subject.truth.values
    # with everything that cannot be told from them even in the truth
    near = 1e-25 * subject.top
    space = (values <= values[first] + near) & (values >= values[last] - near)
    V = subject.truth.vectors[:, space]
    return 0.0 if np.isnan(V).any() else largest_sine(V, subject.vectors[:, first : last + 1])


def _direct(subject: Subject) -> Iterator[Finding]:
    if subject.solver not in DIRECT:
        return
    model, balls = subject.model, subject.truth.eigenvalues
    computed = np.asarray(model.singular_values_)
    u = float(np.finfo(computed.dtype).eps) / 2
    share = REPAIR_SHARE * model.tol if model.plan_.solver == "moments" else 0.0
    with precision(BITS):
        top = balls[0].nonnegative_part().sqrt().mid()
        for i, value in enumerate(computed):
            true = balls[i].nonnegative_part().sqrt().mid()
            error = abs(type(top)(float(value)) - true)
            if error > DIRECT_ERROR * u * top and error > share * true:
                sigma = float(balls[i].nonnegative_part().mid().sqrt())
                words = f"σ̂={float(value)!r}, σ={sigma!r}: {float(error / (u * top)):.3g}·u·σ₁"
                yield Finding("direct", i, words)


def _state(subject: Subject) -> Iterator[Finding]:
    """A moment state without its rows promises |λ̂ − λ| ≤ 1e-12·λ₁ (in float64), where its solver is a direct one."""
    if not from_state(subject.solver) or subject.certificate.tol is not None:
        return
    error = subject.truth.relative_error(subject.certificate.values) if subject.top else np.zeros(0)
    taken = subject.merged / subject.top if subject.top else 0.0
    allowed = max(STATE_ERROR, DIRECT_ERROR * subject.roundoff * (1 + taken))
    for i in np.flatnonzero(error > allowed):
        yield Finding("state", int(i), f"off by {error[i]:.3g}·λ₁ > {allowed:.3g}·λ₁")


def _share(subject: Subject) -> Iterator[Finding]:
    """A share of the variance is reached, and not without the last component (an estimate may take more)."""
    share, c, values = subject.case.share, subject.certificate, subject.truth.values
    if share is None or subject.top == 0 or isinstance(subject.case.components(subject.solver, (1, 1)), int):
        return
    k, total = len(c.values), float(subject.truth.total)
    slack = k * (subject.case.tol + 1e-9) * subject.top
    if np.sum(values[:k]) < share * total - slack:
        yield Finding("share", k, f"{k} components hold {np.sum(values[:k]) / total:.6g} < {share:g}")
    if c.kind != "estimate" and np.sum(values[: k - 1]) > share * total + slack:
        yield Finding("share", k, f"{k - 1} components hold {np.sum(values[: k - 1]) / total:.6g} > {share:g}")


def _total(subject: Subject) -> Iterator[Finding]:
    total, true = float(subject.certificate.total), float(subject.truth.total)
    if abs(total - true) > WIDTH * subject.roundoff * (true + subject.merged):
        yield Finding("total", -1, f"total {total!r}, true {true!r}")


def _basis(subject: Subject) -> Iterator[Finding]:
    V = subject.vectors
    defect = float(np.abs(V.T @ V - np.eye(V.shape[1])).max(initial=0.0))
    reported = float(subject.certificate.orthogonality)
    if defect > reported + (4 + V.shape[0]) * subject.stored:  # the reported one is itself rounded
        yield Finding("basis", -1, f"orthogonality defect {defect:.3g}, reported {reported:.3g}")
    if defect > WIDTH * subject.stored:
        yield Finding("basis", -1, f"orthogonality defect {defect:.3g} is large")


def _names(subject: Subject) -> Iterator[Finding]:
    """explained_variance_, its ratio and singular_values_ are one spectrum."""
    model, values = subject.model, np.asarray(subject.certificate.values, dtype=float)
    top = max(subject.top, np.finfo(float).tiny)
    rtol = 8 * float(np.finfo(np.asarray(model.singular_values_).dtype).eps)
    sigma = np.sqrt(np.maximum(values, 0))
    if np.any(np.abs(model.singular_values_ - sigma) > rtol * np.sqrt(top)):
        yield Finding("names", -1, f"singular_values_ {model.singular_values_} but √values {sigma}")
    if subject.case.method != "PCA":
        return
    weights = subject.case.weights(subject.X.shape[0])
    divisor = subject.X.shape[0] - 1 if weights is None else math.fsum([*weights, -1.0])
    variances = np.asarray(model.explained_variance_, dtype=float) * divisor
    largest = max(top, float(np.max(np.abs(values), initial=0.0)))  # rows of 1e8 taken away leave more than there was
    if np.any(np.abs(variances - values) > rtol * largest):
        yield Finding("names", -1, f"explained_variance_·{divisor:g} {variances} but {values}")
    true = float(subject.truth.total)
    slack = 1e3 * rtol + (WIDTH * subject.roundoff * subject.merged / true if true else 0.0)
    if true > 0 and np.any(np.abs(model.explained_variance_ratio_ - values / true) > slack):
        yield Finding("names", -1, f"ratios {model.explained_variance_ratio_} but {values / true}")


def _mean(subject: Subject) -> Iterator[Finding]:
    """mean_ is the weighted mean of the rows, to 2u of itself and 100u of the spread."""
    case, X = subject.case, subject.X
    if case.method != "PCA" or not case.center or not hasattr(subject.model, "mean_"):
        return
    dense = np.asarray(X.toarray() if hasattr(X, "toarray") else X, np.longdouble)
    w = case.weights(X.shape[0])
    w = np.ones(X.shape[0], np.longdouble) if w is None else np.asarray(w, np.longdouble)
    mean = (w @ dense) / w.sum()
    mean += (w @ (dense - mean)) / w.sum()
    spread = np.sqrt((w @ np.square(dense - mean)) / w.sum())
    if subject.solver == "subtract":  # a mean is as good as the spread before allows, and then divided by what is left
        squares, share = subject.before
        scale = np.asarray(subject.model.scale_) if case.scale else 1.0
        spread = np.maximum(spread, np.sqrt(squares / (share * float(w.sum()))) * scale) * share
    slack = 2 * subject.stored * np.abs(mean) + DIRECT_ERROR * subject.roundoff * spread
    for j in np.flatnonzero(np.abs(subject.model.mean_ - mean) > slack):
        yield Finding(
            "mean", int(j), f"mean_ {subject.model.mean_[j]!r}, true {float(mean[j])!r}, allowed {slack[j]:.2g}"
        )


def _verify(subject: Subject) -> Iterator[Finding]:
    certificate, weights = subject.model.certificate_, subject.case.weights(subject.X.shape[0])
    yield from verified(lambda: certificate.verify(subject.X, weights))


def eigenvalues(subject: Subject) -> Iterator[Finding]:
    """eigenvalues_ are the values of the certificate, and each lies in its interval."""
    c, stored = subject.certificate, np.asarray(subject.model.eigenvalues_, float)
    if len(c.values) != len(stored) or np.any(np.abs(stored - c.values) > 1e-6 * max(subject.top, 1e-300)):
        yield Finding("names", -1, f"eigenvalues_ {stored} but certificate {c.values}")
    for i in np.flatnonzero((c.lower > c.values) | (c.values > c.upper)):
        yield Finding("order", int(i), f"value {c.values[i]!r} outside [{c.lower[i]!r}, {c.upper[i]!r}]")


def verified(check: Callable[[], Any]) -> Iterator[Finding]:
    """The heavy check of a model passes."""
    try:
        outcome = check()
        passed = bool(outcome)
    except Exception as error:  # noqa: BLE001  a check that breaks is a finding too
        yield Finding("verify", -1, f"{type(error).__name__}: {error}")
        return
    if not passed:
        yield Finding("verify", -1, "; ".join(str(outcome).splitlines()))


def ratios(subject: Subject) -> Array:
    """Half the width over the true error, for every labelled component with an error."""
    c, balls = subject.certificate, subject.truth.eigenvalues
    result = []
    with precision(BITS):
        for i in np.flatnonzero(np.asarray(c.labelled, dtype=bool) & np.isfinite(c.upper)):
            error = float(abs(balls[i].mid() - float(c.values[i])))
            if error > 0:
                result.append(float(c.upper[i] - c.lower[i]) / 2 / error)
    return np.array(result)
