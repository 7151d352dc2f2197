"""Vectors as tables: CSV, TSV, Parquet, Arrow, Feather, matrices of R, and frames of pandas, polars and Arrow."""

import csv
import gzip
import struct

import numpy as np
import pytest

from alacarte import WordVectors
from alacarte.errors import AlacarteWarning, BadVectors
from alacarte.vectors import formats

WORDS = [
    "the", "new york", 'say "hi"', "a,b", "a;b", "line\nbreak", "cr\rx", "tab\tx", " before", "after ", "=1+1", "'=1",
    "-", "-5", "nan", "NA", "null", "né", "日本", "", "\u0085", "\u2028x", "1", "count", "word", "0",
]  # fmt: skip
TABLES = ["a.csv", "a.tsv", "a.csv.gz", "a.tsv.zst", "a.parquet", "a.arrow", "a.feather"]
NEEDS = {**dict.fromkeys(("csv", "tsv", "parquet", "arrow", "feather"), "pyarrow"), "zst": "zstandard"}
HOLD_COUNTS = ["a.safetensors", "a.csv", "a.tsv", "a.parquet", "a.arrow", "a.feather", "a.kv"]
HOLD_NONE = ["a.txt", "a.vec", "a.bin", "a.npy"]


def need(name):
    for ending in name.split(".")[1:]:
        if ending in NEEDS:
            pytest.importorskip(NEEDS[ending])
    if name.endswith(".kv"):
        pytest.importorskip("gensim")


@pytest.fixture
def odd():
    matrix = np.random.default_rng(1).normal(size=(len(WORDS), 5)).astype(np.float32)
    matrix[0] = [0.0, -0.0, 1e-45, 3.4028235e38, -1.17549435e-38]
    origin = ["contexts", "spelling, and contexts"] * (len(WORDS) // 2)
    return WordVectors(WORDS, matrix, counts=[0, 1 << 52, *range(len(WORDS) - 2)], origin=origin)


def same(found, expected):
    assert found.words == expected.words
    assert found.matrix.tobytes() == expected.matrix.tobytes()
    assert found.matrix.dtype == np.float32
    assert found.counts is None if expected.counts is None else found.counts.tolist() == expected.counts.tolist()
    assert found.origin == expected.origin


# ------------------------------------------------------------------------------------------------------ files


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("counted", [True, False])
def test_any_word_survives_with_its_count(tmp_path, odd, name, counted):
    need(name)
    vectors = odd if counted else WordVectors(odd.words, odd.matrix)
    vectors.save(tmp_path / name)
    same(WordVectors.load(tmp_path / name), vectors)
    same(WordVectors.load(tmp_path / name, limit=3), vectors.first(3))
    (tmp_path / name).rename(tmp_path / "other.name")  # told by the content
    same(WordVectors.load(tmp_path / "other.name"), vectors)
    facts = formats.describe(tmp_path / "other.name")
    assert facts["first_words"] == list(vectors.words[:10])
    assert facts["dimension"] == 5


@pytest.mark.parametrize("name", HOLD_COUNTS + HOLD_NONE)
def test_counts_travel_through_every_format_that_can_hold_them(tmp_path, name):
    need(name)
    vectors = WordVectors(["a", "b"], [[1.0, 2.0], [3.0, 4.5]], counts=[7, 1 << 40])
    vectors.save(tmp_path / name)
    options = {"format": "gensim-pickle", "trust": True} if name.endswith(".kv") else {}
    again = WordVectors.load(tmp_path / name, **options)
    assert again == vectors
    if name in HOLD_COUNTS:
        assert again.counts.tolist() == [7, 1 << 40]
        assert WordVectors.load(tmp_path / name, limit=1, **options).counts.tolist() == [7]
    else:
        assert again.counts is None


@pytest.mark.parametrize("name", ["a.parquet.gz", "a.arrow.xz"])
def test_formats_that_are_not_compressed_as_a_whole(tmp_path, odd, name):
    with pytest.raises(BadVectors, match="leave the ending away"):
        odd.save(tmp_path / name)


@pytest.mark.parametrize("name", ["a.parquet", "a.arrow"])
def test_compressed_by_someone_else(tmp_path, odd, name):
    need(name)
    odd.save(tmp_path / name)
    (tmp_path / f"{name}.gz").write_bytes(gzip.compress((tmp_path / name).read_bytes()))
    same(WordVectors.load(tmp_path / f"{name}.gz"), odd)


def test_python_s_csv_reads_what_we_write(tmp_path, odd):
    odd.save(tmp_path / "a.csv")
    with (tmp_path / "a.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    assert rows[0] == ["word", "count", "origin", "0", "1", "2", "3", "4"]
    formulas = {"=1+1": "'=1+1", "'=1": "''=1", "-": "'-"}  # which a spreadsheet would obey
    assert [row[0] for row in rows[1:]] == [formulas.get(word, word) for word in WORDS]
    assert np.array([row[3:] for row in rows[1:]], np.float64).astype(np.float32).tobytes() == odd.matrix.tobytes()


@pytest.mark.parametrize(
    "text",
    [
        "token,a,b,c\nthe,1,2,3\nof,4,5,6\n",
        "token;a;b;c\nthe;1;2;3\nof;4;5;6\n",
        "token\ta\tb\tc\nthe\t1\t2\t3\nof\t4\t5\t6\n",
        "the,1,2,3\nof,4,5,6\n",
        '"","V1","V2","V3"\n"the",1,2,3\n"of",4,5,6\n',  # R's write.csv
        ",0,1,2\nthe,1,2,3\nof,4,5,6\n",  # pandas' to_csv
        "a,b,word,c\n1,2,the,3\n4,5,of,6\n",
        "\ufeffword,0,1,2\r\nthe,1,2,3\r\nof,4,5,6\r\n",
        "word,2,0,1\nthe,3,1,2\nof,6,4,5\n",  # names in another order
    ],
)
def test_csv_of_others(tmp_path, text):
    (tmp_path / "a.csv").write_text(text, encoding="utf-8", newline="")
    vectors = WordVectors.load(tmp_path / "a.csv", format="csv" if text.startswith("a,b") else None)
    assert vectors == WordVectors(["the", "of"], [[1, 2, 3], [4, 5, 6]])
    assert vectors.counts is None


def test_text_with_a_number_is_no_vector(tmp_path):
    for text in ("text,label\nwhat a day,1\nwhat a night,0\n", "1,0.5\n0.5,1\n", '"","V1","V2"\n"1",1,2\n"2",3,4\n'):
        (tmp_path / "a.csv").write_text(text)
        with pytest.raises(BadVectors, match="not a vector file"):
            WordVectors.load(tmp_path / "a.csv")


def test_a_list_a_row(tmp_path):
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    words, counts = arrow.array(["a", "b"]), arrow.array([7, 9])
    lists = arrow.array([[1.0, 2.0], [3.0, 4.0]])
    fixed = arrow.FixedSizeListArray.from_arrays(arrow.array([1.0, 2.0, 3.0, 4.0], arrow.float32()), 2)
    for column in (lists, fixed):
        table = arrow.table({"id": [5, 6], "word": words, "vector": column, "count": counts})
        parquet.write_table(table, tmp_path / "a.parquet")
        for vectors in (WordVectors.load(tmp_path / "a.parquet"), WordVectors.from_frame(table, counts="count")):
            assert vectors == WordVectors(["a", "b"], [[1, 2], [3, 4]])
        assert WordVectors.from_frame(table, counts="count").counts.tolist() == [7, 9]
    uneven = arrow.table({"word": words, "vector": arrow.array([[1.0], [3.0, 4.0]])})
    parquet.write_table(uneven, tmp_path / "b.parquet")
    with pytest.raises(BadVectors, match="differ in length"):
        WordVectors.load(tmp_path / "b.parquet")


def test_arrow_streams_and_categories(tmp_path, odd):
    arrow = pytest.importorskip("pyarrow")
    table = odd.to_frame("pyarrow")
    with arrow.OSFile(str(tmp_path / "a.arrows"), "wb") as file, arrow.ipc.new_stream(file, table.schema) as writer:
        writer.write_table(table, max_chunksize=4)
    same(WordVectors.load(tmp_path / "a.arrows"), odd)
    place = table.schema.get_field_index("origin")
    coded = table.set_column(place, "origin", table["origin"].dictionary_encode())
    pytest.importorskip("pyarrow.feather").write_feather(coded, tmp_path / "b.feather")  # compressed with LZ4
    same(WordVectors.load(tmp_path / "b.feather"), odd)


# ------------------------------------------------------------------------------------------------------ damage


@pytest.mark.parametrize(
    ("line", "reason", "said"),
    [
        ("of,1,4,5,6", "duplicate word", "line 4 ('of'): a second vector"),
        ("short,1,2", "wrong number of fields", "line 4 ('short'): 3 fields where the first line has 5"),
        ("odd,1,1,x,3", "not a number", "line 4 ('odd'): value 2 is 'x'"),
        ("lost,1,1,nan,3", "not finite", "line 4 ('lost')"),
        ("big,1,1,2,1e39", "not finite", "line 4 ('big')"),
        ("half,1.5,1,2,3", "bad count", "line 4 ('half'): the count is '1.5'"),
        ("n\udce9,1,1,2,3", "bad UTF-8", "line 4 ('n\ufffd'): the word is not UTF-8"),
    ],
)
def test_a_bad_row_of_csv(tmp_path, line, reason, said):
    text = f"word,count,0,1,2\nthe,5,1,2,3\nof,4,4,5,6\n{line}\nmore,2,1,1,1\n"
    (tmp_path / "a.csv").write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(BadVectors) as caught:
        WordVectors.load(tmp_path / "a.csv")
    assert said in str(caught.value)
    assert "a.csv" in str(caught.value)
    with pytest.warns(AlacarteWarning, match=reason):
        vectors = WordVectors.load(tmp_path / "a.csv", on_error="skip")
    assert (vectors.words, vectors.counts.tolist()) == (("the", "of", "more"), [5, 4, 2])
    assert vectors.skipped.counts == {reason: 1}


def test_rows_of_csv_with_too_few_fields_are_all_reported(tmp_path):
    """Wherever they are, and whatever bytes they hold."""
    good = "word,0,1\n" + "".join(f"w{number},1,2\n" for number in range(20))
    lines = good.encode().splitlines()
    for places in ([1], [3, 4, 5], [1, 2, 10, 21], [20], [21, 21, 21], list(range(1, 22))):
        changed = list(lines)
        for place in reversed(places):
            changed.insert(place, b"n\xe9,1")
        (tmp_path / "a.csv").write_bytes(b"\n".join(changed) + b"\n")
        with pytest.raises(BadVectors, match=f"line {places[0] + 1} .*2 fields where the first line has 3"):
            WordVectors.load(tmp_path / "a.csv", format="csv")
        with pytest.warns(AlacarteWarning, match=f"{len(places)} wrong number of fields"):
            vectors = WordVectors.load(tmp_path / "a.csv", format="csv", on_error="skip")
        assert len(vectors) == 20
    (tmp_path / "a.csv").write_bytes(good.encode() + b"n\xe9,1\n")
    assert len(WordVectors.load(tmp_path / "a.csv", limit=20)) == 20  # what comes after them is not looked at


def test_what_csv_cannot_read_may_be_something_else(tmp_path):
    """A mutant: Python's csv raises for a carriage return in the middle of a line."""
    (tmp_path / "a.txt").write_bytes(b"x\ry 1 2\nz 3 4\n")
    assert WordVectors.load(tmp_path / "a.txt").words == ("x\ry", "z")


@pytest.mark.parametrize("text", [b'word,0\n"a', b'word,0\na,"1\n",', b"word,0\na"])
def test_a_record_without_an_end_is_an_error(tmp_path, text):
    (tmp_path / "a.csv").write_bytes(text + b'"\n",' * 50_000)
    with pytest.raises(BadVectors, match=r"a\.csv"):
        WordVectors.load(tmp_path / "a.csv", format="csv")


def test_csv_that_makes_no_sense(tmp_path):
    path = tmp_path / "a.csv"
    for text, said in {
        "word,0,1\n": "no usable vector",
        'word,0,1\n"a,1,2\n': "check the quotes",
        "word,x,x\na,1,2\n": "two columns have the same name",
        "word,language,0,1,2\na,en,1,2,3\n": "'language' holds text",
    }.items():
        path.write_text(text)
        with pytest.raises(BadVectors, match=said):
            WordVectors.load(path, format="csv")


@pytest.mark.parametrize("name", ["a.parquet", "a.arrow"])
def test_files_that_are_cut_off(tmp_path, odd, name):
    need(name)
    odd.save(tmp_path / name)
    whole = (tmp_path / name).read_bytes()
    for keep in (12, len(whole) // 2, len(whole) - 1):
        (tmp_path / name).write_bytes(whole[:keep])
        with pytest.raises(BadVectors, match=name):
            WordVectors.load(tmp_path / name)


@pytest.mark.parametrize("name", ["a.parquet", "a.arrow"])
def test_bad_rows_of_parquet_and_arrow(tmp_path, name):
    need(name)
    import pyarrow as arrow
    import pyarrow.parquet

    table = arrow.table({"word": ["a", None, "b", "a", "c"], "0": [1.0, 2.0, None, 4.0, 5.0], "count": [1, 2, 3, 4, 5]})
    with (tmp_path / name).open("wb") as file:
        if name == "a.parquet":
            pyarrow.parquet.write_table(table, file)
        else:
            with arrow.ipc.new_file(file, table.schema) as writer:
                writer.write_table(table)
    with pytest.raises(BadVectors, match="row 2: there is no word"):
        WordVectors.load(tmp_path / name)
    with pytest.warns(AlacarteWarning, match="3 rows left out"):
        vectors = WordVectors.load(tmp_path / name, on_error="skip")
    assert (vectors.words, vectors.counts.tolist()) == (("a", "c"), [1, 5])


def test_arrow_offsets_that_lead_out_of_the_file(tmp_path):
    """The offsets of strings are followed by others without a look; a forged one must not be."""
    pytest.importorskip("pyarrow")
    WordVectors(["abcdefgh", "ijklmnop"], [[1.0], [2.0]]).save(tmp_path / "a.arrow")
    content = (tmp_path / "a.arrow").read_bytes()
    offsets = struct.pack("<iii", 0, 8, 16)
    assert content.count(offsets) == 1
    (tmp_path / "a.arrow").write_bytes(content.replace(offsets, struct.pack("<iii", 0, 8, 1 << 30)))
    with pytest.raises(BadVectors, match=r"a\.arrow"):
        WordVectors.load(tmp_path / "a.arrow")


# ------------------------------------------------------------------------------------------------------ frames


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
@pytest.mark.parametrize("counted", [True, False])
def test_frames_are_lossless(odd, library, counted):
    pytest.importorskip(library)
    pytest.importorskip("narwhals")
    vectors = odd if counted else WordVectors(odd.words, odd.matrix)
    frame = vectors.to_frame(library)
    names = frame.column_names if library == "pyarrow" else list(frame.columns)
    assert all(isinstance(name, str) for name in names)
    same(WordVectors.of(frame), vectors)
    same(WordVectors.from_frame(frame), vectors)


def test_frames_through_their_own_files(tmp_path, odd):
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    odd.to_frame().to_parquet(tmp_path / "pandas.parquet")
    odd.to_frame("polars").write_parquet(tmp_path / "polars.parquet")
    odd.to_frame("polars").write_ipc(tmp_path / "polars.arrow")
    for name in ("pandas.parquet", "polars.parquet", "polars.arrow"):
        same(WordVectors.load(tmp_path / name), odd)
    odd.save(tmp_path / "a.parquet")
    odd.save(tmp_path / "a.feather")
    same(WordVectors.of(pandas.read_parquet(tmp_path / "a.parquet")), odd)
    same(WordVectors.of(pandas.read_feather(tmp_path / "a.feather")), odd)
    same(WordVectors.of(polars.read_parquet(tmp_path / "a.parquet")), odd)


def test_which_columns_hold_what():
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    frame = polars.DataFrame({"lang": ["en", "de"], "w": ["a", "b"], "n": [7, 9], "x": [1.0, 2.0], "y": [3.0, 4.0]})
    with pytest.raises(BadVectors, match=r"'lang', 'w' hold text.*from_frame"):
        WordVectors.of(frame)
    with pytest.raises(BadVectors, match="'lang' holds text"):
        WordVectors.from_frame(frame, words="w")
    with pytest.raises(BadVectors, match="no column 'z'"):
        WordVectors.from_frame(frame, words="w", dimensions=["x", "z"])
    with pytest.raises(BadVectors, match="LazyFrame"):
        WordVectors.from_frame(frame.lazy())
    vectors = WordVectors.from_frame(frame, words="w", counts="n", dimensions=["y", "x"])
    assert vectors.counts.tolist() == [7, 9]
    assert vectors["b"].tolist() == [4.0, 2.0]
    numbered = polars.DataFrame({"id": [7, 9], "word": ["a", "b"], "x": [1.0, 2.0], "y": [3.0, 4.0]})
    with pytest.raises(BadVectors, match=r"'id' and the other columns differ: they hold whole numbers.*dimensions="):
        WordVectors.of(numbered)
    # A table of counts has a column for the word "count", too.
    table = pandas.DataFrame({"count": [1, 0], "king": [0, 5]}, index=["a", "b"])
    assert WordVectors.of(table).dimension == 2


# ------------------------------------------------------------------------------------------------------ R


def write_r_matrix(path, words, matrix, file_type="rds", compression="gzip"):
    """A matrix of doubles with row names, as R's saveRDS() or save() writes one."""
    rdata = pytest.importorskip("rdata")
    from rdata.conversion import to_r

    converter = to_r.ConverterFromPythonToR()
    value = converter.convert_to_r_object(np.asarray(matrix, float).ravel(order="F"))
    names = {"dim": np.array(np.shape(matrix), np.int32), "dimnames": [np.array(words), None]}
    value.attributes = converter.convert_to_r_attributes(names)
    value.info.attributes = True
    if file_type == "rda":
        listed = converter.convert_to_r_attributes({"m": np.zeros(1)})
        listed.value = (value, listed.value[1])
        value = listed
    data = to_r.RData(versions=converter.convert_to_r_data(1).versions, extra=to_r.RExtraInfo("UTF-8"), object=value)
    rdata.unparser.unparse_file(path, data, file_type=file_type, compression=compression)


@pytest.mark.parametrize("compression", ["gzip", "bzip2", "xz", None])
@pytest.mark.parametrize("file_type", ["rds", "rda"])
def test_r_s_own_matrices_are_read(tmp_path, file_type, compression):
    words, matrix = ["a", "new york", "né"], [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]
    write_r_matrix(tmp_path / "a.r", words, matrix, file_type, compression)
    same(WordVectors.load(tmp_path / "a.r"), WordVectors(words, matrix))
    same(WordVectors.load(tmp_path / "a.r", limit=2), WordVectors(words, matrix).first(2))


def test_an_r_file_that_is_cut_off(tmp_path):
    write_r_matrix(tmp_path / "a.rds", ["a", "b"], [[1.0, 2.0], [3.0, 4.0]])
    whole = (tmp_path / "a.rds").read_bytes()
    for keep in (12, len(whole) // 2, len(whole) - 1):
        (tmp_path / "a.rds").write_bytes(whole[:keep])
        with pytest.raises(BadVectors, match=r"a\.rds"):
            WordVectors.load(tmp_path / "a.rds")


def test_r_files_without_a_matrix_of_words(tmp_path):
    rdata, pandas = pytest.importorskip("rdata"), pytest.importorskip("pandas")
    for value in (np.eye(3), [1.0, 2.0], "text", pandas.DataFrame({"x": [1.0], "y": [2.0]})):
        rdata.write_rds(tmp_path / "a.rds", value)
        with pytest.raises(BadVectors, match="matrix whose rows have names"):
            WordVectors.load(tmp_path / "a.rds")


def test_r_is_written_to_by_feather(tmp_path):
    for name in ("a.rds", "a.rds.gz"):
        with pytest.raises(BadVectors, match=r"save as \.feather"):
            WordVectors(["a"], [[1.0]]).save(tmp_path / name)
    with pytest.raises(BadVectors, match="only read"):
        WordVectors(["a"], [[1.0]]).save(tmp_path / "a", "rds")
