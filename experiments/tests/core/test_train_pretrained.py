"""The script that makes what ships inside the package, on a small language."""

import json
import runpy
import sys
from pathlib import Path

import numpy as np
from spelled_language import language, text_in

from alacarte import ALaCarte, collect
from alacarte.transform.register import Register

SCRIPT = Path(__file__).resolve().parents[3] / "scripts" / "train_pretrained.py"


def test_one_command_makes_all_that_ships(tmp_path, monkeypatch, capsys):
    rng = np.random.default_rng(2)
    vectors = language(rng, roots=40, endings=8)
    vectors.save(tmp_path / "vectors.safetensors")
    text = text_in(vectors, rng, 8000)
    for name, part in (("text.txt", text), ("other.txt", text_in(vectors, rng, 2000))):
        (tmp_path / name).write_text("\n".join(part) + "\n", encoding="utf-8")
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
    arguments = [str(SCRIPT), "toy", tmp_path / "text.txt", tmp_path / "other.txt", *options]
    monkeypatch.setattr(sys, "argv", [str(word) for word in arguments])
    runpy.run_path(str(SCRIPT), run_name="__main__")
    assert "words in the regression" in capsys.readouterr().out
    text_file = tmp_path / "text.txt"
    plain, saved = (ALaCarte.load(tmp_path / name, vectors=vectors) for name in ("toy.plain", "toy"))
    assert json.loads((tmp_path / "toy" / "model.json").read_text(encoding="utf-8"))["vectors"] == "toy"
    expected = ALaCarte.fit(vectors, text_file, window=2, weighting=5, adapt=False).transform
    np.testing.assert_array_equal(plain.transform.matrix, expected.matrix)
    assert (plain.transform.name, plain.register, plain.fusion) == ("toy.plain", None, None)
    assert saved.transform.name == "toy"
    expected = ALaCarte.fit(vectors, text_file, window=2, weighting=5).transform
    np.testing.assert_array_equal(saved.transform.matrix, expected.matrix)
    assert saved.register is not None
    both = Register.mean(
        [
            Register.of_sums(collect(vectors, tmp_path / f"{name}.txt", window=2, positions="linear"), vectors, 3)
            for name in ("other", "text")
        ]
    )
    np.testing.assert_allclose(saved.register.centre, both.centre, rtol=1e-5, atol=1e-6)
    assert saved.fusion is not None
    assert saved.fusion.doubling > 0  # the more contexts, the more they count
    for model in (plain, saved):
        assert model.typical is not None
        assert model.typical.targets == 40
