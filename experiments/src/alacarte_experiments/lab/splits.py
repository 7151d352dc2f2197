"""Test splits are opened by the final evaluation only, and each opening is written down first.

Readers of data sets read the train split. For the test split they want a `Permit`, which `open_test` gives after it
has recorded the settings in the store's `test-runs.jsonl`. Tuning (`sweep`) has no way to ask for one. Results carry
how many different settings have seen the test split, so that a number found by trying many shows it.
"""

import json
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from alacarte.errors import BadData
from alacarte_experiments.lab.settings import Settings
from alacarte_experiments.lab.store import Store

_ONLY_HERE = object()


@dataclass(frozen=True)
class Permit:
    """The right to read one experiment's test split, once its settings are on record."""

    experiment: str
    settings: int  # how many different settings have been recorded for this test split, these included
    _origin: object = None

    def __post_init__(self) -> None:
        if self._origin is not _ONLY_HERE:
            raise BadData("test splits are opened by splits.open_test, which records the settings first")


def open_test(settings: Settings, store: Store) -> Permit:
    """Record the settings of a final evaluation, then allow it."""
    if settings.split != "test":
        raise BadData('these settings are for the train split; a final evaluation says split = "test"')
    if settings.experiment == "sweep":
        raise BadData("a sweep chooses settings, so it sees no test split; run the experiment with what it chose")
    chosen = settings.with_options({"systems": ()}).digest  # further systems beside are no further choice
    seen = record(store, settings.experiment, settings.data, chosen, asdict(settings))
    return Permit(settings.experiment, seen, _ONLY_HERE)


def record(store: Store, experiment: str, data: object, chosen: str, settings: object) -> int:
    """Write down that a test split is seen with some settings; how many different ones have seen it, these included."""
    path = store.folder / "test-runs.jsonl"
    before = _recorded(path, experiment, data)
    if chosen not in before:
        path.parent.mkdir(parents=True, exist_ok=True)
        line = {
            "experiment": experiment,
            "data": data,
            "chosen": chosen,
            "time": datetime.now(UTC).isoformat(timespec="seconds"),
            "settings": settings,
        }
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line, ensure_ascii=False) + "\n")
    return len(before | {chosen})


def split_file(place: str | Path, name: str, permit: Permit | None) -> Path:
    """The file of a split: in a folder, `name` with {} for the split; or a file that the caller named.

    Without a permit it is the train split, and a file whose name says that it is a test split is not opened.
    """
    path = Path(place).expanduser()
    if not path.is_file():
        path /= name.format("train" if permit is None else "test")
    if permit is None and "test" in path.name:
        raise BadData(f"{path}: a test split is not opened without a permit; pass --split test for a final run")
    return path


def _recorded(path: Path, experiment: str, data: object) -> set[str]:
    if not path.is_file():
        return set()
    runs = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    return {run["chosen"] for run in runs if (run["experiment"], run["data"]) == (experiment, data)}
