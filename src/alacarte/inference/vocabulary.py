"""`compare`: two corpora, or two groups of the documents of one, and every word that both use often enough.

A first pass over each corpus counts words; a second makes the sums, by groups of documents, of those that are frequent
on both sides; `alacarte.inference.comparing` tests them; a third gathers contexts of the words that are reported.
"""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol, TypedDict, Unpack, cast

import numpy as np
import numpy.typing as npt

from alacarte._io.frames import is_frame
from alacarte._io.progress import ProgressCallback, phase
from alacarte.contexts.reading import Reading
from alacarte.contexts.sums import ContextSums
from alacarte.contexts.weights import UNIFORM
from alacarte.errors import AlacarteError, BadCorpus, BadSums, BadTargets, Hint, NoOccurrences, require
from alacarte.inference._loudest import Source, loudest
from alacarte.inference.comparing import Comparison, Comparisons, LoudestContexts, Side, compare_sides, typical_of
from alacarte.inference.spread import Deviations, deviations
from alacarte.passes.collect import collect, count_words
from alacarte.passes.spool import readable_again
from alacarte.passes.work import WorkOptions, refuse_unknown
from alacarte.targets.targets import Targets, TargetsLike
from alacarte.text.corpus import Corpus, CorpusLike
from alacarte.text.records import as_frame, is_null
from alacarte.text.tokenizers import Tokenizer, get_tokenizer
from alacarte.transform.transform import Transform
from alacarte.vectors.geometry import unit_rows
from alacarte.vectors.word_vectors import WordVectors

Doubles = npt.NDArray[np.float64]
Rows = npt.NDArray[np.intp]
MIN_COUNT = 20
GROUPS = 16  # of documents, by which the noise is measured
SIDES = ("a", "b")  # what the two corpora are called, if they are not groups of one
REPORTED = 100  # words, at most, whose loudest contexts are gathered


class PassOptions(TypedDict, total=False):
    """How the passes of `compare` are run; see `alacarte.passes.work.Work`."""

    threads: int | None
    memory: int | str | None
    show_progress: bool | None
    callback: ProgressCallback | None


class CompareOptions(PassOptions, total=False):
    """How words are tested, what of them is shown, and how the passes are run; see `compare`."""

    level: float
    relative: bool
    spread: int
    contexts: int


@dataclass(frozen=True)
class _Settings:
    """`CompareOptions` with their defaults, but for the passes."""

    level: float = 0.95
    relative: bool = False
    spread: int = GROUPS
    contexts: int = 3

    def __post_init__(self) -> None:
        if self.contexts < 0:
            raise AlacarteError(f"contexts: how many lines to show a word and side, 0 for none, not {self.contexts}")


class Model(Protocol):
    """What `compare` needs of a model; `ALaCarte` has it."""

    vectors: WordVectors
    transform: Transform
    settings: Reading

    @property
    def tokenizer(self) -> Tokenizer: ...

    def collect(
        self, corpus: CorpusLike, targets: TargetsLike, *, spread: int | None = None, **work: Unpack[WorkOptions]
    ) -> ContextSums: ...


class HasSums(Protocol):
    """Sums by groups of documents, as `ALaCarte.induce(…, spread=16)` gives them."""

    sums: ContextSums


def compare(
    model: "Model | WordVectors",
    corpus: "CorpusLike | ContextSums | HasSums",
    other: "CorpusLike | ContextSums | HasSums | None" = None,
    targets: TargetsLike | None = None,
    *,
    by: str | None = None,
    groups: tuple[object, object] | None = None,
    text: str = "text",
    vocabulary: bool = True,
    min_count: int = MIN_COUNT,
    **options: Unpack[CompareOptions],
) -> Comparisons:
    """Test every word that both of two corpora use at least `min_count` times: do they use it differently?

    Documents are what noise is measured by: uses within one document count as one piece of evidence. Words whose uses
    come from too few documents are in the table, with the reason and without a p-value.

    `corpus`, `other`: text as everywhere, or `ContextSums` with `spread` (merged from shards, say), or what `induce`
    gave. Instead of `other`, `by` names a column of a data frame and `groups` two of its values; `text` is the column
    with the text. `targets` (phrases, patterns) are tested beside the words of the vectors, or alone with
    `vocabulary=False`. `level` (0.95) is that of intervals. `relative` (False): whether a word moves otherwise than
    words do on average, for corpora that differ in topic or tone as a whole. `spread` (16): the groups of documents by
    which noise is measured. `contexts` (3): how many lines to show on either side for the words with q ≤ .05, at most
    100 words; 0 saves the last pass.

    With vectors alone, averages of context vectors are compared as they are.

    >>> rng = np.random.default_rng(0)
    >>> vectors = WordVectors([f"w{i}" for i in range(60)], rng.normal(size=(60, 5)))
    >>> def text(near):  # "w0" has other neighbours in the second corpus, all others have the same
    ...     return [" ".join(["w0", *rng.choice(near, 4), *rng.choice(vectors.words[1:], 30)]) for _ in range(300)]
    >>> found = compare(vectors, text(vectors.words[1:30]), text(vectors.words[30:]), contexts=1)
    >>> found[0].word, found[0].q_value < 0.001, len(found)
    ('w0', True, 60)
    >>> found.contexts["w0"].a[0].startswith("[w0] w")
    True
    """
    refuse_unknown("compare", options, CompareOptions)
    if min_count < 2:
        raise AlacarteError(f"min_count: a word needs at least 2 uses to show its noise, not {min_count}")
    settings = _Settings(**{name: value for name, value in options.items() if name in _Settings.__annotations__})  # type: ignore[arg-type]
    work = cast("WorkOptions", {name: value for name, value in options.items() if name in PassOptions.__annotations__})
    first, second, names = _two(corpus, other, by, groups, text)
    reader = _Reader(model)
    if isinstance(first, ContextSums) and isinstance(second, ContextSums):
        sums = first, second
        reader.check(sums)
        settings = replace(settings, contexts=0)
    elif isinstance(first, ContextSums) or isinstance(second, ContextSums):
        raise AlacarteError("one side is text and the other sums; collect sums from the text too, with spread=16")
    else:
        _refuse_empty((first, second), names)
        wanted = None if targets is None else Targets.of(targets)
        listed = reader.targets((first, second), wanted, vocabulary, min_count, work)
        sums = tuple(reader.collect(side, listed, settings.spread, work) for side in (first, second))  # type: ignore[assignment]
    _refuse_same_text(sums)
    asked = [] if targets is None else list(Targets.of(targets))
    with phase("testing words", work.get("show_progress")):
        result = _tested(reader, sums, names, asked, (vocabulary, min_count), settings)
    if not settings.contexts:
        return result
    corpora = cast("tuple[Corpus, Corpus]", (first, second))
    return _with_contexts(result, reader, corpora, sums, settings.contexts, work)


# ---------------------------------------------------------------------------------------------------- two sides


def _two(
    corpus: Any, other: Any, by: str | None, groups: tuple[object, object] | None, text: str
) -> tuple[Corpus | ContextSums, Corpus | ContextSums, tuple[str, str]]:
    """(one side, the other, their names)."""
    if by is not None:
        if other is not None:
            raise AlacarteError("by= compares groups of one corpus; leave the second corpus out, or by=")
        return _groups(corpus, by, groups, text)
    if other is None:
        raise AlacarteError("a comparison needs two corpora, or one data frame with by= and groups=")
    if groups is not None:
        raise AlacarteError("groups= are values of the column that by= names; give by=, or leave groups= out")
    if corpus is other or _same_files(corpus, other):
        raise BadCorpus("both sides are the same corpus: there is nothing to compare; give another one")
    return _opened(corpus), _opened(other), SIDES


def _opened(given: Any) -> Corpus | ContextSums:
    sums = getattr(given, "sums", given)
    return sums if isinstance(sums, ContextSums) else readable_again(Corpus.of(given))


def _same_files(one: Any, two: Any) -> bool:
    if not isinstance(one, str | os.PathLike) or not isinstance(two, str | os.PathLike):
        return False
    return one != "-" and Path(one).resolve() == Path(two).resolve()


def _groups(
    frame: Any, by: str, groups: tuple[object, object] | None, text: str
) -> tuple[Corpus, Corpus, tuple[str, str]]:
    if not is_frame(frame):
        raise BadCorpus(
            "by= names a column of a data frame, and this is none; read the table first, as in "
            'pandas.read_json("speeches.jsonl", lines=True)',
            hint=Hint("", "name one table, and --by COLUMN"),
        )
    narwhals = require("narwhals", extra="frames", purpose="reading documents from a data frame")
    table = as_frame(frame)
    table = table.collect() if hasattr(table, "collect") else table
    for column in (by, text):
        if column not in table.columns:
            raise BadCorpus(f"there is no column {column!r} among {', '.join(map(repr, table.columns))}")
    values = [value for value in table[by].unique().to_list() if not is_null(value)]
    chosen = sorted(values, key=str) if groups is None else list(groups)
    if len(chosen) != 2:
        few = ", ".join(repr(value) for value in sorted(values, key=str)[:8])
        raise AlacarteError(f"{by!r} has {len(values)} values ({few}); name the two to compare as groups=(…, …)")
    if chosen[0] == chosen[1]:
        raise BadCorpus(f"both groups are {chosen[0]!r}: there is nothing to compare; name two")
    for value in chosen:
        if value not in values:
            raise BadCorpus(f"no row has {value!r} in {by!r}; it has {', '.join(map(repr, sorted(values, key=str)))}")
    sides = [Corpus(table.filter(narwhals.col(by) == value).to_native(), text=text) for value in chosen]
    return sides[0], sides[1], (str(chosen[0]), str(chosen[1]))


def _refuse_empty(corpora: tuple[Corpus, Corpus], names: tuple[str, str]) -> None:
    sides = ("the first corpus", "the second corpus") if names == SIDES else (f"group {name!r}" for name in names)
    for corpus, side in zip(corpora, sides, strict=True):
        if not any(document.strip() if isinstance(document, str) else document for document in corpus):
            raise BadCorpus(f"{side} holds no text; check the path and, for tables, the name of the text column")


def _refuse_same_text(sums: tuple[ContextSums, ContextSums]) -> None:
    shared = sums[0].units & sums[1].units
    if shared:
        raise BadCorpus(f"{min(unit.name for unit in shared)} is in both corpora; leave it out of one of them")


# ------------------------------------------------------------------------------------------------------- reading


class _Reader:
    """How a model, or vectors alone, read text: one face for both."""

    def __init__(self, model: "Model | WordVectors") -> None:
        self._model = None if isinstance(model, WordVectors) else model
        if self._model is None:
            vectors = cast("WordVectors", model)
            self.transform = Transform(np.eye(vectors.dimension, dtype=np.float32))
            self.source = Source(vectors, UNIFORM, Reading(), get_tokenizer("words"), np.eye(vectors.dimension))
        else:
            self.transform = self._model.transform
            self.source = Source(
                self._model.vectors,
                self.transform.weights,
                self._model.settings,
                self._model.tokenizer,
                self.transform.matrix.astype(np.float64),
            )

    def collect(self, corpus: Corpus, targets: Targets, spread: int, work: WorkOptions) -> ContextSums:
        if self._model is None:
            return collect(self.source.vectors, corpus, targets, spread=spread, **work)
        return self._model.collect(corpus, targets, spread=spread, **work)

    def targets(
        self,
        corpora: tuple[Corpus, Corpus],
        wanted: Targets | None,
        vocabulary: bool,
        min_count: int,
        work: WorkOptions,
    ) -> Targets:
        """What is looked for: the words of the vectors that are frequent on both sides, and what was asked for."""
        if not vocabulary:
            if wanted is None:
                raise BadTargets("vocabulary=False leaves nothing to compare; name targets=")
            return wanted
        vectors = self.source.vectors
        counts = [count_words(vectors, corpus, self.source.tokenizer, **work) for corpus in corpora]
        frequent = np.flatnonzero(np.minimum(*counts) >= min_count)
        words = vectors.words
        listed = [words[row] for row in frequent.tolist()]
        if wanted is None:
            if not listed:
                raise _nothing_frequent(words, counts, min_count)
            return Targets.ngrams(listed)
        return wanted | Targets.ngrams(word for word in listed if word not in wanted)

    def check(self, sums: tuple[ContextSums, ContextSums]) -> None:
        for side in sums:
            if side.groups is None:
                raise BadSums("these sums have no groups of documents; collect them with spread=16 (--spread 16)")
            self.transform.check_sums(side)
        if sums[0].fingerprint != sums[1].fingerprint or sums[0].settings != sums[1].settings:
            raise BadSums("the sums of the two sides were made with other vectors or settings; collect both the same")

    def side(self, sums: ContextSums, rows: Rows) -> Side:
        intercept = None if self.transform.intercept is None else self.transform.intercept.astype(np.float64)

        def deviations_of(chosen: Rows) -> Deviations:
            taken = rows[chosen]
            return deviations(*sums.group_sums(taken), sums.occurrences[taken], self.source.matrix, intercept)

        counts = sums.occurrences[rows]
        return Side(counts, deviations_of, typical_of(counts, deviations_of, self.source.vectors.matrix))


def _nothing_frequent(words: Sequence[str], counts: list[npt.NDArray[np.int64]], min_count: int) -> NoOccurrences:
    both = int(np.count_nonzero(np.minimum(*counts)))
    most = "none occurs in both"
    if both:
        best = int(np.argmax(np.minimum(*counts)))
        most = f"{words[best]!r} has {counts[0][best]:,} and {counts[1][best]:,}"
    return NoOccurrences(
        f"no word of the vectors occurs {min_count:,} times in both corpora ({most}); give more text, or text in the "
        "language of the vectors",
        hint=Hint("or lower min_count", "or lower --min-count"),
    )


# ------------------------------------------------------------------------------------------------------- testing


def _tested(
    reader: _Reader,
    sums: tuple[ContextSums, ContextSums],
    names: tuple[str, str],
    asked: Sequence[str],
    among: tuple[bool, int],
    settings: _Settings,
) -> Comparisons:
    """The words that both sides use often enough, tested, and those asked for that are not, with the reason.

    `among`: whether words of the vectors are tested too, and how many uses a word needs on either side.
    """
    vocabulary, min_count = among
    only = set(asked)
    places = [{key: row for row, key in enumerate(side.keys)} for side in sums]
    counts = [dict(zip(side.keys, side.occurrences.tolist(), strict=True)) for side in sums]
    known = [(side.all.totals > 0) for side in sums]
    words = [
        key
        for key in sums[0].keys
        if (vocabulary or key in only)
        and min(counts[0][key], counts[1].get(key, 0)) >= min_count
        and known[0][places[0][key]]
        and known[1][places[1][key]]
    ]
    tested = set(words)
    left_out = list(_left_out([word for word in asked if word not in tested], counts, min_count, names))
    if not words:
        if left_out:
            return Comparisons(tuple(left_out), settings.level, names)
        raise NoOccurrences(f"no target occurs {min_count:,} times in both corpora; lower min_count or give more text")
    sides = [reader.side(side, np.array([at[word] for word in words])) for side, at in zip(sums, places, strict=True)]
    result = compare_sides(words, (sides[0], sides[1]), settings.level, names, settings.relative)
    return replace(result, items=(*result.items, *left_out))


def _left_out(
    words: list[str], counts: list[dict[str, int]], min_count: int, names: tuple[str, str]
) -> Iterator[Comparison]:
    nan = float("nan")
    for word in words:
        a, b = (count.get(word, 0) for count in counts)
        side, few = min(((names[0], a), (names[1], b)), key=lambda pair: pair[1])
        reason = f"does not occur in {side}" if not few else f"{few:,} uses in {side}, and {min_count:,} are needed"
        yield Comparison(word, a, b, nan, nan, nan, nan, nan, nan, nan, reason)


def _with_contexts(
    result: Comparisons,
    reader: _Reader,
    corpora: tuple[Corpus, Corpus],
    sums: tuple[ContextSums, ContextSums],
    count: int,
    work: WorkOptions,
) -> Comparisons:
    words = [item.word for item in result.changed()[:REPORTED]]
    if not words:
        return result
    assert sums[0].targets is not None
    targets = sums[0].targets.only(words)
    means = [_vectors_of(reader, side, words) for side in sums]
    directions = unit_rows(means[0]) - unit_rows(means[1])
    lines = [
        loudest(reader.source, corpus, targets, sign * directions, count, work)
        for corpus, sign in zip(corpora, (1, -1), strict=True)
    ]
    contexts = {word: LoudestContexts(a, b) for word, a, b in zip(words, *lines, strict=True)}
    return replace(result, contexts=contexts)


def _vectors_of(reader: _Reader, sums: ContextSums, words: Sequence[str]) -> Doubles:
    places = {key: row for row, key in enumerate(sums.keys)}
    return reader.transform(sums.means(np.array([places[word] for word in words]))).astype(np.float64)
