"""The paper's section 4 as experiments: data in, a tidy table and a figure out, published numbers beside ours.

| module | experiment |
|---|---|
| `crw`, `crw_build` | contextual rare words (Figure 2), and a builder for such data sets |
| `nonce` | definitional nonces (Table 1, left) |
| `chimera` | chimeras (Table 1, right) |
| `wordsim` | word similarity sets, with missing words induced from a corpus |
| `figure1` | what the transform does to the length of a vector, by frequency |
| `sweep` | quality against window, threshold, weighting, corpus size: a grid on training data only |

`settings`, `store`, `systems`, `results`, `data`, `published` and `figures` are what they share.
"""
