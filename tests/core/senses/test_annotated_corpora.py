"""Readers of annotated corpora: what they give, and what they say about damage."""

import json
import tarfile

import pytest
from tiny_wordnet import semcor_file

from alacarte import Corpus, Targets
from alacarte.errors import BadCorpus
from alacarte.senses import documents, read_conllu, read_semcor, spacy_documents

# ------------------------------------------------------------------------------------------------- SemCor


def test_semcor(tmp_path):
    text = semcor_file(
        ["The", ("New_York", "location", "1:03:00::"), ("took_place", "take_place", "2:30:00::"), "."],
        [("years", "year", "1:28:02::;1:28:01::"), ("only", "only", "5:00:00:single(a):00"), ("x", "x", "")],
    )
    (tmp_path / "br-a01").write_text(text)
    first, second = read_semcor(tmp_path)
    assert first.words == ("The", "New York", "took place", ".")
    assert (first.id, first.document_id) == ("br-a01.s1", "br-a01")
    assert [(i.start, i.end, i.lemma, i.pos, i.keys) for i in first.instances] == [
        (1, 2, "location", "n", ("location%1:03:00::",)),
        (2, 3, "take_place", "v", ("take_place%2:30:00::",)),
    ]
    assert second.instances[0].keys == ("year%1:28:02::", "year%1:28:01::")
    assert second.instances[1].keys == ("only%5:00:00:single:00",)  # without the marker
    as_is = list(read_semcor(tmp_path, repair=False))[1]
    assert as_is.instances[1].keys == ("only%5:00:00:single(a):00",)
    assert len(second.instances) == 2
    assert len({i.id for s in (first, second) for i in s.instances}) == 4


def test_semcor_without_the_senses_that_it_numbers_0(tmp_path):
    text = semcor_file([("year", "year", "1:28:02::;1:28:01::"), ("man", "man", "1:14:00::"), ("x", "x", "1:03:00::")])
    text = text.replace("wnsn=1 lexsn=1:28", "wnsn=0;1 lexsn=1:28").replace("wnsn=1 lexsn=1:14", "wnsn=0 lexsn=1:14")
    (tmp_path / "br-a01").write_text(text)
    (sentence,) = read_semcor(tmp_path, missing=False)
    assert sentence.words == ("year", "man", "x")
    assert [instance.keys for instance in sentence.instances] == [("year%1:28:01::",), ("x%1:03:00::",)]
    assert len(next(read_semcor(tmp_path)).instances) == 3


def test_semcor_from_its_archive_leaves_other_files_alone(tmp_path):
    folder = tmp_path / "semcor3.0"
    (folder / "brown1" / "tagfiles").mkdir(parents=True)
    (folder / "brown1" / "tagfiles" / "br-k01").write_text(semcor_file(["A", ("bank", "bank", "1:17:01::")]))
    (folder / "README").write_text("not SGML")
    with tarfile.open(tmp_path / "semcor.tar.xz", "w:xz") as archive:
        archive.add(folder, "semcor3.0")
    assert [s.text for s in read_semcor(tmp_path / "semcor.tar.xz")] == ["A bank"]


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda text: text.replace("</wf>", "</w", 1), "line 5: not an element"),
        (lambda text: text.replace("<s snum=1>\n", ""), "line 4: outside of a sentence"),
        (lambda text: text[: text.index("</s>")], "cut off"),
    ],
)
def test_damaged_semcor_names_the_line(tmp_path, damage, message):
    (tmp_path / "br-a01").write_text(damage(semcor_file(["A", ("bank", "bank", "1:17:01::")])))
    with pytest.raises(BadCorpus, match=message):
        list(read_semcor(tmp_path))


def test_a_folder_without_semcor_is_an_error(tmp_path):
    (tmp_path / "notes.txt").write_text("x")
    with pytest.raises(BadCorpus, match="holds no file"):
        list(read_semcor(tmp_path))


# ----------------------------------------------------------------------------------------------- CoNLL-U

CONLLU = """# text = vámonos al mar de New York
1-2\tvámonos\t_\t_\t_\t_\t_\t_\t_\t_
1\tvamos\tir\tVERB\t_\tMood=Imp|Number=Plur\t0\troot\t_\tSense=go%2:38:00::
2\tnos\tnosotros\tPRON\t_\t_\t1\tobj\t_\t_
3\tNew\tnew\tPROPN\t_\t_\t1\tobl\t_\tNER=B-LOC|Sense=_
4\tYork\tyork\tPROPN\t_\t_\t3\tflat\t_\tNER=I-LOC
5\tParis\tparis\tPROPN\t_\t_\t3\tflat\t_\tNER=B-LOC
5.1\tsilent\tsilent\tPROPN\t_\t_\t3\tflat\t_\tNER=B-LOC

"""


def test_conllu_forms_entities_and_senses(tmp_path):
    file = tmp_path / "a.conllu"
    file.write_text(CONLLU)
    (forms,) = read_conllu(file)
    assert list(forms.tokens) == ["vamos", "nos", "New", "York", "Paris"]
    assert forms.spans[:2] == ((0, 1, "ir|Mood=Imp|Number=Plur"), (1, 2, "nosotros"))
    assert next(read_conllu(file, "NER")).spans == ((2, 4, "New York/LOC"), (4, 5, "Paris/LOC"))
    assert next(read_conllu(file, "Sense")).spans == ((0, 1, "go%2:38:00::"),)
    assert next(read_conllu(file, "UPOS")).spans[0] == (0, 1, "VERB")


def test_conllu_plus_names_its_columns(tmp_path):
    file = tmp_path / "a.conllup"
    file.write_text("# global.columns = ID FORM NE\n1\tAnn\tS-PER\n2\tran\tO\n\n1\tBob\tB-PER\n2\tLee\tE-PER\n")
    assert [d.spans for d in read_conllu(file, "NE")] == [((0, 1, "Ann/PER"),), ((0, 2, "Bob Lee/PER"),)]


def test_conllu_errors(tmp_path):
    file = tmp_path / "a.conllu"
    file.write_text("1\tAnn\n")
    with pytest.raises(BadCorpus, match="line 1: 2 columns"):
        list(read_conllu(file))
    file.write_text("# global.columns = ID WORD\n1\tAnn\n")
    with pytest.raises(BadCorpus, match="line 1: no column is called FORM"):
        list(read_conllu(file))
    file.write_text(CONLLU)
    with pytest.raises(BadCorpus, match="no word has a value for 'Nothing'"):
        list(read_conllu(file, "Nothing"))


# -------------------------------------------------------------------------------- spaCy, JSON lines


def test_spacy_entities():
    spacy = pytest.importorskip("spacy")
    nlp = spacy.blank("en")
    nlp.add_pipe("entity_ruler").add_patterns(
        [{"label": "GPE", "pattern": "New York"}, {"label": "PER", "pattern": "Ann", "id": "x"}]
    )
    (document,) = spacy_documents([nlp("Ann left New York.")])
    assert document.spans == ((0, 3, "Ann/PER"), (9, 17, "New York/GPE"))


def test_every_reader_feeds_the_same_machinery(tmp_path, model):
    """A sense, an entity, a morphological form and a span of JSON lines, each the word after `river water`."""
    (tmp_path / "br-a01").write_text(semcor_file(["river", "water", ("X", "x", "1:00:00::")]))
    row = "{}\t{}\t{}\tX\t_\t{}\t0\t_\t_\t{}\n"
    (tmp_path / "a.conllu").write_text(
        row.format(1, "river", "river", "_", "_")
        + row.format(2, "water", "_", "_", "_")
        + row.format(3, "X", "x", "Number=Plur", "NER=B-LOC")
    )
    (tmp_path / "a.jsonl").write_text(json.dumps({"text": "river water X", "spans": [[12, 13, "thing"]]}) + "\n")
    sources = {
        "x%1:00:00::": documents(read_semcor(tmp_path / "br-a01")),
        "X/LOC": read_conllu(tmp_path / "a.conllu", "NER"),
        "x|Number=Plur": read_conllu(tmp_path / "a.conllu"),
        "thing": Corpus(tmp_path / "a.jsonl"),
    }
    for label, source in sources.items():
        assert model.induce(source, Targets.spans([label]))[label].tolist() == [5.0, 0.0], label
