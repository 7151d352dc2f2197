"""What the experiments on word senses read: SemCor, WordNet, Brown, and test sets.

Every file can be named; or one folder holds them all, the paper's two test sets in two settings among them.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Literal

from alacarte import ALaCarte, WordVectors
from alacarte.errors import BadData
from alacarte.senses import Instance, Sentence, WordNet, open_wordnet, read_semcor
from alacarte.senses.disambiguation import candidate_senses
from alacarte.senses.readers import repaired
from alacarte_experiments.wsd.brown import read_brown
from alacarte_experiments.wsd.semeval import read_semeval

TestSetting = Literal["authors", "standard"]
FILES = {
    "authors": {
        2013: ("semeval2013.task12.en.xml", "semeval2013.task12.en.key"),
        2015: ("semeval2015.task13.en.xml", "semeval2015.task13.en.key"),
    },
    "standard": {
        2013: ("unified/semeval2013.data.xml", "unified/semeval2013.gold.key.txt"),
        2015: ("unified/semeval2015.data.xml", "unified/semeval2015.gold.key.txt"),
    },
}


@dataclass(frozen=True)
class WsdData:
    """What disambiguation is learned from, and the folder with the paper's test sets if there is one."""

    wordnet: WordNet
    semcor: list[Sentence]
    distributed: list[Sentence]  # the same with the sense keys of SemCor as they are distributed
    semcor_files: tuple[Path, ...]
    brown: Path | None = None
    folder: Path | None = None

    @classmethod
    def load(
        cls,
        folder: str | PathLike[str] | None = None,
        *,
        semcor: str | PathLike[str] | None = None,
        wordnet: str | PathLike[str] | None = None,
        brown: str | PathLike[str] | None = None,
    ) -> "WsdData":
        """From the files that are named; what is not named is looked for in the folder.

        The folder holds `semcor*`, `wordnet3.0*`, `brown*` and the test sets (`FILES`). `semcor` is SemCor as it is
        distributed, or `DATA.xml,GOLD.key`: any sense-annotated corpus in the format of the unified framework.
        """
        path = None if folder is None else Path(folder).expanduser()
        if path is not None and not path.is_dir():
            raise BadData(f"{path}: no such folder; --data names the folder with SemCor, SemEval and WordNet")
        net = open_wordnet(wordnet or _one_of(path, "wordnet3.0*", "--wordnet"))
        files = tuple(
            Path(part).expanduser() for part in str(semcor or _one_of(path, "semcor*", "--semcor")).split(",")
        )
        raw = _read_annotated(files)
        text = Path(brown).expanduser() if brown else None
        return cls(net, [repaired(sentence) for sentence in raw], raw, files, text, path)

    def framework_semcor(self) -> list[Sentence]:
        """SemCor as the unified evaluation framework took it over: keys as distributed, less those numbered 0."""
        return _read_annotated(self.semcor_files, missing=False)

    def test(self, setting: TestSetting, year: int) -> list[Sentence]:
        """One of the paper's test sets: sentences with those of their instances that have an answer.

        The authors ask only for words that WordNet lists, and take the last word of a phrase for the whole.
        """
        if self.folder is None:
            raise BadData("the paper's table needs its test sets; pass --data, or name sets with --test NAME=XML,KEY")
        xml, gold = (self.folder / name for name in FILES[setting][year])
        if setting == "standard":
            return read_test(xml, gold)
        return [
            _asked(sentence, lambda one: bool(one.keys and candidate_senses(self.wordnet, one.lemma, one.pos)))
            for sentence in read_semeval(xml, gold, last_word=True)
        ]

    def standard_tests(self) -> dict[str, list[Sentence]]:
        """The paper's two test sets in the standard setting, by name."""
        return {f"SE{year % 100}": self.test("standard", year) for year in (2013, 2015)}

    def brown_model(self, vectors: WordVectors) -> ALaCarte:
        """The paper's transform: learned on Brown, 5 words each side, α = log c."""
        text = self.brown or _one_of(self.folder, "brown*", "--brown")
        return ALaCarte.fit(vectors, list(read_brown(text)), window=5, weighting="log", adapt=False)


def read_test(xml: Path, gold: Path) -> list[Sentence]:
    """Any test set of the unified framework: sentences with those of their instances that have an answer."""
    return [_asked(sentence, lambda one: bool(one.keys)) for sentence in read_semeval(xml, gold)]


def parse_test(text: str) -> tuple[str, Path, Path]:
    """(name, data file, gold key file) of a test set.

    >>> parse_test("senseval3=s3.data.xml,s3.gold.key.txt")[0]
    'senseval3'
    """
    name, _, files = text.partition("=")
    parts = [Path(part.strip()).expanduser() for part in files.split(",") if part.strip()]
    if not name.strip() or len(parts) != 2:
        raise BadData(f"a test set is NAME=DATA.xml,GOLD.key.txt, not {text!r}")
    return name.strip(), parts[0], parts[1]


def _read_annotated(files: tuple[Path, ...], missing: bool = True) -> list[Sentence]:
    """SemCor as it is distributed, or a data file and its gold key file."""
    if len(files) == 2:
        return list(read_semeval(*files))
    if len(files) != 1 or files[0].suffix == ".xml":
        raise BadData(f"{files[0]}: an annotated corpus in XML is named with its answers, as in DATA.xml,GOLD.key.txt")
    return list(read_semcor(files[0], repair=False, missing=missing))


def _asked(sentence: Sentence, wanted: Callable[[Instance], bool]) -> Sentence:
    return replace(sentence, instances=tuple(instance for instance in sentence.instances if wanted(instance)))


def _one_of(folder: Path | None, pattern: str, option: str) -> Path:
    if folder is None:
        raise BadData(f"nothing says where {pattern.rstrip('*')} is; pass {option}, or --data with the folder of all")
    paths = sorted(folder.glob(pattern))
    if not paths:
        raise BadData(f"{folder}: holds no {pattern}; put the corpus there, as it is distributed, or pass {option}")
    return paths[0]
