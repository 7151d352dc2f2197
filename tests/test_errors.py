"""Errors with a hint for each face: Python's arguments in `str(error)`, options on the command line."""

import pickle

import pytest

from alacarte import errors
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
