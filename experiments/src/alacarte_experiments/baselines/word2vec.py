"""word2vec, trained again with the contexts of the new words in its corpus: what à la carte saves one from.

gensim's word2vec (extra `gensim`). Its vectors live in a space of their own: nothing of it can be compared with
the vectors that the other systems use, only with its own.
"""

import copy
import shutil
import tempfile
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from alacarte import Corpus, WordVectors
from alacarte.errors import NoOccurrences, NotEnoughData, require
from alacarte.model import SLOT, Contexts
from alacarte.passes.scan import scan
from alacarte.passes.work import Work
from alacarte.text.corpus import CorpusLike
from alacarte.text.encoding import Encoder, Lexicon
from alacarte.text.tokenizers import Tokenizer, TokenizerLike, get_tokenizer

Singles = npt.NDArray[np.float32]
NEW = "\u2423new\u2423"  # what a new word is called inside: no tokenizer gives this


class _Sentences:
    """Lines of tokens in a file, and more sentences behind them; read anew in every epoch."""

    def __init__(self, path: Path, more: Sequence[Sequence[str]] = ()) -> None:
        self.path, self.more = path, more

    def __iter__(self) -> Iterator[list[str]]:
        with self.path.open(encoding="utf-8") as lines:
            for line in lines:
                yield line.split()
        for sentence in self.more:
            yield list(sentence)


@dataclass(frozen=True)
class Word2VecTraining:
    """How word2vec is trained: skip-gram with so many negatives, words that occur `min_count` times."""

    window: int = 5
    epochs: int = 5
    negative: int = 5
    min_count: int = 5
    sample: float = 1e-3
    seed: int = 0
    threads: int = 1


class RetrainedWord2Vec:
    """word2vec on a corpus (`fit`), continued on contexts of one new word (`embed`), or trained again (`retrain`).

    `embed` is the paper's "word2vec" of Table 1: the trained model goes on with the new sentences alone. `retrain`
    is that of Figure 2: everything is trained from scratch on the corpus and the contexts.
    """

    def __init__(
        self,
        text: Path,
        dimension: int,
        training: Word2VecTraining,
        tokenizer: Tokenizer,
        known: Mapping[str, int],
    ) -> None:
        self._text, self._dimension, self._training = text, dimension, training
        self._tokenizer, self._known = tokenizer, known
        self._finalizer = weakref.finalize(self, shutil.rmtree, text.parent, ignore_errors=True)

    @cached_property
    def model(self) -> Any:
        """gensim's model of the corpus alone, trained when first needed."""
        return _train(_Sentences(self._text), self._dimension, self._training)

    @cached_property
    def vectors(self) -> WordVectors:
        """The vectors of the corpus alone."""
        return _vectors(self.model)

    @classmethod
    def fit(
        cls,
        vectors: WordVectors | int,
        corpus: CorpusLike,
        training: Word2VecTraining | None = None,
        *,
        tokenizer: TokenizerLike = "words",
        show_progress: bool | None = None,
    ) -> Self:
        """Skip-gram with negative sampling; of `vectors` only the dimension and the words' spelling count.

        Nothing is trained yet: `embed` trains on the corpus first, `retrain` does not need to.
        """
        require("gensim", extra="gensim", purpose="word2vec")
        dimension = vectors if isinstance(vectors, int) else vectors.dimension
        known: Mapping[str, int] = {} if isinstance(vectors, int) else vectors.key_to_index
        split = get_tokenizer(tokenizer)
        text = Path(tempfile.mkdtemp(prefix="alacarte-")) / "tokens.txt"
        with text.open("w", encoding="utf-8") as file:
            for tokens in token_lists(corpus, split, known, show_progress):
                file.write(" ".join(tokens) + "\n")
        return cls(text, dimension, training or Word2VecTraining(), split, known)

    def embed(self, contexts: Contexts, target: str | None = None) -> Singles:
        """Go on training a copy with these contexts alone; the vector that the new word gets."""
        if isinstance(contexts, str):
            contexts = [contexts]
        own = None if target is None else " ".join(self._tokens(target))
        sentences = [self._marked(context, own) for context in contexts]
        if not sentences:
            raise NoOccurrences("there is no context to embed; give at least one")
        model = copy.deepcopy(self.model)
        model.min_count = 1
        model.build_vocab(sentences, update=True)
        model.train(sentences, total_examples=model.corpus_count, epochs=model.epochs)
        return np.array(model.wv[NEW], dtype=np.float32)

    def embed_definition(self, text: str, word: str | None = None) -> Singles:
        """The vector from a definition, in which the slot `___` (or the word itself) stands for the word."""
        return self.embed([text], target=word)

    def _marked(self, context: str | Sequence[str], own: str | None) -> list[str]:
        tokens = self._tokens(context)
        marked = [NEW if SLOT.match(token) or token == own else token for token in tokens]
        known = [token for token in marked if token == NEW or token in self.model.wv]
        return known if NEW in known else [NEW, *known]

    def retrain(self, contexts: Mapping[str, Iterable[str | Sequence[str]]]) -> WordVectors:
        """Vectors for these words, each from its contexts, by training everything from scratch.

        The words' own occurrences in the corpus are left out. The other words' vectors come with them: only those
        share their space.
        """
        new = {word: f"{NEW}{word}" for word in contexts}
        more: list[list[str]] = []
        for word, texts in contexts.items():
            for text in texts:
                tokens = self._tokens(text)
                more.append([new[word] if token == word or SLOT.match(token) else token for token in tokens])
        model = _train(_Sentences(self._text, more), self._dimension, self._training, keep=frozenset(new.values()))
        trained = _vectors(model)
        names = {marked: word for word, marked in new.items()}
        kept = [row for row, word in enumerate(trained.words) if word not in contexts]  # their old occurrences
        return WordVectors([names.get(trained.words[row], trained.words[row]) for row in kept], trained.matrix[kept])

    def _tokens(self, text: str | Sequence[str]) -> list[str]:
        return self._tokenizer(text, self._known) if isinstance(text, str) else list(text)


def token_lists(
    corpus: CorpusLike, tokenizer: Tokenizer, known: Mapping[str, int], show_progress: bool | None = None
) -> Iterator[list[str]]:
    """The tokens of each document that has any, in the order of the text; `known` words are left whole.

    >>> list(token_lists(["An e-mail.", ["as", "is"]], get_tokenizer("words"), {"e-mail": 0}))
    [['an', 'e-mail', '.'], ['as', 'is']]
    """
    lexicon = Lexicon(known, grow=True)
    encoder = Encoder(tokenizer, lexicon)
    for block in scan(Corpus.of(corpus), encoder, Work(show_progress=show_progress), "tokens"):
        ids, inverse = np.unique(block.ids, return_inverse=True)
        tokens = np.array([lexicon.word(token) for token in ids.tolist()], dtype=object)[inverse].tolist()
        for low, high in pairwise(block.offsets.tolist()):
            if low < high:
                yield tokens[low:high]


def _train(
    sentences: _Sentences, dimension: int, training: Word2VecTraining, keep: frozenset[str] = frozenset()
) -> Any:
    word2vec = require("gensim.models.word2vec", extra="gensim", purpose="word2vec")
    utils = require("gensim.utils", extra="gensim", purpose="word2vec")

    def rule(word: str, count: int, min_count: int) -> int:
        return int(utils.RULE_KEEP if word in keep else utils.RULE_DEFAULT)

    try:
        return word2vec.Word2Vec(
            sentences,
            vector_size=dimension,
            sg=1,
            window=training.window,
            epochs=training.epochs,
            negative=training.negative,
            min_count=training.min_count,
            sample=training.sample,
            seed=training.seed,
            workers=training.threads,
            trim_rule=rule if keep else None,
        )
    except RuntimeError as error:
        raise NotEnoughData(f"word2vec has too little text to train on ({error}); give more") from None


def _vectors(model: Any) -> WordVectors:
    return WordVectors(model.wv.index_to_key, model.wv.vectors)
