"""Size of tests and coverage of intervals on real contexts, in the designs that people have.

    python benchmarks/inference_real.py sotu.jsonl.xz [--samples N] [--seed N] [--design NAME …]

The text is that of 245 State of the Union addresses, cut into pieces of 150 words. A piece stands for a document (a
press release), a speech for a speaker, whose documents are alike in topic, style and time. Each sample takes the
contexts of one of three frequent words in some of them, and puts documents, speakers or years into groups at random:
whatever is found between these is not there. All calls are made as a user makes them first, without options, unless
the design names one.

A size is the share of p-values ≤ .05 and should be .05; a coverage is the share of 95 % intervals that hold the truth
(0, or for cosines the value in all speeches). "Warned" is the share of samples with a warning, "refused" that of
samples without p-value or interval, which count for neither. ± is the standard error of the simulation.
"""

import argparse
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from alacarte import ALaCarte
from alacarte.errors import AlacarteWarning
from alacarte.regression import (
    Inference,
    contexts,
    dem,
    nearest,
    placebo_cuts,
    ratio,
    read_table,
    regress,
    similarity,
    similarity_over,
)
from alacarte.regression.embed import Embeddings
from alacarte.regression.frames import Variables

WORDS = ("people", "war", "government")
PIECE = 150  # words of a document
QUICK = Inference(permutations=199, show_progress=False)


@dataclass(frozen=True)
class Drawn:
    """What one sample gave: p-values, intervals, the truth, whether it was warned of."""

    p: Any
    low: Any
    high: Any
    truth: Any = 0.0
    warned: bool = False


@dataclass(frozen=True)
class World:
    """The speeches, the model, and the contexts of three words."""

    speeches: Any
    model: ALaCarte

    @classmethod
    def read(cls, path: Path) -> "World":
        """Read the speeches."""
        frame = read_table(path)
        frame["year"] = (1970 + frame["Date"] / 365.25).astype(int)
        frame["president"] = frame["FirstName"] + " " + frame["President"]
        return cls(frame, ALaCarte.pretrained("glove.6B.50d"))

    @cached_property
    def pieces(self) -> dict[str, list[Any]]:
        """The text in pieces, with speech, president and year."""
        rows = []
        for speech, president, year, text in self.speeches[["docname_", "president", "year", "text"]].itertuples(
            index=False
        ):
            words = text.split()
            parts = [" ".join(words[start : start + PIECE]) for start in range(0, len(words), PIECE)]
            rows += [(part, speech, president, year) for part in parts]
        return dict(zip(("text", "speech", "president", "year"), map(list, zip(*rows, strict=True)), strict=True))

    @cached_property
    def uses(self) -> dict[str, Embeddings]:
        """The contexts of each word, a document being a piece."""
        return {word: dem(contexts(self.pieces, word, known=self.model), self.model) for word in WORDS}

    @cached_property
    def by_speech(self) -> dict[str, Embeddings]:
        """The same, a document being a whole speech."""
        return {word: dem(contexts(self.speeches, word, known=self.model), self.model) for word in WORDS}

    def some(self, rng: np.random.Generator) -> Embeddings:
        """The contexts of one of the words."""
        return self.uses[WORDS[rng.integers(len(WORDS))]]


def with_columns(found: Embeddings, **columns: Any) -> Embeddings:
    """Contexts with these variables, and no others."""
    return replace(found, variables=Variables({name: np.asarray(column) for name, column in columns.items()}))


def documents_of(found: Embeddings) -> np.ndarray:
    """The number of each context's document, from 0 on."""
    return np.unique(found.contexts.documents[found.rows], return_inverse=True)[1]


def codes_of(found: Embeddings, column: str) -> np.ndarray:
    return np.unique(found.variables.columns[column], return_inverse=True)[1]


def halves(rng: np.random.Generator, number: int) -> np.ndarray:
    """A group for each of some units, half of them in either."""
    return np.array(["a", "b"])[rng.permutation(number) % 2]


def taken(rng: np.random.Generator, found: Embeddings, units: np.ndarray, number: int) -> Embeddings:
    """The contexts of some units, drawn without replacement."""
    return found.select(np.isin(units, rng.choice(units.max() + 1, number, replace=False)))


def fitted(formula: str, data: Any, *model: Any, term: int = 0, **options: Any) -> Drawn:
    """What `regress` says of a term."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        table = regress(formula, data, *model, inference=QUICK, **options).table
    warned = any(issubclass(item.category, AlacarteWarning) for item in caught)
    return Drawn(table["p_value"][term], table["conf_low"][term], table["conf_high"][term], warned=warned)


# ------------------------------------------------------------------------------------------------- regress


def by_document(world: World, rng: np.random.Generator) -> Drawn:
    """120 documents"""
    found = world.some(rng)
    found = taken(rng, found, documents_of(found), 120)
    units = documents_of(found)
    return fitted("~ group", with_columns(found, group=halves(rng, 120)[units]))


def texts_of(world: World, rng: np.random.Generator, number: int) -> tuple[str, list[str], np.ndarray]:
    """A word, some documents in which it occurs, and their groups."""
    word = WORDS[rng.integers(len(WORDS))]
    holding = [text for text in world.pieces["text"] if f" {word} " in text]
    return word, [holding[row] for row in rng.choice(len(holding), number, replace=False)], halves(rng, number)


def changed(rng: np.random.Generator, text: str, share: float = 0.01) -> str:
    """A text in which some words are others."""
    words = text.split()
    for place in np.flatnonzero(rng.random(len(words)) < share):
        words[place] = "changed"
    return " ".join(words)


def reprinted(world: World, rng: np.random.Generator) -> Drawn:
    """120 documents, reprinted 1–30 times with 1 % of the words changed"""
    word, texts, groups = texts_of(world, rng, 120)
    times = np.ceil(30 ** rng.random(120)).astype(int)
    copies = [changed(rng, text) for text, count in zip(texts, times, strict=True) for _ in range(count)]
    data = {"text": copies, "group": np.repeat(groups, times).tolist()}
    return fitted(f"{word} ~ group", data, world.model)


def some_twice(world: World, rng: np.random.Generator) -> Drawn:
    """200 documents, 15 % of them twice"""
    word, texts, groups = texts_of(world, rng, 200)
    data = {"text": texts + texts[:30], "group": [*groups.tolist(), *groups[:30].tolist()]}
    return fitted(f"{word} ~ group", data, world.model)


def speakers(number: int, unequal: bool, **options: Any) -> Callable[[World, np.random.Generator], Drawn]:
    """A design: party of speakers, with all of their documents or with numbers from 1 to 200."""

    def design(world: World, rng: np.random.Generator) -> Drawn:
        found = world.some(rng)
        found = taken(rng, found, codes_of(found, "speech"), number)
        if unequal:
            found = found.select(unequal_rows(rng, codes_of(found, "speech"), 200))
        speech = codes_of(found, "speech")
        party = halves(rng, number)[speech]
        return fitted("~ party", with_columns(found, party=party, speaker=found.variables.columns["speech"]), **options)

    return design


def unequal_rows(rng: np.random.Generator, units: np.ndarray, most: int) -> np.ndarray:
    """Rows of units, of which some keep one row and some nearly all."""
    kept = []
    for unit in range(units.max() + 1):
        rows = np.flatnonzero(units == unit)
        kept.append(rng.permutation(rows)[: int(np.ceil(most ** rng.random()))])
    return np.sort(np.concatenate(kept))


def drifting(world: World, rng: np.random.Generator) -> Drawn:
    """speeches, a covariate that drifts over the years (AR 1, .9)"""
    found = world.by_speech[WORDS[rng.integers(len(WORDS))]]
    year = found.variables.columns["year"]
    years = np.unique(year)
    x = np.zeros(len(years))
    x[0] = rng.normal() / np.sqrt(1 - 0.81)
    for place in range(1, len(years)):
        x[place] = 0.9 * x[place - 1] + rng.normal()
    return fitted(
        "~ x", replace(found, variables=Variables(found.variables.columns | {"x": x[np.searchsorted(years, year)]}))
    )


def eras(world: World, rng: np.random.Generator) -> Drawn:
    """speeches, two eras cut at random"""
    found = world.by_speech[WORDS[rng.integers(len(WORDS))]]
    year = found.variables.columns["year"]
    cut = rng.choice(np.arange(1810, 2005))
    era = np.where(year < cut, "before", "after")
    return fitted("~ era", replace(found, variables=Variables(found.variables.columns | {"era": era})))


def placebos(world: World, rng: np.random.Generator) -> Drawn:
    """`placebo_cuts` of the same"""
    found = world.by_speech[WORDS[rng.integers(len(WORDS))]]
    table = placebo_cuts(found, "year", int(rng.choice(np.unique(found.variables.columns["year"])[10:-10])))
    return Drawn(table.info["p_value"], np.nan, np.nan)


def leverage(world: World, rng: np.random.Generator) -> Drawn:
    """120 documents, one x 20–40 standard deviations out and noisy"""
    found = world.some(rng)
    found = taken(rng, found, documents_of(found), 120)
    units = documents_of(found)
    x = rng.normal(size=120)
    x[0] = rng.uniform(20, 40)
    matrix = found.matrix.copy()
    matrix[units == 0] += 2 * np.linalg.norm(matrix.std(axis=0)) * rng.normal(size=50) / np.sqrt(50)
    return fitted("~ x", with_columns(replace(found, matrix=matrix, outcome=None), x=x[units]))


def typed_wrong(world: World, rng: np.random.Generator) -> Drawn:
    """120 documents, one year typed as 9999"""
    found = world.some(rng)
    found = taken(rng, found, documents_of(found), 120)
    units = documents_of(found)
    year = rng.integers(1990, 2020, 120)
    year[0] = 9999
    return fitted("~ year", with_columns(found, year=year[units]))


def lengths(world: World, rng: np.random.Generator) -> Drawn:
    """60 speeches, half of them stored sentence by sentence"""
    word = WORDS[rng.integers(len(WORDS))]
    rows = rng.choice(len(world.speeches), 60, replace=False)
    data: dict[str, list[Any]] = {"text": [], "speech": [], "stored": []}
    for place, text in enumerate(world.speeches["text"].iloc[rows]):
        parts = [text] if place % 2 else [part for part in text.replace("?", ".").split(".") if part.strip()]
        data["text"] += parts
        data["speech"] += [f"speech {place}"] * len(parts)
        data["stored"] += ["whole" if place % 2 else "sentences"] * len(parts)
    return fitted(f"{word} ~ stored", data, world.model)


# --------------------------------------------------------------------------------------------------- cosines


def ratios(world: World, rng: np.random.Generator) -> Drawn:
    """ratio, 120 documents"""
    found = world.some(rng)
    found = taken(rng, found, documents_of(found), 120)
    data = with_columns(found, group=halves(rng, 120)[documents_of(found)])
    table, warned = caught(lambda: ratio(data, "group", k=5, candidates=10_000, inference=QUICK))
    return Drawn(table["p_value"], table["conf_low"], table["conf_high"], 1.0, warned)


def caught(call: Callable[[], Any]) -> tuple[Any, bool]:
    with warnings.catch_warnings(record=True) as listed:
        warnings.simplefilter("always")
        table = call()
    return table, any(issubclass(item.category, AlacarteWarning) for item in listed)


def cosines(number: int, k: int | None) -> Callable[[World, np.random.Generator], Drawn]:
    """A design: cosines of speakers drawn with replacement from all, with named words or the nearest."""

    def design(world: World, rng: np.random.Generator) -> Drawn:
        found = world.some(rng)
        speech = codes_of(found, "speech")
        pool = np.random.default_rng(5)  # the population: speakers with 1 to 200 contexts, the same in all samples
        found = found.select(unequal_rows(pool, speech, 200))
        speech = codes_of(found, "speech")
        rows = [np.flatnonzero(speech == unit) for unit in rng.integers(0, speech.max() + 1, number)]
        speaker = np.repeat([f"s{place}" for place in range(number)], [len(part) for part in rows])
        sample = replace(
            found.select(np.concatenate(rows)), contexts=None, variables=Variables({"speaker": speaker.astype(object)})
        )
        call: Callable[..., Any] = nearest
        options: dict[str, Any] = {"k": k, "candidates": 10_000}
        if k is None:
            call, options = similarity, {"features": ["country", "peace", "law", "army", "women", "money"]}
        table, warned = caught(lambda: call(sample, cluster="speaker", intervals=0.95, **options))
        equal = "weigh the same" in " ".join(table.notes)
        own = np.array([found.matrix[speech == unit].mean(axis=0) for unit in range(speech.max() + 1)])
        mean = own.mean(axis=0) if equal else found.matrix.mean(axis=0)
        near = found.vectors[table["feature"].tolist()].astype(np.float64)
        truth = near @ mean / np.linalg.norm(near, axis=1) / np.linalg.norm(mean)
        return Drawn(np.full(len(truth), np.nan), table["conf_low"], table["conf_high"], truth, warned)

    return design


def steps(periods: int, dealt: bool) -> Callable[[World, np.random.Generator], Drawn]:
    """A design: ten cosines over periods in random order, or in years to which speeches are dealt at random."""

    def design(world: World, rng: np.random.Generator) -> Drawn:
        found = world.by_speech[WORDS[rng.integers(len(WORDS))]]
        speech, year = documents_of(found), found.variables.columns["year"]
        period = np.searchsorted(np.quantile(np.unique(year), np.linspace(0, 1, periods + 1))[1:-1], year, side="right")
        period = rng.integers(0, periods, speech.max() + 1)[speech] if dealt else rng.permutation(periods)[period]
        known = [word for word in world.model.vectors.words[100:3000] if word.isalpha()]
        data = with_columns(found, period=period)
        features = rng.choice(known, 10, replace=False).tolist()
        table, warned = caught(lambda: similarity_over(data, "period", features, cluster="document", intervals=0.95))
        low, high = table["drift_low"], table["drift_high"]
        return Drawn(np.full(len(low), np.nan), low, high, table["estimate"], warned)

    return design


DESIGNS: dict[str, tuple[str, Callable[[World, np.random.Generator], Drawn]]] = {
    "documents": ("`regress`, 120 documents, groups by document", by_document),
    "reprints": ("the same, each reprinted 1–30 times with 1 % of its words changed", reprinted),
    "twice": ("200 documents, 15 % of them twice", some_twice),
    "speakers": ("100 speakers, party shuffled", speakers(100, False)),
    "speakers-low": ('the same, `cluster="document"`', speakers(100, False, cluster="document")),
    "unequal": ("100 speakers with 1 to 200 contexts", speakers(100, True)),
    "few": ("30 speakers", speakers(30, False)),
    "few-unequal": ("30 speakers with 1 to 200 contexts", speakers(30, True)),
    "drift": ("245 speeches, a covariate that drifts over the years (AR 1, .9)", drifting),
    "eras": ("245 speeches, two eras cut at random", eras),
    "placebo": ("`placebo_cuts` of the same", placebos),
    "leverage": ("120 documents, one x 20–40 standard deviations out and noisy", leverage),
    "9999": ("120 documents, one year typed as 9999", typed_wrong),
    "lengths": ("60 speeches, half of them stored sentence by sentence", lengths),
    "ratio": ("`ratio`, 120 documents, the five nearest of either", ratios),
    "nearest-40": ("`nearest`, the five nearest, 40 speakers with 1 to 200 contexts", cosines(40, 5)),
    "nearest-80": ("`nearest`, the five nearest, 80 speakers", cosines(80, 5)),
    "similarity": ("`similarity`, six words, 50 speakers", cosines(50, None)),
    "steps": ("`similarity_over`, 12 periods in random order: the band of drift", steps(12, False)),
    "steps-8": ("the same, 8 periods", steps(8, False)),
    "steps-dealt": ("the same, speeches dealt to 12 periods at random", steps(12, True)),
}


@dataclass(frozen=True)
class Line:
    """One design: shares, and the standard error of each."""

    size: tuple[float, float]
    coverage: tuple[float, float]
    warned: float
    refused: float
    apart: int  # samples in which the p-value rejects what the interval holds, or the other way round


def simulate(world: World, name: str, samples: int, seed: int = 1) -> Line:
    """Simulate one design; each sample has random numbers of its own."""
    rejected, held, warned, refused, apart = [], [], [], [], 0
    for number in range(samples):
        drawn = DESIGNS[name][1](world, np.random.default_rng([seed, number]))
        p, low, high, truth = np.broadcast_arrays(*map(np.atleast_1d, (drawn.p, drawn.low, drawn.high, drawn.truth)))
        known = np.isfinite(low)
        warned.append(drawn.warned)
        refused.append(not known.any() and not np.isfinite(p).any())
        if known.any():
            held.append(np.mean((low[known] <= truth[known]) & (truth[known] <= high[known])))
        if np.isfinite(p).any():
            rejected.append(np.mean(p[np.isfinite(p)] <= 0.05))
        both = known & np.isfinite(p)
        apart += bool(((p <= 0.05) == ((low <= truth) & (truth <= high)))[both].any())
    return Line(_share(rejected), _share(held), float(np.mean(warned)), float(np.mean(refused)), apart)


def _share(values: list[float]) -> tuple[float, float]:
    if not values:
        return float("nan"), float("nan")
    spread = float(np.std(values)) or np.sqrt(1 / (len(values) + 1))
    return float(np.mean(values)), spread / np.sqrt(len(values))


def _shown(value: tuple[float, float]) -> str:
    return "–" if value[0] != value[0] else f"{value[0]:.3f} ± {value[1]:.3f}"


def main() -> None:
    """Print one line per design."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="the speeches, as JSON lines")
    parser.add_argument("--samples", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--design", nargs="*", choices=list(DESIGNS), default=list(DESIGNS))
    given = parser.parse_args()
    world = World.read(given.data)
    print("| design | size | coverage | warned | refused | p and interval disagree |\n|---|---|---|---|---|---|")
    for name in given.design:
        line = simulate(world, name, given.samples, given.seed)
        cells = [
            DESIGNS[name][0],
            _shown(line.size),
            _shown(line.coverage),
            f"{line.warned:.0%}",
            f"{line.refused:.0%}",
            str(line.apart),
        ]
        print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    sys.exit(main())
