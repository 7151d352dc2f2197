"""How often the regions of doubt on a map of words hold the true place, by the number of contexts a word.

    python benchmarks/word_map.py [--words 480] [--seed 1]

Words have contexts drawn from a distribution of their own, so that the vector of endless contexts is known.
"""

import argparse

import numpy as np

from alacarte import Transform, WordVectors, collect
from alacarte.comparing.word_map import word_map
from alacarte.uncertainty.uncertainty import Uncertainty

TOGETHER = 40  # words on one map


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--words", type=int, default=480)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    rng = np.random.default_rng(arguments.seed)
    vectors = WordVectors([f"w{number}" for number in range(300)], rng.normal(size=(300, 12)))
    for contexts in (8, 30, 200):
        inside: list[bool] = []
        while len(inside) < arguments.words:
            inside += covered(rng, vectors, contexts)
        error = np.sqrt(np.mean(inside) * (1 - np.mean(inside)) / len(inside))
        print(
            f"{contexts:4} contexts: {np.mean(inside):.3f} ± {error:.3f} of {len(inside)} regions hold the true place"
        )


def covered(rng: np.random.Generator, vectors: WordVectors, contexts: int) -> list[bool]:
    names = [f"t{number}" for number in range(TOGETHER)]
    chances = rng.dirichlet(np.full(len(vectors), 0.05), size=TOGETHER)
    text = [
        " ".join([name, *rng.choice(vectors.words, 6, p=chance)])
        for name, chance in zip(names, chances, strict=True)
        for _ in range(contexts)
    ]
    sums = collect(vectors, text, names, spread=16, window=10, show_progress=False)
    plane = word_map(Uncertainty.of_sums(sums, Transform(np.eye(vectors.dimension)), vectors))
    truth = plane.project(chances @ vectors.matrix.astype(np.float64))
    held = []
    for point, place in zip(plane, truth, strict=True):
        across, up = place - [point.x, point.y]
        turn = np.array([[np.cos(point.angle), np.sin(point.angle)], [-np.sin(point.angle), np.cos(point.angle)]])
        held.append(bool(((turn @ [across, up] / [point.major, point.minor]) ** 2).sum() <= 1))
    return held


if __name__ == "__main__":
    main()
