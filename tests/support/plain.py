"""Plain twins: the method as one would write it on a blackboard, for the kernels to be compared with."""

from fractions import Fraction

import numpy as np


def find(documents, sequences):
    """All (document, start, end, sequence number), by trying every sequence at every place."""
    found = []
    for number, tokens in enumerate(documents):
        for start in range(len(tokens)):
            for which, sequence in enumerate(sequences):
                end = start + len(sequence)
                if list(tokens[start:end]) == list(sequence) and end <= len(tokens):
                    found.append((number, start, end, which))
    return sorted(found)


def position_weight(kind, distance, width):
    return {"uniform": 1.0, "linear": (width + 1 - distance) / width, "inverse": 1.0 / distance}[kind]


def window(tokens, start, end, vectors, left, right, positions="uniform", weights=None, unknown="keep"):
    """(weighted sum, number, total weight) of the context of tokens[start:end]."""
    before, after = tokens[:start], tokens[end:]
    if unknown == "drop":
        before = [token for token in before if token in vectors]
        after = [token for token in after if token in vectors]
    total, number, weight = np.zeros(vectors.dimension), 0, 0.0
    for side, width in ((before[::-1], left), (after, right)):
        for distance, token in enumerate(side[:width], start=1):
            if token in vectors:
                scale = position_weight(positions, distance, width) * (weights or {}).get(token, 1.0)
                if scale > 0:
                    total = total + scale * vectors[token].astype(np.float64)
                    number, weight = number + 1, weight + scale
    return total, number, weight


def sums(documents, sequences, vectors, left, right, averaging="occurrence", **options):
    """Per sequence: (sum, occurrences, contexts, tokens, total weight)."""
    result = [[np.zeros(vectors.dimension), 0, 0, 0, 0.0] for _ in sequences]
    for number, start, end, which in find(documents, sequences):
        total, count, weight = window(list(documents[number]), start, end, vectors, left, right, **options)
        if averaging == "context" and weight > 0:
            total = total / weight
        row = result[which]
        row[0] = row[0] + total
        row[1] += 1
        row[2] += count > 0
        row[3] += count
        row[4] += weight
    return result


# ------------------------------------------------------------------------------------------- in whole numbers


def fitting_exponent(largest, reach):
    """The largest s with which `reach` values of size `largest`, each rounded up, still fit in int32."""
    s = -200
    while reach * (Fraction(largest) * Fraction(2) ** (s + 1) + 1) <= 2**31 - 1:
        s += 1
    return s


def whole_rows(matrix, weights, row_exponents, weight_exponent):
    """For each word: its values in whole numbers, its weight in whole numbers, whether it counts."""
    rows = []
    for values, weight in zip(matrix.tolist(), weights, strict=True):
        scaled = [round(weight * value * 2.0**s) for value, s in zip(values, row_exponents, strict=True)]
        rows.append((scaled, round(weight * 2.0**weight_exponent), int(weight > 0)))
    return rows


def whole_window(ids, start, end, rows, left, right):
    """(values, weight, words) around ids[start:end], in Python's integers where nothing is weighed by distance.

    `left` and `right` are weights by distance; whole numbers are weighed in float64, distance by distance, to the left
    and then to the right.
    """
    dimension = len(rows[0][0]) if rows else 0
    values, weight, words = [0] * dimension, 0, 0
    places = [(start - 1 - k, scale) for k, scale in enumerate(left)] + [(end + k, s) for k, s in enumerate(right)]
    plain = all(scale == 1 for _, scale in places)
    for place, scale in places:
        if 0 <= place < len(ids) and 0 <= ids[place] < len(rows) and scale > 0:
            row, own, counts = rows[ids[place]]
            factor = 1 if plain else scale
            values = [total + factor * value for total, value in zip(values, row, strict=True)]
            weight, words = weight + factor * own, words + counts
    return values, weight, words


def whole_sums(documents, matches, targets, rows, left, right, mean_factor=0.0):
    """Per target: [values, total weight, words, occurrences, contexts], all of them Python integers.

    `documents` are lists of ids, `matches` (document, start, end, target). With a mean factor, each window's values are
    divided by its weight and rounded once.
    """
    dimension = len(rows[0][0])
    sums = [[[0] * dimension, 0, 0, 0, 0] for _ in range(targets)]
    for document, start, end, target in matches:
        values, weight, words = whole_window(documents[document], start, end, rows, left, right)
        scale = 1 if not mean_factor else mean_factor / weight if weight > 0 else 0.0
        total = sums[target]
        total[0] = [a + round(scale * b) for a, b in zip(total[0], values, strict=True)]
        total[1] += round(weight)
        total[2] += words
        total[3] += 1
        total[4] += words > 0
    return sums
