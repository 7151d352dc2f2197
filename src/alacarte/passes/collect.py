"""The pass that everything else rests on: sum the contexts of targets, or of every word, in a corpus.

>>> from alacarte import WordVectors, collect
>>> vectors = WordVectors(["a", "b", "c"], [[1, 0], [0, 1], [2, 2]])
>>> collect(vectors, ["a b x c a x zz a"], ["x"], window=2).means().tolist()
[[4.0, 2.5]]
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, Unpack, cast

import numpy as np
import numpy.typing as npt

from alacarte._io.arrays import Bytes, Longs
from alacarte._io.checks import whole_number
from alacarte._io.options import refuse_unknown
from alacarte._io.progress import phase
from alacarte._io.tensors import forget_pages
from alacarte.contexts.groups import GROUP
from alacarte.contexts.integers import IntegerVectors
from alacarte.contexts.reading import Reading, ReadingOptions
from alacarte.contexts.scale import most_windows
from alacarte.contexts.shared_words import COMMON_WORDS, SharedWords, SharedWordsTally
from alacarte.contexts.summing import COUNTS, SumsTally, private_memory, row_stride, widest_row
from alacarte.contexts.sums import ContextSums, Sums
from alacarte.contexts.tally import Tally
from alacarte.contexts.weights import ContextWeights, repeatable, resolve, specification
from alacarte.contexts.word_counts import WordCounts
from alacarte.errors import AlacarteError, BadCheckpoint, BadCorpus, BadSums, Hint
from alacarte.passes.checkpoint import Checkpoint, Stage, delete_checkpoint, is_rows_name, new_rows_name
from alacarte.passes.memory import allocate, disk_space, return_free_memory, room_for_sums, scratch_file
from alacarte.passes.scan import check_text, run, useful_threads
from alacarte.passes.spool import readable_again
from alacarte.passes.work import PassOptions, Work, WorkOptions, corpus_of, select
from alacarte.targets.targets import Matcher, Targets, TargetsLike
from alacarte.text.corpus import Corpus, CorpusLike
from alacarte.text.encoding import Encoded, Encoder, Lexicon
from alacarte.text.tokenizers import Tokenizer, TokenizerLike, get_tokenizer
from alacarte.vectors.word_vectors import VectorsLike, WordVectors

SHARED = "shared_"  # how the names of the arrays of shared words begin
SLICE = "dimensions"  # how the names of stages begin that make some of the dimensions
PROGRAM = 200_000_000  # bytes of Python, NumPy, Numba and compiled code; 193 MB on Linux
BYTES_OF_WORD = 150  # bytes of a word of the vectors beside its vector: its name, and where it is looked up; GloVe's
BYTES_OF_KEY = 240  # the same for a target beside its sums; 219 for a million trigrams
SHORT_TEXT = 8 << 20  # bytes of text that hold few of the words of large vectors
ROWS_IN_MEMORY = 1 << 16  # of sums in a file that are in memory together
SHORTEST_WORD = 4  # bytes of a word with the space behind it
UNDER_WAY = 30  # bytes in memory for each byte of a block that is worked on


class CollectOptions(ReadingOptions, PassOptions, total=False):
    """How the text and its contexts are read, and how the pass is run."""


def collect(
    vectors: VectorsLike,
    corpus: CorpusLike,
    targets: TargetsLike | None = None,
    *,
    spread: int | None = None,
    adapt: bool = False,
    **options: Unpack[CollectOptions],
) -> ContextSums:
    """Read a corpus once and sum the contexts of targets, or of every word that has a vector.

    Parameters
    ----------
    vectors : WordVectors or what they are made from
        The vectors of the words around the targets.
    corpus : path, iterable of documents, or Corpus
        The text, as `Corpus` takes it.
    targets : Targets, or anything that it takes, optional
        What to sum the contexts of; None is every word of the vectors.
    spread : int, optional
        Keep this many sums per target instead of one (16 is a good number), with the contexts of one document in the
        same, so that vectors know their standard errors (`InducedVectors.uncertainty`). Sums take as many times the
        memory.
    adapt : bool, optional
        Also sum the contexts of the commonest words of the vectors, in a sample of the documents, so that a model can
        adapt to the text. Sums of every word hold them anyway.
    **options
        How a table is read (`text`, `tokens`, `columns`, …; see `Corpus`), how contexts are (`window`, `averaging`,
        `positions`, `context_weights`, `tokenizer`, `unknown`; see `Reading`), and how the pass is run (`threads`,
        `memory`, `checkpoint`, `shard`, `client`, …; see `Work`).

    Returns
    -------
    ContextSums
        The same to the last bit for any number of threads, blocks, shards and interruptions.
    """
    refuse_unknown(collect, options, CollectOptions)
    vectors = WordVectors.of(vectors)
    spread = None if spread is None else whole_number(spread, "spread", 2)
    options["context_weights"] = _ready(options.get("context_weights"), vectors)
    source, wanted = corpus_of(corpus, options), None if targets is None else Targets.of(targets)
    work = Work(**select(options, WorkOptions))
    reading_options = cast(ReadingOptions, select(options, ReadingOptions))
    if work.client is not None:
        from alacarte.passes.dask import collect_on_cluster

        return collect_on_cluster(vectors, source, wanted, spread, adapt, reading_options, work)
    tokenizer = get_tokenizer(options.get("tokenizer", "words"))
    reading = Reading.of(reading_options, tokenizer.name)
    checkpoint = None
    if work.checkpoint is not None:
        identity = {  # all that decides the result but the text
            "vectors": vectors.fingerprint,
            "settings": asdict(reading),
            "context weights": specification(options.get("context_weights")),
            "targets": None if wanted is None else wanted.digest(),
            "spread": spread,
            "adapt": adapt,
            "shard": work.shard,
            "block size": work.block_size,
        }
        checkpoint = Checkpoint(Path(work.checkpoint), identity, work.checkpoint_seconds)
    with nullcontext() if checkpoint is None else checkpoint.held():
        weights = resolve(
            options.get("context_weights"), vectors, lambda: _counts(vectors, source, tokenizer, work, checkpoint)
        )
        reading = replace(reading, weights=weights.name)
        integers = IntegerVectors.of(
            vectors, weights, reading, few=source.size is not None and source.size < SHORT_TEXT
        )
        lexicon = Lexicon(vectors.key_to_index)
        if wanted is None:
            matcher = Matcher.of_vocabulary(vectors.words, lexicon)
        else:
            with phase("preparing the targets", work.show_progress):
                matcher = wanted.compile(lexicon, tokenizer)
        shared = adapt and wanted is not None
        summing = _Summing(integers, reading, matcher, spread or 1, shared, Encoder(tokenizer, lexicon), work)
        rows, shared_words, state = summing.rows(source, checkpoint)
    if state.amounts.tokens_read == 0 and work.shard is None and not source.is_part:
        raise BadCorpus("the corpus holds no text; check the path and, for tables, the name of the text column")
    keys = list(matcher.keys)
    if wanted is not None and wanted.any_label:
        keys, wanted, rows = _in_order(keys, wanted, rows, spread or 1)
    sums = _context_sums(keys, wanted, rows, spread, state, summing, vectors, weights)
    return replace(sums, shared=shared_words)


def _ready(weights: object, vectors: WordVectors) -> object:
    """Return what is asked for as context weights, so that it says the same each time that it is asked."""
    if isinstance(weights, str) and "@" in weights:  # of a file, which may change
        return resolve(weights, vectors, lambda: np.zeros(0, dtype=np.int64))
    return repeatable(weights)


def count_words(
    vectors: WordVectors,
    corpus: CorpusLike,
    tokenizer: TokenizerLike = "words",
    **options: Unpack[WorkOptions],
) -> Longs:
    """Return how often each word of the vectors occurs in a corpus.

    >>> count_words(WordVectors(["b", "a"], [[1.0], [2.0]]), ["a b a c", ["a"]]).tolist()
    [1, 3]
    """
    refuse_unknown(count_words, options, WorkOptions)
    work = Work(**options)
    return _count(vectors, Corpus.of(corpus), get_tokenizer(tokenizer), work, None)


def _count(
    vectors: WordVectors, corpus: Corpus, tokenizer: Tokenizer, work: Work, checkpoint: Checkpoint | None
) -> Longs:
    tally = WordCounts(len(vectors))
    run(tally, corpus, Encoder(tokenizer, Lexicon(vectors.key_to_index)), work, "counting words", checkpoint)
    return tally.counts


def _counts(
    vectors: WordVectors, corpus: Corpus, tokenizer: Tokenizer, work: Work, checkpoint: Checkpoint | None
) -> Longs:
    """Return the counts that context weights are computed from, by a pass of their own."""
    if corpus.once:
        raise BadCorpus(
            "these context weights need a first pass over the corpus to count words, and this corpus can "
            "be read only once; pass a file or a list, or weights that are ready-made"
        )
    if work.shard is not None:
        raise AlacarteError(
            "these context weights need the counts of the words in all of the text, and a shard reads only its part; "
            "count them once, into a file with a word, a tab and its count on each line",
            hint=Hint(
                'with alacarte.contexts.weights.save_counts("counts.tsv", vectors, count_words(vectors, corpus)), and '
                'pass context_weights="sif@counts.tsv"',
                "and pass --context-weights sif@counts.tsv",
            ),
        )
    return _count(vectors, corpus, tokenizer, work, checkpoint)


def _in_order(keys: list[str], targets: Targets, rows: Longs, groups: int) -> tuple[list[str], Targets, Longs]:
    """Return labels, which were found in the order of the threads, in an order that depends on nothing but them."""
    targets = targets | Targets.spans(keys[len(targets) :])
    order = targets.in_order(keys)
    keys = [keys[place] for place in order]
    return keys, targets.only(keys), rows.reshape(-1, groups, rows.shape[1])[order].reshape(rows.shape)


def _context_sums(
    keys: list[str],
    targets: Targets | None,
    rows: Longs,
    spread: int | None,
    state: Stage,
    summing: "_Summing",
    vectors: WordVectors,
    weights: ContextWeights,
) -> ContextSums:
    dimension, scale = vectors.dimension, summing.integers.scale
    total, groups = _sums_of(rows, dimension), None
    if spread is not None:
        groups = _sums_of(rows.reshape(len(keys), spread, -1), dimension)
        total = groups.over_groups()
    most = most_windows(summing.reading, scale)
    # A word occurs no more often than there are tokens; to look at all rows costs short texts a tenth of a second.
    if (targets is not None or state.amounts.tokens_read > most) and _largest(total.occurrences) > most:
        raise BadSums(f"one target occurs more often than sums can hold ({most:,} times)")
    return ContextSums(
        keys,
        total,
        scale,
        summing.reading,
        vectors.fingerprint,
        targets,
        weights,
        **asdict(state.amounts),
        groups=groups,
        units=frozenset(unit for unit in state.units if unit.name),
    )


def _row_blocks(rows: Longs) -> Iterator[slice]:
    """Yield some rows at a time: what lies in a file need not be in memory as a whole."""
    for low in range(0, len(rows), ROWS_IN_MEMORY):
        yield slice(low, low + ROWS_IN_MEMORY)


def _largest(counts: Longs) -> int:
    """Return the largest of some counts, which may be a column of rows in a file."""
    largest = 0
    for block in _row_blocks(counts):
        largest = max(largest, int(counts[block].max()))
        forget_pages(counts[block])
    return largest


def _sums_of(rows: Longs, dimension: int) -> Sums:
    """Return the columns of rows of sums by name; views, no copies."""
    counts = {name: rows[..., dimension + place] for place, name in enumerate(COUNTS)}
    return Sums(rows[..., :dimension], **counts)


@dataclass(frozen=True)
class _Summing:
    """The passes that fill rows of sums: one, or several with some of the dimensions each where memory is short."""

    integers: IntegerVectors
    reading: Reading
    matcher: Matcher
    groups: int
    shared: bool  # whether shared words are collected, too
    encoder: Encoder
    work: Work

    def rows(self, corpus: Corpus, checkpoint: Checkpoint | None) -> tuple[Longs, SharedWords | None, Stage]:
        """Return (rows of sums, shared words, what was read)."""
        if self.work.memory is None:
            return self._whole_pass(corpus, checkpoint)
        room = room_for_sums(self.work.memory, self._other_memory(corpus))
        return_free_memory()
        if self.matcher.any_label:  # nobody knows how many there will be: a first pass finds them
            corpus = readable_again(corpus)
            self._pass(self.integers.slice(0, 0), corpus, "finding labels", checkpoint)
            room = room_for_sums(self.work.memory, self._other_memory(corpus))
        width = self._dimensions_at_a_time(room)
        if width == self.integers.dimension:
            return self._whole_pass(corpus, checkpoint)
        corpus = readable_again(corpus)
        shared = None
        if self.shared:
            tally = self._shared_tally(useful_threads(corpus, self.work))
            run(tally, corpus, self.encoder, self.work, "reading shared words", checkpoint)
            shared = tally.result()
        rows, state = self._in_slices(corpus, width, checkpoint)
        return rows, shared, state

    def _whole_pass(self, corpus: Corpus, checkpoint: Checkpoint | None) -> tuple[Longs, SharedWords | None, Stage]:
        if not self.shared:
            rows, state = self._pass(self.integers, corpus, "reading", checkpoint)
            return rows, None, state
        threads = useful_threads(corpus, self.work)
        targets = SumsTally(self.integers, self.reading, self.matcher, self.groups, threads, GROUP in corpus.columns)
        shared = self._shared_tally(threads)
        state = run(
            _BothTallies(targets, shared), corpus, self.encoder, self.work, "reading", checkpoint, together=True
        )
        return targets.result(), shared.result(), state

    def _shared_tally(self, threads: int) -> SharedWordsTally:
        return SharedWordsTally(self.integers, self.reading, self.encoder.lexicon, threads)

    def _other_memory(self, corpus: Corpus) -> int:
        vectors = self.integers.matrix.nbytes + self.integers.rows.nbytes + BYTES_OF_WORD * self.integers.known
        rows, stride = self.matcher.size * self.groups, row_stride(self.integers.columns)
        chosen = not self.matcher.whole_vocabulary
        names = BYTES_OF_KEY * self.matcher.size if chosen else 0
        private = private_memory(rows, stride, self.work.cores, chosen)
        shared = 0
        if self.shared:  # two levels at most have nearly all of the words
            most = 2 * min(COMMON_WORDS, self.integers.known)
            shared = 8 * stride * (most if corpus.size is None else min(most, corpus.size // SHORTEST_WORD))
        return PROGRAM + vectors + private + names + shared + self._text_under_way()

    def _text_under_way(self) -> int:
        return (self.work.cores + 1) * UNDER_WAY * self.work.block_size

    def _pass(
        self, integers: IntegerVectors, corpus: Corpus, stage: str, checkpoint: Checkpoint | None, keep: bool = True
    ) -> tuple[Longs, Stage]:
        threads = useful_threads(corpus, self.work)
        tally = SumsTally(integers, self.reading, self.matcher, self.groups, threads, GROUP in corpus.columns)
        state = run(tally, corpus, self.encoder, self.work, stage, checkpoint, keep, together=True)
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

    def _in_slices(self, corpus: Corpus, width: int, checkpoint: Checkpoint | None) -> tuple[Longs, Stage]:
        """Return sums in a file, filled with some of the dimensions at a time, each by a pass over the text."""
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


class _BothTallies(Tally):
    """The sums of targets and of shared words, as one tally."""

    def __init__(self, targets: SumsTally, shared: SharedWordsTally) -> None:
        self._targets, self._shared = targets, shared

    def adder(self) -> Callable[[Encoded], None]:
        targets, shared = self._targets.adder(), self._shared.adder()

        def add(encoded: Encoded) -> None:
            targets(encoded)
            shared(encoded)

        return add

    def settle(self) -> None:
        self._targets.settle()
        self._shared.settle()

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        shared = {f"{SHARED}{name}": array for name, array in self._shared.arrays().items()}
        return {**self._targets.arrays(), **shared}

    def restore(self, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        self._targets.restore({name: array for name, array in arrays.items() if not name.startswith(SHARED)})
        self._shared.restore({name[len(SHARED) :]: arrays[name] for name in arrays if name.startswith(SHARED)})

    def progress(self) -> dict[str, object]:
        return self._targets.progress()


def _same_text(one: Stage | None, two: Stage) -> Stage:
    if one is not None and one.units != two.units:
        raise BadCorpus("the text changed between two passes over it; begin again with text that stays as it is")
    return two


def _put_in_file(part: Longs, rows: Longs, low: int, high: int, dimension: int) -> None:
    """Copy sums of some dimensions, and the counts behind them, to rows of all dimensions that lie in a file."""
    for block in _row_blocks(rows):
        rows[block, low:high] = part[block, : high - low]
        rows[block, dimension : dimension + len(COUNTS)] = part[block, high - low : high - low + len(COUNTS)]
        forget_pages(rows[block])


def _digest(rows: Longs, low: int, high: int, dimension: int) -> Bytes:
    """Return a digest of some dimensions of all rows, and of the counts."""
    digest = sha256()
    for start in range(0, len(rows), 1 << 12):
        for first, last in ((low, high), (dimension, dimension + len(COUNTS))):
            digest.update(np.ascontiguousarray(rows[start : start + (1 << 12), first:last]).data)
        forget_pages(rows[start : start + (1 << 12)])
    return np.frombuffer(digest.digest(), np.uint8)


def _rows_beside(checkpoint: Checkpoint, shape: tuple[int, int]) -> Path:
    """Return the file with the sums of a checkpoint: beside it, under a name that only the checkpoint knows."""
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
