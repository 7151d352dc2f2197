"""Few-shot words, the paper's section 4: data in, a tidy table and a figure out, published numbers beside ours.

| module | experiment |
|---|---|
| `nonce` | definitional nonces (Table 1, left) |
| `chimera` | chimeras (Table 1, right) |
| `crw`, `crw_build` | contextual rare words (Figure 2), and a builder for such data sets |
| `wordsim` | word similarity sets, with missing words induced from a corpus |
| `figure1` | what the transform does to the length of a vector, by frequency |
| `context_weights`, `agreement` | which context words count, and which contexts |
| `learned_weights` | weights of context words by frequency and distance, learned from text |
| `sweep` | quality against window, threshold, weighting, corpus size: a grid on training data only |

`systems` builds what they compare, by name: the baselines, à la carte, `informed`, `spelled`. `data` reads the data
sets, `published` has the numbers of the literature, and `figures` draws.
"""
