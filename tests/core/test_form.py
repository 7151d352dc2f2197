"""Vectors from spelling: the kernels and the solver against plain twins, and a language whose spelling is meaning."""

import os
import unicodedata
from contextlib import contextmanager
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from spelled_language import language

from alacarte import WordVectors
from alacarte.errors import AlacarteError, AlacarteWarning, BadTransform, NotEnoughData
from alacarte.spelling import form as form_module
from alacarte.spelling._features import (
    END,
    LOWER,
    UPPER,
    Writing,
    find_codes,
    frequent_codes,
    marked_word,
    ngram_codes_of,
)
from alacarte.spelling._kernel import add_features, normal_product, spread_over_features
from alacarte.spelling._solver import SpelledWords, predict, scales_of, solve_ridge
from alacarte.spelling.form import CACHED, PENALTIES, FormModel, FormSettings, learn_with_guesses
from alacarte.vectors.geometry import cosines

words_of_any_script = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\x00"), max_size=12)


def plain_ngrams(word, shortest, longest):
    """The n-grams of a marked word, by slicing."""
    marked = marked_word(word, cased=False)
    return [
        marked[start : start + length]
        for start in range(len(marked))
        for length in range(shortest, longest + 1)
        if start + length <= len(marked) and not (length == 1 and start in (0, len(marked) - 1))
    ]


@given(st.lists(words_of_any_script, min_size=1, max_size=6), st.integers(1, 3), st.integers(0, 3))
@settings(max_examples=60, deadline=None)
def test_codes_stand_for_ngrams(words, shortest, more):
    codes, bounds = ngram_codes_of(words, shortest, shortest + more, cased=False)
    expected = [plain_ngrams(word, shortest, shortest + more) for word in words]
    assert np.diff(bounds).tolist() == [len(found) for found in expected]
    flat = [ngram for found in expected for ngram in found]
    assert len(set(codes.tolist())) == len(set(flat))  # equal n-grams and no others share a code
    assert len(set(zip(codes.tolist(), flat, strict=True))) == len(set(flat))


def random_features(rng, words=30, features=12):
    lengths = rng.integers(0, 6, size=words)
    bounds = np.concatenate([[0], np.cumsum(lengths)])
    found = rng.integers(features, size=bounds[-1]).astype(np.int32)
    dense = np.zeros((words, features))
    for i in range(words):
        for f in found[bounds[i] : bounds[i + 1]]:
            dense[i, f] += scales_of(bounds)[i]
    return found, bounds, dense


def test_kernels_are_matrix_products():
    rng = np.random.default_rng(0)
    features, bounds, x = random_features(rng)
    w, y = rng.normal(size=(12, 5)).astype(np.float32), rng.normal(size=(30, 5)).astype(np.float32)
    out, back, both = np.empty((30, 5), np.float32), np.empty((12, 5), np.float32), np.empty((12, 5), np.float32)
    add_features(features, bounds, scales_of(bounds), w, out)
    spread_over_features(features, bounds, scales_of(bounds), y, back)
    products = np.empty(5)
    normal_product(features, bounds, scales_of(bounds), 0.5, w, both, products)
    np.testing.assert_allclose(out, x @ w, atol=1e-5)
    np.testing.assert_allclose(back, x.T @ y, atol=1e-5)
    np.testing.assert_allclose(both, x.T @ x @ w + 0.5 * w, atol=1e-4)
    np.testing.assert_allclose(products, (w * both).sum(axis=0), rtol=1e-5)


@pytest.mark.parametrize("dimensions", [3, 16, 35])
@pytest.mark.parametrize("threads", [1, 3])
def test_the_solver_finds_the_ridge_solution(dimensions, threads):
    rng = np.random.default_rng(1)
    features, bounds, x = random_features(rng, words=60)
    y = rng.normal(size=(60, dimensions)).astype(np.float32)
    exact = np.linalg.solve(x.T @ x + 0.5 * np.eye(12), x.T @ y)
    words = SpelledWords(features, bounds, 12)
    solved = solve_ridge(words, y, 0.5, iterations=30, threads=threads)
    np.testing.assert_allclose(solved, exact, atol=1e-4)
    again = solve_ridge(words, y, 0.5, start=solved, iterations=1)  # what is solved stays
    np.testing.assert_allclose(again, exact, atol=1e-4)


def test_words_count_by_their_weights():
    rng = np.random.default_rng(1)
    features, bounds, x = random_features(rng, words=60)
    y, weights = rng.normal(size=(60, 3)).astype(np.float32), rng.uniform(0.1, 3, 60).astype(np.float32)
    exact = np.linalg.solve(x.T @ (weights[:, None] * x) + 0.5 * np.eye(12), x.T @ (weights[:, None] * y))
    words = SpelledWords(features, bounds, 12, weights)
    np.testing.assert_allclose(solve_ridge(words, y, 0.5, iterations=30), exact, atol=1e-4)
    some = np.array([5, 2, 40])
    few = solve_ridge(words.some(some), y, 0.5, rows=some, iterations=30)
    exact = np.linalg.solve(
        x[some].T @ (weights[some, None] * x[some]) + 0.5 * np.eye(12), x[some].T @ (weights[some, None] * y[some])
    )
    np.testing.assert_allclose(few, exact, atol=1e-4)


def test_half_precision_predicts_the_same():
    rng = np.random.default_rng(2)
    features, bounds, _ = random_features(rng)
    weights = rng.normal(size=(12, 4)).astype(np.float16)
    wide = predict(features, bounds, weights.astype(np.float32))
    np.testing.assert_array_equal(predict(features, bounds, weights), wide)
    assert not wide[np.diff(bounds) == 0].any()


def test_unknown_ngrams_are_left_out():
    codes, bounds = ngram_codes_of(["ab", "zz"], 2, 2, cased=False)
    known = frequent_codes(ngram_codes_of(["ab", "ab"], 2, 2, cased=False)[0], 2)
    features, found = find_codes(known, codes, bounds)
    assert found.tolist() == [0, 3, 3]
    assert sorted(features.tolist()) == [0, 1, 2]


# ------------------------------------------------------------------------------------------ a spelled language


@pytest.fixture(scope="module")
def spoken():
    return language(np.random.default_rng(3))


def test_words_left_out_are_predicted_from_their_parts(spoken):
    out = spoken.words[::7]
    form = FormModel.fit(spoken, exclude=out, ridge=0.3)
    found, usable = form.rows(out)
    truth = spoken[out] - form.center
    cosines = (found * truth).sum(1) / np.linalg.norm(found, axis=1) / np.linalg.norm(truth, axis=1)
    assert usable.all()
    assert cosines.mean() > 0.9
    assert form.words == len(spoken) - len(out)


def test_held_out_words_say_how_good_it_is(spoken):
    held = spoken.words[::9]
    form, guesses = learn_with_guesses(spoken, FormSettings(held_out=held))
    everything = next(item for item in form.quality if item.kind == "all")
    assert set(guesses) == set(held)
    assert everything.words == len(held)
    found = np.array([guesses[word] for word in held])
    truth = spoken[held] - form.center
    cosines = (found * truth).sum(1) / np.linalg.norm(found, axis=1) / np.linalg.norm(truth, axis=1)
    assert everything.cosine == pytest.approx(cosines.mean(), abs=1e-5)
    same = {"held_out": held, "rank_power": form.rank_power}
    others = {
        ridge: learn_with_guesses(spoken, FormSettings(ridge=ridge, **same))[0].quality[-1].cosine
        for ridge in PENALTIES
    }
    assert form.ridge == max(others, key=others.get)
    assert len(set(others.values())) == len(PENALTIES)
    assert form.lengths == tuple(sorted(form.lengths))


@pytest.mark.parametrize(
    "options", [{}, {"held_out": 0}, {"ridge": 2.0}, {"rank_power": 0.5}, {"ridge": 1.0, "rank_power": 0.0}]
)
@pytest.mark.parametrize("named", [False, True])
def test_the_bar_ends_when_all_is_learned(spoken, options, named, monkeypatch):
    """One bar for all that is tried and learned, so that the time it shows as left is that of the whole."""
    if named and "held_out" not in options:
        options = {**options, "held_out": spoken.words[::11]}
    seen = []

    @contextmanager
    def watched(total, unit, description, show):
        yield SimpleNamespace(update_to=lambda done: seen.append((done, total)))

    monkeypatch.setattr(form_module, "progress", watched)
    learn_with_guesses(spoken, FormSettings(**options), threads=1)
    assert [done for done, _ in seen] == list(range(1, seen[0][1] + 1))


def test_random_spelling_is_found_out():
    rng = np.random.default_rng(4)
    words = ["".join(rng.choice(list("abcdefgh"), 6)) for _ in range(1500)]
    vectors = WordVectors(list(dict.fromkeys(words)), rng.normal(size=(len(set(words)), 8)))
    form, _ = learn_with_guesses(vectors, FormSettings(held_out=1000))
    assert form.quality[0].kind == "letters"
    assert abs(form.quality[0].cosine) < 0.05
    assert not form.rows(["abcdef"])[1].any()
    with pytest.raises(NotEnoughData, match="do not follow it"):
        form.vector("abcdef")


def test_it_abstains_where_no_ngram_is_known(spoken):
    form = FormModel.fit(spoken, ridge=1.0)
    found, usable = form.rows(["ЖЖЖЖЖЖ", spoken.words[0]])
    assert usable.tolist() == [False, True]
    assert not found[0].any()
    with pytest.raises(NotEnoughData, match="none of its n-grams is known"):
        form.vector("ЖЖЖЖЖЖ")


def test_case_counts_only_where_the_vectors_have_it(spoken):
    form = FormModel.fit(spoken, ridge=1.0)
    word = spoken.words[0]
    np.testing.assert_array_equal(form.vector(word.upper()).vector, form.vector(word).vector)
    rng = np.random.default_rng(5)
    cased = WordVectors([*spoken.words, *map(str.upper, spoken.words)], rng.normal(size=(2 * len(spoken), 8)))
    other, _ = learn_with_guesses(cased, FormSettings(ridge=1.0, held_out=0))
    assert not np.array_equal(other.rows([word.upper()])[0], other.rows([word])[0])
    assert marked_word("AB", cased=True) == UPPER + "ab" + END
    assert marked_word("AB", cased=False) == LOWER + "ab" + END


def test_composed_and_decomposed_spell_the_same():
    composed = "é" + "tude"
    assert (
        ngram_codes_of([composed], 3, 6, False)[0].tolist()
        == ngram_codes_of([unicodedata.normalize("NFD", composed)], 3, 6, False)[0].tolist()
    )
    assert Writing("LATIN", False).kind(composed) == "letters"


def test_a_saved_model_is_the_same(spoken, tmp_path):
    form = FormModel.fit(spoken)
    form.save(tmp_path / "form.safetensors")
    again = FormModel.load(tmp_path / "form.safetensors")
    words = [*spoken.words[:20], "unknown", "ЖЖЖ"]
    np.testing.assert_array_equal(again.rows(words)[0], form.rows(words)[0])
    assert again.quality == form.quality
    assert again.cosines == form.cosines
    assert again.writing == form.writing
    assert again.fingerprint == spoken.fingerprint
    spoken.save(tmp_path / "vectors.safetensors")
    with pytest.raises(BadTransform, match="not a form model"):
        FormModel.load(tmp_path / "vectors.safetensors")


def test_a_cached_model_is_learned_once(tmp_path, monkeypatch):
    monkeypatch.setattr("alacarte.spelling.form.cache_folder", lambda: tmp_path)
    sets = [WordVectors(["ban", "bans", "bar", "bars"], np.eye(4) * n) for n in range(1, CACHED + 2)]
    assert not FormModel.is_cached(sets[0])
    first = FormModel.cached(sets[0])
    assert FormModel.is_cached(sets[0])
    (file,) = tmp_path.iterdir()
    learned = file.stat().st_ino
    np.testing.assert_array_equal(FormModel.cached(sets[0]).weights, first.weights)
    assert file.stat().st_ino == learned
    file.write_bytes(b"damaged")
    np.testing.assert_array_equal(FormModel.cached(sets[0]).weights, first.weights)
    for age, vectors in enumerate(sets):  # the cache keeps those that were used last
        FormModel.cached(vectors)
        for kept in tmp_path.iterdir():
            os.utime(kept, ns=(kept.stat().st_atime_ns, kept.stat().st_mtime_ns - 10**9 * (CACHED - age)))
    assert len(list(tmp_path.iterdir())) == CACHED
    assert [FormModel.is_cached(vectors) for vectors in sets] == [False, *[True] * CACHED]


def test_a_cache_that_cannot_be_written(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setattr("alacarte.spelling.form.cache_folder", lambda: tmp_path / "file" / "folder")
    with pytest.warns(AlacarteWarning, match="not kept"):
        assert FormModel.cached(WordVectors(["ban", "bans", "bar", "bars"], np.eye(4))).words == 4


def test_threads_do_not_change_a_bit(spoken):
    one, many = (FormModel.fit(spoken, threads=threads).weights for threads in (1, 4))
    np.testing.assert_array_equal(one, many)


def test_words_count_by_rank_where_rare_ones_have_noisy_vectors():
    rng = np.random.default_rng(5)
    words = language(rng, roots=500)
    noise = 4.0 * (np.arange(len(words)) > 1500)[:, None] * rng.normal(size=words.matrix.shape)
    noisy = WordVectors(words.words, words.matrix + noise.astype(np.float32))
    assert FormModel.fit(noisy).rank_power == 0.5
    backwards = WordVectors(noisy.words[::-1], noisy.matrix[::-1])
    assert FormModel.fit(backwards).rank_power == 0
    held = words.words[:1500:5]
    guesses = [learn_with_guesses(noisy, FormSettings(held_out=held, rank_power=power))[1] for power in (0, 0.5)]
    truth = words[held] - words.matrix.mean(axis=0)
    reached = [cosines(np.array([one[word] for word in held]), truth).mean() for one in guesses]
    assert reached[1] > reached[0] + 0.01


@pytest.mark.parametrize(
    "options",
    [
        *({"shortest": 4, "longest": 3}, {"shortest": 0}, {"ridge": 0.0}, {"ridge": -1.0}, {"rank_power": -0.5}),
        *({"ridge": np.nan}, {"min_words": 1.5}, {"exclude": "cat"}, {"held_out": "cat"}),
    ],
)
def test_options_that_make_no_sense(options):
    with pytest.raises(AlacarteError):
        FormSettings(**options)


def test_too_few_words():
    with pytest.raises(NotEnoughData, match="min_words"):
        FormModel.fit(WordVectors(["ab", "cd"], [[1.0], [2.0]]))
