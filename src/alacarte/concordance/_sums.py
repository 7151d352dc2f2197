"""Sums of contexts from a concordance, without reading its text: what vectors and options mean for it."""

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np

from alacarte._io.arrays import Doubles, Ints, Longs, Mask
from alacarte.concordance._segment import StoredSegment
from alacarte.concordance.uses import Place
from alacarte.contexts.groups import group_numbers
from alacarte.contexts.integers import IntegerVectors
from alacarte.contexts.reading import Reading, ReadingOptions
from alacarte.contexts.shared_words import SharedWords, SharedWordsTally
from alacarte.contexts.summing import COUNTS
from alacarte.contexts.sums import Sums
from alacarte.contexts.weights import resolve
from alacarte.contexts.windows import sums_of_matches, sums_of_windows
from alacarte.errors import AlacarteError
from alacarte.passes.work import usable_cores
from alacarte.targets.sequences import Matches
from alacarte.text.encoding import Encoded, Lexicon
from alacarte.text.tokenizers import get_tokenizer
from alacarte.transform.transform import Transform
from alacarte.vectors.geometry import cosines
from alacarte.vectors.word_vectors import WordVectors

AT_ONCE = 1 << 15  # windows summed at a time
DOCUMENTS_READ_AT_ONCE = 1 << 12  # read at a time for shared words


class WindowSums:
    """What sums of contexts need to know of vectors and options, computed once for several targets."""

    def __init__(
        self, vectors: WordVectors, options: ReadingOptions, tokenizer: str, word_counts: Callable[[], Longs]
    ) -> None:
        asked = get_tokenizer(options.get("tokenizer", "words")).name
        if asked != tokenizer:
            raise AlacarteError(f"this concordance was built with the tokenizer {tokenizer!r}, not {asked!r}")
        self.weights = resolve(options.get("context_weights"), vectors, word_counts)
        self.reading = replace(Reading.of(options, tokenizer), weights=self.weights.name)
        self.integers = IntegerVectors.of(vectors, self.weights, self.reading, few=True)

    def sums(self, places: Sequence[Place], groups: int) -> Sums:
        """Return the sums of one target over all segments, a row for each group of documents."""
        shape = groups, self.integers.dimension
        total = Sums(np.zeros(shape, dtype=np.int64), *(np.zeros(groups, dtype=np.int64) for _ in COUNTS))
        parts = [
            place.only(slice(low, low + AT_ONCE)) for place in places for low in range(0, len(place.begins), AT_ONCE)
        ]

        def summed(part: Place) -> Sums:
            rows = np.zeros(len(part.begins), dtype=np.int32)
            if groups > 1:
                rows = group_numbers(part.segment.codes[part.segment.document_of(part.begins)], groups)
            return self._summed(part, rows)

        with ThreadPoolExecutor(usable_cores()) as pool:
            for added in map(summed, parts) if len(parts) < 2 else pool.map(summed, parts):
                for name in ("sums", *COUNTS):
                    values = getattr(added, name)
                    getattr(total, name)[: len(values)] += values
        return total

    def influence(self, places: Sequence[Place], transform: Transform) -> dict[str, Doubles]:
        """Return the share of each match in the vector of all of them, and how far the vector turns without it."""
        each = [self._summed(place, np.arange(len(place.begins), dtype=np.int32)) for place in places]
        sums = np.concatenate([single.sums for single in each]) * self.integers.scale.sum_units
        divisors: Doubles = np.concatenate(
            [single.divisor(self.integers.scale, self.reading.averaging) for single in each]
        ).astype(np.float64)
        added = sums @ transform.matrix.astype(np.float64).T
        if transform.intercept is not None:
            added += divisors[:, None] * transform.intercept
        whole = added.sum(axis=0)
        rest = divisors.sum() - divisors
        vector = transform(sums.sum(axis=0) / divisors.sum())
        without = transform((sums.sum(axis=0) - sums) / np.where(rest > 0, rest, np.nan)[:, None])
        known = without.any(axis=1) & vector.any()  # a vector of zeros has no direction
        change = 1 - np.where(known, cosines(without.astype(np.float64), vector.astype(np.float64)), np.nan)
        squared = float(whole @ whole)
        return {"share": added @ whole / (squared if squared > 0 else np.nan), "change": change}

    def shared_words(self, segments: Iterable[tuple[StoredSegment, Mask]], lexicon: Lexicon) -> SharedWords:
        """Return the contexts of common words in documents of some segments, to adapt vectors to the text with."""
        tally = SharedWordsTally(self.integers, self.reading, lexicon)
        add = tally.adder()
        for segment, kept in segments:
            for low in range(0, len(kept), DOCUMENTS_READ_AT_ONCE):
                chosen = np.flatnonzero(kept[low : low + DOCUMENTS_READ_AT_ONCE]) + low
                lengths = segment.offsets[chosen + 1] - segment.offsets[chosen]
                parts = [segment.ids[segment.offsets[n] : segment.offsets[n + 1]] for n in chosen.tolist()]
                ids = np.concatenate([np.zeros(0, dtype=np.int32), *parts]).astype(np.int32)
                add(
                    Encoded(np.where(ids < self.integers.known, ids, -1), np.concatenate([[0], np.cumsum(lengths)]), [])
                )
        tally.settle()
        return tally.result()

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
