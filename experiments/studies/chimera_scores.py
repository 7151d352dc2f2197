r"""Chimeras: does another way to score probes beat `informed`? On the train split only; docs/reproduction/chimeras.md.

    python experiments/studies/chimera_scores.py ../shared/data/fewshot/chimera \
        --corpus wiki.txt --vectors glove.6B.100d.npy

Every line is one variant: mean ρ at 2, 4 and 6 sentences, its difference to `informed` trial by trial over all
three lengths, and the standard error of that difference.
"""

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np
from alacarte_experiments.fewshot.data import Chimera, read_chimeras
from alacarte_experiments.fewshot.systems import System, Workbench
from alacarte_experiments.lab.measures import mean_and_error, spearman
from alacarte_experiments.lab.settings import Settings
from alacarte_experiments.lab.store import Store

from alacarte.model import SLOT
from alacarte.text.tokenizers import get_tokenizer
from alacarte.vectors.geometry import unit_rows


@dataclass(frozen=True)
class Trial:
    """The words of a trial as rows of the vectors; how far each is from the nearest slot, and which slot that is."""

    words: np.ndarray
    distances: np.ndarray
    slots: np.ndarray
    probes: np.ndarray
    ratings: np.ndarray


def trial_of(chimera: Chimera, rows: dict[str, int]) -> Trial:
    tokens = [token for text in chimera.sentences for token in get_tokenizer("words")(text, rows)]
    slots = np.array([place for place, token in enumerate(tokens) if SLOT.match(token)] or [0])
    places = np.array([place for place, token in enumerate(tokens) if token in rows and not SLOT.match(token)])
    away = np.abs(places[:, None] - slots)
    rated = [(rows[word], rating) for word, rating in zip(chimera.probes, chimera.ratings, strict=True) if word in rows]
    words = np.array([rows[tokens[place]] for place in places])
    probes, ratings = (np.array(column) for column in zip(*rated, strict=True))
    return Trial(words, away.min(axis=1), away.argmin(axis=1), probes, ratings)


Score = Callable[[Trial], np.ndarray]


def variants(vectors: np.ndarray, matrix: np.ndarray, weights: np.ndarray, trials: list[Trial]) -> Iterator[tuple]:
    """(name, the scores of a trial's probes) for each variant; the first is `informed` itself."""
    unit, mapped = unit_rows(vectors), vectors @ matrix.T

    def vector(trial: Trial, factor: np.ndarray | float = 1.0, images: np.ndarray = mapped) -> np.ndarray:
        weight = weights[trial.words] * factor
        return unit_rows((weight @ images[trial.words] / weight.sum())[None])[0]

    def cosines(trial: Trial, **how: object) -> np.ndarray:
        return unit[trial.probes] @ vector(trial, **how)

    def by_word(trial: Trial, sharpness: float, images: np.ndarray) -> np.ndarray:
        """The soft maximum, over context words, of their cosine with each probe."""
        likeness = unit[trial.probes] @ unit_rows(images[trial.words]).T
        weight = weights[trial.words] / weights[trial.words].sum()
        return np.log(np.exp(sharpness * likeness) @ weight) / sharpness

    def by_sentence(trial: Trial, sharpness: float) -> np.ndarray:
        each = np.stack([vector(trial, trial.slots == slot) for slot in np.unique(trial.slots)])
        return np.log(np.exp(sharpness * (unit[trial.probes] @ each.T)).mean(axis=1)) / sharpness

    def repeated(trial: Trial) -> np.ndarray:
        _, place, counts = np.unique(trial.words, return_inverse=True, return_counts=True)
        return counts[place]

    average = np.mean([vector(trial) for trial in trials], axis=0)
    scale = np.trace(matrix) / len(matrix)
    yield "informed", cosines
    for half in (2, 5, 10):
        yield f"near words more: 1 / (1 + d / {half})", lambda t, h=half: cosines(t, factor=1 / (1 + t.distances / h))
    for power in (0.5, 1):
        yield f"repeated words less: n^-{power}", lambda t, p=power: cosines(t, factor=repeated(t) ** -float(p))
    for share in (0.5, 1):
        yield f"less {share} × the probe's average cosine", lambda t, s=share: cosines(t) - s * unit[t.probes] @ average
    for share in (0.25, 0.5):
        images = (1 - share) * mapped + share * scale * vectors
        yield f"matrix shrunk by {share} to the identity", lambda t, i=images: cosines(t, images=i)
    for sharpness in (3, 10):
        yield f"soft maximum over sentences, {sharpness}", lambda t, s=sharpness: by_sentence(t, s)
    for (name, images), sharpness, share in product((("", vectors), (", mapped", mapped)), (5, 10), (0.5, 1, 2)):
        yield (
            f"plus {share} × soft maximum over words{name}, {sharpness}",
            lambda t, i=images, s=sharpness, w=share: cosines(t) + w * by_word(t, s, i),
        )


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("data")
    options.add_argument("--corpus", required=True)
    options.add_argument("--vectors", required=True)
    options.add_argument("--cache")
    given = options.parse_args()
    settings = Settings(
        "chimera", corpus=(given.corpus,), data=given.data, vectors=given.vectors, tau="100", weights="uniform"
    )
    vectors, corpus = settings.open(None, None)
    model = Workbench(vectors, corpus, Store(given.cache)).linear(System.parse("informed", settings))
    by_size = {
        size: [trial_of(chimera, model.vectors.key_to_index) for chimera in chimeras]
        for size, chimeras in read_chimeras(given.data, None).items()
    }
    trials = [trial for some in by_size.values() for trial in some]
    sizes = np.repeat(list(by_size), [len(some) for some in by_size.values()])
    print("| variant | 2 | 4 | 6 | less `informed` |\n|---|---|---|---|---|")
    first: np.ndarray | None = None
    parts = (np.asarray(part, np.float64) for part in (model.vectors.matrix, model.transform.matrix))
    weights = np.asarray(model.transform.weights.values, np.float64)
    for name, score in variants(*parts, weights, trials):
        rho = np.array([float(spearman(score(trial), trial.ratings)) for trial in trials])
        first = rho if first is None else first
        difference, error = mean_and_error(rho - first)
        means = " | ".join(f"{rho[sizes == size].mean():.3f}" for size in by_size)
        print(f"| {name} | {means} | {difference:+.3f} ± {error:.3f} |", flush=True)


if __name__ == "__main__":
    main()
