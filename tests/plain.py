"""Plain twins: the method as one would write it on a blackboard, for the kernels to be compared with."""

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
