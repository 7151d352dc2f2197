"""Some thousand damaged files of every format that is read; `benchmarks/torture_mutants.py` makes any number."""

import contextlib
import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest

import alacarte
from alacarte._io.artifact import kind_of
from alacarte._io.files import compression
from alacarte._io.sqlite import SQLITE_MAGIC
from alacarte.errors import AlacarteError
from alacarte.text.options import CorpusOptions, Format
from alacarte.vectors import formats

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "torture_mutants.py"
NEEDED = ("rdata", "usearch", "zstandard", "pyarrow", "pandas", "tokenizers")


def test_every_format_that_is_read_has_mutants(tmp_path):
    for extra in NEEDED:
        pytest.importorskip(extra)
    spec = importlib.util.spec_from_file_location("torture_mutants", SCRIPT)
    mutants = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = mutants
    spec.loader.exec_module(mutants)
    vectors, texts, kinds, packed, databases = set(), set(), set(), set(), set()
    for number, seed in enumerate(mutants.all_seeds()):
        mutants.put(tmp_path / str(number), seed.files)
        for name in seed.files:
            path = tmp_path / str(number) / name
            head = path.read_bytes()[:16]
            with contextlib.suppress(AlacarteError):
                texts.add(CorpusOptions().format_of(name))
            kinds.add(kind_of(path))
            packed.add(compression(head))
            if head.startswith(SQLITE_MAGIC):
                databases.add(path.name)
            for place in (path, path.parent):
                with contextlib.suppress(AlacarteError):
                    vectors.add(formats.sniff(place)[0])
    assert vectors == set(formats.FORMATS)
    assert texts == set(get_args(Format))
    assert packed >= {"gz", "bz2", "xz", "zst"}
    source = [path.read_text() for path in Path(alacarte.__file__).parent.rglob("*.py") if path.name != "sqlite.py"]
    written = {match[1] for text in source for match in re.finditer(r'^\w*KIND\b.* = "([a-z ]+)"', text, re.MULTILINE)}
    assert len(written) > 10
    assert kinds >= written
    assert databases == {match[1] for text in source for match in re.finditer(r'"([a-z]+\.sqlite)"', text)}


@pytest.mark.skipif(sys.platform != "linux", reason="counts on limits of Linux")
@pytest.mark.parametrize("mutants", [500, pytest.param(3000, marks=pytest.mark.long)])
def test_no_damaged_file_crashes_hangs_or_passes(tmp_path, mutants):
    for extra in NEEDED:
        pytest.importorskip(extra)
    command = [sys.executable, str(SCRIPT), "--mutants", str(mutants), "--seed", "7", "--keep", str(tmp_path / "bad")]
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path), "OMP_NUM_THREADS": "1"}
    result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300, env=environment)
    assert result.returncode == 0, result.stdout + result.stderr
    assert f"{mutants:,} mutants" in result.stdout
    assert not (tmp_path / "bad").exists()
