"""The experiments of the à la carte paper, as commands of `alc eval` and as functions.

| folder | what is in it |
|---|---|
| `fewshot` | section 4: nonces, chimeras, rare words, word similarity, Figure 1, sweeps |
| `wsd` | section 5.1: word sense disambiguation |
| `documents` | section 5.2: document classification, nearest words of n-grams |
| `baselines` | what à la carte is compared with |
| `lab` | what the experiments share: settings, kept results, test splits, tables, measures, progress bars |
| `cli` | `alc eval` |

Only names that the library's reference lists are used here.
"""
