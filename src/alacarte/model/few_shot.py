"""Vectors from single contexts, definitions and spelling: the part of `ALaCarte` that reads no corpus."""

import re
from collections.abc import Iterable
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from alacarte._io.arrays import Doubles, Longs, Singles
from alacarte.contexts.reading import Reading, ReadingOptions
from alacarte.errors import AlacarteError, BadTransform, BadVectors, NotEnoughData, TransformMismatch
from alacarte.model.embedding import Absent, ContextReader, Contexts, ContextSum, total
from alacarte.spelling.form import FormModel, FormVector
from alacarte.spelling.fusion import DEFINITION, Fusion, Parts
from alacarte.spelling.prior import Prior, is_phrase
from alacarte.text.tokenizers import Tokenizer, TokenizerLike, get_tokenizer
from alacarte.transform.register import Adaptation, Register
from alacarte.transform.transform import Transform
from alacarte.uncertainty.spread import TypicalSpread
from alacarte.vectors.keyed_matrix import GENSIM, KeyedMatrix
from alacarte.vectors.word_vectors import VectorsLike, WordVectors

NO_FORM = (
    "this model has no vectors from spelling; `model = model.with_form()` gives one that has, and "
    "`ALaCarte.fit(…, form=True)` learns them with the transform"
)
SLOT = re.compile(r"_+$")


class FewShotModel:
    """What `ALaCarte` does with single contexts; its parameters are described there."""

    def __init__(
        self,
        vectors: VectorsLike,
        transform: Transform | None = None,
        *,
        tokenizer: TokenizerLike | None = None,
        check: bool = True,
        form: FormModel | None = None,
        fusion: Fusion | None = None,
        typical: TypicalSpread | None = None,
        register: Register | None = None,
        definitions: Register | None = None,
    ) -> None:
        if not isinstance(transform, Transform):
            raise BadTransform(
                "a model has vectors and a `Transform` for them: `ALaCarte.pretrained` brings both, `ALaCarte.fit` "
                "learns one from text, and `Transform.load` reads one"
            )
        self.vectors = WordVectors.of(vectors)
        self.register = register
        self.definitions = definitions
        self.typical = typical
        self.fusion = fusion
        self.form = form
        self.check = check
        if form is not None and form.dimension != self.vectors.dimension:
            raise TransformMismatch(
                f"the form model has {form.dimension} dimensions and the vectors have {self.vectors.dimension}; "
                "use the one learned for these vectors"
            )
        if check or self.vectors.dimension != transform.dimension:
            transform.check_vectors(self.vectors)
        weights = transform.weights.for_vectors(self.vectors)
        self.transform = transform if weights is transform.weights else replace(transform, weights=weights)
        self.settings = transform.settings or Reading()
        self._tokenizer = None if tokenizer is None else get_tokenizer(tokenizer)
        if self._tokenizer is not None:
            self.settings = replace(self.settings, tokenizer=self._tokenizer.name)
        self.adaptation = None if register is None else register.adaptation()
        self.adapted = _adapted(self.transform, self.adaptation)  # what `embed` applies
        self._reader = self._reading_with(self.adapted)
        self._definition_reader = self._reader
        if definitions is not None:
            self._definition_reader = self._reading_with(_adapted(self.transform, definitions.adaptation()))

    if not TYPE_CHECKING:

        def __getattr__(self, name):
            """Say where the words are that gensim's users ask a model for."""
            known = name == "wv" or (not name.startswith("_") and hasattr(KeyedMatrix, name)) or name in GENSIM
            advice = "; the words are in `model.vectors`" if known else ""
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}{advice}")

    def _reading_with(self, transform: Transform) -> ContextReader:
        return ContextReader(self.vectors, transform, self.context_settings, self.tokens)

    @property
    def context_settings(self) -> Reading:
        """How contexts are read that `adapted` is applied to; the averaging may differ from that of `settings`."""
        averaging = (self.adapted.settings or self.settings).averaging
        return replace(self.settings, averaging=averaging)

    @property
    def compared(self) -> Transform:
        """What turns average contexts into vectors as they are compared with those of `vocabulary`."""
        return self.transform if self.adaptation is None else self.adaptation.transform(self.transform, shifted=False)

    @property
    def tokenizer(self) -> Tokenizer:
        """How this model splits text."""
        if self._tokenizer is None:
            self._tokenizer = get_tokenizer(self.settings.tokenizer)
        return self._tokenizer

    def tokens(self, text: str) -> list[str]:
        """Return a text as this model splits it.

        >>> from alacarte import ALaCarte, Transform, WordVectors
        >>> ALaCarte(WordVectors(["a"], [[1.0]]), Transform(np.eye(1))).tokens("A, b")
        ['a', ',', 'b']
        """
        return self.tokenizer(text, self.vectors.key_to_index)

    @property
    def reading(self) -> ReadingOptions:
        """How this model reads contexts, as keywords of `alacarte.collect`.

        >>> from alacarte import ALaCarte, Transform, WordVectors
        >>> ALaCarte(WordVectors(["a"], [[1.0]]), Transform(np.eye(1))).reading["window"]
        (10, 10)
        """
        return {
            "window": (self.settings.left, self.settings.right),
            "averaging": self.settings.averaging,
            "positions": self.settings.positions,
            "context_weights": self.transform.weights,
            "tokenizer": self.tokenizer,
            "unknown": self.settings.unknown,
        }

    @cached_property
    def vocabulary(self) -> WordVectors:
        """The words of the vectors as `nearest` compares them; for a model without a register, as they are."""
        return self.vectors if self.adaptation is None else self.adaptation.words(self.vectors)

    def nearest(
        self, vector: npt.ArrayLike, k: int = 10, *, among: int | None = None, without: str | None = None
    ) -> Any:
        """Return the nearest words of a vector that `embed` gave, or of each row of a matrix.

        For vectors that `induce` gave, see `InducedVectors.neighbours`.

        Parameters
        ----------
        vector
            One vector, or several as rows.
        k
            How many words.
        among
            Among how many of the first words, which are the most frequent ones; by default all.
        without
            A word to leave out, such as the one that the vector is for.

        Returns
        -------
        list
            Pairs of word and cosine, the nearest first; for a matrix, a list of them for each row.

        Examples
        --------
        >>> from alacarte import ALaCarte, Transform, WordVectors
        >>> model = ALaCarte(WordVectors(["a", "b"], [[1.0, 0.0], [0.0, 1.0]]), Transform(np.eye(2)))
        >>> model.nearest([1.0, 0.0], without="A")
        [('b', 0.0)]
        """
        if isinstance(vector, str):
            raise BadVectors(f"nearest takes a vector; for a word, call model.vectors.most_similar({vector!r})")
        own = [] if without is None else self.tokens(without)  # of a phrase, the single words may be near
        query = vector if self.adaptation is None else self.adaptation.compared(vector)
        return self.vocabulary.nearest(query, k, among=among, exclude=own if len(own) == 1 else ())

    @cached_property
    def prior(self) -> Prior:
        """What is known of words and phrases before any context."""
        return Prior(self.vectors, self.form, self.fusion, self.adaptation)

    def spell(self, word: str) -> FormVector:
        """Return the vector of a word from its spelling alone.

        Raises
        ------
        NotEnoughData
            Where the spelling says nothing.
        """
        if self.form is None:
            raise AlacarteError(NO_FORM)
        if is_phrase(word):
            raise NotEnoughData(f"{word!r} is a phrase, and phrases have no spelling of their own; give a context")
        spelled = self.form.vector(word)
        return replace(spelled, vector=self._with_prior([[]], word, [0]).fused.reshape(-1))

    def compositionality(self, phrase: str, contexts: Contexts) -> float:
        """Return how far contexts of a phrase and its parts agree: the cosine of the two vectors, low for idioms.

        It is NaN where one of them is all zeros.

        Examples
        --------
        >>> from alacarte import ALaCarte, Transform, WordVectors
        >>> model = ALaCarte(WordVectors(["hot", "dog", "x"], [[1, 0], [0, 1], [-2, 0]]), Transform(np.eye(2)))
        >>> round(model.compositionality("hot dog", "dog hot dog dog"), 2)
        1.0
        """
        parts = self.embed_parts(contexts, phrase)
        known = parts.context_part.any() and parts.form_part.any()
        return float(parts.agreement[0]) if known else np.nan

    def require_prior(self, targets: Iterable[str]) -> Prior:
        """Return what is known before any context; raise an error where that takes a form model and there is none."""
        if self.form is None and not all(map(is_phrase, targets)):
            raise AlacarteError(NO_FORM)
        return self.prior

    # --------------------------------------------------------------------------------------------- embed

    def embed(
        self,
        contexts: Contexts,
        target: str | None = None,
        *,
        each: bool = False,
        absent: Absent = "error",
        form: bool = False,
    ) -> Singles:
        """Return the vector of one thing from one or several contexts.

        Parameters
        ----------
        contexts
            A string, or a list of strings or of lists of tokens.
        target
            The thing to embed. The model's window around each of its occurrences counts; without a target, every word
            of each context does.
        each
            Whether there is a vector for each context instead of one for all.
        absent
            What to do about a context without the target: "error", or "whole" to count all its words, with a warning.
        form
            Whether the target's spelling counts beside the contexts, of which there may then be none. `embed_parts`
            says how much.

        Returns
        -------
        numpy.ndarray
            A vector, or with `each` one row per context.

        Raises
        ------
        NoOccurrences
            Where a context lacks the target.
        NotEnoughData
            Where no context word has a vector.

        Examples
        --------
        >>> from alacarte import ALaCarte, Transform, WordVectors
        >>> model = ALaCarte(WordVectors(["a", "b"], [[1.0, 0.0], [0.0, 1.0]]), Transform(np.eye(2)))
        >>> model.embed("a x b b", target="x").tolist()
        [1.0, 2.0]
        >>> model.embed(["a x", "x b"], target="x").tolist()
        [0.5, 0.5]
        """
        if form:
            fused = self.embed_parts(contexts, target, each=each, absent=absent).fused
            return fused if each else fused.reshape(-1)
        sums, lists = self._reader.read(contexts, target, absent)
        if each:
            return np.stack([self._reader.vector(part, tokens) for part, tokens in zip(sums, lists, strict=True)])
        return self._reader.vector(total(sums), lists[0])

    def embed_parts(
        self,
        contexts: Contexts,
        target: str | None,
        *,
        each: bool = False,
        absent: Absent = "error",
    ) -> Parts:
        """Return the two parts of `embed(…, form=True)`, from contexts and from spelling, with their weights.

        The parameters are those of `embed`. There is one row, or with `each` one per context.
        """
        if target is None:
            raise AlacarteError("a spelling needs the word; pass target=…")
        given = [contexts] if isinstance(contexts, str) else list(contexts)
        sums = self._reader.read(given, target, absent)[0] if given else []
        groups = [[part] for part in sums] if each else [sums]
        counts = [sum(int(part.occurrences) for part in group) for group in groups]
        return self._with_prior(groups, target, counts)

    def embed_definition(self, text: str, word: str | None = None, *, form: bool = False) -> Singles:
        """Return the vector of a word from its definition.

        Parameters
        ----------
        text
            The definition, of which all words count but the slot (`___`) and the word itself.
        word
            The word that is defined.
        form
            Whether the word's spelling counts too, the definition as much as eight contexts.

        Examples
        --------
        >>> from alacarte import ALaCarte, Transform, WordVectors
        >>> model = ALaCarte(WordVectors(["a", "b"], [[1.0, 0.0], [0.0, 1.0]]), Transform(np.eye(2)))
        >>> model.embed_definition("___ : a b b", word="x").tolist()
        [1.0, 2.0]
        """
        own = set() if word is None else set(self._reader.target_tokens(word))
        tokens = [token for token in self.tokens(text) if token not in own and not SLOT.match(token)]
        summed = self._definition_reader.whole(tokens)
        if not form:
            return self._definition_reader.vector(summed, [text])
        if word is None:
            raise AlacarteError("a spelling needs the word; pass word=…")
        return self._with_prior([[summed]], word, [DEFINITION], self._definition_reader).fused.reshape(-1)

    def context_words(self, contexts: Contexts, target: str | None = None) -> list[list[tuple[Longs, Doubles]]]:
        """Return the words that count for `embed`: rows of `vectors` and weights, per context and window.

        Examples
        --------
        >>> from alacarte import ALaCarte, Transform, WordVectors
        >>> model = ALaCarte(WordVectors(["a", "b"], [[1.0, 0.0], [0.0, 1.0]]), Transform(np.eye(2)))
        >>> [(rows.tolist(), weights.tolist()) for rows, weights in model.context_words("b x a b", "x")[0]]
        [([1, 0, 1], [1.0, 1.0, 1.0])]
        """
        wanted = None if target is None else self._reader.target_tokens(target)
        return [self._reader.words(tokens, wanted) for tokens in self._reader.token_lists(contexts)]

    def _with_prior(
        self, groups: list[list[ContextSum]], target: str, counts: list[int], reader: ContextReader | None = None
    ) -> Parts:
        """Combine contexts, in groups with a vector each, with what is known of a target before."""
        name = " ".join(self.tokens(target)) if is_phrase(target) else target
        prior, reader = self.require_prior([name]), reader or self._reader
        x, before = np.zeros((len(groups), self.vectors.dimension)), prior.rows([name])
        for row, group in zip(x, groups, strict=True):
            if group and (summed := total(group)).weight > 0:
                vector = reader.vector(summed, ())
                row[:] = vector if self.adaptation is None else self.adaptation.compared(vector)
        if not before.any() and not x.any():
            if self.form is not None and not is_phrase(name):
                self.form.vector(name)  # says why there is nothing
            raise NotEnoughData(f"{target!r} has no context with known words, and none of its words has a vector")
        seen = np.array(counts) * x.any(axis=1)
        return prior.combine(x, np.repeat(before, len(groups), axis=0), seen, [name] * len(groups))


def _adapted(transform: Transform, adaptation: Adaptation | None) -> Transform:
    return transform if adaptation is None else adaptation.transform(transform)
