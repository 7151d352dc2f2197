"""`ALaCarte`: fit on text, induce vectors for targets, embed single contexts, save, load.

>>> import numpy as np
>>> rng = np.random.default_rng(0)
>>> vectors = WordVectors([f"w{i}" for i in range(50)], rng.normal(size=(50, 3)))
>>> text = [" ".join(rng.choice(vectors.words, 40)) for _ in range(200)]
>>> model = ALaCarte.fit(vectors, text, window=5)
>>> induced = model.induce(text, ["w1", "w1 w2", "never seen"])
>>> list(induced.words), induced.missing
(['w1', 'w1 w2'], ['never seen'])
"""

from collections.abc import Iterable
from dataclasses import replace
from os import PathLike
from typing import Any, Unpack, cast

from alacarte._io import html
from alacarte._io.options import refuse_unknown
from alacarte._io.progress import phase
from alacarte.contexts.reading import ReadingOptions
from alacarte.contexts.sums import ContextSums
from alacarte.errors import BadCorpus, BadVectors, Hint
from alacarte.model.few_shot import FewShotModel
from alacarte.model.induced import InducedVectors, as_compared
from alacarte.model.saving import pretrained_folder, read_model, write_model
from alacarte.passes.collect import CollectOptions, collect
from alacarte.passes.discover import MIN_SCORE, Discovered, discover
from alacarte.passes.work import PassOptions, Work, WorkOptions, corpus_of, select
from alacarte.spelling.form import FormModel
from alacarte.spelling.fusion import learn_form
from alacarte.targets.targets import Targets, TargetsLike
from alacarte.text.corpus import CorpusLike
from alacarte.text.tokenizers import TokenizerLike
from alacarte.transform.found_again import found_again
from alacarte.transform.register import Adaptation, Register, words_with_vectors
from alacarte.transform.report import FitReport
from alacarte.transform.solve import Solve, SolveOptions
from alacarte.transform.transform import Transform
from alacarte.uncertainty.uncertainty import Uncertainty
from alacarte.vectors.word_vectors import VectorsLike, WordVectors

ADAPTED_POSITIONS = "linear"  # found words again more often than "uniform" on each text (benchmarks/own_words.py)


class FitOptions(CollectOptions, SolveOptions, total=False):
    """The options of `ALaCarte.fit`: those of `collect`, and how the matrix is learned."""


class ALaCarte(FewShotModel):
    """Word vectors, and the transform that turns contexts into vectors beside them.

    Parameters
    ----------
    vectors
        Word vectors, a file with some, or the name of an installed package of them.
    transform
        The matrix that was learned for these vectors.
    tokenizer
        How text is split: a name or a function (`alacarte.text.tokenizers`). By default as for the transform.
    check
        Whether vectors and sums that the transform was not learned for are refused.
    form
        Vectors from spelling (`with_form` learns them).
    fusion
        How much spelling counts beside contexts.
    typical
        How far contexts lie apart, for targets with too few of them to know.
    register
        What contexts have in common in text of the kind the model was learned from. With it, vectors are adapted to
        the text they come from (docs/meaning.md); without it, they are the transform's alone, as in the paper.
    definitions
        The same for definitions.

    Attributes
    ----------
    vectors : WordVectors
    transform : Transform
    settings : Reading
        How contexts are read.

    Examples
    --------
    >>> model = ALaCarte.pretrained("glove.6B.50d")
    >>> vector = model.embed("a cute, fluffy blorp purred and chased the mouse", target="blorp")
    >>> [word for word, _ in model.vectors.nearest(vector, k=3, among=20_000)]
    ['striped', 'goat', 'goose']
    """

    def with_form(self, form: FormModel | None = None, *, show_progress: bool | None = None) -> "ALaCarte":
        """Return the same model with vectors from spelling.

        Parameters
        ----------
        form
            A form model for these vectors. By default it is learned from them, which takes half a minute or more, and
            kept in the user's cache.
        show_progress
            True or False; None shows a bar on a terminal.
        """
        if form is None:
            form = FormModel.cached(self.vectors, show_progress=show_progress)
        return self._changed(form=form)

    def without_register(self) -> "ALaCarte":
        """Return the same model without adaptation to texts: vectors are the transform's, as in the paper."""
        return self._changed(register=None, definitions=None)

    def _changed(self, **changes: Any) -> "ALaCarte":
        names = ("check", "form", "fusion", "typical", "register", "definitions")
        parts = {name: getattr(self, name) for name in names}
        return type(self)(self.vectors, self.transform, tokenizer=self._tokenizer, **(parts | changes))

    @property
    def report(self) -> FitReport | None:
        """How the transform was learned and how well it does, if that is known."""
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
        adapt: bool = True,
        **options: Unpack[FitOptions],
    ) -> "ALaCarte":
        """Learn a transform from text.

        Parameters
        ----------
        vectors
            Word vectors, a file with some, or the name of an installed package of them.
        corpus
            Any text that `Corpus` reads, in the language and spelling of the vectors.
        form
            Whether vectors from spelling are learned too, and how much they count beside contexts. The text is read
            twice; they are used only where a call asks for it (`embed(…, form=True)`).
        spread
            The number of groups into which documents are divided, to learn how far contexts lie apart; 16 is a good
            number. The model then has a standard error for a vector from a single context.
        adapt
            Whether the model adapts its vectors to the text that they come from. Near words count more than far ones
            then, unless `positions` says otherwise; without it, all is as in the paper.
        **options
            How a table is read (`text`, `tokens`, …; see `Corpus`), how contexts are (`window`, `averaging`,
            `context_weights`, …; see `alacarte.contexts.reading.Reading`), how the matrix is learned (`weighting`,
            `ridge`, …; see `alacarte.transform.solve.Solve`) and how the work is done (`threads`, `memory`, …; see
            `alacarte.passes.work.Work`).

        Returns
        -------
        ALaCarte
            The model; `print(model.report)` shows how well it does on words held out.

        Raises
        ------
        NotEnoughData
            For too little text, or text of which hardly a word has a vector.
        """
        refuse_unknown(cls.fit, options, FitOptions)
        if adapt and "positions" not in options:
            options["positions"] = ADAPTED_POSITIONS
        source, text = WordVectors.of(vectors), corpus_of(corpus, options)
        if form and text.once:
            raise BadCorpus(
                "form=True reads the corpus a second time, and this one can be read only once; pass a file or a list"
            )
        reading = cast(CollectOptions, select(options, ReadingOptions) | select(options, WorkOptions))
        solve = cast(SolveOptions, select(options, SolveOptions))
        sums = collect(source, text, spread=spread, **reading)
        return cls.from_sums(
            source,
            sums,
            tokenizer=options.get("tokenizer"),
            form_corpus=text if form else None,
            adapt=adapt,
            work=cast(WorkOptions, select(options, WorkOptions)),
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
        adapt: bool = True,
        work: WorkOptions | None = None,
        **options: Unpack[SolveOptions],
    ) -> "ALaCarte":
        """Learn a transform from sums collected before.

        Parameters
        ----------
        vectors
            The vectors that the sums were collected with.
        sums
            Sums over the whole vocabulary: `collect` without targets gives them.
        tokenizer
            The one that the sums were collected with, if it is a function.
        form_corpus
            The text of the sums, to learn vectors from spelling and their weight beside contexts from.
        adapt
            Whether the model adapts its vectors to the text that they come from.
        work
            How that text is read: `threads`, `show_progress` and `callback` count.
        **options
            How the matrix is learned: `weighting`, `ridge`, … (see `alacarte.transform.solve.Solve`).
        """
        source, running, solve = WordVectors.of(vectors), Work(**(work or {})), Solve(**options)
        with phase("learning the transform", running.show_progress):
            transform = Transform.learn(sums, source, solve)
        register = Register.of_sums(sums, source) if adapt else None
        if register is not None and transform.report is not None:
            with phase("finding known words again", running.show_progress):
                found = found_again(sums, source, None, transform, by_uses=False)
            if found is not None:
                report = replace(transform.report, found_again=found.summary, found_poorly=found.is_poor)
                transform = replace(transform, report=report)
        form, fusion = None, None
        if form_corpus is not None:
            form, fusion = learn_form(
                source, sums, form_corpus, tokenizer=tokenizer, work=running, solve=solve, register=register
            )
        typical = None
        if sums.groups is not None:
            adaptation = None if register is None else register.adaptation()
            typical = Uncertainty.of_sums(*as_compared(adaptation, sums, transform, source)).typical
        return cls(source, transform, tokenizer=tokenizer, form=form, fusion=fusion, typical=typical, register=register)

    @classmethod
    def pretrained(
        cls,
        name: str = "glove.6B.50d",
        *,
        vectors: VectorsLike | None = None,
        tokenizer: TokenizerLike | None = None,
        check: bool = True,
    ) -> "ALaCarte":
        """Return a model that ships with this package.

        Those named after their vectors adapt to the text that is read; those that end in ``.plain`` do as the paper.

        Parameters
        ----------
        name
            The name of its vectors.
        vectors
            The vectors themselves, where they are not an installed package: for instance the path of
            `glove.6B.100d.txt`.
        tokenizer, check
            As in `load`.
        """
        try:
            return cls.load(pretrained_folder(name), vectors=vectors, tokenizer=tokenizer, check=check)
        except BadVectors as error:
            if vectors is not None:
                raise
            raise BadVectors(
                str(error),
                hint=Hint(f"as in ALaCarte.pretrained({name!r}, vectors=path)", f"as in --model {name} --vectors FILE"),
            ) from None

    # -------------------------------------------------------------------------------------------- induce

    def collect(
        self,
        corpus: CorpusLike,
        targets: TargetsLike,
        *,
        spread: int | None = None,
        **options: Unpack[PassOptions],
    ) -> ContextSums:
        """Sum the contexts of targets as this model reads them; `apply` turns sums into vectors.

        A model that adapts its vectors sums those of the commonest words of its vectors, too.

        Parameters
        ----------
        corpus
            Any text that `Corpus` reads.
        targets
            Words and phrases, or `Targets`.
        spread
            The number of groups into which documents are divided, for `InducedVectors.uncertainty`; 16 is a good one.
        **options
            How a table is read: `text`, `tokens`, `columns`, … (see `Corpus`); and how the work is done: `threads`,
            `memory`, `checkpoint`, … (see `alacarte.passes.work.Work`).
        """
        refuse_unknown(self.collect, options, PassOptions)
        both: CollectOptions = {**self.reading, **options}
        return collect(self.vectors, corpus, targets, spread=spread, adapt=self.register is not None, **both)

    def discover(
        self,
        corpus: CorpusLike,
        *,
        ngrams: int | Iterable[int] = 1,
        min_count: int = 10,
        known: bool = False,
        all_tokens: bool = False,
        min_score: float | None = MIN_SCORE,
        **options: Unpack[PassOptions],
    ) -> Discovered:
        """Return the words that occur often enough in a corpus and have no vector yet, and its phrases.

        Parameters
        ----------
        corpus, ngrams, min_count, known, all_tokens, min_score
            As for `alacarte.discover`, with the vectors and the tokenizer of this model.
        **options
            As for `collect`.

        Examples
        --------
        >>> import numpy as np
        >>> model = ALaCarte(WordVectors(["a", "b"], [[1.0, 0.0], [0.0, 1.0]]), Transform(np.eye(2)))
        >>> model.discover(["a blorp b", "b blorp"], ngrams=(1, 2), min_count=2)
        Discovered(1: 'blorp')
        """
        refuse_unknown(self.discover, options, PassOptions)
        return discover(
            self.vectors.words,
            corpus,
            ngrams=ngrams,
            min_count=min_count,
            tokenizer=self.tokenizer,
            known=known,
            all_tokens=all_tokens,
            min_score=min_score,
            **options,
        )

    def apply(self, sums: ContextSums, *, form: bool = False) -> InducedVectors:
        """Return vectors from sums that `collect` gave, of this model or of one with the same settings.

        In a model that adapts its vectors, these are adapted to the text of the sums if the sums hold the words for
        that (`ALaCarte.collect`, or `alacarte.collect(…, adapt=True)`), and as for single contexts otherwise.

        Parameters
        ----------
        sums : ContextSums
            Sums of one corpus, or those of several added together.
        form : bool, default False
            Whether the spelling of single words counts beside their contexts.

        Returns
        -------
        InducedVectors
        """
        if self.check:
            self.transform.check_sums(sums)
        return InducedVectors(self, sums, form=form)

    def adapted_to(self, sums: ContextSums) -> Adaptation | None:
        """Return what adapts vectors to the text of sums; None for a model without a register."""
        return self.adapted_together(sums)[0]

    def adapted_together(self, *sums: ContextSums) -> list[Adaptation | None]:
        """Return what adapts vectors to each of several texts, so that they can be compared across these."""
        if self.register is None:
            return [None] * len(sums)
        words = [words_with_vectors(one, self.vectors) for one in sums]
        registers = [self.register.of_text(one, self.vectors) for one in words if one is not None]
        if len(registers) < len(sums):  # where the texts are not known, none of them is taken out
            return [self.adaptation] * len(sums)
        return list(Register.adaptations(registers))

    def induce(
        self,
        corpus: CorpusLike,
        targets: TargetsLike,
        *,
        form: bool = False,
        spread: int | None = None,
        **options: Unpack[PassOptions],
    ) -> InducedVectors:
        """Return a vector for each target that occurs in a corpus.

        Parameters
        ----------
        corpus
            Any text that `Corpus` reads.
        targets
            Words and phrases, or `Targets`.
        form
            Whether the spelling of single words counts beside their contexts. Words that never occur then have a vector
            too; `origin` says which these are.
        spread, **options
            As for `collect`.

        Returns
        -------
        InducedVectors
            The vectors; `missing` lists targets without one.

        Examples
        --------
        >>> import numpy as np
        >>> vectors = WordVectors(["a", "b"], [[1.0, 0.0], [0.0, 1.0]])
        >>> induced = ALaCarte(vectors, Transform(np.eye(2))).induce(["a New York b"], ["new york", "x"])
        >>> induced["new york"].tolist(), induced.count("new york"), induced.missing
        ([1.0, 1.0], 1, ['x'])
        """
        refuse_unknown(self.induce, options, PassOptions)
        targets = Targets.of(targets)
        if form:
            self.require_prior(targets)
        return self.apply(self.collect(corpus, targets, spread=spread, **options), form=form)

    # --------------------------------------------------------------------------------------------- files

    def save(
        self, folder: str | PathLike[str], *, include_vectors: bool | None = None, overwrite: bool = False
    ) -> None:
        """Save the model as a folder, completely or not at all; an older model in it is replaced.

        Parameters
        ----------
        folder
            Where to save it, on disk or behind a URL.
        include_vectors
            Whether the vectors are saved too. By default all but those that ship under a name, such as
            glove.6B.50d, are; `load` is to be given those of a model without them.
        overwrite
            Whether files that are not of a model may be replaced. Others in the folder always stay.
        """
        write_model(folder, self, include_vectors=include_vectors, overwrite=overwrite)

    @classmethod
    def load(
        cls,
        folder: str | PathLike[str],
        *,
        vectors: VectorsLike | None = None,
        tokenizer: TokenizerLike | None = None,
        check: bool = True,
    ) -> "ALaCarte":
        """Load a model that `save` wrote.

        Parameters
        ----------
        folder
            Where it is, on disk or behind a URL.
        vectors
            The vectors of a model that was saved without them.
        tokenizer
            What to split text with instead of the model's own tokenizer; needed for one that is a function.
        check
            Whether vectors and sums that the transform was not learned for are refused.
        """
        saved = read_model(folder, vectors=vectors)
        own = saved.pop("tokenizer")
        model = cls(**saved, tokenizer=tokenizer, check=check)
        if tokenizer is None:  # by name: whether there is a tokenizer of that name shows when text is to be split
            model.settings = replace(model.settings, tokenizer=own)
        return model
