"""Weighted least squares between means of contexts and vectors: normal equations, QR, leave-one-out, folds."""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from alacarte._io.arrays import Doubles, Rows
from alacarte.contexts.sums import ContextSums
from alacarte.errors import Hint, NotEnoughData
from alacarte.vectors.geometry import cosines
from alacarte.vectors.word_vectors import WordVectors

MEANS_AT_ONCE = 8192  # words whose means are in memory at a time
ILL_CONDITIONED = 1e10  # the normal equations lose half of float64's 16 digits about here: QR instead
SINGULAR = 1e14  # beyond this even QR's answer is noise


class Regression:
    """The weighted least squares problem, kept as its normal equations, one set a fold; means come in blocks.

    The words are sorted by fold, so that each block belongs to one, and every step is a product of whole matrices.
    """

    def __init__(
        self,
        sums: ContextSums,
        vectors: WordVectors,
        rows: tuple[Rows, Rows],
        alpha: Doubles,
        intercept: bool,
        folds: int,
    ) -> None:
        """Add up the normal equations of `rows` of the sums, and of the vectors, each of which counts `alpha`."""
        self.sums, self.vectors, self.intercept = sums, vectors, intercept
        self.d = vectors.dimension
        self.n = self.d + intercept
        fold = np.random.default_rng(0).permutation(len(alpha)) % max(folds, 1)
        order = np.argsort(fold, kind="stable")
        self.rows, self.vector_rows, self.alpha = rows[0][order], rows[1][order], alpha[order]
        self.bounds = np.searchsorted(fold[order], np.arange(max(folds, 1) + 1)).tolist()
        self.gram = np.zeros((max(folds, 1), self.n, self.n))
        self.cross = np.zeros((max(folds, 1), self.d, self.n))
        for block, number, u, v in self.blocks():
            weighted = u * self.alpha[block, None]
            self.gram[number] += weighted.T @ u
            self.cross[number] += v.T @ weighted

    def blocks(self) -> Iterator[tuple[slice, int, Doubles, Doubles]]:
        """Yield (which words, their fold, their u with a last column of ones for an intercept, their v), in float64."""
        for fold, (begin, end) in enumerate(pairwise(self.bounds)):
            for low in range(begin, end, MEANS_AT_ONCE):
                block = slice(low, min(low + MEANS_AT_ONCE, end))
                u = self.sums.means(self.rows[block])
                if self.intercept:
                    u = np.hstack([u, np.ones((len(u), 1))])
                yield block, fold, u, self.vectors.matrix[self.vector_rows[block]].astype(np.float64)

    def best_scalar(self) -> float:
        """Return the c for which c · u is nearest to v: Σ α ⟨v, u⟩ / Σ α ⟨u, u⟩."""
        d = self.d
        return float(np.trace(self.cross[:, :, :d].sum(axis=0)) / np.trace(self.gram[:, :d, :d].sum(axis=0)))

    def _penalty(self, penalty: float) -> Doubles:
        """Return the diagonal: λ for the matrix, 0 for the intercept."""
        diagonal = np.full(self.n, penalty)
        diagonal[self.d :] = 0.0
        return diagonal

    def solve(self, penalty: float, center: float, without: int | None = None) -> tuple[Doubles, str, float]:
        """Return (A with the intercept as last column, which solver, condition number)."""
        keep = [fold for fold in range(len(self.gram)) if fold != without]
        diagonal = self._penalty(penalty)
        gram = self.gram[keep].sum(axis=0) + np.diag(diagonal)
        cross = self.cross[keep].sum(axis=0)
        cross[:, : self.d] += np.eye(self.d) * (penalty * center)
        eigenvalues = np.linalg.eigvalsh(gram)
        # The condition number of the regression is the root of that of its normal equations.
        squared = float(eigenvalues[-1] / eigenvalues[0]) if eigenvalues[0] > 0 else np.inf
        if squared < ILL_CONDITIONED:
            return np.linalg.solve(gram, cross.T).T, "normal equations", float(np.sqrt(squared))
        return self._solve_by_qr(diagonal, center, without)

    def _solve_by_qr(self, diagonal: Doubles, center: float, without: int | None) -> tuple[Doubles, str, float]:
        """Solve by QR of the stacked, weighted rows, a block at a time: R and Qᵀv are all that is kept."""
        root = np.sqrt(diagonal)
        triangle = np.diag(root)
        right = np.zeros((self.n, self.d))
        right[: self.d] = np.diag(root[: self.d] * center)
        for block, fold, u, v in self.blocks():
            if fold == without:
                continue
            scale = np.sqrt(self.alpha[block])[:, None]
            stacked = np.vstack([triangle, u * scale])
            q, triangle = np.linalg.qr(stacked)
            right = q.T @ np.vstack([right, v * scale])
        singular = np.linalg.svd(triangle, compute_uv=False)
        condition = float(singular[0] / singular[-1]) if singular[-1] > 0 else np.inf
        if condition > SINGULAR:
            raise NotEnoughData(
                f"the words' contexts do not span all {self.d} dimensions (condition number {condition:.1g}): no "
                "matrix is determined; give more text, or lower the threshold",
                hint=Hint("or add a ridge penalty, ridge='loo'", "or add a ridge penalty, --ridge loo"),
            )
        return np.linalg.solve(triangle, right).T, "QR", condition

    def leave_one_out(self, center: float) -> float:
        """Return the λ with the least Σ α ‖v − A₋w u‖² over words w left out, from one eigendecomposition.

        With G the Gram matrix, h_w = α_w uᵀ (G + λ)⁻¹ u is w's pull on its own prediction, and the error when it
        is left out is the ordinary one divided by 1 − h_w. An intercept is projected out of G first, so that the
        penalty leaves it alone; its own pull α_w / Σα is added to h_w.
        """
        gram, cross = self.gram.sum(axis=0), self.cross.sum(axis=0)
        d, total = self.d, self.alpha.sum()
        mean_u, mean_v = np.zeros(d), np.zeros(d)
        gram, cross = gram[:d, :d].copy(), cross[:, :d].copy()
        if self.intercept:
            mean_u = self.gram.sum(axis=0)[d, :d] / total
            mean_v = self.cross.sum(axis=0)[:, d] / total
            gram -= total * np.outer(mean_u, mean_u)
            cross -= total * np.outer(mean_v, mean_u)
        values, vectors = np.linalg.eigh(gram)
        values = np.maximum(values, 0.0)
        target = (cross - center * gram) @ vectors  # what is left to explain beyond center · u
        candidates = values.mean() * np.logspace(-9, 1, 41)
        errors = np.zeros(len(candidates))
        for block, _, u, v in self.blocks():
            centred = u[:, :d] - mean_u
            residual = (v - mean_v) - center * centred
            rotated = centred @ vectors
            alpha = self.alpha[block]
            for i, penalty in enumerate(candidates):
                shrunk = rotated / (values + penalty)
                pull = alpha * np.einsum("wj,wj->w", shrunk, rotated)
                if self.intercept:
                    pull = pull + alpha / total
                error = np.einsum("wj,wj->w", *(2 * [residual - shrunk @ target.T]))
                errors[i] += np.sum(alpha * error / np.maximum(1 - pull, 1e-12) ** 2)
        return float(candidates[np.argmin(errors)])

    def cosines(self, matrix: Doubles, held_out: list[Doubles] | None) -> tuple[Doubles, Doubles | None]:
        """Return cosine(A u, v) of each word by `matrix`, and by the one of `held_out` learned without its fold."""
        result = np.zeros((1 if held_out is None else 2, len(self.rows)))
        for block, fold, u, v in self.blocks():
            for which, chosen in enumerate([matrix] if held_out is None else [matrix, held_out[fold]]):
                result[which, block] = cosines(u @ chosen.T, v)
        return result[0], None if held_out is None else result[1]
