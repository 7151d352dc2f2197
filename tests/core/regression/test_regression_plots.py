"""Figures: what is drawn is what was found. (How they look, people have looked at.)"""

import numpy as np
import pytest

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
    similarity,
    similarity_over,
)

WORDS = [f"w{number}" for number in range(20)]
SOME = Inference(permutations=19)
VECTORS = (WORDS, np.random.default_rng(0).normal(size=(20, 5)) + 1)


@pytest.fixture(scope="module")
def found():
    rng = np.random.default_rng(1)
    tokens = [rng.choice(WORDS, 6).tolist() for _ in range(60)]
    variables = {"party": ["D", "R", "I"] * 20, "two": ["D", "R"] * 30, "year": [2000 + i % 5 for i in range(60)]}
    return dem(documents({"text": tokens} | variables), VECTORS)


def labels(ticks):
    return [tick.get_text() for tick in ticks]


def test_coefficients(found, tmp_path):
    fit = regress("~ party + year", found, inference=SOME)
    axes = fit.plot()
    assert labels(axes.get_yticklabels()) == ["party[T.I]", "party[T.R]", "year"]
    axes.figure.savefig(tmp_path / "terms.png")
    assert (tmp_path / "terms.png").stat().st_size > 5000
    drawn = [line.get_xdata()[0] for line in axes.lines if line.get_marker() == "o"]
    np.testing.assert_allclose(drawn, np.maximum(fit.table["estimate"], 0))
    assert plot_coefficients(fit.table, ax=axes) is axes


def test_ratios(found):
    table = ratio(found, "two", k=4, inference=SOME)
    axes = plot_ratio(table, title="x")
    assert sorted(labels(axes.get_yticklabels())) == sorted(table["feature"][np.isfinite(table["value"])])
    with pytest.raises(AlacarteError, match="plot_ratio"):
        plot_ratio(similarity(found, ["w1"], "two"))


def test_over_time(found):
    table = similarity_over(found, "year", ["w1", "w2"], intervals=0.95)
    axes = plot_over(table)
    assert len(axes.lines) == 2
    np.testing.assert_allclose(axes.lines[0].get_ydata(), table["estimate"][::2])
    assert len(plot_over(similarity_over(found, "party", "w1", within="two")).lines) == 2
    with pytest.raises(AlacarteError, match="similarity_over"):
        plot_over(ratio(found, "two"))


def test_map(found):
    axes = plot_map(found, "party", k=4)
    texts = {text.get_text() for text in axes.texts}
    assert {"D", "R", "I"} <= texts
    assert len(texts) > 5
