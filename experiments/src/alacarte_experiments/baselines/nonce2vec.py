"""nonce2vec: an additive start, then a few bold skip-gram steps on the new word alone.

Herbelot & Baroni, "High-risk learning: acquiring new word vectors from tiny data", EMNLP 2017, written from the
paper and from the commands published with it. Where it must differ:

- word2vec has a second matrix, of context vectors; GloVe and most published vectors have none. The word vectors
  serve as context vectors.
- Only the new word moves. (The code published later also moves the context vectors a little.)
- Subsampling keeps a word with probability min(1, (√(c/t) + 1) · t/c), t = 10,000 occurrences in about 1.6 billion
  tokens of text; t is scaled to the size of the corpus the counts come from.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from alacarte import Corpus, Targets, WordVectors
from alacarte.errors import NoOccurrences, NotEnoughData
from alacarte.model import SLOT, Contexts
from alacarte.passes.collect import count_words
from alacarte.passes.scan import scan
from alacarte.passes.work import Work
from alacarte.targets.targets import TargetsLike
from alacarte.text.corpus import CorpusLike
from alacarte.text.encoding import Encoder, Lexicon
from alacarte.text.tokenizers import TokenizerLike, get_tokenizer
from alacarte.vectors.word_vectors import VectorsLike
from alacarte_experiments.baselines._skipgram import train_one

Counts = npt.NDArray[np.int64]
Singles = npt.NDArray[np.float32]
Doubles = npt.NDArray[np.float64]
Rows = npt.NDArray[np.int64]

PUBLISHED_TOKENS = 1.6e9  # of the text behind the published sampling threshold
HERE = -2  # where the new word stands
OTHER = -1  # a word without a vector


class NonceVectors(WordVectors):
    """What `Nonce2Vec.induce` gives: vectors, `counts` of contexts used, and the targets that are `missing`."""

    counts: Counts
    missing: list[str]


@dataclass(frozen=True)
class Nonce2VecTraining:
    """How nonce2vec learns. The defaults are the published ones.

    The rate decays as exp(−(n − 1)/`decay`) over the n-th pair of new word and context word, down to `min_rate`; the
    window loses `window_decay` with each sentence (from the fourth on nothing is learned); sampling keeps
    `sample_decay` times fewer words with each sentence. `seed` is of whatever is random.
    """

    rate: float = 1.0
    decay: float = 70.0
    min_rate: float = 1e-4
    window: int = 15
    window_decay: int = 5
    sample: float = 10_000.0
    sample_decay: float = 1.9
    negatives: int = 3
    seed: int = 0


PUBLISHED = Nonce2VecTraining()


class Nonce2Vec:
    """Vectors for new words from very few sentences, as `ALaCarte` gives them; random, the same for the same seed.

    >>> vectors = WordVectors(["a", "b", "c"], [[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]])
    >>> model = Nonce2Vec(vectors, np.array([10, 10, 10]), Nonce2VecTraining(sample=1e12))
    >>> model.embed("a x b", target="x").shape
    (2,)
    """

    def __init__(
        self,
        vectors: VectorsLike,
        counts: npt.ArrayLike,
        training: Nonce2VecTraining = PUBLISHED,
        *,
        tokenizer: TokenizerLike = "words",
    ) -> None:
        self.vectors = WordVectors.of(vectors)
        self.training = training
        occurrences = np.asarray(counts, dtype=np.float64)
        if occurrences.shape != (len(self.vectors),):
            raise NotEnoughData(f"{occurrences.size} counts for {len(self.vectors)} vectors; give one for each")
        if not occurrences.any():
            raise NotEnoughData("no word of the vectors occurs in the corpus; give text in their language and case")
        self.context: Singles = np.asarray(self.vectors.matrix, dtype=np.float32)
        self.tokenizer = get_tokenizer(tokenizer)
        threshold = training.sample * occurrences.sum() / PUBLISHED_TOKENS
        share = threshold / np.maximum(occurrences, 1e-12)
        self._keep: Doubles = np.minimum(1.0, np.sqrt(share) + share)
        noise = occurrences**0.75
        self._noise: Doubles = np.cumsum(noise) / noise.sum()

    @classmethod
    def fit(
        cls,
        vectors: VectorsLike,
        corpus: CorpusLike,
        training: Nonce2VecTraining = PUBLISHED,
        *,
        tokenizer: TokenizerLike = "words",
        show_progress: bool | None = None,
    ) -> Self:
        """Count words in a corpus: all that is learned from it."""
        source = WordVectors.of(vectors)
        counts = count_words(source, corpus, tokenizer, show_progress=show_progress)
        return cls(source, counts, training, tokenizer=tokenizer)

    def embed(self, contexts: Contexts, target: str | None = None, *, each: bool = False) -> Singles:
        """The vector of a new word from contexts in which it is `target`, or the slot `___`.

        Where a context holds neither, all its words are within the window.
        """
        if isinstance(contexts, str):
            contexts = [contexts]
        known = self.vectors.key_to_index
        wanted = None if target is None else self.tokenizer(target, known)
        sentences = [
            self.encode(self.tokenizer(context, known) if isinstance(context, str) else context, wanted)
            for context in contexts
        ]
        if not sentences:
            raise NoOccurrences("there is no context to embed; give at least one")
        if each:
            return np.stack([self.embed_rows([sentence]) for sentence in sentences])
        return self.embed_rows(sentences)

    def embed_definition(self, text: str, word: str | None = None) -> Singles:
        """The vector of a word from its definition, in which the slot `___` (or the word itself) stands for it."""
        return self.embed([text], target=word)

    def encode(self, tokens: Iterable[str], wanted: Sequence[str] | None = None) -> Rows:
        """Tokens as rows of the vectors; `HERE` where the new word stands, `OTHER` for unknown words."""
        sequence = list(tokens)
        get = self.vectors.key_to_index.get
        rows = [HERE if SLOT.match(token) else get(token, OTHER) for token in sequence]
        length = len(wanted) if wanted else 0
        if wanted and length:
            for start in range(len(sequence) - length + 1):
                if sequence[start : start + length] == list(wanted):
                    rows[start : start + length] = [HERE] + [OTHER] * (length - 1)
        return np.array(rows, dtype=np.int64)

    def embed_rows(self, sentences: Sequence[Rows], seed: int | None = None) -> Singles:
        """The vector from encoded sentences: the start is a sum over all, the steps go through them in turn."""
        rng = np.random.default_rng([self.training.seed, 0 if seed is None else seed + 1])
        everything = np.concatenate(sentences)
        known = everything[everything >= 0]
        if not known.size:
            raise NotEnoughData("none of the context words has a vector; give a context with known words")
        kept = known[rng.random(known.size) < self._keep[known]]
        start = kept if kept.size else known  # all of it sampled away: better a rough start than none
        vector: Doubles = self.vectors.matrix[start].sum(axis=0, dtype=np.float64)
        pairs: list[Rows] = []
        window = self.training.window
        for number, sentence in enumerate(sentences):
            if window <= 0:
                break
            pairs.append(self._pairs(sentence, window, self.training.sample_decay**-number, rng))
            if window > 3:
                window -= self.training.window_decay
        words = np.concatenate(pairs)
        rates = np.maximum(
            self.training.rate * np.exp(-np.arange(words.size) / self.training.decay), self.training.min_rate
        )
        noise = np.searchsorted(self._noise, rng.random((words.size, self.training.negatives)), side="right")
        noise = np.minimum(noise, len(self._noise) - 1)
        noise = np.where(noise == words[:, None], (noise + 1) % len(self._noise), noise)
        train_one(vector, self.context, words, noise, rates)
        return vector.astype(np.float32)

    def _pairs(self, sentence: Rows, window: int, scale: float, rng: np.random.Generator) -> Rows:
        """The context words that are trained on, once for each place of the new word within the window."""
        chance = np.where(sentence >= 0, self._keep[sentence] * scale, 0.0)
        stays = (rng.random(sentence.size) < chance) | (sentence == HERE)
        rest = sentence[stays]
        places = np.flatnonzero(rest == HERE)
        words = np.flatnonzero(rest >= 0)
        if not places.size:
            everywhere: Rows = rest[words]
            return everywhere
        near = (np.abs(words[:, None] - places[None, :]) <= window).sum(axis=1)
        result: Rows = np.repeat(rest[words], near)
        return result

    def induce(
        self,
        corpus: CorpusLike,
        targets: TargetsLike,
        *,
        max_contexts: int = 128,
        show_progress: bool | None = None,
    ) -> NonceVectors:
        """A vector for each target, from its first `max_contexts` occurrences in a corpus."""
        wanted, source = Targets.of(targets), Corpus.of(corpus)
        lexicon = Lexicon(self.vectors.key_to_index)
        matcher = wanted.compile(lexicon, self.tokenizer)
        encoder = Encoder(self.tokenizer, lexicon)
        contexts: list[list[Rows]] = [[] for _ in wanted]
        for block in scan(source, encoder, Work(show_progress=show_progress)):
            ids = np.where(block.ids < lexicon.known, block.ids, OTHER).astype(np.int64)
            matches = matcher.match(block)
            documents = np.searchsorted(block.offsets, matches.starts, side="right")
            places = (column.tolist() for column in (matches.starts, matches.ends, matches.targets, documents))
            for start, end, target, document in zip(*places, strict=True):
                if len(contexts[target]) < max_contexts:
                    low = max(int(block.offsets[document - 1]), start - self.training.window)
                    high = min(int(block.offsets[document]), end + self.training.window)
                    contexts[target].append(np.concatenate([ids[low:start], [HERE], ids[end:high]]))
        keys, rows, counts, missing = [], [], [], []
        for key, sentences in zip(wanted, contexts, strict=True):
            if any((sentence >= 0).any() for sentence in sentences):
                keys.append(key)
                rows.append(self.embed_rows(sentences))
                counts.append(len(sentences))
            else:
                missing.append(key)
        if not keys:
            raise NotEnoughData("none of the targets occurs in the corpus beside a word that has a vector")
        result = NonceVectors(keys, np.stack(rows))
        result.counts, result.missing = np.array(counts, dtype=np.int64), missing
        return result
