"""Intervals cover, confidence is what it says, the test keeps its size: on contexts whose true mean is known."""

import numpy as np
import pytest
from simulated_uncertainty import OTHERS, SHAPE, D, cosines, simulated

from alacarte import ALaCarte, Transform, WordVectors, collect
from alacarte.comparing.uses import compare_uses
from alacarte.errors import AlacarteError, NotEnoughData, UnknownKey
from alacarte.inference.multiple_testing import adjusted
from alacarte.uncertainty.spread import deviations
from alacarte.uncertainty.uncertainty import Uncertainty


# With 2400 intervals that hold with a chance of .95, 92 % or 97.5 % would be five standard errors away.
@pytest.mark.parametrize("n", [4, 32])
def test_intervals_cover(n):
    sure, truth = simulated(400, n, seed=n)
    true, rng = cosines(truth), np.random.default_rng(0)
    hits = []
    for number in range(400):
        rows = rng.integers(0, 300, 6)
        for row, item in zip(rows, sure.similarities(f"w{number}", [f"v{i}" for i in rows]), strict=True):
            hits.append(item.conf_low <= true[number, row] <= item.conf_high)
    assert 0.92 < np.mean(hits) < 0.99


def test_a_similarity_with_a_vector_of_zeros_is_unknown():
    rng = np.random.default_rng(0)
    vectors = WordVectors(["a", "b", "nothing"], [[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
    many = WordVectors([f"v{i}" for i in range(30)], rng.normal(size=(30, 2)))
    for model_vectors in (vectors, WordVectors([*many.words, "nothing"], np.vstack([many.matrix, np.zeros((1, 2))]))):
        words = model_vectors.words
        text = [" ".join(["x", *rng.choice(words[:-1], 3)]) for _ in range(40)] + [
            f"z{' nothing' * n}" for n in range(1, 21)
        ]
        sure = ALaCarte(model_vectors, Transform(np.eye(2))).induce(text, ["x", "z", *words], spread=16).uncertainty
        known, unknown = sure.similarities("x", [words[0], "nothing"])
        assert np.isfinite([known.cosine, known.std_error, known.conf_low]).all()
        of_zeros = sure.similarities("z", [words[0]])[0], sure.between("x", "z"), sure.between("z", "z")
        for item in (unknown, sure.similarity("x", np.zeros(2)), *of_zeros):
            numbers = [item.cosine, item.estimate, item.std_error, item.conf_low, item.conf_high]
            assert np.isnan(numbers).all()
            assert np.isnan(sure.confidence_of("z"))
        assert str(sure.similarities("x", [words[0], "nothing"])).splitlines()[-1].count("unknown") == 5
        assert unknown.to_dict()["std_error"] is None
        with pytest.raises(NotEnoughData, match="'z' is zero"):
            sure.nearest("z", 2)


def test_cosines_with_a_vector_of_zeros_are_unknown():
    from alacarte.inference.cosines import estimate
    from alacarte.inference.means import Units
    from alacarte.inference.two_groups import difference

    rng = np.random.default_rng(1)
    groups = [Units.of(rng.normal(size=(20, 4)) + 1) for _ in range(2)]
    directions = np.array([[1.0, 0, 0, 0], [0, 0, 0, 0]])
    found = estimate([*groups, Units.of(np.zeros((9, 4)))], directions)
    for column in found.values():
        assert np.isfinite(column[:2, 0]).all()
        assert np.isnan(column[:, 1]).all()
        assert np.isnan(column[2]).all()
    for column in difference(groups, directions)[:2]:
        assert np.isfinite(column[0])
        assert np.isnan(column[1])


def test_other_levels():
    sure, _ = simulated(50, 16, seed=2)
    widths = [np.diff(sure.interval("w3", "v7", level))[0] for level in (0.5, 0.9, 0.99)]
    assert widths[0] < widths[1] < widths[2]
    with pytest.raises(AlacarteError, match="between 0 and 1"):
        sure.interval("w3", "v7", 95)


@pytest.mark.parametrize("n", [4, 16, 64])
def test_confidence_is_the_cosine_that_is_reached(n):
    sure, truth = simulated(400, n, seed=10 + n)
    means = np.array([sure.one(f"w{i}").means[0] for i in range(400)])
    reached = np.sum(means * truth, axis=1) / np.linalg.norm(means, axis=1) / np.linalg.norm(truth, axis=1)
    assert sure.confidence.mean() == pytest.approx(reached.mean(), abs=0.03)
    assert np.corrcoef(sure.confidence, reached)[0, 1] > 0.25
    assert sure.effective_contexts.mean() == pytest.approx(n, rel=0.15)


def test_one_context_alone_tells_nothing_and_beside_others_something():
    vectors = WordVectors(["a", "b"], [[1.0, 0.0], [0.0, 1.0]])
    alone = ALaCarte(vectors, Transform(np.eye(2))).induce(["x a", "y a", "y b"], ["x", "y"], spread=4)
    with pytest.raises(NotEnoughData, match="one document"):
        alone.uncertainty.confidence_of("x")
    assert np.isnan(alone.confidence[0])
    sure, _ = simulated(200, 8, seed=0)
    one, _ = simulated(200, 1, seed=1)
    beside = Uncertainty(one.keys, one.deviations_of, OTHERS, sure.typical)
    assert 0 < beside.confidence_of("w0") < sure.confidence.mean()


def test_two_targets():
    sure, truth = simulated(300, 24, seed=5)
    units = truth / np.linalg.norm(truth, axis=1, keepdims=True)
    hits = []
    for number in range(0, 300, 2):
        item = sure.similarity(f"w{number}", f"w{number + 1}")
        hits.append(item.conf_low <= units[number] @ units[number + 1] <= item.conf_high)
    assert np.mean(hits) > 0.88  # 150 intervals: four standard errors
    assert sure.between("w0", "w0").estimate == 1.0


def test_targets_in_the_same_contexts_are_not_called_alike_for_it():
    """Noise that two targets share would make their cosine larger than it is."""
    rng = np.random.default_rng(0)
    noise = 2 * rng.normal(size=(200, 16, D)) @ SHAPE
    truth = rng.normal(size=(400, D)) @ SHAPE
    sums = truth.reshape(2, 200, 1, D) + noise
    found = deviations(sums.reshape(400, 16, D), np.ones((400, 16)), [16] * 400, np.eye(D))
    sure = Uncertainty([f"w{i}" for i in range(400)], lambda rows: found[rows], OTHERS)
    units = truth / np.linalg.norm(truth, axis=1, keepdims=True)
    true = np.array([units[i] @ units[i + 200] for i in range(200)])
    found_cosines = [sure.between(f"w{i}", f"w{i + 200}") for i in range(200)]
    naive = np.mean([item.cosine for item in found_cosines] - true)
    assert naive > 0.1
    assert abs(np.mean([item.estimate for item in found_cosines] - true)) < 0.5 * naive


def test_covariance_is_that_of_repeated_samples():
    rng = np.random.default_rng(3)
    truth = np.tile(rng.normal(size=D), (600, 1))
    sure, _ = simulated(600, 16, seed=4, truth=truth)
    means = np.array([sure.one(f"w{i}").means[0] for i in range(600)])
    np.testing.assert_allclose(np.cov(means.T), sure.covariance("w5"), atol=0.12 * np.cov(means.T).max())


def test_tables_and_errors():
    sure, _ = simulated(30, 16, seed=6)
    frame = sure.to_frame()
    assert frame.loc["w3", "contexts"] == 16
    assert list(frame.columns) == ["contexts", "effective_contexts", "confidence", "noise"]
    found = sure.nearest("w3", 4)
    assert found.to_frame().other.tolist() == [item.other for item in found]
    with pytest.raises(UnknownKey, match="not among"):
        sure.interval("nothing", "v1")
    vectors = WordVectors(["a"], [[1.0]])
    plain = ALaCarte(vectors, Transform(np.eye(1))).induce(["x a"], ["x"])
    with pytest.raises(AlacarteError, match="spread=16"):
        _ = plain.uncertainty


def test_from_text_to_confidence():
    rng = np.random.default_rng(0)
    vectors = WordVectors([f"w{i}" for i in range(200)], rng.normal(size=(200, D)))
    text = [" ".join(["x" if i % 4 else "y", *rng.choice(vectors.words[: 20 + i % 2], 6)]) for i in range(600)]
    targets = ["x", "y", *vectors.words[:20]]
    sums = collect(vectors, text, targets, spread=16)
    model = ALaCarte(vectors, Transform(np.eye(D)))
    induced = model.apply(sums)
    assert induced.confidence[0] > induced.confidence[1] > 0.5
    assert induced.uncertainty.effective_contexts[0] > 100
    more = induced.update(text)
    np.testing.assert_array_equal(more.sums.groups.sums, 2 * sums.groups.sums)
    np.testing.assert_array_equal(more.sums.groups.occurrences, 2 * sums.groups.occurrences)


# --------------------------------------------------------------------------------------------------- compare


def test_the_comparison_finds_what_differs():
    first, truth = simulated(100, 64, seed=1)
    rng = np.random.default_rng(0)
    other = truth.copy()
    other[:50] += 0.8 * rng.normal(size=(50, D)) @ SHAPE
    second, _ = simulated(100, 64, seed=2, truth=other)
    found = {item.word: item for item in compare_uses(first, second)}
    assert np.mean([found[f"w{i}"].q_value < 0.05 for i in range(50)]) > 0.9
    assert np.mean([found[f"w{i}"].q_value < 0.05 for i in range(50, 100)]) < 0.15
    assert compare_uses(first, second, "w3")[0].to_dict()["contexts_a"] == 64
    assert compare_uses(first, second).to_frame().p_value.is_monotonic_increasing


def test_adjusted_p_values_by_hand():
    # Benjamini and Hochberg: p × number / rank, the least of those from its rank on
    assert adjusted([0.04, 0.01, 0.03], "bh") == pytest.approx([0.04, 0.03, 0.04])


def test_a_target_on_its_own_has_the_standard_error_that_groups_of_contexts_have():
    """One standard error of a cosine in the library: with nothing to shrink toward, both stacks agree."""
    from alacarte import Transform, WordVectors
    from alacarte.inference.cosines import estimate
    from alacarte.inference.means import Units

    rng = np.random.default_rng(3)
    sizes = rng.integers(1, 5, 14).astype(float)
    sums = sizes[:, None] * (rng.normal(size=(14, 6)) + 1)
    vectors = WordVectors([f"w{number}" for number in range(9)], rng.normal(size=(9, 6)).astype(np.float32))
    sure = Uncertainty.of_contexts("x", sums, sizes, Transform(np.eye(6)), vectors)
    units = vectors.matrix.astype(np.float64)
    units /= np.linalg.norm(units, axis=1, keepdims=True)
    found = estimate([Units(sums, sizes, np.arange(14), 14)], units)
    ours = sure.similarities("x", vectors.words)
    np.testing.assert_allclose([item.std_error for item in ours], found["std_error"][0], rtol=1e-5)
    np.testing.assert_allclose([item.conf_low for item in ours], found["conf_low"][0], rtol=1e-4)
