"""Word sense disambiguation, the paper's section 5.1: the paper's table, any test sets, baselines, tuning."""
