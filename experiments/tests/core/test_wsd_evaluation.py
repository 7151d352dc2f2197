"""Scoring, baselines, the split for tuning, and the whole experiment on the tiny WordNet."""

import json

import pytest
from alacarte_experiments.wsd.baselines import (
    by_counts,
    compare_countings,
    leaders,
    size,
    synset_counts,
    without_verb_files,
)
from alacarte_experiments.wsd.data import WsdData, parse_test, read_test
from alacarte_experiments.wsd.evaluation import PUBLISHED, evaluate, evaluate_sets
from alacarte_experiments.wsd.scoring import Score, calibration, score
from alacarte_experiments.wsd.tuning import split, tune
from tiny_wordnet import semcor_file, write_wordnet
from typer.testing import CliRunner

from alacarte.errors import BadData, BadWordNet
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
    """The authors look for the key of the synset's first lemma, without the lemma."""

    def rights(synset, key, *gold):
        sentences = [Sentence(("x",), (Instance(0, 1, "x", "n", gold),))]
        given = [answer(synset, key)]
        return {how: score(given, sentences, wordnet, how)["all"].right for how in ("key", "synset", "authors")}

    assert rights("depository.n.01", MONEY, MONEY) == {"key": 1, "synset": 1, "authors": 1}  # both are 1:14:00::
    assert rights("depository.n.01", MONEY, "depository%1:14:00::") == {"key": 0, "synset": 1, "authors": 1}
    assert rights("depository.n.01", MONEY, "other%1:14:00::") == {"key": 0, "synset": 0, "authors": 1}
    assert rights("depository.n.01", MONEY, SHORE, "bank%1:14:09::") == {"key": 0, "synset": 0, "authors": 0}


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


def test_what_decides_a_most_frequent_sense(wordnet):
    bank = Instance(0, 1, "bank", "n", (SHORE,))

    def led(instance, counts, of="key"):
        first, decided = leaders(wordnet, instance, counts, of)
        return [synset.id for _, synset in first], decided

    assert led(bank, {MONEY: 2, SHORE: 1}) == (["depository.n.01"], "most frequent")
    assert led(bank, {MONEY: 2, SHORE: 2}) == (["bank.n.01", "depository.n.01"], "tie")
    assert led(bank, {"other%1:14:00::": 2}) == (["bank.n.01"], "never met")
    assert led(bank, {"depository.n.01": 2}, "synset") == (["depository.n.01"], "most frequent")
    assert led(Instance(0, 1, "bank", "v", ()), {}) == (["bank.v.01"], "only sense")
    assert led(Instance(0, 1, "zzz", "n", ()), {}) == ([], "no synset")


def test_synsets_are_counted_where_there_is_one_key_that_wordnet_has(wordnet):
    keys = [(SHORE,), (SHORE, MONEY), ("bank%1:99:00::",), ("depository%1:14:00::",), (MONEY,)]
    sentences = [Sentence(("bank",), (Instance(0, 1, "bank", "n", some),)) for some in keys]
    assert synset_counts(sentences, wordnet) == {"bank.n.01": 1, "depository.n.01": 2}
    assert size(sentences) == (5, 4, 1)


def test_files_that_annotate_verbs_alone():
    noun, verb = Instance(0, 1, "bank", "n", (SHORE,)), Instance(0, 1, "bank", "v", ("bank%2:38:00::",))
    sentences = [Sentence(("x",), (one,), document_id=name) for name, one in (("a", verb), ("b", noun), ("b", verb))]
    assert without_verb_files(sentences) == sentences[1:]


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
    assert (mine.noun, mine.verb) == (100, 100)
    often = table.row("authors", "most frequent synset")
    assert (often.noun, often.semeval13) == (100, 75)
    assert table.row("authors, their text", "SemCor").semeval13 == 100
    assert table.to_dict()["rows"][-1]["method"] == "graded + near + prior"
    assert len(table.to_frame()) == len(table.rows)
    with pytest.raises(KeyError):
        table.row("standard", "magic")


def test_any_test_sets_from_files_by_name(folder, model, tmp_path):
    """The same numbers as the standard setting of the paper's table, without its folder."""
    paper = evaluate(WsdData.load(folder), model)
    files = {f"set{year}": f"{year}" for year in (2013, 2015)}
    sets = {
        name: read_test(folder / f"unified/semeval{year}.data.xml", folder / f"unified/semeval{year}.gold.key.txt")
        for name, year in files.items()
    }
    data = WsdData.load(semcor=folder / "semcor", wordnet=folder / "wordnet3.0")
    table = evaluate_sets(data, model, sets)
    standard = [row for row in paper.rows if row.setting == "standard"]
    assert [row.method for row in table.rows if row.test == "set2013"] == [row.method for row in standard]
    assert [row.f1 for row in table.rows if row.test == "set2013"] == [row.semeval13 for row in standard]
    assert [(row.f1, row.noun, row.verb, row.adj, row.adv) for row in table.rows if row.test == "set2015"] == [
        (row.semeval15, row.noun, row.verb, row.adj, row.adv) for row in standard
    ]
    assert {row.words for row in table.rows} == {4}
    assert any("set2015, words of several senses" in note for note in table.notes)
    assert len(table.to_frame()) == len(table.rows)
    with pytest.raises(BadData, match="pass --data"):
        evaluate(data, model)


def test_an_annotated_corpus_in_the_frameworks_format(folder, model):
    xml, gold = folder / "unified/semeval2015.data.xml", folder / "unified/semeval2015.gold.key.txt"
    data = WsdData.load(folder, semcor=f"{xml},{gold}")
    assert data.semcor[0].instances[0].keys == (MONEY,)
    table = evaluate_sets(data, model, {"itself": read_test(xml, gold)})
    assert {row.method: row.f1 for row in table.rows}["SemCor most frequent sense"] == 100
    with pytest.raises(BadData, match=r"DATA\.xml,GOLD"):
        WsdData.load(folder, semcor=xml)


@pytest.mark.parametrize("wrong", ["x", "x=a.xml", "=a.xml,b.key", "x=a.xml,b.key,c"])
def test_test_sets_that_are_none(wrong):
    with pytest.raises(BadData, match="NAME=DATA"):
        parse_test(wrong)


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


def test_ways_to_count(folder):
    """One more file: with it the money is met 21 times and the shore 20 times, or 20 times each by first keys."""
    shore, both = ("bank", "bank", "1:17:01::"), ("bank", "bank", "1:17:01::;1:14:00::")
    text = semcor_file([shore] * 9 + [both, ("bank", "bank", "1:14:09::")])
    (folder / "semcor" / "br-b01").write_text(text.replace("wnsn=1 lexsn=1:14:09", "wnsn=0 lexsn=1:14:09"))
    data = WsdData.load(folder)
    report = compare_countings(data, data.standard_tests())
    rows = {(row.counting, row.test): row for row in report.rows}
    full, first = rows["framework", "SE13"], rows["first key of several", "SE13"]
    assert (full.annotations, full.senses, full.words) == (40, 2, 1)  # without the key that is numbered 0
    assert rows["keys repaired", "SE15"].annotations == 41
    assert (full.low, full.met, full.high) == (75, 75, 75)
    assert (first.low, first.met, first.order, first.high) == (75, 100, 100, 100)
    full, first = rows["framework", "SE15"], rows["first key of several", "SE15"]
    assert (full.low, full.met, full.high) == (100, 100, 100)
    assert (first.low, first.met, first.high) == (75, 75, 100)
    assert [(row.decided, row.words) for row in report.decisions if row.test == "SE13"] == [
        ("only sense", 3),
        ("most frequent", 1),
        ("tie", 0),
        ("never met", 0),
        ("no synset", 0),
    ]
    assert len(report.to_frame()) == len(report.rows)


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
    assert len(result.trials) == 8
    assert result.instances == 6  # two files, three ambiguous words each
    assert result.baseline == pytest.approx(200 / 3)  # money is more frequent
    assert result.best.accuracy == 100
    assert result.trials[-1].accuracy == pytest.approx(200 / 3)  # context that counts for nothing
    assert len(result.to_frame()) == 8
    assert {trial.gain is None for trial in result.trials if not trial.near} == {True}
    near = [trial for trial in result.trials if trial.near and trial.sharpness == 8.0]
    assert [(trial.gain, trial.error) for trial in near] == [(0, 0), (0, 0)]  # both are right everywhere


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
    assert [row["method"] for row in table["rows"]][-1] == "graded + near + prior"
    lines = csv.read_text().splitlines()
    assert lines[0] == "setting,method,semeval13,semeval13_synset,adj,noun,adv,verb,semeval15"
    assert len(lines) == len(table["rows"]) + 1
    tuned = json.loads(run("--model", tmp_path / "model", "--tune", "--json"))
    assert tuned["trials"][0]["accuracy"] == 100
    assert "6 ambiguous words" in run("--model", tmp_path / "model", "--tune")
    assert "226,036, 33,362, 22,436" in run("--baselines")
    counted = json.loads(run("--baselines", "--json", "--out", csv))
    assert counted["rows"][0]["counting"] == "framework"
    assert csv.read_text().startswith("counting,annotations,")
    assert "--baselines" in run("--baselines", "--tune", expected=2)
    assert "--vectors" in run(expected=2)


def test_the_command_with_files_by_name(folder, model, tmp_path):
    from alacarte.cli import app

    model.save(tmp_path / "model")
    files = ["--semcor", folder / "semcor", "--wordnet", folder / "wordnet3.0"]
    name = f"river={folder}/unified/semeval2013.data.xml,{folder}/unified/semeval2013.gold.key.txt"

    def run(*words, expected=0):
        result = CliRunner().invoke(app, ["eval", "wsd", *map(str, files), *map(str, words)])
        assert result.exit_code == expected, result.output
        return result.output

    assert "river" in run("--model", tmp_path / "model", "--test", name, "--out", tmp_path / "sets.csv")
    table = json.loads(run("--model", tmp_path / "model", "--test", name, "--json"))
    assert {(row["test"], row["words"]) for row in table["rows"]} == {("river", 4)}
    assert (tmp_path / "sets.csv").read_text().splitlines()[0] == "test,method,words,f1,noun,verb,adj,adv"
    assert json.loads(run("--model", tmp_path / "model", "--tune", "--json"))["instances"] == 6
    learned = ["--vectors", tmp_path / "model" / "vectors.safetensors", "--test", name]
    assert "pass --brown" in run(*learned, expected=1)
    run(*learned, "--brown", folder / "brown")
    counted = json.loads(run("--baselines", "--test", name, "--json"))
    assert {row["test"] for row in counted["rows"] + counted["decisions"]} == {"river"}
    assert "--test NAME=XML,KEY" in run("--model", tmp_path / "model", expected=2)
    assert "--test" in run("--model", tmp_path / "model", "--test", name, "--tune", expected=2)
