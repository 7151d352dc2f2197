"""Princeton's database files, also as NLTK downloads them, and the wn library behind one interface."""

import shutil
import tarfile

import pytest
from tiny_wordnet import COUNTS, SYNSETS, write_wordnet

from alacarte.errors import BadWordNet, UnknownKey
from alacarte.senses.wordnet import open_wordnet, simple_pos
from alacarte.senses.wordnet_files import DatabaseWordNet


@pytest.fixture(params=["files", "archive", "nltk", "nltk, packed", "wn"])
def any_wordnet(request, dict_folder, tmp_path, monkeypatch):
    """The same tiny WordNet through every door."""
    if request.param == "files":
        return open_wordnet(dict_folder)
    if request.param == "archive":
        with tarfile.open(tmp_path / "wn.tar.xz", "w:xz") as archive:
            archive.add(dict_folder, "dict")
        return open_wordnet(tmp_path / "wn.tar.xz")
    if request.param.startswith("nltk"):
        return _nltk(dict_folder, monkeypatch, packed="packed" in request.param)
    return _wn(open_wordnet(dict_folder), tmp_path)


def _nltk(folder, monkeypatch, packed=False):
    """The tiny WordNet where NLTK's downloader puts it: a folder, or the archive that it did not unpack."""
    data = pytest.importorskip("nltk.data")
    home = folder.parent / "nltk_data"
    shutil.copytree(folder, home / "corpora" / "wordnet")
    if packed:
        shutil.make_archive(str(home / "corpora" / "wordnet"), "zip", home / "corpora", "wordnet")
        shutil.rmtree(home / "corpora" / "wordnet")
    monkeypatch.setattr(data, "path", [str(home)])
    return open_wordnet("nltk")


def _wn(source, tmp_path, counts=True):
    """The tiny WordNet again, written as WN-LMF with identifiers like those of Open English WordNet."""
    wn = pytest.importorskip("wn")
    from alacarte.senses.wordnet_wn import WnWordNet

    synsets = list(source.all_synsets())
    words = {}
    for synset in synsets:
        for lemma, key in zip(synset.lemmas, synset.keys, strict=True):
            words.setdefault((lemma, synset.pos), []).append((synset, key))  # satellites are words of their own
    forms = {"goose": "geese", "run": "ran"}
    entries = []
    for number, ((lemma, pos), senses) in enumerate(words.items()):
        order = [synset.id for synset in source.synsets(lemma, pos)]
        senses = sorted(senses, key=lambda pair: order.index(pair[0].id))
        inner = "".join(
            f'<Sense id="oewn-{key.replace("%", "__").replace(":", ".")}" synset="t-{synset.id}">'
            f"{f'<Count>{COUNTS[key]}</Count>' if counts and key in COUNTS else ''}</Sense>"
            for synset, key in senses
        )
        form = f'<Form writtenForm="{forms[lemma]}"/>' if lemma in forms else ""
        shown = lemma.replace("_", " ")
        entries.append(
            f'<LexicalEntry id="t-w{number}"><Lemma writtenForm="{shown}" partOfSpeech="{pos}"/>'
            f"{form}{inner}</LexicalEntry>"
        )
    parts = []
    for synset in synsets:
        members = " ".join(f"t-w{list(words).index((lemma, synset.pos))}" for lemma in synset.lemmas)
        examples = "".join(f"<Example>{text}</Example>" for text in synset.examples)
        parts.append(
            f'<Synset id="t-{synset.id}" ili="" partOfSpeech="{synset.pos}" members="{members}">'
            f"<Definition>{synset.definition}</Definition>{examples}</Synset>"
        )
    (tmp_path / "tiny.xml").write_text(
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<!DOCTYPE LexicalResource SYSTEM "http://globalwordnet.github.io/schemas/WN-LMF-1.1.dtd">\n'
        '<LexicalResource xmlns:dc="https://globalwordnet.github.io/schemas/dc/">'
        '<Lexicon id="oewn" label="tiny" language="en" email="a@b" license="x" version="2024">'
        + "".join(entries)
        + "".join(parts)
        + "</Lexicon></LexicalResource>"
    )
    wn.config.data_directory = tmp_path / "wn-data"
    wn.add(tmp_path / "tiny.xml", progress_handler=None)
    return WnWordNet("oewn:2024")


def test_every_door_leads_to_the_same_wordnet(any_wordnet):
    assert any_wordnet.version in ("3.0", "2024")
    assert len(list(any_wordnet.all_synsets())) == len(SYNSETS)
    assert [synset.id for synset in any_wordnet.synsets("Bank", "n")] == ["bank.n.01", "depository.n.01"]
    money = any_wordnet.synset("depository.n.01")
    assert money.lemmas == ("depository", "bank")
    assert money.keys == ("depository%1:14:00::", "bank%1:14:00::")
    assert money.key("bank") == "bank%1:14:00::"
    assert (money.definition, money.examples) == ("an institution that keeps money", ("a loan",))
    assert any_wordnet.count("bank%1:14:00::") == 5
    assert any_wordnet.count("bank%2:38:00::") == 0
    assert any_wordnet.counted
    with pytest.raises(UnknownKey, match="no sense key"):
        any_wordnet.count("bank%1:99:99::")


def test_satellites_carry_the_head_of_their_cluster(any_wordnet):
    (rapid,) = any_wordnet.synsets("rapid", "a")
    assert (rapid.id, rapid.pos) == ("rapid.s.01", "s")
    assert rapid.keys == ("rapid%5:00:00:fast:01", "speedy%5:00:00:fast:01")
    assert any_wordnet.by_key("speedy%5:00:00:fast:01").id == "rapid.s.01"


def test_adjectives_and_satellites_are_numbered_together(any_wordnet):
    """New versions of NLTK would call the second one steady.s.01."""
    assert [synset.id for synset in any_wordnet.synsets("steady", "a")] == ["steady.a.01", "steady.s.02"]
    assert any_wordnet.synset("steady.s.02").keys == ("steady%5:00:01:fast:01",)
    assert any_wordnet.by_key("steady%5:00:01:fast:01").id == "steady.s.02"
    assert [synset.id for synset in any_wordnet.synsets("quiet", "a")] == ["quiet.s.01", "quiet.a.02"]


def test_ids_and_keys_lead_back_to_their_synset(any_wordnet):
    for synset in any_wordnet.all_synsets():
        assert any_wordnet.synset(synset.id) == synset
        assert all(any_wordnet.by_key(key) == synset for key in synset.keys)


def test_inflected_words_are_found(any_wordnet):
    assert any_wordnet.base_forms("banks", "n") == ["bank"]
    assert any_wordnet.base_forms("geese", "n") == ["goose"]
    assert any_wordnet.base_forms("ran", "v") == ["run"]
    assert any_wordnet.base_forms("heads of state", "n") == ["head_of_state"]
    assert [synset.id for _, synset in any_wordnet.find("banked")] == ["bank.v.01"]
    assert any_wordnet.find("nonsense") == []


def test_unknown_ids_are_errors(any_wordnet):
    for name in ("bank.n.09", "bank.x.01", "bank", "zzz.n.01", "bank.n.00"):
        with pytest.raises(UnknownKey, match="no synset"):
            any_wordnet.synset(name)


def test_unknown_keys_name_the_version(any_wordnet):
    assert any_wordnet.find_key("bank%1:99:99::") is None
    assert any_wordnet.find_key("no key at all") is None
    with pytest.raises(UnknownKey, match=f"WordNet {any_wordnet.version}"):
        any_wordnet.by_key("bank%1:99:99::")


def test_a_phrase_whose_verb_is_irregular(wordnet):
    assert wordnet.base_forms("took place", "v") == ["take_place"]


def test_missing_files_are_named(dict_folder):
    (dict_folder / "index.verb").unlink()
    with pytest.raises(BadWordNet, match=r"index\.verb"):
        DatabaseWordNet(dict_folder)
    with pytest.raises(BadWordNet, match="no such file"):
        DatabaseWordNet(dict_folder / "elsewhere")


def test_changed_line_ends_are_an_error_and_not_another_synset(dict_folder):
    data = (dict_folder / "data.noun").read_bytes().replace(b"\n", b"\r\n")
    (dict_folder / "data.noun").write_bytes(data)
    with pytest.raises(BadWordNet, match=r"data\.noun has no synset at byte"):
        DatabaseWordNet(dict_folder).synsets("bank", "n")


@pytest.mark.parametrize("door", ["files", "nltk", "wn"])
def test_without_counts_a_count_is_an_error_and_not_zero(door, tmp_path, monkeypatch):
    """Issue 14, fault 21: Open English WordNet through wn has no counts, and every sense was said to be met 0 times."""
    folder = write_wordnet(tmp_path / "bare", counts=False)
    if door == "files":
        wordnet = open_wordnet(folder)
    else:
        wordnet = _nltk(folder, monkeypatch) if door == "nltk" else _wn(open_wordnet(folder), tmp_path, counts=False)
    assert not wordnet.counted
    with pytest.raises(BadWordNet, match="does not say how often senses occur"):
        wordnet.count("bank%1:14:00::")


def test_counts_from_any_of_the_three_files(dict_folder):
    (dict_folder / "cntlist.rev").unlink()
    (dict_folder / "index.sense").write_text("bank%1:14:00:: 00000000 2 7\n")
    assert DatabaseWordNet(dict_folder).count("bank%1:14:00::") == 7
    (dict_folder / "cntlist").write_text("6 bank%1:14:00:: 2\n")
    assert DatabaseWordNet(dict_folder).count("bank%1:14:00::") == 6


def test_installed_wordnet_is_found_and_its_absence_explained(dict_folder, monkeypatch, tmp_path):
    monkeypatch.setattr("alacarte.senses.wordnet_files.INSTALLED_IN", (str(tmp_path / "none"),))
    monkeypatch.delenv("WNHOME", raising=False)
    monkeypatch.delenv("WNSEARCHDIR", raising=False)
    with pytest.raises(BadWordNet, match="no WordNet is installed"):
        open_wordnet()
    home = tmp_path / "home"
    shutil.copytree(dict_folder, home / "dict")
    monkeypatch.setenv("WNHOME", str(home))
    assert open_wordnet().version == "3.0"


def test_tags_of_other_tag_sets():
    assert [simple_pos(tag) for tag in ("NOUN", "PROPN", "NNP", "VVD", "J", "ADV", "PUNCT", "X")] == [
        "n",
        "n",
        "n",
        "v",
        "a",
        "r",
        None,
        None,
    ]


def test_what_to_do_where_nltk_has_no_wordnet(tmp_path, monkeypatch):
    monkeypatch.setattr(pytest.importorskip("nltk.data"), "path", [str(tmp_path)])
    with pytest.raises(BadWordNet, match=r"nltk\.downloader wordnet"):
        open_wordnet("nltk")
