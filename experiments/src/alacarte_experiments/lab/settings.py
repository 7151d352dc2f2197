"""All that decides the outcome of an experiment, as one frozen record that TOML can hold.

>>> Settings("nonce", window=5).digest == Settings("nonce", window=5).digest
True
>>> Settings.from_toml(Settings("crw", sizes=(1, 2)).to_toml()).sizes
(1, 2)
"""

import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

from alacarte import Corpus, WordVectors
from alacarte.errors import AlacarteError, BadData
from alacarte.transform.solve import Weighting
from alacarte_experiments.lab.store import digest

EXPERIMENTS = ("crw", "nonce", "chimera", "wordsim", "figure1", "sweep", "weights", "agreement")
SYSTEMS = (
    "additive",
    "no-stop-words",
    "sif",
    "all-but-the-top",
    "sums-but-the-top",
    "sif-but-the-top",
    "nonce2vec",
    "alacarte",
    "alacarte,weights=sif:1e-3",
)
SIZES = (1, 2, 4, 8, 16, 32, 64, 128)


@dataclass(frozen=True)
class Settings:
    """The protocol of a run. The corpus, the vectors and the data are named as the user named them."""

    experiment: str
    vectors: str = "glove.6B.50d"
    corpus: tuple[str, ...] = ()
    unit: str = "line"
    data: str = ""
    contexts: str = ""  # a file with the contexts of rare words, where `data` is a file of pairs
    split: str = "train"  # for data with a train and a test split
    systems: tuple[str, ...] = SYSTEMS
    window: int = 5  # words each side
    tau: str = "1000"  # α: a least count, "log", "none" or "auto"
    averaging: str = "occurrence"
    weights: str = "uniform"  # of context words, for à la carte
    ridge: str = "0"  # a number, or "loo"
    tokenizer: str = "words"
    every: int = 1  # each n-th document of the corpus
    sizes: tuple[int, ...] = SIZES  # numbers of contexts
    trials: int = 100
    seed: int = 0

    def __post_init__(self) -> None:
        if self.experiment not in EXPERIMENTS:
            raise BadData(f"no experiment is called {self.experiment!r}; there are {', '.join(EXPERIMENTS)}")
        if self.split not in ("train", "test"):
            raise BadData(f"the split is train or test, not {self.split!r}")
        for name in ("window", "every", "trials"):
            if getattr(self, name) < 1:
                raise BadData(f"{name} must be at least 1, not {getattr(self, name)}")
        if not self.sizes or any(size < 1 for size in self.sizes) or sorted(set(self.sizes)) != list(self.sizes):
            raise BadData(f"sizes are numbers of contexts in ascending order, as in 1,2,4, not {self.sizes}")
        self.weighting  # noqa: B018  # both raise if they make no sense
        self.penalty  # noqa: B018

    @property
    def weighting(self) -> Weighting:
        """τ as `Transform.fit` takes it."""
        if self.tau in ("log", "auto"):
            return self.tau
        return None if self.tau == "none" else _number(self.tau, "tau is a least count, log, none or auto")

    @property
    def penalty(self) -> Any:
        """The ridge as `Transform.fit` takes it."""
        return "loo" if self.ridge == "loo" else _number(self.ridge, "ridge is a number or loo")

    @property
    def digest(self) -> str:
        return digest(asdict(self))

    def open_corpus(self) -> Corpus:
        if not self.corpus:
            raise BadData("no corpus is given to learn from; pass --corpus FILE")
        return Corpus([Path(place).expanduser() for place in self.corpus], unit=self.unit)  # type: ignore[arg-type]

    def open(self, vectors: WordVectors | None = None, corpus: Corpus | None = None) -> tuple[WordVectors, Corpus]:
        """The vectors and the corpus that are named here, unless others are given."""
        return (
            WordVectors.load(self.vectors) if vectors is None else vectors,
            self.open_corpus() if corpus is None else corpus,
        )

    def with_options(self, options: Mapping[str, Any]) -> "Settings":
        """The same with other values, given as text or as they are; unknown names are an error."""
        kinds = {item.name: item.type for item in fields(self)}
        changed: dict[str, Any] = {}
        for name, value in options.items():
            if name not in kinds:
                raise BadData(f"there is no setting {name!r}; there are {', '.join(kinds)}")
            changed[name] = _converted(name, value, kinds[name])
        return replace(self, **changed)

    # --------------------------------------------------------------------------------------------- files

    def to_toml(self) -> str:
        """What `from_toml` reads, and `alc eval EXPERIMENT --config FILE` repeats."""
        return "".join(f"{name} = {_toml(value)}\n" for name, value in asdict(self).items())

    @classmethod
    def from_toml(cls, text: str) -> "Settings":
        try:
            values = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise BadData(f"the settings are not TOML: {error}") from None
        if "experiment" not in values:
            raise BadData('the settings name no experiment; add a line such as experiment = "nonce"')
        return cls(values.pop("experiment")).with_options(values)

    @classmethod
    def read(cls, path: Path) -> "Settings":
        try:
            return cls.from_toml(path.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError) as error:
            raise BadData(f"{path}: cannot be read ({error}); pass a settings.toml of an earlier run") from None
        except AlacarteError as error:
            raise BadData(f"{path}: {error}") from None


def _number(text: str, what: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        raise BadData(f"{what}, not {text!r}")
    return value


def _converted(name: str, value: Any, kind: object) -> Any:
    try:
        if kind is int:
            return int(value)
        if kind is str:
            return f"{value:g}" if isinstance(value, float) else str(value)
        items: Sequence[Any] = value.split(",") if isinstance(value, str) else value
        return tuple(int(item) for item in items) if name == "sizes" else tuple(str(item) for item in items)
    except (TypeError, ValueError):
        raise BadData(f"the setting {name} cannot be {value!r}") from None


def _toml(value: object) -> str:
    """TOML for strings, numbers and lists of these; JSON's strings are TOML's but for one control character."""
    text = json.dumps(list(value) if isinstance(value, tuple) else value, ensure_ascii=False)
    return text.replace("\x7f", "\\u007f")
