"""Each experiment on the generated world, where additive must fail and à la carte must succeed."""

import json
from dataclasses import replace

import numpy as np
import pytest
from alacarte_experiments.fewshot import chimera, crw, crw_build, figure1, figures, nonce, sweep, wordsim
from alacarte_experiments.fewshot.data import Chimera, Nonce, Pair, RareWords, read_chimeras, read_rare_words
from alacarte_experiments.fewshot.systems import System, Workbench, without_words
from alacarte_experiments.lab.measures import spearman
from alacarte_experiments.lab.results import Exclusion
from alacarte_experiments.lab.settings import SYSTEMS
from alacarte_experiments.lab.store import Store

from alacarte import Corpus, WordVectors
from alacarte.errors import BadData, NotEnoughData

# ---------------------------------------------------------------------------------------------------- nonces


def test_nonces_all_systems(base, store):
    results = nonce.run(base("nonce"), store)
    rank = {name: results.value(system=name, metric="median rank", source="ours") for name in SYSTEMS}
    assert rank["additive"] > 60
    assert rank["alacarte"] < 10
    assert results.value(system="alacarte", metric="MRR", source="ours") > 0.2
    assert rank["alacarte"] < min(rank["additive"], rank["no-stop-words"], rank["nonce2vec"], rank["sif"])
    assert results.value(system="à la carte", metric="median rank") == 165.5
    assert results.protocol["corpus_documents"] == 6000


def test_the_test_split_has_other_words_and_says_how_often_it_was_seen(base, store):
    results = nonce.run(base("nonce", split="test", systems=("alacarte",)), store)
    assert results.protocol["test_settings_so_far"] == 1
    assert results.value(system="alacarte", metric="median rank", source="ours") < 10


def test_nonces_take_no_part_in_learning(base, store, world, text):
    items = [Nonce("w1", world.sentence(1, "___"))]
    bench = Workbench(world.vectors, Corpus(text), store, exclude=["w1"])
    words = bench.alacarte(base("nonce")).report.words
    assert words == Workbench(world.vectors, Corpus(text), store).alacarte(base("nonce")).report.words - 1
    results = nonce.evaluate(
        items, base("nonce", systems=("alacarte",)), store, vectors=world.vectors, corpus=Corpus(text)
    )
    assert results.select(system="alacarte", source="ours")[0]["n"] == 1


def test_nonces_that_cannot_be_used_are_counted(base, store, world, text):
    items = [Nonce("w1", world.sentence(1, "___")), Nonce("nowhere", "___ w2"), Nonce("w3", "___ qq zz")]
    results = nonce.evaluate(
        items, base("nonce", systems=("alacarte",)), store, vectors=world.vectors, corpus=Corpus(text)
    )
    assert [(x.what, x.count, x.examples) for x in results.exclusions] == [
        ("nonces", 1, ("nowhere",)),
        ("nonces by alacarte", 1, ("w3",)),
    ]
    with pytest.raises(BadData, match="none of the 1 nonces has a vector"):
        nonce.evaluate(items[1:2], base("nonce"), store, vectors=world.vectors, corpus=Corpus(text))


def test_word2vec_enters_with_its_own_gold(base, store):
    pytest.importorskip("gensim")
    results = nonce.run(base("nonce", systems=("word2vec,epochs=1,every=4",)), store)
    assert results.value(system="word2vec,epochs=1,every=4", metric="median rank", source="ours") > 1


# -------------------------------------------------------------------------------------------------- chimeras


def test_chimeras_all_systems(base, store):
    results = chimera.run(base("chimera"), store)
    for size in (2, 4, 6):
        rho = {name: results.value(system=name, sentences=size, metric="ρ", source="ours") for name in SYSTEMS}
        assert rho["alacarte"] > 0.45
        assert rho["alacarte"] > rho["additive"] + 0.1
    both = results.select(system="alacarte", sentences=2, source="ours")
    assert [row["metric"] for row in both][:2] == ["ρ", "(ρ+p)/2"]  # the true one first
    assert results.value(system="additive", sentences=2, metric="(ρ+p)/2", source="Khodak et al. 2018") == 0.363


def test_a_probe_without_a_vector_goes_with_its_own_rating(base, store, world, text):
    """Were it dropped alone, the ratings would slide along by one."""
    probes, ratings = ("w5", "nowhere", "w9", "w30", "w77"), (1.0, 99.0, 2.0, 3.0, 4.0)
    trial = Chimera("t", (world.sentence(3, "___"),), probes, ratings)
    settings = base("chimera", systems=("additive",))
    results = chimera.evaluate({2: [trial]}, settings, store, vectors=world.vectors, corpus=Corpus(text))
    bench = Workbench(world.vectors, Corpus(text), store)
    vector = bench.build(System.parse("additive", settings)).embed(
        [[t for t in trial.sentences[0].split() if t != "___"]]
    )
    kept = [word for word in probes if word in world.vectors]
    unit = world.vectors[kept] / np.linalg.norm(world.vectors[kept], axis=1, keepdims=True)
    expected = spearman(unit @ vector, [1.0, 2.0, 3.0, 4.0])
    assert results.value(system="additive", metric="ρ", source="ours", sentences=2) == pytest.approx(float(expected))
    assert results.exclusions[0] == Exclusion("probes with their ratings", 1, "no vector", ("nowhere",))


def test_trials_that_cannot_be_used_are_counted(base, store, world, text):
    good = Chimera("good", (world.sentence(3, "___"),), ("w1", "w2", "w3"), (1.0, 2.0, 3.0))
    few = replace(good, name="few", probes=("w1", "w2", "nowhere"))
    flat = replace(good, name="flat", ratings=(1.0, 1.0, 1.0))
    blank = replace(good, name="blank", sentences=("qq ___ zz",))
    settings = base("chimera", systems=("alacarte",))
    results = chimera.evaluate(
        {2: [good, few, flat, blank]}, settings, store, vectors=world.vectors, corpus=Corpus(text)
    )
    assert results.exclusions[-1].examples == ("2 sentences: few", "2 sentences: flat", "2 sentences: blank")
    assert results.select(system="alacarte", metric="ρ", source="ours")[0]["n"] == 1
    with pytest.raises(NotEnoughData, match="none of the trials"):
        chimera.evaluate({2: [few]}, settings, store, vectors=world.vectors, corpus=Corpus(text))


def test_the_p_value_is_in_the_second_number(base, store, files, world):
    results = chimera.run(base("chimera", systems=("alacarte",)), store)
    trials = read_chimeras(files / "chimera")[2]
    assert results.select(system="alacarte", metric="ρ", sentences=2, source="ours")[0]["n"] == len(trials)
    first, second = (results.value(system="alacarte", metric=m, sentences=2, source="ours") for m in ("ρ", "(ρ+p)/2"))
    assert first / 2 < second < first / 2 + 0.5


# ------------------------------------------------------------------------------------------------ rare words


def test_rare_words_all_systems(base, store):
    results = crw.run(base("crw"), store)
    for size in (2, 4):
        value = {name: results.value(system=name, size=size, source="ours") for name in SYSTEMS}
        assert value["alacarte"] > 0.55
        assert value["alacarte"] > value["additive"] + 0.15
    curve = [results.value(system="alacarte", size=size, source="ours") for size in (1, 2, 4)]
    assert curve[0] + 0.01 < min(curve[1:])  # one context is less than two or four
    row = results.select(system="alacarte", size=1, source="ours")[0]
    assert (row["n"], row["shuffles"]) == (120, 4)
    assert row["stderr"] > 0
    assert results.protocol["hidden_words"] == 60
    ahead = results.select(metric="difference", system="alacarte: ahead of the best baseline", size=2)[0]
    best = max(results.value(system=name, size=2, source="ours") for name in SYSTEMS if not name.startswith("alacarte"))
    assert ahead["value"] == pytest.approx(results.value(system="alacarte", size=2, source="ours") - best)


def test_subset_sums_are_those_of_embedding_the_subset(base, store, files, world, text):
    """The rows that are added up against `embed` of the very contexts, for each average and weighting."""
    data = read_rare_words(files / "crw")
    settings = base("crw", trials=2)
    trials = crw.Trials(data, settings, world.vectors)
    bench = Workbench(trials.vectors, Corpus(text), store)
    for name in ("additive", "no-stop-words", "sif-but-the-top", "sums-but-the-top", "alacarte,averaging=context"):
        model = bench.linear(System.parse(name, settings))
        expected = []
        for order in trials.orders(2):
            rows = [
                model.embed([trials.documents[c].tokens for c in order[i, 1:3]], target=word)
                for i, word in enumerate(trials.words)
            ]
            expected.append(float(trials.correlations(2, np.array(rows, dtype=np.float64))))
        trials._sums.clear()
        assert crw._run_linear(model, trials)[1] == pytest.approx(expected, abs=2e-3)


def test_subsets_are_disjoint(base, files, world):
    data = read_rare_words(files / "crw")
    settings = base("crw")
    trials = crw.Trials(data, settings, world.vectors)
    for order in trials.orders(3):
        for i, row in enumerate(order):
            assert len(set(row.tolist())) == 7
            assert all(trials.starts[i] <= c < trials.starts[i + 1] for c in row)


def test_a_rare_word_with_too_few_contexts_is_counted(base, store, world, text):
    contexts = {
        "w150": [world.sentence(150) for _ in range(7)],
        "w151": [world.sentence(151)],
        "w152": ["no such word"],
    }
    contexts["w152"].append(world.sentence(152))
    scores = [(1, 150), (2, 150), (3, 151), (4, 152), (5, 150)]
    pairs = [Pair(f"w{a}", f"w{b}", float(a)) for a, b in scores] + [Pair("nowhere", "w150", 1.0)]
    data = RareWords(pairs, contexts)
    results = crw.evaluate(data, base("crw", systems=("additive",)), store, vectors=world.vectors, corpus=Corpus(text))
    assert [(x.what, x.count) for x in results.exclusions] == [
        ("pairs", 1),
        ("contexts", 1),
        ("rare words at 2 contexts", 2),
        ("rare words at 4 contexts", 2),
    ]
    assert [row["n"] for row in results.select(system="additive", source="ours")] == [5, 3, 3]
    settings = base("crw", systems=("additive",), sizes=(100,))
    with pytest.raises(BadData, match="enough contexts"):
        crw.evaluate(data, settings, store, vectors=world.vectors, corpus=Corpus(text))


def test_word2vec_trained_again_on_rare_words(base, store):
    pytest.importorskip("gensim")
    name = "word2vec,epochs=3,every=2"
    results = crw.run(base("crw", systems=(name,), sizes=(1, 8)), store)
    assert results.select(system=name, size=8)[0]["shuffles"] == 1
    assert results.select(system=name, size=8)[0]["n"] == 120
    assert results.value(system=name, size=8, source="ours") > 0


def test_a_data_set_is_built(tmp_path):
    text = [f"Filler {i}. An ocelot sat here. The cat slept." for i in range(20)] + ["The cat ran."] * 5
    pairs = [
        Pair("ocelot", "cat", 8.0),
        Pair("cat", "filler", 1.0),
        Pair("cat", "zebra", 5.0),
        Pair("cat", "cat", 10.0),
    ]
    built, rest = crw_build.build(pairs, text, least=10, most=20, contexts=6, seed=3)
    assert built.pairs == [Pair("cat", "ocelot", 8.0), Pair("cat", "filler", 1.0)]
    assert {word: len(texts) for word, texts in built.contexts.items()} == {"ocelot": 6, "filler": 6}
    assert built.exclusions[0].count == 2
    crw_build.write(built, rest, tmp_path)
    data = read_rare_words(tmp_path)
    assert (data.pairs, data.contexts) == (built.pairs, built.contexts)
    left = list(Corpus(tmp_path / "corpus.txt.xz"))
    assert sum("ocelot" in document for document in left) == 14
    assert sum("Filler" in document for document in left) == 14
    assert sum(document.count("cat") for document in left) == 25
    again, _ = crw_build.build(pairs, text, least=10, most=20, contexts=6, seed=3)
    other, _ = crw_build.build(pairs, text, least=10, most=20, contexts=6, seed=4)
    assert again.contexts == built.contexts
    assert other.contexts != built.contexts


def test_what_no_data_set_can_be_built_from():
    with pytest.raises(NotEnoughData, match="change the bounds"):
        crw_build.build([Pair("a", "b", 1.0)], ["a b"], least=5)
    with pytest.raises(BadData, match="least"):
        crw_build.build([Pair("a", "b", 1.0)], ["a b"], least=9, most=2)
    with pytest.raises(BadData, match="read twice"):
        crw_build.build([Pair("a", "b", 1.0)], iter(["a b"]))


# ------------------------------------------------------------------------------------------- word similarity


def test_missing_words_are_induced(base, store, world, text, tmp_path):
    names = {f"w{i}": f"new{i}" for i in range(200, 230)}
    known = without_words(world.vectors, names)
    corpus = [" ".join(names.get(token, token) for token in document.split()) for document in text]
    pairs = [
        Pair(f"w{a}", f"new{b}", float(world.hidden[a] @ world.hidden[b]))
        for a in range(0, 60, 3)
        for b in range(200, 230)
    ]
    pairs += [Pair("w1", "w2", 1.0), Pair("w3", "w4", 2.0), Pair("w5", "w6", 3.0), Pair("w1", "nowhere", 0.0)]
    settings = base("wordsim", systems=("additive", "alacarte", "nonce2vec"))
    results = wordsim.evaluate({"set": pairs}, settings, store, vectors=known, corpus=Corpus(corpus))
    assert results.value(system=wordsim.AS_THEY_ARE, metric="coverage") == pytest.approx(3 / 604)
    assert results.value(system="alacarte", metric="coverage") == pytest.approx(603 / 604)
    assert results.value(system="alacarte", metric="ρ") > 0.5
    assert results.value(system="alacarte", metric="ρ") > results.value(system="additive", metric="ρ") + 0.2
    assert results.exclusions[0] == Exclusion("words", 1, "no vector, and not in the corpus", ("nowhere",))
    assert results.exclusions[1].count == 601
    assert results.value(system="alacarte", metric="ρ, induced pairs") > 0.5


def test_a_part_of_the_corpus_is_a_part_for_induction_too(base, store, world, text):
    """`every=2` reads the even documents: what only odd ones say changes nothing."""
    names = {"w200": "new200", "w201": "new201"}
    known = without_words(world.vectors, names)
    corpus = [" ".join(names.get(token, token) for token in document.split()) for document in text]
    other = [document if i % 2 == 0 else "new200 s1 s1 s1" for i, document in enumerate(corpus)]
    pairs = [Pair(f"w{a}", b, float(a)) for a in range(20) for b in names.values()]
    for settings in (
        base("wordsim", systems=("additive", "alacarte"), every=2),
        base("wordsim", systems=("additive,every=2", "alacarte,every=2")),
    ):
        half, again, whole = (
            wordsim.evaluate({"set": pairs}, chosen, store, vectors=known, corpus=Corpus(documents))
            for chosen, documents in ((settings, corpus), (settings, other), (base("wordsim"), corpus))
        )
        for name in settings.systems:
            values = [results.select(system=name, metric="ρ, induced pairs") for results in (half, again)]
            assert values[0] == values[1]
        plain = whole.value(system="additive", metric="ρ, induced pairs")
        assert half.value(system=settings.systems[0], metric="ρ, induced pairs") != plain


def test_word2vec_has_a_space_of_its_own(base, store, world, text):
    pytest.importorskip("gensim")
    settings = base("wordsim", systems=("word2vec",))
    with pytest.raises(BadData, match="space of its own"):
        wordsim.evaluate({"set": [Pair("w1", "new", 1.0)]}, settings, store, vectors=world.vectors, corpus=Corpus(text))


def test_pairs_that_word2vec_does_not_know_are_counted(base, store, world, text):
    """`w1` is in the vectors and not in word2vec's text."""
    pytest.importorskip("gensim")
    data = RareWords(
        [Pair(f"w{a}", "w150", float(a)) for a in (1, 2, 3, 4)], {"w150": [world.sentence(150) for _ in range(3)]}
    )
    corpus = Corpus([" ".join(token for token in document.split() if token != "w1") for document in text[:2000]])
    settings = base("crw", systems=("word2vec,epochs=1",), sizes=(1, 2))
    results = crw.evaluate(data, settings, store, vectors=world.vectors, corpus=corpus)
    assert [(x.what, x.count) for x in results.exclusions] == [
        ("pairs at 1 contexts by word2vec,epochs=1", 1),
        ("pairs at 2 contexts by word2vec,epochs=1", 1),
    ]
    assert [row["n"] for row in results.select(source="ours")] == [3, 3]


def test_upper_case_words_are_found_in_lower_case(base, store, world, text):
    pairs = [Pair("W1", "w2", 1.0), Pair("w3", "W4", 2.0), Pair("w5", "w6", 3.0)]
    results = wordsim.evaluate({"set": pairs}, base("wordsim"), store, vectors=world.vectors, corpus=Corpus(text))
    assert results.value(system=wordsim.AS_THEY_ARE, metric="coverage") == 1.0


# -------------------------------------------------------------------------------------------- figure 1, sweep


def test_figure_1(base, store):
    results = figure1.run(base("figure1"), store)
    cosine = [row["value"] for row in results.select(metric="cosine(A u, v)")]
    assert min(cosine) > 0.5
    words = results.select(metric="norm ratio of words", system="à la carte")
    rare, frequent = words[0]["value"], words[-1]["value"]
    assert frequent < rare / 2  # stop words lose most: they are what is frequent here
    top = results.select(metric="norm ratio of sums", system="all-but-the-top")
    assert all(row["low"] <= row["value"] <= row["high"] for row in top)
    assert all(row["value"] < 1 for row in top)  # a projection of what is centred
    assert sum(row["n"] for row in top) == 380


def test_sums_that_were_kept_give_the_same_figures(base, world, tmp_path):
    """In a text without every second word, a row of kept sums is no row of the vectors."""
    odd = [word for word in world.vectors.words if word[0] == "s" or int(word[1:]) % 2]
    rng = np.random.default_rng(5)
    path = tmp_path / "text.txt"
    path.write_text("\n".join(" ".join(rng.choice(odd, 12)) for _ in range(900)) + "\n")
    settings = replace(base("figure1"), corpus=(str(path),))
    first, again = (figure1.run(settings, Store(tmp_path / "store")).rows for _ in range(2))
    assert first == again
    rare = replace(base("sweep"), corpus=(str(path),))
    first, again = (sweep.run(rare, {"tau": ("5",)}, "rare", Store(tmp_path / "store")).rows for _ in range(2))
    fresh = sweep.run(rare, {"tau": ("5",)}, "rare", Store(tmp_path / "other")).rows
    assert first == again == fresh


def test_a_sweep_over_a_grid(base, store, files):
    settings = replace(base("sweep"), data=str(files / "nonce"))
    grid = sweep.parse_grid(["window=1,8", "tau=10,log"])
    results = sweep.run(settings, grid, "nonce", store)
    cells = [(row["window"], row["tau"]) for row in results.select(metric="median rank")]
    assert cells == [("1", "10"), ("1", "log"), ("8", "10"), ("8", "log")]
    values = {cell: row["value"] for cell, row in zip(cells, results.select(metric="median rank"), strict=True)}
    best = sweep.best(results)
    assert values[str(best.window), best.tau] == min(values.values())
    assert (best.experiment, best.split) == ("nonce", "train")
    assert sweep.run(settings, grid, "nonce", store).rows == results.rows


def test_a_sweep_in_processes_gives_the_same(base, files, tmp_path):
    settings = replace(base("sweep"), data=str(files / "nonce"))
    grid = sweep.parse_grid(["every=1,4"])
    alone, together = (sweep.run(settings, grid, "cosine", Store(tmp_path / str(n)), workers=n) for n in (1, 2))
    assert alone.rows == together.rows


@pytest.mark.parametrize(
    ("task", "metric"),
    [("chimera", "ρ"), ("crw", "spearman"), ("cosine", "held-out cosine"), ("rare", "held-out cosine of rare words")],
)
def test_the_tasks_of_a_sweep(base, store, files, task, metric):
    settings = replace(base("sweep", every=10 if task == "rare" else 1), data=str(files / task))
    results = sweep.run(settings, {"tau": ("10", "20")}, task, store)
    assert {row["metric"] for row in results.rows} == {metric}
    assert all(row["value"] > 0.5 for row in results.rows)


@pytest.mark.parametrize("wrong", [[], ["window"], ["window="], ["speed=1,2"]])
def test_grids_that_are_none(wrong):
    with pytest.raises(BadData):
        sweep.parse_grid(wrong)


# --------------------------------------------------------------------------------------------------- results


def test_sizes_stand_in_order_in_a_table(base, store):
    header, lines = crw.run(base("crw", systems=("additive",), sizes=(4, 8)), store).pivot(["system"], "size")
    assert header == ["system", "1", "2", "4", "8", "16", "32", "64", "128"]
    assert lines[0][:3] == ["additive", "", ""]


def test_every_number_carries_its_protocol(base, store):
    pytest.importorskip("pandas")
    results = nonce.run(base("nonce", systems=("alacarte",)), store)
    frame = results.to_frame()
    ours = frame[frame.source == "ours"]
    assert set(ours.window) == {8}
    assert set(ours.tau) == {"10"}
    assert ours.fingerprint.notna().all()
    assert frame[frame.source != "ours"].fingerprint.isna().all()
    json.dumps(results.to_dict())


def test_figures_are_drawn(base, store, tmp_path):
    pytest.importorskip("matplotlib")
    some = ("additive", "alacarte")
    runs = [
        crw.run(base("crw", systems=some), store),
        figure1.run(base("figure1"), store),
    ]
    for number, results in enumerate(runs):
        png, svg = figures.draw(results, tmp_path / str(number))
        assert png.read_bytes().startswith(b"\x89PNG")
        assert b"</svg>" in svg.read_bytes()
    assert figures.draw(nonce.run(base("nonce", systems=some), store), tmp_path) == []


def test_a_figure_has_at_most_seven_lines_under_names_that_people_know():
    from matplotlib.figure import Figure

    names = ["alacarte,tau=5", *(f"system{i}" for i in range(9))]
    rows = [
        {"system": name, "source": "ours", "size": size, "value": -1.0 if "tau" in name else float(i), "stderr": 0.0}
        for i, name in enumerate(names)
        for size in (1, 2)
    ]
    axes = Figure().subplots()
    figures._lines(axes, rows, "size")
    shown = axes.get_legend_handles_labels()[1]
    assert shown == ["à la carte (tau 5)", *(f"system{i}" for i in range(3, 9))]


def test_a_figure_drawn_twice_is_the_same_file(base, store, tmp_path):
    pytest.importorskip("matplotlib")
    results = crw.run(base("crw", systems=("additive", "alacarte")), store)
    first, second = (figures.draw(results, tmp_path / half) for half in "ab")
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]


def test_empty_overlap(base, store, text, files):
    strangers = WordVectors(["x", "y"], [[1.0], [2.0]])
    for module, data in ((crw, read_rare_words(files / "crw")), (wordsim, {"set": [Pair("a", "b", 1.0)]})):
        with pytest.raises(BadData, match="share language and case"):
            module.evaluate(data, base("crw"), store, vectors=strangers, corpus=Corpus(text))
