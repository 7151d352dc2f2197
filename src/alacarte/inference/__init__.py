"""What can be said of a vector that is a mean of so many contexts: its noise, intervals, tests.

| module | holds |
|---|---|
| `means` | the mean of contexts, its noise (by contexts, clusters of one kind or two, weights), squared lengths |
| `cosines` | cosines without the bias of noise, their intervals, for words that were fixed and words that were chosen |
| `two_groups` | the difference of two groups' cosines, and its test by a wild cluster bootstrap |
| `regression_noise` | least squares of many outputs: robust covariances, permutations of terms, bootstrap |
| `lengths` | intervals and tests for the squared length of a coefficient vector |
| `multiple_testing` | p-values, and many p-values together: Bonferroni, Holm, Benjamini and Hochberg |
| `spread` | the noise of induced vectors, each target's own and what all targets have in common |
| `uncertainty` | confidence, standard errors and intervals of induced vectors |
| `quadratic_forms` | how probable it is that a squared length exceeds a multiple of its noise |
| `comparing` | whether two corpora use words differently: the test, for any number of words |
| `vocabulary` | `compare`: the passes over two corpora, the test of every word, the lines that speak loudest |

The first six are functions on arrays; the others are what `ALaCarte.induce(…, spread=16)` leads to.
`alacarte.regression` asks for the same things about the contexts of a table. What holds of it all, by simulation:
docs/inference.md.
"""
