"""Text that is not English: tokenizers by name, scripts and their letters, transforms of others."""

import numpy as np
import pytest

from alacarte import ALaCarte, Transform, WordVectors, collect
from alacarte.errors import AlacarteError, TransformMismatch
from alacarte.text.tokenizers import get_tokenizer

GERMAN = ["Die Köchin isst z.B. Blorp mit Käse.", "Der Arzt isst keinen Blorp."]


@pytest.mark.parametrize("name", ["spacy:de", "spacy-cased:de"])
def test_a_tokenizer_of_spacy_is_saved_by_its_name(name, tmp_path):
    pytest.importorskip("spacy")
    words = sorted({token for line in GERMAN for token in get_tokenizer(name)(line)} - {"Blorp", "blorp"})
    vectors = WordVectors(words, np.random.default_rng(0).normal(size=(len(words), 3)))
    model = ALaCarte.fit(vectors, GERMAN * 3, tokenizer=name, ridge=1.0)
    model.save(tmp_path / "model")
    again = ALaCarte.load(tmp_path / "model")
    assert again.tokenizer.name == name
    assert again.tokenizer.named
    target = "Blorp" if "cased" in name else "blorp"
    assert again.induce(GERMAN, [target]) == model.induce(GERMAN, [target])
    assert again.tokens(GERMAN[0])[3:5] == ["z.B." if "cased" in name else "z.b.", target]


def test_a_pipeline_that_is_passed_is_not_taken_for_a_name():
    spacy = pytest.importorskip("spacy")
    tokenizer = get_tokenizer(spacy.blank("de"))
    assert not tokenizer.named
    with pytest.raises(AlacarteError, match="cannot be saved"):
        get_tokenizer(tokenizer.name)


def test_a_language_that_spacy_does_not_have_is_an_error():
    pytest.importorskip("spacy")
    with pytest.raises(AlacarteError, match=r"no tokenizer for the language 'qx'"):
        get_tokenizer("spacy:qx")


def test_chinese_is_segmented_by_jieba():
    pytest.importorskip("jieba")
    tokenizer = get_tokenizer("jieba")
    assert tokenizer.named
    assert tokenizer is not get_tokenizer("jieba")
    assert tokenizer == get_tokenizer("jieba")
    assert tokenizer("我们 在北京喝Kaffee。") == ["我们", "在", "北京", "喝", "kaffee", "。"]
    vectors = WordVectors(["我们", "在", "喝"], np.eye(3))
    sums = collect(vectors, ["我们在北京", "在北京喝"], ["北京"], tokenizer="jieba")
    assert sums.means().tolist() == [[0.5, 1.0, 0.5]]


def test_japanese_in_its_normal_forms():
    pytest.importorskip("sudachipy")
    pytest.importorskip("sudachidict_core")
    assert get_tokenizer("spacy:ja")("食べました。") == ["食べ", "まし", "た", "。"]
    assert get_tokenizer("spacy-norm:ja")("食べました。")[0] == "食べる"


def test_vectors_that_come_with_ginza():
    ja_ginza = pytest.importorskip("ja_ginza")
    spacy = pytest.importorskip("spacy")
    from pathlib import Path

    folder = next(Path(ja_ginza.__file__).parent.glob("ja_ginza-*"))
    vectors = WordVectors.of(spacy.vocab.Vocab().from_disk(folder / "vocab"))
    model = ALaCarte(vectors, Transform(np.eye(vectors.dimension)), tokenizer="spacy-norm:ja")
    ramen = model.embed("私はブロープを食べました。", target="ブロープ")
    assert np.allclose(ramen, sum(vectors[word] for word in model.tokens("私はを食べました。") if word in vectors))


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("हिन्दी में किताबें", ["हिन्दी", "में", "किताबें"]),  # vowel signs and virama are parts of words
        ("தமிழ் எழுத்து", ["தமிழ்", "எழுத்து"]),
        ("ภาษา ไทย", ["ภาษา", "ไทย"]),
        ("עִבְרִית", ["עִבְרִית"]),  # points
        ("العَرَبِيَّة", ["العَرَبِيَّة"]),
        ("İstanbul IŞIK", ["i\u0307stanbul", "işik"]),  # as Unicode lower-cases, whatever the language
        ("¿Qué? ¡Sí!", ["¿", "qué", "?", "¡", "sí", "!"]),
    ],
)
def test_letters_of_other_scripts(text, tokens):
    assert get_tokenizer("words")(text) == tokens
    # the compiled encoder cuts in the same places: each token is met once, beside all the others
    vectors = WordVectors(tokens, np.eye(len(tokens)))
    sums = collect(vectors, [text], [[token] for token in tokens])
    assert np.array_equal(sums.means(), 1 - np.eye(len(tokens))) or len(tokens) == 1
    assert sums.occurrences.tolist() == [1] * len(tokens)


@pytest.mark.parametrize("suffix", [".npy", ".csv", ".bin"])
def test_a_published_transform_is_refused_for_vectors_of_another_size(suffix, tmp_path):
    path = tmp_path / f"published{suffix}"
    Transform(np.diag([1.0, 2.0, 3.0])).save(path)
    loaded = Transform.load(path, averaging="token")
    three = WordVectors(["wein", "brot"], np.eye(2, 3))
    assert np.allclose(ALaCarte(three, loaded).embed(["brot"], each=False), [0, 2, 0])
    with pytest.raises(AlacarteError, match="dimensions"):
        ALaCarte(WordVectors(["wein", "brot"], np.eye(2, 4)), loaded)


def test_a_transform_that_knows_its_vectors_is_refused_for_others_of_the_same_size(tmp_path):
    rng = np.random.default_rng(0)
    words = [f"w{i}" for i in range(30)]
    text = [" ".join(rng.choice(words, 20)) for _ in range(50)]
    german, spanish = (WordVectors(words, rng.normal(size=(30, 3))) for _ in range(2))
    ALaCarte.fit(german, text, ridge=1.0).transform.save(tmp_path / "german.safetensors")
    with pytest.raises(TransformMismatch, match="other vectors"):
        ALaCarte(spanish, Transform.load(tmp_path / "german.safetensors"))
