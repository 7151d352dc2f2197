"""How certain induced vectors are: the noise of sums over contexts, confidence, intervals of similarities.

| module | holds |
|---|---|
| `spread` | the noise of induced vectors: each target's own, and what all targets have in common |
| `uncertainty` | confidence, standard errors and intervals of induced vectors and of their neighbours |
"""
