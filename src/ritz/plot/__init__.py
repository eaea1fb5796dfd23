"""Pictures of fitted models, as matplotlib Axes.

    biplot           rows as points and columns as arrows, in a named scaling
    circle           columns by their correlations with two components
    clusters, tree   rows in the colours of their clusters, and the tree that they are cut from
    contributions    the largest contributions or cos² of columns or rows, as bars
    coranking        how often the r-th neighbour of a row became the s-th on a map
    distortion       a map, coloured by which neighbourhoods it tears or presses
    neighbourhoods   a map with several numbers of neighbours, side by side
    shepard          distances of pairs of rows against their distances on a map
    trust            neighbours that maps keep, over how many, beside chance
    component_maps   fᵢ(x) over the plane of two-dimensional rows, one picture a component
    group_map        groups of columns of an MFA by how much of two axes each holds
    intervals        loadings of the columns with the intervals of a bootstrap
    map              rows and columns of a table of the correspondence family in one plane
    outlier_map      how far rows lie in the plane against how far off it, with cut-offs
    scores           rows in the plane of two components: colours by a column, names beside the points
    scree            how much each component holds, with the lines of rules or with intervals
    space            rows on three components
    topics           words of the topics of texts, as bars
    variables        variables by how closely they go with two axes: r² and η²
    words            words in the plane of two topics
    house            a context in which figures of one's own have the house style

Every function takes Axes of one's own in ``ax`` and then changes nothing else about the figure. matplotlib is loaded by
the first picture, not by ``import ritz``; it comes with ``pip install 'ritz[plot]'``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ritz._core.imports import module_of

if TYPE_CHECKING:
    from ritz.plot.arrows import biplot as biplot
    from ritz.plot.arrows import circle as circle
    from ritz.plot.cluster_map import clusters as clusters
    from ritz.plot.cluster_map import tree as tree
    from ritz.plot.distances import outlier_map as outlier_map
    from ritz.plot.map_quality import coranking as coranking
    from ritz.plot.map_quality import distortion as distortion
    from ritz.plot.map_quality import neighbourhoods as neighbourhoods
    from ritz.plot.map_quality import shepard as shepard
    from ritz.plot.map_quality import trust as trust
    from ritz.plot.maps import component_maps as component_maps
    from ritz.plot.points import scores as scores
    from ritz.plot.shares import contributions as contributions
    from ritz.plot.shares import group_map as group_map
    from ritz.plot.shares import variables as variables
    from ritz.plot.spectrum import intervals as intervals
    from ritz.plot.spectrum import scree as scree
    from ritz.plot.style import house as house
    from ritz.plot.table_map import map as map
    from ritz.plot.texts import topics as topics
    from ritz.plot.texts import words as words
    from ritz.plot.three import space as space

_NAMES = {
    "biplot": "arrows",
    "circle": "arrows",
    "clusters": "cluster_map",
    "component_maps": "maps",
    "contributions": "shares",
    "coranking": "map_quality",
    "distortion": "map_quality",
    "group_map": "shares",
    "house": "style",
    "intervals": "spectrum",
    "map": "table_map",
    "neighbourhoods": "map_quality",
    "outlier_map": "distances",
    "scores": "points",
    "scree": "spectrum",
    "shepard": "map_quality",
    "space": "three",
    "topics": "texts",
    "tree": "cluster_map",
    "trust": "map_quality",
    "variables": "shares",
    "words": "texts",
}

__all__ = sorted(_NAMES)


def __getattr__(name: str) -> Any:
    if name in _NAMES:
        return getattr(module_of(f"ritz.plot.{_NAMES[name]}"), name)
    raise AttributeError(f"module 'ritz.plot' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
