"""The script that makes what ships inside the package, on a small language."""

import json
import runpy
import sys
from pathlib import Path

import numpy as np
from spelled_language import language, text_in

from alacarte import ALaCarte
from alacarte.model.saving import read_model

SCRIPT = Path(__file__).resolve().parents[3] / "scripts" / "train_pretrained.py"


def test_one_command_makes_all_that_ships(tmp_path, monkeypatch, capsys):
    rng = np.random.default_rng(2)
    vectors = language(rng, roots=40, endings=8)
    vectors.save(tmp_path / "vectors.safetensors")
    text = text_in(vectors, rng, 8000)
    (tmp_path / "text.txt").write_text("\n".join(text) + "\n", encoding="utf-8")
    options = [
        "--vectors",
        tmp_path / "vectors.safetensors",
        "--window",
        2,
        "--tau",
        5,
        "--words",
        40,
        "--out",
        tmp_path,
    ]
    arguments = [str(SCRIPT), "toy", tmp_path / "text.txt", *options]
    monkeypatch.setattr(sys, "argv", [str(word) for word in arguments])
    runpy.run_path(str(SCRIPT), run_name="__main__")
    assert "words in the regression" in capsys.readouterr().out
    saved = read_model(tmp_path / "toy.window2", vectors=vectors)
    assert json.loads((tmp_path / "toy.window2" / "model.json").read_text(encoding="utf-8"))["vectors"] == "toy"
    expected = ALaCarte.fit(vectors, tmp_path / "text.txt", window=2, weighting=5).transform
    np.testing.assert_array_equal(saved.transform.matrix, expected.matrix)
    assert saved.transform.name == "toy.window2"
    assert saved.fusion is not None
    assert saved.fusion.doubling > 0  # the more contexts, the more they count
    assert saved.typical is not None
    assert saved.typical.targets == 40
