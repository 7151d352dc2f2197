"""Misspelt options are refused when they are used; by mypy before: tests/faces/test_typed_options.py."""

import numpy as np
import pytest
from passes import VECTORS

from alacarte import (
    ALaCarte,
    AlacarteError,
    Concordance,
    Corpus,
    Transform,
    WordVectors,
    collect,
    compare,
    discover,
    explain,
)
from alacarte.errors import BadCorpus
from alacarte.passes.collect import count_words

IDENTITY = Transform(np.eye(VECTORS.dimension))


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: collect(VECTORS, ["a b"], windwo=5), "windwo"),
        (lambda: collect(VECTORS, ["a b"], ["a"], window=5, thread=1), "thread"),
        (lambda: collect(VECTORS, ["a b"], limit=3), "limit"),
        (lambda: discover(None, ["a b"], min_cuont=5), "min_cuont"),
        (lambda: count_words(VECTORS, ["a b"], window=5), "window"),
    ],
)
def test_a_misspelt_option_is_named(call, named):
    with pytest.raises(TypeError, match=f"no option '{named}'"):
        call()


FRAME = {"speech": [f"a zorg {VECTORS.words[n % 4]} {n}" for n in range(20)], "party": ["D", "R"] * 10}


@pytest.mark.parametrize("kind", ["frame", "file"])
def test_columns_are_named_wherever_a_table_is_taken(kind, tmp_path):
    pandas = pytest.importorskip("pandas")
    data = pandas.DataFrame(FRAME)
    if kind == "file":
        data.to_csv(tmp_path / "speeches.csv", index=False)
        data = tmp_path / "speeches.csv"
    named = {"text": "speech"}
    model = ALaCarte(VECTORS, Transform(np.eye(VECTORS.dimension)))
    assert list(model.discover(data, **named)) == list(discover(VECTORS, data, **named)) == ["zorg"]
    assert model.induce(data, ["zorg"], **named).count("zorg") == 20
    assert model.induce(["a zorg"], ["zorg"]).update(data, **named).count("zorg") == 21
    assert collect(VECTORS, data, **named).tokens_read == 80
    assert ALaCarte.fit(VECTORS, data, ridge=1.0, **named).report.tokens_read == 80
    assert (
        len(compare(model, data, [*FRAME["speech"][::-1], "b zorg"], ["zorg"], vocabulary=False, contexts=0, **named))
        == 1
    )
    text = Concordance.build(VECTORS, data, tmp_path / "text", columns=["party"], **named)
    assert text.where("party=D").count("zorg") == Concordance.open(tmp_path / "text").count("zorg") / 2 == 10
    with pytest.raises(BadCorpus, match="already is a Corpus"):
        model.induce(Corpus(data, **named), ["zorg"], **named)


@pytest.mark.parametrize(
    ("call", "answer"),
    [
        (lambda: discover(None, ["a b"], n=2), "did you mean 'ngrams'"),
        (lambda: collect(VECTORS, ["a b"], thread=2), "did you mean 'threads'"),
        (lambda: Corpus(["a b"], txt="body"), "did you mean 'text'"),
        (lambda: discover(["a b"], VECTORS), "vectors come first, then the text"),
        (lambda: ALaCarte(VECTORS, IDENTITY).nearest("a"), r"model\.vectors\.most_similar\('a'\)"),
        (lambda: ALaCarte(VECTORS, IDENTITY).embed(5), "a text or a list of tokens"),
        (lambda: ALaCarte(VECTORS, IDENTITY).induce(["a x"], ["x"]).update(["b y"], ["y"]), "Concordance"),
        (lambda: ALaCarte(VECTORS, IDENTITY).induce(["a x"], ["x"], form=True), r"model = model\.with_form\(\)"),
        (lambda: ALaCarte(VECTORS), "`ALaCarte.fit` learns one"),
        (lambda: ALaCarte.load("glove.6B.50d"), r"call ALaCarte\.pretrained\('glove\.6B\.50d'\)"),
        (lambda: ALaCarte.pretrained("glove.6B.100d"), r"ALaCarte\.pretrained\('glove\.6B\.100d', vectors=path\)"),
        (lambda: Transform.fit(["a b"], VECTORS), r"collect\(vectors, corpus\)"),
        (lambda: collect(ALaCarte(VECTORS, IDENTITY), ["a b"]), r"its own: `model\.vectors`"),
        (lambda: discover(ALaCarte(VECTORS, IDENTITY), ["a b"]), r"its own: `model\.vectors`"),
        (lambda: discover("nowhere.vec", ["a b"]), "neither a file nor a known name"),
    ],
)
def test_what_newcomers_type_is_answered(call, answer):
    with pytest.raises(AlacarteError, match=answer):
        call()


def test_what_users_of_gensim_type_works():
    words = list(VECTORS.words)
    assert VECTORS.index_to_key == VECTORS.words
    assert VECTORS.vector_size == VECTORS.dimension
    assert (VECTORS.get_vector(words[0]) == VECTORS[words[0]]).all()
    nearest = VECTORS.most_similar(words[0], k=3)
    assert VECTORS.most_similar(words[0], 3) == VECTORS.most_similar(words[0], topn=3) == nearest
    assert VECTORS.similar_by_word(words[0], topn=3) == nearest
    assert VECTORS.similar_by_vector(VECTORS[words[0]], topn=3) == VECTORS.nearest(VECTORS[words[0]], 3)
    assert np.linalg.norm(VECTORS.get_vector(words[0], norm=True)) == pytest.approx(1)
    assert VECTORS.vectors is VECTORS.matrix
    assert VECTORS.has_index_for(words[0])
    assert VECTORS.get_index(words[0]) == 0
    model = ALaCarte(VECTORS, IDENTITY)
    for ask, answer in (
        (lambda: VECTORS.wv, "no attribute 'wv'$"),
        (lambda: VECTORS.get_vecattr("a", "count"), "`counts`"),
        (lambda: model.wv, r"`model\.vectors`"),
        (lambda: model.most_similar("a"), r"`model\.vectors`"),
        (lambda: model.nothing, "no attribute 'nothing'$"),
    ):
        with pytest.raises(AttributeError, match=answer):
            ask()


def test_what_was_discovered_is_a_list_too():
    found = discover(None, ["a blorp b zorg", "a blorp b zorg zorg"], min_count=2)
    assert found[:2] == list(found)[:2]
    assert found[0] == next(iter(found))
    assert set(found | ["new york"]) == {*found, "new york"}
    nothing = discover(VECTORS, ["a b"], min_count=5)
    with pytest.raises(AlacarteError, match="`discover` found none, lower its min_count"):
        ALaCarte(VECTORS, IDENTITY).induce(["a b"], nothing)


def test_a_word_that_is_missing_is_missing_from_a_file(tmp_path):
    VECTORS.save(tmp_path / "mine.vec")
    with pytest.raises(AlacarteError, match=r"no vector for 'nowhere' in mine\.vec"):
        WordVectors.load(tmp_path / "mine.vec")["nowhere"]


def test_results_are_shown_as_tables():
    """Where one types, the arrays inside of a result would fill the screen."""
    explanation = explain(ALaCarte(VECTORS, IDENTITY), [" ".join(["x", *VECTORS.words[:2]])], "x")
    assert repr(explanation) == str(explanation)
    assert "array(" not in repr(explanation)
