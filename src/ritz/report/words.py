"""The answer in three sentences of plain words, each true for this model and these rows.

    much      how much the first components hold, and how many it takes for 80 %
    meaning   what the first two are made of, where they are more than chance (``evidence.py``); otherwise that none is
    trust     how many components the rules settle on, and which rows are outliers

Nothing is claimed that was not computed: a clause whose numbers are not known is left out, and so is one that noise
would bear out as well.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ritz.data.words import counted, spelled
from ritz.report.findings import KERNEL_ROWS, SAMPLE
from ritz.report.html import Html, bdi, join, number, percent, tag
from ritz.report.row_words import outlier_clause

if TYPE_CHECKING:
    from ritz.report.context import Context
    from ritz.report.evidence import Evidence

__all__ = ["axes_words", "axis_words", "enough", "frame_words", "listed", "meaning", "much", "nothing", "numbers_of",
           "scree_words", "sentences",           "trust", "untested"]  # fmt: skip

#: The share that counts as most of it.
MOST = 0.8
#: Columns that are named for a component, the least share of it that a named one has, and what makes them most of it.
NAMED, LEAST, MOSTLY = 3, 0.08, 0.5
#: Share of a component below which not even its largest columns are named, where there are so many columns.
FEW, MANY = 0.02, 100
#: Share of a component from which on one column is all of it.
ALONE = 0.8
#: Correlation with a column below which an axis of a map is not said to follow it.
FOLLOWS = 0.5
#: Share of the weight from which on the median of the rules is an answer.
AGREED = 0.5
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
        more = "" if take <= 2 else f"the first {spelled(take)} {percent(float(np.sum(shares[:take])))}"
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
        return f"In {rows}{comma} of {_encoded_words(about)}"
    return f"In {rows}{comma} of {d:,} {frame_words(about)}{'column' if d == 1 else 'columns'}"


def _encoded_words(about: Context) -> str:
    """``4 columns of numbers and 3 of categories (9 levels)``."""
    numbers, words, levels = about.column_counts
    if not numbers + words:
        return f"{len(about.columns):,} {about.pieces}"
    of_words = f"of categories ({counted(levels, 'level')})"
    if not numbers:
        return f"{counted(words, 'column')} {of_words}"
    of_numbers = f"{counted(numbers, 'column')} of numbers"
    return f"{of_numbers} and {words:,} {of_words}" if words else of_numbers


def kernel_words(about: Context) -> str:
    """The kernel by name, with its γ where it has one."""
    kernel = getattr(about.model, "kernel_", None)
    name = {"RBF": "the RBF kernel"}.get(type(kernel).__name__, f"the {type(kernel).__name__.lower()} kernel")
    gamma = getattr(about.model, "gamma_", None)
    return f"{name} (γ = {number(gamma)})" if isinstance(gamma, (int, float)) else name


def meaning(about: Context) -> Html | None:
    """What the components that are more than chance are made of, the first two at most; or that none is."""
    if not about.k:
        return None
    told = about.evidence
    if told is not None and told.count == 0 and about.shares[0] > ROUNDING:
        return nothing(about)
    clauses = [
        words
        for i in range(min(2, about.k))
        if (about.beyond_chance(i) or not about.shares[0] > ROUNDING) and (words := axis_words(about, i)) is not None
    ]
    if not clauses:
        return None
    sentence = join(*[piece for i, words in enumerate(clauses) for piece in (("; " if i else ""), words)], ".")
    return join(sentence, turning(about), untested(about))


def nothing(about: Context) -> Html:
    """That chance would give as much, with the figures that were compared."""
    told = about.evidence
    if told is None:
        return Html("")
    lead = tag("b", "Nothing was found that chance would not give")
    words = f": {compared(about, told)} holds {percent(told.share)} of the {about.whole}, and {told.words}."
    return join(lead, words, f" So the {about.component_plural} are not interpreted here.", _one_column(about))


def compared(about: Context, told: Evidence) -> str:
    """What was held against chance: the first component, unless its share shows that it was another one."""
    if percent(told.share) == percent(about.shares[0]):
        return f"the first {about.component}"
    rows = "the rows that were compared" if about.n > (KERNEL_ROWS if about.kernel else SAMPLE) else "the columns"
    return f"the first {'principal component' if about.linear else about.component} of {rows}"


def _one_column(about: Context) -> Html | None:
    """That the first component is one column alone: wide columns in units of their own need nothing in common."""
    if not about.linear or getattr(about.model, "scale_", None) is not None:
        return None
    squares = np.square(about.loadings[:, 0])
    best, total = int(np.argmax(squares)), float(squares.sum())
    if not total > 0 or squares[best] < ALONE * total or len(squares) < 2:
        return None
    column = bdi(about.columns[best], 40)
    return join(f" {about.axes[0]} is nearly the column ", column, f" alone ({percent(squares[best] / total)} of it), ",
                "which varies most in its unit.")  # fmt: skip


def untested(about: Context) -> str:
    """That nobody looked whether components are more than chance."""
    if about.evidence is not None or about.maps:
        return ""
    return f" Whether the {about.component_plural} are more than chance was not tested."


def turning(about: Context) -> str:
    """A warning where a gap is too small for a direction: every rotation among equal components is as good."""
    certificate = getattr(about.model, "certificate_", None)
    if certificate is None or not about.known.projects:
        return ""
    count = min(2, about.k, len(certificate.angles))
    sure = np.isfinite(certificate.angles)
    spoken_of = [i for i in range(count) if about.shares[i] > ROUNDING and about.beyond_chance(i)]
    loose = [about.axes[i] for i in spoken_of if not sure[i]]
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
    sides = join(listed(high), " against ", listed(low)) if high and low else listed(high or low)
    if len(order) == len(contributions) > 1:  # every column: a share would say nothing
        return join(name, " sets ", sides) if high and low else join(name, " runs from low to high ", sides)
    if share < FEW and len(contributions) >= MANY:
        return join(name, f" is spread over many columns: none of {len(contributions):,} holds more than ",
                    f"{percent(float(contributions.max()))} of it")  # fmt: skip
    if share < MOSTLY:
        return join(name, " is spread over many columns, led by ", sides, together)
    if high and low:
        return join(name, " sets ", sides, together)
    return join(name, " is mostly ", listed(high or low), together)


def axes_words(about: Context, count: int) -> list[Html]:
    """A sentence on each of the first components that is more than chance, and one on those that are not."""
    empty = [not share > ROUNDING for share in about.shares[:count]]
    told = [
        join(words, ".") for i in range(count)
        if (empty[i] or about.beyond_chance(i)) and (words := axis_words(about, i))
    ]  # fmt: skip
    evidence = about.evidence
    if evidence is None or evidence.count >= about.k or not about.shares[0] > ROUNDING:
        return told
    if evidence.count == 0:
        return [join(f"No {about.component} is more than chance, so that none is described."), *told]
    rest = [name for name, share in zip(about.axes, about.shares, strict=False) if share > ROUNDING][evidence.count :]
    if not rest:
        return told
    which = rest[0] if len(rest) == 1 else f"{rest[0]} to {rest[-1]}"
    return [*told, join(f"{which} {'is' if len(rest) == 1 else 'are'} not told from chance.")]


def scree_words(about: Context) -> list[str]:
    """What the rules say about the number of components, and how many are more than chance."""
    ranks, told = about.ranks, about.evidence
    words = [] if ranks is None or not ranks.reasons else [ranks.reasons[0]]
    if told is not None:
        if told.count == 0:
            first, what = f"Not even the first {about.component} is more than chance", compared(about, told)
            it = "it" if what == f"the first {about.component}" else what
            words.append(f"{first}: {it} holds {percent(told.share)}, and {told.words}.")
        else:
            many = min(told.count, about.k)
            who = f"The first {about.component} is" if many == 1 else f"The first {about.components(many)} are"
            what = compared(about, told)
            other = "" if what == f"the first {about.component}" else f"{what} holds {percent(told.share)}, and "
            words.append(f"{who} more than chance at the 5\u00a0% level: {other}{told.words} for the first.")
    return words or [f"The share of each {about.component} in the {about.whole}."]


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
    if best is not None:
        if abs(best[0]) < FOLLOWS:
            return None
        return join(name, " follows ", bdi(best[1], 40), f" most closely (correlation {number(best[0], 2)})")
    if about.maps:
        return None
    low, high = int(np.argmin(score)), int(np.argmax(score))
    return join(name, " runs from ", bdi(about.row_name(low), 40), " to ", bdi(about.row_name(high), 40))


def trust(about: Context) -> Html | None:
    """How many components to believe, and which rows are outliers."""
    clauses = [clause for clause in (_rank_clause(about), outlier_clause(about)) if clause is not None]
    if not clauses:
        return None
    words = join(*[piece for i, clause in enumerate(clauses) for piece in ("; " if i else "", clause)], ".")
    return Html(words[:1].upper() + words[1:])


def _rank_clause(about: Context) -> Html | None:
    """The weighted median of the rules, as an answer only where half of the weight or more is behind it."""
    if about.ranks is None:
        return None
    k = about.ranks.consensus
    votes = [(row.k, about.ranks[row.criterion].weight) for row in about.ranks.table if row.k is not None]
    votes = [(answer, weight) for answer, weight in votes if weight > 0]
    if not votes:
        return None
    answers = sorted({answer for answer, _ in votes})
    told = about.evidence
    if told is not None and told.count == 0 and k > 0:
        return join(
            f"the weighted median of the rules for the number of components is {k}, but none is told from chance"
        )
    if k == 0 and told is not None and told.count > 0:
        return join("read this with care: the rules for the number of components, weighed, find ", tag("b", "none"),
                    f", although {listed(about.axes[: min(told.count, about.k)])} "
                    f"{'is' if told.count == 1 else 'are'} beyond chance at the 5\u00a0% level")  # fmt: skip
    if len(answers) == 1:
        return join("all rules with a vote find ", tag("b", about.components(k)))
    agreed = sum(weight for answer, weight in votes if answer == k) / sum(weight for _, weight in votes)
    spread = f"their answers run from {answers[0]} to {answers[-1]}"
    if agreed < AGREED:
        return join(f"the rules for the number of components disagree: {spread}, and their weighted median is {k}, "
                    f"which {percent(agreed)} of the weight is behind")  # fmt: skip
    return join("weighing the rules for the number of components gives ", tag("b", about.components(k)),
                f" ({percent(agreed)} of the weight; {spread})")  # fmt: skip


def numbers_of(result: Any) -> Any:
    """The numbers of a named result, whatever library of frames it came in."""
    if isinstance(result, np.ndarray):
        return result
    import narwhals as nw

    frame = nw.from_native(result, eager_only=True)
    return frame.select([name for name in frame.columns if name not in ("row", "column")]).to_numpy()
