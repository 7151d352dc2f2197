"""Figures for papers: nothing collides, every mark has its key, text stays text, and plt.show() knows of them."""

from itertools import combinations

import numpy as np
import pytest

from alacarte._io.figures import SIZES, is_our_figure, literal, look, save_figure
from alacarte.errors import AlacarteError
from alacarte.regression import (
    Inference,
    dem,
    documents,
    plot_coefficients,
    plot_map,
    plot_over,
    plot_ratio,
    ratio,
    regress,
    regress_each,
    similarity_over,
)

plt = pytest.importorskip("matplotlib.pyplot")
WORDS = [*(f"word{number}" for number in range(30)), "US$", "A$", r"\alpha"]
SOME = Inference(permutations=19)
VECTORS = (WORDS, np.random.default_rng(0).normal(size=(33, 6)) + 1)


@pytest.fixture(scope="module")
def found():
    rng = np.random.default_rng(1)
    rows = 240
    year = [2000 + i % 6 for i in range(rows)]
    party = ["D" if i // 6 % 2 else "R" for i in range(rows)]
    keep = [i for i in range(rows) if not (year[i] == 2003 and party[i] == "D" and i > 12)]
    tokens = [rng.choice(WORDS, 6).tolist() for _ in keep]
    variables = {
        "party": [party[i] for i in keep],
        "year": [year[i] for i in keep],
        "many": [f"group {i % 14}" for i in keep],
        "cost$": [float(i % 17) * 100 for i in keep],
    }
    return dem(documents({"text": tokens} | variables), VECTORS)


@pytest.fixture(autouse=True)
def closed():
    plt.close("all")
    yield
    plt.close("all")


def texts(axes):
    return {text.get_text() for text in axes.texts}


def keys(axes):
    return [text.get_text() for legend in axes.figure.legends for text in legend.get_texts()]


def test_pyplot_knows_new_figures_and_no_others(found):
    table = similarity_over(found, "year", "word1")
    axes = plot_over(table)
    assert plt.get_fignums() == [axes.figure.number]
    _, mine = plt.subplots(1, 2)
    assert plot_over(table, ax=mine[0]) is mine[0]
    assert len(plt.get_fignums()) == 2


@pytest.mark.parametrize("size", ["column", "page"])
def test_figures_are_as_wide_as_a_column_or_a_page(found, size):
    fit = regress("~ party + year", found, inference=SOME)
    for axes in (fit.plot(size=size), plot_map(found, "party", k=3, size=size)):
        assert axes.figure.get_size_inches()[0] == SIZES[size].width
        assert axes.xaxis.label.get_size() == SIZES[size].font
    with pytest.raises(AlacarteError, match="size"):
        fit.plot(size="poster")


def test_over_time_a_point_without_an_interval_is_open(found):
    table = similarity_over(found, "year", "US$", within="party", intervals=0.95)
    lone = np.flatnonzero(~np.isfinite(table["conf_low"]))
    assert len(lone) == 1
    axes = plot_over(table)
    opened = [c for c in axes.collections if c.get_facecolor().size and c.get_facecolor()[0].tolist() == [1, 1, 1, 1]]
    offsets = np.concatenate([collection.get_offsets() for collection in opened])
    np.testing.assert_allclose(offsets, [[2003, table["value"][lone[0]]]])
    assert "no interval (plain cosine)" in keys(axes)
    low, high = axes.get_ylim()
    assert -1 <= low < high <= 1
    assert texts(axes) == {"D", "R"}


def test_a_value_after_a_step_larger_than_drift_has_a_ring(found):
    table = similarity_over(found, "year", "word1", intervals=0.95)
    assert "after a step larger than drift" not in keys(plot_over(table))
    table["drift_low"][1], table["drift_high"][1] = -1, table["estimate"][1] - 0.1
    axes = plot_over(table)
    assert [[table["year"][1], table["estimate"][1]]] in [
        collection.get_offsets().tolist() for collection in axes.collections if not collection.get_facecolor().size
    ]
    assert "after a step larger than drift" in keys(axes)


def test_the_axis_of_cosines_stays_within_its_bounds(found):
    table = similarity_over(found, "year", ["word1", "word2"], intervals=0.95)
    table["conf_high"][:] = 7.0
    table["conf_low"][:] = -7.0
    assert plot_over(table).get_ylim() == (-1.0, 1.0)


def test_coefficients_of_standard_deviations(found):
    fit = regress("~ party + `cost$`", found, inference=SOME)
    axes = fit.plot(labels={"party[T.R]": "Republican"}, title="$x$")
    assert [tick.get_text() for tick in axes.get_yticklabels()] == ["Republican", r"cost\$"]
    assert any("Holm" in text for text in keys(axes))
    drawn = [line.get_xdata()[0] for line in fit.plot(standardised=True).lines if line.get_marker() == "o"]
    spread = fit.design.matrix[:, 1:].var(axis=0)
    np.testing.assert_allclose(drawn, np.maximum(fit.table["estimate"], 0) * spread)
    with pytest.raises(AlacarteError, match="spread"):
        plot_coefficients(fit.table, standardised=True)


def test_several_regressions_in_one_figure():
    rng = np.random.default_rng(0)
    text = [
        " ".join([*rng.choice(WORDS[:30], 4), rng.choice(["tax", "war"]), *rng.choice(WORDS[:30], 4)])
        for _ in range(80)
    ]
    data = {"text": text, "party": ["D", "R"] * 40}
    each = regress_each("~ party", data, VECTORS, targets=["tax", "war"], inference=SOME)
    assert [tick.get_text() for tick in each.plot().get_yticklabels()] == ["tax: party[T.R]", "war: party[T.R]"]
    assert each.pvalue().loc[("war", "party[T.R]")] == each["p_value"][1]


def test_an_unknown_option_is_refused(found):
    with pytest.raises(TypeError, match=r"unexpected keyword argument 'scale'"):
        plot_coefficients(regress("~ party", found, inference=SOME), scale="own")


def test_unadjusted_p_is_called_p(found):
    axes = regress("~ party", found, inference=Inference(permutations=19, adjust="none")).plot()
    assert keys(axes) == ["p < 0.05", "p ≥ 0.05"]


def test_every_mark_of_a_ratio_has_its_key(found):
    table = ratio(found, "party", k=8, inference=SOME)
    axes = plot_ratio(table)
    wanted = {"near both" if " and " in group else f"near {group}" for group in table["group"]}
    assert wanted | {"adjusted p (Holm) < 0.05", "adjusted p (Holm) ≥ 0.05"} == set(keys(axes))
    ticks = [tick.get_text() for tick in axes.get_xticklabels()]
    assert "1" in ticks
    assert len(ticks) >= 3
    named = table["feature"][np.isfinite(table["value"])]
    assert len(axes.get_yticks()) == len(named)


def overlapping(axes):
    axes.figure.canvas.draw()
    boxes = [text.get_window_extent() for text in axes.texts if text.get_text()]
    return [(a, b) for a, b in combinations(boxes, 2) if a.overlaps(b)]


@pytest.mark.parametrize("size", ["column", "page"])
def test_labels_of_a_map_do_not_collide(found, size):
    axes = plot_map(found, "many", k=6, size=size)
    assert not overlapping(axes)
    groups = [line for line in axes.lines if line.get_markersize() == 8]
    assert len({(line.get_color(), line.get_marker()) for line in groups}) == 14
    assert {f"group {number}" for number in range(14)} <= texts(axes)
    assert "% of the variance" in axes.get_xlabel()


def test_shares_of_variance(found):
    axes = plot_map(found, "party", k=3)
    shares = [int(label.split(",")[1].split("%")[0]) for label in (axes.get_xlabel(), axes.get_ylabel())]
    assert shares[0] >= shares[1] > 0
    assert sum(shares) <= 101


def test_dollar_signs_are_letters(found, tmp_path):
    table = similarity_over(found, "year", ["US$", "A$"])
    axes = plot_over(table, title="$\\frac{1}{$")
    save_figure(axes, tmp_path / "over.svg")
    drawn = (tmp_path / "over.svg").read_text()
    assert ">US$</text>" in drawn  # text stays text
    assert "$\\frac{1}{$</text>" in drawn
    assert literal("a\x1bb") == "a\\x1bb"


def test_saved_figures(found, tmp_path):
    axes = plot_map(found, "party", k=3)
    for name in ("a.png", "a.pdf", "a.svg"):
        assert save_figure(axes, tmp_path / name).stat().st_size > 3000
        first = (tmp_path / name).read_bytes()
        save_figure(axes.figure, tmp_path / name)
        assert (tmp_path / name).read_bytes() == first
        assert is_our_figure(tmp_path / name)
    plt.figure().savefig(tmp_path / "theirs.png")
    assert not is_our_figure(tmp_path / "theirs.png")
    with pytest.raises(AlacarteError, match=r"\.png, \.pdf or \.svg"):
        save_figure(axes, tmp_path / "a.bmp")


def test_series_differ():
    assert len({look(number)[:2] for number in range(60)}) == 60
