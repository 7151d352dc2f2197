"""Documents and n-grams, the paper's section 5.2: Table 4 (`evaluation`) and Table 3 (`bigrams`)."""
