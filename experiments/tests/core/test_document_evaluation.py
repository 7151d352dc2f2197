import json
import tarfile

import numpy as np
import pytest
import scipy.sparse
from alacarte_experiments.documents.bigrams import compare
from alacarte_experiments.documents.classifier import log_count_ratios, logistic_path, train
from alacarte_experiments.documents.composition import compose
from alacarte_experiments.documents.data import TASKS, Task, read_task
from alacarte_experiments.documents.evaluation import (
    PUBLISHED,
    Inductive,
    evaluate,
    evaluate_features,
    induce_ngrams,
    load_ngrams,
    stratified,
)
from alacarte_experiments.documents.fasttext import FastText
from alacarte_experiments.documents.systems import (
    INDUCTIVE,
    OPTIONAL,
    SYSTEMS,
    Ingredients,
    features,
    learned_features,
    parse,
    title,
)
from alacarte_experiments.lab.store import Store
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from typer.testing import CliRunner

from alacarte import ALaCarte, Corpus, WordVectors
from alacarte.cli import app
from alacarte.documents import NgramEmbedder
from alacarte.errors import BadData, NotEnoughData

WORDS = [f"w{i}" for i in range(60)]


@pytest.fixture(scope="module")
def model():
    rng = np.random.default_rng(5)
    vectors = WordVectors(WORDS, rng.normal(size=(60, 4)))
    return ALaCarte.fit(vectors, [" ".join(rng.choice(WORDS, 30)) for _ in range(300)], window=5)


@pytest.fixture(scope="module")
def task():
    """Which class a document is of shows in its pairs of words alone: "w0 w1" or "w1 w0"."""
    rng = np.random.default_rng(6)
    texts, labels = [], []
    for i in range(120):
        pair = "w0 w1" if i % 2 else "w1 w0"
        filler = " ".join(rng.choice(WORDS[2:], 3))
        texts.append(f"{filler} {pair} {' '.join(rng.choice(WORDS[2:], 3))}")
        labels.append("yes" if i % 2 else "no")
    return Task("pairs", tuple(texts), tuple(labels))


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """Text that tells the two pairs apart by what stands around them."""
    rng = np.random.default_rng(7)
    path = tmp_path_factory.mktemp("text") / "corpus.txt"
    lines = [f"w2 w3 w2 w0 w1 w3 w2\nw4 w5 w4 w1 w0 w5 w4\n{' '.join(rng.choice(WORDS, 12))}\n" for _ in range(50)]
    path.write_text("".join(lines))
    return path


# ------------------------------------------------------------------------------------------------------- data


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "rt-polarity.neg").write_bytes("bad\n\nclich\xe9\n".encode("latin-1"))
    (tmp_path / "rt-polarity.pos").write_text("good\n")
    (tmp_path / "trec_train.csv").write_text("NUM:dist\tHow far ?\nLOC:city\tWhere ?\n")
    (tmp_path / "trec_test.csv").write_text("HUM:desc\tWho ?\n")
    for split in ("train", "test", "unsup"):
        (tmp_path / f"imdb_{split}.jsonl").write_text(json.dumps({"label": "neg", "text": f"of {split}"}) + "\n")
    with tarfile.open(tmp_path / "imdb.tar.xz", "w:xz") as archive:
        for split in ("train", "test", "unsup"):
            archive.add(tmp_path / f"imdb_{split}.jsonl", f"imdb_{split}.jsonl")
            (tmp_path / f"imdb_{split}.jsonl").unlink()
    return tmp_path


def test_readers(folder):
    assert read_task(folder, "MR") == Task("MR", ("bad", "cliché", "good"), ("neg", "neg", "pos"))
    assert read_task(folder, "TREC") == Task("TREC", ("How far ?", "Where ?", "Who ?"), ("NUM", "LOC", "HUM"), 2)
    assert read_task(folder, "IMDB") == Task("IMDB", ("of train", "of test"), ("neg", "neg"), 1)


def test_a_cut_not_is_whole_again(folder):
    (folder / "custrev.neg").write_text("it does n 't work .\nn 't\n")
    (folder / "custrev.pos").write_text("i ca n 't but praise it , men 'tis true\n")
    wanted = ("it does n't work .", "n 't", "i ca n't but praise it , men 'tis true")
    assert read_task(folder, "CR").texts == wanted
    (folder / "trec_test.csv").write_text("HUM:desc\tWho does n 't ?\n")
    assert read_task(folder, "TREC").texts[-1] == "Who does n't ?"


def test_bad_data_is_named(folder):
    with pytest.raises(BadData, match="no task is called"):
        read_task(folder, "mr")
    with pytest.raises(BadData, match=r"custrev\.neg.*--data"):
        read_task(folder, "CR")
    (folder / "sst_train.csv").write_text("1 no tab\n")
    with pytest.raises(BadData, match="line 1 has no tab"):
        read_task(folder, "SST")
    (folder / "imdb_train.jsonl").write_text("{}\n")
    with pytest.raises(BadData, match=r"imdb_train\.jsonl, line 1"):
        read_task(folder, "IMDB")
    with pytest.raises(BadData, match="2 texts and 1 labels"):
        Task("x", ("a", "b"), ("y",))


def test_tasks_of_ones_own(tmp_path):
    (tmp_path / "a.tsv").write_text("good\tI do n 't mind .\n\nbad\tNever again\n")
    (tmp_path / "b.jsonl").write_text('{"label": 1, "text": "Fine"}\n')
    a, b = tmp_path / "a.tsv", tmp_path / "b.jsonl"
    assert read_task(None, f"mine={a}") == Task("mine", ("I do n 't mind .", "Never again"), ("good", "bad"))
    assert read_task(None, f"mine={b},{a}").train == 1
    assert read_task(None, f"mine={b},{a}").labels == ("1", "good", "bad")
    for wrong in ("mine=", f"={a}", f"mine={a},{a},{a}"):
        with pytest.raises(BadData, match="NAME=TRAIN,TEST"):
            read_task(None, wrong)
    with pytest.raises(BadData, match="pass --data"):
        read_task(None, "MR")
    b.write_text("[1]\n")
    with pytest.raises(BadData, match=r"b\.jsonl, line 1"):
        read_task(None, f"mine={b}")


# ------------------------------------------------------------------------------------------------- classifying


def test_folds_part_the_documents_and_the_classes():
    y = np.array(["a"] * 30 + ["b"] * 70)
    folds = stratified(y, 10, seed=1)
    assert sorted(np.concatenate(folds).tolist()) == list(range(100))
    assert {(np.count_nonzero(y[fold] == "a"), len(fold)) for fold in folds} == {(3, 10)}


@pytest.mark.parametrize("sparse", [False, True])
def test_classifier_separates_three_classes(sparse):
    y = np.array(["a", "b", "c"] * 20)
    x = np.eye(3)[np.arange(60) % 3] + 0.1 * np.random.default_rng(8).random((60, 3))
    x = scipy.sparse.csr_matrix(x) if sparse else x
    (classifier,) = train(x, y, [10.0])
    assert (classifier.predict(x) == y).all()


@settings(max_examples=20, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    count=st.integers(4, 60),
    dimension=st.integers(1, 12),
    scale=st.floats(0.01, 10),
    offset=st.floats(-3, 3),
    repeated=st.booleans(),
)
def test_dense_logistic_regression_is_that_of_scikit_learn(seed, count, dimension, scale, offset, repeated):
    rng = np.random.default_rng(seed)
    x = scale * rng.normal(size=(count, dimension)) + offset
    if repeated:
        x = np.hstack([x, x])  # dependent features: the penalty alone decides between them
    positive = rng.random((2, count)) < 0.5
    positive[:, :2] = [True, False]
    cs = [0.01, 1.0, 100.0]
    for c, found in zip(cs, logistic_path(x, positive, cs), strict=True):
        for weights, part in zip(found, positive, strict=True):
            twin = LogisticRegression(C=c, solver="newton-cholesky", tol=1e-9, max_iter=1000).fit(x, part)

            def loss(w, b, part=part, c=c):
                return np.logaddexp(0, -np.where(part, 1, -1) * (x @ w + b)).sum() + w @ w / (2 * c)

            theirs = loss(twin.coef_[0], twin.intercept_[0])
            assert loss(weights[:-1], weights[-1]) <= theirs + 1e-3  # nats, over all documents


def test_one_class_is_refused():
    with pytest.raises(BadData, match=r"one class, .*a classifier needs two"):
        next(train(np.ones((4, 2)), np.array(["a"] * 4), [1.0]))


def test_naive_bayes_weights_equal_the_formula():
    counts = np.array([[2, 0, 1], [1, 1, 0], [0, 3, 0], [0, 1, 1]])
    positive = np.array([True, True, False, False])
    present = counts > 0
    p, q = 1 + present[positive].sum(axis=0), 1 + present[~positive].sum(axis=0)
    expected = np.log((p / p.sum()) / (q / q.sum()))
    np.testing.assert_allclose(log_count_ratios(scipy.sparse.csr_matrix(counts), positive), expected)


def test_given_splits_train_on_the_first_part_only():
    x = np.array([[1.0], [-1.0]] * 20 + [[1.0], [-1.0], [1.0], [-1.0]])
    labels = ("p", "n") * 20 + ("p", "n", "n", "n")
    outcome = evaluate_features(lambda rows: x, Task("t", ("",) * 44, labels, train=40))
    assert [part.tolist() for part in outcome.right] == [[True, True, False, True]]


# --------------------------------------------------------------------------------------------------- the table


def test_only_pairs_tell_the_classes_apart(task, model, corpus, tmp_path):
    store = Store(tmp_path)
    text = Corpus(corpus)
    ngrams = induce_ngrams(model, [task], text, store, n=2)
    assert "w0 w1" in ngrams
    kept = induce_ngrams(model, [task], text, store, n=2)  # from the store
    assert kept.words == ngrams.words
    fewer = induce_ngrams(model, [task], text, store, n=2, min_count=50)
    assert "w0 w1" in fewer
    assert 0 < len(fewer) < len(ngrams)
    np.testing.assert_array_equal(fewer["w0 w1"], ngrams["w0 w1"])
    WordVectors(ngrams.words, ngrams.matrix).save(tmp_path / "bare.safetensors")
    assert load_ngrams(tmp_path / "bare.safetensors").words == ngrams.words
    with pytest.raises(BadData, match="does not say how often"):
        load_ngrams(tmp_path / "bare.safetensors", 2)
    with pytest.raises(NotEnoughData, match="no n-gram occurs 1,000,000 times"):
        induce_ngrams(model, [task], text, store, n=2, min_count=1_000_000)
    systems = ["bong-1", "bong-2", "nb-bong-2", "words", "sif", "disc-2", "sum-2", "alacarte-1", "alacarte-2"]
    table = evaluate([task], systems, model, ngrams, store)
    value = {row.system: row for row in table.rows}
    for name in ("BonG, n = 2", "BonG × naive Bayes, n = 2"):
        assert value[name].accuracy == pytest.approx(100.0), name
    assert value["à la carte, n = 2"].accuracy > 80  # the other pairs are noise in four dimensions
    for name in ("BonG, n = 1", "sum of word vectors", "SIF", "à la carte, n = 1", "v1 + v2 as n-grams, n = 2"):
        assert value[name].accuracy < 75, name  # sums do not see the order
    assert value["à la carte, n = 2"].margin == pytest.approx(
        value["à la carte, n = 2"].accuracy - value["à la carte, n = 1"].accuracy
    )
    assert value["à la carte, n = 2"].margin_stderr > 0
    assert value["à la carte, n = 2"].lead == pytest.approx(value["à la carte, n = 2"].accuracy - 100)
    assert value["SIF"].lead is None
    assert [line[0] for line in table.leads()[1]] == ["à la carte, n = 1", "à la carte, n = 2"]
    assert list((tmp_path / "ngrams").glob("*.checkpoint")) == []
    again = evaluate([task], systems, model, ngrams, store)
    assert again == table  # from the store, times included
    assert table.to_frame().shape[0] == len(systems)


def test_inductive_features_are_learned_from_training_texts_alone(task, model):
    """Other texts to test on change nothing for those that train, and training texts go without their own part."""
    rows, others = np.arange(0, 100), np.arange(100, 120)
    changed = [*task.texts[:100], *["w7 w8 w0 w1"] * 20]
    embedder = NgramEmbedder(model, n=3)
    expected = embedder.fit_transform(list(task.texts[:100]))
    for system in ("alacarte-1", "alacarte-2", "alacarte-3"):
        for texts in (task.texts, changed):
            given = Ingredients(texts, model)
            x = learned_features(system, given, None)(rows)
            np.testing.assert_array_equal(x[rows], expected[:, : x.shape[1]])
            np.testing.assert_array_equal(x[others], embedder.transform(list(texts[100:]))[:, : x.shape[1]])
    for system in ("tfidf-3", "sif"):
        first, second = (learned_features(system, Ingredients(t, model), None)(rows) for t in (task.texts, changed))
        if system == "tfidf-3":  # columns of n-grams that no training text holds may come and go
            first, second = (np.sort(x[rows].toarray(), axis=1)[:, -12:] for x in (first, second))
        np.testing.assert_allclose(first[:100], second[:100], atol=1e-6)
    with pytest.raises(BadData, match="or --inductive"):
        learned_features("doc2vec", Ingredients(task.texts, model), None)


def test_what_chooses_settings_does_not_embed_the_test_part(task, model):
    x = learned_features("alacarte-2", Ingredients(task.texts, model), 100)
    assert not x(np.arange(80))[100:].any()
    assert x(np.arange(80))[80:100].any(axis=1).all()
    assert x(np.arange(100))[100:].any(axis=1).all()


def test_the_inductive_table(task, model, tmp_path):
    cut = Task("t", task.texts, task.labels, train=90)
    table = evaluate([cut, task], list(INDUCTIVE), model, None, Store(tmp_path), inductive=Inductive())
    assert {row.source for row in table.rows} == {"ours"}
    assert table.value("pairs", "tf-idf, n = 3") > 95
    assert table.value("pairs", "à la carte, n = 1") < 75  # the order of words is all that tells the classes apart
    assert "training texts alone" in table.notes[-1]
    assert "pairs 1" in table.notes[-2]
    own = evaluate([task], ["alacarte-2"], model, None, Store(tmp_path), inductive=Inductive(shrinkage=0))
    assert "pairs 2" in " ".join(own.notes)  # other features
    assert own.value("pairs", "à la carte, n = 2") != table.value("pairs", "à la carte, n = 2")  # and not those kept
    seen = evaluate([task], ["alacarte-1"], model, None, Store(tmp_path))
    assert "have seen the texts" in " ".join(seen.notes)
    assert "pairs 3" in " ".join(seen.notes)


def test_what_has_seen_a_test_split_is_written_down(model, task, tmp_path):
    store = Store(tmp_path)
    for _ in range(2):
        table = evaluate([task], ["alacarte-1", "bong-1"], model, None, store)
        assert "here, these included: pairs 1." in " ".join(table.notes)
    other = ALaCarte(WordVectors(WORDS, 2 * model.vectors.matrix), model.transform, check=False)
    table = evaluate([task], ["alacarte-1"], other, None, store)
    assert "here, these included: pairs 2." in " ".join(table.notes)
    assert len((tmp_path / "test-runs.jsonl").read_text().splitlines()) == 2
    assert "included" not in " ".join(evaluate([task], ["bong-1"], other, None, store).notes)


def test_settings_are_chosen_on_training_parts_only(task):
    cut = Task("t", task.texts, task.labels, train=100).training()
    assert (cut.texts, cut.train) == (task.texts[:100], None)
    with pytest.raises(BadData, match="choose settings on TREC, SST, SST-fine, IMDB"):
        task.training()


def test_every_system_has_a_name_and_published_rows_are_marked(model, tmp_path, task):
    names = (*SYSTEMS, *OPTIONAL)
    assert len({title(system) for system in names}) == len(names)
    with pytest.raises(BadData, match="no system is called"):
        parse("bert")
    with pytest.raises(BadData, match="pass a model and a corpus"):
        evaluate([task], ["alacarte-2"], model, None, Store(tmp_path))
    known = Task("CR", task.texts, task.labels)
    table = evaluate([known], ["bong-1"], model, None, Store(tmp_path))
    published = [row for row in table.rows if row.source != "ours"]
    assert len(published) == len(PUBLISHED)
    assert table.value("CR", "à la carte, n = 3", "Khodak et al. 2018") == 84.3
    assert all(len(values) == len(TASKS) for values in PUBLISHED.values())


def test_fasttext_learns_pairs_where_it_is_installed(model, task):
    pytest.importorskip("fasttext")
    learn = FastText(Ingredients(task.texts, model), task.labels)
    rows, others = np.arange(80), np.arange(80, 120)
    y = np.array(task.labels)
    right = [np.mean(predict(others) == y[others]) for predict in learn(rows, [(0.01, 1), (1.0, 50)])]
    assert right[1] > 0.9  # "w0 w1" or "w1 w0": words alone would get half of them
    assert right[0] < right[1]


def test_sentence_vectors_from_elsewhere(model, task, tmp_path):
    """Half of the vectors in each of two files; in them the class is plain to see."""
    vectors = np.where(np.array(task.labels) == "yes", 1.0, -1.0)[:, None] * np.ones((1, 3))
    np.save(tmp_path / "pairs-0.npy", vectors[:70].astype(np.float16))
    with pytest.raises(BadData, match="70 vectors for pairs, which has 120 texts"):
        evaluate([task], ["minilm"], model, None, Store(tmp_path / "cache"), encoded=tmp_path)
    np.save(tmp_path / "pairs-1.npy", vectors[70:].astype(np.float16))
    table = evaluate([task], ["minilm"], model, None, Store(tmp_path / "cache"), encoded=tmp_path)
    assert table.value("pairs", "all-MiniLM-L6-v2") == 100.0
    with pytest.raises(BadData, match=r"holds no pairs-0\.npy"):
        evaluate([task], ["minilm"], model, None, Store(tmp_path / "cache"), encoded=tmp_path / "cache")


def test_doc2vec_gives_a_vector_for_each_text(model, task):
    pytest.importorskip("gensim")
    ingredients = Ingredients(task.texts[:30], model)
    assert features("doc2vec", ingredients).shape == (30, 300)


def test_nearest_words_of_ngrams(model, corpus):
    table = compare(model, Corpus(corpus), ["w0 w1", "w0 nowhere"], k=2)
    ours = {(row.ngram, row.method): row for row in table.rows}
    assert ours["w0 w1", "à la carte"].count == 50
    induced = model.induce(Corpus(corpus), ["w0 w1"])["w0 w1"]
    nearest = [word for word, _ in model.vectors.nearest(induced, 2, exclude=["w0", "w1"])]
    assert list(ours["w0 w1", "à la carte"].neighbours) == nearest
    sums = model.vectors["w0"] + model.vectors["w1"]
    expected = [word for word, _ in model.vectors.nearest(sums, 2, exclude=["w0", "w1"])]
    assert list(ours["w0 w1", "v1 + v2"].neighbours) == expected
    assert "w0 nowhere" in table.notes[-1]


def test_commands(folder, model, corpus, tmp_path):
    model.save(tmp_path / "model")
    (folder / "custrev.neg").write_text("w1 w0 w5\nw1 w0 w6\n" * 20)
    (folder / "custrev.pos").write_text("w0 w1 w5\nw0 w1 w6\n" * 20)
    common = ["--model", str(tmp_path / "model"), "--corpus", str(corpus)]
    options = ["--task", "CR", "--system", "alacarte-2", "--system", "bong-2", "--cache", str(tmp_path / "cache")]
    command = ["eval", "documents", "--data", str(folder), *common, *options]
    shown = CliRunner().invoke(app, command)
    assert shown.exit_code == 0, shown.output
    assert "à la carte, n = 2" in shown.output
    told = CliRunner().invoke(app, [*command, "--json", "--out", str(tmp_path / "t.csv")])
    rows = json.loads(told.output)["rows"]
    assert {row["system"]: row["accuracy"] for row in rows if row["source"] == "ours"}["BonG, n = 2"] == 100.0
    assert (tmp_path / "t.csv").read_text().startswith("task,system,accuracy")
    rows = [f"{label}\t{text}" for label, text in (("n", "w1 w0 w5"), ("y", "w0 w1 w6")) for _ in range(20)]
    (tmp_path / "mine.tsv").write_text("\n".join(rows))
    own = ["eval", "documents", *common, "--task", f"mine={tmp_path / 'mine.tsv'}", "--system", "bong-2", "--json"]
    found = json.loads(CliRunner().invoke(app, [*own, "--cache", str(tmp_path / "cache")]).output)["rows"]
    assert [(row["task"], row["accuracy"], row["source"]) for row in found] == [("mine", 100.0, "ours")]
    fresh = ["eval", "documents", *common[:2], "--task", f"mine={tmp_path / 'mine.tsv'}", "--inductive", "--json"]
    found = json.loads(CliRunner().invoke(app, [*fresh, "--cache", str(tmp_path / "cache")]).output)["rows"]
    assert [row["system"] for row in found] == [title(system) for system in INDUCTIVE]
    assert "--inductive learns n-gram" in CliRunner().invoke(app, [*fresh, "--ngrams", "x"]).output
    assert "--task NAME=FILE" in CliRunner().invoke(app, ["eval", "documents"]).output
    asked = CliRunner().invoke(app, ["eval", "bigrams", "--word", "w0 w1", *common, "--json"])
    assert asked.exit_code == 0, asked.output
    assert any(row["ngram"] == "w0 w1" for row in json.loads(asked.output)["rows"])


def test_composition_equals_its_formulas():
    words = WordVectors(list("abc"), np.random.default_rng(0).normal(size=(3, 4)))
    a, b, c = (words[key].astype(float) for key in "abc")
    np.testing.assert_allclose(compose(words, ["a b c"], "sum")["a b c"], a + b + c, rtol=1e-6)
    np.testing.assert_allclose(compose(words, ["a b c"], "mean")["a b c"], (a + b + c) / 3, rtol=1e-6)
    unit = [v / np.linalg.norm(v) for v in (a, b, c)]
    composed = compose(words, ["a b c", "a b", "a zz"], "product")
    assert set(composed.words) == {"a b", "a b c"}
    np.testing.assert_allclose(composed["a b c"], 4 * unit[0] * unit[1] * unit[2], rtol=1e-5)
    np.testing.assert_allclose(composed["a b"], 2 * unit[0] * unit[1], rtol=1e-5)
    with pytest.raises(NotEnoughData, match="none of the n-grams"):
        compose(words, ["zz a"])
