"""The pass that everything else rests on: sum the contexts of targets, or of every word, in a corpus.

>>> from alacarte import WordVectors, collect
>>> vectors = WordVectors(["a", "b", "c"], [[1, 0], [0, 1], [2, 2]])
>>> collect(vectors, ["a b x c a x zz a"], ["x"], window=2).means().tolist()
[[4.0, 2.5]]
"""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, Unpack

import numpy as np
import numpy.typing as npt

from alacarte._io.progress import phase
from alacarte._io.tensors import forget_pages
from alacarte.contexts.integers import IntegerVectors
from alacarte.contexts.reading import Reading, ReadingOptions
from alacarte.contexts.scale import Scale, most_windows
from alacarte.contexts.summing import COUNTS, SumsTally, private_memory, row_stride, widest_row
from alacarte.contexts.sums import ContextSums, Sums
from alacarte.contexts.weights import ContextWeights, resolve, specification
from alacarte.contexts.word_counts import WordCounts
from alacarte.errors import AlacarteError, BadCheckpoint, BadCorpus, BadSums
from alacarte.passes.checkpoint import Checkpoint, Stage, delete_checkpoint, is_rows_name, new_rows_name
from alacarte.passes.memory import allocate, disk_space, return_free_memory, room_for_sums, scratch_file
from alacarte.passes.scan import check_text, run, useful_threads
from alacarte.passes.spool import readable_again
from alacarte.passes.work import Work, WorkOptions, chosen, refuse_unknown
from alacarte.targets.targets import Matcher, Targets, TargetsLike
from alacarte.text.corpus import Corpus, CorpusLike
from alacarte.text.encoding import Encoder, Lexicon
from alacarte.text.tokenizers import TokenizerLike, get_tokenizer
from alacarte.vectors.word_vectors import WordVectors

Counts = npt.NDArray[np.int64]
SLICE = "dimensions"  # how the names of stages begin that make some of the dimensions
PROGRAM = 200_000_000  # bytes of Python, NumPy, Numba and compiled code; 193 MB on Linux
WORD = 150  # bytes of a word of the vectors beside its vector: its name, and where it is looked up; GloVe's
KEY = 240  # the same for a target beside its sums; 219 for a million trigrams
SHORT = 8 << 20  # bytes of text that hold few of the words of large vectors
ROWS = 1 << 16  # of sums in a file that are in memory together
UNDER_WAY = 30  # bytes in memory for each byte of a block that is worked on


class CollectOptions(ReadingOptions, WorkOptions, total=False):
    """How contexts are read, and how the pass is run."""


def collect(
    vectors: WordVectors,
    corpus: CorpusLike,
    targets: TargetsLike | None = None,
    *,
    spread: int | None = None,
    **options: Unpack[CollectOptions],
) -> ContextSums:
    """Read a corpus once and sum the contexts of `targets`, or of every word that has a vector.

    How contexts are read: `window`, `averaging`, `positions`, `context_weights`, `tokenizer`, `unknown` (see
    `Reading`). How the pass is run: `threads`, `memory`, `checkpoint`, `shard`, `client`, … (see `Work`); none of these
    changes a bit of the result.

    `spread`: keep this many sums for each target instead of one (16 is a good number), with the contexts of one
    document in the same, so that vectors know how sure they are (`InducedVectors.uncertainty`). Memory for sums
    grows as many times.
    """
    refuse_unknown("collect", options, CollectOptions)
    work = Work(**chosen(options, WorkOptions))
    if work.client is not None:
        from alacarte.passes.dask import collect_on_cluster

        return collect_on_cluster(vectors, Corpus.of(corpus), targets, spread, options, work)
    return _Job(vectors, Corpus.of(corpus), targets, spread, options, work).collect()


def collect_share(
    vectors: WordVectors, corpus: Corpus, targets: Targets | None, spread: int | None, options: CollectOptions
) -> ContextSums:
    """`collect` for a share of a text, which may hold nothing, and whose sums the caller saves at once.

    The checkpoint is not written a last time when all is done.
    """
    work = Work(**chosen(options, WorkOptions))
    return _Job(vectors, corpus, targets, spread, options, work, share=True).collect()


def count_words(
    vectors: WordVectors,
    corpus: CorpusLike,
    tokenizer: TokenizerLike = "words",
    **options: Unpack[WorkOptions],
) -> Counts:
    """How often each word of the vectors occurs in a corpus.

    >>> count_words(WordVectors(["b", "a"], [[1.0], [2.0]]), ["a b a c", ["a"]]).tolist()
    [1, 3]
    """
    tally = WordCounts(len(vectors))
    encoder = Encoder(get_tokenizer(tokenizer), Lexicon(vectors.key_to_index))
    run(tally, Corpus.of(corpus), encoder, Work(**options), "counting words")
    return tally.counts


class _Job:
    """All that one call of `collect` knows."""

    def __init__(
        self,
        vectors: WordVectors,
        corpus: Corpus,
        targets: TargetsLike | None,
        spread: int | None,
        options: ReadingOptions,
        work: Work,
        share: bool = False,
    ) -> None:
        if spread is not None and spread < 2:
            raise AlacarteError(f"spread: at least 2 groups are needed to tell how far they lie apart, not {spread}")
        self.vectors, self.corpus, self.spread, self.options, self.work = vectors, corpus, spread, options, work
        self.share = share
        self.targets = None if targets is None else Targets.of(targets)
        self.tokenizer = get_tokenizer(options.get("tokenizer", "words"))
        self.reading = Reading.of(options, self.tokenizer.name)

    def collect(self) -> ContextSums:
        if self.work.checkpoint is None:
            return self._collect(None)
        checkpoint = Checkpoint(Path(self.work.checkpoint), self._identity(), self.work.checkpoint_seconds)
        with checkpoint.held():
            return self._collect(checkpoint)

    def _identity(self) -> dict[str, Any]:
        """All that decides the result but the text."""
        return {
            "vectors": self.vectors.fingerprint,
            "settings": asdict(self.reading),
            "context weights": specification(self.options.get("context_weights")),
            "targets": None if self.targets is None else self.targets.digest(),
            "spread": self.spread,
            "shard": self.work.shard,
            "block size": self.work.block_size,
        }

    def _collect(self, checkpoint: Checkpoint | None) -> ContextSums:
        weights = resolve(self.options.get("context_weights"), self.vectors, lambda: self._count(checkpoint))
        reading = replace(self.reading, weights=weights.name)
        size = self.corpus.size
        integers = IntegerVectors.of(self.vectors, weights, reading, few=size is not None and size < SHORT)
        lexicon = Lexicon(self.vectors.key_to_index)
        if self.targets is None:
            matcher = Matcher.of_vocabulary(self.vectors.words, lexicon)
        else:
            with phase("preparing the targets", self.work.show_progress):
                matcher = self.targets.compile(lexicon, self.tokenizer)
        encoder = Encoder(self.tokenizer, lexicon)
        summed = _Summed(integers, reading, matcher, self.spread or 1, encoder, self.work, not self.share)
        rows, state = summed.rows(self.corpus, checkpoint)
        if state.amounts.tokens_read == 0 and self.work.shard is None and not self.share:
            raise BadCorpus("the corpus holds no text; check the path and, for tables, the name of the text column")
        return self._result(rows, state, matcher, reading, integers.scale, weights)

    def _count(self, checkpoint: Checkpoint | None) -> Counts:
        if self.corpus.once:
            raise BadCorpus(
                "these context weights need a first pass over the corpus to count words, and this corpus can "
                "be read only once; pass a file or a list, or weights that are ready-made"
            )
        tally = WordCounts(len(self.vectors))
        encoder = Encoder(self.tokenizer, Lexicon(self.vectors.key_to_index))
        work = replace(self.work, shard=None)  # weights are those of all of the text
        run(tally, self.corpus, encoder, work, "counting words", checkpoint)
        return tally.counts

    def _result(
        self,
        rows: Counts,
        state: Stage,
        matcher: Matcher,
        reading: Reading,
        scale: Scale,
        weights: ContextWeights,
    ) -> ContextSums:
        keys, targets = list(matcher.keys), self.targets
        if targets is not None and targets.any_label:  # labels were met in the order of the threads
            targets = targets | Targets.spans(keys[len(targets) :])
            order = targets.in_order(keys)
            keys = [keys[place] for place in order]
            rows = rows.reshape(-1, self.spread or 1, rows.shape[1])[order].reshape(rows.shape)
            targets = targets.only(keys)
        dimension = self.vectors.dimension
        total, groups = _sums_of(rows, dimension), None
        if self.spread is not None:
            groups = _sums_of(rows.reshape(len(keys), self.spread, -1), dimension)
            total = groups.over_groups()
        most = most_windows(reading, scale)
        if _largest(total.occurrences) > most:
            raise BadSums(f"one target occurs more often than sums can hold ({most:,} times)")
        named = frozenset(unit for unit in state.units if unit.name)
        return ContextSums(
            keys,
            total,
            scale,
            reading,
            self.vectors.fingerprint,
            targets,
            weights,
            **asdict(state.amounts),
            groups=groups,
            units=named,
        )


def _row_blocks(rows: Counts) -> Iterator[slice]:
    """Some rows at a time: what lies in a file need not be in memory as a whole."""
    for low in range(0, len(rows), ROWS):
        yield slice(low, low + ROWS)


def _largest(counts: Counts) -> int:
    """The largest of some counts, which may be a column of rows in a file."""
    largest = 0
    for block in _row_blocks(counts):
        largest = max(largest, int(counts[block].max()))
        forget_pages(counts[block])
    return largest


def _sums_of(rows: Counts, dimension: int) -> Sums:
    """The columns of rows of sums by name; views, no copies."""
    counts = {name: rows[..., dimension + place] for place, name in enumerate(COUNTS)}
    return Sums(rows[..., :dimension], **counts)


@dataclass(frozen=True)
class _Summed:
    """The passes that fill rows of sums: one, or several with some of the dimensions each where memory is short."""

    integers: IntegerVectors
    reading: Reading
    matcher: Matcher
    groups: int
    encoder: Encoder
    work: Work
    keep: bool = True  # whether a pass over the text that is done is saved in the checkpoint, for a caller that fails

    def rows(self, corpus: Corpus, checkpoint: Checkpoint | None) -> tuple[Counts, Stage]:
        """(rows of sums, what was read)."""
        if self.work.memory is None:
            return self._pass(self.integers, corpus, "reading", checkpoint, self.keep)
        room = room_for_sums(self.work.memory, self._other_memory())
        return_free_memory()
        if self.matcher.any_label:  # nobody knows how many there will be: a first pass finds them
            corpus = readable_again(corpus)
            self._pass(self.integers.slice(0, 0), corpus, "finding labels", checkpoint)
            room = room_for_sums(self.work.memory, self._other_memory())
        width = self._dimensions_at_a_time(room)
        if width == self.integers.dimension:
            return self._pass(self.integers, corpus, "reading", checkpoint, self.keep)
        return self._in_slices(readable_again(corpus), width, checkpoint)

    def _other_memory(self) -> int:
        vectors = self.integers.matrix.nbytes + self.integers.rows.nbytes + WORD * self.integers.known
        rows, stride = self.matcher.size * self.groups, row_stride(self.integers.columns)
        chosen = not self.matcher.whole_vocabulary
        names = KEY * self.matcher.size if chosen else 0
        private = private_memory(rows, stride, self.work.cores, chosen)
        return PROGRAM + vectors + private + names + self._text_under_way()

    def _text_under_way(self) -> int:
        return (self.work.cores + 1) * UNDER_WAY * self.work.block_size

    def _pass(
        self, integers: IntegerVectors, corpus: Corpus, stage: str, checkpoint: Checkpoint | None, keep: bool = True
    ) -> tuple[Counts, Stage]:
        threads = useful_threads(corpus, self.work)
        tally = SumsTally(integers, self.reading, self.matcher, self.groups, threads)
        state = run(tally, corpus, self.encoder, self.work, stage, checkpoint, keep)
        return tally.result(), state

    # ------------------------------------------------------------------------- sums that do not fit in memory

    def _dimensions_at_a_time(self, room: int) -> int:
        targets = max(1, self.matcher.size * self.groups)
        columns, split = widest_row(room // (8 * targets)), len(self.integers.split)
        width = self.integers.dimension if columns >= self.integers.columns else max(columns - split, columns // 2)
        if width < 1:
            raise AlacarteError(
                f"not even a few dimensions of the sums of {targets:,} targets fit in {room / 1e6:,.0f} MB; "
                "give more memory, or embed the targets in several runs"
            )
        return min(self.integers.dimension, width)

    def _in_slices(self, corpus: Corpus, width: int, checkpoint: Checkpoint | None) -> tuple[Counts, Stage]:
        """Sums in a file, filled with some of the dimensions at a time, each by a pass over the text."""
        shape = self.matcher.size * self.groups, row_stride(self.integers.dimension)
        if checkpoint is None:
            rows = scratch_file(shape)
            return rows, self._fill(rows, corpus, width, None)
        path = _rows_beside(checkpoint, shape)
        try:
            rows = np.memmap(path, dtype=np.int64, mode="r+", shape=shape)
            state = self._fill(rows, corpus, width, checkpoint)
        finally:
            if not checkpoint.stages:  # nothing was done that could be taken up
                delete_checkpoint(checkpoint.path)
        if not checkpoint.stages:
            return rows, state
        # What the caller does with the sums leaves those of the checkpoint as they are.
        return np.memmap(path, dtype=np.int64, mode="c", shape=shape), state

    def _fill(
        self,
        rows: "np.memmap[Any, np.dtype[np.int64]]",
        corpus: Corpus,
        width: int,
        checkpoint: Checkpoint | None,
    ) -> Stage:
        dimension = self.integers.dimension
        state: Stage | None = None
        checked = False  # that the text is still the one that was read before
        for low in range(0, dimension, width):
            high = min(dimension, low + width)
            stage = f"{SLICE} {low + 1} to {high} of {dimension}"
            before = None if checkpoint is None else checkpoint.stages.get(stage)
            if before is None or not before.complete:
                checked = True
                part, now = self._pass(self.integers.slice(low, high), corpus, stage, checkpoint, keep=False)
                _put_in_file(part, rows, low, high, dimension)
                del part  # before the next slice needs the memory
                before = Stage({"digest": _digest(rows, low, high, dimension)}, now.amounts, now.units, complete=True)
                if checkpoint is not None and now.units:
                    rows.flush()
                    checkpoint.save(stage, before)
            elif not np.array_equal(before.arrays.get("digest", ()), _digest(rows, low, high, dimension)):
                raise BadCheckpoint(f"{rows.filename} is damaged; delete it and the checkpoint, and begin again")
            state = _same_text(state, before)
        assert state is not None
        if not checked:
            check_text(corpus, state.units, self.work)
        return state


def _same_text(one: Stage | None, two: Stage) -> Stage:
    if one is not None and one.units != two.units:
        raise BadCorpus("the text changed between two passes over it; begin again with text that stays as it is")
    return two


def _put_in_file(part: Counts, rows: Counts, low: int, high: int, dimension: int) -> None:
    """Copy sums of some dimensions, and the counts behind them, to rows of all dimensions that lie in a file."""
    for block in _row_blocks(rows):
        rows[block, low:high] = part[block, : high - low]
        rows[block, dimension : dimension + len(COUNTS)] = part[block, high - low : high - low + len(COUNTS)]
        forget_pages(rows[block])


def _digest(rows: Counts, low: int, high: int, dimension: int) -> npt.NDArray[np.uint8]:
    """Of some dimensions of all rows, and of the counts."""
    digest = sha256()
    for start in range(0, len(rows), 1 << 12):
        for first, last in ((low, high), (dimension, dimension + len(COUNTS))):
            digest.update(np.ascontiguousarray(rows[start : start + (1 << 12), first:last]).data)
        forget_pages(rows[start : start + (1 << 12)])
    return np.frombuffer(digest.digest(), np.uint8)


def _rows_beside(checkpoint: Checkpoint, shape: tuple[int, int]) -> Path:
    """The file with the sums of a checkpoint: beside it, under a name that only the checkpoint knows."""
    length = max(1, 8 * shape[0] * shape[1])
    if "rows" not in checkpoint.notes:
        checkpoint.notes["rows"] = new_rows_name(checkpoint.path)
        checkpoint.write()  # before the file is there, so that it can never be forgotten
    if not is_rows_name(checkpoint.path, checkpoint.notes["rows"]):
        raise BadCheckpoint(f"{checkpoint.path}: names a file of sums that is none of its own; begin again without it")
    path = checkpoint.path.with_name(checkpoint.notes["rows"])
    if path.is_file() and path.stat().st_size == length:
        return path
    if any(stage.complete for name, stage in checkpoint.stages.items() if name.startswith(SLICE)):
        raise BadCheckpoint(f"{path} is not whole, and {checkpoint.path} needs it; restore it, or delete both")
    try:
        with disk_space(path, length), path.open("wb") as file:
            allocate(file, length)
    except AlacarteError:
        path.unlink(missing_ok=True)
        if not checkpoint.stages:  # nothing was done that could be taken up
            delete_checkpoint(checkpoint.path)
        raise
    return path
