"""Microseconds for one sentence through `ALaCarte.embed`, after warm-up. Random vectors: only the sizes matter.

python benchmarks/embed.py [DIMENSION]
"""

import sys
import time

import numpy as np

from alacarte import ALaCarte, Transform, WordVectors

dimension = int(sys.argv[1]) if len(sys.argv) > 1 else 300
rng = np.random.default_rng(0)
words = [f"w{i}" for i in range(50_000)]
model = ALaCarte(
    WordVectors(words, rng.normal(size=(len(words), dimension))), Transform(rng.normal(size=(dimension, dimension)))
)
sentence = " ".join([*rng.choice(words, 20), "zorg", *rng.choice(words, 5)])
for target in (None, "zorg"):
    best = np.inf
    for _ in range(6):  # the first round warms up
        start = time.perf_counter()
        for _ in range(500):
            model.embed(sentence, target=target)
        best = min(best, (time.perf_counter() - start) / 500)
    print(f"d = {dimension}, 26 tokens, {'whole sentence' if target is None else 'window'}: {best * 1e6:.0f} µs")
