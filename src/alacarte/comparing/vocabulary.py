"""`compare`: two corpora, or two groups of the documents of one, and every word that both use often enough.

A first pass over each corpus counts words; a second makes the sums, by groups of documents, of those that are frequent
on both sides; `alacarte.comparing.uses` tests them; a third gathers contexts of the words that are reported.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, TypeAlias, Unpack, get_args

import numpy as np

from alacarte._io.arrays import Doubles, Ints, Longs
from alacarte._io.checks import whole_number
from alacarte._io.frames import is_frame
from alacarte._io.progress import phase
from alacarte.comparing.clusters import DOCUMENT, Documents, chosen_level
from alacarte.comparing.uses import Comparison, Comparisons, ContextLines, Side, compare_sides
from alacarte.contexts.integers import IntegerVectors
from alacarte.contexts.samples import OUTSIDE
from alacarte.contexts.sums import ContextSums
from alacarte.contexts.windows import sums_of_windows
from alacarte.errors import AlacarteError, BadCorpus, BadSums, BadTargets, Hint, NoOccurrences, require
from alacarte.inference.cosines import check_level
from alacarte.model import ALaCarte, InducedVectors
from alacarte.model.induced import as_compared
from alacarte.passes.sample import sample_targets
from alacarte.passes.spool import readable_again
from alacarte.passes.work import Work, WorkOptions
from alacarte.targets.targets import Targets, TargetsLike
from alacarte.text.corpus import Corpus, CorpusLike
from alacarte.text.documents import Document
from alacarte.text.encoding import Encoder, Lexicon
from alacarte.text.options import CorpusKeywords
from alacarte.text.records import as_frame, is_null
from alacarte.text.tables import read_table
from alacarte.transform.transform import Transform
from alacarte.uncertainty.uncertainty import OTHERS, Space, Uncertainty
from alacarte.vectors.geometry import unit_rows
from alacarte.vectors.word_vectors import WordVectors

Duplicates: TypeAlias = Literal["cluster", "drop", "keep"]
MIN_COUNT = 20
GROUPS = 16  # of documents, by which the noise is measured
SIDES = ("a", "b")  # what the two corpora are called, if they are not groups of one
REPORTED = 100  # words, at most, for which lines are gathered
SAMPLED = 300  # contexts of each word and corpus that are looked at, if it has as many
UNKNOWN = "…"  # a word without an id
WORK = ("threads", "memory", "show_progress", "callback")  # what makes sense for three passes over two corpora


def compare(
    model: ALaCarte | WordVectors,
    corpus: "CorpusLike | ContextSums | InducedVectors",
    other: "CorpusLike | ContextSums | InducedVectors | None" = None,
    targets: TargetsLike | None = None,
    *,
    by: str | None = None,
    groups: tuple[object, object] | None = None,
    text: str = "text",
    tokens: str = "tokens",
    cluster: str | None = None,
    duplicates: Duplicates = "cluster",
    vocabulary: bool = True,
    min_count: int = MIN_COUNT,
    level: float = 0.95,
    contexts: int = 3,
    **work: Unpack[WorkOptions],
) -> Comparisons:
    """Test for every word that two corpora use often whether they use it differently.

    What all words of a text share, its register, is no difference: a model that adapts to texts takes it out first.
    Noise is measured by clusters, which are documents unless `cluster` or the table says otherwise: uses within one
    count as one piece of evidence. Words whose uses come from too few of them are in the table, with the reason and
    without a p-value.

    Parameters
    ----------
    model
        A model; or vectors alone, to compare averages of context vectors as they are.
    corpus, other
        Text of any kind; or `ContextSums` with ``spread=16``, or what ``model.induce(…, spread=16)`` gave.
    targets
        Phrases and patterns to test beside the words of the vectors.
    by, groups
        In place of `other`: a column of the table `corpus` (a data frame or its file), and two of its values.
    text, tokens
        The columns with the text, or with lists of tokens, of frames and files.
    cluster
        A column whose values are clusters, such as speakers: of the data frame, or of both corpora. In a data frame
        whose groups vary only between the values of another column (parties between speakers), that column is taken if
        none is named; ``"document"`` is each row by itself.
    duplicates
        What reprints of a text are, also with some words changed: ``"cluster"``, one piece of evidence together;
        ``"drop"``, left out but for the first; ``"keep"``, documents like others.
    vocabulary
        Whether to test the words of the vectors; False tests `targets` alone.
    min_count
        How many uses a word needs on either side.
    level
        The level of intervals.
    contexts
        How many lines to show per side for the words with q ≤ .05, at most 100 words; 0 saves the third pass.
    **work
        `threads`, `memory`, `show_progress`, `callback`: how the passes are run (`Work`).

    Returns
    -------
    Comparisons
        One row per word, the smallest p-value first.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> vectors = WordVectors([f"w{i}" for i in range(60)], rng.normal(size=(60, 5)))
    >>> def text(near):  # "w0" has other neighbours in the second corpus, all others have the same
    ...     return [" ".join(["w0", *rng.choice(near, 4), *rng.choice(vectors.words[1:], 30)]) for _ in range(300)]
    >>> found = compare(vectors, text(vectors.words[1:30]), text(vectors.words[30:]), contexts=1)
    >>> found[0].word, found[0].q_value < 0.001, len(found)
    ('w0', True, 60)
    >>> found.contexts["w0"].a[0].startswith("[w0] w")
    True
    """
    _check_options(min_count, contexts, duplicates, level, work)
    if not isinstance(model, ALaCarte):
        vectors = WordVectors.of(model)
        model = ALaCarte(vectors, Transform(np.eye(vectors.dimension, dtype=np.float32)))
    first, second, names, cluster, notes = _two(corpus, other, by, groups, {"text": text, "tokens": tokens}, cluster)
    asked = None if targets is None else Targets.of(targets)
    if isinstance(first, ContextSums) and isinstance(second, ContextSums):
        sums, corpora = (first, second), None
        _check_sums(model, sums)
    elif isinstance(first, ContextSums) or isinstance(second, ContextSums):
        raise AlacarteError("one side is text and the other sums; collect sums from the text too, with spread=16")
    else:
        _refuse_empty((first, second), names)
        _refuse_same_files(first, second)
        read = _read(model, (first, second), cluster, duplicates != "keep", work)
        first, second = (side.in_groups(GROUPS, duplicates == "drop") for side in read)
        corpora = first, second
        notes += _reprints(read, names, duplicates)
        listed = _targets(model, read, asked, vocabulary, min_count)
        sums = model.collect(first, listed, spread=GROUPS, **work), model.collect(second, listed, spread=GROUPS, **work)
    _refuse_same_text(sums)
    with phase("testing words", work.get("show_progress")):
        words, left_out = _tested(sums, names, list(asked or ()), vocabulary, min_count)
        result = Comparisons((), level, names)
        if words:
            a, b = (
                Side.of(words, Uncertainty.of_sums(*one, model.typical), one[0].occurrences[one[0].seen])
                for one in _adapted(model, sums)
            )
            result = compare_sides(words, (a, b), level, names)
        result = replace(result, items=(*result.items, *left_out), notes=notes)
    return result if corpora is None or not contexts else _with_lines(result, model, corpora, sums, contexts, work)


def _check_options(min_count: int, contexts: int, duplicates: str, level: float, work: Mapping[str, Any]) -> None:
    if duplicates not in get_args(Duplicates):
        raise AlacarteError(f"duplicates: {', '.join(map(repr, get_args(Duplicates)))}, not {duplicates!r}")
    whole_number(min_count, "min_count, the uses that a word needs to show its noise,", 2)
    whole_number(contexts, "contexts")
    check_level(level)
    for name in work:
        if name not in WORK:
            raise AlacarteError(
                f"compare() has no option {name!r}; its passes take {', '.join(WORK)}. For others, collect the sums of "
                "either side with spread=16 and compare these"
            )


# ---------------------------------------------------------------------------------------------------- two sides


def _two(
    corpus: Any,
    other: Any,
    by: str | None,
    groups: tuple[object, object] | None,
    columns: CorpusKeywords,
    cluster: str | None,
) -> tuple[Corpus | ContextSums, Corpus | ContextSums, tuple[str, str], str | None, tuple[str, ...]]:
    """(one side, the other, their names, the column whose values are clusters, a sentence about it)."""
    if by is not None:
        if other is not None:
            raise AlacarteError("by= compares groups of one corpus; leave the second corpus out, or by=")
        return _groups(corpus, by, groups, columns, cluster)
    if other is None:
        raise AlacarteError("a comparison needs two corpora, or one table with by= and groups=")
    if groups is not None:
        raise AlacarteError("groups= are values of the column that by= names; give by=, or leave groups= out")
    if corpus is other:
        raise BadCorpus("both sides are the same corpus: there is nothing to compare; give another one")
    cluster = None if cluster == DOCUMENT else cluster
    notes = () if cluster is None else (f"clustered by {cluster}",)
    return _opened(corpus, columns, cluster), _opened(other, columns, cluster), SIDES, cluster, notes


def _opened(given: Any, columns: CorpusKeywords, cluster: str | None) -> Corpus | ContextSums:
    sums = getattr(given, "sums", given)
    if isinstance(sums, ContextSums):
        if cluster is not None:
            raise AlacarteError("cluster: sums no longer know the columns of their documents; compare the texts")
        return sums
    if cluster is not None and hasattr(given, "to_columns"):  # a concordance
        if cluster not in given.columns:
            raise BadCorpus(f"cluster: no column {cluster!r}; the concordance has {', '.join(given.columns) or 'none'}")
        held = given.to_columns()
        contents = zip(held["text"], held[cluster], strict=True)
        given = Corpus([_valued(content, value) for content, value in contents], columns=(cluster,))
    options: CorpusKeywords = {**columns, "columns": () if cluster is None else (cluster,)}
    opened = given if isinstance(given, Corpus) else Corpus(given, **options)
    if cluster is not None and cluster not in opened.columns:
        raise BadCorpus(f"cluster: this corpus has no column {cluster!r}; open it with columns=[{cluster!r}]")
    return readable_again(opened)


def _valued(content: str | list[str], value: Any) -> Document:
    if isinstance(content, str):
        return Document(content, values=(value,))
    return Document(tokens=content, values=(value,))


def _groups(
    frame: Any, by: str, groups: tuple[object, object] | None, columns: CorpusKeywords, cluster: str | None
) -> tuple[Corpus, Corpus, tuple[str, str], str | None, tuple[str, ...]]:
    if isinstance(frame, str | os.PathLike):
        frame = read_table(frame)
    if not is_frame(frame):
        raise BadCorpus("by= names a column of a table: pass a data frame, or the path of a CSV or JSON lines file")
    narwhals = require("narwhals", extra="frames", purpose="reading documents from a data frame")
    table = as_frame(frame)
    table = table.collect() if hasattr(table, "collect") else table
    if by not in table.columns:
        raise BadCorpus(f"there is no column {by!r} among {', '.join(map(repr, table.columns))}")
    values = [value for value in table[by].unique().to_list() if not is_null(value)]
    chosen = sorted(values, key=str) if groups is None else list(groups)
    if len(chosen) != 2:
        few = ", ".join(repr(value) for value in sorted(values, key=str)[:8])
        raise AlacarteError(
            f"{by!r} has {len(values)} values ({few}); a comparison is of two",
            hint=Hint("name them as groups=(…, …)", "name them with --group"),
        )
    if chosen[0] == chosen[1]:
        raise BadCorpus(f"both groups are {chosen[0]!r}: there is nothing to compare; name two")
    for value in chosen:
        if value not in values:
            raise BadCorpus(f"no row has {value!r} in {by!r}; it has {', '.join(map(repr, sorted(values, key=str)))}")
    sides = [table.filter(narwhals.col(by) == value) for value in chosen]
    level, note = chosen_level(narwhals.concat(sides), by, cluster, {columns["text"], columns["tokens"]})
    options: CorpusKeywords = {**columns, "columns": () if level is None else (level,)}
    first, second = (Corpus(side.to_native(), **options) for side in sides)
    return first, second, (str(chosen[0]), str(chosen[1])), level, (note,) if note else ()


def _refuse_empty(corpora: tuple[Corpus, Corpus], names: tuple[str, str]) -> None:
    sides = ("the first corpus", "the second corpus") if names == SIDES else (f"group {name!r}" for name in names)
    for corpus, side in zip(corpora, sides, strict=True):
        if not any(document.strip() if isinstance(document, str) else document for document in corpus):
            raise BadCorpus(f"{side} holds no text; check the path and, for tables, the name of the text column")


def _refuse_same_files(first: Corpus, second: Corpus) -> None:
    shared = {segment.source for segment in first.segments()} & {segment.source for segment in second.segments()}
    if shared:
        raise BadCorpus(f"{min(shared)} is in both corpora; leave it out of one of them")


def _refuse_same_text(sums: tuple[ContextSums, ContextSums]) -> None:
    shared = sums[0].units & sums[1].units
    if shared:
        raise BadCorpus(f"{min(unit.name for unit in shared)} is in both corpora; leave it out of one of them")


# ------------------------------------------------------------------------------------------------------- reading


def _read(
    model: ALaCarte, corpora: tuple[Corpus, Corpus], cluster: str | None, reprints: bool, work: WorkOptions
) -> tuple[Documents, Documents]:
    encoder = Encoder(model.tokenizer, Lexicon(model.vectors.key_to_index))
    first, second = (Documents.read(corpus, encoder, cluster, reprints, Work(**work)) for corpus in corpora)
    return first, second


def _reprints(read: tuple[Documents, Documents], names: tuple[str, str], duplicates: Duplicates) -> tuple[str, ...]:
    """Return a sentence about the reprints that were found."""
    copies = [f"{side.copies:,} documents of {name}" for side, name in zip(read, names, strict=True) if side.copies]
    what = "are left out" if duplicates == "drop" else "count with the first print as one piece of evidence"
    return (f"{' and '.join(copies)} are reprints; they {what}",) if copies else ()


def _targets(
    model: ALaCarte, read: tuple[Documents, Documents], asked: Targets | None, vocabulary: bool, min_count: int
) -> Targets:
    """Return what is looked for: the words of the vectors that are frequent on both sides, and what was asked for."""
    if not vocabulary:
        if asked is None:
            raise BadTargets("vocabulary=False leaves nothing to compare; name targets=")
        return asked
    words = model.vectors.words
    counts = [side.counts for side in read]
    frequent = [words[row] for row in np.flatnonzero(np.minimum(*counts) >= min_count).tolist()]
    if asked is not None:
        return asked | Targets.ngrams(word for word in frequent if word not in asked)
    if not frequent:
        raise _nothing_frequent(words, counts, min_count)
    return Targets.ngrams(frequent)


def _nothing_frequent(words: Sequence[str], counts: list[Longs], min_count: int) -> NoOccurrences:
    both = int(np.count_nonzero(np.minimum(*counts)))
    most = "none occurs in both"
    if both:
        best = int(np.argmax(np.minimum(*counts)))
        most = f"{words[best]!r} has {counts[0][best]:,} and {counts[1][best]:,}"
    return NoOccurrences(
        f"no word of the vectors occurs {min_count:,} times in both corpora ({most}); give more text, or text in the "
        "language of the vectors",
        hint=Hint("or lower min_count", "or lower --min-count"),
    )


def _check_sums(model: ALaCarte, sums: tuple[ContextSums, ContextSums]) -> None:
    for side in sums:
        if side.groups is None:
            raise BadSums("these sums have no groups of documents; collect them with spread=16 (--spread 16)")
        model.transform.check_sums(side)
    Space.of(sums[0], model.transform).check_same(Space.of(sums[1], model.transform))


# ------------------------------------------------------------------------------------------------------- testing


def _tested(
    sums: tuple[ContextSums, ContextSums],
    names: tuple[str, str],
    asked: Sequence[str],
    vocabulary: bool,
    min_count: int,
) -> tuple[list[str], list[Comparison]]:
    """Return (the words that both sides use often enough, those asked for that are not, with the reason)."""
    only = set(asked)
    counts = [dict(zip(side.keys, side.occurrences.tolist(), strict=True)) for side in sums]
    beside = [{side.keys[row] for row in np.flatnonzero(side.all.totals > 0)} for side in sums]
    words = [
        key
        for key in sums[0].keys
        if (vocabulary or key in only)
        and min(counts[0][key], counts[1].get(key, 0)) >= min_count
        and key in beside[0]
        and key in beside[1]
    ]
    there = set(words)
    left_out = list(_left_out([word for word in asked if word not in there], counts, beside, min_count, names))
    if not words and not left_out:
        raise NoOccurrences(f"no target occurs {min_count:,} times in both corpora; lower min_count or give more text")
    return words, left_out


def _left_out(
    words: list[str], counts: list[dict[str, int]], beside: list[set[str]], min_count: int, names: tuple[str, str]
) -> Iterator[Comparison]:
    nan = float("nan")
    for word in words:
        a, b = (count.get(word, 0) for count in counts)
        side, few = min(((names[0], a), (names[1], b)), key=lambda pair: pair[1])
        if not a + b:
            side = "either text"
        reason = f"does not occur in {side}" if not few else f"{few:,} uses in {side}, and {min_count:,} are needed"
        if few >= min_count:
            reason = f"no word near it in {names[word in beside[0]]} has a vector"
        yield Comparison(word, a, b, nan, nan, nan, nan, nan, nan, nan, reason)


def _adapted(
    model: ALaCarte, sums: tuple[ContextSums, ContextSums]
) -> list[tuple[ContextSums, Transform, WordVectors]]:
    """Return (sums, transform, the first words) of either side, without what all contexts of a text have in common."""
    words = model.vectors.first(OTHERS)
    adaptations = zip(sums, model.adapted_together(*sums), strict=True)
    return [as_compared(adaptation, side, model.transform, words) for side, adaptation in adaptations]


def _with_lines(
    result: Comparisons,
    model: ALaCarte,
    corpora: tuple[Corpus, Corpus],
    sums: tuple[ContextSums, ContextSums],
    count: int,
    work: WorkOptions,
) -> Comparisons:
    """Return the result with the lines that contribute most to the difference of the words that are reported."""
    words = [item.word for item in result.changed()[:REPORTED]]
    if not words:
        return result
    assert sums[0].targets is not None
    targets = sums[0].targets.only(words)
    adapted = _adapted(model, sums)
    vectors = []
    for side, transform, _ in adapted:
        rows = {key: row for row, key in enumerate(side.keys)}
        vectors.append(unit_rows(transform(side.means(np.array([rows[word] for word in words]))).astype(np.float64)))
    a, b = vectors
    lines = [
        _farthest_lines(model, transform, corpus, targets, directions, count, work)
        for (_, transform, _), corpus, directions in zip(adapted, corpora, (a - b, b - a), strict=True)
    ]
    return replace(result, contexts={word: ContextLines(*both) for word, *both in zip(words, *lines, strict=True)})


def _farthest_lines(
    model: ALaCarte,
    transform: Transform,
    corpus: Corpus,
    targets: Targets,
    directions: Doubles,
    count: int,
    work: WorkOptions,
) -> list[tuple[str, ...]]:
    """For each target, the `count` contexts farthest along its direction (one row each), the farthest first, as text.

    The corpus is read once more, for a sample of the contexts of these targets; `transform` is for their averages.
    """
    reading = model.context_settings
    sampled = sample_targets(model.vectors, corpus, targets, reading, SAMPLED, tokenizer=model.tokenizer, **work)
    kept, size = sampled.contexts, len(sampled.keys)
    result: list[tuple[str, ...]] = [()] * size
    if not len(kept):
        return result
    integers = IntegerVectors.of(model.vectors, model.transform.weights, reading)
    sums = sums_of_windows(integers, reading, kept.before, kept.after)
    along = directions @ transform.matrix.astype(np.float64)
    weights = sums.divisor(integers.scale, reading.averaging).astype(np.float64)  # 0 where no word of a context counts
    averages = sums.sums * integers.scale.sum_units / np.where(weights > 0, weights, 1.0)[:, None]
    scores = np.einsum("cd,cd->c", averages, along[kept.targets])
    order = np.lexsort((-scores, kept.targets))
    first = np.searchsorted(kept.targets[order], np.arange(size + 1))
    for target in range(size):
        lines: dict[str, None] = {}  # a text that occurs twice is shown once
        for row in order[first[target] : first[target + 1]].tolist():
            parts = kept.before[row], kept.matched[row], kept.after[row]
            before, matched, after = (_words(sampled.lexicon, ids) for ids in parts)
            lines[" ".join(filter(None, [before, f"[{matched}]", after]))] = None
            if len(lines) == count:
                break
        result[target] = tuple(lines)
    return result


def _words(lexicon: Lexicon, ids: Ints) -> str:
    return " ".join(UNKNOWN if token < 0 else lexicon.word(token) for token in ids[ids != OUTSIDE].tolist())
