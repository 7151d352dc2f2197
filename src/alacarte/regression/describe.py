"""What a group means by a word: nearest words, cosines, nearest and typical contexts, change over time, poles.

Every function takes the embeddings of contexts and a grouping (`by`), or means made by `dem_group`. `intervals`
asks for standard errors and intervals: "jackknife" (deterministic, in closed form) or "bootstrap"; with `cluster`,
contexts of one cluster (a speaker, a document) are left out or drawn together. The cosine of a mean of few noisy
contexts is too small; `debiased` is corrected for that, and is what the interval is around.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from alacarte.errors import AlacarteError, NotEnoughData
from alacarte.regression._frames import Column, Table, column_of
from alacarte.regression._lexical import Lexical, stems
from alacarte.regression._means import Estimates, GroupMean, Intervals, estimate
from alacarte.regression._space import Candidates, unit_rows
from alacarte.regression.compat import Choices, Compat, choices
from alacarte.regression.embed import Embeddings, Groups, group_codes

Doubles = npt.NDArray[np.float64]
Longs = npt.NDArray[np.int64]
EVERYTHING = "all contexts"


@dataclass(frozen=True, eq=False)
class Grouped:
    """The groups to describe: labels, means, sizes, and the units of each."""

    labels: list[Any]
    codes: Longs
    units: list[GroupMean]
    means: Doubles
    sizes: Longs


def grouped(
    embeddings: Embeddings, by: Groups | None, cluster: Groups | None, intervals: Intervals, compat: Compat
) -> Grouped:
    if intervals not in (None, "jackknife", "bootstrap"):
        raise AlacarteError(f"intervals is 'jackknife', 'bootstrap' or None, not {intervals!r}")
    if embeddings.counts is not None:
        if by is not None or intervals is not None or cluster is not None:
            raise AlacarteError("these are means already; pass the embeddings of the contexts, with by=…")
        units = [GroupMean.of(row[None], None) for row in embeddings.matrix]
        codes = np.arange(len(embeddings))
        return Grouped(list(embeddings.names), codes, units, embeddings.matrix, embeddings.counts)
    if by is None:
        labels, codes = [EVERYTHING], np.zeros(len(embeddings), dtype=np.int64)
    else:
        labels, codes = group_codes(embeddings, by, compat)
    clusters = None if cluster is None else group_codes(embeddings, cluster)[1]
    if clusters is not None and (clusters < 0).any():
        raise AlacarteError(f"{int((clusters < 0).sum())} contexts have no cluster; fill in or drop these rows")
    units = []
    for code in range(len(labels)):
        rows = codes == code
        units.append(GroupMean.of(embeddings.matrix[rows], None if clusters is None else clusters[rows]))
    means = np.stack([unit.mean() for unit in units])
    return Grouped(labels, codes, units, means, np.array([unit.contexts for unit in units]))


def _columns(found: Estimates, pick: Any) -> dict[str, Column]:
    """The columns of estimates, flattened by `pick`."""
    columns = {"value": pick(found.value)}
    if found.debiased is not None:
        columns["debiased"] = pick(found.debiased)
    if found.std_error is not None and found.lower is not None and found.upper is not None:
        columns |= {"std_error": pick(found.std_error), "lower": pick(found.lower), "upper": pick(found.upper)}
    return columns


def _top(values: Doubles, k: int | None, ties: bool) -> Longs:
    """The places of the k largest values, the largest first; with `ties`, all that equal the last of them."""
    order = np.argsort(-values, kind="stable")
    if k is None or k >= len(order):
        return order
    if ties:
        return np.asarray(order[values[order] >= values[order[k - 1]]])
    return order[:k]


def nearest(
    embeddings: Embeddings,
    by: Groups | None = None,
    *,
    k: int | None = 10,
    candidates: Candidates | Literal["contexts"] = None,
    stem: str | None = None,
    intervals: Intervals = None,
    level: float = 0.95,
    draws: int | None = None,
    cluster: Groups | None = None,
    seed: int | None = None,
    compat: Compat = None,
) -> Table:
    """The words nearest to each group's mean; `k=None` gives all of them.

    `candidates` narrows the search: the first so many words of the vectors, a list of words, or "contexts" for those
    that occur in the contexts. `stem` averages the cosines of words with one stem ("porter", "english", "german" …).

    >>> from alacarte.regression import dem
    >>> found = dem([["a"], ["b"], ["b"]], (["a", "b", "c"], [[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]]))
    >>> nearest(found, ["D", "R", "R"], k=2).rows()
    [('D', 'a', 1, 1.0), ('D', 'c', 2, 0.6), ('R', 'b', 1, 1.0), ('R', 'c', 2, 0.8)]
    """
    rules = choices(compat)
    groups = grouped(embeddings, by, cluster, intervals, compat)
    lexical = Lexical.of(
        embeddings.space, _candidates(embeddings, candidates), stem, all_words=rules.stems_of_all_words
    )
    rng = np.random.default_rng(seed)
    values = lexical.cosines(groups.means)
    whole: Estimates | None = None
    if intervals == "bootstrap" and rules.value_is_bootstrap_mean:  # ranks follow the means over bootstraps
        everything = lexical.directions(np.arange(len(lexical.names)))
        whole = estimate(groups.units, everything, intervals, rules, level, draws or 100, rng)
        values = whole.value
    parts: list[dict[str, Column]] = []
    names = column_of(list(lexical.names))
    for row, label in enumerate(groups.labels):
        chosen = _top(values[row], k, ties=rules.pooled)
        part = {
            "target": column_of([label] * len(chosen)),
            "feature": names[chosen],
            "rank": np.arange(1, len(chosen) + 1),
        }
        if whole is not None:
            part |= _columns(whole, lambda array, at=(row, chosen): array[at])
        else:
            found = estimate(
                [groups.units[row]], lexical.directions(chosen), intervals, rules, level, draws or 1000, rng
            )
            part |= _columns(found, lambda array: array[0]) | {"value": values[row, chosen]}
        parts.append(part)
    columns = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    table = Table(columns, embeddings.variables.backend, {"kind": "nearest", "level": level})
    if rules.pooled and intervals is None:
        table = table.take(np.argsort(-table["value"], kind="stable"))
    return table


def _candidates(embeddings: Embeddings, candidates: Candidates | Literal["contexts"]) -> Candidates:
    return embeddings.features if isinstance(candidates, str) and candidates == "contexts" else candidates


def similarity(
    embeddings: Embeddings,
    features: str | Sequence[str],
    by: Groups | None = None,
    *,
    stem: str | None = None,
    intervals: Intervals = None,
    level: float = 0.95,
    draws: int | None = None,
    cluster: Groups | None = None,
    seed: int | None = None,
    compat: Compat = None,
) -> Table:
    """The cosine of each group's mean with some words; with `stem`, the mean over all words that have their stems.

    >>> from alacarte.regression import dem
    >>> found = dem([["a"], ["b"]], (["a", "b", "c"], [[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]]))
    >>> similarity(found, ["c"], ["D", "R"]).rows()
    [('D', 'c', 0.6), ('R', 'c', 0.8)]
    """
    rules = choices(compat)
    groups = grouped(embeddings, by, cluster, intervals, compat)
    asked = [features] if isinstance(features, str) else list(features)
    # conText stems the features by Porter whatever the language, and stems that again.
    first = "porter" if stem is not None and rules.stems_of_all_words else stem
    lexical = Lexical.of(
        embeddings.space, asked, first, "features", all_words=True, again=stem if rules.stems_of_all_words else None
    )
    order = np.arange(len(lexical.names))
    if not rules.pooled:
        wanted = asked if stem is None else stems(asked, stem)
        place = {name: number for number, name in enumerate(dict.fromkeys(wanted))}
        order = np.argsort([place.get(name, len(place)) for name in lexical.names], kind="stable")
    directions = lexical.directions(order)
    rng = np.random.default_rng(seed)
    found = estimate(groups.units, directions, intervals, rules, level, draws or _draws(rules), rng)
    names = column_of([lexical.names[number] for number in order.tolist()])
    by_feature = rules.pooled and stem is None and intervals is None  # the order of conText's rows

    def pick(array: Doubles) -> Doubles:
        return array.T.ravel() if by_feature else array.ravel()

    targets = np.repeat(column_of(groups.labels)[:, None], len(names), axis=1)
    repeated = np.repeat(names[None], len(groups.labels), axis=0)
    columns = {"target": pick(targets), "feature": pick(repeated)} | _columns(found, pick)
    return Table(columns, embeddings.variables.backend, {"kind": "similarity", "level": level})


def _draws(rules: Choices) -> int:
    return 100 if rules.rounded_percentiles else 1000


def nearest_contexts(
    embeddings: Embeddings,
    by: Groups | None = None,
    *,
    k: int = 5,
    within: bool | None = None,
    targets: Embeddings | None = None,
    intervals: Intervals = None,
    level: float = 0.95,
    draws: int | None = None,
    cluster: Groups | None = None,
    seed: int | None = None,
    compat: Compat = None,
) -> Table:
    """The contexts whose embeddings are nearest to each group's mean; identical texts once.

    A group is shown its own contexts; with `within=False`, those of all groups are eligible. `targets` compares with
    these embeddings (means made elsewhere) instead of the groups' own.
    """
    rules = choices(compat)
    groups = grouped(embeddings, by, cluster, intervals, compat) if targets is None else None
    labels, means = (groups.labels, groups.means) if groups is not None else (targets.names, targets.matrix)  # type: ignore[union-attr]
    own = within if within is not None else not rules.pooled and targets is None
    texts = np.array(embeddings.texts(), dtype=object)
    first = np.arange(len(texts))
    if intervals is not None or not rules.pooled:
        first = np.sort(np.unique(texts.astype(str), return_index=True)[1])
    units = unit_rows(embeddings.matrix)
    rng = np.random.default_rng(seed)
    parts: list[dict[str, Column]] = []
    for row, label in enumerate(labels):
        eligible = first
        if own and groups is not None:
            mine = np.flatnonzero(groups.codes == row)
            eligible = mine[np.sort(np.unique(texts[mine].astype(str), return_index=True)[1])]
        values = plain = unit_rows(means[row : row + 1])[0] @ units[eligible].T
        whole = None
        if groups is not None and intervals == "bootstrap" and rules.value_is_bootstrap_mean:
            whole = estimate([groups.units[row]], units[eligible], intervals, rules, level, draws or 100, rng)
            values = whole.value[0]
        places = _top(values, k, ties=rules.pooled)
        chosen = eligible[places]
        part: dict[str, Column] = {
            "target": column_of([label] * len(chosen)),
            "context": texts[chosen],
            "rank": np.arange(1, len(chosen) + 1),
        }
        if whole is not None:
            part |= _columns(whole, lambda array, at=places: array[0][at])
        elif groups is not None:
            found = estimate([groups.units[row]], units[chosen], intervals, rules, level, draws or 1000, rng)
            part |= _columns(found, lambda array: array[0]) | {"value": plain[places]}
        else:
            part["value"] = plain[places]
        part["name"] = column_of([embeddings.names[at] for at in chosen.tolist()])
        parts.append(part)
    columns = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    table = Table(columns, embeddings.variables.backend, {"kind": "nearest contexts", "level": level})
    if rules.pooled and intervals is None:
        table = table.take(np.argsort(-table["value"], kind="stable"))
    return table


def typical_contexts(embeddings: Embeddings, by: Groups | None = None, *, k: int = 3, normalise: bool = True) -> Table:
    """The contexts most like all others of their group: mean cosine (or product) with all, in standard deviations.

    >>> from alacarte.regression import dem
    >>> found = dem([["a"], ["c"], ["b"]], (["a", "b", "c"], [[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]]))
    >>> typical_contexts(found, k=1)["context"].tolist()
    ['c']
    """
    groups = grouped(embeddings, by, None, None, None)
    texts = np.array(embeddings.texts(), dtype=object)
    x = unit_rows(embeddings.matrix) if normalise else embeddings.matrix
    parts: list[dict[str, Column]] = []
    for code, label in enumerate(groups.labels):
        rows = np.flatnonzero(groups.codes == code)
        scores = x[rows] @ x[rows].mean(axis=0)  # the mean of the products is the product with the mean
        spread = scores.std(ddof=1) if len(rows) > 1 else np.nan
        scores = (scores - scores.mean()) / spread if spread > 0 else np.full(len(rows), np.nan)
        chosen = np.argsort(-scores, kind="stable")[:k]
        parts.append(
            {
                "target": column_of([label] * len(chosen)),
                "context": texts[rows[chosen]],
                "score": scores[chosen],
                "name": column_of([embeddings.names[at] for at in rows[chosen].tolist()]),
            }
        )
    columns = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    return Table(columns, embeddings.variables.backend, {"kind": "typical contexts"})


# ----------------------------------------------------------------------------------- ordered variables and poles


def similarity_over(
    embeddings: Embeddings,
    over: str,
    features: str | Sequence[str],
    *,
    within: str | None = None,
    intervals: Intervals = None,
    level: float = 0.95,
    draws: int | None = None,
    cluster: Groups | None = None,
    seed: int | None = None,
    compat: Compat = None,
) -> Table:
    """The cosine with some words at each value of an ordered variable (a year, a quartile), and the number of contexts.

    `within` splits by a second variable. Values that the documents have, but no context does, come with NaN and a
    count of 0.
    """
    rules = choices(compat)
    names = [over] if within is None else [within, over]
    parts: list[dict[str, Column]] = []
    splits: list[tuple[Any, npt.NDArray[np.bool_]]] = [(None, np.ones(len(embeddings), dtype=bool))]
    if within is not None:
        labels, codes = group_codes(embeddings, within)
        splits = [(label, codes == code) for code, label in enumerate(labels)]
    for split, rows in splits:
        part = embeddings.select(rows)
        part_cluster = cluster if cluster is None or isinstance(cluster, str) else np.asarray(cluster)[rows]
        groups = grouped(part, over, part_cluster, intervals, compat)
        values = _levels_of_documents(embeddings, over, groups.labels, rules)
        place = {label: number for number, label in enumerate(groups.labels)}
        asked = [features] if isinstance(features, str) else list(features)
        lexical = Lexical.of(part.space, asked, None, "features")
        order = [lexical.names.index(name) for name in dict.fromkeys(asked) if name in lexical.names]
        found = estimate(
            groups.units, lexical.directions(np.array(order)), intervals, rules, level, draws or _draws(rules),
            np.random.default_rng(seed),
        )  # fmt: skip
        at = np.array([place.get(value, -1) for value in values])

        def pick(array: Doubles, at: Longs = at) -> Doubles:
            return np.where(at[:, None] >= 0, array[at], np.nan).ravel()

        count = len(order)
        columns: dict[str, Column] = {}
        if within is not None:
            columns[within] = column_of([split] * (len(values) * count))
        columns[over] = np.repeat(np.array(values, dtype=None if _all_numbers(values) else object), count)
        columns["feature"] = column_of([lexical.names[number] for number in order] * len(values))
        columns |= _columns(found, pick)
        columns["n"] = np.repeat(np.where(at >= 0, groups.sizes[at], 0), count)
        parts.append(columns)
    joined = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    info = {"kind": "over", "over": over, "within": within, "level": level, "names": names}
    return Table(joined, embeddings.variables.backend, info)


def _all_numbers(values: Iterable[Any]) -> bool:
    return all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in values)


def _levels_of_documents(embeddings: Embeddings, over: str, labels: list[Any], rules: Choices) -> list[Any]:
    """All values that the documents have, in order; conText has them as they first appear."""
    if embeddings.contexts is None or over not in embeddings.contexts.variables.columns:
        return labels
    column = embeddings.contexts.variables.columns[over]
    everything = [value for value in dict.fromkeys(column.tolist()) if value is not None and value == value]
    if rules.pooled:
        return everything
    declared = embeddings.variables.levels.get(over)
    if declared is not None:
        return [level for level in declared if level in set(everything)]
    return sorted(everything, key=None if _all_numbers(everything) else str)


def poles(
    embeddings: Embeddings,
    by: Groups | None,
    first: Sequence[str],
    second: Sequence[str] | None = None,
    *,
    intervals: Intervals = None,
    level: float = 0.95,
    draws: int | None = None,
    cluster: Groups | None = None,
    seed: int | None = None,
    compat: Compat = None,
) -> Table:
    """How much nearer each group's mean is to the words of one pole than to those of another.

    The mean cosine with the words of `first`, less that with the words of `second` if they are given. Words without a
    vector are left out, and named in the table's `info`.

    >>> from alacarte.regression import dem
    >>> found = dem([["a"], ["b"]], (["a", "b"], [[1.0, 0.0], [0.0, 1.0]]))
    >>> poles(found, ["D", "R"], ["a"], ["b"]).rows()
    [('D', 1.0, 1), ('R', -1.0, 1)]
    """
    rules = choices(compat)
    groups = grouped(embeddings, by, cluster, intervals, compat)
    space = embeddings.space
    left_out: list[str] = []
    direction = np.zeros(space.dimension)
    for sign, words in ((1.0, first), (-1.0, second or ())):
        listed = [words] if isinstance(words, str) else list(words)
        known = [word for word in listed if word in space.index]
        left_out += [word for word in listed if word not in space.index]
        if listed and not known:
            raise NotEnoughData(f"none of the words {', '.join(map(repr, listed))} has a vector; name others")
        if known:
            rows = [space.index[word] for word in known]
            direction += sign * unit_rows(space.matrix[rows].astype(np.float64)).mean(axis=0)
    found = estimate(
        groups.units, direction[None], intervals, rules, level, draws or _draws(rules), np.random.default_rng(seed)
    )
    columns: dict[str, Column] = {"group": column_of(groups.labels)}
    columns |= _columns(found, lambda array: array[:, 0])
    columns["n"] = groups.sizes
    return Table(columns, embeddings.variables.backend, {"kind": "poles", "left_out": left_out, "level": level})
