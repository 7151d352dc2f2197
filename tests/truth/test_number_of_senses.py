"""How often one sense is split, and two are not."""

import numpy as np

from alacarte.senses.induction import choose_number
from alacarte.vectors.geometry import unit_rows


def test_the_rate_at_which_one_sense_is_split_and_two_are_not():
    """Normal clouds of 100 contexts: one cloud is hardly ever split; two that share little of their mean always are."""
    rng = np.random.default_rng(0)
    split = []
    for mean in (np.ones((1, 30)) * 0.4, np.repeat(np.eye(30)[:2] * 4, 50, axis=0)):
        x = [unit_rows(rng.normal(size=(100, 30)) + mean) for _ in range(20)]
        split.append(np.mean([choose_number(one, one, np.arange(100), rng)[0] for one in x] == np.ones(20)))
    assert split[0] >= 0.9  # left whole
    assert split[1] == 0
