"""Ways to put contexts and spelling together that were tried and are not the default: kept for the ablation table."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from alacarte.spelling.fusion import Fusion, Parts, Trials
from alacarte.vectors.geometry import unit_rows

Doubles = npt.NDArray[np.float64]


def _directions(
    contexts: npt.ArrayLike, forms: npt.ArrayLike, common: Doubles | None
) -> tuple[Doubles, Doubles, Doubles]:
    """(unit contexts, unit forms, their cosine without the common direction)."""
    x, f = unit_rows(contexts), unit_rows(forms)
    px, pf = (side if common is None else side - np.outer(side @ common, common) for side in (x, f))
    return x, f, np.einsum("ij,ij->i", unit_rows(px), unit_rows(pf))


@dataclass(frozen=True, eq=False)
class Gated:
    """(a + a′ c) x + (b + b′ c) f with c the cosine of the two sides: four scalars at each number of contexts."""

    fusion: Fusion
    table: Doubles  # (sizes, 4)

    @classmethod
    def learn(cls, trials: Trials, fusion: Fusion) -> "Gated":
        x, f, c = _directions(trials.contexts, trials.forms, trials.common)
        v = unit_rows(trials.truth)
        rows = []
        for size in fusion.sizes:
            here = trials.sizes == size
            sides = [x[here], f[here], c[here, None] * x[here], c[here, None] * f[here]]
            gram = np.array([[(one * other).sum() for one in sides] for other in sides])
            rows.append(np.linalg.lstsq(gram, np.array([(side * v[here]).sum() for side in sides]), rcond=None)[0])
        return cls(fusion, np.array(rows))

    def combine(self, contexts: npt.ArrayLike, forms: npt.ArrayLike, counts: npt.ArrayLike) -> Parts:
        x, f, c = _directions(contexts, forms, self.fusion.common)
        known = np.log2(np.array(self.fusion.sizes, dtype=np.float64))
        at = np.log2(np.maximum(np.asarray(counts, dtype=np.float64), 1))
        a, b, a_gate, b_gate = (np.interp(at, known, column)[:, None] for column in self.table.T)
        mixed = (a + a_gate * c[:, None]) * x + (b + b_gate * c[:, None]) * f
        return _finished(self.fusion, mixed, counts)


@dataclass(frozen=True, eq=False)
class Matrices:
    """x K + f L with matrices K and L for each number of contexts, by ridge regression toward the scalars."""

    fusion: Fusion
    matrices: dict[int, Doubles]  # by the number of contexts, (2 d, d)

    @classmethod
    def learn(cls, trials: Trials, fusion: Fusion, ridge: float) -> "Matrices":
        x, f, _ = _directions(trials.contexts, trials.forms, None)
        v = unit_rows(trials.truth)
        d = v.shape[1]
        matrices = {}
        for size, (a, b) in zip(fusion.sizes, fusion.table.tolist(), strict=True):
            here = trials.sizes == size
            both = np.hstack([x[here], f[here]])
            start = np.vstack([a * np.eye(d), b * np.eye(d)])
            gram = both.T @ both
            gram += ridge * np.trace(gram) / (2 * d) * np.eye(2 * d)
            matrices[size] = start + np.linalg.solve(gram, both.T @ (v[here] - both @ start))
        return cls(fusion, matrices)

    def combine(self, contexts: npt.ArrayLike, forms: npt.ArrayLike, counts: npt.ArrayLike) -> Parts:
        x, f, _ = _directions(contexts, forms, None)
        nearest = min(self.matrices, key=lambda size: abs(np.log2(size) - np.log2(max(1, int(np.max(counts))))))
        return _finished(self.fusion, np.hstack([x, f]) @ self.matrices[nearest], counts)


def _finished(fusion: Fusion, mixed: Doubles, counts: npt.ArrayLike) -> Parts:
    """As parts of a fusion, without the common direction if that takes it out."""
    return fusion.combine(mixed, np.zeros_like(mixed), counts)
