"""Many occurrences in one context cost as much as in many contexts."""

import numpy as np
import pytest

from alacarte import Transform, WordVectors
from alacarte.contexts.reading import Reading
from alacarte.model.embedding import ContextReader

VECTORS = WordVectors(["a", "b", "c"], np.eye(3, dtype=np.float32))


class Counting(dict):
    """Counts how often it is asked."""

    asked = 0

    def __contains__(self, key):
        self.asked += 1
        return super().__contains__(key)

    def get(self, key, default=None):
        self.asked += 1
        return super().get(key, default)


@pytest.mark.parametrize("positions", ["uniform", "linear"])
@pytest.mark.parametrize("unknown", ["keep", "drop"])
def test_work_grows_with_the_number_of_occurrences(positions, unknown):
    asked = []
    for occurrences in (100, 1000):
        reading = Reading(left=2, right=2, positions=positions, unknown=unknown)
        reader = ContextReader(VECTORS, Transform(np.eye(3, dtype=np.float32)), reading, str.split)
        index = Counting(VECTORS.key_to_index)
        reader.__dict__["_index"] = index
        windows = reader.windows(["a", "b", "x", "new", "c"] * occurrences, ["new"])
        assert len(windows) == occurrences
        if unknown == "keep":
            assert sorted(windows[1][0]) == [0, 1, 2]
        else:
            assert sorted(windows[1][0]) == [0, 0, 1, 2]
        asked.append(index.asked)
    assert asked[1] <= 11 * asked[0]
