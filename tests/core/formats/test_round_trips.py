import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as st_numpy

from alacarte import WordVectors
from alacarte.errors import AlacarteError, BadVectors
from alacarte.vectors import formats

WITH_SPACES = ["safetensors", "glove-text", "word2vec-text", "npy", "csv", "tsv"]
COMPRESSIONS = ["", ".gz", ".bz2", ".xz", ".zst"]


def same(a, b):
    return a.words == b.words and a.matrix.tobytes() == b.matrix.tobytes()


@pytest.mark.parametrize("name", ["a.safetensors", "a.npy", "a.txt", "a.vec", "b.TXT"])
def test_by_name(tmp_path, toy, name):
    toy.save(tmp_path / name)
    again = WordVectors.load(tmp_path / name)
    assert same(toy, again)
    assert again.fingerprint == toy.fingerprint
    assert again.source == str(tmp_path / name)
    assert not again.matrix.flags.writeable
    assert not again.skipped


@pytest.mark.parametrize("compression", COMPRESSIONS)
@pytest.mark.parametrize("suffix", [".txt", ".vec", ".bin"])
def test_compressed(tmp_path, plain_toy, suffix, compression):
    if compression == ".zst":
        pytest.importorskip("zstandard")
    path = tmp_path / f"a{suffix}{compression}"
    plain_toy.save(path)
    assert formats.sniff(path)[1] == (compression[1:] or None)
    assert same(plain_toy, WordVectors.load(path))
    assert same(plain_toy.first(2), WordVectors.load(path, limit=2))


@pytest.mark.parametrize("format", WITH_SPACES)
def test_the_ending_does_not_matter_when_reading(tmp_path, toy, format):
    toy.save(tmp_path / "mislabelled.bin", format=format)
    if format == "npy":
        (tmp_path / "mislabelled.bin.vocab.txt").rename(tmp_path / "mislabelled.bin.words")
    assert formats.sniff(tmp_path / "mislabelled.bin")[0] == format
    assert same(toy, WordVectors.load(tmp_path / "mislabelled.bin"))


def test_mapped_formats_are_mapped(tmp_path, toy):
    for name in ("a.safetensors", "a.npy"):
        toy.save(tmp_path / name)
        base = WordVectors.load(tmp_path / name).matrix
        while isinstance(base, np.ndarray) and base.base is not None:
            base = base.base
        assert not isinstance(base, np.ndarray)
        assert type(base).__name__ in ("mmap", "memoryview")


def test_compressed_npy_and_safetensors_are_read(tmp_path, toy):
    import gzip

    for name in ("a.safetensors", "a.npy"):
        toy.save(tmp_path / name)
        (tmp_path / f"{name}.gz").write_bytes(gzip.compress((tmp_path / name).read_bytes()))
        (tmp_path / name).unlink()
        assert same(toy, WordVectors.load(tmp_path / f"{name}.gz"))
        with pytest.raises(BadVectors, match="leave the ending away"):
            toy.save(tmp_path / f"{name}.xz")


any_word = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)


@st.composite
def any_vectors(draw):
    words = draw(st.lists(any_word, min_size=1, max_size=6, unique=True))
    shape = (len(words), draw(st.integers(1, 4)))
    finite = st.floats(width=32, allow_nan=False, allow_infinity=False)
    return WordVectors(words, draw(st_numpy.arrays(np.float32, shape, elements=finite)))


@pytest.mark.parametrize("format", [*WITH_SPACES, "word2vec-binary"])
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(vectors=any_vectors())
def test_whatever_is_written_is_read_back_exactly(tmp_path, format, vectors):
    try:
        vectors.save(tmp_path / "a", format=format)
    except BadVectors as error:
        assert "save as .safetensors" in str(error)  # noqa: PT017
        assume(False)
    assert same(vectors, WordVectors.load(tmp_path / "a", format=format))
    if format not in ("word2vec-binary",):  # whose few bytes may be text by accident
        assert same(vectors, WordVectors.load(tmp_path / "a"))


@pytest.mark.parametrize("word", ["", " a", "a ", "\ta", "a\nb", "\n"])
def test_words_that_text_cannot_hold(tmp_path, word):
    vectors = WordVectors(["x", word], np.ones((2, 3)))
    for format in ("glove-text", "word2vec-text"):
        with pytest.raises(BadVectors, match="safetensors"):
            vectors.save(tmp_path / "a", format=format)
    assert list(tmp_path.iterdir()) == []
    vectors.save(tmp_path / "a.safetensors")
    assert same(vectors, WordVectors.load(tmp_path / "a.safetensors"))


def test_words_that_all_end_in_numbers_are_refused_and_not_misread(tmp_path):
    vectors = WordVectors(["windows 95", "windows 98"], np.ones((2, 3)))
    with pytest.raises(BadVectors, match="could not be separated"):
        vectors.save(tmp_path / "a.txt")
    one = WordVectors(["12", "7"], [[3.0], [4.0]])
    with pytest.raises(BadVectors, match="could not be separated"):
        one.save(tmp_path / "a.txt")


@pytest.mark.parametrize("word", ["\0", "%PDF", "<html", "PAR1", "version", "a{", "\u0080"])
def test_words_that_begin_like_other_files(tmp_path, word):
    vectors = WordVectors([word, "b"], np.full((2, 3), 0.5))
    for format in ("glove-text", "word2vec-text", "word2vec-binary"):
        vectors.save(tmp_path / "a", format=format)
        assert same(vectors, WordVectors.load(tmp_path / "a"))


def test_names_that_say_nothing(tmp_path, toy):
    with pytest.raises(BadVectors, match="glove-text"):
        toy.save(tmp_path / "vectors.50d")
    with pytest.raises(BadVectors, match="no format 'glove'"):
        toy.save(tmp_path / "a.txt", format="glove")
    with pytest.raises(BadVectors, match="only read"):
        toy.save(tmp_path / "a.bin", format="fasttext-binary")


def test_a_folder_that_is_not_there_or_cannot_be_written_to(tmp_path, toy, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("a.txt", "a.csv", "a.safetensors", "a.npy"):
        with pytest.raises(AlacarteError, match=r"nowhere[/\\]a[.\w]+: .*folder"):
            toy.save(f"nowhere/{name}")
    with pytest.raises(FileNotFoundError, match="there is no folder nowhere; make it with `mkdir -p nowhere`"):
        toy.save("nowhere/a.txt")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["a.txt.gz", "a.bin", "a.safetensors", "a.npy"])
def test_a_full_disk_leaves_nothing_and_keeps_what_was_there(tmp_path, plain_toy, name, monkeypatch):
    import alacarte._io.files as files

    plain_toy.first(2).save(tmp_path / name)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files.os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        plain_toy.save(tmp_path / name)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_saving_over_the_file_that_is_mapped(tmp_path, toy):
    toy.save(tmp_path / "a.safetensors")
    mapped = WordVectors.load(tmp_path / "a.safetensors")
    with pytest.raises(BadVectors, match="were read from this file"):
        mapped.save(tmp_path / "a.safetensors")
    mapped.save(tmp_path / "a.safetensors", overwrite=True)
    assert same(toy, mapped)
    assert same(toy, WordVectors.load(tmp_path / "a.safetensors"))


def test_other_metadata_may_stand_beside_the_vectors(tmp_path, toy):
    from alacarte._io.artifact import read_artifact
    from alacarte.vectors.formats import native
    from alacarte.vectors.formats.rows import WordRows

    native.write(tmp_path / "a", WordRows(toy.words, toy.matrix), {"window": 5})
    assert read_artifact(tmp_path / "a").metadata["window"] == 5
    assert WordVectors.load(tmp_path / "a") == toy


def test_the_folder_of_a_model_is_read_by_its_vectors(tmp_path, toy):
    toy.save(tmp_path / "vectors.safetensors")
    assert WordVectors.load(tmp_path) == toy


@pytest.mark.parametrize("suffix", [".txt", ".vec", ".bin", ".txt.gz", ".bin.xz"])
@pytest.mark.parametrize("limit", [None, 1, 4, 50])
def test_blocks_of_any_size_give_the_same(tmp_path, suffix, limit, monkeypatch):
    from alacarte.vectors.formats import rows as rows_module
    from alacarte.vectors.formats import text, word2vec_binary

    rng = np.random.default_rng(0)
    vectors = WordVectors([f"wörd{i}" * (i % 7 + 1) for i in range(50)], rng.normal(size=(50, 3)))
    vectors.save(tmp_path / f"a{suffix}")
    monkeypatch.setattr(text, "HEAD_BYTES", 200)
    for rows, block in ((1, 1), (3, 50), (7, 333), (50, 10_000)):
        monkeypatch.setattr(rows_module, "rows_at_once", lambda dimension, rows=rows: rows)
        monkeypatch.setattr(text, "STREAM_BUFFER", block)
        monkeypatch.setattr(word2vec_binary, "STREAM_BUFFER", max(block, 20))
        assert same(vectors.first(limit or 50), WordVectors.load(tmp_path / f"a{suffix}", limit=limit))


edits = st.lists(
    st.tuples(st.floats(0, 1), st.sampled_from(["set", "cut", "insert"]), st.binary(min_size=1, max_size=9)),
    min_size=1,
    max_size=4,
)


@pytest.mark.parametrize("format", [*WITH_SPACES, "word2vec-binary"])
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(edits=edits)
@pytest.mark.filterwarnings("ignore::alacarte.errors.AlacarteWarning")
def test_damage_never_gives_anything_but_good_vectors_or_our_error(tmp_path, plain_toy, format, edits):
    plain_toy.save(tmp_path / "a", format=format)
    content = bytearray((tmp_path / "a").read_bytes())
    for where, kind, data in edits:
        place = int(where * len(content))
        content[place : place + (len(data) if kind != "insert" else 0)] = b"" if kind == "cut" else data
    assume(content[:1] != b"\x80")  # a pickle
    (tmp_path / "a").write_bytes(content)
    for on_error in ("raise", "skip"):
        try:
            vectors = WordVectors.load(tmp_path / "a", on_error=on_error)
        except BadVectors:
            continue
        assert np.isfinite(vectors.matrix).all()
        assert len(set(vectors.words)) == len(vectors.words) == len(vectors.matrix)
