"""Synset vectors against sums by hand."""

import numpy as np
import pytest
from tiny_wordnet import semcor_file

from alacarte import WordVectors
from alacarte.errors import BadWordNet, NotEnoughData
from alacarte.senses import by_sense_key, combined, gloss_vectors, graded, induce_synsets, read_semcor, sense_counts
from alacarte.senses.synset_vectors import RIGHT_SIDE, SynsetVectors


def test_the_mean_of_the_sums_of_the_sentences(model, wordnet, semcor):
    made = induce_synsets(model, read_semcor(semcor), wordnet)
    # shore: (the + river + water) / 2 occurrences; institution: the + loan + the
    assert dict(zip(made.words, made.matrix.round(5).tolist(), strict=True)) == {
        "bank.n.01": pytest.approx([2.55, 0.05]),
        "depository.n.01": pytest.approx([0.2, 2.2]),
    }
    assert dict(zip(made.words, made.counts.tolist(), strict=True)) == {"bank.n.01": 2, "depository.n.01": 1}
    assert (made.report.sentences, made.report.annotations, made.report.unknown) == (3, 3, {})


def test_right_hand_contexts_only(model, wordnet, tmp_path):
    (tmp_path / "br-a01").write_text(semcor_file(["river", ("bank", "bank", "1:17:01::"), "money"]))
    made = induce_synsets(model, read_semcor(tmp_path), wordnet, sides=RIGHT_SIDE)
    assert made["bank.n.01"].tolist() == [0.0, 3.0]


def test_unknown_keys_are_counted_and_many_are_an_error(model, wordnet, tmp_path):
    good, bad = ("bank", "bank", "1:17:01::"), ("bank", "bank", "1:99:00::")
    (tmp_path / "br-a01").write_text(semcor_file(["river", good, good, good, bad]))
    made = induce_synsets(model, read_semcor(tmp_path), wordnet)
    assert made.report.unknown == {"bank%1:99:00::": 1}
    assert "1 (25.0%) have sense keys that WordNet lacks" in str(made.report)
    (tmp_path / "br-a01").write_text(semcor_file(["river", good, bad]))
    with pytest.raises(BadWordNet, match="made with another WordNet"):
        induce_synsets(model, read_semcor(tmp_path), wordnet)
    (tmp_path / "br-a01").write_text(semcor_file(["river", bad]))
    with pytest.raises(BadWordNet, match="made with another WordNet"):
        induce_synsets(model, read_semcor(tmp_path), wordnet)
    (tmp_path / "br-a01").write_text(semcor_file(["river"]))
    with pytest.raises(BadWordNet, match="none of 1 sentences is annotated"):
        induce_synsets(model, read_semcor(tmp_path), wordnet)


def test_contexts_without_any_known_word_are_an_error(model, wordnet, tmp_path):
    (tmp_path / "br-a01").write_text(semcor_file(["zzz", ("bank", "bank", "1:17:01::")]))
    with pytest.raises(NotEnoughData, match="beside a word that has a vector"):
        induce_synsets(model, read_semcor(tmp_path), wordnet)


def test_glosses_without_the_synsets_own_words(model, wordnet):
    made = gloss_vectors(model, wordnet)
    assert made["bank.n.01"].tolist() == pytest.approx([4.1, 0.1])  # water, fished, the; not bank
    assert made["depository.n.01"].tolist() == [0.0, 5.0]  # money, loan
    assert "run.v.01" not in made  # no word of its gloss has a vector
    assert not made.counts.any()


def test_the_lemma_itself_is_left_out_of_its_gloss(wordnet):
    from alacarte import ALaCarte, Transform

    vectors = WordVectors(["bank", "water"], [[7.0, 0.0], [0.0, 1.0]])
    made = gloss_vectors(ALaCarte(vectors, Transform(np.eye(2))), wordnet)
    assert made["bank.n.01"].tolist() == [0.0, 1.0]


def plain_graded(seen, glosses, k):
    """The formula, one synset at a time."""
    result = {}
    for word in {*seen.words, *glosses.words}:
        total, weight = np.zeros(seen.dimension), 0.0
        if word in seen:
            n = seen.counts[seen.index(word)]
            total, weight = total + n * seen[word] / np.linalg.norm(seen[word]), weight + n
        if word in glosses:
            total, weight = total + k * glosses[word] / np.linalg.norm(glosses[word]), weight + k
        result[word] = total / weight
    return result


@pytest.mark.parametrize("k", [0.5, 3.0])
def test_graded_equals_its_formula(k):
    rng = np.random.default_rng(0)
    seen = SynsetVectors(list("abcd"), rng.normal(size=(4, 3)), counts=[1, 2, 10, 500])
    glosses = SynsetVectors(list("cdxy"), rng.normal(size=(4, 3)), counts=[0] * 4)
    made = graded(seen, glosses, k)
    expected = plain_graded(seen, glosses, k)
    assert set(made.words) == set(expected)
    for word, vector in expected.items():
        np.testing.assert_allclose(made[word], vector, rtol=1e-5)
    with pytest.raises(BadWordNet, match="positive"):
        graded(seen, glosses, 0.0)


def test_graded_goes_from_gloss_to_seen_with_the_count():
    gloss = SynsetVectors(["a"], [[0.0, 1.0]], counts=[0])
    shares = [graded(SynsetVectors(["a"], [[1.0, 0.0]], counts=[n]), gloss)["a"][0] for n in (1, 3, 100)]
    assert shares == pytest.approx([0.25, 0.5, 100 / 103])


def test_combined_takes_the_gloss_where_nothing_was_seen(model, wordnet, semcor):
    seen, glosses = induce_synsets(model, read_semcor(semcor), wordnet), gloss_vectors(model, wordnet)
    made = combined(seen, glosses)
    assert made["bank.n.01"].tolist() == seen["bank.n.01"].tolist()
    assert made["goose.n.01"].tolist() == glosses["goose.n.01"].tolist()
    assert len(made) == len({*seen.words, *glosses.words})


def test_by_sense_key_and_files(model, wordnet, semcor, tmp_path):
    made = induce_synsets(model, read_semcor(semcor), wordnet)
    keyed = by_sense_key(made, wordnet)
    assert set(keyed.words) == {"bank%1:17:01::", "depository%1:14:00::", "bank%1:14:00::"}
    assert keyed["bank%1:14:00::"].tolist() == made["depository.n.01"].tolist()
    made.save(tmp_path / "senses.safetensors")
    again = WordVectors.load(tmp_path / "senses.safetensors")
    assert again.words == made.words
    assert (again.matrix == made.matrix).all()


def test_sense_counts(semcor):
    assert sense_counts(read_semcor(semcor)) == {"bank%1:17:01::": 2, "bank%1:14:00::": 1}
