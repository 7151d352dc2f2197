"""A sample of the contexts of each target: a tally that keeps the same ones in whatever order text comes.

Each occurrence has a key, a hash of what its document says and where in it the target is; kept are the occurrences
with the smallest keys. So a sample is random with respect to meaning, the same for any threads, blocks and shards, and
two samples merge into the sample of both texts.
"""

import hashlib
import threading
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from alacarte._io.arrays import Codes, Ints, Longs
from alacarte._io.checks import whole_number
from alacarte.contexts.groups import mixed
from alacarte.contexts.summing import without_unknown
from alacarte.contexts.tally import Tally
from alacarte.targets.targets import Matcher
from alacarte.text.encoding import Encoded, Lexicon

OUTSIDE = -2  # no word there: the document begins or ends before
LEAST_BUFFER = 1 << 16  # contexts that wait until they are sorted out
ALL = np.uint64(0xFFFFFFFFFFFFFFFF)


@dataclass(frozen=True, eq=False)
class SampledContexts:
    """Contexts as ids, sorted by target and key: -1 is a word without an id, -2 none at all."""

    targets: Ints  # (contexts,)
    keys: Codes
    documents: Codes  # a code for what the document says
    before: Ints  # (contexts, words before): in the order of the text
    matched: Ints  # (contexts, longest match)
    after: Ints

    def __len__(self) -> int:
        return len(self.targets)

    def select(self, rows: Any) -> "SampledContexts":
        """Return some of the contexts."""
        return SampledContexts(*(getattr(self, name)[rows] for name in _NAMES))


_NAMES = tuple(item.name for item in fields(SampledContexts))


class ContextSample(Tally):
    """At most `limit` contexts of each target of a matcher (None: all), with `left` and `right` words around them.

    With `drop_unknown`, words without a vector are taken out of the text first. Words get ids from `lexicon`.
    """

    def __init__(
        self,
        matcher: Matcher,
        lexicon: Lexicon,
        window: tuple[int, int],
        limit: int | None,
        seed: int = 0,
        drop_unknown: bool = False,
    ) -> None:
        self.matcher, self.window = matcher, window
        self.limit = None if limit is None else whole_number(limit, "limit", 1)
        self.counts = np.zeros(matcher.size, dtype=np.int64)
        self.word_counts = np.zeros(lexicon.known, dtype=np.int64)  # of all of the text
        self._drop_unknown = drop_unknown
        self._known = lexicon.known
        self._codes = _WordCodes(lexicon)
        self._seed = mixed(np.array([whole_number(seed, "seed")], dtype=np.uint64))[0]
        self._lock = threading.Lock()
        self._adders: list[_SampleAdder] = []
        self._contexts = _empty(window)

    # ------------------------------------------------------------------------------------------- as a tally

    def adder(self) -> Callable[[Encoded], None]:
        """Return what one thread calls with each of its blocks."""
        adder = _SampleAdder(self)
        self._adders.append(adder)
        return adder.add

    def settle(self) -> None:
        """Put together what the adders hold."""
        parts = [self._contexts]
        for adder in self._adders:
            parts += adder.waiting
            adder.waiting, adder.size = [], 0
        self._contexts = smallest(parts, self.limit)[0]

    @property
    def contexts(self) -> SampledContexts:
        """What is kept, when all is settled."""
        return self._contexts

    # ---------------------------------------------------------------------------------------------- adding

    def count(self, targets: Ints, ids: Ints) -> None:
        """Count the occurrences of targets in a block, and its words that have a vector."""
        words = np.bincount(ids[(ids >= 0) & (ids < self._known)], minlength=self._known)
        with self._lock:
            self.word_counts += words
            counts = np.bincount(targets, minlength=max(self.matcher.size, len(self.counts)))
            counts[: len(self.counts)] += self.counts
            self.counts = counts

    def contexts_of(self, encoded: Encoded, thresholds: Codes) -> SampledContexts:
        """Return the contexts in a block whose keys are below their target's threshold; counts all of them."""
        matches = self.matcher.match(encoded)
        self.count(matches.targets, encoded.ids)
        if not len(matches):
            return _empty(self.window)
        ids, offsets = encoded.ids, encoded.offsets
        starts, ends = matches.starts.astype(np.int64), matches.ends.astype(np.int64)
        document = np.searchsorted(offsets, starts, side="right") - 1
        documents = self._codes.of_documents(ids, offsets)[document]
        place = (starts - offsets[document]).astype(np.uint64)
        length = (ends - starts).astype(np.uint64)
        keys = mixed(documents ^ mixed(place * np.uint64(1024) + length + self._seed))
        limits = np.full(len(matches), ALL, dtype=np.uint64)  # labels that turn up on the way have no threshold
        bounded = matches.targets < len(thresholds)
        limits[bounded] = thresholds[matches.targets[bounded]]
        kept = np.flatnonzero(keys < limits)
        keys, documents, document = keys[kept], documents[kept], document[kept]
        matched = _around(ids, offsets, document, starts[kept], np.arange(int((ends - starts).max())), ends[kept])
        starts, ends = starts[kept], ends[kept]
        if self._drop_unknown:
            ids, offsets, before = without_unknown(ids, offsets, self._known)
            starts, ends = before[starts], before[ends]
        left, right = self.window
        return SampledContexts(
            matches.targets[kept],
            keys,
            documents,
            _around(ids, offsets, document, starts, np.arange(-left, 0)),
            matched,
            _around(ids, offsets, document, ends, np.arange(right)),
        )


class _SampleAdder:
    """What one thread has kept, and the keys that its contexts must be below."""

    def __init__(self, sample: ContextSample) -> None:
        self._sample = sample
        self._thresholds = np.full(max(1, sample.matcher.size), ALL, dtype=np.uint64)
        self.waiting: list[SampledContexts] = []
        self.size = 0

    def add(self, encoded: Encoded) -> None:
        sample = self._sample
        contexts = sample.contexts_of(encoded, self._thresholds)
        self.waiting.append(contexts)
        self.size += len(contexts)
        if sample.limit is not None and self.size > max(LEAST_BUFFER, 3 * sample.limit * sample.matcher.size):
            kept, full, thresholds = smallest(self.waiting, sample.limit)
            self.waiting, self.size = [kept], len(kept)
            inside = full < len(self._thresholds)
            self._thresholds[full[inside]] = thresholds[inside]


def smallest(parts: list[SampledContexts], limit: int | None) -> tuple[SampledContexts, Longs, Codes]:
    """Return (contexts with the smallest keys of each target, targets with `limit` of them, the largest key)."""
    longest = max(part.matched.shape[1] for part in parts)
    parts = [_with_longest(part, longest) for part in parts]
    joined = SampledContexts(*(np.concatenate([getattr(part, name) for part in parts]) for name in _NAMES))
    order = np.lexsort((joined.documents, joined.keys, joined.targets))
    targets = joined.targets[order]
    first = np.flatnonzero(np.diff(targets, prepend=-1))
    lengths = np.diff(np.append(first, len(targets)))
    rank = np.arange(len(targets)) - np.repeat(first, lengths)
    if limit is None:
        return joined.select(order), np.empty(0, dtype=np.int64), np.empty(0, dtype=np.uint64)
    kept = joined.select(order[rank < limit])
    full = lengths >= limit
    last = order[first[full] + limit - 1]
    return kept, targets[first[full]].astype(np.int64), joined.keys[last]


def _with_longest(part: SampledContexts, longest: int) -> SampledContexts:
    lacking = longest - part.matched.shape[1]
    if not lacking:
        return part
    matched = np.pad(part.matched, ((0, 0), (0, lacking)), constant_values=OUTSIDE)
    return SampledContexts(part.targets, part.keys, part.documents, part.before, matched, part.after)


def _around(
    ids: Ints, offsets: Longs, document: Longs, places: npt.NDArray[Any], steps: Longs, ends: Any = None
) -> Ints:
    """Return the ids at these steps from each place, as far as they lie in its document (and before `ends`)."""
    where = places[:, None] + steps
    high = offsets[document + 1] if ends is None else ends
    inside = (where >= offsets[document, None]) & (where < high[:, None])
    taken = ids[np.clip(where, 0, max(ids.size - 1, 0))] if ids.size else np.full(where.shape, OUTSIDE)
    return np.where(inside, taken, OUTSIDE).astype(np.int32)


def _empty(window: tuple[int, int]) -> SampledContexts:
    codes = np.empty(0, dtype=np.uint64)
    sides = [np.empty((0, width), dtype=np.int32) for width in (window[0], 1, window[1])]
    return SampledContexts(np.empty(0, dtype=np.int32), codes, codes, *sides)


class _WordCodes:
    """A code for each word that depends on the word alone, and codes of documents made of them."""

    def __init__(self, lexicon: Lexicon) -> None:
        self._lexicon = lexicon
        self._codes = mixed(np.arange(2, lexicon.known + 3, dtype=np.uint64))  # the last is for words without an id
        self._extra = np.empty(0, dtype=np.uint64)
        self._lock = threading.Lock()

    def of_documents(self, ids: Ints, offsets: Longs) -> Codes:
        """Return a code for each document, from its words and their places."""
        known = self._lexicon.known
        codes = self._codes[np.where((ids >= 0) & (ids < known), ids, known)]
        extra = np.flatnonzero(ids >= known)
        if extra.size:
            codes[extra] = self._extra_codes()[ids[extra] - known]
        place = np.arange(ids.size, dtype=np.uint64) - np.repeat(offsets[:-1], np.diff(offsets)).astype(np.uint64)
        before = np.zeros(ids.size + 1, dtype=np.uint64)
        np.cumsum(mixed(codes + place), out=before[1:])
        return before[offsets[1:]] - before[offsets[:-1]]  # modulo 2^64

    def _extra_codes(self) -> Codes:
        """Return codes of words that have an id only because they occur; unlike ids, they depend on no order."""
        with self._lock:
            words = self._lexicon.extra[len(self._extra) :]
            if words:
                digests = [hashlib.blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8) for word in words]
                new = np.array([int.from_bytes(digest.digest(), "little") for digest in digests], dtype=np.uint64)
                self._extra = np.concatenate([self._extra, new])
            return self._extra
