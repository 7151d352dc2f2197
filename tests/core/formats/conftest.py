import numpy as np
import pytest

from alacarte import WordVectors


@pytest.fixture
def toy():
    rng = np.random.default_rng(5)
    words = [
        "the",
        "of",
        "new york",
        "né",
        "\u00a0",
        "a\u0085b",
        "日本",
        "windows 95",
        "$0.99",
        "1",
        "-",
        "</s>",
    ]
    matrix = rng.normal(size=(len(words), 7)).astype(np.float32)
    matrix[0] = [0.0, -0.0, 1e-45, 3.4028235e38, -3.4028235e38, 1.17549435e-38, 0.1]
    return WordVectors(words, matrix)


@pytest.fixture
def plain_toy():
    """Words without spaces, which word2vec's binary format can hold."""
    rng = np.random.default_rng(6)
    words = ["the", "of", "né", "\u00a0", "日本", "$0.99", "1"]
    matrix = rng.normal(size=(len(words), 5)).astype(np.float32)
    matrix[0] = [0.0, -0.0, 1e-45, 3.4028235e38, 0.1]
    return WordVectors(words, matrix)
