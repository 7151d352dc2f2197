"""Concordances: what they give without reading text is what a pass over the text gives."""

import csv
import json
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from alacarte import ALaCarte, Concordance, Corpus, Document, Targets, Transform, WordVectors, collect
from alacarte._io import folders, sqlite
from alacarte._io.progress import ProgressState
from alacarte.concordance import _database, is_concordance, keywords, over_periods
from alacarte.concordance._parts import SegmentParts, positions_by_word
from alacarte.concordance.folder import delete_concordance
from alacarte.errors import AlacarteError, AlacarteWarning, BadCorpus, NoOccurrences

WORDS = ["the", "bank", "of", "river", "money", "in", "a", "boat", "deep", "café"]
PARTIES = ["D", "R", "<script>alert(1)</script>", "quo\"te's"]


@pytest.fixture
def vectors() -> WordVectors:
    return WordVectors(WORDS, np.random.default_rng(0).normal(size=(len(WORDS), 5)))


def documents(seed: int, count: int = 40) -> list[Document]:
    """Random documents with columns, some as tokens, some with line ends, some empty of known words."""
    rng = np.random.default_rng(seed)
    made = []
    for number in range(count):
        words = rng.choice([*WORDS, "zorg", "blorp", "New", "York", "É"], size=rng.integers(1, 30)).tolist()
        values = (str(rng.choice(PARTIES)), int(1990 + rng.integers(0, 20)), None if number % 7 == 0 else 0.5 * number)
        if number % 5 == 0:
            made.append(Document(tokens=[word.lower() for word in words], values=values))
        else:
            made.append(Document(" \n".join([" ".join(words[:5]), " ".join(words[5:])]), values=values))
    return made


def built(vectors: WordVectors, given: list[Document], path: Path, **work: Any) -> Concordance:
    corpus = Corpus(given, columns=["party", "year", "score"])
    return Concordance.build(vectors, corpus, path, show_progress=False, **work)


def plain(given: list[Document]) -> list[Any]:
    return [document.text if document.text is not None else document.tokens for document in given]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(
    "options",
    [
        {"window": 3},
        {"window": (1, 4), "averaging": "token"},
        {"window": 2, "averaging": "context"},
        {"window": 4, "positions": "linear"},
        {"window": 3, "unknown": "drop"},
        {"window": 3, "context_weights": "sif:0.1"},
    ],
)
def test_sums_are_those_of_a_pass_over_the_text(
    tmp_path: Path, vectors: WordVectors, seed: int, options: dict[str, Any]
) -> None:
    given = documents(seed)
    half = len(given) // 2
    concordance = built(vectors, given[:half], tmp_path / "c", threads=1 + seed % 3, block_size=200 + 100 * seed)
    concordance.add(Corpus(given[half:], columns=["party", "year", "score"]), show_progress=False)
    targets = Targets.of(["bank", "river bank", "zorg", "new york", "absent", "the the"]) | Targets.glob("b*")
    for spread in (None, 4):
        mine = concordance.collect(vectors, targets, spread=spread, **options)
        assert mine == collect(vectors, plain(given), targets, spread=spread, show_progress=False, **options)
    kept = [document for document in given if document.values[0] == "R" and document.values[1] >= 1995]
    slice_ = concordance.where("party=R", "year >= 1995")
    assert len(slice_) == len(kept)
    if kept:
        assert slice_.collect(vectors, targets, spread=4, **options) == collect(
            vectors, plain(kept), targets, spread=4, show_progress=False, **options
        )
    # As a corpus it is its text.
    assert list(slice_) == plain(kept)
    assert collect(vectors, concordance, targets, show_progress=False, **options) == collect(
        vectors, plain(given), targets, show_progress=False, **options
    )


def test_positions_are_sorted_by_word() -> None:
    rng = np.random.default_rng(0)
    for size, pieces in ((0, 1), (0, 3), (1, 2), (5, 3), (5, 9), (1000, 1), (1000, 7)):
        ids = rng.integers(0, 7, size=size).astype(np.int32)
        numbers = rng.permutation(7).astype(np.int32)
        cuts = np.sort(rng.integers(0, size + 1, pieces - 1))
        starts, positions = positions_by_word(np.split(ids, cuts), numbers)
        renumbered = numbers[ids]
        np.testing.assert_array_equal(starts, np.concatenate([[0], np.cumsum(np.bincount(renumbered, minlength=7))]))
        np.testing.assert_array_equal(positions, np.argsort(renumbered, kind="stable"))


def test_lines_are_where_a_phrase_stands(tmp_path: Path, vectors: WordVectors) -> None:
    given = [
        Document("The bank of the river.", values=("D", 1, None)),
        Document("no such word", values=("R", 2, None)),
        Document("A zorg, a river bank", values=("R", 3, 1.5)),
    ]
    concordance = built(vectors, given, tmp_path / "c")
    lines = concordance.lines("bank", around=2)
    assert lines.to_dict() == [
        {
            "document": 0,
            "before": "The",
            "match": "bank",
            "after": "of the",
            "columns": {"party": "D", "year": 1, "score": None},
        },
        {
            "document": 2,
            "before": "a river",
            "match": "bank",
            "after": "",
            "columns": {"party": "R", "year": 3, "score": 1.5},
        },
    ]
    assert concordance.lines("river bank").document.tolist() == [2]  # not across documents, not "bank … river"
    assert concordance.lines(Targets.regex("^z")).match == ["zorg"]
    assert len(concordance.lines("a", limit=1)) == 1
    assert concordance.count("a") == 2
    assert concordance.text(2) == "A zorg, a river bank"
    with pytest.raises(NoOccurrences, match="'boat' does not occur"):
        concordance.lines("boat")
    with pytest.raises(AlacarteError, match="no document 3"):
        concordance.text(3)


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("party=D", lambda party, year, score: party == "D"),
        ("party==D|R", lambda party, year, score: party in ("D", "R")),
        ("party!=D", lambda party, year, score: party != "D"),
        ("party=<script>alert(1)</script>", lambda party, year, score: party.startswith("<script>")),
        ("party='; DROP TABLE documents; --", lambda party, year, score: False),
        ("year<1995", lambda party, year, score: year < 1995),
        ("year <= 1995", lambda party, year, score: year <= 1995),
        ("year>1995.5", lambda party, year, score: year > 1995.5),
        ("score>=3", lambda party, year, score: score is not None and score >= 3),
        ("party>=Q", lambda party, year, score: party >= "Q"),
        ("year=1995|1996", lambda party, year, score: year in (1995, 1996)),
    ],
)
def test_conditions(tmp_path: Path, vectors: WordVectors, condition: str, expected: Any) -> None:
    given = documents(1, 60)
    concordance = built(vectors, given, tmp_path / "c")
    wanted = [place for place, document in enumerate(given) if expected(*document.values)]
    assert np.flatnonzero(concordance.where(condition)._mask).tolist() == wanted


@pytest.mark.parametrize("condition", ["party", "", "nobody=1", "party; DROP TABLE documents=1"])
def test_a_condition_that_makes_no_sense_is_refused(tmp_path: Path, vectors: WordVectors, condition: str) -> None:
    concordance = built(vectors, documents(0), tmp_path / "c")
    with pytest.raises(AlacarteError, match=r"no condition|no column"):
        concordance.where(condition)


def test_removed_documents_are_gone(tmp_path: Path, vectors: WordVectors) -> None:
    given = documents(2)
    concordance = built(vectors, given, tmp_path / "c")
    removed = concordance.where("party=D").remove("year<2000")
    kept = [document for document in given if document.values[0] != "D" or document.values[1] >= 2000]
    assert removed == len(given) - len(kept) > 0
    for opened in (concordance, Concordance(tmp_path / "c")):
        assert list(opened) == plain(kept)
        assert opened.collect(vectors, ["bank"], window=2) == collect(
            vectors, plain(kept), ["bank"], window=2, show_progress=False
        )
    with pytest.raises(AlacarteError, match="every document"):
        concordance.remove()
    holding, slice_ = concordance.holding("zorg"), concordance.where("party=R|D")
    first = int(np.flatnonzero(["zorg" in (d.text or d.tokens) for d in given])[0])
    assert concordance.text(first) == plain(given)[first]
    assert holding.remove() == sum("zorg" in (d.text or d.tokens) for d in kept) > 0
    for opened in (concordance, slice_, holding, Concordance(tmp_path / "c")):
        assert opened.count("zorg") == 0
        with pytest.raises(AlacarteError, match="was removed"):
            opened.text(first)
    assert len(holding) == 0


def test_lines_of_a_vector_of_zeros_have_no_share(tmp_path: Path, vectors: WordVectors) -> None:
    concordance = Concordance.build(vectors, ["zorg bank blorp"] * 3, tmp_path / "c", show_progress=False)
    lines = concordance.influence(ALaCarte(vectors, Transform(np.eye(5))), "bank")
    assert np.isnan(lines.measures["share"]).all()
    assert np.isnan(lines.measures["change"]).all()
    assert lines.to_dict()[0]["share"] is None


def test_the_lines_that_made_a_vector(tmp_path: Path, vectors: WordVectors) -> None:
    given = documents(3, 12)
    concordance = built(vectors, given, tmp_path / "c")
    model = ALaCarte(vectors, Transform(np.random.default_rng(1).normal(size=(5, 5))))
    lines = concordance.influence(model, "bank", limit=None)
    shares, change = np.array(lines.measures["share"]), np.array(lines.measures["change"])
    assert shares.sum() == pytest.approx(1)
    assert (np.diff(np.abs(shares)) <= 1e-12).all()
    # Without one line, the vector is what was predicted: the word is taken out of that line alone.
    whole = model.induce(plain(given), ["bank"], show_progress=False)["bank"]
    single = [place for place in range(len(lines)) if lines.document.tolist().count(lines.document[place]) == 1]
    assert single
    for place in single:
        rest = [document for number, document in enumerate(plain(given)) if number != lines.document[place]]
        without = model.induce(rest, ["bank"], show_progress=False)["bank"]
        cosine = without @ whole / np.linalg.norm(without) / np.linalg.norm(whole)
        assert change[place] == pytest.approx(1 - cosine, abs=1e-5)


def test_interrupted_work_is_taken_up(tmp_path: Path, vectors: WordVectors) -> None:
    text = tmp_path / "text.txt"
    text.write_text("\n".join(str(line) for line in plain(documents(4, 400)) if isinstance(line, str)) + "\n")

    def stop(state: ProgressState) -> None:
        if state.done > text.stat().st_size // 2:
            raise KeyboardInterrupt

    options: dict[str, Any] = {"show_progress": False, "block_size": 500}
    whole = Concordance.build(vectors, text, tmp_path / "whole", **options)
    with pytest.raises(KeyboardInterrupt):
        Concordance.build(vectors, text, tmp_path / "parts", callback=stop, **options)
    assert not (tmp_path / "parts").exists()  # it takes its place when it is complete
    assert (tmp_path / ".parts.draft" / "unfinished").exists()
    resumed = Concordance.build(vectors, text, tmp_path / "parts", threads=3, **options)
    files = [folder / "segment-0001.safetensors" for folder in (whole.path, resumed.path)]
    assert files[0].read_bytes() == files[1].read_bytes()
    assert sorted(path.name for path in resumed.path.iterdir()) == sorted(path.name for path in whole.path.iterdir())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["parts", "text.txt", "whole"]
    with pytest.raises(AlacarteError, match="is a concordance already"):
        Concordance.build(vectors, text, tmp_path / "parts", **options)
    with pytest.raises(BadCorpus, match=r"text\.txt is in this concordance already"):
        resumed.add(text, **options)


def test_a_segment_counts_when_it_is_committed(
    tmp_path: Path, vectors: WordVectors, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = documents(5)
    concordance = built(vectors, given, tmp_path / "c")
    before = concordance.collect(vectors, ["bank"], window=2)

    def die(*arguments: object) -> None:
        raise sqlite3.OperationalError("disk I/O error")

    more = Corpus(documents(6), columns=["party", "year", "score"])
    with monkeypatch.context() as patched:
        patched.setattr(_database.Database, "add_segment", die)
        with pytest.raises(sqlite3.OperationalError):
            concordance.add(more, show_progress=False)
    assert concordance.collect(vectors, ["bank"], window=2) == before
    assert Concordance(tmp_path / "c").collect(vectors, ["bank"], window=2) == before
    again = Concordance(tmp_path / "c")
    again.add(more, show_progress=False)
    both = plain([*given, *documents(6)])
    assert again.collect(vectors, ["bank"], window=2) == collect(vectors, both, ["bank"], window=2, show_progress=False)


def test_damage_is_noticed(tmp_path: Path, vectors: WordVectors) -> None:
    concordance = built(vectors, documents(0), tmp_path / "c")
    concordance.verify()
    file = tmp_path / "c" / "segment-0001.safetensors"
    content = bytearray(file.read_bytes())
    content[len(content) // 3] ^= 1
    file.write_bytes(content)
    with pytest.raises(AlacarteError, match="damaged"):
        Concordance(tmp_path / "c").verify()
    with pytest.raises(BadCorpus, match="damaged"):  # whatever it is used for first
        Concordance(tmp_path / "c").lines("bank")
    (tmp_path / "c" / "concordance.sqlite").write_bytes(b"no database at all, but long enough to be looked at")
    with pytest.raises(BadCorpus, match="no file that alacarte wrote"):
        Concordance(tmp_path / "c")
    with pytest.raises(BadCorpus, match="no such file"):
        Concordance(tmp_path / "nothing")


def test_a_concordance_is_replaced_if_asked(tmp_path: Path, vectors: WordVectors) -> None:
    built(vectors, documents(0), tmp_path / "c")
    (tmp_path / "c" / "notes.txt").write_text("mine")
    with pytest.raises(AlacarteError, match="is a concordance already"):
        built(vectors, documents(1, 5), tmp_path / "c")
    with pytest.raises(AlacarteError, match=r"notes\.txt, which is no part"):
        Concordance.build(vectors, ["a bank"], tmp_path / "c", overwrite=True, show_progress=False)
    assert (tmp_path / "c" / "notes.txt").read_text() == "mine"
    assert list(Concordance(tmp_path / "c")) == plain(documents(0))
    built(vectors, documents(0), tmp_path / "d")
    again = Concordance.build(vectors, ["a bank"], tmp_path / "d", overwrite=True, show_progress=False)
    assert list(again) == ["a bank"]


def test_what_was_hardly_begun_is_begun_again(
    tmp_path: Path, vectors: WordVectors, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:  # as if killed before there is a database
        patched.setattr(_database.Database, "create", lambda *given: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            built(vectors, documents(0), tmp_path / "c")
    with pytest.raises(BadCorpus, match="holds no text"):
        Concordance.build(vectors, [" "], tmp_path / "c", show_progress=False)
    assert list(built(vectors, documents(0), tmp_path / "c")) == plain(documents(0))  # with other columns, too
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("mine")
    with pytest.raises(AlacarteError, match=r"thesis\.txt, which is no part"):
        built(vectors, documents(0), tmp_path / "mine")


def test_other_vectors_tokenizers_and_columns_are_refused(tmp_path: Path, vectors: WordVectors) -> None:
    concordance = built(vectors, documents(0), tmp_path / "c")
    other = WordVectors([*WORDS[:-1], "else"], vectors.matrix)
    with pytest.raises(AlacarteError, match="other words"):
        concordance.collect(other, ["bank"])
    with pytest.raises(AlacarteError, match="tokenizer"):
        concordance.collect(vectors, ["bank"], tokenizer="whitespace")
    with pytest.raises(BadCorpus, match="columns"):
        concordance.add(["text without columns"], show_progress=False)
    with pytest.raises(BadCorpus, match="labelled spans"):
        Concordance.build(vectors, [Document("a bank", spans=[(2, 6, "x")])], tmp_path / "d", show_progress=False)
    with pytest.raises(BadCorpus, match="holds no text"):
        Concordance.build(vectors, ["", " "], tmp_path / "e", show_progress=False)
    with pytest.raises(BadCorpus, match="is a concordance"):
        Corpus(tmp_path / "c")
    # Vectors of other values, with the same words, are welcome.
    assert len(concordance.collect(WordVectors(WORDS, 2 * vectors.matrix), ["bank"])) == 1


def test_columns_of_files(tmp_path: Path, vectors: WordVectors) -> None:
    records = [{"body": "a bank", "date": "2001-01-01", "n": 9}, {"body": "the river", "date": "2002-01-01", "n": 10}]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, records)))
    (tmp_path / "a.csv").write_text("body,date,n\na bank,2001-01-01,9\nthe river,2002-01-01,10\n")
    for name in ("a.jsonl", "a.csv"):
        corpus = Corpus(tmp_path / name, text="body", columns=["date", "n"])
        concordance = Concordance.build(vectors, corpus, tmp_path / f"{name}.concordance", show_progress=False)
        assert list(concordance.where("date>=2001-06-01")) == ["the river"] == list(concordance.where("date>=2002"))
        assert list(concordance.where("n>9.5")) == ["the river"], name
        assert list(concordance.value_counts("date")) == ["2001-01-01", "2002-01-01"]
    with pytest.raises(BadCorpus, match="no 'nobody' among"):
        Concordance.build(
            vectors, Corpus(tmp_path / "a.csv", text="body", columns=["nobody"]), tmp_path / "x", show_progress=False
        )


KILLED = """
import sys
from alacarte import Concordance, WordVectors
vectors = WordVectors.load(sys.argv[1])
Concordance.build(vectors, sys.argv[2], sys.argv[3], show_progress=False, block_size=2000, checkpoint_seconds=0)
"""


def test_a_process_that_is_killed_loses_nothing(tmp_path: Path, vectors: WordVectors) -> None:
    vectors.save(tmp_path / "v.safetensors")
    text = tmp_path / "text.txt"
    text.write_text("\n".join(str(line) for line in plain(documents(7, 3000)) if isinstance(line, str)) + "\n")
    arguments = [tmp_path / "v.safetensors", text, tmp_path / "killed"]
    rng = np.random.default_rng(0)
    unfinished = tmp_path / ".killed.draft" / "unfinished"
    for _ in range(3):
        process = subprocess.Popen([sys.executable, "-c", KILLED, *map(str, arguments)])
        while process.poll() is None and not unfinished.exists():
            time.sleep(0.01)
        time.sleep(float(rng.uniform(0, 0.3)))
        process.kill()
        process.wait()
    if not is_concordance(tmp_path / "killed"):  # else the last one was done before it was killed
        Concordance.build(vectors, text, tmp_path / "killed", show_progress=False, block_size=2000)
    resumed = Concordance(tmp_path / "killed")
    whole = Concordance.build(vectors, text, tmp_path / "whole", show_progress=False, block_size=2000)
    resumed.verify()
    assert resumed.collect(vectors, ["bank"], spread=4) == whole.collect(vectors, ["bank"], spread=4)
    assert list(resumed) == list(whole)


def test_everything_that_takes_a_corpus_takes_a_concordance(tmp_path: Path, vectors: WordVectors) -> None:
    from alacarte import regression

    given = [document for document in documents(8, 400) if document.text is not None]
    concordance = built(vectors, given, tmp_path / "c")
    model = ALaCarte(vectors, Transform(np.eye(5)))
    frame = {"text": plain(given), "year": [document.values[1] for document in given]}
    mine, theirs = (
        regression.regress("bank ~ year", data, model, inference=regression.Inference(permutations=20))
        for data in (concordance, frame)
    )
    np.testing.assert_array_equal(mine.coef(), theirs.coef())
    found, expected = (regression.contexts(data, "bank", known=model) for data in (concordance, frame))
    assert len(found) == len(expected) > 0
    np.testing.assert_array_equal(
        model.induce(concordance, ["bank"])["bank"], model.induce(plain(given), ["bank"])["bank"]
    )


def test_lines_show_the_text_as_it_was_written(tmp_path: Path, vectors: WordVectors) -> None:
    given = [
        Document("\u201cThe BANK,\u201d she said \u2014 it\u2019s\n the Bank.", values=("D", 1, 0.5)),
        Document(tokens=["The", "bank", ","], values=("D", 1, 0.5)),
        Document("toward the Cafe\u0301\u00ad bank; the\u200b BANKS\x00", values=("D", 1, 0.5)),
        Document("\u0130 the Bank", values=("D", 1, 0.5)),  # a letter that is two in lower case
    ]
    lines = built(vectors, given, tmp_path / "c").lines("bank", around=3).to_dict()
    assert [(line["before"], line["match"], line["after"]) for line in lines] == [
        ("\u201cThe", "BANK", ",\u201d she"),
        ("\u2019s the", "Bank", "."),
        ("The", "bank", ","),
        ("toward the Caf\u00e9", "bank", "; the BANKS"),
        ("i\u0307 the", "bank", ""),
    ]


@pytest.mark.parametrize("seed", range(3))
def test_lines_hold_their_tokens(vectors: WordVectors, tmp_path: Path, seed: int) -> None:
    concordance = built(vectors, documents(seed, 60), tmp_path / "c")
    for line in concordance.lines(["bank", "the bank"], limit=None, around=40).to_dict():
        text = concordance.text(line["document"])
        written = text.split() if isinstance(text, str) else text
        assert f"{line['before']} {line['match']} {line['after']}".split() == written


def test_keywords_are_counted_in_the_text(vectors: WordVectors, tmp_path: Path) -> None:
    stats = pytest.importorskip("scipy.stats")
    given = documents(5, 80)
    concordance = built(vectors, given[:50], tmp_path / "c")
    concordance.add(Corpus(given[50:], columns=["party", "year", "score"]), show_progress=False)
    one, other = concordance.where("year<2000"), concordance.where("year>=2000")

    def tokens_of(text: Concordance) -> list[list[str]]:
        return [concordance.tokenizer(item, set(WORDS)) if isinstance(item, str) else item for item in text]

    mine, others = tokens_of(one), Counter(word for tokens in tokens_of(other) for word in tokens)
    found = keywords(one, other, least=1)
    assert {"zorg", "blorp", "new", "york"} & {item.word for item in found}  # also words without vectors
    sizes = np.array([len(tokens) for tokens in mine]) / one.tokens
    for item in found:
        own = np.array([tokens.count(item.word) for tokens in mine])
        assert (item.uses, item.other_uses) == (own.sum(), others[item.word])
        assert item.per_million == pytest.approx(1e6 * own.sum() / one.tokens)
        assert item.per_million > item.other_per_million
        assert item.documents == np.count_nonzero(own)
        assert item.evenness == pytest.approx(1 - 0.5 * np.abs(own / own.sum() - sizes).sum())
        uses = [item.uses, item.other_uses]
        table = [uses, [one.tokens - item.uses, other.tokens - item.other_uses]]
        expected = stats.chi2_contingency(table, correction=False, lambda_="log-likelihood").statistic
        assert item.log_likelihood == pytest.approx(expected)
    assert [item.log_likelihood for item in found] == sorted((item.log_likelihood for item in found), reverse=True)
    with pytest.raises(AlacarteError, match="no text"):
        keywords(one, concordance.where("year>9000"))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("sort", [None, "before", "after", "before 2", "after 3", "party", "year", "score"])
@pytest.mark.parametrize("descending", [False, True])
def test_uses_in_an_order(vectors: WordVectors, tmp_path: Path, seed: int, sort: str | None, descending: bool) -> None:
    given = documents(seed, 60)
    concordance = built(vectors, given[:35], tmp_path / "c")
    concordance.add(Corpus(given[35:], columns=["party", "year", "score"]), show_progress=False)
    uses = concordance.uses("bank", sort=sort, descending=descending and sort is not None)
    plain_lines = concordance.lines("bank", limit=None).to_dict()

    def key(line: dict[str, Any]) -> Any:
        side, _, first = str(sort).partition(" ")
        if side in ("before", "after"):
            words = line[side].lower().split()
            near = [*(words[::-1] if side == "before" else words)[:3], "", "", ""][:3]
            return near[int(first or 1) - 1 :] + near[: int(first or 1) - 1]
        value = line["columns"][str(sort)]
        return (value is None, value or 0) if sort == "score" else value

    expected = plain_lines if sort is None else sorted(plain_lines, key=key, reverse=descending)
    shown = uses.lines(limit=None).to_dict()
    if sort is None or not descending:
        assert shown == expected  # equal ones stay in the order of the text
    else:
        assert list(map(key, shown)) == list(map(key, expected))
    assert uses.lines(3, 5).to_dict() == shown[3:8]
    assert len(uses) == concordance.count("bank") == len(shown)
    assert uses.lines(len(uses) + 5).to_dict() == []


@pytest.mark.parametrize("seed", range(3))
def test_the_documents_that_hold_a_phrase(vectors: WordVectors, tmp_path: Path, seed: int) -> None:
    given = documents(seed, 80)
    concordance = built(vectors, given, tmp_path / "c")
    for target in ("bank", given_phrase(concordance), Targets.glob("b*")):
        held = concordance.holding(target)
        asked = [target] if isinstance(target, str) else target
        reading = {"spread": 4, "show_progress": False, "window": 3}
        assert same_sums(collect(vectors, held, asked, **reading), collect(vectors, concordance, asked, **reading))
        assert held.where("party=D").count(target) == concordance.where("party=D").count(target)
        assert len(held) == len({line["document"] for line in concordance.lines(target, limit=None).to_dict()})
    with pytest.raises(NoOccurrences):
        concordance.holding("unheard")


def same_sums(one: Any, two: Any) -> bool:
    return bool((one.means() == two.means()).all()) and one.occurrences.tolist() == two.occurrences.tolist()


def test_periods_and_a_word_over_them(vectors: WordVectors, tmp_path: Path) -> None:
    given = documents(1, 300)
    concordance = built(vectors, given, tmp_path / "c")
    years = [document.values[1] for document in given]
    for most in (1, 3, 7, 40):
        periods = concordance.periods("year", most)
        assert len(periods) <= most
        members = [years.count(year) for period in periods for year in range(1990, 2010) if inside(period.name, year)]
        assert sum(members) == sum(period.documents for period in periods) == 300
        for period in periods:
            assert len(concordance.where(*period.conditions)) == period.documents
    model = ALaCarte(vectors, Transform(np.eye(5)))
    table = over_periods(concordance, model, "bank", "year", ["money", "river"], most=3)
    assert sum(row.uses for row in table if row.other == "money") == concordance.count("bank")
    for row, period in zip(table[::2], concordance.periods("year", 3), strict=True):
        induced = concordance.where(*period.conditions).induce(model, ["bank"])
        similarity = induced.uncertainty.similarity("bank", "money")
        assert (row.period, row.estimate, row.conf_low) == (period.name, similarity.estimate, similarity.conf_low)
    with pytest.raises(AlacarteError, match="no vector for 'zorg'"):
        over_periods(concordance, model, "bank", "year", ["zorg"])
    with pytest.raises(AlacarteError, match="no column"):
        over_periods(concordance, model, "bank", "month")


def inside(name: str, year: int) -> bool:
    low, _, high = name.partition("–")
    return int(low) <= year <= int(high or low)


def test_dates_are_cut_by_years(vectors: WordVectors, tmp_path: Path) -> None:
    dates = [f"{year}-{month:02}-03" for year in range(1998, 2004) for month in range(1, 13)]
    given = [Document("the bank", values=(date,)) for date in dates]
    concordance = Concordance.build(vectors, Corpus(given, columns=["date"]), tmp_path / "c", show_progress=False)
    periods = concordance.periods("date", 3)
    assert [period.name for period in periods] == ["1998–1999", "2000–2001", "2002–2003"]
    assert [len(concordance.where(*period.conditions)) for period in periods] == [24, 24, 24]


ODD = [
    ("", "D|R", 2**70, "1"),
    (None, "D", 3, "2"),
    ("1999-05-01", "R", -(2**63) - 1, "3"),
    ("2001-05-01", "D", 2**63 - 1, "4"),
    ("2001-07-01", "\ud800", None, "5"),
    *[(f"2002-01-{day:02}", "D", day, "6") for day in range(1, 29)],
]


@pytest.fixture
def odd(vectors: WordVectors, tmp_path: Path) -> Concordance:
    """Documents without a date, and with columns and values that look like conditions."""
    given = [Document("the bank", values=values) for values in ODD]
    corpus = Corpus(given, columns=["date", "party", "id", "a=b"])
    return Concordance.build(vectors, corpus, tmp_path / "odd", show_progress=False)


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("date<2001", [2]),
        ("date>1000", range(2, len(ODD))),
        ("date=", [0, 1]),
        ("date!=", range(2, len(ODD))),
        ("date!=1999-05-01", range(3, len(ODD))),
        ("date=|1999-05-01", [0, 1, 2]),
        ("party=D\\|R", [0]),
        ("party=R|D\\|R", [0, 2]),
        ("a=b=3", [2]),
        ("a=b>=3", range(2, len(ODD))),
        (f"id={2**70}", [0]),
        (f"id>={2**70}", [0]),
        ("id<-99999999999999999999999999", []),
        (f"id>{'9' * 5000}", []),
        (f"id={2**63 - 1}", [3]),
    ],
)
def test_values_that_are_missing_large_or_look_like_conditions(
    odd: Concordance, condition: str, expected: list[int]
) -> None:
    assert np.flatnonzero(odd.where(condition)._mask).tolist() == list(expected)


def test_what_has_no_date_is_in_no_period_and_what_was_removed_is_not_counted(odd: Concordance) -> None:
    assert [(period.name, period.documents) for period in odd.periods("date")] == [
        ("1999", 1),
        ("2001", 2),
        ("2002", 28),
    ]
    assert odd.remove("date<2001") == 1
    assert [period.name for period in odd.periods("date")] == ["2001", "2002"]
    assert sum(odd.where("date>=2002").value_counts("date").values()) == len(odd.where("date>=2002"))
    assert set(odd.where("date>=2002").value_counts("date")) < set(odd.value_counts("date"))
    assert None in list(odd.value_counts("date"))
    assert "" not in list(odd.value_counts("date"))
    assert "1999-05-01" not in list(odd.value_counts("date"))
    for period in odd.periods("party"):
        assert len(odd.where(*period.conditions)) == period.documents
    with pytest.raises(NoOccurrences, match="no document is left where date<1900"):
        odd.where("date<1900").lines("bank")


def test_a_misspelt_column_is_noticed(vectors: WordVectors, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps({"text": "the bank", "year": 1999}) + "\n")
    with pytest.raises(BadCorpus, match="no document has a value of 'yaer'"):
        Concordance.build(vectors, Corpus(path, columns=["yaer"]), tmp_path / "c", show_progress=False)
    assert not (tmp_path / "c").exists()
    concordance = Concordance.build(vectors, Corpus(path, columns=["year"]), tmp_path / "c", show_progress=False)
    with pytest.warns(AlacarteWarning, match="no document of the added text has a value of 'year'"):
        concordance.add(Corpus([Document("a boat", values=(None,))], columns=["year"]), show_progress=False)
    assert len(concordance) == 2


def given_phrase(concordance: Concordance) -> str:
    """Two words that follow each other somewhere."""
    return next(" ".join(text.split()[:2]) for text in concordance if isinstance(text, str) and len(text.split()) > 1)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("ending", ["", "\n", "\n\n"])
def test_lines_of_a_file_come_back(vectors: WordVectors, tmp_path: Path, seed: int, ending: str) -> None:
    """Blank lines are no documents; all others are kept as they are, whatever their length."""
    rng = np.random.default_rng(seed)
    kinds = ["", "  ", "\t", "the bank", "café É zorg", " of the river ", "long " * int(rng.integers(1, 40_000))]
    lines = [str(rng.choice(kinds)) for _ in range(int(rng.integers(1, 60)))] + ["money"]
    file = tmp_path / "lines.txt"
    file.write_text("\n".join(lines) + ending, encoding="utf-8", newline="")
    concordance = Concordance.build(vectors, Corpus(file), tmp_path / "c", show_progress=False, block_size=200)
    assert [str(text).strip() for text in concordance] == [line.strip() for line in lines if line.strip()]
    assert concordance.count("money") == 1
    concordance.verify()


# ------------------------------------------------------------------------------------------- columns of any name

TAKEN = ("document", "match", "before", "after", "share", "change", "text", "columns", "columns.match", "counts")


@pytest.fixture
def taken(vectors: WordVectors, tmp_path: Path) -> Concordance:
    """Columns that are called as the columns of a table of lines."""
    texts = ["this bank was the river", "deep money in a bank"]
    given = [Document(text, values=tuple(f"final {name} {n}" for name in TAKEN)) for n, text in enumerate(texts)]
    return Concordance.build(vectors, Corpus(given, columns=list(TAKEN)), tmp_path / "taken", show_progress=False)


def test_columns_of_any_name_overwrite_nothing(taken: Concordance, vectors: WordVectors) -> None:
    model = ALaCarte(vectors, Transform(np.eye(5)))
    for lines in (taken.lines("bank"), taken.influence(model, "bank")):
        for line in lines.to_dict():
            assert (line["match"], line["document"]) == ("bank", line["columns"]["document"] == "final document 1")
            assert line["before"] == ["this", "deep money in a"][line["document"]]
            assert line["columns"] == taken.values(line["document"])
            assert isinstance(line.get("share", 0.5), float)
        frame = lines.to_frame()
        assert len(frame.columns) == len(set(frame.columns)) == len(TAKEN) + 4 + len(lines.measures)
        assert set(frame["match"]) == {"bank"}
        assert set(frame["columns.columns.match"]) == {"final match 0", "final match 1"}
        assert set(frame["columns.match"]) == {"final columns.match 0", "final columns.match 1"}
        assert "bank" in str(lines)
        header = next(csv.reader(lines.to_csv().splitlines()))
        assert ("columns.share" in header) == ("share" in lines.measures)
    frame = taken.to_frame()
    assert list(frame["text"]) == list(taken)
    assert list(frame["columns.text"]) == ["final text 0", "final text 1"]


def test_lines_are_sorted_by_a_column_that_is_called_before(taken: Concordance) -> None:
    by_words, by_column = (taken.uses("bank", sort=sort).lines().document for sort in ("before", "columns.before"))
    assert (by_words.tolist(), by_column.tolist()) == ([1, 0], [0, 1])
    assert taken.uses("bank", sort="columns.match", descending=True).lines().document.tolist() == [1, 0]


def test_columns_of_one_name_are_refused(vectors: WordVectors, tmp_path: Path) -> None:
    corpus = Corpus([Document("the bank", values=("x", "y"))], columns=["a", "A"])
    with pytest.raises(BadCorpus, match="column"):
        Concordance.build(vectors, corpus, tmp_path / "c", show_progress=False)
    assert list(tmp_path.iterdir()) == []


def test_removed_documents_are_not_readable(vectors: WordVectors, tmp_path: Path) -> None:
    given = [Document("the secret bank", values=(1,)), Document("the river", values=(2,))]
    concordance = Concordance.build(vectors, Corpus(given, columns=["n"]), tmp_path / "c", show_progress=False)
    assert concordance.remove("n=1") == 1
    for opened in (concordance, Concordance(tmp_path / "c")):
        for read in (opened.text, opened.values):
            with pytest.raises(AlacarteError, match="document 0 was removed"):
                read(0)
            with pytest.raises(AlacarteError, match="document is a whole number from 0 on, not -1"):
                read(-1)
        assert opened.text(1) == "the river"
        assert opened.frequent_words(9) == ["river"]


@pytest.mark.parametrize("seed", range(5))
def test_lines_of_several_targets_are_in_the_order_of_the_text(vectors: WordVectors, tmp_path: Path, seed: int) -> None:
    given = documents(seed, 60)
    concordance = built(vectors, given[:30], tmp_path / "c")
    concordance.add(Corpus(given[30:], columns=["party", "year", "score"]), show_progress=False)
    targets = ["river", "money", "the bank", "bank"]
    lines = concordance.lines(targets, limit=None, around=40).to_dict()
    assert len(lines) == concordance.count(targets)
    places = [(line["document"], len(line["before"].split()), len(line["match"].split())) for line in lines]
    assert places == sorted(places)
    some = concordance.lines(targets, limit=9, seed=1, around=40).to_dict()
    assert [lines.index(line) for line in some] == sorted(lines.index(line) for line in some)


# ------------------------------------------------------------------------------------------------- periods, quotes


def test_uses_per_million_are_unknown_in_a_period_without_documents(vectors: WordVectors, tmp_path: Path) -> None:
    rows = [("the bank", 2000, "D"), ("the bank", 2001, "R"), ("a river", 2002, "D")]
    given = [Document(text, values=values) for text, *values in rows]
    corpus = Corpus(given, columns=["year", "party"])
    concordance = Concordance.build(vectors, corpus, tmp_path / "c", show_progress=False)
    table = over_periods(concordance.where("party=D"), ALaCarte(vectors, Transform(np.eye(5))), "bank", "year")
    assert [(row.documents, row.uses) for row in table] == [(1, 1), (0, 0), (1, 0)]
    assert [row["per_million"] for row in table.to_dict()] == [5e5, None, 0.0]


DATED = ["2001-05-03", "2001-06-01T10:00", 2002, "2002", "2003-01-01", "2004-02-02"] * 4
MIXED = {
    "bare years among dates": DATED,
    "what is no date": [*DATED * 3, "2001/05/03", "soon", "2001.5", ""],
    "numbers and text": [*range(40), "unknown", "12", "x", None, float("inf"), -float("inf")],
    "more text than numbers": [*"abcdefghijklmnop", 1, 2, 3, "7"],
    "quotes, bars and spaces": ["'a'", '"b"', "a|b", "'a|b'", " c ", "it's", "'\"'", "|", "d;e", "a\\|b"],
}


@pytest.mark.parametrize("kind", MIXED)
@pytest.mark.parametrize("most", [1, 2, 3, 9, 40])
def test_a_period_has_as_many_documents_as_its_slice(
    vectors: WordVectors, tmp_path: Path, kind: str, most: int
) -> None:
    given = [Document("the bank", values=(value,)) for value in MIXED[kind]]
    concordance = Concordance.build(vectors, Corpus(given, columns=["it"]), tmp_path / "c", show_progress=False)
    periods = concordance.periods("it", most)
    assert 0 < len(periods) <= most
    for period in periods:
        assert len(concordance.where(*period.conditions)) == period.documents > 0
    if kind == "bare years among dates" and most == 40:
        assert [(period.name, period.documents) for period in periods] == [
            ("2001", 8),
            ("2002", 8),
            ("2003", 4),
            ("2004", 4),
        ]


@pytest.mark.parametrize(
    ("written", "plainly"),
    [
        ("date>='2002'", "date>=2002"),
        ('date < "2002-01-02"', "date<2002-01-02"),
        ("party='D'", "party=D"),
        ("party='D'|\"R\"", "party=D|R"),
        ("party='D|R'", "party=D\\|R"),
        ("date=''", "date="),
    ],
)
def test_values_may_be_in_quotes(odd: Concordance, written: str, plainly: str) -> None:
    assert np.flatnonzero(odd.where(written)._mask).tolist() == np.flatnonzero(odd.where(plainly)._mask).tolist()
    assert 0 < len(odd.where(written)) < len(odd)


# ------------------------------------------------------------------------------------------ cut off, forged, damaged

CUT_OFF = """
import os, sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("PRAGMA cache_size = 1")  # so that pages are written before the end
connection.execute("BEGIN IMMEDIATE")
connection.execute("UPDATE documents SET c0 = 'half of it'")
connection.executemany("INSERT INTO removed VALUES (?)", [(number,) for number in range(5000)])
os._exit(1)
"""


def test_a_change_that_was_cut_off_is_undone(tmp_path: Path, vectors: WordVectors) -> None:
    given = documents(1, 2000)
    before = built(vectors, given, tmp_path / "c").lines("bank", limit=None).to_dict()
    database = tmp_path / "c" / "concordance.sqlite"
    content = database.read_bytes()
    subprocess.run([sys.executable, "-c", CUT_OFF, str(database)], check=False)
    assert database.with_name("concordance.sqlite-journal").exists()
    assert database.read_bytes() != content
    concordance = Concordance(tmp_path / "c")
    assert concordance.lines("bank", limit=None).to_dict() == before
    concordance.verify()
    assert concordance.remove("party=D") > 0


def test_a_journal_that_names_other_files_is_refused(tmp_path: Path, vectors: WordVectors) -> None:
    """SQLite deletes the file that such a journal names."""
    built(vectors, documents(1), tmp_path / "c")
    journal = tmp_path / "c" / "concordance.sqlite-journal"
    journal.write_bytes(b"\0" * 600 + bytes.fromhex("d9d505f920a163d7"))
    with pytest.raises(BadCorpus, match="names other files"):
        Concordance(tmp_path / "c")


@pytest.mark.parametrize(
    "forged",
    [
        "CREATE VIEW more AS SELECT * FROM documents",
        "CREATE TABLE more (x)",
        "CREATE TRIGGER more AFTER INSERT ON removed BEGIN DELETE FROM documents; END",
        "CREATE INDEX more ON documents (c0)",
        "ALTER TABLE documents ADD COLUMN c9 DEFAULT 1",
        "UPDATE segments SET file = '../../segment-0001.safetensors'",
        "UPDATE segments SET file = '/etc/passwd'",
        "UPDATE segments SET documents = 2",
        "UPDATE segments SET id = 'x'",
        "INSERT INTO removed VALUES (-1)",
        "INSERT INTO removed VALUES (1000000)",
        "INSERT INTO removed VALUES (3)",
        "UPDATE facts SET value = '3' WHERE name = 'columns'",
        "UPDATE facts SET value = '[' WHERE name = 'columns'",
        "DELETE FROM facts",
        "PRAGMA journal_mode = WAL",
    ],
)
@pytest.mark.parametrize("sealed", [False, True])
def test_a_forged_database_is_refused(tmp_path: Path, vectors: WordVectors, forged: str, sealed: bool) -> None:
    built(vectors, documents(1), tmp_path / "c")
    with sqlite3.connect(tmp_path / "c" / "concordance.sqlite", isolation_level=None) as connection:
        connection.execute(forged)
        if sealed:  # as a clever one would be
            if "(3)" in forged:
                return
            if "CREATE" not in forged:
                connection.execute("UPDATE seal SET digest = ?", (sqlite._digest(connection),))
    connection.close()
    with pytest.raises(BadCorpus):
        Concordance(tmp_path / "c").lines("bank")


@pytest.mark.parametrize("field", ["ids", "offsets", "starts", "positions", "frame_documents"])
@pytest.mark.parametrize("value", [-1, 2**30])
def test_a_forged_segment_is_refused(
    tmp_path: Path, vectors: WordVectors, monkeypatch: pytest.MonkeyPatch, field: str, value: int
) -> None:
    """Its digests are right, and its numbers lead elsewhere."""
    made = SegmentParts.segment

    def forge(self: Any) -> Any:
        tensors = made(self)
        plainly = tensors[field].whole() if hasattr(tensors[field], "whole") else np.array(tensors[field])
        plainly[len(plainly) // 2] = np.array(value).astype(plainly.dtype)
        return {**tensors, field: plainly}

    monkeypatch.setattr(SegmentParts, "segment", forge)
    concordance = built(vectors, documents(1), tmp_path / "c")
    with pytest.raises(BadCorpus):
        return concordance.lines("bank"), list(concordance)


@pytest.mark.parametrize("file", ["concordance.sqlite", "segment-0001.safetensors", "vocabulary.safetensors"])
def test_damage_gives_no_wrong_answer(tmp_path: Path, vectors: WordVectors, file: str) -> None:
    built(vectors, documents(1), tmp_path / "c")
    whole = (tmp_path / "c" / file).read_bytes()
    rng = np.random.default_rng(0)

    def answers() -> Any:
        opened = Concordance(tmp_path / "c")
        sums = opened.collect(vectors, ["bank", "zorg"], window=2)
        found = sums.means().tolist(), sums.occurrences.tolist()
        return [list(opened), opened.lines("bank", limit=None).to_dict(), found, list(opened.value_counts("party"))]

    right = answers()
    for _ in range(80):
        content = bytearray(whole)
        place = int(rng.integers(len(content)))
        if rng.random() < 0.2:
            del content[place:]
        else:
            content[place] ^= 1 << int(rng.integers(8))
        (tmp_path / "c" / file).write_bytes(content)
        try:
            found = answers()
        except AlacarteError:
            continue
        assert found == right
    (tmp_path / "c" / file).write_bytes(whole)
    assert answers() == right


# --------------------------------------------------------------------------------------- built beside, and swapped


def test_of_two_builders_one_is_refused(tmp_path: Path, vectors: WordVectors) -> None:
    refused: list[str] = []

    def meanwhile(state: ProgressState) -> None:
        with pytest.raises(BadCorpus, match="another process") as error:
            Concordance.build(vectors, ["the river"], tmp_path / "c", show_progress=False)
        refused.append(str(error.value))

    first = Concordance.build(vectors, ["the bank"], tmp_path / "c", show_progress=False, callback=meanwhile)
    assert refused
    assert list(first) == ["the bank"]


def test_the_old_one_is_there_until_the_new_one_is_complete(tmp_path: Path, vectors: WordVectors) -> None:
    built(vectors, documents(0), tmp_path / "c")
    opened = Concordance(tmp_path / "c")

    def stop(state: ProgressState) -> None:
        assert list(Concordance(tmp_path / "c")) == plain(documents(0))
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Concordance.build(vectors, ["a boat"], tmp_path / "c", overwrite=True, show_progress=False, callback=stop)
    assert list(Concordance(tmp_path / "c")) == plain(documents(0))
    Concordance.build(vectors, ["a boat"], tmp_path / "c", overwrite=True, show_progress=False)
    assert list(Concordance(tmp_path / "c")) == ["a boat"]
    assert [path.name for path in tmp_path.iterdir()] == ["c"]
    with pytest.raises(BadCorpus, match="replaced"):  # a mixture of the two is no concordance
        opened.where("party=D")


@pytest.mark.parametrize("which", [0, 1, 2, 3, 4])
def test_a_swap_that_was_cut_off_is_undone_or_finished(
    tmp_path: Path, vectors: WordVectors, monkeypatch: pytest.MonkeyPatch, which: int
) -> None:
    """At one of the four renames of a system that cannot exchange two folders; 0: at the first of one that can."""
    if which:
        monkeypatch.setattr(folders, "_exchanged", lambda one, two: False)
    built(vectors, documents(0), tmp_path / "c")
    renamed: list[Path] = []
    rename = Path.rename

    def die(self: Path, target: Path) -> Path:
        renamed.append(self)
        if len(renamed) == max(1, which):
            raise OSError(28, "No space left on device")
        return rename(self, target)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "rename", die)
        with pytest.raises((OSError, AlacarteError), match="No space left"):
            Concordance.build(vectors, ["a boat"], tmp_path / "c", overwrite=True, show_progress=False)
    assert list(Concordance(tmp_path / "c")) == plain(documents(0))
    assert list(Concordance.build(vectors, ["a boat"], tmp_path / "c", overwrite=True, show_progress=False)) == [
        "a boat"
    ]
    assert [path.name for path in tmp_path.iterdir()] == ["c"]


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere there is nothing for a moment")
def test_a_reader_sees_the_old_one_or_the_new_one_at_any_moment(
    tmp_path: Path, vectors: WordVectors, monkeypatch: pytest.MonkeyPatch
) -> None:
    built(vectors, documents(0, 5), tmp_path / "c")
    rename, renamed = Path.rename, 0

    def look(self: Path, target: Path) -> Path:
        nonlocal renamed
        done = rename(self, target)
        renamed += 1
        assert is_concordance(tmp_path / "c")
        return done

    monkeypatch.setattr(Path, "rename", look)
    Concordance.build(vectors, ["a boat"], tmp_path / "c", overwrite=True, show_progress=False)
    assert renamed
    assert list(Concordance(tmp_path / "c")) == ["a boat"]


def test_a_folder_of_somebody_else_with_such_a_name_stays(tmp_path: Path, vectors: WordVectors) -> None:
    (tmp_path / ".c.old").mkdir()
    (tmp_path / ".c.old" / "diary.txt").write_text("mine")
    with pytest.raises(BadCorpus):
        Concordance(tmp_path / "c")
    Concordance.build(vectors, ["a boat"], tmp_path / "c", show_progress=False)
    assert (tmp_path / ".c.old" / "diary.txt").read_text() == "mine"


def test_what_a_killed_builder_left_is_no_obstacle(tmp_path: Path, vectors: WordVectors) -> None:
    (tmp_path / ".c.draft").mkdir()
    (tmp_path / ".c.draft" / ".concordance.sqlite.new").touch()
    (tmp_path / ".c.draft" / ".concordance.sqlite.new-journal").touch()
    assert list(Concordance.build(vectors, ["a boat"], tmp_path / "c", show_progress=False)) == ["a boat"]
    assert [path.name for path in tmp_path.iterdir()] == ["c"]
    assert not [path for path in (tmp_path / "c").iterdir() if path.name.startswith(".")]


def test_nothing_is_deleted_through_a_link(tmp_path: Path, vectors: WordVectors) -> None:
    built(vectors, documents(0), tmp_path / "elsewhere")
    for name in ("link", ".c.draft", ".c.old"):
        (tmp_path / name).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(BadCorpus, match="is a link"):
        delete_concordance(tmp_path / "link")
    built(vectors, documents(1, 5), tmp_path / "c")
    (tmp_path / ".c.draft").symlink_to(tmp_path / "elsewhere")
    delete_concordance(tmp_path / "c")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["elsewhere", "link"]
    assert list(Concordance(tmp_path / "link")) == plain(documents(0))


# ------------------------------------------------------------------------------------------------ on the command line


@pytest.fixture
def small(vectors: WordVectors, tmp_path: Path) -> list[str]:
    """A concordance with columns, and the options that name a model for it."""
    built(vectors, documents(3, 200), tmp_path / "c.concordance")
    ALaCarte(vectors, Transform(np.eye(5))).save(tmp_path / "model")
    return [str(tmp_path / "c.concordance"), "--model", str(tmp_path / "model")]


def alc(*arguments: str) -> Any:
    """What a command prints as JSON, or what it says is wrong."""
    from typer.testing import CliRunner

    from alacarte.cli import app

    result = CliRunner().invoke(app, [*arguments, "--json"])
    return json.loads(result.stdout) if result.exit_code == 0 else result.output


def test_patterns_and_given_words_on_the_command_line(small: list[str], vectors: WordVectors) -> None:
    folder, model = small[0], ALaCarte.load(small[2])
    target, concordance = Targets.glob("ri*"), Concordance(folder)
    near = alc("concordance", "nearest", *small, "--glob", "ri*", "--like", "money", "--where", "party=D")
    induced = concordance.where("party=D").induce(model, target)
    assert near == induced.uncertainty.similarities("ri*", ["money"]).to_dict()
    sides = ["--where", "party=D", "--other-where", "party=R"]
    compared = alc("concordance", "compare", *small, "--glob", "ri*", *sides)
    assert [row["word"] for row in compared] == ["ri*"]
    for one_side in ([], sides[:2], sides[2:]):
        assert "name both" in alc("concordance", "compare", *small, "--glob", "ri*", *one_side)


def test_columns_of_concordances_are_clusters(small: list[str]) -> None:
    sides = ["--where", "party=D", "--other-where", "party=R", "--min-count", "2", "--word", "bank"]
    plain, clustered = (alc("concordance", "compare", *small, *sides, *more) for more in ([], ["--cluster", "year"]))
    assert plain[0]["contexts_a"] == clustered[0]["contexts_a"]
    assert plain[0]["conf_high"] != clustered[0]["conf_high"]
    assert "party" in alc("concordance", "compare", *small, *sides, "--cluster", "speaker")


def test_a_level_that_the_sides_do_not_share_is_named(vectors: WordVectors, tmp_path: Path) -> None:
    from typer.testing import CliRunner

    from alacarte.cli import app

    rng = np.random.default_rng(0)
    given = [
        Document(" ".join(rng.choice(WORDS, 20)), values=("DR"[n % 2], f"{'DR'[n % 2]}{n % 12}")) for n in range(120)
    ]
    corpus = Corpus(given, columns=["party", "speaker"])
    Concordance.build(vectors, corpus, tmp_path / "c", show_progress=False)
    ALaCarte(vectors, Transform(np.eye(5))).save(tmp_path / "model")
    sides = ["--where", "party=D", "--other-where", "party=R"]
    command = ["concordance", "compare", str(tmp_path / "c"), "--model", str(tmp_path / "model"), *sides]
    assert "--cluster speaker" in CliRunner().invoke(app, command).output
    assert "--cluster" not in CliRunner().invoke(app, [*command, "--cluster", "speaker"]).output


def test_a_slice_is_a_corpus_on_the_command_line(small: list[str], tmp_path: Path, vectors: WordVectors) -> None:
    out = tmp_path / "new.safetensors"
    corpus = ["--corpus", small[0], "--where", "party=D", *small[1:]]
    alc("induce", *corpus, "--word", "zorg", "--out", str(out))
    expected = Concordance(small[0]).where("party=D").induce(ALaCarte.load(small[2]), ["zorg"])
    np.testing.assert_array_equal(WordVectors.load(out)["zorg"], expected["zorg"])
    found = alc("senses", "induce", "--word", "bank", "--number", "1", *corpus)
    assert found["contexts"] == Concordance(small[0]).where("party=D").count("bank")
    (tmp_path / "plain.txt").write_text("a bank")
    refused = alc("senses", "induce", "--word", "bank", "--corpus", str(tmp_path / "plain.txt"), *corpus[2:])
    assert "of a concordance" in refused
