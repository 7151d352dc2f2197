"""What several tests share."""

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

for name in ("ALC_MODEL", "ALC_VECTORS", "ALC_THREADS", "ALC_MEMORY"):  # the defaults of whoever runs the tests
    os.environ.pop(name, None)

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


def pytest_terminal_summary(terminalreporter):
    """Say in words that R's outputs were not compared: a skipped test is easily overlooked."""
    skipped = terminalreporter.getreports("skipped")
    if not (SHARED / "data").is_dir() and any("test_context_golden" in str(report.nodeid) for report in skipped):
        terminalreporter.write_line(
            f"agreement with R's conText was not checked: its outputs are in {SHARED}, which only the developers have",
            yellow=True,
        )


@pytest.fixture(scope="session", autouse=True)
def memory_urls():
    """Files in memory, as a server that is always there."""
    from alacarte._io import urls

    urls.SCHEMES["memory"] = "fsspec"


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
