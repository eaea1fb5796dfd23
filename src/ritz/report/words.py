"""The answer in three sentences of plain words, each true for this model and these rows.

    much      how much the first components hold, and how many it takes for 80 %
    meaning   what the first two are made of, from contributions, correlations or extreme rows
    trust     how many components the rules settle on, and which rows are odd

Nothing is claimed that was not computed: a clause whose numbers are not known is left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ritz.data.words import counted
from ritz.report.findings import FDR
from ritz.report.html import Html, bdi, join, number, percent, tag

if TYPE_CHECKING:
    from ritz.report.context import Context

__all__ = ["axis_words", "enough", "frame_words", "listed", "meaning", "much", "numbers_of", "sentences", "trust"]

#: The share that counts as most of it.
MOST = 0.8
#: Columns that are named for a component, the least share of it that a named one has, and what makes them most of it.
NAMED, LEAST, MOSTLY = 3, 0.08, 0.5
#: Correlation with a column below which an axis of a map is not said to follow it.
FOLLOWS = 0.5
#: Share of the whole below which a component is rounding.
ROUNDING = 1e-12


def sentences(about: Context) -> list[Html]:
    """The three sentences; fewer where there is nothing to say."""
    if about.texts:
        from ritz.report.text_words import text_sentences

        return text_sentences(about)
    if about.maps:
        from ritz.report.map_words import map_sentences

        return map_sentences(about)
    every = [much(about), meaning(about), trust(about)]
    return [sentence for sentence in every if sentence]


def listed(items: list[Any]) -> Html:
    """``a, b and c``."""
    parts = [item if isinstance(item, Html) else Html(join(item)) for item in items]
    if len(parts) < 2:
        return join(*parts)
    return join(*[text for i, item in enumerate(parts[:-1]) for text in (", " if i else "", item)], " and ", parts[-1])


def enough(shares: Any, wanted: float = MOST) -> int | None:
    """The smallest number of components that hold ``wanted`` of the whole; None where all together do not."""
    reached = np.flatnonzero(np.cumsum(shares) >= wanted - 1e-12)
    return int(reached[0]) + 1 if len(reached) else None


def frame_words(about: Context) -> str:
    """What was done to the columns before, as an adjective."""
    if about.correspondence or about.kernel or about.maps:
        return ""
    scaled = getattr(about.model, "scale_", None) is not None
    return "standardised " if scaled else "uncentred " if about.whole == "sum of squares" else ""


def much(about: Context) -> Html:
    """How much the first components hold."""
    n, shares = about.n, about.shares
    if not about.k:
        return join(f"No {about.component} was kept of {n:,} rows.")
    where = _data_words(about)
    first = join(tag("b", percent(shares[0])), f" of the {about.whole}")
    if about.k == 1:
        return join(f"{where}, the first {about.component} holds ", first, ".")
    two = float(np.sum(shares[:2]))
    take = enough(shares)
    if take is None:
        more = f"all {about.components(about.k)} together {percent(float(np.sum(shares)))}" if about.k > 2 else ""
    else:
        more = "" if take <= 2 else f"{take} hold {percent(float(np.sum(shares[:take])))}"
    parts = [join("the first two ", tag("b", percent(two))), more] if more else [join("the first two ", percent(two))]
    return join(f"{where}, the first {about.component} holds ", first, ", ", listed(parts), ".")


def _data_words(about: Context) -> str:
    d, fit = len(about.columns), about.of_fit
    n = about.n if fit else int(about.model.n_samples_)  # shares are those of the fit, whatever rows are looked at
    many = counted(n, "weighted row" if about.weighted else "row")
    rows, comma = (many, "") if fit else (f"the {many} of the fit", ",")
    if about.known.about.takes == "counts":
        return f"In {'this' if fit else 'the'} table of {rows} and {d:,} columns of counts"
    if about.kernel:
        return f"Among {rows}, compared by {kernel_words(about)}"
    if about.correspondence:
        variables = len(getattr(about.model, "feature_names_in_", ())) or d
        return f"In {rows}{comma} of {variables:,} columns ({d:,} {about.pieces})"
    return f"In {rows}{comma} of {d:,} {frame_words(about)}{'column' if d == 1 else 'columns'}"


def kernel_words(about: Context) -> str:
    """The kernel by name, with its γ where it has one."""
    kernel = getattr(about.model, "kernel_", None)
    name = {"RBF": "the RBF kernel"}.get(type(kernel).__name__, f"the {type(kernel).__name__.lower()} kernel")
    gamma = getattr(about.model, "gamma_", None)
    return f"{name} (γ = {number(gamma)})" if isinstance(gamma, (int, float)) else name


def meaning(about: Context) -> Html | None:
    """What the first two components are made of."""
    if not about.k:
        return None
    clauses = [words for i in range(min(2, about.k)) if (words := axis_words(about, i)) is not None]
    if not clauses:
        return None
    sentence = join(*[piece for i, words in enumerate(clauses) for piece in (("; " if i else ""), words)], ".")
    return join(sentence, turning(about))


def turning(about: Context) -> str:
    """A warning where a gap is too small for a direction: every rotation among equal components is as good."""
    certificate = getattr(about.model, "certificate_", None)
    if certificate is None or not about.known.projects:
        return ""
    count = min(2, about.k, len(certificate.angles))
    sure = np.isfinite(certificate.angles)
    loose = [about.axes[i] for i in range(count) if about.shares[i] > ROUNDING and not sure[i]]
    if not loose:
        return ""
    verb = "is as large as its neighbour" if len(loose) == 1 else "are as large as their neighbours"
    return f" But {listed(loose)} {verb}, so the direction is one of many that would serve as well."


def axis_words(about: Context, i: int) -> Html | None:
    """``PC1 is mostly flavanoids and total_phenols against malic_acid (61 % of it)``."""
    name = tag("b", about.axes[i])
    if about.kernel or about.maps:
        return _kernel_words(about, i, name)
    if about.correspondence:
        values, shares = numbers_of(about.model.column_coordinates_), numbers_of(about.model.column_contributions_)
    else:
        values = about.loadings
        squares = np.square(values)
        with np.errstate(invalid="ignore", divide="ignore"):
            shares = squares / squares.sum(axis=0)
    if not about.shares[i] > ROUNDING:
        return join(name, f" holds nothing of the {about.whole}")
    side, contributions = values[:, i], shares[:, i]
    least = min(LEAST, float(contributions.max()))
    order = [j for j in np.argsort(-contributions, kind="stable")[:NAMED].tolist() if contributions[j] >= least]
    if not order or not np.isfinite(contributions[order]).all():
        return None
    high = [bdi(about.columns[j], 40) for j in order if side[j] >= 0]
    low = [bdi(about.columns[j], 40) for j in order if side[j] < 0]
    share = float(np.sum(contributions[order]))
    together = f" (together {percent(share)} of it)" if len(order) > 1 else f" ({percent(share)} of it)"
    if share < MOSTLY:
        return join(name, " is spread over many columns, led by ", listed(high + low), together)
    if high and low:
        return join(name, " sets ", listed(high), " against ", listed(low), together)
    return join(name, " is mostly ", listed(high or low), together)


def _kernel_words(about: Context, i: int, name: Html) -> Html | None:
    """The column that a component follows most closely, or the rows between which it runs."""
    if about.rows is None or i >= about.offered:
        return None
    score = about.scores[:, i]
    best: tuple[float, str] | None = None
    for column, values in about.rows.columns(about.part):
        array = np.asarray(values)
        if array.dtype.kind not in "fiu" or not about.uses(column) or len(array) != len(score):
            continue
        finite = np.isfinite(array.astype(np.float64))
        if finite.sum() > 2 and np.std(array[finite]) > 0 and np.std(score[finite]) > 0:
            r = float(np.corrcoef(array[finite], score[finite])[0, 1])
            best = (r, column) if best is None or abs(r) > abs(best[0]) else best
    if about.maps and (best is None or abs(best[0]) < FOLLOWS):
        return None
    if best is not None:
        return join(name, " follows ", bdi(best[1], 40), f" most closely (correlation {number(best[0], 2)})")
    low, high = int(np.argmin(score)), int(np.argmax(score))
    return join(name, " runs from ", bdi(about.row_name(low), 40), " to ", bdi(about.row_name(high), 40))


def trust(about: Context) -> Html | None:
    """How many components to believe, and which rows are odd."""
    clauses = [clause for clause in (_rank_clause(about), _odd_clause(about)) if clause is not None]
    if not clauses:
        return None
    words = join(*[piece for i, clause in enumerate(clauses) for piece in ("; " if i else "", clause)], ".")
    return Html(words[:1].upper() + words[1:])


def _rank_clause(about: Context) -> Html | None:
    if about.ranks is None:
        return None
    k = about.ranks.consensus
    answers = sorted(
        {row.k for row in about.ranks.table if row.k is not None and about.ranks[row.criterion].weight > 0}
    )
    if not answers:
        return None
    if len(answers) == 1:
        return join("All rules with a vote find ", tag("b", about.components(k)))
    spread = f" (their answers run from {answers[0]} to {answers[-1]})"
    return join("Weighing the rules for the number of components gives ", tag("b", about.components(k)), spread)


def _odd_clause(about: Context) -> Html | None:
    odd = about.odd
    if odd is None:
        return None
    rate = f"a false discovery rate of {100 * FDR:.0f}\u00a0%"
    if odd.outliers is None:
        if not odd.limited:
            return None
        count = int(np.count_nonzero(odd.beyond))
        return join(f"{count:,} of {len(odd.inside):,} rows lie beyond a 97.5\u00a0% limit")
    count = len(odd.outliers.rows)
    if not count:
        return join(f"no row is odd at {rate}")
    place = int(odd.outliers.rows[0])
    shown = int(np.searchsorted(about.index, place))
    there = shown < len(about.index) and int(about.index[shown]) == place
    name = about.row_name(shown) if there else f"row {place + 1:,}"
    verb = "is" if count == 1 else "are"
    most = join(": ", bdi(name, 40)) if count == 1 else join(", ", bdi(name, 40), " most of all")
    return join(tag("b", f"{count:,} of {len(odd.inside):,} rows {verb} odd"), f" at {rate}", most)


def numbers_of(result: Any) -> Any:
    """The numbers of a named result, whatever library of frames it came in."""
    if isinstance(result, np.ndarray):
        return result
    import narwhals as nw

    frame = nw.from_native(result, eager_only=True)
    return frame.select([name for name in frame.columns if name not in ("row", "column")]).to_numpy()
