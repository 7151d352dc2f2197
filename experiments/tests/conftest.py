"""A small world whose right answers are known.

Content words have random vectors x and share a direction g; stop words are mostly g. A word's contexts hold words
with vectors near its own and many stop words. So a sum of context vectors points along g, and its neighbours are stop
words: additive must fail. A linear map can take g away again: à la carte must succeed.
"""

from dataclasses import dataclass

import numpy as np
import pytest
from alacarte_experiments.lab.settings import Settings
from alacarte_experiments.lab.store import Store
from sense_fixtures import dict_folder, model, semcor, wordnet  # noqa: F401 (fixtures)

from alacarte import WordVectors

D, CONTENT, STOP = 8, 300, 80


@dataclass
class World:
    vectors: WordVectors
    hidden: np.ndarray  # the x of each content word
    rng: np.random.Generator

    def context(self, word, content=8, stop=8):
        """Words around a content word (by number), the word's own place marked by None in the middle."""
        scores = self.hidden @ self.hidden[word]
        scores[word] = -np.inf
        chances = np.exp(1.5 * (scores - scores.max()))
        near = self.rng.choice(CONTENT, content, p=chances / chances.sum())
        common = self.rng.choice(STOP, stop)
        words = [f"w{i}" for i in near] + [f"s{i}" for i in common]
        # Content words mostly stand nearer than stop words, so that weights by distance are worth learning.
        far = np.concatenate([self.rng.random(content), 0.5 + self.rng.random(stop)])
        placed = [words[place] for place in np.argsort(far)]
        return [*placed[0::2][::-1], None, *placed[1::2]]

    def sentence(self, word, name=None):
        name = f"w{word}" if name is None else name
        return " ".join(name if token is None else token for token in self.context(word))

    def corpus(self, documents):
        return [self.sentence(word) for word in self.rng.integers(CONTENT, size=documents)]


@pytest.fixture(scope="session")
def world():
    rng = np.random.default_rng(1)
    hidden = rng.normal(size=(CONTENT, D))
    hidden /= np.linalg.norm(hidden, axis=1, keepdims=True)
    hidden *= 3.0
    g = np.zeros(D)
    g[0] = 1.0
    matrix = np.vstack([hidden + 1.0 * g, 8.0 * g + 0.6 * rng.normal(size=(STOP, D))])
    words = [f"w{i}" for i in range(CONTENT)] + [f"s{i}" for i in range(STOP)]
    return World(WordVectors(words, matrix.astype(np.float32)), hidden, rng)


@pytest.fixture(scope="session")
def text(world):
    return world.corpus(6000)


@pytest.fixture(scope="session")
def files(world, text, tmp_path_factory):
    """The world as files: vectors, corpus, and the data set of each experiment, in their usual layouts."""
    import json

    folder = tmp_path_factory.mktemp("world")
    world.vectors.save(folder / "vectors.safetensors")
    (folder / "corpus.txt").write_text("\n".join(text) + "\n", encoding="utf-8")
    nonces = folder / "nonce"
    nonces.mkdir()
    for split, words in (("train", range(40)), ("test", range(40, 80))):
        lines = [f"w{word}\t{world.sentence(word, '___')}" for word in words]
        (nonces / f"{split}.txt").write_text("# comment\n" + "\n".join(lines) + "\n", encoding="utf-8")
    chimeras = folder / "chimera"
    chimeras.mkdir()
    for split, words in (("train", range(80, 110)), ("test", range(110, 140))):
        for size in (2, 4, 6):
            lines = []
            for word in words:
                probes = world.rng.choice(CONTENT, 6, replace=False)
                ratings = [f"{world.hidden[word] @ world.hidden[probe]:.3f}" for probe in probes]
                sentences = "@@".join(world.sentence(word, "___") for _ in range(size))
                probes = ",".join(f"w{probe}" for probe in probes)
                lines.append(f"{word}\t{sentences}\t{probes}\t{','.join(ratings)}")
            (chimeras / f"l{size}.{split}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    rare = folder / "crw"
    rare.mkdir()
    pairs, contexts = [], []
    for word in range(140, 200):
        others = world.rng.choice(100, 2, replace=False)
        pairs += [f"w{other}\tw{word}\t{world.hidden[word] @ world.hidden[other]:.4f}" for other in others]
        contexts.append(json.dumps({"word": f"w{word}", "contexts": [world.sentence(word) for _ in range(15)]}))
    (rare / "pairs.tsv").write_text("\n".join(pairs) + "\n", encoding="utf-8")
    (rare / "contexts.jsonl").write_text("\n".join(contexts) + "\n", encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """A store of the test module's own."""
    return Store(tmp_path_factory.mktemp("store"), show_progress=False)


@pytest.fixture
def base(files):
    """Settings of an experiment in the generated world."""

    def settings(experiment, **options):
        return Settings(
            experiment,
            vectors=str(files / "vectors.safetensors"),
            corpus=(str(files / "corpus.txt"),),
            data=str(files / experiment),
            **{"window": 8, "tau": "10", "trials": 4, "sizes": (1, 2, 4), **options},
        )

    return settings
