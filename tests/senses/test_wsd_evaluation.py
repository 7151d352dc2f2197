"""Scoring, baselines, the split for tuning, and the whole experiment on the tiny WordNet."""

import json

import pytest
from tiny_wordnet import semcor_file, write_wordnet
from typer.testing import CliRunner

from alacarte.errors import BadData, BadWordNet
from alacarte.evaluation.wsd import PUBLISHED, Score, WsdData, by_counts, calibration, evaluate, score
from alacarte.evaluation.wsd_tuning import split, tune
from alacarte.senses import Answer, Instance, Sentence

SHORE, MONEY = "bank%1:17:01::", "bank%1:14:00::"


def answer(synset, key):
    return Answer("bank", "bank", "n", synset, key, 1.0, None, "context")


def test_the_frameworks_f1():
    one = Score(right=50, answered=80, total=100)
    assert (one.precision, one.recall) == (62.5, 50.0)
    assert one.f1 == pytest.approx(2 * 62.5 * 50 / 112.5)
    assert Score(0, 0, 10).f1 == Score(0, 0, 0).f1 == 0


def test_three_ways_to_be_right(wordnet):
    """The second synset lists another lemma first: right by key and by synset, wrong by the first lemma's key."""
    sentences = [Sentence(("bank",), (Instance(0, 1, "bank", "n", (MONEY,)),))]
    given = [answer("depository.n.01", MONEY)]
    rights = {how: score(given, sentences, wordnet, how)["all"].right for how in ("key", "synset", "first lemma")}
    assert rights == {"key": 1, "synset": 1, "first lemma": 0}
    synonyms = [Sentence(("bank",), (Instance(0, 1, "bank", "n", ("depository%1:14:00::", MONEY)),))]
    assert score(given, synonyms, wordnet, "first lemma")["all"].right == 1  # as in SemEval-2015


def test_scores_by_part_of_speech_and_unanswered(wordnet):
    instances = (Instance(0, 1, "bank", "n", (SHORE,)), Instance(0, 1, "bank", "v", ("bank%2:38:00::",)))
    scores = score([answer("bank.n.01", SHORE), answer(None, None)], [Sentence(("bank",), instances)], wordnet)
    assert scores == {"all": Score(1, 1, 2), "noun": Score(1, 1, 1), "verb": Score(0, 0, 1)}


def test_baselines(wordnet):
    words = [Sentence(("bank", "x"), (Instance(0, 1, "bank", "n", (SHORE,)), Instance(1, 2, "x", "n", (SHORE,))))]
    assert [a.key for a in by_counts(words, wordnet, {})] == [SHORE, None]  # the first sense; no sense at all
    assert by_counts(words, wordnet, {MONEY: 1})[0].key == MONEY
    assert by_counts(words, wordnet, {MONEY: 1, SHORE: 1})[0].key == SHORE  # ties to the first
    assert by_counts(words, wordnet, {MONEY: 1, SHORE: 1}, ties="met")[0].key == MONEY
    assert by_counts(words, wordnet, {}, ties="met")[0].key == SHORE
    assert by_counts(words, wordnet, {"depository.n.01": 9, SHORE: 99}, of="synset")[0].key == MONEY


def test_calibration_counts_words_of_several_senses_only(wordnet):
    def one(key, confidence, senses=2):
        candidates = tuple((f"bank.n.0{n}", 0.5) for n in range(senses)) if senses > 1 else ()
        return Answer("bank", "bank", "n", "bank.n.01", key, confidence, 0.1, "context", candidates=candidates)

    sentences = [Sentence(("bank",), (Instance(0, 1, "bank", "n", (SHORE,)),))] * 5
    given = [one(SHORE, 0.9), one(MONEY, 0.5), one(SHORE, 0.8), one(MONEY, 0.6), one(SHORE, 1.0, senses=1)]
    assert calibration(given, sentences, wordnet) == pytest.approx((70.0, 50.0, 100.0))
    with pytest.raises(BadData, match="several senses"):
        calibration(given[-1:], sentences[:1], wordnet)


XML = """<corpus lang="en"><text id="d"><sentence id="d.s">
<wf id="d.s.w" lemma="{0}" pos="NOUN">{0}</wf>
<instance id="d.s.t" lemma="bank" pos="NOUN">bank</instance>
<instance id="d.s.u" lemma="fast" pos="ADJ">fast</instance>
<instance id="d.s.x" lemma="fast" pos="ADV">fast</instance>
<instance id="d.s.v" lemma="bank" pos="VERB">banks</instance>
</sentence></text></corpus>"""


@pytest.fixture
def folder(tmp_path):
    """A data folder with everything that the experiment needs, in miniature."""
    write_wordnet(tmp_path / "wordnet3.0")
    (tmp_path / "semcor").mkdir()
    shore, money = ("bank", "bank", "1:17:01::"), ("bank", "bank", "1:14:00::")
    for number in range(10):
        text = semcor_file(["river", shore, "water"], ["loan", money, "the"], ["money", money])
        (tmp_path / "semcor" / f"br-a{number:02d}").write_text(text)
    (tmp_path / "unified").mkdir()
    keys = "{0}.t {1}\n{0}.u fast%3:00:01::\n{0}.x fast%4:02:00::\n{0}.v bank%2:38:00::\n"
    for year, task, word, sense in ((2013, 12, "river", SHORE), (2015, 13, "loan", MONEY)):
        for xml, key in (
            (f"semeval{year}.task{task}.en.xml", f"semeval{year}.task{task}.en.key"),
            (f"unified/semeval{year}.data.xml", f"unified/semeval{year}.gold.key.txt"),
        ):
            (tmp_path / xml).write_text(XML.format(word))
            (tmp_path / key).write_text(keys.format("d.s", sense))
    (tmp_path / "brown").mkdir()
    (tmp_path / "brown" / "ca01").write_text(
        "The/at river/nn water/nn fished/vb\n\nthe/at loan/nn money/nn the/at\n" * 9
    )
    return tmp_path


def test_the_whole_experiment(folder, model):
    table = evaluate(WsdData.load(folder), model)
    assert table.rows[: len(PUBLISHED)] == PUBLISHED
    both = table.row("standard", "SemCor")
    assert both.semeval13 == both.semeval15 == 100  # context tells the two banks apart
    first = table.row("standard", "WordNet first sense")
    assert (first.semeval13, first.noun, first.semeval15) == (100, 0, 75)
    most = table.row("standard", "SemCor most frequent sense")
    assert (most.semeval13, most.noun, most.verb) == (75, 100, 100)
    mine = table.row("authors", "combined")
    assert (mine.semeval13, mine.semeval13_synset) == (100, 100)
    assert (mine.noun, mine.verb) == (0, 100)  # the right synset, but its first lemma is another
    assert table.row("authors, their text", "SemCor").semeval13 == 100  # nothing to the right: the first sense
    assert table.to_dict()["rows"][-1]["method"] == "graded + prior"
    assert len(table.to_frame()) == len(table.rows)
    with pytest.raises(KeyError):
        table.row("standard", "magic")


def test_words_and_keys_that_wordnet_lacks_are_reported(folder, model):
    file = folder / "unified/semeval2013.data.xml"
    file.write_text(file.read_text().replace('lemma="bank" pos="VERB"', 'lemma="zzz" pos="VERB"'))
    keys = folder / "unified/semeval2013.gold.key.txt"
    keys.write_text(keys.read_text().replace("bank%2:38:00::", "zzz%2:38:00::"))
    table = evaluate(WsdData.load(folder), model)
    assert (
        "standard, 2013: 4 words; not in WordNet, so not answered: 1 (zzz, …); "
        "answers with keys that WordNet lacks: 1 (zzz%2:38:00::, …)"
    ) in table.notes
    first = table.row("standard", "WordNet first sense")
    assert first.semeval13 == pytest.approx(2 * 100 * 75 / 175)  # 3 of 3 answers, 3 of 4 words
    keys.write_text(keys.read_text().replace("fast%3:00:01::", "fast%3:00:77::"))
    with pytest.raises(BadWordNet, match="lacks 2 of 4 sense keys"):
        evaluate(WsdData.load(folder), model)


def test_brown_model(folder, model):
    made = WsdData.load(folder).brown_model(model.vectors)
    assert (made.settings.left, made.settings.right) == (5, 5)
    assert made.report.weighting == "weight log(count)"


def test_tuning_holds_whole_files_out(folder, model):
    data = WsdData.load(folder)
    kept, held = split(data.semcor)
    assert {s.document_id for s in held} == {"br-a00", "br-a05"}
    assert not {s.document_id for s in kept} & {s.document_id for s in held}
    result = tune(data, model, strengths=(1.0, 3.0), sharpnesses=(0.01, 8.0), smoothings=(1.0,))
    assert len(result.trials) == 4
    assert result.instances == 6  # two files, three ambiguous words each
    assert result.baseline == pytest.approx(200 / 3)  # money is more frequent
    assert result.best.accuracy == 100
    assert result.trials[-1].accuracy == pytest.approx(200 / 3)  # context that counts for nothing
    assert len(result.to_frame()) == 4


def test_missing_data_is_named(folder, tmp_path):
    with pytest.raises(BadData, match="no such folder"):
        WsdData.load(tmp_path / "none")
    for file in (folder / "semcor").iterdir():
        file.unlink()
    (folder / "semcor").rmdir()
    with pytest.raises(BadData, match=r"holds no semcor"):
        WsdData.load(folder)


def test_the_command(folder, model, tmp_path):
    from alacarte.cli import app

    model.save(tmp_path / "model")

    def run(*words, expected=0):
        result = CliRunner().invoke(app, ["eval", "wsd", "--data", str(folder), *map(str, words)])
        assert result.exit_code == expected, result.output
        return result.output

    csv = tmp_path / "wsd.csv"
    text = run("--model", tmp_path / "model", "--out", csv)
    assert "bi-LSTM" in text
    assert "The settings differ in what counts as right" in text
    table = json.loads(run("--model", tmp_path / "model", "--json"))
    assert [row["method"] for row in table["rows"]][-1] == "graded + prior"
    lines = csv.read_text().splitlines()
    assert lines[0] == "setting,method,semeval13,semeval13_synset,adj,noun,adv,verb,semeval15"
    assert len(lines) == len(table["rows"]) + 1
    tuned = json.loads(run("--model", tmp_path / "model", "--tune", "--json"))
    assert tuned["trials"][0]["accuracy"] == 100
    assert "6 ambiguous words" in run("--model", tmp_path / "model", "--tune")
    assert "--vectors" in run(expected=2)
