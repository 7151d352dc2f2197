"""The figures of the experiments, in the paper's layout: legible in black and white, PNG and SVG.

Ours are drawn through, published numbers dotted with hollow marks. What tells lines apart is mark and dash as well
as colour.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from alacarte.errors import require
from alacarte_experiments.fewshot import context_weights
from alacarte_experiments.lab.results import Results, Row, shown

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
    """The figure of these results as FOLDER/NAME.png and .svg."""
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


def _lines(axes: Any, rows: Sequence[Row], x: str, *, bars: bool = False) -> None:
    """A line for each of the best systems over `x`, ours with a band of two standard errors, or with bars of one."""
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
            if bars:  # side by side, so that they can be told apart
                xs = [value + 0.06 * (rank[system] - len(ours) / 2) for value in xs]
            look_of = {
                "color": colour,
                "linestyle": dash,
                "marker": mark,
                "markersize": 4,
                "linewidth": 1.3,
                "label": label(system),
                "markerfacecolor": "white" if again else colour,
            }
            if bars:
                axes.errorbar(xs, ys, errors, elinewidth=0.7, **look_of)
            else:
                axes.plot(xs, ys, **look_of)
            if errors.any() and not bars:
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


def _nonce(pyplot: Any, results: Results) -> Any:
    figure, panels = pyplot.subplots(1, 2, figsize=(8.2, 0.32 * len(results.rows) / 2 + 1.2), sharey=True)
    for axes, metric in zip(panels, ("median rank", "MRR"), strict=True):
        rows = results.select(metric=metric)
        for place, row in enumerate(rows):
            ours = row["source"] == "ours"
            face = "black" if ours else "white"
            axes.plot(row["value"], -place, "o", color="black", markerfacecolor=face, markersize=5)
            axes.annotate(
                shown(row["value"]),
                (row["value"], -place),
                xytext=(6, -3),
                textcoords="offset points",
                fontsize=7.5,
            )
        axes.set_yticks(
            [-place for place in range(len(rows))],
            [label(row["system"]) + ("" if row["source"] == "ours" else f" ({row['source']})") for row in rows],
        )
        axes.set_xlabel(metric + (" (less is better)" if metric == "median rank" else " (more is better)"))
        axes.margins(x=0.15)
    panels[0].set_xscale("log")
    figure.suptitle(
        _title(f"Definitional nonces, {results.settings.split} split; hollow: published", results), fontsize=9
    )
    return figure


def _chimera(pyplot: Any, results: Results) -> Any:
    figure, panels = pyplot.subplots(1, 2, figsize=(9.4, 4.4), sharex=True)
    for axes, metric in zip(panels, ("ρ", "(ρ+p)/2"), strict=True):
        _lines(axes, results.select(metric=metric), "sentences", bars=True)
        axes.set_xticks([2, 4, 6])
        axes.set_xlabel("sentences")
        axes.set_ylabel("mean Spearman's ρ" if metric == "ρ" else "(ρ+p)/2, what the authors' script prints")
    handles: dict[str, Any] = {}
    for axes in panels:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    figure.legend(handles.values(), handles.keys(), loc="outside right center", fontsize=7.5)
    figure.suptitle(_title(f"Chimeras, {results.settings.split} split; bars: one standard error", results), fontsize=9)
    return figure


def _wordsim(pyplot: Any, results: Results) -> Any:
    """The sets as the vectors have them; and for sets with missing words, what each system makes of these."""
    first = results.rows[0]["system"]
    plain = results.select(metric="ρ", system=first)
    induced = [row for row in results.rows if row["metric"] == "ρ, induced pairs"]
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(9.4, 3.8))
    cover = {row["set"]: row["value"] for row in results.select(metric="coverage", system=first)}
    left.bar(range(len(plain)), [row["value"] for row in plain], 0.6, color="#999999", edgecolor="black")
    for place, row in enumerate(plain):
        left.annotate(f"{cover[row['set']]:.0%}", (place, row["value"]), ha="center", va="bottom", fontsize=7.5)
    left.set_xticks(range(len(plain)), [row["set"] for row in plain], rotation=20, ha="right", fontsize=7.5)
    left.set_ylabel("Spearman's ρ (above: pairs covered)")
    left.set_title(first, fontsize=9)
    systems = list(dict.fromkeys(row["system"] for row in induced))
    for place, name in enumerate(dict.fromkeys(row["set"] for row in induced)):
        chosen = {row["system"]: row for row in induced if row["set"] == name}
        n = next(iter(chosen.values()))["n"]
        xs = [chosen[system]["value"] if system in chosen else np.nan for system in systems]
        ys = [-k for k in range(len(systems))]
        right.plot(xs, ys, LOOKS[place % len(LOOKS)][2], color="black", markersize=5, label=f"{name} ({n} pairs)")
    right.set_yticks([-k for k in range(len(systems))], [label(system) for system in systems])
    right.set_xlabel("Spearman's ρ of pairs with an induced word")
    if induced:
        right.legend(fontsize=7.5)
    for axes in (left, right):
        axes.set_axisbelow(True)
    figure.suptitle(_title("Word similarity", results), fontsize=9)
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


def _sweep(pyplot: Any, results: Results) -> Any:
    """A heat map over two axes for each combination of the others; a line over the one axis there is."""
    from alacarte_experiments.fewshot.sweep import AXES, TASKS

    metric, less = TASKS[results.protocol["task"]]
    rows = results.select(metric=metric)
    extra = [name for name in ("size", "sentences") if name in rows[0]]
    names = [name for name in AXES if name in rows[0]]
    values = {name: list(dict.fromkeys(row[name] for row in rows)) for name in (*names, *extra)}
    wide = sorted((name for name in values if len(values[name]) > 1), key=lambda name: -len(values[name]))[:2]
    if len(wide) < 2:
        figure, axes = pyplot.subplots(figsize=(5.2, 3.4))
        x = wide[0] if wide else names[0]
        axes.plot(range(len(rows)), [row["value"] for row in rows], "o-", color="black")
        axes.set_xticks(range(len(rows)), [_short(row[x]) for row in rows])
        axes.set_xlabel(x)
        axes.set_ylabel(metric)
        figure.suptitle(_title(f"Sweep: {metric}", results), fontsize=9)
        return figure
    down, across = wide[1], wide[0]
    others = [name for name in values if name not in wide]
    panels = list(dict.fromkeys(tuple(row[name] for name in others) for row in rows))
    columns = min(len(panels), 3)
    lines = -(-len(panels) // columns)
    figure, grid = pyplot.subplots(
        lines,
        columns,
        squeeze=False,
        figsize=(columns * (0.75 * len(values[across]) + 1.1) + 0.8, lines * (0.45 * len(values[down]) + 1.3) + 0.4),
    )
    everything = [row["value"] for row in rows]
    for axes, panel in zip(grid.flat, panels, strict=False):
        chosen = [row for row in rows if tuple(row[name] for name in others) == panel]
        table = np.full((len(values[down]), len(values[across])), np.nan)
        for row in chosen:
            table[values[down].index(row[down]), values[across].index(row[across])] = row["value"]
        image = axes.imshow(
            table, cmap="Greys_r" if less else "Greys", aspect="auto", vmin=min(everything), vmax=max(everything)
        )
        middle = (min(everything) + max(everything)) / 2
        for (i, j), value in np.ndenumerate(table):
            dark = (value < middle) == less
            axes.text(j, i, shown(value), ha="center", va="center", fontsize=7.5, color="white" if dark else "black")
        axes.set_xticks(range(len(values[across])), [_short(v) for v in values[across]])
        axes.set_yticks(range(len(values[down])), [_short(v) for v in values[down]])
        axes.set_xlabel(across)
        axes.set_ylabel(down)
        axes.grid(False)
        label = ", ".join(f"{n} {_short(v)}" for n, v in zip(others, panel, strict=True) if len(values[n]) > 1)
        axes.set_title(label, fontsize=8)
    for axes in list(grid.flat)[len(panels) :]:
        axes.axis("off")
    figure.colorbar(image, ax=grid, shrink=0.8)
    figure.suptitle(f"Sweep on {results.protocol['task']} (training data): {metric}; darker is better", fontsize=9)
    return figure


def _short(value: object) -> str:
    return Path(str(value)).name.removesuffix(".npy")


def _title(what: str, results: Results) -> str:
    s = results.settings
    text = f"{results.protocol['corpus_tokens'] / 1e6:.3g}M tokens, " if "corpus_tokens" in results.protocol else ""
    return f"{what}\n{_short(s.vectors)}, {text}window {s.window}, τ = {s.tau}"


def _agreement(pyplot: Any, results: Results) -> Any:
    """Cosine by the number of contexts: all the word's own, and a quarter another word's."""
    figure, panels = pyplot.subplots(1, 2, figsize=(7, 3), sharey=True)
    for axes, foreign in zip(panels, (False, True), strict=True):
        for metric, style in (("all alike", "k--"), ("power 0.5", "k-"), ("power 1", "k:")):
            rows = [row for row in results.select(metric=metric) if bool(row["foreign"]) == foreign]
            axes.plot([row["size"] for row in rows], [row["value"] for row in rows], style, label=metric)
        axes.set(xscale="log", xlabel="contexts", title="a quarter another word's" if foreign else "all its own")
        sizes = sorted({row["size"] for row in results.rows})
        axes.set_xticks(sizes, [str(size) for size in sizes])
        axes.minorticks_off()
    panels[0].set_ylabel("cosine with the word's vector")
    panels[0].legend()
    return figure


FIGURES: dict[str, Callable[..., Any]] = {
    "crw": _crw,
    "nonce": _nonce,
    "chimera": _chimera,
    "wordsim": _wordsim,
    "figure1": _figure1,
    "sweep": _sweep,
    "weights": context_weights.draw,
    "agreement": _agreement,
}
