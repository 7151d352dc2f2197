"""The laboratory notebook: settings of a run, what is kept of it, who has seen a test split, results and measures."""
