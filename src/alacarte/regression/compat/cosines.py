"""conText's tables of neighbours, cosines and ratios: pooled and sorted, with bootstraps and permutations."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy import sparse

from alacarte._io.arrays import Doubles, Longs
from alacarte.errors import AlacarteError, require
from alacarte.inference.cosines import directions_of
from alacarte.regression.compat.contexts import dem_group, numbered_groups
from alacarte.regression.describe import Candidates, candidate_vectors, largest
from alacarte.regression.embed import Embeddings
from alacarte.regression.groups import Groups
from alacarte.regression.ratios import first_group
from alacarte.regression.results import Column, Results, column_of, joined

Stems = Candidates | Literal["contexts"]
BOOTSTRAPS = 100

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
    def of(cls, x: Embeddings, candidates: Stems, stem: str | None) -> "_Features":
        """Words, or stems with the mean over all words that have them."""
        words = candidate_vectors(x, candidates) if stem is None else x.vectors
        directions = np.nan_to_num(directions_of(words.matrix))  # R has 0 for a vector of zeros
        if stem is None:
            return cls(list(words.words), directions)
        named = candidates is None or isinstance(candidates, int | str)
        asked = candidate_vectors(x, candidates).words if named else candidates
        wanted, of_all = set(stems(asked, stem)), stems(words.words, stem)  # type: ignore[arg-type]
        rows = [row for row, name in enumerate(of_all) if name in wanted]
        labels, owner = np.unique([of_all[row] for row in rows], return_inverse=True)
        shares = sparse.csr_matrix((1 / np.bincount(owner)[owner], (owner, np.arange(len(rows)))))
        return cls(labels.tolist(), np.asarray(shares @ directions[rows]))

    def values(self, means: Doubles) -> Doubles:
        return np.asarray(np.nan_to_num(directions_of(means)) @ self.directions.T)


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
    """Return the places of the N largest values, and of all that equal the last of them."""
    order = largest(values, None)
    return order if N is None or len(order) <= N else order[values[order] >= values[order[N - 1]]]


# ------------------------------------------------------------------------------------- neighbours and cosines


def nns(x: Embeddings, N: int | None = 10, candidates: Stems = None, stem: str | None = None) -> Results:
    """Return the words nearest to each row, all rows pooled and sorted by value."""
    features = _Features.of(x, candidates, stem)
    rows = ({"value": values} for values in features.values(x.matrix))
    found = _ranked(zip(x.names, rows, strict=True), "feature", column_of(features.names), N)
    table = Results(found, x.variables.backend, {"kind": "nearest"})
    return table.take(np.argsort(-table["value"], kind="stable"))


def _ranked(
    parts: Iterable[tuple[Any, Mapping[str, Column]]], what: str, names: Column, N: int | None
) -> dict[str, Column]:
    """Return the N largest values of each part beside their `names`, which are in the column `what`."""
    tables = []
    for label, found in parts:
        chosen = _tied(found["value"], N)
        target, rank = column_of([label] * len(chosen)), np.arange(1, len(chosen) + 1)
        columns = {name: column[chosen] for name, column in found.items()}
        tables.append({"target": target, what: names[chosen], "rank": rank} | columns)
    return joined(tables)


def _by_group(
    x: Embeddings,
    groups: Groups | None,
    values: Callable[[Doubles], Doubles],
    draws: int,
    confidence_level: float,
    seed: int | None,
) -> Iterator[tuple[Any, dict[str, Doubles]]]:
    """Yield (group, its columns): the values of its mean, or a summary of those of means of rows that are drawn."""
    rng = np.random.default_rng(seed)
    labels, codes = numbered_groups(x, groups)
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
        return nns(dem_group(x, groups), N, candidates, stem)
    features = _Features.of(x, candidates, stem)
    drawn = _by_group(x, groups, features.values, num_bootstraps, confidence_level, seed)
    table = _ranked(drawn, "feature", column_of(features.names), N)
    return Results(table, x.variables.backend, {"kind": "nearest", "level": confidence_level})


def cos_sim(x: Embeddings, features: str | Sequence[str], stem: str | None = None) -> Results:
    """Return the cosine of each row with some words; by word, or by row for stems."""
    named = _Features.of(x, [features] if isinstance(features, str) else list(features), stem)
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
        return cos_sim(dem_group(x, groups), features)
    named = _Features.of(x, [features] if isinstance(features, str) else list(features), None)
    parts = []
    for label, found in _by_group(x, groups, named.values, num_bootstraps, confidence_level, seed):
        about = {"target": column_of([label] * len(named.names)), "feature": column_of(named.names)}
        parts.append(about | found)
    return Results(joined(parts), x.variables.backend, {"kind": "similarity", "level": confidence_level})


def ncs(x: Embeddings, contexts_dem: Embeddings, N: int = 5) -> Results:
    """Return the contexts nearest to each row, whichever group they are of; all rows pooled and sorted by value."""
    names, units = column_of(contexts_dem.names), directions_of(contexts_dem.matrix)
    rows = ({"value": values, "name": names} for values in directions_of(x.matrix) @ units.T)
    found = _ranked(zip(x.names, rows, strict=True), "context", column_of(contexts_dem.texts()), N)
    table = Results(found, x.variables.backend, {"kind": "nearest contexts"})
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
    units = directions_of(x.matrix[first])
    drawn = _by_group(x, groups, lambda means: directions_of(means) @ units.T, num_bootstraps, confidence_level, seed)
    table = _ranked(drawn, "context", texts[first], N)
    return Results(table, x.variables.backend, {"kind": "nearest contexts", "level": confidence_level})


# --------------------------------------------------------------------------------------------------- ratios


def nns_ratio(
    x: Embeddings, N: int | None = 10, numerator: Any = None, candidates: Stems = None, stem: str | None = None
) -> Results:
    """Return the ratio of two rows' cosines with the N nearest words of either, the largest first."""
    features = _Features.of(x, candidates, stem)
    first = first_group(x.names, numerator)
    return _ratios([str(x.names[first]), str(x.names[1 - first])], features, x.matrix[[first, 1 - first]], N)[0]


def _ratios(labels: list[str], features: _Features, means: Doubles, N: int | None) -> tuple[Results, Longs]:
    """Return (the table, which features it has)."""
    if "shared" in labels:
        raise AlacarteError("a group is called 'shared', as conText calls what both have; rename it, or use ratio")
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
    labels, codes = numbered_groups(x, groups)
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
    for _ in range(count):
        drawn = rng.permutation(labels)
        above, below = features.values(np.stack([drawn @ rows, (1 - drawn) @ rows]))  # cosines: sums do as means do
        exceeding += np.abs(above / below - 1) >= observed
    return exceeding
