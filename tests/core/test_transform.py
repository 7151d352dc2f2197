import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from alacarte import ALaCarte, ContextSums, Transform, WordVectors, collect
from alacarte.contexts.reading import Reading
from alacarte.contexts.scale import Scale
from alacarte.contexts.sums import Sums
from alacarte.errors import AlacarteWarning, BadTransform, NotEnoughData, TransformMismatch
from alacarte.transform.automatic import _expected_cosines
from alacarte.transform.least_squares import Regression
from alacarte.vectors.geometry import cosines


def whole_sums(vectors, means, counts, **amounts):
    """Sums over the whole vocabulary with these means, in units of 2⁻⁴⁰."""
    d = vectors.dimension
    scale = Scale(np.full(d, 40, dtype=np.int16), np.full(d, 40, dtype=np.int16), 0)
    sums = Sums(np.rint(means * counts[:, None] * 2.0**40).astype(np.int64), 10 * counts, 10 * counts, counts, counts)
    return ContextSums(list(vectors.words), sums, scale, Reading(), vectors.fingerprint, None, **amounts)


def problem(seed=0, words=60, d=5, noise=0.1, true=None, counts=None):
    """Vectors, and sums whose means are related to them by a known matrix."""
    rng = np.random.default_rng(seed)
    true = rng.normal(size=(d, d)) if true is None else true
    u = rng.normal(size=(words, d)) * np.array([3, 1, 1, 0.5, 0.1, *[1] * d])[:d]
    vectors = WordVectors([f"w{i}" for i in range(words)], u @ true.T + noise * rng.normal(size=(words, d)))
    counts = rng.integers(1, 5000, size=words) if counts is None else counts
    sums = whole_sums(vectors, u, counts, documents=7, tokens_read=1000, tokens_known=900)
    return vectors, sums, u, true


@given(st.integers(0, 10**6), st.sampled_from([None, "log", 100]), st.sampled_from([0.0, 2.5]), st.booleans())
def test_fit_is_weighted_least_squares(seed, weighting, ridge, intercept):
    """Against numpy's least squares on the stacked rows: data scaled by √α, then one row of √λ a dimension."""
    vectors, sums, u, _ = problem(seed)
    transform = Transform.fit(sums, vectors, weighting=weighting, ridge=ridge, intercept=intercept)
    counts = sums.occurrences
    alpha = {None: np.ones(60), "log": np.log(counts), 100: (counts >= 100).astype(float)}[weighting]
    rows = np.hstack([u, np.ones((60, 1))]) if intercept else u
    penalty = np.sqrt(ridge) * np.eye(5, rows.shape[1])
    stacked = np.vstack([rows * np.sqrt(alpha)[:, None], penalty])
    goal = np.vstack([vectors.matrix * np.sqrt(alpha)[:, None], np.zeros((5, 5))])
    expected = np.linalg.lstsq(stacked, goal, rcond=None)[0].T
    # the matrix is kept in float32
    np.testing.assert_allclose(transform.matrix, expected[:, :5], rtol=1e-5, atol=1e-5)
    if intercept:
        np.testing.assert_allclose(transform.intercept, expected[:, 5], rtol=1e-5, atol=1e-5)


@given(st.integers(0, 10**6), st.booleans(), st.sampled_from(["zero", "identity"]))
def test_leave_one_out_in_closed_form_is_leave_one_out(seed, intercept, toward):
    """The chosen λ has the least error when each word really is left out and the rest solved again."""
    vectors, sums, u, _ = problem(seed, words=14, noise=1.0)
    alpha = np.log(sums.occurrences)
    keep = alpha > 0
    rows = np.flatnonzero(keep)
    data = Regression(sums, vectors, (rows, rows), alpha[keep], intercept, folds=1)
    center = data.best_scalar() if toward == "identity" else 0.0
    chosen = data.leave_one_out(center)
    rows = np.hstack([u, np.ones((14, 1))]) if intercept else u
    rows, goal, weight = rows[keep], vectors.matrix[keep].astype(float), alpha[keep]

    def error(penalty):
        total = 0.0
        diagonal = np.zeros(rows.shape[1])
        diagonal[:5] = penalty
        for i in range(len(rows)):
            others = np.arange(len(rows)) != i
            gram = (rows[others] * weight[others, None]).T @ rows[others] + np.diag(diagonal)
            cross = goal[others].T @ (rows[others] * weight[others, None])
            cross[:, :5] += penalty * center * np.eye(5)
            a = np.linalg.solve(gram, cross.T).T
            total += weight[i] * ((goal[i] - a @ rows[i]) ** 2).sum()
        return total

    for factor in (0.25, 0.5, 2.0, 4.0):
        assert error(chosen) <= error(chosen * factor) * (1 + 1e-6) or error(chosen) < 1e-12


def test_ridge_toward_identity_goes_there():
    vectors, sums, _, _ = problem(true=2.0 * np.eye(5), noise=0.5)
    far = Transform.fit(sums, vectors, weighting=None, ridge=1e12, toward="identity")
    np.testing.assert_allclose(far.matrix, far.report.ridge_toward * np.eye(5), atol=1e-3)
    assert far.report.ridge_toward == pytest.approx(2.0, rel=0.1)
    zero = Transform.fit(sums, vectors, weighting=None, ridge=1e12)
    np.testing.assert_allclose(zero.matrix, 0, atol=1e-3)


def test_recovers_the_true_matrix_and_reports_it():
    vectors, sums, _, true = problem(noise=0.0)
    transform = Transform.fit(sums, vectors, weighting=None)
    np.testing.assert_allclose(transform.matrix, true, rtol=1e-4, atol=1e-4)
    report = transform.report
    assert report.words == 60
    assert report.solver == "normal equations"
    assert report.cosine_mean == pytest.approx(1, abs=1e-6)
    assert report.cv_cosine_mean == pytest.approx(1, abs=1e-6)
    assert "60 of 60 vectors" in str(report)
    assert report.to_dict()["documents"] == 7


def test_cross_validation_leaves_words_out():
    """With pure noise the fit looks good in sample, and not on words held out."""
    rng = np.random.default_rng(3)
    vectors, sums, _, _ = problem(words=12, noise=0.0)
    noise = WordVectors(vectors.words, rng.normal(size=(12, 5)))
    sums = replace(sums, fingerprint=noise.fingerprint)
    report = Transform.fit(sums, noise, weighting=None).report
    assert report.cosine_mean > 0.5
    assert report.cv_cosine_mean < 0.4


def test_what_cannot_be_held_out_is_unknown():
    """As many words as dimensions are met exactly, which says nothing."""
    vectors, sums, _, _ = problem(words=5)
    transform = Transform.fit(sums, vectors, weighting=None)
    assert transform.report.cosine_mean == pytest.approx(1, abs=1e-6)
    assert transform.report.cv_cosine_mean is None
    for shown in (str(transform.report), repr(transform)):
        assert "1.000" not in shown
        assert "unknown: words are too few" in shown
    unmeasured = Transform.fit(problem(words=60)[1], problem(words=60)[0], weighting=None, folds=1)
    assert not unmeasured.report.problems
    assert "cosine(A u, v), mean" in str(unmeasured.report)


def test_text_that_the_vectors_do_not_cover():
    vectors, sums, _, _ = problem(words=60)
    with pytest.raises(NotEnoughData, match=r"only 5 of the 1,000 tokens have a vector.*language"):
        Transform.fit(replace(sums, tokens_read=1000, tokens_known=5), vectors, weighting=None)
    transform = Transform.fit(replace(sums, tokens_read=1000, tokens_known=100), vectors, weighting=None)
    for shown in (str(transform.report), repr(transform), repr(ALaCarte(vectors, transform))):
        assert "only 10.0% of the tokens have a vector" in shown
    assert "only" not in repr(Transform.fit(sums, vectors, weighting=None))


def test_ill_conditioned_problems_go_to_qr():
    rng = np.random.default_rng(1)
    scale = np.array([1, 1, 1, 1, 1e-6])
    u = rng.normal(size=(200, 5)) * scale
    true = rng.normal(size=(5, 5)) / scale
    vectors = WordVectors([f"w{i}" for i in range(200)], u @ true.T)
    counts = np.full(200, 9)
    transform = Transform.fit(whole_sums(vectors, u, counts), vectors, weighting=None)
    assert transform.report.solver == "QR"
    assert transform.report.condition == pytest.approx(1e6, rel=1)
    assert transform.report.cosine_mean > 0.999999


def test_singular_problems_and_few_words_are_errors():
    vectors, sums, u, _ = problem(words=4)
    with pytest.raises(NotEnoughData, match="4 words are too few to learn 5 dimensions"):
        Transform.fit(sums, vectors, weighting=None)
    assert Transform.fit(sums, vectors, weighting=None, ridge="loo").report.ridge > 0
    vectors, sums, u, _ = problem()
    flat = u.copy()
    flat[:, 4] = flat[:, 3]
    flat = whole_sums(vectors, flat, sums.occurrences)
    with pytest.raises(NotEnoughData, match="do not span all 5 dimensions"):
        Transform.fit(flat, vectors, weighting=None)
    with pytest.raises(NotEnoughData, match="count ≥ 9999"):
        Transform.fit(sums, vectors, weighting=9999)
    with pytest.raises(NotEnoughData, match="no word of the vectors is left"):
        Transform.fit(sums, vectors, weighting=9999, ridge=1.0)


def noisy(seed=0, words=6000, d=4, context_noise=3.0, counts=None):
    """Sums in which a word's mean has the noise that its number of contexts leaves; vectors have noise of their own."""
    rng = np.random.default_rng(seed)
    true = rng.normal(size=(words, d)) * [2.0, 1.0, 1.0, 0.5]
    counts = np.rint(np.exp(rng.uniform(0, 10, words))).astype(np.int64) + 1 if counts is None else counts
    u = true + context_noise * rng.normal(size=(words, d)) / np.sqrt(counts)[:, None]
    vectors = WordVectors([f"w{i}" for i in range(words)], true + 0.3 * rng.normal(size=(words, d)))
    return vectors, whole_sums(vectors, u, counts), counts


def test_auto_weighting_serves_words_of_few_contexts_and_says_what_it_gained():
    vectors, sums, counts = noisy()
    rows = np.flatnonzero((counts < 16) & (np.arange(6000) % 2 == 0))
    kept = [f"w{i}" for i in rows]  # held out from both, to judge them by
    auto = Transform.fit(sums, vectors, exclude=kept)
    paper = Transform.fit(sums, vectors, exclude=kept, weighting=1024)
    threshold = int(auto.report.weighting.removeprefix("count ≥ "))
    assert threshold < 1024
    said = [float(number) for number in re.findall(r"0\.\d+", auto.report.weighting_reason)]
    assert said[0] > said[1]
    reached = [cosines(one(sums.means(rows)), vectors.matrix[rows]).mean() for one in (auto, paper)]
    assert reached[0] > reached[1] + 0.005
    same = Transform.fit(sums, vectors, exclude=kept, weighting=threshold)
    np.testing.assert_array_equal(auto.matrix, same.matrix)


def test_cosines_from_fewer_contexts_are_what_sampling_gives():
    rng = np.random.default_rng(0)
    words, d, c = 500, 60, 32  # many dimensions: squared lengths are near their means
    scale = 2 / np.sqrt(np.arange(1, d + 1)) + 1
    true, matrix = rng.normal(size=(words, d)), rng.normal(size=(d, d))
    contexts = true[:, None] + 2 * rng.normal(size=(words, c, d)) * scale
    v = true @ matrix.T
    spread = 4 * np.diag(scale**2)
    expected = _expected_cosines(matrix, contexts.mean(axis=1), v, np.full(words, c), spread)
    assert np.isnan(expected[:, [0, 1, 2, 6, 7]]).all()  # not as rare as that, or not so frequent
    for column, n in ((3, 8), (4, 16), (5, 32)):
        sampled = cosines(contexts[:, :n].mean(axis=1) @ matrix.T, v).mean()
        assert np.mean(expected[:, column]) == pytest.approx(sampled, abs=0.02)


def test_auto_weighting_of_few_words_is_their_logarithm():
    vectors, sums, _, _ = problem(words=40)
    report = Transform.fit(sums, vectors).report
    assert report.weighting == "weight log(count)"
    assert "40 words are too few" in str(report)
    vectors, sums, _, _ = problem(words=100, counts=np.full(100, 2000))  # no word of few contexts to judge by
    assert Transform.fit(sums, vectors).report.weighting == "weight log(count)"


def test_cosines_of_a_report_count_words_as_the_regression_does():
    vectors, sums, counts = noisy(words=300)
    weighted = Transform.fit(sums, vectors, weighting=lambda counts: counts >= 50).report
    threshold = Transform.fit(sums, vectors, weighting=50).report
    assert weighted.cosine_mean == pytest.approx(threshold.cosine_mean)
    some = counts >= 50
    fitted = Transform.fit(sums, vectors, weighting=50)
    induced, true = fitted(sums.means(np.flatnonzero(some))).astype(float), vectors.matrix[some].astype(float)
    plain = (induced * true).sum(1) / np.linalg.norm(induced, axis=1) / np.linalg.norm(true, axis=1)
    assert threshold.cosine_mean == pytest.approx(plain.mean(), abs=1e-6)
    np.testing.assert_allclose(threshold.cosine_quantiles, np.quantile(plain, (0.05, 0.25, 0.5, 0.75, 0.95)), atol=1e-5)


def test_weighting_functions_and_excluded_words():
    vectors, sums, _, _ = problem()
    by_function = Transform.fit(sums, vectors, weighting=lambda counts: counts >= 100)
    by_threshold = Transform.fit(sums, vectors, weighting=100)
    np.testing.assert_array_equal(by_function.matrix, by_threshold.matrix)
    assert Transform.fit(sums, vectors, weighting=None, exclude=["w1", "w2"]).report.words == 58
    for bad, message in (
        (lambda counts: -counts, "non-negative"),
        (lambda counts: 1, "one finite"),
        ("sqrt", "not 'sqrt'"),
    ):
        with pytest.raises(BadTransform, match=message):
            Transform.fit(sums, vectors, weighting=bad)
    for bad in (-1, "cv"):
        with pytest.raises(BadTransform, match="ridge"):
            Transform.fit(sums, vectors, ridge=bad)


# ------------------------------------------------------------------------------------------------- checks


def test_other_vectors_are_refused():
    vectors, sums, _, _ = problem()
    transform = Transform.fit(sums, vectors, weighting=None)
    transform.check_vectors(vectors)
    transform.check_vectors(vectors.first(30))  # the same space, fewer words
    more = WordVectors([*vectors.words, "new"], np.vstack([vectors.matrix, np.ones(5)]))
    transform.check_vectors(more)  # the same space, more words
    with pytest.raises(TransformMismatch, match="other vectors"):
        transform.check_vectors(vectors.normalised())
    with pytest.raises(TransformMismatch, match="5 dimensions and the vectors have 2"):
        transform.check_vectors(WordVectors(["w1"], [[1.0, 2.0]]))
    with pytest.raises(TransformMismatch, match="they hold 1"):
        transform.check_vectors(vectors.first(1))
    with pytest.raises(TransformMismatch, match="other vectors"):
        Transform.fit(sums, vectors.normalised())
    with pytest.raises(TransformMismatch, match="cannot be applied to 3"):
        transform([1.0, 2.0, 3.0])


def test_sums_of_another_kind_are_refused(toy, tmp_path):
    def sums(**options):
        return collect(toy, ["a b x c"], ["x"], **options)

    transform = Transform(np.eye(2), settings=Reading(), fingerprint=toy.fingerprint)
    transform.check_sums(sums())
    for options, name in (
        ({"averaging": "token"}, "averaging"),
        ({"context_weights": {"a": 0.5}}, "weights"),
        ({"positions": "linear"}, "positions"),
    ):
        with pytest.raises(TransformMismatch, match=name):
            transform.check_sums(sums(**options))
    with pytest.warns(AlacarteWarning, match="window 10"):
        transform.check_sums(sums(window=5))
    Transform(np.eye(2)).check_sums(sums(averaging="token"))  # a bare matrix: nothing is known of it
    transform.save(tmp_path / "a.bin")
    bare = Transform.load(tmp_path / "a.bin")  # … but its averaging; no warning about what it was learned with
    bare.check_sums(sums(window=5, tokenizer="authors"))
    with pytest.raises(TransformMismatch, match="averaging"):
        bare.check_sums(sums(averaging="token"))


# -------------------------------------------------------------------------------------------------- files


@given(seed=st.integers(0, 2**32 - 1), d=st.integers(1, 8))
def test_every_format_gives_the_matrix_back_exactly(tmp_path_factory, seed, d):
    folder = tmp_path_factory.mktemp("transforms")
    matrix = (np.random.default_rng(seed).normal(size=(d, d)) * 10.0 ** (seed % 60 - 30)).astype(np.float32)
    for ending in ("safetensors", "bin", "npy", "csv"):
        Transform(matrix).save(folder / f"a.{ending}")
        again = Transform.load(folder / f"a.{ending}")
        assert again.matrix.tobytes() == matrix.tobytes()
    assert (folder / "a.bin").read_bytes() == matrix.tobytes()  # headerless, row by row


def test_safetensors_keep_everything(tmp_path):
    vectors, sums, _, _ = problem()
    transform = Transform.fit(sums, vectors, weighting="log", intercept=True)
    transform.save(tmp_path / "t.safetensors")
    again = Transform.load(tmp_path / "t.safetensors")
    assert again.report == transform.report
    assert again.settings == transform.settings
    assert again.fingerprint == vectors.fingerprint
    assert again.intercept.tolist() == transform.intercept.tolist()
    again.check_vectors(vectors)
    with pytest.raises(BadTransform, match="cannot hold an intercept"):
        transform.save(tmp_path / "t.bin")


def test_csv_with_names_and_r_files(tmp_path):
    (tmp_path / "r.csv").write_text('"","V1","V2"\n"a",1,2\n"b",3,4\n')
    assert Transform.load(tmp_path / "r.csv").matrix.tolist() == [[1, 2], [3, 4]]
    (tmp_path / "h.csv").write_text("V1;V2\n1;2\n3;4\n")
    assert Transform.load(tmp_path / "h.csv").matrix.tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize("ending", ["rds", "rda"])
def test_r_files(tmp_path, ending):
    rdata = pytest.importorskip("rdata")
    matrix = np.arange(9.0).reshape(3, 3)
    file = tmp_path / f"transform.{ending}"
    if ending == "rds":
        rdata.write_rds(str(file), matrix)
    else:
        rdata.write_rda(str(file), {"khodakA": matrix})
    assert Transform.load(file).matrix.tolist() == matrix.tolist()


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.bin", b"", "no square"),
        ("a.bin", b"1234567", "no square"),
        ("a.npy", b"not numpy", "damaged.*numpy.save"),
        ("a.npy", None, "square matrix"),
        ("a.csv", b"1,2\n3\n", "row 2 is not 2 numbers"),
        ("a.csv", b"1,x\n3,4\n1,2", "row 1"),
        ("a.csv", b"\xff\xfe", "not UTF-8"),
        ("a.safetensors", b"junk", "a.safetensors"),
        ("a.h5", b"junk", "transforms end in"),
        ("a.rds", b"junk", "damaged.*saveRDS"),
    ],
)
def test_bad_files(tmp_path, name, content, message):
    if content is None:
        np.save(tmp_path / name, np.ones((2, 3)))
    else:
        (tmp_path / name).write_bytes(content)
    if name.endswith("rds"):
        pytest.importorskip("rdata")
    with pytest.raises(BadTransform, match=message):
        Transform.load(tmp_path / name)


def test_bad_matrices(tmp_path):
    with pytest.raises(BadTransform, match="not finite"):
        Transform([[np.nan]])
    with pytest.raises(BadTransform, match="intercept"):
        Transform(np.eye(2), np.ones(3))
    with pytest.raises(BadTransform, match="no such file"):
        Transform.load(tmp_path / "nothing.bin")
    Transform(np.eye(2)).save(tmp_path / "a.bin")
    with pytest.raises(BadTransform, match="3 × 3"):
        Transform.load(tmp_path / "a.bin", dimension=3)
