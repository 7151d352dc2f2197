"""What a group means by a word: nearest words, cosines, nearest and typical contexts, change over time, poles.

Every function takes the embeddings of contexts and a grouping (`by`), or means made by `dem_group`. `intervals`
asks for standard errors and intervals: "jackknife" (deterministic, in closed form) or "bootstrap"; with `cluster`,
contexts of one cluster (a speaker, a document) are left out or drawn together. The cosine of a mean of few noisy
contexts is too small; `estimate` is corrected for that, and is what the interval is around. Where a group has too few
contexts or clusters for that, it is NaN, and `reason` says why. The other keywords are those of `InferenceOptions`.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal, Unpack

import numpy as np
import numpy.typing as npt

from alacarte.errors import NotEnoughData
from alacarte.inference.cosines import Estimates, Norm, check_norm
from alacarte.regression._frames import Column, Table, column_of
from alacarte.regression._groups import (
    Grouped,
    Inference,
    InferenceOptions,
    candidates_of,
    clusters_of,
    estimate_columns,
    excess_of,
    grouped,
    top,
)
from alacarte.regression._lexical import Lexical, stems
from alacarte.regression._space import Candidates, EmbeddingSpace
from alacarte.regression.compat import Choices
from alacarte.regression.embed import Clusters, Embeddings, Groups, TwoWays, group_codes, row_weights
from alacarte.vectors.geometry import unit_rows

Doubles = npt.NDArray[np.float64]
Longs = npt.NDArray[np.int64]


def nearest(
    embeddings: Embeddings,
    by: Groups | None = None,
    *,
    k: int | None = 10,
    candidates: Candidates | Literal["contexts"] = None,
    stem: str | None = None,
    norm: Norm = "l2",
    **options: Unpack[InferenceOptions],
) -> Table:
    """The words nearest to each group's mean; `k=None` gives all of them.

    `candidates` narrows the search: the first so many words of the vectors, a list of words, or "contexts" for those
    that occur in the contexts. `stem` averages the cosines of words with one stem ("porter", "english", "german" …).
    `norm="none"` ranks by products of the vectors as they are instead of cosines.
    With `intervals`, `estimate` and its interval take account of it that these words were chosen: the largest of many
    noisy cosines are too large.

    >>> from alacarte.regression import dem
    >>> found = dem([["a"], ["b"], ["b"]], (["a", "b", "c"], [[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]]))
    >>> nearest(found, ["D", "R", "R"], k=2).rows()
    [('D', 'a', 1, 1.0), ('D', 'c', 2, 0.6), ('R', 'b', 1, 1.0), ('R', 'c', 2, 0.8)]
    """
    inference = Inference(**options)
    rules = inference.rules
    groups = grouped(embeddings, by, inference)
    lexical = Lexical.of(
        embeddings.space, candidates_of(embeddings, candidates), stem, all_words=rules.stems_of_all_words, norm=norm
    )
    rng = inference.random()
    values = lexical.similarities(groups.means)
    bootstrapped: Estimates | None = None
    if inference.as_conText:  # ranks follow the means over bootstraps
        everything = lexical.directions(np.arange(len(lexical.names)))
        bootstrapped = inference.estimate(groups.units, everything, rng, norm=norm)
        values = bootstrapped.value
    parts: list[dict[str, Column]] = []
    names = column_of(list(lexical.names))
    for row, label in enumerate(groups.labels):
        chosen = top(values[row], k, ties=rules.pooled)
        part = {
            "target": column_of([label] * len(chosen)),
            "feature": names[chosen],
            "rank": np.arange(1, len(chosen) + 1),
        }
        if bootstrapped is not None:
            part |= estimate_columns(bootstrapped, partial(_taken, at=(row, chosen)))
        else:
            excess = None
            if inference.intervals is not None and len(chosen) < len(names):
                excess = excess_of(groups.units[row], lexical, len(chosen), rng)
            estimates = inference.estimate([groups.units[row]], lexical.directions(chosen), rng, excess, norm)
            part |= estimate_columns(estimates, lambda array: array[0]) | {"value": values[row, chosen]}
        parts.append(part)
    columns = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    table = Table(columns, embeddings.variables.backend, {"kind": "nearest", "level": inference.level})
    if rules.pooled and inference.intervals is None:
        table = table.take(np.argsort(-table["value"], kind="stable"))
    return table


def _taken(array: npt.NDArray[Any], at: tuple[int, Longs]) -> npt.NDArray[Any]:
    row, places = at
    return np.asarray(array[row, places])


def similarity(
    embeddings: Embeddings,
    features: str | Sequence[str],
    by: Groups | None = None,
    *,
    stem: str | None = None,
    norm: Norm = "l2",
    **options: Unpack[InferenceOptions],
) -> Table:
    """The cosine of each group's mean with some words; with `stem`, the mean over all words that have their stems.

    `norm="none"` gives products of the vectors as they are instead of cosines.

    >>> from alacarte.regression import dem
    >>> found = dem([["a"], ["b"]], (["a", "b", "c"], [[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]]))
    >>> similarity(found, ["c"], ["D", "R"]).rows()
    [('D', 'c', 0.6), ('R', 'c', 0.8)]
    """
    inference = Inference(**options)
    rules = inference.rules
    groups = grouped(embeddings, by, inference)
    asked = [features] if isinstance(features, str) else list(features)
    # conText stems the features by Porter whatever the language, and stems that again.
    first = "porter" if stem is not None and rules.stems_of_all_words else stem
    lexical = Lexical.of(
        embeddings.space,
        asked,
        first,
        "features",
        all_words=True,
        again=stem if rules.stems_of_all_words else None,
        norm=norm,
    )
    order = np.arange(len(lexical.names))
    if not rules.pooled:
        wanted = asked if stem is None else stems(asked, stem)
        place = {name: number for number, name in enumerate(dict.fromkeys(wanted))}
        order = np.argsort([place.get(name, len(place)) for name in lexical.names], kind="stable")
    estimates = inference.estimate(groups.units, lexical.directions(order), inference.random(), norm=norm)
    names = column_of([lexical.names[number] for number in order.tolist()])
    by_feature = rules.pooled and stem is None and inference.intervals is None  # the order of conText's rows

    def pick(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return array.T.ravel() if by_feature else array.ravel()

    targets = np.repeat(column_of(groups.labels)[:, None], len(names), axis=1)
    repeated = np.repeat(names[None], len(groups.labels), axis=0)
    columns = {"target": pick(targets), "feature": pick(repeated)} | estimate_columns(estimates, pick)
    return Table(columns, embeddings.variables.backend, {"kind": "similarity", "level": inference.level})


def nearest_contexts(
    embeddings: Embeddings,
    by: Groups | None = None,
    *,
    k: int = 5,
    within: bool | None = None,
    targets: Embeddings | None = None,
    **options: Unpack[InferenceOptions],
) -> Table:
    """The contexts whose embeddings are nearest to each group's mean; identical texts once.

    A group is shown its own contexts; with `within=False`, those of all groups are eligible. `targets` compares with
    these embeddings (means made elsewhere) instead of the groups' own. With `intervals`, `estimate` is with the mean of
    the group's other contexts, and takes account of it that these contexts were chosen.
    """
    inference = Inference(**options)
    rules = inference.rules
    groups = grouped(embeddings, by, inference) if targets is None else None
    labels, means = (groups.labels, groups.means) if groups is not None else (targets.names, targets.matrix)  # type: ignore[union-attr]
    own = within if within is not None else not rules.pooled and targets is None
    texts = _whole_texts(embeddings) if inference.compat is None else np.array(embeddings.texts(), dtype=object)
    first = np.arange(len(texts))
    if inference.intervals is not None or not rules.pooled:
        first = np.sort(np.unique(texts.astype(str), return_index=True)[1])
    units = unit_rows(embeddings.matrix)
    rng = inference.random()
    parts: list[dict[str, Column]] = []
    for row, label in enumerate(labels):
        eligible = first
        if own and groups is not None:
            mine = np.flatnonzero(groups.codes == row)
            eligible = mine[np.sort(np.unique(texts[mine].astype(str), return_index=True)[1])]
        values = plain = unit_rows(means[row : row + 1])[0] @ units[eligible].T
        bootstrapped = None
        if groups is not None and inference.as_conText:
            bootstrapped = inference.estimate([groups.units[row]], units[eligible], rng)
            values = bootstrapped.value[0]
        places = top(values, k, ties=rules.pooled)
        chosen = eligible[places]
        part: dict[str, Column] = {
            "target": column_of([label] * len(chosen)),
            "context": texts[chosen],
            "rank": np.arange(1, len(chosen) + 1),
        }
        if bootstrapped is not None:
            part |= estimate_columns(bootstrapped, partial(_taken, at=(0, places)))
        elif groups is not None and inference.intervals is not None:
            estimates = _context_estimates(groups, row, embeddings, (eligible, chosen), inference)
            part |= estimate_columns(estimates, lambda array: array[:, 0]) | {"value": plain[places]}
        else:
            part["value"] = plain[places]
        part |= _where(embeddings, chosen)
        parts.append(part)
    columns = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    table = Table(columns, embeddings.variables.backend, {"kind": "nearest contexts", "level": inference.level})
    if rules.pooled and inference.intervals is None:
        table = table.take(np.argsort(-table["value"], kind="stable"))
    return table


def _context_estimates(
    groups: Grouped, row: int, embeddings: Embeddings, contexts: tuple[Longs, Longs], inference: Inference
) -> Estimates:
    """Of a group's mean with contexts, (eligible, chosen); a row a chosen context.

    A context is compared with the mean of the others (of other clusters), since it is part of its group's own.
    """
    eligible, chosen = contexts
    rng, excess = inference.random(), None
    if len(chosen) < len(eligible):
        space = EmbeddingSpace.of(([str(context) for context in eligible.tolist()], embeddings.matrix[eligible]))
        excess = excess_of(groups.units[row], Lexical.of(space, None, None), len(chosen), rng)
    units = unit_rows(embeddings.matrix[chosen])
    parts = [
        inference.estimate(
            [groups.without(row, context)], units[[rank]], rng, None if excess is None else excess[[rank]]
        )
        for rank, context in enumerate(chosen.tolist())
    ]

    def column(name: str) -> Doubles:
        return np.concatenate([getattr(part, name) for part in parts])

    reasons = tuple(reason for part in parts for reason in part.reasons)
    return Estimates(
        column("value"), column("debiased"), column("std_error"), column("lower"), column("upper"), reasons
    )


def _whole_texts(embeddings: Embeddings) -> Column:
    """The text of each row's context with the matched words in it, kept in the embedding or not."""
    if embeddings.contexts is None:
        return column_of(embeddings.texts())
    return column_of(replace(embeddings.contexts, keep_match=True).select(embeddings.rows).texts())


def _where(embeddings: Embeddings, rows: Longs) -> dict[str, Column]:
    """The columns that say which contexts these are: their names, and their documents', where there are any."""
    columns = {"name": column_of([embeddings.names[row] for row in rows.tolist()])}
    if "document" in embeddings.variables.columns:
        columns["document"] = embeddings.variables.columns["document"][rows]
    return columns


def typical_contexts(embeddings: Embeddings, by: Groups | None = None, *, k: int = 3, normalise: bool = True) -> Table:
    """The contexts most like all others of their group: mean cosine (or product) with all, in standard deviations.

    >>> from alacarte.regression import dem
    >>> found = dem([["a"], ["c"], ["b"]], (["a", "b", "c"], [[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]]))
    >>> typical_contexts(found, k=1)["context"].tolist()
    ['c']
    """
    groups = grouped(embeddings, by, Inference())
    texts = _whole_texts(embeddings)
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
            }
            | _where(embeddings, rows[chosen])
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
    **options: Unpack[InferenceOptions],
) -> Table:
    """The cosine with some words at each value of an ordered variable (a year, a quartile), and the number of contexts.

    `within` splits by a second variable. Values that the documents have, but no context does, come with NaN and a
    count of 0.
    """
    inference = Inference(**options)
    rules = inference.rules
    clusters = clusters_of(embeddings, inference.cluster)
    weights = None if inference.weights is None else row_weights(embeddings, None, False, inference.weights)
    splits: list[tuple[Any, npt.NDArray[np.bool_]]] = [(None, np.ones(len(embeddings), dtype=bool))]
    if within is not None:
        labels, codes = group_codes(embeddings, within)
        splits = [(label, codes == code) for code, label in enumerate(labels)]
    lexical = Lexical.of(embeddings.space, [features] if isinstance(features, str) else features, None, "features")
    asked = dict.fromkeys([features] if isinstance(features, str) else features)
    order = [lexical.names.index(name) for name in asked if name in lexical.names]
    directions = lexical.directions(np.array(order))
    parts: list[dict[str, Column]] = []
    for split, rows in splits:
        groups = grouped(embeddings.select(rows), over, _within(inference, clusters, weights, rows))
        values = _levels_of_documents(embeddings, over, groups.labels, rules)
        place = {label: number for number, label in enumerate(groups.labels)}
        at = np.array([place.get(value, -1) for value in values])
        estimates = inference.estimate(groups.units, directions, inference.random())

        def pick(array: npt.NDArray[Any], at: Longs = at) -> npt.NDArray[Any]:
            absent: Any = "no context" if array.dtype == object else np.nan
            return np.where(at[:, None] >= 0, array[at], absent).ravel()

        columns: dict[str, Column] = {}
        if within is not None:
            columns[within] = column_of([split] * (len(values) * len(order)))
        columns[over] = np.repeat(np.array(values, dtype=None if _all_numbers(values) else object), len(order))
        columns["feature"] = column_of([lexical.names[number] for number in order] * len(values))
        columns |= estimate_columns(estimates, pick)
        columns["n"] = np.repeat(np.where(at >= 0, groups.sizes[at], 0), len(order))
        parts.append(columns)
    joined = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    info = {"kind": "over", "over": over, "within": within, "level": inference.level}
    return Table(joined, embeddings.variables.backend, info)


def _within(
    inference: Inference, clusters: "Longs | list[Longs] | None", weights: Doubles | None, rows: npt.NDArray[np.bool_]
) -> Inference:
    """The same inference for some of the rows."""
    cluster: Clusters | None = None if clusters is None else clusters[rows] if not isinstance(clusters, list) else None
    if isinstance(clusters, list):
        cluster = TwoWays(*(way[rows] for way in clusters))
    return replace(inference, cluster=cluster, weights=None if weights is None else weights[rows])


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
    norm: Norm = "l2",
    **options: Unpack[InferenceOptions],
) -> Table:
    """How much nearer each group's mean is to the words of one pole than to those of another.

    The mean cosine with the words of `first`, less that with the words of `second` if they are given; products of the
    vectors as they are with `norm="none"`. Words without a vector are left out, and named in the table's `info`.

    >>> from alacarte.regression import dem
    >>> found = dem([["a"], ["b"]], (["a", "b"], [[1.0, 0.0], [0.0, 1.0]]))
    >>> poles(found, ["D", "R"], ["a"], ["b"]).rows()
    [('D', 1.0, 1), ('R', -1.0, 1)]
    """
    inference = Inference(**options)
    check_norm(norm)
    groups = grouped(embeddings, by, inference)
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
            matrix = space.matrix[[space.index[word] for word in known]].astype(np.float64)
            direction += sign * (unit_rows(matrix) if norm == "l2" else matrix).mean(axis=0)
    estimates = inference.estimate(groups.units, direction[None], inference.random(), norm=norm)
    columns: dict[str, Column] = {"group": column_of(groups.labels)}
    columns |= estimate_columns(estimates, lambda array: array[:, 0])
    columns["n"] = groups.sizes
    return Table(
        columns, embeddings.variables.backend, {"kind": "poles", "left_out": left_out, "level": inference.level}
    )
