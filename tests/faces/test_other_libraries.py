"""Files and objects of gensim, fastText (as gensim writes it), spaCy and pandas."""

import gzip

import numpy as np
import pytest

from alacarte import WordVectors
from alacarte.errors import BadVectors, UnknownKey
from alacarte.vectors import formats
from alacarte.vectors.formats.fasttext_binary import Subwords

SENTENCES = [
    ["the", "cat", "sat", "on", "the", "mat"],
    ["der", "Käse", "schmeckt", "über", "alles", "gut"],
    ["東京", "は", "日本", "の", "首都"],
    ["smörgås", "och", "🙂", "the", "cat", "</s>"],
] * 5


@pytest.fixture(scope="module")
def gensim():
    return pytest.importorskip("gensim")


@pytest.fixture(scope="module")
def fasttext_model(gensim):
    from gensim.models import FastText

    return FastText(SENTENCES, vector_size=11, min_count=1, bucket=300, epochs=3, seed=1, workers=1)


@pytest.fixture(scope="module")
def keyed(gensim):
    rng = np.random.default_rng(3)
    vectors = gensim.models.KeyedVectors(12)
    vectors.add_vectors([f"w{i}" for i in range(200)], rng.normal(size=(200, 12)).astype(np.float32))
    return vectors


@pytest.mark.parametrize(("name", "binary"), [("a.bin", True), ("a.bin.gz", True), ("a.vec", False)])
def test_word2vec_files_that_gensim_writes(tmp_path, keyed, name, binary):
    keyed.save_word2vec_format(str(tmp_path / name), binary=binary)
    vectors = WordVectors.load(tmp_path / name)
    assert vectors.words == tuple(keyed.index_to_key)
    assert np.array_equal(vectors.matrix, keyed.vectors)


@pytest.mark.parametrize(("name", "binary"), [("a.bin", True), ("a.vec", False)])
def test_gensim_reads_the_files_that_we_write(tmp_path, keyed, name, binary):
    vectors = WordVectors.of(keyed)
    vectors.save(tmp_path / name)
    theirs = type(keyed).load_word2vec_format(str(tmp_path / name), binary=binary)
    assert theirs.index_to_key == list(vectors.words)
    assert np.array_equal(theirs.vectors, vectors.matrix)


def test_gensim_s_own_files(tmp_path, keyed, fasttext_model):
    keyed.save(str(tmp_path / "a.kv"))
    trusted = {"format": "gensim-pickle", "trust": True}
    assert formats.sniff(tmp_path / "a.kv")[0] == "gensim-pickle"
    assert WordVectors.load(tmp_path / "a.kv", **trusted) == WordVectors.of(keyed)
    assert len(WordVectors.load(tmp_path / "a.kv", **trusted, limit=3)) == 3
    assert formats.describe(tmp_path / "a.kv")["dimension"] is None
    keyed.save(str(tmp_path / "b.kv"), sep_limit=10)  # the matrix in a file of its own
    assert (tmp_path / "b.kv.vectors.npy").exists()
    assert WordVectors.load(tmp_path / "b.kv", **trusted) == WordVectors.of(keyed)
    fasttext_model.save(str(tmp_path / "c.model"))
    assert WordVectors.load(tmp_path / "c.model", **trusted) == WordVectors.of(fasttext_model)


def test_to_gensim_and_back(keyed):
    vectors = WordVectors.of(keyed)
    theirs = vectors.to_gensim()
    assert np.array_equal(theirs["w7"], vectors["w7"])
    assert WordVectors.of(theirs) == vectors


def test_counts_of_gensim_and_those_it_makes_up(tmp_path, gensim, keyed, fasttext_model):
    assert WordVectors.of(keyed).counts is None
    counted = WordVectors(["a", "b"], [[1.0], [2.0]], counts=[2, 40])
    assert counted.to_gensim().get_vecattr("b", "count") == 40
    assert WordVectors.of(counted.to_gensim()).counts.tolist() == [2, 40]
    once = WordVectors(["a", "b"], [[1.0], [2.0]], counts=[2, 1])  # true, and as gensim makes them up
    assert WordVectors.of(once.to_gensim()).counts.tolist() == [2, 1]
    counted.save(tmp_path / "a.vec")
    read = gensim.models.KeyedVectors.load_word2vec_format(str(tmp_path / "a.vec"))
    assert read.get_vecattr("a", "count") == 2  # of two words, the first: gensim counts down where nothing is known
    assert WordVectors.of(read).counts is None
    trained = WordVectors.of(fasttext_model)
    assert dict(zip(trained.words, trained.counts.tolist(), strict=True))["cat"] == 10


def test_a_kv_file_that_we_write(tmp_path, gensim):
    vectors = WordVectors(["new york", "b"], [[1.0, 2.0], [3.0, 4.0]], counts=[7, 9])
    vectors.save(tmp_path / "a.kv")
    assert [file.name for file in tmp_path.iterdir()] == ["a.kv"]
    theirs = gensim.models.KeyedVectors.load(str(tmp_path / "a.kv"))
    assert theirs.index_to_key == ["new york", "b"]
    assert theirs.most_similar("b", topn=1)[0][0] == "new york"
    again = WordVectors.load(tmp_path / "a.kv", format="gensim-pickle", trust=True)
    assert again == vectors
    assert again.counts.tolist() == [7, 9]


@pytest.mark.parametrize("way", ["model", "keyed vectors", "file"])
def test_gensim_s_fasttext_gives_vectors_to_words_it_never_saw(tmp_path, fasttext_model, way):
    if way == "file":
        fasttext_model.wv.save(str(tmp_path / "a.kv"))
        vectors = WordVectors.load(tmp_path / "a.kv", format="gensim-pickle", trust=True)
    else:
        vectors = WordVectors.of(fasttext_model if way == "model" else fasttext_model.wv)
    for word in ("cats", "Käsekuchen", "東京都", "cat"):
        assert np.allclose(vectors.subword(word), fasttext_model.wv[word], atol=1e-7), word
    assert vectors.words == tuple(fasttext_model.wv.index_to_key)
    chosen = WordVectors.of(fasttext_model, words=["cats", "cat"])
    assert chosen.words == ("cats", "cat")
    assert np.allclose(chosen["cats"], fasttext_model.wv["cats"], atol=1e-7)


class LikeFastText:
    """What the Python packages fasttext and floret have (both were tried by hand)."""

    def __init__(self, words):
        self.words = words

    def get_words(self, include_freq=False):
        return (self.words, np.arange(len(self.words)) + 5) if include_freq else self.words

    def get_word_vector(self, word):
        return np.array([len(word), word.count("a")], np.float32)


def test_objects_like_fasttext_s():
    import pickle

    vectors = WordVectors.of(LikeFastText(["cat", "of"]))
    assert vectors.matrix.tolist() == [[3, 1], [2, 0]]
    assert vectors.counts.tolist() == [5, 6]
    assert vectors.subword("banana").tolist() == [6, 3]
    again = pickle.loads(pickle.dumps(vectors))
    assert again == vectors
    with pytest.raises(BadVectors, match="another process"):
        again.subword("banana")
    with pytest.raises(BadVectors, match=r"words=\[…\]"):
        WordVectors.of(LikeFastText([]))


def test_most_similar_agrees(keyed):
    vectors = WordVectors.of(keyed)
    for positive, negative in (["w1"], []), (["w1", "w2"], ["w3"]), ([], ["w5"]):
        ours = vectors.most_similar(positive, negative, k=20)
        theirs = keyed.most_similar(positive, negative, topn=20)
        assert [word for word, _ in ours] == [word for word, _ in theirs]
        assert np.allclose([score for _, score in ours], [score for _, score in theirs], atol=1e-6)
    # gensim takes vectors, unlike words, at the length they have; here all count the same.
    ours = vectors.most_similar([vectors["w1"] * 9, "w2"], k=5, among=50)
    unit = keyed["w1"] / np.linalg.norm(keyed["w1"])
    theirs = keyed.most_similar([unit, "w2"], topn=5, restrict_vocab=50)
    assert [word for word, _ in ours] == [word for word, _ in theirs]


@pytest.mark.parametrize("compressed", [False, True])
def test_fasttext_models(tmp_path, fasttext_model, compressed):
    from gensim.models.fasttext import load_facebook_vectors, save_facebook_model

    path = tmp_path / "model.bin"
    save_facebook_model(fasttext_model, str(path))
    theirs = load_facebook_vectors(str(path))
    if compressed:
        path.write_bytes(gzip.compress(path.read_bytes()))
    vectors = WordVectors.load(path)
    assert set(vectors.words) == set(theirs.index_to_key)
    for word in vectors:
        if word != "</s>":  # fastText gives it no n-grams, gensim does
            assert np.allclose(vectors[word], theirs[word], atol=1e-7), word
            assert np.array_equal(vectors.subword(word), vectors[word])
    for word in ("cats", "Käsekuchen", "東京都", "🙂🙂", "x", "a b"):
        assert word not in vectors
        with pytest.raises(UnknownKey):
            vectors[word]
        assert np.allclose(vectors.subword(word), theirs[word], atol=1e-7), word
    assert WordVectors.load(path, limit=3) == vectors.first(3)
    facts = formats.describe(path)
    assert (facts["format"], facts["words"], facts["dimension"]) == ("fasttext-binary", len(theirs), 11)


def test_fasttext_without_ngrams(tmp_path, gensim):
    from gensim.models import FastText
    from gensim.models.fasttext import save_facebook_model

    model = FastText(SENTENCES, vector_size=4, min_count=1, bucket=50, min_n=3, max_n=0, epochs=1, workers=1)
    save_facebook_model(model, str(tmp_path / "model.bin"))
    vectors = WordVectors.load(tmp_path / "model.bin")
    assert np.allclose(vectors["cat"], model.wv["cat"], atol=1e-7)
    with pytest.raises(UnknownKey, match="n-gram"):
        vectors.subword("unheard")


def twin_ngrams(word, shortest, longest, buckets):
    """fastText's n-grams by characters; the kernel goes by bytes."""
    text = f"<{word}>"
    rows = []
    for begin in range(len(text)):
        for length in range(1, longest + 1):
            end = begin + length
            if end > len(text):
                break
            if length < shortest or (length == 1 and (begin == 0 or end == len(text))):
                continue
            value = 2166136261
            for byte in text[begin:end].encode():
                value = ((value ^ (byte if byte < 128 else byte | 0xFFFFFF00)) * 16777619) & 0xFFFFFFFF
            rows.append(value % buckets)
    return rows


@pytest.mark.parametrize("word", ["a", "cat", "naïve", "日本語", "🙂x", "", "über-größe"])
@pytest.mark.parametrize(("shortest", "longest"), [(3, 6), (1, 2), (2, 2)])
def test_ngrams_equal_the_twin(word, shortest, longest):
    matrix = np.random.default_rng(0).normal(size=(101, 3)).astype(np.float32)
    rows = twin_ngrams(word, shortest, longest, 101)
    vector = Subwords(matrix, shortest, longest).vector(word)
    if rows:
        assert np.allclose(vector, matrix[rows].mean(axis=0), atol=1e-6)
    else:
        assert vector is None


def test_a_spacy_vocabulary():
    spacy = pytest.importorskip("spacy")
    nlp = spacy.blank("en")
    with pytest.raises(BadVectors, match="no vectors"):
        WordVectors.of(nlp)
    for i, word in enumerate(["apple", "né", "cat"]):
        nlp.vocab.set_vector(word, np.arange(4, dtype=np.float32) + i)
    for given in (nlp, nlp.vocab):
        vectors = WordVectors.of(given)
        assert sorted(vectors.words) == ["apple", "cat", "né"]
        assert all(np.array_equal(vectors[word], nlp.vocab[word].vector) for word in vectors)


def test_floret_vectors_of_spacy():
    spacy = pytest.importorskip("spacy")
    from spacy.vectors import Mode, Vectors

    nlp = spacy.blank("en")
    nlp("an apple a day")
    data = np.random.default_rng(0).normal(size=(50, 4)).astype(np.float32)
    nlp.vocab.vectors = Vectors(
        strings=nlp.vocab.strings,
        data=data,
        mode=Mode.floret,
        minn=3,
        maxn=4,
        hash_count=2,
        hash_seed=0,
        bow="<",
        eow=">",
    )
    assert np.array_equal(WordVectors.of(nlp)["apple"], nlp.vocab.get_vector("apple"))  # a word of the pipeline
    vectors = WordVectors.of(nlp, words=["blorp", "cat"])
    assert np.array_equal(vectors["blorp"], nlp.vocab.get_vector("blorp"))
    assert np.array_equal(vectors.subword("slorp"), nlp.vocab.get_vector("slorp"))


def test_a_pandas_frame():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame([[1.0, 2.0], [3.0, 4.0]], index=["a", "b"])
    assert WordVectors.of(frame) == WordVectors(["a", "b"], [[1.0, 2.0], [3.0, 4.0]])
    with pytest.raises(BadVectors, match="no string"):
        WordVectors.of(pandas.DataFrame([[1.0, 2.0]]))
