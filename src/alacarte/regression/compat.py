"""R's conText, call by call: functions with its names that give its numbers.

For analyses to be repeated as they were published. The functions of `alacarte.regression` decide otherwise where
conText is biased or silent; docs/from-conText.md says where, and maps every call. Here, and nowhere else, are:

- quanteda's patterns: every match of every pattern counts, and `pattern` is the text as it occurs;
- contexts as documents of their own (`tokens_context`), lower-cased by `dem` and not by `conText`;
- values that are means over bootstraps, and 90 % intervals called 95 %;
- stems, pooled and sorted tables, groups in the order of R's locale;
- dummies, clusters that weigh the same, HC1, the jackknife over rows, and permutations of plain lengths.

>>> from alacarte.regression import compat
>>> speeches = {"text": ["lower the tax now", "raise the tax fairly"], "party": ["R", "D"]}
>>> vectors = (["lower", "raise", "now", "fairly"], [[1.0, 0.0], [0.0, 1.0], [0.9, 0.1], [0.1, 0.9]])
>>> found = compat.dem(compat.tokens_context(speeches, "tax", window=2), vectors)
>>> compat.get_nns(found, "party", N=1)["feature"].tolist()
['raise', 'lower']
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy import sparse, special

from alacarte._io.arrays import Doubles, Longs
from alacarte.contexts.reading import Reading
from alacarte.contexts.sums import ContextSums
from alacarte.errors import AlacarteError, BadFormula, BadTargets, NoOccurrences, NotEnoughData, require
from alacarte.inference.regression_noise import Fit, jackknife, least_squares, noise, permute
from alacarte.model import ALaCarte
from alacarte.passes.collect import collect
from alacarte.regression import embed
from alacarte.regression.context_table import ContextTable, documents
from alacarte.regression.describe import Candidates, Words, asked_words, top, unit_vectors
from alacarte.regression.design import INTERCEPT, Columns, Design, checked, complete_rows
from alacarte.regression.embed import Embeddings, Groups, codes_of, means_of
from alacarte.regression.formulas import parse_formula, tokens_of
from alacarte.regression.frames import Variables, as_column
from alacarte.regression.infer import EmbeddingRegression, Inference
from alacarte.regression.ratios import first_group
from alacarte.regression.results import Column, Results, column_of, joined
from alacarte.targets.targets import Targets
from alacarte.text.encoding import Encoded, Lexicon
from alacarte.transform.transform import Transform
from alacarte.vectors.word_vectors import WordVectors

Stems = Candidates | Literal["contexts"]
BOOTSTRAPS = 100
DRAWN = 1 << 24  # labels of a block of permutations

# ------------------------------------------------------------------------------------------------ contexts


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
    read = x if isinstance(x, ContextTable) else documents(x, text=text, tokenizer=tokenizer)
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
    table = documents(cut)
    variables = read.variables.take(np.array(kept))
    columns = {name: column for name, column in variables.columns.items() if name != "pattern"}
    own = {"pattern": column_of(matched)} | columns
    names = read.document_ids[np.array(kept)]
    return replace(table, document_ids=names, variables=replace(variables, columns=own))


def _expression(part: str, valuetype: str, case_insensitive: bool) -> str:
    """A part of a quanteda pattern as a regular expression; the empty token matches none."""
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


_PIECES = re.compile(r"\s+|\S+")


def with_separators(text: str) -> list[str]:
    """Split a text with the blanks between words as empty tokens, which take up places in a window.

    It is what conText's `get_grouped_similarity` does by default, so that its `window=12` sees 6 words a side.

    >>> with_separators("a new  day")
    ['a', '', 'new', '', 'day']
    """
    return ["" if piece.isspace() else piece for piece in _PIECES.findall(text)]


# ---------------------------------------------------------------------------------------------- embeddings


def dem(x: ContextTable, pre_trained: Any, transform_matrix: Any = None) -> Embeddings:
    """Embed each document: the transform times the mean of the vectors of its words, lower-cased."""
    return _dem(replace(x, vocabulary=[word.lower() for word in x.vocabulary]), pre_trained, transform_matrix)


def _dem(x: ContextTable, pre_trained: Any, transform_matrix: Any) -> Embeddings:
    vectors = WordVectors.of(pre_trained)
    if transform_matrix is None:
        return embed.dem(x, vectors)
    given = transform_matrix.matrix if isinstance(transform_matrix, Transform) else transform_matrix
    return embed.dem(x, ALaCarte(vectors, Transform(given, settings=Reading(averaging="context")), check=False))


def collation_key(text: str) -> tuple[str, str, str]:
    """About how R sorts strings in an English locale: letters and digits first, then case, then the rest.

    >>> sorted(["b", "A", "a b", "ab", "B"], key=collation_key)
    ['A', 'a b', 'ab', 'b', 'B']
    """
    bare = "".join(character for character in text if character.isalnum())
    return bare.casefold(), bare.swapcase(), text


def dem_group(x: Embeddings, groups: Groups) -> Embeddings:
    """Average the rows of each group."""
    labels, codes = _groups(x, groups)
    rows = np.flatnonzero(codes >= 0)
    return means_of(
        x, sparse.csr_matrix((np.ones(len(rows)), (codes[rows], rows)), (len(labels), len(x))), labels, codes
    )


def _groups(x: Embeddings, groups: Groups | None) -> tuple[list[Any], Longs]:
    if groups is None:
        return ["all contexts"], np.zeros(len(x), dtype=np.int64)
    named = isinstance(groups, str)
    levels = x.variables.levels.get(groups) if isinstance(groups, str) else None
    return codes_of(x.column(str(groups), "the groups") if named else as_column(groups), levels, collation_key)


def dem_sample(
    x: Embeddings, size: float, *, by: Groups | None = None, replace: bool = False, seed: int | None = 0
) -> Embeddings:
    """Draw a random share of the rows, of each group if `by` is given; round(size · n) rows, in random order."""
    rng = np.random.default_rng(seed)
    labels, codes = _groups(x, by)
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
        given = transform_matrix.matrix if isinstance(transform_matrix, Transform) else transform_matrix
        matrix = matrix @ np.asarray(given, dtype=np.float64).T
    names = [sums.keys[row] for row in kept.tolist()]
    dropped = len(sums) - len(kept)
    return Embeddings(matrix, names, vectors, Variables(), [], kept, dropped, counts=sums.occurrences[kept])


def _words(x: Iterable[Any]) -> list[list[str]]:
    """The words of each document, pads among them."""
    return [item.split() if isinstance(item, str) else list(item) for item in x]


def _pooled(
    corpus: list[list[str]], vectors: WordVectors, window: int, weights: str, targets: Targets | None
) -> ContextSums:
    """The sums of all windows of each feature, to be divided by the weight of the words in them."""
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
    shared = [name for name in (x.names if features is None else features) if name in x.names and name in y.names]
    if not shared:
        raise NotEnoughData("no feature has an embedding on both sides; check the names, or leave `features` out")
    left, right = (unit_vectors(np.stack([side[name] for name in shared])) for side in (x, y))
    values = (left * right).sum(axis=1)
    order = np.argsort(values, kind="stable")
    return Results({"feature": column_of(shared)[order], "value": values[order]})


# ------------------------------------------------------------------------------------- stems and bootstraps


def stems(words: Iterable[str], language: str = "porter") -> list[str]:
    """Return Snowball stems.

    >>> stems(["immigration", "immigrants"])
    ['immigr', 'immigr']
    """
    module = require("snowballstemmer", extra="regression", purpose="stemming")
    if language not in module.algorithms():
        raise AlacarteError(f"no stemmer for {language!r}; there are {', '.join(sorted(module.algorithms()))}")
    return list(module.stemmer(language).stemWords(list(words)))


class _Features(NamedTuple):
    """What means are compared with: names, and the vectors whose products with unit vectors are the values."""

    names: list[str]
    directions: Doubles

    @classmethod
    def of(cls, x: Embeddings, candidates: Stems, stem: str | None, again: str | None = None) -> "_Features":
        """Words, or stems with the mean over all words that have them; `again` stems the stems once more."""
        words = asked_words(x, candidates) if stem is None else Words.of(x.vectors, None)
        names = words.names(np.arange(len(words))).tolist()
        directions = np.nan_to_num(words.directions(np.arange(len(words))))  # R has 0 for a vector of zeros
        if stem is None:
            return cls(names, directions)
        listed = asked_words(x, candidates) if candidates is None or isinstance(candidates, int | str) else None
        asked = list(candidates) if listed is None else listed.names(np.arange(len(listed))).tolist()  # type: ignore[arg-type]
        wanted, of_all = set(stems(asked, stem)), stems(names, stem)
        rows = [row for row, name in enumerate(of_all) if name in wanted]
        kept = [of_all[row] for row in rows]
        kept = kept if again is None else stems(kept, again)
        labels, owner = np.unique(kept, return_inverse=True)
        shares = sparse.csr_matrix((1 / np.bincount(owner)[owner], (owner, np.arange(len(rows)))))
        return cls(labels.tolist(), np.asarray(shares @ directions[rows]))

    def values(self, means: Doubles) -> Doubles:
        return np.asarray(np.nan_to_num(unit_vectors(means)) @ self.directions.T)


def summary(values: Doubles, confidence_level: float = 0.95) -> dict[str, Doubles]:
    """Return conText's summary of bootstrap values (draws first): mean, sd, and the rounded order statistics.

    >>> [float(column[0]) for column in summary(np.arange(1.0, 101.0)[:, None]).values()][2:]
    [5.0, 95.0]
    """
    ordered = np.sort(values, axis=0)
    low, high = (max(round(share * len(values)), 1) - 1 for share in (1 - confidence_level, confidence_level))
    ends = {"conf_low": ordered[low], "conf_high": ordered[high]}
    return {"value": values.mean(axis=0), "std_error": values.std(axis=0, ddof=1)} | ends


def _tied(values: Doubles, N: int | None) -> Longs:
    """The places of the N largest values, and of all that equal the last of them."""
    order = top(values, None)
    return order if N is None or len(order) <= N else order[values[order] >= values[order[N - 1]]]


# ------------------------------------------------------------------------------------- neighbours and cosines


def nns(x: Embeddings, N: int | None = 10, candidates: Stems = None, stem: str | None = None) -> Results:
    """Return the words nearest to each row, all rows pooled and sorted by value."""
    features = _Features.of(x, candidates, stem)
    parts = [
        _ranked(name, features, values, N) for name, values in zip(x.names, features.values(x.matrix), strict=True)
    ]
    table = Results(joined(parts), x.variables.backend, {"kind": "nearest"})
    return table.take(np.argsort(-table["value"], kind="stable"))


def _ranked(label: Any, features: _Features, values: Doubles, N: int | None) -> dict[str, Column]:
    chosen = _tied(values, N)
    return {
        "target": column_of([label] * len(chosen)),
        "feature": column_of([features.names[place] for place in chosen.tolist()]),
        "rank": np.arange(1, len(chosen) + 1),
        "value": values[chosen],
    }


def _by_group(
    x: Embeddings,
    groups: Groups | None,
    values: Callable[[Doubles], Doubles],
    draws: int,
    confidence_level: float,
    seed: int | None,
) -> Iterator[tuple[Any, dict[str, Doubles]]]:
    """(group, its columns): the values of its mean, or a summary of those of means of rows drawn with replacement."""
    rng = np.random.default_rng(seed)
    labels, codes = _groups(x, groups)
    for code, label in enumerate(labels):
        rows = x.matrix[codes == code]
        if not draws:
            yield label, {"value": values(rows.mean(axis=0)[None])[0]}
            continue
        means = [rows[rng.integers(len(rows), size=len(rows))].mean(axis=0) for _ in range(draws)]
        yield label, summary(values(np.stack(means)), confidence_level)


def get_nns(
    x: Embeddings,
    groups: Groups | None = None,
    *,
    N: int | None = 10,
    candidates: Stems = None,
    stem: str | None = None,
    num_bootstraps: int = 0,
    confidence_level: float = 0.95,
    seed: int | None = 0,
) -> Results:
    """Return the words nearest to each group's mean; with bootstraps, ranked by the means over them."""
    if not num_bootstraps:
        return nns(dem_group(x, groups if groups is not None else ["all contexts"] * len(x)), N, candidates, stem)
    features = _Features.of(x, candidates, stem)
    parts = []
    for label, found in _by_group(x, groups, features.values, num_bootstraps, confidence_level, seed):
        part = _ranked(label, features, found["value"], N)
        chosen = _tied(found["value"], N)
        parts.append(part | {name: column[chosen] for name, column in found.items()})
    return Results(joined(parts), x.variables.backend, {"kind": "nearest", "level": confidence_level})


def cos_sim(x: Embeddings, features: str | Sequence[str], stem: str | None = None) -> Results:
    """Return the cosine of each row with some words; by word, or by row for stems."""
    asked = [features] if isinstance(features, str) else list(features)
    # conText stems the features by Porter whatever the language, and stems that again.
    named = _Features.of(x, asked, None if stem is None else "porter", stem)
    values = named.values(x.matrix)
    targets = np.repeat(column_of(x.names)[:, None], len(named.names), axis=1)
    repeated = np.repeat(column_of(named.names)[None], len(x.names), axis=0)
    columns = {"target": targets, "feature": repeated, "value": values}
    taken = {name: (column.T if stem is None else column).ravel() for name, column in columns.items()}
    return Results(taken, x.variables.backend, {"kind": "similarity"})


def get_cos_sim(
    x: Embeddings,
    groups: Groups | None,
    features: str | Sequence[str],
    *,
    num_bootstraps: int = 0,
    confidence_level: float = 0.95,
    seed: int | None = 0,
) -> Results:
    """Return the cosine of each group's mean with some words."""
    if not num_bootstraps:
        return cos_sim(dem_group(x, groups if groups is not None else ["all contexts"] * len(x)), features)
    named = _Features.of(x, [features] if isinstance(features, str) else list(features), None)
    parts = []
    for label, found in _by_group(x, groups, named.values, num_bootstraps, confidence_level, seed):
        about = {"target": column_of([label] * len(named.names)), "feature": column_of(named.names)}
        parts.append(about | found)
    return Results(joined(parts), x.variables.backend, {"kind": "similarity", "level": confidence_level})


def ncs(x: Embeddings, contexts_dem: Embeddings, N: int = 5) -> Results:
    """Return the contexts nearest to each row, whichever group they are of; all rows pooled and sorted by value."""
    texts, units = column_of(contexts_dem.texts()), unit_vectors(contexts_dem.matrix)
    parts = []
    for label, values in zip(x.names, unit_vectors(x.matrix) @ units.T, strict=True):
        chosen = _tied(values, N)
        names = column_of([contexts_dem.names[row] for row in chosen.tolist()])
        ranked = {"rank": np.arange(1, len(chosen) + 1), "value": values[chosen], "name": names}
        parts.append({"target": column_of([label] * len(chosen)), "context": texts[chosen]} | ranked)
    table = Results(joined(parts), x.variables.backend, {"kind": "nearest contexts"})
    return table.take(np.argsort(-table["value"], kind="stable"))


def get_ncs(
    x: Embeddings,
    groups: Groups | None = None,
    *,
    N: int = 5,
    num_bootstraps: int = BOOTSTRAPS,
    confidence_level: float = 0.95,
    seed: int | None = 0,
) -> Results:
    """Return the contexts nearest to each group's mean, by the means over bootstraps; identical texts once."""
    texts = np.array(x.texts(), dtype=object)
    first = np.sort(np.unique(texts.astype(str), return_index=True)[1])
    units = unit_vectors(x.matrix[first])
    parts = []
    drawn = _by_group(x, groups, lambda means: unit_vectors(means) @ units.T, num_bootstraps, confidence_level, seed)
    for label, found in drawn:
        chosen = _tied(found["value"], N)
        about = {"target": column_of([label] * len(chosen)), "context": texts[first[chosen]]}
        about["rank"] = np.arange(1, len(chosen) + 1)
        parts.append(about | {name: column[chosen] for name, column in found.items()})
    return Results(joined(parts), x.variables.backend, {"kind": "nearest contexts", "level": confidence_level})


# --------------------------------------------------------------------------------------------------- ratios


def nns_ratio(
    x: Embeddings, N: int | None = 10, numerator: Any = None, candidates: Stems = None, stem: str | None = None
) -> Results:
    """Return the ratio of two rows' cosines with the N nearest words of either, the largest first."""
    features = _Features.of(x, candidates, stem)
    first = first_group(x.names, numerator)
    return _ratios([str(x.names[first]), str(x.names[1 - first])], features, x.matrix[[first, 1 - first]], N)[0]


def _ratios(labels: list[str], features: _Features, means: Doubles, N: int | None) -> tuple[Results, Longs]:
    """(the table, which features it has)."""
    values = features.values(means)
    of = np.zeros(len(features.names), dtype=np.int64)
    for row, side in zip(values, (1, 2), strict=True):
        of[_tied(row, N)] += side
    chosen = np.flatnonzero(of)
    with np.errstate(divide="ignore", invalid="ignore"):
        value = values[0, chosen] / values[1, chosen]
    named = np.array(["", *labels, "shared"], dtype=object)
    feature = column_of([features.names[place] for place in chosen.tolist()])
    order = np.argsort(-value, kind="stable")
    info = {"kind": "ratio", "numerator": labels[0], "denominator": labels[1], "both": "shared", "adjust": "none"}
    table = Results({"feature": feature, "value": value, "group": named[of[chosen]]}, info=info)
    return table.take(order), chosen[order]


def get_nns_ratio(
    x: Embeddings,
    groups: Groups,
    *,
    N: int | None = 10,
    numerator: Any = None,
    candidates: Stems = None,
    num_bootstraps: int = 0,
    num_permutations: int = 0,
    confidence_level: float = 0.95,
    seed: int | None = 0,
) -> Results:
    """Return the ratio of two groups' cosines; with bootstraps their mean, with permutations p by the distance from 1.

    The numerator is the first group in the data, unless it is named.
    """
    labels, codes = _groups(x, groups)
    given = labels[int(codes[codes >= 0][0])] if numerator is None else numerator
    first = first_group(labels, given)
    sides = [x.matrix[codes == code] for code in (first, 1 - first)]
    features, rng = _Features.of(x, candidates, None), np.random.default_rng(seed)
    means = np.stack([side.mean(axis=0) for side in sides])
    names = [str(labels[first]), str(labels[1 - first])]
    table, chosen = _ratios(names, features, means, N)
    narrowed = _Features([features.names[place] for place in chosen.tolist()], features.directions[chosen])
    columns = dict(table.values)
    if num_bootstraps:
        drawn = [
            np.stack([side[rng.integers(len(side), size=len(side))].mean(axis=0) for _ in range(num_bootstraps)])
            for side in sides
        ]
        columns |= summary(narrowed.values(drawn[0]) / narrowed.values(drawn[1]), confidence_level)
    info = table.info | {"level": confidence_level}
    if num_permutations:
        exceeding = _permuted(sides, narrowed, np.abs(columns["value"] - 1), num_permutations, rng)
        columns["p_value"] = exceeding / num_permutations
        info["least_p"] = 1 / num_permutations
    order = np.argsort(-columns["value"], kind="stable")
    return Results(columns, x.variables.backend, info).take(order)


contrast_nns = partial(get_nns_ratio, N=20)  # the older function for the same


def _permuted(sides: list[Doubles], features: _Features, observed: Doubles, count: int, rng: Any) -> Doubles:
    """How many relabellings have a ratio that is at least as far from 1, for each feature."""
    rows = np.vstack(sides)
    labels = np.repeat([1.0, 0.0], [len(side) for side in sides])
    exceeding = np.zeros(len(features.names))
    step = max(1, DRAWN // len(labels))
    for low in range(0, count, step):
        drawn = rng.permuted(np.tile(labels, (min(step, count - low), 1)), axis=1)
        above, below = (features.values(side @ rows) for side in (drawn, 1 - drawn))  # cosines: sums do as means do
        exceeding += (np.abs(above / below - 1) >= observed).sum(axis=0)
    return exceeding


# ----------------------------------------------------------------------------------------------- regression


def conText(
    formula: str,
    data: Any,
    pre_trained: Any,
    transform_matrix: Any = None,
    *,
    window: int = 6,
    cluster_variable: Groups | None = None,
    jackknife_fraction: float = 1.0,
    num_permutations: int = 100,
    seed: int | None = 0,
) -> EmbeddingRegression:
    """Fit conText's embedding regression.

    Parameters
    ----------
    formula : str
        Left: a word, a phrase or a glob, several as `c("a", "b")`, `.` for whole documents. Right: names of columns
        joined by +, or `.` for all.
    data : frame, mapping, list or ContextTable
        As `tokens_context` takes it; or its result, with nothing left of ~.
    pre_trained, transform_matrix
        As in `dem`.
    window : int
        Words on each side.
    cluster_variable : str, list of str, or one value per context, optional
        Clusters weigh the same, whatever their size.
    jackknife_fraction : float
        The share of the contexts that the jackknife leaves out in turn; 0 for no jackknife.
    num_permutations : int
        For p-values; 0 for none.
    seed : int, optional
        The same seed gives the same numbers.

    Returns
    -------
    EmbeddingRegression
        Its table has conText's noise (HC1), jackknife and p-values.
    """
    targets, covariates = parse_formula(formula)
    read = data if isinstance(data, ContextTable) else documents(data, tokenizer="whitespace")
    found = read if targets is None else tokens_context(read, targets, window=window)
    vectors = WordVectors.of(pre_trained)
    exact = [word if word in vectors else "" for word in found.vocabulary]  # conText does not lower-case here
    embedded = _dem(replace(found, vocabulary=exact), vectors, transform_matrix)
    names = _names(covariates, [name for name in embedded.variables.columns if name != "pattern" or targets is None])
    codes = embed.cluster_codes(embedded, cluster_variable)
    usable = np.ones(len(embedded), dtype=bool) if codes is None else codes >= 0
    columns, rows_used, left_out, levels = complete_rows(covariates, names, embedded, usable, dates=lambda name: False)
    encode = partial(_dummies, levels)
    terms = _terms(levels, names)
    design = checked(Design(covariates, columns, rows_used, left_out, levels, encode(columns), terms, encode))
    rows = embedded.select(design.rows)
    kept = None if codes is None else np.unique(codes[design.rows], return_inverse=True)[1]
    fit, order = least_squares(design.matrix, rows.matrix, kept, equal_clusters=True)
    if embedded.dropped:
        left_out = {"contexts without a known word": embedded.dropped} | left_out
    inference = Inference(permutations=num_permutations, adjust="none", seed=seed)
    model = EmbeddingRegression(formula, targets, design, rows, left_out, inference, fit)
    return replace(model, table=_terms_table(model, kept, jackknife_fraction, order))


def _names(covariates: str, columns: Sequence[str]) -> list[str]:
    """The variables of names joined by +.

    >>> _names("party + `my age` + .", ["year"])
    ['party', 'my age', 'year']
    """
    names: list[str] = []
    for token in tokens_of(covariates):
        if token.token == ".":
            names += columns
        elif token.kind.value == "name":
            names.append(token.token)
        elif token.token != "+":
            raise BadFormula(
                f"covariates are names joined by +, not {covariates!r}; alacarte.regression.regress takes interactions "
                "and functions"
            )
    return list(dict.fromkeys(names))


def _terms(levels: Mapping[str, list[Any]], names: Sequence[str]) -> list[str]:
    shown = ["(Intercept)", *(name for name in names if name not in levels)]
    for name in names:
        written = (str(level).upper() if isinstance(level, bool) else level for level in levels.get(name, [])[1:])
        shown += [f"{name}_{level}" for level in written]
    return shown


def _dummies(levels: Mapping[str, list[Any]], columns: Columns) -> Doubles:
    """conText's design: an intercept, the numeric covariates, then 0/1 columns of levels."""
    matrix = [np.ones(len(next(iter(columns.values()))))]
    matrix += [column.astype(np.float64) for name, column in columns.items() if name not in levels]
    for name, column in columns.items():
        for level in levels.get(name, [])[1:]:
            matrix.append(np.array([value == level for value in column.tolist()], dtype=np.float64))
    return np.column_stack(matrix)


def _terms_table(model: EmbeddingRegression, clusters: Longs | None, fraction: float, order: Longs) -> Results:
    fit, rng = model.fit, np.random.default_rng(model.inference.seed)
    places = [place for place, name in enumerate(model.terms) if name not in INTERCEPT]
    terms = np.eye(len(model.terms))[places]
    lengths = np.square(model.coefficients[places]).sum(axis=1)
    added = noise(fit, terms, "HC1")
    columns: dict[str, Any] = {
        "term": column_of([model.terms[place] for place in places]),
        "estimate": lengths - added,
        "squared_norm": lengths,
        "noise": added,
    }
    if fraction:
        error = _jackknife(model, terms, clusters, fraction, rng)
        reach = special.stdtrit(fit.rows - 1, 0.975) * error
        columns |= {"std_error": error, "conf_low": lengths - added - reach, "conf_high": lengths - added + reach}
    info: dict[str, Any] = {"kind": "regression", "level": 0.95, "adjust": "none"}
    if count := model.inference.permutations:
        if fit.units is None:
            exceeding = permute(fit, terms, count, rng, studentised=False)
        else:
            exceeding = _permuted_cells(fit, model.design.matrix[order], terms, lengths, count, rng)
        columns["p_value"] = exceeding / count
        info["least_p"] = 1 / count
    columns["n"] = np.full(len(places), fit.clusters)
    columns["contexts"] = np.full(len(places), fit.rows)
    columns["covariate_mean"] = model.design.matrix.mean(axis=0)[places]
    return Results(columns, model.embeddings.variables.backend, info)


def _jackknife(
    model: EmbeddingRegression, terms: Doubles, clusters: Longs | None, fraction: float, rng: Any
) -> Doubles:
    """Standard errors by leaving out units in turn, of a share of the rows; n is the number of rows."""
    fit, x, y = model.fit, model.design.matrix, model.embeddings.matrix
    if fraction < 1:
        rows = rng.choice(len(x), size=int(fraction * len(x)), replace=False)
        if len(rows) <= x.shape[1] + 1 or np.linalg.matrix_rank(x[rows]) < x.shape[1]:
            raise BadFormula(f"a share of {fraction} of the contexts cannot carry {x.shape[1]} coefficients; raise it")
        kept = None if clusters is None else np.unique(clusters[rows], return_inverse=True)[1]
        fit = least_squares(x[rows], y[rows], kept, equal_clusters=True)[0]
    values = jackknife(fit, terms)
    spread = ((values - values.mean(axis=0)) ** 2).sum(axis=0) * fraction
    return np.asarray(np.sqrt((len(x) - 1) / len(x) * spread))


def _permuted_cells(
    fit: Fit, x: Doubles, terms: Doubles, observed: Doubles, permutations: int, rng: np.random.Generator
) -> Doubles:
    """How often a squared length is exceeded with clusters: rows of equal covariates in a cluster form a cell, whose
    block of residuals is shuffled among the cells; a cell takes the rows of its new block, and clusters are weighted
    anew."""
    units = fit.units if fit.units is not None else np.arange(fit.rows)
    residuals = fit.residuals / np.sqrt(fit.weights)[:, None]
    cells, cell_of = np.unique(np.column_stack([units.astype(np.float64), x]), axis=0, return_inverse=True)
    sums = np.zeros((len(cells), residuals.shape[1]))
    np.add.at(sums, cell_of.ravel(), residuals)
    sizes = np.bincount(cell_of.ravel()).astype(np.float64)
    owner = np.unique(cells[:, 0], return_inverse=True)[1]
    design = cells[:, 1:]
    exceeding = np.zeros(len(terms))
    for _ in range(permutations):
        drawn = rng.permutation(len(cells))
        weight = 1 / np.bincount(owner, weights=sizes[drawn])[owner]
        gram = (design * (weight * sizes[drawn])[:, None]).T @ design
        b = terms @ np.linalg.lstsq(gram, (design * weight[:, None]).T @ sums[drawn], rcond=None)[0]
        exceeding += np.einsum("md,md->m", b, b) > observed
    return exceeding
