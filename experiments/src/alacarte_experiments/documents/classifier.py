"""The classifier that all systems of Table 4 share: ℓ2 logistic regression, several classes one against the rest.

Sparse features go through liblinear, by its dual where there are fewer documents than features, unless they are many:
on IMDB's long documents the dual takes hundreds of rounds where the primal takes twenty. Dense ones go through
L-BFGS in coordinates in which the problem is round: with B = ¼ XᵀX + Λ/C, which bounds the Hessian from above, and
B = L Lᵀ, it minimises over z = Lᵀ w. XᵀX is made once for all C and all classes, and a step costs two products with X,
where Newton's method needs XᵀDX anew in every step.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.linalg
import scipy.optimize
import scipy.sparse
import scipy.special
from scipy.linalg import blas

from alacarte.errors import BadData, require

Features = Any  # a dense array, or a sparse one
Doubles = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
MANY = 15_000  # documents
CLOSE = 1e-4  # of the gradient in the round coordinates, where it counts nats over all documents


class Classifier:
    """What was learned for each class (for two: the second): weights, a constant, naive Bayes ratios if wanted."""

    def __init__(self, classes: npt.NDArray[Any], models: list[tuple[Doubles, float, Doubles | None]]) -> None:
        self.classes = classes
        self.models = models

    def predict(self, x: Features) -> npt.NDArray[Any]:
        scores = np.column_stack([_seen(x, ratios) @ weights + constant for weights, constant, ratios in self.models])
        if len(self.classes) == 2:
            return np.asarray(self.classes[(scores[:, 0] > 0).astype(int)])
        return np.asarray(self.classes[scores.argmax(axis=1)])


def train(x: Features, y: npt.NDArray[Any], cs: Sequence[float], *, bayes: bool = False) -> Iterator[Classifier]:
    """A classifier for each C, smallest first. With `bayes`, sparse features become presence × log ratio.

    >>> x, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array(["no", "no", "yes", "yes"])
    >>> [classifier.predict(x).tolist() for classifier in train(x, y, [10.0])]
    [['no', 'no', 'yes', 'yes']]
    """
    classes = np.unique(y)
    if len(classes) < 2:
        raise BadData(f"all documents to train on are of one class, {classes.tolist()}; a classifier needs two")
    wanted = classes[1:] if len(classes) == 2 else classes
    positive = [y == name for name in wanted]
    if not scipy.sparse.issparse(x):
        for weights in logistic_path(x, np.array(positive), sorted(cs)):
            yield Classifier(classes, [(row[:-1], float(row[-1]), None) for row in weights])
        return
    ratios = [log_count_ratios(x, part) if bayes else None for part in positive]
    seen = [_seen(x, ratio) for ratio in ratios] if bayes else [x] * len(wanted)
    linear = require("sklearn.linear_model", extra="sklearn", purpose="classifying documents")
    dual = x.shape[0] < min(x.shape[1], MANY)
    options = {"solver": "liblinear", "dual": dual, "max_iter": 1000, "tol": 1e-3, "random_state": 0}
    for c in sorted(cs):
        models = []
        for part, features, ratio in zip(positive, seen, ratios, strict=True):
            model = linear.LogisticRegression(C=c, **options).fit(features, part)
            models.append((model.coef_[0], float(model.intercept_[0]), ratio))
        yield Classifier(classes, models)


def logistic_path(x: npt.NDArray[Any], positive: Bools, cs: Sequence[float]) -> Iterator[Doubles]:
    """For each C, (classes, d + 1): argmin Σ log(1 + exp(∓(x·w + b))) + ‖w‖² / 2C, with b last.

    >>> x = np.array([[-1.0], [-1.0], [-1.0], [1.0], [1.0], [1.0]])
    >>> positive = np.array([[False, False, True, False, True, True]])
    >>> next(logistic_path(x, positive, [1e6])).round(2).tolist()  # the odds are 1/2 at x = -1, and 2 at x = 1
    [[0.69, 0.0]]
    """
    x = np.ascontiguousarray(x, dtype=np.float64)
    dimension = x.shape[1]
    mean = x.mean(axis=0)
    x = x - mean  # the constant takes it up, and is then nearly independent of the weights
    gram: Doubles = blas.dsyrk(0.25, x.T, lower=1)
    minima = np.zeros((len(positive), dimension + 1))
    for c in cs:
        bound = gram.copy(order="F")
        bound[np.diag_indices(dimension)] += 1 / c
        factor = scipy.linalg.cholesky(bound, lower=True, overwrite_a=True, check_finite=False)
        minima = _minima(x, positive, 1 / c, factor, minima)
        result = minima.copy()
        result[:, -1] -= result[:, :-1] @ mean
        yield result


def _minima(x: Doubles, positive: Bools, penalty: float, factor: Doubles, start: Doubles) -> Doubles:
    """Weights and constants for centred features, all classes at once; `factor` is L.

    Every product is scipy's: numpy brings a BLAS of its own, and the threads of the two would take turns in waiting.
    """
    signs = np.where(positive.T, 1.0, -1.0)
    root = np.sqrt(len(x)) / 2  # L of the constant alone
    shape = start.shape

    def weights(flat: Doubles) -> tuple[Doubles, Doubles]:
        z = flat.reshape(shape).T
        return blas.dtrsm(1.0, factor, z[:-1], lower=1, trans_a=1), z[-1] / root

    def value(flat: Doubles) -> tuple[float, Doubles]:
        w, constants = weights(flat)
        margins = signs * (blas.dgemm(1.0, x.T, w, trans_a=1) + constants)
        slopes = np.asfortranarray(-signs * scipy.special.expit(-margins))
        gradient = np.empty(shape)
        gradient[:, :-1] = blas.dtrsm(1.0, factor, blas.dgemm(1.0, x.T, slopes) + penalty * w, lower=1).T
        gradient[:, -1] = slopes.sum(axis=0) / root
        return float(np.logaddexp(0, -margins).sum() + penalty / 2 * np.square(w).sum()), gradient.ravel()

    begin = np.column_stack([blas.dgemm(1.0, factor, start[:, :-1].T, trans_a=1).T, start[:, -1] * root])
    options = {"maxiter": 1000, "maxfun": 2000, "maxcor": 20, "gtol": CLOSE, "ftol": 1e-12}
    result = scipy.optimize.minimize(value, begin.ravel(), jac=True, method="L-BFGS-B", options=options)
    w, constants = weights(result.x)
    return np.column_stack([w.T, constants])


def log_count_ratios(counts: Features, positive: Bools) -> Doubles:
    """r of Wang & Manning (2012): how much more often a feature is met in one class, smoothed by 1; log.

    >>> counts = scipy.sparse.csr_matrix([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    >>> log_count_ratios(counts, np.array([True, True, False])).round(3).tolist()
    [0.811, -0.981]
    """
    binary = counts.sign()
    p = 1 + np.asarray(binary[positive].sum(axis=0)).ravel()
    q = 1 + np.asarray(binary[~positive].sum(axis=0)).ravel()
    ratios: Doubles = np.log((p / p.sum()) / (q / q.sum()))
    return ratios


def _seen(x: Features, ratios: Doubles | None) -> Features:
    return x if ratios is None else x.sign().multiply(ratios).tocsr()
