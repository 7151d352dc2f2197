"""What several tests share."""

import os
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

os.environ["ALACARTE_CONFIG"] = os.devnull + "/none"  # the defaults of whoever runs the tests are none of theirs
sys.path.insert(0, str(Path(__file__).parent / "tests"))  # so that tests can import `plain` and `passes`

# The first call of a kernel compiles it, which no deadline should measure; how slow data are to make is no fault.
settings.register_profile(
    "default", deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much]
)
settings.load_profile("default")

SHARED = Path(__file__).resolve().parents[1] / "shared"


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


@pytest.fixture
def much_text_and_many_targets(monkeypatch):
    """The ways that are taken only with more of them than a test has."""
    from alacarte.contexts import summing
    from alacarte.text.encoding import Encoder

    monkeypatch.setattr(Encoder, "SMALL", 0)
    monkeypatch.setattr(
        summing, "PRIVATE", 3 * 8 * 72
    )  # so that some targets have rows of a thread's own and some share theirs
