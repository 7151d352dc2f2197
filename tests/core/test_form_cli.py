"""`alc fit --form`, `alc embed --form`, and `alc embed --word` without a context."""

import json
from pathlib import Path

import numpy as np
import pytest
from spelled_language import language, text_in
from typer.testing import CliRunner

from alacarte import ALaCarte, ContextSums
from alacarte.cli import app


def alc(*arguments, stdin=None):
    return CliRunner().invoke(app, [*arguments], input=stdin)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("spelled")
    rng = np.random.default_rng(0)
    vectors = language(rng, roots=40, endings=10)
    vectors.save(place / "v.safetensors")
    (place / "text.txt").write_text("\n".join(text_in(vectors, rng, 5000)) + "\n", encoding="utf-8")
    where = ["--vectors", str(place / "v.safetensors"), "--corpus", str(place / "text.txt")]
    done = alc("fit", *where, "--window", "2", "--weighting", "none", "--form", "--out", str(place / "model"))
    assert done.exit_code == 0, done.output
    assert "alone → with spelling" in done.output
    return place


@pytest.fixture(scope="module")
def word(folder):
    return ALaCarte.load(folder / "model").vectors.words[7]


def test_a_context_with_and_without_spelling(folder, word):
    model = ALaCarte.load(folder / "model")
    context = (folder / "text.txt").read_text(encoding="utf-8").split("\n")[0]
    target = context.split()[2]
    base = ["embed", "--model", str(folder / "model"), "--word", target, "--context", context, "--vector", "--json"]
    plain, fused = json.loads(alc(*base).stdout), json.loads(alc(*base, "--form").stdout)
    np.testing.assert_allclose(plain["vector"], model.embed(context, target), rtol=1e-5)
    np.testing.assert_allclose(fused["vector"], model.embed(context, target, form=True), rtol=1e-5)
    assert fused["origin"] == "contexts and spelling"
    assert fused["spelling_weight"] > 0
    assert "origin" not in plain


def test_a_word_alone_is_spelled(folder, word):
    model = ALaCarte.load(folder / "model")
    for stdin in (None, ""):
        done = alc("embed", "--model", str(folder / "model"), "--word", word, "--json", "--vector", stdin=stdin)
        facts = json.loads(done.stdout)
        np.testing.assert_allclose(facts["vector"], model.spell(word).vector, rtol=1e-5)
        assert facts["origin"] == "spelling"
        assert "from the spelling alone" in done.stderr
    assert word not in alc("embed", "--model", str(folder / "model"), "--word", word).stdout.split()[1:]


def test_a_spelling_that_says_nothing(folder):
    done = alc("embed", "--model", str(folder / "model"), "--word", "ЖЖЖЖ", stdin="")
    assert done.exit_code == 1
    assert "none of its n-grams is known" in done.output


def test_phrases_and_words_that_do_not_occur(folder, word, tmp_path):
    model = str(folder / "model")
    done = alc("embed", "--model", model, "--word", f"{word} {word}", stdin="")
    assert done.exit_code == 1
    assert "phrases have no spelling of their own" in done.output
    (tmp_path / "other.txt").write_text("nothing of that\n")
    out = ["--out", str(tmp_path / "new.vec")]
    induced = alc(
        "induce", "--model", model, "--corpus", str(tmp_path / "other.txt"), "--word", f"{word}_x", "--form", *out
    )
    assert induced.exit_code == 0, induced.output
    assert f"come from their spelling or their parts alone: {word}_x" in induced.stdout
    assert "separated by spaces" in induced.stderr


def test_intervals_of_vectors_with_spelling(folder, tmp_path):
    given = ["--model", str(folder / "model"), "--corpus", str(folder / "text.txt")]
    words = ALaCarte.load(folder / "model").vectors.words[:3]
    named = [part for each in words for part in ("--word", each)]
    sums, out = str(tmp_path / "a.sums"), str(tmp_path / "a.vec")
    assert alc("induce", *given, *named, "--form", "--spread", "8", "--save-sums", sums, "--out", out).exit_code == 0
    asked = ["nearest", "--model", str(folder / "model"), "--sums", sums, "--word", words[0], "--like", words[1]]
    plain, spelled = (json.loads(alc(*asked, *more, "--json").stdout) for more in ([], ["--form"]))
    model = ALaCarte.load(folder / "model")
    expected = model.apply(ContextSums.load(sums), form=True).uncertainty.similarities(words[0], [words[1]])
    assert spelled == expected.to_dict()
    assert spelled != plain


def test_a_model_without_spelling_learns_it_once(folder, word, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    where = ["--vectors", str(folder / "v.safetensors"), "--corpus", str(folder / "text.txt")]
    assert alc("fit", *where, "--window", "2", "--weighting", "none", "--out", str(tmp_path / "plain")).exit_code == 0
    base = ["embed", "--model", str(tmp_path / "plain"), "--word", word]
    first = alc(*base)
    assert "learned from the word vectors, once" in first.stderr
    assert list((tmp_path / "alacarte").glob("form-*.safetensors"))
    assert alc(*base).stdout == first.stdout
    assert "learned from" not in alc(*base).stderr
    assert alc(*base, "--form", "--context", f"x {word} y").exit_code == 0  # with usual weights


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["embed", "--model", "m", "--form", "--context", "a b"], "--word"),
        (["fit", "--vectors", "v", "--form", "--sums", "s", "--out", "m"], "--form"),
        (["fit", "--vectors", "v", "--form", "--corpus", "-", "--out", "m"], "twice"),
    ],
)
def test_what_does_not_go_together(arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("s").touch()
    done = alc(*arguments)
    assert done.exit_code == 2
    assert message in done.output


def test_inspect_tells_of_the_spelling(folder):
    facts = json.loads(alc("inspect", str(folder / "model" / "form.safetensors"), "--json").stdout)
    assert facts["what"] == "form model"
    assert facts["form"]["quality"][-1]["cosine"] > 0.5
    assert json.loads(alc("inspect", str(folder / "model"), "--json").stdout)["spelling"] is True


def test_induce_with_form(folder, word, tmp_path):
    base = ["induce", "--model", str(folder / "model"), "--corpus", str(folder / "text.txt"), "--word", word]
    facts = json.loads(
        alc(*base, "--word", word[:4] + "zz", "--form", "--json", "--out", str(tmp_path / "o.vec")).stdout
    )
    assert facts["origin"] == {word: "contexts and spelling", word[:4] + "zz": "spelling"}
    plain = json.loads(alc(*base, "--word", word[:4] + "zz", "--json", "--out", str(tmp_path / "p.vec")).stdout)
    assert plain["missing"] == [word[:4] + "zz"]
    assert "origin" not in plain
    assert (
        "1 of them do not occur"
        in alc(*base, "--word", word[:4] + "zz", "--form", "--out", str(tmp_path / "q.vec")).stdout
    )
