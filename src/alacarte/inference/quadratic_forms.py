"""How probable it is that a squared length exceeds a multiple of its estimated noise.

The squared length of a vector of Gaussian noise is Σ λ_i χ²₁, with λ_i the eigenvalues of its covariance, and the trace
of that covariance, estimated with f degrees of freedom, is Σ λ_i χ²_f / f. An F distribution with as many degrees of
freedom as the λ have effectively dimensions is right in the middle and far too small in the tail, where the largest λ
decides, and with a whole vocabulary it is the tail that counts. Here the tail is a saddlepoint approximation (Kuonen
1999, in the form of Barndorff-Nielsen), which needs the cumulant function of Σ λ_i (χ²₁ − c χ²_f / f) alone.
"""

import numpy as np

from alacarte._io.arrays import Doubles

NEWTON_STEPS = 80
NEAR_MEAN = 1e-4  # of a standard deviation or so: here the approximation is 0 / 0, and a line is drawn through it
DRAWS_AT_ONCE = 1 << 14  # rows at a time


def ratio_tail(ratio: Doubles, eigenvalues: Doubles, df: Doubles) -> Doubles:
    """P(Σ λ_i χ²₁ > ratio · Σ λ_i χ²_f / f), a row each: (n,), (n, k) or (k,), and (n,).

    With one eigenvalue, or with equal ones, this is an F distribution:

    >>> from scipy import special
    >>> ratio_tail(np.array([1.0, 3.0]), np.ones(20), np.array([30.0, 30.0])).round(3).tolist()
    [0.46, 0.0]
    >>> special.fdtrc(20, 20 * 30, [1.0, 3.0]).round(3).tolist()
    [0.46, 0.0]
    """
    result = np.empty(len(ratio))
    spectra = np.broadcast_to(eigenvalues, (len(ratio), eigenvalues.shape[-1]))
    for low in range(0, len(ratio), DRAWS_AT_ONCE):
        part = slice(low, low + DRAWS_AT_ONCE)
        result[part] = _tail(np.maximum(ratio[part], 1e-12), spectra[part], df[part])
    return result


def _tail(ratio: Doubles, eigenvalues: Doubles, df: Doubles) -> Doubles:
    from scipy import special

    largest = eigenvalues.max(axis=1)
    low, high = -df / (2 * ratio * largest) * (1 - 1e-12), (1 - 1e-12) / (2 * largest)
    point = np.zeros(len(ratio))
    for _ in range(NEWTON_STEPS):  # Newton's method, and halving where it would leave the interval
        _, slope, curvature = _cumulants(point, ratio, eigenvalues, df)
        low, high = np.where(slope < 0, point, low), np.where(slope > 0, point, high)
        following = point - slope / curvature
        following = np.where((following <= low) | (following >= high), (low + high) / 2, following)
        moved = np.abs(following - point) * largest
        point = following
        if np.max(moved, initial=0.0) < 1e-9:
            break
    value, _, curvature = _cumulants(point, ratio, eigenvalues, df)
    w = np.sign(point) * np.sqrt(np.maximum(-2 * value, 0.0))
    v = point * np.sqrt(curvature)
    near = np.abs(w) < NEAR_MEAN
    w, v = np.where(near, 1.0, w), np.where(near, 1.0, v)
    _, _, second = _cumulants(np.zeros(len(ratio)), ratio, eigenvalues, df)
    third = 8 * np.sum(eigenvalues**3, axis=1) * (1 - ratio**3 / df**2)
    at_mean = 0.5 - third / (6 * np.sqrt(2 * np.pi) * second**1.5)
    return np.asarray(np.where(near, at_mean, special.ndtr(-(w + np.log(v / w) / w))))


def _cumulants(point: Doubles, ratio: Doubles, eigenvalues: Doubles, df: Doubles) -> tuple[Doubles, Doubles, Doubles]:
    """Return the cumulant function of Σ λ_i (χ²₁ − ratio · χ²_f / f) and its two derivatives."""
    above = 1 - 2 * point[:, None] * eigenvalues
    below = 1 + 2 * (point * ratio / df)[:, None] * eigenvalues
    value = -0.5 * np.log(above).sum(axis=1) - 0.5 * df * np.log(below).sum(axis=1)
    share_above, share_below = eigenvalues / above, eigenvalues / below
    slope = share_above.sum(axis=1) - ratio * share_below.sum(axis=1)
    curvature = 2 * (share_above**2).sum(axis=1) + 2 * ratio**2 / df * (share_below**2).sum(axis=1)
    return value, slope, curvature
