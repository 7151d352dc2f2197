import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alacarte.errors import AlacarteError
from alacarte.text.tokenizers import Tokenizer, fold, get_tokenizer

GLOVE_LIKE = {
    "the", "do", "n't", "'s", "'re", "u.s.", "u.s.-led", "o'clock", "'em", "state-of-the-art", "e-mail", "at&t",
    "and/or", "1,000", "3.5", "...", "--", "___", "formula_1", "it", "dog", "well", "known",
}  # fmt: skip


def words(text, known=GLOVE_LIKE):
    return get_tokenizer("words")(text, known)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The DOG", ["the", "dog"]),
        ("Don't!", ["do", "n't", "!"]),
        ("don’t", ["do", "n't"]),  # a typographic apostrophe is an apostrophe
        ("it's the dog's", ["it", "'s", "the", "dog", "'s"]),
        ("the dog 's tail", ["the", "dog", "'s", "tail"]),  # already split text stays as it is
        ("6 o'clock", ["6", "o'clock"]),
        ("get 'em 'now'", ["get", "'em", "'", "now", "'"]),
        ("state-of-the-art", ["state-of-the-art"]),  # known: whole
        ("well-known", ["well", "-", "known"]),  # unknown: split, the hyphen is a token
        ("re-e-mail", ["re", "-", "e", "-", "mail"]),
        ("U.S. and u.s.-led, u.k.", ["u.s.", "and", "u.s.-led", ",", "u", ".", "k", "."]),
        ("the end.", ["the", "end", "."]),
        ("wait... what", ["wait", "...", "what"]),
        ("AT&T and/or x/y", ["at&t", "and/or", "x", "/", "y"]),
        ("1,000 3.5 2,947.25 1,2,x", ["1,000", "3.5", "2,947.25", "1,2", ",", "x"]),
        ('(a [b] "c")', ["(", "a", "[", "b", "]", '"', "c", '"', ")"]),
        ("((x))", ["(", "(", "x", ")", ")"]),
        ("formula_1 foo_bar __x__", ["formula_1", "foo", "_", "bar", "__", "x", "__"]),
        ("a--b ==== !!!", ["a", "--", "b", "====", "!!!"]),
        ("Ünïcode ÉCOLE Straße", ["ünïcode", "école", "straße"]),
        ("हिन्दी 中文。日本", ["हिन्दी", "中文", "。", "日本"]),
        ("«Привет», “мир”", ["«", "привет", "»", ",", "“", "мир", "”"]),
        ("soft\u00adhyphen zero\u200bwidth\ufeff", ["softhyphen", "zero", "width"]),
        ("a\u2028b\x00c\x85d\te", ["a", "b", "c", "d", "e"]),
        ("", []),
        (" \t\n", []),
    ],
)
def test_words(text, expected):
    assert words(text) == expected


def test_words_follow_the_vocabulary_they_are_made_for():
    assert words("don't", {"don't"}) == ["don't"]  # no n't, but the whole word: word2vec's way
    assert words("don't", {"don't", "n't"}) == ["do", "n't"]
    assert words("don't", set()) == ["don", "'", "t"]


def test_words_cased_keeps_case():
    assert get_tokenizer("words-cased")("New York ISN'T", {"N'T"}) == ["New", "York", "IS", "N'T"]


def test_decomposed_and_composed_letters_are_the_same_word():
    assert words("cafe\u0301") == words("caf\u00e9") == ["café"]


@given(
    st.text(alphabet=st.one_of(st.characters(), st.sampled_from(" '-._,:&/’a1é(\"\u0301\u200b\u00ad中")), max_size=60)
)
def test_words_lose_no_visible_character(text):
    """The tokens put together are the folded text without its spaces."""
    spaces = {"Z", "C"}
    kept = [
        c for c in fold(text) if not c.isspace() and (unicodedata.category(c)[0] not in spaces or c in "\u200c\u200d")
    ]
    joined = "".join(words(text))
    odd = [c for c in fold(text) if unicodedata.category(c) in ("Cn", "Co")]  # unassigned: punctuation, kept
    if not odd:
        assert joined == "".join(kept)
    assert all(token and not any(c.isspace() for c in token) for token in words(text))


@given(st.text(max_size=60))
def test_ascii_and_general_paths_agree(text):
    """Text in ASCII has a pattern of its own; a letter outside ASCII, far away, must not change anything."""
    ascii_only = text.encode("ascii", "ignore").decode()
    assert words(ascii_only + " é")[:-1] == words(ascii_only + " e")[:-1]


@given(st.text(alphabet="abc'n t-.s u", max_size=40))
def test_tokens_stay_tokens_when_split_again(text):
    """Known tokens survive being joined by spaces and tokenised again."""
    once = [token for token in words(text) if token in GLOVE_LIKE]
    assert words(" ".join(once)) == once


# The vocabulary and cases of METHOD.md's golden list; ∅ is a token without a vector.
VOCABULARY = {"a", "b", "c", "don't", "new", "york", "u.s", "u", "s", "...", "hello", ",", "!"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("hello,", ["hello", ","]),
        ("(hello)", [None, "hello", None]),
        ("u.s.", ["u", None, "s", None]),
        ("hello!!!", ["hello", None]),
        ("new-york", ["new", None, "york"]),
        ("don't", ["don't"]),
        ("a b", ["a", "b"]),
        ("zzz", [None]),
    ],
)
def test_authors(text, expected):
    tokens = get_tokenizer("authors")(text, VOCABULARY)
    assert [token if token in VOCABULARY else None for token in tokens] == expected


@given(st.text(max_size=50))
def test_authors_keep_every_character(text):
    assert "".join(get_tokenizer("authors")(text, VOCABULARY)) == "".join(text.split())


def test_authors_lower():
    assert get_tokenizer("authors-lower")("New HELLO", VOCABULARY) == ["new", "hello"]


def test_whitespace():
    assert get_tokenizer("whitespace")("Don't  split\tTHIS.") == ["Don't", "split", "THIS."]
    assert get_tokenizer("whitespace-lower")("THIS.") == ["this."]


def test_names_and_callables():
    assert get_tokenizer("words").named
    custom = get_tokenizer(lambda text: text.split("|"))
    assert custom("a|b") == ["a", "b"]
    assert not custom.named
    assert get_tokenizer(custom) is custom
    with pytest.raises(AlacarteError, match="the names are words"):
        get_tokenizer("spacy")
    with pytest.raises(AlacarteError, match="pass it again"):
        get_tokenizer("custom:thing")
    with pytest.raises(AlacarteError, match="not int"):
        get_tokenizer(3)
    assert Tokenizer("words", lambda text, known: []).named is False


def test_spacy_adapter():
    spacy = pytest.importorskip("spacy")
    tokenizer = get_tokenizer(spacy.blank("en"))
    assert tokenizer("He isn't  here.") == ["he", "is", "n't", "here", "."]
    assert tokenizer.name.startswith("spacy:en")


def test_huggingface_adapter():
    tokenizers = pytest.importorskip("tokenizers")
    model = tokenizers.models.WordPiece({"[UNK]": 0, "hell": 1, "##o": 2}, unk_token="[UNK]")
    adapted = get_tokenizer(tokenizers.Tokenizer(model))
    assert adapted("hello") == ["hell", "##o"]
