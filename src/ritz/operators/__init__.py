"""What a matrix does to a block of vectors, never its entries."""

from __future__ import annotations

from ritz.operators.base import Operator
from ritz.operators.center import Centered
from ritz.operators.combine import MinusOuter, Product, Shifted, Sum, Transpose
from ritz.operators.framed import Dense, Sparse
from ritz.operators.gram import Gram, MomentGram
from ritz.operators.graph import Aligned, Diffusion, Laplacian
from ritz.operators.interop import FromLinearOperator, as_operator, to_linear_operator
from ritz.operators.matrix import Identity
from ritz.operators.scale import Scaled, Weighted
from ritz.operators.symmetric import Symmetric

__all__ = [
    "Aligned",
    "Centered",
    "Dense",
    "Diffusion",
    "FromLinearOperator",
    "Gram",
    "Identity",
    "Laplacian",
    "MinusOuter",
    "MomentGram",
    "Operator",
    "Product",
    "Scaled",
    "Shifted",
    "Sparse",
    "Sum",
    "Symmetric",
    "Transpose",
    "Weighted",
    "as_operator",
    "to_linear_operator",
]
