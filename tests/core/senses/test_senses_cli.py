"""`alc senses build`, `disambiguate`, `nearest`."""

import json

import pytest
from tiny_wordnet import write_wordnet
from typer.testing import CliRunner

from alacarte import WordVectors
from alacarte.cli import app


@pytest.fixture
def run(model, tmp_path, dict_folder):
    model.save(tmp_path / "model")

    def call(*words, expected=0, **options):
        words = [
            str(word).replace("MODEL", str(tmp_path / "model")).replace("DICT", str(dict_folder)) for word in words
        ]
        result = CliRunner().invoke(app, ["senses", *words], **options)
        assert result.exit_code == expected, result.output
        return result

    return call


@pytest.fixture
def built(run, semcor, tmp_path):
    out = tmp_path / "senses.safetensors"
    near, counts = tmp_path / "near.safetensors", tmp_path / "counts.tsv"
    result = run(
        "build",
        "--model",
        "MODEL",
        "--wordnet",
        "DICT",
        "--semcor",
        semcor,
        "--out",
        out,
        "--near",
        near,
        "--counts",
        counts,
        "--json",
    )
    return out, near, counts, json.loads(result.stdout)


def test_build(built):
    out, near, counts, facts = built
    assert facts["seen"] == 2
    assert facts["unknown_sense_keys"] == {}
    assert facts["version"] == "3.0"
    assert len(WordVectors.load(out)) == facts["synsets"] > 2
    assert set(WordVectors.load(near).words) <= set(WordVectors.load(out).words)
    assert counts.read_text() == "bank%1:14:00::\t1\nbank%1:17:01::\t2\n"


@pytest.mark.parametrize("how", ["combined", "semcor"])
def test_other_ways_to_build(run, semcor, tmp_path, how):
    run(
        "build",
        "--model",
        "MODEL",
        "--wordnet",
        "DICT",
        "--semcor",
        semcor,
        "--method",
        how,
        "--out",
        tmp_path / "x.vec",
    )
    assert ("goose.n.01" in WordVectors.load(tmp_path / "x.vec")) == (how == "combined")


def test_build_refuses_what_has_no_effect(run, semcor, tmp_path):
    base = ("build", "--model", "MODEL", "--wordnet", "DICT", "--out", tmp_path / "x.vec")
    assert "--semcor" in run(*base, expected=2).output
    assert (
        "no such file"
        in run(*base[:3], "--wordnet", tmp_path / "no", *base[5:], "--method", "gloss", expected=1).output
    )


def test_disambiguate_as_text_and_as_json_lines(run, built):
    base = ("disambiguate", "--model", "MODEL", "--wordnet", "DICT", "--senses", built[0])
    text = "We fished by the bank. The bank gave a loan."
    shown = run(*base, "--context", text).stdout
    assert "bank%1:17:01::" in shown
    assert "bank%1:14:00::" in shown
    assert "sloping land beside water" in shown
    lines = json.loads(run(*base, "--json", input=text).stdout)
    assert [line["text"] for line in lines] == ["We fished by the bank .", "The bank gave a loan ."]
    assert [sense["key"] for line in lines for sense in line["senses"]] == ["bank%1:17:01::", "bank%1:14:00::"]
    assert all(0 < sense["confidence"] <= 1 for line in lines for sense in line["senses"])


def test_disambiguate_reads_files(run, built, tmp_path):
    """Issue 21: the name of a file was taken for the text."""
    base = ("disambiguate", "--model", "MODEL", "--wordnet", "DICT", "--senses", built[0], "--json")
    (tmp_path / "bank.txt").write_text("We fished by the bank.\nThe bank gave a loan.\n")
    (tmp_path / "table.csv").write_text("body,year\nWe fished by the bank.,1990\n")
    lines = json.loads(run(*base, tmp_path / "bank.txt").stdout)
    assert [line["text"] for line in lines] == ["We fished by the bank .", "The bank gave a loan ."]
    table = json.loads(run(*base, tmp_path / "table.csv", "--text", "body").stdout)
    assert [line["text"] for line in table] == ["We fished by the bank ."]
    refused = run(*base, "The bank gave a loan.", expected=1).output
    assert "--context" in refused
    assert "not both" in run(*base, tmp_path / "bank.txt", "--context", "a bank", expected=2).output


def test_disambiguate_options(run, built):
    base = ("disambiguate", "--model", "MODEL", "--wordnet", "DICT", "--senses", built[0])
    (only,) = json.loads(run(*base, "--json", "--word", "goose", "--context", "The geese fished by the bank.").stdout)
    assert [sense["synset"] for sense in only["senses"]] == ["goose.n.01"]
    none = run(*base, "--no-prior", "--context", "zzz bank")
    assert "1 words have no answer" in none.stderr
    assert "first sense" in run(*base, "--no-prior", "--fallback", "--context", "zzz bank").stdout
    assert (
        json.loads(run(*base, "--json", "--counts", built[2], "--context", "zzz bank").stdout)[0]["senses"][0]["source"]
        == "prior"
    )
    river = ("--json", "--no-prior", "--word", "bank", "--context", "He fished from a bank by the river.")
    alone, both = (run(*base, *river, *more).stdout for more in ((), ("--near", built[1])))
    assert json.loads(alone)[0]["senses"][0]["cosine"] != json.loads(both)[0]["senses"][0]["cosine"]
    assert "no text" in run(*base, input="\n", expected=2).output
    assert "not a name, a tab and a number" in run(*base, "--counts", built[0], "--context", "bank", expected=1).output


def test_disambiguate_with_a_wordnet_without_counts(run, built, tmp_path):
    bare = write_wordnet(tmp_path / "bare", counts=False)
    base = ("disambiguate", "--model", "MODEL", "--wordnet", bare, "--senses", built[0])
    refused = run(*base, "--context", "We fished by the bank.", expected=1)
    assert "--no-prior" in refused.output
    assert "counts=None" not in refused.output  # that is for Python
    assert "bank%1:17:01::" in run(*base, "--no-prior", "--context", "We fished by the bank.").stdout
    assert "bank%1:17:01::" in run(*base, "--counts", built[2], "--context", "We fished by the bank.").stdout


def test_nearest(run, built, tmp_path):
    words = tmp_path / "model" / "vectors.safetensors"
    base = ("nearest", "--wordnet", "DICT", "--senses", built[0], "--vectors", words, "-k", 1)
    found = json.loads(run(*base, "--word", "bank.n.01", "--json").stdout)
    assert found["bank.n.01"]["nearest"][0]["word"] in ("river", "water", "fished")
    found = json.loads(run(*base, "--word", "banks", "--json").stdout)
    assert list(found) == ["bank.n.01", "depository.n.01", "bank.v.01"]
    found = json.loads(run(*base, "--word", "bank%1:14:00::", "--counts", built[2], "--json").stdout)["depository.n.01"]
    assert found["nearest"][0]["word"] in ("loan", "money")
    assert (found["gloss"], found["seen"]) == ("an institution that keeps money", 1)
    shown = run(*base, "--word", "bank%1:14:00::", "--counts", built[2]).stdout
    assert "seen" in shown
    assert "institution" in shown
    assert "seen" not in run(*base, "--word", "bank%1:14:00::").stdout
    synsets = run(*base[:5], "-k", 1, "--word", "depository.n.01", "--json").stdout
    assert [item["word"] for item in json.loads(synsets)["depository.n.01"]["nearest"]] != ["depository.n.01"]
    assert "no synset 'bank.n.77'" in run(*base, "--word", "bank.n.77", expected=1).output
    assert "no sense of 'qwerty'" in run(*base, "--word", "qwerty", expected=1).output
