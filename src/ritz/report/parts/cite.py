"""How to cite: the library, and the paper behind the method."""

from __future__ import annotations

from ritz import __version__
from ritz.report.context import Context
from ritz.report.html import join, tag
from ritz.report.part import Content, Part, always

__all__ = ["PART"]

PAPERS = {
    "PCA": "K. Pearson, On lines and planes of closest fit to systems of points in space, "
    "Philosophical Magazine 2 (1901), 559–572.",
    "SVD": "C. Eckart and G. Young, The approximation of one matrix by another of lower rank, "
    "Psychometrika 1 (1936), 211–218.",
    "KernelPCA": "B. Schölkopf, A. Smola and K.-R. Müller, Nonlinear component analysis as a kernel eigenvalue "
    "problem, Neural Computation 10 (1998), 1299–1319.",
    "CA": "M. Greenacre, Theory and Applications of Correspondence Analysis, Academic Press, 1984.",
    "MCA": "M. Greenacre and J. Blasius (eds.), Multiple Correspondence Analysis and Related Methods, "
    "Chapman & Hall/CRC, 2006.",
    "FAMD": "J. Pagès, Analyse factorielle de données mixtes, Revue de statistique appliquée 52 (2004), 93–111.",
    "MFA": "B. Escofier and J. Pagès, Multiple factor analysis, "
    "Computational Statistics & Data Analysis 18 (1994), 121–140.",
    "RobustPCA": "M. Hubert, P. J. Rousseeuw and K. Vanden Branden, ROBPCA: a new approach to robust principal "
    "component analysis, Technometrics 47 (2005), 64–79.",
    "SparsePCA": "H. Zou, T. Hastie and R. Tibshirani, Sparse principal component analysis, "
    "Journal of Computational and Graphical Statistics 15 (2006), 265–286.",
    "FactorAnalysis": "D. N. Lawley and A. E. Maxwell, Factor Analysis as a Statistical Method, 2nd ed., "
    "Butterworths, 1971.",
}
BIBTEX = """@software{{ritz,
  title   = {{Ritz: component analysis whose answers carry their proof}},
  author  = {{{{The Ritz developers}}}},
  version = {{{version}}}
}}"""


def _build(about: Context) -> Content:
    own = f"The Ritz developers, Ritz: component analysis whose answers carry their proof, version {__version__}."
    items = [tag("li", own), tag("li", PAPERS[about.method]) if about.method in PAPERS else None]
    return Content(join(tag("ul", items), tag("pre", tag("code", BIBTEX.format(version=__version__)))))


PART = Part("cite", "How to cite", always, _build)
