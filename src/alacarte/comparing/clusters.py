"""Which documents are one piece of evidence: those of one speaker, and a text with its reprints.

Documents are divided into groups, and noise is measured by how far groups lie apart. So all documents of a cluster
have to be in the same group.
"""

import heapq
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from alacarte._io.arrays import Longs
from alacarte._io.progress import progress
from alacarte.concordance import Concordance
from alacarte.contexts.groups import GROUP
from alacarte.errors import AlacarteWarning, BadCorpus
from alacarte.inference.levels import EXCEPTIONS, LEAST_LEVELS, level_of
from alacarte.passes.pipeline import in_order
from alacarte.passes.work import Work
from alacarte.text.corpus import Corpus
from alacarte.text.documents import Document, Item
from alacarte.text.encoding import Encoded, Encoder
from alacarte.text.records import is_null
from alacarte.text.reprints import copies_among, reprint_groups, signatures_of
from alacarte.text.segments import Block

DOCUMENT = "document"  # what `cluster` is called if each document is one


@dataclass(frozen=True, eq=False)
class GroupedDocuments:
    """The documents of a corpus, each with the number of its group; those with -1 are left out."""

    corpus: Corpus
    groups: Longs

    def __len__(self) -> int:
        return int(np.count_nonzero(self.groups >= 0))

    def __iter__(self) -> Iterator[Item]:
        for item, group in zip(self.corpus, self.groups.tolist(), strict=True):
            if group < 0:
                continue
            if isinstance(item, Document):
                yield replace(item, values=(group,))
            else:
                yield Document(item, values=(group,)) if isinstance(item, str) else Document(None, item, (), (group,))


@dataclass(frozen=True, eq=False)
class Documents:
    """What a first reading of a corpus finds: how often words occur, and of each document its length and cluster."""

    corpus: Corpus
    counts: Longs  # of each word of the vectors
    lengths: Longs  # in words
    clusters: Longs | None  # the number of its cluster, -1 where that is missing; None if each document is one
    reprints: Longs | None  # the same number for reprints of one text; None if these were not looked for

    @classmethod
    def read(cls, corpus: Corpus, encoder: Encoder, cluster: str | None, reprints: bool, work: Work) -> "Documents":
        """Read a corpus; the values of the column `cluster` are its clusters."""
        place = None if cluster is None else corpus.columns.index(cluster)
        known = encoder.lexicon.known
        counts, lengths, signatures = np.zeros(known, dtype=np.int64), [], []
        values: list[Any] = []

        def encode(block: Block) -> tuple[Block, list[Item], Encoded]:
            items = block.items()
            return block, items, encoder.encode(items)

        encoder.expect(corpus.size or 0)
        with progress(*corpus.extent, "counting words", work.show_progress, work.callback) as bar:
            for block, items, encoded in in_order(encode, corpus.blocks(work.block_size), work.cores):
                counts += np.bincount(encoded.ids[encoded.ids.view(np.uint32) < known], minlength=known)
                lengths.append(np.diff(encoded.offsets))
                if place is not None:
                    values += [item.values[place] for item in items if isinstance(item, Document)]
                if reprints:
                    signatures.append(signatures_of(encoded.ids, encoded.offsets))
                bar.update_to(block.position)
        clusters = None if place is None else value_codes(values)
        same = reprint_groups(np.concatenate(signatures)) if signatures else None
        return cls(corpus, counts, np.concatenate([np.zeros(0, np.int64), *lengths]), clusters, same)

    @property
    def copies(self) -> int:
        """How many documents are reprints of an earlier one."""
        return 0 if self.reprints is None else copies_among(self.reprints)

    def in_groups(self, groups: int, drop: bool) -> Corpus:
        """Return the documents in groups that hold clusters whole; a reprint is in the cluster of the first print.

        If `drop`, only the first print of a text is among them.
        """
        if self.clusters is None and self.reprints is not None and not self.copies:
            return self.corpus  # whose documents are each in a group of their own choice, with nearly all reprints
        everyone = np.arange(len(self.lengths))
        first = everyone
        if self.reprints is not None:
            first = np.unique(self.reprints, return_index=True)[1][self.reprints]
        clusters = first if self.clusters is None else _alone_if_missing(self.clusters)[first]
        by_cluster = balanced_groups(np.unique(clusters, return_inverse=True)[1], self.lengths, groups)
        kept = np.where(first == everyone, by_cluster, -1) if drop else by_cluster
        return Corpus(GroupedDocuments(self.corpus, kept), name=self.corpus.description, columns=(GROUP,))


def balanced_groups(clusters: Longs, lengths: Longs, groups: int) -> Longs:
    """Return a group for each document: clusters go, in random order, to the group that has the least text by then.

    >>> balanced_groups(np.array([0, 0, 1, 2, 2]), np.array([5, 5, 3, 1, 1]), 2).tolist()
    [1, 1, 0, 0, 0]
    """
    loads = np.bincount(clusters, weights=lengths)
    heap = [(0.0, group) for group in range(groups)]
    group_of = np.zeros(len(loads), dtype=np.int64)
    for cluster in np.random.default_rng(0).permutation(len(loads)).tolist():
        load, group = heap[0]
        group_of[cluster] = group
        heapq.heapreplace(heap, (load + float(loads[cluster]), group))
    return group_of[clusters]


def value_codes(values: Iterable[Any]) -> Longs:
    """Return a number for each value, the same for the same; -1 where it is missing.

    >>> value_codes(["a", None, "b", "a"]).tolist()
    [0, -1, 1, 0]
    """
    numbers: dict[Any, int] = {}
    listed = [-1 if is_null(value) else numbers.setdefault(value, len(numbers)) for value in values]
    return np.array(listed, dtype=np.int64)


def _alone_if_missing(codes: Longs) -> Longs:
    """Codes in which each document without a cluster is one of its own."""
    missing = codes < 0
    return np.where(missing, codes.max(initial=-1) + np.cumsum(missing), codes)


def chosen_level(table: Any, by: str, cluster: str | None, contents: set[str | None]) -> tuple[str | None, str]:
    """Return (the column whose values are clusters, a sentence about it) for the two groups of a table.

    `contents` are the columns with the text. Where no cluster is asked for, it is the column between whose values the
    groups vary; without such a one, each document is a cluster. A lower one that is asked for is used, with a warning.
    """
    if cluster not in (None, DOCUMENT, *table.columns):
        listed = ", ".join(map(repr, table.columns))
        raise BadCorpus(f"cluster: there is no column {cluster!r} among {listed}; {DOCUMENT!r} is each row by itself")
    codes = _codes_of_columns(table, [name for name in table.columns if name not in contents])
    variable = codes.pop(by)
    level = level_of(variable, codes)
    asked = None if cluster == DOCUMENT and DOCUMENT not in table.columns else cluster
    if level is None or asked == level[0]:
        return asked, "" if asked is None else f"clustered by {asked}"
    name, count = level
    if cluster is None:
        return name, (
            f"{by} varies between {count:,} values of {name}, hardly within them: clustered by {name}, so that what a "
            f"single {name} does is no difference between groups. Clustered by {DOCUMENT}, it would be found too"
        )
    if asked is not None and len(np.unique(codes[asked])) <= count:
        return asked, f"clustered by {asked}"
    warnings.warn(
        f"{by} varies between {count:,} values of {name}, hardly within them, so what differs between these is found "
        f"too: many times more words than p-values say. Compare with cluster={name!r}, or without cluster",
        AlacarteWarning,
        stacklevel=4,
    )
    return asked, f"clustered by {cluster}"


def level_between(one: Concordance, two: Concordance) -> str | None:
    """Return the column of fewest values that are hardly ever on both sides, such as the speakers of two parties."""
    found = []
    for column in one.columns:
        here, there = one.value_counts(column), two.value_counts(column)
        documents, levels = len(one) + len(two), len({*here, *there})
        shared = sum(min(here[value], there[value]) for value in here.keys() & there.keys())
        if LEAST_LEVELS <= levels <= documents / 2 and shared <= EXCEPTIONS * min(len(one), len(two)):
            found.append((levels, column))
    return min(found)[1] if found else None


def _codes_of_columns(table: Any, names: list[str]) -> dict[str, Longs]:
    found = {}
    for name in names:
        try:
            found[name] = value_codes(table[name].to_list())
        except TypeError:  # lists and other values that are not hashable are no clusters
            continue
    return found
