"""What a server has at hand: models, corpora, and a folder of its own for texts, corpora and notes."""

import json
import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from alacarte.concordance import Concordance, is_concordance
from alacarte.concordance.uses import Uses
from alacarte.errors import AlacarteError
from alacarte.model import ALaCarte, InducedVectors, pretrained_names
from alacarte.targets.targets import Targets
from alacarte.transform.transform import Transform

SUFFIX = ".concordance"
NAME = re.compile(r"[\w][\w .,'()-]{0,79}")
INDUCED = 2  # vectors of phrases that are kept, each with the words that it is compared with
REMEMBERED = 16  # slices of corpora, and orders of lines, that are kept


class Opening(NamedTuple):
    """How a model is opened: a name or a folder; or the file of a transform, with its vectors."""

    model: str | None = None
    transform: str | None = None
    vectors: str | None = None

    def open(self) -> ALaCarte:
        """Return the model."""
        if self.transform is not None:
            return ALaCarte(self.vectors or "", Transform.load(self.transform))
        name = self.model or "glove.6B.50d"
        opened = ALaCarte.pretrained if self._is_shipped(name) else ALaCarte.load
        return opened(name, vectors=self.vectors)

    @staticmethod
    def _is_shipped(name: str) -> bool:
        return name in pretrained_names() and not Path(name).is_dir()

    @property
    def python(self) -> str:
        """The Python that opens the same model.

        >>> Opening("glove.6B.50d").python
        'ALaCarte.pretrained("glove.6B.50d")'
        """
        given = "" if self.vectors is None else f", vectors={json.dumps(self.vectors)}"
        if self.transform is not None:
            return f"ALaCarte({json.dumps(self.vectors)}, Transform.load({json.dumps(self.transform)}))"
        name = self.model or "glove.6B.50d"
        return f"ALaCarte.{'pretrained' if self._is_shipped(name) else 'load'}({json.dumps(name)}{given})"

    @property
    def imports(self) -> list[str]:
        """The names that this Python imports from alacarte."""
        return ["ALaCarte"] if self.transform is None else ["ALaCarte", "Transform"]

    @property
    def options(self) -> list[str]:
        """The options of `alc` that open it."""
        given = (("--model", self.model or self.transform), ("--vectors", self.vectors))
        return [word for option, value in given if value is not None for word in (option, value)]


@dataclass(frozen=True)
class Workspace:
    """Models by name, of which the first is the usual one; concordances by name; and a folder of the server's own.

    The folder has `texts`, which corpora are built from, `corpora`, and the notes. A workspace is made of names and
    paths alone, so that other processes can open the same one (`description`).
    """

    models: Mapping[str, Opening] = field(default_factory=lambda: {"glove.6B.50d": Opening("glove.6B.50d")})
    given: Mapping[str, Path] = field(default_factory=dict)
    folder: Path | None = None

    # ------------------------------------------------------------------------------------------------ elsewhere

    def description(self) -> str:
        """All of it, as text; `from_description` is the way back."""
        corpora = {name: str(path) for name, path in self.given.items()}
        return json.dumps([dict(self.models), corpora, None if self.folder is None else str(self.folder)])

    @classmethod
    def from_description(cls, description: str) -> "Workspace":
        """Return the workspace that `description` described."""
        models, corpora, folder = json.loads(description)
        return cls(
            {name: Opening(*opening) for name, opening in models.items()},
            {name: Path(path) for name, path in corpora.items()},
            None if folder is None else Path(folder),
        )

    # --------------------------------------------------------------------------------------------------- models

    @cached_property
    def _kept(self) -> "_Kept":
        return _Kept()

    @cached_property
    def _induced(self) -> "_Kept":
        return _Kept(INDUCED)

    @cached_property
    def _models(self) -> "_Kept":
        return _Kept()

    def opening(self, name: str = "") -> Opening:
        """How a model is opened: the first one for ""."""
        if name and name not in self.models:
            raise AlacarteError(f"there is no model {name!r}; there are {', '.join(map(repr, self.models))}")
        return self.models[name or next(iter(self.models))]

    def model(self, name: str = "") -> ALaCarte:
        """Return a model, opened when it is first asked for."""
        opening = self.opening(name)
        return self._models.get(("model", opening), opening.open)  # type: ignore[no-any-return]

    def spelling_model(self, name: str = "") -> ALaCarte:
        """Return a model that knows of spelling too; learned from its vectors the first time, which takes minutes."""
        model, opening = self.model(name), self.opening(name)
        if model.form is not None:
            return model
        return self._models.get(("spelling", opening), lambda: model.with_form(show_progress=False))  # type: ignore[no-any-return]

    def knows_spelling(self, name: str = "") -> bool:
        """Whether `spelling_model` is there at once."""
        from alacarte.spelling.form import FormModel

        model = self.model(name)
        return model.form is not None or FormModel.is_cached(model.vectors)

    # -------------------------------------------------------------------------------------------------- corpora

    @property
    def corpora(self) -> dict[str, Path]:
        """Concordances by name: those that were given, and those in the folder, which say so if a name is taken."""
        found = {} if self.folder is None else {corpus_name(path): path for path in corpora_in(self.folder)}
        named = {name if name not in self.given else f"{name} (workspace)": path for name, path in found.items()}
        return {**self.given, **named}

    def corpus_path(self, name: str) -> Path:
        """Where a corpus is built."""
        assert self.folder is not None
        return self.folder / "corpora" / f"{checked_name(name)}{SUFFIX}"

    def is_own(self, name: str) -> bool:
        """Whether a corpus lies in the folder itself, and not behind a link."""
        path = self.corpora.get(name)
        ours = path is not None and name not in self.given and self.folder is not None
        return ours and is_inside(path, self.folder)  # type: ignore[arg-type]

    def path(self, name: str) -> Path:
        """Where a corpus is; the first one for ""."""
        corpora = self.corpora
        if not corpora:
            raise AlacarteError("there is no corpus yet; add one under Corpora, or start with alc serve CONCORDANCE")
        if name and name not in corpora:
            raise AlacarteError(f"there is no corpus {name!r}; there are {', '.join(map(repr, corpora))}")
        return corpora[name or next(iter(corpora))]

    def state(self, name: str = "") -> tuple[str, int, int]:
        """Where a corpus is, and what changes with it."""
        path = self.path(name)
        try:
            facts = (path / "concordance.sqlite").stat()
        except OSError as error:
            raise AlacarteError(f"the corpus {name!r} cannot be read ({error.strerror}); was it deleted?") from None
        return str(path), facts.st_ino, facts.st_mtime_ns

    def corpus(self, name: str = "", where: list[str] | None = None) -> Concordance:
        """Return a corpus, the first one for "", or a slice of it."""
        state = self.state(name)
        whole: Concordance = self._kept.get(state, lambda: Concordance(self.path(name)))
        if not where:
            return whole
        return self._kept.get((state, tuple(where)), lambda: whole.where(*where))  # type: ignore[no-any-return]

    def uses(self, name: str, where: list[str], phrase: str, sort: str) -> Uses:
        """All uses of a phrase, in an order: "", or what `Concordance.uses` sorts by, with "-" for the other way."""
        corpus = self.corpus(name, where)
        turned = sort.startswith("-") and sort not in corpus.columns

        def found() -> Uses:
            return corpus.uses(target_of(phrase), sort=sort[turned:] or None, descending=turned)

        return self._kept.get((id(corpus), phrase, sort), found, corpus)  # type: ignore[no-any-return]

    def induced(self, name: str, where: list[str], phrase: str, model: str) -> InducedVectors:
        """Return the vector of a phrase in a corpus. The last few are kept, and with them what their text shares."""
        corpus = self.corpus(name, where)
        key = id(corpus), phrase, self.opening(model)
        return self._induced.get(key, lambda: corpus.induce(self.model(model), target_of(phrase)), corpus)  # type: ignore[no-any-return]


class _Kept:
    """The few values that were asked for last; each is made once, however many ask for it at the same time."""

    def __init__(self, most: int = REMEMBERED) -> None:
        self._most = most
        self._values: OrderedDict[Any, tuple[threading.Lock, list[Any]]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Any, make: Callable[[], Any], *alive: Any) -> Any:
        """Return the value of a key; `alive` is kept as long as it is."""
        with self._lock:
            lock, value = self._values.setdefault(key, (threading.Lock(), []))
            self._values.move_to_end(key)
            while len(self._values) > self._most:
                self._values.popitem(last=False)
        with lock:
            if not value:
                value.extend((make(), *alive))
            return value[0]


def target_of(phrase: str) -> Targets:
    """Return a word, a phrase, or a pattern in which * is any letters."""
    return Targets.glob(phrase) if "*" in phrase else Targets.of([phrase])


def corpora_in(folder: Path) -> list[Path]:
    """Return the concordances in the folder of a workspace, the oldest first."""
    found = [path for path in (folder / "corpora").glob(f"[!.]*{SUFFIX}") if is_concordance(path)]
    return sorted(found, key=lambda path: (path.stat().st_ctime_ns, path.name))


def is_inside(path: Path, folder: Path) -> bool:
    """Whether a path in a folder leads to where it says, through no link on the way."""
    return path.resolve() == folder.resolve() / path.relative_to(folder)


def corpus_name(path: Path) -> str:
    """Return what a concordance is called on the page.

    >>> corpus_name(Path("texts/reviews.concordance"))
    'reviews'
    """
    return path.name.removesuffix(SUFFIX)


def checked_name(name: str) -> str:
    """Return a name that is safe as that of a file: letters, digits and a few marks; `AlacarteError` otherwise.

    >>> checked_name(" reviews 2024.txt ")
    'reviews 2024.txt'
    """
    plain = name.strip()
    if NAME.fullmatch(plain) is None or plain.endswith("."):
        raise AlacarteError(
            f"{name!r} cannot be a name here; take letters, digits, spaces, - _ . and at most 80 of them"
        )
    return plain
