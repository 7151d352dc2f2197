"""Hugging Face's datasets, and Arrow files, as a corpus."""

import gzip
import io

import numpy as np
import pytest

from alacarte import Corpus, Document, WordVectors, collect, compare
from alacarte.errors import BadCorpus
from alacarte.regression import contexts

pyarrow = pytest.importorskip("pyarrow")
datasets = pytest.importorskip("datasets")

TEXTS = [f"word{i % 7} stands by word{i % 5} and a bank {i}" for i in range(40)]
TEXTS[3] = ""
PARTIES = ["D", "R"] * 20
EXPECTED = [text for text in TEXTS if text]
WITH_PARTIES = [Document(text, values=(party,)) for text, party in zip(TEXTS, PARTIES, strict=True) if text]


@pytest.fixture(autouse=True)
def few_rows(monkeypatch):
    monkeypatch.setattr("alacarte.text.records.RECORDS_AT_ONCE", 8)


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A dataset as `save_to_disk` leaves it, in several files that are mapped into memory."""
    folder = tmp_path_factory.mktemp("data") / "saved"
    made = datasets.Dataset.from_dict({"text": TEXTS, "party": PARTIES, "id": list(range(40))})
    made.save_to_disk(folder, num_shards=3)
    return folder


@pytest.fixture
def dataset(saved):
    return datasets.load_from_disk(saved)


def rows():
    for text, party in zip(TEXTS, PARTIES, strict=True):
        yield {"text": text, "party": party}


@pytest.mark.parametrize("streamed", [False, True])
def test_a_dataset_is_read_as_often_as_one_likes(dataset, streamed):
    corpus = Corpus(dataset.to_iterable_dataset() if streamed else dataset)
    assert list(corpus) == EXPECTED
    assert list(corpus) == EXPECTED
    assert corpus.length == (None if streamed else 40)
    assert (corpus.size, corpus.once) == (None, False)
    assert list(Corpus(dataset.to_iterable_dataset() if streamed else dataset, columns=["party"])) == WITH_PARTIES


def test_rows_that_were_chosen_sorted_and_changed(dataset):
    assert list(Corpus(dataset.select([5, 1]))) == [TEXTS[5], TEXTS[1]]
    assert list(Corpus(dataset.filter(lambda row: row["party"] == "R"))) == [text for text in TEXTS[1::2] if text]
    upper = dataset.with_transform(lambda batch: {"text": [text.upper() for text in batch["text"]]})
    assert list(Corpus(upper)) == [text.upper() for text in EXPECTED]
    assert list(Corpus(dataset.with_format("numpy"))) == EXPECTED
    assert list(Corpus(dataset["text"])) == EXPECTED  # a column by itself
    mapped = dataset.to_iterable_dataset().map(lambda row: {"text": row["text"].upper()})
    assert list(Corpus(mapped)) == [text.upper() for text in EXPECTED]


def test_a_stream_without_names_of_columns():
    stream = datasets.IterableDataset.from_generator(rows)
    assert stream.column_names is None
    assert list(Corpus(stream, columns=["party"])) == WITH_PARTIES


def test_only_a_little_is_read_at_a_time():
    read = []

    def counted():
        for number in range(1000):
            read.append(number)
            yield {"text": f"text number {number}"}

    stream = datasets.IterableDataset.from_generator(counted)
    first = next(Corpus(stream).blocks(500))
    assert 0 < len(first.documents) < len(read) < 60


def test_tokens_and_spans():
    spans = [[{"start": 0, "end": 3, "label": "one.n.01"}], []]
    made = datasets.Dataset.from_dict({"text": ["one bank", "two"], "spans": spans})
    assert list(Corpus(made)) == [Document("one bank", spans=((0, 3, "one.n.01"),)), "two"]
    tokens = datasets.Dataset.from_dict({"words": [["a", "b"], ["c"]]})
    assert list(Corpus(tokens, tokens="words")) == [["a", "b"], ["c"]]


def test_sums_are_those_of_a_list_of_the_texts(dataset):
    vectors = WordVectors(
        [f"word{i}" for i in range(7)] + ["stands", "by"], np.random.default_rng(0).normal(size=(9, 3))
    )
    expected = collect(vectors, TEXTS, ["bank"], window=4)
    for source in (dataset, dataset.to_iterable_dataset()):
        sums = collect(vectors, source, ["bank"], window=4)
        assert np.array_equal(sums.all.totals, expected.all.totals)
        assert np.array_equal(sums.vectors(), expected.vectors())
        assert sums.units == expected.units


def test_columns_as_groups(dataset):
    vectors = WordVectors(
        [f"word{i}" for i in range(7)] + ["stands", "by"], np.random.default_rng(0).normal(size=(9, 3))
    )
    frame = dataset.to_pandas()
    tables = [compare(vectors, data, by="party", targets=["bank"]) for data in (dataset, frame)]
    assert str(tables[0]) == str(tables[1])
    with pytest.raises(BadCorpus, match="IterableDataset is not a frame"):
        compare(vectors, dataset.to_iterable_dataset(), by="party", targets=["bank"])


def test_a_regression_takes_a_dataset_as_a_frame(dataset):
    tables = [contexts(data, "bank", text="text", window=3) for data in (dataset, dataset.to_pandas())]
    assert tables[0].variables.columns.keys() == tables[1].variables.columns.keys()
    assert str(tables[0]) == str(tables[1])
    assert len(tables[0]) == len(EXPECTED)


def test_mistakes(dataset):
    with pytest.raises(BadCorpus, match="no 'body' or 'tokens' among 'text', 'party', 'id'"):
        list(Corpus(dataset, text="body"))
    with pytest.raises(BadCorpus, match="no 'body' or 'tokens' among 'text', 'party'"):
        list(Corpus(datasets.IterableDataset.from_generator(rows), text="body"))
    with pytest.raises(BadCorpus, match=r"of type DatasetDict; .* one of its splits \(source\['train'\]\)"):
        Corpus(datasets.DatasetDict({"train": dataset}))
    with pytest.raises(BadCorpus, match=r"at index 1: .*nothing there"):
        list(Corpus(datasets.Dataset.from_dict({"text": ["x", None]})))


# ------------------------------------------------------------------------------------------------- Arrow files


def arrow_bytes(kind, batch=7, **options):
    table = pyarrow.table({"text": TEXTS, "party": pyarrow.array(PARTIES).dictionary_encode()})
    file = io.BytesIO()
    make = {"stream": pyarrow.ipc.new_stream, "file": pyarrow.ipc.new_file}[kind]
    with make(file, table.schema, options=pyarrow.ipc.IpcWriteOptions(**options)) as writer:
        writer.write_table(table, max_chunksize=batch)
    return file.getvalue()


def test_the_files_of_a_saved_dataset(saved):
    # Beside them there may be what `filter` and others keep, cache-*.arrow.
    (saved / "cache-1.arrow").write_text("not read")
    corpus = Corpus(saved, columns=["party"])
    assert list(corpus) == list(Corpus(saved / "data-*.arrow", columns=["party"])) == WITH_PARTIES
    assert [block.position for block in corpus.blocks(1)][-1] == corpus.size


@pytest.mark.parametrize("kind", ["stream", "file"])
@pytest.mark.parametrize("options", [{}, {"compression": "zstd"}])
@pytest.mark.parametrize("batch", [7, 1000])
def test_arrow_streams_and_files(tmp_path, kind, options, batch):
    (tmp_path / "a.arrow").write_bytes(arrow_bytes(kind, batch, **options))
    assert list(Corpus(tmp_path / "a.arrow", columns=["party"])) == WITH_PARTIES
    (tmp_path / "a.arrow.gz").write_bytes(gzip.compress(arrow_bytes(kind, batch, **options)))
    assert list(Corpus(tmp_path / "a.arrow.gz", columns=["party"])) == WITH_PARTIES


def test_feather(tmp_path):
    pandas = pytest.importorskip("pandas")
    pandas.DataFrame({"text": TEXTS, "party": PARTIES}).to_feather(tmp_path / "a.feather")
    assert list(Corpus(tmp_path / "a.feather", columns=["party"])) == WITH_PARTIES
    (tmp_path / "a.feather").rename(tmp_path / "a.dat")
    assert list(Corpus(tmp_path / "a.dat", format="arrow")) == EXPECTED


@pytest.mark.parametrize("how", ["write_ipc", "write_ipc_stream"])
@pytest.mark.parametrize("compression", ["uncompressed", "zstd", "lz4"])
def test_arrow_as_polars_writes_it(tmp_path, how, compression):
    """Issue 28, item 27: its files have another beginning than pyarrow's, and were "damaged"."""
    polars = pytest.importorskip("polars")
    getattr(polars.DataFrame({"text": TEXTS, "party": PARTIES}), how)(tmp_path / "a.arrow", compression=compression)
    assert list(Corpus(tmp_path / "a.arrow", columns=["party"])) == WITH_PARTIES
    (tmp_path / "a.arrow.gz").write_bytes(gzip.compress((tmp_path / "a.arrow").read_bytes()))
    assert list(Corpus(tmp_path / "a.arrow.gz", columns=["party"])) == WITH_PARTIES
    assert [block.position for block in Corpus(tmp_path / "a.arrow").blocks()][-1] == Corpus(tmp_path / "a.arrow").size


@pytest.mark.parametrize("kind", ["stream", "file"])
def test_an_arrow_file_that_was_cut_off_is_no_shorter_text(tmp_path, kind):
    whole = arrow_bytes(kind, batch=20)
    for length in range(0, len(whole), 8):  # messages begin and end at multiples of 8
        (tmp_path / "a.arrow").write_bytes(whole[:length])
        with pytest.raises(BadCorpus, match=r"a\.arrow"):
            list(Corpus(tmp_path / "a.arrow"))


def test_what_is_no_arrow_file(tmp_path):
    (tmp_path / "a.arrow").write_text("a plain text, and a long one at that\n" * 9)
    with pytest.raises(BadCorpus, match=r"a\.arrow is damaged"):
        list(Corpus(tmp_path / "a.arrow"))
