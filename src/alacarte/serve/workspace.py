"""What a server has at hand: models, corpora, and a folder of its own for texts, corpora and notes."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import NamedTuple

from alacarte.concordance import Concordance, is_concordance
from alacarte.concordance.uses import Uses
from alacarte.errors import AlacarteError
from alacarte.model import ALaCarte, InducedVectors, pretrained_names
from alacarte.targets.targets import Targets
from alacarte.transform.transform import Transform

State = tuple[str, int, int]  # where a corpus is, and what changes with it
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

    def opening(self, name: str = "") -> Opening:
        """How a model is opened: the first one for ""."""
        if name and name not in self.models:
            raise AlacarteError(f"there is no model {name!r}; there are {', '.join(map(repr, self.models))}")
        return self.models[name or next(iter(self.models))]

    def model(self, name: str = "") -> ALaCarte:
        """Return a model, opened when it is first asked for."""
        return self._opened(self.opening(name))

    @cached_property
    def _opened(self) -> Callable[[Opening], ALaCarte]:
        return lru_cache(REMEMBERED)(Opening.open)

    def spelling_model(self, name: str = "") -> ALaCarte:
        """Return a model that knows of spelling too; learned from its vectors the first time, which takes minutes."""
        model = self.model(name)
        return model if model.form is not None else self._with_form(self.opening(name))

    @cached_property
    def _with_form(self) -> Callable[[Opening], ALaCarte]:
        return lru_cache(REMEMBERED)(lambda opening: self._opened(opening).with_form(show_progress=False))

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

    def state(self, name: str = "") -> State:
        """Where a corpus is, and what changes with it."""
        path = self.path(name)
        try:
            facts = (path / "concordance.sqlite").stat()
        except OSError as error:
            raise AlacarteError(f"the corpus {name!r} cannot be read ({error.strerror}); was it deleted?") from None
        return str(path), facts.st_ino, facts.st_mtime_ns

    def corpus(self, name: str = "", where: list[str] | None = None) -> Concordance:
        """Return a corpus, the first one for "", or a slice of it."""
        return self._slices(self.state(name), tuple(where or ()))

    @cached_property
    def _slices(self) -> Callable[[State, tuple[str, ...]], Concordance]:
        return lru_cache(REMEMBERED)(
            lambda state, where: self._slices(state, ()).where(*where) if where else Concordance(state[0])
        )

    def uses(self, name: str, where: list[str], phrase: str, sort: str) -> Uses:
        """All uses of a phrase, in an order: "", or what `Concordance.uses` sorts by, with "-" for the other way."""
        return self._uses(self.state(name), tuple(where), phrase, sort)

    @cached_property
    def _uses(self) -> Callable[[State, tuple[str, ...], str, str], Uses]:
        @lru_cache(REMEMBERED)
        def found(state: State, where: tuple[str, ...], phrase: str, sort: str) -> Uses:
            corpus = self._slices(state, where)
            turned = sort.startswith("-") and sort not in corpus.columns
            return corpus.uses(target_of(phrase), sort=sort[turned:] or None, descending=turned)

        return found

    def induced(self, name: str, where: list[str], phrase: str, model: str) -> InducedVectors:
        """Return the vector of a phrase in a corpus. The last few are kept, and with them what their text shares."""
        return self._induced(self.state(name), tuple(where), phrase, self.opening(model))

    @cached_property
    def _induced(self) -> Callable[[State, tuple[str, ...], str, Opening], InducedVectors]:
        @lru_cache(INDUCED)
        def induced(state: State, where: tuple[str, ...], phrase: str, opening: Opening) -> InducedVectors:
            return self._slices(state, where).induce(self._opened(opening), target_of(phrase))

        return induced


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
