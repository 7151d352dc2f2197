"""A language whose spelling is meaning, and text in it."""

import numpy as np

from alacarte import WordVectors


def language(rng, roots=60, endings=12, dimension=8, noise=0.05):
    """Words are a root and an ending, and so are their vectors, around a common mean."""
    letters = np.array(list("bcdfghklmnprstvw"))
    stems = ["".join(rng.choice(letters, 4)) for _ in range(roots)]
    suffixes = ["".join(rng.choice(list("aeiou"), 3)) for _ in range(endings)]
    root, ending = rng.normal(size=(roots, dimension)), rng.normal(size=(endings, dimension))
    pairs = {stems[i] + suffixes[j]: root[i] + ending[j] + 3.0 for i in range(roots) for j in range(endings)}
    matrix = np.array(list(pairs.values())) + noise * rng.normal(size=(len(pairs), dimension))
    order = rng.permutation(len(pairs))
    return WordVectors([list(pairs)[i] for i in order], matrix[order].astype(np.float32))


def text_in(vectors, rng, lines):
    """Text in which words stand beside words with vectors near theirs, the word itself in the middle of five."""
    centred = vectors.matrix - vectors.matrix.mean(axis=0)
    text = []
    for word in rng.integers(len(vectors), size=lines):
        scores = 0.5 * centred @ centred[word]
        chances = np.exp(scores - scores.max())
        near = [vectors.words[i] for i in rng.choice(len(vectors), 4, p=chances / chances.sum())]
        text.append(" ".join([*near[:2], vectors.words[word], *near[2:]]))
    return text
