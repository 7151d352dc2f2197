"""What several tests share."""

import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

sys.path.insert(0, str(Path(__file__).parent))  # so that tests can import `plain`

# The first call of a kernel compiles it, which no deadline should measure.
settings.register_profile("default", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("default")

SHARED = Path(__file__).resolve().parents[2] / "shared"


def pytest_collection_modifyitems(items):
    skip = pytest.mark.skip(reason=f"needs {SHARED}, which only the developers have")
    for item in items:
        if "real" in item.keywords and not (SHARED / "data").is_dir():
            item.add_marker(skip)


@pytest.fixture(scope="session")
def shared():
    return SHARED / "data"


@pytest.fixture
def toy():
    """The vectors of the golden case."""
    from alacarte import WordVectors

    return WordVectors(["a", "b", "c"], np.array([[1, 0], [0, 1], [2, 2]], dtype=np.float32))
