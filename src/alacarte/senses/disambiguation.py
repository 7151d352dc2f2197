"""Disambiguation: the sense of a word in its context is the candidate whose vector is nearest to the context's."""

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import count
from typing import Any, Literal

import numpy as np

from alacarte._io.arrays import Doubles, Longs
from alacarte.errors import AlacarteError, AlacarteWarning, BadWordNet, UnknownKey
from alacarte.model import ALaCarte
from alacarte.senses.annotated import Instance, Sentence
from alacarte.senses.segments import best, log_prior, owners, shares
from alacarte.senses.synset_vectors import BOTH_SIDES, NEAR_SIDES, sentence_sums
from alacarte.senses.wordnet import Synset, WordNet
from alacarte.targets.targets import Targets
from alacarte.vectors.geometry import unit_rows
from alacarte.vectors.word_vectors import WordVectors

Source = Literal["context", "prior", "only sense", "first sense", "no vector", "no synset"]

# Chosen on a split of SemCor, with the SemEval sets untouched: `alc eval wsd --tune` prints the search.
SHARPNESS, SHARPNESS_OF_TWO = 6.0, 7.0  # of one view, and of the mean of two
SMOOTHING = 8.0

PROBES = 1000  # senses that are looked up in the WordNet, to see whether they belong to it
UNLISTED_LIMIT = 0.01  # of these: with more, they belong to another WordNet


@dataclass(frozen=True, slots=True)
class Answer:
    """The sense of one word in its context.

    Parameters
    ----------
    word, lemma, pos : str
        What was asked.
    synset, key : str or None
        The id and the sense key of the answer; None if there is no answer.
    confidence : float
        The share of the chosen sense among all candidates.
    cosine : float or None
        Of the sense's vector and the context's.
    source : str
        What decided: "context" (the vectors), "prior" (the counts, as no context word has a vector), "only sense",
        "first sense" (the fallback), "no vector" (nothing can be compared) or "no synset" (WordNet does not list the
        word).
    definition : str
        The gloss of the synset.
    id : str
        The name of the instance.
    candidates : tuple of (str, float)
        Synset ids and their shares, the best first.
    """

    word: str
    lemma: str
    pos: str
    synset: str | None
    key: str | None
    confidence: float
    cosine: float | None
    source: Source
    definition: str = ""
    id: str = ""
    candidates: tuple[tuple[str, float], ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as a dictionary."""
        return asdict(self)


@dataclass(frozen=True, eq=False)
class Candidates:
    """The candidate senses of all instances in one list: those of instance i are `bounds[i]:bounds[i + 1]`."""

    bounds: Longs
    synsets: list[Synset]
    keys: list[str]
    cosines: Doubles  # nan for a synset without a vector, or a context without a word that has one


class Disambiguator:
    """Find the senses of words in their contexts.

    The score of a candidate is `sharpness` · cosine(context, sense) + log prior; the softmax of the scores is the
    confidence. With `near`, the cosine is the mean of two: of the sentence, and of the words next to the word.

    Parameters
    ----------
    model : ALaCarte
        Word vectors and transform: the model that `senses` were induced with.
    wordnet : WordNet
        Gives the senses of a lemma, in their order.
    senses : WordVectors
        Vectors keyed by synset id or sense key, as `induce_synsets`, `combined` or `graded` compute them.
    near : WordVectors, optional
        The same from near words, as `induce_synsets` and `gloss_vectors` compute them with `near=True`.
    counts : mapping of str to int, "wordnet" or None
        How often each sense key occurs, for a prior: as `sense_counts` gives it, or WordNet's own counts. None: no
        prior, as in the paper.
    sharpness : float, optional
        How many nats a difference of 1 in cosine counts for. By default 6, and with `near` 7.
    smoothing : float
        The prior is proportional to count + smoothing / (1 + rank).
    fallback : bool
        Whether to answer with the first sense where nothing can be compared.

    Raises
    ------
    BadWordNet
        If the senses belong to another WordNet, or if `counts="wordnet"` and it has no counts.

    See Also
    --------
    sentences_of_text : Sentences to disambiguate, from plain text.
    """

    def __init__(
        self,
        model: ALaCarte,
        wordnet: WordNet,
        senses: WordVectors,
        *,
        near: WordVectors | None = None,
        counts: Mapping[str, int] | Literal["wordnet"] | None = None,
        sharpness: float | None = None,
        smoothing: float = SMOOTHING,
        fallback: bool = False,
    ) -> None:
        views = [senses] if near is None else [senses, near]
        for one in views:
            if one.dimension != model.vectors.dimension:
                raise AlacarteError(
                    f"the senses have {one.dimension} dimensions and the model {model.vectors.dimension}; build the "
                    "senses with this model"
                )
        if sharpness is None:
            sharpness = SHARPNESS if near is None else SHARPNESS_OF_TWO
        if sharpness <= 0 or smoothing <= 0:
            raise AlacarteError(f"sharpness and smoothing are positive, not {sharpness} and {smoothing}")
        if counts == "wordnet":
            wordnet.require_counts()
        for one in views:
            check_inventory(one, wordnet)
        self.model = model
        self.wordnet = wordnet
        self.senses = senses
        self.near = near
        self.counts = counts
        self.sharpness = sharpness
        self.smoothing = smoothing
        self.fallback = fallback
        self._units = [unit_rows(one.matrix) for one in views]

    def predict(
        self, tokens: Sequence[str], lemma: str | None = None, pos: str = "", position: int | tuple[int, int] = 0
    ) -> Answer:
        """Return the sense of one word of a sentence.

        Parameters
        ----------
        tokens : sequence of str
            The sentence.
        lemma : str, optional
            By default the base forms of the word as it is written.
        pos : str
            "n", "v", "a", "r", or "" for any.
        position : int or (int, int)
            The place of the token, or (start, end) of several, counted from 0.
        """
        start, end = (position, position + 1) if isinstance(position, int) else position
        if not 0 <= start < end <= len(tokens):
            raise AlacarteError(f"position {position} does not lie within the {len(tokens)} tokens; count from 0")
        word = " ".join(tokens[start:end])
        sentence = Sentence(tuple(tokens), (Instance(start, end, lemma or word, pos),))
        return self.predict_all([sentence])[0]

    def predict_all(self, sentences: Iterable[Sentence]) -> list[Answer]:
        """Return an answer for each instance of each sentence, in order."""
        read = [sentence for sentence in sentences if sentence.instances]
        instances = [instance for sentence in read for instance in sentence.instances]
        if not instances:
            return []
        words = [" ".join(sentence.words[one.start : one.end]) for sentence in read for one in sentence.instances]
        candidates = self.candidates(read)
        bounds = candidates.bounds
        scores = self.scores(candidates)
        share = shares(scores, bounds)
        chosen = best(np.where(np.isnan(scores), -np.inf, scores), bounds)
        return [
            self._answer(instance, word, candidates, share, int(choice), range(int(low), int(high)))
            for instance, word, choice, low, high in zip(instances, words, chosen, bounds[:-1], bounds[1:], strict=True)
        ]

    def _answer(
        self, instance: Instance, word: str, candidates: Candidates, share: Doubles, choice: int, own: range
    ) -> Answer:
        """Return the answer for an instance with the candidates in the range `own`; `choice` has the best score."""
        unanswered = Answer(word, instance.lemma, instance.pos, None, None, 0.0, None, "no synset", id=instance.id)
        if not own:
            return unanswered
        source: Source = "context"
        confidence = float(share[choice])
        if len(own) == 1:
            source, confidence, choice = "only sense", 1.0, own.start
        elif np.isnan(candidates.cosines[own.start : own.stop]).all():
            if self.counts is not None:
                source = "prior"
            elif self.fallback:
                source, confidence, choice = "first sense", 1 / len(own), own.start
            else:
                return replace(unanswered, source="no vector")
        order = sorted(own, key=lambda place: (-share[place], place))
        ranked = tuple((candidates.synsets[place].id, float(share[place])) for place in order)
        cosine = float(candidates.cosines[choice])
        synset = candidates.synsets[choice]
        return replace(
            unanswered,
            synset=synset.id,
            key=candidates.keys[choice],
            confidence=confidence,
            cosine=None if np.isnan(cosine) else cosine,
            source=source,
            definition=synset.definition,
            candidates=ranked if len(own) > 1 else (),
        )

    # --------------------------------------------------------------------------------------------- scores

    def candidates(self, sentences: Sequence[Sentence]) -> Candidates:
        """Return the candidate senses of all instances, and their cosines with the contexts."""
        bounds, synsets, keys = [0], list[Synset](), list[str]()
        for sentence in sentences:
            for instance in sentence.instances:
                for lemma, synset in candidate_senses(self.wordnet, instance.lemma, instance.pos):
                    synsets.append(synset)
                    keys.append(synset.key(lemma))
                bounds.append(len(synsets))
        edges = np.array(bounds, dtype=np.int64)
        cosines = self._cosines(self.senses, self._units[0], self.contexts(sentences), synsets, keys, owners(edges))
        if self.near is not None:
            contexts = self.contexts(sentences, near=True)
            near = self._cosines(self.near, self._units[1], contexts, synsets, keys, owners(edges))
            cosines = np.where(np.isnan(near), cosines, (cosines + near) / 2)
        return Candidates(edges, synsets, keys, cosines)

    @staticmethod
    def _cosines(
        senses: WordVectors, units: Doubles, contexts: Doubles, synsets: list[Synset], keys: list[str], owner: Longs
    ) -> Doubles:
        """Return the cosine of each candidate with its context; NaN where one of them has no vector."""
        rows = senses.key_to_index
        places = np.array(
            [rows.get(synset.id, rows.get(key, -1)) for synset, key in zip(synsets, keys, strict=True)], dtype=np.intp
        )
        cosines = np.einsum("ij,ij->i", units[places], contexts[owner]) if len(places) else np.zeros(0)
        empty = np.asarray(~contexts.any(axis=1))
        return np.where((places < 0) | empty[owner], np.nan, cosines)

    def contexts(self, sentences: Sequence[Sentence], near: bool = False) -> Doubles:
        """Return the unit vector of each instance's context; zeros where no word of it has a vector."""
        numbers = count()
        documents = [sentence.document(lambda instance: [str(next(numbers))]) for sentence in sentences]
        names = list(map(str, range(next(numbers))))
        sides = NEAR_SIDES if near else BOTH_SIDES
        sums = sentence_sums(self.model, documents, Targets.spans(names), sides, sif=near)
        result = np.zeros((len(names), self.model.vectors.dimension))
        result[sums.seen] = unit_rows(self.model.transform(sums.means()))
        return result

    def scores(self, candidates: Candidates) -> Doubles:
        """Return the scores of candidates: sharpness · cosine, plus the log prior if there are counts.

        With a prior, a sense without a vector gets the mean cosine of the other candidates. Without a prior it cannot
        be chosen.
        """
        if self.counts is None:
            return np.where(np.isnan(candidates.cosines), -np.inf, self.sharpness * candidates.cosines)
        if self.counts == "wordnet":
            amounts = [self.wordnet.count(key) for key in candidates.keys]
        else:
            amounts = [self.counts.get(key, 0) for key in candidates.keys]
        prior = log_prior(np.array(amounts, dtype=np.float64), candidates.bounds, self.smoothing)
        return self.sharpness * fill_gaps(candidates.cosines, candidates.bounds) + prior


def check_inventory(senses: WordVectors, wordnet: WordNet) -> None:
    """Raise `BadWordNet` if many senses of a sample are not in this WordNet, and warn if a few are not."""
    names = senses.words[:: max(1, len(senses) // PROBES)]
    unknown = [name for name in names if not _is_listed(name, wordnet)]
    if not unknown:
        return
    message = (
        f"{len(unknown):,} of {len(names):,} senses that were looked up, such as {unknown[0]}, are not in "
        f"{wordnet.name} (version {wordnet.version or 'unknown'}); use the WordNet that they were built with, or build "
        "them again"
    )
    if len(unknown) > UNLISTED_LIMIT * len(names):
        raise BadWordNet(message)
    warnings.warn(message, AlacarteWarning, stacklevel=3)


def _is_listed(name: str, wordnet: WordNet) -> bool:
    try:
        return bool(wordnet.by_key(name) if "%" in name else wordnet.synset(name))
    except UnknownKey:
        return False


def fill_gaps(cosines: Doubles, bounds: Longs) -> Doubles:
    """Return the values with gaps (nan) filled by the mean of the choice's other values, or by 0.

    Examples
    --------
    >>> fill_gaps(np.array([0.2, np.nan, 0.4, np.nan]), np.array([0, 3, 4])).round(2).tolist()
    [0.2, 0.3, 0.4, 0.0]
    """
    owner = owners(bounds)
    there = ~np.isnan(cosines)
    number = np.bincount(owner[there], minlength=len(bounds) - 1)
    total = np.bincount(owner[there], cosines[there], len(bounds) - 1)
    return np.where(there, cosines, (total / np.maximum(number, 1))[owner])


def candidate_senses(wordnet: WordNet, lemma: str, pos: str) -> list[tuple[str, Synset]]:
    """Return (lemma, synset) in sense order, of the lemma as given or, if it is not listed, of its base forms."""
    if pos:
        listed = wordnet.synsets(lemma, pos)
        return [(lemma, synset) for synset in listed] if listed else wordnet.find(lemma, pos)
    return wordnet.find(lemma)
