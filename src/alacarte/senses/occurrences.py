"""Each occurrence of a target by itself: the vector of its context, and the words that it is made of.

`ContextSums` forget single contexts, which is why they are small. What asks about single contexts (several senses of
one word, which words a vector comes from) gathers them here: all of them, or a random sample of a stated size.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from alacarte._io.progress import progress
from alacarte.contexts.reading import Averaging
from alacarte.contexts.windows import add_windows, count_windows
from alacarte.errors import NoOccurrences, NotEnoughData
from alacarte.model import ALaCarte
from alacarte.passes.accumulate import Windows, Work, prepare
from alacarte.targets.sequences import Matches
from alacarte.targets.targets import Targets, TargetsLike
from alacarte.text.corpus import Corpus, CorpusLike, extent
from alacarte.text.encoding import Encoder, Lexicon

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
Singles = npt.NDArray[np.float32]
Doubles = npt.NDArray[np.float64]
OUTSIDE = -2  # no word there: the document begins or ends before
UNKNOWN = "…"  # what is shown for a word that was not kept


@dataclass(frozen=True, eq=False)
class Occurrences:
    """Occurrences of targets in the order of the text; `counts` says how many there were, kept or not."""

    keys: list[str]
    counts: Longs  # (targets,)
    targets: Ints  # (occurrences,)
    documents: Longs  # a number for the document, in the order of the text
    sums: Singles  # (occurrences, dimensions): weighted sums of the context vectors, or means if `averaging` says so
    totals: Doubles  # the total weight of the words in each
    before: Ints  # (occurrences, words before): ids, in the order of the text
    matched: Ints  # (occurrences, longest target): ids
    after: Ints
    lexicon: Lexicon
    averaging: Averaging

    def __len__(self) -> int:
        return len(self.targets)

    @property
    def weights(self) -> Doubles:
        """How much each occurrence counts in the average over all of them."""
        if self.averaging == "token":
            return self.totals
        return np.ones(len(self)) if self.averaging == "occurrence" else (self.totals > 0).astype(np.float64)

    def of(self, key: str) -> "Occurrences":
        """The occurrences of one target."""
        number = self.keys.index(key)
        return self.select(np.flatnonzero(self.targets == number))

    def select(self, rows: npt.ArrayLike) -> "Occurrences":
        names = ("targets", "documents", "sums", "totals", "before", "matched", "after")
        return replace(self, **{name: getattr(self, name)[np.asarray(rows)] for name in names})

    def means(self) -> Doubles:
        """What each occurrence by itself would give as u."""
        return np.asarray(self.sums / np.where(self.weights > 0, self.weights, 1.0)[:, None])

    def text(self, row: int, mark: str = "**") -> str:
        """The words of one occurrence, the target between marks."""
        before, matched, after = (self._words(part[row]) for part in (self.before, self.matched, self.after))
        return " ".join([*before, f"{mark}{' '.join(matched)}{mark}", *after])

    def _words(self, ids: Ints) -> list[str]:
        return [self.lexicon.word(token) if token >= 0 else UNKNOWN for token in ids.tolist() if token != OUTSIDE]


def gather(
    model: ALaCarte,
    targets: TargetsLike,
    corpus: CorpusLike,
    *,
    limit: int | None = None,
    seed: int = 0,
    show_progress: bool | None = None,
) -> Occurrences:
    """The occurrences of targets in a corpus as this model reads them; of each, at most `limit` chosen at random.

    >>> from alacarte import Transform, WordVectors
    >>> model = ALaCarte(WordVectors(["a", "b"], [[1.0, 0.0], [0.0, 1.0]]), Transform(np.eye(2)))
    >>> found = gather(model, ["x"], ["a x b b", "no such", "x b"])
    >>> found.sums.tolist(), found.documents.tolist(), found.text(0)
    ([[1.0, 2.0], [0.0, 1.0]], [0, 2], 'a **x** b b')
    """
    source, wanted = Corpus.of(corpus), Targets.of(targets)
    lexicon = Lexicon(model.vectors.key_to_index, grow=True)
    encoder, matcher = Encoder(model.tokenizer, lexicon), wanted.compile(lexicon, model.tokenizer)
    settings, known = model.settings, len(model.vectors)
    weights = model.transform.weights.values
    rows = model.vectors.matrix if weights is None else model.vectors.matrix * np.asarray(weights)[:, None]
    rows.flags.writeable = False  # one type of array for the compiler
    windows = Windows(
        *settings.position_weights(), settings.positions == "uniform", settings.averaging == "context",
        np.empty(0, dtype=np.float32) if weights is None else np.array(weights),
    )  # fmt: skip
    kept = _Sample(limit, np.random.default_rng(seed))
    documents = 0
    with progress(*extent(source), "gathering contexts", show_progress) as bar:
        for block in source.blocks():
            encoded = encoder.encode(block)
            work = prepare(encoded, matcher.match(encoded), known, settings.unknown == "keep")
            chosen = kept.choose(work.matches.targets, len(matcher.keys))
            kept.add(_taken(work, chosen, documents, rows, windows))
            documents += len(encoded.offsets) - 1
            bar.update_to(block.position)
    parts = kept.parts()
    if parts is None:
        raise NoOccurrences(
            f"{', '.join(map(repr, list(wanted)[:5]))} does not occur in the corpus; check the spelling and the text"
        )
    return Occurrences(matcher.keys, kept.counts, *parts, lexicon, settings.averaging)


def by_target(found: Occurrences) -> Iterator[tuple[str, Occurrences]]:
    """Each target that occurs, with its occurrences."""
    order = np.argsort(found.targets, kind="stable")
    bounds = np.searchsorted(found.targets[order], np.arange(len(found.keys) + 1))
    for number, key in enumerate(found.keys):
        if bounds[number] < bounds[number + 1]:
            yield key, found.select(order[bounds[number] : bounds[number + 1]])


def usable(found: Occurrences, least: int = 1) -> Occurrences:
    """Those beside at least one word that has a vector; an error if there are fewer than `least`."""
    chosen = found.select(found.totals > 0)
    if len(chosen) < least:
        raise NotEnoughData(
            f"{len(chosen):,} contexts have a word with a vector, and {least:,} are needed; give more text"
        )
    return chosen


Part = tuple[Ints, Longs, Singles, Doubles, Ints, Ints, Ints]


def _taken(work: Work, chosen: Longs, documents: int, rows: Singles, windows: Windows) -> Part:
    """The contexts of some of the matches of a block."""
    matches = Matches(work.matches.starts[chosen], work.matches.ends[chosen], work.matches.targets[chosen])
    bounds = np.searchsorted(chosen, work.bounds)
    n = len(matches)
    numbers = np.arange(n, dtype=np.int32)
    sums, counts = np.zeros((n, rows.shape[1])), np.zeros((n, 4))
    if n:
        where = (work.ids, work.offsets, bounds, matches.starts, matches.ends, numbers)
        how = (windows.left, windows.right, windows.uniform)
        count_windows(*where, len(rows), windows.weights, *how, counts)
        add_windows(*where, rows, windows.weights, *how, windows.mean, sums.reshape(-1), 0, rows.shape[1], 0, 0)
    document = np.searchsorted(bounds, numbers, side="right") - 1
    low, high = work.offsets[document], work.offsets[document + 1]
    starts, ends = matches.starts.astype(np.int64), matches.ends.astype(np.int64)
    longest = int((ends - starts).max()) if n else 1
    before = _window(work.ids, starts - windows.left.size, windows.left.size, low, starts)
    matched = _window(work.ids, starts, longest, starts, ends)
    after = _window(work.ids, ends, windows.right.size, ends, high)
    return matches.targets, documents + document, sums.astype(np.float32), counts[:, 3], before, matched, after


def _window(ids: Ints, begin: Longs, width: int, low: Longs, high: Longs) -> Ints:
    """`width` ids from `begin` on, those at positions outside [low, high) marked."""
    positions = begin[:, None] + np.arange(width)
    inside = (positions >= low[:, None]) & (positions < high[:, None])
    if not ids.size:
        return np.full(positions.shape, OUTSIDE, dtype=np.int32)
    return np.where(inside, ids[np.clip(positions, 0, ids.size - 1)], np.int32(OUTSIDE)).astype(np.int32)


class _Sample:
    """A random sample of at most `limit` for each target, without knowing how many will come.

    Every occurrence draws a number; those with the smallest stay. What is sure not to stay is never computed.
    """

    def __init__(self, limit: int | None, rng: np.random.Generator) -> None:
        self.counts = np.zeros(0, dtype=np.int64)
        self._limit = limit
        self._rng = rng
        self._bars = np.ones(0)  # numbers from here on are not among the smallest
        self._drawn: list[Doubles] = []
        self._parts: list[Part] = []
        self._next = np.ones(0)
        self._size = self._settled = 0

    def choose(self, targets: Ints, size: int) -> Longs:
        """Which of these may be among those that stay."""
        more = size - len(self.counts)
        self.counts = np.concatenate([self.counts, np.zeros(more, dtype=np.int64)])
        self._bars = np.concatenate([self._bars, np.ones(more)])
        self.counts += np.bincount(targets, minlength=size)
        drawn = self._rng.random(len(targets))
        chosen = np.flatnonzero(drawn < self._bars[targets])
        self._next = drawn[chosen]
        return chosen

    def add(self, part: Part) -> None:
        self._parts.append(part)
        self._drawn.append(self._next)
        self._size += len(self._next)
        if self._limit is not None and self._size > max(2 * self._settled, 1 << 15):
            self._settle(self._limit)

    def _settle(self, limit: int) -> None:
        part = self._joined()
        drawn, targets = np.concatenate(self._drawn), part[0]
        order = np.lexsort((drawn, targets))
        first = np.searchsorted(targets[order], targets[order])
        rank = np.empty(len(order), dtype=np.int64)
        rank[order] = np.arange(len(order)) - first
        last = rank == limit - 1
        self._bars[targets[last]] = drawn[last]
        stay = np.flatnonzero(rank < limit)
        self._parts = [tuple(array[stay] for array in part)]  # type: ignore[list-item]
        self._drawn = [drawn[stay]]
        self._size = self._settled = len(stay)

    def _joined(self) -> Part:
        columns = list(zip(*self._parts, strict=True))
        widest = max(array.shape[1] for array in columns[5])
        columns[5] = tuple(_widened(array, widest) for array in columns[5])
        return tuple(np.concatenate(column) for column in columns)  # type: ignore[return-value]

    def parts(self) -> Part | None:
        if not self._size:
            return None
        if self._limit is not None:
            self._settle(self._limit)
        return self._joined()


def _widened(ids: Ints, width: int) -> Ints:
    return np.pad(ids, ((0, 0), (0, width - ids.shape[1])), constant_values=OUTSIDE)
