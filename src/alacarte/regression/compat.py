"""Where this package decides otherwise than R's conText on purpose, in one place.

`compat="conText"` takes conText's side of each line. `contexts`, `dem`, `dem_group`, `compute_transform` and `regress`
take it, and all functions with `InferenceOptions`: `nearest`, `similarity`, `ratio`, `nearest_contexts`,
`similarity_over` and `poles`.

| choice | here | conText 3.0.1 |
|---|---|---|
| words each side, where nothing says otherwise | the transform's own; 10 if it says nothing | 6 |
| clusters in a regression | change standard errors only | weigh the same, whatever their size |
| hits of several patterns that overlap | the longest, once | all of them |
| `pattern` of a hit | the pattern as asked for | the matched text as it occurs |
| a full window (`hard_cut`) | counts context tokens | counts the keyword too if it is kept |
| tokens looked up | as written, else lower-cased | lower-cased (`dem`), as written (`conText`) |
| reported value | of the full sample | the mean over bootstraps |
| 95 % interval | 2.5 % on either side, bias removed | the 5th and 95th of 100 values |
| noise in a squared length | HC2, CR2: by leverage | HC1, CR1: a factor for all |
| p-value | (1 + exceeding) / (1 + permutations) | exceeding / permutations |
| statistic permuted | norm over its standard error | the norm as it is |
| units of the jackknife | clusters, where there are any | rows |
| mean cosine of a stem | over the candidates with that stem | over all words with that stem |
| tables of several targets | sorted by target | pooled, sorted by value |
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from alacarte.errors import AlacarteError
from alacarte.inference.cosines import Estimates, Norm, check_norm, plain_cosines
from alacarte.inference.means import Units

if TYPE_CHECKING:
    from alacarte.regression._frames import Table
    from alacarte.regression._space import Candidates
    from alacarte.regression.embed import Embeddings

Doubles = npt.NDArray[np.float64]
Longs = npt.NDArray[np.int64]
DEPENDENT = 1e-7  # LINPACK's tolerance: a column this close to those before it counts as dependent

Compat = Literal["conText"] | None


@dataclass(frozen=True)
class Choices:
    """One side of every decision above.

    >>> choices(None).plus_one, choices("conText").plus_one
    (True, False)
    """

    window: tuple[int, int] | None = None  # where neither the user nor the transform says
    equal_clusters: bool = False
    overlaps: Literal["longest", "all"] = "longest"
    matched_as_pattern: bool = False
    hard_cut_counts_keyword: bool = False
    case: Literal["fold", "lower"] = "fold"
    case_in_regress: Literal["fold", "exact"] = "fold"
    value_is_bootstrap_mean: bool = False
    rounded_percentiles: bool = False
    plus_one: bool = True
    studentised: bool = True
    jackknife_over_rows: bool = False
    stems_of_all_words: bool = False
    pooled: bool = False
    collated: bool = False


OURS = Choices()
CONTEXT = Choices(
    window=(6, 6),
    equal_clusters=True,
    overlaps="all",
    matched_as_pattern=True,
    hard_cut_counts_keyword=True,
    case="lower",
    case_in_regress="exact",
    value_is_bootstrap_mean=True,
    rounded_percentiles=True,
    plus_one=False,
    studentised=False,
    jackknife_over_rows=True,
    stems_of_all_words=True,
    pooled=True,
    collated=True,
)


def choices(compat: Compat) -> Choices:
    if compat is None:
        return OURS
    if compat == "conText":
        return CONTEXT
    raise AlacarteError(f"compat is None or 'conText', not {compat!r}")


def collation_key(text: str) -> tuple[str, str, str]:
    """About how R sorts strings in an English locale: letters and digits first, then case, then the rest.

    >>> sorted(["b", "A", "a b", "ab", "B"], key=collation_key)
    ['A', 'a b', 'ab', 'b', 'B']
    """
    bare = "".join(character for character in text if character.isalnum())
    return bare.casefold(), bare.swapcase(), text


# ------------------------------------------------------------------------------------- conText's own computations


def bootstrap_cosines(group: Units, directions: Doubles, draws: int, rng: np.random.Generator) -> Doubles:
    """The plain cosines of the mean of contexts drawn with replacement, (draws, features)."""
    return np.concatenate([plain_cosines(means, directions) for means, _ in group.bootstrap(draws, rng)])


def bootstrap_summary(values: Doubles, level: float) -> Estimates:
    """conText's summary of bootstrap values (draws first): mean, sd, and the rounded order statistics.

    >>> summary = bootstrap_summary(np.arange(1.0, 101.0)[:, None], 0.95)
    >>> summary.value.tolist(), summary.lower.tolist(), summary.upper.tolist()
    ([50.5], [5.0], [95.0])
    """
    ordered = np.sort(values, axis=0)
    low = max(round((1 - level) * len(values)), 1)
    high = max(round(level * len(values)), 1)
    return Estimates(values.mean(axis=0), None, values.std(axis=0, ddof=1), ordered[low - 1], ordered[high - 1])


def permute_cells(
    x: Doubles,
    residuals: Doubles,
    clusters: Longs,
    combinations: Doubles,
    observed: Doubles,
    permutations: int,
    rng: np.random.Generator,
    tick: Callable[[int], None] = lambda done: None,
) -> Doubles:
    """conText's way with clusters: rows form cells (cluster, covariates), whose blocks of residuals are shuffled
    among the cells; a cell takes the rows of its new block, and clusters are weighted anew."""
    keys = np.column_stack([clusters.astype(np.float64), x])
    cells, cell_of = np.unique(keys, axis=0, return_inverse=True)
    cell_of = cell_of.ravel()
    sums = np.zeros((len(cells), residuals.shape[1]))
    np.add.at(sums, cell_of, residuals)
    sizes = np.bincount(cell_of).astype(np.float64)
    owner = np.unique(cells[:, 0], return_inverse=True)[1]
    design = cells[:, 1:]
    exceeding = np.zeros(len(combinations))
    for done in range(permutations):
        drawn = rng.permutation(len(cells))
        weight = 1 / np.bincount(owner, weights=sizes[drawn])[owner]
        gram = (design * (weight * sizes[drawn])[:, None]).T @ design
        right = (design * weight[:, None]).T @ sums[drawn]
        b = combinations @ np.linalg.lstsq(gram, right, rcond=None)[0]
        exceeding += np.einsum("md,md->m", b, b) > observed
        tick(done + 1)
    return exceeding


def dummies(
    columns: Mapping[str, npt.NDArray[Any]], names: Sequence[str], levels: Mapping[str, list[Any]]
) -> tuple[Doubles, list[str]]:
    """conText's design: an intercept, the numeric covariates, then 0/1 columns `variable_level`."""
    count = len(next(iter(columns.values()))) if columns else 0
    matrix, shown = [np.ones(count)], ["(Intercept)"]
    for name in names:
        if name not in levels:
            matrix.append(columns[name].astype(np.float64))
            shown.append(name)
    for name in names:
        for level in levels.get(name, [])[1:]:
            matrix.append(np.array([value == level for value in columns[name].tolist()], dtype=np.float64))
            written = str(level).upper() if isinstance(level, (bool, np.bool_)) else level
            shown.append(f"{name}_{written}")
    return np.column_stack(matrix), shown


def independent_columns(u: Doubles) -> Longs:
    """Columns from left to right, less those that the ones before them explain: LINPACK's limited pivoting.

    LAPACK's pivoting (`scipy.linalg.qr`) would choose others, and so give other columns of zeros than R does.
    """
    basis = np.empty((len(u), min(u.shape)))
    chosen: list[int] = []
    for column in range(u.shape[1]):
        if len(chosen) == len(u):
            break
        rest = u[:, column].copy()
        size = float(np.linalg.norm(rest))
        for _ in range(2):  # the second time removes what rounding left
            part = basis[:, : len(chosen)]
            rest -= part @ (part.T @ rest)
        left = float(np.linalg.norm(rest))
        if size > 0 and left > DEPENDENT * size:
            basis[:, len(chosen)] = rest / left
            chosen.append(column)
    return np.array(chosen, dtype=np.int64)


class Contrast(NamedTuple):
    """What two groups of contexts are near: words by similarity with either mean, and by the ratio of the two."""

    first: "Table"
    second: "Table"
    ratio: "Table"


def compute_contrast(
    first: "Embeddings", second: "Embeddings", candidates: "Candidates" = None, norm: Norm = "l2"
) -> Contrast:
    """conText's `compute_contrast`: all candidates, by their similarity with the means of two sets of contexts.

    `norm` is "l2" for cosines, or "none" for products of the vectors as they are. For intervals, p-values and the
    words that tell groups apart, use `ratio`.

    >>> from alacarte.regression import dem
    >>> vectors = (["a", "b", "c"], [[1.0, 0.2], [0.1, 1.0], [0.6, 0.8]])
    >>> one, other = dem([["a"], ["c"]], vectors), dem([["b"], ["c"]], vectors)
    >>> compute_contrast(one, other).ratio["feature"].tolist()
    ['a', 'c', 'b']
    """
    return _contrast(first, second, (first.matrix.mean(axis=0), second.matrix.mean(axis=0)), candidates, norm)


def bootstrap_contrast(
    first: "Embeddings",
    second: "Embeddings",
    candidates: "Candidates" = None,
    norm: Norm = "l2",
    *,
    seed: int | None = 0,
) -> Contrast:
    """conText's `bootstrap_contrast`: `compute_contrast` of one draw, with replacement, of each set's contexts."""
    rng = np.random.default_rng(seed)
    means = tuple(one.matrix[rng.integers(len(one), size=len(one))].mean(axis=0) for one in (first, second))
    return _contrast(first, second, (means[0], means[1]), candidates, norm)


def permute_contrast(
    first: "Embeddings",
    second: "Embeddings",
    candidates: "Candidates" = None,
    norm: Norm = "l2",
    *,
    seed: int | None = 0,
) -> Contrast:
    """conText's `permute_contrast`: `compute_contrast` after the contexts of both are dealt out anew, as many each."""
    rng = np.random.default_rng(seed)
    pooled = rng.permutation(np.vstack([first.matrix, second.matrix]))
    means = pooled[: len(first)].mean(axis=0), pooled[len(first) :].mean(axis=0)
    return _contrast(first, second, means, candidates, norm)


def _contrast(
    first: "Embeddings", second: "Embeddings", means: tuple[Doubles, Doubles], candidates: "Candidates", norm: Norm
) -> Contrast:
    from alacarte.regression._frames import Table, column_of

    check_norm(norm)
    space = first.space
    rows, _ = space.candidate_rows(candidates, "candidates")
    words = column_of([space.words[row] for row in rows.tolist()])
    both = np.vstack(means)
    values = space.similarities(both, rows, norm)

    def table(value: Doubles) -> Table:
        order = np.argsort(-value, kind="stable")
        return Table({"feature": words[order], "value": value[order]}, first.variables.backend)

    with np.errstate(divide="ignore", invalid="ignore"):
        return Contrast(table(values[0]), table(values[1]), table(values[0] / values[1]))


_PIECES = re.compile(r"\s+|\S+")


def with_separators(text: str) -> list[str]:
    """A tokenizer that keeps the blanks between words as empty tokens, which take up window positions.

    It is what conText's `get_grouped_similarity` does by default, so that its `window=12` sees 6 words a side.

    >>> with_separators("a new  day")
    ['a', '', 'new', '', 'day']
    """
    return ["" if piece.isspace() else piece for piece in _PIECES.findall(text)]
