"""`alc eval` from end to end: tables, JSON, files, and a run repeated from its settings."""

import json
import subprocess
import sys
import tomllib

import pytest
from typer.testing import CliRunner

from alacarte.cli import app

COMMANDS = ["crw", "crw-build", "nonce", "chimera", "wordsim", "figure1", "sweep"]


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def alc(files, cache):
    def run(command, *options, data=None, code=0):
        where = ["--data", str(files / (data or command))] if data != "" else []
        common = ["--vectors", str(files / "vectors.safetensors"), "--corpus", str(files / "corpus.txt")]
        protocol = ["--window", "8", "--tau", "10", "--cache", str(cache)]
        result = CliRunner().invoke(app, ["eval", command, *where, *common, *protocol, *map(str, options)])
        assert result.exit_code == code, result.output
        return result

    return run


@pytest.mark.parametrize("first", ["alacarte.cli", "alacarte_experiments.cli"])
def test_either_package_can_be_imported_first(first):
    code = (
        f"import {first}, alacarte.cli, typer; alc = typer.main.get_command(alacarte.cli.app); "
        "context = typer.Context(alc); print(*alc.list_commands(context), alc.get_command(context, 'eval').name)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split().count("eval") == 2


@pytest.mark.parametrize("command", COMMANDS)
def test_help(command):
    result = CliRunner().invoke(app, ["eval", command, "--help"])
    assert result.exit_code == 0
    assert "--corpus" in result.output


def test_a_table(alc):
    result = alc("nonce", "--system", "additive", "--system", "alacarte")
    lines = result.stdout.splitlines()
    assert any("alacarte" in line and "ours" in line for line in lines)
    assert any("165.5" in line and "Khodak et al. 2018" in line for line in lines)
    assert any(line.startswith("corpus tokens: ") for line in lines)


def test_json_has_settings_protocol_and_rows(alc):
    found = json.loads(alc("chimera", "--system", "alacarte", "--json").stdout)
    assert found["settings"]["window"] == 8
    assert found["protocol"]["vocabulary"] == 380
    ours = [row for row in found["rows"] if row["source"] == "ours"]
    assert [(row["sentences"], row["metric"]) for row in ours[:3]] == [(2, "ρ"), (4, "ρ"), (6, "ρ")]


def test_a_run_is_repeated_from_its_settings(alc, tmp_path, cache):
    pytest.importorskip("matplotlib")
    alc("crw", "--system", "alacarte", "--sizes", "1,2", "--trials", "3", "--out", tmp_path / "one")
    names = {"results.csv", "settings.toml", "crw.png", "crw.svg"}
    assert {path.name for path in (tmp_path / "one").iterdir()} == names
    assert tomllib.loads((tmp_path / "one" / "settings.toml").read_text())["sizes"] == [1, 2]
    again = ["eval", "crw", "--config", str(tmp_path / "one" / "settings.toml")]
    again += ["--cache", str(cache / "fresh"), "--out", str(tmp_path / "two")]
    result = CliRunner().invoke(app, again)
    assert result.exit_code == 0, result.output
    for name in ("results.csv", "settings.toml"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


def test_a_sweep_and_the_final_run_it_leads_to(alc, files, tmp_path, cache):
    pytest.importorskip("matplotlib")
    alc("sweep", "--task", "nonce", "--grid", "tau=10,20", "--out", tmp_path, data="nonce")
    assert (tmp_path / "results.csv").is_file()
    final = ["eval", "nonce", "--config", str(tmp_path / "best.toml"), "--split", "test", "--system", "alacarte"]
    result = CliRunner().invoke(app, [*final, "--cache", str(cache), "--json"])
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["protocol"]["test_settings_so_far"] == 1


def test_figure_1_and_word_similarity(alc, files, tmp_path):
    assert "cosine(A u, v), à la carte" in alc("figure1", data="").stdout
    (tmp_path / "toy.txt").write_text("w1\tw2\t1\nw3\tw4\t2\nw5\tw6\t3\nw7\tnowhere\t4\n")
    result = alc("wordsim", "--system", "additive", "--data", tmp_path, data="")
    assert "coverage" in result.stdout
    assert "1 words left out: no vector, and not in the corpus (nowhere)" in result.stderr


def test_a_data_set_is_built_and_used(files, tmp_path, cache):
    pairs = tmp_path / "pairs.txt"
    pairs.write_text("".join(f"w{i}\tw{i + 100}\t{i}\n" for i in range(30)))
    build = ["eval", "crw-build", "--pairs", str(pairs), "--corpus", str(files / "corpus.txt")]
    build += ["--out", str(tmp_path / "set"), "--least", "20", "--contexts", "7", "--json"]
    result = CliRunner().invoke(app, build)
    assert result.exit_code == 0, result.output
    made = json.loads(result.stdout)
    assert made["pairs"] > 20
    use = ["eval", "crw", "--data", str(tmp_path / "set"), "--corpus", str(tmp_path / "set" / "corpus.txt.xz")]
    use += ["--vectors", str(files / "vectors.safetensors"), "--tau", "10", "--sizes", "1,2,4", "--trials", "2"]
    result = CliRunner().invoke(app, [*use, "--system", "alacarte", "--json", "--cache", str(cache)])
    assert result.exit_code == 0, result.output
    ours = [row for row in json.loads(result.stdout)["rows"] if row["source"] == "ours"]
    assert [row["n"] for row in ours] == [made["pairs"]] * 3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--system", "fasttext"], "no system is called 'fasttext'"),
        (["--tau", "many"], "tau is a least count"),
        (["--split", "dev"], "train or test"),
        (["--config", "nowhere.toml"], "cannot be read"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(alc, options, message):
    result = alc("nonce", *options, code=1)
    assert message in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1


def test_chimeras_have_no_spelling(alc):
    for name in ("form", "alacarte+form"):
        result = alc("chimera", "--system", name, code=1)
        assert "a chimera has no name" in result.stderr
        assert "it runs additive" in result.stderr


def test_settings_of_another_experiment(alc, tmp_path):
    (tmp_path / "s.toml").write_text('experiment = "crw"\n')
    assert "settings of `alc eval crw`" in alc("nonce", "--config", tmp_path / "s.toml", code=1).stderr


def test_files_of_ones_own(alc, files, tmp_path):
    def rows(result):
        return [row for row in json.loads(result.stdout)["rows"] if row["source"] == "ours"]

    (tmp_path / "definitions.txt").write_bytes((files / "nonce" / "train.txt").read_bytes())
    own = alc("nonce", "--system", "alacarte", "--json", "--data", tmp_path / "definitions.txt", data="")
    assert rows(own) == rows(alc("nonce", "--system", "alacarte", "--json"))

    common = ["--system", "alacarte", "--sizes", "1,2", "--trials", "3", "--json"]
    names = ["--data", files / "crw" / "pairs.tsv", "--contexts", files / "crw" / "contexts.jsonl"]
    assert rows(alc("crw", *common, *names, data="")) == rows(alc("crw", *common))
    assert "pass --contexts" in alc("crw", *common, *names[:2], data="", code=1).stderr

    (tmp_path / "similar.csv").write_text("w1,w2,1\nw3,w4,2\nw5,w6,3\n")
    found = rows(alc("wordsim", "--json", "--data", tmp_path / "similar.csv", data=""))
    assert {row["set"] for row in found} == {"similar"}


def test_a_named_test_file_is_no_train_file(alc, files):
    message = alc("nonce", "--system", "alacarte", "--data", files / "nonce" / "test.txt", data="", code=1).stderr
    assert "--split test" in message


def test_what_must_be_given():
    for arguments, missing in ((["nonce"], "--data"), (["nonce", "--data", "x"], "--corpus"), (["sweep"], "grid")):
        result = CliRunner().invoke(app, ["eval", *arguments])
        assert result.exit_code != 0
        assert missing in result.output
