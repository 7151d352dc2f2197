"""The facade: fit on text, induce vectors for targets, embed single contexts, save, load.

>>> import numpy as np
>>> rng = np.random.default_rng(0)
>>> vectors = WordVectors([f"w{i}" for i in range(50)], rng.normal(size=(50, 3)))
>>> text = [" ".join(rng.choice(vectors.words, 40)) for _ in range(200)]
>>> model = ALaCarte.fit(vectors, text, window=5)
>>> induced = model.induce(text, ["w1", "w1 w2", "never seen"])
>>> list(induced.words), induced.missing
(['w1', 'w1 w2'], ['never seen'])
"""

import re
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, Any, Unpack, cast

import numpy as np
import numpy.typing as npt

from alacarte._io import html
from alacarte._io.progress import phase
from alacarte.contexts.agreement import Agreement
from alacarte.contexts.reading import Reading, ReadingOptions
from alacarte.contexts.sums import ContextSums
from alacarte.errors import AlacarteError, BadCorpus, BadVectors, Hint, NotEnoughData, TransformMismatch
from alacarte.inference.spread import TypicalSpread
from alacarte.inference.uncertainty import Uncertainty
from alacarte.model.embedding import Absent, ContextReader, Contexts, ContextSum, total
from alacarte.model.induced import InducedVectors, is_single
from alacarte.model.saving import SavedModel, pretrained_folder, read_model, write_model
from alacarte.passes.collect import CollectOptions, collect
from alacarte.passes.work import WorkOptions, chosen, refuse_unknown
from alacarte.spelling.form import FormModel, FormVector
from alacarte.spelling.fusion import DEFINITION, Fusion, Parts, learn_form
from alacarte.targets.targets import TargetsLike
from alacarte.text.corpus import Corpus, CorpusLike
from alacarte.text.tokenizers import Tokenizer, TokenizerLike, get_tokenizer
from alacarte.transform.report import FitReport
from alacarte.transform.solve import SolveOptions
from alacarte.transform.transform import Transform
from alacarte.vectors.formats.hub import find_folder
from alacarte.vectors.word_vectors import VectorsLike, WordVectors

if TYPE_CHECKING:
    from alacarte.transform.learned_weights import LearnedWeights

Doubles = npt.NDArray[np.float64]
Singles = npt.NDArray[np.float32]

SLOT = re.compile(r"_+$")


class FitOptions(CollectOptions, SolveOptions, total=False):
    """All that `ALaCarte.fit` takes: `CollectOptions`, and how the matrix is learned (`SolveOptions`)."""


class ALaCarte:
    """Word vectors and the transform learned for them.

    >>> model = ALaCarte.pretrained("glove.6B.50d")
    >>> vector = model.embed("a cute, fluffy blorp purred and chased the mouse", target="blorp")
    >>> [word for word, _ in model.vectors.nearest(vector, k=3, among=20_000)]
    ['cute', 'rabbit', 'monkey']
    """

    def __init__(
        self,
        vectors: VectorsLike,
        transform: Transform,
        *,
        tokenizer: TokenizerLike | None = None,
        check: bool = True,
        form: FormModel | None = None,
        fusion: Fusion | None = None,
        typical: TypicalSpread | None = None,
    ) -> None:
        """`typical`: how far contexts lie apart, for targets with too few contexts to tell.

        `check=False` accepts vectors and sums that the transform was not learned for, as far as their shapes fit.
        """
        self.vectors = WordVectors.of(vectors)
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
        self._reader = ContextReader(self.vectors, self.transform, self.settings, self.tokens)

    @property
    def tokenizer(self) -> Tokenizer:
        if self._tokenizer is None:
            self._tokenizer = get_tokenizer(self.settings.tokenizer)
        return self._tokenizer

    def tokens(self, text: str) -> list[str]:
        """A text as this model splits it.

        >>> ALaCarte(WordVectors(["a"], [[1.0]]), Transform(np.eye(1))).tokens("A, b")
        ['a', ',', 'b']
        """
        return self.tokenizer(text, self.vectors.key_to_index)

    @property
    def reading(self) -> ReadingOptions:
        """How this model reads contexts, as keywords of `collect`.

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

    def nearest(
        self, vector: npt.ArrayLike, k: int = 10, *, among: int | None = None, without: str | None = None
    ) -> Any:
        """The nearest words of a vector, or of each row of a matrix: `vectors.nearest`, less the word `without`.

        >>> model = ALaCarte(WordVectors(["a", "b"], [[1.0, 0.0], [0.0, 1.0]]), Transform(np.eye(2)))
        >>> model.nearest([1.0, 0.0], without="A")
        [('b', 0.0)]
        """
        own = [] if without is None else self.tokens(without)  # of a phrase, the single words may be near
        return self.vectors.nearest(vector, k, among=among, exclude=own if len(own) == 1 else ())

    def with_form(self, form: FormModel | None = None, *, show_progress: bool | None = None) -> "ALaCarte":
        """The same model with a form model: one given, or one learned from the vectors and kept in the user's cache."""
        if form is None:
            form = FormModel.cached(self.vectors, show_progress=show_progress)
        return type(self)(
            self.vectors,
            self.transform,
            tokenizer=self._tokenizer,
            check=self.check,
            form=form,
            fusion=self.fusion,
            typical=self.typical,
        )

    @property
    def report(self) -> FitReport | None:
        """How the transform was learned, if that is known."""
        return self.transform.report

    def __repr__(self) -> str:
        return f"ALaCarte({self.vectors!r}, {self.transform!r})"

    def _repr_html_(self) -> str:
        facts = {
            "vectors": repr(self.vectors),
            "transform": repr(self.transform),
            "contexts": self.settings.described,
            "tokenizer": self.tokenizer.name,
            "spelling": None if self.form is None else repr(self.form),
        }
        return html.card("ALaCarte", facts, "" if self.report is None else self.report._repr_html_())

    def __deepcopy__(self, memo: object) -> "ALaCarte":
        return self  # as for WordVectors

    # ----------------------------------------------------------------------------------------------- fit

    @classmethod
    def fit(
        cls,
        vectors: VectorsLike,
        corpus: CorpusLike,
        *,
        form: bool = False,
        spread: int | None = None,
        **options: Unpack[FitOptions],
    ) -> "ALaCarte":
        """Learn a transform for `vectors` from any text; `print(model.report)` says how well.

        `form=True` also learns vectors from spelling, and how much they count beside n contexts, for which the text
        is read a second time; they are used only where a call asks for it (`embed(…, form=True)`).

        With `spread` (16 is a good number), the model knows how far contexts lie apart, and so how certain a vector
        from one context is.

        Options: how contexts are read (`window`, `averaging`, …: `ReadingOptions`; `context_weights="learned"` learns
        how much context words count from the same text, see `alacarte.transform.learned_weights`), how the matrix is
        learned (`weighting`, `ridge`, …: `Solve`), how the work is done (`threads`, `memory`, …: `Work`).
        """
        refuse_unknown("ALaCarte.fit", options, FitOptions)
        source, text = WordVectors.of(vectors), Corpus.of(corpus)
        if form and text.once:
            raise BadCorpus(
                "form=True reads the corpus a second time, and this one can be read only once; pass a file or a list"
            )
        reading = cast(CollectOptions, chosen(options, CollectOptions))
        solve = cast(SolveOptions, chosen(options, SolveOptions))
        sums, _ = learning_sums(source, text, spread=spread, **reading)
        return cls.from_sums(
            source,
            sums,
            tokenizer=options.get("tokenizer"),
            form_corpus=text if form else None,
            work=cast(WorkOptions, chosen(options, WorkOptions)),
            **solve,
        )

    @classmethod
    def from_sums(
        cls,
        vectors: VectorsLike,
        sums: ContextSums,
        *,
        tokenizer: TokenizerLike | None = None,
        form_corpus: CorpusLike | None = None,
        work: WorkOptions | None = None,
        **options: Unpack[SolveOptions],
    ) -> "ALaCarte":
        """Learn from sums already collected (and merged, and saved); options are those of `Solve`.

        `form_corpus`, the text of the sums, is read again to learn spelling and its weight beside contexts; `work`
        says how (`threads`, `show_progress` and `callback` count).
        """
        source = WordVectors.of(vectors)
        with phase("learning the transform", (work or {}).get("show_progress")):
            transform = Transform.fit(sums, source, **options)
        form, fusion = None, None
        if form_corpus is not None:
            form, fusion = learn_form(source, sums, form_corpus, tokenizer=tokenizer, work=work, solve=options)
        typical = None if sums.groups is None else Uncertainty.of_sums(sums, transform, source).typical
        return cls(source, transform, tokenizer=tokenizer, form=form, fusion=fusion, typical=typical)

    @classmethod
    def pretrained(
        cls,
        name: str = "glove.6B.50d",
        *,
        vectors: VectorsLike | None = None,
        tokenizer: TokenizerLike | None = None,
        check: bool = True,
    ) -> "ALaCarte":
        """A model that ships with this package, for vectors of that name; no corpus is needed.

        Contexts are 10 words each side; with `.window5` behind the name, 5.

        `vectors` gives the vectors themselves where they are not an installed package, for instance the path of
        `glove.6B.100d.txt`. `tokenizer` and `check` are as in `load`.
        """
        try:
            return cls.load(pretrained_folder(name), vectors=vectors, tokenizer=tokenizer, check=check)
        except BadVectors as error:
            if vectors is not None:
                raise
            raise BadVectors(str(error), hint=Hint("here as vectors=…", "here as --vectors")) from None

    # -------------------------------------------------------------------------------------------- induce

    def collect(
        self, corpus: CorpusLike, targets: TargetsLike, *, spread: int | None = None, **work: Unpack[WorkOptions]
    ) -> ContextSums:
        """Sum the contexts of targets as this model's transform needs them; `apply` turns sums into vectors.

        `spread`: keep this many sums for each target (16 is a good number), for `InducedVectors.uncertainty`.
        The other options say how the work is done: `threads`, `memory`, `checkpoint`, … (`Work`).
        """
        refuse_unknown("ALaCarte.collect", work, WorkOptions)
        options: CollectOptions = {**self.reading, **work}
        return collect(self.vectors, corpus, targets, spread=spread, **options)

    def apply(self, sums: ContextSums, *, form: bool = False) -> InducedVectors:
        """Vectors from sums collected before, by this model or by others with the same settings."""
        if self.check:
            self.transform.check_sums(sums)
        return InducedVectors(self, sums, form=form)

    def induce(
        self,
        corpus: CorpusLike,
        targets: TargetsLike,
        *,
        form: bool = False,
        spread: int | None = None,
        **work: Unpack[WorkOptions],
    ) -> InducedVectors:
        """A vector for each target that occurs in the corpus; `.missing` lists the others.

        `form=True` adds what the spelling of single words says, by the number of their contexts, and so gives words
        that never occur a vector too (`.origin` marks them). `spread` and the other options are those of `collect`.

        >>> vectors = WordVectors(["a", "b"], [[1.0, 0.0], [0.0, 1.0]])
        >>> induced = ALaCarte(vectors, Transform(np.eye(2))).induce(["a New York b"], ["new york", "x"])
        >>> induced["new york"].tolist(), induced.count("new york"), induced.missing
        ([1.0, 1.0], 1, ['x'])
        """
        if form:
            self.require_form()
        return self.apply(self.collect(corpus, targets, spread=spread, **work), form=form)

    def spell(self, word: str) -> FormVector:
        """The vector of a word from its spelling alone; `NotEnoughData` where the spelling says nothing."""
        if self.form is None:
            raise AlacarteError("this model has no vectors from spelling; model.with_form() learns them")
        if not is_single(word):
            raise NotEnoughData(f"{word!r} is a phrase, and phrases have no spelling of their own; give a context")
        spelled = self.form.vector(word)
        if self.fusion is None:
            return spelled
        return replace(spelled, vector=self.fusion.combine(spelled.vector * 0, spelled.vector, [0]).fused.reshape(-1))

    def require_form(self) -> tuple[FormModel, Fusion]:
        """The form model and the weights of fusion, or an error that says how to get them."""
        if self.fusion is None:
            lacking = "vectors from spelling" if self.form is None else "weights for spelling beside contexts"
            raise AlacarteError(
                f"this model has no {lacking}; fit one with ALaCarte.fit(…, form=True) (alc fit --form)"
            )
        if self.form is None:
            raise AlacarteError(
                "this model has no vectors from spelling; model.with_form() learns them from the vectors"
            )
        return self.form, self.fusion

    # --------------------------------------------------------------------------------------------- embed

    def embed(
        self,
        contexts: Contexts,
        target: str | None = None,
        *,
        each: bool = False,
        absent: Absent = "error",
        form: bool = False,
        agreement: bool = False,
    ) -> Singles:
        """The vector of one thing from one or many contexts, on the fly.

        A context is a string, or a list of tokens inside a list (`[["a", "b"]]`). With `target`, the model's
        window around each of its occurrences counts, and a context without it is an error, or counts with all
        its words if `absent="whole"` (with a warning); without, every word of each context does, as in the paper's
        few-shot experiments. `each` gives a row for each context instead. `form` adds what the target's spelling
        says (`embed_parts` tells how much); there may then be no context at all. `agreement` makes contexts that
        disagree with the rest count less (`agreement` tells how much); with `form`, contexts are weighted by their
        agreement first and spelling is added then. `each` and `agreement` contradict each other.

        >>> model = ALaCarte(WordVectors(["a", "b"], [[1.0, 0.0], [0.0, 1.0]]), Transform(np.eye(2)))
        >>> model.embed("a x b b", target="x").tolist()
        [1.0, 2.0]
        >>> model.embed(["a x", "x b"], target="x").tolist()
        [0.5, 0.5]
        """
        _refuse_each_with_agreement(each, agreement)
        if form:
            fused = self.embed_parts(contexts, target, each=each, absent=absent, agreement=agreement).fused
            return fused if each else fused.reshape(-1)
        if agreement:
            return self.agreement(contexts, target, absent=absent).vector
        sums, lists = self._reader.read(contexts, target, absent)
        if each:
            return np.stack([self._reader.vector(part, tokens) for part, tokens in zip(sums, lists, strict=True)])
        return self._reader.vector(total(sums), lists[0])

    def agreement(self, contexts: Contexts, target: str | None = None, *, absent: Absent = "error") -> Agreement:
        """`embed(…, agreement=True)` with its reasons: how much each context counts.

        >>> model = ALaCarte(WordVectors(["a", "b"], [[1.0, 0.0], [0.0, 1.0]]), Transform(np.eye(2)))
        >>> agreed = model.agreement(["a x", "x a", "a x a", "b x"], target="x")
        >>> agreed.weights.round(2).tolist(), [round(float(value), 2) for value in agreed.vector]
        ([1.21, 1.21, 1.21, 0.38], [1.21, 0.1])
        """
        sums, lists = self._reader.read(contexts, target, absent)
        scaled, weights, cosines = self._reader.agreeing(sums)
        vector = self._reader.vector(total(scaled), lists[0])
        return Agreement([" ".join(tokens) for tokens in lists], weights, cosines, vector)

    def embed_parts(
        self,
        contexts: Contexts,
        target: str | None,
        *,
        each: bool = False,
        absent: Absent = "error",
        agreement: bool = False,
    ) -> Parts:
        """What `embed(…, form=True)` is made of: the part from contexts and the part from spelling, with their weights.

        One row, or one for each context with `each`. Without contexts all of it is spelling, and `origin` says so.
        With `agreement`, contexts that disagree with the rest count less in the part from contexts.
        """
        _refuse_each_with_agreement(each, agreement)
        if target is None:
            raise AlacarteError("a spelling needs the word; pass target=…")
        given = [contexts] if isinstance(contexts, str) else list(contexts)
        sums = self._reader.read(given, target, absent)[0] if given else []
        groups = [[part] for part in sums] if each else [sums]
        counts = [sum(int(part.occurrences) for part in group) for group in groups]
        if agreement and sums:
            groups = [self._reader.agreeing(sums)[0]]
        return self._fused(groups, target, counts)

    def embed_definition(self, text: str, word: str | None = None, *, form: bool = False) -> Singles:
        """The vector of a word from its definition: all words count but the slot (`___`) and the word itself.

        With `form`, the word's spelling counts as beside as many contexts as a definition is worth
        (`fusion.DEFINITION`).

        >>> model = ALaCarte(WordVectors(["a", "b"], [[1.0, 0.0], [0.0, 1.0]]), Transform(np.eye(2)))
        >>> model.embed_definition("___ : a b b", word="x").tolist()
        [1.0, 2.0]
        """
        own = set() if word is None else set(self._reader.target_tokens(word))
        tokens = [token for token in self.tokens(text) if token not in own and not SLOT.match(token)]
        summed = self._reader.whole(tokens)
        if not form:
            return self._reader.vector(summed, [text])
        if word is None:
            raise AlacarteError("a spelling needs the word; pass word=…")
        return self._fused([[summed]], word, [DEFINITION]).fused.reshape(-1)

    def context_words(
        self, contexts: Contexts, target: str | None = None
    ) -> list[list[tuple[npt.NDArray[np.int64], Doubles]]]:
        """The words that count for `embed`: for each context and each window in it, rows of `vectors` and weights.

        >>> model = ALaCarte(WordVectors(["a", "b"], [[1.0, 0.0], [0.0, 1.0]]), Transform(np.eye(2)))
        >>> [(rows.tolist(), weights.tolist()) for rows, weights in model.context_words("b x a b", "x")[0]]
        [([1, 0, 1], [1.0, 1.0, 1.0])]
        """
        wanted = None if target is None else self._reader.target_tokens(target)
        return [self._reader.words(tokens, wanted) for tokens in self._reader.token_lists(contexts)]

    def _fused(self, groups: list[list[ContextSum]], word: str, counts: list[int]) -> Parts:
        form, fusion = self.require_form()
        sums = [total(group) if group else None for group in groups]
        known = [part is not None and part.weight > 0 for part in sums]
        nothing = np.zeros(self.vectors.dimension, dtype=np.float32)
        from_contexts = [nothing if part is None else self._reader.vector_or_zeros(part) for part in sums]
        spelled = form.rows([word])[0] if is_single(word) else nothing[None]
        if not spelled.any() and not any(known):
            form.vector(word)  # says why there is nothing
            raise NotEnoughData(f"{word!r} has no context with known words, and phrases have no spelling of their own")
        return fusion.combine(
            np.stack(from_contexts), np.repeat(spelled, len(groups), axis=0), np.array(counts) * np.array(known)
        )

    # --------------------------------------------------------------------------------------------- files

    def save(
        self, folder: str | PathLike[str], *, include_vectors: bool | None = None, overwrite: bool = False
    ) -> None:
        """A folder with the transform, its report and where the vectors are; with the vectors themselves on request.

        Vectors that came from no file or named set are always included: there is nowhere else to find them. An older
        model in the folder is replaced, all at once. Other files in it stay; where one has the name of a model's file,
        that is an error, unless `overwrite`.
        """
        write_model(folder, self._saved(), include_vectors=include_vectors, overwrite=overwrite)

    def save_pretrained(
        self, folder: str | PathLike[str], *, include_vectors: bool = True, overwrite: bool = False
    ) -> None:
        """As `save`, with what the Hugging Face Hub wants: `config.json`, a model card (`README.md`), the vectors.

        The card says what the model is, how it was learned and how to use it; the licence is yours to fill in.

        >>> import tempfile
        >>> model = ALaCarte(WordVectors(["a", "b"], [[1.0, 0.0], [0.0, 1.0]]), Transform(np.eye(2)))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     model.save_pretrained(folder)
        ...     ALaCarte.from_pretrained(folder).embed("x a", target="x").tolist()
        [1.0, 0.0]
        """
        write_model(folder, self._saved(), include_vectors=include_vectors, overwrite=overwrite, card=True)

    def _saved(self) -> SavedModel:
        return SavedModel(self.transform, self.vectors, self.settings.tokenizer, self.form, self.fusion, self.typical)

    @classmethod
    def from_pretrained(
        cls,
        name: str | PathLike[str],
        *,
        revision: str | None = None,
        vectors: VectorsLike | None = None,
        tokenizer: TokenizerLike | None = None,
        check: bool = True,
    ) -> "ALaCarte":
        """A saved model by the path of its folder, or by its name on the Hugging Face Hub, if that is in your cache.

        `hf download NAME` puts it there; nothing is fetched here. `revision` is a branch, tag or commit of it; the
        other options are those of `load`. Models that ship with this package are `pretrained`.
        """
        folder = find_folder(name, revision, AlacarteError)
        return cls.load(folder, vectors=vectors, tokenizer=tokenizer, check=check)

    @classmethod
    def load(
        cls,
        folder: str | PathLike[str],
        *,
        vectors: VectorsLike | None = None,
        tokenizer: TokenizerLike | None = None,
        check: bool = True,
    ) -> "ALaCarte":
        """A saved model; `vectors` says where the vectors are if they have moved, `tokenizer` replaces the model's own.

        A tokenizer that is a function cannot be saved and must be given again.
        """
        saved = read_model(folder, vectors=vectors)
        model = cls(
            saved.vectors,
            saved.transform,
            tokenizer=tokenizer,
            check=check,
            form=saved.form,
            fusion=saved.fusion,
            typical=saved.typical,
        )
        if tokenizer is None:  # by name: whether there is a tokenizer of that name shows when text is to be split
            model.settings = replace(model.settings, tokenizer=saved.tokenizer)
        return model


def learning_sums(
    vectors: WordVectors, corpus: CorpusLike, *, spread: int | None = None, **options: Unpack[CollectOptions]
) -> tuple[ContextSums, "LearnedWeights | None"]:
    """Sums over the whole vocabulary, which a transform is learned from; the context weights, if they are learned."""
    refuse_unknown("learning_sums", options, CollectOptions)
    if options.get("context_weights") == "learned":
        if options.get("positions", "uniform") != "uniform":
            raise AlacarteError("learned context weights hold weights by distance too; leave `positions` out")
        from alacarte.transform.learned_weights import collect_with_learned_weights  # scipy's optimisers load slowly

        return collect_with_learned_weights(vectors, corpus, spread=spread, **options)
    return collect(vectors, corpus, spread=spread, **options), None


def _refuse_each_with_agreement(each: bool, agreement: bool) -> None:
    if each and agreement:
        raise AlacarteError(
            "each=True asks for one vector a context, agreement=True for a single vector of contexts that are weighted "
            "against each other; pass one of them"
        )
