"""Some thousand damaged files of every format that is read; `benchmarks/torture_mutants.py` makes any number."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "torture_mutants.py"


@pytest.mark.skipif(sys.platform != "linux", reason="counts on limits of Linux")
@pytest.mark.parametrize("mutants", [500, pytest.param(3000, marks=pytest.mark.long)])
def test_no_damaged_file_crashes_hangs_or_passes(tmp_path, mutants):
    for extra in ("rdata", "usearch", "zstandard", "pyarrow", "pandas", "tokenizers"):
        pytest.importorskip(extra)
    command = [sys.executable, str(SCRIPT), "--mutants", str(mutants), "--seed", "7", "--keep", str(tmp_path / "bad")]
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path), "OMP_NUM_THREADS": "1"}
    result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300, env=environment)
    assert result.returncode == 0, result.stdout + result.stderr
    assert f"{mutants:,} mutants" in result.stdout
    assert not (tmp_path / "bad").exists()
