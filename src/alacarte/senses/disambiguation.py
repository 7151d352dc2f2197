"""Which sense a word has in its context: the candidate synset whose vector is nearest to the context's."""

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from alacarte.contexts.sums import ContextSums
from alacarte.errors import AlacarteError, AlacarteWarning, BadWordNet, UnknownKey
from alacarte.model import ALaCarte
from alacarte.senses.annotated import Instance, Sentence
from alacarte.senses.segments import best, log_prior, owners, shares
from alacarte.senses.sentence_sums import BOTH_SIDES, sentence_sums
from alacarte.senses.wordnet import Synset, WordNet
from alacarte.targets.targets import Targets
from alacarte.text.corpus import Document
from alacarte.vectors.geometry import unit_rows
from alacarte.vectors.word_vectors import WordVectors

Doubles = npt.NDArray[np.float64]
Longs = npt.NDArray[np.int64]
Source = Literal["context", "prior", "only sense", "first sense", "no vector", "no synset"]

# Chosen on a split of SemCor, with the SemEval sets untouched: `alc eval wsd --tune` prints the search.
SHARPNESS = 6.0
SMOOTHING = 8.0

PROBES = 1000  # senses that are looked up to see whether they belong to this WordNet
STRANGE = 0.01  # of these: with more, they do not


@dataclass(frozen=True, slots=True)
class Answer:
    """The sense of one word. `synset` and `key` are None where there is no answer; `source` says why.

    `source` is `context` (the vectors decided), `prior` (no context word has a vector, so the counts did), `only
    sense`, `first sense` (the fallback), `no vector` (nothing to compare, and no fallback asked for) or `no synset`
    (WordNet does not list the word). `confidence` is the share of the chosen sense among all candidates.
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
    candidates: tuple[tuple[str, float], ...] = ()  # (synset id, share), the best first

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, eq=False)
class Candidates:
    """All candidate senses of all instances, flat: those of instance i are `bounds[i]:bounds[i + 1]`."""

    bounds: Longs
    synsets: list[Synset]
    keys: list[str]
    cosines: Doubles  # nan for a synset without a vector, or a context without a word that has one


class Disambiguator:
    """Finds senses of words in context.

    Args:
        model: word vectors and transform, the one that `senses` were induced with.
        wordnet: what senses a lemma has, in which order.
        senses: vectors keyed by synset id (or by sense key), as `induce_synsets`, `graded` and others make them.
        counts: how often each sense key was met, for a prior: a mapping such as `sense_counts` gives, or
            `"wordnet"` for WordNet's own, an error where it has none. None: no prior, nearest vector wins, as in the
            paper.
        sharpness: how many nats a difference of 1 in cosine is worth, against the prior and for confidences.
        smoothing: see `segments.log_prior`.
        fallback: answer with the first sense where there is nothing to compare.
        sides: how many words before and after count; by default all of the sentence.
    """

    def __init__(
        self,
        model: ALaCarte,
        wordnet: WordNet,
        senses: WordVectors,
        *,
        counts: Mapping[str, int] | Literal["wordnet"] | None = None,
        sharpness: float = SHARPNESS,
        smoothing: float = SMOOTHING,
        fallback: bool = False,
        sides: tuple[int, int] = BOTH_SIDES,
    ) -> None:
        if senses.dimension != model.vectors.dimension:
            raise AlacarteError(
                f"the senses have {senses.dimension} dimensions and the model {model.vectors.dimension}; build the "
                "senses with this model"
            )
        if sharpness <= 0 or smoothing <= 0:
            raise AlacarteError(f"sharpness and smoothing are positive, not {sharpness} and {smoothing}")
        if counts == "wordnet":
            wordnet.require_counts()
        check_inventory(senses, wordnet)
        self.model = model
        self.wordnet = wordnet
        self.senses = senses
        self.counts = counts
        self.sharpness = sharpness
        self.smoothing = smoothing
        self.fallback = fallback
        self.sides = sides
        self._units = unit_rows(senses.matrix)

    def predict(
        self, tokens: Sequence[str], lemma: str | None = None, pos: str = "", position: int | tuple[int, int] = 0
    ) -> Answer:
        """The sense of the token at `position`, or of the tokens in the range (start, end), of one sentence.

        Without `lemma`, the word as written is looked up with WordNet's morphology; `pos` is n, v, a, r or "" for
        any.
        """
        start, end = (position, position + 1) if isinstance(position, int) else position
        if not 0 <= start < end <= len(tokens):
            raise AlacarteError(f"position {position} does not lie within the {len(tokens)} tokens; count from 0")
        word = " ".join(tokens[start:end])
        sentence = Sentence(tuple(tokens), (Instance(start, end, lemma or word, pos),))
        return self.predict_all([sentence])[0]

    def predict_all(self, sentences: Iterable[Sentence]) -> list[Answer]:
        """An answer for every instance of every sentence, in order, in one pass."""
        read = [sentence for sentence in sentences if sentence.instances]
        instances = [instance for sentence in read for instance in sentence.instances]
        if not instances:
            return []
        words = [
            " ".join(sentence.words[instance.start : instance.end])
            for sentence in read
            for instance in sentence.instances
        ]
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
        """The answer for one instance, whose candidates are those in the range `own`; `choice` has the best score."""
        if not own:
            return Answer(word, instance.lemma, instance.pos, None, None, 0.0, None, "no synset", id=instance.id)
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
                return Answer(word, instance.lemma, instance.pos, None, None, 0.0, None, "no vector", id=instance.id)
        order = sorted(own, key=lambda place: (-share[place], place))
        ranked = tuple((candidates.synsets[place].id, float(share[place])) for place in order)
        cosine = float(candidates.cosines[choice])
        synset = candidates.synsets[choice]
        return Answer(
            word,
            instance.lemma,
            instance.pos,
            synset.id,
            candidates.keys[choice],
            confidence,
            None if np.isnan(cosine) else cosine,
            source,
            synset.definition,
            instance.id,
            ranked if len(own) > 1 else (),
        )

    # --------------------------------------------------------------------------------------------- scores

    def candidates(self, sentences: Sequence[Sentence]) -> Candidates:
        """The candidate senses of all instances and their cosines with their contexts."""
        contexts = self.contexts(sentences)
        bounds, synsets, keys, rows = [0], list[Synset](), list[str](), list[int]()
        for sentence in sentences:
            for instance in sentence.instances:
                for lemma, synset in candidate_senses(self.wordnet, instance.lemma, instance.pos):
                    key = synset.key(lemma)
                    row = self.senses.key_to_index.get(synset.id)
                    synsets.append(synset)
                    keys.append(key)
                    rows.append(self.senses.key_to_index.get(key, -1) if row is None else row)
                bounds.append(len(synsets))
        edges = np.array(bounds, dtype=np.int64)
        owner, places = owners(edges), np.array(rows, dtype=np.intp)
        cosines = np.einsum("ij,ij->i", self._units[places], contexts[owner]) if len(rows) else np.zeros(0)
        empty = np.asarray(~contexts.any(axis=1))
        return Candidates(edges, synsets, keys, np.where((places < 0) | empty[owner], np.nan, cosines))

    def contexts(self, sentences: Sequence[Sentence]) -> Doubles:
        """The unit vector of each instance's context; zeros where no word of it has a vector."""
        names: list[str] = []
        documents: list[Document] = []
        for sentence in sentences:

            def label(instance: Instance) -> list[str]:
                names.append(str(len(names)))
                return names[-1:]

            documents.append(sentence.document(label))
        sums: ContextSums = sentence_sums(self.model, documents, Targets.spans(names), self.sides)
        result = np.zeros((len(names), self.model.vectors.dimension))
        result[sums.seen] = unit_rows(self.model.transform(sums.means()))
        return result

    def scores(self, candidates: Candidates) -> Doubles:
        """What decides: sharpness · cosine, plus the log prior where there are counts.

        With a prior, a sense without a vector is given the mean cosine of the others, which speaks neither for nor
        against it; without, it cannot be chosen.
        """
        if self.counts is None:
            return np.where(np.isnan(candidates.cosines), -np.inf, self.sharpness * candidates.cosines)
        if self.counts == "wordnet":
            amounts = [self.wordnet.count(key) for key in candidates.keys]
        else:
            amounts = [self.counts.get(key, 0) for key in candidates.keys]
        prior = log_prior(np.array(amounts, dtype=np.float64), candidates.bounds, self.smoothing)
        return self.sharpness * filled(candidates.cosines, candidates.bounds) + prior


def check_inventory(senses: WordVectors, wordnet: WordNet) -> None:
    """Synset ids mean something in one version of WordNet only: an error where many of a sample are not in this one,
    and a warning where a few are not."""
    names = senses.words[:: max(1, len(senses) // PROBES)]
    unknown = [name for name in names if not _is_listed(name, wordnet)]
    if not unknown:
        return
    message = (
        f"{len(unknown):,} of {len(names):,} senses that were looked up, such as {unknown[0]}, are not in "
        f"{wordnet.name} (version {wordnet.version or 'unknown'}); use the WordNet that they were built with, or build "
        "them again"
    )
    if len(unknown) > STRANGE * len(names):
        raise BadWordNet(message)
    warnings.warn(message, AlacarteWarning, stacklevel=3)


def _is_listed(name: str, wordnet: WordNet) -> bool:
    if "%" in name:
        return wordnet.find_key(name) is not None
    try:
        wordnet.synset(name)
    except UnknownKey:
        return False
    return True


def filled(cosines: Doubles, bounds: Longs) -> Doubles:
    """Gaps (nan) filled with the mean of the choice's other values, or 0.

    >>> filled(np.array([0.2, np.nan, 0.4, np.nan]), np.array([0, 3, 4])).round(2).tolist()
    [0.2, 0.3, 0.4, 0.0]
    """
    owner = owners(bounds)
    there = ~np.isnan(cosines)
    number = np.bincount(owner[there], minlength=len(bounds) - 1)
    total = np.bincount(owner[there], cosines[there], len(bounds) - 1)
    return np.where(there, cosines, (total / np.maximum(number, 1))[owner])


def candidate_senses(wordnet: WordNet, lemma: str, pos: str) -> list[tuple[str, Synset]]:
    """(lemma, synset) in sense order: of the lemma as given, or, if it is not listed, of its base forms."""
    if pos:
        listed = wordnet.synsets(lemma, pos)
        return [(lemma, synset) for synset in listed] if listed else wordnet.find(lemma, pos)
    return wordnet.find(lemma)
