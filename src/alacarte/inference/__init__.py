"""Statistics on arrays: the noise of a mean, cosines and lengths without bias, intervals and tests.

| module | holds |
|---|---|
| `means` | the mean of contexts, its noise (by contexts, clusters, weights), squared lengths |
| `cosines` | cosines without the bias of noise, and their intervals, for words fixed in advance and for chosen words |
| `two_groups` | the difference of two groups' cosines, and its test by a wild cluster bootstrap |
| `regression_noise` | least squares of many outputs: robust covariances, jackknife, permutations of terms |
| `lengths` | intervals and tests for the squared length of a coefficient vector |
| `quadratic_forms` | how probable it is that a squared length exceeds a multiple of its noise |
| `levels` | between what a variable varies: documents, or only those who wrote them |
| `multiple_testing` | p-values, and adjusting many p-values together: Holm, Benjamini and Hochberg |

Nothing here knows words, text or models. `alacarte.uncertainty`, `alacarte.comparing` and `alacarte.regression` call
it. How often its intervals and tests hold, by simulation: docs/evidence/inference.md.
"""
