"""The one pass over a corpus: sums of the vectors around each target, and nothing that needs the text again.

`ContextSums` are a monoid: sums of two parts of a corpus add up to the sums of the whole.
"""

import json
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from os import PathLike, cpu_count
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from alacarte._kernels.windows import add_windows, count_windows
from alacarte._progress import ProgressCallback, progress
from alacarte.corpus import Corpus, CorpusLike
from alacarte.errors import AlacarteError, BadCorpus, BadSums
from alacarte.formats.tensors import pack_words, read_tensors, unpack_words, write_tensors
from alacarte.encoding import Encoded, Encoder, Lexicon
from alacarte.targets import Matcher, Matches, Targets, TargetsLike
from alacarte.tokens import TokenizerLike, get_tokenizer
from alacarte.vectors import WordVectors
from alacarte.weights import UNIFORM, ContextWeights, resolve

Averaging = Literal["occurrence", "token", "context"]
Positions = Literal["uniform", "linear", "inverse"]
AVERAGINGS = ("occurrence", "token", "context")
POSITIONS = ("uniform", "linear", "inverse")
Doubles = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]


@dataclass(frozen=True)
class ContextSettings:
    """How contexts were read: all that must agree for sums to be added, or for a transform to apply.

    `averaging` is what u_f means (METHOD: three averages that must never be mixed):

    - `occurrence`: the sum over all contexts / the number of occurrences, the paper's equations 2 and 4;
    - `token`: the sum over all contexts / the (weighted) number of context tokens, pooled;
    - `context`: the mean over contexts of each context's own mean, the paper's equation 1.
    """

    left: int = 10
    right: int = 10
    averaging: Averaging = "occurrence"
    positions: Positions = "uniform"
    weights: str = "uniform"
    tokenizer: str = "words"
    unknown: Literal["keep", "drop"] = "keep"

    def __post_init__(self) -> None:
        if min(self.left, self.right) < 0 or self.left + self.right == 0:
            raise AlacarteError(f"a window of {self.left} words before and {self.right} after holds nothing")
        for name, value, allowed in (
            ("averaging", self.averaging, AVERAGINGS),
            ("positions", self.positions, POSITIONS),
            ("unknown", self.unknown, ("keep", "drop")),
        ):
            if value not in allowed:
                raise AlacarteError(f"{name} must be one of {', '.join(allowed)}, not {value!r}")

    def position_weights(self) -> tuple[Doubles, Doubles]:
        """Weight by distance 1, 2, … on the left and on the right."""
        return _by_distance(self.left, self.positions), _by_distance(self.right, self.positions)

    @property
    def window(self) -> str:
        return f"{self.left}" if self.left == self.right else f"{self.left},{self.right}"


def _by_distance(width: int, positions: Positions) -> Doubles:
    distance = np.arange(1, width + 1, dtype=np.float64)
    if positions == "linear":
        return (width + 1 - distance) / max(width, 1)
    if positions == "inverse":
        return 1 / distance
    return np.ones(width)


def window_sides(window: int | tuple[int, int]) -> tuple[int, int]:
    """A window of n words each side, or of (before, after)."""
    return (window, window) if isinstance(window, int) else (int(window[0]), int(window[1]))


@dataclass(frozen=True, eq=False)
class ContextSums:
    """Per target: the float64 sum of its context vectors and what is needed for each of the three averages.

    >>> vectors = WordVectors(["a", "b", "c"], [[1, 0], [0, 1], [2, 2]])
    >>> sums = ContextSums.collect(vectors, ["a b x c a x zz a"], ["x", "a"], window=2)
    >>> sums.keys, sums.sums.tolist(), sums.occurrences.tolist()
    (['x', 'a'], [[8.0, 5.0], [2.0, 3.0]], [2, 3])
    >>> (sums + sums).occurrences.tolist()
    [4, 6]
    """

    keys: list[str]
    sums: Doubles  # (targets, dimensions)
    occurrences: Counts
    contexts: Counts  # occurrences with at least one context word that has a vector
    tokens: Counts  # context words that have a vector, over all occurrences
    totals: Doubles  # their total weight; equal to `tokens` when nothing is weighted
    settings: ContextSettings
    fingerprint: str  # of the vectors
    targets: Targets | None  # None: every word of the vectors
    weights: ContextWeights = UNIFORM
    documents: int = 0
    tokens_read: int = 0
    tokens_known: int = 0  # of these, tokens that have a vector

    @classmethod
    def collect(
        cls,
        vectors: WordVectors,
        corpus: CorpusLike,
        targets: TargetsLike | None = None,
        *,
        window: int | tuple[int, int] = 10,
        averaging: Averaging = "occurrence",
        positions: Positions = "uniform",
        context_weights: object = None,
        tokenizer: TokenizerLike = "words",
        unknown: Literal["keep", "drop"] = "keep",
        threads: int | None = None,
        show_progress: bool | None = None,
        callback: ProgressCallback | None = None,
    ) -> "ContextSums":
        """Read a corpus once and sum the contexts of `targets`, or of every word that has a vector."""
        left, right = window_sides(window)
        split = get_tokenizer(tokenizer)
        source = Corpus.of(corpus)

        def count() -> Counts:
            if source.once:
                raise BadCorpus(
                    "these context weights need a first pass over the corpus to count words, and this corpus can "
                    "be read only once; pass a file or a list, or weights that are ready-made"
                )
            return count_words(vectors, source, split, show_progress=show_progress, callback=callback)

        weights = resolve(context_weights, vectors, count)
        settings = ContextSettings(left, right, averaging, positions, weights.name, split.name, unknown)
        lexicon = Lexicon(vectors.key_to_index)
        if targets is None:
            wanted, matcher = None, Matcher.of_vocabulary(vectors.words, lexicon)
        else:
            wanted = Targets.of(targets)
            matcher = wanted.compile(lexicon, split)
        accumulator = _Accumulator(vectors, matcher, settings, weights, threads)
        with progress(*extent(source), "reading", show_progress, callback) as bar:
            encoder = Encoder(split, lexicon)
            for block in source.blocks():
                accumulator.add(encoder.encode(block))
                bar.update_to(block.position, tokens=accumulator.tokens_read)
        return accumulator.finish(wanted)

    def __len__(self) -> int:
        return len(self.keys)

    @property
    def dimension(self) -> int:
        return int(self.sums.shape[1])

    @property
    def seen(self) -> npt.NDArray[np.intp]:
        """The rows that have anything to average: targets met at least once beside a word with a vector."""
        return np.flatnonzero(self.totals > 0)

    def means(self, rows: npt.NDArray[np.intp] | slice | None = None) -> Doubles:
        """u_f for the given rows (default: those `seen`), by the averaging of the settings."""
        chosen = self.seen if rows is None else rows
        averaging = self.settings.averaging
        by: npt.NDArray[Any]
        if averaging == "occurrence":
            by = self.occurrences
        elif averaging == "token":
            by = self.totals
        else:
            by = self.contexts
        result: Doubles = self.sums[chosen] / by[chosen, None]
        return result

    def with_averaging(self, averaging: Averaging) -> "ContextSums":
        """The same sums under another average; only `occurrence` and `token` share their sums."""
        if averaging == self.settings.averaging:
            return self
        if "context" in (averaging, self.settings.averaging):
            raise BadSums(
                f"sums collected for the average {self.settings.averaging!r} cannot be turned into "
                f"{averaging!r}; collect them again with averaging={averaging!r}"
            )
        return replace(self, settings=replace(self.settings, averaging=averaging))

    def __add__(self, other: "ContextSums") -> "ContextSums":
        if not isinstance(other, ContextSums):
            return NotImplemented
        self._check_addable(other)
        if self.keys == other.keys:
            keys, mine, theirs = self.keys, slice(None), slice(None)
        else:
            places = {key: place for place, key in enumerate(self.keys)}
            for key in other.keys:
                places.setdefault(key, len(places))
            keys = list(places)
            mine = slice(0, len(self))  # its keys come first
            theirs = np.array([places[key] for key in other.keys], dtype=np.intp)  # type: ignore[assignment]

        def total(name: str) -> npt.NDArray[Any]:
            first, second = getattr(self, name), getattr(other, name)
            result = np.zeros((len(keys), *first.shape[1:]), dtype=first.dtype)
            result[mine] = first
            result[theirs] += second
            return result

        targets = None
        if self.targets is not None and other.targets is not None:
            targets = self.targets | other.targets
        return ContextSums(
            keys, total("sums"), total("occurrences"), total("contexts"), total("tokens"), total("totals"),
            self.settings, self.fingerprint, targets, self.weights, self.documents + other.documents,
            self.tokens_read + other.tokens_read, self.tokens_known + other.tokens_known,
        )  # fmt: skip

    def _check_addable(self, other: "ContextSums") -> None:
        if self.fingerprint != other.fingerprint or self.dimension != other.dimension:
            raise BadSums("these sums were made with different vectors; collect both with the same")
        mine, theirs = asdict(self.settings), asdict(other.settings)
        differing = [f"{name} ({mine[name]} and {theirs[name]})" for name in mine if mine[name] != theirs[name]]
        if differing:
            raise BadSums(f"these sums differ in {', '.join(differing)}; collect both with the same settings")
        if (self.targets is None) != (other.targets is None):
            raise BadSums("one of these sums covers the whole vocabulary and the other chosen targets")

    # --------------------------------------------------------------------------------------------- files

    def save(self, path: str | PathLike[str]) -> None:
        """One safetensors file, written completely or not at all."""
        words, offsets = pack_words(self.keys)
        metadata = {
            "format": "alacarte.ContextSums/1",
            "settings": json.dumps(asdict(self.settings)),
            "fingerprint": self.fingerprint,
            "targets": json.dumps(None if self.targets is None else self.targets.to_state()),
            "read": json.dumps([self.documents, self.tokens_read, self.tokens_known]),
        }
        arrays = {name: getattr(self, name) for name in _ARRAYS}
        if self.weights.values is not None:
            arrays["context_weights"] = self.weights.values
        write_tensors(path, {**arrays, "words": words, "word_offsets": offsets}, metadata)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> "ContextSums":
        tensors, metadata = read_tensors(path, BadSums)
        if metadata.get("format") != "alacarte.ContextSums/1":
            raise BadSums(
                f"{path}: no context sums but {metadata.get('format', 'something else')!r}; `alc inspect` tells more"
            )
        return cls.from_tensors(tensors, metadata)

    @classmethod
    def from_tensors(cls, tensors: Mapping[str, npt.NDArray[Any]], metadata: Mapping[str, str]) -> "ContextSums":
        keys = unpack_words(tensors["words"], tensors["word_offsets"])
        state = json.loads(metadata["targets"])
        settings = ContextSettings(**json.loads(metadata["settings"]))
        return cls(
            keys,
            **{name: tensors[name] for name in _ARRAYS},
            settings=settings,
            fingerprint=metadata["fingerprint"],
            targets=None if state is None else Targets.from_state(keys, state),
            weights=ContextWeights(settings.weights, tensors.get("context_weights")),
            documents=(read := json.loads(metadata["read"]))[0],
            tokens_read=read[1],
            tokens_known=read[2],
        )


_ARRAYS = ("sums", "occurrences", "contexts", "tokens", "totals")


class _Accumulator:
    """Sums in the making. The sums of the dimensions are independent, so threads share them out."""

    def __init__(
        self,
        vectors: WordVectors,
        matcher: Matcher,
        settings: ContextSettings,
        weights: ContextWeights,
        threads: int | None,
    ) -> None:
        self.matcher = matcher
        self.settings = settings
        self.context_weights = weights
        self.fingerprint = vectors.fingerprint
        self.rows = np.asarray(vectors.matrix)
        self.weights = np.empty(0, dtype=np.float32)
        if weights.values is not None:
            self.weights = np.array(weights.values)
            self.rows = self.rows * self.weights[:, None]
            self.rows.flags.writeable = False  # one type for the compiler
        self.left, self.right = settings.position_weights()
        self.uniform = settings.positions == "uniform"
        self.documents = self.tokens_read = self.tokens_known = 0
        self._blocks = _dimension_blocks(vectors.dimension, threads or cpu_count() or 1)
        self._pool = ThreadPoolExecutor(len(self._blocks)) if len(self._blocks) > 1 else None
        size = len(matcher.keys)
        self.sums = np.zeros((size, vectors.dimension))
        self.occurrences, self.contexts, self.tokens = (np.zeros(size, dtype=np.int64) for _ in range(3))
        self.totals = np.zeros(size)

    def add(self, encoded: Encoded) -> None:
        known = len(self.rows)
        has_vector = (encoded.ids >= 0) & (encoded.ids < known)
        self.documents += int(np.count_nonzero(np.diff(encoded.offsets)))  # blank lines are no documents
        self.tokens_read += encoded.ids.size
        self.tokens_known += int(has_vector.sum())
        matches = self.matcher.match(encoded)
        self._make_room(len(self.matcher.keys))
        if not len(matches):
            return
        ids, offsets = encoded.ids, encoded.offsets
        bounds = np.searchsorted(matches.starts, offsets)
        if self.settings.unknown == "drop":
            ids, offsets, matches = _without_unknown(has_vector, encoded, matches)
        where = (ids, offsets, bounds, matches.starts, matches.ends, matches.targets)
        count_windows(
            *where, known, self.weights, self.left, self.right, self.uniform,
            self.occurrences, self.contexts, self.tokens, self.totals,
        )  # fmt: skip

        def add(block: tuple[int, int]) -> None:
            add_windows(
                *where, self.rows, self.weights, self.left, self.right, self.uniform,
                self.settings.averaging == "context", self.sums, *block,
            )  # fmt: skip

        if self._pool is None:
            add(self._blocks[0])
        else:
            list(self._pool.map(add, self._blocks))

    def _make_room(self, size: int) -> None:
        """Labels of spans turn up on the way: grow by doubling."""
        room = len(self.sums)
        if size <= room:
            return
        more = max(size, 2 * room) - room
        self.sums = np.concatenate([self.sums, np.zeros((more, self.sums.shape[1]))])
        for name in _ARRAYS[1:]:
            old = getattr(self, name)
            setattr(self, name, np.concatenate([old, np.zeros(more, dtype=old.dtype)]))

    def finish(self, targets: Targets | None) -> ContextSums:
        if self._pool is not None:
            self._pool.shutdown()
        keys = self.matcher.keys
        if self.tokens_read == 0:
            raise BadCorpus("the corpus holds no text; check the path and, for tables, the name of the text column")
        if targets is not None and targets.any_label:
            targets = targets | Targets.spans(keys[len(targets) :])
        return ContextSums(
            keys, **{name: getattr(self, name)[: len(keys)] for name in _ARRAYS}, settings=self.settings,
            fingerprint=self.fingerprint, targets=targets, weights=self.context_weights, documents=self.documents,
            tokens_read=self.tokens_read, tokens_known=self.tokens_known,
        )  # fmt: skip


def _dimension_blocks(dimension: int, threads: int) -> list[tuple[int, int]]:
    """Share the dimensions out in whole cache lines of float32."""
    lines = -(-dimension // 16)
    threads = max(1, min(threads, lines))
    edges = [min(dimension, 16 * (lines * i // threads)) for i in range(threads + 1)]
    return [(low, high) for low, high in pairwise(edges) if low < high]


def _without_unknown(
    has_vector: npt.NDArray[np.bool_], encoded: Encoded, matches: Matches
) -> tuple[npt.NDArray[np.int32], Counts, Matches]:
    """Close the gaps that unknown tokens leave; matches move along, and those of unknown words become empty."""
    before = np.concatenate([[0], np.cumsum(has_vector)])
    moved = Matches(before[matches.starts].astype(np.int32), before[matches.ends].astype(np.int32), matches.targets)
    return encoded.ids[has_vector], before[encoded.offsets], moved


def extent(corpus: Corpus) -> tuple[int | None, str]:
    """How much there is to read and in what unit, for a progress bar."""
    return (corpus.length, "documents") if corpus.size is None else (corpus.size, "B")


def count_words(
    vectors: WordVectors,
    corpus: CorpusLike,
    tokenizer: TokenizerLike = "words",
    *,
    show_progress: bool | None = None,
    callback: ProgressCallback | None = None,
) -> Counts:
    """How often each word of the vectors occurs in a corpus.

    >>> count_words(WordVectors(["b", "a"], [[1.0], [2.0]]), ["a b a c", ["a"]]).tolist()
    [1, 3]
    """
    source, split = Corpus.of(corpus), get_tokenizer(tokenizer)
    lexicon = Lexicon(vectors.key_to_index)
    counts = np.zeros(len(vectors), dtype=np.int64)
    with progress(*extent(source), "counting words", show_progress, callback) as bar:
        encoder = Encoder(split, lexicon)
        for block in source.blocks():
            ids = encoder.encode(block).ids
            counts += np.bincount(ids[ids >= 0], minlength=len(counts))
            bar.update_to(block.position)
    return counts


def merge(parts: Sequence[ContextSums]) -> ContextSums:
    """The sum of any number of `ContextSums`."""
    if not parts:
        raise BadSums("there is nothing to merge; name at least one file of sums")
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total
