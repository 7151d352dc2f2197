"""Two corpora compared, word by word, and words on a plane.

| module | holds |
|---|---|
| `vocabulary` | `compare`: reads two corpora, tests every word, shows lines for the words that differ |
| `uses` | `compare_uses`: the test, for words that were induced from two corpora |
| `clusters` | which documents are one piece of evidence: of one speaker, or reprints of one text |
| `word_map` | words on the plane in which they differ most, with regions of uncertainty |
| `plots` | pictures of both |
"""
