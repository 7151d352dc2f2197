"""Words on a plane: the regions of doubt hold what they should, and nothing is drawn that is not there."""

import numpy as np
import pytest

from alacarte import Transform, WordVectors, collect
from alacarte.comparing.word_map import MapPoint, WordMap, word_map
from alacarte.errors import AlacarteError, NotEnoughData
from alacarte.uncertainty.uncertainty import Uncertainty
from alacarte.vectors.geometry import unit_rows

RNG = np.random.default_rng(1)
VECTORS = WordVectors([f"w{number}" for number in range(300)], RNG.normal(size=(300, 12)))


def drawn(contexts: int, words: int = 40) -> tuple[WordMap, np.ndarray]:
    """A map of words with so many contexts each, and the vectors that endless contexts would give."""
    names = [f"t{number}" for number in range(words)]
    chances = RNG.dirichlet(np.full(300, 0.05), size=words)
    text = [
        " ".join([name, *RNG.choice(VECTORS.words, 6, p=chance)])
        for name, chance in zip(names, chances, strict=True)
        for _ in range(contexts)
    ]
    sums = collect(VECTORS, text, names, spread=16, window=10, show_progress=False)
    uncertainty = Uncertainty.of_sums(sums, Transform(np.eye(12)), VECTORS)
    return word_map(uncertainty), chances @ VECTORS.matrix.astype(np.float64)


def holds(point: MapPoint, place: np.ndarray) -> bool:
    across, up = place - [point.x, point.y]
    turn = np.array([[np.cos(point.angle), np.sin(point.angle)], [-np.sin(point.angle), np.cos(point.angle)]])
    return bool(((turn @ [across, up] / [point.major, point.minor]) ** 2).sum() <= 1)


@pytest.mark.parametrize(("contexts", "least"), [(8, 0.85), (30, 0.88), (200, 0.90)])
def test_the_region_of_doubt_holds_the_truth(contexts: int, least: float) -> None:
    inside = []
    for _ in range(5):
        plane, truth = drawn(contexts)
        inside += [holds(point, place) for point, place in zip(plane, plane.project(truth), strict=True)]
    assert least <= np.mean(inside) <= 0.995


def test_more_contexts_leave_less_doubt() -> None:
    few, many = (np.mean([point.major for point in drawn(contexts)[0]]) for contexts in (10, 160))
    assert few / many == pytest.approx(4, rel=0.3)


def test_places_are_those_of_directions() -> None:
    words = list(VECTORS.words[:6])
    text = [" ".join(RNG.choice(VECTORS.words[:30], 8)) for _ in range(400)]
    sums = collect(VECTORS, text, words, spread=16, show_progress=False)
    uncertainty = Uncertainty.of_sums(sums, Transform(np.eye(12)), VECTORS)
    plane = word_map(uncertainty, words[:4])
    assert [point.word for point in plane] == words[:4]
    own = plane.project(np.stack([VECTORS[word] for word in words[:4]]))
    np.testing.assert_allclose([[point.own_x, point.own_y] for point in plane], own, atol=1e-6)
    np.testing.assert_allclose(plane.axes @ plane.axes.T, np.eye(2), atol=1e-9)
    # a corpus's vector stands in its own direction from the origin of all directions
    target = uncertainty.one(words[0]).means[0]
    place = np.array([plane[0].x, plane[0].y]) + plane.axes @ plane.origin
    np.testing.assert_allclose(unit_rows(place), unit_rows(plane.axes @ target), atol=1e-9)


def test_a_vector_of_zeros_has_no_place() -> None:
    vectors = WordVectors([*VECTORS.words, "nothing"], np.vstack([VECTORS.matrix, np.zeros((1, 12))]))
    text = [" ".join(["nothing", *RNG.choice(VECTORS.words[:30], 8)]) for _ in range(100)]
    text += [f"z{' nothing' * n}" for n in range(1, 21)]
    sums = collect(vectors, text, ["w1", "w2", "nothing", "z"], spread=16, show_progress=False)
    uncertainty = Uncertainty.of_sums(sums, Transform(np.eye(12)), vectors)
    point = word_map(uncertainty, ["w1", "w2", "nothing"])[2]
    assert np.isfinite([point.x, point.y, point.major]).all()
    assert np.isnan([point.own_x, point.own_y]).all()
    with pytest.raises(NotEnoughData, match="'z' is zero"):
        word_map(uncertainty, ["w1", "z"])


def test_the_picture_has_a_mark_and_a_region_for_each_word_and_a_second_mark_for_its_own_vector() -> None:
    pytest.importorskip("matplotlib")
    plane, _ = drawn(20)
    own = sum(not np.isnan(point.own_x) for point in plane)
    axes = plane.plot(title="words")
    assert len(axes.patches) == len(plane)
    assert len(axes.lines) == len(plane) + 2 * own
    assert axes.get_title(loc="left") == "words"


def test_what_cannot_be_drawn() -> None:
    plane_of = Uncertainty.of_contexts("x", np.ones((3, 12)), np.ones(3), Transform(np.eye(12)), VECTORS)
    with pytest.raises(NotEnoughData, match="two words"):
        word_map(plane_of)
    with pytest.raises(AlacarteError):
        word_map(plane_of, ["x", "unheard"])
