"""The recipes of docs/databases.md, run against PostgreSQL with pgvector, LanceDB and Qdrant."""

import re
import tempfile
from pathlib import Path

import numpy as np
import pytest

from alacarte import WordVectors

PAGE = Path(__file__).parents[2] / "docs" / "databases.md"
BLOCKS = dict(re.findall(r"<!-- ([^\n]*) -->\n```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL))
WORDS = ["zebra", "new york", "né", "東京", "🙂", "it's", 'a "quoted" \\ word', "tab\there", "line\nend", "flurvel"]
VECTORS = WordVectors(WORDS, np.random.default_rng(1).normal(size=(10, 5)))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The working directory, with the file that the recipes begin with."""
    monkeypatch.chdir(tmp_path)
    VECTORS.save("new.safetensors")
    return tmp_path


def names_after(recipe, **replaced):
    """What the names in a recipe stand for when it has been run."""
    code = BLOCKS["before each recipe"] + BLOCKS[recipe]
    for old, new in replaced.items():
        assert old in code
        code = code.replace(old, new)
    names = {}
    exec(compile(code, f"{PAGE.name}: {recipe}", "exec"), names)
    return names


def check_found(found):
    expected = VECTORS.nearest(VECTORS["flurvel"], 5)
    assert [word for word, _ in found] == [word for word, _ in expected]
    assert [cosine for _, cosine in found] == pytest.approx([cosine for _, cosine in expected], abs=1e-5)


def test_every_recipe_is_run():
    assert set(BLOCKS) == {"before each recipe", "pgvector", "lancedb", "qdrant"}
    assert PAGE.read_text(encoding="utf-8").count("```python") == len(BLOCKS)


def test_pgvector(folder):
    pgserver = pytest.importorskip("pgserver")
    pytest.importorskip("psycopg")
    with tempfile.TemporaryDirectory(prefix="pg", ignore_cleanup_errors=True) as data:
        server = pgserver.get_server(data, cleanup_mode="stop")
        try:
            names = names_after("pgvector", **{"postgresql://me@localhost/lab": server.get_uri()})
        finally:
            server.cleanup()
    check_found(names["found"])
    words, matrix = zip(*names["rows"], strict=True)
    assert WordVectors(words, matrix) == VECTORS


def test_lancedb(folder):
    pytest.importorskip("lancedb")
    names = names_after("lancedb")
    check_found(names["found"])
    assert WordVectors.from_frame(names["table"].to_arrow()) == VECTORS


def test_qdrant(folder):
    pytest.importorskip("qdrant_client")
    names = names_after("qdrant")
    check_found(names["found"])
    records, _ = names["client"].scroll("words", with_vectors=True)
    back = WordVectors([record.payload["word"] for record in records], [record.vector for record in records])
    assert back.words == VECTORS.words
    np.testing.assert_allclose(back.matrix, VECTORS.normalised().matrix, atol=1e-6)
    names["client"].close()
