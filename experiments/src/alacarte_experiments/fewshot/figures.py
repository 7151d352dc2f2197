"""The paper's figures 1 and 2, legible in black and white, as PNG and SVG.

Our numbers are solid lines, published ones dotted lines with hollow marks. Lines differ in mark and dash as well as in
colour.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from alacarte.errors import require
from alacarte_experiments.lab.results import Results, Row

LOOKS: list[tuple[str, Any, str]] = [  # colours that differ in lightness, dashes, marks
    ("#000000", "-", "o"),
    ("#b2182b", "--", "s"),
    ("#2166ac", "-.", "^"),
    ("#5aae61", "-", "D"),
    ("#e08214", "--", "v"),
    ("#8073ac", "-.", "P"),
    ("#4d4d4d", "-", "X"),
    ("#80cdc1", "--", "<"),
    ("#bf812d", "-.", ">"),
    ("#969696", "-", "*"),
]
NAMES = {  # of systems, as people know them
    "additive": "average of context words",
    "no-stop-words": "average, no stop words",
    "sif": "SIF average",
    "sums-but-the-top": "average less the top component",
    "sif-but-the-top": "SIF less the top component",
    "alacarte": "à la carte",
    "informed": "à la carte, telling words",
    "learned": "à la carte, learned weights",
    "form": "spelling",
    "alacarte+form": "à la carte with spelling",
}
MOST_LINES = 7  # in one figure: more cannot be told apart


def label(system: str) -> str:
    """A system's name for a legend.

    >>> label("alacarte,tau=1000"), label("nonce2vec")
    ('à la carte (tau 1000)', 'nonce2vec')
    """
    kind, _, options = system.partition(",")
    return NAMES.get(kind, kind) + (f" ({options.replace('=', ' ').replace(',', ', ')})" if options else "")


def _best(rows: Sequence[Row]) -> list[Row]:
    """The rows of at most `MOST_LINES` systems: à la carte in all its forms first, then those with the best values."""

    def worth(system: tuple[str, str]) -> tuple[bool, float]:
        values = [row["value"] for row in rows if (row["system"], row["source"]) == system]
        return label(system[0]).startswith("à la carte"), float(np.mean(values))

    systems = sorted(dict.fromkeys((row["system"], row["source"]) for row in rows), key=worth, reverse=True)
    return [row for row in rows if (row["system"], row["source"]) in systems[:MOST_LINES]]


def draw(results: Results, folder: Path) -> list[Path]:
    """Draw the figure of these results as FOLDER/NAME.png and .svg, if the experiment has one."""
    if results.settings.experiment not in FIGURES:
        return []
    pyplot = _pyplot()
    figure = FIGURES[results.settings.experiment](pyplot, results)
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for ending in ("png", "svg"):
        path = folder / f"{results.settings.experiment}.{ending}"
        metadata = {"Date": None} if ending == "svg" else None  # the same results, the same file
        figure.savefig(path, dpi=130, metadata=metadata)
        written.append(path)
    pyplot.close(figure)
    return written


def _pyplot() -> Any:
    matplotlib = require("matplotlib", extra="plot", purpose="drawing figures")
    matplotlib.use("Agg")
    pyplot = require("matplotlib.pyplot", extra="plot", purpose="drawing figures")
    pyplot.rcParams.update(
        {
            "font.size": 9,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.grid": True,
            "grid.color": "#dddddd",
            "grid.linewidth": 0.6,
            "legend.frameon": False,
            "svg.hashsalt": "alacarte",
            "figure.constrained_layout.use": True,
        }
    )
    return pyplot


def _lines(axes: Any, rows: Sequence[Row], x: str) -> None:
    """Draw a line for each of the best systems over `x`, ours with a band of two standard errors."""
    rows = _best(rows)
    systems = dict.fromkeys((row["system"], row["source"]) for row in rows)
    ours = [name for name, source in systems if source == "ours"]
    first = sorted(ours, key=lambda name: (name != "alacarte", not name.startswith("alacarte")))
    rank = {name: i for i, name in enumerate(first)}
    others = 0
    for system, source in systems:
        chosen = [row for row in rows if (row["system"], row["source"]) == (system, source)]
        xs, ys = [row[x] for row in chosen], np.array([row["value"] for row in chosen])
        if source == "ours":
            again, look = divmod(rank[system], len(LOOKS))
            colour, dash, mark = LOOKS[look]
            if again:  # the second time round, with hollow marks and fine dots
                dash = (0, (1, 1))
            errors = np.array([row.get("stderr") or 0.0 for row in chosen])
            axes.plot(
                xs,
                ys,
                color=colour,
                linestyle=dash,
                marker=mark,
                markersize=4,
                linewidth=1.3,
                label=label(system),
                markerfacecolor="white" if again else colour,
            )
            if errors.any():
                axes.fill_between(xs, ys - 2 * errors, ys + 2 * errors, color=colour, alpha=0.15, linewidth=0)
        else:
            mark = "osD^vP"[others % 6]
            others += 1
            axes.plot(
                xs,
                ys,
                color="#777777",
                linestyle=":",
                marker=mark,
                markersize=5,
                markerfacecolor="white",
                linewidth=1.0,
                label=f"{system} ({source})",
            )


def _crw(pyplot: Any, results: Results) -> Any:
    figure, axes = pyplot.subplots(figsize=(8.2, 4.6))
    _lines(axes, [row for row in results.rows if row["metric"] == "spearman"], "size")
    axes.set_xscale("log", base=2)
    pairs = {row["size"]: row["n"] for row in results.select(source="ours", metric="spearman")}
    most = max(pairs.values())
    labels = [f"{size}" if pairs[size] == most else f"{size}\n({pairs[size]} pairs)" for size in results.settings.sizes]
    axes.set_xticks(results.settings.sizes, labels)
    axes.set_xlabel("number of contexts")
    axes.set_ylabel("Spearman correlation with human ratings")
    axes.set_title(_title("Contextual rare words", results), fontsize=9)
    axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), fontsize=7.5)
    return figure


def _figure1(pyplot: Any, results: Results) -> Any:
    figure, panels = pyplot.subplots(1, 3, figsize=(10.5, 3.6), sharex=True)
    metrics = ("norm ratio of words", "norm ratio of sums", "cosine(A u, v)")
    for axes, metric in zip(panels, metrics, strict=True):
        systems = list(dict.fromkeys(row["system"] for row in results.select(metric=metric)))
        for place, system in enumerate(systems):
            rows = results.select(metric=metric, system=system)
            xs = [row["count"] for row in rows]
            colour, dash, mark = LOOKS[place]
            axes.plot(
                xs,
                [row["value"] for row in rows],
                color=colour,
                linestyle=dash,
                marker=mark,
                markersize=3.5,
                label=system,
            )
            axes.fill_between(
                xs, [r["low"] for r in rows], [r["high"] for r in rows], color=colour, alpha=0.15, linewidth=0
            )
        axes.set_xscale("log")
        axes.set_xlabel("occurrences of the word")
        axes.legend(fontsize=8)
    for axes, what in zip(panels[:2], ("word vectors", "sums of contexts"), strict=True):
        axes.set_ylabel(f"length after / before, of {what}")
        axes.set_yscale("log")
    panels[2].set_ylabel("cosine of A u with the word's own vector")
    figure.suptitle(_title("What the transform does, by frequency; bands: quartiles", results), fontsize=9)
    return figure


def _short(value: object) -> str:
    return Path(str(value)).name.removesuffix(".npy")


def _title(what: str, results: Results) -> str:
    s = results.settings
    text = f"{results.protocol['corpus_tokens'] / 1e6:.3g}M tokens, " if "corpus_tokens" in results.protocol else ""
    return f"{what}\n{_short(s.vectors)}, {text}window {s.window}, τ = {s.tau}"


FIGURES: dict[str, Callable[..., Any]] = {"crw": _crw, "figure1": _figure1}
