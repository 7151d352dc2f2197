"""The analysis of docs/regression.md: what presidents mean by "freedom". Prints its tables, draws its figures.

python experiments/studies/sotu.py sotu.jsonl.xz --figures docs/figures
"""

import argparse
import warnings
from pathlib import Path

import pandas as pd

from alacarte import ALaCarte
from alacarte.regression import (
    Inference,
    contexts,
    dem,
    etable,
    joint_test,
    nearest,
    placebo_cuts,
    plot_map,
    plot_over,
    plot_ratio,
    ratio,
    read_table,
    regress,
    regress_each,
    save_figure,
    similarity_over,
    standardised_effects,
)

PERIODS = [1789, 1860, 1900, 1932, 1945, 1963, 1980, 2000, 2030]
NAMES = ["1790–1860", "1861–1900", "1901–32", "1933–45", "1946–63", "1964–80", "1981–2000", "2001–24"]


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("data", type=Path, help="the speeches, as JSON lines")
    options.add_argument("--figures", type=Path, help="folder for the figures")
    given = options.parse_args()
    folder = given.figures
    speeches = read_table(given.data)
    speeches["year"] = (1970 + speeches["Date"] / 365.25).astype(int)
    speeches["period"] = pd.cut(speeches["year"], PERIODS, labels=NAMES)
    speeches["president"] = speeches["FirstName"] + " " + speeches["President"]
    print(f"{len(speeches)} speeches, {speeches.year.min()}–{speeches.year.max()}\n")

    model = ALaCarte.pretrained("glove.6B.50d")
    mentions = contexts(speeches, "freedom", known=model)
    freedom = dem(mentions, model)
    print(repr(mentions), freedom, sep="\n")
    for row in (100, 500):
        print(" ".join(mentions.side(row, "left")), "[freedom]", " ".join(mentions.side(row, "right")))

    print("\n1. Nearest words")
    near = nearest(freedom, "period", k=5, candidates=20_000).to_frame()
    for period, rows in near.groupby("target", sort=False):
        print(f"{period}: {', '.join(rows.feature)}")

    print("\n2. Over time")
    words = ["rights", "dignity", "hope", "opportunity"]
    over = similarity_over(freedom, "period", words, intervals=0.95)
    print(over)

    print("\n3. Then and now")
    year = freedom.variables.columns["year"]
    apart = freedom.select((year <= 1900) | (year > 1980))
    era = ["until 1900" if value <= 1900 else "since 1981" for value in apart.variables.columns["year"]]
    ratios = ratio(
        apart,
        era,
        k=10,
        candidates=20_000,
        numerator="until 1900",
        inference=Inference(),
    )
    print(ratios)

    print("\n4. Regression")
    century = speeches[(speeches.year > 1900) & speeches.party.isin(["Democratic", "Republican"])]
    century = century.assign(decades=(century.year - 1960) / 10)
    within = regress("freedom ~ party + decades", century, model)
    print(within)
    print(placebo_cuts(freedom, "year", 1933).notes[0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # which say that presidents are few, and years alike
        fit = regress("freedom ~ party + decades", century, model, cluster="president")
    print(fit)
    labels = {"party[T.Republican]": "Republican", "decades": "Decades since 1960"}
    names = ["Within decades", "Between presidents"]
    print(etable([within, fit], names=names, labels=labels, stars=True).to_markdown(), "\n")
    for profile in ({"party": "Democratic", "decades": -4}, {"party": "Democratic", "decades": 6}):
        print(profile, ", ".join(fit.nearest(profile, 8, candidates=20_000)["feature"]))
    print(fit.contrast({"party": "Democratic", "decades": -4}, {"party": "Democratic", "decades": 6}))
    print("\n5. What a reviewer asks for")
    print(joint_test(within), "\n")
    print(standardised_effects(within), "\n")
    each = regress_each("~ party + decades", century, model, targets=["freedom", "liberty", "peace"])
    print(_short(each, ["target", "term"]), "\n")
    formula = "freedom ~ party + decades"
    print(etable([regress(formula, century, model, window=window) for window in (5, 10, 15)]))

    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        figures = {
            "regression-over": plot_over(over, title="What presidents mean by “freedom”"),
            "regression-ratio": plot_ratio(ratios, title="“freedom” until 1900 and since 1981"),
            "regression-terms": fit.plot(),
            "regression-map": plot_map(freedom, "period", k=5, candidates=20_000, title="“freedom” by period"),
        }
        for name, axes in figures.items():
            save_figure(axes, folder / f"{name}.png")


def _short(table, about):
    """The columns of a table that tell its story."""
    return table.to_frame()[[*about, "statistic", "p_value", "p_adjusted"]].round(3).to_string(index=False)


if __name__ == "__main__":
    main()
