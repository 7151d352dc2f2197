"""Which words and n-grams a corpus holds often enough: exact counts, with memory bounded by what is frequent.

One pass for each length. An n-gram is counted only where both (n-1)-grams in it are frequent (Agrawal and Srikant's
Apriori), so nothing rare is ever kept. Of the n-grams, those are phrases whose words occur together more often than by
chance (normalised pointwise mutual information) and whose ends are no function words, which the text itself tells:
function words are rarely followed by a comma or a full stop.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Unpack

import numpy as np

from alacarte._io.arrays import Doubles, Ints, Longs
from alacarte._io.checks import real_number, whole_number
from alacarte._io.options import refuse_unknown
from alacarte._io.progress import phase
from alacarte._io.table import Columns, Table
from alacarte.contexts.ngram_counts import KeyCounts
from alacarte.errors import BadTargets
from alacarte.passes.phrases import Level, ends_clause, has_letter, have_ends, is_fragment, mutual_information
from alacarte.passes.scan import run
from alacarte.passes.spool import readable_again
from alacarte.passes.work import PassOptions, Work, WorkOptions, corpus_of, select
from alacarte.targets.sequences import SequenceTable
from alacarte.targets.targets import Targets, is_cased, vocabulary_index
from alacarte.text.corpus import Corpus, CorpusLike
from alacarte.text.encoding import Encoded, Encoder, Lexicon
from alacarte.text.tokenizers import Tokenizer, TokenizerLike, get_tokenizer
from alacarte.vectors.word_vectors import VectorsLike, WordVectors

HALF_BITS = np.int64(32)  # bits of a key for each of the two sequences that it joins
LOW = np.int64(0xFFFFFFFF)
MIN_SCORE = 0.4  # where precision and recall of WordNet's phrases balance (benchmarks/phrases_found.py)


class Discovered(Table, Targets):
    """Words and phrases that `discover` found, with their counts and scores: targets, and a table.

    Attributes
    ----------
    counts : array
        How often each occurs.
    scores : array
        The score of each phrase (see `discover`); NaN for single words.

    Examples
    --------
    >>> text = ["he saw new york .", "new york was calling", "he was in york"]
    >>> found = discover(None, text, ngrams=(1, 2), min_count=2)
    >>> found
    Discovered(5: 'york', 'he', 'new', 'was', 'new york')
    >>> print(found)
    word      count   score
    york          3       –
    he            2       –
    new           2       –
    was           2       –
    new york      2  0.7834
    >>> found[:2], found[-1]
    (['york', 'he'], 'new york')
    """

    def __init__(self, keys: Iterable[str], counts: Longs, scores: Doubles) -> None:
        self._set((key, "tokens") for key in keys)
        self.counts = counts
        self.scores = scores

    __repr__ = Targets.__repr__

    def __getitem__(self, place: int | slice) -> str | list[str]:
        """Return the word or phrase of a row, or those of several."""
        return list(self)[place]

    def columns(self) -> Columns:
        """Return the columns of the table."""
        return {"word": list(self), "count": self.counts, "score": self.scores}


def discover(
    vectors: VectorsLike | Sequence[str] | None,
    corpus: CorpusLike,
    *,
    ngrams: int | Iterable[int] = 1,
    min_count: int = 10,
    tokenizer: TokenizerLike | None = None,
    known: bool = False,
    all_tokens: bool = False,
    min_score: float | None = MIN_SCORE,
    **options: Unpack[PassOptions],
) -> Discovered:
    """Return the words that occur often enough in a corpus, and its phrases: n-grams whose words belong together.

    For a model, `ALaCarte.discover` passes its vectors and its tokenizer.

    Parameters
    ----------
    vectors
        Vectors, or their words. Single words among them are left out, unless `known`; and the tokenizer keeps
        words whole that are among them. None if there are none.
    corpus
        Any text that `Corpus` reads.
    ngrams
        How many words they have: one number, or several.
    min_count
        How often they occur, at least.
    tokenizer
        A name or a function (`alacarte.text.tokenizers`). By default "words-cased" for vectors whose words have
        capital letters, "words" for others.
    known
        Whether single words that have a vector are listed too.
    all_tokens
        Whether numbers, punctuation and fragments (single letters, *'s*, *n't*) are listed too, as words and in
        n-grams. In the middle of a phrase, fragments always are: *bird 's eye*.
    min_score
        How much more often than by chance the words of a phrase occur together, at least: normalised pointwise mutual
        information, 0 for chance and 1 for words that occur together only; of three words and more, the least over
        all ways to cut the n-gram in two. N-grams that begin or end with a function word are left out as well. With
        None or 0, all n-grams are listed.
    **options
        How a table is read: `text`, `tokens`, `columns`, … (see `Corpus`); and how the work is done: `threads`,
        `show_progress`, … (see `alacarte.passes.work.Work`).

    Returns
    -------
    Discovered
        Targets for `collect` and `ALaCarte.induce`, and a table with counts and scores: shorter ones first, words by
        count, phrases by score.

    Notes
    -----
    Which words are function words is read off the text: those that occur before a comma, a full stop or the like less
    than half as often as words do on average. A phrase ends with none of them, and begins with none that is common (in
    1 of 500 tokens outside of this phrase). In text without punctuation, common words neither begin nor end a phrase.

    Examples
    --------
    >>> discover(None, ["the new york rose", "a rose in new york", "the rose"], ngrams=(1, 2), min_count=2)
    Discovered(5: 'rose', 'new', 'the', 'york', 'new york')
    >>> discover(None, ["a rose is a rose", "is a rose"], ngrams=2, min_count=3, all_tokens=True, min_score=None)
    Discovered(1: 'a rose')
    """
    refuse_unknown(discover, options, PassOptions)
    given = ngrams if isinstance(ngrams, Iterable) else [ngrams]
    lengths = sorted({whole_number(length, "ngrams", 1) for length in given})
    if not lengths:
        raise BadTargets("ngrams is empty; pass 1 for words, or (1, 2) for words and pairs of words")
    least = whole_number(min_count, "min_count", 1)
    least_score = None if min_score is None else real_number(min_score, "min_score")
    source = corpus_of(corpus, options)
    if lengths[-1] > 1:
        source = readable_again(source)
    listed = vectors is None or (isinstance(vectors, Iterable) and not isinstance(vectors, str))
    known_words: Any = vectors if listed else WordVectors.of(vectors)
    index = vocabulary_index(known_words)
    split = get_tokenizer(("words-cased" if is_cased(list(index)) else "words") if tokenizer is None else tokenizer)
    work = Work(**select(options, WorkOptions))
    counted = _frequent_sequences(source, index, split, lengths[-1], least, work)
    with phase("listing n-grams", work.show_progress):
        return _as_targets(counted, index, lengths, known, all_tokens, least_score)


class _FrequentSequences(NamedTuple):
    """Frequent sequences, a level for each length, and what else it takes to recognise phrases."""

    levels: list[Level]
    extra: list[str]  # words that have an id, besides the known ones
    tokens: int
    at_ends: Longs  # for each frequent word: uses before a mark that ends a clause


def _as_targets(
    counted: _FrequentSequences,
    index: Mapping[str, int],
    lengths: list[int],
    known: bool,
    all_tokens: bool,
    min_score: float | None,
) -> Discovered:
    words = np.array([*index, *counted.extra], dtype=object)
    singles = counted.levels[0].sequences[:, 0]
    names = words[singles].tolist()
    lettered, whole = np.ones((2, len(words)), dtype=bool)
    if not all_tokens:
        lettered[singles] = [has_letter(name) for name in names]
        whole[singles] = [not is_fragment(name) for name in names]
    keys: list[str] = []
    kept_counts, kept_scores = [np.empty(0, dtype=np.int64)], [np.empty(0)]
    for length in lengths:
        levels = counted.levels[:length]
        if len(levels) < length:
            break
        sequences, counts = levels[-1].sequences, levels[-1].counts
        chosen = lettered[sequences].all(axis=1) & whole[sequences[:, 0]] & whole[sequences[:, -1]]
        if length == 1:
            scores = np.full(len(counts), np.nan)
            if not known:
                chosen &= singles >= len(index)
        else:
            scores = mutual_information(levels, counted.tokens)
            if min_score:
                chosen &= (scores >= min_score) & have_ends(levels, names, counted.at_ends, counted.tokens)
        places = np.flatnonzero(chosen)
        places = places[np.argsort(-scores[places], kind="stable")]  # words stay in the order of their counts
        columns = words[sequences[places]].T.tolist()
        keys += map(" ".join, zip(*columns, strict=True))
        kept_counts.append(counts[places])
        kept_scores.append(scores[places])
    return Discovered(keys, np.concatenate(kept_counts), np.concatenate(kept_scores))


def _frequent_sequences(
    corpus: Corpus, index: dict[str, int], tokenizer: Tokenizer, longest: int, min_count: int, work: Work
) -> _FrequentSequences:
    first = Lexicon(index, grow=True)
    words = KeyCounts(lambda encoded: encoded.ids.astype(np.int64))
    run(words, corpus, Encoder(tokenizer, first), work, "counting words")
    with phase("sorting words", work.show_progress):
        tokens = int(words.all[1].sum())
        found, counts = words.at_least(min_count)
        # Words turn up in the order of the threads; from here on their ids depend on the words alone.
        names = [first.word(int(word)) for word in found]
        lexicon = Lexicon(index)
        extra = sorted(name for name, word in zip(names, found, strict=True) if word >= len(index))
        if extra:
            lexicon.add_all(extra)
        ids = np.fromiter((lexicon.add(name) for name in names), dtype=np.int32, count=len(names))
    order = np.lexsort((ids, -counts))
    names = [names[place] for place in order]
    nothing = np.empty(0, dtype=np.int64)
    levels = [Level(ids[order][:, None], counts[order], nothing, nothing)]
    at_ends = nothing
    encoder = Encoder(tokenizer, lexicon)
    for length in range(2, longest + 1):
        shorter = levels[-1].sequences
        tally = KeyCounts(_pairs_of(shorter, len(lexicon)))
        run(tally, corpus, encoder, work, f"counting {length}-grams")
        with phase(f"sorting {length}-grams", work.show_progress):
            if length == 2:
                at_ends = _uses_at_ends(tally, names)
            keys, counts = tally.at_least(min_count)
            longer = np.column_stack([shorter[keys >> HALF_BITS], shorter[keys & LOW, -1]])
            order = np.lexsort((*longer.T[::-1], -counts))
            keys = keys[order]
            levels.append(Level(longer[order], counts[order], keys >> HALF_BITS, keys & LOW))
        if not len(longer):
            break
    return _FrequentSequences(levels, extra, tokens, at_ends)


def _uses_at_ends(pairs: KeyCounts, names: list[str]) -> Longs:
    """Return how often each word is followed by a mark that ends a clause."""
    marks = np.array([ends_clause(name) for name in names], dtype=bool)
    keys, counts = pairs.all
    marked = np.flatnonzero(marks[keys & LOW])
    return np.bincount(keys[marked] >> HALF_BITS, weights=counts[marked], minlength=len(names)).astype(np.int64)


def _pairs_of(sequences: Ints, n_ids: int) -> Callable[[Encoded], Longs]:
    """Return what finds candidates in a block: two frequent sequences that begin at neighbouring words make one."""
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
        return np.where((before >= 0) & (after >= 0), (before << HALF_BITS) | after, -1)

    return keys_of
