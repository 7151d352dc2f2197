"""Contexts into embeddings, one row per context (`dem`), and their means by group (`dem_group`)."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from alacarte._io import html
from alacarte._io.arrays import Doubles, Ints, Longs
from alacarte._io.table import beside
from alacarte.contexts.integers import IntegerVectors
from alacarte.contexts.reading import AVERAGINGS, Averaging, Reading
from alacarte.contexts.shared_words import SharedWordsTally
from alacarte.contexts.summing import without_unknown
from alacarte.contexts.windows import sums_of_matches
from alacarte.errors import AlacarteError, AlacarteWarning, BadVectors, NotEnoughData
from alacarte.model import ALaCarte
from alacarte.regression.context_table import ContextTable, documents
from alacarte.regression.frames import Variables
from alacarte.regression.groups import Groups, clusters_of, group_codes, name_of
from alacarte.regression.results import Column, column_of, make_frame
from alacarte.targets.sequences import Matches
from alacarte.text.encoding import Encoded, Lexicon
from alacarte.transform.register import Adaptation
from alacarte.transform.transform import Transform
from alacarte.vectors.word_vectors import WordVectors

CONTEXTS_AT_ONCE = 1 << 15  # contexts averaged at a time
DOCUMENTS_AT_ONCE = 1 << 12  # documents read at a time for what their contexts have in common


@dataclass(frozen=True, eq=False)
class Embeddings:
    """A vector for each context, document or group, in the space of the word vectors.

    Parameters
    ----------
    matrix : array of float, (rows, dimensions)
        The vectors.
    names : list
        What each row is called: a document or a group.
    vectors : WordVectors
        The word vectors in whose space they are.
    variables : Variables
        The columns of the data, and no others, by row.
    features : list of str
        The words that took part.
    rows : array of int
        Which of `contexts` each row is; those without a known word are left out.
    dropped : int
        How many were left out.
    counts : array of int, optional
        How many contexts the mean of each group comes from.
    contexts : ContextTable, optional
        The contexts; None for embeddings from elsewhere.
    outcome : array of float, optional
        The vectors that `regress` explains: those from before what all contexts share is taken out. None: `matrix`.
    """

    matrix: Doubles
    names: list[Any]
    vectors: WordVectors
    variables: Variables
    features: list[str]
    rows: Longs
    dropped: int = 0
    counts: Longs | None = None
    contexts: ContextTable | None = None
    outcome: Doubles | None = None

    def __post_init__(self) -> None:
        finite = np.asarray(np.isfinite(self.matrix).all(axis=1))
        if not finite.all():
            raise BadVectors(
                f"{int((~finite).sum()):,} of {len(finite):,} embeddings have values that are not finite (NaN?), the "
                f"first of them {self.names[int(np.flatnonzero(~finite)[0])]!r}; correct or drop these rows"
            )

    def __len__(self) -> int:
        return len(self.matrix)

    def __repr__(self) -> str:
        left_out = f", {self.dropped:,} without a known word left out" if self.dropped else ""
        return f"Embeddings({len(self):,} × {self.matrix.shape[1]}{left_out})"

    def _repr_html_(self) -> str:
        counts = [""] * len(self) if self.counts is None else self.counts.tolist()
        rows = list(zip(self.names, counts, strict=True))[:10]
        return html.card(repr(self), {}, html.table(["name", "contexts"], rows, [False, True]))

    def _ipython_key_completions_(self) -> list[str]:
        return [str(name) for name in self.names[:1000]]

    def __getitem__(self, name: Any) -> Doubles:
        """Return the vector of a name, such as a group."""
        if name not in self.names:
            raise AlacarteError(f"no row is called {name!r}; there are {', '.join(map(repr, self.names[:10]))}")
        row: Doubles = self.matrix[self.names.index(name)]
        return row

    @property
    def own(self) -> dict[str, Column]:
        """What is known of each row beside the variables: its document, its pattern, and the match."""
        if self.contexts is None:
            return {}
        rows = self.contexts.select(self.rows)
        known = {"document": rows.document_names}
        return known if rows.whole else known | {"pattern": rows.patterns_found, "match": column_of(rows.matches())}

    def column(self, name: str, purpose: str) -> Column:
        """Return a variable of the data; where none has this name, the rows' own document, pattern or match."""
        if name in self.variables.columns or name not in self.own:
            return self.variables.column(name, purpose)
        return self.own[name]

    def select(self, rows: npt.ArrayLike) -> "Embeddings":
        """Return some of the rows, by number or by mask."""
        chosen = np.asarray(rows)
        if chosen.dtype == bool:
            chosen = np.flatnonzero(chosen)
        return replace(
            self,
            matrix=self.matrix[chosen],
            names=[self.names[row] for row in chosen.tolist()],
            variables=self.variables.take(chosen),
            rows=self.rows[chosen],
            counts=None if self.counts is None else self.counts[chosen],
            outcome=None if self.outcome is None else self.outcome[chosen],
        )

    def texts(self, *, with_match: bool = False) -> list[str]:
        """Return the text of each row's context."""
        if self.contexts is None:
            return [str(name) for name in self.names]
        return self.contexts.select(self.rows).texts(with_match=with_match)

    def to_frame(self) -> Any:
        """Return names, variables and one column for each dimension as a frame."""
        columns: dict[str, Column] = {"name": column_of(self.names)}
        if self.counts is not None:
            columns["n"] = self.counts
        columns |= {f"d{place}": self.matrix[:, place] for place in range(self.matrix.shape[1])}
        return make_frame(beside(columns, self.variables.columns), self.variables.backend)


def check_embeddings(given: object) -> None:
    """Raise `AlacarteError` for what is no embeddings of contexts."""
    if not isinstance(given, Embeddings):
        what = f"{given!r:.60}" if isinstance(given, str) else type(given).__name__
        raise AlacarteError(f"this takes what dem(contexts(data, word, known=model), model) gives, not {what}")


def dem(
    contexts: ContextTable | Sequence[Sequence[str]], model: Any, *, averaging: Averaging | None = None
) -> Embeddings:
    """Embed each context: the transform times the average of the vectors of its words.

    With a model that adapts to texts, vectors are without what all contexts of these documents have in common (see
    docs/meaning.md), and `vectors` of the result are the words as they are compared with them.

    Contexts are read as the model says (window, weights of words and of distances, words without a vector). Words are
    looked up as they are written, else lower-cased; contexts without any known word are left out and counted.

    Parameters
    ----------
    contexts : ContextTable or lists of words
        What `contexts` or `documents` gives. Contexts that were cut with another window than the model's are embedded
        with their own, and a warning says so.
    model : ALaCarte or vectors
        A model; or word vectors of any kind, for the plain mean over 10 words on each side.
    averaging : {"context", "occurrence", "token"}, optional
        "context", the default, is the mean over the words of each context, so that contexts at the edge of a short
        document are not shorter vectors; where the model's own averages are sums, it is times the weight that contexts
        have on average. "occurrence" is the sum over a context's words, what `ALaCarte.embed` gives with such a model.
        For a context by itself, "token" is the same as "context".

    Returns
    -------
    Embeddings

    Examples
    --------
    >>> vectors = (["a", "b"], np.array([[1.0, 0.0], [0.0, 1.0]]))
    >>> dem([["a", "b", "b", "b", "x"], ["x"]], vectors).matrix.tolist()
    [[0.25, 0.75]]
    """
    table = contexts if isinstance(contexts, ContextTable) else documents(list(contexts))
    vectors, transform, reading = _space(model)
    if averaging is not None and averaging not in AVERAGINGS:
        raise AlacarteError(f"averaging is {', '.join(map(repr, AVERAGINGS))}, not {averaging!r}")
    if not table.whole:
        window = table.window or (reading.left, reading.right)
        if transform.settings is not None and window != (reading.left, reading.right):
            warnings.warn(
                f"the contexts have {_words(window)} and the transform was learned with "
                f"{_words((reading.left, reading.right))}; leave `window` out for the transform's own",
                AlacarteWarning,
                stacklevel=2,
            )
        table = replace(table, window=window)
        reading = replace(reading, left=window[0], right=window[1])
    index = vectors.key_to_index
    spelled = [word if word in index else word.lower() for word in table.vocabulary]
    rows_of = np.array([index.get(word, -1) if word else -1 for word in spelled], dtype=np.int32)
    means, weights, kept, used = _averages(table, rows_of[table.ids], vectors, transform, reading)
    if not len(kept):
        raise NotEnoughData(
            f"none of the words in {len(table):,} contexts has a vector; check that text and vectors share language "
            "and case"
        )
    mean_weight = weights.mean()
    if averaging == "occurrence":
        means *= (weights / mean_weight)[:, None]
    scale = mean_weight if reading.averaging == "occurrence" else 1.0  # sums are what the transform expects
    matrix, outcome, compared_with = _transformed(transform, means * scale), None, vectors
    adaptation = _adapted_to(model, table, rows_of[table.ids], reading)
    if adaptation is not None:
        outcome, compared_with = matrix, adaptation.words(vectors)
        matrix = _transformed(adaptation.transform(transform, shifted=False), means)
    words, first = np.unique(used[used >= 0], return_index=True)
    return Embeddings(
        matrix,
        [f"text{row + 1}" for row in kept.tolist()],
        compared_with,
        table.row_variables().take(kept),
        [vectors.word(row) for row in words[np.argsort(first)].tolist()],
        kept,
        dropped=len(table) - len(kept),
        contexts=table,
        outcome=outcome,
    )


def _transformed(transform: Transform, means: Doubles) -> Doubles:
    """Return the vectors of means of contexts, in float64."""
    matrix = means @ transform.matrix.astype(np.float64).T
    return np.asarray(matrix if transform.intercept is None else matrix + transform.intercept)


def _space(model: Any) -> tuple[WordVectors, Transform, Reading]:
    """Vectors, the transform and how contexts are read; without a transform, the plain mean of vectors."""
    if isinstance(model, ALaCarte):
        return model.vectors, model.transform, replace(model.settings, weights=model.transform.weights.name)
    vectors = WordVectors.of(model)
    return vectors, Transform(np.eye(vectors.dimension, dtype=np.float32)), Reading(averaging="context")


def _adapted_to(model: Any, table: ContextTable, ids: Ints, reading: Reading) -> Adaptation | None:
    """Return what takes out what all contexts of the documents have in common; None for models without a register."""
    if not isinstance(model, ALaCarte) or model.register is None:
        return None
    reading = replace(reading, averaging="token")
    if (model, reading) in table.adaptations:
        return table.adaptations[model, reading]
    integers = IntegerVectors.of(model.vectors, model.transform.weights, reading, few=True)
    tally = SharedWordsTally(integers, reading, Lexicon(model.vectors.key_to_index))
    add, offsets = tally.adder(), table.offsets
    for low in range(0, len(offsets) - 1, DOCUMENTS_AT_ONCE):
        ends = offsets[low : low + DOCUMENTS_AT_ONCE + 1]
        add(Encoded(ids[ends[0] : ends[-1]], ends - ends[0], []))
    tally.settle()
    words = tally.result().words_of(integers.scale, reading.averaging)
    adaptation = model.register.of_text(words, model.vectors).adaptation()
    table.adaptations[model, reading] = adaptation
    return adaptation


def _averages(
    table: ContextTable, ids: Any, vectors: WordVectors, transform: Transform, reading: Reading
) -> tuple[Doubles, Doubles, Longs, Any]:
    """Return (means of the windows, their weights, the numbers of those with a known word, the rows of all words).

    A whole document is the window behind its beginning.
    """
    reading = replace(reading, averaging="token")  # which for one window is its mean
    offsets, starts, ends = table.offsets, table.starts, table.ends
    if table.whole:
        reading, ends = replace(reading, left=0, right=int((ends - starts).max()), positions="uniform"), starts
    integers = IntegerVectors.of(vectors, transform.weights, reading, few=True)
    order = np.argsort(starts, kind="stable")
    means, weights = np.zeros((len(table), vectors.dimension)), np.zeros(len(table))
    for low in range(0, len(order), CONTEXTS_AT_ONCE):
        rows = order[low : low + CONTEXTS_AT_ONCE]
        first, last = table.documents[rows[0]], table.documents[rows[-1]] + 1
        begin, end = offsets[first], offsets[last]
        places = np.arange(len(rows), dtype=np.int32)
        part = Encoded(ids[begin:end], offsets[first : last + 1] - begin, [])
        matches = Matches((starts[rows] - begin).astype(np.int32), (ends[rows] - begin).astype(np.int32), places)
        sums = sums_of_matches(integers, reading, part, matches, len(rows))
        weights[rows] = sums.divisor(integers.scale, "token")
        known = np.flatnonzero(sums.totals > 0)
        means[rows[known]] = sums.means(integers.scale, "token", known)
    filled = weights > 0
    if reading.unknown == "drop":  # words without a vector take no place in a window
        ids, offsets, before = without_unknown(ids, offsets, len(vectors))
        starts, ends = before[starts], before[ends]
    opens, closes = offsets[table.documents], offsets[table.documents + 1]
    borders = np.zeros(len(ids) + 1, dtype=np.int64)
    for place, step in (
        (np.maximum(opens, starts - reading.left), 1),
        (starts, -1),
        (ends, 1),
        (np.minimum(closes, ends + reading.right), -1),
    ):
        np.add.at(borders, place, step)
    return means[filled], weights[filled], np.flatnonzero(filled), ids[np.cumsum(borders)[:-1] > 0]


def _words(window: tuple[int, int]) -> str:
    """Return a window in words.

    >>> _words((6, 6)), _words((5, 0))
    ('6 words on each side', '5 words before and 0 after')
    """
    left, right = window
    return f"{left} words on each side" if left == right else f"{left} words before and {right} after"


# ------------------------------------------------------------------------------------------------------- groups


def dem_group(
    embeddings: Embeddings,
    groups: Groups,
    *,
    cluster: Groups | None = None,
    equal_clusters: bool | None = None,
) -> Embeddings:
    """Average the rows of each group.

    Parameters
    ----------
    embeddings : Embeddings
        Of contexts.
    groups : str, list of str, or one value per row
        A variable, several of which every combination is a group, or the group of each row. Groups come in the order of
        their levels where there is one, else sorted; rows whose group is missing are left out and counted.
    cluster : str, list of str, or one value per row, optional
        What is one observation: a column, "document" or "context". If left out, the level is looked for: the column
        between whose values the groups vary (parties between speakers), else the document with its reprints.
    equal_clusters : bool, optional
        Whether every cluster weighs the same, and not every context. If left out, clusters weigh the same where the
        groups vary between them and they differ so much in size that less than half of them count.

    Returns
    -------
    Embeddings

    Examples
    --------
    >>> found = dem([["a"], ["b"], ["b"]], (["a", "b"], np.eye(2)))
    >>> means = dem_group(found, ["D", "R", "D"])
    >>> means.names, means.matrix.tolist(), means.counts.tolist()
    (['D', 'R'], [[0.5, 0.5], [0.0, 1.0]], [2, 1])
    """
    labels, codes = group_codes(embeddings, groups)
    weights = clusters_of(embeddings, cluster, equal_clusters, {name_of(groups): codes}).weights(codes >= 0)
    return means_of(embeddings, labels, codes, weights)


def means_of(embeddings: Embeddings, labels: list[Any], codes: Longs, weights: Doubles | None = None) -> Embeddings:
    """Return the means of groups from the number of each row's group, -1 for none; all rows weigh 1 if not given."""
    rows = np.flatnonzero(codes >= 0)
    amounts = np.ones(len(rows)) if weights is None else weights[rows]
    adding = sparse.csr_matrix((amounts, (codes[rows], rows)), (len(labels), len(codes)))
    return replace(
        embeddings,
        matrix=np.asarray(adding @ embeddings.matrix / np.asarray(adding.sum(axis=1))),
        outcome=None,
        names=labels,
        variables=Variables(backend=embeddings.variables.backend),
        rows=np.arange(len(labels)),
        dropped=len(codes) - len(rows),
        counts=np.bincount(codes[rows], minlength=len(labels)),
        contexts=None,
    )
