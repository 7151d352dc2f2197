"""`Concordance`: text that was read once, in a folder, and can be questioned from then on."""

from collections import Counter
from collections.abc import Iterator
from copy import copy
from functools import cached_property
from os import PathLike
from re import Pattern
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from alacarte._io import html
from alacarte._io.arrays import Longs, Mask
from alacarte._io.artifact import read_artifact
from alacarte._io.checks import whole_number
from alacarte._io.options import refuse_unknown
from alacarte._io.table import PREFIX, beside
from alacarte.concordance._building import WORDS_KIND, build_folder, index_segment, words_digest
from alacarte.concordance._database import Database
from alacarte.concordance._segment import StoredSegment
from alacarte.concordance._sums import AT_ONCE, WindowSums
from alacarte.concordance.exploring import Exploring
from alacarte.concordance.folder import DATABASE, VOCABULARY, folder_of, is_concordance, locked
from alacarte.concordance.periods import Period, periods_of
from alacarte.concordance.uses import AROUND, CONTEXT_ORDERS, Lines, LineSource, Place, Uses, order_by_words, stretch
from alacarte.contexts.reading import Reading, ReadingOptions
from alacarte.contexts.shared_words import SharedWords
from alacarte.contexts.summing import COUNTS
from alacarte.contexts.sums import ContextSums, Sums
from alacarte.errors import AlacarteError, BadCorpus, Hint, NoOccurrences, require
from alacarte.passes.work import PassOptions, Work, WorkOptions, corpus_of, select
from alacarte.targets.targets import Targets, TargetsLike, spelling_hint
from alacarte.text.corpus import CorpusLike
from alacarte.text.encoding import Lexicon
from alacarte.text.tokenizers import Tokenizer, TokenizerLike, get_tokenizer
from alacarte.vectors.word_vectors import VectorsLike, WordVectors
from alacarte.vectors.words import PackedWords, Vocabulary

if TYPE_CHECKING:
    from alacarte.model import ALaCarte, InducedVectors

SPREAD = 16  # groups of documents, from which the standard error of a vector is known


class Concordance:
    """Documents in a folder: their text, their columns, and where each word occurs.

    It is a corpus, so everything that takes a corpus takes it. What asks about chosen words (`lines`, `collect`,
    `induce`, `influence`) finds them without reading any text. `where` gives a slice of it, which is a concordance too.

    Parameters
    ----------
    path : str or path
        The folder that `build` wrote.

    Raises
    ------
    BadCorpus
        If the folder is damaged or was built by another version.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from alacarte import Corpus, Document, WordVectors
    >>> vectors = WordVectors(["the", "river", "money"], [[0.1, 0.1], [1.0, 0.0], [0.0, 1.0]])
    >>> reviews = [Document("the bank of the river", values=(1999,)), Document("money in the bank", values=(2001,))]
    >>> path = Path(tempfile.mkdtemp()) / "bank.concordance"
    >>> concordance = Concordance.build(vectors, Corpus(reviews, columns=["year"]), path, show_progress=False)
    >>> print(concordance.where("year>=2000").lines("bank"))
    document  before        match  after  year
    1         money in the  bank          2001
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        self.path = folder_of(path)
        if not is_concordance(self.path):
            raise BadCorpus(
                f"{path} is no concordance: there is no such file as {DATABASE} in it; check the path",
                hint=Hint(
                    "or make one: Concordance.build(vectors, corpus, path)", "or make one: alc concordance build"
                ),
            )
        self._database = Database(self.path / DATABASE)
        self._words = PackedWords.from_artifact(read_artifact(self.path / VOCABULARY, WORDS_KIND, BadCorpus))
        if words_digest(self._words) != self._database.facts.vocabulary:
            raise BadCorpus(f"{self.path / VOCABULARY} does not belong to this concordance; copy or build it again")
        self._conditions: tuple[str, ...] = ()
        self._chosen: Mask | None = None  # of each document whether it belongs to this slice
        self._kept: Mask | None = None  # whether each document was still there when this slice was last computed
        self._fitting: set[str] = set()  # fingerprints of vectors that have the words of the vocabulary
        self._read_segments()

    def _read_segments(self) -> None:
        self._segments: list[StoredSegment] = []
        self._documents = 0
        for row in self._database.segments():
            segment = StoredSegment.open(self.path, row, self._documents, len(self._words))
            self._segments.append(segment)
            self._documents += segment.documents

    # --------------------------------------------------------------------------------------- build and change

    @classmethod
    def open(cls, path: str | PathLike[str]) -> "Concordance":
        """Return the concordance that `build` wrote into a folder, as `Concordance(path)` does."""
        return cls(path)

    @classmethod
    def build(
        cls,
        vectors: VectorsLike,
        corpus: CorpusLike,
        path: str | PathLike[str],
        *,
        tokenizer: TokenizerLike = "words",
        overwrite: bool = False,
        **options: Unpack[PassOptions],
    ) -> "Concordance":
        """Read a corpus into a new folder.

        It is built beside its place, under a hidden name, and put there when it is complete. Work that was interrupted,
        in whatever way, is taken up by the same call.

        Parameters
        ----------
        vectors : WordVectors or what names them
            Their words guide the tokenizer; questions that need vectors take vectors with the same words.
        corpus : Corpus or what it is made from
            The text.
        path : str or path
            The folder.
        tokenizer : str or Tokenizer, default "words"
            One that has a name, by which text is added later.
        overwrite : bool, default False
            Whether to replace a concordance that is there already, once the new one is complete.
        **options
            How the text is read (`text`, `columns`, … as for `Corpus`; the columns are those of the concordance), and
            how the work is done (`threads`, …; see `Work`).

        Returns
        -------
        Concordance

        Raises
        ------
        BadCorpus
            If there is a concordance already, or the corpus has no text.
        """
        refuse_unknown(cls.build, options, PassOptions)
        folder = folder_of(path)
        words = PackedWords.of(WordVectors.of(vectors).words)
        work = Work(**select(options, WorkOptions))
        build_folder(folder, words, corpus_of(corpus, options), get_tokenizer(tokenizer), work, overwrite)
        return cls(folder)

    def add(self, corpus: CorpusLike, **options: Unpack[PassOptions]) -> None:
        """Add more text, which has the same columns.

        Parameters
        ----------
        corpus : Corpus or what it is made from
            The text; a file that is in the concordance already is refused.
        **options
            As for `build`.
        """
        refuse_unknown(self.add, options, PassOptions)
        source, work = corpus_of(corpus, options), Work(**select(options, WorkOptions))
        if source.columns != self.columns:
            raise BadCorpus(f"this concordance has the columns {list(self.columns)}, the text {list(source.columns)}")
        with locked(self.path):
            self._read_segments()
            index_segment(self.path, self._database, self._words, source, work, self._segments)
            self._read_segments()

    def remove(self, *conditions: str) -> int:
        """Take the documents of this slice out for good.

        Their text stays in the folder and is not read any more.

        Parameters
        ----------
        *conditions : str
            Further conditions that they meet, as `where` takes them.

        Returns
        -------
        int
            How many documents were taken out.
        """
        if not (self._conditions or conditions or self._chosen is not None):
            raise AlacarteError("this would remove every document; delete the folder instead")
        with locked(self.path):
            documents = np.flatnonzero(self.where(*conditions)._mask)
            self._database.remove(documents)
        return len(documents)

    def verify(self) -> None:
        """Compare every byte with what was written; raises `BadCorpus` where one differs."""
        self._database.file.verify()
        for segment in self._segments:
            segment.artifact.verify()

    # ---------------------------------------------------------------------------------------------- describe

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return self._database.facts.columns

    @cached_property
    def tokenizer(self) -> Tokenizer:
        """The tokenizer that cuts its text."""
        return get_tokenizer(self._database.facts.tokenizer)

    @property
    def tokens(self) -> int:
        """The number of tokens of the documents."""
        return int(sum(np.diff(segment.offsets)[self._of(segment)].sum() for segment in self._segments))

    def __len__(self) -> int:
        """Return how many documents there are."""
        return int(np.count_nonzero(self._mask))

    def __repr__(self) -> str:
        slice_ = f" where {' and '.join(self._conditions)}" if self._conditions else ""
        return f"<Concordance {self.path}{slice_}: {len(self):,} documents>"

    def _repr_html_(self) -> str:
        facts = {"folder": self.path, "documents": len(self), "tokens": self.tokens, "tokenizer": self.tokenizer.name}
        columns, conditions = ", ".join(self.columns) or None, " and ".join(self._conditions) or None
        return html.card("Concordance", {**facts, "columns": columns, "where": conditions})

    def value_counts(self, column: str) -> dict[Any, int]:
        """Return how many documents have each value of a column, by the values in their order; None for none."""
        everywhere = self._database.levels(column)
        if not self._conditions and self._chosen is None:
            return everywhere
        values = self._database.values(np.flatnonzero(self._mask))[column]
        counts = Counter(None if value == "" else value for value in values)
        return {value: counts[value] for value in everywhere if counts[value]}

    def frequent_words(self, count: int = 6, *, beyond: int = 0) -> list[str]:
        """Return the most frequent words of the documents, among those that have a vector and more than three letters.

        Parameters
        ----------
        count : int, default 6
            The most words.
        beyond : int, default 0
            How many of the first words of the vectors to leave out.
        """
        count, counts = whole_number(count, "count"), self._word_counts()
        counts[: whole_number(beyond, "beyond")] = 0
        found = np.argsort(-counts, kind="stable")[: min(20 * count, np.count_nonzero(counts))]
        words = [self._words[row] for row in found.tolist()]
        return [word for word in words if word.isalpha() and len(word) > 3][:count]

    def _word_counts(self) -> Longs:
        """Return how often each word of the vectors occurs in the documents."""
        known = len(self._words)
        counts = (segment.word_counts(self._of(segment))[:known] for segment in self._segments)
        return sum(counts, np.zeros(known, dtype=np.int64))

    def periods(self, column: str, most: int = 12) -> list[Period]:
        """Return the documents in the order of a column, as slices of about as many documents each.

        A value is never cut in two. In a column of dates (2001-05-03; nine tenths of the documents that have a value),
        the slices are whole years. Otherwise, if there are more values than slices, those of the less frequent kind,
        numbers or text, are in none. The slices are those of the whole concordance, so that those of its slices can be
        compared.

        Parameters
        ----------
        column : str
            The name of the column.
        most : int, default 12
            The most slices.

        Returns
        -------
        list of Period
            Each with the conditions by which `where` gives it.
        """
        return periods_of(column, self._database.levels(column), most)

    def where(self, *conditions: str) -> "Concordance":
        """Return the slice of documents whose columns are as all of the conditions say.

        Parameters
        ----------
        *conditions : str
            A column, a sign and a value each, such as "party=D|R" or "date>=2001-01-01". The signs are =, !=, >=, <=, >
            and <. Values may be in quotes. Numbers are put in order as numbers, all else as text. "date=" asks for the
            documents without a date, which meet no other condition on it.

        Returns
        -------
        Concordance
            Its documents also meet the conditions of this one.
        """
        slice_ = self._copy()
        slice_._conditions = (*self._conditions, *conditions)
        _ = slice_._mask  # a column that is not there is said at once
        return slice_

    def _copy(self) -> "Concordance":
        copied = copy(self)
        copied._kept = None
        return copied

    def holding(self, target: TargetsLike) -> "Concordance":
        """Return the slice of documents in which a word, phrase or pattern occurs.

        What asks about its single contexts has to read no others.
        """
        slice_ = self._copy()
        slice_._chosen = np.zeros(self._documents, dtype=bool)
        for place in self.uses(target).places:
            slice_._chosen[place.documents] = True
        return slice_

    @property
    def _mask(self) -> Mask:
        """Whether each document belongs to this slice; looked up again when any slice has removed some."""
        kept = self._database.kept(self._documents)
        if self._kept is not kept:
            self._kept, self._within = kept, kept if self._chosen is None else kept & self._chosen
            if self._conditions:
                self._within = self._within & self._database.matching(self._conditions, self._documents)
            self._shared: dict[tuple[str, Reading], SharedWords] = {}
        return self._within

    def _of(self, segment: StoredSegment) -> Mask:
        return self._mask[segment.first : segment.first + segment.documents]

    # ------------------------------------------------------------------------------------------------- as text

    def __iter__(self) -> Iterator[str | list[str]]:
        """Yield the documents as they came: text, or lists of tokens."""
        for segment in self._segments:
            chosen = np.flatnonzero(self._of(segment))
            for low in range(0, len(chosen), AT_ONCE):
                yield from segment.texts(chosen[low : low + AT_ONCE])

    def text(self, document: int) -> str | list[str]:
        """Return one document as it came, by its number."""
        self._check_number(document)
        segment = next(each for each in self._segments if document < each.first + each.documents)
        return segment.texts(np.array([document - segment.first]))[0]

    def values(self, document: int) -> dict[str, Any]:
        """Return the columns of one document, by its number."""
        self._check_number(document)
        return {name: values[0] for name, values in self._database.values(np.array([document])).items()}

    def _check_number(self, document: int) -> None:
        if not whole_number(document, "document") < self._documents:
            raise AlacarteError(f"there is no document {document}; they are numbered from 0 to {self._documents - 1}")
        if not self._database.kept(self._documents)[document]:
            raise AlacarteError(f"document {document} was removed; ask for another one")

    def to_columns(self) -> dict[str, Any]:
        """Return the documents as columns by name: their numbers, their text, and the columns of this concordance.

        A column that is called `document` or `text` itself gets "columns." before its name.
        """
        numbers = np.flatnonzero(self._mask)
        return beside({"document": numbers, "text": list(self)}, self._database.values(numbers))

    def to_frame(self) -> Any:
        """Return the same as a pandas frame."""
        return require("pandas", extra="pandas", purpose="to_frame()").DataFrame(self.to_columns())

    # ---------------------------------------------------------------------------------------------------- find

    def count(self, target: TargetsLike) -> int:
        """Return how often a word, phrase or pattern occurs."""
        return sum(len(place.begins) for _, places in self._matches_of(Targets.of(target)) for place in places)

    def uses(self, target: TargetsLike, *, sort: str | None = None, descending: bool = False) -> Uses:
        """Return all places where a word, phrase or pattern occurs.

        Parameters
        ----------
        target : str or Targets
            A word or phrase, or several targets.
        sort : str, optional
            "before" or "after", for the order of the words there, as in a dictionary, or "before 2", "after 3" and the
            like, for that of the second or third word; or the name of a column, with "columns." before it if it is one
            of these words. Without it, the order of the text.
        descending : bool, default False
            Whether to turn that order round.

        Returns
        -------
        Uses

        Raises
        ------
        NoOccurrences
            If there is none.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> vectors = WordVectors(["the", "river"], [[0.1, 0.1], [1.0, 0.0]])
        >>> path = Path(tempfile.mkdtemp()) / "bank.concordance"
        >>> text = ["the bank sleeps", "a bank of sand", "no bank"]
        >>> bank = Concordance.build(vectors, text, path, show_progress=False).uses("bank", sort="after")
        >>> len(bank), bank.lines(1, 2).after
        (3, ['of sand', 'sleeps'])
        """
        wanted = Targets.of(target)
        found = zip(*(places for _, places in self._matches_of(wanted)), strict=True)
        places = [place for place in map(Place.joined, found) if len(place.begins)]
        if not places:
            if not len(self):
                conditions = " and ".join(self._conditions)
                raise NoOccurrences(f"no document is left{f' where {conditions}' if conditions else ''}; choose others")
            named = ", ".join(map(repr, list(wanted)[:5]))
            advice = "check the spelling" + spelling_hint(wanted)
            raise NoOccurrences(f"{named} does not occur in these documents; {advice}")
        source = LineSource(self._words, self._database.values)
        return Uses(places, source, None if sort is None else self._order(places, source, sort, descending))

    def _order(self, places: list[Place], source: LineSource, sort: str, descending: bool) -> Longs:
        if sort in CONTEXT_ORDERS:
            return order_by_words(places, source, sort, descending)
        name = sort if sort in self.columns else sort.removeprefix(PREFIX)
        ranks = self._database.ranks(name, self._documents)[np.concatenate([place.documents for place in places])]
        return np.argsort(-ranks if descending else ranks, kind="stable")

    def lines(
        self,
        target: TargetsLike,
        *,
        limit: int | None = 20,
        skip: int = 0,
        around: int = AROUND,
        seed: int | None = None,
    ) -> Lines:
        """Return the lines in which a word, phrase or pattern occurs, in the order of the text.

        Parameters
        ----------
        target : str or Targets
            A word or phrase, or several targets.
        limit : int, optional
            The most lines; None for all.
        skip : int, default 0
            How many lines to leave out first.
        around : int, default 10
            How many words to show on each side.
        seed : int, optional
            A random choice of lines in place of the first ones.

        Returns
        -------
        Lines
            With the columns of their documents. For another order, see `uses`.
        """
        uses = self.uses(target)
        if seed is None:
            return uses.lines(skip, limit, around=around)
        order = np.random.default_rng(whole_number(seed, "seed")).permutation(len(uses))
        return uses.at(np.sort(order[stretch(skip, limit)]), around=around)

    def _matches_of(self, targets: Targets) -> Iterator[tuple[str, list[Place]]]:
        """Yield each target with its matches in each segment."""
        vocabulary = Vocabulary(self._words)
        for key in targets:
            parts = targets.parts(key, self.tokenizer, vocabulary)
            yield key, [self._matches(segment, parts) for segment in self._segments]

    def _matches(self, segment: StoredSegment, parts: list[str | Pattern[str]]) -> Place:
        begins = segment.find([segment.ids_of(part, self._words) for part in parts])
        mask = self._of(segment)
        if not mask.all():
            begins = begins[mask[segment.document_of(begins)]]
        return Place(segment, begins, begins + len(parts))

    # -------------------------------------------------------------------------------------------------- vectors

    def collect(
        self,
        vectors: VectorsLike,
        targets: TargetsLike,
        *,
        spread: int | None = None,
        adapt: bool = False,
        **options: Unpack[ReadingOptions],
    ) -> ContextSums:
        """Return the sums that `alacarte.collect` computes from this text, to the last bit, without reading it.

        Parameters
        ----------
        vectors : WordVectors or what names them
            Vectors with exactly the words that the concordance was built with.
        targets : Targets or what they are made from
            What to sum the contexts of.
        spread : int, optional
            The number of groups of documents that are summed apart, for standard errors.
        adapt : bool
            Whether the contexts of common words are summed too, so that a model can adapt to the text; that takes some
            time once.
        **options
            How contexts are read; see `Reading`.

        Returns
        -------
        ContextSums
        """
        refuse_unknown(self.collect, options, ReadingOptions)
        source, wanted = WordVectors.of(vectors), Targets.of(targets)
        spread = None if spread is None else whole_number(spread, "spread", 2)
        contexts = self._window_sums(source, options)
        rows = [contexts.sums(places, spread or 1) for _, places in self._matches_of(wanted)]
        groups = Sums(*(np.stack([getattr(row, name) for row in rows]) for name in ("sums", *COUNTS)))
        whole = self._segments if self._mask.all() else []
        units = {unit for segment in whole for unit in segment.units if unit.name}
        return ContextSums(
            list(wanted),
            groups.over_groups(),
            contexts.integers.scale,
            contexts.reading,
            source.fingerprint,
            wanted,
            contexts.weights,
            documents=len(self),
            tokens_read=self.tokens,
            tokens_known=int(sum(segment.known[self._of(segment)].sum() for segment in self._segments)),
            groups=None if spread is None else groups,
            units=frozenset(units),
            shared=self._shared_words(contexts, source) if adapt else None,
        )

    def _shared_words(self, contexts: WindowSums, vectors: WordVectors) -> SharedWords:
        """Return the contexts of common words, which are summed once for each way to read them."""
        key, parts = (vectors.fingerprint, contexts.reading), [(part, self._of(part)) for part in self._segments]
        if key not in self._shared:
            self._shared[key] = contexts.shared_words(parts, Lexicon(vectors.key_to_index))
        return self._shared[key]

    def _window_sums(self, vectors: WordVectors, options: ReadingOptions) -> WindowSums:
        """Raise for other vectors: their words would cut the text into other tokens."""
        if vectors.fingerprint not in self._fitting and words_digest(vectors.words) != self._database.facts.vocabulary:
            raise AlacarteError(
                "these vectors have other words than those the concordance was built with, which decide how text is "
                "cut into tokens; build it with these, or read its text again",
                hint=Hint("pass the concordance as the corpus to alacarte.collect or model.induce"),
            )
        self._fitting.add(vectors.fingerprint)
        return WindowSums(vectors, options, self.tokenizer.name, self._word_counts)

    def induce(self, model: "ALaCarte", targets: TargetsLike, *, spread: int | None = SPREAD) -> "InducedVectors":
        """Return vectors of words, phrases and patterns by a model; with `spread`, they have standard errors."""
        adapt = model.register is not None
        return model.apply(self.collect(model.vectors, targets, spread=spread, adapt=adapt, **model.reading))

    def explore(self, model: str = "glove.6B.50d", *, height: int = 760) -> Exploring:
        """Show the page of `alc serve` on the whole of it in a cell of a notebook, `height` pixels high.

        `model` is the name or the folder of one. The `address` of what is returned is for browsers; `close` ends it.
        """
        return Exploring(self.path, model, height)

    def influence(self, model: "ALaCarte", target: TargetsLike, *, limit: int | None = 20) -> Lines:
        """Return the lines that a vector is computed from, those that count most first.

        Parameters
        ----------
        model : ALaCarte
            The model that gives the vector.
        target : str or Targets
            A word or phrase, or several targets as one.
        limit : int, optional
            The most lines; None for all.

        Returns
        -------
        Lines
            With two measures. `share` is a line's part of the vector: what it adds along the vector, as a share of the
            whole; the shares of all lines add up to 1, and a negative one pulls the other way. `change` is 1 minus the
            cosine of the vector with and without the line.
        """
        uses = self.uses(target)
        reading: ReadingOptions = {**model.reading, "averaging": model.context_settings.averaging}
        contexts, transform = self._window_sums(model.vectors, reading), model.compared
        measures = contexts.influence(uses.places, transform)
        order = np.argsort(-np.abs(measures["share"]), kind="stable")[stretch(0, limit)]
        return uses.at(order, {name: values[order] for name, values in measures.items()})
