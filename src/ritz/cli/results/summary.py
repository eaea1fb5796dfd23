"""What a fit was, for people and for programs.

    describe(...)  →  dict for ``--json`` and the manifest
    show(...)      →  a table of components and a few lines, on stderr

The certificate speaks of eigenvalues of AᵀA; variances and their enclosures are those divided by n − 1.
"""

from __future__ import annotations

import math
import shlex
from typing import TYPE_CHECKING, Any

import numpy as np

from ritz import __version__
from ritz.cli.results.proof import reader_lines
from ritz.cli.terminal.console import put, spoken
from ritz.data.tables.kinds import RUNNING
from ritz.data.words import counted, grouped, percent, shorten

if TYPE_CHECKING:
    from rich.console import Console

    from ritz.cli.fitting.columns import Parts
    from ritz.cli.fitting.fitting import FittedTable
    from ritz.cli.fitting.method import Choice

__all__ = [
    "certificate_sentences", "components_of", "describe", "plan_facts", "possible", "show", "show_components",
    "text_lines", "topic_words",
]  # fmt: skip

SHOWN_COMPONENTS = 20
SHOWN_COLUMNS = 8


def describe(parts: Parts, method: Choice, done: FittedTable, choice: dict[str, Any]) -> dict[str, Any]:
    """Give everything that the summary says as plain values, without times, so that equal runs are equal."""
    from ritz.methods.fitted import fitted_of

    model, table = done.model, parts.whole
    facts: dict[str, Any] = {
        "ritz": __version__,
        "source": table.source,
        "rows": len(table),
        "table_columns": len(table.columns),
        "columns": done.columns,
        "method": method.method,
        "method_reason": method.why,
        **parts.facts(),
        "set_aside": [{"column": name, "reason": reason} for name, reason in _left(parts, method, done)],
        "notes": [spoken(note) for note in table.notes],
    }
    if done.covariance_of is not None:
        facts["covariance_of"] = done.covariance_of
    if done.scaling is not None:
        facts |= {"scaled": done.scaling.scale, "scaling": done.scaling.why}
    if hasattr(model, "target_names_"):
        says = np.asarray(model.y_explained_variance_ratio_, np.float64)
        second = {"columns": [str(name) for name in model.target_names_], "explained": _number(says.sum())}
        rho = getattr(model, "canonical_correlations_", None)
        facts["second_table"] = second if rho is None else {**second, "correlations": [_number(one) for one in rho]}
    kernel = fitted_of(model).kernel
    if kernel is not None:
        facts["kernel"] = repr(kernel)
    facts |= {"choice": choice, **components_of(model), "possible_components": possible(done)}
    return facts | {"certificate": certificate_sentences(model), "plan": plan_facts(model.plan_)}


def components_of(model: Any) -> dict[str, Any]:
    """What the components are, one entry each, and what is measured by their values."""
    from ritz.methods.fitted import fitted_of

    fitted, certificate = fitted_of(model), model.certificate_
    k, divisor, share = fitted.k, fitted.divisor, fitted.shares
    values = certificate.values[:k] / divisor  # in float64, so that the enclosure speaks of the number shown
    half = np.maximum(certificate.upper - certificate.values, certificate.values - certificate.lower)[:k] / divisor
    angles, labelled = np.asarray(certificate.angles)[:k], np.asarray(certificate.labelled)[:k]
    if not fitted.certified:  # the certificate is that of a problem behind the method: its bounds are not of these
        values = np.asarray(getattr(model, "explained_variance_", fitted.values), np.float64)
        half, angles, labelled = np.full(k, np.nan), np.full(k, np.nan), np.ones(k, bool)
    heads = fitted.axis_names()
    gaps = None if fitted.tells_shares else fitted.gaps
    components = [
        {
            "name": heads[i],
            "variance": _number(values[i]),
            "share": _number(share[i]) if gaps is None else None,
            "cumulated": _number(share[: i + 1].sum()) if gaps is None else None,
            **({} if gaps is None else {"gap": _number(gaps[i])}),
            "variance_error": _number(half[i]),
            "angle_error": _number(angles[i]),
            "certified": bool(labelled[i]),
        }
        for i in range(k)
    ]
    told: dict[str, Any] = {"tells": f"{fitted.about.measure} {fitted.about.tells}"} if fitted.about.tells else {}
    if not certificate.bounds_angles:
        told["angles"] = False
    return {**told, "measure": fitted.about.measure, "bounded": fitted.certified, "components": components}


def possible(done: FittedTable) -> int | None:
    """How many components the table has; None where that is not known without computing them."""
    from ritz.methods.fitted import fitted_of

    return fitted_of(done.model).possible(*done.shape)


def _left(parts: Parts, method: Choice, done: FittedTable) -> list[tuple[str, str]]:
    """Columns that took no part, each with the reason; those that the user put to another use are not meant."""
    used = {*done.columns, *(str(name) for name in getattr(done.model, "target_names_", ()))}
    what = {"mca": "numbers; --categorical makes them categories"}.get(method.method, "numbers")
    return [
        (one.name, f"{RUNNING}; {_topics(one.name)}" if one.reason == RUNNING else one.reason or what)
        for one in parts.used.columns
        if one.name not in used and not (method.method == "ca" and one.kind == "identifier")
    ]


def _topics(name: str) -> str:
    """What can be done with running text; a name with spaces stands in quotes that a shell takes."""
    return f"--text {shlex.quote(name)} finds its topics"


def show(facts: dict[str, Any], console: Console, written: str, verbose: bool = False) -> None:
    """Print the summary; ``facts`` may also hold the ``seconds`` that the fit took.

    ``verbose`` has the certificate as it is, and the plan with its reasons.
    """
    from rich.table import Table as Grid
    from rich.text import Text

    from ritz.cli.results.extra import extra_lines

    head = Text(f"{facts['source']}: {_data(facts)}", style="bold")
    table = show_components(facts) if facts["components"] else "\nNo component is kept, so there are no scores.\n"
    lines = Grid.grid(padding=(0, 2))
    lines.add_column(style="bold", no_wrap=True)
    lines.add_column(overflow="fold")
    for item in facts["notes"]:
        lines.add_row("read", Text(item))
    lines.add_row("method", Text(f"{facts['method']}: {facts['method_reason']}"))
    if "second_table" in facts:
        second = facts["second_table"]
        held = percent(second["explained"], 1)
        told = f"{shorten(second['columns'], SHOWN_COLUMNS)}; the components explain {held} of it"
        if "correlations" in second:
            told += (
                f"; canonical correlations {shorten([f'{one:.4f}' for one in second['correlations']], SHOWN_COLUMNS)}"
            )
        lines.add_row("second table", Text(told))
    for role in ("weights", "supplementary"):
        if facts[role]:
            lines.add_row(role, Text(facts[role] if role == "weights" else shorten(facts[role], SHOWN_COLUMNS)))
    if facts["set_aside"]:
        lines.add_row("set aside", Text("\n".join(_aside(facts["set_aside"]))))
    for name, told in text_lines(facts):
        lines.add_row(name, Text(told))
    if "kernel" in facts:
        lines.add_row("kernel", Text(facts["kernel"]))
    if "scaling" in facts:
        lines.add_row("scaling", Text(facts["scaling"]))
    if "tells" in facts:
        lines.add_row("eigenvalues", Text(f"no shares of a variance: an {facts['tells']}"))
    for name, told in extra_lines(facts):
        lines.add_row(name, Text(told))
    if facts["choice"]["why"]:
        lines.add_row("components", Text(_choice(facts["choice"])))
    if verbose:
        lines.add_row("certificate", Text("\n".join(facts["certificate"])))
        lines.add_row("plan", Text(_route(facts)))
    elif facts["components"]:
        lines.add_row("certificate", Text("\n".join(reader_lines(facts))))
    lines.add_row("files", Text(written))
    put(console, head, table, lines)


def show_components(facts: dict[str, Any]) -> Any:
    """A table of the components."""
    from rich import box
    from rich.table import Table as Grid

    grid = Grid(box=box.SIMPLE_HEAD, pad_edge=False)
    measure = facts["measure"]
    bounds: tuple[str, ...] = (f"± {measure}", "angle ≤") if facts["bounded"] else ()
    bounds = bounds if facts.get("angles", True) else bounds[:1]
    gaps = any("gap" in item for item in facts["components"])
    middle = ("gap to next",) if gaps else ("share", "cumulated")
    for title in ("component", measure, *middle, *bounds):
        grid.add_column(title, justify="left" if title == "component" else "right", no_wrap=True)
    for item in facts["components"][:SHOWN_COMPONENTS]:
        error = _figure(item["variance_error"], "{:.1e}") + ("" if item["certified"] else "?")
        angle = _figure(item["angle_error"], "{:.1e}", "gap")
        value = _figure(item["variance"], "{:.5g}")
        shares = (_gap(item),) if gaps else (_percent(item["share"]), _percent(item["cumulated"]))
        grid.add_row(item["name"], value, *shares, *(error, angle)[: len(bounds)])
    hidden = len(facts["components"]) - SHOWN_COMPONENTS
    if hidden > 0:
        grid.add_row(f"… {hidden} more", *[""] * (1 + len(middle) + len(bounds)))
    return grid


def text_lines(facts: dict[str, Any]) -> list[tuple[str, str]]:
    """What is said of texts: their words, documents without any, and the first topics."""
    if "documents" not in facts:
        return []
    lines = [("words", facts["language_reason"]), ("weighting", str(facts["weighting"]))]
    if facts["empty_documents"]:
        n = facts["empty_documents"]
        lines.append(("empty", f"{counted(n, 'document')} without a known word: no search finds "
                               f"{'it' if n == 1 else 'them'}"))  # fmt: skip
    topics = [f"{topic['name']}: {topic_words(topic)}" for topic in facts["topics"]]
    return [*lines, ("topics", "\n".join(topics))] if topics else lines


def topic_words(topic: dict[str, Any]) -> str:
    """``wing, flow − wine, taste``: the words of both ends."""
    ends = [", ".join(item["word"] for item in topic[end]) for end in ("positive", "negative")]
    return " − ".join(end for end in ends if end) if ends[0] else f"− {ends[1]}"


def _data(facts: dict[str, Any]) -> str:
    used, total = len(facts["columns"]), facts["table_columns"]
    columns = counted(total, "column") if used == total else f"{used:,} of {counted(total, 'column')}"
    if "documents" in facts:
        topics = counted(len(facts["components"]), "topic")
        return f"{counted(facts['documents'], 'document')}, {counted(facts['words'], 'word')}, {topics}"
    if "covariance_of" in facts:
        matrix = f"a covariance matrix of {counted(used, 'column')} from {counted(facts['covariance_of'], 'row')}"
        k, all_of = len(facts["components"]), facts["possible_components"]
        return f"{matrix}, {f'all {k}' if k == all_of else f'{k} of {all_of}'} components"
    if "shape" in facts:
        return f"a tensor of {' × '.join(f'{n:,}' for n in facts['shape'])}"
    k, possible = len(facts["components"]), facts["possible_components"]
    components = counted(k if possible is None else possible, "component")
    every = f"all {components}" if possible not in (None, 1) else components
    shown = every if possible is None or k == possible else f"{k} of {components}"
    if possible is not None and k > possible:  # a centred table of n rows has n − 1, and zeros beyond
        shown = f"{k} components, of which {possible} can vary"
    return f"{counted(facts['rows'], 'row')}, {columns}, {shown}"


def _choice(choice: dict[str, Any]) -> str:
    if choice["rule"] is None:
        return str(choice["why"])
    return f"by {'the share of the variance' if choice['rule'] == 'fraction' else choice['rule']}: {choice['why']}"


def _aside(items: list[dict[str, str]]) -> list[str]:
    """One line for each reason, with the columns that share it."""
    return grouped([(item["column"], item["reason"]) for item in items], SHOWN_COLUMNS)


def certificate_sentences(model: Any) -> list[str]:
    """Keep what is proved, and of what; cost and repeated figures are left to the plan and the table."""
    from ritz.methods.fitted import fitted_of

    fitted = fitted_of(model)
    whose = f"of {fitted.about.behind}; the {fitted.about.measures} above have no interval of their own"
    lines = [line for line in model.certificate_.sentences() if "over the data" not in line]
    return lines if fitted.certified or not fitted.about.behind else [whose, *lines]


def plan_facts(plan: Any) -> dict[str, Any]:
    """Keep the route and its reasons; predicted and real seconds would differ from run to run."""
    return {
        "solver": plan.solver,
        "side": plan.side,
        "precision": plan.precision,
        "passes": plan.actual_passes,
        "reasons": list(plan.reasons),
    }


def _route(facts: dict[str, Any]) -> str:
    from ritz.spectral.plan import reason_lines

    plan = facts["plan"]
    passes = f"{plan['passes']} pass{'es' if plan['passes'] != 1 else ''} over the data"
    seconds = f" in {facts['seconds']:.2g} s" if facts.get("seconds") is not None else ""
    head = f"{plan['solver']} on the {plan['side']}, {plan['precision']}, {passes}{seconds}"
    return "\n".join([head, *reason_lines(plan["reasons"])])


def _number(value: Any) -> float | None:
    return float(value) if math.isfinite(value) else None


def _figure(value: float | None, form: str, missing: str = "?") -> str:
    return missing if value is None else form.format(value)


def _gap(item: dict[str, Any]) -> str:
    """The gap to the next eigenvalue, which for the last axis is known from below."""
    return _figure(item["gap"], "{:.2g}")


def _percent(value: float | None) -> str:
    return "?" if value is None else f"{100 * value:.1f} %"
