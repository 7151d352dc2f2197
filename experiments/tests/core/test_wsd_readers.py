"""Readers of test sets and of the Brown corpus: what they give, and what they say about damage."""

import pytest
from alacarte_experiments.wsd.brown import read_brown
from alacarte_experiments.wsd.semeval import read_gold, read_semeval

from alacarte.errors import BadCorpus

# ------------------------------------------------------------------------------------------------ SemEval

UNIFIED = """<?xml version="1.0" encoding="UTF-8" ?>
<corpus lang="en" source="x"><text id="d000"><sentence id="d000.s000">
<wf lemma="the" pos="DET">The</wf>
<instance id="d000.s000.t000" lemma="river_bank" pos="NOUN">river bank</instance>
<instance id="d000.s000.t001" lemma="be" pos="VERB">is</instance>
</sentence></text></corpus>"""
SPANS = """<?xml version="1.0" encoding="UTF-8" ?>
<corpus lang="en"><text id="d001"><sentence id="d001.s001">
<wf id="d001.s001.t001" pos="X">The</wf>
<wf id="d001.s001.t002" lemma="hot" pos="J">hot</wf>
<wf id="d001.s001.t003" lemma="dog" pos="N">dog</wf>
</sentence></text></corpus>"""


def write(tmp_path, xml, gold):
    (tmp_path / "x.xml").write_text(xml)
    (tmp_path / "x.key").write_text(gold)
    return tmp_path / "x.xml", tmp_path / "x.key"


@pytest.mark.parametrize("line", ["d000.s000.t000 {}", "d000 d000.s000.t000 {} "])  # unified, and SemEval-2013
def test_instances_with_their_keys(tmp_path, line):
    (sentence,) = read_semeval(*write(tmp_path, UNIFIED, line.format("bank%1:17:01:: bank%1:17:02::") + "\n"))
    assert sentence.words == ("The", "river bank", "is")
    bank, verb = sentence.instances
    assert (bank.lemma, bank.pos, bank.keys) == ("river_bank", "n", ("bank%1:17:01::", "bank%1:17:02::"))
    assert (verb.pos, verb.keys) == ("v", ())  # no answer: no keys


def test_spans_of_words_with_answers_of_several_kinds(tmp_path):
    gold = (
        "d001.s001.t002\td001.s001.t003\tbn:1n\twiki:hot_dog\twn:hot_dog%1:13:01::\n"
        "d001.s001.t002\td001.s001.t002\tbn:2a\twn:hot%3:00:01::\n"
        "d001.s001.t003\td001.s001.t003\tbn:3n\twiki:dog\n"
    )
    (sentence,) = read_semeval(*write(tmp_path, SPANS, gold))
    assert [(i.start, i.end, i.lemma, i.pos, i.keys) for i in sentence.instances] == [
        (1, 3, "hot_dog", "n", ("hot_dog%1:13:01::",)),
        (1, 2, "hot", "a", ("hot%3:00:01::",)),
    ]


def test_an_answer_for_a_phrase_as_one_for_its_last_word(tmp_path):
    gold = (
        "d001.s001.t002\td001.s001.t003\tbn:1n\twn:hot_dog%1:13:01::\n"
        "d001.s001.t003\td001.s001.t003\tbn:3n\twn:dog%1:05:00::\twn:hot_dog%1:13:01::\n"
    )
    (sentence,) = read_semeval(*write(tmp_path, SPANS, gold), last_word=True)
    assert [(i.start, i.end, i.lemma, i.pos, i.keys) for i in sentence.instances] == [
        (2, 3, "dog", "n", ("hot_dog%1:13:01::", "dog%1:05:00::")),
    ]


def test_malformed_xml_names_the_place(tmp_path):
    xml, gold = write(tmp_path, UNIFIED.replace("</instance>", "", 1), "")
    with pytest.raises(BadCorpus, match=r"malformed XML.*line 6"):
        list(read_semeval(xml, gold))
    with pytest.raises(BadCorpus, match="no <sentence>"):
        list(read_semeval(write(tmp_path, "<corpus/>", "")[0]))
    with pytest.raises(BadCorpus, match="check the path"):
        list(read_semeval(tmp_path / "none.xml"))


def test_answers_of_another_test_set_are_an_error(tmp_path):
    with pytest.raises(BadCorpus, match="1 of 1 answers"):
        list(read_semeval(*write(tmp_path, UNIFIED, "d999.s000.t000 bank%1:17:01::\n")))


@pytest.mark.parametrize("line", ["d0.t1 bank%9:17:01::", "bank%1:17:01::", "a b c bank%1:17:01::"])
def test_a_line_that_is_no_answer(tmp_path, line):
    (tmp_path / "key").write_text(f"d0.t0 bank%1:17:01::\n{line}\n")
    with pytest.raises(BadCorpus, match="line 2: not an answer"):
        read_gold(tmp_path / "key")


# -------------------------------------------------------------------------------------------------- Brown


def test_brown(tmp_path):
    (tmp_path / "ca01").write_text("\n\n\tThe/at Jury/nn-tl said/vbd 1/2/cd ./.\n")
    (tmp_path / "README").write_text("no tags here")
    assert list(read_brown(tmp_path)) == ["The Jury said 1/2 ."]
    (tmp_path / "ca02").write_text("plain text\n")
    with pytest.raises(BadCorpus, match=r"ca02, line 1: not word/tag pairs"):
        list(read_brown(tmp_path))
