"""Size of every test and coverage of every interval of the library, by simulation with known truths.

    python benchmarks/inference_truth.py [--samples N] [--jobs N] [--part regress ratio …]
    python benchmarks/inference_truth.py --part fresh [--samples N]

Each line is one design, simulated `--samples` times (2,000; `--quick` 200) from a fixed seed. A size is the share of
p-values ≤ .05 where nothing differs, and should be .05; a coverage is the share of 95 % intervals that hold the truth.
± is the standard error of the simulation. * marks sizes outside .03–.07 and coverages outside .93–.97 (below .93 for
words that were chosen) by more than 2 ±; "warns" are designs at which the library warns at run time.

Noise has 12 dimensions whose variances fall as 1/√i. Contexts of a cluster share half of their variance. With "tails"
the noise is Student's t with 4 degrees of freedom, a factor for each context and each cluster. "Unequal" clusters have
1, 2, 4, … , 32, 1, 2 … contexts, "skewed" ones sizes from a lognormal distribution. In `regress` two covariates stand
beside the one that is tested; where they are "correlated", one of them is so with it, by .7.

The rule by which `regress` warns of few clusters was chosen on the designs of `regress`. `fresh` judges it on others,
which are drawn at random.
"""

import argparse
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from alacarte import WordVectors
from alacarte.comparing.uses import compare_uses
from alacarte.errors import AlacarteWarning
from alacarte.inference import lengths, regression_noise
from alacarte.inference.means import Units
from alacarte.regression import nearest, poles, ratio, similarity
from alacarte.regression.embed import Embeddings
from alacarte.regression.frames import Variables
from alacarte.regression.infer import Inference
from alacarte.regression.terms import few_units
from alacarte.uncertainty.spread import Deviations, deviations
from alacarte.uncertainty.uncertainty import Uncertainty
from alacarte.vectors.geometry import unit_rows

Doubles = npt.NDArray[np.float64]
D = 12
SHAPE = np.sqrt((np.arange(D) + 1) ** -0.5)
SHAPE *= np.sqrt(D / np.sum(SHAPE**2))
PERMUTATIONS = 199
WORDS = 300


@dataclass(frozen=True)
class Result:
    """One line: how often something was so, of how many, in a design."""

    what: str
    design: str
    share: float
    error: float
    nominal: str
    warns: bool = False

    @property
    def verdict(self) -> str:
        low, high = {"size": (0.03, 0.07), "fixed": (0.93, 0.97), "selected": (0.93, 1.0)}[self.nominal]
        slack = 2 * self.error
        return "" if low - slack <= self.share <= high + slack else "off"


def line(what: str, design: str, hits: list[Doubles] | list[float], nominal: str, warns: bool = False) -> Result:
    """The mean over samples, and its error; a sample may have several values (words), which are not independent.

    Where no sample differs from another the error is that of one more that does.
    """
    means = np.array([np.mean(hit) for hit in hits])
    spread = float(np.nanstd(means)) or np.sqrt(1 / (len(means) + 1))
    return Result(what, design, float(np.nanmean(means)), spread / np.sqrt(len(means)), nominal, warns)


# ---------------------------------------------------------------------------------------------------- noise


def noise(rng: np.random.Generator, clusters: npt.NDArray[np.int64] | None, count: int, tails: bool) -> Doubles:
    """Contexts' noise of variance 1 on average, half of which is common to the contexts of a cluster."""

    def draw(number: int) -> Doubles:
        values = rng.normal(size=(number, D)) * SHAPE
        return values * np.sqrt(2 / rng.chisquare(4, (number, 1))) if tails else values

    if clusters is None:
        return draw(count)
    return np.sqrt(0.5) * draw(count) + np.sqrt(0.5) * draw(int(clusters.max()) + 1)[clusters]


def sizes_of(kind: str, number: int) -> npt.NDArray[np.int64]:
    """How many contexts each cluster has."""
    if kind == "unequal":
        return 2 ** (np.arange(number) % 6)
    if kind == "skewed":
        return np.ceil(4 * np.random.default_rng(number).lognormal(0.0, 1.0, number)).astype(np.int64)
    return np.full(number, int(kind))


# -------------------------------------------------------------------------------------------------- regress


@dataclass(frozen=True)
class Regression:
    """`share` of the rows (or clusters) are in the group that is tested, which is `noisy` times as noisy."""

    rows: int = 0
    clusters: int = 0
    kind: str = "5"  # sizes of the clusters
    share: float = 0.5
    within: bool = False  # whether the group differs within clusters
    noisy: float = 1.0
    tails: bool = False
    correlated: bool = False
    equal: bool = False

    def __str__(self) -> str:
        units = f"{self.clusters} clusters of {self.kind}" if self.clusters else f"{self.rows} contexts"
        parts = [units, f"{self.share:.0%} in the group"]
        parts += ["shared clusters"] if self.within else []
        parts += [f"{self.noisy:g} × as noisy"] if self.noisy != 1 else []
        parts += ["tails"] if self.tails else []
        parts += ["correlated covariates"] if self.correlated else []
        parts += ["equal weights of clusters"] if self.equal else []
        return ", ".join(parts)

    def draw(self, rng: np.random.Generator, effect: Doubles | None = None) -> regression_noise.Fit:
        return self.draw_both(rng, np.zeros(D) if effect is None else effect)[1]

    def draw_both(self, rng: np.random.Generator, effect: Doubles) -> tuple[regression_noise.Fit, regression_noise.Fit]:
        """The fits to one sample without an effect and with one."""
        codes, count = None, self.rows
        if self.clusters:
            codes = np.repeat(np.arange(self.clusters), sizes_of(self.kind, self.clusters))
            count = len(codes)
        units = count if codes is None or self.within else self.clusters
        group = np.zeros(units)
        group[rng.permutation(units)[: max(2, round(self.share * units))]] = 1
        group = group if codes is None or self.within else group[codes]
        others = rng.normal(size=(count, 2))
        if self.correlated:
            others[:, 0] = 0.7 * (group - group.mean()) / group.std() + np.sqrt(0.51) * others[:, 0]
        y = noise(rng, codes, count, self.tails) * np.where(group == 1, self.noisy, 1.0)[:, None]
        x = np.column_stack([np.ones(count), group, others])
        both = (y, y + np.outer(group, effect))
        none, some = (regression_noise.least_squares(x, z, codes, equal_clusters=self.equal)[0] for z in both)
        return none, some


REGRESSIONS = (
    Regression(30),
    Regression(100),
    Regression(100, noisy=2.0),
    Regression(420, share=1 / 21),
    Regression(420, share=1 / 21, noisy=2.0),
    Regression(420, share=1 / 21, noisy=0.5),
    Regression(100, tails=True),
    Regression(100, correlated=True),
    Regression(100, correlated=True, noisy=2.0, share=0.2),
    Regression(clusters=8, kind="10"),
    Regression(clusters=8, kind="unequal"),
    Regression(clusters=12, kind="unequal"),
    Regression(clusters=20, kind="unequal"),
    Regression(clusters=20, kind="unequal", equal=True),
    Regression(clusters=40, kind="unequal"),
    Regression(clusters=60, kind="unequal"),
    Regression(clusters=20, kind="unequal", within=True),
    Regression(clusters=8, kind="unequal", within=True),
    Regression(clusters=40, kind="5", share=0.2),
    Regression(clusters=40, kind="5", share=0.1),
    Regression(clusters=60, kind="unequal", share=0.2, noisy=2.0),
    Regression(clusters=40, kind="unequal", tails=True),
    Regression(clusters=40, kind="unequal", correlated=True),
)


def fresh_regressions(count: int = 16) -> Iterator[Regression]:
    """Designs with clusters, drawn at random: none of them took part in any choice."""
    rng = np.random.default_rng(2026)
    for _ in range(count):
        yield Regression(
            clusters=int(rng.choice([7, 9, 10, 14, 18, 25, 35, 50, 80])),
            kind=str(rng.choice(["3", "8", "unequal", "skewed"])),
            share=float(rng.choice([0.15, 0.3, 0.5])),
            within=bool(rng.random() < 0.25),
            noisy=float(rng.choice([0.5, 1.0, 1.0, 1.7])),
            tails=bool(rng.random() < 0.25),
            correlated=bool(rng.random() < 0.25),
        )


def fresh_part(design: Regression, samples: int) -> Iterator[Result]:
    """As `regress_part`, of designs that are drawn at random."""
    return regress_part(design, samples, seed=2027)


def regress_part(design: Regression, samples: int, seed: int = 11) -> Iterator[Result]:
    """Tests of one coefficient, of three together, of a contrast; intervals of squared lengths at 0 and 2 noises."""
    term, three = np.eye(4)[1:2], np.eye(4)[1:]
    contrast = term - np.eye(4)[2:3]
    rng = np.random.default_rng(seed)
    unit = np.sqrt(np.mean([regression_noise.noise(design.draw(rng), term)[0] for _ in range(50)]))
    single, joint, apart, null, effect, apart_null = [], [], [], [], [], []
    beta = SHAPE / np.linalg.norm(SHAPE) * 2 * unit
    few = []
    for _ in range(samples):
        fit, with_effect = design.draw_both(rng, beta)
        few.append(bool(few_units(fit, term)[0]))
        p = (1 + regression_noise.permute(fit, [term, three, contrast], PERMUTATIONS, rng)) / (1 + PERMUTATIONS)
        for hits, value in zip((single, joint, apart), p, strict=True):
            hits.append(float(value <= 0.05))
        least = 1 / (1 + PERMUTATIONS)
        of_effect = (1 + regression_noise.permute(with_effect, [term], PERMUTATIONS, rng)) / (1 + PERMUTATIONS)
        for hits, fitted, row, own_p, truth in (
            (null, fit, term, p[0], 0.0),
            (effect, with_effect, term, of_effect[0], float(beta @ beta)),
            (apart_null, fit, contrast, p[2], 0.0),
        ):
            known = lengths.noise_of_each(fitted, row)[0]
            length, _ = lengths.Length.of(row[0] @ fitted.coefficients, known).agreeing(float(own_p), least)
            tails = length.outside(np.array([truth]), 0.95)
            hits.append(float(max(tail[0] for tail in tails) <= 0))
    warns = np.mean(few) > 0.5
    yield line("regress: one term", str(design), single, "size", warns)
    yield line("regress: joint test of three", str(design), joint, "size", warns)
    yield line("regress: contrast", str(design), apart, "size", warns)
    yield line("regress: interval, no effect", str(design), null, "fixed", warns)
    yield line("regress: interval, effect of 2 noises", str(design), effect, "fixed", warns)
    yield line("regress: interval of the contrast, none", str(design), apart_null, "fixed", warns)


# --------------------------------------------------------------------------------------- groups of contexts


@dataclass(frozen=True)
class Pair:
    """Two groups with the same mean: contexts, or clusters by their sizes."""

    first: tuple[int, str]  # how many clusters, of which sizes; contexts, if the sizes are ""
    second: tuple[int, str]
    noisy: float = 1.0  # of the first group
    tails: bool = False
    shared: bool = False  # the same clusters in both groups

    def __str__(self) -> str:
        def shown(side: tuple[int, str]) -> str:
            return f"{side[0]} clusters of {side[1]}" if side[1] else f"{side[0]} contexts"

        text = f"{shown(self.first)} against {shown(self.second)}"
        text += ", the same clusters" if self.shared else ""
        text += f", the first {self.noisy:g} × as noisy" if self.noisy != 1 else ""
        return text + (", tails" if self.tails else "")

    def draw(self, rng: np.random.Generator, mean: Doubles) -> tuple[Embeddings, npt.NDArray[np.int64] | None]:
        clusters, count = [], []
        for number, kind in (self.first, self.second):
            sizes = sizes_of(kind, number) if kind else np.ones(number, dtype=np.int64)
            count.append(int(sizes.sum()))
            clusters.append(np.repeat(np.arange(number), sizes) + (0 if self.shared or not clusters else self.first[0]))
        group = np.repeat([0, 1], count)
        codes = np.concatenate(clusters) if self.first[1] else None
        matrix = 2 * noise(rng, codes, len(group), self.tails) * np.where(group == 0, self.noisy, 1.0)[:, None] + mean
        names = [str(row) for row in range(len(group))]
        embeddings = Embeddings(matrix, names, SPACE, Variables({"group": group}), [], np.arange(len(group)))
        return embeddings, codes


RANDOM = np.random.default_rng(3)
MEAN = RANDOM.normal(size=D) * SHAPE
VECTORS = RANDOM.normal(size=(WORDS, D)) + 0.5 * MEAN
SPACE = WordVectors([f"w{number}" for number in range(WORDS)], VECTORS)
TRUE = VECTORS @ MEAN / np.linalg.norm(VECTORS, axis=1) / np.linalg.norm(MEAN)
NEAR_ROWS = np.argsort(-TRUE)[[0, 5, 10, 20, 40, 80]]
NEAR = [f"w{number}" for number in NEAR_ROWS]

PAIRS = (
    Pair((50, ""), (50, "")),
    Pair((20, ""), (400, "")),
    Pair((20, ""), (400, ""), noisy=2.0),  # the first of the three
    Pair((20, ""), (400, ""), noisy=0.5),
    Pair((40, ""), (400, ""), tails=True),
    Pair((40, "1"), (40, "10")),  # the second
    Pair((15, "1"), (60, "8")),  # the third
    Pair((8, "10"), (8, "10")),
    Pair((12, "unequal"), (12, "unequal")),
    Pair((20, "unequal"), (40, "5"), noisy=2.0),
    Pair((30, "5"), (30, "5"), shared=True),
    Pair((30, "unequal"), (30, "2"), shared=True),
    Pair((30, "unequal"), (30, "2"), shared=True, noisy=2.0),
    Pair((10, "5"), (10, "5"), shared=True),
    Pair((60, "unequal"), (60, "unequal"), tails=True),
)


def warned(run: Callable[[], object]) -> bool:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        run()
    return any(issubclass(item.category, AlacarteWarning) for item in caught)


def ratio_part(pair: Pair, samples: int) -> Iterator[Result]:
    """The test of the words chosen and of words that were named, and their intervals. The true ratio is 1."""
    rng = np.random.default_rng(12)
    hits: dict[str, list[Doubles]] = {name: [] for name in ("chosen", "named", "interval chosen", "interval named")}
    warns = warned(lambda: ratio_of(pair, rng, 5))
    for _ in range(max(samples // 5, 100)):
        for name, k in (("chosen", 5), ("named", None)):
            table = ratio_of(pair, rng, k)
            known = np.isfinite(table["p_value"])
            hits[name].append(table["p_value"][known] <= 0.05)
            known = np.isfinite(table["conf_low"])
            inside = (table["conf_low"] <= 1) & (table["conf_high"] >= 1)
            hits[f"interval {name}"].append(inside[known] if known.any() else np.array([np.nan]))
    yield line("ratio: words chosen", str(pair), hits["chosen"], "size", warns)
    yield line("ratio: words named", str(pair), hits["named"], "size", warns)
    yield line("ratio: intervals, words chosen", str(pair), hits["interval chosen"], "selected", warns)
    yield line("ratio: intervals, words named", str(pair), hits["interval named"], "fixed", warns)


def ratio_of(pair: Pair, rng: np.random.Generator, k: int | None):
    embeddings, codes = pair.draw(rng, MEAN)
    with warnings.catch_warnings():
        if k is None:
            warnings.simplefilter("ignore")
        return ratio(
            embeddings,
            "group",
            k=k,
            candidates=NEAR if k is None else None,
            cluster=codes,
            inference=Inference(permutations=99, seed=int(rng.integers(1 << 30))),
        )


SINGLES = (
    ((10, ""), False),
    ((25, ""), False),
    ((60, ""), False),
    ((250, ""), False),
    ((60, ""), True),
    ((8, "10"), False),
    ((8, "unequal"), False),
    ((15, "unequal"), False),
    ((30, "unequal"), True),
    ((60, "unequal"), False),
)


def cosines_part(design: tuple[tuple[int, str], bool], samples: int) -> Iterator[Result]:
    """Intervals of cosines with words that were named, between poles, and with the five nearest that a sample finds."""
    unit = dict(zip(SPACE.words, TRUE.tolist(), strict=True))
    side, tails = design
    rng = np.random.default_rng(13)
    pair = Pair(side, (2, side[1]), tails=tails)
    named, between, chosen, warns = [], [], [], False
    difference = unit_rows(VECTORS[NEAR_ROWS[:3]]).mean(axis=0) - unit_rows(VECTORS[NEAR_ROWS[3:]]).mean(axis=0)
    for _ in range(max(samples // 4, 100)):
        embeddings, codes = pair.draw(rng, MEAN)
        rows = embeddings.variables.columns["group"] == 0
        own, cluster = embeddings.select(rows), None if codes is None else codes[rows]
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            options = {"cluster": cluster, "intervals": 0.95}
            tables = (
                similarity(own, NEAR, **options),
                poles(own, None, NEAR[:3], NEAR[3:], **options),
                nearest(own, k=5, **options),
            )
        warns |= any(issubclass(item.category, AlacarteWarning) for item in caught)
        truths = [np.array([unit[word] for word in tables[place]["feature"]]) for place in (0, 2)]
        truths[1:1] = [np.array([difference @ unit_rows(MEAN)])]
        for hits, table, truth in zip((named, between, chosen), tables, truths, strict=True):
            known = np.isfinite(table["conf_low"])
            inside = (table["conf_low"] <= truth) & (truth <= table["conf_high"])
            hits.append(inside[known] if known.any() else np.array([np.nan]))
    shown = str(pair).split(" against ")[0] + (", tails" if tails else "")
    yield line("similarity: intervals", shown, named, "fixed", warns)
    yield line("similarity: poles", shown, between, "fixed", warns)
    yield line("nearest: intervals of the five nearest", shown, chosen, "selected", warns)


# -------------------------------------------------------------------------------------- uncertainty, compare


INDUCED = ((60, "10"), (60, "30"), (60, "120"), (60, "40 unequal"), (1, "30"), (2, "120"))  # targets, documents of each


def uncertainty_part(sizes: tuple[int, str], samples: int) -> Iterator[Result]:
    """Intervals of induced vectors: with words that were named, with another target, and with the five nearest."""
    targets, documents = sizes
    rng = np.random.default_rng(18)
    named, between, chosen = [], [], []
    number, *kind = documents.split()
    for _ in range(max(samples // 10, 50)):
        means = MEAN + 0.7 * rng.normal(size=(targets, D)) * SHAPE
        made = in_documents(means, int(number), kind[0] if kind else "1", rng)
        keys = [f"t{place}" for place in range(targets)]
        found = Uncertainty(keys, lambda rows, made=made: made[rows], SPACE)
        true = unit_rows(means)
        similarities = found.similarities("t0", NEAR), found.nearest("t0", 5)
        for hits, table in zip((named, chosen), similarities, strict=True):
            truth = unit_rows(VECTORS[[int(item.other[1:]) for item in table]]) @ true[0]
            pairs = zip(table, truth, strict=True)
            hits.append(np.array([item.conf_low <= value <= item.conf_high for item, value in pairs]))
        if targets > 1:
            item = found.between("t0", "t1")
            between.append(float(item.conf_low <= true[0] @ true[1] <= item.conf_high))
    design = f"{targets} targets with {number} documents of {kind[0] if kind else '1'}".replace("1 targets", "1 target")
    yield line("uncertainty: words named", design, named, "fixed")
    if between:
        yield line("uncertainty: two targets", design, between, "fixed")
    yield line("uncertainty: the five nearest", design, chosen, "selected")


def in_documents(
    means: Doubles, documents: int, kind: str, rng: np.random.Generator, shared: float = 0.0, tails: bool = False
) -> Deviations:
    """Words with so many documents each, in sixteen groups of documents; contexts are twice as noisy as means are long.

    Contexts of a document have half of their variance in common, of which a share is `shared` by all words.
    """
    words = len(means)
    sizes = sizes_of(kind, documents)
    group = rng.permutation(documents) % 16
    common = np.sqrt(0.5 * shared) * noise(rng, None, documents, tails)
    within = [
        common
        + np.sqrt(0.5 * (1 - shared)) * noise(rng, None, documents, tails)
        + np.sqrt(0.5 / sizes)[:, None] * noise(rng, None, documents, False)
        for _ in range(words)
    ]
    sums = (means[:, None] + 2 * np.stack(within)) * sizes[:, None]
    indicator = (group[:, None] == np.arange(16)).astype(np.float64)
    weights = np.broadcast_to(sizes @ indicator, (words, 16))
    return deviations(np.einsum("tnd,ng->tgd", sums, indicator), weights, [int(sizes.sum())] * words, np.eye(D))


# (words, documents and their sizes on either side, share of a document's noise that all words have, tails)
DOCUMENTS = (
    (300, (40, "1"), (40, "1"), 0.0, False),
    (300, (40, "unequal"), (40, "unequal"), 0.0, False),
    (300, (12, "10"), (60, "unequal"), 0.0, False),
    (300, (60, "5"), (60, "skewed"), 0.0, True),
    (300, (40, "5"), (40, "5"), 0.5, False),
    (300, (40, "unequal"), (40, "unequal"), 0.5, False),
    (100, (40, "unequal"), (40, "unequal"), 0.5, False),
    (300, (16, "skewed"), (16, "skewed"), 0.5, False),
    (300, (40, "unequal"), (40, "unequal"), 0.9, False),
)


def documents_part(chosen: tuple[int, tuple[int, str], tuple[int, str], float, bool], samples: int) -> Iterator[Result]:
    """`compare_uses` of words in documents of unequal sizes, whose noise words have in common in part."""
    words, *sides, shared, tails = chosen
    rng = np.random.default_rng(19)
    rejected = []
    for _ in range(max(samples // 10, 50)):
        means = MEAN + 0.7 * rng.normal(size=(words, D)) * SHAPE
        made = [in_documents(means, *side, rng, shared, tails) for side in sides]
        keys = [f"t{place}" for place in range(words)]
        both = [Uncertainty(keys, lambda rows, one=one: one[rows], SPACE) for one in made]
        p = np.array([item.p_value for item in compare_uses(*both)])
        rejected.append(p[np.isfinite(p)] <= 0.05)
    design = " against ".join(f"{number} documents of {kind}" for number, kind in sides)
    design = f"{words} words, {design}" + (f", {shared:.0%} of their noise shared" if shared else "")
    yield line("compare_uses: documents, p-value", design + (", tails" if tails else ""), rejected, "size")


SAME_USE = [(100, sizes, 0.0) for sizes in ((16, 16), (64, 64), (16, 256), (256, 256))]  # words, contexts, distance
SAME_USE += [(300, sizes, 0.0) for sizes in ((64, 64), (64, 256))]
OTHER_USE = [(300, sizes, far) for sizes in ((64, 64), (64, 256), (256, 256)) for far in (0.05, 0.2, 0.5, 0.9)]


def compare_part(chosen: tuple[int, tuple[int, int], float], samples: int) -> Iterator[Result]:
    """`compare_uses` in groups of documents as `spread=16` makes them: its test of words that both corpora use alike,
    and its interval of the distance between uses that differ by as much as said. With 200 words or more vectors are
    measured in units of the typical noise."""
    words, sizes, distance = chosen
    rng = np.random.default_rng(15)
    rejected, covered = [], []
    for _ in range(max(samples // 40, 10)):
        first = rng.normal(size=(words, D)) * SHAPE
        other = rng.normal(size=(words, D)) * SHAPE
        along = unit_rows(first)
        across = unit_rows(other - np.einsum("td,td->t", other, along)[:, None] * along)
        turned = (1 - distance) * along + np.sqrt(1 - (1 - distance) ** 2) * across
        second = turned * np.linalg.norm(first, axis=1, keepdims=True)
        sides = []
        for size, means in zip(sizes, (first, second), strict=True):
            x = means[:, None] + 2 * rng.normal(size=(words, size, D)) * SHAPE
            groups = x.reshape(words, 16, -1, D).sum(axis=2)
            made = deviations(groups, np.full((words, 16), size / 16), [size] * words, np.eye(D))
            sides.append(Uncertainty([f"t{i}" for i in range(words)], lambda rows, made=made: made[rows], SPACE))
        compared = compare_uses(*sides)
        rejected += [float(item.p_value <= 0.05) for item in compared]
        covered += [float(item.conf_low <= distance <= item.conf_high) for item in compared]
    design = f"{words} words, {sizes[0]} against {sizes[1]} contexts"
    if distance:
        yield line("compare_uses: interval", f"{design}, distance {distance:g}", covered, "fixed")
    else:
        yield line("compare_uses: p-value", design, rejected, "size")


def bias_part(samples: int) -> Iterator[str]:
    """How much of the noise of a mean CR2 sees, for clusters of unequal sizes whose contexts are correlated."""
    for sizes, share in (
        ((1, 1, 2, 3, 9), 0.0),
        ((1, 1, 2, 3, 9), 0.3),
        ((5,) * 8, 0.5),
        (tuple(sizes_of("unequal", 20)), 0.5),
    ):
        rng = np.random.default_rng(16)
        codes = np.repeat(np.arange(len(sizes)), sizes)
        means, seen = [], []
        for _ in range(max(samples, 500)):
            x = np.sqrt(1 - share) * rng.normal(size=(len(codes), D))
            x += np.sqrt(share) * rng.normal(size=(len(sizes), D))[codes]
            units = Units.of(x, codes)
            means.append(np.sum(units.mean() ** 2))
            seen.append(units.noise())
        shown = ", ".join(map(str, sizes)) if len(sizes) < 9 else f"{len(sizes)} clusters of 1 … 32"
        yield f"| {shown} | {share:g} | {np.mean(seen) / np.mean(means):.2f} |"


PARTS: dict[str, tuple[Callable[[Any, int], Iterator[Result]], Sequence[Any]]] = {
    "regress": (regress_part, REGRESSIONS),
    "ratio": (ratio_part, PAIRS),
    "cosines": (cosines_part, SINGLES),
    "uncertainty": (uncertainty_part, INDUCED),
    "compare": (compare_part, SAME_USE + OTHER_USE),
    "documents": (documents_part, DOCUMENTS),
    "fresh": (fresh_part, tuple(fresh_regressions())),
}


def one_design(task: tuple[str, int, int]) -> list[Result]:
    """The lines of one design, by the name of its part and its place in it."""
    part, place, samples = task
    run, designs = PARTS[part]
    results = list(run(designs[place], samples))
    for result in results:
        print(f"{result.what}, {result.design}: {result.share:.3f}", file=sys.stderr, flush=True)
    return results


ONE_RUN = [name for name in PARTS if name != "fresh"] + ["bias"]


def show(results: list[Result]) -> None:
    """A table for each kind of line: a row a design, a column a thing that was counted; * where it is off."""
    for kind in dict.fromkeys(result.what.split(":")[0] for result in results):
        chosen = [result for result in results if result.what.split(":")[0] == kind]
        columns = list(dict.fromkeys(result.what for result in chosen))
        cells = {(result.design, result.what): result for result in chosen}
        print("\n| " + " | ".join(["design", *columns]) + " |\n|" + "---|" * (len(columns) + 1))
        for design in dict.fromkeys(result.design for result in chosen):
            row = [cells.get((design, column)) for column in columns]
            warns = " (warns)" if any(result.warns for result in row if result) else ""
            shown = ["" if r is None else f"{r.share:.3f} ± {r.error:.3f}" + "*" * bool(r.verdict) for r in row]
            print("| " + " | ".join([design + warns, *shown]) + " |", flush=True)


def summarise(results: list[Result]) -> None:
    for nominal, bounds in (("size", ".03–.07"), ("fixed", ".93–.97"), ("selected", "≥ .93")):
        chosen = [result for result in results if result.nominal == nominal]
        off = [result for result in chosen if result.verdict]
        silent = sum(not result.warns for result in off)
        if chosen:
            kind = {"size": "sizes", "fixed": "coverages", "selected": "coverages of what was chosen"}[nominal]
            print(f"\n{len(chosen)} {kind}: {len(off)} are not {bounds} (by more than 2 ±), {silent} without a warning")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="200 samples a design")
    parser.add_argument("--samples", type=int, default=2000)
    parser.add_argument("--part", nargs="*", choices=[*PARTS, "bias"], default=ONE_RUN)
    parser.add_argument("--jobs", type=int, default=1, help="designs at a time; the figures do not depend on it")
    options = parser.parse_args()
    samples = 200 if options.quick else options.samples
    results = []
    parts = [part for part in options.part if part in PARTS]
    tasks = [(part, place, samples) for part in parts for place in range(len(PARTS[part][1]))]
    with ProcessPoolExecutor(options.jobs) as pool:
        by_task = dict(zip(tasks, pool.map(one_design, tasks), strict=True))
    for part in parts:
        found = [result for task in tasks if task[0] == part for result in by_task[task]]
        show(found)
        results += found
    if "bias" in options.part:
        print("\n| contexts in each cluster | correlation | noise seen |\n|---|---|---|")
        for text in bias_part(samples):
            print(text)
    summarise(results)


if __name__ == "__main__":
    main()
