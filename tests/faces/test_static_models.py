"""model2vec's StaticModel and sentence-transformers' StaticEmbedding, in and out, with the real libraries."""

import json

import numpy as np
import pytest

from alacarte import ALaCarte, Transform, WordVectors
from alacarte._io.tensors import write_tensors
from alacarte.errors import BadVectors
from alacarte.vectors.formats.static_models import unknown_token

tokenizers = pytest.importorskip("tokenizers")

TEXT = ["the cat sat on the mat and the dog barked at the cat in new york city while flooding rivers flooded"] * 20
WORDS = ["new york", "is", "u.s.a.", "don't", "...", "e-mail", "日本", "slorp"]
KINDS = ["wordpiece", "bytes", "unigram", "marked spaces"]


@pytest.fixture
def vectors():
    return WordVectors(WORDS, np.random.default_rng(0).normal(size=(len(WORDS), 4)), counts=range(len(WORDS)))


def trained(kind):
    models, trainers, splitters = tokenizers.models, tokenizers.trainers, tokenizers.pre_tokenizers
    if kind == "wordpiece":
        tokenizer = tokenizers.Tokenizer(models.WordPiece(unk_token="[UNK]"))
        tokenizer.normalizer, tokenizer.pre_tokenizer = (
            tokenizers.normalizers.BertNormalizer(),
            splitters.BertPreTokenizer(),
        )
        trainer = trainers.WordPieceTrainer(vocab_size=60, special_tokens=["[PAD]", "[UNK]"], show_progress=False)
    elif kind == "bytes":
        tokenizer = tokenizers.Tokenizer(models.BPE())
        tokenizer.pre_tokenizer, tokenizer.decoder = splitters.ByteLevel(), tokenizers.decoders.ByteLevel()
        alphabet = splitters.ByteLevel.alphabet()
        trainer = trainers.BpeTrainer(vocab_size=330, initial_alphabet=alphabet, show_progress=False)
    elif kind == "marked spaces":  # as Llama's
        tokenizer = tokenizers.Tokenizer(models.BPE(unk_token="<unk>"))
        write = tokenizers.normalizers
        tokenizer.normalizer = write.Sequence([write.Prepend("▁"), write.Replace(" ", "▁")])
        read = tokenizers.decoders
        tokenizer.decoder = read.Sequence([read.Replace("▁", " "), read.Fuse(), read.Strip(" ", 1, 0)])
        tokenizer.pre_tokenizer = splitters.Split("▁", "merged_with_next")  # for learning only
        trainer = trainers.BpeTrainer(vocab_size=60, special_tokens=["<unk>"], show_progress=False)
        tokenizer.train_from_iterator(TEXT, trainer)
        tokenizer.pre_tokenizer = None
        return tokenizer
    else:
        tokenizer = tokenizers.Tokenizer(models.Unigram())
        tokenizer.pre_tokenizer, tokenizer.decoder = splitters.Metaspace(), tokenizers.decoders.Metaspace()
        trainer = trainers.UnigramTrainer(
            vocab_size=70, unk_token="<unk>", special_tokens=["<unk>"], show_progress=False
        )
    tokenizer.train_from_iterator(TEXT, trainer)
    return tokenizer


def static_model(kind, **options):
    model2vec = pytest.importorskip("model2vec")
    tokenizer = trained(kind)
    matrix = np.random.default_rng(1).normal(size=(tokenizer.get_vocab_size(), 4)).astype(np.float32)
    return model2vec.StaticModel(matrix, tokenizer, **options)


def test_every_word_and_phrase_has_its_vector_in_a_static_model(vectors):
    pytest.importorskip("model2vec")
    model = vectors.to_model2vec()
    for word in vectors:
        assert np.array_equal(model.encode([word])[0], vectors[word]), word
        assert np.array_equal(model.encode([f"({word}), qwxz"])[0], vectors[word]), (
            word
        )  # what is not known is left out
    both = model.encode("In New York, the E-mail")
    assert np.allclose(both, (vectors["new york"] + vectors["e-mail"]) / 2)
    assert not model.encode("slorps").any()  # and not what begins like a word
    again = WordVectors.of(model)
    assert sorted(again.words) == sorted(vectors.words)
    assert again.subset(vectors.words) == vectors


def test_a_folder_that_model2vec_opens(tmp_path, vectors):
    vectors.save(tmp_path / "model", "model2vec")
    again = WordVectors.load(tmp_path / "model")
    assert again.subset(vectors.words) == vectors
    with pytest.raises(BadVectors, match="on a disk"):
        vectors.save("s3://bucket/folder", "model2vec")
    with pytest.raises(BadVectors, match="name a new folder"):
        vectors.save(tmp_path / "model", "model2vec")
    model2vec = pytest.importorskip("model2vec")
    model = model2vec.StaticModel.from_pretrained(tmp_path / "model")
    for word in vectors:
        assert np.array_equal(model.encode([word])[0], vectors[word]), word
    model.save_pretrained(tmp_path / "theirs")
    assert WordVectors.load(tmp_path / "theirs") == again


@pytest.mark.parametrize("kind", KINDS)
def test_the_words_of_a_static_model(kind):
    model = static_model(kind)
    vectors = WordVectors.of(model)
    assert {"flood"} <= set(vectors.words)
    for word in vectors:
        assert np.allclose(vectors[word], model.encode([word])[0], atol=1e-6), word
    assert np.allclose(vectors.subword("floods flooding"), model.encode(["floods flooding"])[0], atol=1e-6)
    assert np.allclose(WordVectors.of(model, words=["flooded"])["flooded"], model.encode("flooded"), atol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_words_are_added_to_a_static_model(kind, vectors):
    base = static_model(kind, normalize=True)
    before = base.encode(["the cat sat"])
    model = vectors.to_model2vec(base)
    for word in vectors:
        ids = base.tokenizer.encode(word, add_special_tokens=False).ids
        pieces = [number for number in ids if number != unknown_token(base.tokenizer)]
        own = np.linalg.norm(vectors[word])
        instead = np.linalg.norm(np.asarray(base.embedding)[pieces].sum(axis=0)) if pieces else own
        row = model.encode([word], normalize=False)[0]
        assert np.allclose(row, vectors[word] * instead / own, atol=1e-5), word
    assert np.array_equal(model.encode(["the cat sat"]), before)
    assert np.array_equal(base.encode(["the cat sat"]), before)  # the old one stays as it is
    assert model.normalize
    replaced = WordVectors(["flood"], [[9.0, 0.0, 0.0, 0.0]]).to_model2vec(base)
    length = np.linalg.norm(base.encode("flood", normalize=False))
    assert np.allclose(replaced.encode("flood", normalize=False), [length, 0.0, 0.0, 0.0])
    with pytest.raises(BadVectors, match="4 dimensions and the vectors have 1"):
        WordVectors(["a"], [[1.0]]).to_model2vec(base)


def test_a_model_whose_vectors_are_shared_and_weighted():
    model2vec = pytest.importorskip("model2vec")
    tokenizer = trained("wordpiece")
    size = tokenizer.get_vocab_size()
    rng = np.random.default_rng(2)
    model = model2vec.StaticModel(
        rng.normal(size=(7, 3)).astype(np.float32),
        tokenizer,
        token_mapping=rng.integers(0, 7, size),
        weights=rng.random(size).astype(np.float32),
    )
    vectors = WordVectors.of(model)
    for word in vectors:
        assert np.allclose(vectors[word], model.encode([word])[0], atol=1e-6), word
    added = WordVectors(["blorp"], [[1.0, 2.0, 3.0]]).to_model2vec(model)
    row = added.encode("blorp")
    assert np.allclose(row / np.linalg.norm(row), np.array([1.0, 2.0, 3.0]) / np.sqrt(14), atol=1e-6)
    assert np.allclose(added.encode("the cat"), model.encode("the cat"), atol=1e-6)


def test_from_a_static_model_to_new_words_in_it():
    """The whole way: its words are source vectors, text gives a new word, and the model knows it."""
    base = static_model("bytes")
    vectors = WordVectors.of(base)
    model = ALaCarte(vectors, Transform(np.eye(4)))
    induced = model.induce(["the cat blorp the dog", "a blorp barked"], ["blorp"])
    row = induced.to_model2vec(base).encode("blorp")
    assert np.allclose(row / np.linalg.norm(row), induced["blorp"] / np.linalg.norm(induced["blorp"]), atol=1e-6)


def test_sentence_transformers(tmp_path, vectors):
    module = pytest.importorskip("sentence_transformers")
    vectors.save(tmp_path / "model", "model2vec")
    model = module.SentenceTransformer(str(tmp_path / "model"))
    for word in vectors:
        assert np.allclose(model.encode([word])[0], vectors[word], atol=1e-6)
    for given in (model, model[0]):
        assert WordVectors.of(given).subset(vectors.words) == vectors
    model.save_pretrained(str(tmp_path / "theirs"))
    assert WordVectors.load(tmp_path / "theirs").subset(vectors.words) == vectors


def test_folders_that_are_damaged(tmp_path, vectors):
    folder = tmp_path / "model"
    vectors.save(folder, "model2vec")
    matrix, tokenizer = (folder / name for name in ("model.safetensors", "tokenizer.json"))
    good = matrix.read_bytes(), tokenizer.read_text()
    for text in ("", "{}", "[" * 10_000, good[1][:-5]):
        tokenizer.write_text(text)
        with pytest.raises(BadVectors, match="model"):
            WordVectors.load(folder)
    tokenizer.write_text(good[1])
    for tensors, said in [
        ({"embeddings": np.ones((3, 2), np.float32)}, "do not go together"),
        ({"weight": np.ones((99, 2), np.float32)}, "no matrix"),
        ({"embeddings": np.ones(99, np.float32)}, "no matrix"),
        ({"embeddings": np.full((99, 2), np.nan, np.float32)}, "NaN"),
        ({"embeddings": np.ones((9, 2), np.float32), "mapping": np.full(99, 9)}, "damaged"),
        ({"embeddings": np.ones((99, 2), np.float32), "weights": np.ones(3, np.float32)}, "damaged"),
    ]:
        write_tensors(matrix, tensors, {})
        with pytest.raises(BadVectors, match=said):
            WordVectors.load(folder)
    matrix.write_bytes(good[0][:-1])
    with pytest.raises(BadVectors, match=r"model\.safetensors is damaged"):
        WordVectors.load(folder)
    tokenizer.unlink()
    with pytest.raises(BadVectors, match="is a folder without"):
        WordVectors.load(folder)


def test_words_that_are_the_same_to_a_tokenizer():
    base = static_model("wordpiece")
    with pytest.raises(BadVectors, match="'Slorp' and another word are the same"):
        WordVectors(["Slorp", "slorp"], np.eye(2, 4)).to_model2vec(base)
    with pytest.raises(BadVectors, match="cannot make one token"):
        WordVectors(["a", "\n"], np.eye(2, 4)).to_model2vec(base)


def test_modules_json_says_what_it_is(tmp_path, vectors):
    vectors.save(tmp_path / "model", "model2vec")
    (module,) = json.loads((tmp_path / "model" / "modules.json").read_text())
    assert module["type"].endswith("StaticEmbedding")
