"""Errors and warnings of Ritz.

Every message has up to three parts: what was expected, what came, and what to do about it (``hint:``). Names from
files cannot steer the terminal that it is shown on.

    RitzError
    ├── InputError (ValueError)        data that cannot be used: shape, type, missing values, weights
    │   └── NonFiniteError             NaN or infinity, with the columns named
    ├── ParameterError (ValueError)    a parameter outside what it may be
    ├── MemoryLimitError (MemoryError) the memory limit cannot be kept; names the least that could
    ├── MergeError (ValueError)        models that cannot be merged or subtracted
    ├── FileError (OSError)            a file that is missing, not a table, damaged, or in the way
    │   └── DataChanged                files that changed while they were read
    ├── MissingDependency (ImportError) an optional library that is not installed; names the extra
    └── Cancelled (KeyboardInterrupt)  the progress hook asked to stop

    RitzWarning (UserWarning)
    ├── AccuracyWarning                the answer is less accurate than was asked for
    │   └── WideEnclosure              a bounded state that knows no variance to within a factor of two
    ├── ConstantColumnWarning          columns without variance met ``scale=True``
    ├── ColumnsSetAside                columns of a table that are not used, with the reason
    ├── FilesSetAside                  files of a folder that are no texts, with the reason
    ├── DoubtfulReading                values of a file that can be read in two ways
    ├── FileCutOff                     a text file whose last line looks cut off
    ├── DigitsLost                     integers beyond 2^53, whose last digits float64 cannot hold
    ├── EmptyDocuments                 documents without a known word
    ├── LSIDrift                       documents unlike those that a model of texts was fitted to
    ├── DisconnectedGraph              a graph of neighbours in several components, and what became of them
    ├── EmptyProfiles                  rows or columns of a table of counts without any count
    ├── MatrixAsRows                   rows that look like a correlation or covariance matrix
    ├── NoComponents                   a rule for the number of components that found none
    ├── NoAssociation                  a table of counts whose rows all have the same profile
    ├── IntegersAsNumbers              integer columns with few different values, which may be categories
    ├── IdentifiersAsCategories        categorical columns in which every row has a level of its own
    ├── GammaAtEdge                    gamma="cv" chose the smallest or largest that it tried
    ├── UnusedParameter                a parameter was given that the choice of another leaves without use
    ├── NegativeEigenvalues            an indefinite kernel, and what became of its negative eigenvalues
    └── JournalIgnored                 a checkpoint that belongs to another fit, or cannot be written
"""

from __future__ import annotations

from typing import Any

from ritz._core.visible import visible

__all__ = [
    "AccuracyWarning",
    "Cancelled",
    "ColumnsSetAside",
    "ConstantColumnWarning",
    "DataChanged",
    "DigitsLost",
    "DisconnectedGraph",
    "DoubtfulReading",
    "EmptyDocuments",
    "EmptyProfiles",
    "FileCutOff",
    "FileError",
    "FilesSetAside",
    "GammaAtEdge",
    "IdentifiersAsCategories",
    "InputError",
    "IntegersAsNumbers",
    "JournalIgnored",
    "LSIDrift",
    "MatrixAsRows",
    "MemoryLimitError",
    "MergeError",
    "MissingDependency",
    "NegativeEigenvalues",
    "NoAssociation",
    "NoComponents",
    "NonFiniteError",
    "ParameterError",
    "RitzError",
    "RitzWarning",
    "UnusedParameter",
    "WideEnclosure",
]


def compose(expected: str, received: str | None = None, hint: str | None = None) -> str:
    """Join the parts of a message: ``expected …; received …`` and, on its own line, ``hint: …``."""
    text = expected if received is None else f"{expected}; received {received}"
    return visible(text if hint is None else f"{text}\nhint: {hint}")


class RitzError(Exception):
    """Base of all errors that Ritz raises on purpose.

    Attributes
    ----------
    expected, received, hint : the three parts of the message; None where there is none
    """

    def __init__(self, expected: str, *, received: str | None = None, hint: str | None = None) -> None:
        self.expected, self.received, self.hint = expected, received, hint
        super().__init__(compose(expected, received, hint))

    def __reduce__(self) -> tuple[object, ...]:
        # Keyword-only arguments do not survive the default exception pickling (needed by process pools).
        return _rebuild, (type(self), self.expected, self.received, self.hint)


def _rebuild(cls: type[RitzError], expected: str, received: str | None, hint: str | None) -> RitzError:
    return cls(expected, received=received, hint=hint)


class InputError(RitzError, ValueError):
    """Data that cannot be used."""


class NonFiniteError(InputError):
    """NaN or infinity in the data."""


class ParameterError(RitzError, ValueError):
    """A parameter outside of what it may be."""


class MemoryLimitError(RitzError, MemoryError):
    """The stated memory limit cannot be kept."""

    #: bytes that would do, where they are known
    least: float | None = None


class MergeError(RitzError, ValueError):
    """Models that cannot be merged or subtracted."""


class FileError(RitzError, OSError):
    """A file that is missing, damaged, not a table, or in the way."""


class DataChanged(FileError):
    """Files that changed while they were read: an answer would be that of no data at all."""


class MissingDependency(RitzError, ImportError):
    """An optional library that is not installed."""


class Cancelled(RitzError, KeyboardInterrupt):
    """The progress hook asked to stop."""


class RitzWarning(UserWarning):
    """Base of all warnings of Ritz."""

    def __init__(self, *words: Any) -> None:
        super().__init__(*(visible(word) if isinstance(word, str) else word for word in words))


class AccuracyWarning(RitzWarning):
    """The answer is less accurate than was asked for; the text says by how much and what to try."""


class WideEnclosure(AccuracyWarning):
    """A state of bounded size encloses a variance so widely that its size is not known to within a factor of two."""


class ConstantColumnWarning(RitzWarning):
    """Columns without variance cannot be standardised and keep scale 1."""


class ColumnsSetAside(RitzWarning):
    """Columns of a table that were not used, each with its reason."""


class FilesSetAside(RitzWarning):
    """Files of a folder that were not read as texts, each with its reason."""


class DoubtfulReading(RitzWarning):
    """Values of a text file that can be read in two ways; the text says which was taken, and how to say otherwise."""


class FileCutOff(RitzWarning):
    """The last line of a text file has no end and does not look like the others: its last value may be incomplete."""


class DigitsLost(RitzWarning):
    """Integers beyond 2^53 were turned into float64, which cannot hold their last digits."""


class DisconnectedGraph(RitzWarning):
    """A graph of neighbours falls into several components; the text says what became of them."""


class EmptyProfiles(RitzWarning):
    """Rows or columns without any count: they have no profile and no place on a map."""


class EmptyDocuments(RitzWarning):
    """Documents without a known word: their coordinates are zero, and no search finds them."""


class LSIDrift(RitzWarning):
    """Documents that were added are unlike those of the fit, or the weights of words have changed: a refit is due."""


class IntegersAsNumbers(RitzWarning):
    """Integer columns with few different values were taken as numbers; they may be categories."""


class IdentifiersAsCategories(RitzWarning):
    """Every row has its own level in a categorical column: it names rows, and any axis separates its levels."""


class GammaAtEdge(RitzWarning):
    """The gamma that was chosen lies at the edge of those tried."""


class UnusedParameter(RitzWarning):
    """A parameter was given that the choice of another leaves without use, such as gamma of a linear kernel."""


class JournalIgnored(RitzWarning):
    """A checkpoint was not used: it belongs to another fit, or cannot be written."""


class MatrixAsRows(RitzWarning):
    """Rows that look like a correlation or covariance matrix; ``from_covariance`` takes one for what it is."""


class NoComponents(RitzWarning):
    """A rule for ``n_components`` found no component; ``"parallel>=1"`` keeps at least one."""


class NoAssociation(RitzWarning):
    """All rows of a table of counts have the same profile: rows and columns have nothing to do with each other."""


class NegativeEigenvalues(RitzWarning):
    """A kernel is indefinite on the rows; the text says by how much and what was done."""
