"""Systems that weigh context words and contexts, on the generated world; the commands behind the tables."""

import json
from dataclasses import replace

import numpy as np
import pytest
from alacarte_experiments.fewshot import agreement, chimera, context_weights, crw, nonce
from alacarte_experiments.fewshot.data import read_chimeras
from alacarte_experiments.fewshot.informed import Informed, in_space
from alacarte_experiments.fewshot.systems import System, Workbench
from alacarte_experiments.lab.store import Store
from typer.testing import CliRunner

from alacarte import Corpus
from alacarte.cli import app
from alacarte.errors import BadData


def test_chimeras(base, store):
    names = ("additive", "alacarte", "informed,components=1", "informed,components=1,agreement=1", "learned")
    results = chimera.run(base("chimera", systems=names), store)
    for size in (2, 4, 6):
        value = {name: results.value(system=name, sentences=size, metric="ρ") for name in names}
        assert min(value["informed,components=1"], value["learned"]) > max(0.55, value["additive"] + 0.2)
        ahead = results.select(system="learned", sentences=size, metric="ρ less the first's")[0]
        assert ahead["value"] == pytest.approx(value["learned"] - value["additive"])
        assert ahead["baseline"] == "additive"
        assert 0 < ahead["stderr"] < 0.2
    same = [results.value(system=name, sentences=2, metric="ρ") for name in names[2:4]]
    assert same[0] == pytest.approx(same[1], abs=0.02)  # fewer than four contexts agree by definition


def test_nonces_and_rare_words(base, store):
    names = ("additive", "informed,components=1", "learned", "learned,space=1,components=1,matched=0")
    ranks = nonce.run(base("nonce", systems=names), store)
    rare = crw.run(base("crw", systems=names), store)
    for name in names[1:]:
        assert ranks.value(system=name, metric="median rank", source="ours") < 20
        ahead = rare.value(system=name, size=4, metric="spearman")
        assert ahead > max(0.6, rare.value(system="additive", size=4, metric="spearman") + 0.2)


def test_ingredients_can_be_taken_out(base, store, world, text):
    bench = Workbench(world.vectors, Corpus(text), store)

    def built(name):
        model = bench.build(System.parse(name, base("chimera")))
        assert isinstance(model, Informed)
        return model

    whole = built("informed,components=2")
    assert whole.vectors.dimension == world.vectors.dimension - 2
    assert whole.space is not None
    assert whole.transform.settings.weights.startswith("informative:0.0001,1#")
    words = ["w1", "w2"]
    np.testing.assert_allclose(in_space(whole, world.vectors, words), whole.vectors[words], atol=1e-5)
    raw = built("informed,space=0")
    assert raw.space is None
    assert raw.vectors is world.vectors
    np.testing.assert_allclose(raw.transform.matrix, bench.alacarte(base("chimera")).transform.matrix)
    assert np.array_equal(built("informed,matrix=0,space=0").transform.matrix, np.eye(8))
    smooth = built("informed,space=0,power=0,a=1e-3").transform.weights.values
    sif = bench.sums(base("chimera"), "sif:1e-3").weights.values
    np.testing.assert_allclose(smooth, sif / sif.max(), rtol=1e-5)
    learned = built("learned")
    assert learned.settings.positions.count(",") == 14
    other = built("learned,matched=0")
    assert other.settings == learned.settings
    assert not np.allclose(other.transform.matrix, learned.transform.matrix)
    with pytest.raises(BadData, match="is no setting of learned, which has averaging, components"):
        System.parse("learned,power=2", base("chimera"))


def test_learned_sums_are_kept(base, store, monkeypatch):
    settings = base("chimera", systems=("learned",))
    first = chimera.run(settings, store)
    monkeypatch.setattr("alacarte_experiments.fewshot.informed.learn_weights", None)  # would fail if it were called
    again = Store(store.folder, show_progress=False)
    trials = {2: read_chimeras(settings.data)[2]}
    second = chimera.evaluate(trials, settings, again)
    assert second.value(system="learned", sentences=2, metric="ρ") == pytest.approx(
        first.value(system="learned", sentences=2, metric="ρ")
    )


def test_weights_table(base, store, tmp_path):
    settings = replace(base("weights", sizes=(4,)), data="")
    results = context_weights.run(settings, store)
    held = {row["what"]: row["value"] for row in results.select(metric="held-out cosine")}
    assert set(held) == {
        "uniform",
        "sif",
        "sif, linear",
        "sif, inverse",
        "learned: distance",
        "learned: frequency",
        "learned: distance, frequency",
    }
    assert held["learned: distance, frequency"] > held["sif"]
    weights = results.select(metric="weight")
    assert {row["what"] for row in weights} == {"frequency", "left", "right"}
    assert all(0 <= row["value"] <= 1 for row in weights)


def test_agreement_table(base, store):
    settings = replace(base("agreement", sizes=(4, 16)), data="")
    results = agreement.run(settings, store)
    for size in (4, 16):
        own = {row["metric"]: row["value"] for row in results.select(size=size, foreign=0)}
        mixed = {row["metric"]: row["value"] for row in results.select(size=size, foreign=size // 4)}
        assert own["all alike"] > mixed["all alike"]
        assert mixed["power 0.5"] > mixed["all alike"]
        assert own["power 0.5"] > own["all alike"] - 0.03


@pytest.mark.parametrize("command", ["weights", "agreement"])
def test_commands(command, files, tmp_path):
    options = ["--vectors", str(files / "vectors.safetensors"), "--corpus", str(files / "corpus.txt")]
    options += ["--window", "5", "--cache", str(tmp_path), "--sizes", "4", "--json"]
    options += ["--tau", "10"] if command == "agreement" else []
    result = CliRunner().invoke(app, ["eval", command, *options])
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert found["settings"]["experiment"] == command
    assert len(found["rows"]) > 5
    assert all(row["source"] == "ours" for row in found["rows"])
