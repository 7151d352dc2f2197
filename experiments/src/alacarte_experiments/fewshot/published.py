"""The numbers in the literature, as rows to put beside ours; read off published figures where no table has them."""

from alacarte_experiments.lab.results import Row

PAPER = "Khodak et al. 2018"
FORM_CONTEXT = "Schick & Schütze 2019"

CRW = {  # 562 pairs; Spearman; à la carte and Form-Context as read off published figures
    ("average", PAPER): (0.139, 0.170, 0.193, 0.208, 0.215, 0.221, 0.224, 0.226),
    ("à la carte", PAPER): (0.194, 0.248, 0.295, 0.339, 0.363, 0.377, 0.385, 0.389),
    ("Form-Context (context only)", FORM_CONTEXT): (0.193, 0.235, 0.273, 0.295, 0.308, 0.318, 0.321, 0.324),
    ("Form-Context", FORM_CONTEXT): (0.345, 0.396, 0.426, 0.446, 0.458, 0.463, 0.465, 0.467),
}
CRW_WORD2VEC = 0.45  # word2vec retrained with all contexts

NONCE = {  # median rank, mean reciprocal rank, among 259,376 words
    ("word2vec", PAPER): (111012.0, 0.00007),
    ("additive", PAPER): (3381.0, 0.00945),
    ("additive, no stop words", PAPER): (861.0, 0.03686),
    ("nonce2vec", PAPER): (623.0, 0.04907),
    ("à la carte", PAPER): (165.5, 0.07058),
    ("Form-Context (gated)", FORM_CONTEXT): (49.0, 0.1754),
}

CHIMERA = {  # 2, 4, 6 sentences, as printed: most likely (ρ + p)/2, see docs/reproduction/chimeras.md
    ("word2vec", PAPER): (0.146, 0.246, 0.250),
    ("additive", PAPER): (0.363, 0.370, 0.360),
    ("additive, no stop words", PAPER): (0.338, 0.362, 0.408),
    ("nonce2vec", PAPER): (0.332, 0.367, 0.389),
    ("à la carte", PAPER): (0.363, 0.384, 0.394),
}
CHIMERA_TRUE = {("sum, filtered by informativeness", "Kabbach et al. 2019"): (0.307, 0.374, 0.424)}


def crw_rows() -> list[Row]:
    rows = [
        {"system": system, "size": 2**i, "metric": "spearman", "value": value, "n": 562, "source": source}
        for (system, source), values in CRW.items()
        for i, value in enumerate(values)
    ]
    last = {"system": "word2vec retrained", "size": 128, "metric": "spearman", "value": CRW_WORD2VEC, "n": 562}
    return [*rows, {**last, "source": PAPER}]


def nonce_rows() -> list[Row]:
    return [
        {"system": system, "metric": metric, "value": value, "n": 300, "source": source}
        for (system, source), values in NONCE.items()
        for metric, value in zip(("median rank", "MRR"), values, strict=True)
    ]


def chimera_rows() -> list[Row]:
    printed = [(CHIMERA, "(ρ+p)/2"), (CHIMERA_TRUE, "ρ")]
    return [
        {"system": system, "sentences": size, "metric": metric, "value": value, "n": 110, "source": source}
        for table, metric in printed
        for (system, source), values in table.items()
        for size, value in zip((2, 4, 6), values, strict=True)
    ]
