"""The systems that know spelling, on a language whose spelling is meaning."""

import numpy as np
import pytest
from alacarte_experiments.fewshot import crw, nonce, wordsim
from alacarte_experiments.fewshot.data import Nonce, Pair, RareWords
from alacarte_experiments.fewshot.spelled import same_stem
from alacarte_experiments.fewshot.systems import System, Workbench, without_words
from alacarte_experiments.lab.settings import Settings
from spelled_language import language, text_in

from alacarte import Corpus
from alacarte.errors import BadData

SYSTEMS = (
    "alacarte",
    "form",
    "alacarte+form",
    "alacarte+form,spelling=0",
    "alacarte+form,common=0",
    "alacarte+form,constant=0.5",
    "alacarte+form,longest=4",
)


@pytest.fixture(scope="module")
def spoken():
    rng = np.random.default_rng(0)
    vectors = language(rng, roots=50, endings=10)
    return vectors, Corpus(text_in(vectors, rng, 9000)), rng


def settings(experiment, **options):
    chosen = {"window": 2, "tau": "none", "sizes": (1, 4), "trials": 3, "systems": SYSTEMS, **options}
    return Settings(experiment, **chosen)


def test_nonces(spoken, store):
    vectors, corpus, rng = spoken
    words = [vectors.words[i] for i in rng.choice(len(vectors), 40, replace=False)]
    nonces = []
    centred = vectors.matrix - vectors.matrix.mean(axis=0)
    for word in words:
        scores = 0.5 * centred @ centred[vectors.index(word)]
        chances = np.exp(scores - scores.max())
        near = [vectors.words[i] for i in rng.choice(len(vectors), 3, p=chances / chances.sum())]
        nonces.append(Nonce(word, " ".join(["___", *(other for other in near if other != word), vectors.words[0]])))
    results = nonce.evaluate(nonces, settings("nonce"), store, vectors=vectors, corpus=corpus)
    rank = {name: results.value(system=name, metric="median rank", source="ours") for name in SYSTEMS}
    assert rank["alacarte+form"] < rank["alacarte"]
    assert rank["form"] < 20  # of 500


def test_rare_words(spoken, store):
    vectors, corpus, rng = spoken
    rare = [vectors.words[i] for i in rng.choice(len(vectors), 40, replace=False)]
    centred = vectors.matrix - vectors.matrix.mean(axis=0)
    units = centred / np.linalg.norm(centred, axis=1, keepdims=True)
    frequent = [word for word in vectors.words if word not in rare]
    pairs = [
        Pair(str(other), word, float(units[vectors.index(word)] @ units[vectors.index(other)]))
        for word in rare
        for other in rng.choice(frequent, 3, replace=False)
    ]
    lines = {}
    for line in corpus:
        lines.setdefault(line.split()[2], []).append(line)
    contexts = {word: lines[word][:8] for word in rare}
    results = crw.evaluate(RareWords(pairs, contexts), settings("crw"), store, vectors=vectors, corpus=corpus)
    one = {name: results.value(system=name, size=1, metric="spearman", source="ours") for name in SYSTEMS}
    four = {name: results.value(system=name, size=4, metric="spearman", source="ours") for name in SYSTEMS}
    assert one["form"] == pytest.approx(four["form"])  # it sees no context
    assert one["alacarte+form"] > one["alacarte"]
    assert one["alacarte+form"] > 0.8


def test_missing_words_of_similarity_sets(spoken, store):
    """Each system runs as itself: spelling gives other vectors than contexts, and words that never occur one too."""
    vectors, corpus, rng = spoken
    missing = [vectors.words[i] for i in rng.choice(len(vectors), 40, replace=False)]
    known = without_words(vectors, missing)
    centred = vectors.matrix - vectors.matrix.mean(axis=0)
    units = centred / np.linalg.norm(centred, axis=1, keepdims=True)
    pairs = [
        Pair(str(other), word, float(units[vectors.index(word)] @ units[vectors.index(other)]))
        for word in missing
        for other in rng.choice(known.words, 5, replace=False)
    ]
    text = Corpus([line for line in corpus if missing[0] not in line.split()])
    chosen = settings("wordsim", systems=("alacarte", "form", "alacarte+form", "alacarte+form,spelling=0"))
    results = wordsim.evaluate({"set": pairs}, chosen, store, vectors=known, corpus=text)
    rho = {name: results.value(system=name, metric="ρ, induced pairs") for name in chosen.systems}
    assert rho["alacarte+form"] > rho["alacarte"] + 0.05
    assert rho["form"] > 0.8
    assert rho["form"] != rho["alacarte"]
    cover = {name: results.value(system=name, metric="coverage") for name in chosen.systems}
    assert cover["form"] == cover["alacarte+form"] == 1
    assert cover["alacarte"] == cover["alacarte+form,spelling=0"] == pytest.approx(39 / 40)
    assert [(item.what, item.count) for item in results.exclusions[:-1]] == [("words", 1)]


@pytest.mark.parametrize(
    ("experiment", "name", "reason"),
    [
        ("chimera", "form", "has no name"),
        ("chimera", "alacarte+form,stems=1", "has no name"),
        ("wordsim", "word2vec", "space of its own"),
        ("wordsim", "informed", "space of its own"),
        ("wordsim", "learned,space=1", "space of its own"),
        ("nonce", "informed,agreement=1", "chimera alone"),
        ("crw", "alacarte+form,definition=2", "nonce alone"),
    ],
)
def test_a_system_that_an_experiment_cannot_run_as_itself_is_refused(experiment, name, reason):
    with pytest.raises(BadData, match=f"{reason}.*it runs additive, .*alacarte"):
        System.parse(name, settings(experiment))


def test_words_of_a_tested_stem_can_be_left_out(spoken, store):
    pytest.importorskip("snowballstemmer")
    vectors, corpus, _ = spoken
    word = next(word for word in vectors.words if word[3] not in "sd")  # what an English stemmer takes for an ending
    bench = Workbench(vectors, corpus, store, exclude=[word], tested=[word[:4]])
    plain, strict = (bench.build(System.parse(name, settings("nonce"))).form.words for name in ("form", "form,stems=1"))
    assert plain == len(vectors) - 1
    relatives = [other for other in vectors.words if other[:4] == word[:4]]
    assert len(relatives) > 5
    assert strict == len(vectors) - len(relatives)


def test_spelling_needs_text(spoken, store):
    vectors, _, _ = spoken
    with pytest.raises(BadData, match="corpus"):
        Workbench(vectors, None, store).build(System.parse("alacarte+form", settings("nonce")))


def test_same_stem():
    pytest.importorskip("snowballstemmer")
    found = same_stem(["happiness", "running"], ["happy", "happily", "run", "runs", "runner", "sad", "Running"])
    assert found == {"happy", "happily", "run", "runs", "Running"}  # "runner" has a stem of its own
