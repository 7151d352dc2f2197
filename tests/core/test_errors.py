"""Errors with a hint for each face: Python's arguments in `str(error)`, options on the command line."""

import pickle

import numpy as np
import pytest
from passes import VECTORS

from alacarte import ALaCarte, Targets, Transform, collect, errors
from alacarte.errors import AlacarteError, AlacarteWarning, BadCorpus, Hint, MissingExtra, UnknownKey

ALL = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, AlacarteError)]


@pytest.mark.parametrize("kind", [*ALL, AlacarteWarning])
def test_both_faces(kind):
    error = kind("it went wrong", hint=Hint("pass check=False", "pass --force"))
    assert str(error) == "it went wrong; pass check=False"
    assert error.for_command_line() == "it went wrong; pass --force"
    assert error.message == "it went wrong"
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again), again.for_command_line()) == (kind, str(error), error.for_command_line())
    assert str(kind("it went wrong")) == kind("it went wrong").for_command_line() == "it went wrong"


def test_a_hint_for_python_alone():
    error = UnknownKey("no vector for 'a'", hint=Hint("`get` returns a default"))
    assert str(error) == "no vector for 'a'; `get` returns a default"
    assert error.for_command_line() == "no vector for 'a'"


def test_they_are_what_python_has_for_it_too():
    assert issubclass(UnknownKey, KeyError)
    assert issubclass(BadCorpus, ValueError)
    assert issubclass(MissingExtra, ImportError)


@pytest.mark.parametrize("threads", [0, -1, 1.5, "two"])
def test_threads_that_make_no_sense(threads):
    with pytest.raises(AlacarteError, match="threads is a whole number from 1 on, not"):
        collect(VECTORS, ["a b"], ["a"], threads=threads)


def test_a_pattern_among_words_is_named():
    """Issue 21: ["immigr*"] was not found, and nothing said that it is no pattern there."""
    with pytest.raises(AlacarteError, match=r"Targets\.glob\('immigr\*'\)"):
        ALaCarte(VECTORS, Transform(np.eye(VECTORS.dimension))).induce(["a immigrant b"], ["immigr*"])
    with pytest.raises(AlacarteError) as caught:
        ALaCarte(VECTORS, Transform(np.eye(VECTORS.dimension))).induce(["a b"], Targets.glob("immigr*"))
    assert "glob" not in str(caught.value)


def test_targets_that_are_none():
    with pytest.raises(AlacarteError, match="strings, or sequences of tokens, and not 3"):
        Targets(3)


def test_a_folder_that_is_not_there(tmp_path):
    """Issue 21: save("nodir/x") said no more than that there is no such file."""
    for save in (VECTORS.save, Transform(np.eye(2)).save, collect(VECTORS, ["a b"], ["a"]).save):
        with pytest.raises(FileNotFoundError, match=r"there is no folder .*nodir; make it"):
            save(tmp_path / "nodir" / "x.safetensors")
