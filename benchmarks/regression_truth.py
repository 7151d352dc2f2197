"""Size of the tests, coverage of the intervals, bias of the lengths, by simulation with known effects. Minutes.

    python benchmarks/regression_truth.py [samples]

Outputs are correlated and of different variance; with `spread` 2 one group is twice as noisy as the other; with
clusters, covariates and a part of the noise are common to a cluster. The effect points in a random direction, drawn
like the noise ("along") or evenly ("across"). Cosines: contexts of the golden data's kind, few and noisy.
"""

import sys

import numpy as np
from scipy import stats

from alacarte.regression import _estimate
from alacarte.regression._means import GroupMean, estimate
from alacarte.regression.compat import choices

TERM = np.eye(3)[1:2]
PERMUTATIONS = 199


def shape_of(rng, d):
    mixed = rng.normal(size=(d, d)) * np.exp(-np.arange(d) / 10)[:, None]
    return mixed / np.sqrt((mixed**2).sum() / d)


def draw(rng, shape, beta, n, clusters, spread):
    codes = None
    group = (rng.random(n) < 0.4).astype(float)
    if clusters:
        codes = np.unique(rng.integers(0, clusters, n), return_inverse=True)[1]
        group = (rng.random(codes.max() + 1) < 0.4).astype(float)[codes]
    x = np.column_stack([np.ones(n), group, rng.normal(size=n)])
    y = rng.normal(size=(n, len(shape))) @ shape * np.where(group == 1, spread, 1.0)[:, None]
    if codes is not None:
        y += (rng.normal(size=(codes.max() + 1, len(shape))) @ shape)[codes] * 0.7
    return _estimate.least_squares(x, y + np.outer(group, beta), codes)[0]


def regression(samples, n, d, effect, direction, clusters, spread):
    rng = np.random.default_rng(0)
    shape = shape_of(rng, d)
    beta = rng.normal(size=d) @ shape if direction == "along" else rng.normal(size=d)
    beta *= effect / np.linalg.norm(beta)
    truth = effect**2
    plain, debiased, covered, rejected = [], [], {"score": [], "jackknife": []}, []
    for _ in range(samples):
        fit = draw(rng, shape, beta, n, clusters, spread)
        plain.append(float((fit.coefficients[1] ** 2).sum()))
        debiased.append(plain[-1] - float(_estimate.noise(fit, TERM)[0]))
        quantile = float(stats.t.ppf(0.975, fit.clusters - 1))
        _, low, high = _estimate.score_interval(fit, TERM, quantile)
        covered["score"].append(low[0] <= truth <= high[0])
        left = _estimate.jackknife(fit, TERM)[:, 0]
        error = np.sqrt((len(left) - 1) / len(left) * ((left - left.mean()) ** 2).sum())
        covered["jackknife"].append(abs(debiased[-1] - truth) <= quantile * error)
        if effect == 0:
            exceeding = _estimate.permute(fit, TERM, PERMUTATIONS, rng)[0]
            rejected.append((1 + exceeding) / (1 + PERMUTATIONS) <= 0.05)
    size = f"{np.mean(rejected):.3f}" if rejected else "–"
    who = f"{clusters} clusters" if clusters else f"{n} rows"
    print(
        f"{who:<13}{spread:>6.0f}{effect:>8.1f}  {direction:<7}{truth:>8.2f}{np.mean(plain):>8.2f}"
        f"{np.mean(debiased):>10.3f} ± {np.std(debiased) / np.sqrt(samples):.3f}{size:>8}"
        f"{np.mean(covered['score']):>8.3f}{np.mean(covered['jackknife']):>11.3f}",
        flush=True,
    )


def cosines(samples, count, d, clusters):
    rng = np.random.default_rng(1)
    true = rng.normal(size=d) * 0.4
    directions = rng.normal(size=(10, d)) * 0.4 + true
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    truth = directions @ true / np.linalg.norm(true)
    inside = {"jackknife": [], "bootstrap": [], "conText": []}
    bias = []
    for _ in range(samples):
        matrix = rng.normal(size=(count, d)) * rng.gamma(4, 0.25, size=(count, 1)) + true
        units = None
        if clusters:
            units = rng.integers(0, clusters, count)
            matrix += (rng.normal(size=(clusters, d)) * 0.5)[units]
        group = GroupMean.of(matrix, units)
        for name in inside:
            how, rules = ("bootstrap", choices("conText")) if name == "conText" else (name, choices(None))
            found = estimate([group], directions, how, rules, draws=200, rng=rng)
            inside[name].append((found.lower[0] <= truth) & (truth <= found.upper[0]))
            if name == "jackknife":
                bias.append((found.value[0] - truth, found.debiased[0] - truth))
    plain, debiased = np.mean(bias, axis=(0, 2))
    shown = "".join(f"{np.mean(values):>12.3f}" for values in inside.values())
    who = f"{count} contexts" + (f", {clusters} clusters" if clusters else "")
    print(f"{who:<28}{plain:>10.3f}{debiased:>10.3f}{shown}", flush=True)


def main():
    samples = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    print(f"Regression, d = 50, {samples} samples a line; nominal 0.05 and 0.95")
    print("units        spread  effect  where     truth   plain  debiased           size   score  jackknife")
    for clusters, n, spread in ((None, 200, 1.0), (None, 200, 2.0), (40, 200, 1.0), (100, 500, 1.0)):
        regression(samples, n, 50, 0.0, "–", clusters, spread)
        for effect in (1.0, 2.0, 4.0):
            for direction in ("along", "across"):
                regression(samples, n, 50, effect, direction, clusters, spread)
    print(f"\nCosines of a mean, d = 60, {samples} samples a line; nominal 0.95")
    print("units                         plain −   debias −   jackknife   bootstrap     conText")
    for count, clusters in ((25, None), (60, None), (250, None), (120, 30)):
        cosines(samples, count, 60, clusters)


if __name__ == "__main__":
    main()
