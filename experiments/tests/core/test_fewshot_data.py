"""Data files as they should be, and as they should not."""

import json
import lzma

import pytest
from alacarte_experiments.fewshot.data import Pair, read_chimeras, read_nonces, read_pairs, read_rare_words
from alacarte_experiments.fewshot.wordsim import read_sets

from alacarte.errors import BadData


def write(path, *lines):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_nonces(tmp_path):
    write(tmp_path / "train.txt", "# comment", "", "pride\t___ is an emotion ")
    (nonce,) = read_nonces(tmp_path)
    assert (nonce.word, nonce.definition) == ("pride", "___ is an emotion")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("pride ___ is an emotion", "line 1: 1 columns and not 2"),
        ("pride\t___ is\tan emotion", "line 1: 3 columns"),
        ("pride\tis an emotion", "no slot ___ in the definition of 'pride'"),
        ("# nothing", "holds no data"),
    ],
)
def test_bad_nonces(tmp_path, line, message):
    write(tmp_path / "train.txt", line)
    with pytest.raises(BadData, match=message):
        read_nonces(tmp_path)


def test_chimeras(tmp_path):
    for size in (2, 4, 6):
        write(tmp_path / f"l{size}.train.txt", "7\ta ___ here@@the ___ there\tcat,dog\t2.5,1")
    trials = read_chimeras(tmp_path)
    assert list(trials) == [2, 4, 6]
    (trial,) = trials[2]
    assert trial.sentences == ("a ___ here", "the ___ there")
    assert (trial.probes, trial.ratings) == (("cat", "dog"), (2.5, 1.0))


def test_chimeras_of_ones_own(tmp_path):
    """One file was read three times, as if it held trials of 2, of 4 and of 6 sentences."""
    lines = ["a\tx ___@@y ___@@z ___\tcat,dog\t2.5,1", "b\tx ___\tcat\t1", "c\t___ y\tdog\t3"]
    write(tmp_path / "mine.txt", "\n".join(lines))
    trials = read_chimeras(tmp_path / "mine.txt")
    assert {size: [trial.name for trial in some] for size, some in trials.items()} == {1: ["b", "c"], 3: ["a"]}
    write(tmp_path / "test.txt", lines[0])
    with pytest.raises(BadData, match="not opened without a permit"):
        read_chimeras(tmp_path / "test.txt")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("7\ta ___\tcat,dog", "3 columns and not 4"),
        ("7\ta ___\tcat,dog\t1,high", "the rating 'high' is not a number"),
        ("7\ta ___\tcat,dog\t1,nan", "the rating 'nan' is not a number"),
        ("7\ta ___\tcat,dog\t1", "2 probes and 1 ratings"),
    ],
)
def test_bad_chimeras(tmp_path, line, message):
    write(tmp_path / "l2.train.txt", line)
    with pytest.raises(BadData, match=message):
        read_chimeras(tmp_path)


def test_a_file_that_is_not_there_or_not_text(tmp_path):
    with pytest.raises(BadData, match="no such file"):
        read_nonces(tmp_path)
    (tmp_path / "train.txt").write_bytes(b"w\xff\t___\n")
    with pytest.raises(BadData, match="not utf-8"):
        read_nonces(tmp_path)
    (tmp_path / "train.txt").write_bytes(lzma.compress(b"a\t___ b\n" * 1000)[:-20])
    with pytest.raises(BadData, match="download it again"):
        read_nonces(tmp_path)


@pytest.mark.parametrize(
    "lines",
    [
        ["sun\tsunlight\t50.0", "a\tb\t1"],
        ["Word 1,Word 2,Human (mean)", "sun,sunlight,50.0", "a,b,1"],
        ["sun;sunlight;50.0", "a;b;1"],
        ["sun sunlight 50.0", "a b 1"],
        ["sun\tsunlight\t50.0\t1\t2\t3", "a\tb\t1\t4\t5\t6"],
    ],
)
def test_similarity_sets_come_in_several_formats(tmp_path, lines):
    assert read_pairs(write(tmp_path / "set.txt", *lines)) == [Pair("sun", "sunlight", 50.0), Pair("a", "b", 1.0)]


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["sun\tsunlight"], "line 1: 2 columns and not 3"),
        (["sun\tsunlight\t5", "a\tb\tmany"], "line 2: the score 'many' is not a number"),
        (["w1\tw2\tscore", "a\tb\tmany"], "line 2: the score 'many' is not a number"),
        (["w1\tw2\tscore"], "holds no data"),
    ],
)
def test_bad_similarity_sets(tmp_path, lines, message):
    with pytest.raises(BadData, match=message):
        read_pairs(write(tmp_path / "set.txt", *lines))


def test_sets_of_a_folder(tmp_path):
    write(tmp_path / "B.txt", "a\tb\t1")
    write(tmp_path / "A.csv", "a,b,1")
    write(tmp_path / "notes.md", "no data")
    assert list(read_sets(tmp_path)) == ["A", "B"]
    with pytest.raises(BadData, match="no similarity sets"):
        read_sets(tmp_path / "nowhere")


def rare_words(folder):
    write(folder / "pairs.tsv", "often\tseldom\t3.5")
    line = json.dumps({"word": "seldom", "contexts": ["it is seldom so", "seldom"]})
    (folder / "contexts.jsonl.xz").write_bytes(lzma.compress(line.encode() + b"\n"))


def test_both_layouts_of_rare_words_read_the_same(tmp_path):
    (tmp_path / "ours").mkdir()
    rare_words(tmp_path / "ours")
    theirs = tmp_path / "theirs"
    write(theirs / "CRW-562.txt", "seldom\toften\t3.5")  # in either order
    write(theirs / "rarevocab.txt", "seldom")
    write(theirs / "context" / "seldom.txt", "it is seldom so", "seldom")
    assert read_rare_words(tmp_path / "ours") == read_rare_words(theirs)


def test_bad_rare_words(tmp_path):
    with pytest.raises(BadData, match="no data set of rare words"):
        read_rare_words(tmp_path)
    write(tmp_path / "pairs.tsv", "often\tseldom\t3.5", "often\trarely\t3")
    with pytest.raises(BadData, match=r"no contexts\.jsonl"):
        read_rare_words(tmp_path)
    write(tmp_path / "contexts.jsonl", '{"word": "seldom", "contexts": "a string"}', '{"word": 1}')
    with pytest.raises(BadData, match="line 2"):
        read_rare_words(tmp_path)
    write(tmp_path / "contexts.jsonl", '{"word": "seldom", "contexts": ["seldom so"]}')
    with pytest.raises(BadData, match="no contexts for 1 rare words, 'rarely' first"):
        read_rare_words(tmp_path)
    theirs = tmp_path / "theirs"
    write(theirs / "CRW-562.txt", "one\ttwo\t3.5")
    write(theirs / "rarevocab.txt", "seldom")
    with pytest.raises(BadData, match="neither word of one – two"):
        read_rare_words(theirs)
