"""Ritz: component analysis whose answers carry their proof.

Every method is one spectral problem:

    rows → operator A → (solver) → Ritz pairs + certificate → coordinates, reconstruction

    pca = ritz.PCA(n_components=0.9).fit(X)
    pca.certificate_        # how far each answer can be from the truth
    pca.plan_               # which solver found it, why, and at what cost

This is the only file that names things across layers. It does so lazily: ``import ritz`` loads neither
scikit-learn nor SciPy, and a public name brings its module in when it is first read.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from ritz._core.imports import module_of as _module_of

if TYPE_CHECKING:
    from ritz import insight as insight
    from ritz import kernels as kernels
    from ritz import plot as plot
    from ritz import report as report
    from ritz import testing as testing
    from ritz import text as text
    from ritz._core.errors import AccuracyWarning as AccuracyWarning
    from ritz._core.errors import Cancelled as Cancelled
    from ritz._core.errors import ColumnsSetAside as ColumnsSetAside
    from ritz._core.errors import ConstantColumnWarning as ConstantColumnWarning
    from ritz._core.errors import DataChanged as DataChanged
    from ritz._core.errors import DigitsLost as DigitsLost
    from ritz._core.errors import DisconnectedGraph as DisconnectedGraph
    from ritz._core.errors import DoubtfulReading as DoubtfulReading
    from ritz._core.errors import EmptyDocuments as EmptyDocuments
    from ritz._core.errors import EmptyProfiles as EmptyProfiles
    from ritz._core.errors import FileCutOff as FileCutOff
    from ritz._core.errors import FileError as FileError
    from ritz._core.errors import FilesSetAside as FilesSetAside
    from ritz._core.errors import GammaAtEdge as GammaAtEdge
    from ritz._core.errors import IdentifiersAsCategories as IdentifiersAsCategories
    from ritz._core.errors import InputError as InputError
    from ritz._core.errors import IntegersAsNumbers as IntegersAsNumbers
    from ritz._core.errors import JournalIgnored as JournalIgnored
    from ritz._core.errors import LSIDrift as LSIDrift
    from ritz._core.errors import MatrixAsRows as MatrixAsRows
    from ritz._core.errors import MemoryLimitError as MemoryLimitError
    from ritz._core.errors import MergeError as MergeError
    from ritz._core.errors import MissingDependency as MissingDependency
    from ritz._core.errors import NegativeEigenvalues as NegativeEigenvalues
    from ritz._core.errors import NoAssociation as NoAssociation
    from ritz._core.errors import NoComponents as NoComponents
    from ritz._core.errors import NonFiniteError as NonFiniteError
    from ritz._core.errors import ParameterError as ParameterError
    from ritz._core.errors import RitzError as RitzError
    from ritz._core.errors import RitzWarning as RitzWarning
    from ritz._core.errors import UnusedParameter as UnusedParameter
    from ritz._core.errors import WideEnclosure as WideEnclosure
    from ritz.data.tables.read import read as read
    from ritz.data.tables.table import Table as Table
    from ritz.graphs.neighbours import Neighbours as Neighbours
    from ritz.insight.choose_rank import choose_rank as choose_rank
    from ritz.methods.correspondence.ca.ca import CA as CA
    from ritz.methods.correspondence.famd.famd import FAMD as FAMD
    from ritz.methods.correspondence.mca.mca import MCA as MCA
    from ritz.methods.correspondence.mfa.mfa import MFA as MFA
    from ritz.methods.factor_analysis.factor_analysis import FactorAnalysis as FactorAnalysis
    from ritz.methods.ica.ica import ICA as ICA
    from ritz.methods.kernel_pca.kernel_pca import KernelPCA as KernelPCA
    from ritz.methods.lsi.judged import choose_hybrid as choose_hybrid
    from ritz.methods.lsi.lsi import LSI as LSI
    from ritz.methods.manifold.diffusion import DiffusionMaps as DiffusionMaps
    from ritz.methods.manifold.isomap import Isomap as Isomap
    from ritz.methods.manifold.laplacian import LaplacianEigenmaps as LaplacianEigenmaps
    from ritz.methods.manifold.lle import LLE as LLE
    from ritz.methods.manifold.mds import MDS as MDS
    from ritz.methods.manifold.mvu import MVU as MVU
    from ritz.methods.manifold.tsne import TSNE as TSNE
    from ritz.methods.nearest.index import Index as Index
    from ritz.methods.nearest.lsh import LSH as LSH
    from ritz.methods.networks.autoencoder import Autoencoder as Autoencoder
    from ritz.methods.networks.rbm import RBM as RBM
    from ritz.methods.nmf.nmf import NMF as NMF
    from ritz.methods.pca import PCA as PCA
    from ritz.methods.pearson import PearsonResiduals as PearsonResiduals
    from ritz.methods.plan import plan as plan
    from ritz.methods.robust_pca.robust_pca import RobustPCA as RobustPCA
    from ritz.methods.sparse_pca.sparse_pca import SparsePCA as SparsePCA
    from ritz.methods.svd import SVD as SVD
    from ritz.methods.tensors.cp import CP as CP
    from ritz.methods.tensors.hosvd import HOSVD as HOSVD
    from ritz.methods.tensors.tensor_train import TensorTrain as TensorTrain
    from ritz.methods.tensors.tucker import Tucker as Tucker
    from ritz.methods.two_tables.cca import CCA as CCA
    from ritz.methods.two_tables.pcr import PCR as PCR
    from ritz.methods.two_tables.pls import PLS as PLS
    from ritz.methods.zca import ZCA as ZCA
    from ritz.persist.export.front import export as export
    from ritz.persist.model import load as load
    from ritz.persist.model import merge as merge
    from ritz.persist.model import save as save

__all__ = [
    "CA",
    "CCA",
    "CP",
    "FAMD",
    "HOSVD",
    "ICA",
    "LLE",
    "LSH",
    "LSI",
    "MCA",
    "MDS",
    "MFA",
    "MVU",
    "NMF",
    "PCA",
    "PCR",
    "PLS",
    "RBM",
    "SVD",
    "TSNE",
    "ZCA",
    "AccuracyWarning",
    "Autoencoder",
    "Cancelled",
    "ColumnsSetAside",
    "ConstantColumnWarning",
    "DataChanged",
    "DiffusionMaps",
    "DigitsLost",
    "DisconnectedGraph",
    "DoubtfulReading",
    "EmptyDocuments",
    "EmptyProfiles",
    "FactorAnalysis",
    "FileCutOff",
    "FileError",
    "FilesSetAside",
    "GammaAtEdge",
    "IdentifiersAsCategories",
    "Index",
    "InputError",
    "IntegersAsNumbers",
    "Isomap",
    "JournalIgnored",
    "KernelPCA",
    "LSIDrift",
    "LaplacianEigenmaps",
    "MatrixAsRows",
    "MemoryLimitError",
    "MergeError",
    "MissingDependency",
    "NegativeEigenvalues",
    "Neighbours",
    "NoAssociation",
    "NoComponents",
    "NonFiniteError",
    "ParameterError",
    "PearsonResiduals",
    "RitzError",
    "RitzWarning",
    "RobustPCA",
    "SparsePCA",
    "Table",
    "TensorTrain",
    "Tucker",
    "UnusedParameter",
    "WideEnclosure",
    "choose_hybrid",
    "choose_rank",
    "export",
    "insight",
    "kernels",
    "load",
    "merge",
    "plan",
    "plot",
    "read",
    "report",
    "save",
    "testing",
    "text",
]

__version__ = "0.1.0"

# Where each public name lives; what is not listed is an error or a warning of ritz._core.errors.
_HOMES = {
    "Autoencoder": "ritz.methods.networks.autoencoder",
    "CA": "ritz.methods.correspondence.ca.ca",
    "CP": "ritz.methods.tensors.cp",
    "DiffusionMaps": "ritz.methods.manifold.diffusion",
    "FAMD": "ritz.methods.correspondence.famd.famd",
    "FactorAnalysis": "ritz.methods.factor_analysis.factor_analysis",
    "Isomap": "ritz.methods.manifold.isomap",
    "KernelPCA": "ritz.methods.kernel_pca.kernel_pca",
    "ICA": "ritz.methods.ica.ica",
    "HOSVD": "ritz.methods.tensors.hosvd",
    "Index": "ritz.methods.nearest.index",
    "LSH": "ritz.methods.nearest.lsh",
    "LSI": "ritz.methods.lsi.lsi",
    "LLE": "ritz.methods.manifold.lle",
    "LaplacianEigenmaps": "ritz.methods.manifold.laplacian",
    "MCA": "ritz.methods.correspondence.mca.mca",
    "MDS": "ritz.methods.manifold.mds",
    "MFA": "ritz.methods.correspondence.mfa.mfa",
    "MVU": "ritz.methods.manifold.mvu",
    "NMF": "ritz.methods.nmf.nmf",
    "Neighbours": "ritz.graphs.neighbours",
    "PCA": "ritz.methods.pca",
    "CCA": "ritz.methods.two_tables.cca",
    "PCR": "ritz.methods.two_tables.pcr",
    "PLS": "ritz.methods.two_tables.pls",
    "PearsonResiduals": "ritz.methods.pearson",
    "RBM": "ritz.methods.networks.rbm",
    "RobustPCA": "ritz.methods.robust_pca.robust_pca",
    "SparsePCA": "ritz.methods.sparse_pca.sparse_pca",
    "SVD": "ritz.methods.svd",
    "TSNE": "ritz.methods.manifold.tsne",
    "TensorTrain": "ritz.methods.tensors.tensor_train",
    "Tucker": "ritz.methods.tensors.tucker",
    "Table": "ritz.data.tables.table",
    "choose_hybrid": "ritz.methods.lsi.judged",
    "ZCA": "ritz.methods.zca",
    "choose_rank": "ritz.insight.choose_rank",
    "export": "ritz.persist.export.front",
    "load": "ritz.persist.model",
    "merge": "ritz.persist.model",
    "plan": "ritz.methods.plan",
    "read": "ritz.data.tables.read",
    "save": "ritz.persist.model",
}
_SUBMODULES = {"insight", "kernels", "plot", "report", "testing", "text"}

# A library stays silent until its user asks: without this, records would reach Python's last-resort handler.
logging.getLogger("ritz").addHandler(logging.NullHandler())


def __getattr__(name: str) -> object:
    if name in _SUBMODULES:
        return _module_of(f"ritz.{name}")
    if name not in __all__:
        raise AttributeError(f"module 'ritz' has no attribute {name!r}")
    value = getattr(_module_of(_HOMES.get(name, "ritz._core.errors")), name)
    globals()[name] = value  # the next read does not come through here
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
