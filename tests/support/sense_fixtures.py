"""The tiny WordNet, and vectors in which water and money are two directions."""

import numpy as np
import pytest
from tiny_wordnet import semcor_file, write_wordnet


@pytest.fixture
def dict_folder(tmp_path):
    return write_wordnet(tmp_path / "dict")


@pytest.fixture
def wordnet(dict_folder):
    from alacarte.senses import open_wordnet

    return open_wordnet(dict_folder)


@pytest.fixture
def model():
    """Vectors of two dimensions, water and money, and the identity as transform."""
    from alacarte import ALaCarte, Transform, WordVectors

    words = {"river": (2, 0), "water": (3, 0), "fished": (1, 0), "loan": (0, 2), "money": (0, 3), "the": (0.1, 0.1)}
    return ALaCarte(WordVectors(words, np.array(list(words.values()), dtype=np.float32)), Transform(np.eye(2)))


@pytest.fixture
def semcor(tmp_path):
    """Three sentences: the shore twice, the institution once."""
    folder = tmp_path / "semcor"
    folder.mkdir()
    shore, money = ("bank", "bank", "1:17:01::"), ("bank", "bank", "1:14:00::")
    text = semcor_file(["the", "river", shore, "."], ["water", shore], ["the", "loan", "The", money])
    (folder / "br-a01").write_text(text)
    return folder
