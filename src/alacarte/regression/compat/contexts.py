"""Contexts, embeddings and transforms, as conText finds and computes them."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from alacarte._io.arrays import Longs
from alacarte.contexts.reading import Reading
from alacarte.contexts.sums import ContextSums
from alacarte.errors import BadTargets, NoOccurrences, NotEnoughData
from alacarte.inference.cosines import directions_of
from alacarte.model import ALaCarte
from alacarte.passes.collect import collect
from alacarte.regression import embed
from alacarte.regression.context_table import ContextTable, documents
from alacarte.regression.embed import Embeddings, check_embeddings, means_of
from alacarte.regression.frames import Variables, as_column
from alacarte.regression.groups import Groups, level_codes
from alacarte.regression.results import Results, column_of
from alacarte.targets.targets import Targets
from alacarte.text.encoding import Encoded, Lexicon
from alacarte.transform.transform import Transform
from alacarte.vectors.word_vectors import WordVectors


def tokens_context(
    x: Any,
    pattern: str | Sequence[str],
    *,
    window: int = 6,
    valuetype: Literal["glob", "regex", "fixed"] = "glob",
    case_insensitive: bool = True,
    hard_cut: bool = False,
    rm_keyword: bool = True,
    text: str = "text",
    tokenizer: Any = "whitespace",
) -> ContextTable:
    """Find all matches of all patterns; each context becomes a document of its own, in the order of conText.

    Parameters
    ----------
    x : frame, mapping, list or ContextTable
        As `alacarte.regression.documents` takes it; lists of words for quanteda's tokens, "" for its pads.
    pattern, window, valuetype, case_insensitive, hard_cut, rm_keyword
        As in conText.
    text, tokenizer
        As in `alacarte.regression.documents`.

    Returns
    -------
    ContextTable
        Its variables are those of the documents, and `pattern`: the text that was found.
    """
    patterns = [pattern] if isinstance(pattern, str) else list(pattern)
    read = x if isinstance(x, ContextTable) else documents(x, text=text, tokenizer=tokenizer, duplicates="keep")
    keys = [" ".join(_expression(part, valuetype, case_insensitive) for part in item.split()) for item in patterns]
    lexicon = Lexicon({word: number for number, word in enumerate(read.vocabulary)}, grow=True)
    found = Targets.regex(dict.fromkeys(keys)).compile(lexicon, read.tokenizer).match(
        Encoded(read.ids, read.offsets, [])
    )  # fmt: skip
    times = np.bincount([list(dict.fromkeys(keys)).index(key) for key in keys])[found.targets]  # patterns given twice
    starts, ends = (np.repeat(at, times).astype(np.int64) for at in (found.starts, found.ends))
    owner = np.searchsorted(read.offsets, starts, side="right") - 1
    low, high = np.maximum(read.offsets[owner], starts - window), np.minimum(read.offsets[owner + 1], ends + window)
    words = [read.vocabulary[token] for token in read.ids.tolist()]
    kept, cut, matched = [], [], []
    for row, (a, b, c, d) in enumerate(zip(low.tolist(), starts.tolist(), ends.tolist(), high.tolist(), strict=True)):
        around = words[a:b] + ([] if rm_keyword else words[b:c]) + words[c:d]
        context = [word for word in around if word]  # pads take up places, and vanish
        if not hard_cut or len(context) == 2 * window:
            kept.append(owner[row])
            cut.append(context or [""])
            matched.append(" ".join(words[b:c]))
    if not kept:
        raise NoOccurrences(f"no instance of {', '.join(map(repr, patterns[:5]))} was found with such a context")
    table = documents(cut, duplicates="keep")
    variables = read.variables.take(np.array(kept))
    columns = {name: column for name, column in variables.columns.items() if name != "pattern"}
    own = {"pattern": column_of(matched)} | columns
    names = read.document_ids[np.array(kept)]
    return replace(table, document_ids=names, variables=replace(variables, columns=own))


def _expression(part: str, valuetype: str, case_insensitive: bool) -> str:
    """Return a part of a quanteda pattern as a regular expression; the empty token matches none."""
    if valuetype == "fixed":
        inner = rf"\A{re.escape(part)}\Z"
    elif valuetype == "glob":
        inner = "".join({"*": "[\\s\\S]*", "?": "[\\s\\S]"}.get(letter, re.escape(letter)) for letter in part)
        inner = rf"\A{inner}\Z"
    elif valuetype == "regex":
        inner = rf"\A[\s\S]*?(?:{part})"
    else:
        raise BadTargets(f"valuetype is 'glob', 'regex' or 'fixed', not {valuetype!r}")
    return rf"(?{'i' if case_insensitive else '-i'}:(?=[\s\S]){inner})"


_BLANKS_OR_NOT = re.compile(r"\s+|\S+")


def with_separators(text: str) -> list[str]:
    """Split a text with the blanks between words as empty tokens, which take up places in a window.

    It is what conText's `get_grouped_similarity` does by default, so that its `window=12` sees 6 words a side.

    >>> with_separators("a new  day")
    ['a', '', 'new', '', 'day']
    """
    return ["" if piece.isspace() else piece for piece in _BLANKS_OR_NOT.findall(text)]


# ---------------------------------------------------------------------------------------------- embeddings


def dem(x: ContextTable, pre_trained: Any, transform_matrix: Any = None) -> Embeddings:
    """Embed each document: the transform times the mean of the vectors of its words, lower-cased."""
    return embedded_as_written(
        replace(x, vocabulary=[word.lower() for word in x.vocabulary]), pre_trained, transform_matrix
    )


def embedded_as_written(x: ContextTable, pre_trained: Any, transform_matrix: Any) -> Embeddings:
    """Embed each document as `dem` does, but look its words up as they are written."""
    vectors = WordVectors.of(pre_trained)
    if transform_matrix is None:
        return embed.dem(x, vectors)
    transform = Transform(_matrix(transform_matrix), settings=Reading(averaging="context"))
    return embed.dem(x, ALaCarte(vectors, transform, check=False))


def _matrix(given: Any) -> Any:
    return given.matrix if isinstance(given, Transform) else given


def collation_key(text: str) -> tuple[str, str, str]:
    """About how R sorts strings in an English locale: letters and digits first, then case, then the rest.

    >>> sorted(["b", "A", "a b", "ab", "B"], key=collation_key)
    ['A', 'a b', 'ab', 'b', 'B']
    """
    bare = "".join(character for character in text if character.isalnum())
    return bare.casefold(), bare.swapcase(), text


def dem_group(x: Embeddings, groups: Groups | None) -> Embeddings:
    """Average the rows of each group, or of all."""
    return means_of(x, *numbered_groups(x, groups))


def numbered_groups(x: Embeddings, groups: Groups | None) -> tuple[list[Any], Longs]:
    """Return (labels in R's order, which of them each row has, -1 for none)."""
    check_embeddings(x)
    if groups is None:
        return ["all contexts"], np.zeros(len(x), dtype=np.int64)
    named = isinstance(groups, str)
    levels = x.variables.levels.get(groups) if isinstance(groups, str) else None
    return level_codes(x.column(str(groups), "the groups") if named else as_column(groups), levels, collation_key)


def dem_sample(
    x: Embeddings, size: float, *, by: Groups | None = None, replace: bool = False, seed: int | None = 0
) -> Embeddings:
    """Draw a random share of the rows, of each group if `by` is given; round(size · n) rows, in random order."""
    rng = np.random.default_rng(seed)
    labels, codes = numbered_groups(x, by)
    pools = [np.flatnonzero(codes == code) for code in range(len(labels))]
    drawn = [rng.choice(pool, size=round(size * len(pool)), replace=replace) for pool in pools]
    return x.select(np.concatenate(drawn))


# ----------------------------------------------------------------------------- co-occurrence and transforms


def fem(
    x: Any,
    pre_trained: Any,
    transform_matrix: Any = None,
    *,
    features: Iterable[str] | None = None,
    window: int = 6,
    weights: Literal["uniform", "inverse"] = "uniform",
) -> Embeddings:
    """Embed each feature of a corpus: the transform times the mean of the vectors of all words near it.

    Parameters
    ----------
    x : list
        Texts, or lists of words ("" for pads): what quanteda's `fcm` is given.
    pre_trained : vectors
        Word vectors of any kind.
    transform_matrix : array or Transform, optional
        Applied as A u.
    features : list of str, optional
        The features; every word of the corpus if left out.
    window, weights
        Words on each side, and what each counts: 1, or 1/distance.

    Returns
    -------
    Embeddings
        `counts` has the frequencies.
    """
    vectors, corpus = WordVectors.of(pre_trained), _words(x)
    named = dict.fromkeys(word for words in corpus for word in words if word) if features is None else features
    sums = _pooled(corpus, vectors, window, weights, Targets.ngrams(named))
    kept = sums.seen
    if not len(kept):
        raise NotEnoughData("no feature is near a word that has a vector; give more text or a larger window")
    matrix = sums.means(kept)
    if transform_matrix is not None:
        matrix = matrix @ np.asarray(_matrix(transform_matrix), dtype=np.float64).T
    names = [sums.keys[row] for row in kept.tolist()]
    dropped = len(sums) - len(kept)
    return Embeddings(matrix, names, vectors, Variables(), [], kept, dropped, counts=sums.occurrences[kept])


def _words(x: Iterable[Any]) -> list[list[str]]:
    """Return the words of each document, pads among them."""
    return [item.split() if isinstance(item, str) else list(item) for item in x]


def _pooled(
    corpus: list[list[str]], vectors: WordVectors, window: int, weights: str, targets: Targets | None
) -> ContextSums:
    """Return the sums of all windows of each feature, to be divided by the weight of the words in them."""
    options: dict[str, Any] = {"window": window, "averaging": "token", "positions": weights, "tokenizer": "whitespace"}
    return collect(vectors, corpus, targets, show_progress=False, **options)


def compute_transform(
    x: Any,
    pre_trained: Any,
    weighting: float | Literal["log"] = 500,
    *,
    window: int = 6,
    weights: Literal["uniform", "inverse"] = "uniform",
) -> Transform:
    """Learn the transform from a corpus: `Transform.fit` on the means that `fem` has.

    `weighting` is the least number of occurrences, or "log" for their logarithm. Too few words for the dimension are an
    error; conText gives a matrix with columns of zeros.
    """
    vectors = WordVectors.of(pre_trained)
    sums = _pooled(_words(x), vectors, window, weights, None)
    learned = Transform.fit(sums, vectors, weighting=weighting, folds=1)
    return replace(learned, settings=Reading(window, window, averaging="context", tokenizer="whitespace"))


def feature_sim(x: Embeddings, y: Embeddings, features: Iterable[str] | None = None) -> Results:
    """Compare the embeddings that two corpora give the features they share, the least alike first."""
    check_embeddings(x)
    check_embeddings(y)
    shared = [name for name in (x.names if features is None else features) if name in x.names and name in y.names]
    if not shared:
        raise NotEnoughData("no feature has an embedding on both sides; check the names, or leave `features` out")
    left, right = (directions_of(np.stack([side[name] for name in shared])) for side in (x, y))
    values = (left * right).sum(axis=1)
    order = np.argsort(values, kind="stable")
    return Results({"feature": column_of(shared)[order], "value": values[order]})
