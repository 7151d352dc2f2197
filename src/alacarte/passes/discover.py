"""Which words and n-grams a corpus holds often enough: exact counts, with memory bounded by what is frequent.

One pass for each length. An n-gram is counted only where both (n-1)-grams in it are frequent (Agrawal and Srikant's
Apriori), so nothing rare is ever kept.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, Unpack

import numpy as np

from alacarte._io.arrays import Ints, Longs
from alacarte._io.checks import whole_number
from alacarte._io.progress import phase
from alacarte.contexts.ngram_counts import KeyCounts
from alacarte.errors import BadTargets
from alacarte.passes.scan import run
from alacarte.passes.spool import readable_again
from alacarte.passes.work import Work, WorkOptions, refuse_unknown
from alacarte.targets.sequences import SequenceTable
from alacarte.targets.targets import Targets, is_cased, vocabulary_index
from alacarte.text.corpus import Corpus, CorpusLike
from alacarte.text.encoding import Encoded, Encoder, Lexicon
from alacarte.text.tokenizers import Tokenizer, TokenizerLike, get_tokenizer

HALF = np.int64(32)  # bits of a key for each of the two sequences that it joins


def discover(
    corpus: CorpusLike,
    *,
    ngrams: int | Iterable[int] = 1,
    min_count: int = 10,
    vectors: Mapping[str, object] | Sequence[str] | None = None,
    tokenizer: TokenizerLike | None = None,
    known: bool = False,
    punctuation: bool = False,
    **options: Unpack[WorkOptions],
) -> Targets:
    """Return all words and n-grams that occur often enough in a corpus, the most frequent first.

    For a model, `ALaCarte.discover` passes its vectors and its tokenizer.

    Parameters
    ----------
    corpus
        Any text that `Corpus` reads.
    ngrams
        How many words the targets have: one number, or several.
    min_count
        How often they occur, at least.
    vectors
        Vectors, or their words. Single words among them are left out, unless `known`; and the tokenizer keeps
        words whole that are among them.
    tokenizer
        A name or a function (`alacarte.text.tokenizers`). By default "words-cased" for vectors whose words have
        capital letters, "words" for others.
    known
        Whether single words that have a vector are listed too.
    punctuation
        Whether n-grams with a token that has no letter or digit are listed too.
    **options
        How the work is done: `threads`, `show_progress`, … (see `alacarte.passes.work.Work`).

    Returns
    -------
    Targets
        For `collect` and `ALaCarte.induce`.

    Examples
    --------
    >>> discover(["a rose is a rose", "is a rose"], ngrams=(1, 2), min_count=3)
    Targets(3: 'a', 'rose', 'a rose')
    """
    refuse_unknown("discover", options, WorkOptions)
    given = ngrams if isinstance(ngrams, Iterable) else [ngrams]
    lengths = sorted({whole_number(length, "ngrams", 1) for length in given})
    if not lengths:
        raise BadTargets("ngrams is empty; pass 1 for words, or (1, 2) for words and pairs of words")
    least = whole_number(min_count, "min_count", 1)
    source = Corpus.of(corpus)
    if lengths[-1] > 1:
        source = readable_again(source)
    index = vocabulary_index(vectors)
    split = get_tokenizer(("words-cased" if is_cased(list(index)) else "words") if tokenizer is None else tokenizer)
    work = Work(**options)
    counted = _frequent_sequences(source, index, split, lengths[-1], least, work)
    with phase("listing n-grams", work.show_progress):
        return _listed(counted, index, lengths, known, punctuation)


class _Counted(NamedTuple):
    """Frequent sequences of ids, an array for each length, and the words that have an id besides the known ones."""

    sequences: list[Ints]
    extra: list[str]


def _listed(counted: _Counted, index: Mapping[str, int], lengths: list[int], known: bool, punctuation: bool) -> Targets:
    words = np.array([*index, *counted.extra], dtype=object)
    usable = np.ones(len(words), dtype=bool)
    if not punctuation:
        wordlike = re.compile(r"[^\W_]")
        usable[:] = [wordlike.search(word) is not None for word in words]
    keys: list[str] = []
    for length, sequences in enumerate(counted.sequences, start=1):
        if length in lengths:
            chosen = usable[sequences].all(axis=1)
            if length == 1 and not known:
                chosen &= sequences[:, 0] >= len(index)
            columns = words[sequences[chosen]].T.tolist()
            keys += map(" ".join, zip(*columns, strict=True))
    return Targets.ngrams(keys)


def _frequent_sequences(
    corpus: Corpus, index: dict[str, int], tokenizer: Tokenizer, longest: int, min_count: int, work: Work
) -> _Counted:
    first = Lexicon(index, grow=True)
    words = KeyCounts(lambda encoded: encoded.ids.astype(np.int64))
    run(words, corpus, Encoder(tokenizer, first), work, "counting words")
    with phase("sorting words", work.show_progress):
        found, counts = words.at_least(min_count)
        # Words turn up in the order of the threads; from here on their ids depend on the words alone.
        names = [first.word(int(word)) for word in found]
        lexicon = Lexicon(index)
        extra = sorted(name for name, word in zip(names, found, strict=True) if word >= len(index))
        if extra:
            lexicon.add_all(extra)
        ids = np.fromiter((lexicon.add(name) for name in names), dtype=np.int32, count=len(names))
    order = np.lexsort((ids, -counts))
    sequences = [ids[order][:, None]]
    encoder = Encoder(tokenizer, lexicon)
    for length in range(2, longest + 1):
        shorter = sequences[-1]
        tally = KeyCounts(_pairs_of(shorter, len(lexicon)))
        run(tally, corpus, encoder, work, f"counting {length}-grams")
        with phase(f"sorting {length}-grams", work.show_progress):
            keys, counts = tally.at_least(min_count)
            longer = np.column_stack([shorter[keys >> HALF], shorter[keys & np.int64(0xFFFFFFFF), -1]])
            order = np.lexsort((*longer.T[::-1], -counts))
            sequences.append(longer[order])
        if not len(longer):
            break
    return _Counted(sequences, extra)


def _pairs_of(sequences: Ints, n_ids: int) -> Callable[[Encoded], Longs]:
    """Two frequent sequences that begin at neighbouring words make a candidate that is longer by one word."""
    count, length = sequences.shape
    lengths = np.full(count, length, dtype=np.int64)
    table = SequenceTable(sequences.reshape(-1), lengths, np.arange(count, dtype=np.int32), n_ids)

    def keys_of(encoded: Encoded) -> Longs:
        matches = table.find(encoded)
        numbers = np.full(encoded.ids.size + 1, -1, dtype=np.int64)
        numbers[matches.starts] = matches.targets
        before, after = numbers[:-1].copy(), numbers[1:]
        if length == 1:  # longer sequences reach into the next word, so that it is in the same document
            before[encoded.offsets[1:][np.diff(encoded.offsets) > 0] - 1] = -1
        return np.where((before >= 0) & (after >= 0), (before << HALF) | after, -1)

    return keys_of
