"""Which words tell two groups' uses of a word apart: the ratio of their cosines, with intervals and permutations."""

from dataclasses import dataclass
from typing import Any, Literal, TypedDict, Unpack

import numpy as np
import numpy.typing as npt

from alacarte._io.progress import progress
from alacarte.errors import AlacarteError
from alacarte.inference.cosines import debiased_cosines, interval, jackknife_deviations, plain_cosines, why_undefined
from alacarte.inference.means import Units
from alacarte.inference.multiple_testing import Adjust, adjusted, check_adjust, check_permutations, p_value
from alacarte.regression._frames import Column, Table, column_of
from alacarte.regression._groups import (
    Inference,
    InferenceOptions,
    candidates_of,
    clusters_of,
    estimate_columns,
    grouped,
    top,
)
from alacarte.regression._lexical import Lexical
from alacarte.regression._space import Candidates
from alacarte.regression.compat import Choices, bootstrap_cosines, bootstrap_summary
from alacarte.regression.embed import Embeddings, Groups

Doubles = npt.NDArray[np.float64]
Longs = npt.NDArray[np.int64]
CELLS = 1 << 24  # of a block of permuted group labels


class PermutationOptions(TypedDict, total=False):
    """`permutations`: how often groups are shuffled for p-values; 0, the default, for none. `adjust`: p-values for
    several words: "holm", the default, "bh", "bonferroni" or "none"."""

    permutations: int
    adjust: Adjust
    show_progress: bool | None


class RatioOptions(InferenceOptions, PermutationOptions, total=False):
    """The keywords of `ratio` that say what is known of its error."""


@dataclass(frozen=True)
class RatioInference(Inference):
    """`RatioOptions` with their defaults."""

    permutations: int = 0
    adjust: Adjust = "holm"
    show_progress: bool | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_permutations(self.permutations)
        check_adjust(self.adjust)


def ratio(
    embeddings: Embeddings,
    by: Groups | None = None,
    *,
    k: int | None = 10,
    numerator: Any = None,
    candidates: Candidates | Literal["contexts"] = None,
    stem: str | None = None,
    **options: Unpack[RatioOptions],
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
    inference = RatioInference(**options)
    rules = inference.rules
    groups = grouped(embeddings, by, inference)
    if len(groups.labels) != 2:
        raise AlacarteError(
            f"a ratio compares two groups, and there are {len(groups.labels)} "
            f"({', '.join(map(str, groups.labels[:6]))}); choose two, for instance with embeddings.select(…)"
        )
    first = _numerator(groups.labels, groups.codes, numerator, rules)
    pair = [first, 1 - first]
    lexical = Lexical.of(
        embeddings.space, candidates_of(embeddings, candidates), stem, all_words=rules.stems_of_all_words
    )
    values = lexical.cosines(groups.means[pair])
    mine, other = (set(top(row, k, ties=rules.pooled).tolist()) for row in values)
    chosen = np.array(sorted(mine | other), dtype=np.int64)
    directions = lexical.directions(chosen)
    units = [groups.units[code] for code in pair]
    above, below = values[:, chosen]
    columns: dict[str, Column] = {"feature": column_of([lexical.names[number] for number in chosen.tolist()])}
    columns["value"] = value = _divided(above, below, rules)
    rng = inference.random()
    if inference.intervals is not None:
        columns |= _intervals(units, directions, inference, rng)
        value = columns["value"]
    if inference.permutations:
        observed = np.abs(value - 1) if rules.value_is_bootstrap_mean else np.abs(above - below)
        labels = _shuffled_units(embeddings, groups.codes, first, inference)
        exceeding = _permuted(*labels, directions, observed, inference, rng)
        columns["p_value"] = p_value(exceeding, inference.permutations, count_observed=rules.plus_one)
        columns["p_adjusted"] = adjusted(columns["p_value"], inference.adjust)
    label = {True: str(groups.labels[first]), False: str(groups.labels[1 - first])}
    columns["group"] = column_of(["shared" if f in mine and f in other else label[f in mine] for f in chosen.tolist()])
    order = np.argsort(np.where(np.isnan(columns["value"]), -np.inf, columns["value"]))[::-1]
    info = {"kind": "ratio", "numerator": label[True], "denominator": label[False], "level": inference.level}
    info["adjust"] = inference.adjust
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
    units: list[Units], directions: Doubles, inference: RatioInference, rng: np.random.Generator
) -> dict[str, Column]:
    """Around the ratio of debiased cosines, on the scale of its logarithm."""
    if inference.as_conText:
        both = [bootstrap_cosines(unit, directions, inference.draws or 100, rng) for unit in units]
        return estimate_columns(bootstrap_summary(both[0] / both[1], inference.level), lambda array: array)
    squares = [np.array([unit.debiased_square()]) for unit in units]
    centres = [
        debiased_cosines(unit.mean()[None], square, directions)[0] for unit, square in zip(units, squares, strict=True)
    ]
    with np.errstate(divide="ignore", invalid="ignore"):
        centre = np.log(np.where((centres[0] > 0) & (centres[1] > 0), centres[0] / centres[1], np.nan))
        if inference.intervals == "jackknife":
            pulls = [jackknife_deviations(unit, directions) / at for unit, at in zip(units, centres, strict=True)]
            error = np.sqrt(_joint_squares(units, pulls))
        else:
            error = _bootstrap_error(units, directions, inference.draws or 1000, rng)
    df = max(len(units[0]) + len(units[1]) - 2, 1)
    low, high = interval(centre, error, df, inference.level, np.inf)
    ratio_at = np.exp(centre)
    return {
        "debiased": ratio_at,
        "std_error": ratio_at * error,
        "lower": np.exp(low),
        "upper": np.exp(high),
        "reason": column_of([_why_undefined(units, value) for value in error.tolist()]),
    }


def _bootstrap_error(units: list[Units], directions: Doubles, draws: int, rng: np.random.Generator) -> Doubles:
    """The standard error of the logarithm of the ratio of debiased cosines; NaN where a group is a single unit."""
    if min(map(len, units)) < 2:
        return np.full(len(directions), np.nan)
    if not units[0].clustered:
        logs = [_bootstrap_logs(unit, directions, draws, rng).std(axis=0, ddof=1) for unit in units]
        scaled = [log * np.sqrt(len(unit) / (len(unit) - 1)) for log, unit in zip(logs, units, strict=True)]
        return np.asarray(np.hypot(*scaled))
    # A cluster that lies in both groups is drawn for both at once.
    labels = np.union1d(units[0].labels, units[1].labels)
    seed = int(rng.integers(1 << 62))
    above, below = (
        _bootstrap_logs(unit.among(labels), directions, draws, np.random.default_rng(seed)) for unit in units
    )
    return np.asarray(np.nanstd(above - below, axis=0, ddof=1) * np.sqrt(len(labels) / (len(labels) - 1)))


def _bootstrap_logs(unit: Units, directions: Doubles, draws: int, rng: np.random.Generator) -> Doubles:
    """The logarithms of debiased cosines of units drawn with replacement, (draws, features)."""
    blocks = unit.bootstrap(draws, rng)
    return np.concatenate([np.log(debiased_cosines(means, squares, directions)) for means, squares in blocks])


def _why_undefined(units: list[Units], error: float) -> str:
    if np.isfinite(error):
        return ""
    return next((reason for reason in map(why_undefined, units) if reason), "cosines that are not positive")


def _joint_squares(units: list[Units], pulls: list[Doubles]) -> Doubles:
    """Σ (pull on the one − pull on the other)²: a cluster that lies in both groups is left out of both at once."""
    shared, first, second = np.intersect1d(units[0].labels, units[1].labels, return_indices=True)
    total = (pulls[0] ** 2).sum(axis=0) + (pulls[1] ** 2).sum(axis=0)
    if len(shared) and units[0].clustered:
        total = total - 2 * (pulls[0][first] * pulls[1][second]).sum(axis=0)
    return np.asarray(total)


def _shuffled_units(
    embeddings: Embeddings, codes: Longs, first: int, inference: RatioInference
) -> tuple[Units, Doubles]:
    """(the contexts or clusters of both groups, 1 for those of the first)."""
    used = codes >= 0
    clusters = clusters_of(embeddings, inference.cluster)
    if clusters is not None:
        clusters = clusters[used]
    weights = None if clusters is None or not inference.equal_clusters else 1 / np.bincount(clusters)[clusters]
    labels = (codes[used] == first).astype(np.float64)
    units = Units.of(embeddings.matrix[used], clusters, weights)
    if clusters is None:
        return units, labels
    _, places, owner = np.unique(clusters, return_index=True, return_inverse=True)
    if not np.array_equal(labels[places][owner], labels):
        raise AlacarteError(
            "some clusters lie in both groups, so that groups cannot be shuffled over clusters; leave `cluster` "
            "or `permutations` out"
        )
    return units, labels[places]


def _permuted(
    units: Units,
    labels: Doubles,
    directions: Doubles,
    observed: Doubles,
    inference: RatioInference,
    rng: np.random.Generator,
) -> Doubles:
    """How many relabellings differ at least as much, for each feature."""
    exceeding = np.zeros(len(directions))
    step = max(1, CELLS // len(units))
    done, permutations = 0, inference.permutations
    with progress(permutations, "permutations", "permuting groups", show=inference.show_progress) as bar:
        while done < permutations:
            rows = min(step, permutations - done)
            shuffled = rng.permuted(np.tile(labels, (rows, 1)), axis=1)
            sums = shuffled @ units.sums
            total = shuffled @ units.sizes
            rest = units.sums.sum(axis=0) - sums
            above = plain_cosines(sums / total[:, None], directions)
            below = plain_cosines(rest / (units.sizes.sum() - total)[:, None], directions)
            if inference.rules.value_is_bootstrap_mean:
                exceeding += (np.abs(above / below - 1) >= observed).sum(axis=0)
            else:
                exceeding += (np.abs(above - below) >= observed - 1e-12).sum(axis=0)
            done += rows
            bar.update_to(done)
    return exceeding
