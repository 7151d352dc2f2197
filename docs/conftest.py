"""The examples in docs/*.md run in an empty folder of their own, and a warning in one is shown, not raised."""

import sys
from pathlib import Path

import pytest
from tiny_wordnet import write_wordnet

# The tutorial reads Python's language reference, which every release of Python words a little differently.
WRITTEN_FOR = {"tutorial.md": (3, 11)}


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch, request):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs").symlink_to(Path(__file__).parent)  # for paths as they are in a clone
    if request.path.name == "senses.md":
        write_wordnet(tmp_path / "dict")


def pytest_collection_modifyitems(items):
    for item in items:
        item.add_marker(pytest.mark.filterwarnings("default::alacarte.errors.AlacarteWarning"))
        version = WRITTEN_FOR.get(item.path.name)
        if version is not None and sys.version_info[:2] != version:
            item.add_marker(pytest.mark.skip(reason=f"its outputs are those of Python {version[0]}.{version[1]}"))
