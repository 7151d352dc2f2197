"""The noise of a mean, intervals, tests."""
