"""Which words tell two groups' uses of a word apart: the ratio of their cosines, with intervals and permutations."""

from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from scipy import stats

from alacarte._io.progress import progress
from alacarte.errors import AlacarteError
from alacarte.regression._frames import Column, Table, column_of
from alacarte.regression._lexical import Lexical
from alacarte.regression._means import (
    Adjust,
    GroupMean,
    Intervals,
    adjusted,
    check_inference,
    context_summary,
    debiased_cosines,
    jackknife_deviations,
    p_value,
    plain_cosines,
)
from alacarte.regression._space import Candidates
from alacarte.regression.compat import Choices, Compat, choices
from alacarte.regression.describe import _candidates, _columns, _top, grouped
from alacarte.regression.embed import Embeddings, Groups, group_codes

Doubles = npt.NDArray[np.float64]
Longs = npt.NDArray[np.int64]
CELLS = 1 << 24  # of a block of permuted group labels


def ratio(
    embeddings: Embeddings,
    by: Groups | None = None,
    *,
    k: int | None = 10,
    numerator: Any = None,
    candidates: Candidates | Literal["contexts"] = None,
    stem: str | None = None,
    intervals: Intervals = None,
    level: float = 0.95,
    draws: int | None = None,
    permutations: int = 0,
    adjust: Adjust = "holm",
    cluster: Groups | None = None,
    seed: int | None = None,
    compat: Compat = None,
    show_progress: bool | None = None,
) -> Table:
    """For the k nearest words of either of two groups, the ratio of its cosines with them, the largest first.

    `group` says whose neighbour a word is: one of the two, or "shared". `numerator` names the group above the line.
    `permutations` shuffles the groups over contexts (over clusters, if given), and `p_value` is the share that
    differs at least as much, `p_adjusted` the same for all words together. A ratio of cosines that are not positive
    means nothing and is NaN.

    >>> from alacarte.regression import dem
    >>> found = dem([["a"], ["b"]], (["a", "b", "c"], [[1.0, 0.2], [0.1, 1.0], [0.6, 0.8]]))
    >>> ratio(found, ["D", "R"], k=1)["group"].tolist()
    ['D', 'R']
    """
    rules = choices(compat)
    check_inference(level, draws, permutations, adjust)
    groups = grouped(embeddings, by, cluster, intervals, compat)
    if len(groups.labels) != 2:
        raise AlacarteError(
            f"a ratio compares two groups, and there are {len(groups.labels)} "
            f"({', '.join(map(str, groups.labels[:6]))}); choose two, for instance with embeddings.select(…)"
        )
    top = _numerator(groups.labels, groups.codes, numerator, rules)
    pair = [top, 1 - top]
    lexical = Lexical.of(
        embeddings.space, _candidates(embeddings, candidates), stem, all_words=rules.stems_of_all_words
    )
    values = lexical.cosines(groups.means[pair])
    mine, other = (set(_top(row, k, ties=rules.pooled).tolist()) for row in values)
    chosen = np.array(sorted(mine | other), dtype=np.int64)
    directions = lexical.directions(chosen)
    units = [groups.units[code] for code in pair]
    above, below = values[:, chosen]
    columns: dict[str, Column] = {"feature": column_of([lexical.names[number] for number in chosen.tolist()])}
    columns["value"] = value = _divided(above, below, rules)
    rng = np.random.default_rng(seed)
    if intervals is not None:
        found = _intervals(units, directions, intervals, level, draws, rng, rules)
        columns |= found
        value = columns["value"]
    if permutations:
        observed = np.abs(value - 1) if rules.value_is_bootstrap_mean else np.abs(above - below)
        exceeding = _permuted(
            embeddings, groups.codes == top, groups.codes >= 0, cluster, directions, observed, permutations, rng, rules,
            show_progress,
        )  # fmt: skip
        columns["p_value"] = p_value(exceeding, permutations, rules)
        columns["p_adjusted"] = adjusted(columns["p_value"], adjust)
    label = {True: str(groups.labels[top]), False: str(groups.labels[1 - top])}
    columns["group"] = column_of(["shared" if f in mine and f in other else label[f in mine] for f in chosen.tolist()])
    order = np.argsort(np.where(np.isnan(columns["value"]), -np.inf, columns["value"]))[::-1]
    info = {"kind": "ratio", "numerator": label[True], "denominator": label[False], "level": level}
    return Table(columns, embeddings.variables.backend, info).take(order)


def _numerator(labels: list[Any], codes: Longs, numerator: Any, rules: Choices) -> int:
    if numerator is None:
        return int(codes[codes >= 0][0]) if rules.pooled and len(codes) > 2 else 0
    if numerator not in labels:
        raise AlacarteError(f"no group is called {numerator!r}; the groups are {', '.join(map(repr, labels))}")
    return labels.index(numerator)


def _divided(above: Doubles, below: Doubles, rules: Choices) -> Doubles:
    with np.errstate(divide="ignore", invalid="ignore"):
        plain = above / below
    return plain if rules.pooled else np.where((above > 0) & (below > 0), plain, np.nan)


def _intervals(
    units: list[GroupMean],
    directions: Doubles,
    intervals: Intervals,
    level: float,
    draws: int | None,
    rng: np.random.Generator,
    rules: Choices,
) -> dict[str, Column]:
    """Around the ratio of debiased cosines, on the scale of its logarithm."""
    if intervals == "bootstrap" and rules.rounded_percentiles:
        both = [
            np.concatenate([plain_cosines(means, directions) for means, _ in unit.bootstrap(draws or 100, rng)])
            for unit in units
        ]
        found = context_summary(both[0] / both[1], level)
        return _columns(found, lambda array: array)
    centres = [debiased_cosines(unit.mean()[None], np.array([unit.debiased_square()]), directions)[0] for unit in units]
    with np.errstate(divide="ignore", invalid="ignore"):
        centre = np.log(np.where((centres[0] > 0) & (centres[1] > 0), centres[0] / centres[1], np.nan))
        if intervals == "jackknife":
            pulls = [jackknife_deviations(unit, directions) / at for unit, at in zip(units, centres, strict=True)]
            error = np.sqrt(_joint_squares(units, pulls))
        else:
            logs = [
                np.concatenate(
                    [np.log(debiased_cosines(m, s, directions)) for m, s in unit.bootstrap(draws or 1000, rng)]
                ).std(axis=0, ddof=1)
                * np.sqrt(len(unit) / (len(unit) - 1))
                for unit in units
            ]
            error = np.hypot(logs[0], logs[1])
    reach = stats.t.ppf((1 + level) / 2, max(len(units[0]) + len(units[1]) - 2, 1)) * error
    ratio_at = np.exp(centre)
    return {
        "debiased": ratio_at,
        "std_error": ratio_at * error,
        "lower": np.exp(centre - reach),
        "upper": np.exp(centre + reach),
    }


def _joint_squares(units: list[GroupMean], pulls: list[Doubles]) -> Doubles:
    """Σ (pull on the one − pull on the other)²: a cluster that lies in both groups is left out of both at once."""
    shared, first, second = np.intersect1d(units[0].labels, units[1].labels, return_indices=True)
    total = (pulls[0] ** 2).sum(axis=0) + (pulls[1] ** 2).sum(axis=0)
    clustered = units[0].sizes.max(initial=1) > 1 or units[1].sizes.max(initial=1) > 1
    if len(shared) and clustered:
        total = total - 2 * (pulls[0][first] * pulls[1][second]).sum(axis=0)
    return np.asarray(total)


def _permuted(
    embeddings: Embeddings,
    is_top: npt.NDArray[np.bool_],
    grouped_rows: npt.NDArray[np.bool_],
    cluster: Groups | None,
    directions: Doubles,
    observed: Doubles,
    permutations: int,
    rng: np.random.Generator,
    rules: Choices,
    show_progress: bool | None,
) -> Doubles:
    """How many relabellings differ at least as much, for each feature."""
    clusters = None if cluster is None else group_codes(embeddings, cluster)[1][grouped_rows]
    units = GroupMean.of(embeddings.matrix[grouped_rows], clusters)
    labels = is_top[grouped_rows].astype(np.float64)
    if clusters is not None:
        _, first, codes = np.unique(clusters, return_index=True, return_inverse=True)
        if not np.array_equal(labels[first][codes], labels):
            raise AlacarteError(
                "some clusters lie in both groups, so that groups cannot be shuffled over clusters; leave `cluster` "
                "or `permutations` out"
            )
        labels = labels[first]
    exceeding = np.zeros(len(directions))
    step = max(1, CELLS // len(units))
    done = 0
    with progress(permutations, "permutations", "permuting groups", show=show_progress) as bar:
        while done < permutations:
            rows = min(step, permutations - done)
            shuffled = rng.permuted(np.tile(labels, (rows, 1)), axis=1)
            sums = shuffled @ units.sums
            total = shuffled @ units.sizes
            rest = units.sums.sum(axis=0) - sums
            above = plain_cosines(sums / total[:, None], directions)
            below = plain_cosines(rest / (units.sizes.sum() - total)[:, None], directions)
            if rules.value_is_bootstrap_mean:
                exceeding += (np.abs(above / below - 1) >= observed).sum(axis=0)
            else:
                exceeding += (np.abs(above - below) >= observed - 1e-12).sum(axis=0)
            done += rows
            bar.update_to(done)
    return exceeding
