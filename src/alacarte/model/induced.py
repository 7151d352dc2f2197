"""What induction gives: vectors for targets, where they come from, and the sums behind them."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from alacarte._io.arrays import Doubles, Longs, Rows, Singles
from alacarte._io.options import refuse_unknown
from alacarte.contexts.sums import ContextSums
from alacarte.errors import AlacarteError, BadTargets, NotEnoughData
from alacarte.passes.memory import scratch_file
from alacarte.passes.work import PassOptions
from alacarte.spelling.prior import Prior
from alacarte.spelling.uncertainty import FusedUncertainty
from alacarte.targets.targets import spelling_hint
from alacarte.text.corpus import CorpusLike
from alacarte.transform.found_again import FoundAgain, found_again
from alacarte.transform.register import Adaptation
from alacarte.transform.transform import Transform
from alacarte.uncertainty.uncertainty import Uncertainty
from alacarte.vectors.keyed_matrix import Neighbours
from alacarte.vectors.word_vectors import WordVectors

if TYPE_CHECKING:
    from alacarte.model.model import ALaCarte


TRANSFORMED_AT_ONCE = 1 << 14  # targets transformed together
LARGE_RESULT = 1 << 30  # bytes of induced vectors from which on they are memory-mapped


class InducedVectors(WordVectors):
    """Vectors for targets, as `ALaCarte.induce` returns them: `WordVectors`, and where they come from.

    Attributes
    ----------
    words : sequence of str
        The targets that have a vector.
    matrix : numpy.ndarray
        Their vectors, one row per word.
    counts : numpy.ndarray
        How often each of them occurs.
    missing : list of str
        Targets without a vector: they do not occur, or never beside a word that has one.
    origin : tuple of str or None
        With `form=True`: "contexts", "spelling" or "contexts and spelling", for each word.
    sums : ContextSums
        The sums of contexts that the vectors come from.
    model : ALaCarte
        The model that computed them.
    adaptation : Adaptation or None
        How they are adapted to their text; None for vectors that are not.
    transform : Transform
        What turned average contexts into these vectors.
    """

    counts: Longs

    def __init__(self, model: "ALaCarte", sums: ContextSums, *, form: bool = False) -> None:
        seen = sums.seen
        self.model, self.sums = model, sums
        self.adaptation = model.adapted_to(sums)
        if self.adaptation is None:
            self.transform, averages = model.transform, sums
        else:
            self.transform, averages = self.adaptation.transform(model.transform), sums.by_weight()
        rows = _transformed(self.transform, averages, seen)
        origin: tuple[str, ...] | None = None  # None: contexts alone, all of them
        if form:
            seen, rows, origin = _with_prior(self.prior, sums, rows)
        if not len(sums):
            raise NotEnoughData("there are no targets; if `discover` found none, lower its min_count or min_score")
        if not len(seen):
            raise NotEnoughData(
                f"none of the {len(sums):,} targets occurs in the corpus beside a word that has a vector; check that "
                "text, targets and vectors share language and spelling" + spelling_hint(sums.keys, sums.targets)
            )
        counts = sums.occurrences[seen]
        super().__init__([sums.keys[row] for row in seen.tolist()], rows, counts=counts, origin=origin)
        absent = np.setdiff1d(np.arange(len(sums)), seen, assume_unique=True)
        self.missing = [sums.keys[row] for row in absent.tolist()]

    @property
    def prior(self) -> Prior:
        """What is known of words and phrases before any context, as this text uses words."""
        return replace(self.model.prior, adaptation=self.adaptation)

    @property
    def coverage(self) -> float:
        """The share of the tokens read that have a vector; it is low if text and vectors differ in language or case.

        Examples
        --------
        >>> from alacarte import ALaCarte, Transform
        >>> model = ALaCarte(WordVectors(["a", "b"], [[1.0, 0.0], [0.0, 1.0]]), Transform(np.eye(2)))
        >>> model.induce(["a x b b"], ["x"]).coverage
        0.75
        """
        return self.sums.tokens_known / self.sums.tokens_read if self.sums.tokens_read else float("nan")

    @cached_property
    def vocabulary(self) -> WordVectors:
        """The words of the model's vectors as `neighbours` compares them."""
        return self.model.vectors if self.adaptation is None else self.adaptation.words(self.model.vectors)

    @cached_property
    def compared(self) -> WordVectors:
        """The same vectors as they are compared with each other and with `vocabulary`: without what their text shares.

        Examples
        --------
        >>> from alacarte import ALaCarte, Transform
        >>> model = ALaCarte(WordVectors(["a", "b"], [[1.0, 0.0], [0.0, 1.0]]), Transform(np.eye(2)))
        >>> induced = model.induce(["a x", "b y", "a z a"], ["x", "y", "z"])
        >>> [word for word, _ in induced.compared.most_similar("x", k=1)]
        ['z']
        """
        if self.adaptation is None:
            return self
        return WordVectors(self.words, self.adaptation.compared(self.matrix).astype(np.float32))

    def most_similar(
        self,
        positive: Any = (),
        negative: Any = (),
        k: int = 10,
        *,
        among: int | Iterable[str] | None = None,
        topn: int | None = None,
    ) -> Neighbours:
        """Return the targets that are most like some of them, without what their text shares.

        `nearest` takes vectors from anywhere, by plain cosine.

        Parameters
        ----------
        positive, negative : str, array, or several
            Targets or vectors whose `compared` vectors are added and subtracted.
        k : int, default 10
            How many targets to return.
        among, topn
            As in `WordVectors.most_similar`.

        Returns
        -------
        Neighbours
            (target, cosine) pairs, the most similar first.
        """
        if self.adaptation is None:
            return super().most_similar(positive, negative, k, among=among, topn=topn)
        return self.compared.most_similar(positive, negative, k, among=among, topn=topn)

    def similarity(self, a: str, b: str) -> float:
        """Return the likeness of two targets: the cosine of their `compared` vectors."""
        return super().similarity(a, b) if self.adaptation is None else self.compared.similarity(a, b)

    def neighbours(self, target: str, k: int = 10, *, among: int | None = None) -> list[tuple[str, float]]:
        """Return the words with a vector that are most like a target, as this text uses both.

        Parameters
        ----------
        target
            One of these vectors.
        k
            How many words.
        among
            Among how many of the first words, which are the most frequent ones; by default all.

        Returns
        -------
        list
            Pairs of word and likeness, a cosine, the likest first.

        Examples
        --------
        >>> from alacarte import ALaCarte, Transform
        >>> model = ALaCarte(WordVectors(["a", "b"], [[1.0, 0.0], [0.0, 1.0]]), Transform(np.eye(2)))
        >>> model.induce(["a x a b"], ["x"]).neighbours("x", k=1)[0][0]
        'a'
        """
        own = self.model.tokens(target)  # of a phrase, the single words may be near
        exclude = own if len(own) == 1 else ()
        query = self.compared[target]
        found: list[tuple[str, float]] = self.vocabulary.nearest(query, k, among=among, exclude=exclude)
        return found

    @cached_property
    def found_again(self) -> FoundAgain | None:
        """How well words of this text that have a vector are found again when they are treated as new.

        None for vectors that are not adapted to their text.
        """
        if self.model.register is None:
            return None
        return found_again(self.sums, self.model.vectors, self.model.register, self.model.transform)

    def count(self, key: str) -> int:
        """Return how many occurrences the vector of a target comes from."""
        return int(self.counts[self.index(key)])

    @cached_property
    def uncertainty(self) -> Uncertainty:
        """Standard errors and intervals of the vectors; needs `induce(…, spread=16)`.

        For vectors with a part from spelling they are about what infinitely many contexts would give beside the same
        spelling with the same weight; vectors from spelling alone have none.

        Examples
        --------
        >>> from alacarte import ALaCarte
        >>> model = ALaCarte.pretrained("glove.6B.50d")
        >>> text = ["the blorp ate cheese", "a blorp and a cat", "the cat saw a blorp sleep"]
        >>> induced = model.induce(text, ["blorp"], spread=16)
        >>> bool(0 < induced.uncertainty.confidence_of("blorp") < 1)
        True
        """
        return self.uncertainty_after(self.adaptation)

    def uncertainty_after(self, adaptation: Adaptation | None, words: Sequence[str] | None = None) -> Uncertainty:
        """Return `uncertainty` for another adaptation, as that of several texts; `words` are all it is asked about."""
        model = self.model
        vectors = model.vectors if words is None else model.vectors.subset(words)
        known = *as_compared(adaptation, self.sums, model.transform, vectors), model.typical
        if self.origin is None:
            return Uncertainty.of_sums(*known)
        return FusedUncertainty.of_fused(*known, replace(model.prior, adaptation=adaptation))

    @property
    def confidence(self) -> Doubles:
        """The expected cosine of each vector with what infinitely many contexts would give; NaN for spelling alone."""
        known = dict(zip(self.uncertainty.keys, self.uncertainty.confidence.tolist(), strict=True))
        return np.array([known.get(word, np.nan) for word in self.words])

    def update(self, corpus: CorpusLike, *targets: object, **options: Unpack[PassOptions]) -> "InducedVectors":
        """Return what one pass over the former text and this one together gives; this object stays as it is.

        Parameters
        ----------
        corpus
            More text, in which the same targets are looked for.
        *targets
            Others are refused, because the former text would have to be read again for them.
        **options
            As for `ALaCarte.collect`.

        Examples
        --------
        >>> from alacarte import ALaCarte, Transform
        >>> vectors = WordVectors(["a", "b"], [[1.0, 0.0], [0.0, 1.0]])
        >>> model = ALaCarte(vectors, Transform(np.eye(2)))
        >>> first = model.induce(["a x"], ["x"])
        >>> first.update(["x b"])["x"].tolist(), first["x"].tolist()
        ([0.5, 0.5], [1.0, 0.0])
        """
        refuse_unknown(self.update, options, PassOptions)
        if targets:
            raise BadTargets(
                "update() adds text for the same targets; others need the former text again: pass all text and all "
                "targets to `ALaCarte.induce`, or keep the text in a concordance (`Concordance.build`), which answers "
                "for any target"
            )
        if self.sums.targets is None:
            raise AlacarteError("sums over the whole vocabulary cannot be updated; add `ContextSums` instead")
        more = self.model.collect(corpus, self.sums.targets, spread=self.sums.spread, **options)
        return self.model.apply(self.sums + more, form=self.origin is not None)


def _transformed(transform: Transform, sums: ContextSums, rows: Rows) -> Singles:
    """Return the vectors of some rows, a block at a time; in a file of the system's own if they are large."""
    shape = len(rows), sums.dimension
    large = 4 * shape[0] * shape[1] > LARGE_RESULT
    result: Singles = scratch_file(shape, np.float32) if large else np.empty(shape, dtype=np.float32)
    for low in range(0, len(rows), TRANSFORMED_AT_ONCE):
        result[low : low + TRANSFORMED_AT_ONCE] = transform(sums.means(rows[low : low + TRANSFORMED_AT_ONCE]))
    result.flags.writeable = False  # so that it need not be copied
    return result


def _with_prior(prior: Prior, sums: ContextSums, transformed: Singles) -> tuple[Rows, Singles, tuple[str, ...]]:
    """Return (targets that have a vector, the vectors, where each comes from), with what was known before."""
    at = np.full(len(sums), -1, dtype=np.int64)
    at[sums.seen] = np.arange(len(sums.seen))
    result = np.empty((len(sums), sums.dimension), dtype=np.float32)
    origin: list[str] = []
    for low in range(0, len(sums), TRANSFORMED_AT_ONCE):
        part = at[low : low + TRANSFORMED_AT_ONCE]
        occurs = np.flatnonzero(part >= 0)
        x = np.zeros((len(part), sums.dimension))
        vectors = transformed[part[occurs]]
        x[occurs] = vectors if prior.adaptation is None else prior.adaptation.compared(vectors)
        names = sums.keys[low : low + TRANSFORMED_AT_ONCE]
        counts = np.where(part >= 0, sums.occurrences[low : low + TRANSFORMED_AT_ONCE], 0)
        fused = prior.combine(x, prior.rows(names), counts, names)
        result[low : low + TRANSFORMED_AT_ONCE] = fused.fused
        origin += fused.origin
    has = np.array([name != "nothing" for name in origin], dtype=bool)
    return np.flatnonzero(has), result[has], tuple(name for name in origin if name != "nothing")


def as_compared(
    adaptation: Adaptation | None, sums: ContextSums, transform: Transform, vectors: WordVectors
) -> tuple[ContextSums, Transform, WordVectors]:
    """Return sums, transform and words that give vectors as they are compared with each other and with words."""
    if adaptation is None:
        return sums, transform, vectors
    return sums.by_weight(), adaptation.transform(transform, shifted=False), adaptation.words(vectors)
