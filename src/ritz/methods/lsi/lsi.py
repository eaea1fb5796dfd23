"""Latent semantic indexing: topics of texts, and a search that finds documents by them.            [DDFLH90, BDO95]

    W = weights of words in documents (n×d),      W ≈ U_k Σ_k V_kᵀ,      documents  E = U_k Σ_k = W V_k   (n, k)
    a new text, or a query, x ↦ Ψ(x) = x V_k,     score  cos(Ψ(x), e_i)

Documents and queries are placed by the same map, so ``transform`` of the texts of the fit equals ``embedding_``. This
is scaling by Σ to the power 1; folding in by x V Σ⁻¹ and comparing in V Σ, as the first papers do, gives the same
cosines. Words without a column are ignored and counted; a document without a known word has the coordinates 0.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np

from ritz._core.bases import check_is_fitted
from ritz._core.errors import MergeError
from ritz.data.words import describe
from ritz.methods.fitted.about import About
from ritz.methods.fitted.base import Fitted
from ritz.methods.lsi import finding, updating
from ritz.methods.lsi.checks import check_parameters, require_room, require_unweighted, summary, usual_topics
from ritz.methods.lsi.counted import Counted, Given, count
from ritz.methods.lsi.drift import Drift, drift_of
from ritz.methods.lsi.fitted import OfTexts
from ritz.methods.lsi.hits import Hits
from ritz.methods.lsi.naming import describe_documents, name_table
from ritz.methods.lsi.record import LSIRecord
from ritz.methods.lsi.routes import analysed, of_documents, table_of, without_zeros
from ritz.methods.lsi.topics import Topics, topics_of
from ritz.methods.lsi.verify import verify_documents
from ritz.methods.lsi.weighed import adopted, require_words, vocabulary_of, weigh
from ritz.methods.posed import Posed
from ritz.methods.svd import SVD
from ritz.project.linear import LinearMap
from ritz.spectral.plan import Plan
from ritz.spectral.verify import Verification

__all__ = ["LSI"]


class LSI(SVD):
    """Latent semantic indexing of texts, or of counts of words.

    Parameters
    ----------
    n_components : None, int, float or str
        Number of topics; None: half as many as there are documents, from 40 (or all) to 200. A fraction of the sum of
        squares, or a rule.
    method : "svd", "ca" or "kernel"
        Singular value decomposition of weighted words; correspondence analysis of the counts (weights are its own);
        eigenvectors of the kernel WWᵀ between documents, which gives the same as ``"svd"``.
    weighting : str or ritz.text.Weighting
        ``"log-entropy"``, ``"tf-idf"``, ``"sublinear"``, ``"bm25"``, ``"pivoted"``, ``"histogram"``, ``"count"``.
    norm : "auto", "l2", "l1" or None
        To which length the weights of each document are scaled; ``"auto"``: as the weighting says.
    words : ritz.text.Words, optional
        The rule that turns a text into words. None: the language is recognised from the texts by its function words,
        which are left out then, and words are stemmed; ``language_`` says what was found.
    min_df, max_df, max_features, hashing
        Which words get a column: as for :class:`ritz.text.Counts`.
    keep_texts : bool
        Whether the texts become part of the model and its file. Otherwise hits read texts from where they came from.
    keep_counts : bool, optional
        Whether counts are kept, which ``hybrid`` search needs; None: where they take no more than the coordinates.
    solver, tol, random_state, memory, device, progress
        As for :class:`ritz.PCA`.

    Attributes
    ----------
    components_ : (k, d) topics: weights of the words
    singular_values_ : (k,)
    embedding_ : (n, k) coordinates of the documents, U Σ
    explained_variance_, explained_variance_ratio_ : (k,) variance of the coordinates, and its share
    total_ : ‖W‖²_F; the total inertia for ``method="ca"``
    vocabulary_ : column of each word
    language_ : what was recognised, or None where ``words`` were given
    empty_ : rows of documents without a known word
    unseen_ : tokens without a column in each document of the last ``transform`` or ``search``
    drift_ : whether updates have moved away from what was fitted
    n_components_, n_samples_, n_features_in_, certificate_, plan_

    Examples
    --------
    >>> import ritz
    >>> texts = ["red wine and white wine", "a glass of red wine", "flutter of thin wings", "the wings of a plane"]
    >>> lsi = ritz.LSI(2).fit(texts)
    >>> lsi.search("wings that flutter", top=2).rows
    array([2, 3])
    >>> lsi.topics(1)[0].words[:2]
    ['wine', 'glass']
    """

    about: ClassVar[About] = About(
        "Latent semantic indexing",
        "lsi",
        "T",
        takes="texts",
        whole="sum of squares",
        measure="σ²",
        component="topic",
        cites=("[DDFLH90]", "[BDO95]"),
        paper="S. Deerwester, S. T. Dumais, G. W. Furnas, T. K. Landauer and R. Harshman, Indexing by latent semantic "
        "analysis, Journal of the American Society for Information Science 41 (1990), 391–407.",
        pieces="words",
    )
    fitted: ClassVar[type[Fitted]] = OfTexts
    _on_device = False  # texts are counted on the host; products with the counts are made where ``device`` says
    _records: ClassVar[type[LSIRecord]] = LSIRecord
    _record: LSIRecord
    _told = ("embedding_", "empty_", "unseen_", "language_")
    _pieces = ("document", "word")
    embedding_: Any
    feature_names_in_: Any

    def __init__(
        self, n_components: Any = None, *, method: str = "svd", weighting: Any = "log-entropy", norm: Any = "auto",
        words: Any = None, min_df: float = 1, max_df: float = 1.0, max_features: int | None = None,
        hashing: int | None = None, keep_texts: bool = False, keep_counts: bool | None = None, solver: str = "auto",
        tol: float = 1e-6, random_state: Any = 0, memory: Any = None, device: str = "cpu", progress: Any = None,
    ) -> None:  # fmt: skip
        self.n_components = n_components
        self.method = method
        self.weighting = weighting
        self.norm = norm
        self.words = words
        self.min_df = min_df
        self.max_df = max_df
        self.max_features = max_features
        self.hashing = hashing
        self.keep_texts = keep_texts
        self.keep_counts = keep_counts
        self.solver = solver
        self.tol = tol
        self.random_state = random_state
        self.memory = memory
        self.device = device
        self.progress = progress

    # the fit

    def fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, text: str | None = None, vocabulary: Any = None
    ) -> Self:  # fmt: skip
        """Fit to texts, or to counts of words.

        Parameters
        ----------
        X : list, Series, frame, Table, path, iterable; or a matrix of counts (n, d)
            Whatever ``ritz.text.documents`` takes, or numbers: documents × words.
        y : ignored
        sample_weight : None
            Documents have no weights.
        text : str, optional
            Column of a frame or Table, or field of records, that holds the texts.
        vocabulary : list of str or dict, optional
            Words of the columns of a matrix of counts.
        """
        require_unweighted(sample_weight)
        return self._fit(Given(X, text, vocabulary), y)

    def _adopt(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, ...]:
        """Weights of the words of documents, and their counts."""
        self._record = LSIRecord()
        found = count(self, *(X if isinstance(X, Given) else Given(X)))
        require_words(found)
        return (adopted(self, found), found)

    def pose(self, rows: Any, found: Counted) -> Posed:  # type: ignore[override]
        """Weighted words as they are, or the table of counts."""
        wanted = self._wanted(*rows.shape, centered=False)
        require_room(self, rows, wanted)
        if self.method == "ca":
            return Posed(rows=found.counts, wanted=wanted, kept=found)
        posed = super().pose(rows, None)
        posed.kept = (*posed.kept, found)
        return posed

    def _plan(self, posed: Posed) -> Any:
        if self.method == "ca":
            return None  # an analysis of a table plans for itself
        shape = posed.shape
        return self._plan_for(of_documents(shape) if self.method == "kernel" else shape, posed.wanted)

    def _route(self, X: Any, y: Any = None, sample_weight: Any = None) -> Plan:
        require_unweighted(sample_weight)
        posed = self._posed(*self._adopt(X, y, sample_weight))
        return table_of(self, posed.wanted)._route(posed.rows) if self.method == "ca" else self._plan(posed)

    def _solved(self, posed: Posed, plan: Any) -> Any:
        if self.method == "ca":
            return analysed(self, posed.rows, posed.wanted)
        return without_zeros(super()._solved(posed, plan), lambda k: self._solved_for(posed, k))

    def _solved_for(self, posed: Posed, k: int) -> Any:
        posed.wanted = k
        return super()._solved(posed, self._plan(posed))

    def read(self, solution: Any, posed: Posed) -> None:
        """Topics, documents, and what later questions need of the words."""
        if self.method == "ca":
            found = posed.kept
            name_table(self, solution)
        else:
            *kept, found = posed.kept
            posed.kept = tuple(kept)
            super().read(solution, posed)
        describe_documents(self, found, self._weighed(found.counts) if self.method == "ca" else posed.rows)

    def _wanted(self, n: int, d: int, *, centered: bool, n_components: Any = None) -> int | Any:
        asked = self.n_components if n_components is None else n_components
        table = 1 if self.method == "ca" else 0
        if asked is None:
            return usual_topics(max(0, min(n, d) - table))
        return asked if table else super()._wanted(n, d, centered=centered, n_components=asked)

    def _keeps_state(self, d: int) -> bool:
        return False

    # words

    def _weighed(self, counts: Any) -> Any:
        """CSR of weights: what the map of documents takes."""
        return weigh(self, counts)

    @property
    def vocabulary_(self) -> dict[str, int] | None:
        """Column of each word; None where columns have no names, or share words by their hash."""
        check_is_fitted(self)
        return vocabulary_of(self)

    # documents

    def _map(self) -> LinearMap:
        record = self._record
        return LinearMap(
            self.components_, record.mean64, record.scale64, None, getattr(self, "feature_names_in_", None)
        )

    def _coordinates(self, rows: Any, dtype: Any = np.float64) -> Any:
        """(n, k) coordinates of weighted rows; zero where a row has no word."""
        T = self._map().forward(rows, np.dtype(dtype))
        if self.method == "ca":
            T[np.diff(rows.indptr) == 0] = 0.0
        return T

    def transform(self, X: Any, *, text: str | None = None) -> np.ndarray:
        """Coordinates of texts, or of counts of the same words, (n, k).

        Parameters
        ----------
        X : what ``fit`` takes
        text : str, optional
            As in ``fit``.

        Examples
        --------
        >>> import ritz
        >>> lsi = ritz.LSI(2).fit(["red wine", "white wine", "thin wings", "wings in flutter"])
        >>> lsi.transform(["more wine", "a zebra"]).round(2)  # the zebra is unknown; a warning says so
        array([[0.  , 0.63],
               [0.  , 0.  ]])
        >>> lsi.unseen_
        array([1, 1])
        """
        check_is_fitted(self)
        return finding.placed(self, X, text)

    def fit_transform(self, X: Any, y: Any = None, *, text: str | None = None, vocabulary: Any = None) -> np.ndarray:  # type: ignore[override]
        """Fit and return the coordinates of the documents."""
        self.fit(X, y, text=text, vocabulary=vocabulary)
        return np.array(self.embedding_)

    def transform_to(self, X: Any, path: Any, *, text: str | None = None) -> Path:
        """Write the coordinates of texts to a file; parameters as ``transform`` and :meth:`ritz.PCA.transform_to`.

        Examples
        --------
        >>> import ritz
        >>> texts = ["red wine", "white wine", "thin wings", "wings in flutter"]
        >>> ritz.read(ritz.LSI(2).fit(texts).transform_to(texts, "topics.csv")).names
        ['T1', 'T2']
        """
        return finding.written(self, X, text, path)

    def search(self, query: Any, top: int = 10, *, hybrid: Any = None, index: Any = None) -> Any:
        """Documents that are nearest to a query by the cosine of their topics.

        Parameters
        ----------
        query : str, list of str, or counts (m, d)
            One query gives ``Hits``, several a list of them.
        top : int
            How many documents.
        hybrid : float, True or None
            Share of BM25 in the score: ``h·z(BM25) + (1 − h)·z(cosine)``; True is 0.3.
        index : object with ``kneighbors``, optional
            Finds candidates among the rows of ``unit_embedding_`` that it was fitted to, whose cosines are computed
            then; without it all documents are looked at.

        Examples
        --------
        >>> import ritz
        >>> lsi = ritz.LSI(2).fit(["red wine", "white wine", "thin wings", "wings in flutter"])
        >>> print(lsi.search("flutter", top=2))
        2 hits for 'flutter'
          1  row 3       1.0000  wings in flutter
          2  row 2       1.0000  thin wings
        """
        return finding.search(self, query, top, hybrid, index)

    def similar(self, row: int, top: int = 10) -> Hits:
        """Documents that are nearest to a document of the fit, itself left out.

        Parameters
        ----------
        row : int
            Its number from 0.
        top : int
            How many.

        Examples
        --------
        >>> import ritz
        >>> lsi = ritz.LSI(2).fit(["red wine", "white wine", "thin wings", "wings in flutter"])
        >>> lsi.similar(0, top=1).texts
        ['white wine']
        """
        return finding.similar(self, row, top)

    def topics(self, n_topics: int | None = None, words: int = 10) -> Topics:
        """The words that make each topic, at both of its ends, with their weights.

        Parameters
        ----------
        n_topics : int, optional
            The first so many; all without it.
        words : int
            Words of each end.

        Examples
        --------
        >>> import ritz
        >>> lsi = ritz.LSI(2).fit(["red wine", "white wine", "thin wings", "wings in flutter"])
        >>> lsi.topics(2, words=1)
        topic 1: singular value 1.225, share 37.5 %
          + wings 0.82
        topic 2: singular value 1.225, share 37.5 %
          + wine 0.82
        """
        check_is_fitted(self)
        return topics_of(self, n_topics, words)

    @property
    def unit_embedding_(self) -> np.ndarray:
        """(n, k) coordinates of the documents, each of length 1: what an index for ``search`` is fitted to."""
        check_is_fitted(self)
        return finding.unit_rows(self)

    def attach(self, X: Any, *, text: str | None = None) -> Self:
        """Give a model that was loaded from a file the texts of its documents again, for ``hits.texts``.

        Parameters
        ----------
        X : the texts of the fit and of all updates, in their order
        text : str, optional
            As in ``fit``.

        Examples
        --------
        >>> import ritz
        >>> texts = ["red wine", "white wine", "thin wings", "wings in flutter"]
        >>> ritz.save(ritz.LSI(2).fit(texts), "topics.ritz")
        >>> lsi = ritz.load("topics.ritz")
        >>> lsi.search("flutter", top=1).texts is None, lsi.attach(texts).search("flutter", top=1).texts
        (True, ['wings in flutter'])
        """
        finding.attach(self, X, text)
        return self

    # more documents

    def update(self, X: Any, *, text: str | None = None) -> Self:
        """Add documents, with new words, without reading the old ones again.                              [ZS99]

        The model becomes that of the k topics it had and of the new documents. Words keep the weights of the fit, and
        new words count as the rarest; ``drift_`` says when a refit is due, and the certificate what was cut off.

        Parameters
        ----------
        X : what ``fit`` takes
        text : str, optional
            As in ``fit``.

        Examples
        --------
        >>> import ritz
        >>> lsi = ritz.LSI(3, weighting="count").fit(["red wine", "white wine", "thin wings"])
        >>> lsi = lsi.update(["wings in flutter"])
        >>> lsi.n_samples_, "flutter" in lsi.vocabulary_, lsi.search("flutter", top=1).rows
        (4, True, array([3]))
        """
        check_is_fitted(self)
        updating.update(self, X, text)
        return self

    @property
    def drift_(self) -> Drift:
        """Whether documents of the updates are like those of the fit; ``drift_.due`` asks for a refit."""
        check_is_fitted(self)
        return drift_of(self)

    def partial_fit(self, X: Any, y: Any = None, *, text: str | None = None) -> Self:  # type: ignore[override]
        """``fit`` the first time, ``update`` afterwards.

        Examples
        --------
        >>> import ritz
        >>> lsi = ritz.LSI(2)
        >>> for part in (["red wine", "white wine"], ["thin wings", "wings in flutter"]):
        ...     lsi = lsi.partial_fit(part)
        >>> lsi.n_samples_
        4
        """
        return self.update(X, text=text) if self.__sklearn_is_fitted__() else self.fit(X, y, text=text)

    def merge(self, other: Any, *more: Any) -> Self:
        """Models of texts are not merged: ``update`` adds the documents themselves.

        Examples
        --------
        >>> import ritz
        >>> lsi = ritz.LSI(2).fit(["red wine", "white wine", "thin wings", "wings in flutter"])
        >>> try:
        ...     lsi.merge(lsi)
        ... except ritz.MergeError as error:
        ...     print(error.hint)
        model.update(texts) adds the documents
        """
        raise MergeError(
            "LSI models are not merged", received=describe(other), hint="model.update(texts) adds the documents"
        )

    def subtract(self, other: Any) -> Self:
        """Documents are not taken away again.

        Examples
        --------
        >>> import ritz
        >>> lsi = ritz.LSI(2).fit(["red wine", "white wine", "thin wings", "wings in flutter"])
        >>> try:
        ...     lsi.subtract(lsi)
        ... except ritz.MergeError as error:
        ...     print(error.hint)
        fit the others
        """
        raise MergeError("documents are not taken away from an LSI", received=describe(other), hint="fit the others")

    def verify(self, X: Any, sample_weight: Any = None, *, text: str | None = None) -> Verification:
        """Check the certificate and the coordinates against the documents, sharing no code with the fit.

        Parameters
        ----------
        X : the documents of the fit and of all updates, in their order
        sample_weight : None
            Documents have no weights.
        text : str, optional
            As in ``fit``.

        Examples
        --------
        >>> import ritz
        >>> texts = ["red wine", "white wine", "thin wings", "wings in flutter"]
        >>> lsi = ritz.LSI(2).fit(texts)
        >>> bool(lsi.verify(texts)), bool(lsi.verify(texts[::-1]))
        (True, False)
        """
        check_is_fitted(self)
        require_unweighted(sample_weight)
        return verify_documents(self, X, text)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_parameters(self)

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        shown: str = super().__repr__(N_CHAR_MAX)
        return f"{shown}\n{summary(self)}" if self.__sklearn_is_fitted__() else shown

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = True
        tags.input_tags.positive_only = True
        return tags
