"""Tables whose columns are encoded before they are analysed: their rows, their encoder, the results of both sides.

CA, MCA, FAMD and MFA define these; of other methods they are None, or refused.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.methods.fitted.words import Words

__all__ = ["Encodes"]

Floats = NDArray[np.float64]


class Encodes(Words):
    """Capabilities of models of encoded tables, refused in the one wording."""

    def tabled(self, X: Any) -> Any:
        """Rows as a table that ``transform`` takes: themselves, or counts of the words of texts."""
        return X

    def encoded(self, X: Any, sample_weight: Any = None, *, fitted: bool = False) -> Any:
        """Rows with their weights and names, encoded as a table's; ``fitted``: they are those of the fit."""
        self.refuse("rows that can be encoded")

    def present(self, X: Any, sample_weight: Any = None) -> tuple[Any, Floats]:
        """Encoded rows of the fit that have a weight, and their weights."""
        self.refuse("rows that can be encoded")

    def place(self, coded: Any) -> Floats:
        """Coordinates (n, k) of encoded rows."""
        self.refuse("rows that can be encoded")

    def write_scores(self, rows: Any, labels: Any, write: Any) -> None:
        """Hand coordinates of rows, some at a time and with their labels, to a writer of rows."""
        self.refuse("scores that could be written in pieces")

    def sample(self, X: Any, sample_weight: Any = None) -> Any:
        """Some encoded rows of the fit, as a permutation test takes them."""
        self.refuse("encoded rows to permute")

    def encoder(self) -> Any:
        """How columns of categories and numbers become numbers; None where rows are numbers themselves."""
        return None

    def number_columns(self) -> int:
        """How many of the encoded columns, the first ones, are columns of numbers."""
        return 0

    def frequency_tables(self) -> Any:
        """Groups of columns that hold counts, with the profiles that are taken off them; None without any."""
        return None

    def result(self, name: str) -> Floats:
        """A named result of the rows or columns as an array without labels: ``result("row_cos2_")``."""
        self.refuse(name)

    @property
    def questions(self) -> int:
        """J: how many variables have more than one answer."""
        self.refuse("questions with answers")
