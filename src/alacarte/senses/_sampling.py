"""A walk over text that keeps single contexts: all of them, or a random sample of each target's.

`sample_windows` is the only entry. Nothing else in `senses` reads text.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from alacarte._io.progress import progress
from alacarte.contexts.windows import add_windows, count_windows
from alacarte.model import ALaCarte
from alacarte.passes.accumulate import Windows, Work, prepare
from alacarte.targets.sequences import Matches
from alacarte.targets.targets import Targets
from alacarte.text.corpus import Corpus, extent
from alacarte.text.encoding import Encoder, Lexicon

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
Singles = npt.NDArray[np.float32]
Doubles = npt.NDArray[np.float64]
OUTSIDE = -2  # no word there: the document begins or ends before
SETTLE = 1 << 15  # contexts above which a sample is cut down to its limit


@dataclass(frozen=True, eq=False)
class Contexts:
    """Single contexts, a row each, in the order of the text; see `Occurrences` for what the columns are."""

    targets: Ints
    documents: Longs
    sums: Singles
    totals: Doubles
    before: Ints
    matched: Ints
    after: Ints

    def select(self, rows: Longs) -> "Contexts":
        return Contexts(*(column[rows] for column in vars(self).values()))


@dataclass(frozen=True, eq=False)
class SampledWindows:
    """The contexts that were kept, None if there are none; how often each target occurs; and the words of the ids."""

    keys: list[str]
    counts: Longs
    contexts: Contexts | None
    lexicon: Lexicon


def sample_windows(
    model: ALaCarte,
    corpus: Corpus,
    targets: Targets,
    *,
    limit: int | None,
    seed: int,
    show_progress: bool | None,
) -> SampledWindows:
    """The contexts of targets in a corpus, as the model reads them; of each target at most `limit`, drawn at random."""
    lexicon = Lexicon(model.vectors.key_to_index, grow=True)
    encoder, matcher = Encoder(model.tokenizer, lexicon), targets.compile(lexicon, model.tokenizer)
    weights = model.transform.weights.values
    rows = model.vectors.matrix if weights is None else model.vectors.matrix * np.asarray(weights)[:, None]
    rows.flags.writeable = False  # one type of array for the compiler
    windows = Windows(
        *model.settings.position_weights(),
        uniform=model.settings.positions == "uniform",
        mean=model.settings.averaging == "context",
        weights=np.empty(0, dtype=np.float32) if weights is None else np.array(weights),
    )
    sample = _Sample(limit, np.random.default_rng(seed))
    documents = 0
    with progress(*extent(corpus), "gathering contexts", show_progress) as bar:
        for block in corpus.blocks():
            encoded = encoder.encode(block)
            matches = matcher.match(encoded)
            work = prepare(encoded, matches, len(rows), model.settings.unknown == "keep")
            chosen = sample.choose(matches.targets, len(matcher.keys))
            starts, ends = (edges[chosen].astype(np.int64) for edges in (matches.starts, matches.ends))
            matched = _window(encoded.ids, starts, int((ends - starts).max(initial=1)), starts, ends)
            sample.add(_contexts(work, chosen, documents, matched, rows, windows))
            documents += len(encoded.offsets) - 1
            bar.update_to(block.position)
    return SampledWindows(matcher.keys, sample.counts, sample.contexts(), lexicon)


def _contexts(work: Work, chosen: Longs, documents: int, matched: Ints, rows: Singles, windows: Windows) -> Contexts:
    """The contexts of some of the matches of a block.

    `documents` is how many documents were read before the block; `matched` has the targets' own words.
    """
    matches = Matches(work.matches.starts[chosen], work.matches.ends[chosen], work.matches.targets[chosen])
    bounds = np.searchsorted(chosen, work.bounds)
    n = len(matches)
    numbers = np.arange(n, dtype=np.int32)
    sums, counts = np.zeros((n, rows.shape[1])), np.zeros((n, 4))
    if n:
        where = (work.ids, work.offsets, bounds, matches.starts, matches.ends, numbers)
        sides = (windows.left, windows.right, windows.uniform)
        count_windows(*where, len(rows), windows.weights, *sides, counts)
        add_windows(*where, rows, windows.weights, *sides, windows.mean, sums.reshape(-1), 0, rows.shape[1], 0, 0)
    document = np.searchsorted(bounds, numbers, side="right") - 1
    starts, ends = matches.starts.astype(np.int64), matches.ends.astype(np.int64)
    before = _window(work.ids, starts - windows.left.size, windows.left.size, work.offsets[document], starts)
    after = _window(work.ids, ends, windows.right.size, ends, work.offsets[document + 1])
    totals = counts[:, 3]
    return Contexts(matches.targets, documents + document, sums.astype(np.float32), totals, before, matched, after)


def _window(ids: Ints, begin: Longs, width: int, low: Longs, high: Longs) -> Ints:
    """A row of `width` ids from each `begin` on; positions that are not within [low, high) are `OUTSIDE`."""
    positions = begin[:, None] + np.arange(width)
    inside = (positions >= low[:, None]) & (positions < high[:, None])
    if not ids.size:
        return np.full(positions.shape, OUTSIDE, dtype=np.int32)
    return np.where(inside, ids[np.clip(positions, 0, ids.size - 1)], np.int32(OUTSIDE)).astype(np.int32)


class _Sample:
    """A random sample of at most `limit` contexts for each target, without knowing how many will come.

    Every context draws a number, and those with the smallest stay. A context whose number is above what is needed to
    stay is never computed.
    """

    def __init__(self, limit: int | None, rng: np.random.Generator) -> None:
        self.counts = np.zeros(0, dtype=np.int64)
        self._limit = limit
        self._rng = rng
        self._thresholds = np.ones(0)  # of each target: numbers from here on are not among the smallest
        self._parts: list[Contexts] = []
        self._numbers: list[Doubles] = []
        self._size = self._settled = 0

    def choose(self, targets: Ints, size: int) -> Longs:
        """Draw a number for each context; which of them may be among those that stay."""
        more = size - len(self.counts)
        self.counts = np.concatenate([self.counts, np.zeros(more, dtype=np.int64)])
        self._thresholds = np.concatenate([self._thresholds, np.ones(more)])
        self.counts += np.bincount(targets, minlength=size)
        drawn = self._rng.random(len(targets))
        chosen = np.flatnonzero(drawn < self._thresholds[targets])
        self._numbers.append(drawn[chosen])
        return chosen

    def add(self, part: Contexts) -> None:
        """Add the contexts that were chosen last."""
        self._parts.append(part)
        self._size += len(part.targets)
        if self._limit is not None and self._size > max(2 * self._settled, SETTLE):
            self._settle(self._limit)

    def contexts(self) -> Contexts | None:
        if not self._size:
            return None
        if self._limit is not None:
            self._settle(self._limit)
        return self._joined()

    def _settle(self, limit: int) -> None:
        """Keep the `limit` contexts of each target with the smallest numbers."""
        contexts, drawn = self._joined(), np.concatenate(self._numbers)
        targets = contexts.targets
        order = np.lexsort((drawn, targets))
        first = np.searchsorted(targets[order], targets[order])
        rank = np.empty(len(order), dtype=np.int64)
        rank[order] = np.arange(len(order)) - first
        last = rank == limit - 1
        self._thresholds[targets[last]] = drawn[last]
        stay = np.flatnonzero(rank < limit)
        self._parts, self._numbers = [contexts.select(stay)], [drawn[stay]]
        self._size = self._settled = len(stay)

    def _joined(self) -> Contexts:
        widest = max(part.matched.shape[1] for part in self._parts)
        columns = {name: [getattr(part, name) for part in self._parts] for name in vars(self._parts[0])}
        columns["matched"] = [_widened(ids, widest) for ids in columns["matched"]]
        return Contexts(**{name: np.concatenate(arrays) for name, arrays in columns.items()})


def _widened(ids: Ints, width: int) -> Ints:
    return np.pad(ids, ((0, 0), (0, width - ids.shape[1])), constant_values=OUTSIDE)
