"""What a fitted model says: functions of a model, and of rows where they need some.

    choose_rank           how many components: all criteria side by side, with a consensus
    loadings, structure, communalities, top_variables   what components are made of, column by column
    contributions, cos2   shares of rows in axes, and of axes in rows; column_contributions, column_cos2 of columns
    biplot                rows and columns whose inner products are the table
    describe              axes in terms of measurements and categories
    supplementary         variables that took no part, placed among those that did
    rotate                varimax, quartimax, promax, oblimin
    t2, spe, combined     distances of rows in the plane and off it
    limits                how large is too large, for rows of the fit and for new ones
    blame                 which columns made a row an outlier
    outliers              which rows are outliers, with the false discovery rate controlled
    conformal_p, benjamini_hochberg   the two steps of it on scores of one's own
    outlier_map           score distance against orthogonal distance
    bootstrap             intervals of eigenvalues, components, loadings and scores; angles of subspaces
    permutation_test      which components are more than chance, one after another
    clusters              rows in clusters on their components: Ward's tree, k-means, and what sets them apart
    describe_groups       what sets groups of rows apart, with v-tests
    kmo, bartlett_sphericity   whether correlations are worth a factor analysis
    polychoric            correlations behind ordered categories, with thresholds and standard errors
    nearest_correlation   the correlation matrix nearest to one that is none
    compare, align        two models side by side; a new one in the terms of an old one
    embedding_quality     how an embedding distorts neighbourhoods and distances, for all rows and for each
    embedding_stability   how far rows move on maps of some of the rows, for all rows and for each
    neighbourhood_bootstrap   whose neighbours on a map are found again where rows are drawn again
    shepard               distances of pairs of rows against their distances on a map
    coranking, procrustes how often the r-th neighbour became the s-th; one set of coordinates moved onto another
    intrinsic_dimension   how many dimensions rows have where they lie, three estimates with intervals
    neighbourhood_sizes   how many neighbours connect, and what each number does to the picture
    ellipse               confidence ellipses of rows, of their means, and of the points of a correspondence map

Each name brings its module in when it is first read. Many modules are called like their function; a module that is
loaded does not take the function's place here.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from ritz._core.imports import module_of

if TYPE_CHECKING:
    from ritz.insight.adequacy import bartlett_sphericity as bartlett_sphericity
    from ritz.insight.adequacy import kmo as kmo
    from ritz.insight.axes.biplot import biplot as biplot
    from ritz.insight.axes.contributions import column_contributions as column_contributions
    from ritz.insight.axes.contributions import column_cos2 as column_cos2
    from ritz.insight.axes.contributions import contributions as contributions
    from ritz.insight.axes.contributions import cos2 as cos2
    from ritz.insight.axes.describe import describe as describe
    from ritz.insight.axes.loadings import communalities as communalities
    from ritz.insight.axes.loadings import loadings as loadings
    from ritz.insight.axes.loadings import structure as structure
    from ritz.insight.axes.loadings import top_variables as top_variables
    from ritz.insight.axes.rotate import rotate as rotate
    from ritz.insight.axes.supplementary import supplementary as supplementary
    from ritz.insight.bootstrap.bootstrap import bootstrap as bootstrap
    from ritz.insight.bootstrap.permutation import permutation_test as permutation_test
    from ritz.insight.choose_rank import choose_rank as choose_rank
    from ritz.insight.clusters.clusters import clusters as clusters
    from ritz.insight.clusters.groups import describe_groups as describe_groups
    from ritz.insight.compare.align import align as align
    from ritz.insight.compare.compare import compare as compare
    from ritz.insight.compare.gpa import gpa as gpa
    from ritz.insight.compare.reconstruction import reconstruction_errors as reconstruction_errors
    from ritz.insight.embedding.coranking import coranking as coranking
    from ritz.insight.embedding.dimension import intrinsic_dimension as intrinsic_dimension
    from ritz.insight.embedding.neighbourhoods import neighbourhood_bootstrap as neighbourhood_bootstrap
    from ritz.insight.embedding.procrustes import procrustes as procrustes
    from ritz.insight.embedding.quality import embedding_quality as embedding_quality
    from ritz.insight.embedding.shepard import shepard as shepard
    from ritz.insight.embedding.sizes import neighbourhood_sizes as neighbourhood_sizes
    from ritz.insight.embedding.stability import embedding_stability as embedding_stability
    from ritz.insight.ordinal.polychoric import polychoric as polychoric
    from ritz.insight.outliers.map import outlier_map as outlier_map
    from ritz.insight.outliers.outliers import benjamini_hochberg as benjamini_hochberg
    from ritz.insight.outliers.outliers import conformal_p as conformal_p
    from ritz.insight.outliers.outliers import outliers as outliers
    from ritz.insight.repair import nearest_correlation as nearest_correlation
    from ritz.insight.rows.blame import blame as blame
    from ritz.insight.rows.ellipse import ellipse as ellipse
    from ritz.insight.rows.limits import limits as limits
    from ritz.insight.rows.t2 import combined as combined
    from ritz.insight.rows.t2 import spe as spe
    from ritz.insight.rows.t2 import t2 as t2

# Where each public name lives.
_NAMES = {
    "align": "compare.align",
    "bartlett_sphericity": "adequacy",
    "benjamini_hochberg": "outliers.outliers",
    "biplot": "axes.biplot",
    "blame": "rows.blame",
    "bootstrap": "bootstrap.bootstrap",
    "choose_rank": "choose_rank",
    "clusters": "clusters.clusters",
    "column_contributions": "axes.contributions",
    "column_cos2": "axes.contributions",
    "combined": "rows.t2",
    "communalities": "axes.loadings",
    "compare": "compare.compare",
    "conformal_p": "outliers.outliers",
    "contributions": "axes.contributions",
    "coranking": "embedding.coranking",
    "cos2": "axes.contributions",
    "describe": "axes.describe",
    "describe_groups": "clusters.groups",
    "ellipse": "rows.ellipse",
    "embedding_quality": "embedding.quality",
    "embedding_stability": "embedding.stability",
    "gpa": "compare.gpa",
    "intrinsic_dimension": "embedding.dimension",
    "kmo": "adequacy",
    "limits": "rows.limits",
    "loadings": "axes.loadings",
    "nearest_correlation": "repair",
    "neighbourhood_bootstrap": "embedding.neighbourhoods",
    "neighbourhood_sizes": "embedding.sizes",
    "outlier_map": "outliers.map",
    "outliers": "outliers.outliers",
    "permutation_test": "bootstrap.permutation",
    "polychoric": "ordinal.polychoric",
    "procrustes": "embedding.procrustes",
    "reconstruction_errors": "compare.reconstruction",
    "rotate": "axes.rotate",
    "shepard": "embedding.shepard",
    "spe": "rows.t2",
    "structure": "axes.loadings",
    "supplementary": "axes.supplementary",
    "t2": "rows.t2",
    "top_variables": "axes.loadings",
}

__all__ = sorted(_NAMES)


def __getattr__(name: str) -> Any:
    if name in _NAMES:
        return getattr(module_of(f"ritz.insight.{_NAMES[name]}"), name)
    raise AttributeError(f"module 'ritz.insight' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__


class _Names(ModuleType):
    """Keeps public names for functions: Python would set a loaded module ``insight.t2`` as the attribute ``t2``."""

    def __setattr__(self, name: str, value: Any) -> None:
        if not (name in _NAMES and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Names
