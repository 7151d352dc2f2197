"""Every kind of damage, and what is said about it."""

import gzip
import io
import struct
import zipfile

import numpy as np
import pytest

from alacarte import WordVectors
from alacarte.errors import AlacarteWarning, BadVectors
from alacarte.vectors import formats

GOOD = "the 1 2 3\nof 4 5 6\nand 7 8 9\n"


def put(folder, content, name="v.txt"):
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


@pytest.mark.parametrize(
    ("line", "reason", "said"),
    [
        (b"of 4 5 6", "duplicate word", "line 4 ('of'): a second vector"),
        (b"short 1 2", "wrong number of values", "line 4 ('short'): 2 values where other lines have 3"),
        (b"alone", "wrong number of values", "line 4 ('alone'): 0 values"),
        (b"odd 1 x 3", "not a number", "line 4 ('odd'): value 2 is 'x'"),
        (b"odd 1 1_0 3", "not a number", "line 4 ('odd'): value 2 is '1_0'"),
        (b"lost 1 nan 3", "not finite", "line 4 ('lost'): value 2 is nan"),
        (b"big 1 2 -inf", "not finite", "line 4 ('big'): value 3 is -inf"),
        (b"big 1 2 1e39", "not finite", "line 4 ('big'): value 3 is 1e+39"),
        (b"n\xe9 1 2 3", "bad UTF-8", "line 4 ('n\ufffd'): the word is not UTF-8"),
    ],
)
@pytest.mark.parametrize("header", [False, True])
@pytest.mark.parametrize("compressed", [False, True])
def test_a_bad_line_in_text(tmp_path, line, reason, said, header, compressed):
    content = GOOD.encode() + line + b"\nmore 1 1 1\n"
    if header:
        content, said = b"5 3\n" + content, said.replace("line 4", "line 5")
    path = put(tmp_path, gzip.compress(content) if compressed else content)
    with pytest.raises(BadVectors) as caught:
        WordVectors.load(path)
    message = str(caught.value)
    assert said in message
    assert str(path) in message
    assert 'on_error="skip"' in message
    with pytest.warns(AlacarteWarning, match=reason):
        vectors = WordVectors.load(path, on_error="skip")
    assert vectors.words == ("the", "of", "and", "more")
    assert vectors["of"].tolist() == [4, 5, 6]
    assert vectors["more"].tolist() == [1, 1, 1]
    assert vectors.skipped.counts == {reason: 1}
    assert said in str(vectors.skipped)
    assert len(vectors.skipped) == 1


def test_a_damaged_line_beyond_the_limit_does_not_matter(tmp_path):
    path = put(tmp_path, GOOD + "bad 1\n")
    assert WordVectors.load(path, limit=3).words == ("the", "of", "and")


def test_the_limit_counts_usable_rows(tmp_path):
    path = put(tmp_path, "a 1 2\nb 1\nc 3 4\nd 5 6\n")
    with pytest.warns(AlacarteWarning):
        assert WordVectors.load(path, limit=2, on_error="skip").words == ("a", "c")


LIMITED = ["a", "b", "c", "a", "d", "e"]  # the second row holds NaN, the fourth a word that was there before
WITH_NAN = np.array([[1, 2], [np.nan, 3], [4, 5], [6, 7], [8, 9], [np.inf, 1]], np.float32)


def put_npy(path):
    np.save(path, WITH_NAN)
    path.with_suffix(".vocab.txt").write_text("\n".join(LIMITED))


def put_arrow(path):
    arrow = pytest.importorskip("pyarrow")
    feather, parquet = pytest.importorskip("pyarrow.feather"), pytest.importorskip("pyarrow.parquet")
    table = arrow.table({"word": LIMITED, "0": WITH_NAN[:, 0], "1": WITH_NAN[:, 1]})
    if path.suffix == ".parquet":
        parquet.write_table(table, path, row_group_size=2)
    else:
        feather.write_feather(table, path, chunksize=2)


def put_csv(path):
    pytest.importorskip("pyarrow")
    rows = zip(LIMITED, WITH_NAN.tolist(), strict=True)
    path.write_text("word,0,1\n" + "".join(f"{word},{x},{y}\n" for word, (x, y) in rows))


def put_r(path):
    rdata = pytest.importorskip("rdata")
    from rdata.conversion import to_r

    converter = to_r.ConverterFromPythonToR()
    value = converter.convert_to_r_object(WITH_NAN.astype(float).ravel(order="F"))
    names = {"dim": np.array(WITH_NAN.shape, np.int32), "dimnames": [np.array(LIMITED), None]}
    value.attributes = converter.convert_to_r_attributes(names)
    value.info.attributes = True
    data = to_r.RData(versions=converter.convert_to_r_data(1).versions, extra=to_r.RExtraInfo("UTF-8"), object=value)
    rdata.unparser.unparse_file(path, data, file_type="rds")


def put_fasttext(path):
    start = struct.pack("<14id", 793712314, 12, 2, 5, 5, 1, 5, 1, 1, 2, 10, 0, 0, 100, 0.1)
    words = b"".join(word.encode() + b"\0" + struct.pack("<qb", 3, 0) for word in LIMITED)
    dictionary = struct.pack("<3i2q", 6, 6, 0, 1, -1) + words
    path.write_bytes(start + dictionary + struct.pack("<?2q", False, 6, 2) + WITH_NAN.tobytes())


def put_lines(path):
    rows = zip(LIMITED, WITH_NAN.tolist(), strict=True)
    lines = [f"{word} {x} {y}\n" for word, (x, y) in rows]
    path.write_text("".join(["6 2\n", *lines] if path.suffix == ".vec" else lines))


def put_binary(path):
    path.write_bytes(binary(list(zip([word.encode() for word in LIMITED], WITH_NAN.tolist(), strict=True))))


def put_gensim(path):
    models = pytest.importorskip("gensim.models")
    keyed = models.KeyedVectors(2)
    keyed.index_to_key, keyed.vectors = LIMITED, WITH_NAN
    keyed.key_to_index = {word: row for row, word in enumerate(LIMITED)}
    keyed.save(str(path))


@pytest.mark.parametrize(
    ("name", "write"),
    [
        ("v.txt", put_lines),
        ("v.vec", put_lines),
        ("v.bin", put_binary),
        ("v.npy", put_npy),
        ("v.csv", put_csv),
        ("v.parquet", put_arrow),
        ("v.feather", put_arrow),
        ("v.rds", put_r),
        ("fasttext.bin", put_fasttext),
        ("v.kv", put_gensim),
    ],
)
def test_a_limit_is_the_first_rows_that_are_kept_in_every_format(tmp_path, name, write):
    """Issue 28, 7: limit=2 with a bad row among the first two gave 2 words from text and 1 from .npy."""
    write(tmp_path / name)
    options = {"format": "gensim-pickle", "trust": True} if name.endswith(".kv") else {}
    for limit, words, left_out in ((1, "a", 0), (2, "ac", 1), (3, "acd", 2), (4, "acd", 3), (None, "acd", 3)):
        if left_out:
            with pytest.warns(AlacarteWarning):
                vectors = WordVectors.load(tmp_path / name, limit=limit, on_error="skip", **options)
        else:
            vectors = WordVectors.load(tmp_path / name, limit=limit, on_error="skip", **options)
        assert vectors.words == tuple(words)
        assert vectors.matrix.tolist() == WITH_NAN[[LIMITED.index(word) for word in words]].tolist()
        assert len(vectors.skipped) == left_out
    assert WordVectors.load(tmp_path / name, limit=1, **options).words == ("a",)
    with pytest.raises(BadVectors, match=name):
        WordVectors.load(tmp_path / name, limit=2, **options)


def test_examples_are_few_and_counts_are_complete(tmp_path):
    path = put(tmp_path, GOOD * 40)
    with pytest.warns(AlacarteWarning):
        report = WordVectors.load(path, on_error="skip").skipped
    assert len(report) == 117
    assert len(report.examples) == 5


def test_only_bad_rows(tmp_path):
    path = put(tmp_path, "a 1 nan\nb nan 1\n")
    with pytest.raises(BadVectors, match="no usable vector"):
        WordVectors.load(path, on_error="skip")


def test_a_short_first_line_does_not_set_the_dimension(tmp_path):
    with pytest.raises(BadVectors, match=r"line 1 \('the'\): 2 values where other lines have 3"):
        WordVectors.load(put(tmp_path, "the 1 2\nof 4 5 6\nand 7 8 9\n"))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("4 3\n" + GOOD, "promises 4 words and there are 3"),
        ("2 3\n" + GOOD, "line 4 ('and'): the header promises only 2 words"),
        ("3 4\n" + GOOD, "promises 4 dimensions and the lines have 3"),
        ("3 2\n" + GOOD, "promises 2 dimensions and the lines have 3"),
        ("3 3\n", "promises 3 words and there are 0"),
    ],
)
def test_a_header_that_is_wrong(tmp_path, content, said):
    with pytest.raises(BadVectors) as caught:
        WordVectors.load(put(tmp_path, content))
    assert said in str(caught.value)


def test_a_header_that_promises_too_much_or_too_little_can_be_skipped(tmp_path):
    with pytest.warns(AlacarteWarning, match="1 missing row"):
        assert len(WordVectors.load(put(tmp_path, "4 3\n" + GOOD), on_error="skip")) == 3
    with pytest.warns(AlacarteWarning, match="beyond the header"):
        assert len(WordVectors.load(put(tmp_path, "2 3\n" + GOOD), on_error="skip")) == 2
    # A limit below what is there never gets to see the end.
    assert len(WordVectors.load(put(tmp_path, "4 3\n" + GOOD), limit=3)) == 3


def test_a_header_with_absurd_numbers_takes_no_memory(tmp_path):
    with pytest.raises(BadVectors, match="promises 999999999999 words"):
        WordVectors.load(put(tmp_path, "999999999999 3\n" + GOOD))


def zipped():
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("glove.txt", GOOD)
    return file.getvalue()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty"),
        (b"\n\n", "not a vector file"),
        (zipped(), "zip archive; unpack"),
        (b"%PDF-1.7\n1 0 obj", "PDF"),
        (b"<!DOCTYPE html>", "web page"),
        (b"version https://git-lfs.github.com/spec/v1\n", "git lfs pull"),
        ("the 1 2".encode("utf-16"), "UTF-16"),
        (b"The cat sat on the mat.\nIt was black.\n", "not a vector file"),
        (b"the,1,2\nof,3,4\n", "not a vector file"),
        (bytes(range(256)) * 50, "not a vector file"),
        (b"a", "not a vector file"),
        (gzip.compress(b"", mtime=0), "is empty"),
        (b"\x89HDF\r\n", "HDF5"),
        (b"PK\x03\x04stored.txt" + GOOD.encode(), "zip archive"),
        (b"\xfe\xff\x00a", "UTF-16"),
        (bytes(257) + b"ustar" + bytes(100), "tar archive"),
    ],
)
def test_a_file_that_is_something_else(tmp_path, content, said):
    path = put(tmp_path, content)
    with pytest.raises(BadVectors) as caught:
        WordVectors.load(path)
    assert said in str(caught.value)
    assert str(path) in str(caught.value)


def test_a_folder_and_nothing_at_all(tmp_path):
    with pytest.raises(BadVectors, match="is a folder"):
        WordVectors.load(tmp_path)
    put(tmp_path, GOOD, "vectors.txt")
    with pytest.raises(BadVectors, match=r"did you mean 'vectors\.txt'"):
        WordVectors.load(tmp_path / "vectors.tx")
    with pytest.raises(BadVectors, match="neither a file nor a known name"):
        WordVectors.load(tmp_path / "no" / "such" / "folder.txt")


def test_a_format_that_is_not_there_or_does_not_fit(tmp_path):
    path = put(tmp_path, GOOD)
    with pytest.raises(BadVectors, match=r"no format 'x'.*word2vec-text"):
        WordVectors.load(path, format="x")
    with pytest.raises(BadVectors, match="glove-text"):
        WordVectors.load(path, format="word2vec-text")
    for format in ("safetensors", "npy", "fasttext-binary", "word2vec-binary"):
        with pytest.raises(BadVectors, match=str(path)):
            WordVectors.load(path, format=format)
    with pytest.raises(ValueError, match="on_error"):
        WordVectors.load(path, on_error="ignore")
    with pytest.raises(ValueError, match="limit"):
        WordVectors.load(path, limit=0)


@pytest.mark.parametrize("ending", [".gz", ".bz2", ".xz", ".zst"])
@pytest.mark.parametrize("keep", [0.3, 0.9])
def test_a_compressed_stream_that_is_cut_off(tmp_path, ending, keep):
    if ending == ".zst":
        pytest.importorskip("zstandard")
    rng = np.random.default_rng(0)
    WordVectors([f"w{i}" for i in range(3000)], rng.normal(size=(3000, 20))).save(tmp_path / f"a.txt{ending}")
    whole = (tmp_path / f"a.txt{ending}").read_bytes()
    path = put(tmp_path, whole[: int(len(whole) * keep)], f"b.txt{ending}")
    with pytest.raises(BadVectors, match="damaged or cut off"):
        WordVectors.load(path)


def test_a_compressed_stream_with_wrong_bytes(tmp_path):
    content = bytearray(gzip.compress(GOOD.encode() * 100))
    content[30] ^= 255
    with pytest.raises(BadVectors, match="damaged or cut off"):
        WordVectors.load(put(tmp_path, bytes(content)))


def binary(rows, header=None, end=b"\n"):
    body = b"".join(word + b" " + np.array(values, "<f4").tobytes() + end for word, values in rows)
    return (header or b"%d %d" % (len(rows), len(rows[0][1]))) + b"\n" + body


ROWS = [(b"the", [1, 2, 3]), (b"of", [4, 5, 6]), (b"and", [7, 8, 9])]


@pytest.mark.parametrize("end", [b"", b"\n"])
def test_binary_with_and_without_newlines(tmp_path, end):
    vectors = WordVectors.load(put(tmp_path, binary(ROWS, end=end)))
    assert vectors.words == ("the", "of", "and")
    assert vectors.matrix.tolist() == [[1, 2, 3], [4, 5, 6], [7, 8, 9]]


@pytest.mark.parametrize(
    ("row", "reason", "said"),
    [
        ((b"of", [1, 1, 1]), "duplicate word", "row 4 ('of'): a second vector"),
        ((b"lost", [1, np.nan, 1]), "not finite", "row 4 ('lost')"),
        ((b"n\xe9", [1, 1, 1]), "bad UTF-8", "row 4"),
    ],
)
def test_a_bad_row_in_binary(tmp_path, row, reason, said):
    path = put(tmp_path, binary([*ROWS, row, (b"more", [0, 0, 1])]))
    with pytest.raises(BadVectors) as caught:
        WordVectors.load(path)
    assert said in str(caught.value)
    with pytest.warns(AlacarteWarning, match=reason):
        vectors = WordVectors.load(path, on_error="skip")
    assert vectors.words == ("the", "of", "and", "more")
    assert vectors["more"].tolist() == [0, 0, 1]


def test_a_truncated_binary(tmp_path):
    path = put(tmp_path, binary(ROWS)[:-5])
    with pytest.raises(BadVectors, match="row 3: the file ends here"):
        WordVectors.load(path)
    with pytest.warns(AlacarteWarning, match="1 missing row"):
        assert len(WordVectors.load(path, on_error="skip")) == 2
    assert len(WordVectors.load(path, limit=2)) == 2


def test_a_binary_whose_header_is_wrong(tmp_path):
    with pytest.raises(BadVectors, match="promises only 2 words"):
        WordVectors.load(put(tmp_path, binary(ROWS, b"2 3")))
    with pytest.raises(BadVectors, match=r"v\.txt"):
        WordVectors.load(put(tmp_path, binary(ROWS, b"3 4")))
    with pytest.raises(BadVectors, match="promises 99999999999 words"):
        WordVectors.load(put(tmp_path, binary(ROWS, b"99999999999 3")))


def test_npy_and_its_words(tmp_path):
    matrix = np.arange(6, dtype=np.float32).reshape(3, 2)
    np.save(tmp_path / "a.npy", matrix)
    with pytest.raises(BadVectors, match=r"a\.vocab\.txt, a\.words\.txt, a\.txt, a\.words, a\.vocab"):
        WordVectors.load(tmp_path / "a.npy")
    put(tmp_path, "x\r\ny\r\n", "a.txt")
    with pytest.raises(BadVectors, match=r"2 words .* 3 rows"):
        WordVectors.load(tmp_path / "a.npy")
    put(tmp_path, "x\r\ny\r\nx\r\n", "a.txt")
    with pytest.raises(BadVectors, match=r"row 3 \('x'\)"):
        WordVectors.load(tmp_path / "a.npy")
    put(tmp_path, b"x\ny\n\xff\n", "a.words.txt")
    with pytest.raises(BadVectors, match="line 3: the word is not UTF-8"):
        WordVectors.load(tmp_path / "a.npy")
    put(tmp_path, "x\ny\nz", "a.vocab.txt")
    assert WordVectors.load(tmp_path / "a.npy").words == ("x", "y", "z")
    assert WordVectors.load(tmp_path / "a.npy", limit=2).words == ("x", "y")


def test_a_pair_that_is_replaced_while_it_is_read_is_not_mixed(tmp_path, monkeypatch):
    """Between the matrix and its words; the words of the new pair were taken for those of the old matrix."""
    from alacarte.vectors.formats import npy

    WordVectors(["a", "b"], [[1.0], [2.0]]).save(tmp_path / "v.npy")
    read_matrix = npy.read_matrix

    def read_and_replace(path):
        found = read_matrix(path)
        WordVectors(["x", "y"], [[3.0], [4.0]]).save(path)
        return found

    monkeypatch.setattr(npy, "read_matrix", read_and_replace)
    with pytest.raises(BadVectors, match="is not the list of words that was written with"):
        WordVectors.load(tmp_path / "v.npy")


@pytest.mark.parametrize(
    "array",
    [np.zeros(3), np.zeros((3, 2), complex), np.array([["a", "b"]] * 3), np.array([[None, 1]] * 3)],
)
def test_npy_that_is_no_matrix(tmp_path, array):
    np.save(tmp_path / "a.npy", array, allow_pickle=True)
    put(tmp_path, "x\ny\nz\n", "a.txt")
    with pytest.raises(BadVectors, match=r"a\.npy"):
        WordVectors.load(tmp_path / "a.npy")


def test_npy_of_other_types_and_orders_and_damage(tmp_path):
    put(tmp_path, "x\ny\nz\n", "a.txt")
    for array in (np.arange(6).reshape(3, 2), np.asfortranarray(np.arange(6.0).reshape(3, 2))):
        np.save(tmp_path / "a.npy", array)
        assert WordVectors.load(tmp_path / "a.npy").matrix.tolist() == array.tolist()
    np.save(tmp_path / "a.npy", np.array([[1.0], [1e300], [2.0]]))
    with pytest.raises(BadVectors, match=r"row 2 \('y'\)"):
        WordVectors.load(tmp_path / "a.npy")
    with pytest.warns(AlacarteWarning):
        assert WordVectors.load(tmp_path / "a.npy", on_error="skip").words == ("x", "z")
    whole = (tmp_path / "a.npy").read_bytes()
    put(tmp_path, whole[:-3], "a.npy")
    with pytest.raises(BadVectors, match=r"a\.npy"):
        WordVectors.load(tmp_path / "a.npy")
    put(tmp_path, whole[:9], "a.npy")
    with pytest.raises(BadVectors, match=r"a\.npy"):
        WordVectors.load(tmp_path / "a.npy")


def test_safetensors_of_someone_else_and_damaged(tmp_path, toy):
    from alacarte._io.artifact import read_artifact, write_artifact
    from alacarte._io.tensors import write_tensors

    write_tensors(tmp_path / "a", {"weight": np.ones(3)}, {})
    with pytest.raises(BadVectors, match="not word vectors but a safetensors file of another program"):
        WordVectors.load(tmp_path / "a")
    toy.save(tmp_path / "b.safetensors")
    whole = (tmp_path / "b.safetensors").read_bytes()
    put(tmp_path, whole[:-1], "c")
    with pytest.raises(BadVectors, match="c is damaged"):
        WordVectors.load(tmp_path / "c")
    write_artifact(
        tmp_path / "d", "word vectors", dict(read_artifact(tmp_path / "b.safetensors").tensors), {}, version=9
    )
    with pytest.raises(BadVectors, match="newer version of alacarte"):
        WordVectors.load(tmp_path / "d")


def test_a_byte_order_mark_is_no_part_of_the_first_word(tmp_path):
    assert WordVectors.load(put(tmp_path, "\ufeff" + GOOD)).words[0] == "the"
    assert WordVectors.load(put(tmp_path, "\ufeff3 3\n" + GOOD)).words[0] == "the"


def test_endings_of_lines(tmp_path):
    content = "the 1 2 3 \r\nof\t4\t5\t6\n\n  and   7  8 9"
    assert WordVectors.load(put(tmp_path, content)) == WordVectors.load(put(tmp_path, GOOD, "w.txt"))


def test_one_dimension_and_words_that_are_numbers(tmp_path):
    assert WordVectors.load(put(tmp_path, "12 5\n7 3\n")).words == ("12", "7")
    assert WordVectors.load(put(tmp_path, "1 2\n3 5 6\n")).words == ("3",)


def test_a_pickle_that_is_not_gensim_s(tmp_path):
    pytest.importorskip("gensim")
    import pickle

    path = put(tmp_path, pickle.dumps({"a": 1}), "a.kv")
    assert formats.sniff(path) == ("gensim-pickle", None)
    with pytest.raises(BadVectors, match=r"a\.kv"):
        WordVectors.load(path, format="gensim-pickle", trust=True)
    packed = put(tmp_path, gzip.compress(pickle.dumps({"a": 1})), "a.kv.gz")
    with pytest.raises(BadVectors, match="unpack"):
        WordVectors.load(packed, format="gensim-pickle", trust=True)


def test_fasttext_damage(tmp_path):
    start = struct.pack("<14id", 793712314, 12, 2, 5, 5, 1, 5, 1, 1, 2, 10, 3, 6, 100, 0.1)
    for content in (start[:20], start, start + struct.pack("<3i2q", 1, 1, 0, 1, -1) + b"word"):
        with pytest.raises(BadVectors, match="cut off"):
            WordVectors.load(put(tmp_path, content))
    words = struct.pack("<3i2q", 1, 1, 0, 1, -1) + b"word\0" + struct.pack("<qb", 3, 0)
    with pytest.raises(BadVectors, match="quantised"):
        WordVectors.load(put(tmp_path, start + words + struct.pack("<?2q", True, 11, 2)))
    with pytest.raises(BadVectors, match="cut off"):
        WordVectors.load(put(tmp_path, start + words + struct.pack("<?2q", False, 11, 2) + bytes(8)))
    with pytest.raises(BadVectors, match="damaged"):
        WordVectors.load(put(tmp_path, start + words + struct.pack("<?2q", False, 3, 2) + bytes(800)))
    with pytest.raises(BadVectors, match="version 11"):
        WordVectors.load(put(tmp_path, struct.pack("<2i", 793712314, 11) + bytes(100)))


def test_describe(tmp_path, toy):
    toy.save(tmp_path / "a.vec.gz")
    facts = formats.describe(tmp_path / "a.vec.gz")
    assert facts["format"] == "word2vec-text"
    assert facts["compression"] == "gz"
    assert (facts["words"], facts["dimension"]) == (12, 7)
    assert facts["first_words"] == list(toy.words[:10])
    toy.save(tmp_path / "a.txt")
    assert formats.describe(tmp_path / "a.txt")["words"] is None
    toy.save(tmp_path / "b.safetensors")
    assert formats.describe(tmp_path / "b.safetensors")["words"] == 12
