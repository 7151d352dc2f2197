"""Single contexts: gathered as sums see them, grouped into senses, and explained word by word."""

import json
from collections import Counter
from dataclasses import replace

import numpy as np
import plain
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from alacarte import ALaCarte, Targets, Transform, WordVectors
from alacarte.cli import app
from alacarte.contexts.reading import Reading
from alacarte.contexts.weights import ContextWeights
from alacarte.errors import AlacarteError, BadCorpus, NoOccurrences, NotEnoughData
from alacarte.senses.induction import KURTOSIS, held_out_densities, induce_senses, likeness
from alacarte.senses.mixture import fit_mixture
from alacarte.senses.occurrences import gather

WORDS = ["a", "b", "c", "d", "e"]
VECTORS = WordVectors(WORDS, np.random.default_rng(7).normal(size=(5, 6)).astype(np.float32))
documents = st.lists(st.lists(st.sampled_from([*WORDS, "x", "y"]), max_size=30), min_size=1, max_size=6).filter(any)


def model(averaging="occurrence", positions="uniform", weights=None, unknown="keep", intercept=None):
    matrix = np.random.default_rng(1).normal(size=(6, 6))
    settings = Reading(3, 2, averaging, positions, "own" if weights else "uniform", "words", unknown)
    values = None if weights is None else np.array(weights, dtype=np.float32)
    return ALaCarte(
        VECTORS,
        Transform(matrix, intercept, settings, weights=ContextWeights(settings.weights, values)),
    )


models = st.builds(
    model,
    st.sampled_from(["occurrence", "token", "context"]),
    st.sampled_from(["uniform", "linear"]),
    st.sampled_from([None, [1.0, 0.5, 2.0, 0.25, 1.0]]),
    st.sampled_from(["keep", "drop"]),
    st.sampled_from([None, np.ones(6)]),
)


# ------------------------------------------------------------------------------------------------- gathering


@settings(max_examples=30)
@given(documents, models)
def test_gathered_contexts_are_the_plain_windows(texts, made):
    targets = [("x",), ("a", "b")]
    texts = [text for text in texts if text]  # empty documents may or may not have a number
    settings = made.settings
    weights = (
        None
        if made.transform.weights.values is None
        else dict(zip(WORDS, made.transform.weights.values.tolist(), strict=True))
    )
    found = plain.find(texts, targets)
    if not found:
        with pytest.raises(NoOccurrences):
            gather(made, texts, Targets(targets))
        return
    ours = gather(made, texts, Targets(targets))
    expected, by_document = {}, {}
    for document, start, end, which in found:
        tokens = list(texts[document])
        total, _, weight = plain.window(
            tokens, start, end, VECTORS, 3, 2,
            positions=settings.positions, weights=weights, unknown=settings.unknown,
        )  # fmt: skip
        if settings.averaging == "context" and weight > 0:
            total = total / weight
        shown = [token for token in tokens[:start] if settings.unknown == "keep" or token in VECTORS][-3:]
        shown += [f"**{' '.join(tokens[start:end])}**"]
        shown += [token for token in tokens[end:] if settings.unknown == "keep" or token in VECTORS][:2]
        expected[which, " ".join(shown)] = total, weight
        by_document.setdefault(tuple(tokens), Counter())[which, " ".join(shown)] += 1
    assert (np.diff(ours.targets) >= 0).all()
    gathered = {}
    for row, (target, document) in enumerate(zip(ours.targets.tolist(), ours.documents.tolist(), strict=True)):
        total, weight = expected[target, ours.text(row)]
        np.testing.assert_allclose(ours.sums[row], total, atol=1e-5)
        assert ours.totals[row] == pytest.approx(weight)
        gathered.setdefault(document, Counter())[target, ours.text(row)] += 1
    # Documents that say the same are one; every occurrence is there, with the others of its document.
    assert Counter(map(as_text, gathered.values())) == Counter(map(as_text, by_document.values()))


def as_text(counter):
    return str(sorted(counter.items()))


@pytest.mark.parametrize("targets", [Targets.glob(["x*"]), Targets.regex(["^x"]), Targets(["xy"])])
@pytest.mark.parametrize("unknown", ["keep", "drop"])
def test_contexts_are_shown_with_the_words_that_have_no_vector(targets, unknown):
    """Issue 14, fault 10: with patterns, words that have no vector were shown as "…"."""
    gathered = gather(model(unknown=unknown), ["a new xy b"], targets)
    assert gathered.text(0) == ("a new **xy** b" if unknown == "keep" else "a **xy** b")


@pytest.mark.parametrize("averaging", ["occurrence", "token", "context"])
@pytest.mark.parametrize("positions", ["uniform", "linear"])
def test_gathered_contexts_add_up_to_the_sums(averaging, positions):
    """To the last bit: single contexts are made of the same whole numbers as sums."""
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice([*WORDS, "x"], 20)) for _ in range(100)]
    made = model(averaging, positions)
    sums = made.collect(texts, ["x", "a"])
    gathered = gather(made, texts, ["x", "a"])
    for row, key in enumerate(sums.keys):
        found = gathered.of(key)
        np.testing.assert_array_equal(found.sums.sum(axis=0), sums.vectors(row))
        assert found.totals.sum() == sums.total_weights[row]
        assert len(found) == sums.occurrences[row]


def test_a_sample_is_of_the_size_asked_for_and_from_everywhere():
    rng = np.random.default_rng(0)
    numbers = rng.permutation(60_000)
    texts = [" ".join(["x", *rng.choice(WORDS, 1), str(number)]) for number in numbers]
    found = gather(model(), texts, ["x", "never"], limit=500)
    assert found.counts.tolist() == [60_000, 0]
    assert len(found) == 500
    assert len(np.unique(found.documents)) == 500
    place = np.argsort(numbers)[[int(found.text(row).split()[-1]) for row in range(500)]]
    assert len(np.unique(place)) == 500
    assert abs(place.mean() - 30_000) < 4 * 60_000 / np.sqrt(12 * 500)
    tenths = np.bincount(place // 6000, minlength=10)
    assert np.sum((tenths - 50) ** 2 / 50) < 30  # chi-square, 9 degrees of freedom: p = 0.0004


# ---------------------------------------------------------------------------------------------------- senses


def two_senses(size, share=0.3, seed=0):
    """(model, text): "x" is among words of one kind or of another; `o` words are everywhere."""
    rng = np.random.default_rng(seed)
    centers = np.repeat(np.eye(8)[:3] * 2, 20, axis=0)
    vectors = WordVectors([f"{kind}{i}" for kind in "mno" for i in range(20)], centers + rng.normal(size=(60, 8)))
    kinds = rng.random(size) < share
    text = [
        " ".join(
            [
                *rng.choice(vectors.words[20:40] if kind else vectors.words[:20], 4),
                "x",
                *rng.choice(vectors.words[40:], 4),
            ]
        )
        for kind in kinds
    ]
    matrix = np.diag([1.0, 1, 0.2, 1, 1, 1, 1, 1])  # as a learned one does, it shortens words that are everywhere
    return ALaCarte(vectors, Transform(matrix)), text, kinds


def test_two_senses_are_found():
    made, text, kinds = two_senses(600)
    found = induce_senses(made, text, "x")
    assert len(found) == 2
    contexts = [found.occurrences.text(row, mark="") for row in range(len(found.occurrences))]
    assert sorted(contexts) == sorted(text)
    kind_of = dict(zip(text, kinds, strict=True))
    assert np.mean(found.labels == [kind_of[context] for context in contexts]) > 0.95
    assert found[0].share == pytest.approx(0.7, abs=0.05)
    assert [sense.nearest[0][0][0] for sense in found] == ["m", "n"]
    assert all("**x**" in example for sense in found for example in sense.examples)
    assert list(found.vectors.words) == ["x#1", "x#2"]
    assert found.to_frame().contexts.sum() == 600
    for number, sense in enumerate(found):  # the vector of a sense is what its contexts alone would give
        alone = made.induce([contexts[row] for row in np.flatnonzero(found.labels == number)], ["x"])
        np.testing.assert_allclose(sense.vector, alone["x"], rtol=1e-4, atol=1e-4)


def test_words_that_are_rare_elsewhere_and_frequent_in_the_text_tell_nothing():
    """Line breaks of web pages, *br*, in half of the contexts: groups were those with and those without."""
    made, text, kinds = two_senses(400, share=0.5)
    plain = made.vectors
    counts = np.append(np.full(len(plain), 100), 1)
    vectors = WordVectors([*plain.words, "br"], np.vstack([plain.matrix, 3 * np.eye(8)[5]]), counts=counts)
    marked = [f"br {line} br" if at % 2 else line for at, line in enumerate(text)]
    found = induce_senses(ALaCarte(vectors, made.transform), marked, "x", k=2)
    assert found.occurrences.word_counts[-1] == len(marked)
    kind_of = dict(zip(marked, kinds, strict=True))
    same = found.labels == [kind_of[found.occurrences.text(row, mark="")] for row in range(len(marked))]
    assert max(same.mean(), 1 - same.mean()) > 0.9


def test_what_all_contexts_share_does_not_make_senses_alike(monkeypatch):
    """The register of a text is no part of the vectors that are compared."""
    made, text, _ = two_senses(600)
    register = np.full(8, 9, dtype=np.float32)
    shifted = ALaCarte(made.vectors, replace(made.transform, intercept=register))
    assert len(induce_senses(shifted, text, "x")) == 1
    monkeypatch.setattr(shifted, "adapted", made.transform)  # as a model does that knows the register
    assert len(induce_senses(shifted, text, "x")) == 2


def test_one_sense_stays_one():
    made, text, _ = two_senses(600, share=0.0)
    assert len(induce_senses(made, text, "x")) == 1


def test_as_many_senses_as_asked_for():
    made, text, _ = two_senses(100)
    assert len(induce_senses(made, text, "x", k=3)) == 3
    with pytest.raises(AlacarteError, match="auto"):
        induce_senses(made, text, "x", k=0)
    with pytest.raises(NotEnoughData, match="are needed"):
        induce_senses(made, text[:1], "x", k=3)
    with pytest.raises(NoOccurrences, match="spelling"):
        induce_senses(made, text, "never")
    with pytest.raises(BadCorpus, match="holds no text"):
        induce_senses(made, ["", " "], "x")


def test_a_mixture_finds_shares_centres_and_width():
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.normal(size=(600, 3)) * 0.5, rng.normal(size=(200, 3)) * 0.5 + [2, 0, 0]])
    found = fit_mixture(x, 2, rng)
    order = np.argsort(found.shares)
    np.testing.assert_allclose(found.shares[order], [0.25, 0.75], atol=0.03)
    np.testing.assert_allclose(found.centers[order], [[2, 0, 0], [0, 0, 0]], atol=0.15)
    assert found.variance == pytest.approx(0.25, rel=0.1)
    assert found.score > fit_mixture(x, 1, rng).score


def test_densities_are_of_mixtures_that_have_not_seen_the_document():
    """A document of its own kind is far from both groups when it is held out, and would be a group if it were not."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(120, 6)) * 0.1 + np.repeat([[1.0] + [0] * 5, [0, 1.0] + [0] * 4], 60, axis=0)
    x[:12] = [0, 0, 0, 0, 0, 50.0]
    documents = np.concatenate([np.zeros(12, dtype=np.int64), np.arange(1, 109)])
    logs = held_out_densities(x, documents, 2, rng)
    assert logs[:12].max() < -1000
    labels = held_out_densities(x[12:], documents[12:], 2, rng).argmax(axis=1)
    assert np.mean(labels == labels[0]) == pytest.approx(48 / 108)  # group 0 is the same in every part
    assert (labels[:48] == labels[0]).all()


def test_likeness_of_two_groups_is_their_cosine_and_their_kurtosis():
    rng = np.random.default_rng(0)
    heaps = np.repeat([[-1.0], [1.0]], 2000, axis=0)
    logs = np.hstack([heaps, -heaps])  # two points: the kurtosis is 1, its logarithm 0
    means = np.repeat([[1.0, 0.0, 0, 0], [0.6, 0.8, 0, 0]], 2000, axis=0)
    assert likeness(logs, means + rng.normal(size=means.shape)) == pytest.approx(0.6, abs=0.1)
    normal = np.sort(rng.normal(size=(4000, 1)), axis=0)
    assert likeness(np.hstack([normal, -normal]), means) == pytest.approx(0.6 + KURTOSIS * np.log(3), abs=0.05)
    assert likeness(np.hstack([normal + 99, -normal]), means) == 2  # one group has everything


def test_documents_that_repeat_themselves_do_not_make_a_sense():
    """Fifty copies of one line are one context: they were a group of their own, tight and far from all others."""
    made, text, _ = two_senses(200, share=0.0)
    assert len(induce_senses(made, text, "x")) == 1
    assert len(induce_senses(made, text + text[:1] * 50, "x")) == 1


def test_groups_are_found_by_more_words_than_the_window_holds():
    """The sense shows five to eight words from the target, and the window of the vector ends at two."""
    made, text, kinds = two_senses(300)
    near = ALaCarte(made.vectors, Transform(made.transform.matrix, settings=Reading(2, 2)))
    moved = [" ".join([*line.split()[:4], *line.split()[5:], "x", "o1", "o2"]) for line in text]
    found = induce_senses(near, moved, "x", k=2)
    assert all(len(example.split()) <= 5 for sense in found for example in sense.examples)
    kind_of = dict(zip(moved, kinds, strict=True))
    whole = [found.occurrences.text(row, mark="") for row in range(len(found.occurrences))]
    assert np.mean(found.labels == [kind_of[line] for line in whole]) > 0.9


def test_a_phrase_written_with_underscores_gets_a_hint(tmp_path):
    made, text, _ = two_senses(30)
    with pytest.raises(NoOccurrences, match="'formic acid' rather than 'formic_acid'"):
        induce_senses(made, text, "formic_acid")
    with pytest.raises(NotEnoughData, match="'formic acid' rather than"):
        made.induce(text, ["formic_acid"])
    made.save(tmp_path / "model")
    (tmp_path / "text.txt").write_text("\n".join(line + " unknown words of another language here" for line in text))
    files = ("--corpus", tmp_path / "text.txt", "--out", tmp_path / "v.vec")
    code, told = alc("induce", "--model", tmp_path / "model", *files, "--word", "x", "--word", "formic_acid")
    assert code == 0
    assert "'formic acid' rather than 'formic_acid'" in told
    assert "53% of which have a vector" in told
    assert "same language" in told


# --------------------------------------------------------------------------------------------- typical spread


def test_a_model_keeps_its_typical_spread(tmp_path):
    made = ALaCarte.pretrained("glove.6B.50d")
    made.save(tmp_path / "model")
    loaded = ALaCarte.load(tmp_path / "model")
    np.testing.assert_allclose(loaded.typical.shape, made.typical.shape)


# ------------------------------------------------------------------------------------------------- commands


def alc(*arguments):
    result = CliRunner().invoke(app, list(map(str, arguments)))
    return result.exit_code, result.output


def test_commands(tmp_path):
    made, text, _ = two_senses(300)
    made.save(tmp_path / "model")
    using = ("--model", tmp_path / "model")
    (tmp_path / "text.txt").write_text("\n".join(text))
    (tmp_path / "other.txt").write_text("\n".join(two_senses(300, share=0.9, seed=1)[1]))
    code, told = alc(
        "senses", "induce", "--word", "x", "--model", tmp_path / "model", "--corpus", tmp_path / "text.txt", "--json"
    )
    assert code == 0
    assert len(json.loads(told)["senses"]) == 2
    (tmp_path / "one.txt").write_text("\n".join(two_senses(300, share=0.0)[1]))
    code, told = alc("senses", "induce", "--word", "x", "--model", tmp_path / "model", "--corpus", tmp_path / "one.txt")
    assert code == 0
    assert "one sense: two groups of contexts are too much alike" in told
    for name in ("text", "other"):
        code, _ = alc(
            "induce",
            *using,
            "--corpus",
            tmp_path / f"{name}.txt",
            "--word",
            "x",
            "--word",
            "m1",
            "--word",
            "o1",
            "--spread",
            16,
            "--save-sums",
            tmp_path / f"{name}.sums",
            "--out",
            tmp_path / f"{name}.vec",
        )
        assert code == 0
    sums = (*using, "--sums", tmp_path / "text.sums")
    code, told = alc("nearest", *sums, "--json")
    assert {row["word"] for row in json.loads(told)} == {"x", "m1", "o1"}
    code, told = alc("nearest", "--word", "x", *sums, "-k", 2, "--json")
    assert len(json.loads(told)) == 2
    code, told = alc("nearest", "--word", "x", *sums, "--like", "m3")
    assert code == 0
    assert "m3" in told
    code, told = alc("compare", *using, tmp_path / "text.sums", tmp_path / "other.sums", "--json")
    found = json.loads(told)["words"]
    assert found[0]["word"] == "x"
    assert found[0]["p_value"] < 1e-4
    code, told = alc("compare", *using, tmp_path / "text.sums", tmp_path / "other.sums")
    assert "q" in told
    code, told = alc(
        "embed",
        "--model",
        tmp_path / "model",
        "--word",
        "x",
        "--context",
        "m1 x m2",
        "--context",
        "x o1",
        "--explain",
    )
    assert code == 0
    assert "share" in told
    code, told = alc(
        "embed", "--model", tmp_path / "model", "--word", "x", "--context", "m1 x m2", "--explain", "--json"
    )
    assert json.loads(told)["confidence"] is None
    assert alc("embed", "--model", "m", "--word", "x", "--context", "x", "--explain", "--definition")[0] == 2
    assert alc("nearest", "--model", tmp_path / "model")[0] == 2
