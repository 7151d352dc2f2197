import json

import numpy as np
import pytest
from typer.testing import CliRunner

from alacarte import WordVectors
from alacarte._io.artifact import read_artifact
from alacarte._io.tensors import read_header
from alacarte.cli import app
from alacarte.errors import AlacarteError, AlacarteWarning, BadVectors
from alacarte.vectors.neighbours import EXACT_LIMIT, Index

rng = np.random.default_rng(3)
VECTORS = WordVectors([f"w{i}" for i in range(2000)], rng.normal(size=(2000, 16)))


@pytest.fixture(scope="module", params=["exact", "usearch"])
def index(request):
    if request.param == "usearch":
        pytest.importorskip("usearch")
    return Index.build(VECTORS, backend=request.param)


def test_neighbours_are_those_of_the_exact_search(index):
    assert index.recall(k=10, queries=200).recall > 0.95
    query = VECTORS["w7"]
    found = index.nearest(query, k=5)
    assert found[0] == ("w7", pytest.approx(1.0))
    exact = dict(VECTORS.nearest(query, k=2000))
    assert all(cosine == pytest.approx(exact[word], abs=1e-12) for word, cosine in found)
    cosines = [cosine for _, cosine in found]
    assert cosines == sorted(cosines, reverse=True)


def test_exclusion_matrices_and_zeros(index):
    assert "w7" not in dict(index.nearest(VECTORS["w7"], k=5, exclude=["w7"]))
    assert len(index.nearest(VECTORS["w7"], k=5, exclude="w7")) == 5
    several = index.nearest(VECTORS[["w1", "w2"]], k=3)
    assert [found[0][0] for found in several] == ["w1", "w2"]
    for query, k, said in (
        (np.zeros(16), 2, "all zeros"),
        (VECTORS["w1"], 0, "k is a whole number"),
        (VECTORS["w1"], 1.5, "k is a whole number"),
    ):
        with pytest.raises(BadVectors, match=said):
            index.nearest(query, k=k)
    assert index.nearest(VECTORS["w1"], np.int64(3)) == index.nearest(VECTORS["w1"], 3)


def test_saved_indexes_answer_alike(index, tmp_path):
    index.save(tmp_path / "index")
    again = Index.load(tmp_path / "index")
    assert again.backend == index.backend
    assert again.nearest(VECTORS["w3"], k=7) == index.nearest(VECTORS["w3"], k=7)
    index.save(tmp_path / "index")  # in place of the old one
    assert len(Index.load(tmp_path / "index")) == 2000


def test_small_sets_are_searched_exactly():
    assert Index.build(VECTORS).backend == "exact"
    assert len(VECTORS) < EXACT_LIMIT


def test_what_is_no_index_says_so(tmp_path):
    with pytest.raises(AlacarteError, match="alc convert"):
        Index.load(tmp_path)
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(AlacarteError, match="choose another name"):
        Index.build(VECTORS).save(tmp_path)
    assert (tmp_path / "notes.txt").read_text() == "mine"
    with pytest.raises(AlacarteError, match="one of auto, exact, usearch"):
        Index.build(VECTORS, backend="faiss")
    with pytest.raises(AlacarteError, match="choose another name"):
        Index.build(VECTORS).save(tmp_path / "notes.txt")
    VECTORS.save(tmp_path / "v.safetensors")
    with pytest.raises(BadVectors, match="not an index but word vectors"):
        Index.load(tmp_path / "v.safetensors")


def test_a_damaged_graph_never_reaches_usearch(tmp_path, monkeypatch):
    usearch = pytest.importorskip("usearch.index")
    Index.build(VECTORS, backend="usearch").save(tmp_path / "index")
    content = (tmp_path / "index").read_bytes()
    begin = read_header(tmp_path / "index")[0]["graph"][2]
    length = len(read_artifact(tmp_path / "index").tensors["graph"])
    monkeypatch.setattr(usearch.Index, "view", lambda *anything: pytest.fail("usearch has seen it"))
    for place in np.random.default_rng(0).integers(begin, begin + length, 40).tolist():
        damaged = bytearray(content)
        damaged[place] ^= 1
        (tmp_path / "damaged").write_bytes(damaged)
        with pytest.raises(BadVectors, match="damaged is damaged: tensor 'graph'"):
            Index.load(tmp_path / "damaged")


def test_an_index_keeps_counts_and_is_described(tmp_path):
    counted = WordVectors(["a", "b"], [[1.0, 0.0], [0.0, 1.0]], counts=[3, 4])
    Index.build(counted).save(tmp_path / "index")
    assert Index.load(tmp_path / "index").vectors.counts.tolist() == [3, 4]
    facts = json.loads(CliRunner().invoke(app, ["inspect", str(tmp_path / "index"), "--json"]).stdout)
    assert (facts["what"], facts["tensors"]["matrix"]) == ("index", "float32 2 × 2")


def test_without_usearch_the_search_is_exact(tmp_path, monkeypatch):
    import sys

    pytest.importorskip("usearch")
    Index.build(VECTORS, backend="usearch").save(tmp_path / "index")
    monkeypatch.setitem(sys.modules, "usearch.index", None)
    with pytest.warns(AlacarteWarning, match="the search is exact"):
        again = Index.load(tmp_path / "index")
    assert again.backend == "exact"


def test_command(tmp_path):
    VECTORS.save(tmp_path / "v.safetensors")
    out = tmp_path / "v.index"
    built = CliRunner().invoke(app, ["convert", str(tmp_path / "v.safetensors"), str(out), "--json"])
    assert built.exit_code == 0, built.output
    assert json.loads(built.output)["recall"]["recall"] == 1.0
    asked = CliRunner().invoke(app, ["nearest", str(out), "--word", "w5", "-k", "3", "--json"])
    found = [entry["word"] for entry in json.loads(asked.output)["w5"]]
    assert found == [word for word, _ in VECTORS.nearest(VECTORS["w5"], k=3, exclude=["w5"])]
    unknown = CliRunner().invoke(app, ["nearest", str(out), "--word", "nowhere"])
    assert unknown.exit_code == 1


@pytest.mark.parametrize(
    ("said", "raised"), [("Operation has been terminated", KeyboardInterrupt), ("Out of memory!", RuntimeError)]
)
def test_an_interrupted_build_is_an_interruption(monkeypatch, said, raised):
    usearch = pytest.importorskip("usearch.index")

    def add(*_, **__):
        raise RuntimeError(said)

    monkeypatch.setattr(usearch.Index, "add", add)
    with pytest.raises(raised):
        Index.build(WordVectors(["a", "b"], [[1.0, 0.0], [0.0, 1.0]]), backend="usearch")


def test_vectors_of_zeros_are_no_queries_and_no_neighbours(tmp_path):
    pytest.importorskip("usearch")
    vectors = WordVectors([f"w{row}" for row in range(50)], np.vstack([np.zeros((25, 16)), VECTORS.matrix[:25]]))
    index = Index.build(vectors, backend="usearch")
    assert index.recall(k=5, queries=50).recall > 0.9
    assert all(int(word[1:]) >= 25 for word, _ in index.nearest(vectors["w30"], k=30))
