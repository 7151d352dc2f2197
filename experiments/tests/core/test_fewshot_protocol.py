"""Settings, systems by name, the store, and the lock on test splits."""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import alacarte_experiments
import numpy as np
import pytest
from alacarte_experiments.fewshot import nonce, sweep
from alacarte_experiments.fewshot.data import read_nonces
from alacarte_experiments.fewshot.systems import System, Workbench, without_words
from alacarte_experiments.lab import store
from alacarte_experiments.lab.settings import Settings
from alacarte_experiments.lab.splits import Permit, open_test, split_file
from alacarte_experiments.lab.store import EveryNth, Store
from hypothesis import given
from hypothesis import strategies as st

import alacarte
from alacarte import Corpus
from alacarte.errors import BadData


@given(
    st.builds(
        Settings,
        st.sampled_from(["crw", "nonce", "chimera"]),
        vectors=st.text(st.characters(exclude_categories=["Cs"])),
        corpus=st.lists(st.text(st.characters(exclude_categories=["Cs"]))).map(tuple),
        window=st.integers(1, 50),
        tau=st.sampled_from(["log", "none", "auto", "100"]),
        ridge=st.sampled_from(["0", "loo", "0.5"]),
        sizes=st.sets(st.integers(1, 500), min_size=1).map(lambda sizes: tuple(sorted(sizes))),
    )
)
def test_settings_survive_toml(settings):
    assert Settings.from_toml(settings.to_toml()) == settings


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"tau": "many"}, "tau is a least count"),
        ({"ridge": "-1"}, "ridge is a number or loo"),
        ({"window": "wide"}, "window cannot be 'wide'"),
        ({"window": 0}, "at least 1"),
        ({"sizes": "4,2"}, "ascending"),
        ({"split": "dev"}, "train or test"),
        ({"speed": "1"}, "no setting 'speed'"),
        ({"experiment": "x"}, "no experiment"),
    ],
)
def test_settings_that_make_no_sense(change, message):
    with pytest.raises(BadData, match=message):
        Settings("nonce").with_options(change)


def test_settings_files_that_are_none(tmp_path):
    with pytest.raises(BadData, match="cannot be read"):
        Settings.read(tmp_path / "none.toml")
    (tmp_path / "bad.toml").write_text("window = [")
    with pytest.raises(BadData, match="not TOML"):
        Settings.read(tmp_path / "bad.toml")
    (tmp_path / "bad.toml").write_text("window = 5")
    with pytest.raises(BadData, match="name no experiment"):
        Settings.read(tmp_path / "bad.toml")


def test_systems_carry_settings_of_their_own():
    system = System.parse("alacarte,weights=sif:1e-3,tau=10,ridge=loo", Settings("nonce"))
    assert (system.settings.weights, system.settings.tau, system.settings.ridge) == ("sif:1e-3", "10", "loo")
    assert System.parse("nonce2vec,rate=0.1,negatives=5", Settings("nonce")).parameters == {"rate": 0.1, "negatives": 5}
    for wrong in (
        "fasttext",
        "alacarte,rate=1",
        "alacarte,tau",
        "sif,a=much",
        "sif,a=inf",
        "additive,tau=5",
        "sif,weights=top:9",
        "nonce2vec,weights=uniform",
    ):
        with pytest.raises(BadData):
            System.parse(wrong, Settings("nonce"))


def test_hidden_words_are_gone(world):
    hidden = without_words(world.vectors, ["w1", "unheard-of"])
    assert "w1" not in hidden
    assert len(hidden) == len(world.vectors) - 1
    assert (hidden["w2"] == world.vectors["w2"]).all()
    assert without_words(world.vectors, ["unheard-of"]) is world.vectors
    with pytest.raises(BadData, match="no word of the vectors is left"):
        without_words(world.vectors, world.vectors.words)


# ----------------------------------------------------------------------------------------------------- store


def test_sums_are_collected_once(files, world, tmp_path):
    corpus = Corpus(files / "corpus.txt")
    first = Store(tmp_path).sums(world.vectors, corpus, window=4, context_weights="sif:1e-3")
    kept = sorted((tmp_path / "sums").glob("*.safetensors"))
    assert len(kept) == 2  # uniform ones too, for the frequencies
    times = [path.stat().st_mtime_ns for path in kept]
    again = Store(tmp_path).sums(world.vectors, Corpus(files / "corpus.txt"), window=4, context_weights="sif:0.001")
    assert [path.stat().st_mtime_ns for path in sorted((tmp_path / "sums").glob("*.safetensors"))] == times
    assert first == again
    assert Store(tmp_path).sums(world.vectors, corpus, window=4, averaging="token").settings.averaging == "token"


def test_words_that_never_occur_change_nothing_when_sums_are_kept(world, tmp_path):
    """Sums that come from a file have rows for the words that were met alone; counts go by word, not by row."""
    path = tmp_path / "text.txt"
    path.write_text("\n".join(f"s1 w{i} s2 w{i + 1} s1 s3" for i in range(5, 60)) + "\n")
    settings = Settings("nonce", corpus=(str(path),), window=2, tau="1")

    def weights(folder):
        return Store(folder).sums(world.vectors, Corpus(path), window=2, context_weights="sif:1e-3").weights.values

    fresh = weights(tmp_path / "a")
    Store(tmp_path / "b").sums(world.vectors, Corpus(path), window=2)  # the uniform sums alone are kept
    np.testing.assert_array_equal(weights(tmp_path / "b"), fresh)
    assert len(fresh) == len(world.vectors)
    for name in ("sif", "nonce2vec"):
        first, again = (
            Workbench(world.vectors, Corpus(path), Store(folder)).build(System.parse(name, settings))
            for folder in (tmp_path / "c", tmp_path / "c")
        )
        np.testing.assert_array_equal(first.embed_definition("___ s1 w7"), again.embed_definition("___ s1 w7"))


def test_every_nth_document(files, world, tmp_path):
    corpus = Corpus(files / "corpus.txt")
    whole, part = (Store(tmp_path).sums(world.vectors, corpus, window=4, every=n) for n in (1, 3))
    assert (whole.documents, part.documents) == (6000, 2000)
    assert list(EveryNth(Corpus(["a", "b", "c", "d"]), 3)) == ["a", "d"]


def test_a_changed_corpus_is_another_corpus(world, tmp_path):
    path = tmp_path / "text.txt"
    path.write_text("w1 w2 w3\n")
    before = Store(tmp_path / "s").sums(world.vectors, Corpus(path), window=4)
    path.write_text("w1 w2 w3 w4\n")
    after = Store(tmp_path / "s").sums(world.vectors, Corpus(path), window=4)
    assert (before.tokens_read, after.tokens_read) == (3, 4)


def test_lists_in_memory_are_not_mixed_up(world, tmp_path):
    kept = Store(tmp_path)
    one, two = Corpus(["w1 w2"]), Corpus(["w1 w2 w3"])
    assert kept.sums(world.vectors, one, window=4).tokens_read == 2
    assert kept.sums(world.vectors, two, window=4).tokens_read == 3
    assert not (tmp_path / "sums").exists()


def test_a_run_takes_up_where_it_was_cut_off(files, world, tmp_path):
    settings = Settings("nonce", corpus=(str(files / "corpus.txt"),), systems=("additive", "alacarte"), tau="10")
    bench = Workbench(world.vectors, settings.open_corpus(), Store(tmp_path))
    ran = []

    def run(system):
        ran.append(system.name)
        if len(ran) == 2:
            raise KeyboardInterrupt
        return {"by": system.name}

    with pytest.raises(KeyboardInterrupt):
        bench.each(settings, "data", run, "test")
    results = bench.each(settings, "data", run, "test")
    assert ran == ["additive", "alacarte", "alacarte"]
    assert [kept for _, kept in results] == [{"by": "additive"}, {"by": "alacarte"}]
    bench.each(settings, "other data", run, "test")
    bench.each(replace(settings, window=7), "data", run, "test")
    assert len(ran) == 7


def test_a_damaged_result_is_made_again(tmp_path):
    kept = Store(tmp_path)
    kept.write("results", {"a": 1}, [1, 2])
    assert kept.read("results", {"a": 1}) == [1, 2]
    next((tmp_path / "results").iterdir()).write_text("{")
    assert kept.read("results", {"a": 1}) is None


def test_a_result_does_not_outlive_the_code_that_made_it(files, world, tmp_path, monkeypatch):
    settings = Settings("nonce", corpus=(str(files / "corpus.txt"),), systems=("additive",), tau="10")
    ran = []
    for code in ("first", "first", "second"):
        monkeypatch.setattr(store, "code_digest", lambda code=code: code)
        bench = Workbench(world.vectors, settings.open_corpus(), Store(tmp_path))
        bench.each(settings, "data", lambda system: ran.append(system.name) or {}, "test")
        bench.sums(settings)
    assert len(ran) == 2
    assert len(list((tmp_path / "sums").glob("*.safetensors"))) == 2


def test_the_code_is_that_of_both_packages(tmp_path):
    """Copies of both packages, run by themselves: a change in either changes the digest."""
    for package in (alacarte, alacarte_experiments):
        folder = Path(package.__file__).parent
        shutil.copytree(folder, tmp_path / folder.name, ignore=shutil.ignore_patterns("__pycache__", "pretrained"))

    def found():
        code = "from alacarte_experiments.lab.store import code_digest; print(code_digest())"
        environment = {**os.environ, "PYTHONPATH": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    before = found()
    assert found() == before
    seen = {before}
    for name in ("alacarte/contexts/sums.py", "alacarte_experiments/lab/measures.py"):
        path = tmp_path / name
        path.write_text(path.read_text(encoding="utf-8") + "\n# changed\n", encoding="utf-8")
        seen.add(found())
    assert len(seen) == 3


def test_a_moved_file_is_changed_code(tmp_path):
    (tmp_path / "one.py").write_text("a = 1\n")
    before = store.digest_code([tmp_path])
    (tmp_path / "notes.txt").write_text("no code")
    assert store.digest_code([tmp_path]) == before
    (tmp_path / "one.py").rename(tmp_path / "two.py")
    assert store.digest_code([tmp_path]) != before


# ---------------------------------------------------------------------------------------------------- splits


def test_the_test_split_is_closed_without_a_permit(files):
    assert {item.word for item in read_nonces(files / "nonce")} == {f"w{i}" for i in range(40)}
    with pytest.raises(BadData, match="open_test"):
        Permit("nonce", 1)
    with pytest.raises(BadData, match="without a permit"):
        split_file(files, "my-test-{}.txt", None)


def test_each_choice_that_sees_the_test_split_is_on_record(files, tmp_path):
    kept = Store(tmp_path)
    settings = Settings("nonce", data=str(files / "nonce"), split="test")
    assert open_test(settings, kept).settings == 1
    assert open_test(settings, kept).settings == 1  # the same again is no new choice
    assert open_test(replace(settings, systems=("additive",)), kept).settings == 1
    assert open_test(replace(settings, window=7), kept).settings == 2
    assert open_test(replace(settings, data="elsewhere"), kept).settings == 1
    lines = [json.loads(line) for line in (tmp_path / "test-runs.jsonl").read_text().splitlines()]
    assert [line["settings"]["window"] for line in lines] == [5, 7, 5]
    with pytest.raises(BadData, match="train split"):
        open_test(replace(settings, split="train"), kept)


def test_the_record_is_there_before_the_data_are_read(tmp_path):
    settings = Settings("nonce", data=str(tmp_path / "nowhere"), split="test", corpus=("x",))
    with pytest.raises(BadData, match="no such file"):
        nonce.run(settings, Store(tmp_path))
    assert (tmp_path / "test-runs.jsonl").is_file()


def test_a_sweep_has_no_way_to_the_test_split(files, tmp_path):
    settings = Settings("sweep", data=str(files / "nonce"), split="test", corpus=(str(files / "corpus.txt"),))
    with pytest.raises(BadData, match="train split only"):
        sweep.run(settings, {"window": ("3",)}, "nonce", Store(tmp_path))
    with pytest.raises(BadData, match="sees no test split"):
        open_test(settings, Store(tmp_path))
