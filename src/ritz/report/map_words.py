"""Sentences about a map of rows, each said only where its numbers bear it out.

    made      what was mapped, how, and into how many dimensions
    kept      how many neighbours stay neighbours, beside chance and beside PCA of as many dimensions
    bends     whether neighbours are rather false or missing; how many dimensions the rows have

A difference counts where it exceeds ``SURE`` standard errors over rows, and ``SEEN``: rows share neighbours, so that
plain standard errors are too small by a factor of one to two.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ritz.data.words import counted
from ritz.report.html import Html, join, number, percent, tag

if TYPE_CHECKING:
    from ritz.report.context import Context
    from ritz.report.map_trust import MapTrust

__all__ = ["bends_words", "crowded_words", "dimension_words", "kept_words", "map_sentences", "nothing_seen"]

#: Standard errors, and neighbours in a hundred, from which on a difference is told.
SURE, SEEN = 4.0, 0.01
#: Share of neighbours beyond chance below which a map shows next to nothing, where its trustworthiness is nearer to
#: that of chance than this part of the way to 1.
NOTHING, HALFWAY = 0.1, 0.5
#: Share of the rows that is few where it has half of the variance of an axis (of normal coordinates 12 % have it), and
#: rows from which on that is looked at.
CROWDED, ENOUGH = 0.02, 50
#: Difference of trustworthiness and continuity from which on one of them is called the larger fault.
ONE_SIDED = 0.02


def map_sentences(about: Context) -> list[Html]:
    """What was made, what it keeps, and what it must bend."""
    from ritz.report.words import meaning

    trust = about.trust
    words = [_made(about)]
    if trust is not None:
        words.append(kept_words(trust))
        bends = [word for word in (dimension_words(trust), _components(about), crowded_words(about, trust.Y)) if word]
        words += [join(" ".join(bends))] if bends else []
    found = meaning(about)
    return [*words, found] if found else words


def _made(about: Context) -> Html:
    d, n = len(about.columns), about.n if about.of_fit else int(about.model.n_samples_)
    standard = getattr(about.model, "spread_", None) is not None
    columns = f" of {counted(d, 'standardised column' if standard else 'column')}" if d else ""
    neighbours = about.trust.neighbours if about.trust is not None else None
    by = f", from the {neighbours} nearest rows of each" if neighbours else ""
    into = f"a map of {counted(n, 'row')}{columns} in {counted(about.k, 'dimension')}{by}"
    lead = join(f"{about.known.about.title}: {into}")
    terms = about.known.about.component == "term"  # of a tensor: uncertified, and yet shares of the whole
    if not (about.known.certified or terms):
        return join(lead, ". Who is near whom counts; how far groups lie apart and how large they are means little.")
    if not about.known.tells_shares:
        return join(lead, ".")
    stress = getattr(about.model, "stress_", None)
    if stress is not None:  # shares are those of the classical map that the descent began with
        return join(lead, ", of stress ", tag("b", number(stress, 3)), " (0 keeps every distance).")
    held = percent(float(np.sum(about.shares)))
    one, many = ("term", "terms") if terms else ("axis", "axes")
    axes = f"Its {one} holds" if about.k == 1 else f"Its {about.k} {many} hold"
    whole = "the sizes of all eigenvalues" if about.whole == "Σ|λ|" else f"the {about.whole}"
    return join(lead, f". {axes} ", tag("b", held), f" of {whole}.")


def nothing_seen(trust: MapTrust) -> bool:
    """Whether hardly more of the nearest rows are kept than chance would, and those that come near come from far away.

    Of many rows the ten nearest are few, and a map that mixes them up may be right on a larger scale.
    """
    q = trust.spoken
    chance = q.k / (q.n - 1)
    error = float(q.rows_overlap.std(ddof=1)) / np.sqrt(len(q.rows))
    few = (q.overlap - chance) / (1 - chance) < NOTHING or q.overlap - chance < SURE * error
    random = float(q.chance("trustworthiness")[-1])
    return few and (q.trustworthiness - random) / (1 - random) < HALFWAY


def kept_words(trust: MapTrust) -> Html:
    """How many neighbours stay, beside chance and PCA."""
    q, plain = trust.spoken, trust.plain_spoken
    chance = q.k / (q.n - 1)
    sure = "" if q.standard_errors is None else f" ± {number(q.k * q.standard_errors['overlap'], 1)}"
    kept = tag("b", f"{number(q.k * q.overlap, 2)}{sure}")
    first = join(f"Of the {q.k} rows nearest to a row, ", kept, f" are among its {q.k} nearest on the map ",
                 f"({number(q.k * chance, 2)} by chance)")  # fmt: skip
    if q.k == 1:
        first = join("The row nearest to a row is its nearest on the map for ",
                     tag("b", f"{percent(q.overlap)} of the rows"), f" ({percent(chance)} by chance)")  # fmt: skip
    tail = _against(trust, plain)
    if nothing_seen(trust):
        return join(first, ": who lies near whom on this map says next to nothing about the rows", tail)
    return join(first, tail)


def _against(trust: MapTrust, plain: object) -> str:
    q, other = trust.spoken, trust.plain_spoken
    if plain is None or other is None:
        return "."
    name = _plain_name(trust)
    difference = q.rows_overlap - other.rows_overlap
    if not np.any(difference):
        return f"; {name} gives the same map." if np.array_equal(q.coranking, other.coranking) else "."
    mean, error = float(difference.mean()), float(difference.std(ddof=1)) / np.sqrt(len(difference))
    kept = f"does so for {percent(other.overlap)}" if q.k == 1 else f"keeps {number(q.k * other.overlap, 2)}"
    keeps = f"; {name} {kept}"
    if abs(mean) <= max(SURE * error, SEEN):
        return f"{keeps}, which is not told from it: the map shows no more of the nearest rows than {name}."
    if mean < 0:
        return f"{keeps}, more of the nearest rows than this map."
    return f"{keeps}." if nothing_seen(trust) else f"{keeps}: the map shows neighbours that {name} does not."


def _plain_name(trust: MapTrust) -> str:
    from ritz.graphs.spaces.resolve import takes

    many = f"{trust.p} {'dimension' if trust.p == 1 else 'dimensions'}"
    return f"PCA in {many}" if takes(trust.metric) == "vectors" else f"classical scaling in {many}"


def bends_words(trust: MapTrust) -> str:
    """Whether the map has rather false neighbours or missing ones."""
    q = trust.spoken
    near, apart = 1 - q.trustworthiness, 1 - q.continuity
    if near - apart > ONE_SIDED:
        return (
            "It has more false neighbours than missing ones: rows that are not near each other come together, so a "
            "group on the map may be several."
        )
    if apart - near > ONE_SIDED:
        return (
            "It has more missing neighbours than false ones: rows that are near each other go apart, so a gap on the "
            "map may be none."
        )
    return ""


def dimension_words(trust: MapTrust) -> str:
    """How many dimensions the rows have, beside those of the map."""
    found = trust.dimension
    if found is None:
        return ""
    estimates = (found.twonn, found.mle, found.correlation)
    low, high = min(one.low for one in estimates), max(one.high for one in estimates)
    if not np.isfinite(low) or not np.isfinite(high):
        return ""
    about = f"The rows have about {counted(found.consensus, 'dimension')} where they lie"
    between = f" (three estimates with their intervals run from {number(low, 2)} to {number(high, 2)})"
    if low > trust.p + 0.5:
        return f"{about}{between}: {_one(trust.p)} cannot hold them without false or missing neighbours."
    if high < trust.p + 0.5:
        return f"{about}{between}: the map has room for them."
    return f"{about}{between}; the map has {_one(trust.p)}."


def crowded_words(about: Context, Y: np.ndarray) -> str:
    """Which of the first two axes a few rows take for themselves."""
    n, found = len(Y), []
    for i in range(min(2, Y.shape[1])):
        squares = np.sort(np.square(Y[:, i] - Y[:, i].mean()))[::-1]
        few = int(np.searchsorted(np.cumsum(squares), squares.sum() / 2)) + 1
        if n >= ENOUGH and few <= CROWDED * n:
            found.append(f"{few} of the {n:,} rows take half of {about.axes[i]}")
    if not found:
        return ""
    shows = "the axis sets them apart and shows" if len(found) == 1 else "these axes set them apart and show"
    words = " and ".join(found)
    return f"{words[:1].upper()}{words[1:]}: {shows} hardly anything of the others."


def _one(p: int) -> str:
    return {1: "one", 2: "two", 3: "three"}.get(p, str(p))


def _components(about: Context) -> str:
    placed = about.known.row_coordinates()
    lost = 0 if placed is None else int(np.count_nonzero(~np.isfinite(placed).all(axis=1)))
    if lost:
        words = f"{counted(lost, 'row')} outside of the largest component of the graph of neighbours"
        return f"{words} {'is' if lost == 1 else 'are'} not on the map."
    count = int(getattr(about.model, "n_connected_components_", 1) or 1)
    if count < 2:
        return ""
    if getattr(about.model, "disconnected", "apart") == "join":
        return (
            f"The graph of neighbours has {count} components, joined by their shortest links: the distance between "
            "them on the map rests on these links alone."
        )
    return (
        f"The graph of neighbours has {count} components, each placed by itself: rows of different components lie over "
        "each other, and how near they come on the map means nothing."
    )
