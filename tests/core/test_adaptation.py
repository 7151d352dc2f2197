"""Adaptation to a text: the words it shares with the vectors, the register they teach, and what it is worth."""

import time
from dataclasses import replace

import numpy as np
import pytest

from alacarte import ALaCarte, Concordance, ContextSums, Transform, WordVectors, collect, merge
from alacarte.contexts import shared_words
from alacarte.errors import BadSums, BadTransform, NotEnoughData
from alacarte.model.induced import as_compared
from alacarte.spelling.prior import PHRASE_LEVEL, Prior
from alacarte.transform.found_again import found_again, rank_of_own
from alacarte.transform.register import LEAST_NOISE, PRIOR, PRIOR_CENTRE, SHIFT, Register, words_with_vectors

D, WORDS = 8, 400
RNG = np.random.default_rng(0)
VECTORS = WordVectors([f"w{i}" for i in range(WORDS)], RNG.normal(size=(WORDS, D)) + 2 * np.eye(D)[0])
TONE = ("w1", "w2", "w3")  # words that one kind of text says all the time


def text(seed: int, documents: int = 600, tone: float = 0.0) -> list[str]:
    """Documents of 30 words that are like each other; a share of them are those of the tone."""
    rng = np.random.default_rng(seed)
    matrix = np.asarray(VECTORS.matrix, dtype=np.float64) - VECTORS.matrix.mean(axis=0)
    lines = []
    for _ in range(documents):
        topic = rng.normal(size=D)
        weights = np.exp(matrix @ topic)
        words = rng.choice(VECTORS.words, 30, p=weights / weights.sum())
        lines.append(" ".join(rng.choice(TONE) if rng.random() < tone else word for word in words))
    return lines


@pytest.fixture(scope="module")
def model():
    return ALaCarte.fit(VECTORS, text(1), window=5, weighting=None, show_progress=False)


# ---------------------------------------------------------------------------------------------- shared words


@pytest.fixture
def small_levels(monkeypatch):
    """Texts of a few thousand tokens are large."""
    monkeypatch.setattr(shared_words, "ENOUGH_TOKENS", 3000)


def test_shared_words_are_the_contexts_of_words_in_a_sample_of_documents(small_levels):
    lines = text(2)
    sums = collect(VECTORS, lines, ["w5"], window=5, adapt=True)
    shared = sums.shared
    assert shared.tokens.sum() == sums.tokens_read == 18_000
    assert 0 < shared.tokens_used <= 3000
    assert shared.first == shared_words.first_level(shared.tokens) > 0
    kept = [
        line for line in lines if collect(VECTORS, [line], ["w5"], adapt=True).shared.tokens[: shared.first].sum() == 0
    ]
    whole = collect(VECTORS, kept, window=5)
    expected, found = words_with_vectors(whole, VECTORS), words_with_vectors(sums, VECTORS)
    for one, two in zip(expected, found, strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-12)


def test_they_are_the_same_however_the_pass_is_run(small_levels, tmp_path):
    file, targets = tmp_path / "text.txt", ["w5", "w6 w7"]
    file.write_text("\n".join(text(3)) + "\n")
    options = {"adapt": True, "block_size": 5000}
    one = collect(VECTORS, file, targets, threads=1, **options)
    assert len(one.units) > 10
    assert collect(VECTORS, file, targets, threads=3, **options) == one
    parts = [collect(VECTORS, file, targets, shard=(n, 3), **options) for n in (1, 2, 3)]
    assert merge(parts[::-1]) == one
    assert collect(VECTORS, file, targets, adapt=True).shared.same(one.shared)


def test_a_pass_that_is_taken_up_has_the_same_shared_words(small_levels, tmp_path, monkeypatch):
    file = tmp_path / "text.txt"
    file.write_text("\n".join(text(3)) + "\n")
    options = {"adapt": True, "block_size": 5000, "threads": 1}
    whole = collect(VECTORS, file, ["w5"], **options)
    plain, calls = shared_words.levels_of, [0]

    def fails(*arguments):
        calls[0] += 1
        time.sleep(0.01)  # so that there is time to write a checkpoint
        if calls[0] >= 12 and work["checkpoint"].exists():
            raise MemoryError("no room")
        return plain(*arguments)

    work = {"checkpoint": tmp_path / "checkpoint", "checkpoint_seconds": 0}
    monkeypatch.setattr(shared_words, "levels_of", fails)
    with pytest.raises(MemoryError, match="no room"):
        collect(VECTORS, file, ["w5"], **work, **options)
    assert work["checkpoint"].exists()
    monkeypatch.setattr(shared_words, "levels_of", lambda *arguments: again.append(1) or plain(*arguments))
    again = []
    assert collect(VECTORS, file, ["w5"], **work, **options) == whole
    assert len(again) < len(whole.units)  # not all of the text was read again


def test_they_add_up_are_taken_away_and_saved(small_levels, tmp_path):
    parts = [text(4), text(5, 100)]
    for number, part in enumerate(parts):
        (tmp_path / f"{number}.txt").write_text("\n".join(part) + "\n")
    files = [tmp_path / f"{number}.txt" for number in range(2)]
    first, second = (collect(VECTORS, file, ["w5"], adapt=True) for file in files)
    both = collect(VECTORS, files, ["w5"], adapt=True)
    assert first + second == second + first == both
    rest = both - second
    assert rest.shared.same(first.shared)
    both.save(tmp_path / "sums")
    assert ContextSums.load(tmp_path / "sums") == both
    with pytest.raises(BadSums, match="adapt=True"):
        both + collect(VECTORS, text(6, 10), ["w5"])
    with pytest.raises(BadSums, match="more was taken away"):
        first.shared.plus(both.shared, -1)


def test_a_concordance_has_the_same_shared_words(tmp_path, model):
    lines = text(7, 200)
    (tmp_path / "text.txt").write_text("\n".join(lines) + "\n")
    concordance = Concordance.build(VECTORS, tmp_path / "text.txt", tmp_path / "k", show_progress=False)
    read = model.collect(lines, ["w5"])
    stored = concordance.collect(VECTORS, ["w5"], adapt=True, **model.reading)
    assert stored.shared.same(read.shared)
    np.testing.assert_array_equal(concordance.induce(model, ["w5"])["w5"], model.induce(lines, ["w5"])["w5"])
    concordance.holding("w7").remove()
    rest = [line for line in lines if "w7" not in line.split()]
    assert len(rest) == len(concordance) < len(lines)
    np.testing.assert_array_equal(concordance.induce(model, ["w5"])["w5"], model.induce(rest, ["w5"])["w5"])


# -------------------------------------------------------------------------------------------------- register


def plain_register(words, least_noise=LEAST_NOISE):
    """The formulas of METHOD 7 and of the head of register.py, word by word: (x of contexts, y of words)."""
    weights = np.minimum(words.counts, 100)
    v, u = np.asarray(VECTORS.matrix, dtype=np.float64)[words.words], words.contexts
    m, c = np.average(v, axis=0, weights=weights), np.average(u, axis=0, weights=weights)
    total = weights.sum()
    vv = sum(w * np.outer(a - m, a - m) for w, a in zip(weights, v, strict=True)) / total
    uv = sum(w * np.outer(b - c, a - m) for w, a, b in zip(weights, v, u, strict=True)) / total
    slope = uv @ np.linalg.inv(vv)
    residuals = u - c - (v - m) @ slope.T
    noise = sum(w * np.outer(r, r) for w, r in zip(weights, residuals, strict=True)) / total
    noise += least_noise * np.trace(noise) / D * np.eye(D)
    inverse = np.linalg.inv(noise)
    values, axes = np.linalg.eigh(slope.T @ inverse @ slope)
    root = axes @ np.diag(values**0.5) @ axes.T
    return np.linalg.inv(root) @ slope.T @ inverse @ (u - c).T, root @ (np.asarray(VECTORS.matrix) - m).T


def test_adaptation_is_the_generalised_least_squares_estimate():
    words = words_with_vectors(collect(VECTORS, text(8), window=5), VECTORS)
    adaptation = Register.of_words(words, VECTORS).adaptation()
    x, y = plain_register(words)
    ours = words.contexts @ adaptation.matrix.T + adaptation.intercept
    scale = np.linalg.norm(ours) / np.linalg.norm(x)
    np.testing.assert_allclose(ours, scale * x.T, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(adaptation.compared_words(VECTORS.matrix), y.T, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(adaptation.words(VECTORS).matrix, y.T, rtol=1e-4, atol=1e-5)
    transform = adaptation.transform(Transform(np.eye(D)))
    np.testing.assert_allclose(transform(words.contexts), ours + SHIFT * adaptation.centre, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(adaptation.compared(transform(words.contexts)), ours, rtol=1e-3, atol=1e-5)


def test_a_text_counts_by_its_words_and_their_uses_beside_what_is_known():
    words = words_with_vectors(collect(VECTORS, text(9, 50), window=5), VECTORS)
    known = Register.of_sums(collect(VECTORS, text(10), window=5), VECTORS)
    both, alone = known.of_text(words, VECTORS), Register.of_words(words, VECTORS)
    size = np.sqrt(alone.uses * len(words.words))
    share, of_centre = size / (size + PRIOR), size / (size + PRIOR_CENTRE)
    np.testing.assert_allclose(both.covariance, share * alone.covariance + (1 - share) * known.covariance)
    np.testing.assert_allclose(both.centre, of_centre * alone.centre + (1 - of_centre) * known.centre)
    assert known.of_text(words.only(slice(0, 0)), VECTORS) is known
    few = collect(VECTORS, ["w1 w2 w3"], window=5)
    assert Register.of_sums(few, VECTORS) is None


def test_registers_of_several_texts_have_a_mean_and_say_how_far_texts_lie_apart():
    registers = [Register.of_sums(collect(VECTORS, text(11, tone=tone), window=5), VECTORS) for tone in (0.0, 0.5)]
    mean = Register.mean(registers)
    np.testing.assert_allclose(mean.contexts, (registers[0].contexts + registers[1].contexts) / 2)
    apart = (registers[1].contexts - registers[0].contexts) / 2
    np.testing.assert_allclose(mean.between, np.outer(apart, apart))


def test_texts_that_are_compared_differ_in_the_intercept_alone():
    plain, toned = (Register.of_sums(collect(VECTORS, text(12, tone=t), window=5), VECTORS) for t in (0.0, 0.4))
    one, two = Register.adaptations([plain, toned])
    np.testing.assert_array_equal(one.matrix, two.matrix)
    np.testing.assert_array_equal(one.root, two.root)
    same = Register.adaptations([plain, plain])[0]
    alone = plain.adaptation()
    np.testing.assert_allclose(same.matrix, alone.matrix, rtol=1e-9)
    np.testing.assert_allclose(same.intercept, alone.intercept, rtol=1e-9, atol=1e-12)
    # A context of a word at the centre of each text is a vector of zeros.
    for register, adaptation in ((plain, one), (toned, two)):
        words = (one.centre - register.words) @ register.slope.T
        x = adaptation.matrix @ (register.contexts + words) + adaptation.intercept
        assert np.linalg.norm(x) < 0.2 * adaptation.length


def test_a_register_is_saved_and_a_damaged_one_refused(tmp_path):
    register = Register.of_sums(collect(VECTORS, text(13), window=5), VECTORS)
    register.save(tmp_path / "register")
    again = Register.load(tmp_path / "register")
    for name in ("centre", "covariance", "between"):
        np.testing.assert_allclose(getattr(again, name), getattr(register, name), rtol=1e-6, atol=1e-6)
    assert again.uses == register.uses
    data = (tmp_path / "register").read_bytes()
    (tmp_path / "register").write_bytes(data[:-30] + b"\xff" * 30)
    with pytest.raises(BadTransform):
        Register.load(tmp_path / "register")


# --------------------------------------------------------------------------------------- what it is worth


def test_words_of_a_text_with_another_tone_are_found_again(model):
    lines = text(14, tone=0.4)
    sums = model.collect(lines, ["w5"])
    found = found_again(sums, VECTORS, model.register, model.transform)
    usual = found.items[-1]
    assert usual.reciprocal_rank > 0.5
    assert usual.median_rank < usual.unadapted_rank
    assert f"median rank {usual.median_rank:,.0f} of {WORDS}" in found.summary
    assert not found.is_poor
    assert found_again(sums.without_shared_words(), VECTORS, model.register, model.transform) is None


def test_words_that_are_tested_take_no_part(model):
    """If the held-out words' contexts are swapped, what is learned from the others stays the same."""
    sums = model.collect(text(15), ["w5"])
    before = found_again(sums, VECTORS, None, model.transform)
    shared = sums.shared
    held_out = shared.words % 5 == 0
    wrong = shared.sums.copy()
    wrong[held_out] = shared.sums[held_out][::-1]
    after = found_again(replace(sums, shared=replace(shared, sums=wrong)), VECTORS, None, model.transform)
    assert after.items[-1].reciprocal_rank < 0.5 * before.items[-1].reciprocal_rank
    kept = replace(shared, levels=shared.levels[~held_out], words=shared.words[~held_out], sums=shared.sums[~held_out])
    only = words_with_vectors(replace(sums, shared=kept), VECTORS)
    all_words = words_with_vectors(sums, VECTORS)
    np.testing.assert_array_equal(only.words, all_words.words[all_words.words % 5 != 0])


def test_ranks_count_better_rows():
    searched = RNG.normal(size=(50, 4))
    queries, own = RNG.normal(size=(300, 4)), RNG.integers(0, 50, 300)
    discount = RNG.normal(size=50) / 10
    ranks = rank_of_own(queries, searched, own, discount)
    for row in range(300):
        cosines = searched @ queries[row] / np.linalg.norm(searched, axis=1) / np.linalg.norm(queries[row]) - discount
        assert ranks[row] == 1 + sum(value > cosines[own[row]] for value in cosines)


def test_vectors_are_adapted_to_their_text_and_compared_without_what_it_shares(model):
    lines = text(16, tone=0.4)
    induced = model.induce(lines, [f"w{i}" for i in range(20, 60)])
    adaptation = model.adapted_to(induced.sums)
    averages = induced.sums.by_weight().means(induced.sums.seen)
    x = averages @ adaptation.matrix.T + adaptation.intercept
    np.testing.assert_allclose(induced.compared.matrix, x, rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(induced.matrix, x + adaptation.shift, rtol=1e-3, atol=1e-4)
    found = np.mean([induced.neighbours(word, 400)[0][0] == word for word in induced.words])
    own = np.mean([induced.words[row] == word for row, word in enumerate(induced.words)])
    assert own == 1
    assert found == 0  # the word itself is no neighbour
    hits = [model.vectors.index(word) for word in induced.words]
    y = adaptation.compared_words(VECTORS.matrix)
    assert np.median(rank_of_own(x, y, np.array(hits))) < 10
    cosines = x @ x[3] / np.linalg.norm(x, axis=1) / np.linalg.norm(x[3])
    nearest = np.argsort(-cosines)[1:6]
    assert [word for word, _ in induced.most_similar(induced.words[3], 5)] == [induced.words[row] for row in nearest]
    assert induced.similarity(induced.words[3], induced.words[7]) == pytest.approx(cosines[7], rel=1e-3)
    plain = model.without_register().induce(lines, list(induced.words))
    assert (
        np.median(rank_of_own(np.asarray(plain.matrix, dtype=np.float64), np.asarray(VECTORS.matrix), np.array(hits)))
        > 10
    )
    assert plain.adaptation is None
    assert plain.compared is plain


def test_without_adaptation_all_is_as_in_the_paper():
    lines = text(17)
    model = ALaCarte.fit(VECTORS, lines, window=5, adapt=False, show_progress=False)
    assert model.register is None
    assert model.settings.positions == "uniform"
    induced = model.induce(lines, ["w7"])
    expected = model.transform.matrix @ collect(VECTORS, lines, ["w7"], window=5).means()[0]
    np.testing.assert_allclose(induced["w7"], expected, rtol=1e-5)
    assert induced.sums.shared is None
    assert induced.found_again is None
    assert ALaCarte.fit(VECTORS, lines, window=5, show_progress=False).settings.positions == "linear"


def test_updates_are_adapted_to_both_texts(model):
    first, more = text(18, 200), text(19, 300, tone=0.3)
    updated = model.induce(first, ["w9"]).update(more)
    whole = model.induce([*first, *more], ["w9"])
    np.testing.assert_allclose(updated["w9"], whole["w9"], rtol=1e-6)


def test_saved_models_adapt_or_do_as_the_paper(model, tmp_path):
    model.save(tmp_path / "model", include_vectors=True)
    again, plain = ALaCarte.load(tmp_path / "model"), ALaCarte.load(tmp_path / "model").without_register()
    lines = text(20)
    np.testing.assert_allclose(
        again.induce(lines, ["w9"])["w9"], model.induce(lines, ["w9"])["w9"], rtol=1e-4, atol=1e-5
    )
    np.testing.assert_array_equal(
        plain.induce(lines, ["w9"])["w9"], model.without_register().induce(lines, ["w9"])["w9"]
    )


def test_intervals_are_of_what_is_compared(model):
    induced = model.induce(text(21, tone=0.3), [f"w{i}" for i in range(20, 80)], spread=16)
    sums, transform, vectors = as_compared(induced.adaptation, induced.sums, model.transform, VECTORS)
    np.testing.assert_allclose(vectors.matrix, induced.vocabulary.matrix)
    np.testing.assert_allclose(transform(sums.means(sums.seen)), induced.compared.matrix, rtol=1e-3, atol=1e-4)
    words = [word for word, _ in induced.neighbours("w20", 5)]
    assert [item.other for item in induced.uncertainty.nearest("w20", 6) if item.other != "w20"][:5] == words


# --------------------------------------------------------------------------------- what is known of phrases


def test_a_phrase_is_the_mean_direction_of_its_parts():
    prior = Prior(VECTORS)
    v = np.asarray(VECTORS.matrix, dtype=np.float64)
    common = v.mean(axis=0) / np.linalg.norm(v.mean(axis=0))
    rows = v[[5, 9]] - np.outer(v[[5, 9]] @ common, common)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    np.testing.assert_allclose(prior.rows(["w5 w9"])[0], rows.mean(axis=0), rtol=1e-6)
    assert not prior.rows(["w5", "no such"])[0].any()
    context = RNG.normal(size=(1, D))
    parts = prior.combine(context, prior.rows(["w5 w9"]), [1], ["w5 w9"])
    assert parts.origin == ("contexts and parts",)
    assert parts.context_weight[0] == pytest.approx(1 / (1 + np.exp(-PHRASE_LEVEL)))
    many = prior.combine(context, prior.rows(["w5 w9"]), [64], ["w5 w9"]).context_weight[0]
    assert many > parts.context_weight[0]


def test_phrases_never_seen_have_their_parts_and_say_so(model):
    induced = model.induce(text(22), ["w5 w9 w12 w3 w7", "zz zz"], form=True)
    assert induced.words == ("w5 w9 w12 w3 w7",)
    assert induced.origin == ("parts",)
    assert induced.missing == ["zz zz"]
    with pytest.raises(NotEnoughData, match="none of its words has a vector"):
        model.embed([], "zz zz", form=True)


def test_compositionality_is_the_agreement_of_contexts_and_parts(model):
    lines = text(23)
    together = [line.replace(" w5 ", " w5 w9 ") for line in lines if " w5 " in line][:80]
    parts = model.embed_parts(together, "w5 w9")
    assert model.compositionality("w5 w9", together) == pytest.approx(float(parts.agreement[0]))
    assert -1 <= model.compositionality("w5 w9", together) <= 1
    nothing = ALaCarte(WordVectors(["a", "z"], [[1.0, 0.0], [0.0, 0.0]]), Transform(np.eye(2)))
    assert np.isnan(nothing.compositionality("z z", ["a z z a"]))
