"""Contexts as a table: against a plain twin, and on every kind of input."""

from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from alacarte import ALaCarte, Targets, WordVectors
from alacarte.errors import BadCorpus, BadTargets, NoOccurrences
from alacarte.regression import compat, contexts, dem, documents
from alacarte.regression.context_table import longest

TOKENS = st.lists(st.lists(st.sampled_from(["a", "b", "A", "ab", ""]), max_size=12), min_size=1, max_size=4)


def plain_contexts(docs, pattern, window, keep=False):
    """(document, tokens) of each hit, by loops."""
    found = []
    parts = pattern.split()
    for number, tokens in enumerate(docs):
        for start in range(len(tokens) - len(parts) + 1):
            span = tokens[start : start + len(parts)]
            if span == parts:
                end = start + len(parts)
                around = tokens[max(0, start - window) : start] + (span if keep else []) + tokens[end : end + window]
                found.append((number, [token for token in around if token]))
    return found


@given(TOKENS, st.sampled_from(["a", "a b", "ab a"]), st.integers(1, 4))
def test_against_a_plain_twin(docs, pattern, window):
    kept = [tokens for tokens in docs if tokens]
    want = plain_contexts(kept, pattern, window)
    if not want:
        with pytest.raises((NoOccurrences, BadCorpus)):
            contexts(docs, pattern, window=window)
        return
    found = contexts(docs, pattern, window=window)
    assert list(zip(found.documents.tolist(), found.tokens(), strict=True)) == want


@given(TOKENS, st.sampled_from(["a", "b b", "ab a"]), st.integers(1, 4), st.booleans())
def test_conTexts_own_against_a_plain_twin(docs, pattern, window, keep):
    kept = [[token.lower() for token in tokens] for tokens in docs if tokens]
    want = [tokens for _, tokens in plain_contexts(kept, pattern, window, keep)]
    if not want:
        with pytest.raises((NoOccurrences, BadCorpus)):
            compat.tokens_context(docs, pattern, window=window, rm_keyword=not keep)
        return
    found = compat.tokens_context(docs, pattern, window=window, rm_keyword=not keep)
    assert [[token.lower() for token in tokens] for tokens in found.tokens()] == want


@given(st.lists(st.tuples(st.integers(0, 12), st.integers(1, 3)), max_size=12))
def test_the_longest_of_overlapping_hits(spans):
    spans = sorted((start, start + length) for start, length in spans)
    starts, ends = (np.array([span[side] for span in spans], dtype=np.int64) for side in (0, 1))
    keep = longest(starts, ends)
    kept = [span for span, chosen in zip(spans, keep, strict=True) if chosen]
    assert all(a[1] <= b[0] for a, b in pairwise(kept))  # none overlaps another
    for start, end in spans:  # and none was dropped without a reason
        assert any(a < end and start < b and b - a >= end - start for a, b in kept)


def test_one_hit_for_overlapping_patterns():
    text = ["immigration reform now", "immigration now"]
    patterns = ["immigration", "immigration reform", "immigr*"]
    assert contexts(text, patterns).matches() == ["immigration reform", "immigration"]
    assert len(compat.tokens_context(text, patterns)) == 5


def test_patterns_are_named_as_asked_and_case_is_the_tokenizers():
    found = contexts(["Target x TARGET"], "targ*")
    assert contexts(["Target x TARGET"], "Targ*", tokenizer="words-cased").matches() == ["Target"]
    assert found.to_frame()["pattern"].tolist() == ["targ*"] * len(found)
    assert contexts(["Target x TARGET"], ["target"]).matches() == ["target"] * 2
    assert contexts(["Target x target"], "target", tokenizer="words-cased").matches() == ["target"]
    assert contexts([["Target", "x", "target"]], "target").matches() == ["target"]


def test_targets_of_every_kind():
    docs = [["target's", "untarget", "tar?get"]]
    assert contexts(docs, Targets.regex("^targ")).matches() == ["target's"]
    assert contexts(docs, Targets([["tar?get"]])).matches() == ["tar?get"]
    assert contexts(docs, "*get").matches() == ["untarget", "tar?get"]
    with pytest.raises(BadTargets, match="malformed"):
        contexts(docs, Targets.regex("("))


def test_blanks_match_nothing():
    assert contexts([["", "a", ""]], "*", window=1).matches() == ["a"]


def test_documents_are_read_once_for_several_words():
    read = documents({"text": ["a tax b", "c war"], "party": ["D", "R"]})
    assert contexts(read, "tax").matches() == ["tax"]
    assert contexts(read, "war").row_variables().columns["party"].tolist() == ["R"]
    with pytest.raises(BadCorpus, match="contexts already"):
        contexts(contexts(read, "war"), "c")


def test_what_documents_have_in_common_is_kept_for_the_next_word():
    texts = ["lower the tax and end the war", "raise the tax for the war"]
    model = ALaCarte.pretrained("glove.6B.50d")
    read = documents(texts, known=model)
    first, second = (dem(contexts(read, word), model) for word in ("tax", "war"))
    assert first.vectors is second.vectors
    alone = dem(contexts(texts, "war", known=model), model)
    np.testing.assert_array_equal(second.matrix, alone.matrix)
    assert dem(contexts(read, "war"), model.without_register()).vectors is model.vectors


OWN = ["document", "position", "pattern", "match", "left", "right", "name", "n", "text_"]


@pytest.mark.parametrize("name", OWN)
def test_columns_of_the_data_may_be_called_as_ours(name):
    """Such a column is neither lost nor in place of the context's own."""
    data = {"text": ["a tax b", "c tax d"], name: ["u", "v"]}
    found = contexts(data, "tax", window=1)
    assert found.row_variables().columns[name].tolist() == ["u", "v"]
    frame = found.to_frame()
    assert frame["match"].tolist() == ["tax", "tax"]
    assert frame["document"].tolist() == [0, 1]
    assert [side[0] for side in frame["left"]] == ["a", "c"]
    assert frame[f"columns.{name}" if name in OWN[:6] else name].tolist() == ["u", "v"]


def test_tokens_of_other_segmenters_survive():
    docs = [["我们", "的", "人民代表大会", "在", "new york"]]
    found = contexts(docs, "人民代表大会", window=2)
    assert found.side(0, "left") == ["我们", "的"]
    assert found.side(0, "right") == ["在", "new york"]


def test_words_are_split_as_the_text_is():
    vectors = WordVectors(["do", "n't", "stop"], np.eye(3))
    found = contexts(["We don't stop."], "don't", window=1, known=vectors)
    assert found.matches() == ["do n't"]
    assert found.side(0, "right") == ["stop"]


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_frames_come_back_as_they_came(make):
    frame = make({"speech": ["a tax b", "c", "tax"], "party": ["D", "R", None], "year": [1, 2, 3]})
    found = contexts(frame, "tax", text="speech", window=1).to_frame()
    assert isinstance(found, make)
    first, second = found["party"]
    assert first == "D"
    assert pd.isna(second)
    assert list(found["document"]) == [0, 2]
    assert [list(side) for side in found["left"]] == [["a"], []]


def test_lazy_frames_and_arrow():
    data = {"text": ["a tax b"], "party": ["D"]}
    assert len(contexts(pl.DataFrame(data).lazy(), "tax")) == 1
    table = contexts(pl.DataFrame(data).to_arrow(), "tax").to_frame()
    assert type(table).__module__.startswith("pyarrow")


def test_a_table_file(tmp_path):
    path = tmp_path / "speeches.csv"
    path.write_text("text,party\na tax b,D\n", encoding="utf-8")
    assert contexts(path, "tax").variables.columns["party"].tolist() == ["D"]
    with pytest.raises(BadCorpus, match="no such file"):
        contexts(tmp_path / "none.csv", "tax")


def test_full_windows_as_conText_counts_them():
    docs = {"text": [["a", "t", "b"], ["t", "b"]], "n": [0, 1]}
    found = compat.tokens_context(docs, "t", window=1, hard_cut=True)
    assert found.variables.columns["n"].tolist() == [0]
    # conText counts the keyword as one of the 2 · window tokens.
    found = compat.tokens_context(docs, "t", window=1, hard_cut=True, rm_keyword=False)
    assert found.variables.columns["n"].tolist() == [1]
    with pytest.raises(NoOccurrences, match="such a context"):
        compat.tokens_context(docs, "t", window=4, hard_cut=True)


def test_documents_without_text_are_counted():
    found = contexts({"text": ["a tax", None, "", "  ", "tax"], "n": [0, 1, 2, 3, 4]}, "tax")
    assert found.skipped == 3
    assert found.to_frame()["n"].tolist() == [0, 4]


def test_errors_say_what_to_do():
    with pytest.raises(NoOccurrences, match="the text has 'immigration'"):
        contexts(["the immigration law"], "immigraton")
    with pytest.raises(BadCorpus, match=r"no column 'speech'.*'text', 'party'"):
        contexts({"text": ["a"], "party": ["D"]}, "a", text="speech")
    with pytest.raises(BadCorpus, match="none of the 2 documents"):
        contexts(["", " "], "a")
    with pytest.raises(BadTargets, match="window"):
        contexts(["a"], "a", window=0)
    with pytest.raises(BadTargets, match="at least one word"):
        contexts(["a"], [])
    with pytest.raises(BadCorpus, match="variables of other lengths"):
        contexts({"text": ["a", "b"], "party": ["D"]}, "a")


def test_patterns_without_a_hit_are_listed():
    assert contexts(["a b"], ["a", "zz"]).missing == ["zz"]


def test_whole_documents_and_ready_made_contexts():
    assert documents(["a b", "c"]).texts() == ["a b", "c"]
