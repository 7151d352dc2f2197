"""`Concordance`: text that was read once, in a folder, and can be questioned from then on.

>>> import tempfile
>>> from alacarte import Corpus, Document, WordVectors
>>> vectors = WordVectors(["the", "river", "money"], [[0.1, 0.1], [1.0, 0.0], [0.0, 1.0]])
>>> reviews = [Document("the bank of the river", values=(1999,)), Document("money in the bank", values=(2001,))]
>>> path = Path(tempfile.mkdtemp()) / "bank.concordance"
>>> concordance = Concordance.build(vectors, Corpus(reviews, columns=["year"]), path, show_progress=False)
>>> print(concordance.where("year>=2000").lines("bank"))
document  before        match  after  year
1         money in the  bank          2001
"""

import hashlib
import warnings
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from dataclasses import replace
from functools import cached_property
from os import PathLike
from pathlib import Path
from re import Pattern
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
import numpy.typing as npt

from alacarte._io import html
from alacarte._io.artifact import read_artifact, write_artifact
from alacarte._io.files import lock
from alacarte._io.remote import path_on_disk
from alacarte.concordance._database import Database, SegmentRow
from alacarte.concordance._parts import Parts
from alacarte.concordance._segment import Segment, write_segment
from alacarte.concordance.periods import Period, periods_of
from alacarte.concordance.uses import AROUND, SIDES, Lines, Place, Source, Uses, order_by_words
from alacarte.contexts.groups import dealt
from alacarte.contexts.integers import IntegerVectors
from alacarte.contexts.reading import Reading, ReadingOptions
from alacarte.contexts.summing import COUNTS
from alacarte.contexts.sums import ContextSums, Sums
from alacarte.contexts.weights import resolve
from alacarte.contexts.windows import sums_of_matches, sums_of_windows
from alacarte.errors import AlacarteError, AlacarteWarning, BadCorpus, Hint, NoOccurrences, require
from alacarte.passes.checkpoint import Checkpoint, delete_checkpoint
from alacarte.passes.scan import run
from alacarte.passes.work import Work, WorkOptions, refuse_unknown, usable_cores
from alacarte.targets.sequences import Matches
from alacarte.targets.targets import Targets, TargetsLike, spelling_hint
from alacarte.text.corpus import Corpus, CorpusLike
from alacarte.text.encoding import Encoded, Encoder, Lexicon
from alacarte.text.tokenizers import Tokenizer, TokenizerLike, get_tokenizer
from alacarte.vectors.geometry import cosines
from alacarte.vectors.word_vectors import VectorsLike, WordVectors
from alacarte.vectors.words import PackedWords, Vocabulary

if TYPE_CHECKING:
    from alacarte.model import ALaCarte, InducedVectors

Longs = npt.NDArray[np.int64]
Ints = npt.NDArray[np.int32]
Mask = npt.NDArray[np.bool_]

DATABASE, VOCABULARY, UNFINISHED = "concordance.sqlite", "vocabulary.safetensors", "unfinished"
WORDS_KIND = "concordance vocabulary"
TOGETHER = 1 << 15  # windows summed at a time
SPREAD = 16  # groups of documents, by which a vector knows how sure it is


class Concordance:
    """Documents in a folder: their text, their columns, and where each word stands.

    It is a corpus, so that everything that takes one takes it; what asks about chosen words (`lines`, `collect`,
    `induce`, `influence`) finds them without reading any text. `where` gives a slice of it, which is one too.
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        self.path = path_on_disk(path, AlacarteError, "a concordance")
        if not is_concordance(path):
            raise AlacarteError(
                f"{path} is no concordance: there is no such file as {DATABASE} in it; check the path",
                hint=Hint(
                    "or make one: Concordance.build(vectors, corpus, path)", "or make one: alc concordance build"
                ),
            )
        self._database = Database(self.path / DATABASE)
        self._words = PackedWords.from_artifact(read_artifact(self.path / VOCABULARY, WORDS_KIND))
        self._conditions: tuple[str, ...] = ()
        self._chosen: Mask | None = None  # of each document whether it belongs to this slice
        self._fitting: set[str] = set()  # fingerprints of vectors that have the words of the vocabulary
        self._read_segments()

    def _read_segments(self) -> None:
        self._segments: list[Segment] = []
        first = 0
        for row in self._database.segments():
            segment = Segment.open(self.path / row.file, first)
            if segment.documents != row.documents:
                raise segment.artifact.damaged("it does not belong to this concordance")
            self._segments.append(segment)
            first += row.documents
        self._documents = first
        vars(self).pop("_mask", None)

    # --------------------------------------------------------------------------------------- build and change

    @classmethod
    def build(
        cls,
        vectors: VectorsLike,
        corpus: CorpusLike,
        path: str | PathLike[str],
        *,
        tokenizer: TokenizerLike = "words",
        overwrite: bool = False,
        **work: Unpack[WorkOptions],
    ) -> "Concordance":
        """Read a corpus into a new folder. Its columns are those of `Corpus(…, columns=…)`.

        With `overwrite`, a concordance that is there already is deleted first.

        The words of the vectors guide the tokenizer, so questions that need vectors take vectors with the same words.
        Work that was interrupted, in whatever way, is taken up by the same call. The other options say how the work is
        done (`Work`).
        """
        refuse_unknown("Concordance.build", work, WorkOptions)
        folder, source = path_on_disk(path, AlacarteError, "a concordance"), Corpus.of(corpus)
        split = get_tokenizer(tokenizer)
        if not split.named:
            raise AlacarteError("a concordance needs a tokenizer that has a name, to add text by it later")
        words = PackedWords.of(WordVectors.of(vectors).words)
        if is_concordance(folder):
            concordance = cls(folder)
            before = concordance.tokenizer.name, concordance._database.vocabulary, concordance.columns
            same = before == (split.name, _digest(words), source.columns)
            if overwrite or (not same and concordance._is_empty):
                delete_concordance(folder)
            elif concordance._segments or not same:
                raise AlacarteError(
                    f"{folder} is a concordance already; choose another path, or add to it",
                    hint=Hint("Concordance(path).add(corpus)", "alc concordance add"),
                )
        made = not folder.exists()
        if not is_concordance(folder):
            folder.mkdir(parents=True, exist_ok=True)
            _refuse_others(folder)
            write_artifact(folder / VOCABULARY, WORDS_KIND, words.tensors(), {"words": len(words)})
            Database.create(folder / DATABASE, source.columns, split.name, _digest(words))
        concordance = cls(folder)
        try:
            concordance.add(source, **work)
        except BaseException:
            if concordance._is_empty:  # nothing that could be taken up
                delete_concordance(folder)
                if made:
                    folder.rmdir()
            raise
        return concordance

    def add(self, corpus: CorpusLike, **work: Unpack[WorkOptions]) -> None:
        """Add more text, with the same columns; a file that is in the concordance already is refused."""
        refuse_unknown("Concordance.add", work, WorkOptions)
        source, options = Corpus.of(corpus), Work(**work)
        if source.columns != self.columns:
            raise BadCorpus(f"this concordance has the columns {list(self.columns)}, the text {list(source.columns)}")
        with lock(self.path / DATABASE, AlacarteError, "concordance"):
            self._read_segments()
            held = {(unit.name, unit.start) for segment in self._segments for unit in segment.units if unit.name}
            lexicon = Lexicon(Vocabulary(self._words), grow=True)
            parts = Parts(lexicon, len(self.columns), held)
            identity = {"concordance": str(self.path.absolute()), "segments": len(self._segments)}
            checkpoint = Checkpoint(self.path / UNFINISHED, identity, options.checkpoint_seconds)
            with checkpoint.held():
                state = run(parts, source, Encoder(self.tokenizer, lexicon), options, "reading", checkpoint, keep=False)
                if not state.amounts.tokens_read:
                    raise BadCorpus("the corpus holds no text; check the path and the name of the text column")
                self._check_columns(parts)
                tensors = parts.segment()
                file = f"segment-{len(self._segments) + 1:04}.safetensors"
                write_segment(self.path / file, tensors, state.units)
                row = SegmentRow(file, len(tensors["offsets"]) - 1, len(tensors["ids"]))
                self._database.add_segment(row, parts.values())
                delete_checkpoint(checkpoint.path)
            self._read_segments()

    def _check_columns(self, parts: Parts) -> None:
        """A column that no document has is a misspelt one; of text that is added later, this may be meant."""
        lacking = parts.columns_without_values()
        if not lacking:
            return
        names = ", ".join(repr(self.columns[place]) for place in lacking)
        if self._segments:
            warnings.warn(AlacarteWarning(f"no document of the added text has a value of {names}"), stacklevel=3)
        else:
            raise BadCorpus(
                f"no document has a value of {names}; check the name, as the file spells it",
                hint=Hint("or leave it out of columns=…", "or leave out --column"),
            )

    def remove(self, *conditions: str) -> int:
        """Take the documents of this slice out for good (with conditions, those that meet them too); how many.

        Their text stays in the folder and is not read any more.
        """
        slice_ = self.where(*conditions)
        if not slice_._conditions:
            raise AlacarteError("this would remove every document; delete the folder instead")
        documents = np.flatnonzero(slice_._mask)
        with lock(self.path / DATABASE, AlacarteError, "concordance"):
            self._database.remove(documents)
        vars(self).pop("_mask", None)
        return len(documents)

    @property
    def _is_empty(self) -> bool:
        """Whether nothing is in it, and nothing was begun."""
        return not self._database.segments() and not (self.path / UNFINISHED).exists()

    def verify(self) -> None:
        """Compare every byte with what was written; raises where one differs."""
        for segment in self._segments:
            segment.artifact.verify()

    # ---------------------------------------------------------------------------------------------- describe

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return self._database.columns

    @cached_property
    def tokenizer(self) -> Tokenizer:
        return get_tokenizer(self._database.tokenizer)

    @property
    def tokens(self) -> int:
        """How many tokens the documents have."""
        return int(sum(np.diff(segment.offsets)[self._of(segment)].sum() for segment in self._segments))

    def __len__(self) -> int:
        """How many documents there are."""
        return int(np.count_nonzero(self._mask))

    def __repr__(self) -> str:
        slice_ = f" where {' and '.join(self._conditions)}" if self._conditions else ""
        return f"<Concordance {self.path}{slice_}: {len(self):,} documents>"

    def _repr_html_(self) -> str:
        facts = {"folder": self.path, "documents": len(self), "tokens": self.tokens, "tokenizer": self.tokenizer.name}
        columns, conditions = ", ".join(self.columns) or None, " and ".join(self._conditions) or None
        return html.card("Concordance", {**facts, "columns": columns, "where": conditions})

    def levels(self, column: str) -> list[Any]:
        """The different values of a column, over all documents."""
        return list(self._database.levels(column))

    def frequent_words(self, count: int = 6, *, beyond: int = 0) -> list[str]:
        """The words of the vectors that the whole text has most of, without the first `beyond` of the vectors.

        >>> import tempfile
        >>> vectors = WordVectors(["the", "river"], [[0.1, 0.1], [1.0, 0.0]])
        >>> path = Path(tempfile.mkdtemp()) / "c.concordance"
        >>> Concordance.build(vectors, ["the the river"], path, show_progress=False).frequent_words(1, beyond=1)
        ['river']
        """
        counts = np.zeros(len(self._words), dtype=np.int64)
        for segment in self._segments:
            counts += np.diff(segment.starts[: len(counts) + 1])
        counts[:beyond] = 0
        met = [row for row in np.argsort(-counts, kind="stable")[: 20 * count].tolist() if counts[row]]
        words = [self._words[row] for row in met]
        return [word for word in words if word.isalpha() and len(word) > 3][:count]

    def periods(self, column: str, most: int = 12) -> list[Period]:
        """The documents in the order of a column, as at most `most` slices of about as many documents each.

        A value of a column is never cut in two, and dates (2001-05-03) are cut by years. The slices are those of the
        whole concordance, so that those of its slices can be compared.
        """
        return periods_of(column, self._database.levels(column), most)

    def where(self, *conditions: str) -> "Concordance":
        """The documents whose columns are as all of these say, such as "party=D|R" or "date>=2001-01-01".

        The signs are =, !=, >=, <=, > and <; a number is compared as a number. Slices of slices meet the conditions of
        both.
        """
        slice_ = copy(self)
        slice_._conditions = (*self._conditions, *conditions)
        vars(slice_).pop("_mask", None)
        _ = slice_._mask  # a column that is not there is said at once
        return slice_

    def holding(self, target: TargetsLike) -> "Concordance":
        """The documents in which a word, phrase or pattern occurs: all that a question about it has to read."""
        slice_ = copy(self)
        slice_._chosen = np.zeros(self._documents, dtype=bool)
        for place in self.uses(target).places:
            slice_._chosen[place.documents] = True
        vars(slice_).pop("_mask", None)
        return slice_

    @cached_property
    def _mask(self) -> Mask:
        mask = self._database.kept(self._documents)
        if self._conditions:
            mask &= self._database.matching(self._conditions, self._documents)
        return mask if self._chosen is None else mask & self._chosen

    def _of(self, segment: Segment) -> Mask:
        return self._mask[segment.first : segment.first + segment.documents]

    def _fits(self, vectors: WordVectors) -> bool:
        """Whether vectors have exactly the words that decided how the text was cut into tokens."""
        if vectors.fingerprint not in self._fitting and _digest(vectors.words) == self._database.vocabulary:
            self._fitting.add(vectors.fingerprint)
        return vectors.fingerprint in self._fitting

    @property
    def _whole(self) -> bool:
        return bool(self._mask.all())

    # ------------------------------------------------------------------------------------------------- as text

    def __iter__(self) -> Iterator[str | list[str]]:
        """The documents as they came: text, or lists of tokens."""
        for segment in self._segments:
            chosen = np.flatnonzero(self._of(segment))
            for low in range(0, len(chosen), TOGETHER):
                yield from segment.texts(chosen[low : low + TOGETHER])

    def text(self, document: int) -> str | list[str]:
        """One document as it came, by its number."""
        for segment in self._segments:
            if 0 <= document - segment.first < segment.documents:
                return segment.texts(np.array([document - segment.first]))[0]
        raise AlacarteError(f"there is no document {document}; they are numbered from 0 to {self._documents - 1}")

    def values(self, document: int) -> dict[str, Any]:
        """The columns of one document, by its number."""
        return {name: values[0] for name, values in self._database.values(np.array([document])).items()}

    def to_columns(self) -> dict[str, Any]:
        """The documents as columns by name: their numbers, their text, and the columns of this concordance."""
        numbers = np.flatnonzero(self._mask)
        return {"document": numbers, "text": list(self), **self._database.values(numbers)}

    def to_frame(self) -> Any:
        """The same as a pandas frame."""
        pandas = require("pandas", extra="pandas", purpose="to_frame()")
        return pandas.DataFrame(self.to_columns())

    # ---------------------------------------------------------------------------------------------------- find

    def count(self, target: TargetsLike) -> int:
        """How often a word, phrase or pattern occurs."""
        return sum(len(place.begins) for _, places in self._matches_of(_targets(target)) for place in places)

    def uses(self, target: TargetsLike, *, sort: str | None = None, descending: bool = False) -> Uses:
        """All places where a word, phrase or pattern stands, in the order of the text or in that of `sort`.

        `sort` is the name of a column, or "before" or "after": by the words there, as in a dictionary. `NoOccurrences`
        if there is none.

        >>> import tempfile
        >>> vectors = WordVectors(["the", "river"], [[0.1, 0.1], [1.0, 0.0]])
        >>> path = Path(tempfile.mkdtemp()) / "bank.concordance"
        >>> text = ["the bank sleeps", "a bank of sand", "no bank"]
        >>> bank = Concordance.build(vectors, text, path, show_progress=False).uses("bank", sort="after")
        >>> len(bank), bank.lines(1, 2).after
        (3, ['of sand', 'sleeps'])
        """
        wanted = _targets(target)
        places = [place for _, places in self._matches_of(wanted) for place in places if len(place.begins)]
        if not places:
            if not len(self):
                conditions = " and ".join(self._conditions)
                raise NoOccurrences(f"no document is left{f' where {conditions}' if conditions else ''}; choose others")
            raise _absent(wanted)
        return Uses(places, self._source, None if sort is None else self._order(places, sort, descending))

    def _order(self, places: list[Place], sort: str, descending: bool) -> Longs:
        if sort in SIDES:
            return order_by_words(places, self._source, sort, descending)
        ranks = self._database.ranks(sort, self._documents)[np.concatenate([place.documents for place in places])]
        return np.argsort(-ranks if descending else ranks, kind="stable")

    @property
    def _source(self) -> Source:
        return Source(self._words, self._database.values)

    def lines(
        self,
        target: TargetsLike,
        *,
        limit: int | None = 20,
        skip: int = 0,
        around: int = AROUND,
        seed: int | None = None,
    ) -> Lines:
        """The lines in which a word, phrase or pattern stands, with the columns of their documents.

        At most `limit` of them after the first `skip`, in the order of the text; with `seed`, a random choice.
        `around`: words on each side. For another order, see `uses`.
        """
        uses = self.uses(target)
        if seed is None:
            return uses.lines(skip, limit, around=around)
        chosen = np.random.default_rng(seed).permutation(len(uses))[skip : None if limit is None else skip + limit]
        return uses.at(np.sort(chosen), around=around)

    def _matches_of(self, targets: Targets) -> Iterator[tuple[str, list[Place]]]:
        """Each target with its matches in each segment."""
        vocabulary = Vocabulary(self._words)
        for key in targets:
            parts = targets.parts(key, self.tokenizer, vocabulary)
            yield key, [self._matches(segment, parts) for segment in self._segments]

    def _matches(self, segment: Segment, parts: list[str | Pattern[str]]) -> Place:
        begins = segment.find([self._ids(segment, part) for part in parts])
        mask = self._of(segment)
        if not mask.all():
            begins = begins[mask[segment.document_of(begins)]]
        return Place(segment, begins, begins + len(parts))

    def _ids(self, segment: Segment, part: str | Pattern[str]) -> Longs:
        """The ids of a word in a segment, or of all words that match a pattern."""
        known = len(self._words)
        if isinstance(part, str):
            row = self._words.find(part)
            if row is None:
                extra = segment.extra.find(part)
                row = None if extra is None else known + extra
            return np.array([] if row is None else [row], dtype=np.int64)
        met = np.flatnonzero(np.diff(segment.starts))
        rows = [n for n, word in enumerate(self._words) if part.search(word)]
        rows += [known + n for n, word in enumerate(segment.extra) if part.search(word)]
        return np.intersect1d(met, np.array(rows, dtype=np.int64))

    # -------------------------------------------------------------------------------------------------- vectors

    def collect(
        self,
        vectors: VectorsLike,
        targets: TargetsLike,
        *,
        spread: int | None = None,
        **options: Unpack[ReadingOptions],
    ) -> ContextSums:
        """The sums that `alacarte.collect` makes of this text, to the last bit, without reading it."""
        refuse_unknown("Concordance.collect", options, ReadingOptions)
        source, wanted = WordVectors.of(vectors), Targets.of(targets)
        questions = _Questions(self, source, options)
        rows = [questions.sums(places, spread or 1) for _, places in self._matches_of(wanted)]
        groups = Sums(*(np.stack([getattr(row, name) for row in rows]) for name in ("sums", *COUNTS)))
        units = {unit for segment in self._segments for unit in segment.units if unit.name} if self._whole else set()
        return ContextSums(
            list(wanted),
            groups.over_groups(),
            questions.integers.scale,
            questions.reading,
            source.fingerprint,
            wanted,
            questions.weights,
            documents=len(self),
            tokens_read=self.tokens,
            tokens_known=int(sum(segment.known[self._of(segment)].sum() for segment in self._segments)),
            groups=None if spread is None else groups,
            units=frozenset(units),
        )

    def induce(self, model: "ALaCarte", targets: TargetsLike, *, spread: int | None = SPREAD) -> "InducedVectors":
        """Vectors of words, phrases and patterns by a model; with `spread`, they know how sure they are."""
        return model.apply(self.collect(model.vectors, targets, spread=spread, **model.reading))

    def influence(self, model: "ALaCarte", target: TargetsLike, *, limit: int | None = 20) -> Lines:
        """The lines that made the vector of a word or phrase, those that count most first.

        `share` is a line's part of the vector: the length of what it adds along the vector, as a share of the
        whole; the shares of all lines add up to 1, and a negative one pulls the other way. `change` is 1 minus the
        cosine of the vector with and without the line.
        """
        uses = self.uses(target)
        questions = _Questions(self, model.vectors, model.reading)
        sums, divisors = (np.concatenate(each) for each in zip(*map(questions.each, uses.places), strict=True))
        added = sums @ model.transform.matrix.astype(np.float64).T
        whole = added.sum(axis=0)
        shares = added @ whole / max(float(whole @ whole), 1e-300)
        rest = divisors.sum() - divisors
        vector = model.transform(sums.sum(axis=0) / divisors.sum())
        without = model.transform((sums.sum(axis=0) - sums) / np.where(rest > 0, rest, np.nan)[:, None])
        change = 1 - cosines(without.astype(np.float64), vector.astype(np.float64))
        order = np.argsort(-np.abs(shares), kind="stable")[:limit]
        return uses.at(order, {"share": shares[order], "change": change[order]})


def is_concordance(path: str | PathLike[str]) -> bool:
    """Whether a folder is a concordance."""
    return (Path(path) / DATABASE).is_file()


def _parts(folder: Path) -> list[Path]:
    """The files of a concordance that may be there, the database last."""
    names = VOCABULARY, UNFINISHED, DATABASE
    return [*folder.glob("segment-[0-9]*.safetensors"), *(folder / name for name in names)]


def _refuse_others(folder: Path) -> None:
    """Raise if anything is in a folder that is no part of a concordance; hidden files, such as locks, do not count."""
    others = {path for path in folder.iterdir() if path.name[0] != "."} - set(_parts(folder))
    if others:
        raise AlacarteError(f"{folder} holds {min(others).name}, which is no part of a concordance; move it elsewhere")


def delete_concordance(folder: Path) -> None:
    """Delete a concordance; refused if anything else is in its folder."""
    with lock(folder / DATABASE, AlacarteError, "concordance"):
        _refuse_others(folder)
        for path in reversed(_parts(folder)):  # without its database it is none
            path.unlink(missing_ok=True)


class _Questions:
    """What sums of contexts need to know of vectors and options, made once for several targets."""

    def __init__(self, concordance: Concordance, vectors: WordVectors, options: ReadingOptions) -> None:
        if not concordance._fits(vectors):
            raise AlacarteError(
                "these vectors have other words than those the concordance was built with, which decide how text is "
                "cut into tokens; build it with these, or read its text again",
                hint=Hint("pass the concordance as the corpus to alacarte.collect or model.induce"),
            )
        tokenizer = get_tokenizer(options.get("tokenizer", "words"))
        if tokenizer.name != concordance.tokenizer.name:
            raise AlacarteError(
                f"this concordance was built with the tokenizer {concordance.tokenizer.name!r}, not {tokenizer.name!r}"
            )
        self.concordance = concordance
        self.weights = resolve(options.get("context_weights"), vectors, self._word_counts)
        self.reading = replace(Reading.of(options, tokenizer.name), weights=self.weights.name)
        self.integers = IntegerVectors.of(vectors, self.weights, self.reading, few=True)

    def _word_counts(self) -> Longs:
        known = len(self.concordance._words)
        counts = np.zeros(known, dtype=np.int64)
        for segment in self.concordance._segments:
            inside = np.repeat(self.concordance._of(segment), np.diff(segment.offsets))
            counts += np.bincount(segment.ids[inside & (segment.ids < known)], minlength=known)
        return counts

    def sums(self, places: list[Place], groups: int) -> Sums:
        """The sums of one target over all segments, a row for each group of documents."""
        shape = groups, self.integers.dimension
        total = Sums(np.zeros(shape, dtype=np.int64), *(np.zeros(groups, dtype=np.int64) for _ in COUNTS))
        parts = [
            place.only(slice(low, low + TOGETHER)) for place in places for low in range(0, len(place.begins), TOGETHER)
        ]

        def summed(part: Place) -> Sums:
            rows = np.zeros(len(part.begins), dtype=np.int32)
            if groups > 1:
                rows = dealt(part.segment.codes[part.segment.document_of(part.begins)], groups)
            return self._summed(part, rows)

        with ThreadPoolExecutor(usable_cores()) as pool:
            for added in map(summed, parts) if len(parts) < 2 else pool.map(summed, parts):
                for name in ("sums", *COUNTS):
                    values = getattr(added, name)
                    getattr(total, name)[: len(values)] += values
        return total

    def each(self, place: Place) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """(sum of context vectors, what it is divided by) of each match by itself."""
        single = self._summed(place, np.arange(len(place.begins), dtype=np.int32))
        return single.sums * self.integers.scale.sum_units, np.asarray(
            single.divisor(self.integers.scale, self.reading.averaging), dtype=np.float64
        )

    def _summed(self, place: Place, rows: Ints) -> Sums:
        if self.reading.unknown == "keep":
            before, after = place.segment.window(place.begins, place.ends, self.reading.left, self.reading.right)
            known = self.integers.known
            before, after = (np.where(ids < known, ids, -1) for ids in (before, after))
            return sums_of_windows(self.integers, self.reading, before, after, rows)
        # Words without a vector take no place in a window, so that it may reach anywhere in its document.
        segment, numbers = place.segment, place.segment.document_of(place.begins)
        documents, inside = np.unique(numbers, return_inverse=True)
        lengths = segment.offsets[documents + 1] - segment.offsets[documents]
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        ids = np.concatenate([segment.ids[segment.offsets[n] : segment.offsets[n + 1]] for n in documents.tolist()])
        starts = (place.begins - segment.offsets[numbers] + offsets[inside]).astype(np.int32)
        matches = Matches(starts, starts + (place.ends - place.begins).astype(np.int32), rows)
        count = int(rows.max(initial=-1)) + 1
        return sums_of_matches(self.integers, self.reading, Encoded(ids, offsets, []), matches, count)


def _digest(words: Sequence[str]) -> str:
    """A short name for exactly these words in this order."""
    data, offsets = Vocabulary(words).packed()
    digest = hashlib.blake2b(data.tobytes(), digest_size=16)
    digest.update(offsets.tobytes())
    return digest.hexdigest()


def _targets(target: TargetsLike) -> Targets:
    """What to look for; a string is a word or a phrase."""
    return Targets.of([target] if isinstance(target, str) else target)


def _absent(targets: Targets) -> NoOccurrences:
    named = ", ".join(map(repr, list(targets)[:5]))
    return NoOccurrences(f"{named} does not occur in these documents; check the spelling" + spelling_hint(targets))
