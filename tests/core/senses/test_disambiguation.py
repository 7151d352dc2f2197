"""Which sense: by context, by prior, by fallback, and never a silent guess."""

import numpy as np
import pytest
from tiny_wordnet import write_wordnet

from alacarte import WordVectors
from alacarte.errors import AlacarteError, AlacarteWarning, BadWordNet
from alacarte.senses import Disambiguator, Instance, Sentence, by_sense_key, induce_synsets, open_wordnet, read_semcor
from alacarte.senses.plain_text import sentences_of_doc, sentences_of_text


@pytest.fixture
def senses(model, wordnet, semcor):
    return induce_synsets(model, read_semcor(semcor), wordnet)


@pytest.fixture
def one(model, wordnet, senses):
    return Disambiguator(model, wordnet, senses)


def test_the_nearest_synset(one):
    answer = one.predict(["fished", "from", "the", "river", "bank"], "bank", "n", 4)
    assert (answer.synset, answer.key, answer.source) == ("bank.n.01", "bank%1:17:01::", "context")
    assert answer.definition == "sloping land beside water"
    assert one.predict(["a", "loan", "from", "the", "bank"], "bank", "n", 4).key == "bank%1:14:00::"


def test_cosine_and_confidence_are_what_they_say(one, senses):
    answer = one.predict(["river", "bank"], "bank", "n", 1)
    context = np.array([2.0, 0.0])
    cosines = {w: v @ context / np.linalg.norm(v) / 2 for w, v in zip(senses.words, senses.matrix, strict=True)}
    assert answer.cosine == pytest.approx(cosines["bank.n.01"], rel=1e-6)
    weights = {word: np.exp(one.sharpness * cosine) for word, cosine in cosines.items()}
    assert answer.confidence == pytest.approx(weights["bank.n.01"] / sum(weights.values()), rel=1e-6)
    assert [name for name, _ in answer.candidates] == ["bank.n.01", "depository.n.01"]
    assert sum(share for _, share in answer.candidates) == pytest.approx(1.0)


def test_with_near_vectors_the_cosine_is_the_mean_of_two(model, wordnet, senses):
    words = ("loan", "a", "a", "a", "a", "bank", "by", "river")  # of which only the river is near
    sentence = Sentence(words, (Instance(5, 6, "bank", "n"),))
    alone = Disambiguator(model, wordnet, senses).candidates([sentence])
    both = Disambiguator(model, wordnet, senses, near=senses.subset(["bank.n.01"])).candidates([sentence])
    river, money = ([synset.id for synset in both.synsets].index(name) for name in ("bank.n.01", "depository.n.01"))
    vector = senses["bank.n.01"]
    near = vector @ [1.0, 0.0] / np.linalg.norm(vector)
    assert both.cosines[river] == pytest.approx((alone.cosines[river] + near) / 2, rel=1e-6)
    assert both.cosines[money] == alone.cosines[money]  # which has no near vector


def test_the_target_is_not_its_own_context(model, wordnet, senses):
    vectors = WordVectors([*model.vectors.words, "bank"], np.vstack([model.vectors.matrix, [[99.0, 0.0]]]))
    from alacarte import ALaCarte, Transform

    one = Disambiguator(ALaCarte(vectors, Transform(np.eye(2))), wordnet, senses)
    assert one.predict(["loan", "bank"], "bank", "n", 1).synset == "depository.n.01"


def test_a_prior_from_a_wordnet_without_counts_is_an_error(model, senses, tmp_path):
    bare = open_wordnet(write_wordnet(tmp_path / "bare", counts=False))
    with pytest.raises(BadWordNet, match="counts=None"):
        Disambiguator(model, bare, senses, counts="wordnet")
    assert Disambiguator(model, bare, senses).predict(["river", "bank"], "bank", "n", 1).synset == "bank.n.01"


def test_senses_of_another_wordnet_are_noticed(model, wordnet):
    """An id such as bank.n.03 is another synset, or none, in another version."""

    def of(names):
        return Disambiguator(model, wordnet, WordVectors(names, [[1.0, 0.0]] * len(names)))

    with pytest.raises(BadWordNet, match=r"1 of 2 senses that were looked up, such as bank\.n\.03, are not in"):
        of(["bank.n.01", "bank.n.03"])
    with pytest.raises(BadWordNet, match="bank%1:99:00::"):
        of(["bank%1:17:01::", "bank%1:99:00::"])
    with pytest.raises(BadWordNet):
        of(["river", "water"])  # word vectors by mistake


def test_a_few_strange_senses_are_a_warning(model, wordnet, monkeypatch):
    monkeypatch.setattr("alacarte.senses.disambiguation.UNLISTED_LIMIT", 0.5)
    with pytest.warns(AlacarteWarning, match="built with"):
        Disambiguator(model, wordnet, WordVectors(["bank.n.01", "mine.n.01"], [[1.0, 0.0], [0.0, 1.0]]))


def test_ties_go_to_the_first_sense(model, wordnet):
    same = WordVectors(["depository.n.01", "bank.n.01"], [[1.0, 1.0], [1.0, 1.0]])
    assert Disambiguator(model, wordnet, same).predict(["river", "bank"], "bank", "n", 1).synset == "bank.n.01"


def test_without_a_vector_nothing_is_guessed_unless_asked(model, wordnet, senses):
    blank = ["zzz", "bank"]
    answer = Disambiguator(model, wordnet, senses).predict(blank, "bank", "n", 1)
    assert (answer.synset, answer.key, answer.source, answer.confidence) == (None, None, "no vector", 0.0)
    answer = Disambiguator(model, wordnet, senses, fallback=True).predict(blank, "bank", "n", 1)
    assert (answer.synset, answer.source, answer.confidence) == ("bank.n.01", "first sense", 0.5)
    other = WordVectors(["goose.n.01"], [[1.0, 0.0]])
    assert Disambiguator(model, wordnet, other).predict(["river", "bank"], "bank", "n", 1).source == "no vector"


def test_a_sense_without_a_vector_is_not_chosen(model, wordnet):
    some = WordVectors(["depository.n.01"], [[0.0, 1.0]])
    assert Disambiguator(model, wordnet, some).predict(["river", "bank"], "bank", "n", 1).synset == "depository.n.01"


def test_only_sense_and_no_synset(one):
    assert (one.predict(["zzz", "geese"], position=1).source) == "only sense"
    answer = one.predict(["river", "qwerty"], position=1)
    assert (answer.synset, answer.source) == (None, "no synset")


def test_the_prior_decides_where_context_does_not(model, wordnet, senses):
    blank = ["the", "bank"]  # as near to water as to money
    even = WordVectors(["bank.n.01", "depository.n.01"], [[1.0, 0.0], [0.0, 1.0]])
    assert (
        Disambiguator(model, wordnet, even, counts={"bank%1:17:01::": 9}).predict(blank, "bank", "n", 1).synset
        == "bank.n.01"
    )
    with_counts = Disambiguator(model, wordnet, even, counts="wordnet", smoothing=1.0)
    answer = with_counts.predict(blank, "bank", "n", 1)
    assert answer.synset == "depository.n.01"
    assert answer.confidence == pytest.approx((5 + 1) / (5 + 1 + 2 + 0.5))  # cntlist has 5 and 2
    assert with_counts.predict(["zzz", "bank"], "bank", "n", 1).source == "prior"
    assert with_counts.predict(["river", "water", "bank"], "bank", "n", 2).synset == "bank.n.01"  # context overrules it


def test_senses_by_sense_key_do_as_well(model, wordnet, senses):
    keyed = Disambiguator(model, wordnet, by_sense_key(senses, wordnet))
    assert keyed.predict(["loan", "bank"], "bank", "n", 1).key == "bank%1:14:00::"


def test_a_batch_gives_what_single_calls_give(one):
    sentences = [
        Sentence(("river", "bank"), (Instance(1, 2, "bank", "n", id="a"),)),
        Sentence(("nothing",)),
        Sentence(("geese", "money", "bank", "bank"), (Instance(0, 1, "geese", "n"), Instance(2, 4, "bank", "n"))),
    ]
    batch = one.predict_all(iter(sentences))
    assert [answer.synset for answer in batch] == ["bank.n.01", "goose.n.01", "depository.n.01"]
    assert batch[0].id == "a"
    assert batch[2].word == "bank bank"
    single = one.predict(["geese", "money", "bank", "bank"], "bank", "n", (2, 4))
    assert single.confidence == pytest.approx(batch[2].confidence)
    assert one.predict_all([]) == []


def test_errors(one, model, wordnet, senses):
    with pytest.raises(AlacarteError, match="position 5"):
        one.predict(["a", "bank"], "bank", "n", 5)
    with pytest.raises(AlacarteError, match="3 dimensions"):
        Disambiguator(model, wordnet, WordVectors(["bank.n.01"], [[1.0, 2.0, 3.0]]))
    with pytest.raises(AlacarteError, match="positive"):
        Disambiguator(model, wordnet, senses, sharpness=0)


def test_plain_text(wordnet):
    text = 'Heads of state ran to the bank. "They took place there," the geese said.'
    first, second = sentences_of_text(text, wordnet)
    assert [i.lemma for i in first.instances] == ["heads_of_state", "ran", "bank"]
    assert [i.lemma for i in second.instances] == ["took_place", "geese"]
    assert first.words[first.instances[0].start : first.instances[0].end] == ("Heads", "of", "state")


def test_any_part_of_speech(one, wordnet):
    (sentence,) = sentences_of_text("The river banks", wordnet)
    (answer,) = one.predict_all([sentence])
    assert (answer.word, answer.synset) == ("banks", "bank.n.01")
    assert [name for name, share in answer.candidates if share == 0] == ["bank.v.01"]  # it has no vector


def test_spacy_tags(wordnet):
    spacy = pytest.importorskip("spacy")
    from spacy.tokens import Doc

    nlp = spacy.blank("en")
    doc = Doc(
        nlp.vocab,
        ["The", "plane", "banked", "."],
        pos=["DET", "NOUN", "VERB", "PUNCT"],
        lemmas=["the", "plane", "bank", "."],
        sent_starts=[True, False, False, False],
    )
    (sentence,) = sentences_of_doc(doc, wordnet)
    assert [(i.lemma, i.pos) for i in sentence.instances] == [("bank", "v")]  # planes are not in the tiny WordNet
    with pytest.raises(AlacarteError, match="finds no sentences"):
        list(sentences_of_doc(nlp("The plane banked."), wordnet))
    nlp.add_pipe("sentencizer")
    with pytest.raises(AlacarteError, match="finds no parts of speech"):
        list(sentences_of_doc(nlp("The plane banked."), wordnet))
