"""Weighted least squares between means of contexts and vectors: normal equations, QR, leave-one-out, folds."""

from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt
from scipy import linalg

from alacarte.contexts.sums import ContextSums
from alacarte.errors import Hint, NotEnoughData
from alacarte.vectors.word_vectors import WordVectors

Doubles = npt.NDArray[np.float64]
Rows = npt.NDArray[np.intp]

BLOCK = 8192  # words whose means are in memory at a time
ILL_CONDITIONED = 1e10  # Cholesky on the normal equations loses half of float64's 16 digits about here: QR instead
SINGULAR = 1e14  # beyond this even QR's answer is noise


class Regression:
    """The weighted least squares problem, kept as its normal equations, one set a fold; means come in blocks."""

    def __init__(
        self, sums: ContextSums, vectors: WordVectors, rows: Rows, alpha: Doubles, intercept: bool, folds: int
    ) -> None:
        self.sums, self.vectors, self.rows, self.alpha = sums, vectors, rows, alpha
        self.intercept = intercept
        self.d = vectors.dimension
        self.n = self.d + intercept
        index = vectors.key_to_index
        self.vector_rows = np.array([index[sums.keys[row]] for row in rows], dtype=np.intp)
        self.fold = np.random.default_rng(0).permutation(len(rows)) % max(folds, 1)
        self.gram = np.zeros((max(folds, 1), self.n, self.n))
        self.cross = np.zeros((max(folds, 1), self.d, self.n))
        self.scale = np.zeros(2)  # Σ α ⟨v, u⟩ and Σ α ⟨u, u⟩
        for block, u, v in self.blocks():
            weighted = u * self.alpha[block, None]
            for fold in range(max(folds, 1)):
                part = self.fold[block] == fold
                self.gram[fold] += weighted[part].T @ u[part]
                self.cross[fold] += v[part].T @ weighted[part]
            means = u[:, : self.d]
            self.scale += (
                np.einsum("w,wj,wj", self.alpha[block], v, means),
                np.einsum("w,wj,wj", self.alpha[block], means, means),
            )

    def blocks(self) -> Iterator[tuple[slice, Doubles, Doubles]]:
        """(which words, their u with a last column of ones for an intercept, their v), in float64."""
        for low in range(0, len(self.rows), BLOCK):
            block = slice(low, low + BLOCK)
            u = self.sums.means(self.rows[block])
            if self.intercept:
                u = np.hstack([u, np.ones((len(u), 1))])
            yield block, u, self.vectors.matrix[self.vector_rows[block]].astype(np.float64)

    def best_scalar(self) -> float:
        return float(self.scale[0] / self.scale[1])

    def _penalty(self, penalty: float) -> Doubles:
        """λ on the matrix, nothing on the intercept."""
        diagonal = np.full(self.n, penalty)
        diagonal[self.d :] = 0.0
        return diagonal

    def solve(self, penalty: float, center: float, without: int | None = None) -> tuple[Doubles, str, float]:
        """(A with the intercept as last column, which solver, condition number)."""
        keep = [fold for fold in range(len(self.gram)) if fold != without]
        diagonal = self._penalty(penalty)
        gram = self.gram[keep].sum(axis=0) + np.diag(diagonal)
        cross = self.cross[keep].sum(axis=0)
        cross[:, : self.d] += np.eye(self.d) * (penalty * center)
        eigenvalues = linalg.eigvalsh(gram)
        # The condition number of the regression is the root of that of its normal equations.
        squared = float(eigenvalues[-1] / eigenvalues[0]) if eigenvalues[0] > 0 else np.inf
        if squared < ILL_CONDITIONED:
            factor = linalg.cho_factor(gram)
            return linalg.cho_solve(factor, cross.T).T, "Cholesky", float(np.sqrt(squared))
        return self._solve_by_qr(diagonal, center, without)

    def _solve_by_qr(self, diagonal: Doubles, center: float, without: int | None) -> tuple[Doubles, str, float]:
        """QR of the stacked, weighted rows, a block at a time: R and Qᵀv are all that is kept."""
        root = np.sqrt(diagonal)
        triangle = np.diag(root)
        right = np.zeros((self.n, self.d))
        right[: self.d] = np.diag(root[: self.d] * center)
        for block, u, v in self.blocks():
            scale = np.sqrt(np.where(self.fold[block] == without, 0.0, self.alpha[block]))[:, None]
            stacked = np.vstack([triangle, u * scale])
            q, triangle = linalg.qr(stacked, mode="economic")
            right = q.T @ np.vstack([right, v * scale])
        singular = linalg.svdvals(triangle)
        condition = float(singular[0] / singular[-1]) if singular[-1] > 0 else np.inf
        if condition > SINGULAR:
            raise NotEnoughData(
                f"the words' contexts do not span all {self.d} dimensions (condition number {condition:.1g}): no "
                "matrix is determined; give more text, or lower the threshold",
                hint=Hint("or add a ridge penalty, ridge='loo'", "or add a ridge penalty, --ridge loo"),
            )
        return linalg.solve_triangular(triangle, right).T, "QR", condition

    def leave_one_out(self, center: float) -> float:
        """The λ with the least Σ α ‖v − A₋w u‖² over words w left out, from one eigendecomposition.

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
        values, vectors = linalg.eigh(gram)
        values = np.maximum(values, 0.0)
        target = (cross - center * gram) @ vectors  # what is left to explain beyond center · u
        candidates = values.mean() * np.logspace(-9, 1, 41)
        errors = np.zeros(len(candidates))
        for block, u, v in self.blocks():
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

    def cosines(self, matrix_of_fold: Callable[[int], Doubles]) -> Doubles:
        """cosine(A u_w, v_w) for each word, with the matrix that belongs to its fold."""
        result = np.zeros(len(self.rows))
        for block, u, v in self.blocks():
            for fold in range(len(self.gram)):
                part = self.fold[block] == fold
                guess = u[part] @ matrix_of_fold(fold).T
                norms = np.linalg.norm(guess, axis=1) * np.linalg.norm(v[part], axis=1)
                dots = np.einsum("wj,wj->w", guess, v[part])
                result[block][part] = np.divide(dots, norms, out=np.zeros_like(dots), where=norms > 0)
        return result
