"""Size of the tests, coverage of the intervals, bias of the lengths, by simulation with known effects.

    python benchmarks/regression_truth.py [samples] [--part NAME ...] [--coverage]

The parts are `0` … `9` (the lines of `CASES`), `compare` and `cosines`. `--coverage` leaves out the test, which takes
most of the time, and tells which misses are of truths above the interval and which of truths below it.

Noise: outputs have different variances, falling steeply (the first tenth of them has 63 % of the variance) or gently
(as 1/√i); nothing changes if outputs are rotated. With `spread` 2 one group is twice as noisy as the other; with
`tails` contexts differ in length (gamma, coefficient of variation 0.5); with clusters, the covariate and a part of the
noise are common to a cluster. Effects are as long as so many lengths of the noise of the coefficient, in a fixed random
direction: drawn like the noise ("along"), evenly ("across"), or half of its square each ("mixed"). All effects of a
case share the same noise.
"""

import argparse
from dataclasses import dataclass

import numpy as np
from scipy import stats

from alacarte.inference import lengths, regression_noise
from alacarte.inference.cosines import estimate
from alacarte.inference.means import Units
from alacarte.regression.compat import bootstrap_cosines, bootstrap_summary

TERM = np.eye(3)[1:2]
PERMUTATIONS = 199
EFFECTS = (0.5, 1.0, 2.0, 4.0)
DIRECTIONS = ("along", "across", "mixed")


@dataclass(frozen=True)
class Case:
    rows: int
    clusters: int | None
    d: int
    fall: str
    spread: float = 1.0
    tails: bool = False

    def __str__(self):
        who = f"{self.rows} rows" + (f", {self.clusters} clusters" if self.clusters else "")
        how = ", tails" if self.tails else f", spread {self.spread:.0f}" if self.spread != 1 else ""
        return f"{who}; d = {self.d}, {self.fall}{how}"

    def deviations(self):
        place = np.arange(self.d)
        variance = np.exp(-10 * place / self.d) if self.fall == "steep" else (place + 1) ** -0.5
        return np.sqrt(variance * self.d / variance.sum())

    def draw(self, rng):
        """A fit of noise alone: the second coefficient is that of the group."""
        codes, n = None, self.rows
        group = rng.random(n) < 0.4
        if self.clusters:
            codes = np.unique(rng.integers(0, self.clusters, n), return_inverse=True)[1]
            group = (rng.random(codes.max() + 1) < 0.4)[codes]
        deviations = self.deviations()
        y = rng.normal(size=(n, self.d)) * deviations * np.where(group, self.spread, 1.0)[:, None]
        if self.tails:
            y *= rng.gamma(4, 0.25, size=(n, 1))
        if codes is not None:
            y += (rng.normal(size=(codes.max() + 1, self.d)) * deviations)[codes] * 0.7
        x = np.column_stack([np.ones(n), group, rng.normal(size=n)])
        return regression_noise.least_squares(x, y, codes, equal_clusters=True)[0]

    def direction(self, where, rng):
        along, across = rng.normal(size=self.d) * self.deviations(), rng.normal(size=self.d)
        along, across = along / np.linalg.norm(along), across / np.linalg.norm(across)
        found = {"along": along, "across": across, "mixed": along + across}[where]
        return found / np.linalg.norm(found)


CASES = (
    Case(50, None, 50, "steep"),
    Case(50, None, 100, "gently", spread=2.0),
    Case(200, None, 50, "steep"),
    Case(200, None, 100, "gently", spread=2.0),
    Case(200, None, 50, "steep", tails=True),
    Case(1000, None, 100, "steep", spread=2.0),
    Case(1000, None, 50, "gently"),
    Case(200, 40, 50, "steep"),
    Case(200, 40, 100, "gently"),
    Case(1000, 100, 50, "steep"),
)


def noise_length(case):
    """The square root of the mean of what noise adds to the squared length."""
    rng = np.random.default_rng(7)
    return float(np.sqrt(np.mean([regression_noise.noise(case.draw(rng), TERM)[0] for _ in range(100)])))


def covers(length, truth):
    """Whether the interval holds the truth: all that is in no tail does, and limits take longer to find."""
    if max(tail[0] for tail in length.outside(np.array([truth]), 0.95)) <= 0:
        return True
    lower, upper = length.interval(0.95)
    return lower <= truth <= upper


def regression(case, samples, coverage=False):
    rng, unit = np.random.default_rng(0), noise_length(case)
    cells = [(0.0, "along", np.zeros(case.d))]
    for where in DIRECTIONS:
        direction = case.direction(where, np.random.default_rng(5))
        cells += [(effect, where, direction * effect * unit) for effect in EFFECTS]
    plain, debiased, covered = (np.empty((len(cells), samples)) for _ in range(3))
    rejected, missed = [], np.zeros((2, len(cells)))
    for sample in range(samples):
        fit = case.draw(rng)
        noise = lengths.noises(fit, TERM)[0]
        for row, (effect, _, beta) in enumerate(cells):
            b = fit.coefficients[1] + beta
            length = lengths.Length.of(b, noise)
            plain[row, sample] = b @ b / unit**2
            debiased[row, sample] = length.estimate / unit**2
            covered[row, sample] = covers(length, (effect * unit) ** 2)
            if not covered[row, sample]:
                missed[int(length.estimate > (effect * unit) ** 2), row] += 1 / samples
        if coverage:
            continue
        exceeding = regression_noise.permute(fit, TERM, PERMUTATIONS, rng)[0]
        rejected.append((1 + exceeding) / (1 + PERMUTATIONS) <= 0.05)
    print(f"{case}")
    for effect in (0.0, *EFFECTS):
        rows = [row for row, cell in enumerate(cells) if cell[0] == effect]
        bias = debiased[rows].mean(axis=0) - effect**2
        size = f"{np.mean(rejected):.3f}" if effect == 0 and rejected else "–"
        shown = "".join(f"{covered[row].mean():>8.3f}" for row in rows)
        print(
            f"{effect:>8.1f}{plain[rows].mean() - effect**2:>10.3f}"
            f"{bias.mean():>10.3f} ± {bias.std() / np.sqrt(samples):.3f}{size:>8}{shown}",
            flush=True,
        )
        if coverage:
            shown = "".join(f"  {above:.3f} above, {below:.3f} below" for above, below in missed[:, rows].T)
            print(f"{'':>12}truths missed:{shown}", flush=True)


def compare(samples):
    """The other intervals, for one case."""
    case = CASES[2]
    rng, unit = np.random.default_rng(3), noise_length(case)
    print(f"\nIntervals compared, {case}; {samples} samples a line; nominal 0.95")
    print("  effect  where      score  jackknife  bootstrap")
    for effect in (0.0, *EFFECTS):
        for where in DIRECTIONS[: 1 if effect == 0 else 2]:
            beta = case.direction(where, np.random.default_rng(5)) * effect * unit
            truth, inside = float(beta @ beta), []
            for _ in range(samples):
                noise = case.draw(rng)
                x = noise.z @ np.linalg.inv(noise.basis)
                y = x @ noise.coefficients + noise.residuals + np.outer(x[:, 1], beta)
                fit = regression_noise.least_squares(x, y, None)[0]
                _, lower, upper = lengths.score_interval(fit, TERM, 0.95)
                centre = float(fit.coefficients[1] @ fit.coefficients[1] - regression_noise.noise(fit, TERM)[0])
                left = regression_noise.jackknife(fit, TERM)[:, 0]
                error = np.sqrt((len(left) - 1) / len(left) * ((left - left.mean()) ** 2).sum())
                values = regression_noise.bootstrap(fit, TERM, 200, rng)[:, 0] - float((fit.coefficients[1] ** 2).sum())
                low, high = np.quantile(values, [0.025, 0.975])
                inside.append(
                    (
                        lower[0] <= truth <= upper[0],
                        abs(centre - truth) <= stats.t.ppf(0.975, len(left) - 1) * error,
                        centre - high <= truth <= centre - low,
                    )
                )
            score, jackknife, bootstrap = np.mean(inside, axis=0)
            print(
                f"{effect:>8.1f}  {where if effect else '–':<7}{score:>9.3f}{jackknife:>11.3f}{bootstrap:>11.3f}",
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
        group = Units.of(matrix, units)
        for name in inside:
            if name == "conText":
                found = bootstrap_summary(bootstrap_cosines(group, directions, 200, rng)[:, None], 0.95)
            else:
                found = estimate([group], directions, name, draws=200, rng=rng)
            inside[name].append((found.lower[0] <= truth) & (truth <= found.upper[0]))
            if name == "jackknife":
                bias.append((found.value[0] - truth, found.debiased[0] - truth))
    plain, debiased = np.mean(bias, axis=(0, 2))
    shown = "".join(f"{np.mean(values):>12.3f}" for values in inside.values())
    who = f"{count} contexts" + (f", {clusters} clusters" if clusters else "")
    print(f"{who:<28}{plain:>10.3f}{debiased:>10.3f}{shown}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("samples", nargs="?", type=int, default=2000)
    parser.add_argument("--part", nargs="*", default=[*map(str, range(len(CASES))), "compare", "cosines"])
    parser.add_argument("--coverage", action="store_true", help="leave out the test; which misses are above, below")
    given = parser.parse_args()
    chosen = [case for number, case in enumerate(CASES) if str(number) in given.part]
    if chosen:
        print(f"Regression, {given.samples} samples a line; nominal 0.05 and 0.95; lengths in those of the noise")
        print("  effect   plain −  debiased −           size   along  across   mixed")
    for case in chosen:
        regression(case, given.samples, given.coverage)
    if "compare" in given.part:
        compare(given.samples)
    if "cosines" in given.part:
        print(f"\nCosines of a mean, d = 60, {given.samples} samples a line; nominal 0.95")
        print("units                         plain −   debias −   jackknife   bootstrap     conText")
        for count, clusters in ((25, None), (60, None), (250, None), (120, 30)):
            cosines(given.samples, count, 60, clusters)


if __name__ == "__main__":
    main()
