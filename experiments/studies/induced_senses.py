"""Are senses found that are known to be there? Contexts of two or three words are thrown together as if of one.

    python experiments/studies/induced_senses.py CORPUS --model glove.6B.100d --vectors glove.6B.100d.txt

How many contexts land in the group of their word, the number of groups being known, for contexts as sums of vectors,
transformed, and as `alacarte.senses.induction` has them; and the number of groups that it finds by itself.
"""

import argparse
from pathlib import Path

import numpy as np
from scipy.optimize import linear_sum_assignment

from alacarte import ALaCarte, Transform
from alacarte.senses.induction import MOST, STRONG, features
from alacarte.senses.mixture import fit_mixture, prediction_strength
from alacarte.senses.occurrences import gather

WORDS = """
    banana door river money guitar engine bishop virus tennis castle poem protein lawyer desert wine
    laser piano senator galaxy knife horse cinema treaty oxygen
""".split()  # noqa: SIM905


def accuracy(labels: np.ndarray, truth: np.ndarray, k: int) -> float:
    table = np.zeros((k, k))
    np.add.at(table, (labels, truth), 1)
    rows, columns = linear_sum_assignment(-table)
    return float(table[rows, columns].sum() / len(labels))


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("corpus", type=Path)
    options.add_argument("--model", default="glove.6B.50d")
    options.add_argument("--vectors")
    options.add_argument("--contexts", type=int, default=400)
    options.add_argument("--mixtures", type=int, default=12)
    given = options.parse_args()
    model = ALaCarte.pretrained(given.model, vectors=given.vectors)
    plain = ALaCarte(model.vectors, Transform(np.eye(model.vectors.dimension), settings=model.settings))
    gathered = gather(model, given.corpus, WORDS, limit=given.contexts).usable()
    rng = np.random.default_rng(0)
    right: dict[str, list[float]] = {"sums of vectors": [], "transformed": [], "as induced": []}
    bare = ALaCarte(model.vectors, model.transform)
    for _ in range(given.mixtures):
        pair = rng.choice(len(WORDS), 2, replace=False)
        mixed = gathered.select(np.isin(gathered.targets, pair))
        truth = (mixed.targets == pair[1]).astype(int)
        for name, made in (("sums of vectors", plain), ("transformed", bare), ("as induced", model)):
            x = features(made, mixed)
            labels = fit_mixture(x, 2, rng).memberships(x).argmax(axis=1)
            right[name].append(accuracy(labels, truth, 2))
    print(
        f"{given.mixtures} pairs of words, up to {given.contexts} contexts each: contexts in the right one of 2 groups"
    )
    for name, values in right.items():
        print(f"  {name:<16} mean {np.mean(values):.3f}, worst {np.min(values):.3f}")
    for size in (1, 2, 3):
        numbers = []
        for _ in range(given.mixtures):
            chosen = rng.choice(len(WORDS), size, replace=False)
            mixed = gathered.select(np.isin(gathered.targets, chosen))
            x = features(model, mixed)
            strengths = {k: prediction_strength(x, mixed.documents, k, rng) for k in range(2, MOST + 1)}
            numbers.append(max((k for k, strength in strengths.items() if strength >= STRONG), default=1))
        print(f"{size} words together: groups found {' '.join(map(str, sorted(numbers)))}", flush=True)


if __name__ == "__main__":
    main()
